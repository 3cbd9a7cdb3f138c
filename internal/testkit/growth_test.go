package testkit

import "testing"

// TestGrowthIsSeen: sums over all pairs grow too fast, and sums over all elements don't.
func TestGrowthIsSeen(t *testing.T) {
	if Environment(t, growth, 0) == 0 {
		t.Skip("RESVEC_GROWTH asks for it")
	}
	sum := uint64(0)
	add := func(n int) {
		for i := range uint64(n) {
			sum += i * i
		}
	}
	if ratio := growthOf(100, func(n int) func() {
		return func() {
			for range n {
				add(n)
			}
		}
	}); ratio <= limit {
		t.Errorf("pairs: %v", ratio)
	}
	if ratio := growthOf(1e6, func(n int) func() { return func() { add(n) } }); ratio > limit {
		t.Errorf("elements: %v", ratio)
	}
	t.Log(sum)
}
