package vector

import (
	"slices"

	"github.com/resvec/resvec/internal/kernel"
)

// reciprocals are what scores multiply by instead of dividing by what nodes have. A
// table is never changed once readers may have it: another takes its place. Its columns
// are written while nobody reads, as the matrices are.
type reciprocals struct {
	columns [][]float64 // per column: of allocatable, padded with 0 as a matrix is; nil: not kept
	all     []float64   // the columns laid out as in allocatable; nil unless all are kept
	whole   []bool      // per column: all amounts that were seen in it are whole; see kernel.Reciprocals
	rows    int
	stride  int
	version uint64 // of the allocatable amounts
}

// KeepReciprocals keeps reciprocals of columns of allocatable up to date, 8 bytes each. A
// scorer asks once, when it is bound, maybe while others read. [NormalizedSumRows] and
// [DominantResourceRows] are faster where all have them.
func (n *Nodes) KeepReciprocals(columns ...int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	m := &n.allocatable
	for _, j := range columns {
		m.checkColumn(j)
	}
	// Scorers are bound while others read. A new table takes the place of the old one, which
	// its readers keep.
	old := n.reciprocals.Load()
	if !slices.ContainsFunc(columns, func(j int) bool { return !old.keeps(j) }) {
		return
	}
	n.reciprocals.Store(newReciprocals(m, func(j int) bool { return old.keeps(j) || slices.Contains(columns, j) }))
}

// keeps reports whether column j is kept.
func (r *reciprocals) keeps(j int) bool { return r != nil && j < len(r.columns) && r.columns[j] != nil }

// newReciprocals returns the reciprocals of the columns that keeps names.
func newReciprocals(m *Matrix, keeps func(j int) bool) *reciprocals {
	r := &reciprocals{
		columns: make([][]float64, m.cols), whole: make([]bool, m.cols),
		rows: m.rows, stride: m.stride, version: m.log.version,
	}
	var some []int
	for j := range m.cols {
		if keeps(j) {
			some = append(some, j)
		}
	}
	if len(some) == m.cols {
		r.all = aligned[float64](m.cols * m.stride)
	}
	for _, j := range some {
		if r.all != nil {
			r.columns[j] = r.all[j*m.stride:][:m.stride:m.stride]
		} else {
			r.columns[j] = aligned[float64](m.stride)
		}
		r.fill(m, j)
	}
	return r
}

// Reciprocals returns 1/x, rounded, for allocatable x of 2^-400 to 2^400 in column j, 0
// for 0 and finite negative x, NaN for others; nil unless they are kept. whole says that
// all amounts are known to be whole, from 0 to 2^44. It is valid until n is written.
func (n *Nodes) Reciprocals(j int) (column []float64, whole bool) {
	r := n.reciprocals.Load()
	if r == nil || uint(j) >= uint(len(r.columns)) || r.columns[j] == nil {
		n.allocatable.checkColumn(j)
		return nil, false
	}
	return r.columns[j][:r.rows:r.rows], r.whole[j]
}

// fill computes column j.
func (r *reciprocals) fill(m *Matrix, j int) {
	r.whole[j] = kernel.Reciprocals(r.columns[j][:m.rows], m.Column(j))
	clear(r.columns[j][m.rows:])
}

// refresh brings the reciprocals up to date after a write, by the change log.
func (n *Nodes) refresh() {
	old, m := n.reciprocals.Load(), &n.allocatable
	if old == nil || old.version == m.log.version {
		return
	}
	// Readers may hold a column, so another shape gets another table.
	if old.stride != m.stride || len(old.columns) != m.cols {
		n.reciprocals.Store(newReciprocals(m, old.keeps))
		return
	}
	var all bool
	n.changed, all = m.Changed(n.changed, old.version)
	for j, column := range old.columns {
		switch {
		case column == nil:
		case all:
			old.fill(m, j)
		default:
			for _, i := range n.changed {
				if !kernel.Reciprocals(column[i:i+1], m.data[j*m.stride+int(i):][:1]) {
					old.whole[j] = false
				}
			}
			clear(column[m.rows:max(m.rows, old.rows)])
		}
	}
	old.rows, old.version = m.rows, m.log.version
}

// reciprocalsOf returns the reciprocals of total, laid out like it, where dividing m by
// it may use them: nil unless total is what Nodes have, they keep all of them, and the
// amounts of m are tame.
func (m *Matrix) reciprocalsOf(total *Matrix) []float64 {
	// The correction after the multiplication is exact only in range; see docs/proofs.md.
	if total.reciprocals == nil || slices.Contains(m.outOfRange, true) {
		return nil
	}
	r := total.reciprocals.Load()
	if r == nil || r.stride != total.stride {
		return nil
	}
	return r.all
}
