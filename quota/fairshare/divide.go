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
// A parent deserves what its own [Queue] says: a cohort of Kueue's without a quota of its own
// deserves nothing, and gets its part by weight. [Tree.Next], [Tree.Measure] and a [Claim] by
// Kueue's rules count the nominal quotas of all below it instead.
//
// It costs the parents and columns whose amounts have changed since the last time, and a look at
// every other parent.
func (t *Tree) Divide() {
	t.sumHistory()
	// Parents come first: a share that changes makes the division below it out of date, which
	// is still to come.
	for _, row := range t.shape.parents {
		if columns := t.stale[row]; columns != 0 {
			t.stale[row] = 0
			t.divideRow(row, columns)
		}
	}
}

// Share sets dst to what a queue should have, as [Tree.Divide] found it.
func (t *Tree) Share(dst vector.ResourceVector, row int) vector.ResourceVector {
	return read(dst[:0], t.used(t.checked(row), share))
}

// Oversold sets dst to what the children of a queue have been promised beyond its share.
// The top's row is 0.
func (t *Tree) Oversold(dst vector.ResourceVector, row int) vector.ResourceVector {
	return read(dst[:0], t.used(t.checked(row), oversold))
}

// outdate notes that the division of a column among the children of a row is out of date, since
// what it gets or what a child wants has changed. A leaf that wants more costs one division in
// each level in which that matters.
func (t *Tree) outdate(row int32, j int) {
	if row >= 0 { // the top is nobody's child
		t.stale[row] |= 1 << (j % 64)
	}
}

func (t *Tree) outdateAll() {
	for row := range t.stale {
		t.stale[row] = math.MaxUint64
	}
}

// noteCan notes what a queue wants and may have of a column where divisions read it, and that the
// one among its siblings is out of date.
func (t *Tree) noteCan(row int32, j int) {
	if s := &t.shape; row > 0 && !s.isOld {
		p := t.rows[row].parent
		first, n := int(s.first[p]), int(s.first[p+1]-s.first[p])
		s.cans[first*t.cols+j*n+int(s.level[row])] = min(t.used(row, limit)[j], t.used(row, wanted)[j])
		t.outdate(p, j)
	}
}

// divideRow divides what a row gets among its children, in the columns of a set of bits.
func (t *Tree) divideRow(row int32, columns uint64) {
	children := t.shape.levelsOf(row)
	for j := range t.cols {
		if columns>>(j%64)&1 == 0 {
			continue
		}
		if row == 0 && t.used(0, share)[j] != t.total[j] {
			t.put(0, share, j, t.total[j])
			t.touch(0)
		}
		t.put(row, oversold, j, t.divide(row, children, j))
		for i, child := range children {
			if x := t.work.got[i]; t.used(child, share)[j] != x {
				t.put(child, share, j, x)
				t.outdate(child, j)
				t.touch(child)
			}
		}
	}
}

// division is the scratch memory of the division of a column among the children of one parent.
// All lists are per child, by priority.
type division struct {
	can     []int64 // the most that each wants and may have; the shape's, as are the next two
	right   []int64 // what it deserves, or is guaranteed
	weight  []int64
	got     []int64
	promise []int64 // what each gets before anything is poured

	items  []item
	events []event
	parts  []part

	isTraced bool
	levels   []level // what each was poured by, if it was; where traced
}

// item is a child that takes part in pouring: it gets w times the level, but at least lo
// and at most hi.
type item struct {
	w, lo, hi int64
	child     int32 // in the list by priority
}

// level is what a child was poured by: a level num/den and a weight.
type level struct{ num, den, weight uint64 }

// divide divides a column of what a row gets among its children. The parts are in d.got; it
// returns what is promised beyond the amount.
func (t *Tree) divide(row int32, children []int32, j int) (over int64) {
	d, s, n := &t.work, &t.shape, len(children)
	at, amount := int(s.first[row])*t.cols+j*n, t.used(row, share)[j]
	d.can, d.right, d.weight = s.cans[at:][:n], s.rights[at:][:n], s.weights[at:][:n]
	d.got, d.promise = resized(d.got, n), resized(d.promise, n)
	if t.options.ByWeight {
		return t.divideByWeight(amount)
	}
	return t.divideAbove(children, s.priorities[s.first[row]:][:n], j, amount)
}

// divideAbove divides an amount by KAI's rule: first what each deserves, as far as it wants
// it, then what is left, by priority and weight.
//
// An example, 10 for a (deserves 2, weight 1) and b (deserves 2, weight 3), which want 10
// each. Both get 2. At level 1.5 of the 6 that are left a gets 1.5 more, and b 4.5. Rounded
// down that is 1 and 4; both parts are .5, so the odd unit goes to a, whose rank is lower.
func (t *Tree) divideAbove(children []int32, priorities []int64, j int, amount int64) (over int64) {
	d, sum := &t.work, int64(0)
	can, right, promise := d.can, d.right[:len(d.can)], d.promise[:len(d.can)]
	for i := range can {
		// Unlimited deserves all there is, not more: else it would always be oversold.
		x := right[i]
		if x == unlimited {
			x = amount
		}
		promise[i] = min(can[i], x)
		sum += promise[i]
	}
	copy(d.got, promise)
	if sum > amount && !t.options.Scale {
		return sum - amount
	}
	over, left := max(0, sum-amount), amount-sum
	if over > 0 {
		left = amount
		clear(d.got)
	}
	d.items = resized(d.items, len(children))
	items := d.items
	for first, i := 0, 0; first < len(children); first = i {
		n := 0
		for i = first; i < len(children) && priorities[i] == priorities[first]; i++ {
			w, most := d.weight[i], can[i]-promise[i]
			if over > 0 {
				w, most = promise[i], promise[i] // cut in proportion to the promise
			}
			items[n] = item{w: w, hi: most, child: int32(i)}
			if w > 0 && most > 0 { // else the next takes its place
				n++
			}
		}
		if t.options.History > 0 && over == 0 {
			left = t.pourByHistory(children, items[:n], j, left)
		} else {
			left = d.pour(items[:n], left)
		}
	}
	return over
}

// divideByWeight divides an amount by the rule of Volcano's proportion plugin: everything by
// weight, but nobody gets less than its guarantee, or more than it wants and may have. The
// level rises from 0, and a queue with a guarantee begins to rise when its weight has earned
// that. Priorities don't matter here.
func (t *Tree) divideByWeight(amount int64) (over int64) {
	d, sum := &t.work, int64(0)
	copy(d.got, d.right)
	for _, g := range d.right {
		sum += g
	}
	if sum >= amount {
		return sum - amount
	}
	d.items = resized(d.items, len(d.right))
	items, left := d.items[:0], amount
	for i, g := range d.right {
		// What others are guaranteed is not to be had. Who can't rise has its guarantee already,
		// and takes no part.
		most := max(g, min(d.can[i], amount-sum+g))
		if d.weight[i] == 0 || most == g {
			left -= g
			continue
		}
		d.got[i] = 0
		items = append(items, item{d.weight[i], g, most, int32(i)})
	}
	d.pour(items, left)
	return 0
}

// pour pours an amount into items, adds what each gets to d.got, and returns what is left.
func (d *division) pour(items []item, amount int64) (left int64) {
	if amount == 0 {
		return 0
	}
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
	return 0
}

// pourByHistory is pour by weights in effect: who used more than its part gets less.
func (t *Tree) pourByHistory(children []int32, items []item, j int, amount int64) (left int64) {
	d := &t.work
	for len(items) > 0 && amount > 0 {
		sum, positive := int64(0), 0
		for i := range items {
			sum += d.weight[items[i].child]
		}
		for i := range items {
			x := &items[i]
			u := 0.0
			if t.total[j] != 0 {
				u = t.history[int(children[x.child])*t.cols+j] / float64(t.total[j])
			}
			x.w = weightInEffect(float64(d.weight[x.child])/float64(sum), u, t.options.History)
			if x.w > 0 {
				items[i], items[positive] = items[positive], items[i]
				positive++
			}
		}
		// A queue that has used too much waits until the others are full. If all have, their
		// weights count, so that no unit stays free.
		if positive == 0 {
			for i := range items {
				items[i].w = d.weight[items[i].child]
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
