package scoring_test

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// boundWorld is a cluster that changes, and scorers bound to it.
type boundWorld struct {
	*rand.Rand
	m         *vectormap.ResourceVectorMap
	nodes     *vector.Nodes
	read      *vector.Nodes // what the scorers are bound to: nodes, or a copy
	hasScored bool
	named     int
	scorers   []boundScorer
	override  *scoring.PodOverride
}

type boundScorer struct {
	name   string
	scorer scoring.Scorer
	bound  *scoring.Bound
	model  func(pod vector.PodAmounts, selected []int) []float64
	high   float64 // the highest score, 0: there is none
}

// usedScorer is a scorer of somebody else: what is requested of a resource.
type usedScorer int

func (c usedScorer) Score(_, requested, _ vector.ResourceVector) (float64, error) {
	return requested.Get(int(c)), nil
}

func (c usedScorer) Explain(request, requested, allocatable vector.ResourceVector) (scoring.Explanation, error) {
	return columnScorer(c).Explain(nil, requested, allocatable)
}

// perRow is the model of a scorer without normalization.
func (w *boundWorld) perRow(s scoring.Scorer, scored bool) func(pod vector.PodAmounts, selected []int) []float64 {
	return func(pod vector.PodAmounts, selected []int) []float64 {
		dst := make([]float64, w.read.Len())
		request, requested := pod.Requested, w.read.Requested()
		if scored {
			requested = w.read.Scored()
			if pod.Scored != nil {
				request = pod.Scored
			}
		}
		for _, row := range selected {
			x := testkit.Must(s.Score(request, requested.Row(nil, row), w.read.Allocatable().Row(nil, row)))
			dst[row] = x
		}
		return dst
	}
}

// newBoundWorld makes scorers of every kind over nodes without rows.
func newBoundWorld(t testing.TB, r *rand.Rand, more int, hasScored, snapshot bool) *boundWorld {
	t.Helper()
	names := []string{"nvidia.com/gpu"}
	for k := range more {
		names = append(names, fmt.Sprintf("example.com/r%d", k))
	}
	m := testkit.Must(vectormap.New(names, vectormap.Milli("nvidia.com/gpu")))
	w := &boundWorld{Rand: r, m: m, hasScored: hasScored}
	var options []vector.NodesOption
	if hasScored {
		options = append(options, vector.WithScored())
	}
	w.nodes = m.NewNodes(options...)
	if w.read = w.nodes; snapshot {
		w.read = new(vector.Nodes)
		w.nodes.Snapshot(w.read)
	}
	w.addScorers(t)
	return w
}

func (w *boundWorld) add(name string, high float64, s scoring.Scorer, model func(vector.PodAmounts, []int) []float64) {
	if model == nil {
		model = w.perRow(s, false)
	}
	w.scorers = append(w.scorers, boundScorer{name, s, scoring.Bind(s, w.read), model, high})
	cached := scoring.Bind(s, w.read)
	scoring.CacheAll(cached)
	if w.IntN(2) == 0 {
		cached.LimitCache(int64(w.IntN(10_000)))
		scoring.CacheAll(cached)
	}
	w.scorers = append(w.scorers, boundScorer{name + ", cached", s, cached, model, high})
}

func (w *boundWorld) addScorers(t testing.TB) {
	t.Helper()
	rules := map[string]scoring.FitRule{}
	sra := &scoring.SRAConfig{Weight: 3, ResourceWeight: map[string]int64{}}
	var kube []scoring.KubeResource
	for i, name := range w.m.All() {
		kind := scoring.MostAllocated
		if i%2 == 0 {
			kind = scoring.LeastAllocated
		}
		rules[name] = scoring.FitRule{Type: kind, Weight: int64(1 + i%3)}
		if i > vectormap.Memory && i%2 == 1 {
			sra.Resources, sra.ResourceWeight[name] = append(sra.Resources, name), int64(i)
		}
		if i != vectormap.Pods {
			kube = append(kube, scoring.KubeResource{Name: name, Weight: 1})
		}
	}
	strategy := compileStrategy(w.m, scoring.StrategyConfig{Fit: scoring.StrategyFitConfig{Resources: rules}, SRA: sra})
	w.add("strategy", 1300, strategy, nil)
	w.add("fit", 1000, strategy.Fit(), nil)
	w.add("SRA", 300, strategy.SRA(), nil)
	kinds := map[scoring.ScoringType]*scoring.Kube{}
	for _, kind := range []scoring.ScoringType{scoring.LeastAllocated, scoring.MostAllocated, scoring.RequestedToCapacityRatio, scoring.BalancedAllocation} {
		cfg := scoring.KubeConfig{Type: kind, Resources: kube}
		if kind == scoring.RequestedToCapacityRatio {
			cfg.Shape = []scoring.ShapePoint{{Utilization: 0, Score: 0}, {Utilization: 70, Score: 10}, {Utilization: 100, Score: 4}}
		}
		k := testkit.Must(scoring.CompileKube(cfg, w.m))
		kinds[kind] = k
		w.add(string(kind), 100, k, nil)
	}
	load := testkit.Must(scoring.CompileLoad(scoring.LoadConfig{Metric: scoring.DominantResource}, w.m))
	w.add("load", 100, load, nil)
	w.add("DRF", 0, testkit.Must(scoring.CompileDRF(scoring.DRFConfig{}, w.m)), nil)
	w.add("foreign", 0, usedScorer(1), nil)
	least, balanced := kinds[scoring.LeastAllocated], kinds[scoring.BalancedAllocation]
	inner := combine(t, scoring.Term{Scorer: strategy, Weight: 0.25, Name: "strategy"}, scoring.Term{Scorer: usedScorer(0), Weight: -1})
	w.add("sum", 0, combine(t, scoring.Term{Scorer: inner, Weight: 2}, scoring.Term{Scorer: load, Weight: 3}), nil)
	w.add("one", 100, combine(t, scoring.Term{Scorer: least, Weight: 1}), nil)
	terms := []scoring.Term{
		{Scorer: least, Weight: 1, Normalize: scoring.NormalizeMinMax, Scored: w.hasScored},
		{Scorer: balanced, Weight: 2.5},
		{Scorer: inner, Weight: 0.5, Normalize: scoring.NormalizeReverse, Scored: w.hasScored, Name: "inner"},
		{Scorer: strategy, Weight: 0.5, Normalize: scoring.NormalizeMax},
	}
	for _, n := range []int{2, 4} {
		terms, high := terms[:n], map[int]float64{2: 350, 4: 0}[n]
		w.add(fmt.Sprint(n, " normalized"), high, combine(t, terms...), func(pod vector.PodAmounts, selected []int) []float64 {
			return w.sum(terms, pod, selected)
		})
	}
	if w.hasScored {
		w.add("scored", 100, combine(t, scoring.Term{Scorer: balanced, Weight: 1, Scored: true}), w.perRow(balanced, true))
	}
	var err error
	w.override, _, err = scoring.ParsePodOverride(map[string]string{
		scoring.ScoringTypeAnnotation: "MostAllocated", scoring.WeightAnnotation: `{"cpu":2,"nvidia.com/gpu":1}`,
	}, w.m)
	if err != nil {
		t.Fatal(err)
	}
}

// sum is the model of a combination.
func (w *boundWorld) sum(terms []scoring.Term, pod vector.PodAmounts, selected []int) []float64 {
	dst, mask := make([]float64, w.read.Len()), vector.NewMask(w.read.Len())
	for _, row := range selected {
		mask.Set(row)
	}
	for _, t := range terms {
		scores := w.perRow(t.Scorer, t.Scored)(pod, selected)
		scoring.NormalizeScores(scores, mask, t.Normalize)
		for _, row := range selected {
			dst[row] += float64(t.Weight * scores[row])
		}
	}
	return dst
}

// amounts makes up what a node has, without NaN: Nodes refuse that.
func (w *boundWorld) node() vector.NodeAmounts {
	a, u, s := w.m.NewVector(), w.m.NewVector(), w.m.NewVector()
	for i := range a {
		a[i] = float64(w.IntN(3) * (8 + w.IntN(64)) * 100)
		u[i] = math.Floor(a[i] * w.Float64() * 1.02)
		s[i] = u[i] + float64(w.IntN(5)*10)
		switch w.IntN(400) {
		case 0:
			a[i] = math.Inf(1)
		case 1:
			a[i] = -5
		case 2:
			u[i] = -1
		case 3:
			a[i] = 1 << 50
		}
	}
	amounts := vector.NodeAmounts{Allocatable: a, Requested: u}
	if w.hasScored {
		amounts.Scored = s
	}
	return amounts
}

func (w *boundWorld) pod() vector.PodAmounts {
	var pod vector.PodAmounts
	often := 1 + w.IntN(5)
	pod.Requested = make(vector.ResourceVector, w.IntN(w.m.Len()+1))
	for i := range pod.Requested {
		if w.IntN(often) == 0 {
			pod.Requested[i] = float64(w.IntN(6) * 100)
		}
	}
	if w.IntN(2) == 0 && w.hasScored {
		pod.Scored = w.m.NewVector()
		copy(pod.Scored, pod.Requested)
		pod.Scored[0] += 100
	}
	return pod
}

// change writes some rows.
func (w *boundWorld) change(t testing.TB) {
	times := 1 + w.IntN(4)
	if w.IntN(30) == 0 {
		times = 1100 // more than a log remembers
	}
	for range times {
		n := w.nodes.Len()
		switch k := w.IntN(10); {
		case k < 2 || n == 0:
			w.named++
			mustSet(w.nodes, fmt.Sprint("node", w.named), 1, w.node())
		case k == 2:
			w.nodes.Delete(w.nodes.Name(w.IntN(n)))
		case k == 3:
			mustSet(w.nodes, w.nodes.Name(w.IntN(n)), w.Int64(), w.node())
		default:
			testkit.Check(w.nodes.Assume(w.IntN(n), w.pod()))
		}
	}
	if w.read != w.nodes {
		w.nodes.Snapshot(w.read)
	}
}

func mustSet(nodes *vector.Nodes, name string, generation int64, amounts vector.NodeAmounts) {
	_, _, err := nodes.Set(name, generation, amounts)
	testkit.Check(err)
}

// mask makes up a selection, sometimes nil.
func (w *boundWorld) mask() *vector.Mask {
	if w.IntN(3) == 0 {
		return nil
	}
	rows := vector.NewMask(w.read.Len())
	testkit.FillMask(w.Rand, rows.Words())
	testkit.TrimMask(rows.Words(), rows.Len())
	return rows
}

func (w *boundWorld) tie() vector.Tie {
	switch w.IntN(4) {
	case 0:
		return vector.TieLowest()
	case 1:
		return vector.TieSeeded(42)
	case 2:
		rank := make([]int32, w.read.Len())
		for i := range rank {
			rank[i] = int32(w.IntN(len(rank)))
		}
		return vector.TieRank(rank)
	}
	cursor := 3
	return vector.TieRoundRobin(&cursor)
}

// check asks every question of a bound scorer.
func (w *boundWorld) check(t *testing.T, s *boundScorer, pod vector.PodAmounts, rows *vector.Mask) {
	t.Helper()
	n := w.read.Len()
	var selected, fitting []int
	for row := range n {
		if rows != nil && !rows.Test(row) {
			continue
		}
		selected = append(selected, row)
		if pod.Requested.FitsIn(w.read.Free().Row(nil, row)) {
			fitting = append(fitting, row)
		}
	}
	// Score
	model := s.model(pod, selected)
	want := slices.Repeat([]float64{-7}, n+1)
	percents := slices.Repeat([]int64{-7}, n+1)
	for _, row := range selected {
		want[row] = model[row]
		if x := model[row]; s.high > 0 {
			if s.high != 100 {
				x = x * 100 / s.high
			}
			percents[row] = int64(math.Floor(min(max(x, 0), 100) + 0.5))
		}
	}
	got, ints := slices.Repeat([]float64{-7}, n+1), slices.Repeat([]int64{-7}, n+1)
	if err := s.bound.Score(got, pod, rows); err != nil {
		t.Fatalf("%s: %v", s.name, err)
	}
	if i := testkit.Difference(got, want); i >= 0 {
		t.Fatalf("%s: row %d scores %v, want %v", s.name, i, got[i], want[i])
	}
	if err := s.bound.ScorePercent(ints, pod, rows); (err == nil) != (s.high > 0) || !slices.Equal(ints, percents) {
		t.Fatalf("%s: percents %v, %v, want %v", s.name, ints, err, percents)
	}
	// Best and TopK
	model = s.model(pod, fitting)
	mask, tie := vector.NewMask(n), w.tie()
	for _, row := range fitting {
		mask.Set(row)
	}
	cursor := tie.Cursor()
	restart := func() {
		if cursor != nil {
			*cursor = 3
		}
	}
	best := vector.ArgMax(model, mask, tie)
	restart()
	if row, ok := s.bound.Best(pod, rows, tie); row != best || ok != (best >= 0) {
		t.Fatalf("%s: best row %d, %v, want %d", s.name, row, ok, best)
	}
	restart()
	top := vector.TopK(nil, model, mask, 3, tie)
	restart()
	if rows := s.bound.TopK(nil, pod, rows, 3, tie); !slices.Equal(rows, top) {
		t.Fatalf("%s: best rows %v, want %v", s.name, rows, top)
	}
	// Explain
	if best < 0 {
		return
	}
	wantExplained(t, s.name, testkit.Must(s.bound.Explain(pod, best, rows)), model[best])
}

// run changes the cluster and asks.
func (w *boundWorld) run(t *testing.T, steps int) {
	t.Helper()
	pods := []vector.PodAmounts{w.pod(), w.pod(), w.pod()}
	for range steps {
		w.change(t)
		pod, rows := pods[w.IntN(len(pods))], w.mask()
		testkit.EachImpl(t, func(t *testing.T) {
			for i := range w.scorers {
				s := &w.scorers[i]
				w.check(t, s, pod, rows)
				if w.IntN(8) == 0 {
					w.checkOverride(t, s, pod, rows)
				}
			}
		})
	}
}

// checkOverride asks for a pod with rules of its own.
func (w *boundWorld) checkOverride(t *testing.T, s *boundScorer, pod vector.PodAmounts, rows *vector.Mask) {
	t.Helper()
	if x, ok := s.scorer.(*scoring.Combination); ok && (x.Normalized() || strings.HasPrefix(s.name, "scored")) {
		return
	}
	own := overridden(t, s.scorer, w.override)
	if s.bound.WithOverride(nil) != s.bound {
		t.Fatal("no override makes another scorer")
	}
	w.check(t, &boundScorer{s.name + " of its own rules", own, s.bound.WithOverride(w.override), w.perRow(own, false), s.high}, pod, rows)
}

// overridden returns a scorer with the rules of a pod, where it has rules.
func overridden(t testing.TB, s scoring.Scorer, o *scoring.PodOverride) scoring.Scorer {
	t.Helper()
	switch s := s.(type) {
	case *scoring.Strategy:
		return s.WithOverride(o)
	case *scoring.Combination:
		terms := slices.Clone(s.Terms())
		for k := range terms {
			terms[k].Scorer = overridden(t, terms[k].Scorer, o)
		}
		return combine(t, terms...)
	}
	return s
}

func TestBound(t *testing.T) {
	for seed := range uint64(testkit.Amount(t, 4, 12, 40)) {
		more := []int{0, 3, 40}[seed%3]
		newBoundWorld(t, testkit.Rand(seed), more, seed%2 == 0, seed%4 < 2).run(t, 30)
	}
}

func FuzzBound(f *testing.F) {
	f.Add(uint64(1), uint8(3), uint8(1))
	f.Fuzz(func(t *testing.T, seed uint64, more, kind uint8) {
		newBoundWorld(t, testkit.Rand(seed), int(more)%45, kind&1 != 0, kind&2 != 0).run(t, 10)
	})
}

// TestBoundLarge has more rows than the kernels take at a time.
func TestBoundLarge(t *testing.T) {
	w := newBoundWorld(t, testkit.Rand(7), 3, true, true)
	for i := range 5000 {
		mustSet(w.nodes, fmt.Sprint("node", -i), 1, w.node())
	}
	w.run(t, 2)
}

// TestBoundAllocations: warm questions allocate nothing, rows that change or not.
func TestBoundAllocations(t *testing.T) {
	if testkit.RaceEnabled {
		t.Skip("the race detector allocates")
	}
	for _, more := range []int{3, 40} {
		w := newBoundWorld(t, testkit.Rand(9), more, true, true)
		for i := range 200 {
			mustSet(w.nodes, fmt.Sprint("node", -i), 1, w.node())
		}
		pod, rows := w.pod(), vector.NewMask(200)
		rows.SetAll()
		amounts, dst, ints, top := w.node(), make([]float64, 200), make([]int64, 200), make([]int32, 0, 3)
		generation := int64(1)
		for i := range w.scorers {
			s := &w.scorers[i]
			if strings.HasPrefix(s.name, "foreign") || strings.HasPrefix(s.name, "sum") {
				continue
			}
			ask := func() {
				generation++
				amounts.Allocatable[0]++
				_, _, _ = w.nodes.Set("node-7", generation, amounts)
				w.nodes.Snapshot(w.read)
				_, _ = s.bound.WithOverride(nil).Best(pod, nil, vector.TieSeeded(1))
				_, _ = s.bound.Best(pod, rows, vector.TieLowest())
				top = s.bound.TopK(top, pod, rows, 3, vector.TieLowest())
				_ = s.bound.Score(dst, pod, nil)
				_ = s.bound.ScorePercent(ints, pod, rows)
				_, _ = s.scorer.Score(pod.Requested, amounts.Requested, amounts.Allocatable)
			}
			ask()
			if n := testing.AllocsPerRun(20, ask); n != 0 {
				t.Errorf("%s: %v allocations", s.name, n)
			}
		}
	}
}

// TestBoundReaders asks several scorers that are bound to one copy, at the same time,
// while the nodes themselves are written.
func TestBoundReaders(t *testing.T) {
	w := newBoundWorld(t, testkit.Rand(3), 3, true, true)
	for range 40 {
		w.change(t)
	}
	pod := w.pod()
	for range 20 {
		var group sync.WaitGroup
		for i := range w.scorers {
			s := &w.scorers[i]
			group.Go(func() { w.ask(t, s, pod) })
			group.Go(func() { w.ask(t, &boundScorer{s.name, s.scorer, scoring.Bind(s.scorer, w.read), s.model, s.high}, pod) })
		}
		group.Go(func() {
			for range 20 {
				_ = w.nodes.Assume(0, vector.PodAmounts{Requested: vector.ResourceVector{1}})
			}
		})
		group.Wait()
		w.nodes.Snapshot(w.read)
	}
}

// ask compares without the dice of the world.
func (w *boundWorld) ask(t *testing.T, s *boundScorer, pod vector.PodAmounts) {
	var all []int
	for row := range w.read.Len() {
		all = append(all, row)
	}
	got := make([]float64, w.read.Len())
	if err := s.bound.Score(got, pod, nil); err != nil || testkit.Difference(got, s.model(pod, all)) >= 0 {
		t.Errorf("%s: %v, %v", s.name, got, err)
	}
	_, _ = s.bound.Best(pod, nil, vector.TieLowest())
}

// TestBoundErrors: what is wrong with the operands is said before anything is written.
func TestBoundErrors(t *testing.T) {
	w := newBoundWorld(t, testkit.Rand(1), 0, true, false)
	for _, name := range []string{"a", "b", "c"} {
		setNode(w.nodes, name, strategyVec{1000, 1000, 1}, nil)
	}
	for i := range w.scorers {
		w.checkErrors(t, w.scorers[i].name, w.scorers[i].bound)
	}
	some := vector.NewMask(3)
	some.Set(0)
	strategy := w.scorers[0].bound
	for row, want := range map[int]string{
		-1: "scoring: row -1 of 3: vector: shapes differ",
		2:  "scoring: row 2 is not selected by the mask: vector: shapes differ",
		3:  "scoring: row 3 of 3: vector: shapes differ",
	} {
		if _, err := strategy.Explain(vector.PodAmounts{}, row, some); !errors.Is(err, vector.ErrShape) || err.Error() != want {
			t.Errorf("row %d: %v, want %s", row, err, want)
		}
	}
	normalized := scoring.Bind(combine(t, scoring.Term{Scorer: w.scorers[0].scorer, Weight: 1, Normalize: scoring.NormalizeMax}), w.nodes)
	if _, err := normalized.Explain(vector.PodAmounts{Requested: strategyVec{2000}}, 0, nil); !errors.Is(err, vector.ErrShape) {
		t.Errorf("a row that cannot hold the pod: %v", err)
	}
	wider := testkit.Must(w.m.Extend([]string{"example.com/more"}))
	testkit.Check(wider.Widen(w.nodes))
	if err := strategy.Score(make([]float64, 3), vector.PodAmounts{}, nil); !errors.Is(err, vector.ErrSchema) {
		t.Errorf("wider nodes: %v", err)
	}
}

// checkErrors asks with operands that are refused.
func (w *boundWorld) checkErrors(t *testing.T, name string, b *scoring.Bound) {
	t.Helper()
	for _, c := range []struct {
		name    string
		dst     int
		request strategyVec
		rows    *vector.Mask
		cause   error
		want    string
	}{
		{"NaN", 3, strategyVec{1, math.NaN()}, nil, vector.ErrNotRepresentable, "scoring: request: memory: amount NaN is not a finite number: want 0 or more"},
		{"infinite", 3, strategyVec{1, 0, 0, math.Inf(1)}, nil, vector.ErrNotRepresentable, "scoring: request: pods: amount +Inf is not a finite number: want 0 or more"},
		{"negative", 3, strategyVec{-1}, nil, vector.ErrNegative, "scoring: request: cpu: amount -1 is negative: want 0 or more"},
		{"long", 3, make(strategyVec, 5), nil, vector.ErrShape, "scoring: request has 5 amounts, the nodes 4 columns: vector: shapes differ"},
		{"short dst", 2, nil, nil, vector.ErrShape, "scoring: dst has 2 elements, the nodes 3 rows: vector: shapes differ"},
		{"mask", 3, nil, vector.NewMask(4), vector.ErrShape, "scoring: the mask has 4 rows, the nodes 3: vector: shapes differ"},
	} {
		dst, ints := slices.Repeat([]float64{-7}, c.dst), make([]int64, c.dst)
		pod := vector.PodAmounts{Requested: c.request}
		errs := []error{b.Score(dst, pod, c.rows), b.ScorePercent(ints, pod, c.rows)}
		if c.dst == 3 {
			_, err := b.Explain(pod, 0, c.rows)
			errs = append(errs, err)
		}
		for i, err := range errs {
			if err == nil || err.Error() != c.want || !errors.Is(err, c.cause) || slices.Max(dst) != -7 {
				t.Errorf("%s, %s, question %d: %v, want %s; dst %v", name, c.name, i, err, c.want, dst)
			}
		}
		if c.cause != vector.ErrShape {
			if row, ok := b.Best(pod, c.rows, vector.TieLowest()); row != -1 || ok {
				t.Errorf("%s: best row %d, %v", c.name, row, ok)
			}
			if rows := b.TopK([]int32{1, 2}, pod, c.rows, 2, vector.TieLowest()); len(rows) != 0 {
				t.Errorf("%s: best rows %v", c.name, rows)
			}
		}
	}
}

// TestBoundPanics: mistakes of the program.
func TestBoundPanics(t *testing.T) {
	m := strategyMap(t)
	s := compileStrategyFit(m, 1, "cpu Least1")
	b, tie := scoring.Bind(s, m.NewNodes()), vector.TieLowest()
	wide := strategyMap(t, "gpu", "foo")
	stale := m.NewNodes()
	old := scoring.Bind(s, stale)
	stale.Widen(wide.Schema(), wide.Len())
	for i, c := range []struct {
		want string
		f    func()
	}{
		{"scoring: scorer that no function of this package compiled", func() { scoring.Bind(new(scoring.Kube), m.NewNodes()) }},
		{"scoring: nodes of another map than the scorer", func() { scoring.Bind(s, wide.NewNodes()) }},
		{"scoring: nodes of another map than the scorer", func() { scoring.Bind(s, new(vector.Nodes)) }},
		{"scoring: nodes of another map than the scorer", func() { old.Best(vector.PodAmounts{}, nil, tie) }},
		{"scoring: a term counts scored amounts, which the nodes do not keep; make them with vector.WithScored", func() {
			scoring.Bind(combine(t, scoring.Term{Scorer: s, Weight: 1, Scored: true}), m.NewNodes())
		}},
		{"scoring: mask of another number of rows than the nodes", func() { b.Best(vector.PodAmounts{}, vector.NewMask(1), tie) }},
		{"scoring: mask of another number of rows than the nodes", func() { b.TopK(nil, vector.PodAmounts{}, vector.NewMask(1), 1, tie) }},
		{"scoring: tie rule not given", func() { b.Best(vector.PodAmounts{}, nil, vector.Tie{}) }},
		{"scoring: request longer than the map", func() { b.Best(vector.PodAmounts{Requested: make(strategyVec, 5)}, nil, tie) }},
	} {
		if got := testkit.Recovered(c.f); got != c.want {
			t.Errorf("call %d: %v, want %s", i, got, c.want)
		}
	}
}

// TestRankRewritten: scores that are kept in the order of a rank cannot follow one that is
// rewritten in place. That is found, whatever the order was and is.
func TestRankRewritten(t *testing.T) {
	const n = 200
	permutation := func(rank []int32) {
		for i := range rank {
			rank[i] = int32(i * 7 % n)
		}
	}
	ascending := func(rank []int32) {
		for i := range rank {
			rank[i] = int32(i)
		}
	}
	zeros := func(rank []int32) { clear(rank) }
	reversed := func(rank []int32) {
		ascending(rank)
		slices.Reverse(rank)
	}
	swapped := func(rank []int32) {
		ascending(rank)
		rank[n-2], rank[n-1] = rank[n-1], rank[n-2]
	}
	m := strategyMap(t)
	strategy := compileStrategy(m, scoring.StrategyConfig{})
	for _, c := range []struct {
		name          string
		before, after func(rank []int32)
	}{
		{"a permutation, reversed", permutation, slices.Reverse[[]int32]},
		{"by row, reversed", ascending, slices.Reverse[[]int32]},
		{"by row, two swapped", ascending, swapped},
		{"zeros, filled later", zeros, permutation},
		{"zeros, filled from the end", zeros, reversed},
		{"from the end, zeros later", reversed, zeros},
	} {
		for name, scorer := range map[string]scoring.Scorer{
			"of others": usedScorer(0),
			"strategy":  strategy,
			"combined":  combine(t, scoring.Term{Scorer: strategy, Weight: 1}, scoring.Term{Scorer: strategy, Weight: 2}),
		} {
			nodes := m.NewNodes()
			for i := range n {
				setNode(nodes, fmt.Sprint(i), strategyVec{1000, 1000}, nil)
			}
			bound := scoring.Bind(scorer, nodes)
			scoring.CacheAll(bound)
			rank := make([]int32, n)
			c.before(rank)
			pod, tie := vector.PodAmounts{Requested: strategyVec{1}}, vector.TieRank(rank)
			first := slices.Index(rank, 0)
			for range 300 {
				if row, _ := bound.Best(pod, nil, tie); row != first {
					t.Fatalf("%s, %s: row %d", c.name, name, row)
				}
			}
			c.after(rank)
			other := slices.Clone(rank)
			if row, _ := bound.Best(pod, nil, vector.TieRank(other)); row != slices.Index(other, 0) {
				t.Fatalf("%s, %s: row %d of another slice", c.name, name, row)
			}
			got := testkit.Recovered(func() {
				for range 300 {
					bound.Best(pod, nil, tie)
				}
			})
			if text, _ := got.(string); !strings.Contains(text, "rewritten in place") {
				t.Errorf("%s, %s: panicked %q", c.name, name, got)
			}
		}
	}
}

// countingScorer is a dear scorer of somebody else that counts the rows it is asked about.
type countingScorer struct{ rows *int }

func (c countingScorer) Score(_, requested, _ vector.ResourceVector) (float64, error) {
	*c.rows++
	return requested.Get(0), nil
}

func (c countingScorer) Explain(_, _, _ vector.ResourceVector) (scoring.Explanation, error) {
	return scoring.Explanation{}, nil
}

// TestBoundCaches: of pods that come again only rows that have changed are scored, and
// each row once for a pod that comes the first time.
func TestBoundCaches(t *testing.T) {
	const n = 1000
	nodes := plainNodes(t, 3, make([][]float64, n)...)
	rows, tie := 0, vector.TieSeeded(1)
	scores := scoring.Bind(countingScorer{&rows}, nodes)
	place := func(kind int) (scored int) {
		before, pod := rows, vector.PodAmounts{Requested: vector.ResourceVector{1, 0, float64(kind)}}
		row, ok := scores.Best(pod, nil, tie)
		if !ok {
			t.Fatal("no row")
		}
		testkit.Check(nodes.Assume(row, pod))
		return rows - before
	}
	for i := range 200 {
		place(i % 2)
	}
	before := maps.Collect(scores.Counters())
	for i := range 100 {
		if scored := place(i % 2); scored > 5 {
			t.Fatalf("question %d scores %d rows", i, scored)
		}
	}
	after := maps.Collect(scores.Counters())
	if before["questions"] != 200 || after["questions"] != 300 || before["kept_scores_made"] != 2 ||
		after["kept_scores_made"] != 2 || after["kept_scores_used"]-before["kept_scores_used"] != 100 ||
		after["kept_scores_rows"]-before["kept_scores_rows"] > 500 {
		t.Errorf("counters before and after 100 questions: %v, %v", before, after)
	}
	for i := range 100 {
		if scored := place(1000 + i); scored != n {
			t.Fatalf("another pod scores %d rows", scored)
		}
	}
	scores.LimitCache(0)
	for i := range 200 {
		if scored := place(i % 2); scored != n {
			t.Fatalf("without a cache, question %d scores %d rows", i, scored)
		}
	}
}
