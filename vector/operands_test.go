package vector_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
)

// operands are the arguments of one kernel call, and the same amounts by row
// for the scalar definition.
type operands struct {
	name  string
	a, b  *vector.Matrix
	rowsA []vec
	rowsB []vec
	// request has a value for every column but sometimes the last ones.
	request vec
}

func (o *operands) rows() int { return len(o.rowsA) }

// kinds of amounts: every branch, the range where division may use a
// reciprocal, and nodes that mostly have room.
var kinds = []struct {
	name    string
	amount  func(r *rand.Rand, dst []float64)
	request func(r *rand.Rand, dst []float64)
}{
	{name: "special", amount: testkit.Fill, request: testkit.Fill},
	{name: "tame", amount: testkit.FillTame, request: testkit.FillTame},
	{name: "roomy", amount: func(r *rand.Rand, dst []float64) {
		for i := range dst {
			dst[i] = float64(7 + r.IntN(17))
		}
	}, request: func(r *rand.Rand, dst []float64) {
		for i := range dst {
			dst[i] = float64(r.IntN(9) - 1)
		}
	}},
}

// shapes calls f for the shapes (rows, cols) that every kernel is tried with:
// all row counts up to two blocks and a bit, with all or some widths up to 33 and
// some beyond 64, and some large ones.
func shapes(t *testing.T, f func(rows, cols int)) {
	every := testkit.Amount(t, 11, 5, 1)
	for rows := range 130 {
		for cols := rows % every; cols < 34; cols += every {
			f(rows, cols)
		}
	}
	for _, rows := range []int{0, 1, 63, 64, 65, 129} {
		for _, cols := range []int{63, 64, 65, 70, 130} {
			f(rows, cols)
		}
	}
	for _, rows := range []int{511, 512, 513, 1000, 4097} {
		for _, cols := range []int{1, 4, 8, 17} {
			f(rows, cols)
		}
	}
	switch {
	case testkit.Amount(t, 0, 0, 1) > 0:
		f(maxRows, 8)
		f(maxRows, 17)
	case !testkit.RaceEnabled && !testing.Short():
		f(20_545, 8) // a little more than one call into assembly takes
	}
}

// maxRows and maxCols bound the shapes.
const maxRows, maxCols = 100_003, 130

// eachOperands calls f with operands of every shape and kind. They are reused
// from call to call.
func eachOperands(t *testing.T, f func(t *testing.T, o *operands)) {
	o := &operands{a: new(vector.Matrix), b: new(vector.Matrix)}
	for _, kind := range kinds {
		r := testkit.Rand(uint64(len(kind.name)))
		// One pool of amounts, from which every operand takes a piece: filling
		// anew for every shape would take most of the time.
		pool := make([]float64, 1<<18)
		kind.amount(r, pool)
		requests := make([]float64, 1<<12)
		kind.request(r, requests)
		shapes(t, func(rows, cols int) {
			o.name = fmt.Sprintf("%s %dx%d", kind.name, rows, cols)
			o.rowsA = load(o.a, rows, cols, pool, r, o.rowsA)
			o.rowsB = load(o.b, rows, cols, pool, r, o.rowsB)
			at, length := r.IntN(len(requests)-maxCols), cols
			if r.IntN(4) == 0 {
				length = r.IntN(cols + 1)
			}
			o.request = requests[at:][:length]
			f(t, o)
			if t.Failed() {
				t.FailNow()
			}
		})
	}
}

// load fills m with rows from the pool and returns the rows. A large matrix
// repeats the pool.
func load(m *vector.Matrix, rows, cols int, pool []float64, r *rand.Rand, reuse []vec) []vec {
	m.Reset(none, rows, cols)
	reuse = reuse[:0]
	at := r.IntN(len(pool) / 2)
	for range rows {
		if at+cols > len(pool) {
			at = r.IntN(cols)
		}
		reuse = append(reuse, pool[at:][:cols:cols])
		at += cols
	}
	column := make([]float64, rows)
	for j := range cols {
		for i, v := range reuse {
			column[i] = v[j]
		}
		m.SetColumn(j, 0, column)
	}
	return reuse
}

// destination is a dst that ends at a page that faults, holds sentinels beyond
// the rows if it is longer, and starts at whatever alignment results.
type destination[T testkit.Plain] struct{ room []T }

func newDestination[T testkit.Plain](t *testing.T) destination[T] {
	return destination[T]{testkit.Guarded[T](t, maxRows+spare)}
}

const (
	spare    = 3
	sentinel = 77
)

// take returns a dst for so many rows, with spare elements beyond them when
// longer is set. All elements are sentinels.
func (d destination[T]) take(rows int, longer bool) []T {
	n := rows
	if longer {
		n += spare
	}
	dst := d.room[len(d.room)-n:]
	for i := range dst {
		dst[i] = sentinel
	}
	return dst
}

// intact reports whether the elements beyond rows are still sentinels.
func intact[T testkit.Plain](dst []T, rows int) bool {
	for _, x := range dst[rows:] {
		if x != sentinel {
			return false
		}
	}
	return true
}
