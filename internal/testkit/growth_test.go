package testkit

import "testing"

// TestGrowth shows what [Linear] logs of work on all elements, and on all pairs of them.
func TestGrowth(t *testing.T) {
	sum := uint64(0)
	add := func(n int) {
		for i := range uint64(n) {
			sum += i * i
		}
	}
	t.Run("elements", func(t *testing.T) {
		Linear(t, 100_000, func(n int) func() { return func() { add(n) } })
	})
	t.Run("pairs, growing as the square", func(t *testing.T) {
		Linear(t, 100, func(n int) func() {
			return func() {
				for range n {
					add(n)
				}
			}
		})
	})
	t.Log(sum)
}
