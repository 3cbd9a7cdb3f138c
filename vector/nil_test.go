package vector_test

import (
	"reflect"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
)

// Whatever is nil and must not be, says so: a constant string that starts with the
// name of the package. A row mask may be nil.
func TestNilOperands(t *testing.T) {
	testkit.Nils{
		Prefix: "vector: ",
		Functions: map[string]any{
			"ArgMax": vector.ArgMax[float64], "ArgMin": vector.ArgMin[int64], "TopK": vector.TopK[float64],
			"Copies": vector.Copies, "SumCopies": vector.SumCopies,
			"DominantResource": vector.DominantResource, "DominantResourceRows": vector.DominantResourceRows,
			"NormalizedSum": vector.NormalizedSum, "NormalizedSumRows": vector.NormalizedSumRows,
			"FailingColumns": vector.FailingColumns, "Rejections": vector.Rejections, "Shortfall": vector.Shortfall,
			"Fit": vector.Fit, "FitAmong": vector.FitAmong, "FitMatrix": vector.FitMatrix, "FitRows": vector.FitRows,
			"FitStrict": vector.FitStrict, "FitSum": vector.FitSum, "FitSumStrict": vector.FitSumStrict,
			"LessEqual": vector.LessEqual, "LessEqualRows": vector.LessEqualRows,
			"SumColumns": vector.SumColumns, "MaxColumns": vector.MaxColumns, "MinColumns": vector.MinColumns,
			"SegmentSum": vector.SegmentSum, "WeightedSum": vector.WeightedSum,
			"NewMask": vector.NewMask, "NewMatrix": vector.NewMatrix, "NewNodes": vector.NewNodes, "NewOverlay": vector.NewOverlay,
			"NewPacker": vector.NewPacker, "NewSchema": vector.NewSchema, "NewTopology": vector.NewTopology,
			"TieRank": vector.TieRank, "TieRoundRobin": vector.TieRoundRobin, "TieSeeded": vector.TieSeeded,
		},
		Types: []any{
			(*vector.Domains)(nil), (*vector.Mask)(nil), (*vector.Matrix)(nil), (*vector.Nodes)(nil), (*vector.Overlay)(nil), (*vector.Packer)(nil), (*vector.Proof)(nil),
			(*vector.ResourceVector)(nil), (*vector.Topology)(nil),
		},
		Operand: operand(t),
		Optional: []string{
			"ArgMax 2", "ArgMin 2", "TopK 3", "FitAmong 4", "Rejections 4", "SumCopies 3",
			"SumColumns 3", "MaxColumns 3", "MinColumns 3", "Packer.Place 4", "Packer.PlaceIn 4", "Packer.Infeasible 3", "Packer.InfeasibleIn 3",
			"Packer.Filter 4", "Packer.Filter 5", "Packer.FilterIn 4", "Packer.FilterIn 6", "Proof.Reset 3", "Proof.Limit 1",
			"Packer.PlaceTopology 3", "Packer.FilterTopology 3", "Packer.FilterTopology 6",
			"TieRoundRobin 1", // choosing with it panics
		},
	}.Run(t)
	var names *vector.Names // is empty
	wantPanic(t, "vector: row out of range", func() { names.Name(0) })
	if _, ok := names.Row("a"); ok || names.Len() != 0 {
		t.Error("nil names have a row")
	}
	for range names.All() {
		t.Error("nil names have a row")
	}
}

// operand returns good operands by type.
func operand(t *testing.T) func(reflect.Type) any {
	return func(typ reflect.Type) any {
		switch typ {
		case reflect.TypeFor[*vector.Mask]():
			return vector.NewMask(2)
		case reflect.TypeFor[*vector.Matrix]():
			return matrixOf(2, vec{1, 1}, vec{1, 1})
		case reflect.TypeFor[*vector.Nodes]():
			return new(vector.Nodes)
		case reflect.TypeFor[*vector.Overlay]():
			return vector.NewOverlay(matrixOf(2, vec{1, 1}, vec{1, 1}))
		case reflect.TypeFor[*vector.Packer]():
			return new(vector.Packer)
		case reflect.TypeFor[*vector.ResourceVector]():
			return &vec{1, 1}
		case reflect.TypeFor[*vector.Domains]():
			return &vector.Domains{Rows: []int32{0, 1}, Offsets: []int32{0, 2}}
		case reflect.TypeFor[*vector.Proof]():
			p := new(vector.Proof)
			p.Reset(matrixOf(2, vec{1, 1}, vec{1, 1}), matrixOf(2), nil)
			return p
		case reflect.TypeFor[*vector.Topology]():
			top, err := vector.NewTopology("rack")
			if err == nil {
				err = top.Set(0, "a", "r")
			}
			if err != nil {
				t.Fatal(err)
			}
			return top
		case reflect.TypeFor[vector.Tie]():
			return vector.TieLowest()
		case reflect.TypeFor[[]float64]():
			return []float64{1, 2}
		case reflect.TypeFor[[]int64]():
			return []int64{1, 2}
		case reflect.TypeFor[[]uint64]():
			return []uint64{1, 2}
		case reflect.TypeFor[[]vector.Mask]():
			return make([]vector.Mask, 2)
		}
		return nil
	}
}
