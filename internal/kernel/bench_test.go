package kernel_test

import (
	"github.com/resvec/resvec/internal/testkit"
)

// pool returns a matrix of free amounts of at least 10, except that every 97th
// node has 5 in its last column.
func pool(nodes, cols int) []float64 {
	r := testkit.Rand(1)
	data := testkit.Matrix(nodes, cols)
	for i := range data {
		data[i] = 10 + 20*r.Float64()
	}
	for i := 0; i < nodes; i += 97 {
		data[(cols-1)*nodes+i] = 5
	}
	return data
}
