package gang

import (
	"fmt"
	"math"
	"slices"

	"github.com/resvec/resvec/vector"
)

// Spread keeps the members of a gang apart, as anti-affinity does: a set of rows, such as a
// node, a rack or a zone, takes only so many of them. The zero value limits nothing.
type Spread struct {
	// Most is how many members a set takes, the pods in Running included. 0 is no limit.
	Most int

	// Skew is how many more a set that takes members has in the end than the set with the
	// fewest, the pods in Running included: maxSkew of Kubernetes. 0 is no limit. Every set
	// counts, also one without a selected row. A gang that obeys it can be placed one by one
	// so that it is obeyed at every step, and Place goes that way.
	Skew int

	// Domains are the sets, which share no row; nil makes every row a set of its own. A row
	// in none of them takes any number: clear it in the mask of rows if it may take none.
	Domains *Domains

	// Running has for each set how many pods that count run there already; nil is none.
	// Victims that count too are best left out: the answers are then about a cluster that
	// they all have left, and what is proved there is true while some of them stay.
	// Not so with Skew, where a pod that leaves a set lowers what the other sets take: there
	// Running must be as it is when the gang is placed.
	Running []int
}

// Spread makes p keep the members of every gang apart that it is asked about from now on;
// the zero Spread ends it. Answers stay exact for members that are alike, and with Most also
// for a leader, which counts as a member. With Skew a proof about members that differ is right,
// and there are fewer: it only says that no set can be low enough for all others.
//
// A Spread is copied. The error names a Most or Skew below 0, a Running below 0 or above 2^31-1,
// another number of Running than of sets, or a row in two sets; it wraps [vector.ErrShape], and p
// keeps its Spread. Questions panic where Domains or Running have more rows than the matrix,
// or Running without Domains fewer.
func (p *Packer) Spread(s Spread) error { return p.spread.take(s) }

// Spread is [Packer.Spread] for the gang of p. Call it after [Proof.Reset], which ends it. It
// panics when p has changed since Reset.
func (p *Proof) Spread(s Spread) error {
	free := p.overlay.Matrix()
	if free.Version() != p.began {
		panic("gang: spread after a change")
	}
	if err := p.spread.take(s); err != nil {
		return err
	}
	p.takeBounds()
	return nil
}

// spread is a Spread over some rows. It is a copy, because a caller may fill the same lists for
// the next gang before this one is placed. Every row is in one set: the ones that are in no
// Domains have one of their own, without a limit.
type spread struct {
	on      bool
	most    int64 // without a limit the greatest number
	skew    int64 // 0 without a limit
	domains Domains
	grouped bool    // sets are Domains, else rows
	named   int     // rows that Domains know of
	running []int64 // per set; empty for none

	sets  int
	given int     // of them, without the ones of rows in no Domains
	setOf []int32 // per row; empty where every row is a set
	room  []int64 // per set: how many members it takes; empty where it is most for all

	only   [1]int32    // the rows of a set that is a row
	copies []int32     // per row
	sums   []int64     // per set: of copies
	marks  vector.Mask // rows that are in a set, while checking
}

// take copies and checks a Spread.
func (s *spread) take(of Spread) error {
	if of.Domains != nil {
		of.Domains.check(math.MaxInt32) // rows are counted by an int32
	}
	if err := s.check(of); err != nil {
		return err
	}
	s.on, s.grouped = of.Most > 0 || of.Skew > 0, of.Domains != nil
	s.most, s.skew = int64(of.Most), min(int64(of.Skew), 1<<40) // more than all members and what runs
	if s.most == 0 {
		s.most = math.MaxInt64
	}
	s.domains.Rows, s.domains.Offsets = s.domains.Rows[:0], append(s.domains.Offsets[:0], 0)
	if s.grouped {
		s.domains.Rows = append(s.domains.Rows, of.Domains.Rows...)
		s.domains.Offsets = append(s.domains.Offsets[:0], of.Domains.Offsets...)
	}
	s.named = s.domains.rows()
	s.running = s.running[:0]
	for _, n := range of.Running {
		s.running = append(s.running, int64(n))
	}
	// The method over makes it, when a question says how many rows there are.
	s.setOf = s.setOf[:0]
	return nil
}

// copy makes s the same as t.
func (s *spread) copy(t *spread) {
	s.on, s.most, s.skew, s.grouped, s.named = t.on, t.most, t.skew, t.grouped, t.named
	s.domains.Rows = append(s.domains.Rows[:0], t.domains.Rows...)
	s.domains.Offsets = append(s.domains.Offsets[:0], t.domains.Offsets...)
	s.running, s.setOf = append(s.running[:0], t.running...), s.setOf[:0]
}

// check returns what is wrong with a Spread. It comes before anything is kept: a Spread that is
// refused leaves the old one whole.
func (s *spread) check(of Spread) error {
	if of.Most < 0 {
		return spreadError("Most: got %d, want 0 or more", of.Most)
	}
	if of.Skew < 0 {
		return spreadError("Skew: got %d, want 0 or more", of.Skew)
	}
	for set, n := range of.Running {
		if n < 0 || n > math.MaxInt32 {
			return spreadError("Running[%d]: got %d, want 0 to %d", set, n, math.MaxInt32)
		}
	}
	d := of.Domains
	if d == nil {
		return nil
	}
	if of.Running != nil && len(of.Running) != d.len() {
		return spreadError("Running: got %d sets, want %d as in Domains", len(of.Running), d.len())
	}
	s.marks.Reset(d.rows()) // a bit a row: one great number in a list must not take all memory
	for set := range d.len() {
		for _, r := range d.rowsOf(set) {
			if s.marks.Test(int(r)) {
				return spreadError("Domains: row %d is in the sets %d and %d, want one", r, d.setWith(r), set)
			}
			s.marks.Set(int(r))
		}
	}
	return nil
}

// setWith returns the first set that has row r, or -1.
func (d *Domains) setWith(r int32) int {
	for set := range d.len() {
		if slices.Contains(d.rowsOf(set), r) {
			return set
		}
	}
	return -1
}

// spreadError returns a fault of a Spread.
func spreadError(format string, args ...any) error {
	return fmt.Errorf("gang: spread: "+format+"%w", append(args, shapeFault{})...)
}

// over makes s a spread over so many rows, which only a question knows. Sets of Domains are
// indexed once for a number of rows: most questions are about the same nodes as the last.
func (s *spread) over(rows int) {
	switch {
	case !s.on:
		return
	case !s.grouped:
		if len(s.running) > 0 && len(s.running) != rows {
			panic("gang: running pods of another number of rows")
		}
		s.sets, s.given, s.room = rows, rows, s.room[:0]
		for _, n := range s.running {
			s.room = append(s.room, max(s.most-n, 0))
		}
		return
	case s.named > rows:
		panic("gang: rows of a domain do not ascend within the matrix")
	case len(s.setOf) == rows && rows > 0: // nothing has changed since the last question
		return
	}
	s.setOf = resized(s.setOf, rows)
	for r := range s.setOf {
		s.setOf[r] = -1
	}
	s.sets, s.room = s.domains.len(), s.room[:0]
	s.given = s.sets
	for set := range s.sets {
		s.room = append(s.room, max(s.most-s.runs(set), 0))
		for _, r := range s.rowsOf(set) {
			s.setOf[r] = int32(set)
		}
	}
	// With sets of their own for the rest, no row is without a set.
	for r, set := range s.setOf {
		if set < 0 {
			s.setOf[r] = int32(s.sets)
			s.room = append(s.room, math.MaxInt64)
			s.sets++
		}
	}
}

// set returns the set of row r.
func (s *spread) set(r int) int {
	if len(s.setOf) == 0 {
		return r
	}
	return int(s.setOf[r])
}

// rowsOf returns the rows of a set that was given, valid until it is asked again.
func (s *spread) rowsOf(set int) []int32 {
	if !s.grouped {
		s.only[0] = int32(set)
		return s.only[:]
	}
	return s.domains.rowsOf(set)
}

// roomIn returns how many members a set takes.
func (s *spread) roomIn(set int) int64 {
	if len(s.room) == 0 {
		return s.most
	}
	return s.room[set]
}

// runs returns how many pods run in a set that was given.
func (s *spread) runs(set int) int64 {
	if len(s.running) == 0 {
		return 0
	}
	return s.running[set]
}

// change returns how many more places there are when the copies in a set change.
func (s *spread) change(set int, was, is int64) int64 {
	room := s.roomIn(set)
	return min(is, room) - min(was, room)
}

// gain returns how many more workers a set takes when the leader is on a row of it that then
// holds so many more, which is never positive. The set holds copies of the worker.
func (s *spread) gain(set int, copies int64, onRow float64) float64 {
	room := float64(s.roomIn(set))
	if room == 0 {
		return noLeader
	}
	return min(room-1, float64(copies)+onRow) - min(room, float64(copies))
}

// places returns how many copies of request the selected rows hold where no set takes more
// than its room, and none is skewed, if that is asked for. It stops counting when there are
// enough.
func (s *spread) places(free *vector.Matrix, selected []uint64, request vector.ResourceVector, enough int64, skew bool) int64 {
	if !s.grouped && len(s.room) == 0 && !(skew && s.skew > 0) { // anti-affinity by node: the kernel's sum is enough
		return countCopies(nil, free, selected, request, min(s.most, enough), enough)
	}
	return s.count(free, selected, request, enough, skew)
}

// count is places for at most most copies a row. It keeps the copies of rows and sets.
func (s *spread) count(free *vector.Matrix, selected []uint64, request vector.ResourceVector, most int64, skew bool) (places int64) {
	s.copies = resized(s.copies, free.Rows())
	countCopies(s.copies, free, selected, request, most, math.MaxInt64)
	s.sums = resized(s.sums, s.sets)
	return s.sum(s.sums, s.copies, skew)
}

// sum sets sums to the copies of each set, and returns how many of them have a place.
func (s *spread) sum(sums []int64, copies []int32, skew bool) (places int64) {
	clear(sums)
	for r, n := range copies {
		sums[s.set(r)] += int64(n)
	}
	return s.taken(sums, skew)
}

// placesIn returns how many of the copies that c counts on the rows of set d of sets have a place,
// and how many there are in each set of s that has such a row.
func (s *spread) placesIn(inSet []int64, free *vector.Matrix, sets *rowSets, d int, c *rowCounter, skew bool) (places int64) {
	if skew { // the set with the fewest pods need not have a row in set d
		clear(inSet)
	} else { // few of many sets are in a set of Domains
		sets.each(d, free.Rows(), func(r int) bool {
			inSet[s.set(r)] = 0
			return true
		})
	}
	sets.each(d, free.Rows(), func(r int) bool {
		set, copies := s.set(r), c.on(free, r)
		places += s.change(set, inSet[set], inSet[set]+copies)
		inSet[set] += copies
		return true
	})
	if skew {
		return s.taken(inSet, true)
	}
	return places
}

// cut cuts the copies of the rows from lo on to what their sets take, which are rows.
func (s *spread) cut(copies []int64, lo int) {
	if len(s.room) == 0 {
		for i, n := range copies {
			copies[i] = min(n, s.most)
		}
		return
	}
	for i, n := range copies {
		copies[i] = min(n, s.room[s.set(lo+i)])
	}
}

// taken returns how many of the copies in each set have a place. The set with the fewest pods
// when all is full says how many the others may have at most: no placement fills it higher, and
// to fill the lowest sets first gets there.
func (s *spread) taken(sums []int64, skew bool) (places int64) {
	highest := int64(math.MaxInt64)
	if skew && s.skew > 0 && s.given > 0 {
		for set, n := range sums[:s.given] {
			highest = min(highest, s.runs(set)+min(n, s.roomIn(set)))
		}
		highest += s.skew
	}
	for set, n := range sums {
		n = min(n, s.roomIn(set))
		// Rows in no set are under no rule, and raise none.
		if set < s.given {
			n = min(n, max(highest-s.runs(set), 0))
		}
		places += n
	}
	return places
}
