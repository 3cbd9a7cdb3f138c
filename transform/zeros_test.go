package transform_test

import (
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
	inputs := testkit.Must(vectormap.New([]string{"a", "b"}, vectormap.NoFold()))
	transformation := func() *transform.Transformation {
		tr := testkit.Must(transform.Compile(&transform.Config{Rules: []transform.Rule{
			{Input: "a", Outputs: corev1.ResourceList{"b": resource.MustParse("2")}},
		}}, transform.Options{}))
		return tr
	}
	testkit.Zeros{
		Prefix: "transform: ",
		Functions: []any{
			transform.Charge, transform.ChargeAmount, transform.Compile, transform.FromTuples,
			transform.Parse, transform.PerCard, transform.PercentOfDevice,
		},
		Types: []any{
			(*transform.AmbiguousNameError)(nil), (*transform.Answer)(nil), (*transform.BindOptions)(nil),
			(*transform.Config)(nil), (*transform.Explanation)(nil), (*transform.Finding)(nil),
			(*transform.Linear)(nil), (*transform.MultiplierSource)(nil),
			(*transform.NotExpressibleError)(nil), (*transform.Options)(nil), (*transform.Query)(nil),
			(*transform.Result)(nil), (*transform.RoundUp)(nil), (*transform.Rule)(nil),
			(*transform.Severity)(nil), (*transform.Shape)(nil), (*transform.Strategy)(nil),
			(*transform.Template)(nil), (*transform.Term)(nil), (*transform.Transformation)(nil),
			(*transform.Tuple)(nil), (*transform.UnmappedError)(nil), (*transform.ZeroMultiplier)(nil),
		},
		Operands: []any{
			func() *transform.Transformation { return transformation() },
			func() *transform.Linear {
				return testkit.Must(transformation().Bind(inputs, inputs, transform.BindOptions{}))
			},
			func() *transform.Config { return transformation().Config() },
			func() *vectormap.ResourceVectorMap { return inputs },
			func() *vector.Matrix { return inputs.NewMatrix(1) },
			func() vector.ResourceVector { return inputs.NewVector() },
			func() corev1.ResourceList { return corev1.ResourceList{"a": resource.MustParse("2")} },
			func() corev1.ResourceName { return corev1.ResourceName("a") },
			func() []int64 { return []int64{1} },
			func() int64 { return int64(1) },
		},
	}.Run(t)
}
