package kernel_test

import (
	"testing"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/internal/testkit"
)

// TestRoof checks that every element is read once, with any number of streams:
// sums of small integers don't depend on the order.
func TestRoof(t *testing.T) {
	testkit.EachImpl(t, func(t *testing.T) {
		for _, streams := range []int{1, 4, 8, 16} {
			data := testkit.GuardedMatrix(t, 23*kernel.Block, streams)
			want := 0.0
			for i := range data {
				data[i] = float64(i % 1009)
				want += data[i]
			}
			if got := kernel.Roof(data, streams); got != want {
				t.Errorf("%d streams: got %v, want %v", streams, got, want)
			}
		}
	})
}
