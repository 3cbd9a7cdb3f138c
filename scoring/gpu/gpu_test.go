package gpu_test

import (
	"math"
	"slices"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/scoring/gpu"
	"github.com/resvec/resvec/vectormap"
)

// gpuMap is a map for scorers that take nothing from it but names.
func gpuMap() *vectormap.ResourceVectorMap {
	return testkit.Must(vectormap.New(nil))
}

// gpuWeighted is a list of kinds: cpu, count, milli, weight each.
func gpuWeighted(t testing.TB, kinds ...[4]float64) *gpu.Typical {
	t.Helper()
	var list []gpu.TypicalPod
	for _, k := range kinds {
		list = append(list, gpu.TypicalPod{CPU: k[0], Count: int(k[1]), Milli: k[2], Weight: k[3]})
	}
	return testkit.Must(gpu.WeightedPods(list))
}

// gpuT3 is the list T3 of the cases.
func gpuT3(t testing.TB) *gpu.Typical {
	return gpuWeighted(t, [4]float64{4000, 1, 500, .5}, [4]float64{8000, 1, 1000, .3}, [4]float64{2000, 0, 0, .2})
}

// gpuDevices returns n devices with this much left.
func gpuDevices(n int, left float64) []float64 { return slices.Repeat([]float64{left}, n) }

func TestFNode(t *testing.T) {
	for _, test := range []struct {
		name    string
		typical *gpu.Typical
		cpuLeft float64
		left    []float64
		want    float64
	}{
		{"part of a device", gpuWeighted(t, [4]float64{6000, 1, 465, .0933}), 1000, []float64{200, 1000, 1000, 500}, 251.91},
		{"two devices", gpuWeighted(t, [4]float64{100, 2, 1000, 1}), 1000, []float64{200, 1000, 1000, 500}, 700},
		{"all idle", gpuWeighted(t, [4]float64{100, 2, 1000, 1}), 1000, gpuDevices(4, 1000), 0},
		{"enough cpu", gpuT3(t), 32000, []float64{1000, 400}, 600},
		{"too little cpu", gpuT3(t), 6000, []float64{1000, 400}, 900},
		{"nothing left", gpuT3(t), 32000, []float64{0, 0}, 0},
		{"no devices", gpuT3(t), 32000, nil, 0},
		{"no kinds", gpuWeighted(t), 32000, []float64{1000, 400}, 0},
	} {
		if got := test.typical.FNode(test.cpuLeft, test.left, -1); math.Abs(got-test.want) > 1e-9 {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
	}
}

// gpuCase is a row of a table of scores: one node each.
type gpuCase struct {
	cpuLeft float64
	left    []float64
	pods    []int32
	want    float64
	device  int32 // the first one chosen, or -1 when it isn't looked at
}

func testGPUCases(t *testing.T, name string, scorer *gpu.Scorer, req gpu.Request, cases ...gpuCase) {
	t.Helper()
	var nodes []gpu.Node
	var cpuLeft []float64
	for _, c := range cases {
		nodes = append(nodes, gpu.Node{Model: -1, Left: c.left, Pods: c.pods})
		cpuLeft = append(cpuLeft, c.cpuLeft)
	}
	bound := gpu.Bind(scorer, nodesOf(cpuLeft), gpu.NewState(nodes))
	dst := make([]float64, len(cases))
	testkit.Check(bound.Score(dst, &req, nil))
	for row, c := range cases {
		if dst[row] != c.want {
			t.Errorf("%s, row %d: got %v, want %v", name, row, dst[row], c.want)
		}
		if c.device < 0 {
			continue
		}
		if got := bound.ChooseDevices(nil, &req, row); len(got) == 0 || got[0] != c.device {
			t.Errorf("%s, row %d: devices %v, want %d first", name, row, got, c.device)
		}
	}
}

func gpuCompile[C any](t testing.TB, f func(C, *vectormap.ResourceVectorMap) (*gpu.Scorer, error), cfg C) *gpu.Scorer {
	t.Helper()
	return testkit.Must(f(cfg, gpuMap()))
}

func TestCases(t *testing.T) {
	type request = gpu.Request
	fgd := gpuCompile(t, gpu.CompileFGD, gpu.FGDConfig{Typical: gpuT3(t)})
	testGPUCases(t, "FGD", fgd, request{CPU: 4000, Count: 1, Milli: 400},
		gpuCase{32000, []float64{1000, 400}, nil, 59, 1},
		gpuCase{32000, []float64{600, 700}, nil, 52, 0})
	testGPUCases(t, "FGD", fgd, request{CPU: 4000, Count: 1, Milli: 1000},
		gpuCase{32000, []float64{1000, 400}, nil, 54, 0},
		gpuCase{32000, []float64{1000, 1000}, nil, 54, 0})
	testGPUCases(t, "FGD", fgd, request{CPU: 4000},
		gpuCase{9000, []float64{1000, 400}, nil, 42, -1},
		gpuCase{32000, []float64{1000, 400}, nil, 50, -1})

	packing := gpu.NewPacking(gpuMap())
	testGPUCases(t, "Packing", packing, request{CPU: 100, Count: 2, Milli: 1000},
		gpuCase{1000, []float64{200, 1000, 1000, 500}, nil, 48, 1})
	testGPUCases(t, "Packing", packing, request{CPU: 100, Count: 2, Milli: 200},
		gpuCase{1000, []float64{200, 1000, 1000, 500}, nil, 93, 0})
	testGPUCases(t, "Packing", packing, request{CPU: 100, Count: 1, Milli: 300},
		gpuCase{9000, []float64{1000, 1000}, nil, 31, 0},
		gpuCase{9000, []float64{500, 1000}, nil, 95, 0},
		gpuCase{9000, []float64{300, 0}, nil, 97, 0})

	pod := request{CPU: 16000, Count: 1, Milli: 1000}
	nodes := func(want ...float64) []gpuCase {
		return []gpuCase{
			{64000, gpuDevices(4, 1000), nil, want[0], 0},
			{96000, gpuDevices(8, 1000), nil, want[1], 0},
			{20000, gpuDevices(1, 1000), nil, want[2], 0},
		}
	}
	testGPUCases(t, "DotProduct", gpuCompile(t, gpu.CompileDotProduct, gpu.DotProductConfig{}), pod, nodes(93, 89, 98)...)
	testGPUCases(t, "BestFit raw", gpuCompile(t, gpu.CompileBestFit, gpu.BestFitConfig{Raw: true}), pod, nodes(62, 25, 98)...)
	testGPUCases(t, "BestFit", gpuCompile(t, gpu.CompileBestFit, gpu.BestFitConfig{}), pod, nodes(50, 0, 100)...)

	clustering := gpuCompile(t, gpu.CompileClustering, gpu.ClusteringConfig{})
	for _, test := range []struct {
		req  request
		want [4]float64
	}{
		{request{CPU: 4000, Count: 1, Milli: 1000}, [4]float64{81, 62, 25, 12}},
		{request{CPU: 4000}, [4]float64{}},
	} {
		testGPUCases(t, "Clustering", clustering, test.req,
			gpuCase{64000, append(gpuDevices(6, 1000), 0, 0), []int32{0, 1}, test.want[0], -1},
			gpuCase{64000, gpuDevices(4, 1000), []int32{1, 1}, test.want[1], -1},
			gpuCase{64000, gpuDevices(8, 1000), nil, test.want[2], -1},
			gpuCase{64000, gpuDevices(4, 1000), []int32{1}, test.want[3], -1})
	}
}

func TestTypicalPods(t *testing.T) {
	typical := testkit.Must(gpu.TypicalPods([]gpu.TypicalPod{
		{CPU: 2000}, {CPU: 8000, Count: 1, Milli: 1000, Pods: 3}, {CPU: 3000}, {CPU: 4000, Count: 1, Milli: 500, Pods: 4}, {CPU: 4000, Count: 1, Milli: 500},
	}, 0.9))
	want := []gpu.TypicalPod{
		{CPU: 4000, Count: 1, Milli: 500, Pods: 5}, {CPU: 8000, Count: 1, Milli: 1000, Pods: 3}, {CPU: 3000, Pods: 1},
	}
	if !slices.EqualFunc(typical.Pods(), want, func(a, b gpu.TypicalPod) bool {
		return a.CPU == b.CPU && a.Count == b.Count && a.Milli == b.Milli && a.Pods == b.Pods
	}) || typical.N() != 9 {
		t.Errorf("got %+v of %v", typical.Pods(), typical.N())
	}
}
