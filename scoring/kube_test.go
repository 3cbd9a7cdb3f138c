package scoring_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// kubeMap returns the map that the tables are written for.
func kubeMap(opts ...vectormap.Option) *vectormap.ResourceVectorMap {
	return testkit.Must(vectormap.New([]string{"nvidia.com/gpu", "example.com/foo", "example.com/bar", "ephemeral-storage"}, opts...))
}

// kubeNames are the short names of the tables.
var kubeNames = strings.NewReplacer("gpu", "nvidia.com/gpu", "foo", "example.com/foo", "bar", "example.com/bar", "disk", "ephemeral-storage")

// kubeAmounts reads a vector: cpu and memory, then pairs of a name and an
// amount, as in "4000/10000 gpu 8". Mi stands for 2^20.
func kubeAmounts(t testing.TB, m *vectormap.ResourceVectorMap, text string) vector.ResourceVector {
	t.Helper()
	v := m.NewVector()
	words := strings.Fields(text)
	if len(words)%2 == 1 {
		cpu, memory, _ := strings.Cut(words[0], "/")
		words = append([]string{"cpu", cpu, "memory", memory}, words[1:]...)
	}
	for ; len(words) > 0; words = words[2:] {
		i, ok := m.Index(kubeNames.Replace(words[0]))
		number, mi := strings.CutSuffix(words[1], "Mi")
		x, err := strconv.ParseFloat(number, 64)
		if !ok || err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if mi {
			x *= 1 << 20
		}
		v[i] = x
	}
	return v
}

// kubeConfig reads resources with their weights, as in "cpu 1 memory 2".
func kubeConfig(t testing.TB, kind scoring.ScoringType, resources string, shape ...scoring.ShapePoint) scoring.KubeConfig {
	t.Helper()
	cfg := scoring.KubeConfig{Type: kind, Shape: shape}
	words := strings.Fields(resources)
	for ; len(words) > 0; words = words[2:] {
		weight := testkit.Must(strconv.ParseInt(words[1], 10, 64))
		cfg.Resources = append(cfg.Resources, scoring.KubeResource{Name: kubeNames.Replace(words[0]), Weight: weight})
	}
	return cfg
}

func compileKube(cfg scoring.KubeConfig, m *vectormap.ResourceVectorMap, opts ...scoring.Option) *scoring.Kube {
	return testkit.Must(scoring.CompileKube(cfg, m, opts...))
}

// kubeNodes are the nodes of a case.
type kubeNodes struct {
	m                 *vectormap.ResourceVectorMap
	used, allocatable *vector.Matrix
}

// newKubeNodes reads lists of vectors, separated by commas; every node has
// a single one.
func newKubeNodes(t testing.TB, m *vectormap.ResourceVectorMap, capacity, used string) kubeNodes {
	t.Helper()
	capacities, uses := strings.Split(capacity, ", "), strings.Split(used, ", ")
	rows := max(len(capacities), len(uses))
	n := kubeNodes{m: m, used: m.NewMatrix(rows), allocatable: m.NewMatrix(rows)}
	for row := range rows {
		n.allocatable.SetRow(row, kubeAmounts(t, m, capacities[min(row, len(capacities)-1)]))
		n.used.SetRow(row, kubeAmounts(t, m, uses[min(row, len(uses)-1)]))
	}
	return n
}

// check compares all the ways to a score, and holds the explanation to it.
func (n kubeNodes) check(t *testing.T, k *scoring.Kube, request vector.ResourceVector, want []int64) {
	t.Helper()
	testkit.EachImpl(t, func(t *testing.T) {
		t.Helper()
		ints, floats := make([]int64, len(want)), make([]float64, len(want))
		err := errors.Join(
			scoring.ScoreInts(k, ints, request, n.used, n.allocatable, nil),
			scoring.ScoreBatch(k, floats, request, n.used, n.allocatable, nil))
		if err != nil {
			t.Fatal(err)
		}
		for row := range want {
			used, allocatable := n.used.Row(nil, row), n.allocatable.Row(nil, row)
			one, err1 := k.Score(request, used, allocatable)
			explanation, err2 := k.Explain(request, used, allocatable)
			testkit.Check(errors.Join(err1, err2))
			if w := want[row]; ints[row] != w || floats[row] != float64(w) || one != float64(w) || explanation.Total != float64(w) {
				t.Errorf("row %d: batch %d and %v, row %v, explained %v, want %d",
					row, ints[row], floats[row], one, explanation.Total, w)
			}
			sum := 0.0
			for _, d := range explanation.Terms[0].Dims {
				sum += d.Contribution
			}
			if explanation.Reason == "" && math.Abs(sum-explanation.Total) > 1e-9*explanation.Total {
				t.Errorf("row %d: contributions add up to %v: %v", row, sum, explanation)
			}
		}
	})
}

// TestKubeWorked has the cases of kube-scheduler's own tests, and some beyond.
func TestKubeWorked(t *testing.T) {
	const (
		least, most, balanced = scoring.LeastAllocated, scoring.MostAllocated, scoring.BalancedAllocation
		core                  = "cpu 1 memory 1"
	)
	for _, test := range []struct {
		kind                           scoring.ScoringType
		resources, capacity, used, pod string
		want                           []int64
	}{
		{least, core, "4000/10000, 4000/10000", "0/0", "0/0", []int64{100, 100}},
		{most, core, "4000/10000, 4000/10000", "0/0", "0/0", []int64{0, 0}},
		{balanced, core, "4000/10000, 4000/10000", "0/0", "0/0", []int64{0, 0}},

		{least, core, "4000/10000, 6000/10000", "0/0", "3000/5000", []int64{37, 50}},
		{most, core, "4000/10000, 6000/10000", "0/0", "3000/5000", []int64{62, 50}},
		{most, "cpu 1 memory 2", "4000/10000, 6000/10000", "0/0", "3000/5000", []int64{58, 50}},
		{balanced, core, "4000/10000, 6000/10000", "0/0", "3000/5000", []int64{68, 75}},

		{least, core, "10000/20000", "6000/0, 6000/5000", "0/0", []int64{70, 57}},
		{most, core, "10000/20000", "3000/0, 3000/5000", "3000/5000", []int64{42, 55}},
		{balanced, core, "10000/20000", "3000/0, 3000/5000", "3000/5000", []int64{73, 74}},
		{least, core, "10000/20000, 10000/50000", "3000/0, 3000/5000", "3000/5000", []int64{57, 60}},
		{least, core, "4000/10000", "3000/0, 3000/5000", "3000/0", []int64{50, 25}},
		{most, core, "5000/10000, 10000/9000", "0/0", "5000/9000", []int64{95, 75}},
		{most, core, "250/1000Mi", "200/400Mi, 0/0", "100/200Mi", []int64{80, 30}},

		{least, core + " foo 1", "6000/10000, 6000/10000 foo 4", "0/0", "3000/5000", []int64{50, 50}},
		{most, core + " foo 1", "6000/10000, 6000/10000 foo 4", "0/0", "3000/5000", []int64{50, 50}},
		{least, core + " foo 1", "6000/10000 foo 4, 6000/10000 foo 10", "0/0", "3000/5000 foo 2", []int64{50, 60}},
		{most, core + " foo 1", "6000/10000 foo 4, 6000/10000 foo 10", "0/0", "3000/5000 foo 2", []int64{50, 40}},
		{least, core, "4000/10000, 6000/10000", "2000/4000, 1000/2000", "1000/2000", []int64{32, 63}},
		{most, core, "4000/10000, 6000/10000", "2000/4000, 1000/2000", "1000/2000", []int64{67, 36}},

		{balanced, core, "3000/5000", "3000/0, 0/0", "0/5000", []int64{100, 50}},
		{balanced, core + " gpu 1", "3500/40000 gpu 8", "3000/5000 gpu 3, 3000/5000", "gpu 1", []int64{75, 76}},
		{balanced, core + " gpu 1", "3500/40000 gpu 8, 3500/40000", "0/0", "3000/5000", []int64{56, 56}},

		{least, core, "0/0, 0/0", "0/0, 4000/10000", "1000/2000", []int64{0, 0}},
		{balanced, "foo 1", "0/0", "0/0", "foo 1", []int64{75}},           // nothing to balance
		{balanced, "cpu 1 foo 1", "4000/0", "0/0", "1000/0", []int64{75}}, // one fraction
		{most, "gpu 1", "gpu 4", "gpu 0.5", "gpu 0.25", []int64{50}},
		{least, "disk 1", "disk 4", "disk 1", "0/0", []int64{75}}, // without being requested
		{least, "memory 1", "0/144115188075855872", "0/0", "0/1", []int64{99}},
		{most, "memory 1", "0/4503599627370497", "0/0", "0/1396115884484854", []int64{30}},
		{most, "memory 1", "0/9223372036854774784", "0/9223372036854774784", "0/9223372036854774784", []int64{100}},
		{most, "memory 1", "0/9000000000000000000", "0/0", "0/1e300", []int64{100}},
		{least, "memory 1", "0/9223372036854775808, 0/1000", "0/0, 0/9223372036854775808", "0/0", []int64{0, 0}},
	} {
		t.Run(fmt.Sprint(test.kind, " ", test.resources, " ", test.capacity, " ", test.used, " ", test.pod), func(t *testing.T) {
			m := kubeMap()
			k := compileKube(kubeConfig(t, test.kind, test.resources), m)
			newKubeNodes(t, m, test.capacity, test.used).check(t, k, kubeAmounts(t, m, test.pod), test.want)
		})
	}
}

func TestKubeRatio(t *testing.T) {
	falling := []scoring.ShapePoint{{0, 10}, {100, 0}}
	flat := []scoring.ShapePoint{{0, 0}, {100, 1}}
	for _, test := range []struct {
		shape                          []scoring.ShapePoint
		resources, capacity, used, pod string
		want                           []int64
	}{
		{falling, "cpu 1 memory 1", "4000/10000, 6000/10000", "0/0", "3000/5000", []int64{38, 50}},
		{falling, "cpu 1 memory 1", "4000/10000, 6000/10000", "2000/4000, 1000/2000", "3000/5000", []int64{10, 32}},
		{flat, "foo 1", "foo 8, foo 4", "0/0", "0/0", []int64{0, 0}},
		{flat, "foo 1", "foo 8, foo 4", "0/0", "foo 2", []int64{2, 5}},
		{flat, "foo 3 bar 5", "foo 8 bar 4, foo 4 bar 8", "0/0", "0/0", []int64{0, 0}},
		{flat, "foo 3 bar 5", "foo 8 bar 4, foo 4 bar 8", "0/0", "foo 2 bar 2", []int64{4, 3}},
		{flat, "foo 3 bar 5", "foo 8 bar 4, foo 4 bar 8", "0/0, foo 4 bar 2", "foo 2 bar 2", []int64{4, 7}},
		{[]scoring.ShapePoint{{50, 3}}, "cpu 1", "100/0", "0/0, 50/0, 200/0", "0/0", []int64{30, 30, 30}},
	} {
		t.Run(fmt.Sprint(test.shape, test.resources, test.used, test.pod), func(t *testing.T) {
			m := kubeMap()
			k := compileKube(kubeConfig(t, scoring.RequestedToCapacityRatio, test.resources, test.shape...), m)
			newKubeNodes(t, m, test.capacity, test.used).check(t, k, kubeAmounts(t, m, test.pod), test.want)
		})
	}
}

// TestKubeUnits scores amounts in thousandths.
func TestKubeUnits(t *testing.T) {
	m := kubeMap(vectormap.Milli("nvidia.com/gpu"))
	k := compileKube(kubeConfig(t, scoring.LeastAllocated, "gpu 1"), m)
	newKubeNodes(t, m, "gpu 3500", "gpu 1250").check(t, k, kubeAmounts(t, m, "gpu 500"), []int64{25})
}

// TestKubeShort: amounts beyond the end of a vector are 0.
func TestKubeShort(t *testing.T) {
	k := compileKube(kubeConfig(t, scoring.LeastAllocated, "cpu 1 memory 1"), kubeMap())
	if got, err := k.Score(vector.ResourceVector{1000}, nil, vector.ResourceVector{4000}); got != 75 || err != nil {
		t.Errorf("%v, %v", got, err)
	}
}

// TestKubeFaults lists what is wrong with configurations.
func TestKubeFaults(t *testing.T) {
	const least, balanced, ratio = scoring.LeastAllocated, scoring.BalancedAllocation, scoring.RequestedToCapacityRatio
	folded := testkit.Must(vectormap.New([]string{"nvidia.com/gpu", "amd.com/gpu"}, vectormap.FoldVendors()))
	line := []scoring.ShapePoint{{0, 0}, {100, 10}}
	for _, test := range []struct {
		kind      scoring.ScoringType
		resources string
		shape     []scoring.ShapePoint
		m         *vectormap.ResourceVectorMap
		paths     []string
		unknown   string
	}{
		{kind: least, resources: "cpu 1 memory 100 gpu 50"},
		{kind: least, resources: "cpu -1 memory 1", paths: []string{"resources[0].weight"}},
		{kind: least, resources: "cpu 101", paths: []string{"resources[0].weight"}},
		{kind: least, resources: "cpu 1 memory 101", paths: []string{"resources[1].weight"}},
		{kind: least, resources: "cpu 0 memory 101", paths: []string{"resources[0].weight", "resources[1].weight"}},
		{kind: least, paths: []string{"resources"}},
		{kind: "Least", resources: "cpu 1", paths: []string{"type"}},
		{kind: "", paths: []string{"resources", "type"}},
		{kind: least, resources: "cpu 1 memory 1 cpu 1", paths: []string{"resources[2].name"}},
		{kind: least, resources: "cpu 1 pods 1", paths: []string{"resources[1].name"}},
		{kind: least, resources: "nvidia.com/gpu 1 amd.com/gpu 1", m: folded, paths: []string{"resources[1].name"}},
		{kind: least, resources: "gpu 1 nvidia.com/gpu 1", m: folded, paths: []string{"resources[1].name"}},
		{kind: balanced, resources: "cpu 1 memory 2", paths: []string{"resources[1].weight"}},
		{kind: ratio, resources: "cpu 1", shape: line},
		{kind: ratio, resources: "cpu 1", paths: []string{"shape"}},
		{kind: ratio, resources: "cpu 1", shape: []scoring.ShapePoint{{-1, 0}, {101, 11}, {50, -1}},
			paths: []string{"shape[0].utilization", "shape[1].score", "shape[1].utilization", "shape[2].score", "shape[2].utilization"}},
		{kind: ratio, resources: "cpu 1", shape: []scoring.ShapePoint{{50, 0}, {50, 1}}, paths: []string{"shape[1].utilization"}},
		{kind: least, resources: "cpu 1", shape: []scoring.ShapePoint{{50, 11}}, paths: []string{"shape[0].score"}},
		{kind: least, resources: "example.com/b 1 cpu 1 example.com/a 1", unknown: "example.com/a, example.com/b"},
		{kind: least, resources: "example.com/b 1 cpu 1 example.com/b 1", paths: []string{"resources[2].name"}, unknown: "example.com/b"},
		{kind: "", resources: "example.com/b 0", paths: []string{"resources[0].weight", "type"}, unknown: "example.com/b"},
	} {
		m := test.m
		cfg := kubeConfig(t, test.kind, test.resources, test.shape...)
		if m == nil {
			m = kubeMap()
		} else {
			cfg.Resources = nil
			words := strings.Fields(test.resources)
			for ; len(words) > 0; words = words[2:] {
				cfg.Resources = append(cfg.Resources, scoring.KubeResource{Name: words[0], Weight: 1})
			}
		}
		k, err := scoring.CompileKube(cfg, m)
		if (k == nil) != (err != nil) {
			t.Errorf("%s %q: scorer %v, error %v", test.kind, test.resources, k, err)
		}
		paths, names := scoring.PathsOf(t, err)
		if !slices.Equal(paths, test.paths) || strings.Join(names, ", ") != test.unknown {
			t.Errorf("%s %q %v: got %q, unknown %q, want %q, %q", test.kind, test.resources, test.shape, paths, names, test.paths, test.unknown)
		}
	}
}

// TestKubeUnknown leaves out resources that the map does not have.
func TestKubeUnknown(t *testing.T) {
	m := kubeMap()
	for _, o := range []scoring.Option{scoring.AllowUnknown, scoring.Lenient} {
		k := compileKube(kubeConfig(t, scoring.LeastAllocated, "example.com/a 100 cpu 1"), m, o)
		if w := k.Warnings(); len(w) != 1 || w[0].Field != "resources[0].name" {
			t.Errorf("warnings: %v", w)
		}
		newKubeNodes(t, m, "1000/0", "250/0").check(t, k, nil, []int64{75})
	}
	k := compileKube(kubeConfig(t, scoring.LeastAllocated, "cpu 1", scoring.ShapePoint{}), m)
	if w := k.Warnings(); len(w) != 1 || w[0].Field != "shape" {
		t.Errorf("warnings: %v", w)
	}
}

// TestKubeExplain pins the parts of explanations.
func TestKubeExplain(t *testing.T) {
	m := kubeMap()
	type part struct {
		name   string
		status scoring.Status
		points float64
	}
	for _, test := range []struct {
		kind                           scoring.ScoringType
		resources, capacity, used, pod string
		total                          float64
		reason                         string
		parts                          []part
	}{
		{scoring.LeastAllocated, "memory 2 cpu 1 foo 1 gpu 1", "4000/10000 foo 2", "1000/2000 foo 1", "1000/3000 foo 2 bar 1", 37, "",
			[]part{{"memory", scoring.Scored, 37 * 100 / 150.}, {"cpu", scoring.Scored, 37 * 50 / 150.},
				{"example.com/foo", scoring.OverCapacity, 0}, {"gpu", scoring.NotRequested, 0},
				{"example.com/bar", scoring.NotConfigured, 0}}},
		{scoring.MostAllocated, "cpu 1 memory 1 gpu 1", "1000/-1", "500/0", "gpu 1", 0, "memory: an amount of the node is NaN, negative or too large",
			[]part{{"cpu", scoring.Scored, 50}, {"memory", scoring.BadValue, 0}, {"gpu", scoring.MissingOnNode, 0}}},
		{scoring.BalancedAllocation, "cpu 1 memory 1", "4000/10000", "0/0", "3000/5000", 68, "",
			[]part{{"cpu", scoring.Scored, 34}, {"memory", scoring.Scored, 34}}},
		{scoring.BalancedAllocation, "cpu 1", "4000/10000", "0/0", "0/0", 0, "the pod requests none of the resources that are balanced",
			[]part{{"cpu", scoring.NotRequested, 0}}},
		{scoring.BalancedAllocation, "foo 1", "4000/10000", "0/0", "foo 1", 75, "the node has none of the resources that are balanced",
			[]part{{"example.com/foo", scoring.MissingOnNode, 0}}},
	} {
		k := compileKube(kubeConfig(t, test.kind, test.resources), m)
		x := testkit.Must(k.Explain(kubeAmounts(t, m, test.pod), kubeAmounts(t, m, test.used), kubeAmounts(t, m, test.capacity)))
		term := x.Terms[0]
		if x.Total != test.total || x.Reason != test.reason || len(x.Terms) != 1 || term.Name != string(test.kind) || term.Score != test.total {
			t.Errorf("%s %q: %v %q\n%v", test.kind, test.resources, x.Total, x.Reason, x)
		}
		var parts []part
		for _, d := range term.Dims {
			parts = append(parts, part{d.Name, d.Status, d.Contribution})
		}
		if !slices.EqualFunc(parts, test.parts, func(a, b part) bool {
			return a.name == b.name && a.status == b.status && math.Abs(a.points-b.points) < 1e-9
		}) {
			t.Errorf("%s %q: got %v, want %v", test.kind, test.resources, parts, test.parts)
		}
	}
}

// kubeWorld is a random scorer with random nodes.
type kubeWorld struct {
	kubeNodes
	cfg     scoring.KubeConfig
	k       *scoring.Kube
	request vector.ResourceVector
}

func newKubeWorld(t testing.TB, r *rand.Rand, names, rows int) *kubeWorld {
	list := []string{"ephemeral-storage", "example.com/milli"}
	for i := range names {
		list = append(list, fmt.Sprintf("example.com/r%d", i))
	}
	m := testkit.Must(vectormap.New(list, vectormap.Milli("example.com/milli")))
	w := &kubeWorld{kubeNodes: kubeNodes{m, m.NewMatrix(rows), m.NewMatrix(rows)}, request: m.NewVector()}
	w.cfg.Type = []scoring.ScoringType{
		scoring.LeastAllocated, scoring.MostAllocated, scoring.RequestedToCapacityRatio, scoring.BalancedAllocation,
	}[r.IntN(4)]
	for i, name := range m.All() {
		if i != vectormap.Pods && r.IntN(3) > 0 || i == vectormap.CPU {
			weight := 1 + r.Int64N(100)
			if w.cfg.Type == scoring.BalancedAllocation {
				weight = 1
			}
			w.cfg.Resources = append(w.cfg.Resources, scoring.KubeResource{Name: name, Weight: weight})
		}
		if r.IntN(3) > 0 {
			w.request[i] = float64(r.IntN(2000))
		}
	}
	r.Shuffle(len(w.cfg.Resources), func(i, j int) {
		w.cfg.Resources[i], w.cfg.Resources[j] = w.cfg.Resources[j], w.cfg.Resources[i]
	})
	for u := r.Int64N(20); u <= 100; u += 1 + r.Int64N(40) {
		w.cfg.Shape = append(w.cfg.Shape, scoring.ShapePoint{Utilization: u, Score: r.Int64N(11)})
	}
	w.k = compileKube(w.cfg, m)
	specials := testkit.Specials()
	amount := func() float64 {
		switch r.IntN(40) {
		case 0:
			return specials[r.IntN(len(specials))]
		case 1:
			return math.Ldexp(r.Float64(), r.IntN(64))
		case 2, 3, 4:
			return 0
		case 5:
			return 4000 * r.Float64()
		}
		return float64(r.IntN(4000))
	}
	v := m.NewVector()
	for row := range rows {
		for _, x := range []*vector.Matrix{w.used, w.allocatable} {
			for i := range v {
				v[i] = amount()
			}
			x.SetRow(row, v)
		}
	}
	return w
}

// golden returns the score of one row.
func (w *kubeWorld) golden(row int) int64 {
	var amounts []testkit.KubeAmounts
	idle := true
	for _, resource := range w.cfg.Resources {
		i, _ := w.m.Index(resource.Name)
		scale := 1.0
		if resource.Name == "example.com/milli" {
			scale = 1000
		}
		p := math.Ceil(w.request[i] / scale)
		idle = idle && p == 0
		core := resource.Name == "cpu" || resource.Name == "memory" || resource.Name == "ephemeral-storage"
		if p == 0 && !core {
			continue
		}
		amounts = append(amounts, testkit.KubeAmounts{
			Used: w.used.At(row, i), Allocatable: w.allocatable.At(row, i), Request: p, Weight: resource.Weight, Scale: scale,
		})
	}
	kinds := map[scoring.ScoringType]kernel.KubeType{
		scoring.LeastAllocated: kernel.KubeLeast, scoring.MostAllocated: kernel.KubeMost,
		scoring.RequestedToCapacityRatio: kernel.KubeRatio, scoring.BalancedAllocation: kernel.KubeBalanced,
	}
	if idle && w.cfg.Type == scoring.BalancedAllocation {
		return 0
	}
	return testkit.KubeScore(kinds[w.cfg.Type], amounts, w.shape)
}

// shape is the function of the configuration.
func (w *kubeWorld) shape(v int64) int64 {
	points := w.cfg.Shape
	last := points[len(points)-1]
	switch {
	case v <= points[0].Utilization:
		return 10 * points[0].Score
	case v >= last.Utilization:
		return 10 * last.Score
	}
	i := slices.IndexFunc(points, func(p scoring.ShapePoint) bool { return v <= p.Utilization })
	a, b := points[i-1], points[i]
	return 10*a.Score + 10*(b.Score-a.Score)*(v-a.Utilization)/(b.Utilization-a.Utilization)
}

// checkGolden compares every row, and a masked batch.
func (w *kubeWorld) checkGolden(t *testing.T, r *rand.Rand) {
	t.Helper()
	rows := w.used.Rows()
	want, dst := make([]int64, rows), make([]int64, rows)
	for row := range want {
		want[row] = w.golden(row)
	}
	w.check(t, w.k, w.request, want)
	mask := vector.NewMask(rows)
	for row := range rows {
		if r.IntN(3) == 0 {
			mask.Set(row)
		}
		dst[row] = -1
	}
	testkit.Check(scoring.ScoreInts(w.k, dst, w.request, w.used, w.allocatable, mask))
	for row, got := range dst {
		if mask.Test(row) && got != want[row] || !mask.Test(row) && got != -1 {
			t.Fatalf("masked row %d: got %d, want %d", row, got, want[row])
		}
	}
}

// TestKubeGolden compares random scorers with the golden model, some of them of
// more resources than the kernels take.
func TestKubeGolden(t *testing.T) {
	r := testkit.Rand(11)
	for i := range 150 {
		names := r.IntN(8)
		if i%10 == 0 {
			names = 60
		}
		newKubeWorld(t, r, names, r.IntN(100)).checkGolden(t, r)
	}
}

func FuzzKube(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed, uint8(5), uint8(40))
	}
	f.Fuzz(func(t *testing.T, seed uint64, names, rows uint8) {
		r := testkit.Rand(seed)
		newKubeWorld(t, r, int(names)%64, int(rows)).checkGolden(t, r)
	})
}
