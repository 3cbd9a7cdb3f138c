package gpu_test

import (
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/scoring/gpu"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// TestZeros: what is nil or a zero value works, or says in the words of the package
// that it can not.
func TestZeros(t *testing.T) {
	typical := gpuT3(t)
	scorer := gpuCompile(t, gpu.CompileFGD, gpu.FGDConfig{Typical: typical})
	nodes, state := nodesOf([]float64{8000}), gpu.NewState([]gpu.Node{{Left: []float64{1000}}})
	testkit.Zeros{
		Prefix: "gpu: ",
		Functions: []any{
			gpu.Bind, gpu.CompileBestFit, gpu.CompileClustering, gpu.CompileDotProduct, gpu.CompileFGD,
			gpu.NewPacking, gpu.NewState, gpu.NodeOf, gpu.RequestOf, gpu.TypicalPodOf, gpu.TypicalPods,
			gpu.WeightedPods,
		},
		Types: []any{
			(*gpu.BestFitConfig)(nil), (*gpu.Bound)(nil), (*gpu.ClusteringConfig)(nil),
			(*gpu.DeviceError)(nil), (*gpu.DotProductConfig)(nil), (*gpu.FGDConfig)(nil), (*gpu.Node)(nil),
			(*gpu.NodeSize)(nil), (*gpu.Rejections)(nil), (*gpu.Request)(nil), (*gpu.Scorer)(nil),
			(*gpu.State)(nil), (*gpu.Typical)(nil), (*gpu.TypicalPod)(nil),
		},
		Operands: []any{
			func() *gpu.Bound { return gpu.Bind(scorer, nodes, state) },
			func() *gpu.Scorer { return scorer },
			func() *gpu.Typical { return typical },
			func() *gpu.State {
				clone := new(gpu.State)
				clone.CopyFrom(state)
				return clone
			},
			func() *gpu.Request { return &gpu.Request{CPU: 1000, Count: 1, Milli: 500} },
			func() *vector.Nodes { return nodes },
			func() *vectormap.ResourceVectorMap { return gpuMap() },
			func() *vector.Mask { return vector.NewMask(1) },
			func() []float64 { return make([]float64, 1) },
			func() vector.Tie { return vector.TieLowest() },
		},
	}.Run(t)
}

// The zero State has no rows, and a nil mask selects all rows.
func TestZeroState(t *testing.T) {
	mask := new(vector.Mask)
	for rows := range 4 {
		state := new(gpu.State)
		for range rows {
			state.AppendNode(gpu.Node{})
		}
		for k, scorer := range scorers(t) {
			bound := gpu.Bind(scorer, nodesOf(make([]float64, rows)), state)
			if bound.Fit(mask, &gpu.Request{}, nil); mask.Count() != rows {
				t.Errorf("Fit: %d rows", mask.Count())
			}
			if j := bound.Rejections(&gpu.Request{}, nil); j.Rows != rows {
				t.Errorf("Rejections: %d rows", j.Rows)
			}
			if err := bound.Score(make([]float64, rows), &gpu.Request{}, nil); err != nil {
				t.Errorf("%s: %v", scorerNames[k], err)
			}
			if row, ok := bound.Best(&gpu.Request{}, nil, vector.TieLowest()); ok != (rows > 0) || row != min(rows-1, 0) {
				t.Errorf("%s: row %d of %d", scorerNames[k], row, rows)
			}
		}
	}
	if text := new(gpu.Rejections).String(); text != "0/0 nodes fit" {
		t.Error(text)
	}
}
