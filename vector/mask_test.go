package vector_test

import (
	"math/bits"
	"slices"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
)

func TestMaskZeroValue(t *testing.T) {
	var m vector.Mask
	if m.Len() != 0 || m.Any() || m.First() != -1 || m.Count() != 0 || len(m.Words()) != 0 || len(members(&m)) != 0 {
		t.Error("the zero mask is not empty")
	}
	m.SetAll()
	m.Reset(0)
	m.And(&m, &m)
	m.CopyFrom(new(vector.Mask))
	if !m.Equal(vector.NewMask(0)) {
		t.Error("the zero mask is not a mask of length 0")
	}
	m.Reset(70)
	m.Set(69)
	if m.Len() != 70 || !m.Test(69) {
		t.Error("the zero mask does not resize")
	}
}

// Every operation against a map, for every length up to two words and a bit.
func TestMaskAgainstMap(t *testing.T) {
	r := testkit.Rand(1)
	for rows := range 130 {
		m, model := vector.NewMask(rows), map[int]bool{}
		if m.Len() != rows || len(m.Words()) != (rows+63)/64 || m.Any() {
			t.Fatalf("NewMask(%d): length %d, %d words", rows, m.Len(), len(m.Words()))
		}
		for range rows {
			row := r.IntN(rows)
			if model[row] = r.IntN(3) > 0; model[row] {
				m.Set(row)
			} else {
				m.Clear(row)
				delete(model, row)
			}
		}
		var want []int
		for row := range rows {
			if m.Test(row) != model[row] {
				t.Fatalf("%d rows: Test(%d) = %v", rows, row, m.Test(row))
			}
			if model[row] {
				want = append(want, row)
			}
		}
		if got := slices.Collect(m.All()); !slices.Equal(got, want) || m.Count() != len(want) || m.Any() != (len(want) > 0) {
			t.Fatalf("%d rows: %v, count %d, any %v, want %v", rows, got, m.Count(), m.Any(), want)
		}
		first := -1
		if len(want) > 0 {
			first = want[0]
		}
		if m.First() != first {
			t.Fatalf("%d rows: First = %d, want %d", rows, m.First(), first)
		}
		for n, row := range want {
			if got := m.Nth(n); got != row {
				t.Fatalf("%d rows: Nth(%d) = %d, want %d", rows, n, got, row)
			}
		}
		if m.Nth(len(want)) != -1 || m.Nth(-1) != -1 {
			t.Fatalf("%d rows: Nth beyond the set finds a row", rows)
		}
		m.SetAll()
		if m.Count() != rows {
			t.Fatalf("%d rows: SetAll sets %d", rows, m.Count())
		}
		set := 0
		for _, w := range m.Words() {
			set += bits.OnesCount64(w)
		}
		if set != rows {
			t.Fatalf("%d rows: SetAll sets bits beyond the rows", rows)
		}
		m.Reset(rows)
		if m.Any() || m.Len() != rows {
			t.Fatalf("%d rows: Reset leaves %d", rows, m.Count())
		}
	}
}
