package vector_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
)

// The fuzz targets. Plain `go test` runs their seeds.

// program is a fuzz input read as a list of small choices. It reads zeros after
// its end.
type program struct {
	data []byte
	at   int
}

func (p *program) done() bool { return p.at >= len(p.data) }

// pick returns a number below n.
func (p *program) pick(n int) int {
	if p.done() || n <= 0 {
		return 0
	}
	p.at++
	return int(p.data[p.at-1]) % n
}

var fuzzValues = append([]float64{1, 2, 3, 4, 0.5, 0.1, 100, -1, -2, 7, 8, 9, 10, 11, 12, 13}, testkit.Specials()...)

// value returns a plain number or, less often, a special one.
func (p *program) value() float64 { return fuzzValues[p.pick(len(fuzzValues))] }

// vector returns up to cols values.
func (p *program) vector(cols int) vec {
	v := make(vec, p.pick(cols+1))
	for i := range v {
		v[i] = p.value()
	}
	return v
}

// addPrograms adds random seeds of different length.
func addPrograms(f *testing.F) {
	r := testkit.Rand(1)
	for n := range 40 {
		data := make([]byte, 1<<(n%12))
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		f.Add(data)
	}
}

// rowModel is a matrix as a list of rows.
type rowModel struct {
	rows [][]float64
	cols int
}

func (m *rowModel) clone() rowModel {
	c := rowModel{cols: m.cols}
	for _, row := range m.rows {
		c.rows = append(c.rows, slices.Clone(row))
	}
	return c
}

func (m *rowModel) padded(v vec) []float64 {
	row := make([]float64, m.cols)
	copy(row, v)
	return row
}

// add adds v to row i, or does nothing and reports false when that could not be
// taken back.
func (m *rowModel) add(i int, v vec) bool {
	finite := func(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
	for j, x := range v {
		if was := m.rows[i][j]; !finite(x) || finite(was) && !finite(was+x) {
			return false
		}
	}
	for j, x := range v {
		m.rows[i][j] += x
	}
	return true
}

func (m *rowModel) sub(i int, v vec) bool { return m.add(i, negated(v)) }

func (m *rowModel) resize(rows int) {
	for len(m.rows) < rows {
		m.rows = append(m.rows, make([]float64, m.cols))
	}
	m.rows = m.rows[:rows]
}

func (m *rowModel) remove(i int) {
	last := len(m.rows) - 1
	m.rows[i] = m.rows[last]
	m.rows = m.rows[:last]
}

func (m *rowModel) widen(cols int) {
	m.cols = cols
	for i, row := range m.rows {
		m.rows[i] = m.padded(row)
	}
}

// history remembers earlier states of a matrix and what its change log must
// report of them.
type history struct {
	states   []rowModel
	versions []uint64
}

// note remembers the present state; it keeps the last few.
func (h *history) note(m *vector.Matrix, model *rowModel) {
	if len(h.states) == 6 {
		h.states, h.versions = h.states[1:], h.versions[1:]
	}
	h.states, h.versions = append(h.states, model.clone()), append(h.versions, m.Version())
}

// check checks that Changed names every row that differs from the state that
// any remembered version had.
func (h *history) check(t *testing.T, m *vector.Matrix, now *rowModel) {
	t.Helper()
	for k, old := range h.states {
		rows, all := m.Changed(nil, h.versions[k])
		if all {
			if len(rows) != 0 {
				t.Fatalf("Changed says all and %v", rows)
			}
			continue
		}
		if old.cols != now.cols {
			t.Fatalf("Changed says %v after the width changed", rows)
		}
		for n, i := range rows {
			if int(i) >= len(now.rows) || n > 0 && rows[n-1] >= i {
				t.Fatalf("Changed = %v of %d rows", rows, len(now.rows))
			}
		}
		for i, row := range now.rows {
			differs := i >= len(old.rows) || !same(old.rows[i], row)
			if _, named := slices.BinarySearch(rows, int32(i)); differs && !named {
				t.Fatalf("row %d changed since version %d; Changed = %v", i, h.versions[k], rows)
			}
		}
	}
}

// wantAccepted fails the test unless there is an error exactly when the model
// refuses an amount.
func wantAccepted(t *testing.T, err error, accepted bool) {
	t.Helper()
	if (err == nil) != accepted || err != nil && !errors.Is(err, vector.ErrNotRepresentable) {
		t.Fatalf("error %v where the model says %v", err, accepted)
	}
}

func FuzzMatrixOps(f *testing.F) {
	addPrograms(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		p := &program{data: data}
		m, model := new(vector.Matrix), new(rowModel)
		mirror := new(vector.Matrix) // brought up to date now and then
		var log, mirrorLog history
		for !p.done() {
			rows := len(model.rows)
			i, op := p.pick(rows), p.pick(16)
			if rows == 0 && op < 6 { // needs a row
				op += 6
			}
			switch op {
			case 0, 1:
				v := p.vector(model.cols)
				m.SetRow(i, v)
				model.rows[i] = model.padded(v)
			case 2, 3:
				v := p.vector(model.cols)
				if p.pick(2) == 0 {
					wantAccepted(t, m.AddToRow(i, v), model.add(i, v))
				} else {
					wantAccepted(t, m.SubFromRow(i, v), model.sub(i, v))
				}
			case 4, 5:
				moved := m.RemoveRow(i)
				if want := rows - 1; i == want && moved != -1 || i != want && moved != want {
					t.Fatalf("RemoveRow(%d) of %d = %d", i, rows, moved)
				}
				model.remove(i)
			case 6, 7, 8:
				v := p.vector(model.cols)
				if got := m.AppendRow(v); got != rows {
					t.Fatalf("AppendRow = %d, want %d", got, rows)
				}
				model.rows = append(model.rows, model.padded(v))
			case 9:
				n := p.pick(140)
				m.Resize(n)
				model.resize(n)
			case 10:
				cols := model.cols + p.pick(3)
				if cols > 20 {
					continue
				}
				m.Widen(none, cols)
				model.widen(cols)
			case 11:
				if model.cols == 0 {
					continue
				}
				j, column := p.pick(model.cols), make([]float64, p.pick(rows+1))
				lo := p.pick(rows - len(column) + 1)
				for i := range column {
					column[i] = p.value()
					model.rows[lo+i][j] = column[i]
				}
				m.SetColumn(j, lo, column)
			case 12:
				if p.pick(4) > 0 {
					continue
				}
				n, cols := p.pick(70), p.pick(9)
				m.Reset(none, n, cols)
				*model = rowModel{cols: cols}
				model.resize(n)
			case 13, 14:
				mirror.CopyFrom(m)
				wantMatrix(t, "mirror", mirror, model.rows)
				mirrorLog.check(t, mirror, model)
				mirrorLog.note(mirror, model)
			case 15: // there and back: through a copy into the storage of another
				c := matrixOf(3, vec{nan, nan, nan}, vec{inf})
				c.CopyFrom(m)
				m.CopyFrom(c)
			}
			wantMatrix(t, fmt.Sprint("after operation ", op), m, model.rows)
			log.check(t, m, model)
			if p.pick(4) == 0 {
				log.note(m, model)
			}
		}
	})
}

func FuzzOverlay(f *testing.F) {
	addPrograms(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		p := &program{data: data}
		source := rowModel{cols: 1 + p.pick(5)}
		source.resize(1 + p.pick(80))
		src := vector.NewMatrix(none, len(source.rows), source.cols)
		o := vector.NewOverlay(src)
		now := source.clone()
		type point struct {
			mark  vector.Mark
			state rowModel
		}
		var marks []point
		var log history
		for !p.done() {
			i := p.pick(len(now.rows))
			switch op := p.pick(12); op {
			case 0, 1:
				v := p.vector(now.cols)
				o.SetRow(i, v)
				now.rows[i] = now.padded(v)
			case 2, 3:
				v := p.vector(now.cols)
				wantAccepted(t, o.AddToRow(i, v), now.add(i, v))
			case 4, 5:
				v := p.vector(now.cols)
				wantAccepted(t, o.SubFromRow(i, v), now.sub(i, v))
			case 6, 7:
				marks = append(marks, point{o.Mark(), now.clone()})
			case 8, 9: // to a mark, which stays good
				if len(marks) > 0 {
					k := p.pick(len(marks))
					o.Rollback(marks[k].mark)
					now = marks[k].state.clone()
					marks = marks[:k+1]
				}
			case 10: // the source moves on; the overlay does not see it
				v := p.vector(source.cols)
				k := p.pick(len(source.rows))
				switch p.pick(4) {
				case 0, 1:
					src.SetRow(k, v)
					source.rows[k] = source.padded(v)
				case 2:
					src.AppendRow(v)
					source.rows = append(source.rows, source.padded(v))
				case 3:
					if len(source.rows) > 1 {
						src.RemoveRow(k)
						source.remove(k)
					}
				}
			case 11:
				o.Reset(src)
				now, marks = source.clone(), nil
			}
			wantMatrix(t, "overlay", o.Matrix(), now.rows)
			wantMatrix(t, "source", src, source.rows)
			log.check(t, o.Matrix(), &now)
			if p.pick(3) == 0 {
				log.note(o.Matrix(), &now)
			}
		}
		o.Reset(src)
		wantMatrix(t, "at the end", o.Matrix(), source.rows)
	})
}

// addVectors adds seeds of a few vectors as bit patterns.
func addVectors(f *testing.F, add func(data []byte)) {
	specials := testkit.Specials()
	add(nil)
	add(testkit.BytesOf(specials))
	r := testkit.Rand(2)
	for n := range 30 {
		values := make([]float64, 1+n*n)
		if n%2 == 0 {
			testkit.Fill(r, values)
		} else {
			testkit.FillTame(r, values)
		}
		add(testkit.BytesOf(values))
	}
}

// vectorsOf cuts the numbers in data into a vector of n elements and another of
// the rest.
func vectorsOf(data []byte, n uint8) (a, b vec) {
	values := make(vec, len(data)/8)
	testkit.FloatsOf(values, data)
	cut := min(int(n), len(values))
	return values[:cut], values[cut:]
}

// operandsOf cuts the numbers in data into two matrices and a request.
func operandsOf(data []byte, width uint8) *operands {
	cols := int(width)%20 + 1
	values := make([]float64, len(data)/8)
	testkit.FloatsOf(values, data)
	o := &operands{name: "fuzzed", a: new(vector.Matrix), b: new(vector.Matrix), request: make(vec, min(cols, len(values)))}
	copy(o.request, values)
	rows := len(values) / cols
	o.a.Reset(none, rows, cols)
	o.b.Reset(none, rows, cols)
	for i := range rows {
		a := vec(values[i*cols:][:cols])
		b := vec(values[(rows-1-i)*cols:][:cols])
		o.a.SetRow(i, a)
		o.b.SetRow(i, b)
		o.rowsA, o.rowsB = append(o.rowsA, a), append(o.rowsB, b)
	}
	return o
}

// checkKernels compares every batch kernel with its scalar definition.
func checkKernels(t *testing.T, o *operands) {
	t.Helper()
	floats, ints := make([]float64, o.rows()), make([]int64, o.rows())
	for _, k := range floatKernels {
		k.kernel(floats, o)
		for i, got := range floats {
			if want := k.scalar(o, i); !testkit.Same(got, want) {
				t.Errorf("%s %s: row %v, %v, %v: %v, want %v", k.name, o.name, o.rowsA[i], o.rowsB[i], o.request, got, want)
			}
		}
	}
	vector.Copies(ints, o.a, o.request)
	for i, got := range ints {
		if want := o.request.CopiesFit(o.rowsA[i]); got != want {
			t.Errorf("Copies %s: row %v, request %v: %d, want %d", o.name, o.rowsA[i], o.request, got, want)
		}
	}
	var mask vector.Mask
	for _, k := range compareKernels {
		if k.kernel(&mask, o); mask.Len() != o.rows() {
			t.Fatalf("%s %s: %d rows", k.name, o.name, mask.Len())
		}
		for i := range o.rows() {
			if mask.Test(i) != k.scalar(o, i) {
				t.Errorf("%s %s: row %v, %v, %v: %v", k.name, o.name, o.rowsA[i], o.rowsB[i], o.request, mask.Test(i))
			}
		}
	}
	rejects := make([]int, o.a.Cols())
	for i, row := range o.rowsA {
		for j, lack := range o.request.Shortfall(nil, row) {
			if mask.Test(i) && lack != 0 {
				rejects[j]++
			}
		}
	}
	if got := vector.Rejections(nil, o.a, o.request, &mask); !slices.Equal(got, rejects) {
		t.Errorf("Rejections %s = %v, want %v", o.name, got, rejects)
	}
	for _, k := range reductions {
		if got, want := k.kernel(nil, o.a, &mask), k.golden(plain(o.rowsA), o.a.Cols(), mask.Test); !same(got, want) {
			t.Errorf("%s %s = %v, want %v", k.name, o.name, got, want)
		}
	}
}

func FuzzRatio(f *testing.F) {
	addVectors(f, func(data []byte) {
		f.Add(data, uint8(0))
		f.Add(data, uint8(6))
	})
	f.Fuzz(func(t *testing.T, data []byte, width uint8) {
		o := operandsOf(data, width)
		testkit.EachImpl(t, func(t *testing.T) { checkKernels(t, o) })
	})
}

// FuzzChoose compares ArgMax, ArgMin and TopK with sorting, for every tie.
func FuzzChoose(f *testing.F) {
	addVectors(f, func(data []byte) { f.Add(data, uint64(len(data)), 5) })
	f.Fuzz(func(t *testing.T, data []byte, seed uint64, k int) {
		scores, _ := vectorsOf(data, 255)
		floats, ints := []float64(scores), make([]int64, len(scores))
		for i, x := range scores {
			ints[i] = int64(math.Float64bits(x))
		}
		r := testkit.Rand(seed)
		rows := vector.NewMask(len(scores))
		testkit.FillMask(r, rows.Words())
		testkit.TrimMask(rows.Words(), len(scores))
		testkit.EachImpl(t, func(t *testing.T) {
			for _, c := range tieCases(r, len(scores)) {
				for _, mask := range []*vector.Mask{nil, rows} {
					checkChoice(t, "fuzzed", floats, mask, k, c)
					checkChoice(t, "fuzzed", ints, mask, k, c)
				}
			}
		})
	})
}
