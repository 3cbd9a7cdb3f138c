package gpu_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/scoring/gpu"
	"github.com/resvec/resvec/vector"
)

// gpuWorld is a cluster with GPUs, as the library and as the golden models see
// it, and pods for it.
type gpuWorld struct {
	nodes    []goldenNode
	gpus     *gpu.State
	cpuLeft  []float64
	requests []gpu.Request
	typical  *gpu.Typical
	counted  bool

	random func() (goldenNode, gpu.Node) // returns another node
}

// newGPUWorld returns a random one. Amounts are whole numbers or, now and then,
// fractions; most nodes have up to 8 devices, some many more.
func newGPUWorld(t testing.TB, r *rand.Rand, rows int) *gpuWorld {
	t.Helper()
	w := &gpuWorld{counted: r.IntN(4) > 0}
	whole := r.IntN(4) > 0
	most := 8
	if r.IntN(4) == 0 {
		most = []int{1, 9, 16, 17, 70}[r.IntN(5)]
	}
	pick := func(values ...float64) float64 { return values[r.IntN(len(values))] }
	amount := func(most float64) float64 {
		if whole {
			return math.Trunc(r.Float64() * (most + 1))
		}
		return r.Float64() * most
	}
	milli := func() float64 { return pick(1000, 1000, 500, 250, 300, 0, 1, 999, amount(1000)) }
	part := func() float64 { return cmp.Or(milli(), 1000) }
	models := func() []int32 {
		return [][]int32{nil, nil, nil, {0}, {1, 2}, {2, 2, -1}, {-1}}[r.IntN(7)]
	}
	cpu := func() float64 { return pick(0, 1000, 4000, 8000, 12500, amount(32000)) }

	w.random = func() (goldenNode, gpu.Node) {
		n := goldenNode{cpu: pick(0, 4000, 64000, 128000, amount(20000), -5), model: int32(r.IntN(4) - 1), pods: map[int]int32{}}
		for range r.IntN(most + 1) {
			n.left = append(n.left, min(milli(), 1000))
		}
		node := gpu.Node{Model: n.model, Left: n.left, Pods: make([]int32, len(n.left)+1)}
		for class := range node.Pods {
			if r.IntN(3) == 0 {
				node.Pods[class] = int32(1 + r.IntN(3))
				n.pods[class] = node.Pods[class]
			}
		}
		return n, node
	}
	var nodes []gpu.Node
	for range rows {
		n, node := w.random()
		w.nodes, nodes = append(w.nodes, n), append(nodes, node)
		w.cpuLeft = append(w.cpuLeft, n.cpu)
	}
	w.gpus = gpu.NewState(nodes)
	for range 20 {
		q := gpu.Request{CPU: cpu(), Count: []int{0, 1, 1, 1, 2, 4, 8, 9, 17}[r.IntN(9)], Milli: part(), Models: models()}
		w.requests = append(w.requests, q)
	}
	var kinds []gpu.TypicalPod
	parts := r.IntN(4) == 0 // kinds that want parts of many devices
	for range r.IntN(30) {
		p := gpu.TypicalPod{CPU: cpu(), Count: []int{0, 1, 1, 1, 2, 4, 8}[r.IntN(7)], Milli: part(), Models: models()}
		if p.Count > 1 && !parts {
			p.Milli = 1000
		}
		p.Pods, p.Weight = 1+r.Int64N(100), r.Float64()
		kinds = append(kinds, p)
	}
	var err error
	if w.counted {
		w.typical, err = gpu.TypicalPods(kinds, 1)
	} else {
		w.typical, err = gpu.WeightedPods(kinds)
	}
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// goldenScorer is a scorer with its golden model.
type goldenScorer struct {
	name   string
	scorer *gpu.Scorer
	score  func(n goldenNode, q gpu.Request) float64
	// devices is nil for the tightest fit.
	devices func(n goldenNode, q gpu.Request) []int32
	spread  bool // scores are spread over the feasible rows of a batch
}

func (w *gpuWorld) scorers(t testing.TB) []goldenScorer {
	t.Helper()
	var list []goldenScorer
	for _, exact := range []bool{false, true} {
		g := goldenFGD{w.typical, w.counted, exact}
		list = append(list, goldenScorer{
			name:   fmt.Sprintf("FGD exact=%t", exact),
			scorer: gpuCompile(t, gpu.CompileFGD, gpu.FGDConfig{Typical: w.typical, Exact: exact}),
			score: func(n goldenNode, q gpu.Request) float64 {
				score, _ := g.score(n, q)
				return score
			},
			devices: func(n goldenNode, q gpu.Request) []int32 {
				_, devices := g.score(n, q)
				return devices
			},
		})
	}
	for _, size := range []gpu.NodeSize{{CPU: 128000, GPU: 8000}, {CPU: 384000, GPU: 16000}} {
		dot := func(n goldenNode, q gpu.Request) float64 { return goldenDotProduct(n, q, size) }
		fit := func(n goldenNode, q gpu.Request) float64 { return goldenBestFit(n, q, size) }
		list = append(list,
			goldenScorer{name: "DotProduct", scorer: gpuCompile(t, gpu.CompileDotProduct, gpu.DotProductConfig{Size: size}), score: dot},
			goldenScorer{name: "BestFit raw", scorer: gpuCompile(t, gpu.CompileBestFit, gpu.BestFitConfig{Size: size, Raw: true}), score: fit},
			goldenScorer{name: "BestFit", scorer: gpuCompile(t, gpu.CompileBestFit, gpu.BestFitConfig{Size: size}), score: fit, spread: true},
			goldenScorer{
				name:   "Clustering",
				scorer: gpuCompile(t, gpu.CompileClustering, gpu.ClusteringConfig{GPU: size.GPU}),
				score:  func(n goldenNode, q gpu.Request) float64 { return goldenClustering(n, q, size.GPU) },
			})
	}
	return append(list, goldenScorer{name: "Packing", scorer: gpu.NewPacking(gpuMap()), score: goldenPacking})
}

// check holds every scorer against its golden model, row by row and as a batch
// over the selected rows, and the rows that fit.
func (w *gpuWorld) check(t *testing.T, rows *vector.Mask) {
	t.Helper()
	const untouched = -12345.0
	nodes := nodesOf(w.cpuLeft)
	filter := gpu.Bind(gpu.NewPacking(gpuMap()), nodes, w.gpus)
	selected := func(row int) bool { return rows == nil || rows.Test(row) }
	for _, q := range w.requests {
		var fit vector.Mask
		filter.Fit(&fit, &q, rows)
		for row, n := range w.nodes {
			if got, want := fit.Test(row), selected(row) && n.canHost(q); got != want {
				t.Fatalf("%+v, row %d: fits %t, want %t", q, row, got, want)
			}
		}
		if rows != nil {
			var own vector.Mask
			own.CopyFrom(rows)
			if filter.Fit(&own, &q, &own); !own.Equal(&fit) {
				t.Fatalf("%+v: %v fit, in place %v", q, fit.Words(), own.Words())
			}
		}
		for _, g := range w.scorers(t) {
			bound := gpu.Bind(g.scorer, nodes, w.gpus)
			dst := slices.Repeat([]float64{untouched}, len(w.nodes)+3)
			testkit.Check(bound.Score(dst, &q, rows))
			want := slices.Repeat([]float64{untouched}, len(dst))
			feasible := make([]bool, len(dst))
			for row, n := range w.nodes {
				if !selected(row) {
					continue
				}
				want[row], feasible[row] = g.score(n, q), n.canHost(q)
				w.checkRow(t, g, bound, row, q, want[row])
			}
			if g.spread {
				goldenNormalize(want, feasible)
			}
			if row := testkit.Difference(dst, want); row >= 0 {
				t.Fatalf("%s of %+v, row %d, %+v: got %v, want %v", g.name, q, row, w.nodes[min(row, len(w.nodes)-1)], dst[row], want[row])
			}
		}
	}
}

// checkRow checks the score and the devices of one row.
func (w *gpuWorld) checkRow(t *testing.T, g goldenScorer, bound *gpu.Bound, row int, q gpu.Request, want float64) {
	t.Helper()
	n := w.nodes[row]
	got, err := g.scorer.Score(&q, n.cpu, n.node())
	if g.spread {
		if err != scoring.ErrNeedsBatch {
			t.Fatalf("%s: %v, want %v", g.name, err, scoring.ErrNeedsBatch)
		}
	} else if err != nil || !testkit.Same(got, want) {
		t.Fatalf("%s of %+v, row %d, %+v: got %v, %v, want %v", g.name, q, row, n, got, err, want)
	}
	var devices []int32
	switch {
	case !n.canHost(q):
	case g.devices != nil:
		devices = g.devices(n, q)
	default:
		devices = n.tightest(q)
	}
	for _, got := range [][]int32{g.scorer.ChooseDevices(nil, &q, n.cpu, n.node()), bound.ChooseDevices(nil, &q, row)} {
		if !slices.Equal(got, devices) {
			t.Fatalf("%s of %+v, row %d, %+v: devices %v, want %v", g.name, q, row, n, got, devices)
		}
	}
}

// TestGolden holds the scorers against the golden models on random clusters.
func TestGolden(t *testing.T) {
	testkit.EachImpl(t, func(t *testing.T) {
		r := testkit.Rand(1)
		for i := range testkit.Amount(t, 6, 20, 60) {
			w := newGPUWorld(t, r, i+r.IntN(40))
			w.check(t, gpuRows(r, len(w.nodes)))
		}
	})
}

// gpuRows returns a random mask, now and then nil.
func gpuRows(r *rand.Rand, rows int) *vector.Mask {
	if r.IntN(3) == 0 {
		return nil
	}
	m := vector.NewMask(rows)
	testkit.FillMask(r, m.Words())
	testkit.TrimMask(m.Words(), rows)
	return m
}

// FuzzGPU does the same for other seeds.
func FuzzGPU(f *testing.F) {
	f.Add(uint64(1), uint8(3))
	f.Add(uint64(2), uint8(130))
	f.Fuzz(func(t *testing.T, seed uint64, rows uint8) {
		testkit.EachImpl(t, func(t *testing.T) {
			r := testkit.Rand(seed)
			w := newGPUWorld(t, r, int(rows))
			w.requests = w.requests[:3]
			w.check(t, gpuRows(r, len(w.nodes)))
		})
	})
}

// FuzzState changes pods and nodes, and compares the state with one made anew
// and with copies.
func FuzzState(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed)
	}
	f.Add(uint64(833)) // starts from the zero state
	f.Fuzz(func(t *testing.T, seed uint64) {
		testGPUState(t, testkit.Rand(seed))
	})
}

func testGPUState(t *testing.T, r *rand.Rand) {
	t.Helper()
	w := &gpuStateWorld{gpuWorld: newGPUWorld(t, r, r.IntN(20)), r: r}
	if len(w.nodes) == 0 && r.IntN(2) == 0 {
		w.gpus = new(gpu.State)
	}
	for _, n := range w.nodes {
		w.most = max(w.most, len(n.left))
	}
	clone := new(gpu.State)
	clone.CopyFrom(w.gpus)
	for range 300 {
		w.wider = false
		since, empty := w.gpus.Version(), w.gpus.Rows() == 0
		changed := w.change(t)
		rows, all := w.gpus.Changed(nil, since)
		switch {
		case w.wider && (!all || len(rows) > 0):
			t.Fatalf("changed: %v, %t, want all", rows, all)
		case empty && all: // the zero state has no log yet
		case !w.wider && len(w.nodes) > 0 && (all || !slices.Equal(rows, changed)):
			t.Fatalf("changed: %v, %t, want %v", rows, all, changed)
		}
		if r.IntN(10) == 0 {
			clone.CopyFrom(w.gpus)
			w.checkState(t, clone)
		}
	}
	w.checkState(t, w.gpus)
	clone.CopyFrom(w.gpus)
	w.checkState(t, clone)
}

// gpuStateWorld is a world with pods that come and go, and nodes too.
type gpuStateWorld struct {
	*gpuWorld
	r      *rand.Rand
	placed []gpuPod
	most   int  // devices of a node so far
	wider  bool // the last change took more columns
}

// gpuPod is a pod that was placed.
type gpuPod struct {
	row     int
	req     gpu.Request
	devices []int32
}

// change makes one change and returns the rows that it was of.
func (w *gpuStateWorld) change(t *testing.T) []int32 {
	t.Helper()
	n := len(w.nodes)
	switch k := w.r.IntN(12); {
	case k == 0 || n == 0:
		return w.appendNode(t)
	case k == 1:
		return w.setNode(w.r.IntN(n))
	case k == 2:
		return w.removeRow(t, w.r.IntN(n))
	case k < 6 && len(w.placed) > 0:
		return w.release(t, w.r.IntN(len(w.placed)))
	}
	return w.place(t, w.r.IntN(n), w.requests[w.r.IntN(len(w.requests))])
}

func (w *gpuStateWorld) place(t *testing.T, row int, req gpu.Request) []int32 {
	t.Helper()
	p := gpuPod{row: row, req: req}
	if req.Count == 0 || !w.nodes[row].able(req.Count, req.Milli, nil) {
		return nil
	}
	p.devices = w.nodes[row].tightest(req)
	testkit.Check(w.gpus.Place(row, &p.req, p.devices))
	w.nodes[row].place(p, 1)
	w.placed = append(w.placed, p)
	return []int32{int32(row)}
}

func (w *gpuStateWorld) release(t *testing.T, i int) []int32 {
	t.Helper()
	p := w.placed[i]
	if err := w.gpus.Release(p.row, &p.req, p.devices); err != nil {
		// Fractions need not add up to what they were.
		if p.req.Milli == math.Trunc(p.req.Milli) {
			t.Fatal(err)
		}
		return nil
	}
	w.nodes[p.row].place(p, -1)
	w.placed = slices.Delete(w.placed, i, i+1)
	return []int32{int32(p.row)}
}

func (w *gpuStateWorld) appendNode(t *testing.T) []int32 {
	t.Helper()
	n, node := w.random()
	w.note(n)
	w.nodes, w.cpuLeft = append(w.nodes, n), append(w.cpuLeft, n.cpu)
	row := w.gpus.AppendNode(node)
	if row != len(w.nodes)-1 {
		t.Fatalf("appended row %d of %d", row, len(w.nodes))
	}
	return []int32{int32(row)}
}

func (w *gpuStateWorld) setNode(row int) []int32 {
	n, node := w.random()
	w.note(n)
	w.nodes[row], w.cpuLeft[row] = n, n.cpu
	w.forget(row)
	w.gpus.SetNode(row, node)
	return []int32{int32(row)}
}

func (w *gpuStateWorld) removeRow(t *testing.T, row int) []int32 {
	t.Helper()
	last := len(w.nodes) - 1
	w.forget(row)
	w.nodes[row], w.cpuLeft[row] = w.nodes[last], w.cpuLeft[last]
	w.nodes, w.cpuLeft = w.nodes[:last], w.cpuLeft[:last]
	changed, moved := []int32{int32(row)}, last
	if row == last {
		changed, moved = nil, -1
	}
	if got := w.gpus.RemoveRow(row); got != moved {
		t.Fatalf("row %d of %d removed: moved %d, want %d", row, last+1, got, moved)
	}
	for i := range w.placed {
		if w.placed[i].row == last {
			w.placed[i].row = row
		}
	}
	return changed
}

// note takes note of a node to come.
func (w *gpuStateWorld) note(n goldenNode) {
	w.wider = len(n.left) > w.most && w.most < 16
	w.most = max(w.most, len(n.left))
}

// forget forgets the pods of a row.
func (w *gpuStateWorld) forget(row int) {
	w.placed = slices.DeleteFunc(w.placed, func(p gpuPod) bool { return p.row == row })
}

// place changes the node by a pod that comes, for sign 1, or goes.
func (n *goldenNode) place(p gpuPod, sign float64) {
	n.left = slices.Clone(n.left)
	for _, d := range p.devices {
		n.left[d] -= float64(sign * p.req.Milli)
	}
	class := p.req.Count
	if class == 1 && p.req.Milli < 1000 {
		class = 0
	}
	n.pods[class] += int32(sign)
}

// checkState compares a state with the golden nodes, and with one made of them.
func (w *gpuWorld) checkState(t *testing.T, got *gpu.State) {
	t.Helper()
	if got.Rows() != len(w.nodes) {
		t.Fatalf("%d rows, want %d", got.Rows(), len(w.nodes))
	}
	for row, n := range w.nodes {
		if !slices.Equal(got.Devices(row), n.left) || got.Total(row) != n.total() || got.Model(row) != n.model {
			t.Fatalf("row %d: %v of model %d, want %+v", row, got.Devices(row), got.Model(row), n)
		}
		for class, pods := range got.Pods(row) {
			if pods != n.pods[class] {
				t.Fatalf("row %d: %v pods, want %v", row, got.Pods(row), n.pods)
			}
		}
	}
	own := w.gpus
	w.gpus = got
	defer func() { w.gpus = own }()
	requests := w.requests
	w.requests = requests[:2]
	w.check(t, nil)
	w.requests = requests
}
