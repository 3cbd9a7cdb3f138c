package scoring

import (
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// A rowScorer is a scorer of this package that is no sum of others: it scores many
// rows at a time.
type rowScorer interface {
	Scorer

	// resources returns the map that the scorer was compiled against, nil for none.
	resources() *vectormap.ResourceVectorMap

	// divisors returns the columns of what nodes have whose reciprocals save time.
	divisors() []int

	cost() rowCost

	// scoreRows sets dst, of an element per row, where words selects the row. The
	// operands are checked. words may be nil for all rows.
	scoreRows(dst []float64, a *amounts, words []uint64)
}

// amounts are the operands of a rowScorer.
type amounts struct {
	request                vector.ResourceVector
	requested, allocatable *vector.Matrix
	nodes                  *vector.Nodes // whose matrices these are; nil: none, and no reciprocals
	base                   []float64     // of the scorer's SRA, see sraRows; nil: it has none, or it is off
}

// reciprocals returns those of a column of allocatable; see [vector.Nodes.Reciprocals].
func (a *amounts) reciprocals(column int) (reciprocals []float64, whole bool) {
	if a.nodes == nil {
		return nil, false
	}
	return a.nodes.Reciprocals(column)
}
