package document

import (
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Errors returns one error for all of list, equal ones once, and nil when there
// are none. It is a utilerrors.Aggregate, as list.ToAggregate() is, in which
// errors.As finds the first *field.Error too.
func Errors(list field.ErrorList) error {
	if len(list) == 0 {
		return nil
	}
	return &aggregate{list.ToAggregate()}
}

// aggregate is a pointer wherever it is an error: errors.Is compares errors, and
// the one inside cannot be compared.
type aggregate struct{ utilerrors.Aggregate }

// Unwrap returns all errors.
func (a *aggregate) Unwrap() []error { return a.Errors() }
