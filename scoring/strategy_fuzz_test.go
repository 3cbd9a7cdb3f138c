package scoring_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// strategyWorld is a configuration, the models of what it means, and nodes.
type strategyWorld struct {
	m                 *vectormap.ResourceVectorMap
	strategy          *scoring.Strategy
	fit               fitModel
	sra               sraModel
	reserve           reserveModel
	used, allocatable *vector.Matrix
}

// newStrategyWorld makes up a configuration over some more resources than the
// core ones, and nodes without amounts.
func newStrategyWorld(t testing.TB, r *rand.Rand, more, rows int) *strategyWorld {
	t.Helper()
	names := make([]string, more)
	for k := range names {
		names[k] = fmt.Sprintf("example.com/r%d", k)
	}
	m, err := vectormap.New(names)
	if err != nil {
		t.Fatal(err)
	}
	w := &strategyWorld{m: m, used: m.NewMatrix(rows), allocatable: m.NewMatrix(rows)}
	weight := int64(r.IntN(12))
	w.fit = fitModel{rules: map[int]scoring.FitRule{}, weight: float64(weight)}
	w.sra = sraModel{weights: map[int]float64{}, weight: float64(r.IntN(4))}
	cfg := scoring.StrategyConfig{
		Fit: scoring.StrategyFitConfig{Weight: &weight, Resources: map[string]scoring.FitRule{}},
		SRA: &scoring.SRAConfig{Weight: int64(w.sra.weight), ResourceWeight: map[string]int64{}},
		Proportional: &scoring.ProportionalConfig{
			Proportion: map[string]float64{}, MemoryUnit: []float64{0, 1 << 30}[r.IntN(2)],
		},
	}
	for i, name := range m.All() {
		if r.IntN(4) > 0 {
			rule := scoring.FitRule{Type: scoring.MostAllocated, Weight: int64(1 + r.IntN(9))}
			if r.IntN(2) == 0 {
				rule.Type = scoring.LeastAllocated
			}
			w.fit.rules[i], cfg.Fit.Resources[name] = rule, rule
		}
		if r.IntN(4) == 0 {
			x := int64(r.IntN(4))
			cfg.SRA.Resources, cfg.SRA.ResourceWeight[name] = append(cfg.SRA.Resources, name), x
			w.sra.weights[i] = float64(x)
		}
		if r.IntN(8) == 0 && name != "cpu" && name != "memory" {
			w.addPrimary(r, cfg.Proportional, i)
		}
	}
	if r.IntN(4) == 0 {
		w.sra.outside = 2
		cfg.SRA.Resources, cfg.SRA.ResourceWeight["example.com/unknown"] = append(cfg.SRA.Resources, "example.com/unknown"), 2
	}
	if w.strategy, err = scoring.CompileStrategy(cfg, m, scoring.AllowUnknown); err != nil {
		t.Fatal(err)
	}
	return w
}

// addPrimary reserves some cpu and memory for a resource.
func (w *strategyWorld) addPrimary(r *rand.Rand, cfg *scoring.ProportionalConfig, i int) {
	name, ratio := w.m.Name(i), float64(r.IntN(4))/2
	unit := cfg.MemoryUnit
	if unit == 0 {
		unit = 1e9
	}
	cfg.Resources = append(cfg.Resources, name)
	cfg.Proportion[name+".cpu"], cfg.Proportion[name+".memory"] = ratio, ratio
	for s, perUnit := range []float64{1000, unit} {
		index, _ := w.m.Index([]string{"cpu", "memory"}[s])
		w.reserve.rules = append(w.reserve.rules, reserveRule{i, index, ratio * perUnit, float64(w.m.Unit(i).Scale())})
	}
}

// fill gives the nodes amounts, special ones among them.
func (w *strategyWorld) fill(r *rand.Rand) {
	for row := range w.used.Rows() {
		u, a := w.m.NewVector(), w.m.NewVector()
		for i := range a {
			a[i] = float64(r.IntN(4) * (8 + r.IntN(64)))
			u[i] = math.Floor(a[i] * r.Float64() * 0.9)
			if r.IntN(100) == 0 {
				specials := testkit.Specials()
				a[i], u[i] = specials[r.IntN(len(specials))], specials[r.IntN(len(specials))]
			}
		}
		w.used.SetRow(row, u)
		w.allocatable.SetRow(row, a)
	}
}

// request asks for some of some resources, and sometimes of all.
func (w *strategyWorld) request(r *rand.Rand) strategyVec {
	request, often := make(strategyVec, r.IntN(w.m.Len()+1)), 1+r.IntN(6)
	for i := range request {
		if r.IntN(often) == 0 {
			request[i] = float64(r.IntN(5)) / 2
		}
	}
	return request
}

// check holds every scorer against its model, row by row and as a batch.
func (w *strategyWorld) check(t *testing.T, request strategyVec, rows *vector.Mask) {
	t.Helper()
	n, selected := w.used.Rows(), strategySelects(rows)
	s := w.strategy
	for _, c := range []struct {
		name   string
		scorer scoring.Scorer
		model  func(u, a strategyVec) float64
	}{
		{"fit", s.Fit(), func(u, a strategyVec) float64 { return w.fit.score(request, u, a) }},
		{"SRA", s.SRA(), func(u, a strategyVec) float64 { return w.sra.score(request, a) }},
		{"bundle", s, func(u, a strategyVec) float64 { return w.fit.score(request, u, a) + w.sra.score(request, a) }},
	} {
		want := make([]float64, n)
		for row := range n {
			want[row] = -7
			if u, a := w.used.Row(nil, row), w.allocatable.Row(nil, row); selected(row) {
				want[row] = c.model(u, a)
				if got, err := c.scorer.Score(request, u, a); err != nil || !testkit.Same(got, want[row]) {
					t.Fatalf("%s of row %d: got %v, %v, want %v", c.name, row, got, err, want[row])
				}
			}
		}
		dst := make([]float64, n)
		for row := range dst {
			dst[row] = -7
		}
		testkit.Check(scoring.ScoreBatch(c.scorer, dst, request, w.used, w.allocatable, rows))
		if row := testkit.Difference(dst, want); row >= 0 {
			t.Fatalf("%s, row %d: got %v, want %v", c.name, row, dst[row], want[row])
		}
	}
	w.checkFilter(t, request, rows)
}

// strategySelects returns what a row mask selects.
func strategySelects(rows *vector.Mask) func(row int) bool {
	if rows == nil {
		return testkit.All
	}
	return rows.Test
}

// checkFilter holds the predicate against its model, once with dst apart and
// once with dst the row mask.
func (w *strategyWorld) checkFilter(t *testing.T, request strategyVec, rows *vector.Mask) {
	t.Helper()
	p, selected := w.strategy.Proportional(), strategySelects(rows)
	want := vector.NewMask(w.used.Rows())
	for row := range w.used.Rows() {
		u, a := w.used.Row(nil, row), w.allocatable.Row(nil, row)
		model := w.reserve.check(request, u, a)
		if got, err := p.Check(request, u, a); err != nil || !sameReserve(got, model) {
			t.Fatalf("row %d: got %+v, %v, want %+v", row, got, err, model)
		}
		if model.OK && selected(row) {
			want.Set(row)
		}
	}
	dst := vector.NewMask(3)
	scoring.FilterMatrices(p, dst, request, w.used, w.allocatable, rows)
	if !dst.Equal(want) {
		t.Fatalf("got %x, want %x", dst.Words(), want.Words())
	}
	if rows != nil {
		dst.CopyFrom(rows)
		scoring.FilterMatrices(p, dst, request, w.used, w.allocatable, dst)
		if !dst.Equal(want) {
			t.Fatalf("in place: got %x, want %x", dst.Words(), want.Words())
		}
	}
}

// run makes up a world and some pods from a seed.
func runStrategy(t *testing.T, seed uint64, more, rows int) {
	t.Helper()
	r := testkit.Rand(seed)
	w := newStrategyWorld(t, r, more, rows)
	w.fill(r)
	for range 3 {
		request := w.request(r)
		mask := vector.NewMask(rows)
		testkit.FillMask(r, mask.Words())
		testkit.TrimMask(mask.Words(), rows)
		for _, mask := range []*vector.Mask{nil, mask} {
			testkit.EachImpl(t, func(t *testing.T) { w.check(t, request, mask) })
		}
	}
}

// TestStrategyModels has many sizes; with 40 resources a pod may request more
// than the batch paths keep at hand.
func TestStrategyModels(t *testing.T) {
	for rows := range 70 {
		runStrategy(t, uint64(rows), rows%5, rows)
	}
	for seed := range uint64(6) {
		runStrategy(t, 100+seed, 40, 130)
		runStrategy(t, 200+seed, 3, 1100+int(seed))
	}
}

func FuzzStrategyModels(f *testing.F) {
	f.Add(uint64(1), uint8(3), uint8(100))
	f.Add(uint64(2), uint8(40), uint8(7))
	f.Add(uint64(187), uint8(193), uint8('a')) // overflows with the plugin's weight 0
	f.Fuzz(func(t *testing.T, seed uint64, more, rows uint8) { runStrategy(t, seed, int(more)%50, int(rows)) })
}

// TestProportionalAllocs pins what must not allocate.
func TestProportionalAllocs(t *testing.T) {
	const rows = 200
	r := testkit.Rand(3)
	for _, more := range []int{3, 40} {
		w := newStrategyWorld(t, r, more, rows)
		w.fill(r)
		request, mask, kept := w.m.NewVector(), vector.NewMask(rows), vector.NewMask(rows)
		for i := range request {
			request[i] = 1
		}
		mask.SetAll()
		u, a := w.used.Row(nil, 3), w.allocatable.Row(nil, 3)
		nodes := w.m.NewNodes()
		for row := range rows {
			setNode(nodes, fmt.Sprint(row), strategyVec{1000, 1000, 1}, strategyVec{float64(row)})
		}
		proportional := w.strategy.Proportional()
		testkit.EachImpl(t, func(t *testing.T) {
			n := testing.AllocsPerRun(10, func() {
				_, _ = proportional.Check(nil, u, a)
				_ = proportional.Filter(kept, nodes, nil, mask)
				_ = proportional.Filter(kept, nodes, request, nil)
			})
			if n != 0 && !testkit.RaceEnabled {
				t.Errorf("%v allocations", n)
			}
		})
	}
}
