package scorecache

import "github.com/resvec/resvec/vector"

// Order is the order of the rows under a tie. Scores in this order need no keys to break
// ties: the first place wins. The zero value is no order.
type Order struct {
	tie     vector.Tie
	version uint64  // differs from order to order, 0 for none
	plain   bool    // place and row are the same
	rows    []int32 // by place
	places  []int32 // by row
	checked int     // the place that check looks at next
}

const panicRank = "scorecache: the rank of a tie was rewritten in place: give vector.TieRank another slice"

// checkedPlaces is how many places check looks at: few enough not to be felt.
const checkedPlaces = 4

// Reset orders n rows by a tie, anew where the caller may have changed its ranks.
func (o *Order) Reset(tie vector.Tie, n int) {
	o.rows = tie.Order(o.rows, n) // panics before it writes
	o.places = resized(o.places, n)
	o.tie, o.plain, o.checked = tie, true, 0
	for p, r := range o.rows {
		o.places[r] = int32(p)
		o.plain = o.plain && int(r) == p
	}
}

// Row returns the row at a place.
func (o *Order) Row(place int) int { return int(o.rows[place]) }

// Place returns the place of a row.
func (o *Order) Place(row int) int32 { return o.places[row] }

// check panics where the tie has another order by now: somebody has rewritten the rank
// that it refers to. It looks at a few places, at others each time: a new permutation
// is found at once or soon, and no answer relies on it for long. The order by row is no
// exception: a rank can have it, too.
func (o *Order) check() {
	n := len(o.rows)
	if n < 2 || o.tie.Same(vector.TieLowest()) {
		return
	}
	for range checkedPlaces {
		if o.checked++; o.checked >= n {
			o.checked = 1
		}
		before, after := int(o.rows[o.checked-1]), int(o.rows[o.checked])
		first, second := o.tie.Key(before, n), o.tie.Key(after, n)
		if first > second || first == second && before > after {
			panic(panicRank)
		}
	}
}

// tieOrders is the order in use and the one before it.
type tieOrders struct {
	now, before Order
	last        vector.Tie // asked for by the last call
}

// arrange sees to an order of n rows and reports whether it is the order of tie. It
// becomes so when a tie comes twice in a row, as ordering costs more than one
// choice without an order; until then the order stays as it is, if it can.
func (o *tieOrders) arrange(tie vector.Tie, n int) bool {
	again := tie.Same(o.last)
	o.last = tie
	if o.valid(n) {
		if tie.Same(o.now.tie) {
			o.now.check()
			return true
		}
		if !again {
			return false
		}
	} else if !again && !tie.Same(o.now.tie) {
		o.change(vector.TieLowest(), n)
		return tie.Same(vector.TieLowest())
	}
	o.change(tie, n)
	return true
}

// keep sees to an order of n rows, whichever.
func (o *tieOrders) keep(n int) {
	if !o.valid(n) {
		o.change(vector.TieLowest(), n)
	}
}

// valid reports whether there is an order of n rows.
func (o *tieOrders) valid(n int) bool { return o.now.version > 0 && len(o.now.rows) == n }

// change orders n rows by tie.
func (o *tieOrders) change(tie vector.Tie, n int) {
	next := o.before // for its storage
	next.Reset(tie, n)
	next.version = o.now.version + 1
	o.before, o.now = o.now, next
}
