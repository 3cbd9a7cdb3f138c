package scoring

import "testing"

// TestBrokenLine has the functions of kube-scheduler's own tests.
func TestBrokenLine(t *testing.T) {
	rising, flat := []ShapePoint{{10, 1}, {90, 9}}, []ShapePoint{{0, 2}, {40, 2}, {100, 2}}
	falling := []ShapePoint{{0, 10}, {100, 0}}
	for _, test := range []struct {
		points  []ShapePoint
		factor  int64
		v, want int64
	}{
		{rising, 1, -10, 1}, {rising, 1, 0, 1}, {rising, 1, 9, 1}, {rising, 1, 10, 1}, {rising, 1, 15, 1}, {rising, 1, 19, 1},
		{rising, 1, 20, 2}, {rising, 1, 89, 8}, {rising, 1, 90, 9}, {rising, 1, 99, 9}, {rising, 1, 100, 9}, {rising, 1, 110, 9},
		{flat, 1, -10, 2}, {flat, 1, 0, 2}, {flat, 1, 20, 2}, {flat, 1, 40, 2}, {flat, 1, 70, 2}, {flat, 1, 100, 2}, {flat, 1, 110, 2},
		{falling, 1, 15, 9}, {falling, 10, 15, 85}, // truncated toward the point before
	} {
		if got := brokenLine(test.points, test.factor, test.v); got != test.want {
			t.Errorf("%v times %d at %d: %d, want %d", test.points, test.factor, test.v, got, test.want)
		}
	}
}
