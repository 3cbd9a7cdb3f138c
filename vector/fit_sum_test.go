package vector_test

import (
	"fmt"
	"testing"

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
