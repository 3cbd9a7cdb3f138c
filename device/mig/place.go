package mig

import (
	"math/bits"
	"slices"

	"github.com/resvec/resvec/vectormap"
)

// Assumed reports whether the start of an instance is unknown. What [PlaceInstances],
// [Remaining] and [BestStart] say is then true of some arrangement of these instances,
// and perhaps not of the GPU's own.
func Assumed(used []Placed) bool {
	return slices.ContainsFunc(used, func(p Placed) bool { return p.isLoose() })
}

// PlaceInstances decides whether instances of the wanted profiles can be made on a GPU
// that has the used ones. It looks for starts such that no slots overlap, no more compute
// slices are taken than there are, no profile has more instances than its maximum, at
// most one instance has the media engine, and the media decoders suffice. It is exact.
//
// If so, starts has one for each of want, in the order of want, in the array of dst where
// that is large enough. The search places large instances before small ones (by slots,
// then by compute slices, then by name; equal ones as wanted) and tries low starts before
// high ones; it returns the first answer. If there is none, and after an error, starts is
// empty. dst is written only for an answer and may be nil; pass starts again to reuse it.
//
// Instances that are there can't be moved, so used ones keep their starts. An instance
// whose start is unknown may be anywhere that leaves the answer possible; see [Assumed].
// An instance with Slots takes these, whatever its profile says. Used instances that are
// impossible, by their profile, their start or all together, are an error, found before
// anything else. A wanted profile that g lacks, compute instances such as 1c.3g.20gb
// among them, is no error: it can't be placed.
//
// The time does not depend on the length of want, since more instances than
// slots are refused unread. Where profiles of many slots may start almost anywhere on a
// GPU of more than eight, it grows with the number of ways to place them; no vendor has
// such a GPU. Nothing is allocated, but for an error, if dst has
// room for as many starts as g has slots.
func PlaceInstances(dst []int8, g *Geometry, used []Placed, want []vectormap.MIGProfile) (starts []int8, ok bool, err error) {
	g = g.orNone()
	dst = dst[:0]
	var l load
	if err := g.load(&l, used); err != nil {
		return dst, false, err
	}
	if len(want) > g.slots {
		return dst, false, nil
	}
	var items itemList
	for i := range want {
		r := g.rank(&want[i])
		if r < 0 || !l.add(g, r) {
			return dst, false, nil
		}
		items.insert(uint8(r), uint8(i))
	}
	items.append(&l.loose)
	var at [maxSlots]int8
	if !g.search(l.taken, &items, &at) {
		return dst, false, nil
	}
	if cap(dst) < len(want) {
		dst = make([]int8, 0, g.slots)
	}
	dst = dst[:len(want)]
	copy(dst, at[:])
	return dst, true, nil
}

// Remaining returns for each of g.Profiles(), in its order, how many more
// instances of that profile alone can be made on a GPU that has the used ones.
// Errors are as of [PlaceInstances].
func Remaining(g *Geometry, used []Placed) ([]int, error) {
	g = g.orNone()
	var l load
	if err := g.load(&l, used); err != nil {
		return nil, err
	}
	counts := make([]int, len(g.order))
	for i, r := range g.order {
		counts[i] = g.more(l, int(r))
	}
	return counts, nil
}

// BestStart returns the start for an instance of p that keeps most room on a GPU that
// has the used ones: the largest number of compute slices that a further
// instance can have, then the largest number of ways, of a profile and a start
// each, to make one further instance without media extensions (+me), then the
// lowest start. ok is false, and start -1, where p can't be placed. Errors are
// as of [PlaceInstances].
func BestStart(g *Geometry, used []Placed, p vectormap.MIGProfile) (start int8, ok bool, err error) {
	g = g.orNone()
	var l load
	if err := g.load(&l, used); err != nil {
		return -1, false, err
	}
	r := g.rank(&p)
	if r < 0 || !l.add(g, r) {
		return -1, false, nil
	}
	k := &g.kinds[r]
	start = -1
	var most int
	for free := g.starts(&l, r); free != 0; free &= free - 1 {
		s := bits.TrailingZeros32(free)
		after := l
		after.taken |= k.mask << s
		if room := g.room(&after); start == -1 || room > most {
			start, most = int8(s), room
		}
	}
	return start, start >= 0, nil
}

// starts returns the starts, as bits, that an instance of kind r can have with
// everything in l, where it is counted already.
func (g *Geometry) starts(l *load, r int) uint32 {
	k := &g.kinds[r]
	free := k.free(l.taken)
	if l.loose.n == 0 {
		return free
	}
	var at [maxSlots]int8
	for rest := free; rest != 0; rest &= rest - 1 {
		s := bits.TrailingZeros32(rest)
		if !g.search(l.taken|k.mask<<s, &l.loose, &at) {
			free &^= 1 << s
		}
	}
	return free
}

// more returns how many instances of kind r fit next to l.
func (g *Geometry) more(l load, r int) int {
	var at [maxSlots]int8
	for n := 0; ; n++ {
		if !l.add(g, r) {
			return n
		}
		var items itemList
		for range n + 1 {
			items.insert(uint8(r), 0)
		}
		items.append(&l.loose)
		if !g.search(l.taken, &items, &at) {
			return n
		}
	}
}

// room returns how much room l leaves, in the order of [BestStart]: the compute slices
// of the largest instance first, then the ways to make one.
func (g *Geometry) room(l *load) int {
	largest, ways := 0, 0
	for r := range g.kinds {
		after := *l
		if !after.add(g, r) {
			continue
		}
		k := &g.kinds[r]
		free := g.starts(&after, r)
		if free != 0 {
			largest = max(largest, int(k.g))
		}
		if !k.extended {
			ways += bits.OnesCount32(free)
		}
	}
	return largest*maxProfiles*maxSlots*2 + ways
}
