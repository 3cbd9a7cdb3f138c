package book

import "slices"

// Alternatives is an ordered list of acceptable cards. The face keeps one per list, so
// that equal lists are equal pointers.
type Alternatives struct {
	Cards []int32 // their dimensions, in the user's order
	Tag   any     // what package quota calls it

	// Anywhere is set for a list of one dimension that isn't a card: tasks are never
	// confined to others.
	Anywhere bool
}

// Multi reports whether there is more than one.
func (a *Alternatives) Multi() bool { return len(a.Cards) > 1 }

// Index returns where a card stands, -1 if it isn't one of them.
func (a *Alternatives) Index(card int32) int { return slices.Index(a.Cards, card) }

// contains reports whether every card of b is one of a.
func (a *Alternatives) contains(b *Alternatives) bool {
	return a == b || !slices.ContainsFunc(b.Cards, func(card int32) bool { return a.Index(card) < 0 })
}

// Set is a set of dimensions.
type Set struct {
	bits []uint64
}

// Has reports whether a dimension is in the set.
func (s *Set) Has(dim int32) bool {
	return int(dim>>6) < len(s.bits) && s.bits[dim>>6]>>(dim&63)&1 != 0
}

// Add adds a dimension.
func (s *Set) Add(dim int32) {
	for int(dim>>6) >= len(s.bits) {
		s.bits = append(s.bits, 0)
	}
	s.bits[dim>>6] |= 1 << (dim & 63)
}

// None reports whether nothing is in the set.
func (s *Set) None() bool {
	return !slices.ContainsFunc(s.bits, func(word uint64) bool { return word != 0 })
}

// Clone returns a copy.
func (s *Set) Clone() *Set { return &Set{slices.Clone(s.bits)} }

// Both returns what is in a and in b, in the memory of s. A nil set has everything.
func (s *Set) Both(a, b *Set) *Set {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	s.bits = s.bits[:0]
	for i := range min(len(a.bits), len(b.bits)) {
		s.bits = append(s.bits, a.bits[i]&b.bits[i])
	}
	return s
}

// Plain are amounts of cpu and memory.
type Plain [2]int64

// Min is what a job needs before it may start.
type Min struct {
	Plain
	AnyMix  bool // items with alternatives may be spread over several of them
	Invalid bool // what the job needs isn't known
	Items   []MinItem
}

// MinItem is an amount of one list of alternatives, in whole units where it spreads. No
// two items of a job have both the same list and the same unit.
type MinItem struct {
	Alts         *Alternatives
	Amount, Unit int64
}

// Use is what a task uses, or asks for. Each item goes on one of its alternatives. No
// two items have a card in common.
type Use struct {
	Plain
	Invalid bool // what the task uses isn't known
	Items   []UseItem
	buf     [1]UseItem // most have one item: it is in the memory that is read anyway
}

// Add adds an item.
func (u *Use) Add(it UseItem) {
	if u.Items == nil {
		u.Items = u.buf[:0]
	}
	u.Items = append(u.Items, it)
}

// UseItem is an amount of one list of alternatives.
type UseItem struct {
	Alts   *Alternatives
	Amount int64
}
