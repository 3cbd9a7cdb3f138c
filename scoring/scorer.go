package scoring

import (
	"fmt"
	"math"

	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Scorer scores nodes for one pod; greater is better, unless its documentation
// says otherwise. Every compiled scorer of this package is one.
//
// used is what is assigned to a node, allocatable what it has; both have a row
// per node and a column per resource of the map that the scorer was compiled
// against. used comes first: nodes whose amounts are swapped look overcommitted,
// and score 0 with most scorers. request is the total of the incoming pod.
// Vectors shorter than the map are padded with zeros.
//
// Score and ScoreBatch return the same bits for the same row. Errors are
// [vector.ErrSchema], [vector.ErrShape], [*vector.AmountError] and, from some
// combinations, [ErrNeedsBatch]; the first two are wrapped by a message that names
// the operand. They come before anything is written. A nil matrix panics, and so
// does a nil scorer, but for those that say otherwise.
// Implementations are immutable, safe for concurrent use, and allocate nothing
// but in Explain and for errors.
type Scorer interface {
	// Score scores one node.
	Score(request, used, allocatable vector.ResourceVector) (float64, error)

	// ScoreBatch sets dst[r] for every selected row r; a nil mask selects all.
	// Other elements of dst are not touched, other rows not read. dst must have
	// an element per row at least.
	ScoreBatch(dst []float64, request vector.ResourceVector, used, allocatable *vector.Matrix, rows *vector.Mask) error

	// Explain returns the numbers that make the score of one node. It may
	// allocate.
	Explain(request, used, allocatable vector.ResourceVector) (Explanation, error)
}

// IntScorer is a scorer of whole numbers from 0 to 100, as those of
// kube-scheduler are. ScoreInt and ScoreIntBatch are Score and ScoreBatch in
// another type.
type IntScorer interface {
	Scorer
	ScoreInt(request, used, allocatable vector.ResourceVector) (int64, error)
	ScoreIntBatch(dst []int64, request vector.ResourceVector, used, allocatable *vector.Matrix, rows *vector.Mask) error
}

// Option changes how a configuration is parsed or compiled.
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

const (
	panicNil    = "scoring: nil receiver"
	panicQuery  = "scoring: nil query"
	panicScorer = "scoring: nil scorer"
	panicMap    = "scoring: nil map"
	panicMatrix = "scoring: nil matrix"
	panicMask   = "scoring: nil mask as a destination"
)

// live panics for a receiver that is nil.
func live(isLive bool) {
	if !isLive {
		panic(panicNil)
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
			return badAmount(c.m.Name(i), -1, x)
		}
	}
	return nil
}

// checkRow checks the operands of Score.
func (c *compiled) checkRow(request, used, allocatable vector.ResourceVector) error {
	if err := checkLen("used", used, c.m); err != nil {
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

// checkBatch checks the operands of ScoreBatch; dst is the length of dst.
func (c *compiled) checkBatch(dst int, request vector.ResourceVector, used, allocatable *vector.Matrix, rows *vector.Mask) error {
	return c.checkAmounts(dst, request, "used", used, allocatable, rows)
}

// checkAmounts is checkBatch with the name of the first matrix.
func (c *compiled) checkAmounts(dst int, request vector.ResourceVector, name string, amounts, allocatable *vector.Matrix, rows *vector.Mask) error {
	if err := checkAmounts(name, amounts, allocatable, rows); err != nil {
		return err
	}
	if err := c.checkMatrix("allocatable", allocatable); err != nil {
		return err
	}
	if err := c.checkMatrix(name, amounts); err != nil {
		return err
	}
	if err := checkElements("dst", dst, allocatable.Rows()); err != nil {
		return err
	}
	return c.checkRequest(request)
}

// wordsOf returns the bits of a mask for the kernels: nil, which selects every
// row, for a nil mask.
func wordsOf(rows *vector.Mask) []uint64 {
	if rows == nil {
		return nil
	}
	return rows.Words()
}

// ValidateBatch looks through all of used and allocatable for amounts that no
// scorer can use, NaN, infinite or negative, and returns a [*vector.AmountError] for
// the first, by row and then by column, used before allocatable. Scorers don't
// need it: what each does with such a row is defined. Both matrices must be of m
// and have equally many rows.
func ValidateBatch(m *vectormap.ResourceVectorMap, used, allocatable *vector.Matrix) error {
	needMap(m)
	c := compiled{m: m}
	if err := c.checkBatch(math.MaxInt, nil, used, allocatable, nil); err != nil {
		return err
	}
	row, column, bad := used.Rows(), -1, 0.0
	for i := range m.Len() {
		for _, x := range [...]*vector.Matrix{used, allocatable} {
			for r, amount := range x.Column(i)[:row] {
				if !usable(amount) {
					row, column, bad = r, i, amount
					break
				}
			}
		}
	}
	if column < 0 {
		return nil
	}
	return badAmount(m.Name(column), row, bad)
}

// at returns amount i of v, 0 beyond its end.
func at(v vector.ResourceVector, i int) float64 {
	if i < len(v) {
		return v[i]
	}
	return 0
}
