package benchmarks

import (
	"math/rand/v2"
	"strconv"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
)

// variants is how many different questions a subject is asked in turn. A
// scheduler asks for another pod each time; asking for the same one again and
// again would let the CPU learn the branches of the plain loops by heart.
const variants = 16

// unitOf is the grain of the amounts of every problem, and the least that a
// node has: 4 CPUs, 16 GiB, one GPU, and small counts of other resources.
func unitOf(cols int) vector.ResourceVector {
	unit := vector.ResourceVector{4000, 16 << 30, 1000}
	for len(unit) < cols {
		unit = append(unit, float64(len(unit)))
	}
	return unit[:cols]
}

// questionOf returns one unit, times scale, of each of the requested columns,
// and times another one in a column that differs from variant to variant.
func questionOf(s shape, k int, scale, special float64) vector.ResourceVector {
	question := unitOf(s.cols)
	clear(question[s.requested:])
	for j := range question {
		question[j] *= scale
	}
	question[k%s.requested] *= special / scale
	return question
}

// questions returns all variants. The special column varies by one unit.
func questions(s shape, scale, special float64) []vector.ResourceVector {
	all := make([]vector.ResourceVector, variants)
	for k := range all {
		all[k] = questionOf(s, k, scale, special+float64(k%3))
	}
	return all
}

// random returns a source of its own for one use, the same in every run.
func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// amounts returns the amounts of the nodes: 1 to 16 units in every column.
func amounts(seed uint64, s shape) [][]float64 {
	r, unit := random(seed), unitOf(s.cols)
	rows := make([][]float64, s.nodes)
	for i := range rows {
		rows[i] = make([]float64, s.cols)
		for j, x := range unit {
			rows[i][j] = x * float64(1+r.IntN(16))
		}
	}
	return rows
}

// matrixOf returns rows as a matrix that takes whole numbers only, as the
// amounts of Kubernetes are.
func matrixOf(rows [][]float64) *vector.Matrix {
	cols := len(rows[0])
	m := vector.NewMatrix(wholeNumbers(cols), len(rows), cols)
	for i, row := range rows {
		m.SetRow(i, row)
	}
	return m
}

// nodesOf returns nodes that keep the reciprocals of what they have.
func nodesOf(requested, allocatable [][]float64) *vector.Nodes {
	cols := len(requested[0])
	nodes := vector.NewNodes(wholeNumbers(cols), cols)
	for i, row := range requested {
		_, _, err := nodes.Set(strconv.Itoa(i), 1, vector.NodeAmounts{Allocatable: allocatable[i], Requested: row})
		testkit.Check(err)
	}
	nodes.KeepReciprocals(allColumns(cols)...)
	return nodes
}

// wholeNumbers returns the schema of the columns.
func wholeNumbers(cols int) vector.Schema {
	columns := make([]vector.SchemaColumn, cols)
	for j := range columns {
		columns[j] = vector.SchemaColumn{Name: columnName(j), Integral: true}
	}
	return vector.NewSchema(columns)
}

func columnName(j int) string {
	if j < structFields {
		return []string{"cpu", "memory", "nvidia.com/gpu"}[j]
	}
	return scalarNames[j-structFields]
}

// structsOf returns rows in struct form.
func structsOf[T ~[]float64](rows []T) []*structResources {
	structs := make([]*structResources, len(rows))
	for i, row := range rows {
		structs[i] = newStructResources(row)
	}
	return structs
}
