package vector

import (
	"math/bits"

	"github.com/resvec/resvec/internal/kernel"
)

// columnList collects the columns that matter to a kernel, with the amount of
// each. It lives on the stack.
type columnList struct {
	n       int
	columns [kernel.ListSize]int32
	amounts [kernel.ListSize]float64
}

// add lists a column. Who calls it has seen that the list isn't full.
func (l *columnList) add(column int, amount float64) {
	l.columns[l.n] = int32(column)
	l.amounts[l.n] = amount
	l.n++
}

func (l *columnList) full() bool { return l.n == kernel.ListSize }

// LessEqual sets dst to the rows at most limit, by [ResourceVector.LessEqual].
func LessEqual(dst *Mask, requests *Matrix, limit ResourceVector) {
	requests.checkVector(limit)
	// Every column counts, those too where the limit has no element: it is 0 there.
	words := dst.fill(requests.rows)
	for j := 0; j < requests.cols; {
		var list columnList
		for ; j < requests.cols && !list.full(); j++ {
			list.add(j, limit.Get(j))
		}
		kernel.AndLE(words, requests.data, requests.stride, list.columns[:list.n], list.amounts[:list.n])
	}
}

// Fit sets dst to the rows of free that hold request: [ResourceVector.FitsIn].
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
	words := dst.fill(free.rows)
	for j := 0; j < len(request); {
		var list kernel.RequestList
		j = list.Take(request, 1, len(request), j, free.withoutLower32)
		kernel.AndGE(words, free.data, free.lower32, free.stride, 0, &list)
	}
}

// FitAmong is [Fit] among the selected rows, made for few. dst may be rows.
func FitAmong(dst *Mask, free *Matrix, request ResourceVector, rows *Mask) {
	if rows == nil {
		Fit(dst, free, request)
		return
	}
	free.checkVector(request)
	// The kernel clears bits only, so the selection can stand in dst before it runs.
	selection(rows, free.rows)
	dst.CopyFrom(rows)
	var list columnList
	// The kernel reads columns, and a row at a time jumps between them.
	if list.take(request, 0) < len(request) || dst.Count() > free.rows/fewRows {
		for j := 0; j < len(request); {
			var list kernel.RequestList
			j = list.Take(request, 1, len(request), j, free.withoutLower32)
			kernel.AndGE(dst.words, free.data, free.lower32, free.stride, 0, &list)
		}
		return
	}
	// Bits are cleared in a copy of the word: the loop still walks the rows of the selection.
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

// take lists what a request asks for from column j on. It returns the first column that
// found no more room, or the length of the request.
func (l *columnList) take(request ResourceVector, j int) int {
	for ; j < len(request) && !l.full(); j++ {
		// Written so that NaN is listed, too: it rejects every row.
		if x := request[j]; !(x <= 0) {
			l.add(j, x)
		}
	}
	return j
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
		var list kernel.RequestList
		// What is not requested is listed with 0: by the strict rule negative room rejects it.
		for end := min(j+kernel.ListSize, free.cols); j < end; j++ {
			list.Add(j, request.Get(j), free.withoutLower32)
		}
		kernel.AndGE(words, free.data, free.lower32, free.stride, 0, &list)
	}
}

// FitSum is [Fit] into row i of a plus row i of b: [ResourceVector.FitsInSum].
func FitSum(dst *Mask, a, b *Matrix, request ResourceVector) {
	checkSameRows(a, b)
	a.checkVector(request)
	// Sums are taken of full elements: two amounts rounded down would not say what their sum is.
	words := dst.fill(a.rows)
	for j := 0; j < len(request); {
		var list columnList
		j = list.take(request, j)
		kernel.AndSumGE(words, a.data, a.stride, b.data, b.stride, list.columns[:list.n], list.amounts[:list.n])
	}
}

// FitSumStrict is [FitSum] by the strict rule of [ResourceVector.LessEqual].
func FitSumStrict(dst *Mask, a, b *Matrix, request ResourceVector) {
	checkSameRows(a, b)
	a.checkVector(request)
	words := dst.fill(a.rows)
	for j := 0; j < a.cols; {
		var list columnList
		for ; j < a.cols && !list.full(); j++ {
			list.add(j, request.Get(j))
		}
		kernel.AndSumGE(words, a.data, a.stride, b.data, b.stride, list.columns[:list.n], list.amounts[:list.n])
	}
}

// LessEqualRows is [LessEqual] of row i of a and row i of b, for each i.
func LessEqualRows(dst *Mask, a, b *Matrix) {
	checkSameRows(a, b)
	kernel.AndRowsLE(dst.fill(a.rows), a.data, a.stride, b.data, b.stride, a.cols)
}

// FitRows is [Fit] of row i of requests into row i of free, for each i.
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
	for first := 0; first < requests.rows; first += fitBatch {
		dst := dst[first:min(first+fitBatch, requests.rows)]
		var batch requestBatch
		batch.take(requests, first, len(dst), free.withoutLower32)
		// All masks begin full, since each tile and each list of columns only clears bits.
		for k := range dst {
			dst[k].fill(free.rows)
		}
		// A tile of free is read once for a batch of requests: it is in the cache for all
		// but the first.
		const tile = fitTile / kernel.Block
		for lo, n := 0, wordsFor(free.rows); lo < n; lo += tile {
			for k := range dst {
				if batch.same[k] {
					continue
				}
				words := dst[k].words[lo:min(lo+tile, n)]
				kernel.AndGE(words, free.data, free.lower32, free.stride, lo*kernel.Block, &batch.lists[k])
				// Requests of more columns than a list takes are rare: the rest is listed anew per tile.
				for j := batch.next[k]; j < requests.cols; {
					var rest kernel.RequestList
					j = rest.Take(requests.row(first+k), requests.stride, requests.cols, j, free.withoutLower32)
					kernel.AndGE(words, free.data, free.lower32, free.stride, lo*kernel.Block, &rest)
				}
			}
		}
		for k := range dst {
			if batch.same[k] {
				copy(dst[k].words, dst[k-1].words)
			}
		}
	}
}

// fitBatch is how many requests FitMatrix has ready while it goes over the
// tiles. It divides the cost of fetching a tile.
const fitBatch = 16

// requestBatch is some rows of a matrix of requests, ready for the kernel.
type requestBatch struct {
	lists [fitBatch]kernel.RequestList // of the first columns
	next  [fitBatch]int                // the first column that found no more room
	same  [fitBatch]bool               // requests what the one before it does
}

// take lists n rows of requests from row first on.
func (b *requestBatch) take(requests *Matrix, first, n int, exact bool) {
	for k := range n {
		b.next[k] = b.lists[k].Take(requests.row(first+k), requests.stride, requests.cols, 0, exact)
		// Pods of one template follow each other, and the answer is copied.
		b.same[k] = k > 0 && b.next[k] == requests.cols && b.next[k-1] == requests.cols && b.lists[k] == b.lists[k-1]
	}
}

// row returns the elements from row i of the first column on.
func (m *Matrix) row(i int) []float64 { return m.data[min(i, len(m.data)):] }

// Shortfall sets row i of dst to [ResourceVector.Shortfall] in row i of free.
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

// FailingColumns sets bit j of dst[i] where row i rejects request[j], j < 64.
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
			// Eight columns are eight masks, so one transposition of bits serves 64 amounts.
			var holds failing
			// A tile of eight masks is 1 KiB of stack, and a call of 1,024 rows pays for itself.
			words := min(wordsFor(free.rows-row), failingTile/kernel.Block)
			for k := range holds {
				setAll(holds[k][:words])
			}
			for k, x := range group {
				if x <= 0 {
					continue
				}
				var list kernel.RequestList
				list.Add(lo+k, x, free.withoutLower32)
				kernel.AndGE(holds[k][:words], free.data, free.lower32, free.stride, row, &list)
			}
			holds.or(dst[row:min(row+failingTile, len(dst))], lo)
		}
	}
}

const (
	failingGroup = 8    // columns
	failingTile  = 1024 // rows
)

// failing is where a tile of rows holds a group of requested columns: one mask per column.
type failing [failingGroup][failingTile / kernel.Block]uint64

// or sets the bits from lo on of each element of dst to the columns that do not hold
// its row.
func (f *failing) or(dst []uint64, lo int) {
	for w := 0; len(dst) > 0; w++ {
		c := [failingGroup]uint64{^f[0][w], ^f[1][w], ^f[2][w], ^f[3][w], ^f[4][w], ^f[5][w], ^f[6][w], ^f[7][w]}
		for at := 0; at < kernel.Block; at += 8 {
			// Eight rows of the masks are an 8x8 matrix of bits, a byte per column;
			// its transpose has a byte per row.
			square := transpose8(c[0]>>at&0xFF | c[1]>>at&0xFF<<8 | c[2]>>at&0xFF<<16 | c[3]>>at&0xFF<<24 |
				c[4]>>at&0xFF<<32 | c[5]>>at&0xFF<<40 | c[6]>>at&0xFF<<48 | c[7]>>at&0xFF<<56)
			// The last rows are written one by one: beyond them dst may be somebody else's.
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

// Rejections sets dst[j] to how many selected rows reject request in column j.
func Rejections(dst []int, free *Matrix, request ResourceVector, rows *Mask) []int {
	free.checkVector(request)
	selected := selection(rows, free.rows)
	dst = resized(dst, free.cols)
	clear(dst)
	// Rejected is who was asked less who holds it: a mask of the others is never made.
	asked := free.rows
	if rows != nil {
		asked = rows.Count()
	}
	const chunk = 64 // words
	var buffer [chunk]uint64
	for j, x := range request {
		if x <= 0 {
			continue
		}
		var list kernel.RequestList
		list.Add(j, x, free.withoutLower32)
		dst[j] = asked
		for lo := 0; lo < free.rows; lo += chunk * kernel.Block {
			words := buffer[:min(chunk, wordsFor(free.rows-lo))]
			if setAll(words); selected != nil {
				copy(words, selected[lo/kernel.Block:])
			}
			kernel.AndGE(words, free.data, free.lower32, free.stride, lo, &list)
			// A view has rows of its matrix beyond its last.
			if beyond := lo + len(words)*kernel.Block - free.rows; beyond > 0 {
				words[len(words)-1] &= ^uint64(0) >> beyond
			}
			for _, word := range words {
				dst[j] -= bits.OnesCount64(word)
			}
		}
	}
	return dst
}
