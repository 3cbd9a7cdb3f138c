package scorecache

import (
	"strconv"
	"testing"

	"github.com/resvec/resvec/vector"
)

// worthQuery asks for a column of a matrix.
type worthQuery struct {
	m    *vector.Matrix
	key  uint64
	rows *vector.Mask
}

func (q *worthQuery) Operands() (Sources, int, *vector.Mask, error) {
	return Sources{q.m}, q.m.Rows(), q.rows, nil
}
func (q *worthQuery) AppendKey(key []uint64) []uint64 { return append(key, q.key) }
func (q *worthQuery) Fit(*vector.Mask)                {}
func (q *worthQuery) Score(dst []float64, _ int, rows *vector.Mask) error {
	for r := range rows.All() {
		dst[r] = q.m.At(r, 0)
	}
	return nil
}
func (q *worthQuery) Combine([]float64, [][]float64, *vector.Mask) {}

func TestWorth(t *testing.T) {
	const n = 100
	w := &Worth{Rows: n, Times: 3, Share: 0.2}
	m := vector.NewMatrix(vector.Schema{}, n, 1)
	q := &worthQuery{m: m, key: 1}
	e := New(0, 0, new(Counts))
	ask := func(step string, want bool) {
		t.Helper()
		got := e.Worth(q, w)
		if got != want {
			t.Fatalf("%s: worth %t, want %t", step, got, want)
		}
		if got {
			if _, _, err := e.Best(q, vector.TieLowest()); err != nil {
				t.Fatal(err)
			}
		}
	}
	change := func(rows int) {
		for r := range rows {
			m.SetRow(r, vector.ResourceVector{m.At(r, 0) + 1})
		}
	}
	for k := range uint64(256) { // on credit
		q.key = 10_000 + k
		ask("on credit", true)
	}
	q.key = 1
	ask("first", false)
	ask("second", false)
	ask("third", true)
	ask("nothing changed", true)
	change(20)
	ask("a fifth changed", true)
	change(21)
	ask("more changed", false)
	for _, want := range []bool{false, false, true, true} {
		ask("again from the start", want)
	}
	for k := range uint64(5000) { // requests that come once
		q.key = 1000 + k
		ask("once", false)
	}
	q.key, q.rows = 1, vector.NewMask(n)
	ask("other rows", false)
	for _, want := range []bool{false, false, true, true} {
		ask("with a mask", want)
	}
	for r := range 20 {
		q.rows.Set(r)
	}
	ask("a fifth selected", true)
	for r := range 21 {
		q.rows.Set(r + 20)
	}
	ask("more selected", false)

	// A request that was forgotten for want of room comes from the start again, and
	// small clusters never pay.
	q.rows = nil
	e = New(1, 0, new(Counts))
	e.visits = new(visits) // without credit
	for _, want := range []bool{false, false, true} {
		ask("no room", want)
	}
	for _, want := range []bool{false, false, true} {
		q.key = 2
		ask("another", want)
	}
	q.key = 1
	ask("forgotten", false)
	w.Rows = n + 1
	for i := range 10 {
		ask("few rows, "+strconv.Itoa(i), false)
	}
}
