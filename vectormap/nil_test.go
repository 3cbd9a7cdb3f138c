package vectormap

import (
	"reflect"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang"
	corev1 "k8s.io/api/core/v1"
)

func TestNilOperands(t *testing.T) {
	testkit.Nils{
		Prefix: "vectormap: ",
		Functions: map[string]any{
			"New": New, "NewBuilder": NewBuilder, "Like": Like, "WithNormalizer": WithNormalizer,
			"Literal": Literal, "Milli": Milli, "GPUs": GPUs, "ParseMIG": ParseMIG,
			"PodRequests": PodRequests, "PodTotals": PodTotals, "Faults": Faults,
			"NewTopology": NewTopology, "SetTopology": SetTopology,
		},
		Types:   []any{(*Builder)(nil), (*ResourceVectorMap)(nil), (*Resource)(nil), (*ResourceRequirements)(nil)},
		Operand: operand(t),
		Optional: []string{
			"Faults 1", "Faults 2",
			"ResourceVectorMap.RequestVector 3", "ResourceVectorMap.CapacityVector 3", "ResourceVectorMap.NodeAllocatable 3",
			"ResourceVectorMap.PodRequest 4", "ResourceVectorMap.PodRequestBoth 5",
		},
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
