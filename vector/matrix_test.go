package vector_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
)

func TestSchema(t *testing.T) {
	columns := []vector.SchemaColumn{
		{Name: "cpu", Integral: true, Detail: "milli"},
		{Name: "example.com/\"odd\" name\n", Detail: " two\nlines "},
		{Name: "\xff\xfe", Detail: "\u2028"},
		{},
	}
	s := vector.NewSchema(columns)
	if s != vector.NewSchema(slices.Clone(columns)) {
		t.Error("equal columns give different schemas")
	}
	if got := s.Columns(); !slices.Equal(got, columns) {
		t.Errorf("Columns = %+v, want %+v", got, columns)
	}
	others := map[string]vector.Schema{"none": none, "prefix": vector.NewSchema(columns[:3])}
	for j := range columns {
		for name, change := range map[string]func(*vector.SchemaColumn){
			"name":     func(c *vector.SchemaColumn) { c.Name += "x" },
			"integral": func(c *vector.SchemaColumn) { c.Integral = !c.Integral },
			"detail":   func(c *vector.SchemaColumn) { c.Detail += "x" },
		} {
			changed := slices.Clone(columns)
			change(&changed[j])
			others[fmt.Sprint(name, j)] = vector.NewSchema(changed)
		}
	}
	for name, other := range others {
		if s == other {
			t.Errorf("equal to the schema with another %s", name)
		}
	}
	if s == none || vector.NewSchema(nil) != none {
		t.Error("wrong IsZero")
	}
	if none.Columns() != nil {
		t.Error("the zero schema has columns")
	}
}

func TestSchemaNames(t *testing.T) {
	columns := []vector.SchemaColumn{
		{Name: "cpu", Integral: true, Detail: "milli"},
		{Name: "nvidia.com/gpu"},
		{Name: "a \"quoted\"\nname", Integral: true},
		{Name: "", Detail: "none"},
	}
	names := []string{"cpu", "nvidia.com/gpu", "a \"quoted\"\nname", ""}
	s := vector.NewSchema(columns)
	for n := range len(names) + 1 { // ended by the caller, and not
		got := []string{}
		for name := range s.Names() {
			if len(got) == n {
				break
			}
			got = append(got, name)
		}
		if !slices.Equal(got, names[:n]) {
			t.Errorf("%q", got)
		}
	}
	for name := range (vector.Schema{}).Names() {
		t.Errorf("the zero Schema has a column %q", name)
	}
	plain := vector.NewSchema(columns[:2])
	if n := testing.AllocsPerRun(10, func() {
		for name := range plain.Names() {
			_ = name
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// columns returns a schema of integral columns with these names.
func columns(names ...string) vector.Schema {
	var c []vector.SchemaColumn
	for _, name := range names {
		c = append(c, vector.SchemaColumn{Name: name, Integral: true})
	}
	return vector.NewSchema(c)
}

func TestMatrixZeroValue(t *testing.T) {
	var m vector.Matrix
	if m.Rows() != 0 || m.Cols() != 0 || m.Stride() != 0 || m.Schema() != none || m.Version() != 0 {
		t.Error("the zero matrix is not empty")
	}
	if _, all := m.Changed(nil, 0); !all {
		t.Error("the zero matrix knows its changes")
	}
	var copied vector.Matrix
	copied.CopyFrom(&m)
	m.AppendRow(nil)
	m.Resize(3)
	if m.RemoveRow(0) != 2 || m.Rows() != 2 {
		t.Errorf("rows of no columns: %d", m.Rows())
	}
	copied.CopyFrom(&m)
	if copied.Rows() != 2 {
		t.Errorf("copied %d rows of no columns", copied.Rows())
	}
	m.Widen(columns("a", "b"), 2)
	m.SetRow(1, vec{1, 2})
	wantMatrix(t, "widened", &m, [][]float64{{0, 0}, {1, 2}})
	m.Reset(none, 1, 1)
	wantMatrix(t, "reset", &m, [][]float64{{0}})
}

// The storage is in order for all shapes: aligned, whole blocks, zeros beyond
// the rows.
func TestMatrixShapes(t *testing.T) {
	for rows := range 130 {
		for _, cols := range []int{0, 1, 2, 16, 17, 33, 65} {
			m := vector.NewMatrix(none, rows, cols)
			if m.Rows() != rows || m.Cols() != cols {
				t.Fatalf("%dx%d matrix has shape %dx%d", rows, cols, m.Rows(), m.Cols())
			}
			if err := vector.Invariants(m); err != nil {
				t.Fatalf("%dx%d: %v", rows, cols, err)
			}
			for j := range cols {
				if c := m.Column(j); len(c) != rows || cap(c) != rows {
					t.Fatalf("%dx%d: column of length %d, capacity %d", rows, cols, len(c), cap(c))
				}
			}
		}
	}
	for _, rows := range []int{512, 1024, 4096, 65536} {
		if s := vector.NewMatrix(none, rows, 1).Stride(); s%512 == 0 {
			t.Errorf("%d rows have stride %d: one cache set per row", rows, s)
		}
	}
}

// Reset and Widen take the kind of the columns from their schema. TestRefusedAmounts
// has the amounts.
func TestMatrixIntegralColumns(t *testing.T) {
	schema := vector.NewSchema([]vector.SchemaColumn{
		{Name: "memory"}, {Name: "gpu", Integral: true}, {Name: "share"}, {Name: "efa", Integral: true},
	})
	m := vector.NewMatrix(schema, 1, 4)
	m.Reset(none, 1, 4)
	if err := m.AddToRow(0, vec{0, 0.5}); err != nil {
		t.Errorf("without a schema: %v", err)
	}
	m.Reset(schema, 1, 4)
	if err := m.AddToRow(0, vec{0, 0.5}); err == nil {
		t.Error("the schema's columns came back without their kind")
	}
	m.Widen(none, 5)
	if err := m.AddToRow(0, vec{0, 0.5}); err != nil {
		t.Errorf("widened without a schema: %v", err)
	}
}

func TestMatrixAppend(t *testing.T) {
	m := vector.NewMatrix(none, 0, 3)
	var want [][]float64
	for i := range 700 {
		v := vec{float64(i), -1, 5}[:1+i%3]
		if got := m.AppendRow(v); got != i {
			t.Fatalf("AppendRow = %d, want %d", got, i)
		}
		row := make([]float64, 3)
		copy(row, v)
		want = append(want, row)
	}
	wantMatrix(t, "appended", m, want)
}

func TestMatrixSlice(t *testing.T) {
	m := vector.NewMatrix(columns("a", "b"), 200, 2)
	for i := range 200 {
		m.SetRow(i, vec{float64(i), float64(-i)})
	}
	rows := contents(m)
	for _, c := range [][2]int{{0, 200}, {0, 0}, {64, 64}, {0, 1}, {64, 200}, {128, 129}, {192, 200}, {64, 128}, {128, 192}} {
		v := m.Slice(c[0], c[1])
		if d := differs(v, rows[c[0]:c[1]]); d != "" {
			t.Errorf("Slice(%d, %d): %s", c[0], c[1], d)
		}
		if v.Cols() != 2 || v.Schema() != m.Schema() || v.Stride() != m.Stride() {
			t.Errorf("Slice(%d, %d) has another shape", c[0], c[1])
		}
		if _, all := v.Changed(nil, v.Version()); !all {
			t.Errorf("Slice(%d, %d) knows its changes", c[0], c[1])
		}
	}
	nested := m.Slice(64, 200).Slice(64, 100)
	if d := differs(nested, rows[128:164]); d != "" {
		t.Errorf("slice of a slice: %s", d)
	}
	v := m.Slice(128, 200)
	m.SetRow(130, vec{nan, inf})
	if !testkit.Same(v.At(2, 0), nan) || v.Tame(0) {
		t.Error("the view does not see a later write")
	}
	full := vector.NewMatrix(none, 128, 3) // the view starts where the columns end
	if v := full.Slice(128, 128); v.Rows() != 0 || len(v.Column(2)) != 0 {
		t.Error("an empty view at the end is not empty")
	}
	var c vector.Matrix
	for range 2 { // a view has no change log to copy by
		c.CopyFrom(v)
		wantMatrix(t, "copy of a view", &c, contents(v))
		m.SetRow(131, vec{5, 5})
	}
}

// Every way to write marks a column that is no longer tame.
func TestMatrixTameFlags(t *testing.T) {
	outOfRange := vec{1, 0x1p600}
	for name, write := range map[string]func(m *vector.Matrix) *vector.Matrix{
		"SetRow":     func(m *vector.Matrix) *vector.Matrix { m.SetRow(0, outOfRange); return m },
		"AppendRow":  func(m *vector.Matrix) *vector.Matrix { m.AppendRow(outOfRange); return m },
		"AddToRow":   func(m *vector.Matrix) *vector.Matrix { _ = m.AddToRow(0, outOfRange); return m },
		"SubFromRow": func(m *vector.Matrix) *vector.Matrix { _ = m.SubFromRow(0, outOfRange); return m },
		"AddToRow, overflowing": func(m *vector.Matrix) *vector.Matrix {
			m.SetRow(0, vec{1, 0x1.8p499})
			_ = m.AddToRow(0, vec{1, 0x1.8p499})
			return m
		},
		"SubFromRow, cancelling": func(m *vector.Matrix) *vector.Matrix {
			m.SetRow(0, vec{1, 0x1.0000000000001p-500})
			_ = m.SubFromRow(0, vec{1, 0x1p-500})
			return m
		},
		"SetColumn": func(m *vector.Matrix) *vector.Matrix { m.SetColumn(1, 0, []float64{1, nan}); return m },
		"CopyFrom": func(m *vector.Matrix) *vector.Matrix {
			src := matrixOf(2, outOfRange)
			m.CopyFrom(src)
			return m
		},
		"CopyFrom, changes": func(m *vector.Matrix) *vector.Matrix {
			src := matrixOf(2, vec{1, 1})
			m.CopyFrom(src)
			src.SetRow(0, outOfRange)
			m.CopyFrom(src)
			return m
		},
		"Overlay": func(m *vector.Matrix) *vector.Matrix {
			o := vector.NewOverlay(m)
			o.SetRow(1, outOfRange)
			return o.Matrix()
		},
		"Overlay.Rollback": func(m *vector.Matrix) *vector.Matrix {
			m.SetRow(0, outOfRange)
			o := vector.NewOverlay(m)
			o.SetRow(0, vec{1, 1})
			o.Rollback(vector.Mark{})
			return o.Matrix()
		},
		"Shortfall": func(m *vector.Matrix) *vector.Matrix { vector.Shortfall(m, matrixOf(2, nil), outOfRange); return m },
		"SegmentSum": func(m *vector.Matrix) *vector.Matrix {
			vector.SegmentSum(m, matrixOf(2, outOfRange), []int32{0, 1})
			return m
		},
	} {
		m := write(matrixOf(2, vec{1, 1}, vec{1, 1}))
		if !m.Tame(0) || m.Tame(1) {
			t.Errorf("%s: columns tame %v, %v, want true, false", name, m.Tame(0), m.Tame(1))
		}
	}
	m := matrixOf(2, outOfRange)
	m.SetColumn(1, 0, []float64{3})
	if !m.Tame(1) {
		t.Error("SetColumn does not make a column tame again")
	}
}

// change is what Changed reports.
type change struct {
	rows []int32
	all  bool
}

func TestMatrixChanged(t *testing.T) {
	m := vector.NewMatrix(none, 5, 1)
	start := m.Version()
	check := func(what string, since uint64, want change) {
		t.Helper()
		rows, all := m.Changed(make([]int32, 3, 10), since)
		if !slices.Equal(rows, want.rows) || all != want.all {
			t.Errorf("%s: Changed = %v, %v, want %v", what, rows, all, want)
		}
	}
	check("new", start, change{})
	check("before the first version", start-1, change{all: true})
	check("a version to come", start+1, change{all: true})
	m.SetRow(3, vec{1})
	_ = m.AddToRow(1, vec{1})
	_ = m.SubFromRow(3, vec{1})
	check("writes", start, change{rows: []int32{1, 3}})
	check("the last write", m.Version()-1, change{rows: []int32{3}})
	check("now", m.Version(), change{})
	m.AppendRow(nil)
	check("append", start, change{rows: []int32{1, 3, 5}})
	m.RemoveRow(0)
	check("remove moves the last row", start, change{rows: []int32{0, 1, 3}})
	at := m.Version()
	m.RemoveRow(4)
	check("remove the last row", at, change{})
	for name, f := range map[string]func(){
		"Resize":    func() { m.Resize(4) },
		"SetColumn": func() { m.SetColumn(0, 0, make([]float64, 4)) },
		"Reset":     func() { m.Reset(none, 4, 1) },
		"Widen":     func() { m.Widen(none, m.Cols()+1) },
		"CopyFrom":  func() { m.CopyFrom(matrixOf(1, nil, nil, nil, nil)) },
	} {
		at := m.Version()
		f()
		if m.Version() <= at {
			t.Errorf("%s does not move the version", name)
		}
		check(name, at, change{all: true})
		check(name+", after", m.Version(), change{})
	}
}
