package benchmarks

import (
	"testing"

	"github.com/resvec/resvec/vector"
)

func BenchmarkBulkUpdate(b *testing.B) { benchmark(b, bulkUpdate) }

var bulkUpdate = operation{"BulkUpdate", shapes([]int{5000, 100000}, 8), shapes([]int{5000, 100000}, 8), newBulkUpdate}

// newBulkUpdate brings a copy of the nodes up to date after 256 scattered ones have
// changed, as a scheduling cycle begins. Before, both forms write the changed rows
// whole.
func newBulkUpdate(s shape) *subject {
	const count = 256
	rows := amounts(15, s)
	m, rowNodes, copies := matrixOf(rows), newRowNodes(rows, nil, nil), newRowNodes(rows, nil, nil)
	changed := vector.NewMatrix(wholeNumbers(s.cols), s.nodes, s.cols)
	changed.CopyFrom(m)
	r := random(16)
	order := r.Perm(s.nodes) // no row twice, so that the state is the same after every round
	var picks [variants][count]int
	var news [variants][count]vector.ResourceVector
	for k := range picks {
		for p := range picks[k] {
			picks[k][p] = order[k*count+p]
			news[k][p] = rows[r.IntN(s.nodes)]
		}
	}
	update := &subject{
		results:  count,
		variants: variants,
		kernel: func(k int) {
			for p, i := range picks[k] {
				m.SetRow(i, news[k][p])
			}
			changed.CopyFrom(m)
		},
		rowloop: func(k int) {
			for p, i := range picks[k] {
				copy(rowNodes[i].idle, news[k][p])
			}
			for _, i := range picks[k] {
				copy(copies[i].idle, rowNodes[i].idle)
			}
		},
		check: func() error {
			idle := make([][]float64, s.nodes)
			for i, n := range copies {
				idle[i] = n.idle
			}
			return sameRows("BulkUpdate", changed, idle)
		},
	}
	for k := range variants {
		update.kernel(k)
		update.rowloop(k)
	}
	return update
}
