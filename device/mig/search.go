package mig

import "math/bits"

// itemList are instances to be placed, in the order of the search.
type itemList struct {
	n    int
	rank [maxSlots]uint8 // of the profile
	tag  [maxSlots]uint8 // the place of the answer
}

// insert adds an instance behind those that come before it in the search. The
// caller sees to it that there is room, with a slot for each.
func (t *itemList) insert(rank, tag uint8) {
	i := t.n
	t.n++
	for ; i > 0 && t.rank[i-1] > rank; i-- {
		t.rank[i], t.tag[i] = t.rank[i-1], t.tag[i-1]
	}
	t.rank[i], t.tag[i] = rank, tag
}

// append adds more instances, to be placed after all that are there. Their tags
// are the ones that follow.
func (t *itemList) append(more *itemList) {
	for i := range more.n {
		t.rank[t.n], t.tag[t.n] = more.rank[i], uint8(t.n)
		t.n++
	}
}

// search looks for starts of all items in the slots that are not taken. They go
// to at, by tag. The amounts of the items are known to suffice, so that only
// slots matter here.
func (g *Geometry) search(taken uint8, items *itemList, at *[maxSlots]int8) bool {
	s := searcher{kinds: g.kinds, items: items, at: at}
	for i := items.n - 1; i >= 0; i-- {
		s.alike[i] = 1
		if i+1 < items.n && g.kinds[items.rank[i]].like(&g.kinds[items.rank[i+1]]) {
			s.alike[i] += s.alike[i+1]
		}
	}
	return s.from(0, taken)
}

// like reports whether instances of k and of other fit the same places.
func (k *kind) like(other *kind) bool {
	return k.slots == other.slots && k.starts == other.starts
}

// searcher is a search under way.
type searcher struct {
	kinds []kind
	items *itemList
	at    *[maxSlots]int8

	// alike is how many items from this one on fit the same places. They need
	// as many starts, which shows at once what would else be tried in all
	// orders.
	alike [maxSlots]uint8

	// failed has a bit for every item and set of taken slots from where there
	// is no way on. It bounds the search for any geometry.
	failed [maxSlots][256 / 64]uint64
}

// from places item i and those after it.
func (s *searcher) from(i int, taken uint8) bool {
	if i == s.items.n {
		return true
	}
	k := &s.kinds[s.items.rank[i]]
	free := k.free[taken]
	if bits.OnesCount8(free) < int(s.alike[i]) {
		return false
	}
	failed, bit := &s.failed[i][taken/64], uint64(1)<<(taken%64)
	if *failed&bit != 0 {
		return false
	}
	for ; free != 0; free &= free - 1 {
		start := bits.TrailingZeros8(free)
		s.at[s.items.tag[i]] = int8(start)
		if s.from(i+1, taken|k.mask<<start) {
			return true
		}
	}
	*failed |= bit
	return false
}
