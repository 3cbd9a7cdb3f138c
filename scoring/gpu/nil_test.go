package gpu_test

import (
	"testing"

	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/scoring/gpu"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// Nil where something is needed is a mistake of the program, and says which.
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
	state, req, cpu := gpu.NewState([]gpu.Node{{Left: []float64{1000}}}), &gpu.Request{}, []float64{0}
	cache, tie := gpu.NewCache(fgd, scoring.CacheOptions{}), vector.TieLowest()
	for want, calls := range map[string][]func(){
		"gpu: nil matrix":                {func() { _, _, _ = cache.Best(&gpu.Query{GPUs: state}, tie) }},
		"gpu: nil mask as a destination": {func() { state.Fit(nil, req, cpu, nil) }},
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
			func() { _, _ = (*gpu.FGD)(nil).Score(0, req, cpu, state) },
			func() { (*gpu.FGD)(nil).Warnings() },
			func() { _ = (*gpu.DotProduct)(nil).ScoreBatch(dst, req, cpu, state, nil) },
			func() { _, _ = (*gpu.BestFit)(nil).Explain(0, req, cpu, state) },
			func() { (*gpu.Packing)(nil).ChooseDevices(0, req, cpu, state, nil) },
			func() { _, _ = (*gpu.Clustering)(nil).Score(0, req, cpu, state) },
			func() { (*gpu.State)(nil).Rows() },
			func() { state.CopyFrom(nil) },
			func() { (*gpu.Typical)(nil).F(0, cpu, state) },
			func() { (*gpu.Cache)(nil).Stats() },
		},
		"gpu: nil state or request": {
			func() { _ = fgd.ScoreBatch(dst, req, cpu, nil, nil) },
			func() { _, _ = fgd.Score(0, nil, cpu, state) },
			func() { fgd.ChooseDevices(0, nil, cpu, state, nil) },
			func() { state.CanHost(0, nil, 0) },
			func() { state.Rejections(nil, cpu, nil) },
			func() { _ = state.Place(0, nil, nil) },
			func() { typical.F(0, cpu, nil) },
			func() { _, _, _ = cache.Best(&gpu.Query{Free: m.NewMatrix(1)}, tie) },
		},
		"gpu: nil query":  {func() { _, _ = cache.TopK(nil, nil, 1, tie) }},
		"gpu: nil scorer": {func() { gpu.NewCache(nil, scoring.CacheOptions{}) }},
	} {
		for i, call := range calls {
			func() {
				defer func() {
					if got := recover(); got != want {
						t.Errorf("%s, call %d: %v", want, i, got)
					}
				}()
				call()
			}()
		}
	}
}

// A nil mask of rows selects all of them.
func TestNilRows(t *testing.T) {
	state, mask := gpu.NewState(make([]gpu.Node, 3)), new(vector.Mask)
	if state.Fit(mask, &gpu.Request{}, make([]float64, 3), nil); mask.Count() != 3 {
		t.Errorf("Fit: %d rows", mask.Count())
	}
	if j := state.Rejections(&gpu.Request{}, make([]float64, 3), nil); j.Rows != 3 {
		t.Errorf("Rejections: %d rows", j.Rows)
	}
}
