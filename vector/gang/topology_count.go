package gang

import (
	"math"
	"math/bits"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/vector"
)

// placing is a gang on its way into a topology. It is scratch that a Packer keeps.
type placing struct {
	t         *Topology
	free      *vector.Matrix
	selected  []uint64
	request   vector.ResourceVector
	counter   rowCounter
	leader    vector.ResourceVector
	hasLeader bool

	count    int64 // pods
	slice    int64 // pods of a slice
	slices   int64 // how many, the smaller one included
	tail     int64 // pods of the last slice, if that is smaller; else 0
	hasExtra bool  // there is a leader or a tail: see choices
	level    int   // searched first
	last     int   // searched last, when no finer one suffices
	required bool  // one domain of last, and not as few as can be
	sliced   int   // the level of the slices; the finest without
	unsliced bool  // every slice is one pod
	inner    [maxLevels]int64
	tails    [maxLevels]int64 // per level with slices: pods of the last one if that is smaller
	tailed   int              // the finest level where it is
	choice   chooser

	spread      *spread
	spreadLevel int     // the level whose domains are the sets of the Spread; noLevel for rows and without
	rooms       []int64 // per domain of that level: how many pods it takes
	setOf       []int32 // per domain: its set; scratch
	homes       []int32 // per set: its domain; scratch

	rowPods       []int32 // per row: places
	rowWithLeader []int32 // per row: places with the leader placed; noPlace when it does not fit

	leads vector.Mask // rows that hold the leader
	left  []float64   // what the leader leaves on some of them, by column

	// Per domain, as far as they were counted: pods that its children hold; what it
	// has, in slices up to the level of the slices, in pods below; and the same with
	// the extra in it, noPlace when that fits nowhere.
	pods, podsWithExtra []int64
	have, haveWithExtra []int64
	apart               [2][]int64 // what have and haveWithExtra are where they are not pods and podsWithExtra

	counted  int         // the finest level that is
	summed   int         // the coarsest level that is
	order    [][]int32   // per level: its domains in order, as far as they are needed
	chosen   []picked    // domains
	children []int32     // of all chosen
	picks    [][]picked  // per level, see fill
	counts   []rowCount  // the result
	domained vector.Mask // selected rows that are in a domain

	// Of FilterTopology.
	yield    func(row int, amounts vector.ResourceVector) bool // victim, as a value that is made once
	overlay  *vector.Overlay
	released int
	done     bool
	fault    error
	total    int64 // what all domains have
	reprieve bool
	victims  released      // with reprieve: all
	start    vector.Matrix // and what was free before them

	allowance *allowance // nil: every victim goes
}

// mostPlaces is how many places a row has that is unlimited, or has more.
const mostPlaces = math.MaxInt32

// rowCount is how many pods a row gets, or that it gets the leader.
type rowCount struct{ row, count int32 }

// countRows counts the places of every row, and of the domains of a level and of
// none that is finer. Finer ones are counted below the domains that are chosen, which are
// few of many.
func (s *placing) countRows(level int) {
	s.counted = level
	s.ordered(level)
	at := s.t.at[level]
	s.rowPods = resized(s.rowPods, len(at))
	for _, d := range s.order[level] {
		s.pods[d] = 0
	}
	plan := kernel.PlanCopies(s.request, s.free.Tame)
	const chunk = 512
	var buffer [chunk]int64
	for lo := 0; lo < len(at); lo += chunk {
		copies := buffer[:min(chunk, len(at)-lo)]
		plan.Copies(copies, s.free.Elements(), s.free.Stride(), lo)
		s.addRows(copies, lo, at[lo:])
	}
	// A leader takes room on a row, and a tail takes none.
	if s.hasLeader {
		s.countWithLeader(at)
	} else if s.tail > 0 { // rows know no slices
		copy(s.podsWithExtra, s.pods)
	}
	if !s.unsliced || s.limited(level) {
		for _, d := range s.order[level] {
			s.limit(d, level)
			s.countWhole(d, level)
		}
	}
}

// addRows adds the copies of the rows from lo on to their domains, at.
func (s *placing) addRows(copies []int64, lo int, at []int32) {
	if s.selected != nil { // the kernel is faster on all rows than on a selection
		for i := range copies {
			if !isSelected(s.selected, lo+i) {
				copies[i] = 0
			}
		}
	}
	if s.spread.on && s.spreadLevel == noLevel {
		s.spread.cut(copies, lo)
	}
	addPlaces(s.pods, s.rowPods[lo:][:len(copies)], copies, at[:len(copies)])
}

// addPlaces sets out to the copies of the rows and adds them to pods, by domain. Rows
// of one domain often stand together: their sum waits in a register.
func addPlaces(pods []int64, out []int32, copies []int64, at []int32) {
	last, sum := int32(0), int64(0)
	for i, x := range copies {
		if x > mostPlaces {
			x = mostPlaces
		}
		out[i] = int32(x)
		if d := at[i]; d != last {
			pods[last] += sum
			last, sum = d, 0
		}
		sum += x
	}
	pods[last] += sum
}

// countWithLeader counts what every row holds with the leader there.
func (s *placing) countWithLeader(at []int32) {
	s.rowWithLeader = resized(s.rowWithLeader, len(at))
	for d := range s.podsWithExtra {
		s.podsWithExtra[d] = minGain
	}
	// Most rows of a full cluster don't hold the leader, and are not counted twice.
	vector.Fit(&s.leads, s.free, s.leader)
	for lo := 0; lo < len(at); lo += leaderTile {
		s.countTileWithLeader(s.rowWithLeader[lo:min(lo+leaderTile, len(at))], lo)
	}
	for r, d := range at {
		if s.rowWithLeader[r] != noPlace {
			s.podsWithExtra[d] = max(s.podsWithExtra[d], int64(s.rowWithLeader[r]-s.rowPods[r]))
		}
	}
	for d, gain := range s.podsWithExtra { // so far the gain on the best row
		s.podsWithExtra[d] = withGain(s.pods[d], gain)
	}
}

// leaderTile is how many rows countWithLeader takes at a time, whole mask words.
const leaderTile = 512

// countTileWithLeader sets out to what the rows from lo on hold with the leader there. A tile
// is small enough for the amounts that are left to stay in the cache.
func (s *placing) countTileWithLeader(out []int32, lo int) {
	words := s.leads.Words()[lo/kernel.Block:][:wordsFor(len(out))]
	for i := range out { // most rows stay so
		out[i] = noPlace
	}
	if s.selected != nil {
		for w := range words {
			words[w] &= s.selected[lo/kernel.Block+w]
		}
	}
	var copies [leaderTile]int64
	s.copiesWithLeader(copies[:len(out)], lo, words)
	for w, word := range words {
		for ; word != 0; word &= word - 1 {
			if i := w*kernel.Block + bits.TrailingZeros64(word); i < len(out) {
				out[i] = s.withLeaderOn(lo+i, copies[i])
			}
		}
	}
}

// copiesWithLeader sets dst to how many copies the rows from lo on hold with the leader there,
// where words say that it fits. It subtracts the leader from all of them, since the kernel
// takes no list of rows; elsewhere the result means nothing.
func (s *placing) copiesWithLeader(dst []int64, lo int, words []uint64) {
	if !s.counter.finite || len(s.counter.columns) > kernel.PlanColumns || !finite(s.leader) {
		for w, word := range words {
			for ; word != 0; word &= word - 1 {
				if i := w*kernel.Block + bits.TrailingZeros64(word); i < len(dst) {
					dst[i] = s.counter.withLeader(s.free, lo+i, s.leader)
				}
			}
		}
		return
	}
	const stride = leaderTile + kernel.Block // whole blocks, and no multiple of 4 KiB
	s.left = resized(s.left, stride*s.free.Cols())
	for _, j := range s.counter.columns {
		left, x := s.left[int(j)*stride:][:len(dst)], s.leader[j]
		for i, free := range s.free.Column(int(j))[lo:][:len(dst)] {
			left[i] = free - x
		}
	}
	kernel.Copies(dst, s.left, stride, s.counter.columns, s.counter.amounts, false)
}

// withGain returns the places with the leader there where it takes the fewest.
func withGain(places, gain int64) int64 {
	if gain == minGain {
		return noPlace
	}
	return places + gain
}

// withLeaderOn returns the places of a row that holds so many copies next to the leader.
func (s *placing) withLeaderOn(r int, copies int64) int32 {
	if s.spread.on {
		room := s.roomOn(r)
		if room == 0 {
			return noPlace
		}
		copies = min(copies, room-1)
	}
	return int32(min(copies, mostPlaces))
}

// ordered brings the domains down to a level into their order, the one by path. It is made
// for each question: a Topology is only read here, so it has no place to keep it.
func (s *placing) ordered(level int) {
	for l := range level + 1 {
		s.order[l] = s.t.below(s.order[l][:0], 0, l)
	}
	s.summed = level
}

// countLevel counts the domains of a level, from the finer ones.
func (s *placing) countLevel(level int) {
	for ; s.summed > level; s.summed-- {
		for _, d := range s.order[s.summed-1] {
			s.sum(d, s.summed-1)
		}
	}
}

// above reports whether domains of a level have slices, and not pods.
func (s *placing) above(level int) bool { return level < s.sliced && !s.unsliced }

// sum counts a domain from its children, a finest one from its rows.
func (s *placing) sum(d int32, level int) {
	pods, have := int64(0), int64(0)
	children := s.t.domains[d].children
	if level == len(s.t.levels)-1 {
		for _, r := range children {
			pods += int64(s.rowPods[r])
		}
	} else {
		// One pass over the children adds up both, also where one is not needed.
		for _, c := range children {
			have += s.have[c] // at most 2^31 rows of 2^31 places: no overflow
			pods += s.pods[c]
		}
		if level >= s.sliced {
			pods = have // what is no whole slice within a child is not there
		}
	}
	s.pods[d] = pods
	if s.above(level) {
		s.have[d] = have
	}
	if s.hasExtra {
		s.sumWithExtra(d, level)
	}
	s.limit(d, level)
	s.countWhole(d, level)
}

// sumWithExtra counts a domain with the extra in it, when it is counted without. The extra is in
// one child, and the others have what they have without it.
func (s *placing) sumWithExtra(d int32, level int) {
	if level == len(s.t.levels)-1 {
		gain := int64(0) // a tail takes no room: rows know no slices
		if s.hasLeader {
			gain = s.rowGain(d)
		}
		s.podsWithExtra[d] = withGain(s.pods[d], gain)
		return
	}
	podsGain, gain := int64(minGain), int64(minGain)
	for _, c := range s.t.domains[d].children {
		if s.haveWithExtra[c] == noPlace {
			continue
		}
		gain = max(gain, s.haveWithExtra[c]-s.have[c])
		podsGain = max(podsGain, s.podsWithExtra[c]-s.pods[c])
		if s.hasLeader && gain == 0 && podsGain == 0 { // a leader gains nothing
			break
		}
	}
	if level >= s.sliced {
		podsGain = gain
	}
	s.podsWithExtra[d] = withGain(s.pods[d], podsGain)
	if s.above(level) {
		s.haveWithExtra[d] = withGain(s.have[d], gain)
	}
}

// countWhole says what a domain has that is not above the level of the slices, from its
// pods.
func (s *placing) countWhole(d int32, level int) {
	if s.unsliced || s.above(level) {
		return
	}
	s.have[d] = s.whole(s.pods[d], level, 0)
	if s.hasExtra {
		s.haveWithExtra[d] = noPlace
		if tail := s.tails[level]; s.podsWithExtra[d] >= tail {
			s.haveWithExtra[d] = s.whole(s.podsWithExtra[d], level, tail)
		}
	}
}

// whole returns what so many pods in a domain are: whole slices at their level, and
// below the pods of whole inner slices. The last one has only tail pods, if not 0. What is
// left over is of no use to a gang, so that no coarser domain counts it.
func (s *placing) whole(pods int64, level int, tail int64) int64 {
	size := s.inner[level]
	switch {
	case level <= s.sliced && tail > 0:
		return (pods-tail)/s.slice + 1
	case level <= s.sliced:
		return pods / s.slice
	case size > 1:
		return whole(pods, size, tail)
	}
	return pods
}

// countBelow counts what is in a domain of a level, down to the rows. Only a domain that was
// chosen is looked into.
func (s *placing) countBelow(d int32, level int) {
	if level < len(s.t.levels)-1 {
		for _, c := range s.t.domains[d].children {
			s.countBelow(c, level+1)
		}
	}
	if level > s.counted {
		s.sum(d, level)
	}
}

// rowGain returns the greatest gain of a row of a finest domain: the leader goes where it
// takes the fewest places.
func (s *placing) rowGain(d int32) int64 {
	gain := int64(minGain)
	for _, r := range s.t.domains[d].children {
		if s.rowWithLeader[r] != noPlace {
			if gain = max(gain, int64(s.rowWithLeader[r]-s.rowPods[r])); gain == 0 {
				break
			}
		}
	}
	return gain
}
