package placement_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
)

func BenchmarkPlace(b *testing.B) {
	const pods = 1000
	for _, shapes := range []int{10, 1000} {
		b.Run(fmt.Sprintf("nodes=5000/pods=%d/shapes=%d", pods, shapes), func(b *testing.B) {
			w := newWorld(rand.New(rand.NewPCG(1, 2)), 5000, shapes)
			empty := w.state(b)
			var placed int
			for b.Loop() {
				b.StopTimer()
				state := empty.Clone()
				b.StartTimer()
				placed = 0
				for i := range pods {
					r := w.requests[i%len(w.requests)]
					d := testkit.Must(state.Decide(nil, r, nil))
					row := d.Choose(vector.TieSeeded(42))
					if row < 0 {
						continue
					}
					placed++
					testkit.Check(state.Assume(row, nil, r))
				}
			}
			b.ReportMetric(float64(pods)*float64(b.N)/b.Elapsed().Seconds(), "pods/s")
			b.ReportMetric(float64(placed), "placed")
		})
	}
}
