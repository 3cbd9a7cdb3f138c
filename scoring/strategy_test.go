package scoring_test

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

type strategyVec = vector.ResourceVector

const (
	strategyGPU, strategyFoo = "nvidia.com/gpu", "example.com/foo"
	strategyT4, strategyA10  = "nvidia.com/t4", "nvidia.com/a10"
	strategyV100             = "nvidia.com/gpu-v100"
	strategyA100             = "nvidia.com/gpu-a100"
)

// strategyShort are the names that tables of this file use.
var strategyShort = map[string]string{
	"gpu": strategyGPU, "foo": strategyFoo, "t4": strategyT4, "a10": strategyA10, "v100": strategyV100, "a100": strategyA100,
	"mem": "memory", "amd": "amd.com/gpu",
}

func strategyName(short string) string {
	if name, ok := strategyShort[short]; ok {
		return name
	}
	return short
}

func strategyMap(t testing.TB, names ...string) *vectormap.ResourceVectorMap {
	t.Helper()
	for i, name := range names {
		names[i] = strategyName(name)
	}
	return testkit.Must(vectormap.New(names))
}

// strategyRow reads amounts in units of the map, such as "cpu 4000 mem 4Gi gpu 2".
func strategyRow(t testing.TB, m *vectormap.ResourceVectorMap, text string) strategyVec {
	t.Helper()
	v, fields := m.NewVector(), strings.Fields(text)
	for k := 0; k < len(fields); k += 2 {
		i, ok := m.Index(strategyName(fields[k]))
		if !ok {
			t.Fatalf("%q is not in the map", fields[k])
		}
		switch x := fields[k+1]; x {
		case "NaN":
			v[i] = math.NaN()
		case "Inf":
			v[i] = math.Inf(1)
		default:
			q := resource.MustParse(x)
			v[i] = q.AsApproximateFloat64()
		}
	}
	return v
}

// strategyRules reads rules such as "cpu Most2 mem Least1".
func strategyRules(text string) map[string]scoring.FitRule {
	rules, fields := map[string]scoring.FitRule{}, strings.Fields(text)
	for k := 0; k < len(fields); k += 2 {
		kind, digits := scoring.MostAllocated, strings.TrimPrefix(fields[k+1], "Most")
		if rest, ok := strings.CutPrefix(fields[k+1], "Least"); ok {
			kind, digits = scoring.LeastAllocated, rest
		}
		var weight int64
		fmt.Sscan(digits, &weight)
		rules[strategyName(fields[k])] = scoring.FitRule{Type: kind, Weight: weight}
	}
	return rules
}

// sameStrategyScore says whether a score is what a table says.
func sameStrategyScore(got, want float64) bool { return math.Abs(got-want) <= 1e-8 }

// strategyScores returns what Score says of every node, "allocatable; used", and
// checks that ScoreBatch says the same with every implementation, and Explain
// too.
func strategyScores(t *testing.T, s scoring.Scorer, m *vectormap.ResourceVectorMap, pod string, nodes []string) []float64 {
	t.Helper()
	request := strategyRow(t, m, pod)
	used, allocatable := m.NewMatrix(len(nodes)), m.NewMatrix(len(nodes))
	var scores []float64
	for r, node := range nodes {
		a, u, _ := strings.Cut(node, ";")
		av, uv := strategyRow(t, m, a), strategyRow(t, m, u)
		allocatable.SetRow(r, av)
		used.SetRow(r, uv)
		score := testkit.Must(s.Score(request, uv, av))
		scores = append(scores, score)
		checkStrategyExplanation(t, s, request, uv, av, score)
	}
	testkit.EachImpl(t, func(t *testing.T) {
		dst := make([]float64, len(nodes))
		testkit.Check(scoring.ScoreBatch(s, dst, request, used, allocatable, nil))
		if i := testkit.Difference(dst, scores); i >= 0 {
			t.Errorf("%s: ScoreBatch gives %v, Score %v", pod, dst, scores)
		}
	})
	return scores
}

// checkStrategyExplanation checks that the contributions add up.
func checkStrategyExplanation(t *testing.T, s scoring.Scorer, request, used, allocatable strategyVec, score float64) scoring.Explanation {
	t.Helper()
	e := testkit.Must(s.Explain(request, used, allocatable))
	for _, term := range e.Terms {
		last := -1
		for _, d := range term.Dims {
			if d.Index >= 0 && d.Index <= last {
				t.Errorf("dimension %d after %d", d.Index, last)
			}
			last = d.Index
		}
	}
	wantExplained(t, "strategy", e, score)
	return e
}

func wantStrategy(t *testing.T, what string, got []float64, want ...float64) {
	t.Helper()
	if !slices.EqualFunc(got, want, sameStrategyScore) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func compileStrategyFit(m *vectormap.ResourceVectorMap, weight int64, rules string) *scoring.Strategy {
	return compileStrategy(m, scoring.StrategyConfig{Fit: scoring.StrategyFitConfig{Weight: &weight, Resources: strategyRules(rules)}})
}

// One node, two resources.
func TestStrategyFitOneNode(t *testing.T) {
	m := strategyMap(t)
	for _, c := range []struct {
		rules, request, used, allocatable string
		want                              float64
	}{
		{rules: "cpu Least1 mem Least1", want: 400},
		{rules: "cpu Most1 mem Most1", want: 600},
		{rules: "cpu Least2 mem Most1", want: 466.66666667},
		{rules: "cpu Least1 mem Most2", request: "cpu 0 mem 100", want: 600},
		{rules: "cpu Least1 mem Most2", allocatable: "cpu 0 mem 400", want: 500},
		{rules: "cpu Least1 mem Least1", request: "cpu 0 mem 0", want: 0},
		{rules: "cpu Most1 mem Most1", request: "cpu 1", used: "cpu 0", allocatable: "cpu 0", want: 0},
		{rules: "cpu Most1 mem Most1", request: "cpu 300 mem 300", want: 1000},
		{rules: "cpu Most1 mem Most1", request: "cpu 301 mem 100", want: 0},
		{rules: "cpu Most0 mem Least-3", want: 500},
		{rules: "cpu Most1", request: "mem 100", want: 0},
		{rules: "cpu Least1 mem Least1", used: "cpu 500 mem 500", want: 0},
		{rules: "", want: 0}, // no rule at all
		{rules: "cpu Most1", request: "cpu 1 mem 9999", want: 402},                         // no rule: not guarded
		{rules: "cpu Most1 pods Least1", request: "cpu 100 pods 1", want: 300},             // missing: stays in W
		{rules: "cpu Most1 mem Most1", used: "cpu 500.5 mem 200", want: 0},                 // over already
		{rules: "cpu Most1 mem Most1", used: "cpu 0", request: "cpu 500 mem 1", want: 501}, // full and nearly empty
	} {
		c.request = cmp.Or(c.request, "cpu 100 mem 100")
		c.used = cmp.Or(c.used, "cpu 200 mem 200")
		c.allocatable = cmp.Or(c.allocatable, "cpu 500 mem 500")
		f := compileStrategyFit(m, 10, c.rules)
		got := strategyScores(t, f, m, c.request, []string{c.allocatable + ";" + c.used})
		wantStrategy(t, fmt.Sprintf("%+v", c), got, c.want)
	}
}

func TestStrategyFitOverride(t *testing.T) {
	m := strategyMap(t)
	f := compileStrategyFit(m, 10, "cpu Least1 mem Least1")
	for _, c := range []struct {
		kind, weights, request string
		opts                   []scoring.Option
		want                   float64
	}{
		{kind: "LeastAllocated", weights: `{"cpu":2,"memory":1}`, want: 400},
		{kind: "LeastAllocated", weights: `{"cpu":2}`, want: 400},
		{kind: "LeastAllocated", weights: `invalid-json`, opts: []scoring.Option{scoring.Lenient}, want: 0},
		{kind: "MostAllocated", weights: `{"cpu":0,"memory":2}`, request: "cpu 400 mem 100", want: 600},
		{kind: "", weights: `{"cpu":2}`, want: 400},
		{kind: "MostAllocated", weights: `{"cpu":1}`, request: "mem 100", want: 0},
	} {
		c.request = cmp.Or(c.request, "cpu 100 mem 100")
		annotations := map[string]string{
			"volcano.sh/resource-strategy-scoring-type": c.kind, "volcano.sh/resource-strategy-weight": c.weights,
		}
		o, _, err := scoring.ParsePodOverride(annotations, m, c.opts...)
		if err != nil {
			t.Fatal(err)
		}
		nodes := []string{"cpu 500 mem 500; cpu 200 mem 200"}
		own := f
		if o != nil {
			own = f.WithOverride(o)
		}
		wantStrategy(t, fmt.Sprintf("%+v", c), strategyScores(t, own, m, c.request, nodes), c.want)
	}
}

func TestStrategyOverrideOfAnotherMap(t *testing.T) {
	f := compileStrategyFit(strategyMap(t), 10, "cpu Least1")
	annotations := map[string]string{scoring.ScoringTypeAnnotation: "MostAllocated", scoring.WeightAnnotation: `{"cpu":1}`}
	parse := func(m *vectormap.ResourceVectorMap) *scoring.PodOverride {
		o, _, err := scoring.ParsePodOverride(annotations, m)
		testkit.Check(err)
		return o
	}
	f.WithOverride(parse(strategyMap(t))) // an equal one
	if got := testkit.Recovered(func() { f.WithOverride(parse(strategyMap(t, "gpu"))) }); got != "scoring: override of another map" {
		t.Errorf("panic %v", got)
	}
}

// Several nodes: every one has cpu 4000, memory 4 Gi and 10 pods, and the pod
// asks for cpu 1000, unless there is more to say.
func TestStrategyFitNodes(t *testing.T) {
	m := strategyMap(t, "gpu", "foo")
	node := func(more string) string { return "cpu 4000 mem 4Gi pods 10 " + more }
	four := []string{node("gpu 10"), node("gpu 5"), node("foo 10"), node("foo 5")}
	f := compileStrategyFit(m, 10, "gpu Most1 foo Least1")
	wantStrategy(t, "foo", strategyScores(t, f, m, "cpu 1000 foo 2", four), 0, 0, 800, 600)
	wantStrategy(t, "gpu", strategyScores(t, f, m, "cpu 1000 gpu 2", four), 200, 400, 0, 0)

	f = compileStrategyFit(m, 10, "gpu Most1 foo Least2")
	wantStrategy(t, "an absent gpu stays in W", strategyScores(t, f, m, "cpu 1000 gpu 4 foo 4", []string{node("foo 10")}), 400)

	f = compileStrategyFit(m, 10, "gpu Most2 cpu Least1")
	two := []string{"gpu 10 cpu 5000", "gpu 10 cpu 5000; gpu 2 cpu 1000"}
	wantStrategy(t, "used", strategyScores(t, f, m, "cpu 1000 gpu 2", two), 400, 466.66666667)

	m = strategyMap(t, "v100", "a100", "amd")
	f = compileStrategyFit(m, 10, "v100 Most3 nvidia.com/gpu/* Most2 amd.com/gpu/* Least2 cpu Least1")
	two = []string{"cpu 64000 v100 8; cpu 16000 v100 2", "cpu 64000 a100 8; cpu 16000 a100 2"}
	wantStrategy(t, "wildcards", strategyScores(t, f, m, "cpu 16000 a100 2", two), 166.66666667, 500)
}

func compileStrategy(m *vectormap.ResourceVectorMap, cfg scoring.StrategyConfig, opts ...scoring.Option) *scoring.Strategy {
	return testkit.Must(scoring.CompileStrategy(cfg, m, opts...))
}

// bestPractice is the configuration that Volcano's design document recommends.
func bestPractice() scoring.StrategyConfig {
	return scoring.StrategyConfig{
		Fit: scoring.StrategyFitConfig{Resources: strategyRules("gpu Most2 cpu Least1")},
		SRA: &scoring.SRAConfig{Weight: 10, Resources: []string{strategyGPU}, ResourceWeight: map[string]int64{strategyGPU: 1}},
	}
}

func TestStrategyBundle(t *testing.T) {
	m := strategyMap(t, "gpu")
	s := compileStrategy(m, bestPractice())
	nodes := []string{"cpu 64000 gpu 8; cpu 16000 gpu 4", "cpu 64000; cpu 16000"}
	wantStrategy(t, "a pod with a gpu", strategyScores(t, s, m, "cpu 8000 gpu 1", nodes), 625, 208.33333333)
	wantStrategy(t, "a pod without", strategyScores(t, s, m, "cpu 8000", nodes), 625, 1625)
	wantStrategy(t, "over capacity", strategyScores(t, s, m, "cpu 60000", nodes), 0, 1000)
}

func TestSRA(t *testing.T) {
	seed := strategyMap(t, "t4", "a10")
	seedNodes := []string{"cpu 32 mem 64Gi", "cpu 16 mem 32Gi t4 10", "cpu 16 mem 32Gi t4 5 a10 10"}
	nodes := []string{
		"cpu 32000 mem 64Gi pods 10", "cpu 8000 mem 16Gi pods 10 t4 16", "cpu 8000 mem 16Gi pods 10 a10 16",
		"cpu 8000 mem 16Gi pods 10 t4 8 a10 16",
	}
	const p1, p2, p3, p4 = "cpu 1000 mem 1Gi", "cpu 1500 t4 2", "cpu 2000 mem 4Gi a10 2", "cpu 3000 mem 4Gi t4 1 a10 3"
	both := []string{strategyT4, strategyA10}
	sra := func(weight int64, names []string, weights map[string]int64) *scoring.SRAConfig {
		return &scoring.SRAConfig{Weight: weight, Resources: names, ResourceWeight: weights}
	}
	off, eight := int64(0), int64(8)
	noFit := scoring.StrategyFitConfig{Weight: &off}
	fit := scoring.StrategyFitConfig{Weight: &eight, Resources: strategyRules("t4 Most3 cpu Least1")}
	for _, c := range []struct {
		fit   scoring.StrategyFitConfig
		sra   *scoring.SRAConfig
		nodes []string
		pod   string
		want  []float64
	}{
		{noFit, sra(2, both, nil), seedNodes, "cpu 2 mem 4Gi", []float64{200, 100, 0}},
		{noFit, sra(2, both, nil), seedNodes, "cpu 2 mem 4Gi t4 2", []float64{0, 100, 0}},
		{noFit, sra(2, both, nil), seedNodes, "cpu 2 mem 4Gi t4 1 a10 2", []float64{0, 0, 0}},
		{noFit, sra(5, both, map[string]int64{strategyT4: 2, strategyA10: 3}), nodes, p1, []float64{500, 300, 200, 0}},
		{noFit, sra(5, both, map[string]int64{strategyT4: 2, strategyA10: 3}), nodes, p2, []float64{0, 300, 0, 0}},
		{noFit, sra(5, both, map[string]int64{strategyT4: 2, strategyA10: 3}), nodes, p3, []float64{0, 0, 200, 0}},
		{noFit, sra(5, both, map[string]int64{strategyT4: 2, strategyA10: 3}), nodes, p4, []float64{0, 0, 0, 0}},
		{fit, sra(0, both, nil), nodes, p1, []float64{775, 700, 700, 700}},
		{fit, sra(0, both, nil), nodes, p2, []float64{190.625, 237.5, 162.5, 312.5}},
		{fit, sra(0, both, nil), nodes, p4, []float64{181.25, 162.5, 125, 200}},
		{fit, sra(5, []string{strategyT4}, map[string]int64{strategyT4: 2}), nodes, p1, []float64{1275, 700, 1200, 700}},
		{fit, sra(5, []string{strategyT4}, map[string]int64{strategyT4: 2}), nodes, p3, []float64{750, 600, 1100, 600}},
		{noFit, sra(5, []string{strategyT4, strategyT4}, nil), nodes, p1, []float64{500, 0, 500, 0}},
		{noFit, sra(5, []string{strategyT4}, map[string]int64{strategyT4: 0}), nodes, p1, []float64{0, 0, 0, 0}},
		{noFit, sra(0, []string{strategyT4}, nil), nodes, p1, []float64{0, 0, 0, 0}},
		{noFit, sra(2, both, nil), []string{"cpu 1 t4 NaN", "cpu 1 t4 Inf", "cpu NaN", "cpu 1 t4 -1"}, "cpu 2", []float64{200, 100, 0, 200}},
	} {
		s := compileStrategy(seed, scoring.StrategyConfig{Fit: c.fit, SRA: c.sra})
		what := fmt.Sprintf("%+v, %s", *c.sra, c.pod)
		wantStrategy(t, what, strategyScores(t, s, seed, c.pod, c.nodes), c.want...)
	}
}

// TestStrategyParentheses has scores, to the bit, in which the order of multiplications and
// divisions shows: any other order is an ulp off.
func TestStrategyParentheses(t *testing.T) {
	m := strategyMap(t, "t4", "a10")
	off := int64(0)
	sra := func(weight, t4, a10 int64) *scoring.Strategy {
		return compileStrategy(m, scoring.StrategyConfig{
			Fit: scoring.StrategyFitConfig{Weight: &off},
			SRA: &scoring.SRAConfig{Weight: weight, Resources: []string{strategyT4, strategyA10}, ResourceWeight: map[string]int64{strategyT4: t4, strategyA10: a10}},
		})
	}
	for _, c := range []struct {
		s                  *scoring.Strategy
		request, used, has string
		want               float64
	}{
		{compileStrategyFit(m, 10, "cpu Most7 mem Most2"), "cpu 1 mem 1", "cpu 1", "cpu 3 mem 3", 592.5925925925927},
		{compileStrategyFit(m, 3, "cpu Most7 mem Most2"), "cpu 1 mem 1", "", "cpu 5 mem 3", 68.88888888888889},
		{compileStrategyFit(m, 3, "cpu Least5 mem Least1"), "cpu 1 mem 1", "mem 3", "cpu 5 mem 5", 210.00000000000003},
		{sra(3, 3, 4), "cpu 1", "", "cpu 4 a10 1", 128.57142857142858},
		{sra(3, 1, 8), "cpu 1", "", "cpu 4 a10 1", 33.333333333333336},
	} {
		got := testkit.Must(c.s.Score(strategyRow(t, m, c.request), strategyRow(t, m, c.used), strategyRow(t, m, c.has)))
		if got != c.want {
			t.Errorf("%s on %s: %v, want %v", c.request, c.has, got, c.want)
		}
	}
}

// TestSRAOutside gives weight to a scarce resource that no node can have.
func TestSRAOutside(t *testing.T) {
	m := strategyMap(t, "t4")
	s, err := scoring.CompileStrategy(scoring.StrategyConfig{
		Fit: scoring.StrategyFitConfig{Weight: new(int64)}, SRA: &scoring.SRAConfig{Weight: 2, Resources: []string{strategyT4, strategyA10}},
	}, m, scoring.AllowUnknown)
	if err != nil || len(s.Warnings()) != 1 {
		t.Fatalf("error %v, warnings %v", err, s.Warnings())
	}
	got := strategyScores(t, s, m, "cpu 1", []string{"cpu 1", "cpu 1 t4 1"})
	wantStrategy(t, "outside", got, 200, 100)
}

func compileProportional(t testing.TB, m *vectormap.ResourceVectorMap, ratio float64) *scoring.Proportional {
	t.Helper()
	p := testkit.Must(scoring.CompileProportional(scoring.ProportionalConfig{
		Resources: []string{strategyGPU}, Proportion: map[string]float64{strategyGPU + ".cpu": ratio, strategyGPU + ".memory": ratio},
	}, m))
	return p
}

func TestProportional(t *testing.T) {
	m := strategyMap(t, "gpu")
	gpu, _ := m.Index(strategyGPU)
	cpu, _ := m.Index("cpu")
	memory, _ := m.Index("memory")
	ok := scoring.Result{OK: true, Primary: -1, Secondary: -1}
	exempt := scoring.Result{OK: true, Exempt: true, Primary: -1, Secondary: -1}
	nan := math.NaN()
	for _, c := range []struct {
		ratio          float64
		allocatable, u string
		pod            string
		want           scoring.Result
	}{
		{8, "cpu 74000 mem 128G gpu 8", "", "cpu 8000 mem 8G", ok},
		{8, "cpu 74000 mem 128G gpu 8", "cpu 8000 mem 8G", "cpu 8000 mem 8G", scoring.Result{Primary: gpu, Secondary: cpu, Needed: 64000, Left: 58000}},
		{4, "cpu 30000 mem 30G gpu 6", "", "cpu 4000 mem 4G", ok},
		{4, "cpu 30000 mem 30G gpu 6", "", "cpu 10000 mem 10G gpu 1", exempt},
		{4, "cpu 30000 mem 30G gpu 6", "", "cpu 6000 mem 6G", ok},
		{4, "cpu 30000 mem 30G gpu 6", "", "cpu 1000 mem 6000000001", scoring.Result{Primary: gpu, Secondary: memory, Needed: 24e9, Left: 23999999999}},
		{4, "cpu 4000 mem 4G", "", "cpu 4000 mem 4G", ok},
		{4, "cpu 4000 mem 4G", "", "gpu 1", exempt},
		{4, "cpu 30000 mem 30G gpu 6", "gpu 6", "cpu 30000 mem 30G", ok}, // none idle
		{4, "cpu 30000 mem 30G gpu 6", "gpu 7 cpu 30000", "mem 30G", ok}, // more than all in use
		{4, "cpu 3000 mem 30G gpu 1", "gpu 0.5", "cpu 1000", ok},         // half a device: half the reserve
		{4, "cpu 3000 mem 30G gpu 1", "gpu 0.5", "cpu 1001", scoring.Result{Primary: gpu, Secondary: cpu, Needed: 2000, Left: 1999}},
		{0, "cpu 3000 mem 30G gpu 1", "cpu 3000", "", ok}, // no reserve
		{0, "cpu 3000 mem 30G gpu 1", "cpu 3001", "", scoring.Result{Primary: gpu, Secondary: cpu, Needed: 0, Left: -1}},
		{-1, "cpu 999 mem 30G gpu 1", "", "", scoring.Result{Primary: gpu, Secondary: cpu, Needed: 1000, Left: 999}}, // the default is 1
		{1, "cpu 3000 mem 30G gpu NaN", "", "", scoring.Result{Primary: gpu, Secondary: cpu, Needed: nan, Left: 3000}},
		{1, "cpu NaN mem 30G gpu 1", "", "", scoring.Result{Primary: gpu, Secondary: cpu, Needed: 1000, Left: nan}},
		{1, "cpu NaN mem 30G", "", "", ok},
		{1, "cpu 3000 mem 30G gpu -1", "", "", ok},
	} {
		p := compileProportional(t, m, c.ratio)
		request, used, allocatable := strategyRow(t, m, c.pod), strategyRow(t, m, c.u), strategyRow(t, m, c.allocatable)
		got, err := p.Check(request, used, allocatable)
		if err != nil || !sameReserve(got, c.want) {
			t.Errorf("%+v: got %+v, %v", c, got, err)
		}
	}
}

func sameReserve(x, y scoring.Result) bool {
	return x.OK == y.OK && x.Exempt == y.Exempt && x.Primary == y.Primary && x.Secondary == y.Secondary &&
		testkit.Same(x.Needed, y.Needed) && testkit.Same(x.Left, y.Left)
}

// TestProportionalMilli counts the primary in thousandths.
func TestProportionalMilli(t *testing.T) {
	m := testkit.Must(vectormap.New([]string{strategyGPU}, vectormap.Milli(strategyGPU)))
	p := compileProportional(t, m, 4)
	gpu, _ := m.Index(strategyGPU)
	cpu, _ := m.Index("cpu")
	got, err := p.Check(strategyRow(t, m, "cpu 10000 mem 10G"), nil, strategyRow(t, m, "cpu 30000 mem 30G gpu 6000"))
	if want := (scoring.Result{Primary: gpu, Secondary: cpu, Needed: 24000, Left: 20000}); err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

// TestStrategyBadRows has one bad cell in each of several rows.
func TestStrategyBadRows(t *testing.T) {
	m := strategyMap(t)
	f := compileStrategyFit(m, 1, "cpu Most1 mem Most1")
	nodes := []string{"cpu 1000; cpu NaN", "cpu Inf; cpu 100", "cpu 1000; cpu -1", "cpu -5; cpu 0", "cpu 1000; cpu 100"}
	for i, node := range nodes {
		a, u, _ := strings.Cut(node, ";")
		nodes[i] = a + " mem 1000;" + u + " mem 100"
	}
	wantStrategy(t, "bad rows", strategyScores(t, f, m, "cpu 100 mem 100", nodes), 0, 0, 0, 0, 20)
}

// TestProportionalErrors checks every operand that is refused, and that nothing is
// written then.
func TestProportionalErrors(t *testing.T) {
	m := strategyMap(t, "gpu")
	p, nodes := compileProportional(t, m, 1), m.NewNodes()
	for _, name := range []string{"a", "b", "c"} {
		setNode(nodes, name, strategyVec{1000}, nil)
	}
	other := strategyMap(t, "gpu", "foo").NewNodes()
	for _, c := range []struct {
		name    string
		nodes   *vector.Nodes
		request strategyVec
		rows    *vector.Mask
		want    error
	}{
		{"another map", other, nil, nil, vector.ErrSchema},
		{"a long request", nodes, make(strategyVec, m.Len()+1), nil, vector.ErrShape},
		{"mask", nodes, nil, vector.NewMask(4), vector.ErrShape},
		{"NaN", nodes, strategyVec{0, math.NaN()}, nil, vector.ErrNotRepresentable},
		{"negative", nodes, strategyVec{-1}, nil, vector.ErrNegative},
	} {
		mask := vector.NewMask(1)
		if err := p.Filter(mask, c.nodes, c.request, c.rows); !errors.Is(err, c.want) || mask.Len() != 1 {
			t.Errorf("%s: %v, want %v; a mask of %d", c.name, err, c.want, mask.Len())
		}
	}
	if _, err := p.Check(nil, make(strategyVec, m.Len()+1), nil); !errors.Is(err, vector.ErrShape) {
		t.Errorf("a long row: %v", err)
	}
}

// TestStrategyUnknown reports the names of all policies at once.
func TestStrategyUnknown(t *testing.T) {
	m := strategyMap(t)
	cfg := scoring.StrategyConfig{
		Fit: scoring.StrategyFitConfig{Resources: strategyRules("cpu Most1 a10 Most1 amd.com/gpu/* Least1")},
		SRA: &scoring.SRAConfig{Weight: 1, Resources: []string{strategyT4}},
	}
	s, err := scoring.CompileStrategy(cfg, m)
	var unknown *vectormap.UnknownResourcesError
	if !errors.As(err, &unknown) || !errors.Is(err, vectormap.ErrUnknownResource) || !slices.Equal(unknown.Names, []string{strategyA10, strategyT4}) || s != nil {
		t.Errorf("got %v, %v", s, err)
	}
	if s, err = scoring.CompileStrategy(cfg, m, scoring.AllowUnknown); err != nil || len(s.Warnings()) != 3 {
		t.Errorf("got %v, %v", s, err)
	}
}

// TestStrategyParts checks the accessors, and what is off.
func TestStrategyParts(t *testing.T) {
	m := strategyMap(t, "gpu")
	s := compileStrategy(m, scoring.StrategyConfig{})
	if s.Proportional() != nil {
		t.Errorf("got %v", s.Proportional())
	}
	var got []string
	for index, key := range s.Resolved() {
		got = append(got, m.Name(index)+" by "+key)
	}
	if want := []string{"cpu by cpu", "memory by memory"}; !slices.Equal(got, want) {
		t.Errorf("default rules are %q", got)
	}
	for range s.Resolved() {
		break
	}

	zero := int64(0)
	s = compileStrategy(m, scoring.StrategyConfig{
		Fit: scoring.StrategyFitConfig{Weight: &zero}, SRA: &scoring.SRAConfig{Resources: []string{strategyGPU}},
		Proportional: &scoring.ProportionalConfig{},
	})
	if s.Proportional().Enabled() {
		t.Error("something is on")
	}
	nodes, dst := m.NewNodes(), []float64{-1, -1}
	setNode(nodes, "a", nil, nil)
	setNode(nodes, "b", strategyVec{1}, nil)
	if err := scoring.Bind(s, nodes).Score(dst, vector.PodAmounts{Requested: strategyVec{1}}, nil); err != nil || dst[0] != 0 || dst[1] != 0 {
		t.Errorf("got %v, %v", dst, err)
	}
	var mask vector.Mask
	if err := s.Proportional().Filter(&mask, nodes, nil, nil); err != nil || mask.Count() != 2 {
		t.Errorf("%d rows pass, %v", mask.Count(), err)
	}
}

// TestStrategyExplain says for every resource what became of it.
func TestStrategyExplain(t *testing.T) {
	m := strategyMap(t, "gpu", "foo", "t4", "a10")
	explain := func(s scoring.Scorer, pod, allocatable, used string) scoring.Explanation {
		t.Helper()
		request, a, u := strategyRow(t, m, pod), strategyRow(t, m, allocatable), strategyRow(t, m, used)
		score := testkit.Must(s.Score(request, u, a))
		return checkStrategyExplanation(t, s, request, u, a, score)
	}
	fit := compileStrategyFit(m, 10, "gpu Most1 foo Least2 cpu Most1")
	sra := compileStrategy(m, scoring.StrategyConfig{
		Fit: scoring.StrategyFitConfig{Weight: new(int64)},
		SRA: &scoring.SRAConfig{Weight: 10, Resources: []string{strategyT4, strategyA10}, ResourceWeight: map[string]int64{strategyA10: 0}},
	})
	o, _, err := scoring.ParsePodOverride(map[string]string{
		"volcano.sh/resource-strategy-scoring-type": "MostAllocated", "volcano.sh/resource-strategy-weight": `{"cpu":0,"nvidia.com/gpu":1}`,
	}, m)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name                   string
		scorer                 scoring.Scorer
		pod, allocatable, used string
		total                  float64
		reason                 string
		want                   string
	}{
		{"missing", fit, "mem 1 gpu 4 foo 4", "foo 10 mem 4", "", 400, "",
			"cpu NotRequested 0, memory NotConfigured 0, foo Scored 400, gpu MissingOnNode 0"},
		{"over", fit, "gpu 4 foo 4", "foo 10 gpu 3", "", 0, "gpu: more than the node has",
			"cpu NotRequested 0, foo Scored 400, gpu OverCapacity 0"},
		{"bad", fit, "gpu 4 foo 4 cpu 1", "foo 3 gpu 8 cpu 10", "cpu NaN", 0, "cpu: an amount of the node is NaN, infinite or negative",
			"cpu BadValue 0, foo OverCapacity 0, gpu Scored 125"},
		{"inert", fit.WithOverride(o), "gpu 4 foo 4 cpu 99", "foo 3 gpu 8 cpu 10", "", 500, "",
			"cpu Inert 0, foo NotConfigured 0, gpu Scored 500"},
		{"sra", sra, "cpu 1", "cpu 4", "", 1000, "",
			"cpu NotConfigured 0, a10 Inert 0, t4 Scored 1000"},
		{"sra, present", sra, "cpu 1", "cpu 4 t4 1", "", 0, "",
			"cpu NotConfigured 0, a10 Inert 0, t4 Scored 0"},
		{"sra, missing", sra, "cpu 1 gpu 1", "cpu 4", "", 0, "gpu: requested, and the node has none",
			"cpu NotConfigured 0, gpu MissingOnNode 0, a10 Inert 0, t4 Scored 1000"},
		{"sra, missing scarce", sra, "t4 1", "cpu 4", "", 0, "t4: requested, and the node has none",
			"a10 Inert 0, t4 MissingOnNode 1000"},
	} {
		e := explain(c.scorer, c.pod, c.allocatable, c.used)
		var dims []string
		for _, d := range e.Terms[len(e.Terms)-1].Dims {
			short := d.Name[strings.LastIndex(d.Name, "/")+1:]
			dims = append(dims, fmt.Sprintf("%s %v %.6g", short, d.Status, d.Contribution))
		}
		got := strings.Join(dims, ", ")
		if !sameStrategyScore(e.Total, c.total) || !strings.HasSuffix(e.Reason, c.reason) || (e.Reason == "") != (c.reason == "") || sortedStrategyDims(got) != sortedStrategyDims(c.want) {
			t.Errorf("%s: got %v, %q,\n%s", c.name, e.Total, e.Reason, got)
		}
	}
}

// sortedStrategyDims sorts a list, so that tables need not know the order of the map.
func sortedStrategyDims(list string) string {
	dims := strings.Split(list, ", ")
	slices.Sort(dims)
	return strings.Join(dims, ", ")
}

// TestStrategyExplainBundle shows that a fit of 0 still adds SRA.
func TestStrategyExplainBundle(t *testing.T) {
	m := strategyMap(t, "gpu")
	s := compileStrategy(m, bestPractice())
	e := testkit.Must(s.Explain(strategyRow(t, m, "cpu 60000"), strategyRow(t, m, "cpu 16000"), strategyRow(t, m, "cpu 64000")))
	if e.Total != 1000 || e.Reason != "cpu: more than the node has" || len(e.Terms) != 2 || e.Terms[0].Score != 0 || e.Terms[1].Score != 1000 {
		t.Errorf("got %+v", e)
	}
}
