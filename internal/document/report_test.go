package document_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/resvec/resvec/internal/document"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestErrors(t *testing.T) {
	if err := document.Errors(nil); err != nil {
		t.Errorf("no errors: %v", err)
	}
	a := field.Required(field.NewPath("a"), "")
	b := field.Invalid(field.NewPath("b"), 1, "must be 2")
	err := document.Errors(field.ErrorList{a, b, a})
	for _, err := range []error{err, fmt.Errorf("config: %w", err), errors.Join(errors.New("other"), err)} {
		var list utilerrors.Aggregate
		if !errors.As(err, &list) || len(list.Errors()) != 2 {
			t.Errorf("%v: aggregate %v", err, list)
		}
		var fault *field.Error
		if !errors.As(err, &fault) || fault != a {
			t.Errorf("%v: first %v", err, fault)
		}
		if !errors.Is(err, b) || errors.Is(err, field.Required(field.NewPath("a"), "")) || errors.Is(err, document.Errors(field.ErrorList{a})) {
			t.Errorf("%v: wrong identity", err)
		}
	}
	if got, want := err.Error(), field.ErrorList([]*field.Error{a, b}).ToAggregate().Error(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
