package benchmarks

import (
	"fmt"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
)

// changing is how many of the nodes change between two scheduling cycles.
const changing = 50

// BenchmarkNodes measures what a scheduling cycle pays to keep its nodes: one call of Set
// for a node that did not change and one that did, a pod that is assumed and forgotten, and
// a snapshot after 50 nodes changed, which copies those rows, or after a node came and went
// besides, which copies all names too.
func BenchmarkNodes(b *testing.B) {
	const cols = 8
	for _, n := range []int{5000, 100000} {
		if tooLarge(n) {
			continue
		}
		rows := amounts(30, shape{n, cols, cols})
		names := make([]string, n)
		for i := range names {
			names[i] = fmt.Sprintf("node-%05d", i)
		}
		nodes := vector.NewNodes(wholeNumbers(cols), cols)
		pods := amounts(32, shape{2, cols, 4})
		generation := int64(0)
		set := func(i int) (changed bool) {
			_, changed, err := nodes.Set(names[i], generation, vector.NodeAmounts{Allocatable: rows[i], Requested: pods[generation%2]})
			testkit.Check(err)
			return changed
		}
		setAll := func() {
			generation++
			for i := range names {
				set(i)
			}
		}
		setAll()
		size := fmt.Sprintf("nodes=%d/cols=%d", n, cols)

		b.Run("op=set-unchanged/"+size, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i = (i + 1) % n {
				if set(i) {
					b.Fatal("a row of the same generation changed")
				}
			}
		})
		b.Run("op=set-changed/"+size, func(b *testing.B) {
			b.ReportAllocs()
			generation++
			for i := 0; b.Loop(); {
				if !set(i) {
					b.Fatal("a row of a new generation did not change")
				}
				if i++; i == n {
					i = 0
					generation++
				}
			}
		})
		setAll()
		b.Run("op=assume-forget/"+size, func(b *testing.B) {
			b.ReportAllocs()
			pod := vector.PodAmounts{Requested: pods[0]}
			for i := 0; b.Loop(); i = (i + 7) % n {
				testkit.Check(nodes.Assume(i, pod))
				testkit.Check(nodes.Forget(i, pod))
			}
		})

		for _, op := range []struct {
			name string
			next func(copied *vector.Nodes)
		}{
			{"snapshot-rows", func(copied *vector.Nodes) { nodes.Snapshot(copied) }},
			{"snapshot-names", func(copied *vector.Nodes) {
				_, _, err := nodes.Set("extra", 1, vector.NodeAmounts{Allocatable: rows[0]})
				testkit.Check(err)
				nodes.Delete("extra")
				nodes.Snapshot(copied)
			}},
		} {
			b.Run("op="+op.name+"/"+size, func(b *testing.B) {
				b.ReportAllocs()
				var copied vector.Nodes
				nodes.Snapshot(&copied)
				for i := 0; b.Loop(); {
					generation++
					for range changing {
						set(i)
						i = (i + 1) % n
					}
					op.next(&copied)
				}
				for i, row := range rows {
					if got := copied.Allocatable().At(i, cols-1); got != row[cols-1] {
						b.Fatalf("row %d of the snapshot holds %v, want %v", i, got, row[cols-1])
					}
				}
			})
		}
	}
}

// BenchmarkOverlay tries 64 pods on scattered nodes and takes them back.
func BenchmarkOverlay(b *testing.B) {
	const tries = 64
	for _, s := range shapes([]int{5000, 100000}, 8) {
		if tooLarge(s.nodes) {
			continue
		}
		b.Run(s.String(), func(b *testing.B) {
			m := matrixOf(amounts(31, s))
			pod := unitOf(s.cols)
			overlay := vector.NewOverlay(m)
			r := random(32)
			var picks [tries]int
			for k := range picks {
				picks[k] = r.IntN(s.nodes)
			}
			b.ReportAllocs()
			for b.Loop() {
				mark := overlay.Mark()
				for _, i := range picks {
					testkit.Check(overlay.SubFromRow(i, pod))
				}
				overlay.Rollback(mark)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/tries, "ns/change")
			for _, i := range picks {
				for j := range s.cols {
					if got, want := overlay.Matrix().At(i, j), m.At(i, j); got != want {
						b.Fatalf("row %d, column %d is %v after the rollback, want %v", i, j, got, want)
					}
				}
			}
		})
	}
}
