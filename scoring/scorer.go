package scoring

import (
	"fmt"

	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Scorer says how good a node is for a pod; greater is better, unless its documentation
// says otherwise. [Bind] makes of it what answers for all nodes at once. Every compiled
// scorer of this package is one; others may be terms of a combination, and are asked
// row by row.
//
// requested is what the pods of the node request, allocatable what it has, and request
// the total of the incoming pod. Vectors shorter than the map are padded with zeros.
// Errors are [vector.ErrShape], a [*vector.AmountError] of the request and, from some
// combinations, [ErrNeedsBatch].
//
// A score depends on these amounts alone. Implementations are immutable, safe for
// concurrent use, and allocate nothing but in Explain and for errors.
//
// A type of yours may embed a scorer of this package and have a Score of its own. It is
// asked then, for one row at a time, wherever a Scorer is.
type Scorer interface {
	// Score scores one node: the definition of what a [Bound] says of its row, bit
	// for bit.
	Score(request, requested, allocatable vector.ResourceVector) (float64, error)

	// Explain returns the numbers that make the score of one node.
	Explain(request, requested, allocatable vector.ResourceVector) (Explanation, error)
}

// ScoringType names a formula, or a part of one, as configurations do. Each
// configuration says which it takes.
type ScoringType string

const (
	// Of [FitRule] the first two, of [KubeConfig] all four. The names are from
	// Kubernetes and Volcano.
	MostAllocated            ScoringType = "MostAllocated"            // better the fuller
	LeastAllocated           ScoringType = "LeastAllocated"           // better the emptier
	RequestedToCapacityRatio ScoringType = "RequestedToCapacityRatio" // by a shape
	BalancedAllocation       ScoringType = "BalancedAllocation"       // better the more alike the resources are used

	// The metrics of a [LoadConfig]: how the shares of the resources become a load.
	NormalizedSum    ScoringType = "NormalizedSum"    // their weighted sum
	DominantResource ScoringType = "DominantResource" // the greatest weighted one

	// The directions of a [LoadConfig]: what score a load becomes.
	Raw    ScoringType = "Raw"    // the load itself, greater for fuller nodes
	Pack   ScoringType = "Pack"   // 0 to 100, greater for fuller nodes
	Spread ScoringType = "Spread" // 0 to 100, greater for emptier nodes
)

// An ownScorer is a scorer of this package that is no sum of others. To add one, write its
// methods: whoever is given a scorer asks [own], and knows no scorer by its type.
type ownScorer interface {
	Scorer

	// self returns the receiver; see [own].
	self() Scorer

	// made returns the map that the scorer was compiled against, nil for a zero value.
	made() *vectormap.ResourceVectorMap

	// bind returns what scores the rows of the same nodes again and again. It may keep
	// what depends on the nodes alone.
	bind() rowScorer
}

// own returns a scorer of this package. A type that embeds one has its unexported methods,
// too, and may score by something else: of such a type, self is not the scorer asked.
func own(s Scorer) (o ownScorer, ok bool) {
	if o, ok = s.(ownScorer); ok && o.self() == s {
		return o, true
	}
	return nil, false
}

// A rowScorer is an [ownScorer] that is bound to nodes: it scores many rows at a time.
type rowScorer interface {
	Scorer

	// divisors returns the columns of what nodes have whose reciprocals save time.
	divisors() []int

	cost() rowCost

	// highest returns the highest score that there can be, +Inf if there is no bound. The
	// lowest is 0 then.
	highest() float64

	// scoreRows sets dst, of an element per row, where words selects the row. The
	// operands are checked. words may be nil for all rows.
	scoreRows(dst []float64, a *amounts, words []uint64)
}

// An intScorer has scores that are whole numbers from 0 to 100.
type intScorer interface {
	rowScorer
	scoreInts(dst []int64, a *amounts, words []uint64)
}

// A blockScorer knows, sooner than the scores, which blocks of rows can have the best.
type blockScorer interface {
	rowScorer

	// blockBounds sets dst, of an element per block, to a bound of the scores of the
	// selected rows: if each of them can hold the request, no score is above the bound
	// of its block by more than slack. It may report false, and dst is of no use then.
	blockBounds(dst []float64, a *amounts, words []uint64) (slack float64, ok bool)
}

// A ruleScorer has rules that a pod may replace by its own.
type ruleScorer interface {
	rowScorer
	withRules(o *PodOverride) rowScorer
}

// rowCost is what a scorer costs per row and resource in a pass, in nanoseconds. It scores
// the requested resources, least of them at least and most at most.
type rowCost struct{ column, least, most float64 }

// amounts are the operands of a rowScorer.
type amounts struct {
	request                vector.ResourceVector
	requested, allocatable *vector.Matrix
	nodes                  *vector.Nodes // whose matrices these are; nil: none, and no reciprocals
}

// reciprocals returns the reciprocals of a column of allocatable; see [vector.Nodes.Reciprocals].
func (a *amounts) reciprocals(column int) (reciprocals []float64, whole bool) {
	if a.nodes == nil {
		return nil, false
	}
	return a.nodes.Reciprocals(column)
}

// compiled is what every compiled scorer keeps: the map it was compiled against
// and what was reported.
type compiled struct {
	m        *vectormap.ResourceVectorMap
	warnings field.ErrorList
}

// Warnings returns what was reported when the configuration was compiled, sorted by path.
// The caller must not change it.
func (c *compiled) Warnings() field.ErrorList { return c.warnings }

func (c *compiled) made() *vectormap.ResourceVectorMap { return c.m }

// checkRequest checks the amounts of a request, all of them, whether they are
// scored or not.
func (c *compiled) checkRequest(request vector.ResourceVector) error {
	if err := checkLen("request", request, c.m); err != nil {
		return err
	}
	for i, x := range request {
		if !usable(x) {
			return badAmount(c.m.Name(i), x)
		}
	}
	return nil
}

// checkRow checks the operands of Score.
func (c *compiled) checkRow(request, requested, allocatable vector.ResourceVector) error {
	if err := checkLen("requested", requested, c.m); err != nil {
		return err
	}
	if err := checkLen("allocatable", allocatable, c.m); err != nil {
		return err
	}
	return c.checkRequest(request)
}

// checkMatrix checks a matrix against the map. A matrix without a schema is
// taken at its word.
func (c *compiled) checkMatrix(name string, x *vector.Matrix) error {
	switch s := x.Schema(); {
	case s == (vector.Schema{}) && x.Cols() != c.m.Len():
		return shapeError("%s has %d columns, the map %d", name, x.Cols(), c.m.Len())
	case s != (vector.Schema{}) && s != c.m.Schema():
		return fmt.Errorf("scoring: %s is of another map: %w", name, vector.ErrSchema)
	}
	return nil
}

// wordsOf returns the bits of a mask for the kernels: nil, which selects every
// row, for a nil mask.
func wordsOf(rows *vector.Mask) []uint64 {
	if rows == nil {
		return nil
	}
	return rows.Words()
}

// at returns amount i of v, 0 beyond its end.
func at(v vector.ResourceVector, i int) float64 {
	if i < len(v) {
		return v[i]
	}
	return 0
}

// usable reports whether x is an amount: neither negative nor infinite nor NaN.
func usable(x float64) bool { return x-x == 0 && x >= 0 }
