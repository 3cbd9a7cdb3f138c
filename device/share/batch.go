package share

import (
	"math/bits"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/vector"
)

// entryList is what the kernels take of a question: the resources that count.
type entryList struct {
	n       int
	entries [resources]kernel.DeviceEntry
}

// fill makes the list, and reports whether the kernels are exact with these
// amounts. Other amounts are scored in integers.
func (l *entryList) fill(b *Bound, columns []Resource, req Amounts) bool {
	a := b.account
	for _, r := range columns {
		bound, request, other := a.bound[r], req[r], b.other(r, &req)
		largest := float64(request)
		if other >= 0 {
			request = req[other]
			largest = max(float64(request), float64(request)*bound)
		}
		switch {
		case bound > kernel.DeviceExact || largest > kernel.DeviceMost:
			return false
		case bound == 0 || b.scorer.weights[r] == 0:
			continue // it counts nowhere
		}
		e := &l.entries[l.n]
		e.Total, e.Free = a.total.Column(int(r)), a.free.Column(int(r))
		if other >= 0 {
			e.Other = a.total.Column(other)
		}
		e.Request, e.Weight = float64(request), float64(b.scorer.weights[r])
		l.n++
	}
	if l.n == 1 {
		l.entries[0].Weight = 1 // the mean of one is that one
	}
	return true
}

// other returns the resource from which the request of r is completed, or -1.
func (b *Bound) other(r Resource, req *Amounts) int {
	switch {
	case !b.scorer.pairs || req[r] != 0:
		return -1
	case r == GPUMemoryRatio:
		return int(GPUMemory)
	case r == GPUMemory:
		return int(GPUMemoryRatio)
	}
	return -1
}

// The loops below write to elements of arrays, not through pointers to them, which
// would move the arrays to the heap.

// scoreDevices sets the scores of devices.
func (l *entryList) scoreDevices(dst []int64, a *Account, most bool, nodes *vector.Mask) {
	for rows := a.walk(nodes); rows.next(); {
		list := *l
		for k := range list.entries[:list.n] {
			list.entries[k].Total = rows.part(list.entries[k].Total)
			list.entries[k].Free = rows.part(list.entries[k].Free)
			if list.entries[k].Other != nil {
				list.entries[k].Other = rows.part(list.entries[k].Other)
			}
		}
		kernel.DeviceScores(dst[rows.lo:rows.hi], most, list.entries[:list.n], rows.words[:])
	}
}

// scoreNodes sets the scores of nodes, whose devices it adds up for some nodes at a
// time.
func (l *entryList) scoreNodes(dst []int64, a *Account, most bool, nodes *vector.Mask) {
	var sums nodeSums
	size := len(sums.room) / (3 * max(l.n, 1)) &^ (kernel.Block - 1)
	selected := wordsOf(nodes)
	for lo := 0; lo < len(dst); lo += size {
		n := min(size, len(dst)-lo)
		sums.begin(a.offsets, selected, lo, n)
		list := *l
		for k := range list.entries[:list.n] {
			list.entries[k].Total = sums.of(list.entries[k].Total)
			list.entries[k].Free = sums.of(list.entries[k].Free)
			if list.entries[k].Other != nil {
				list.entries[k].Other = sums.of(list.entries[k].Other)
			}
		}
		kernel.DeviceScores(dst[lo:lo+n], most, list.entries[:list.n], sums.selected)
	}
}

// wordsOf returns the words of a mask; nil is no mask, and selects all.
func wordsOf(rows *vector.Mask) []uint64 {
	if rows == nil {
		return nil
	}
	if words := rows.Words(); words != nil {
		return words
	}
	return noWords[:0]
}

// noWords makes the words of a mask over nothing differ from no mask.
var noWords [1]uint64

// nodeSums is the sums of some nodes.
type nodeSums struct {
	offsets  []int32
	selected []uint64
	nodes    int
	used     int // of room

	// A block of nodes fits, and three columns for every entry.
	room [3 * 2 * resources * kernel.Block]float64
}

// begin goes to n nodes from lo on, which is a multiple of kernel.Block.
func (s *nodeSums) begin(offsets []int32, selected []uint64, lo, n int) {
	s.offsets, s.selected, s.nodes, s.used = offsets[lo:lo+n+1], selected, n, 0
	if s.selected != nil {
		s.selected = s.selected[lo/kernel.Block:]
	}
}

// of returns the sums of a column, with room for whole blocks.
func (s *nodeSums) of(column []float64) []float64 {
	sums := s.room[s.used:][:s.nodes]
	s.used += (s.nodes + kernel.Block - 1) &^ (kernel.Block - 1)
	kernel.DeviceSums(sums, column, s.offsets, s.selected)
	return sums
}

// rowWalk walks over the rows of the selected nodes, some blocks of rows at a time.
type rowWalk struct {
	offsets  []int32
	nodes    int
	selected []uint64

	node     int // behind the nodes that were taken
	from, to int // their rows that are left
	lo, hi   int // the current rows; lo is a multiple of kernel.Block

	words [walkRows / kernel.Block]uint64 // which of the current rows are of selected nodes
}

// walkRows is how many rows are taken at a time.
const walkRows = 1 << 12

// walk returns a walk over the rows of some nodes.
func (a *Account) walk(nodes *vector.Mask) rowWalk {
	return rowWalk{offsets: a.offsets, nodes: a.Len(), selected: wordsOf(nodes)}
}

// part returns the current rows of a column.
func (w *rowWalk) part(column []float64) []float64 { return column[w.lo:w.hi] }

// next goes on to the next rows, and reports whether there are any.
func (w *rowWalk) next() bool {
	if !w.take() {
		return false
	}
	clear(w.words[:])
	w.lo = w.from &^ (kernel.Block - 1)
	w.hi = min(w.lo+walkRows, int(w.offsets[w.nodes]))
	for w.take() && w.from < w.hi {
		end := min(w.to, w.hi)
		w.set(w.from-w.lo, end-w.lo)
		w.from = end
	}
	return true
}

// take makes sure that rows are left, and reports whether there are any. It takes
// as many nodes at a time as are selected without a gap.
func (w *rowWalk) take() bool {
	for w.from == w.to && w.node < w.nodes {
		end := w.nodes
		if w.selected != nil {
			word := w.selected[w.node/kernel.Block] >> (w.node % kernel.Block)
			if word == 0 {
				w.node = (w.node | (kernel.Block - 1)) + 1
				continue
			}
			w.node += bits.TrailingZeros64(word)
			word >>= bits.TrailingZeros64(word)
			end = min(w.node+bits.TrailingZeros64(^word), w.nodes)
		}
		w.from, w.to = int(w.offsets[w.node]), int(w.offsets[end])
		w.node = end
	}
	return w.from < w.to
}

// set sets the bits from lo to hi-1.
func (w *rowWalk) set(lo, hi int) {
	for lo < hi {
		end := min((lo|(kernel.Block-1))+1, hi)
		w.words[lo/kernel.Block] |= ^uint64(0) >> (kernel.Block - (end - lo)) << (lo % kernel.Block)
		lo = end
	}
}
