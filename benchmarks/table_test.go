package benchmarks

import (
	"fmt"
	"testing"

	"github.com/resvec/resvec/vector"
)

// changing is how many of the nodes change between two scheduling cycles.
const changing = 50

// BenchmarkTable measures what a scheduling cycle pays to keep its table: one
// call of Upsert for a node that did not change and one that did, and a
// snapshot after 50 nodes changed, which copies those rows, or after a node came
// and went besides, which copies all names too.
func BenchmarkTable(b *testing.B) {
	const cols = 8
	for _, n := range []int{5000, 100000} {
		rows := amounts(30, shape{n, cols, cols})
		names := make([]string, n)
		for i := range names {
			names[i] = fmt.Sprintf("node-%05d", i)
		}
		table := vector.NewTable(wholeNumbers(cols), cols, 1)
		generation := int64(0)
		upsertAll := func() {
			generation++
			for i, name := range names {
				table.Upsert(name, generation, rows[i])
			}
		}
		upsertAll()
		size := fmt.Sprintf("nodes=%d/cols=%d", n, cols)

		b.Run("op=upsert-unchanged/"+size, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i = (i + 1) % n {
				if _, changed := table.Upsert(names[i], generation, rows[i]); changed {
					b.Fatal("a row of the same generation changed")
				}
			}
		})
		b.Run("op=upsert-changed/"+size, func(b *testing.B) {
			b.ReportAllocs()
			generation++
			for i := 0; b.Loop(); {
				if _, changed := table.Upsert(names[i], generation, rows[i]); !changed {
					b.Fatal("a row of a new generation did not change")
				}
				if i++; i == n {
					i = 0
					generation++
				}
			}
		})
		upsertAll()

		for _, op := range []struct {
			name string
			next func(snapshot *vector.Snapshot)
		}{
			{"snapshot-rows", func(snapshot *vector.Snapshot) { table.Snapshot(snapshot) }},
			{"snapshot-names", func(snapshot *vector.Snapshot) {
				table.Upsert("extra", 1, rows[0])
				table.Delete("extra")
				table.Snapshot(snapshot)
			}},
		} {
			b.Run("op="+op.name+"/"+size, func(b *testing.B) {
				b.ReportAllocs()
				var snapshot vector.Snapshot
				table.Snapshot(&snapshot)
				for i := 0; b.Loop(); {
					generation++
					for range changing {
						table.Upsert(names[i], generation, rows[i])
						i = (i + 1) % n
					}
					op.next(&snapshot)
				}
				m := snapshot.Matrix(0)
				for i, row := range rows {
					if got := m.At(i, cols-1); got != row[cols-1] {
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
					if err := overlay.SubRow(i, pod); err != nil {
						b.Fatal(err)
					}
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
