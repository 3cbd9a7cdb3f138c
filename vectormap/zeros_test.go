package vectormap

import (
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// TestZeros: what is nil or a zero value works, or says in the words of the package
// that it can not.
func TestZeros(t *testing.T) {
	testkit.Zeros{
		Prefix: "vectormap: ",
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
			(*LiteralSkipped)(nil),
			(*MIGError)(nil),
			(*MIGProfile)(nil),
			(*MissingLabel)(nil),
			(*NameError)(nil),
			(*Option)(nil),
			(*OriginalsError)(nil),
			(*PodOptions)(nil),
			(*Refusal)(nil),
			(*Resource)(nil),
			(*ResourceRequirements)(nil),
			(*ResourceVectorMap)(nil),
			(*SharedMIG)(nil),
			(*SuffixNormalizer)(nil),
			(*Unit)(nil),
			(*UnknownResourcesError)(nil),
			(*UnparsedMIG)(nil),
			(*UnusedMilli)(nil),
		},
		Operand: operand(t),
		Others:  []any{(*vector.Matrix)(nil), (*vector.Nodes)(nil), (*field.Error)(nil)},
	}.Run(t)
}
