package gpu_test

import (
	"testing"

	"github.com/resvec/resvec/scoring/gpu"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// Nil or a zero value where something is needed is a mistake of the program, and says
// which.
func TestNilPanics(t *testing.T) {
	m, err := vectormap.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	typical, err := gpu.WeightedPods(nil)
	if err != nil {
		t.Fatal(err)
	}
	fgd, err := gpu.CompileFGD(gpu.FGDConfig{Typical: typical}, m)
	if err != nil {
		t.Fatal(err)
	}
	dst := make([]float64, 1)
	state, nodes, req, cpu := gpu.NewState([]gpu.Node{{Left: []float64{1000}}}), nodesOf([]float64{0}), &gpu.Request{}, []float64{0}
	bound, tie := gpu.Bind(fgd, nodes, state), vector.TieLowest()
	for want, calls := range map[string][]func(){
		"gpu: nil mask as a destination": {func() { bound.Fit(nil, req, nil) }},
		"gpu: nil map": {
			func() { _, _ = gpu.CompileFGD(gpu.FGDConfig{}, nil) },
			func() { _, _ = gpu.CompileDotProduct(gpu.DotProductConfig{}, nil) },
			func() { _, _ = gpu.CompileBestFit(gpu.BestFitConfig{}, nil) },
			func() { _, _ = gpu.CompileClustering(gpu.ClusteringConfig{}, nil) },
			func() { gpu.NewPacking(nil) },
			func() { _, _ = gpu.RequestOf(nil, nil) },
			func() { _, _ = gpu.NodeOf(nil, nil, 0) },
		},
		"gpu: nil receiver": {
			func() { _, _ = (*gpu.Scorer)(nil).Score(req, 0, gpu.Node{}) },
			func() { (*gpu.Scorer)(nil).Warnings() },
			func() { _, _ = (*gpu.Scorer)(nil).Explain(req, 0, gpu.Node{}) },
			func() { (*gpu.Scorer)(nil).ChooseDevices(nil, req, 0, gpu.Node{}) },
			func() { _ = (*gpu.Bound)(nil).Score(dst, req, nil) },
			func() { (*gpu.Bound)(nil).Best(req, nil, tie) },
			func() { (*gpu.Bound)(nil).LimitCache(1) },
			func() { (*gpu.Bound)(nil).TopK(nil, req, nil, 1, tie) },
			func() { (*gpu.Bound)(nil).Fit(new(vector.Mask), req, nil) },
			func() { (*gpu.Bound)(nil).ChooseDevices(nil, req, 0) },
			func() { (*gpu.Bound)(nil).Rejections(req, nil) },
			func() { _, _ = (*gpu.Bound)(nil).Explain(req, 0, nil) },
			func() { (*gpu.State)(nil).Rows() },
			func() { (*gpu.State)(nil).Clone() },
			func() { state.CopyFrom(nil) },
			func() { (*gpu.Typical)(nil).F(0, cpu, state) },
			func() { (*gpu.Typical)(nil).Pods() },
		},
		"gpu: scorer that no function of this package compiled": {
			func() { _, _ = new(gpu.Scorer).Score(req, 0, gpu.Node{}) },
			func() { new(gpu.Scorer).Warnings() },
			func() { _, _ = new(gpu.Scorer).Explain(req, 0, gpu.Node{}) },
			func() { new(gpu.Scorer).ChooseDevices(nil, req, 0, gpu.Node{}) },
			func() { gpu.Bind(nil, nodes, state) },
			func() { gpu.Bind(new(gpu.Scorer), nodes, state) },
		},
		"gpu: bound scorer that Bind did not make": {
			func() { new(gpu.Bound).LimitCache(1) },
			func() { _ = new(gpu.Bound).Score(dst, req, nil) },
			func() { new(gpu.Bound).Best(req, nil, tie) },
			func() { new(gpu.Bound).Fit(new(vector.Mask), req, nil) },
			func() { new(gpu.Bound).ChooseDevices(nil, req, 0) },
			func() { new(gpu.Bound).Rejections(req, nil) },
			func() { _, _ = new(gpu.Bound).Explain(req, 0, nil) },
		},
		"gpu: typical pods that neither TypicalPods nor WeightedPods made": {
			func() { new(gpu.Typical).FNode(0, nil, 0) },
			func() { new(gpu.Typical).N() },
			func() { new(gpu.Typical).Pods() },
			func() { new(gpu.Typical).PhiBatch(dst, cpu, state, nil) },
		},
		"gpu: nil nodes": {func() { gpu.Bind(fgd, nil, state) }},
		"gpu: nil state": {
			func() { gpu.Bind(fgd, nodes, nil) },
			func() { typical.F(0, cpu, nil) },
			func() { typical.FBatch(dst, cpu, nil, nil) },
		},
		"gpu: nil request": {
			func() { _ = bound.Score(dst, nil, nil) },
			func() { bound.Best(nil, nil, tie) },
			func() { bound.ChooseDevices(nil, nil, 0) },
			func() { _, _ = fgd.Score(nil, 0, gpu.Node{}) },
			func() { fgd.ChooseDevices(nil, nil, 0, gpu.Node{}) },
			func() { _ = state.Place(0, nil, nil) },
		},
	} {
		for i, call := range calls {
			if got := recovered(call); got != want {
				t.Errorf("%s, call %d: %v", want, i, got)
			}
		}
	}
	if _, err := gpu.CompileFGD(gpu.FGDConfig{Typical: new(gpu.Typical)}, m); err == nil {
		t.Error("FGD of typical pods that nobody made")
	}
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
