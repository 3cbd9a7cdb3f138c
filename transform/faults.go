package transform

import (
	"errors"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Faults returns every *field.Error of an error of this package, in order: those
// of a document's form before those of its rules. It is for printing them one by
// one, since an error may hold several lists; it is empty for an error without
// any, such as YAML that cannot be read.
func Faults(err error) field.ErrorList {
	switch e := err.(type) {
	case nil:
		return nil
	case *field.Error:
		return field.ErrorList{e}
	case utilerrors.Aggregate:
		return faultsOfAll(e.Errors())
	case interface{ Unwrap() []error }:
		return faultsOfAll(e.Unwrap())
	}
	return Faults(errors.Unwrap(err))
}

func faultsOfAll(errs []error) (list field.ErrorList) {
	for _, err := range errs {
		list = append(list, Faults(err)...)
	}
	return list
}
