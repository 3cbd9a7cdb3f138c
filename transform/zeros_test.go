package transform_test

import (
	"reflect"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/transform"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// TestZeros: what is nil or a zero value works, or says in the words of the package
// that it can not.
func TestZeros(t *testing.T) {
	inputs, err := vectormap.New([]string{"a", "b"}, vectormap.NoFold())
	if err != nil {
		t.Fatal(err)
	}
	transformation := func() *transform.Transformation {
		tr, err := transform.Compile(&transform.Config{Rules: []transform.Rule{
			{Input: "a", Outputs: corev1.ResourceList{"b": resource.MustParse("2")}},
		}}, transform.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return tr
	}
	testkit.Zeros{
		Prefix: "transform: ",
		Functions: map[string]any{
			"Charge":          transform.Charge,
			"ChargeAmount":    transform.ChargeAmount,
			"Compile":         transform.Compile,
			"FromTuples":      transform.FromTuples,
			"Parse":           transform.Parse,
			"PerCard":         transform.PerCard,
			"PercentOfDevice": transform.PercentOfDevice,
		},
		Types: []any{
			(*transform.AmbiguousNameError)(nil),
			(*transform.Answer)(nil),
			(*transform.BindOptions)(nil),
			(*transform.Config)(nil),
			(*transform.Explanation)(nil),
			(*transform.Finding)(nil),
			(*transform.Linear)(nil),
			(*transform.MultiplierSource)(nil),
			(*transform.NotExpressibleError)(nil),
			(*transform.Options)(nil),
			(*transform.Query)(nil),
			(*transform.Result)(nil),
			(*transform.RoundUp)(nil),
			(*transform.Rule)(nil),
			(*transform.Severity)(nil),
			(*transform.Shape)(nil),
			(*transform.Strategy)(nil),
			(*transform.Template)(nil),
			(*transform.Term)(nil),
			(*transform.Transformation)(nil),
			(*transform.Tuple)(nil),
			(*transform.UnmappedError)(nil),
			(*transform.ZeroMultiplier)(nil),
		},
		Operand: func(typ reflect.Type) any {
			switch typ {
			case reflect.TypeFor[*transform.Transformation]():
				return transformation()
			case reflect.TypeFor[*transform.Linear]():
				l, err := transformation().Bind(inputs, inputs, transform.BindOptions{})
				if err != nil {
					t.Fatal(err)
				}
				return l
			case reflect.TypeFor[*transform.Config]():
				return transformation().Config()
			case reflect.TypeFor[*vectormap.ResourceVectorMap]():
				return inputs
			case reflect.TypeFor[*vector.Matrix]():
				return inputs.NewMatrix(1)
			case reflect.TypeFor[vector.ResourceVector]():
				return inputs.NewVector()
			case reflect.TypeFor[corev1.ResourceList]():
				return corev1.ResourceList{"a": resource.MustParse("2")}
			case reflect.TypeFor[corev1.ResourceName]():
				return corev1.ResourceName("a")
			case reflect.TypeFor[[]int64]():
				return []int64{1}
			case reflect.TypeFor[int64]():
				return int64(1)
			}
			return nil
		},
	}.Run(t)
}
