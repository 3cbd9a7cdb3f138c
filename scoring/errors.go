package scoring

import (
	"errors"
	"fmt"
	"slices"

	"github.com/resvec/resvec/internal/decimal"
	"github.com/resvec/resvec/internal/document"
	"github.com/resvec/resvec/internal/fieldpath"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ErrNeedsBatch says that a score exists for a batch only: a combination that
// normalizes a term has no value for one row alone.
var ErrNeedsBatch = errors.New("scoring: a normalized term needs a batch")

// badAmount reports an amount that is NaN, infinite or negative; row is -1 where the
// request has it.
func badAmount(resource string, row int, x float64) error {
	e := &vector.AmountError{
		Resource: resource, Row: row, Amount: decimal.Format(x),
		Reason: "is not a finite number: want 0 or more", Cause: vector.ErrNotRepresentable,
	}
	if x < 0 && x-x == 0 {
		e.Reason, e.Cause = "is negative: want 0 or more", vector.ErrNegative
	}
	if row < 0 {
		return fmt.Errorf("scoring: request: %w", e)
	}
	return fmt.Errorf("scoring: %w", e)
}

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
