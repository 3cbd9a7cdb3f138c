package fairshare

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"strconv"
)

// Ratio is a measure of a queue, exactly. The zero Ratio is 0.
type Ratio struct {
	num, den uint64 // 0/0 is 0, and any other x/0 infinite
	weight   uint64 // of a borrowing, which is num*1000/den divided by it, in thousandths; 0: none, as if 10^6

	// unweighted says that the weight is 0, so that the ratio is infinite. It is above all
	// ratios with a weight, and num/den decides between two.
	unweighted bool
}

// Compare returns -1, 0 or +1 as r is less than s, equal, or greater, by cross
// multiplication.
func (r Ratio) Compare(s Ratio) int {
	if r.unweighted != s.unweighted {
		if r.unweighted {
			return 1
		}
		return -1
	}
	if r.num == 0 {
		r.den = 1 // also of 0/0
	}
	if s.num == 0 {
		s.den = 1
	}
	// num/(den*weight) of both; a product takes 158 bits.
	return compareProducts(r.num, s.den, s.weighted(), s.num, r.den, r.weighted())
}

// weighted returns the weight by which num*10^6/den is divided. It makes a ratio without a weight
// num/den.
func (r Ratio) weighted() uint64 {
	if r.weight == 0 {
		return 1e6
	}
	return r.weight
}

func (r Ratio) isInfinite() bool { return r.unweighted || r.den == 0 && r.num > 0 }

// compareProducts compares a*b*c with d*e*f in 192 bits. Mostly c and f are alike, and 128
// are enough.
func compareProducts(a, b, c, d, e, f uint64) int {
	hi1, lo1 := bits.Mul64(a, b)
	hi2, lo2 := bits.Mul64(d, e)
	if c == f {
		return compare128(hi1, lo1, hi2, lo2)
	}
	top1, mid1, low1 := times(hi1, lo1, c)
	top2, mid2, low2 := times(hi2, lo2, f)
	return cmp.Or(cmp.Compare(top1, top2), compare128(mid1, low1, mid2, low2))
}

// times returns 192 bits of a product.
func times(hi, lo, x uint64) (top, mid, low uint64) {
	carry, low := bits.Mul64(lo, x) // as on paper, with digits of 64 bits
	top, mid = bits.Mul64(hi, x)
	mid, c := bits.Add64(mid, carry, 0)
	return top + c, mid, low
}

// Float64 returns about what the ratio is, +Inf where it is infinite.
func (r Ratio) Float64() float64 {
	switch {
	case r.isInfinite():
		return math.Inf(1)
	case r.num == 0:
		return 0
	case r.weight > 0:
		return float64(r.num) / float64(r.den) * (1e6 / float64(r.weight))
	}
	return float64(r.num) / float64(r.den)
}

// String returns the ratio as a fraction, such as 3/4, and a borrowing as 1000·3/4 or, with
// its weight, as 1000·3/4/2.
func (r Ratio) String() string {
	text := strconv.FormatUint(r.num, 10) + "/" + strconv.FormatUint(r.den, 10)
	switch {
	case r.unweighted:
		return "1000·" + text + "/0"
	case r == Ratio{}:
		return "0"
	case r.weight > 0 && r.weight != 1000:
		return "1000·" + text + "/" + strconv.FormatFloat(float64(r.weight)/1000, 'f', -1, 64)
	case r.weight > 0:
		return "1000·" + text
	}
	return text
}

// over returns x/y, where unlimited y gives 0.
func over(x, y int64) Ratio {
	if y == unlimited {
		return Ratio{}
	}
	return Ratio{num: uint64(x), den: uint64(y)}
}

// or returns the greater ratio.
func (r Ratio) or(s Ratio) Ratio {
	if r.Compare(s) < 0 {
		return s
	}
	return r
}

// Measure returns what the rules compare queues by:
//
//   - Leximin: the saturation, the greatest of allocated/share of the columns that are short, or of
//     all where none is. A column is short where siblings want more than there is for them.
//   - KAI: the greatest of allocated/entitled. A queue is entitled to its share, or what it
//     deserves if that is more, within its limit; unlimited counts as the total, and x/0 as 1000·x.
//   - Volcano: the greatest of allocated/deserved, where deserved counts at least as the
//     guarantee. It is 1 for a queue that deserves nothing.
//   - Kueue: the borrowing, the greatest of 1000·(what is used beyond its quota) / (what the
//     parent can lend) of a group of columns, divided by the weight. A top queue has 0.
//
// x/0 is infinite, and 0/0 is 0.
func (t *Tree) Measure(row int) Ratio {
	t.tidy()
	return t.measure(t.checked(row))
}

func (t *Tree) measure(row int32) (most Ratio) {
	switch t.options.Rules {
	case Leximin:
		t.short = t.shortOf(t.short[:0], t.rows[row].parent)
		return t.saturation(row, nil, t.short)
	case Kueue:
		return t.borrowing(row, row, nil, 1)
	}
	for j, a := range t.used(row, allocated) {
		if a > 0 { // else it adds nothing, and costs a comparison
			most = most.or(t.part(row, j, a))
		}
	}
	if t.options.Rules == Volcano && t.deservesNothing(row) {
		return Ratio{num: 1, den: 1}
	}
	return most
}

// part returns what a column of which a queue has a adds to its measure by KAI's and Volcano's rules.
func (t *Tree) part(row int32, j int, a int64) Ratio {
	if t.options.Rules == KAI {
		return t.kaiPart(a, t.entitledTo(row, j), j)
	}
	d := t.deserves(row, j)
	if d == 0 {
		return Ratio{}
	}
	return over(a, d)
}

// shortOf appends for each column whether the children of a row want more of it than there is for
// them. Of the parent of the top nothing is short.
func (t *Tree) shortOf(dst []bool, row int32) []bool {
	for j := range t.cols {
		dst = append(dst, row >= 0 && t.isShort(row, j))
	}
	return dst
}

func (t *Tree) isShort(row int32, j int) bool { return t.used(row, wanted)[j] > t.used(row, share)[j] }

// deciding reports by Leximin whether a column decides for who asks for amounts, nil for all: one of
// those that are asked for, and if any of these is short, a short one.
func deciding(asks []int64, short []bool) func(j int) bool {
	isShort := false
	for j, x := range short {
		isShort = isShort || x && (asks == nil || asks[j] > 0)
	}
	return func(j int) bool { return (asks == nil || asks[j] > 0) && (short[j] || !isShort) }
}

// saturation returns the greatest part of its share that a queue has of the columns that decide.
func (t *Tree) saturation(row int32, asks []int64, short []bool) (most Ratio) {
	decides := deciding(asks, short)
	for j, a := range t.used(row, allocated) {
		if a > 0 && decides(j) {
			most = most.or(over(a, t.used(row, share)[j]))
		}
	}
	return most
}

// entitledTo returns what a queue may keep by KAI's rules: its share, or what it deserves
// where that is more, as its jobs may not wait yet. Nobody keeps more than its limit.
func (t *Tree) entitledTo(row int32, j int) int64 {
	d, l := t.used(row, deserved)[j], t.used(row, limit)[j]
	if d == unlimited {
		return l
	}
	return min(l, max(d, t.used(row, share)[j]))
}

// kaiPart is part for what a queue has and is entitled to.
func (t *Tree) kaiPart(a, e int64, j int) Ratio {
	if e == unlimited {
		e = t.total[j]
	}
	if e == 0 {
		return Ratio{num: uint64(a) * 1000, den: 1} // below 2^64
	}
	return over(a, e)
}

// deserves returns what a queue deserves by Volcano's rules: a guarantee is never less than that,
// since whoever is below its guarantee can't be above what it deserves.
func (t *Tree) deserves(row int32, j int) int64 {
	return max(t.used(row, deserved)[j], t.used(row, guarantee)[j])
}

func (t *Tree) deservesNothing(row int32) bool {
	for j := range t.cols {
		if t.deserves(row, j) > 0 {
			return false
		}
	}
	return true
}

// The parts of a row of what queues lend each other by Kueue's rules.
const (
	quota    = iota // S: what it deserves, and what its children lend
	keeps           // what of that it keeps to itself
	lendable        // what there is for it to use or to lend
	lentParts
)

// lent returns a part of what a queue lends, all columns of it.
func (t *Tree) lent(row int32, part int) []int64 {
	return t.shape.lends[(int(row)*lentParts+part)*t.cols:][:t.cols]
}

// lend computes what queues lend, and the usage that counts then. A queue keeps to itself
// what is beyond its lending limit. Of what a child uses, its parent sees only what is more
// than the child keeps; of what it owns, only what it lends.
//
// An example: a cohort with the queues a, which deserves 10 and lends at most 4, and b, which
// deserves 0. a keeps 6, so the cohort's quota is 4. If a uses 8, 2 of that count in the
// cohort, and b can use 2 more, all of it borrowed.
func (t *Tree) lend() {
	if t.options.Rules != Kueue {
		return
	}
	s := &t.shape
	s.lends = resized(s.lends, len(t.rows)*lentParts*t.cols)
	t.parsed = resized(t.parsed, t.cols)
	below := t.parsed // what the children of a row lend
	for _, row := range slices.Backward(s.order) {
		uses, children := t.used(row, charged), s.childrenOf(row)
		clear(below)
		if clear(uses); len(children) == 0 {
			copy(uses, t.used(row, allocated))
		}
		for _, child := range children {
			for j := range t.cols {
				below[j] = sum(below[j], min(t.lent(child, quota)[j], t.used(child, lending)[j]))
				uses[j] += beyond(t.used(child, charged)[j], t.lent(child, keeps)[j])
			}
		}
		for j, lends := range below {
			owns, most := sum(t.used(row, deserved)[j], lends), t.used(row, lending)[j]
			kept := beyond(owns, most)
			if owns == unlimited && most != unlimited {
				kept = unlimited
			}
			t.lent(row, quota)[j], t.lent(row, keeps)[j] = owns, kept
			t.lent(row, lendable)[j] = sum(t.used(row, limit)[j], lends) // S + L - D, until the next loop
		}
	}
	for _, row := range s.order {
		room := t.lent(row, lendable)
		if s.depth[row] < 2 { // top queues borrow from nobody
			copy(room, t.lent(row, quota))
			continue
		}
		for j, x := range t.lent(t.rows[row].parent, lendable) {
			room[j] = min(sum(t.lent(row, keeps)[j], x), room[j])
		}
	}
}

// sum adds amounts of which one may be unlimited.
func sum(x, y int64) int64 {
	if x == unlimited || y == unlimited {
		return unlimited
	}
	return x + y
}

// beyond returns what of x is more than y. Unlimited y leaves nothing.
func beyond(x, y int64) int64 { return max(0, x-y) }

// chargedWith returns what a queue uses if a leaf, it or below it, had more.
func (t *Tree) chargedWith(row, leaf int32, j int, more int64) int64 {
	// Only the part of more that a queue can't keep to itself reaches its parent.
	for ; leaf != row && more != 0; leaf = t.rows[leaf].parent {
		u, k := t.used(leaf, charged)[j], t.lent(leaf, keeps)[j]
		more = beyond(u+more, k) - beyond(u, k)
	}
	return t.used(row, charged)[j] + more
}

// borrows reports whether a queue uses more than its quota in a column, if a leaf had more.
func (t *Tree) borrows(row, leaf int32, j int, more int64) bool {
	return t.shape.depth[row] > 1 && t.chargedWith(row, leaf, j, more) > t.lent(row, quota)[j]
}

// borrowing returns the borrowing of a queue if a leaf, it or below it, had sign times more.
func (t *Tree) borrowing(row, leaf int32, more []int64, sign int64) (most Ratio) {
	if t.shape.depth[row] < 2 {
		return Ratio{}
	}
	for _, group := range t.groups {
		x, y := int64(0), int64(0)
		for _, j := range group {
			m := int64(0)
			if more != nil {
				m = sign * more[j]
			}
			x += beyond(t.chargedWith(row, leaf, j, m), t.lent(row, quota)[j])
			y = sum(y, t.lent(t.rows[row].parent, lendable)[j])
		}
		most = most.or(over(x, y))
	}
	// Who borrows nothing has 0, also with weight 0.
	if most.num > 0 && t.cols > 0 {
		most.weight = uint64(t.used(row, weight)[0])
		most.unweighted = most.weight == 0
	}
	return most
}
