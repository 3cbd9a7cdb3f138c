package gpu_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/scoring/gpu"
	"github.com/resvec/resvec/vector"
)

func TestNewGPUStateClamps(t *testing.T) {
	inf := math.Inf(1)
	gpus := gpu.NewState([]gpu.Node{{Model: -1, Left: []float64{math.NaN(), -1, 1001, inf, -inf, 0, 1000, 0.5}}})
	if got, want := gpus.Devices(0), []float64{0, 0, 0, 0, 0, 0, 1000, 0.5}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := gpus.Total(0); got != 1000.5 {
		t.Errorf("total %v", got)
	}
}

func TestNewGPUStatePanics(t *testing.T) {
	for _, pods := range [][]int32{{-1}, {0, 0, 1}} {
		if got, want := testkit.Recovered(func() { gpu.NewState([]gpu.Node{{Left: []float64{1000}, Pods: pods}}) }),
			"gpu: pods of a class that the node can't hold"; got != want {
			t.Errorf("%v: got %v, want %v", pods, got, want)
		}
		gpus := gpu.NewState([]gpu.Node{{Left: []float64{500}}})
		version := gpus.Version()
		bad := gpu.Node{Left: []float64{1000}, Pods: pods}
		if testkit.Recovered(func() { gpus.AppendNode(bad) }) == nil || testkit.Recovered(func() { gpus.SetNode(0, bad) }) == nil ||
			gpus.Version() != version || gpus.Rows() != 1 || gpus.Total(0) != 500 {
			t.Errorf("%v: a bad node changes the state", pods)
		}
	}
	gpus := gpu.NewState([]gpu.Node{{}})
	for name, f := range map[string]func(){
		"Devices": func() { gpus.Devices(1) },
		"Model":   func() { gpus.Model(-1) },
		"Total":   func() { gpus.Total(1) },
		"Pods":    func() { gpus.Pods(1) },
		"Place":   func() { gpus.Place(1, &gpu.Request{}, nil) },
		"SetNode": func() { gpus.SetNode(1, gpu.Node{}) },
		"Remove":  func() { gpus.RemoveRow(-1) },
		"Choose": func() {
			gpu.Bind(gpu.NewPacking(gpuMap()), nodesOf([]float64{1}), gpus).ChooseDevices(nil, &gpu.Request{}, 1)
		},
		"zero":     func() { new(gpu.State).Devices(0) },
		"negative": func() { gpus.Release(-1, &gpu.Request{}, nil) },
	} {
		if got, want := testkit.Recovered(f), "gpu: row out of range"; got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	for name, f := range map[string]func(){
		"Phi": func() { gpuT3(t).Phi(0, nil, gpus) },
	} {
		if got, want := testkit.Recovered(f), "gpu: operands have different numbers of rows"; got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}

// TestPlaceRefuses checks that a refusal names the device and changes nothing.
func TestPlaceRefuses(t *testing.T) {
	type request = gpu.Request
	share, pair := request{Count: 1, Milli: 400}, request{Count: 2, Milli: 1000}
	for _, test := range []struct {
		name    string
		release bool
		req     request
		devices []int32
		want    string
	}{
		{"too few", false, pair, []int32{0}, "row 0: 1 devices listed, 2 requested"},
		{"too many", false, share, []int32{0, 1}, "row 0: 2 devices listed, 1 requested"},
		{"without GPU", false, request{CPU: 1}, []int32{0}, "row 0: 1 devices listed, 0 requested"},
		{"twice", false, pair, []int32{0, 0}, "row 0: device 0 is listed twice"},
		{"not there", false, share, []int32{4}, "row 0: the node has no device 4"},
		{"negative", false, share, []int32{-1}, "row 0: the node has no device -1"},
		{"too little", false, share, []int32{2}, "row 0: device 2 has 300 left, less than the 400 requested"},
		{"one too little", false, pair, []int32{1, 2}, "row 0: device 2 has 300 left, less than the 1000 requested"},
		{"too much", true, share, []int32{3}, "row 0: device 3 has 700 left, and 400 more would be more than a device"},
		{"many times", true, request{Count: 9, Milli: 1}, slices.Repeat([]int32{2}, 9), "row 0: device 2 is listed twice"},
		{"no pod", true, request{Count: 2, Milli: 100}, []int32{2, 3}, "row 0: device 2 holds no pod of this class, like the whole node"},
		{"bad cpu", false, request{CPU: math.NaN(), Count: 1}, []int32{0}, "request: cpu: amount NaN must be finite and not negative"},
		{"bad count", false, request{Count: -1}, nil, "request: gpu: amount -1 must be finite and not negative"},
		{"bad share", true, request{Count: 1, Milli: math.Inf(1)}, []int32{0}, "request: gpu: amount +Inf must be more than 0 and at most 1000 thousandths of each device"},
		{"no share", false, request{Count: 2}, []int32{0, 1}, "request: gpu: amount 0 must be more than 0 and at most 1000 thousandths of each device"},
		{"large share", false, request{Count: 1, Milli: 1000.5}, []int32{0}, "request: gpu: amount 1000.5 must be more than 0 and at most 1000 thousandths of each device"},
		{"part without device", false, request{Milli: -1}, nil, "request: gpu: amount -1 must be finite and not negative"},
	} {
		left, pods := []float64{1000, 1000, 300, 700}, []int32{1, 0, 0, 0, 0}
		gpus := gpu.NewState([]gpu.Node{{Left: left, Pods: pods}})
		version, move := gpus.Version(), gpus.Place
		if test.release {
			move = gpus.Release
		}
		err := move(0, &test.req, test.devices)
		if err == nil || err.Error() != "gpu: "+test.want {
			t.Errorf("%s: got %v, want %s", test.name, err, test.want)
		}
		var refused *gpu.DeviceError
		if !errors.As(err, &refused) && !errors.Is(err, vector.ErrNotRepresentable) {
			t.Errorf("%s: %T", test.name, err)
		}
		if !slices.Equal(gpus.Devices(0), left) || !slices.Equal(gpus.Pods(0), pods) || gpus.Version() != version {
			t.Errorf("%s: changed to %v, %v", test.name, gpus.Devices(0), gpus.Pods(0))
		}
	}
}

// TestManyClasses has nodes of so many devices that classes share a bit.
func TestManyClasses(t *testing.T) {
	clustering := gpuCompile(t, gpu.CompileClustering, gpu.ClusteringConfig{GPU: 1e6})
	pods := func(classes ...int) []int32 {
		n := make([]int32, 81)
		for _, c := range classes {
			n[c]++
		}
		return n
	}
	left := gpuDevices(80, 1000)
	testGPUCases(t, "64 devices", clustering, gpu.Request{Count: 64, Milli: 1000},
		gpuCase{0, left, pods(), 48, -1},
		gpuCase{0, left, pods(64), 98, -1},
		gpuCase{0, left, pods(64, 80), 73, -1},
		gpuCase{0, left, pods(63), 23, -1},
		gpuCase{0, left, pods(1, 64), 73, -1})
	testGPUCases(t, "share", clustering, gpu.Request{Count: 1, Milli: 1},
		gpuCase{0, left, pods(63, 64), 23, -1},
		gpuCase{0, left, pods(0, 64), 73, -1})
	gpus := gpu.NewState([]gpu.Node{{Left: left}})
	var list []int32
	for d := range int32(64) {
		list = append(list, d)
	}
	req := gpu.Request{Count: 64, Milli: 1}
	score := func() float64 {
		x, row := []float64{0}, gpu.Node{Left: gpus.Devices(0), Pods: gpus.Pods(0)}
		testkit.Check(gpu.Bind(clustering, nodesOf([]float64{0}), gpus).Score(x, &req, nil))
		if y, err := clustering.Score(&req, 0, row); err != nil || y != x[0] {
			t.Fatal(x, y, err)
		}
		return x[0]
	}
	before := score()
	testkit.Check(gpus.Place(0, &req, list))
	if got := score(); got != 98 {
		t.Errorf("with a pod: %v", got)
	}
	testkit.Check(gpus.Release(0, &req, list))
	if got := score(); got != before {
		t.Errorf("the pod is gone: got %v, want %v", got, before)
	}
}

// TestErrors checks that bad operands are refused before anything is written.
func TestErrors(t *testing.T) {
	w := newGPUWorld(t, testkit.Rand(1), 70)
	good := gpu.Request{CPU: 1, Count: 1, Milli: 1}
	n, nan := len(w.nodes), math.NaN()
	for _, test := range []struct {
		name    string
		dst     int
		req     gpu.Request
		cpuLeft []float64
		rows    *vector.Mask
		want    error
	}{
		{"short dst", n - 1, good, w.cpuLeft, nil, vector.ErrShape},
		{"short cpu", n, good, w.cpuLeft[1:], nil, vector.ErrShape},
		{"long cpu", n, good, append(w.cpuLeft, 1), nil, vector.ErrShape},
		{"mask", n, good, w.cpuLeft, vector.NewMask(n + 1), vector.ErrShape},
		{"cpu", n, gpu.Request{CPU: -1}, w.cpuLeft, nil, vector.ErrNotRepresentable},
		{"count", n, gpu.Request{Count: -1}, w.cpuLeft, nil, vector.ErrNotRepresentable},
		{"milli", n, gpu.Request{Count: 1, Milli: nan}, w.cpuLeft, nil, vector.ErrNotRepresentable},
		{"no milli", n, gpu.Request{Count: 2}, w.cpuLeft, nil, vector.ErrNotRepresentable},
		{"large milli", n, gpu.Request{Count: 1, Milli: 2000}, w.cpuLeft, nil, vector.ErrNotRepresentable},
		{"milli of no device", n, gpu.Request{Milli: nan}, w.cpuLeft, nil, vector.ErrNotRepresentable},
	} {
		for _, g := range w.scorers(t) {
			dst := make([]float64, test.dst)
			bound := gpu.Bind(g.scorer, nodesOf(test.cpuLeft), w.gpus)
			if err := bound.Score(dst, &test.req, test.rows); !errors.Is(err, test.want) {
				t.Errorf("%s, %s: batch: got %v, want %v", g.name, test.name, err, test.want)
			}
			if slices.ContainsFunc(dst, func(x float64) bool { return x != 0 }) {
				t.Errorf("%s, %s: dst was written", g.name, test.name)
			}
			if test.dst < n {
				continue
			}
			if _, err := bound.Explain(&test.req, 0, test.rows); !errors.Is(err, test.want) {
				t.Errorf("%s, %s: explanation: got %v, want %v", g.name, test.name, err, test.want)
			}
			if test.want == vector.ErrShape {
				fit := new(vector.Mask)
				for _, f := range []func(){
					func() { bound.Best(&test.req, test.rows, vector.TieLowest()) },
					func() { bound.TopK(nil, &test.req, test.rows, 1, vector.TieLowest()) },
					func() { bound.Fit(fit, &test.req, test.rows) },
					func() { bound.Rejections(&test.req, test.rows) },
				} {
					if got, want := testkit.Recovered(f), "gpu: nodes, state, mask and request of different sizes"; got != want {
						t.Errorf("%s, %s: got %v, want %v", g.name, test.name, got, want)
					}
				}
				continue
			}
			node := w.nodes[0].node()
			if _, err := g.scorer.Score(&test.req, 0, node); !errors.Is(err, test.want) {
				t.Errorf("%s, %s: row: got %v, want %v", g.name, test.name, err, test.want)
			}
			if _, err := g.scorer.Explain(&test.req, 0, node); !errors.Is(err, test.want) {
				t.Errorf("%s, %s: explanation: got %v, want %v", g.name, test.name, err, test.want)
			}
			if got, alone := bound.ChooseDevices(nil, &test.req, 0), g.scorer.ChooseDevices(nil, &test.req, 0, node); len(got)+len(alone) > 0 {
				t.Errorf("%s, %s: devices %v, %v", g.name, test.name, got, alone)
			}
			fit := new(vector.Mask)
			for _, rows := range []*vector.Mask{nil, allRows(n)} {
				if bound.Fit(fit, &test.req, rows); fit.Len() != n || fit.Any() {
					t.Errorf("%s: fits on %v", test.name, fit)
				}
				if row, ok := bound.Best(&test.req, rows, vector.TieLowest()); ok || row != -1 {
					t.Errorf("%s: best is %d", test.name, row)
				}
				if top := bound.TopK(nil, &test.req, rows, 3, vector.TieLowest()); len(top) > 0 {
					t.Errorf("%s: best are %v", test.name, top)
				}
			}
		}
	}
}

// allRows returns the mask of n rows.
func allRows(n int) *vector.Mask {
	m := vector.NewMask(n)
	m.SetAll()
	return m
}

// TestConfigErrors checks the paths of what is wrong with a configuration.
func TestConfigErrors(t *testing.T) {
	m, nan := gpuMap(), math.NaN()
	err := func(_ any, err error) error { return err }
	for _, test := range []struct {
		name string
		err  error
		want string
	}{
		{"no typical pods", err(gpu.CompileFGD(gpu.FGDConfig{}, m)), "typical"},
		{"size", err(gpu.CompileDotProduct(gpu.DotProductConfig{Size: gpu.NodeSize{CPU: -1, GPU: nan}}, m)), "size.cpu size.gpu"},
		{"size", err(gpu.CompileBestFit(gpu.BestFitConfig{Size: gpu.NodeSize{GPU: math.Inf(1)}}, m)), "size.gpu"},
		{"size", err(gpu.CompileClustering(gpu.ClusteringConfig{GPU: -1}, m)), "gpu"},
		{"coverage", err(gpu.TypicalPods(nil, 0)), "coverage"},
		{"coverage", err(gpu.TypicalPods(nil, nan)), "coverage"},
		{"trace", err(gpu.TypicalPods([]gpu.TypicalPod{{}, {CPU: nan, Count: -1, Milli: -1, Pods: -1}}, 1)), "trace[1].count trace[1].cpu trace[1].milli trace[1].pods"},
		{"part of no size", err(gpu.TypicalPods([]gpu.TypicalPod{{Count: 1}, {Count: 1, Milli: 1001}, {Milli: 1001}}, 1)), "trace[0].milli trace[1].milli"},
		{"weights of a trace", err(gpu.TypicalPods([]gpu.TypicalPod{{Weight: 1}, {Weight: 1, Pods: 1}}, 1)), "trace[0].pods"},
		{"list", err(gpu.WeightedPods([]gpu.TypicalPod{{Weight: nan}, {Weight: -1}})), "list[0].weight list[1].weight"},
		{"list of no size", err(gpu.WeightedPods([]gpu.TypicalPod{{Count: 2, Weight: 1}})), "list[0].milli"},
		{"pods of a list", err(gpu.WeightedPods([]gpu.TypicalPod{{Pods: 1}, {Pods: 1, Weight: 1}})), "list[0].weight"},
	} {
		if test.err == nil {
			t.Errorf("%s: no error", test.name)
			continue
		}
		text := test.err.Error()
		for _, path := range strings.Fields(test.want) {
			if !strings.Contains(text, path+": ") {
				t.Errorf("%s: no %s in %s", test.name, path, text)
			}
		}
	}
}

// TestFGDWarns checks that typical pods without GPU don't go unnoticed.
func TestFGDWarns(t *testing.T) {
	const want = "[typical: Invalid value: no pod that wants a GPU: all nodes score alike]"
	for _, test := range []struct {
		list []gpu.TypicalPod
		want string
	}{
		{nil, want},
		{[]gpu.TypicalPod{{CPU: 1}}, want},
		{[]gpu.TypicalPod{{CPU: 1}, {Count: 1, Milli: 1}}, "[]"},
	} {
		typical := testkit.Must(gpu.TypicalPods(test.list, 1))
		fgd := gpuCompile(t, gpu.CompileFGD, gpu.FGDConfig{Typical: typical})
		if got := fmt.Sprint(fgd.Warnings()); got != test.want {
			t.Errorf("%v: %s, want %s", test.list, got, test.want)
		}
	}
}

// TestAllocs checks what is promised not to allocate.
func TestAllocs(t *testing.T) {
	if testkit.RaceEnabled {
		t.Skip("the race detector allocates")
	}
	gpus, cpuLeft := openbCluster(t, 1)
	typical := openbTypical(t, "derived_pod_shapes.csv")
	w := gpuWorld{typical: typical, counted: true}
	n, row := gpus.Rows(), 0
	for len(gpus.Devices(row)) < 8 {
		row++
	}
	dst, buf, top := make([]float64, n), make([]int32, 0, 8), make([]int32, 0, 5)
	rows, fit := vector.NewMask(n), vector.NewMask(n)
	rows.SetAll()
	clone := new(gpu.State)
	clone.CopyFrom(gpus)
	nodes := nodesOf(cpuLeft)
	for _, req := range []gpu.Request{
		{CPU: 1000, Count: 1, Milli: 500}, {CPU: 1000, Count: 2, Milli: 500.5}, {CPU: 1000, Count: 8, Milli: 1000, Models: []int32{1, 2}}, {CPU: 1000},
	} {
		check := func(name string, f func()) {
			if got := testing.AllocsPerRun(5, f); got != 0 {
				t.Errorf("%s of %+v: %v allocations", name, req, got)
			}
		}
		testkit.EachImpl(t, func(t *testing.T) {
			for _, g := range w.scorers(t) {
				bound, node := gpu.Bind(g.scorer, nodes, gpus), gpu.Node{Model: gpus.Model(row), Left: gpus.Devices(row)}
				ask := func() {
					pod := req // on the stack
					err := bound.Score(dst, &pod, rows)
					_, _ = g.scorer.Score(&pod, cpuLeft[row], node)
					buf = g.scorer.ChooseDevices(buf, &pod, cpuLeft[row], node)
					buf = bound.ChooseDevices(buf, &pod, row)
					_, _ = bound.Best(&pod, rows, vector.TieSeeded(1))
					top = bound.TopK(top, &pod, rows, 5, vector.TieLowest())
					bound.Fit(fit, &pod, rows)
					if err != nil {
						t.Fatal(err)
					}
				}
				for range 3 { // the first time warms up, the second arranges for the tie
					ask()
				}
				check(g.name, ask)
			}
		})
		check("Phi", func() { dst[0] = typical.Phi(0, cpuLeft, gpus) })
		buf = tightestFit(gpus, row, req, buf)
		check("Place", func() {
			testkit.Check(gpus.Place(row, &req, buf))
			clone.CopyFrom(gpus)
			testkit.Check(gpus.Release(row, &req, buf))
		})
	}
}

// tightestFit returns the first devices with enough left, as many as asked for.
func tightestFit(gpus *gpu.State, row int, req gpu.Request, buf []int32) []int32 {
	buf = buf[:0]
	for d, x := range gpus.Devices(row) {
		if x >= req.Milli && len(buf) < req.Count {
			buf = append(buf, int32(d))
		}
	}
	return buf
}

// TestExplain checks that the parts add up, and the words of one table.
func TestExplain(t *testing.T) {
	w := newGPUWorld(t, testkit.Rand(7), 40)
	for _, q := range w.requests {
		for _, g := range w.scorers(t) {
			bound, scores := gpu.Bind(g.scorer, nodesOf(w.cpuLeft), w.gpus), make([]float64, len(w.nodes))
			testkit.Check(bound.Score(scores, &q, nil))
			for row, n := range w.nodes {
				e := testkit.Must(bound.Explain(&q, row, nil))
				if g.spread {
					sum, raw := 0.0, g.score(n, q)
					for _, d := range e.Terms[0].Dims {
						sum += d.Contribution
					}
					if e.Total != scores[row] || e.Terms[0].Raw != raw || e.Reason == "" && math.Abs(sum-e.Total) > 1e-9*(math.Abs(e.Total)+math.Abs(raw)) {
						t.Fatalf("%s of %+v, row %d: %v, parts add up to %v, want %v", g.name, q, row, e, sum, scores[row])
					}
					continue
				}
				if alone, err := g.scorer.Explain(&q, n.cpu, n.node()); err != nil || alone.String() != e.String() {
					t.Fatalf("%s of %+v, row %d: %v of rows, %v, %v alone", g.name, q, row, e, alone, err)
				}
				if want := g.score(n, q); e.Total != want || (e.Reason == "") != n.canHost(q) {
					t.Fatalf("%s of %+v, row %d: total %v, reason %q, want %v", g.name, q, row, e.Total, e.Reason, want)
				}
				sum := 0.0
				for _, d := range e.Terms[0].Dims {
					sum += d.Contribution
				}
				if e.Reason == "" && math.Abs(sum-e.Total) > 1e-9*math.Abs(e.Total) {
					t.Fatalf("%s of %+v, row %d: parts add up to %v, total %v", g.name, q, row, sum, e.Total)
				}
			}
		}
	}
}
