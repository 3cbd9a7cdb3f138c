package scoring

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/resvec/resvec/internal/document"
	"github.com/resvec/resvec/internal/fieldpath"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var (
	// ErrBadAmount says that an amount is NaN, infinite or negative; see
	// [*BadAmountError].
	ErrBadAmount = errors.New("bad amount")

	// ErrNeedsBatch says that a score exists for a batch only: a combination
	// that normalizes a term has no value for one row alone.
	ErrNeedsBatch = errors.New("scoring: a normalized term needs a batch")
)

// BadAmountError reports an amount that is NaN, infinite or negative, or one of
// GPUs that makes no sense. It wraps [ErrBadAmount].
type BadAmountError struct {
	Resource string
	Value    float64
	Row      int  // the row of a matrix, when InRow is set
	InRow    bool // not of the request

	owner  string // what the amount is of; empty: the request
	reason string // what is allowed; may be empty
}

// Error names the resource and the value.
func (e *BadAmountError) Error() string {
	owner := cmp.Or(e.owner, "request")
	if e.InRow {
		owner = fmt.Sprintf("row %d", e.Row)
	}
	text := fmt.Sprintf("scoring: %s: %s: bad amount %v", owner, e.Resource, e.Value)
	if e.reason != "" {
		text += ", " + e.reason
	}
	return text
}

// Unwrap returns [ErrBadAmount].
func (e *BadAmountError) Unwrap() error { return ErrBadAmount }

// shapeError says which operand has a wrong shape. It wraps [vector.ErrShape].
func shapeError(format string, args ...any) error {
	return fmt.Errorf("scoring: %s: %w", fmt.Sprintf(format, args...), vector.ErrShape)
}

// checkLen checks a vector, which may be shorter than the map but not longer.
func checkLen(name string, v vector.ResourceVector, m *vectormap.ResourceVectorMap) error {
	if len(v) > m.Len() {
		return shapeError("%s has %d amounts, the map %d", name, len(v), m.Len())
	}
	return nil
}

// checkMatrices checks that two matrices have equally many rows, and that a mask,
// which may be nil, is for as many.
func checkMatrices(used, allocatable *vector.Matrix, rows *vector.Mask) error {
	switch {
	case used == nil || allocatable == nil:
		panic(panicMatrix)
	case used.Rows() != allocatable.Rows():
		return shapeError("used has %d rows, allocatable %d", used.Rows(), allocatable.Rows())
	case rows != nil && rows.Len() != allocatable.Rows():
		return shapeError("the mask has %d rows, allocatable %d", rows.Len(), allocatable.Rows())
	}
	return nil
}

// checkElements checks that a slice has an element per row.
func checkElements(name string, elements, rows int) error {
	if elements < rows {
		return shapeError("%s has %d elements, the matrices %d rows", name, elements, rows)
	}
	return nil
}

// report collects what is wrong with a configuration.
type report struct {
	document.Report
	path    string   // before those of what is noted
	unknown []string // exact names that the map does not have
}

// below has the paths of what is noted begin with path, until the result is
// called.
func (r *report) below(path string) (back func()) {
	outer := r.path
	r.path = fieldpath.Below(outer, path)
	return func() { r.path = outer }
}

// at returns an error with the path of the report before its own.
func (r *report) at(e *field.Error) *field.Error {
	e.Field = fieldpath.Below(r.path, e.Field)
	return e
}

// fail notes an error.
func (r *report) fail(e *field.Error) { r.Fail(r.at(e)) }

// warn notes a warning.
func (r *report) warn(e *field.Error) { r.Warn(r.at(e)) }

// failOrWarn notes an error, or a warning in lenient mode.
func (r *report) failOrWarn(o Option, e *field.Error) {
	if o.has(Lenient) {
		r.warn(e)
	} else {
		r.fail(e)
	}
}

// err returns all errors, nil when there are none: a utilerrors.Aggregate of
// *field.Error sorted by path, a *vectormap.UnknownResourcesError, or both
// joined. errors.As finds any of the three.
func (r *report) err() error {
	r.Sorted = true
	err := r.Err("scoring")
	if len(r.unknown) == 0 {
		return err
	}
	slices.Sort(r.unknown)
	unknown := &vectormap.UnknownResourcesError{Names: slices.Compact(r.unknown)}
	if err == nil {
		return unknown
	}
	return errors.Join(err, unknown)
}

// finish returns the warnings sorted by path, and err.
func (r *report) finish() (field.ErrorList, error) {
	r.Sorted = true
	return r.Warnings(), r.err()
}

// keyPath returns parent["key"]. field.Path writes map keys without quotes.
func keyPath(parent, key string) string { return fieldpath.Key(parent, brief(key)) }

// brief cuts text for a message.
func brief(text string) string { return document.Cut(text) }
