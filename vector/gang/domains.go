package gang

import (
	"math"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/vector"
)

// Domains are sets of rows, such as racks, blocks or pools: set k is the rows
// Rows[Offsets[k]] to Rows[Offsets[k+1]-1], which ascend. Sets may overlap, be empty
// and leave rows out. There is one offset more than sets; without at least two
// there is no set. [Topology.Domains] makes the sets of a level.
//
// Methods that take Domains panic when the offsets do not ascend within Rows, or the
// rows of a set do not ascend within the rows of the matrix.
type Domains struct {
	Rows    []int32
	Offsets vector.Offsets
}

// len returns the number of sets.
func (d *Domains) len() int { return max(len(d.Offsets)-1, 0) }

// rowsOf returns the rows of set k.
func (d *Domains) rowsOf(k int) []int32 { return d.Rows[d.Offsets[k]:d.Offsets[k+1]] }

// rows returns how many rows d knows of: one more than the last in a set.
func (d *Domains) rows() int {
	rows := int32(0)
	for k := range d.len() {
		for _, r := range d.rowsOf(k) {
			rows = max(rows, r+1)
		}
	}
	return int(rows)
}

// check panics unless d is sets of rows below rows.
func (d *Domains) check(rows int) {
	if _, ok := kernel.Groups(d.Offsets, len(d.Rows)); !ok {
		panic("gang: offsets of domains do not ascend within their rows")
	}
	for k := range d.len() {
		last := int32(-1)
		for _, r := range d.rowsOf(k) {
			if r <= last || int(r) >= rows {
				panic("gang: rows of a domain do not ascend within the matrix")
			}
			last = r
		}
	}
}

// rowSets are the row sets that a question is about: the sets of Domains, or one that
// holds every row; always without the rows that are not eligible. The one set of every row
// is no list, so that questions about a whole cluster run in the kernels.
type rowSets struct {
	n        int
	selected []uint64 // the eligible rows; nil for all
	domains  *Domains // nil: one set of every row

	byRow   groups  // of the elements of Domains.Rows that are in a set; then their sets
	setAt   []int32 // per element; scratch
	overlap bool    // some row is in two sets
}

var onlySet = []int32{0}

// take makes s the sets of domains, or one set for nil, over rows rows.
func (s *rowSets) take(domains *Domains, selected []uint64, rows int) {
	n := 1
	if domains != nil {
		domains.check(rows)
		n = domains.len()
	}
	s.n, s.domains, s.selected = n, domains, selected
}

// index prepares s for of. Only a filter needs it: it goes from a row to its sets, where
// other questions go from a set to its rows.
func (s *rowSets) index(rows int) {
	if s.whole() {
		return
	}
	var elements []int32 // sets lie one after the other
	if s.n > 0 {
		elements = s.domains.Rows[s.domains.Offsets[0]:s.domains.Offsets[s.n]]
	}
	s.setAt = s.setAt[:0]
	for d := range s.n {
		for range s.rowsOf(d) {
			s.setAt = append(s.setAt, int32(d))
		}
	}
	s.byRow.take(elements, rows)
	s.overlap = false
	for r, start := range s.byRow.starts[:rows] {
		s.overlap = s.overlap || s.byRow.starts[r+1]-start > 1
	}
	for k, element := range s.byRow.list {
		s.byRow.list[k] = s.setAt[element]
	}
}

// whole reports whether s is the one set of every row.
func (s *rowSets) whole() bool { return s.domains == nil }

// rowsOf returns the rows of set d of Domains, eligible or not.
func (s *rowSets) rowsOf(d int) []int32 { return s.domains.rowsOf(d) }

// eligible reports whether row r is.
func (s *rowSets) eligible(r int) bool { return isSelected(s.selected, r) }

// each calls f for the eligible rows of set d in order until it returns false.
func (s *rowSets) each(d, rows int, f func(r int) bool) {
	if s.whole() {
		eachRow(s.selected, rows, f)
		return
	}
	for _, r := range s.rowsOf(d) {
		if s.eligible(int(r)) && !f(int(r)) {
			return
		}
	}
}

// of returns the sets that row r counts in, and in which a victim on it makes room. A row
// that is not eligible counts nowhere.
func (s *rowSets) of(r int) []int32 {
	switch {
	case !s.eligible(r):
		return nil
	case s.whole():
		return onlySet
	}
	return s.byRow.of(int32(r))
}

// copies returns how many copies the eligible rows of set d hold, at most c.most each.
func (s *rowSets) copies(free *vector.Matrix, d int, c *rowCounter) (sum int64) {
	if s.whole() { // all rows in one pass of the kernel; a set has few, which lie apart
		return countCopies(nil, free, s.selected, c.request, c.most, math.MaxInt64)
	}
	for _, r := range s.rowsOf(d) {
		if s.eligible(int(r)) {
			sum += c.on(free, int(r))
		}
	}
	return sum
}
