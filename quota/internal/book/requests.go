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
