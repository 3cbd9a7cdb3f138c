package vector_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/resvec/resvec/vector"
)

const allocatable, used = 0, 1

func TestTable(t *testing.T) {
	schema := columns("cpu", "gpu")
	table := vector.NewTable(schema, 2, 2)
	if table.Len() != 0 || table.Delete("a") || table.Current("a", 0) {
		t.Error("a new table is not empty")
	}
	if _, ok := table.Row("a"); ok {
		t.Error("a new table has a row")
	}
	for _, c := range []struct {
		name       string
		generation int64
		amounts    []vector.ResourceVector
		row        int
		changed    bool
	}{
		{"a", 1, []vec{{10, 1}, {1}}, 0, true},
		{"b", 1, []vec{{20, 2}, nil}, 1, true},
		{"", 0, []vec{{30}, {3}}, 2, true},
		{"a", 1, []vec{{99, 99}, {99}}, 0, false}, // unchanged generation: nothing is written
		{"a", 2, []vec{{11}, {2, 1}}, 0, true},
		{"b", -1, []vec{{20, 2}, {5}}, 1, true}, // a generation is only compared for equality
	} {
		row, changed := table.Upsert(c.name, c.generation, c.amounts...)
		if row != c.row || changed != c.changed {
			t.Errorf("Upsert(%q, %d) = %d, %v, want %d, %v", c.name, c.generation, row, changed, c.row, c.changed)
		}
		if !table.Current(c.name, c.generation) || table.Current(c.name, c.generation+1) {
			t.Errorf("after Upsert(%q, %d): wrong Current", c.name, c.generation)
		}
	}
	wantMatrix(t, "allocatable", table.Matrix(allocatable), [][]float64{{11, 0}, {20, 2}, {30, 0}})
	wantMatrix(t, "used", table.Matrix(used), [][]float64{{2, 1}, {5, 0}, {3, 0}})
	if table.Schema() != schema || table.Matrix(used).Schema() != schema || table.Cols() != 2 || table.Len() != 3 {
		t.Error("wrong schema, width or length")
	}
	if got := maps.Collect(table.All()); !maps.Equal(got, map[string]int{"a": 0, "b": 1, "": 2}) {
		t.Errorf("All = %v", got)
	}
	for name, row := range table.All() {
		if table.Name(row) != name {
			t.Errorf("Name(%d) = %q, want %q", row, table.Name(row), name)
		}
	}
	for name := range table.All() {
		if name != "a" {
			t.Errorf("All starts with %q", name)
		}
		break
	}

	if err := table.AddRow(used, 0, vec{1, 1}); err != nil {
		t.Error(err)
	}
	if err := table.SubRow(used, 2, vec{4}); err != nil {
		t.Error(err)
	}
	if table.AddRow(used, 1, vec{0.5}) == nil || table.SubRow(allocatable, 1, vec{nan}) == nil {
		t.Error("accepted a fraction")
	}
	wantMatrix(t, "assumed", table.Matrix(used), [][]float64{{3, 2}, {5, 0}, {-1, 0}})
	if !table.Current("a", 2) {
		t.Error("AddRow moved the generation")
	}

	if !table.Delete("a") || table.Delete("a") {
		t.Error("wrong Delete")
	}
	wantMatrix(t, "after Delete", table.Matrix(used), [][]float64{{-1, 0}, {5, 0}})
	if row, ok := table.Row(""); !ok || row != 0 {
		t.Errorf("the moved row is %d, %v", row, ok)
	}
	if row, changed := table.Upsert("a", 2, vec{1}, vec{1}); row != 2 || !changed {
		t.Errorf("Upsert of a deleted name = %d, %v", row, changed)
	}

	table.Widen(columns("cpu", "gpu", "efa"), 3)
	wantMatrix(t, "widened", table.Matrix(used), [][]float64{{-1, 0, 0}, {5, 0, 0}, {1, 0, 0}})
	wider := columns("cpu", "gpu", "efa")
	if table.Matrix(allocatable).Schema() != wider || table.Schema() != wider || table.Cols() != 3 {
		t.Error("Widen does not take the schema")
	}
}

// wantSnapshot fails the test when s is not what table holds.
func wantSnapshot(t *testing.T, what string, s *vector.Snapshot, table *vector.Table, matrices int) {
	t.Helper()
	if s.Len() != table.Len() {
		t.Fatalf("%s: %d rows, want %d", what, s.Len(), table.Len())
	}
	for name, row := range table.All() {
		if i, ok := s.Row(name); !ok || i != row {
			t.Fatalf("%s: Row(%q) = %d, %v, want %d", what, name, i, ok, row)
		}
		if s.Name(row) != name {
			t.Fatalf("%s: row %d is %q, want %q", what, row, s.Name(row), name)
		}
	}
	for k := range matrices {
		wantMatrix(t, what, s.Matrix(k), contents(table.Matrix(k)))
	}
}

func TestTableSnapshot(t *testing.T) {
	table := vector.NewTable(none, 2, 2)
	var s vector.Snapshot
	if s.Len() != 0 {
		t.Error("the zero snapshot is not empty")
	}
	table.Snapshot(&s)
	wantSnapshot(t, "empty", &s, table, 2)
	for i := range 200 {
		table.Upsert(fmt.Sprint("node", i), 1, vec{float64(i), 1}, vec{1})
	}
	table.Snapshot(&s)
	wantSnapshot(t, "filled", &s, table, 2)

	refresh := func(what string, want ...int32) {
		t.Helper()
		since := s.Matrix(used).Version()
		table.Snapshot(&s)
		wantSnapshot(t, what, &s, table, 2)
		if rows, all := s.Matrix(used).Changed(nil, since); all || !slices.Equal(rows, want) {
			t.Errorf("%s: Changed = %v, %v, want %v", what, rows, all, want)
		}
	}
	refresh("nothing")
	table.Upsert("node7", 1, vec{9}, vec{9})
	refresh("same generation")
	table.Upsert("node7", 2, vec{9}, vec{9})
	if err := table.AddRow(used, 150, vec{1, 1}); err != nil {
		t.Fatal(err)
	}
	refresh("upsert and add", 7, 150)
	table.Delete("node3")
	refresh("delete", 3)
	table.Upsert("new", 1, vec{5}, vec{5})
	refresh("append", 199)
	table.Delete("new")
	table.Delete("node4")
	table.Upsert("node4", 1, vec{6}, vec{6})
	refresh("away and back", 4, 198)

	other := vector.NewTable(columns("a"), 1, 3)
	other.Upsert("x", 1, vec{1}, vec{2}, vec{3})
	other.Snapshot(&s)
	wantSnapshot(t, "of a table with more matrices", &s, other, 3)
	table.Snapshot(&s)
	wantSnapshot(t, "of the first table again", &s, table, 2)

	for _, name := range []string{"first", "second"} { // tables with equal histories
		twin := vector.NewTable(none, 2, 1)
		twin.Upsert(name, 1, vec{1})
		twin.Snapshot(&s)
		wantSnapshot(t, name, &s, twin, 1)
	}
	table.Snapshot(&s)

	wantPanic(t, "vector: write to a read-only matrix", func() { s.Matrix(0).SetRow(0, nil) })
	o := vector.NewOverlay(s.Matrix(used))
	o.SetRow(0, vec{1, 2})
	wantSnapshot(t, "below an overlay", &s, table, 2)
}

func TestTableNames(t *testing.T) {
	table := vector.NewTable(none, 1, 1)
	var nothing *vector.Names
	if _, ok := nothing.Row("a"); ok || nothing.Len() != 0 || len(maps.Collect(nothing.All())) != 0 {
		t.Error("nil names are not empty")
	}
	if table.Names().Len() != 0 {
		t.Error("an empty table has names")
	}
	table.Upsert("a", 1, vec{1})
	table.Upsert("b", 1, vec{2})
	table.Upsert("c", 1, vec{3})
	before := table.Names()
	for _, same := range []func(){
		func() {},
		func() { table.Upsert("b", 2, vec{5}) },
		func() { table.Delete("x") },
		func() { table.Widen(none, 2) },
		func() { wantPanic(t, "vector: row out of range", func() { before.Name(3) }) },
	} {
		if same(); table.Names() != before {
			t.Error("other names, though no row has another one")
		}
	}
	var s vector.Snapshot
	if s.Names() != nil {
		t.Error("the zero snapshot has names")
	}
	if table.Snapshot(&s); s.Names() != before {
		t.Error("a snapshot has other names than its table")
	}
	table.Delete("a")
	table.Upsert("d", 1, vec{4})
	after := table.Names()
	for _, c := range []struct {
		names *vector.Names
		want  []string
	}{{before, []string{"a", "b", "c"}}, {after, []string{"c", "b", "d"}}} {
		if c.names.Len() != len(c.want) {
			t.Errorf("%d names, want %q", c.names.Len(), c.want)
		}
		for row, name := range c.want {
			if i, ok := c.names.Row(name); !ok || i != row || c.names.Name(row) != name {
				t.Errorf("Row(%q) = %d, %v; Name(%d) = %q", name, i, ok, row, c.names.Name(row))
			}
		}
		if got := maps.Collect(c.names.All()); len(got) != len(c.want) || got[c.want[1]] != 1 {
			t.Errorf("All = %v", got)
		}
	}
	for name := range after.All() {
		if name != "c" {
			t.Errorf("All starts with %q", name)
		}
		break
	}
	if got := testing.AllocsPerRun(10, func() { table.Names() }); got != 0 {
		t.Errorf("%v allocations", got)
	}
}

// One goroutine writes, many read through snapshots. Every row keeps
// allocatable = 10 times used in every snapshot.
func TestTableConcurrency(t *testing.T) {
	const readers, names, cycles = 4, 200, 40
	table := vector.NewTable(none, 2, 2)
	upsert := func(i, generation int) {
		x := float64(generation*names + i)
		table.Upsert(fmt.Sprint("node", i), int64(generation), vec{10 * x, 10}, vec{x, 1})
	}
	for i := range names {
		upsert(i, 0)
	}
	done := make(chan struct{})
	var group sync.WaitGroup
	for range readers {
		group.Go(func() {
			var s vector.Snapshot
			var fit vector.Mask
			for stop := false; !stop; {
				select {
				case <-done:
					stop = true // once more, to see the last state
				default:
				}
				table.Snapshot(&s)
				a, u := s.Matrix(allocatable), s.Matrix(used)
				for i := range s.Len() {
					if a.At(i, 0) != 10*u.At(i, 0) || s.Name(i) != fmt.Sprint("node", int(u.At(i, 0))%names) {
						t.Errorf("row %d of %d, %s: allocatable %v, used %v", i, s.Len(), s.Name(i), a.At(i, 0), u.At(i, 0))
						return
					}
				}
				vector.LessEqualRows(&fit, u, a)
				if fit.Count() != s.Len() {
					t.Errorf("%d of %d rows within allocatable", fit.Count(), s.Len())
					return
				}
				now := table.Names()
				for name, row := range now.All() {
					if i, ok := now.Row(name); !ok || i != row {
						t.Errorf("Row(%q) = %d, %v, want %d", name, i, ok, row)
						return
					}
				}
				if again := table.Names(); again != now && again == s.Names() {
					t.Error("names that are older than the last ones")
				}
				if row, ok := table.Row("node0"); ok && table.Current("node0", -1) {
					t.Errorf("row %d has a generation that was never given", row)
				}
			}
		})
	}
	for generation := 1; generation <= cycles; generation++ {
		for i := range names {
			switch (i + generation) % 4 {
			case 0:
				upsert(i, generation)
			case 1:
				table.Delete(fmt.Sprint("node", i))
			}
		}
	}
	close(done)
	group.Wait()
}

// Kernels and views read one matrix from many goroutines at a time.
func TestParallelReaders(t *testing.T) {
	const rows, workers = 1000, 4
	m := vector.NewMatrix(none, rows, 5)
	for i := range rows {
		m.SetRow(i, vec{float64(i % 7), float64(i % 11), 3, float64(i), nan})
	}
	request, total := vec{3, 4, 0, 500}, vec{7, 11, 3, 1000}
	var wantFit vector.Mask
	wantSum, wantCopies := make([]float64, rows), make([]int64, rows)
	vector.Fit(&wantFit, m, request)
	vector.NormalizedSum(wantSum, m, total)
	vector.Copies(wantCopies, m, request)

	sum, copies := make([]float64, rows), make([]int64, rows)
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() { // the whole matrix
			var fit vector.Mask
			o := vector.NewOverlay(m)
			for range 20 {
				vector.Fit(&fit, m, request)
				if !fit.Equal(&wantFit) {
					t.Error("another Fit")
				}
				o.SetRow(w, nil)
				o.Reset(m)
				if vector.SumCopies(m, request, &fit) != vector.SumCopies(o.Matrix(), request, nil) {
					t.Error("another SumCopies")
				}
			}
		})
		group.Go(func() { // its own part
			lo := w * 256
			hi := min(lo+256, rows)
			part := m.Slice(lo, hi)
			vector.NormalizedSum(sum[lo:hi], part, total)
			vector.Copies(copies[lo:hi], part, request)
		})
	}
	group.Wait()
	if !same(sum, wantSum) || !slices.Equal(copies, wantCopies) {
		t.Error("parts differ from the whole")
	}
}

func TestTableMove(t *testing.T) {
	const used, free = 0, 1
	table := vector.NewTable(vector.NewSchema([]vector.SchemaColumn{{Name: "cpu"}, {Name: "gpu", Integral: true}}), 2, 2)
	table.Upsert("a", 1, vec{1, 10}, vec{9, 90})
	table.Upsert("b", 1, vec{2, 20}, vec{8, 80})
	for _, c := range []struct {
		from, to, row int
		v             vec
		ok            bool
		used, free    vec
	}{
		{free, used, 1, vec{0.5, 5}, true, vec{2.5, 25}, vec{7.5, 75}},
		{used, free, 1, vec{0.5, 5}, true, vec{2, 20}, vec{8, 80}},
		{free, used, 1, vec{1, 0.5}, false, vec{2, 20}, vec{8, 80}},
		{free, used, 1, vec{3}, true, vec{5, 20}, vec{5, 80}},
		{free, free, 1, vec{1, 1}, true, vec{5, 20}, vec{5, 80}},
	} {
		err := table.Move(c.from, c.to, c.row, c.v)
		if (err == nil) != c.ok || err != nil && !errors.Is(err, vector.ErrNotRepresentable) {
			t.Errorf("Move %v: %v", c.v, err)
		}
		gotUsed, gotFree := table.Matrix(used).Row(nil, c.row), table.Matrix(free).Row(nil, c.row)
		if !slices.Equal(gotUsed, c.used) || !slices.Equal(gotFree, c.free) {
			t.Errorf("Move %v: used %v, free %v; want %v, %v", c.v, gotUsed, gotFree, c.used, c.free)
		}
	}
	if !table.Current("b", 1) {
		t.Error("Move changed the generation")
	}
}

func TestTableWidenForgetsGenerations(t *testing.T) {
	table := vector.NewTable(vector.Schema{}, 1, 1)
	table.Upsert("a", 7, vec{1})
	table.Widen(vector.Schema{}, 2)
	if table.Current("a", 7) {
		t.Error("a row is current that lacks the new column")
	}
	if _, changed := table.Upsert("a", 7, vec{1, 2}); !changed || !slices.Equal(table.Matrix(0).Row(nil, 0), vec{1, 2}) {
		t.Errorf("row %v after the upsert", table.Matrix(0).Row(nil, 0))
	}
	if !table.Current("a", 7) {
		t.Error("the row is not current after the upsert")
	}
}
