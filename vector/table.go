package vector

import (
	"iter"
	"sync"
)

// Table keeps the rows of a set of matrices by name, across scheduling cycles. Row i
// means the same entity in all of them. For the amounts of nodes take [Nodes], which
// knows what its matrices mean.
//
// Every row has a generation: a number of the caller that moves whenever
// anything behind the row's amounts does. For a node that is the node itself and
// every pod on it, such as the generation of kube-scheduler's NodeInfo, and not
// the metadata.generation of the node object. Writing a row again with the same
// generation costs one map lookup, so a cycle pays only for what moved.
//
// Between two upserts of a row its amounts can be changed in place, to assume a
// pod ([Table.Move], [Table.AddRow], [Table.SubRow]). That leaves the generation
// alone: an Upsert with the old one keeps the assumption, and the Upsert with a
// new one, which is computed from the pods that are really there, replaces it.
//
// One goroutine writes. Any number may read at the same time, each through a
// [Snapshot] of its own; [Table.Matrix] is for the writer. The methods lock the
// table as needed, each call for itself; loops over rows take [Table.Names]. A
// Table is made by [NewTable] and must not be copied.
type Table struct {
	mu       sync.RWMutex
	schema   Schema
	cols     int
	matrices []*Matrix
	names    directory
}

// NewTable returns an empty table of so many matrices, which all have this
// schema and cols columns.
func NewTable(schema Schema, cols, matrices int) *Table {
	if cols < 0 || matrices < 0 {
		panic(panicNegative)
	}
	t := &Table{schema: schema, cols: cols}
	for range matrices {
		m := NewMatrix(schema, 0, cols)
		m.readOnly = true // written through the table only
		t.matrices = append(t.matrices, m)
	}
	return t
}

const (
	panicAmounts = "vector: not one vector per matrix of the table"
	panicMatrix  = "vector: matrix index out of range"
)

func (t *Table) exists() {
	if t == nil {
		panic("vector: table is nil")
	}
}

func (t *Table) rlock() {
	t.exists()
	t.mu.RLock()
}

func (t *Table) lock() {
	t.exists()
	t.mu.Lock()
}

// Len returns the number of rows.
func (t *Table) Len() int {
	t.rlock()
	defer t.mu.RUnlock()
	return len(t.names.rows)
}

// Cols returns the number of columns of the matrices.
func (t *Table) Cols() int {
	t.rlock()
	defer t.mu.RUnlock()
	return t.cols
}

// Schema returns the schema of the matrices.
func (t *Table) Schema() Schema {
	t.rlock()
	defer t.mu.RUnlock()
	return t.schema
}

// Row returns the row of name.
func (t *Table) Row(name string) (row int, ok bool) {
	t.rlock()
	defer t.mu.RUnlock()
	return t.names.row(name)
}

// Name returns the name of a row.
func (t *Table) Name(row int) string {
	t.rlock()
	defer t.mu.RUnlock()
	return t.names.name(row)
}

// Current reports whether name has a row of this generation, so that the caller
// need not compute its amounts.
func (t *Table) Current(name string, generation int64) bool {
	t.rlock()
	defer t.mu.RUnlock()
	return t.names.current(name, generation)
}

// All iterates over the names and rows in ascending order of the rows. It takes
// no lock: it is for the writer, or for when nobody writes.
func (t *Table) All() iter.Seq2[string, int] {
	t.exists()
	return t.names.all()
}

// Upsert sets the row of name in every matrix, amounts[k] in matrix k, and
// appends a row for a new name. When the row has this generation already,
// nothing is written and changed is false. There must be one vector per matrix;
// shorter ones are padded with zeros, longer ones panic.
func (t *Table) Upsert(name string, generation int64, amounts ...ResourceVector) (row int, changed bool) {
	t.exists()
	if len(amounts) != len(t.matrices) {
		panic(panicAmounts)
	}
	for k, m := range t.matrices {
		m.checkVector(amounts[k])
	}
	t.lock()
	defer t.mu.Unlock()
	row, known := t.names.row(name)
	if !known {
		row = len(t.names.rows)
		t.names.add(name, generation)
		for k, m := range t.matrices {
			m.appendRow(amounts[k])
		}
		return row, true
	}
	if t.names.rows[row].current(generation) {
		return row, false
	}
	t.names.rows[row] = namedRow{name: name, generation: generation}
	for k, m := range t.matrices {
		m.setRow(row, amounts[k])
		m.log.record(row)
	}
	return row, true
}

// Delete removes the row of name; the last row takes its place. It reports
// whether name had a row.
func (t *Table) Delete(name string) bool {
	t.lock()
	defer t.mu.Unlock()
	row, ok := t.names.remove(name)
	if !ok {
		return false
	}
	for _, m := range t.matrices {
		m.removeRow(row)
	}
	return true
}

// Move subtracts v from a row of matrix from and adds it to the same row of
// matrix to, with the rules of [Matrix.AddRow]: a pod is assumed on a node by
// moving its request from free to used, and forgotten by moving it back
// (exactly, when the amounts are whole numbers). A Snapshot sees both changes or
// none. The error is that of AddRow, and then nothing was changed.
func (t *Table) Move(from, to, row int, v ResourceVector) error {
	t.lock()
	defer t.mu.Unlock()
	source, target := t.matrix(from), t.matrix(to)
	if err := source.checkAmounts(row, v, -1); err != nil {
		return err
	}
	if err := target.checkAmounts(row, v, 1); err != nil {
		return err
	}
	source.add(row, v, -1)
	target.add(row, v, 1)
	return nil
}

// AddRow adds v to a row of matrix k, as [Matrix.AddRow]. A row is a row of the
// table now: to act on what was found in a [Snapshot], look its name up again.
func (t *Table) AddRow(k, row int, v ResourceVector) error {
	t.lock()
	defer t.mu.Unlock()
	return t.matrix(k).addRow(row, v, 1)
}

// SubRow subtracts v from a row of matrix k, as [Matrix.SubRow]; otherwise it is
// [Table.AddRow].
func (t *Table) SubRow(k, row int, v ResourceVector) error {
	t.lock()
	defer t.mu.Unlock()
	return t.matrix(k).addRow(row, v, -1)
}

// Names returns the names and rows of the table as they are now, to be looked up
// many times: [Table.Row] and [Table.Name] lock the table for each. It is the same
// pointer until a row comes, goes or moves, and then costs a copy of the names, once
// for all who ask. Compare the pointer with the one you kept to learn whether rows
// have moved.
func (t *Table) Names() *Names {
	t.rlock()
	defer t.mu.RUnlock()
	return t.names.now()
}

// Matrix returns matrix k itself, to be read by the goroutine that writes the
// table. It is read-only and follows the table.
func (t *Table) Matrix(k int) *Matrix { return t.matrix(k) }

func (t *Table) matrix(k int) *Matrix {
	t.exists()
	if uint(k) >= uint(len(t.matrices)) {
		panic(panicMatrix)
	}
	return t.matrices[k]
}

// Widen appends columns of zeros to every matrix, as [Matrix.Widen]. No row's
// generation is current any more, so that the next [Table.Upsert] of each writes
// the new columns, too. Snapshots have the old columns until they are refreshed.
func (t *Table) Widen(schema Schema, cols int) {
	t.lock()
	defer t.mu.Unlock()
	for _, m := range t.matrices {
		m.widen(schema, cols)
	}
	t.names.widened()
	t.schema, t.cols = schema, cols
}

// Snapshot brings dst up to date with the table. Only rows that changed since
// dst was last brought up to date with the same table are copied, and only
// those count as changed in dst's matrices.
func (t *Table) Snapshot(dst *Snapshot) {
	t.rlock()
	defer t.mu.RUnlock()
	dst.exists()
	dst.names = t.names.now()
	for len(dst.matrices) < len(t.matrices) {
		dst.matrices = append(dst.matrices, &Matrix{readOnly: true})
	}
	dst.matrices = dst.matrices[:len(t.matrices)]
	for k, m := range t.matrices {
		dst.matrices[k].copyFrom(m)
	}
}

// Snapshot is one reader's copy of a [Table], as it was between two calls of the
// writer. The zero value is ready for [Table.Snapshot], which fills and refreshes
// it. Its rows are those of the table at that time; later deletions move rows of
// the table, so go back to it by [Snapshot.Name] and [Table.Row]. It may
// be read by several goroutines while it is not refreshed.
type Snapshot struct {
	names    *Names
	matrices []*Matrix
}

func (s *Snapshot) exists() {
	if s == nil {
		panic("vector: snapshot is nil")
	}
}

// Len returns the number of rows.
func (s *Snapshot) Len() int { return s.Names().Len() }

// Row returns the row that name had in the table.
func (s *Snapshot) Row(name string) (row int, ok bool) { return s.Names().Row(name) }

// Name returns the name of a row.
func (s *Snapshot) Name(row int) string { return s.Names().Name(row) }

// Names returns the names and rows, which stay as they are when the snapshot is
// refreshed; nil before the first time.
func (s *Snapshot) Names() *Names {
	s.exists()
	return s.names
}

// Matrix returns the copy of matrix k of the table. It is read-only; wrap it in
// an [Overlay] to try changes.
func (s *Snapshot) Matrix(k int) *Matrix {
	s.exists()
	if uint(k) >= uint(len(s.matrices)) {
		panic(panicMatrix)
	}
	return s.matrices[k]
}
