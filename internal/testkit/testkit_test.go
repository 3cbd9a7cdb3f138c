package testkit_test

import (
	"math"
	"slices"
	"testing"
	"unsafe"

	"github.com/resvec/resvec/internal/testkit"
)

func TestMatrixIsAligned(t *testing.T) {
	for _, m := range [][]float64{
		testkit.Matrix(64, 3), testkit.GuardedMatrix(t, 64, 3), testkit.GuardedMatrixFront(t, 64, 3),
	} {
		checkAligned(t, m)
	}
	checkAligned(t, testkit.Matrix32(64, 3))
}

func checkAligned[F float32 | float64](t *testing.T, m []F) {
	t.Helper()
	if at := uintptr(unsafe.Pointer(&m[0])) % 64; at != 0 || len(m) != 192 {
		t.Errorf("%d elements, %d bytes off a border", len(m), at)
	}
}

func TestFloatsOfInvertsBytesOf(t *testing.T) {
	want := testkit.Specials()
	got := make([]float64, len(want))
	testkit.FloatsOf(got, testkit.BytesOf(want))
	if i := testkit.Difference(got, want); i >= 0 {
		t.Errorf("value %d: got %v, want %v", i, got[i], want[i])
	}
}

func TestSame(t *testing.T) {
	negativeZero := math.Copysign(0, -1)
	for _, test := range []struct {
		x, y float64
		want bool
	}{
		{1, 1, true},
		{0, negativeZero, false},
		{math.NaN(), -math.NaN(), true},
		{math.NaN(), 1, false},
	} {
		if got := testkit.Same(test.x, test.y); got != test.want {
			t.Errorf("Same(%v, %v) = %v", test.x, test.y, got)
		}
	}
}

func TestTrimMask(t *testing.T) {
	for rows, want := range map[int][]uint64{
		0:   {0, 0},
		1:   {1, 0},
		64:  {math.MaxUint64, 0},
		65:  {math.MaxUint64, 1},
		128: {math.MaxUint64, math.MaxUint64},
	} {
		got := []uint64{math.MaxUint64, math.MaxUint64}
		testkit.TrimMask(got, rows)
		if !slices.Equal(got, want) {
			t.Errorf("%d rows: got %x, want %x", rows, got, want)
		}
	}
}
