package gang

import (
	"cmp"
	"math"
	"slices"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/vector"
)

// TopologyRequest is a gang for [Packer.PlaceTopology], and how close its members have to
// be. Without Required and Preferred the gang goes to as few domains of the finest level as
// possible; with slices, of the coarsest.
type TopologyRequest struct {
	Count   int                   // pods that are alike
	Request vector.ResourceVector // of each
	Leader  vector.ResourceVector // of one pod more; nil for none

	// Required is the level of which one domain has to hold the gang.
	Required string

	// Preferred is the level of which one domain should hold the gang. Where none can,
	// one of the next coarser level does, and so on. This ends at Required, which is the
	// same level or coarser; without it, as few of the coarsest level as possible do.
	Preferred string

	// Slices has for a level the size of groups of pods that stay within one of its
	// domains, such as {"rack": 8}. The leader belongs to none. The level is Preferred, or
	// without that Required, or finer. Count is a multiple of the coarsest size, and each
	// size a multiple of the next finer one.
	Slices map[string]int

	// Tail lets Count be no multiple of the coarsest size: the last slice is smaller, and
	// so is its last inner one. Such a gang has no leader.
	Tail bool

	// LeastFree takes the domains and rows with the fewest places first, and not
	// those with the most.
	LeastFree bool

	// Reprieve is for [Packer.FilterTopology]: of the victims of the prefix only
	// [TopologyPlacement.Victims] go.
	Reprieve bool
}

// TopologyPlacement is the answer of [Packer.PlaceTopology].
type TopologyPlacement struct {
	// Fits says that there is a placement.
	Fits bool

	// Placement is the row of each of the Count pods, in ascending order; empty
	// without a placement. Leader is the row of the leader, -1 without one.
	Placement []int32
	Leader    int

	// Level is the index of the level that was searched last, and Domains how many of
	// its domains have a pod of the gang. Domain is the only one, or without a placement
	// the one that could take the most; -1 when several have pods or can take part.
	Level   int
	Domains int
	Domain  int

	// Could is how many of the pods can be placed, with the leader placed: all, or what
	// Domain could take, or what all domains together could.
	Could int

	// Rejections are, without a placement, how many of the selected rows that are in a
	// domain cannot hold a single pod because of a column, as [vector.Rejections] counts them.
	Rejections []int

	// Prefix is, for [Packer.FilterTopology], how many victims have to go; -1 when all
	// of them are not enough. Victims are, with Reprieve, the ones among them that have
	// to go, by index in ascending order: when any one stays, the gang fits nowhere. With
	// [Packer.Limit] alone they are the ones that go.
	Prefix  int
	Victims []int32
}

// PlaceTopology places a gang inside the domains of t on the selected rows of free.
//
// A row has as many places as it holds copies of the request
// ([vector.ResourceVector.CopiesFit]), at most 2^31-1. A domain has the places of its rows, in
// whole slices where there are slices. Of the domains of a level that suffice, it takes
// the one with the fewest slices, then the fewest pods, then the first by path. When none
// suffices alone, it takes those with the most whole, among equals those with fewer pods
// first; the last one is again the one with the fewest that suffices. Within the domains
// that it took, it searches the next finer level by the same rule: above the level of the
// slices all children together, from there on the children of each domain by themselves.
// That is BestFit of Kueue's topology-aware scheduling (KEP-2724). LeastFree begins at
// the other end: it takes the first domain that suffices alone in ascending order, and
// else whole ones from the smallest on.
//
// A leader takes room on its row first, as in [Packer.Place]. Of several domains it takes
// one with which the gang needs the fewest: of these the one with the most places with
// the leader, then the first. With LeastFree it takes one with which all domains hold the
// gang: of these the one with the fewest places, then the first. The last slice goes by the
// same rule where it is smaller than the others.
//
// With a [Spread] a row or a domain has no more places than its set takes. The sets have to be
// rows, or domains of one level, such as [Topology.Domains] returns. Then from that level on the
// children of each domain are searched by themselves; without a level in the request the search
// begins there.
//
// The answer is exact: without a placement there is none. Equal inputs give equal
// placements, in whatever order the rows stand, as long as the rows of a domain have
// different names. Rows that t does not have are in no domain.
//
// The slices of dst are reused for the answer. The options of p do not matter. The error
// says which level is unknown, which size or count is impossible, that the sets of a Spread
// are neither rows nor domains of a level, that it has a Skew, or that t has more rows than
// free; it wraps [vector.ErrShape]. PlaceTopology panics when a request is longer than free is
// wide, or the mask has another length.
func (p *Packer) PlaceTopology(dst TopologyPlacement, free *vector.Matrix, request TopologyRequest, rows *vector.Mask, t *Topology) (TopologyPlacement, error) {
	s := &p.topology
	if err := s.take(free, rows, t, &request, &p.spread); err != nil {
		return TopologyPlacement{}, err
	}
	answer := s.place(dst)
	p.placements.note(answer.Fits)
	return answer, nil
}

// take checks and takes the operands.
func (s *placing) take(free *vector.Matrix, rows *vector.Mask, t *Topology, request *TopologyRequest, spread *spread) error {
	checkVector(free, request.Request)
	checkVector(free, request.Leader)
	s.free, s.t, s.selected = free, t, selection(rows, free.Rows())
	if t.Rows() > free.Rows() {
		return topologyError("%d rows, but the matrix has %d", t.Rows(), free.Rows())
	}
	if err := s.takeSpread(spread); err != nil {
		return err
	}
	if err := s.takeLevels(request); err != nil {
		return err
	}
	s.hasLeader = request.Leader != nil
	s.request = padded(s.request, request.Request, free.Cols())
	s.leader = padded(s.leader, request.Leader, free.Cols())
	s.counter.take(s.request, mostPlaces)
	s.choice.leastFree = request.LeastFree
	s.pods, s.podsWithExtra = resized(s.pods, len(t.domains)), resized(s.podsWithExtra, len(t.domains))
	// Slices of one pod need no counts of their own.
	s.have, s.haveWithExtra = s.pods, s.podsWithExtra
	if !s.unsliced {
		s.apart[0], s.apart[1] = resized(s.apart[0], len(t.domains)), resized(s.apart[1], len(t.domains))
		s.have, s.haveWithExtra = s.apart[0], s.apart[1]
	}
	s.order, s.picks = grown(s.order, len(t.levels)), grown(s.picks, len(t.levels))
	return nil
}

// padded sets dst to what v requests, with so many elements: the hot loops then have no
// case for short vectors and amounts that are not requested.
func padded(dst, v vector.ResourceVector, n int) vector.ResourceVector {
	dst = resized(dst, n)
	for j := range dst {
		if dst[j] = v.Get(j); dst[j] <= 0 {
			dst[j] = 0
		}
	}
	return dst
}

// takeLevels checks and takes the count and the levels. The search climbs from s.level to
// s.last, which are one level where nothing finer is preferred.
func (s *placing) takeLevels(request *TopologyRequest) error {
	t := s.t
	s.count = int64(request.Count)
	if s.count < 0 || s.count > math.MaxInt32 {
		return topologyError("a gang of %d pods", request.Count)
	}
	finest := len(t.levels) - 1
	s.required = request.Required != ""
	s.level, s.last = finest, finest
	if s.spreadLevel != noLevel { // what several finer domains take together is their set's to say
		s.level, s.last = s.spreadLevel, s.spreadLevel
	}
	// Slices say which members need one domain, so the whole gang may use several.
	if len(request.Slices) > 0 {
		s.level, s.last = 0, 0
	}
	var err error
	if s.required {
		if s.last, err = t.Level(request.Required); err != nil {
			return err
		}
		s.level = s.last
	}
	if request.Preferred != "" {
		if s.level, err = t.Level(request.Preferred); err != nil {
			return err
		}
		if !s.required { // it climbs to the top
			s.last = 0
		}
	}
	if s.level < s.last {
		return topologyError("level %q is preferred, which is coarser than %q, which is required", request.Preferred, request.Required)
	}
	return s.takeSlices(request, finest)
}

// takeSlices checks and takes the slices.
func (s *placing) takeSlices(request *TopologyRequest, finest int) error {
	t := s.t
	unknown := "" // the first by name: the order of a map must not show in an error
	for name := range request.Slices {
		if !slices.Contains(t.levels, name) && (unknown == "" || name < unknown) {
			unknown = name
		}
	}
	if _, empty := request.Slices[""]; unknown != "" || empty {
		_, err := t.Level(unknown)
		return err
	}
	clear(s.inner[:])
	clear(s.tails[:])
	s.slice, s.sliced, s.tail = 1, finest, 0
	last := int64(0)
	for l, name := range t.levels {
		size64, ok := request.Slices[name]
		if !ok {
			continue
		}
		size := int64(size64)
		switch {
		case size < 1:
			return topologyError("slices of %d pods at level %q", size, name)
		case l < s.level:
			return topologyError("slices at level %q, which is coarser than %q", name, t.levels[s.level])
		case last == 0 && s.count%size != 0 && !request.Tail:
			return topologyError("%d pods are no whole slices of %d at level %q", s.count, size, name)
		case last == 0 && s.count%size != 0 && request.Leader != nil:
			return topologyError("a leader, and %d pods that are no whole slices of %d at level %q", s.count, size, name)
		case last == 0:
			s.slice, s.sliced, s.tail = size, l, s.count%size
		case last%size != 0:
			return topologyError("slices of %d pods are no whole ones of %d at level %q", last, size, name)
		default:
			s.inner[l] = size
		}
		last = size
		if s.tails[l] = s.count % size; s.tails[l] > 0 {
			s.tailed = l
		}
	}
	s.slices, s.unsliced = (s.count+s.slice-1)/s.slice, s.slice == 1
	s.hasExtra = request.Leader != nil || s.tail > 0
	return nil
}

// countedFrom returns the finest level that has to be counted to search a level. Slices
// cut what their domains have, so a coarser sum needs them, inner ones, too.
func (s *placing) countedFrom(level int) int {
	from := level
	if s.spreadLevel != noLevel {
		from = max(from, s.spreadLevel)
	}
	if s.slice > 1 {
		from = max(from, s.sliced)
	}
	for l, size := range s.inner {
		if size > 1 {
			from = max(from, l)
		}
	}
	return from
}

// place finds a placement.
func (s *placing) place(dst TopologyPlacement) TopologyPlacement {
	answer := TopologyPlacement{
		Placement: dst.Placement[:0], Leader: -1, Level: s.level, Domain: -1, Rejections: dst.Rejections[:0], Victims: dst.Victims[:0],
	}
	if answer.Fits = s.count == 0 && !s.hasLeader; answer.Fits {
		return answer
	}
	s.countRows(s.countedFrom(s.level))
	level, fits := s.search()
	if answer.Level, answer.Fits = level, fits; !fits {
		s.refuse(&answer)
		return answer
	}
	answer.Domains, answer.Could = len(s.chosen), int(s.count)
	if len(s.chosen) == 1 {
		answer.Domain = int(s.chosen[0].id)
	}
	s.counts = s.counts[:0]
	s.descend(level)
	// The order in which rows were chosen says nothing: pods are alike.
	slices.SortFunc(s.counts, func(a, b rowCount) int { return cmp.Compare(a.row, b.row) })
	for _, c := range s.counts {
		if c.count == leaderHere {
			answer.Leader = int(c.row)
			continue
		}
		for range c.count {
			answer.Placement = append(answer.Placement, c.row)
		}
	}
	if answer.Domains > 1 && s.choice.leastFree && level < s.sliced {
		answer.Domains, answer.Domain = s.used(level)
	}
	return answer
}

// search chooses domains and returns their level: the first from s.level on where one
// suffices. Coarser levels are counted only when the search gets there.
func (s *placing) search() (level int, fits bool) {
	for level = s.level; ; level-- {
		s.countLevel(level)
		several := !s.required && level == s.last
		s.chosen, fits = choose(&s.choice, s.chosen[:0], s.domainsOf(s.order[level], level), s.slices, s.hasExtra, several)
		if fits || level == s.last {
			return level, fits
		}
	}
}

// domainsOf returns domains of a level to choose from.
func (s *placing) domainsOf(ids []int32, level int) choices[int64] {
	from := choices[int64]{ids: ids, have: s.have, withExtra: s.haveWithExtra, pods: s.pods, podsWithExtra: s.podsWithExtra}
	if s.unsliced || level > s.sliced { // pods are what they have, and break no tie
		from.pods, from.podsWithExtra = nil, nil
	}
	return from
}

// descend goes from the domains chosen at a level down to rows.
func (s *placing) descend(level int) {
	together := s.sliced
	if level <= s.spreadLevel { // from the sets of a Spread on each domain takes what it was given
		together = min(together, s.spreadLevel)
	}
	for ; level < together; level++ {
		slices.SortFunc(s.chosen, func(a, b picked) int { return cmp.Compare(a.at, b.at) })
		s.children = s.children[:0]
		for _, c := range s.chosen {
			if level == s.counted {
				s.countBelow(c.id, level)
			}
			s.children = append(s.children, s.t.domains[c.id].children...)
		}
		s.chosen, _ = choose(&s.choice, s.chosen[:0], s.domainsOf(s.children, level+1), s.slices, s.hasExtra, true)
	}
	for _, c := range s.chosen {
		s.fill(c.id, level, c.take, c.extra)
	}
}

// podsIn returns how many pods so many slices are, with the extra or without.
func (s *placing) podsIn(slices int64, extra bool) int64 {
	if extra && s.tail > 0 {
		return (slices-1)*s.slice + s.tail
	}
	return slices * s.slice
}

// fill puts slices, below their level pods, and maybe the extra, on the rows of a domain.
func (s *placing) fill(d int32, level int, pods int64, extra bool) {
	if level == s.counted {
		s.countBelow(d, level)
	}
	if level == s.sliced {
		pods = s.podsIn(pods, extra)
	}
	if level >= s.sliced {
		extra = extra && (s.hasLeader || level < s.tailed) // within whole slices all are alike
	}
	children := s.t.domains[d].children
	// Rows have their own lists of places, in 32 bits.
	if level == len(s.t.levels)-1 {
		rows := choices[int32]{ids: children, have: s.rowPods, withExtra: s.rowWithLeader}
		s.picks[level], _ = choose(&s.choice, s.picks[level][:0], rows, pods, extra, true)
		for _, c := range s.picks[level] {
			s.counts = append(s.counts, rowCount{c.id, int32(c.take)})
			if c.extra {
				s.counts = append(s.counts, rowCount{c.id, leaderHere})
			}
		}
		return
	}
	s.picks[level], _ = choose(&s.choice, s.picks[level][:0], s.domainsOf(children, level+1), pods, extra, true)
	for _, c := range s.picks[level] {
		s.fill(c.id, level+1, c.take, c.extra)
	}
}

// leaderHere stands for the leader in a rowCount.
const leaderHere = -1

// used returns how many domains of a level have a pod, and the only one or -1. With the
// least free first, more can be chosen there: the finer level chooses among all their
// children again. The ones with the most first are as few as can be, so all are used.
func (s *placing) used(level int) (n, only int) {
	ids := s.children[:0]
	for _, c := range s.counts {
		if d := s.t.at[level][c.row]; len(ids) == 0 || d != ids[len(ids)-1] {
			ids = append(ids, d)
		}
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if s.children = ids; len(ids) == 1 {
		return 1, int(ids[0])
	}
	return len(ids), -1
}

// refuse explains that there is no placement at the level searched last. The numbers are
// what people ask for next: how far off is it, and what is missing.
func (s *placing) refuse(answer *TopologyPlacement) {
	level := answer.Level
	sum, most := int64(0), int64(minGain)
	for _, d := range s.order[level] {
		gain := int64(minGain)
		if s.hasExtra && s.haveWithExtra[d] != noPlace {
			gain = s.haveWithExtra[d] - s.have[d]
		}
		if could := s.could(s.have[d], gain); s.required && (answer.Domain < 0 || could > answer.Could) {
			answer.Domain, answer.Could = int(d), could
		}
		sum, most = sum+s.have[d], max(most, gain)
	}
	if !s.required {
		answer.Could = s.could(sum, most)
	}
	s.domained.Reset(s.free.Rows())
	at, words := s.t.at[len(s.t.at)-1], s.domained.Words()
	for w := range wordsFor(len(at)) {
		word := uint64(0)
		for i, d := range at[w*kernel.Block : min((w+1)*kernel.Block, len(at))] {
			if d != 0 {
				word |= 1 << i
			}
		}
		if s.selected != nil {
			word &= s.selected[w]
		}
		words[w] = word
	}
	answer.Rejections = vector.Rejections(answer.Rejections, s.free, s.request, &s.domained)
}

// could returns how many pods fit where the domains have so much, and so much more with
// the extra there.
func (s *placing) could(have, gain int64) int {
	pods := have * s.slice
	switch {
	case s.hasLeader && gain == minGain:
		return 0
	case s.hasLeader:
		pods += gain * s.slice
	case gain == 1:
		pods += s.tail
	}
	return int(min(pods, s.count))
}
