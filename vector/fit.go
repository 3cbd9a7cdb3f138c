package vector

import (
	"math/bits"

	"github.com/resvec/resvec/internal/kernel"
)

// listSize is how many columns go into one kernel call. Wider requests take
// several.
const listSize = 8

// columnList collects the columns that matter to a kernel, with the amount of
// each. It lives on the stack.
type columnList struct {
	n       int
	columns [listSize]int32
	amounts [listSize]float64
}

func (l *columnList) add(column int, amount float64) {
	l.columns[l.n] = int32(column)
	l.amounts[l.n] = amount
	l.n++
}

func (l *columnList) full() bool { return l.n == listSize }

// requestList collects what a request asks for. Amounts that are float32 values, as
// nearly all are, are compared with the rounded elements of a matrix, which gives the
// same answer from half the bytes; see kernel.Floor32.
type requestList struct {
	exact     columnList // the other amounts
	n32       int
	columns32 [listSize]int32
	amounts32 [listSize]float32
}

func (l *requestList) add(column int, amount float64) {
	if c := float32(amount); float64(c) == amount {
		l.columns32[l.n32], l.amounts32[l.n32] = int32(column), c
		l.n32++
	} else {
		l.exact.add(column, amount)
	}
}

// take lists the amounts that are requested among the n at data[0],
// data[stride], …, from the one with index j on, and returns the index of the
// first that found no more room, or n.
func (l *requestList) take(data []float64, stride, n, j int) int {
	for ; j < n; j++ {
		x := data[j*stride]
		if x <= 0 {
			continue
		}
		// A list that is full goes to the kernel, and the next begins here.
		if l.n32 == listSize || l.exact.full() {
			break
		}
		l.add(j, x)
	}
	return j
}

// and clears the bits of dst, which stand for the rows of free from row lo on,
// whose rows have less than what is listed.
func (l *requestList) and(dst []uint64, free *Matrix, lo int) {
	switch {
	case l.n32 == 0:
	case free.withoutLower32:
		var exact [listSize]float64
		for k, c := range l.amounts32[:l.n32] {
			exact[k] = float64(c)
		}
		kernel.AndGE(dst, free.data[lo:], free.stride, l.columns32[:l.n32], exact[:l.n32])
	default:
		kernel.AndGE32(dst, free.lower32[lo:], free.stride, l.columns32[:l.n32], l.amounts32[:l.n32])
	}
	if n := l.exact.n; n > 0 {
		kernel.AndGE(dst, free.data[lo:], free.stride, l.exact.columns[:n], l.exact.amounts[:n])
	}
}

// LessEqual sets dst to the rows of requests that are at most limit, by
// [ResourceVector.LessEqual].
func LessEqual(dst *Mask, requests *Matrix, limit ResourceVector) {
	requests.checkVector(limit)
	words := dst.fill(requests.rows)
	var list columnList
	for j := range requests.cols {
		list.add(j, limit.Get(j))
		if list.full() {
			list.andLE(words, requests)
		}
	}
	list.andLE(words, requests)
}

func (l *columnList) andLE(dst []uint64, m *Matrix) {
	kernel.AndLE(dst, m.data, m.stride, l.columns[:l.n], l.amounts[:l.n])
	l.n = 0
}

// Fit sets dst to the rows of free that hold request, by [ResourceVector.FitsIn].
func Fit(dst *Mask, free *Matrix, request ResourceVector) {
	free.checkVector(request)
	// A few rows take less time than a list and a call into assembly.
	if free.rows <= kernel.FewRows {
		dst.resize(free.rows)
		if free.rows > 0 {
			dst.words[0] = kernel.FitFew(free.data, free.stride, request, free.rows)
			dst.trim()
		}
		return
	}
	fit(dst.fill(free.rows), free, request)
}

// fit clears the bits of dst whose rows cannot hold request.
func fit(dst []uint64, free *Matrix, request ResourceVector) {
	for j := 0; j < len(request); {
		var list requestList
		j = list.take(request, 1, len(request), j)
		list.and(dst, free, 0)
	}
}

// FitAmong sets dst to the selected rows that can hold request, as [Fit]; it is made for
// few rows. dst may be rows.
func FitAmong(dst *Mask, free *Matrix, request ResourceVector, rows *Mask) {
	if rows == nil {
		Fit(dst, free, request)
		return
	}
	free.checkVector(request)
	selection(rows, free.rows)
	dst.CopyFrom(rows)
	var list columnList
	// The kernel reads columns, and a row at a time jumps between them.
	if !list.take(request) || dst.Count() > free.rows/fewRows {
		fit(dst.words, free, request)
		return
	}
	for w, word := range dst.words {
		for rest := word; rest != 0; rest &= rest - 1 {
			i := bits.TrailingZeros64(rest)
			word &^= list.lacks(free, w*kernel.Block+i) << i
		}
		dst.words[w] = word
	}
}

// fewRows is the share of the rows, 1 in so many, up to which asking them one by
// one is faster than asking the kernel for all.
const fewRows = 32

// take lists what a request asks for. It reports false when that is too much.
func (l *columnList) take(request ResourceVector) bool {
	for j, x := range request {
		if x <= 0 {
			continue
		}
		if l.full() {
			return false
		}
		l.add(j, x)
	}
	return true
}

// lacks returns 1 when row i of free has less than what is listed, and 0
// otherwise. Nobody can foresee which column a row fails in, so it looks at all.
func (l *columnList) lacks(free *Matrix, i int) uint64 {
	has := uint64(1)
	for k, x := range l.amounts[:l.n] {
		var enough uint64
		if free.data[int(l.columns[k])*free.stride+i] >= x {
			enough = 1
		}
		has &= enough
	}
	return has ^ 1
}

// FitStrict is [Fit] by the strict rule of [ResourceVector.LessEqual].
func FitStrict(dst *Mask, free *Matrix, request ResourceVector) {
	free.checkVector(request)
	words := dst.fill(free.rows)
	for j := 0; j < free.cols; {
		var list requestList
		for end := min(j+listSize, free.cols); j < end; j++ {
			list.add(j, request.Get(j))
		}
		list.and(words, free, 0)
	}
}

// FitSum is [Fit] into row i of a plus row i of b; see [ResourceVector.FitsInSum].
func FitSum(dst *Mask, a, b *Matrix, request ResourceVector) {
	checkSameRows(a, b)
	a.checkVector(request)
	words := dst.fill(a.rows)
	var list columnList
	for j, x := range request {
		if x <= 0 {
			continue
		}
		list.add(j, x)
		if list.full() {
			list.andSumGE(words, a, b)
		}
	}
	list.andSumGE(words, a, b)
}

// FitSumStrict is [FitSum] by [ResourceVector.LessEqualSum].
func FitSumStrict(dst *Mask, a, b *Matrix, request ResourceVector) {
	checkSameRows(a, b)
	a.checkVector(request)
	words := dst.fill(a.rows)
	var list columnList
	for j := range a.cols {
		list.add(j, request.Get(j))
		if list.full() {
			list.andSumGE(words, a, b)
		}
	}
	list.andSumGE(words, a, b)
}

func (l *columnList) andSumGE(dst []uint64, a, b *Matrix) {
	kernel.AndSumGE(dst, a.data, a.stride, b.data, b.stride, l.columns[:l.n], l.amounts[:l.n])
	l.n = 0
}

// LessEqualRows sets dst to the rows i in which a is at most b, by
// [ResourceVector.LessEqual].
func LessEqualRows(dst *Mask, a, b *Matrix) {
	checkSameRows(a, b)
	kernel.AndRowsLE(dst.fill(a.rows), a.data, a.stride, b.data, b.stride, a.cols)
}

// FitRows sets dst to the rows i in which row i of requests fits into row i of free.
func FitRows(dst *Mask, free, requests *Matrix) {
	checkSameRows(free, requests)
	kernel.AndRowsFit(dst.fill(free.rows), requests.data, requests.stride, free.data, free.stride, free.cols)
}

// fitTile is how many rows FitMatrix takes at a time: few enough for eight
// columns to stay in the first-level cache while every request passes over
// them.
const fitTile = 512

// FitMatrix is [Fit] for each row k of requests, into dst[k].
func FitMatrix(dst []Mask, free, requests *Matrix) {
	checkSame(free, requests)
	if len(dst) < requests.rows {
		panic("vector: fewer masks than requests")
	}
	// A tile of free is read once for a batch of requests: it is in the cache for all but
	// the first.
	for lo := 0; lo < requests.rows; lo += fitBatch {
		var batch requestBatch
		batch.take(requests, lo, min(lo+fitBatch, requests.rows))
		batch.fit(dst[lo:], free)
	}
}

// fitBatch is how many requests FitMatrix has ready while it goes over the
// tiles. It divides the cost of fetching a tile.
const fitBatch = 16

// requestBatch is some rows of a matrix of requests, ready for the kernel.
type requestBatch struct {
	requests *Matrix
	lo, n    int
	lists    [fitBatch]requestList
	wide     [fitBatch]bool // requests more columns than a list takes
	same     [fitBatch]bool // requests what the one before it does
}

// take lists the rows lo to hi-1 of requests.
func (b *requestBatch) take(requests *Matrix, lo, hi int) {
	b.requests, b.lo, b.n = requests, lo, hi-lo
	for k := range b.n {
		b.wide[k] = b.lists[k].takeRow(requests, lo+k, 0) < requests.cols
		// Pods of one template follow each other, and the answer is copied.
		b.same[k] = k > 0 && !b.wide[k] && !b.wide[k-1] && b.lists[k] == b.lists[k-1]
	}
}

// takeRow is take for row i of requests.
func (l *requestList) takeRow(requests *Matrix, i, j int) int {
	return l.take(requests.data[min(i, len(requests.data)):], requests.stride, requests.cols, j)
}

// fit sets dst[k] to the rows of free that can hold the request with index k.
func (b *requestBatch) fit(dst []Mask, free *Matrix) {
	for k := range b.n {
		words := dst[k].fill(free.rows)
		if b.wide[k] {
			fitWide(words, free, b.requests, b.lo+k)
		}
	}
	words := wordsFor(free.rows)
	const tile = fitTile / kernel.Block
	for lo := 0; lo < words; lo += tile {
		hi := min(lo+tile, words)
		for k := range b.n {
			if !b.wide[k] && !b.same[k] {
				b.lists[k].and(dst[k].words[lo:hi], free, lo*kernel.Block)
			}
		}
	}
	for k := range b.n {
		if b.same[k] {
			copy(dst[k].words, dst[k-1].words)
		}
	}
}

// fitWide is fit for row i of requests.
func fitWide(dst []uint64, free, requests *Matrix, i int) {
	for j := 0; j < requests.cols; {
		var list requestList
		j = list.takeRow(requests, i, j)
		list.and(dst, free, 0)
	}
}

// Shortfall sets row i of dst, which takes free's shape and schema, to what request lacks
// in row i of free, as [ResourceVector.Shortfall].
func Shortfall(dst, free *Matrix, request ResourceVector) {
	free.checkVector(request)
	if dst.shares(free) {
		panic(panicDstInput)
	}
	dst.checkWritable()
	dst.reshape(free.schema, free.rows, free.cols)
	for j := range dst.cols {
		// What is not requested lacks nothing, whatever is free: those rows are only cleared.
		n, x := dst.rows, request.Get(j)
		if x <= 0 {
			n = 0
		}
		data, lower32 := dst.data[j*dst.stride:][:dst.stride], dst.lower32[j*dst.stride:][:dst.stride]
		// One pass computes the amounts, rounds them down, and looks whether they are in range.
		dst.outOfRange[j] = kernel.Lacks(data[:n], lower32[:n], free.Column(j)[:n], x)
		clear(data[n:])
		clear(lower32[n:])
	}
}

// FailingColumns sets bit j of dst[i] when row i of free rejects request because of
// column j, of at most 64.
func FailingColumns(dst []uint64, free *Matrix, request ResourceVector) {
	free.checkVector(request)
	if free.cols > 64 {
		panic("vector: more than 64 columns")
	}
	if len(dst) < free.rows {
		panic(panicDstShort)
	}
	dst = dst[:free.rows]
	clear(dst)
	for lo := 0; lo < len(request); lo += failingGroup {
		group := request[lo:min(lo+failingGroup, len(request))]
		for row := 0; row < free.rows; row += failingTile {
			var f failing
			f.take(free, group, lo, row)
			f.or(dst[row:min(row+failingTile, len(dst))], lo)
		}
	}
}

const (
	failingGroup = 8    // columns
	failingTile  = 1024 // rows
)

// failing is where a tile of rows rejects a group of requested columns: one mask
// per column.
type failing [failingGroup][failingTile / kernel.Block]uint64

// take finds the rejections of the rows from row on. Column k of the group is
// column lo+k of free.
func (f *failing) take(free *Matrix, group ResourceVector, lo, row int) {
	// Eight columns are eight masks, so one transposition of bits serves 64 amounts.
	words := min(wordsFor(free.rows-row), failingTile/kernel.Block)
	for k, x := range group {
		if x <= 0 {
			continue
		}
		rejections(f[k][:words], free, lo+k, x, row)
	}
}

// or sets the bits from lo on of each element of dst to the columns that reject
// its row.
func (f *failing) or(dst []uint64, lo int) {
	for w := 0; len(dst) > 0; w++ {
		c := [failingGroup]uint64{f[0][w], f[1][w], f[2][w], f[3][w], f[4][w], f[5][w], f[6][w], f[7][w]}
		for at := 0; at < kernel.Block; at += 8 {
			// Eight rows of the masks are an 8x8 matrix of bits, a byte per column;
			// its transpose has a byte per row.
			square := transpose8(c[0]>>at&0xFF | c[1]>>at&0xFF<<8 | c[2]>>at&0xFF<<16 | c[3]>>at&0xFF<<24 |
				c[4]>>at&0xFF<<32 | c[5]>>at&0xFF<<40 | c[6]>>at&0xFF<<48 | c[7]>>at&0xFF<<56)
			if len(dst) < 8 {
				for i := range dst {
					dst[i] |= square >> (8 * i) & 0xFF << lo
				}
				return
			}
			out := (*[8]uint64)(dst)
			out[0] |= square & 0xFF << lo
			out[1] |= square >> 8 & 0xFF << lo
			out[2] |= square >> 16 & 0xFF << lo
			out[3] |= square >> 24 & 0xFF << lo
			out[4] |= square >> 32 & 0xFF << lo
			out[5] |= square >> 40 & 0xFF << lo
			out[6] |= square >> 48 & 0xFF << lo
			out[7] |= square >> 56 << lo
			dst = dst[8:]
		}
	}
}

// transpose8 transposes an 8x8 matrix of bits, one byte per row (Warren, Hacker's
// Delight, 2nd edition, section 7-3).
func transpose8(x uint64) uint64 {
	t := (x ^ x>>7) & 0x00AA00AA00AA00AA
	x ^= t ^ t<<7
	t = (x ^ x>>14) & 0x0000CCCC0000CCCC
	x ^= t ^ t<<14
	t = (x ^ x>>28) & 0x00000000F0F0F0F0
	return x ^ t ^ t<<28
}

// Rejections sets dst[j] to the number of selected rows of free that reject request
// because of column j. A row that fails in two columns counts in both.
func Rejections(dst []int, free *Matrix, request ResourceVector, rows *Mask) []int {
	free.checkVector(request)
	selected := selection(rows, free.rows)
	dst = resized(dst, free.cols)
	clear(dst)
	for j, x := range request {
		if x <= 0 {
			continue
		}
		eachRejection(free, j, x, func(w int, rejected uint64) {
			if selected != nil {
				rejected &= selected[w]
			}
			dst[j] += bits.OnesCount64(rejected)
		})
	}
	return dst
}

// eachRejection calls f for every mask word of rows with the rows whose amount
// in column j is not at least x.
func eachRejection(free *Matrix, j int, x float64, f func(w int, rejected uint64)) {
	const chunk = 64 // words
	var buffer [chunk]uint64
	for lo := 0; lo < wordsFor(free.rows); lo += chunk {
		hi := min(lo+chunk, wordsFor(free.rows))
		words := buffer[:hi-lo]
		rejections(words, free, j, x, lo*kernel.Block)
		for i, rejected := range words {
			if last := free.rows - (lo+i)*kernel.Block; last < kernel.Block {
				rejected &= 1<<last - 1
			}
			f(lo+i, rejected)
		}
	}
}

// rejections sets dst, which stands for the rows of free from row lo on, to those
// whose amount in column j is not at least x. Bits beyond the last row are
// undefined.
func rejections(dst []uint64, free *Matrix, j int, x float64, lo int) {
	setAll(dst)
	var list requestList
	list.add(j, x)
	list.and(dst, free, lo)
	for w := range dst {
		dst[w] = ^dst[w]
	}
}
