package vectormap

import (
	"reflect"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// TestZeros: what is nil or a zero value works, or says in the words of the package
// that it can not.
func TestZeros(t *testing.T) {
	testkit.Zeros{
		Prefix: "vector", // of this package, or of package vector below it
		Functions: map[string]any{
			"Faults":         Faults,
			"GPUs":           GPUs,
			"Like":           Like,
			"Literal":        Literal,
			"Milli":          Milli,
			"New":            New,
			"NewBuilder":     NewBuilder,
			"NewTopology":    NewTopology,
			"ParseMIG":       ParseMIG,
			"PodRequests":    PodRequests,
			"PodTotals":      PodTotals,
			"SetTopology":    SetTopology,
			"WithNormalizer": WithNormalizer,
		},
		Types: []any{
			(*Builder)(nil),
			(*ExactNormalizer)(nil),
			(*FractionalColumn)(nil),
			(*InsufficientResource)(nil),
			(*MIGError)(nil),
			(*MIGProfile)(nil),
			(*NameError)(nil),
			(*Option)(nil),
			(*OriginalsError)(nil),
			(*PodOptions)(nil),
			(*Refusal)(nil),
			(*Remark)(nil),
			(*Resource)(nil),
			(*ResourceRequirements)(nil),
			(*ResourceVectorMap)(nil),
			(*SuffixNormalizer)(nil),
			(*Unit)(nil),
			(*UnknownResourcesError)(nil),
		},
		Operand: operand(t),
		Others:  []any{(*vector.Matrix)(nil), (*vector.Nodes)(nil), (*field.Error)(nil)},
	}.Run(t)
}

// operand returns good operands by type.
func operand(t *testing.T) func(reflect.Type) any {
	return func(typ reflect.Type) any {
		switch typ {
		case reflect.TypeFor[*Builder]():
			return NewBuilder()
		case reflect.TypeFor[*ResourceVectorMap]():
			return must(t, nil)
		case reflect.TypeFor[*vector.Matrix]():
			return must(t, nil).NewMatrix(1)
		case reflect.TypeFor[*gang.Topology]():
			top, err := gang.NewTopology("rack")
			if err != nil {
				t.Fatal(err)
			}
			return top
		case reflect.TypeFor[string]():
			return "nvidia.com/gpu"
		case reflect.TypeFor[[]string]():
			return []string{"nvidia.com/gpu", "amd.com/gpu"}
		case reflect.TypeFor[vector.ResourceVector]():
			return vec{1}
		case reflect.TypeFor[corev1.ResourceList]():
			return rl("nvidia.com/gpu", "1", "cpu", "1")
		case reflect.TypeFor[*corev1.Pod]():
			return pod(corev1.PodSpec{Containers: []corev1.Container{container("c", rl("cpu", "1"))}})
		case reflect.TypeFor[*corev1.Node]():
			return &corev1.Node{}
		case reflect.TypeFor[*Resource]():
			return &Resource{MilliCPU: 1, GPUs: 1}
		case reflect.TypeFor[*ResourceRequirements]():
			return &ResourceRequirements{GPUCount: 1, GPUPortion: 0.5}
		}
		return nil
	}
}
