package vector_test

import (
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
)

// TestZeros: what is nil or a zero value works, or says in the words of the package
// that it can not.
func TestZeros(t *testing.T) {
	testkit.Zeros{
		Prefix: "vector: ",
		Functions: map[string]any{
			"ArgMax":               vector.ArgMax[float64],
			"ArgMin":               vector.ArgMin[float64],
			"Copies":               vector.Copies,
			"DominantResource":     vector.DominantResource,
			"DominantResourceRows": vector.DominantResourceRows,
			"FailingColumns":       vector.FailingColumns,
			"Fit":                  vector.Fit,
			"FitAmong":             vector.FitAmong,
			"FitMatrix":            vector.FitMatrix,
			"FitRows":              vector.FitRows,
			"FitStrict":            vector.FitStrict,
			"FitSum":               vector.FitSum,
			"FitSumStrict":         vector.FitSumStrict,
			"LessEqual":            vector.LessEqual,
			"LessEqualRows":        vector.LessEqualRows,
			"MaxColumns":           vector.MaxColumns,
			"MinColumns":           vector.MinColumns,
			"NewMask":              vector.NewMask,
			"NewMatrix":            vector.NewMatrix,
			"NewNodes":             vector.NewNodes,
			"NewOverlay":           vector.NewOverlay,
			"NewPacker":            vector.NewPacker,
			"NewSchema":            vector.NewSchema,
			"NewTopology":          vector.NewTopology,
			"NormalizedSum":        vector.NormalizedSum,
			"NormalizedSumRows":    vector.NormalizedSumRows,
			"Rejections":           vector.Rejections,
			"SegmentSum":           vector.SegmentSum,
			"Shortfall":            vector.Shortfall,
			"SumColumns":           vector.SumColumns,
			"SumCopies":            vector.SumCopies,
			"TieRank":              vector.TieRank,
			"TieRoundRobin":        vector.TieRoundRobin,
			"TieSeeded":            vector.TieSeeded,
			"TopK":                 vector.TopK[float64],
			"WeightedSum":          vector.WeightedSum,
		},
		Types: []any{
			(*vector.AmountError)(nil),
			(*vector.Domains)(nil),
			(*vector.Infeasibility)(nil),
			(*vector.InfeasibleReason)(nil),
			(*vector.Mark)(nil),
			(*vector.Mask)(nil),
			(*vector.Matrix)(nil),
			(*vector.MemberOrder)(nil),
			(*vector.Names)(nil),
			(*vector.NodeAmounts)(nil),
			(*vector.Nodes)(nil),
			(*vector.NodesOption)(nil),
			(*vector.Offsets)(nil),
			(*vector.Overlay)(nil),
			(*vector.PackOptions)(nil),
			(*vector.Packer)(nil),
			(*vector.PodAmounts)(nil),
			(*vector.PrefixSearch)(nil),
			(*vector.Proof)(nil),
			(*vector.ResourceVector)(nil),
			(*vector.Scenario)(nil),
			(*vector.Schema)(nil),
			(*vector.SchemaColumn)(nil),
			(*vector.Tie)(nil),
			(*vector.Topology)(nil),
			(*vector.TopologyPlacement)(nil),
			(*vector.TopologyRequest)(nil),
		},
		Operand: operand(t),
	}.Run(t)
}
