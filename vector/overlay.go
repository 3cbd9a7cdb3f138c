package vector

// Overlay tries changes on a private copy of a matrix and takes them back to the bit. It
// is for one goroutine. The zero value is empty.
type Overlay struct {
	matrix  Matrix
	rows    []int32   // journal: the rows changed, oldest first
	amounts []float64 // their former amounts, matrix.cols for each
	stages  []uint64  // the stage in which each was written

	stage uint64   // moves on with every mark, rollback and reset
	began uint64   // the stage of the last reset
	saved []uint64 // per row: the stage in which the journal got it last
}

// Mark is a point in the history of an [Overlay] to roll back to. Marks nest.
type Mark struct {
	changes int
	stage   uint64
}

// NewOverlay returns an Overlay of a copy of src.
func NewOverlay(src *Matrix) *Overlay {
	o := new(Overlay)
	o.Reset(src)
	return o
}

// Reset copies src anew, as [Matrix.CopyFrom], without changes; marks are void.
func (o *Overlay) Reset(src *Matrix) {
	o.Rollback(Mark{})
	// Marks of the old copy have an earlier stage.
	o.began = o.stage
	// The rollback has made it the copy of its source again, to the bit, so only rows that
	// the source changed have to be copied.
	o.matrix.copied.own = o.matrix.log.version
	o.matrix.copyFrom(src)
	o.matrix.readOnly = true
	o.saved = resized(o.saved, src.rows) // whatever it holds is of an earlier stage
}

// Matrix returns the changed copy. It is read-only and follows later changes.
func (o *Overlay) Matrix() *Matrix {
	if !o.matrix.readOnly { // the zero Overlay's
		o.matrix.readOnly = true
	}
	return &o.matrix
}

// SetRow sets row i to v, as [Matrix.SetRow].
func (o *Overlay) SetRow(i int, v ResourceVector) {
	m := &o.matrix
	m.checkRow(i)
	m.checkVector(v)
	o.save(i)
	m.setRow(i, v)
	m.log.record(i)
}

// AddToRow adds v to row i, as [Matrix.AddToRow].
func (o *Overlay) AddToRow(i int, v ResourceVector) error { return o.addRow(i, v, 1) }

// SubFromRow subtracts v from row i, as [Matrix.SubFromRow].
func (o *Overlay) SubFromRow(i int, v ResourceVector) error { return o.addRow(i, v, -1) }

// addRow is Matrix.addRow, journalled.
func (o *Overlay) addRow(i int, v ResourceVector, sign float64) error {
	m := &o.matrix
	m.checkRow(i)
	m.checkVector(v)
	o.save(i)
	return m.addRow(i, v, sign)
}

// save journals row i, once between two marks.
func (o *Overlay) save(i int) {
	// The amounts at the last mark are in the journal already. An eviction loop changes one
	// row many times between two marks.
	if o.saved[i] == o.stage {
		return
	}
	m := &o.matrix
	o.saved[i] = o.stage
	o.rows = append(o.rows, int32(i))
	o.stages = append(o.stages, o.stage)
	p := i
	for range m.cols {
		o.amounts = append(o.amounts, m.data[p])
		p += m.stride
	}
}

// Mark returns the present point of the history.
func (o *Overlay) Mark() Mark {
	o.stage++ // so that a row that changes again is journalled again
	return Mark{changes: len(o.rows), stage: o.stage}
}

// Rollback takes back every change since mark; the zero Mark all of them. It panics for a
// mark from before the last Reset or from a point rolled back.
func (o *Overlay) Rollback(mark Mark) {
	n := mark.changes
	if mark != (Mark{}) && (mark.stage < o.began || n > len(o.rows) || n > 0 && o.stages[n-1] >= mark.stage) {
		panic("vector: mark is no longer in the overlay's history")
	}
	// Newest first: of a row that is there twice the older amounts are written last.
	m := &o.matrix
	for k := len(o.rows) - 1; k >= n; k-- {
		i := int(o.rows[k])
		p := i
		for _, x := range o.amounts[k*m.cols:][:m.cols] {
			m.put(p, x) // outOfRange covers it, as it only ever becomes true
			p += m.stride
		}
		m.log.record(i)
	}
	o.rows, o.stages, o.amounts = o.rows[:n], o.stages[:n], o.amounts[:n*m.cols]
	o.stage++
}
