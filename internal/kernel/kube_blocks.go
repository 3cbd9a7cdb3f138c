package kernel

import (
	"math"
	"math/bits"
)

// The scores of many rows in Go: an entry at a time over blocks of rows. They equal
// KubeRow, which a row with a large or bad amount gets.

// kubeExact is the bound of the whole amounts whose percentages are computed as numbers
// of type float64. One hundred times the sum of two such amounts is below 2^53, so the
// product is exact. The quotient of whole numbers below 2^53 never rounds up to the next
// whole number, so truncating it gives the whole quotient.
const kubeExact = 1 << 45

// kubeFew is how many selected rows of a block are scored one by one, as long as a
// pass over the whole block takes.
const kubeFew = 12

// kubeGeneric sets dst[r] to KubeRow for every selected row.
func kubeGeneric[T Number](dst []T, t KubeType, entries []KubeEntry, table *KubeTable, rows []uint64) {
	var block kubeBlock
	for lo := 0; lo < len(dst); lo += Block {
		word := blockRows(rows, lo, len(dst))
		rest := word
		if bits.OnesCount64(word) > kubeFew && len(entries) <= KubeEntries {
			n := min(Block, len(dst)-lo)
			if t == KubeBalanced {
				rest &= block.balanced(entries, lo, n)
			} else {
				rest &= block.percentages(t, entries, table, lo, n)
			}
			for w := word &^ rest; w != 0; w &= w - 1 {
				i := bits.TrailingZeros64(w)
				dst[lo+i] = T(block.scores[i])
			}
		}
		for ; rest != 0; rest &= rest - 1 {
			r := lo + bits.TrailingZeros64(rest)
			dst[r] = T(KubeRow(t, entries, table, r))
		}
	}
}

// kubeBlock is the memory for scoring a block of rows.
type kubeBlock struct {
	scores [Block]uint8
	sums   [Block]uint64 // of weighted percentages below, of weights from bit 32 on

	used, allocatable [Block]float64 // of an entry with another scale
}

// columns returns the amounts of an entry in a block, in units of Kubernetes.
func (b *kubeBlock) columns(e *KubeEntry, lo, n int) (used, allocatable []float64) {
	used, allocatable = e.Used[lo:lo+n], e.Allocatable[lo:lo+n]
	if e.Scale == 1 {
		return used, allocatable
	}
	for i := range n {
		b.used[i], b.allocatable[i] = kubeUnits(used[i], e.Scale), kubeUnits(allocatable[i], e.Scale)
	}
	return b.used[:n], b.allocatable[:n]
}

// kubeUnits returns x/scale rounded up, and x if it is negative or NaN.
func kubeUnits(x, scale float64) float64 {
	if !(x >= 0) {
		return x
	}
	return math.Ceil(x / scale)
}

// percentages scores n rows by the types but KubeBalanced. It returns the rows that it
// can't score.
func (b *kubeBlock) percentages(t KubeType, entries []KubeEntry, table *KubeTable, lo, n int) (hard uint64) {
	b.sums = [Block]uint64{}
	for k := range entries {
		e := &entries[k]
		used, allocatable := b.columns(e, lo, n)
		request, w := e.request(), uint64(e.Weight)
		if e.Reciprocals != nil && t != KubeRatio {
			hard |= b.kept(used, allocatable, e.Reciprocals[lo:lo+n], request, w, t == KubeLeast)
			continue
		}
		switch t {
		case KubeLeast:
			hard |= b.least(used, allocatable, request, w)
		case KubeMost:
			hard |= b.most(used, allocatable, request, w)
		case KubeRatio:
			hard |= b.ratio(used, allocatable, request, w, table)
		}
	}
	for i := range n {
		sum, weights := uint32(b.sums[i]), max(uint32(b.sums[i]>>32), 1)
		if t == KubeRatio { // to the nearest, and halves up
			sum, weights = 2*sum+weights, 2*weights
		}
		b.scores[i] = uint8(float64(sum) / float64(weights)) // exact, see kubeExact
	}
	return hard
}

// request returns what the pod requests. From kubeExact on it is more than any amount
// that is easy.
func (e *KubeEntry) request() float64 { return min(e.Request, kubeExact) }

// whole returns x as an integer if it is one from 0 to below 2^52, and what it is more
// than one. Otherwise the integer is greater, or the fraction not 0.
func whole(x float64) (n, fraction uint64) {
	const far = 1 << 52 // from here on float64 has whole numbers only, and their bits are in steps of 1
	y := x + far
	return math.Float64bits(y) - 0x433<<52, math.Float64bits(y - far - x)
}

// uneasy returns the rows whose amount is not easy: whole, and from 0 to below kubeExact.
func uneasy(amounts []float64) (hard uint64) {
	var numbers, fractions uint64
	for _, x := range amounts {
		n, fraction := whole(x)
		numbers |= n
		fractions |= fraction
	}
	if numbers < kubeExact && fractions == 0 {
		return 0
	}
	for i, x := range amounts {
		n, fraction := whole(x)
		hard |= bit(n >= kubeExact || fraction != 0) << i
	}
	return hard
}

// kept adds the percentages that are free, or in use, by kept reciprocals: half a unit
// above, the quotient is too far from whole numbers for its roundings to reach one
// (docs/proofs.md). What a node has is easy then.
func (b *kubeBlock) kept(used, allocatable, reciprocals []float64, request float64, weight uint64, least bool) (hard uint64) {
	n := len(reciprocals)
	used, allocatable, sums := used[:n], allocatable[:n], b.sums[:n]
	counted := weight << 32
	var numbers, fractions uint64
	if least {
		less := 0.5 - float64(100*request)
		for i, r := range reciprocals {
			u := used[i]
			number, fraction := whole(u)
			numbers |= number
			fractions |= fraction
			if math.Float64bits(r) != 0 {
				percent := max(int64((float64((allocatable[i]-u)*100)+less)*r), 0)
				sums[i] += uint64(percent)*weight + counted
			}
		}
	} else {
		more := 0.5 + float64(100*request)
		for i, r := range reciprocals {
			u := used[i]
			number, fraction := whole(u)
			numbers |= number
			fractions |= fraction
			if math.Float64bits(r) != 0 {
				percent := min(int64((float64(u*100)+more)*r), 100)
				sums[i] += uint64(percent)*weight + counted
			}
		}
	}
	if numbers >= kubeExact || fractions != 0 {
		return uneasy(used)
	}
	return 0
}

// least adds the percentages that are free.
func (b *kubeBlock) least(used, allocatable []float64, request float64, weight uint64) (hard uint64) {
	n := len(allocatable)
	used, sums := used[:n], b.sums[:n]
	var numbers, fractions uint64
	for i, a := range allocatable {
		number, fraction := whole(a)
		numberUsed, fractionUsed := whole(used[i])
		numbers |= number | numberUsed
		fractions |= fraction | fractionUsed
		percent := int64((a - (used[i] + request)) * 100 / a)
		percent &^= percent >> 63 // at least 0
		sums[i] += (uint64(percent) | 1<<32) * (weight & isNot0(a))
	}
	if fractions != 0 || numbers >= kubeExact {
		hard = uneasy(used) | uneasy(allocatable)
	}
	return hard
}

// most adds the percentages that are in use.
func (b *kubeBlock) most(used, allocatable []float64, request float64, weight uint64) (hard uint64) {
	n := len(allocatable)
	used, sums := used[:n], b.sums[:n]
	var numbers, fractions uint64
	for i, a := range allocatable {
		number, fraction := whole(a)
		numberUsed, fractionUsed := whole(used[i])
		numbers |= number | numberUsed
		fractions |= fraction | fractionUsed
		percent := min(int64((used[i]+request)*100/a), 100)
		sums[i] += (uint64(percent) | 1<<32) * (weight & isNot0(a))
	}
	if fractions != 0 || numbers >= kubeExact {
		hard = uneasy(used) | uneasy(allocatable)
	}
	return hard
}

// ratio adds the values of the table at the percentages that are in use.
func (b *kubeBlock) ratio(used, allocatable []float64, request float64, weight uint64, table *KubeTable) (hard uint64) {
	n := len(allocatable)
	used, sums := used[:n], b.sums[:n]
	var numbers, fractions uint64
	for i, a := range allocatable {
		number, fraction := whole(a)
		numberUsed, fractionUsed := whole(used[i])
		numbers |= number | numberUsed
		fractions |= fraction | fractionUsed
		percent := min(int64((used[i]+request)*100/a), 100)
		if score := uint64(table[uint64(percent)%uint64(len(table))]); score != 0 {
			sums[i] += (score | 1<<32) * (weight & isNot0(a))
		}
	}
	if fractions != 0 || numbers >= kubeExact {
		hard = uneasy(used) | uneasy(allocatable)
	}
	return hard
}

// balanceRows is how many rows have their fractions in memory at a time.
const balanceRows = 16

// kubeFractions has the fractions of rows: of what is used with the pod, and without it.
// They are 0 where the node has none.
type kubeFractions struct {
	with, without           [KubeEntries][balanceRows]float64
	totals, totalsWithout   [balanceRows]float64 // then the means
	squares, squaresWithout [balanceRows]float64
	count                   [balanceRows]uint64
}

// balanced scores n rows by KubeBalanced. It returns the rows that it can't score.
//
//go:noinline
func (b *kubeBlock) balanced(entries []KubeEntry, lo, n int) (hard uint64) {
	var f kubeFractions
	for at := 0; at < n; at += balanceRows {
		rows := min(balanceRows, n-at)
		hard |= f.fill(b, entries, lo+at, rows) << at
		for i := range rows {
			with := balance(f.with[:len(entries)], f.count[i], f.squares[i], i)
			without := balance(f.without[:len(entries)], f.count[i], f.squaresWithout[i], i)
			b.scores[at+i] = uint8(50 + (50+with-without)/2)
		}
	}
	return hard
}

// fill computes the fractions of n rows, their means and squares. It returns the rows
// that it can't score.
func (f *kubeFractions) fill(b *kubeBlock, entries []KubeEntry, lo, n int) (hard uint64) {
	f.totals, f.totalsWithout, f.count = [balanceRows]float64{}, [balanceRows]float64{}, [balanceRows]uint64{}
	f.squares, f.squaresWithout = [balanceRows]float64{}, [balanceRows]float64{}
	for k := range entries {
		e := &entries[k]
		request := e.request()
		used, allocatable := b.columns(e, lo, n)
		withs, withouts := f.with[k%KubeEntries][:n], f.without[k%KubeEntries][:n]
		totals, totalsWithout, count := f.totals[:n], f.totalsWithout[:n], f.count[:n]
		if e.Reciprocals == nil { // else they are easy
			hard |= uneasy(allocatable)
		}
		var numbers, fractions uint64
		for i, u := range used {
			number, part := whole(u)
			numbers |= number
			fractions |= part
			a := allocatable[i]
			if a == 0 {
				withs[i], withouts[i] = 0, 0
				continue
			}
			count[i]++
			with, without := fraction(u+request, a), fraction(u, a)
			withs[i], withouts[i] = with, without
			totals[i] += with
			totalsWithout[i] += without
		}
		if numbers >= kubeExact || fractions != 0 {
			hard |= uneasy(used)
		}
	}
	for i := range n {
		n := float64(max(f.count[i], 1))
		f.totals[i] /= n
		f.totalsWithout[i] /= n
	}
	for k := range entries {
		withs, withouts := f.with[k%KubeEntries][:n], f.without[k%KubeEntries][:n]
		_, allocatable := b.columns(&entries[k], lo, n)
		means, meansWithout, squares, squaresWithout := f.totals[:n], f.totalsWithout[:n], f.squares[:n], f.squaresWithout[:n]
		for i, a := range allocatable {
			if a == 0 {
				continue
			}
			d, e := withs[i]-means[i], withouts[i]-meansWithout[i]
			squares[i] += float64(d * d)
			squaresWithout[i] += float64(e * e)
		}
	}
	return hard
}

// fraction returns part/whole, at most 1.
func fraction(part, whole float64) float64 {
	f := part / whole
	if f > 1 {
		f = 1
	}
	return f
}

// balance returns the balance of row i, whose fractions have the sum of squares.
func balance(fractions [][balanceRows]float64, count uint64, square float64, i int) int64 {
	s := spread{n: int(count), square: square}
	if s.n == 2 {
		// The two that count are the greatest, since the others are 0.
		first, second := 0.0, 0.0
		for k := range fractions {
			f := fractions[k][i%balanceRows]
			first, second = max(first, f), max(second, min(first, f))
		}
		s.difference = first - second
	}
	return s.balance()
}
