package book

import "testing"

// TestAddSaturated ends at Unlimited.
func TestAddSaturated(t *testing.T) {
	for _, c := range [][3]int64{
		{0, 0, 0}, {1, 2, 3}, {Unlimited, 0, Unlimited}, {0, Unlimited, Unlimited}, {Unlimited, 1, Unlimited},
		{Unlimited - 2, 1, Unlimited - 1}, {Unlimited - 2, 2, Unlimited}, {Unlimited - 2, 3, Unlimited}, {Unlimited, Unlimited, Unlimited},
	} {
		if got := AddSaturated(c[0], c[1]); got != c[2] {
			t.Errorf("%d + %d: %d, want %d", c[0], c[1], got, c[2])
		}
	}
}

// TestShare is of the least amounts.
func TestShare(t *testing.T) {
	q := &Queue{Cells: []Cell{{Allocated: 1}, {Allocated: 1}, {}, {Allocated: 9}}, Deserved: []int64{4, 1, 1, 0}}
	if got := q.Share(); got != 1 {
		t.Errorf("%v, want 1", got)
	}
}
