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

// fewSlots is how many slots a GPU has of which all sets of taken slots fit into a small
// bit set, for each item.
const fewSlots = 8

// search looks for starts of all items in the slots that are not taken. They go
// to at, by tag. The amounts of the items are known to suffice, so that only
// slots matter here.
func (g *Geometry) search(taken uint32, items *itemList, at *[maxSlots]int8) bool {
	s := searcher{kinds: g.kinds, items: items, at: at, many: g.slots > fewSlots}
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
	many  bool // the GPU has more than fewSlots

	// alike is how many items from this one on fit the same places. They need
	// as many starts, which shows at once what would else be tried in all
	// orders.
	alike [maxSlots]uint8

	// failed is the items and sets of taken slots from where there is no way on: of
	// few slots a bit for each, which bounds the search for any geometry, of many the
	// latest ones, by a hash.
	failed [fewSlots << fewSlots / 64]uint64
}

// from places item i and those after it.
func (s *searcher) from(i int, taken uint32) bool {
	if i == s.items.n {
		return true
	}
	k := &s.kinds[s.items.rank[i]]
	free := k.free(taken)
	if bits.OnesCount32(free) < int(s.alike[i]) || s.hasFailed(i, taken) || s.many && !s.haveStarts(i, taken) {
		return false
	}
	for ; free != 0; free &= free - 1 {
		start := bits.TrailingZeros32(free)
		s.at[s.items.tag[i]] = int8(start)
		if s.from(i+1, taken|k.mask<<start) {
			return true
		}
	}
	word, bit := s.failure(i, taken)
	if s.many {
		*word = 0
	}
	*word |= bit
	return false
}

// hasFailed reports whether it is known that there is no way on.
func (s *searcher) hasFailed(i int, taken uint32) bool {
	word, bit := s.failure(i, taken)
	return *word&bit == bit && (!s.many || *word == bit)
}

// failure returns where a failure is noted, and how.
func (s *searcher) failure(i int, taken uint32) (word *uint64, bit uint64) {
	if !s.many {
		state := uint32(i)<<fewSlots | taken
		return &s.failed[state/64], 1 << (state % 64)
	}
	state := uint64(i+1)<<32 | uint64(taken)
	const golden = 0x9e3779b97f4a7c15 // spreads states that differ in a few bits
	return &s.failed[state*golden>>32%uint64(len(s.failed))], state
}

// haveStarts reports whether items from i on can have starts of their own, all different:
// what they need at least. It finds a matching, one augmenting path for each item. On many
// slots this keeps the search from trying all orders of items that compete for few.
func (s *searcher) haveStarts(i int, taken uint32) bool {
	m := startMatching{searcher: s, taken: taken}
	for ; i < s.items.n; i++ {
		m.seen = 0
		if !m.augment(i) {
			return false
		}
	}
	return true
}

// startMatching gives starts to items, each to one.
type startMatching struct {
	*searcher
	taken uint32
	given uint32          // the starts that are given
	owner [maxSlots]uint8 // of the starts that are given: the item
	seen  uint32          // the starts that the present path has tried
}

// augment gives item i a start, for which others may get another one.
func (m *startMatching) augment(i int) bool {
	free := m.kinds[m.items.rank[i]].free(m.taken)
	for free &^= m.seen; free != 0; free &^= m.seen {
		start := bits.TrailingZeros32(free)
		m.seen |= 1 << start
		if m.given>>start&1 == 0 || m.augment(int(m.owner[start])) {
			m.given |= 1 << start
			m.owner[start] = uint8(i)
			return true
		}
	}
	return false
}
