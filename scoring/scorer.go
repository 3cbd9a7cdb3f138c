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
// concurrent use, and allocate nothing but in Explain and for errors. A nil scorer
// panics, but for those that say otherwise.
type Scorer interface {
	// Score scores one node: the definition of what a [Bound] says of its row, bit
	// for bit.
	Score(request, requested, allocatable vector.ResourceVector) (float64, error)

	// Explain returns the numbers that make the score of one node.
	Explain(request, requested, allocatable vector.ResourceVector) (Explanation, error)
}

// Option changes how a configuration is parsed or compiled. The same options may be given
// to both: one that is about nothing in a configuration, such as [WildcardLiteral] where
// there can be no pattern, changes nothing.
type Option uint8

const (
	// Lenient replaces or drops what is wrong in a configuration where that has
	// a defined meaning, and reports it as a warning instead of an error.
	Lenient Option = 1 << iota

	// WildcardLiteral reads the patterns of [StrategyFitConfig] as literal
	// prefixes, as Volcano's plugin does, instead of as families of names.
	WildcardLiteral

	// AllowUnknown lets a configuration name resources that the map does not
	// have; they are reported as warnings.
	AllowUnknown
)

// ScoringType names a formula, or a part of one, as configurations do. Each
// configuration says which it takes.
type ScoringType string

const (
	// Of [FitRule] the first two, of [KubeConfig] all four. The names are those of
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

const (
	panicNil    = "scoring: nil receiver"
	panicZero   = "scoring: scorer that no function of this package compiled"
	panicScorer = "scoring: nil scorer"
	panicMap    = "scoring: nil map"
	panicMatrix = "scoring: nil matrix"
	panicMask   = "scoring: nil mask as a destination"
)

// live panics for a receiver that is nil, or that is none of this package's making.
func live(made, isLive bool) {
	switch {
	case !isLive:
		panic(panicNil)
	case !made:
		panic(panicZero)
	}
}

// needMap panics for a map that is nil.
func needMap(m *vectormap.ResourceVectorMap) {
	if m == nil {
		panic(panicMap)
	}
}

// options joins a list of options.
func options(opts []Option) (o Option) {
	for _, x := range opts {
		o |= x
	}
	return o
}

// has reports whether o includes all of x.
func (o Option) has(x Option) bool { return o&x == x }

// compiled is what every compiled scorer keeps: the map it was compiled against
// and what was reported on the way.
type compiled struct {
	m        *vectormap.ResourceVectorMap
	warnings field.ErrorList
}

// resources returns the map.
func (c *compiled) resources() *vectormap.ResourceVectorMap { return c.m }

// schema returns the schema of the map.
func (c *compiled) schema() vector.Schema { return c.m.Schema() }

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
	case s.IsZero() && x.Cols() != c.m.Len():
		return shapeError("%s has %d columns, the map %d", name, x.Cols(), c.m.Len())
	case !s.IsZero() && s != c.m.Schema():
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
