package vector_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
)

func TestFitSumStrictFacts(t *testing.T) {
	for _, test := range []struct {
		v, a, b vec
		want    bool
	}{
		{nil, nil, nil, true},
		{vec{3}, vec{1}, vec{2}, true},
		{vec{3}, vec{1}, vec{1}, false},
		{vec{3}, vec{3}, nil, true},
		{vec{1}, nil, nil, false},
		{vec{-1, zero}, nil, nil, true},
		{vec{1}, vec{1, -1}, nil, false}, // nothing of the second is requested
		{vec{1}, vec{1, -1}, vec{0, 1}, true},
		{vec{1}, vec{-1}, vec{0, 0, -1}, false},
		{nil, vec{-2}, vec{2}, true},
		{nil, vec{nan}, nil, false},
		{vec{nan}, vec{1}, vec{1}, false},
		{vec{inf}, vec{inf}, vec{1}, true},
		{vec{0}, vec{inf}, vec{-inf}, false}, // NaN
		{vec{large}, vec{large}, vec{large}, true},
		{vec{0.3}, vec{0.1}, vec{0.2}, true},
	} {
		var fits vector.Mask
		vector.FitSumStrict(&fits, matrixOf(3, test.a), matrixOf(3, test.b), test.v)
		if fits.Any() != test.want {
			t.Errorf("%v at most %v+%v: %v", test.v, test.a, test.b, !test.want)
		}
	}
}

// checkFitSumStrict compares the batch with the scalar definition.
func checkFitSumStrict(t testing.TB, r *rand.Rand, rows, cols int) {
	t.Helper()
	a, b := vector.NewMatrix(none, rows, cols), vector.NewMatrix(none, rows, cols)
	v := make(vec, cols)
	for i := range rows {
		for _, m := range []*vector.Matrix{a, b} {
			testkit.Fill(r, v)
			for j := range v {
				if r.IntN(4) > 0 {
					v[j] = float64(r.IntN(9) - 1)
				}
			}
			m.SetRow(i, v)
		}
	}
	request := make(vec, r.IntN(cols+1))
	testkit.Fill(r, request)
	for j := range request {
		if r.IntN(4) > 0 {
			request[j] = float64(r.IntN(4) - 1)
		}
	}
	var dst vector.Mask
	vector.FitSumStrict(&dst, a, b, request)
	if dst.Len() != rows {
		t.Fatalf("%d rows, want %d", dst.Len(), rows)
	}
	for i := range rows {
		sum := a.Row(nil, i)
		sum.Add(b.Row(nil, i))
		if want := request.LessEqual(sum); dst.Test(i) != want {
			t.Fatalf("row %d of %d: %v, want %v: %v at most %v+%v", i, rows, dst.Test(i), want, request, a.Row(nil, i), b.Row(nil, i))
		}
	}
}

func TestFitSumStrict(t *testing.T) {
	testkit.EachImpl(t, func(t *testing.T) {
		r := testkit.Rand(4)
		for rows := range 130 {
			checkFitSumStrict(t, r, rows, 1+rows%20)
		}
		checkFitSumStrict(t, r, 1000, 8)
	})
}

func FuzzFitSumStrict(f *testing.F) {
	f.Add(uint64(1), uint8(70), uint8(9))
	f.Fuzz(func(t *testing.T, seed uint64, rows, cols uint8) {
		checkFitSumStrict(t, testkit.Rand(seed), int(rows), 1+int(cols%33))
	})
}

func TestFitSumStrictPanics(t *testing.T) {
	var dst vector.Mask
	wantPanic(t, "vector: matrices have different numbers of rows", func() {
		vector.FitSumStrict(&dst, matrixOf(1, vec{1}), matrixOf(1), nil)
	})
	wantPanic(t, "vector: vector is longer than the matrix is wide", func() {
		vector.FitSumStrict(&dst, matrixOf(1, vec{1}), matrixOf(1, vec{1}), vec{1, 1})
	})
}

func ExampleFitSumStrict() {
	idle, releasing := vector.NewMatrix(vector.Schema{}, 0, 2), vector.NewMatrix(vector.Schema{}, 0, 2)
	for _, node := range []struct{ idle, releasing vector.ResourceVector }{
		{vector.ResourceVector{4, 0}, vector.ResourceVector{0, 2}},
		{vector.ResourceVector{4, 1}, vector.ResourceVector{-5, 1}}, // over-subscribed in what is not requested
	} {
		idle.AppendRow(node.idle)
		releasing.AppendRow(node.releasing)
	}
	request := vector.ResourceVector{0, 2}
	var fits, strict vector.Mask
	vector.FitSum(&fits, idle, releasing, request)
	vector.FitSumStrict(&strict, idle, releasing, request)
	fmt.Println(fits.Count(), strict.Count())
	// Output: 2 1
}
