package share

import (
	"math/bits"

	"github.com/resvec/resvec/internal/kernel"
)

// batchList is what the kernels take of a call: the resources that count.
type batchList struct {
	n       int
	entries [kernel.DeviceEntries]kernel.DeviceEntry
}

// fill makes the list, and reports whether the kernels are exact: they have room
// for all resources, and the amounts are whole and not too large.
func (l *batchList) fill(c *batchCall) bool {
	if c.columns() > len(l.entries) {
		return false
	}
	var bounds batchBounds
	bounds.find(c)
	for j := range c.columns() {
		total, free := bounds.total[j], bounds.free[j]
		if !(total <= kernel.DeviceExact && free <= kernel.DeviceExact) { // NaN: an amount is not whole
			return false
		}
		request, other := c.request(j), c.other(j)
		largest := float64(request)
		if other >= 0 {
			request = c.request(other)
			largest = max(float64(request), float64(request)*total)
		}
		switch {
		case largest > kernel.DeviceMost:
			return false
		case total == 0 || c.s.weights[j] == 0:
			continue // it counts nowhere
		}
		e := &l.entries[l.n]
		e.Total, e.Free = c.b.Total.Column(j), c.b.Free.Column(j)
		if other >= 0 {
			e.Other = c.b.Total.Column(other)
		}
		e.Request, e.Weight = float64(request), float64(c.s.weights[j])
		l.n++
	}
	if l.n == 1 {
		l.entries[0].Weight = 1 // the mean of one is that one
	}
	return true
}

// batchBounds is the greatest magnitude of the selected amounts of each column,
// for nodes a bound of their sums, and NaN where an amount is not whole.
type batchBounds struct {
	total, free [kernel.DeviceEntries]float64
}

func (b *batchBounds) find(c *batchCall) {
	for rows := c.rows(); rows.next(); {
		for j := range c.columns() {
			b.total[j] = max(b.total[j], kernel.DeviceBound(rows.part(c.b.Total.Column(j)), rows.words[:]))
			b.free[j] = max(b.free[j], kernel.DeviceBound(rows.part(c.b.Free.Column(j)), rows.words[:]))
		}
	}
	if c.perNode {
		for j := range c.columns() {
			b.total[j] *= float64(c.largest)
			b.free[j] *= float64(c.largest)
		}
	}
}

// The loops below write to elements of arrays, not through pointers to them, which
// would move the arrays to the heap.

// scoreDevices sets the scores of devices.
func (l *batchList) scoreDevices(dst []int64, c *batchCall) {
	for rows := c.rows(); rows.next(); {
		list := *l
		for k := range list.entries[:list.n] {
			list.entries[k].Total = rows.part(list.entries[k].Total)
			list.entries[k].Free = rows.part(list.entries[k].Free)
			if list.entries[k].Other != nil {
				list.entries[k].Other = rows.part(list.entries[k].Other)
			}
		}
		kernel.DeviceScores(dst[rows.lo:rows.hi], c.most(), list.entries[:list.n], rows.words[:])
	}
}

// scoreNodes sets the scores of nodes, whose devices it adds up for some nodes at
// a time.
func (l *batchList) scoreNodes(dst []int64, c *batchCall) {
	var sums batchSums
	size := len(sums.room) / (3 * max(l.n, 1)) &^ (kernel.Block - 1)
	for lo := 0; lo < c.nodes; lo += size {
		n := min(size, c.nodes-lo)
		sums.begin(c, lo, n)
		list := *l
		for k := range list.entries[:list.n] {
			list.entries[k].Total = sums.of(list.entries[k].Total)
			list.entries[k].Free = sums.of(list.entries[k].Free)
			if list.entries[k].Other != nil {
				list.entries[k].Other = sums.of(list.entries[k].Other)
			}
		}
		kernel.DeviceScores(dst[lo:lo+n], c.most(), list.entries[:list.n], sums.selected)
	}
}

// batchSums is the sums of some nodes.
type batchSums struct {
	offsets  []int32
	selected []uint64
	nodes    int
	used     int // of room

	// A block of nodes fits, and three columns for every entry.
	room [3 * kernel.DeviceEntries * kernel.Block]float64
}

// begin goes to n nodes from lo on, which is a multiple of kernel.Block.
func (s *batchSums) begin(c *batchCall, lo, n int) {
	s.offsets, s.selected, s.nodes, s.used = c.b.Offsets[lo:lo+n+1], c.selected, n, 0
	if s.selected != nil {
		s.selected = s.selected[lo/kernel.Block:]
	}
}

// of returns the sums of a column, with room for whole blocks.
func (s *batchSums) of(column []float64) []float64 {
	sums := s.room[s.used:][:s.nodes]
	s.used += (s.nodes + kernel.Block - 1) &^ (kernel.Block - 1)
	kernel.DeviceSums(sums, column, s.offsets, s.selected)
	return sums
}

// batchRows walks over the rows of the selected nodes, some blocks of rows at a
// time.
type batchRows struct {
	offsets  []int32
	nodes    int
	selected []uint64

	node     int // behind the nodes that were taken
	from, to int // their rows that are left
	lo, hi   int // the current rows; lo is a multiple of kernel.Block

	words [batchChunk / kernel.Block]uint64 // which of the current rows are of selected nodes
}

// batchChunk is how many rows are taken at a time.
const batchChunk = 1 << 12

// rows returns a walk over all rows that are read.
func (c *batchCall) rows() batchRows {
	return batchRows{offsets: c.b.Offsets, nodes: c.nodes, selected: c.selected}
}

// part returns the current rows of a column.
func (w *batchRows) part(column []float64) []float64 { return column[w.lo:w.hi] }

// next goes on to the next rows, and reports whether there are any.
func (w *batchRows) next() bool {
	if !w.take() {
		return false
	}
	clear(w.words[:])
	w.lo = w.from &^ (kernel.Block - 1)
	w.hi = min(w.lo+batchChunk, int(w.offsets[w.nodes]))
	for w.take() && w.from < w.hi {
		end := min(w.to, w.hi)
		w.set(w.from-w.lo, end-w.lo)
		w.from = end
	}
	return true
}

// take makes sure that rows are left, and reports whether there are any. It takes
// as many nodes at a time as are selected without a gap.
func (w *batchRows) take() bool {
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
func (w *batchRows) set(lo, hi int) {
	for lo < hi {
		end := min((lo|(kernel.Block-1))+1, hi)
		w.words[lo/kernel.Block] |= ^uint64(0) >> (kernel.Block - (end - lo)) << (lo % kernel.Block)
		lo = end
	}
}
