package fairshare

import (
	"math"

	"github.com/resvec/resvec/vector"
)

// Divide gives every queue its share: the total is divided among the top queues, then what
// each gets among its children. Each column is divided alone, in whole units, exactly. What
// is above deserved amounts goes by priority, and within one priority by weight, up to what
// each wants; see [Options] for the other ways.
//
// It costs the parents and columns whose amounts have changed since the last time.
func (t *Tree) Divide() {
	t.sumHistory()
	s := &t.stale
	if s.isAll {
		s.clear()
		for _, row := range t.shape.order {
			t.divideRow(row, nil)
		}
		return
	}
	// A share that changes makes the division below it stale, one level further down.
	for depth := 0; depth < len(s.rows); depth++ {
		for _, row := range s.rows[depth] {
			t.divideRow(row, s.columnsOf(row))
			clear(s.columnsOf(row))
		}
		s.rows[depth] = s.rows[depth][:0]
	}
}

// Share sets dst to what a queue should have, as [Tree.Divide] found it.
func (t *Tree) Share(dst vector.ResourceVector, row int) vector.ResourceVector {
	return read(dst[:0], t.shared(t.checked(row), share))
}

// Oversold sets dst to what the children of a queue have been promised beyond its share.
// The top's row is 0.
func (t *Tree) Oversold(dst vector.ResourceVector, row int) vector.ResourceVector {
	return read(dst[:0], t.shared(t.checked(row), oversold))
}

// staleness is which divisions are out of date.
type staleness struct {
	isAll   bool
	history bool      // past usage of parents is, too
	rows    [][]int32 // per depth: parents with a stale column
	columns []uint64  // per row: its stale columns, a bit each
	words   int       // per row
}

func (s *staleness) columnsOf(row int32) []uint64 {
	return s.columns[int(row)*s.words:][:s.words]
}

// all makes every division stale.
func (s *staleness) all(t *Tree) {
	s.isAll = true
	s.words = (t.cols + 63) / 64
	s.columns = resized(s.columns, len(t.rows)*s.words)
}

// clear makes none stale.
func (s *staleness) clear() {
	s.isAll = false
	clear(s.columns)
	for depth := range s.rows {
		s.rows[depth] = s.rows[depth][:0]
	}
}

// mark makes the division among the children of a row stale, in one column.
func (s *staleness) mark(t *Tree, row int32, j int) {
	if row < 0 || t.shape.isOld || s.isAll || t.rows[row].children == 0 {
		return
	}
	columns, marked := s.columnsOf(row), uint64(0)
	for _, word := range columns {
		marked |= word
	}
	columns[j/64] |= 1 << (j % 64)
	if marked == 0 {
		depth := int(t.shape.depth[row])
		for len(s.rows) <= depth {
			s.rows = append(s.rows, nil)
		}
		s.rows[depth] = append(s.rows[depth], row)
	}
}

// divideRow divides what a row gets among its children, in the columns of a set of bits or
// in all.
func (t *Tree) divideRow(row int32, columns []uint64) {
	children := t.shape.levelsOf(row, t.rows[row].children)
	for j := range t.cols {
		if columns != nil && columns[j/64]>>(j%64)&1 == 0 {
			continue
		}
		if row == 0 {
			t.setShare(0, share, j, t.total[j])
		}
		if len(children) == 0 {
			t.setShare(row, oversold, j, 0)
			continue
		}
		t.setShare(row, oversold, j, t.divide(row, j))
		for i, child := range children {
			if t.setShare(child, share, j, t.work.got[i]) {
				t.stale.mark(t, child, j)
				t.touch(child)
			}
		}
	}
}

// setShare writes an amount and reports whether that makes a difference.
func (t *Tree) setShare(row int32, part, j int, x int64) bool {
	if t.shared(row, part)[j] == x {
		return false
	}
	t.saveShare(row)
	t.shared(row, part)[j] = x
	return true
}

// division is the scratch memory of a division among the children of one parent.
type division struct {
	promise []int64 // per child, by priority: what it gets before anything is poured
	got     []int64 // what it gets
	items   []item
	events  []event
	parts   []part

	isTraced bool
	levels   []level // per child, where traced
}

// item is a child that takes part in pouring: it gets w times the level, but at least lo
// and at most hi.
type item struct {
	w, lo, hi int64
	got       int64
	child     int32 // in the list by priority
	rank      int32
	plain     int64 // its weight without history
}

// level is what a child was poured by: a level num/den and a weight.
type level struct{ num, den, weight uint64 }

// divide divides column j of what a row gets. The parts are in t.work.got, children by
// priority; it returns what is promised beyond the amount.
func (t *Tree) divide(row int32, j int) (over int64) {
	d := &t.work
	children := t.shape.levelsOf(row, t.rows[row].children)
	d.promise, d.got = resized(d.promise, len(children)), resized(d.got, len(children))
	if d.isTraced {
		d.levels = resized(d.levels, len(children))
		clear(d.levels)
	}
	if t.options.ByWeight {
		return t.divideByWeight(children, j, t.shared(row, share)[j])
	}
	return t.divideAbove(children, j, t.shared(row, share)[j])
}

// divideAbove divides an amount by KAI's rule: first what each deserves, as far as it wants
// it, then what is left, by priority and weight.
func (t *Tree) divideAbove(children []int32, j int, amount int64) (over int64) {
	d, sum := &t.work, int64(0)
	for i, child := range children {
		can := min(t.term(child, limit)[j], t.used(child, wanted)[j])
		// Unlimited deserves all there is, not more: else it would always be oversold.
		d.promise[i] = min(can, t.term(child, deserved)[j])
		if t.term(child, deserved)[j] == unlimited {
			d.promise[i] = min(can, amount)
		}
		d.got[i] = d.promise[i]
		sum += d.promise[i]
	}
	if sum > amount && !t.options.Scale {
		return sum - amount
	}
	over, left := max(0, sum-amount), amount-sum
	if over > 0 {
		left = amount
	}
	for first, i := 0, 0; first < len(children); first = i {
		priority := t.rows[children[first]].priority
		d.items = d.items[:0]
		for i = first; i < len(children) && t.rows[children[i]].priority == priority; i++ {
			child := children[i]
			x := item{child: int32(i), rank: t.shape.rank[child], w: t.term(child, weight)[j]}
			if over > 0 {
				x.w, x.hi = d.promise[i], d.promise[i] // cut in proportion to the promise
			} else {
				x.hi = min(t.term(child, limit)[j], t.used(child, wanted)[j]) - d.promise[i]
			}
			if x.w > 0 && x.hi > 0 {
				x.plain = x.w
				d.items = append(d.items, x)
			}
			if over > 0 {
				d.got[i] = 0
			}
		}
		if t.options.History > 0 && over == 0 {
			left = t.pourByHistory(children, d.items, j, left)
		} else {
			left = d.pour(d.items, left)
		}
	}
	return over
}

// divideByWeight divides an amount by the rule of Volcano's proportion plugin.
func (t *Tree) divideByWeight(children []int32, j int, amount int64) (over int64) {
	d, sum := &t.work, int64(0)
	for i, child := range children {
		d.promise[i] = t.term(child, guarantee)[j]
		d.got[i] = d.promise[i]
		sum += d.promise[i]
	}
	if sum >= amount {
		return sum - amount
	}
	d.items = d.items[:0]
	left := amount
	for i, child := range children {
		g, w := d.promise[i], t.term(child, weight)[j]
		// What others are guaranteed is not to be had.
		most := max(g, min(t.term(child, limit)[j], t.used(child, wanted)[j], amount-sum+g))
		if w == 0 || most == g {
			left -= g
			continue
		}
		d.got[i] = 0
		d.items = append(d.items, item{w: w, lo: g, hi: most, child: int32(i), rank: t.shape.rank[child]})
	}
	d.pour(d.items, left)
	return 0
}

// pour pours an amount into items, adds what each gets to d.got, and returns what is left.
func (d *division) pour(items []item, amount int64) (left int64) {
	sum := int64(0)
	for i := range items {
		sum += items[i].hi
	}
	if sum <= amount {
		for i := range items {
			d.got[items[i].child] += items[i].hi
		}
		return amount - sum
	}
	d.fill(items, amount)
	for i := range items {
		d.got[items[i].child] += items[i].got
	}
	return 0
}

// pourByHistory is pour by weights in effect: who used more than its part gets less.
func (t *Tree) pourByHistory(children []int32, items []item, j int, amount int64) (left int64) {
	d := &t.work
	for len(items) > 0 && amount > 0 {
		sum, positive := int64(0), 0
		for i := range items {
			sum += items[i].plain
		}
		for i := range items {
			x := &items[i]
			u := 0.0
			if t.total[j] != 0 {
				u = t.history[int(children[x.child])*t.cols+j] / float64(t.total[j])
			}
			x.w = weightInEffect(float64(x.plain)/float64(sum), u, t.options.History)
			if x.w > 0 {
				items[i], items[positive] = items[positive], items[i]
				positive++
			}
		}
		// A queue that has used too much waits until the others are full. If all have, their
		// weights count, so that no unit stays free.
		if positive == 0 {
			for i := range items {
				items[i].w = items[i].plain
			}
			positive = len(items)
		}
		amount = d.pour(items[:positive], amount)
		items = items[positive:]
	}
	return amount
}

// weightInEffect returns max(0, n + k*(n-u)) in units of 10^-9, rounded half to even, and a
// positive one not to 0.
func weightInEffect(n, u, k float64) int64 {
	x := n + float64(k*float64(n-u)) // the conversions keep CPUs from fusing operations
	if !(x > 0) {
		return 0
	}
	// y + e is exactly x * 10^9. As y is below 2^51, a half is a multiple of its last bit, and
	// e matters only there.
	y := float64(x * 1e9)
	e, n := math.FMA(x, 1e9, -y), math.Floor(y)
	if f := y - n; f > 0.5 || f == 0.5 && (e > 0 || e == 0 && math.Mod(n, 2) == 1) {
		n++
	}
	return max(1, int64(n))
}
