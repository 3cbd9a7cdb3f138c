package vector

import "slices"

// reciprocals are what scores multiply by instead of dividing by what nodes have. A
// table is never changed once readers may have it: another takes its place. Its columns
// are written while nobody reads, as the matrices are.
type reciprocals struct {
	columns [][]float64 // per column: 1/allocatable, padded with 0 as a matrix is; nil: not kept
	rows    int
	stride  int
	version uint64 // of the allocatable amounts
}

// KeepReciprocals keeps 1/allocatable of some columns from now on, correctly rounded,
// and in step with what is written or copied: a row costs a division for each. Whoever
// computes many shares of what nodes have asks once, when it is set up. It may be
// called while others read; columns that are kept already cost nothing. A Snapshot does
// not take over what its source keeps. It panics when a column is out of range.
func (n *Nodes) KeepReciprocals(columns ...int) {
	n.exists()
	n.mu.Lock()
	defer n.mu.Unlock()
	m := &n.allocatable
	for _, j := range columns {
		m.checkColumn(j)
	}
	old := n.reciprocals.Load()
	missing := func(j int) bool { return old == nil || old.columns[j] == nil }
	if !slices.ContainsFunc(columns, missing) {
		return
	}
	now := &reciprocals{columns: make([][]float64, m.cols), rows: m.rows, stride: m.stride, version: m.log.version}
	if old != nil {
		copy(now.columns, old.columns)
	}
	for _, j := range columns {
		if now.columns[j] == nil {
			now.columns[j] = aligned[float64](m.stride)
			now.fill(m, j)
		}
	}
	n.reciprocals.Store(now)
}

// Reciprocals returns 1/allocatable of column j, one element per row, +Inf where a node
// has none; nil unless it is kept. [Matrix.Tame] says where a quotient may be computed
// by them. Like [Matrix.Column] it is for reading, and valid
// until n is written or becomes another copy.
func (n *Nodes) Reciprocals(j int) []float64 {
	n.exists()
	r := n.reciprocals.Load()
	if r == nil || uint(j) >= uint(len(r.columns)) || r.columns[j] == nil {
		n.allocatable.checkColumn(j)
		return nil
	}
	return r.columns[j][:r.rows:r.rows]
}

// fill computes column j.
func (r *reciprocals) fill(m *Matrix, j int) {
	column := r.columns[j]
	for i, x := range m.Column(j) {
		column[i] = 1 / x
	}
	clear(column[m.rows:])
}

// refresh brings the reciprocals up to date after a write, by the change log.
func (n *Nodes) refresh() {
	old, m := n.reciprocals.Load(), &n.allocatable
	if old == nil || old.version == m.log.version {
		return
	}
	if old.stride != m.stride || len(old.columns) != m.cols {
		n.rebuild(old)
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
				column[i] = 1 / m.data[j*m.stride+int(i)]
			}
			clear(column[m.rows:max(m.rows, old.rows)])
		}
	}
	old.rows, old.version = m.rows, m.log.version
}

// rebuild makes the reciprocals anew for another shape.
func (n *Nodes) rebuild(old *reciprocals) {
	m := &n.allocatable
	now := &reciprocals{columns: make([][]float64, m.cols), rows: m.rows, stride: m.stride, version: m.log.version}
	for j := range min(m.cols, len(old.columns)) {
		if old.columns[j] != nil {
			now.columns[j] = aligned[float64](m.stride)
			now.fill(m, j)
		}
	}
	n.reciprocals.Store(now)
}
