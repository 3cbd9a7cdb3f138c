package vector

import "github.com/resvec/resvec/internal/kernel"

// sheet is an overlay to which many changes are made between two looks at its
// matrix. A row is journalled once between two marks, however often it changes,
// and its codes and its place in the change log wait until somebody looks.
type sheet struct {
	overlay *Overlay
	saved   []uint64 // saved[r] is the stage in which the journal got row r last
	stages  []uint64 // per row in the journal: the stage
	stage   uint64   // moves on with every mark, rollback and overlay
	began   uint64   // the stage in which the overlay came
	late    []int32  // rows that wait
	waits   Mask     // the same rows
}

// take makes s a sheet of o.
func (s *sheet) take(o *Overlay) {
	s.overlay = o
	rows := o.matrix.rows
	s.saved = resized(s.saved, rows) // whatever it holds is of an earlier stage
	s.stages = s.stages[:0]
	for range o.rows {
		s.stages = append(s.stages, 0)
	}
	s.stage++
	s.began = s.stage
	s.late = s.late[:0]
	s.waits.Resize(rows)
}

// mark returns a point to roll back to.
func (s *sheet) mark() Mark {
	s.complete()
	s.stage++
	mark := s.overlay.Mark()
	mark.stage = s.stage
	return mark
}

// check panics when a mark is void. The zero Mark never is.
func (s *sheet) check(mark Mark) {
	n := mark.changes
	if mark != (Mark{}) && (mark.stage < s.began || n > len(s.stages) || n > 0 && s.stages[n-1] >= mark.stage) {
		panic(panicMark)
	}
}

// rollback goes back to a mark.
func (s *sheet) rollback(mark Mark) {
	s.overlay.Rollback(mark) // completes the rows: they were journalled since
	for _, r := range s.late {
		s.waits.Clear(int(r))
	}
	s.late = s.late[:0]
	s.stages = s.stages[:mark.changes]
	s.stage++
}

// add adds amounts, which are sound, to a row: sign times each.
func (s *sheet) add(row int, amounts ResourceVector, sign float64) {
	if s.saved[row] != s.stage {
		s.saved[row] = s.stage
		s.stages = append(s.stages, s.stage)
		s.overlay.save(row)
	}
	m := &s.overlay.matrix
	data, at := m.data, row
	for j, x := range amounts {
		x = data[at] + float64(x*sign)
		if !kernel.Tame(x) {
			m.wild[j] = true
		}
		data[at] = x
		at += m.stride
	}
	if !s.waits.Test(row) {
		s.waits.Set(row)
		s.late = append(s.late, int32(row))
	}
}

// complete does what waits, before anything but the counting of copies and sums
// looks at the matrix.
func (s *sheet) complete() {
	if len(s.late) == 0 {
		return
	}
	m := &s.overlay.matrix
	for _, r := range s.late {
		at := int(r)
		for range m.cols {
			m.codes[at] = kernel.Floor32(m.data[at])
			at += m.stride
		}
		m.log.record(int(r))
		s.waits.Clear(int(r))
	}
	s.late = s.late[:0]
}

// changedSince returns the rows that were changed after a mark, some of them
// repeatedly.
func (s *sheet) changedSince(mark Mark) []int32 { return s.overlay.rows[mark.changes:] }
