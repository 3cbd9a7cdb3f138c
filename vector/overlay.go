package vector

// Overlay tries changes on a private copy of a matrix and takes them back: the
// what-if of preemption and consolidation. Every change is journalled, and
// [Overlay.Rollback] restores the old bits of the rows that were touched,
// instead of undoing the arithmetic, so nothing drifts.
//
// A worker keeps one Overlay and calls [Overlay.Reset] once per snapshot. The
// zero value holds an empty matrix; Reset gives it one. An Overlay is for one
// goroutine; different overlays of one matrix may be used at the same time
// while nobody writes to that matrix.
type Overlay struct {
	matrix  Matrix
	rows    []int32   // journal: the rows changed, oldest first
	amounts []float64 // their former amounts, matrix.cols for each
}

// Mark is a point in the history of an [Overlay] or a [Proof] to roll back to. Marks
// nest.
type Mark struct {
	changes int
	stage   uint64 // of a Proof: when it was taken
	holding int32  // of a Proof: conditions that held
}

const panicMark = "vector: mark is no longer in the overlay's history"

// NewOverlay returns an Overlay of a copy of src.
func NewOverlay(src *Matrix) *Overlay {
	o := new(Overlay)
	o.Reset(src)
	return o
}

// Reset drops all changes and makes o an overlay of a copy of src, reusing its
// storage. Marks taken before are void. Resetting to the same source again
// costs the rows that o or src changed in between.
func (o *Overlay) Reset(src *Matrix) {
	o.exists()
	src.exists()
	o.Rollback(Mark{})
	o.matrix.copied.own = o.matrix.log.version // it is the copy of the source again
	o.matrix.copyFrom(src)
	o.matrix.readOnly = true
}

// Matrix returns the changed copy, to be read by any kernel or scorer. It is
// read-only and follows later changes and rollbacks; its change log does too.
func (o *Overlay) Matrix() *Matrix {
	o.exists()
	if !o.matrix.readOnly { // the zero Overlay's
		o.matrix.readOnly = true
	}
	return &o.matrix
}

// SetRow sets row i to v, as [Matrix.SetRow].
func (o *Overlay) SetRow(i int, v ResourceVector) {
	o.exists()
	m := &o.matrix
	m.checkRow(i)
	m.checkVector(v)
	o.save(i)
	m.setRow(i, v)
	m.log.record(i)
}

// AddRow adds v to row i, as [Matrix.AddRow].
func (o *Overlay) AddRow(i int, v ResourceVector) error { return o.addRow(i, v, 1) }

// SubRow subtracts v from row i, as [Matrix.SubRow].
func (o *Overlay) SubRow(i int, v ResourceVector) error { return o.addRow(i, v, -1) }

// addRow is Matrix.addRow, journalled. Nothing is journalled beside an error.
func (o *Overlay) addRow(i int, v ResourceVector, sign float64) error {
	o.exists()
	m := &o.matrix
	m.checkRow(i)
	m.checkVector(v)
	o.save(i)
	err := m.addRow(i, v, sign)
	if err != nil {
		last := len(o.rows) - 1
		o.rows, o.amounts = o.rows[:last], o.amounts[:last*m.cols]
	}
	return err
}

// Mark returns the present point of the history.
func (o *Overlay) Mark() Mark {
	o.exists()
	return Mark{changes: len(o.rows)}
}

// Rollback takes back every change made since mark was taken, newest first. The
// zero Mark takes back all of them. A mark that was itself rolled back is void:
// it panics when the history has become shorter, and means another point of it
// otherwise.
func (o *Overlay) Rollback(mark Mark) {
	o.exists()
	if mark.changes > len(o.rows) {
		panic(panicMark)
	}
	m := &o.matrix
	for k := len(o.rows) - 1; k >= mark.changes; k-- {
		i := int(o.rows[k])
		p := i
		for _, x := range o.amounts[k*m.cols:][:m.cols] {
			m.put(p, x) // the tame flag covers it, as it only ever falls
			p += m.stride
		}
		m.log.record(i)
	}
	o.rows = o.rows[:mark.changes]
	o.amounts = o.amounts[:mark.changes*m.cols]
}

// exists panics unless there is an overlay.
func (o *Overlay) exists() {
	if o == nil {
		panic("vector: overlay is nil")
	}
}

// save journals row i.
func (o *Overlay) save(i int) {
	m := &o.matrix
	o.rows = append(o.rows, int32(i))
	p := i
	for range m.cols {
		o.amounts = append(o.amounts, m.data[p])
		p += m.stride
	}
}
