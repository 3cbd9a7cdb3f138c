package vector_test

import (
	"math"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
)

func TestVectorLessEqual(t *testing.T) {
	for _, c := range []struct {
		v, other vec
		want     bool
	}{
		{vec{100, 1000, 2}, vec{150, 1500, 3}, true},
		{vec{100, 1000, 2}, vec{100, 1000, 2}, true},
		{vec{150, 1500, 3}, vec{100, 1000, 2}, false},
		{vec{100, 1000, 2}, vec{99, 1000, 2}, false},
		{vec{100, 1000}, vec{150, 1500, -1}, false},
		{vec{100, 1000, -1}, vec{150, 1500}, true},

		{nil, nil, true},
		{nil, vec{}, true},
		{nil, vec{0, 1}, true},
		{nil, vec{0, -1}, false},
		{vec{}, vec{nan}, false},
		{vec{0, -1}, nil, true},
		{vec{0, 1}, nil, false},
		{vec{nan}, nil, false},

		{vec{100, 1000, 1}, vec{150, 1500}, false},
		{vec{100, 1000, 0}, vec{150, 1500}, true},
		{vec{100, 1000, zero}, vec{150, 1500}, true},
		{vec{100}, vec{150, zero}, true},
		{vec{0, 0}, vec{0, -1}, false}, // strict: not requested, but negative
		{vec{-5}, vec{-4}, true},
		{vec{-4}, vec{-5}, false},

		{vec{0}, vec{zero}, true},
		{vec{zero}, vec{0}, true},
		{vec{tiny}, vec{0}, false},
		{vec{-tiny}, vec{zero}, true},
		{vec{tiny}, vec{2 * tiny}, true},
		{vec{1 << 53}, vec{1<<53 - 1}, false},
		{vec{1 << 60}, vec{1<<60 + 128}, true}, // the limit is rounded to 2^60
		{vec{0.1 + 0.2}, vec{0.3}, true},       // constants: exact before they are rounded
		{vec{math.Nextafter(0.3, 1)}, vec{0.3}, false},

		{vec{large}, vec{inf}, true},
		{vec{inf}, vec{inf}, true},
		{vec{inf}, vec{large}, false},
		{vec{-inf}, vec{-large}, true},
		{vec{0}, vec{-inf}, false},
		{vec{nan}, vec{nan}, false},
		{vec{nan}, vec{inf}, false},
		{vec{1}, vec{nan}, false},
		{vec{-inf}, vec{nan}, false},
	} {
		if got := c.v.LessEqual(c.other); got != c.want {
			t.Errorf("%v.LessEqual(%v) = %v", c.v, c.other, got)
		}
	}
}

func TestVectorFitsIn(t *testing.T) {
	for _, c := range []struct {
		request, free vec
		want          bool
	}{
		{nil, nil, true},
		{nil, vec{-1, nan, -inf}, true}, // nothing is requested
		{vec{0, zero, -1}, vec{-1, nan, -inf}, true},
		{vec{1}, nil, false},
		{vec{1}, vec{1}, true},
		{vec{1}, vec{math.Nextafter(1, 0)}, false},
		{vec{1, 0}, vec{1, -7}, true}, // LessEqual rejects this
		{vec{1, 2}, vec{1}, false},
		{vec{1, -2}, vec{1}, true},
		{vec{1}, vec{2, -1}, true},
		{vec{tiny}, vec{0}, false},
		{vec{tiny}, vec{tiny}, true},
		{vec{inf}, vec{large}, false},
		{vec{inf}, vec{inf}, true},
		{vec{-inf}, vec{-inf}, true},
		{vec{nan}, vec{inf}, false},
		{vec{nan}, nil, false},
		{vec{1}, vec{nan}, false},
		{vec{1 << 53}, vec{1<<53 + 2}, true},
		{vec{64000, 256e9, 8, 4, 100}, vec{64000, 256e9, 8, 4, 100}, true},
		{vec{1000, 4e9, 0.5, 0, 0}, vec{64000, 256e9, 8, 4, 100}, true},
	} {
		if got := c.request.FitsIn(c.free); got != c.want {
			t.Errorf("%v.FitsIn(%v) = %v", c.request, c.free, got)
		}
		// FitsIn is FitsInSum with nothing releasing.
		if got := c.request.FitsInSum(c.free, nil); got != c.want {
			t.Errorf("%v.FitsInSum(%v, nil) = %v", c.request, c.free, got)
		}
		if got := c.request.FitsInSum(nil, c.free); got != c.want {
			t.Errorf("%v.FitsInSum(nil, %v) = %v", c.request, c.free, got)
		}
	}
}

func TestVectorFitsInSum(t *testing.T) {
	for _, c := range []struct {
		request, idle, releasing vec
		want                     bool
	}{
		{vec{3, 3}, vec{1, 2}, vec{2, 1}, true},
		{vec{3, 4}, vec{1, 2}, vec{2, 1}, false},
		{vec{3, 4}, vec{3}, vec{0, 4}, true},
		{vec{0, 3}, vec{-9, 5}, vec{-9, -2}, true},
		{vec{1}, vec{inf}, vec{-inf}, false}, // the sum is NaN
		{vec{0}, vec{inf}, vec{-inf}, true},
		{vec{inf}, vec{large}, vec{large}, true}, // the sum overflows
		{vec{1<<53 + 2}, vec{1 << 53}, vec{1}, false},
		{vec{1 << 53}, vec{1 << 53}, vec{1}, true},
		{vec{1}, vec{nan}, vec{2}, false},
		{vec{nan}, vec{1}, vec{2}, false},
	} {
		if got := c.request.FitsInSum(c.idle, c.releasing); got != c.want {
			t.Errorf("%v.FitsInSum(%v, %v) = %v", c.request, c.idle, c.releasing, got)
		}
	}
}

func TestVectorArithmetic(t *testing.T) {
	add, sub, setMax := (*vec).Add, (*vec).Sub, (*vec).SetMax
	for _, c := range []struct {
		name     string
		op       func(*vec, vec)
		v, other vec
		want     vec
	}{
		{"Add", add, vec{100, 1000, 2}, vec{50, 500, 1}, vec{150, 1500, 3}},
		{"Add", add, vec{100, 1000}, vec{50, 500, 1}, vec{150, 1500, 1}},
		{"Add", add, vec{100, 1000, 2}, vec{50, 500}, vec{150, 1500, 2}},
		{"Add", add, nil, vec{1, zero}, vec{1, 0}},
		{"Add", add, vec{1, 2}, nil, vec{1, 2}},
		{"Add", add, nil, nil, nil},
		{"Add", add, vec{inf, large, nan}, vec{-inf, large, 1}, vec{nan, inf, nan}},
		{"Add", add, vec{1 << 53, tiny}, vec{1, tiny}, vec{1 << 53, 2 * tiny}},
		{"Sub", sub, vec{150, 1500}, vec{50, 500, 1}, vec{100, 1000, -1}},
		{"Sub", sub, vec{1, 2}, vec{3}, vec{-2, 2}},
		{"Sub", sub, nil, vec{0, zero, 1}, vec{0, 0, -1}},
		{"Sub", sub, vec{inf, 0}, vec{inf, 0}, vec{nan, 0}},
		{"Sub", sub, nil, nil, nil},
		{"SetMax", setMax, vec{100, 500, 2}, vec{50, 1000, 1}, vec{100, 1000, 2}},
		{"SetMax", setMax, vec{100, 1000}, vec{50, 500, 1}, vec{100, 1000, 1}},
		{"SetMax", setMax, vec{}, vec{50, 500}, vec{50, 500}},
		{"SetMax", setMax, nil, vec{-1, nan, 3}, vec{0, 0, 3}},
		{"SetMax", setMax, vec{-5, -5, 1}, vec{-3, -7, nan}, vec{-3, -5, 1}},
		{"SetMax", setMax, vec{nan, 1}, vec{1, inf}, vec{nan, inf}},
		{"SetMax", setMax, vec{zero, 0}, vec{0, zero}, vec{zero, 0}},
		{"SetMax", setMax, vec{1}, nil, vec{1}},
	} {
		got, other := c.v.Clone(), c.other.Clone()
		c.op(&got, other)
		if !same(got, c.want) {
			t.Errorf("%v %s %v = %v, want %v", c.v, c.name, c.other, got, c.want)
		}
		if !same(other, c.other) {
			t.Errorf("%v %s %v changed its operand to %v", c.v, c.name, c.other, other)
		}
	}
}

func TestVectorGrowth(t *testing.T) {
	backing := vec{1, 2, 7, 7}
	v := backing[:2]
	v.Add(vec{1, 1, 1})
	if !same(v, vec{2, 3, 1}) || !same(backing, vec{1, 2, 7, 7}) {
		t.Errorf("growing Add: v %v, old backing array %v", v, backing)
	}
	v = backing[:2]
	v.Add(vec{1, 1})
	if !same(v, vec{2, 3}) || &v[0] != &backing[0] {
		t.Errorf("Add in place: v %v", v)
	}
	v.Add(v)
	v.Sub(v[:1])
	v.SetMax(v)
	if !same(v, vec{0, 6}) {
		t.Errorf("with itself: v %v", v)
	}
	var null vec
	null.Add(nil)
	if null != nil {
		t.Error("nil plus nil made a vector")
	}
}

func TestVectorElements(t *testing.T) {
	v := vec{1, 2, 3}
	for i, want := range map[int]float64{-1: 0, 0: 1, 2: 3, 3: 0, math.MaxInt: 0, math.MinInt: 0} {
		if got := v.Get(i); got != want {
			t.Errorf("Get(%d) = %v, want %v", i, got, want)
		}
	}
	v.Set(1, 9)
	for _, i := range []int{-1, 3, math.MaxInt, math.MinInt} {
		v.Set(i, 7)
	}
	if !same(v, vec{1, 9, 3}) {
		t.Errorf("after Set: %v", v)
	}
	vec(nil).Set(0, 1)
	if vec(nil).Get(0) != 0 {
		t.Error("nil.Get(0) is not 0")
	}
}

func TestVectorIsZero(t *testing.T) {
	for _, c := range []struct {
		v    vec
		want bool
	}{
		{nil, true}, {vec{}, true}, {vec{0, zero}, true},
		{vec{0, tiny}, false}, {vec{-tiny}, false}, {vec{nan}, false}, {vec{0, 0, -inf}, false},
	} {
		if got := c.v.IsZero(); got != c.want {
			t.Errorf("%v.IsZero() = %v", c.v, got)
		}
	}
}

func TestVectorShares(t *testing.T) {
	for _, c := range []struct {
		v, total   vec
		sum, share float64
		index      int
	}{
		{vec{1000, 4e9, 0.5, 0, 0}, vec{64000, 256e9, 8, 4, 100}, 0.09375, 0.0625, 2},
		{nil, nil, 0, 0, -1},
		{vec{1, 2}, nil, 0, 0, -1},
		{nil, vec{1, 2}, 0, 0, -1},
		{vec{1, 2, 3}, vec{2, 4}, 1, 0.5, 0}, // ties go to the lowest index
		{vec{1, 2}, vec{2, 2, 5}, 1.5, 1, 1},
		{vec{5, 1}, vec{0, 2}, 0.5, 0.5, 1}, // a total of 0 does not count
		{vec{5, 1}, vec{-1, 2}, 0.5, 0.5, 1},
		{vec{5, 1}, vec{nan, 2}, 0.5, 0.5, 1},
		{vec{5, 1}, vec{zero, 2}, 0.5, 0.5, 1},
		{vec{5, 1}, vec{inf, 2}, 0.5, 0.5, 1},
		{vec{-3, -1}, vec{2, 2}, -2, 0, -1}, // negative shares floor to 0
		{vec{-3, 1}, vec{2, 2}, -1, 0.5, 1},
		{vec{zero}, vec{1}, 0, 0, -1},
		{vec{nan, 1}, vec{2, 2}, nan, 0.5, 1},
		{vec{inf, 1}, vec{2, 2}, inf, inf, 0},
		{vec{inf, -inf}, vec{2, 2}, nan, inf, 0},
		{vec{inf}, vec{inf}, nan, 0, -1},
		{vec{3}, vec{2}, 1.5, 1.5, 0}, // more than all of it
		{vec{large}, vec{tiny}, inf, inf, 0},
		{vec{tiny}, vec{large}, 0, 0, -1},
		{vec{1e308, 1e308}, vec{1, 1}, inf, 1e308, 0},
		{vec{1, 1, 1}, vec{3, 3, 3}, 1.0/3 + 1.0/3 + 1.0/3, 1.0 / 3, 0},
	} {
		if got := c.v.NormalizedSum(c.total); !testkit.Same(got, c.sum) {
			t.Errorf("%v.NormalizedSum(%v) = %v, want %v", c.v, c.total, got, c.sum)
		}
		share, index := c.v.DominantResourceIndex(c.total)
		if !testkit.Same(share, c.share) || index != c.index {
			t.Errorf("%v.DominantResourceIndex(%v) = %v, %d, want %v, %d", c.v, c.total, share, index, c.share, c.index)
		}
		if got := c.v.DominantResource(c.total); !testkit.Same(got, c.share) {
			t.Errorf("%v.DominantResource(%v) = %v, want %v", c.v, c.total, got, c.share)
		}
	}
}

func TestVectorCopiesFit(t *testing.T) {
	for _, c := range []struct {
		request, free vec
		want          int64
	}{
		{vec{0.4}, vec{1.2}, 2}, // by IEEE: 1.2/0.4 is just below 3
		{vec{400}, vec{1200}, 3},
		{vec{1000, 4e9, 0.5, 0, 0}, vec{64000, 256e9, 8, 4, 100}, 16},
		{nil, nil, math.MaxInt64},
		{vec{0, zero, -1}, vec{-5, nan}, math.MaxInt64},
		{vec{1}, nil, 0},
		{vec{2, 3}, vec{10, 10}, 3},
		{vec{2, 3}, vec{10}, 0},
		{vec{2, 0}, vec{10, -1}, 5},
		{vec{3}, vec{-10}, 0},
		{vec{3}, vec{2}, 0},
		{vec{3}, vec{zero}, 0},
		{vec{3}, vec{3}, 1},
		{vec{nan}, vec{5}, 0},
		{vec{nan}, vec{inf}, 0},
		{vec{nan}, nil, 0},
		{vec{1, 1}, vec{5, nan}, 0},
		{vec{1, nan}, vec{5, 5}, 0},
		{vec{1, 0}, vec{5, nan}, 5},
		{vec{1}, vec{inf}, math.MaxInt64},
		{vec{1, 2}, vec{inf, 9}, 4},
		{vec{inf}, vec{large}, 0},
		{vec{inf}, vec{inf}, math.MaxInt64},
		{vec{inf}, vec{-inf}, 0},
		{vec{inf, 1}, vec{inf, 7}, 7},
		{vec{1}, vec{-inf}, 0},
		{vec{1}, vec{1 << 62}, 1 << 62},
		{vec{1}, vec{1<<63 - 1024}, 1<<63 - 1024},
		{vec{1}, vec{1 << 63}, math.MaxInt64},
		{vec{tiny}, vec{1}, math.MaxInt64},
		{vec{tiny}, vec{3 * tiny}, 3},
		{vec{large}, vec{large}, 1},
		{vec{1}, vec{1<<53 - 1}, 1<<53 - 1},
		{vec{3}, vec{1<<53 - 1}, (1<<53 - 1) / 3},
		{vec{1<<53 - 1}, vec{1<<53 - 2}, 0},
		{vec{1<<53 - 2}, vec{1<<53 - 1}, 1},
	} {
		if got := c.request.CopiesFit(c.free); got != c.want {
			t.Errorf("%v.CopiesFit(%v) = %d, want %d", c.request, c.free, got, c.want)
		}
	}
}

func TestVectorShortfall(t *testing.T) {
	for _, c := range []struct {
		request, free, want vec
	}{
		{nil, nil, vec{}},
		{nil, vec{-1}, vec{}},
		{vec{5, 5, 5}, vec{3, 5, 9}, vec{2, 0, 0}},
		{vec{5, 2}, vec{9}, vec{0, 2}},
		{vec{5}, vec{9, -9}, vec{0}},
		{vec{0, zero, -3}, vec{-1, -1, -9}, vec{0, 0, 0}},
		{vec{2}, vec{-3}, vec{5}},
		{vec{nan, 1, 0}, vec{1, nan, nan}, vec{inf, inf, 0}},
		{vec{nan}, nil, vec{inf}},
		{vec{inf, inf, 1, 1}, vec{5, inf, inf, -inf}, vec{inf, 0, 0, inf}},
		{vec{2 * tiny}, vec{tiny}, vec{tiny}},
		{vec{large}, vec{-large}, vec{inf}},
		{vec{1<<53 + 2}, vec{1 << 53}, vec{2}},
	} {
		for _, dst := range []vec{nil, {}, {9}, {9, 9, 9, 9, 9, 9}} {
			got := c.request.Shortfall(dst, c.free)
			if !same(got, c.want) {
				t.Errorf("%v.Shortfall(%v, %v) = %v, want %v", c.request, dst, c.free, got, c.want)
			}
			if len(got) > 0 && cap(dst) >= len(got) && &got[0] != &dst[0] {
				t.Errorf("%v.Shortfall(%v, %v) does not reuse dst", c.request, dst, c.free)
			}
		}
	}
	v := vec{5, 2}
	if got := v.Shortfall(v, vec{3, 3}); !same(got, vec{2, 0}) || &got[0] != &v[0] {
		t.Errorf("into the request itself: %v", got)
	}
}

// checkFitLaws checks that the three ways to ask whether a request fits agree.
func checkFitLaws(t *testing.T, request, free vec) {
	t.Helper()
	fits := request.FitsIn(free)
	if copies := request.CopiesFit(free); fits != (copies >= 1) {
		t.Errorf("%v in %v: FitsIn %v, CopiesFit %d", request, free, fits, copies)
	}
	if short := request.Shortfall(nil, free); fits != short.IsZero() {
		t.Errorf("%v in %v: FitsIn %v, Shortfall %v", request, free, fits, short)
	}
	if request.LessEqual(free) && !fits {
		t.Errorf("%v in %v: LessEqual without FitsIn", request, free)
	}
	if got := request.FitsInSum(free, nil); got != fits {
		t.Errorf("%v in %v: FitsIn %v, FitsInSum with nothing %v", request, free, fits, got)
	}
}

func TestVectorFitLaws(t *testing.T) {
	specials := testkit.Specials()
	for _, x := range specials {
		for _, y := range specials {
			checkFitLaws(t, vec{x}, vec{y})
			checkFitLaws(t, vec{1, x}, vec{2, y})
			checkFitLaws(t, vec{x, y}, vec{y})
			// Neighbours, where a rounded quotient of 1 would be wrong.
			checkFitLaws(t, vec{x}, vec{math.Nextafter(x, y)})
		}
	}
}
