package vectormap

import (
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
		Functions: []any{
			Faults, GPUs, Like, Literal, Milli, New, NewBuilder, NewTopology, ParseMIG, PodRequests,
			PodTotals, SetTopology, WithNormalizer,
		},
		Types: []any{
			(*Builder)(nil), (*ExactNormalizer)(nil), (*FractionalColumn)(nil),
			(*InsufficientResource)(nil), (*MIGError)(nil), (*MIGProfile)(nil), (*NameError)(nil),
			(*Option)(nil), (*OriginalsError)(nil), (*PodOptions)(nil), (*Refusal)(nil), (*Remark)(nil),
			(*Resource)(nil), (*ResourceRequirements)(nil), (*ResourceVectorMap)(nil),
			(*SuffixNormalizer)(nil), (*Unit)(nil), (*UnknownResourcesError)(nil),
		},
		Operands: []any{
			func() *Builder { return NewBuilder() },
			func() *ResourceVectorMap { return must(t, nil) },
			func() *vector.Matrix { return must(t, nil).NewMatrix(1) },
			func() *gang.Topology {
				return testkit.Must(gang.NewTopology("rack"))
			},
			func() string { return "nvidia.com/gpu" },
			func() []string { return []string{"nvidia.com/gpu", "amd.com/gpu"} },
			func() vector.ResourceVector { return vec{1} },
			func() corev1.ResourceList { return rl("nvidia.com/gpu", "1", "cpu", "1") },
			func() *corev1.Pod {
				return pod(corev1.PodSpec{Containers: []corev1.Container{container("c", rl("cpu", "1"))}})
			},
			func() *corev1.Node { return &corev1.Node{} },
			func() *Resource { return &Resource{MilliCPU: 1, GPUs: 1} },
			func() *ResourceRequirements { return &ResourceRequirements{GPUCount: 1, GPUPortion: 0.5} },
		},
		Others: []any{(*vector.Matrix)(nil), (*vector.Nodes)(nil), (*field.Error)(nil)},
	}.Run(t)
}
