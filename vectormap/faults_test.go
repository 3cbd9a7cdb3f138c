package vectormap_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/resvec/resvec/vectormap"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestFaults(t *testing.T) {
	weight := field.Invalid(field.NewPath("weight"), 0, "must be positive")
	entry := &field.Error{Type: field.ErrorTypeRequired, Field: `["cpu"]`}
	whole := field.TypeInvalid(nil, "x", "must be a mapping")
	list := field.ErrorList{weight, entry}
	unknown := &vectormap.UnknownResourcesError{Names: []string{"a/b", "c/d"}}
	for _, c := range []struct {
		name string
		err  error
		want []string // below scoring[0]
		bare []string // below nothing
	}{
		{"none", nil, nil, nil},
		{"one", weight, []string{"scoring[0].weight: Invalid value: 0: must be positive"}, []string{"weight: Invalid value: 0: must be positive"}},
		{"of the whole", whole, []string{`scoring[0]: Invalid value: "x": must be a mapping`}, []string{`(document): Invalid value: "x": must be a mapping`}},
		{"a list", list.ToAggregate(),
			[]string{"scoring[0].weight: Invalid value: 0: must be positive", `scoring[0]["cpu"]: Required value`},
			[]string{"weight: Invalid value: 0: must be positive", `["cpu"]: Required value`}},
		{"wrapped", fmt.Errorf("reading: %w", list[:1].ToAggregate()),
			[]string{"scoring[0].weight: Invalid value: 0: must be positive"}, []string{"weight: Invalid value: 0: must be positive"}},
		{"joined", errors.Join(list[:1].ToAggregate(), unknown),
			[]string{"scoring[0].weight: Invalid value: 0: must be positive", `scoring[0]: Not found: "a/b": unknown resource`, `scoring[0]: Not found: "c/d": unknown resource`},
			[]string{"weight: Invalid value: 0: must be positive", `(document): Not found: "a/b": unknown resource`, `(document): Not found: "c/d": unknown resource`}},
		{"no field", fmt.Errorf("line 3: %w", errors.New("no YAML")),
			[]string{"scoring[0]: Invalid value: line 3: no YAML"}, []string{"(document): Invalid value: line 3: no YAML"}},
		{"nested", utilerrors.NewAggregate([]error{utilerrors.NewAggregate([]error{weight}), errors.New("x")}),
			[]string{"scoring[0].weight: Invalid value: 0: must be positive", "scoring[0]: Invalid value: x"},
			[]string{"weight: Invalid value: 0: must be positive", "(document): Invalid value: x"}},
	} {
		if got := texts(vectormap.Faults(field.NewPath("scoring").Index(0), c.err)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if got := texts(vectormap.Faults(nil, c.err)); !slices.Equal(got, c.bare) {
			t.Errorf("%s without a path: %q, want %q", c.name, got, c.bare)
		}
	}
	if weight.Field != "weight" {
		t.Errorf("the error itself has become %v", weight)
	}
}

func texts(list field.ErrorList) (texts []string) {
	for _, fault := range list {
		texts = append(texts, fault.Error())
	}
	return texts
}
