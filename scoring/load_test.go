package scoring_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// loadMap returns a map of cpu, memory, gpu, pods and disk, in this order.
func loadMap() *vectormap.ResourceVectorMap {
	return testkit.Must(vectormap.New([]string{"cpu", "memory", "example.com/disk", "nvidia.com/gpu"}))
}

// loadAmounts returns the vector with these amounts of cpu, memory and gpu.
func loadAmounts(t testing.TB, m *vectormap.ResourceVectorMap, cpu, memory, gpu float64) vector.ResourceVector {
	t.Helper()
	v := m.NewVector()
	for name, x := range map[string]float64{"cpu": cpu, "memory": memory, "nvidia.com/gpu": gpu} {
		i, ok := m.Index(name)
		if !ok {
			t.Fatalf("no %s", name)
		}
		v[i] = x
	}
	return v
}

// loadMatrix returns the matrix with these rows, of the schema of m.
func loadMatrix(m *vectormap.ResourceVectorMap, rows ...vector.ResourceVector) *vector.Matrix {
	x := m.NewMatrix(len(rows))
	for i, v := range rows {
		x.SetRow(i, v)
	}
	return x
}

func compileLoad(cfg scoring.LoadConfig, m *vectormap.ResourceVectorMap, opts ...scoring.Option) *scoring.Load {
	return testkit.Must(scoring.CompileLoad(cfg, m, opts...))
}

func compileDRF(cfg scoring.DRFConfig, m *vectormap.ResourceVectorMap, opts ...scoring.Option) *scoring.DRF {
	return testkit.Must(scoring.CompileDRF(cfg, m, opts...))
}

// wantScores checks the scores of a batch, which are within 1e-8, and that Score
// gives the same bits.
func wantScores(t *testing.T, what string, s scoring.Scorer, request vector.ResourceVector, used, allocatable *vector.Matrix, want ...float64) {
	t.Helper()
	got := make([]float64, len(want))
	if err := scoring.ScoreBatch(s, got, request, used, allocatable, nil); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	for r, x := range got {
		if math.Abs(x-want[r]) > 1e-8 && x != want[r] {
			t.Errorf("%s: row %d scores %v, want %v", what, r, x, want[r])
		}
		one, err := s.Score(request, used.Row(nil, r), allocatable.Row(nil, r))
		if err != nil || !testkit.Same(one, x) {
			t.Errorf("%s: row %d alone scores %v, %v, in the batch %v", what, r, one, err, x)
		}
	}
}

func TestLoadWorked(t *testing.T) {
	m := loadMap()
	used := loadMatrix(m, loadAmounts(t, m, 2000, 10e9, 6), loadAmounts(t, m, 6000, 5e9, 0))
	allocatable := loadMatrix(m, loadAmounts(t, m, 10000, 40e9, 8), loadAmounts(t, m, 10000, 20e9, 0))
	pod := loadAmounts(t, m, 2000, 10e9, 0)
	totals := loadAmounts(t, m, 20000, 40e9, 12)
	const sum, dominant = scoring.NormalizedSum, scoring.DominantResource
	noGPU := map[string]float64{"cpu": 1, "memory": 1, "nvidia.com/gpu": 0}
	for _, c := range []struct {
		name string
		cfg  scoring.LoadConfig
		want []float64
	}{
		{"sum, raw", scoring.LoadConfig{Direction: scoring.Raw}, []float64{1.65, 1.55}},
		{"sum, pack", scoring.LoadConfig{Direction: scoring.Pack}, []float64{55, 77.5}},
		{"sum, spread", scoring.LoadConfig{}, []float64{45, 22.5}},
		{"dominant, raw", scoring.LoadConfig{Metric: dominant, Direction: scoring.Raw}, []float64{0.75, 0.8}},
		{"dominant, spread", scoring.LoadConfig{Metric: dominant, Direction: scoring.Spread}, []float64{25, 20}},
		{"dominant, pack, no gpu", scoring.LoadConfig{Metric: dominant, Direction: scoring.Pack, Weights: noGPU}, []float64{50, 80}},
		{"dominant, pack, requested", scoring.LoadConfig{Metric: dominant, Direction: scoring.Pack, OnlyRequested: true}, []float64{50, 80}},
		{"sum, raw, weights", scoring.LoadConfig{Direction: scoring.Raw, Weights: map[string]float64{"cpu": 2, "nvidia.com/gpu": 4}}, []float64{3.8, 1.6}},
		{"sum, raw, totals", scoring.LoadConfig{Direction: scoring.Raw, Capacity: totals}, []float64{1.2, 0.775}},
		{"sum, pack, totals", scoring.LoadConfig{Capacity: totals, Direction: scoring.Pack}, []float64{40, 0.775 / 3 * 100}},
		{"dominant, raw, totals", scoring.LoadConfig{Direction: scoring.Raw, Metric: dominant, Capacity: totals}, []float64{0.5, 0.4}},
		{"sum, pack, short totals", scoring.LoadConfig{Capacity: vector.ResourceVector{20000}, Direction: scoring.Pack}, []float64{20, 40}},
		{"no weights", scoring.LoadConfig{Weights: map[string]float64{}, Direction: scoring.Spread}, []float64{0, 0}},
		{"no capacities", scoring.LoadConfig{Metric: dominant, Capacity: vector.ResourceVector{}, Direction: scoring.Spread}, []float64{0, 0}},
	} {
		wantScores(t, c.name, compileLoad(c.cfg, m), pod, used, allocatable, c.want...)
	}
	wantScores(t, "nothing requested", compileLoad(scoring.LoadConfig{OnlyRequested: true, Direction: scoring.Spread}, m), nil, used, allocatable, 0, 0)
}

func TestDRFWorked(t *testing.T) {
	m := loadMap()
	inf, nan, unlimited := math.Inf(1), math.NaN(), -1.0
	kai := scoring.DRFConfig{Unlimited: &unlimited, Fallback: loadAmounts(t, m, 100, 100, 100), ZeroFactor: 1000}
	for _, c := range []struct {
		name                string
		cfg                 scoring.DRFConfig
		allocated, entitled [3]float64
		want                float64
	}{
		{"KAI", scoring.DRFConfig{}, [3]float64{5, 12, 19}, [3]float64{2, 9, 16}, 2.5},
		{"unlimited", kai, [3]float64{20, 5, 0}, [3]float64{-1, -1, 0}, 0.2},
		{"nothing entitled", kai, [3]float64{1, 1, 2}, [3]float64{10, 10, 0}, 2000},
		{"unlimited, no fallback", scoring.DRFConfig{Unlimited: &unlimited}, [3]float64{20, 5, 0}, [3]float64{-1, 10, 0}, 0.5},
		{"unlimited, fallback 0", scoring.DRFConfig{Unlimited: &unlimited, Fallback: vector.ResourceVector{}}, [3]float64{20, 5, 0}, [3]float64{-1, 10, 0}, 0.5},
		{"unlimited, fallback 0, factor", scoring.DRFConfig{Unlimited: &unlimited, Fallback: vector.ResourceVector{}, ZeroFactor: 2}, [3]float64{20, 5, 0}, [3]float64{-1, 10, 0}, 40},
		{"nothing entitled, left out", scoring.DRFConfig{}, [3]float64{1, 1, 2}, [3]float64{10, 10, 0}, 0.1},
		{"negative, not unlimited", kai, [3]float64{1, 1, 2}, [3]float64{10, 10, -2}, 0.1},
		{"weights", scoring.DRFConfig{Weights: map[string]float64{"cpu": 1, "memory": 4}}, [3]float64{5, 5, 10}, [3]float64{10, 10, 10}, 2},
		{"negative amounts", kai, [3]float64{-1, -2, 0}, [3]float64{10, 10, 10}, 0},
		{"NaN", kai, [3]float64{nan, 1, 1}, [3]float64{10, 10, 10}, inf},
		{"NaN, left out", scoring.DRFConfig{}, [3]float64{nan, 1, 1}, [3]float64{0, 10, 10}, 0.1},
		{"NaN, nothing entitled", kai, [3]float64{nan, 1, 1}, [3]float64{0, 10, 10}, inf},
		{"entitlement NaN", kai, [3]float64{1, 1, 1}, [3]float64{nan, 10, 10}, inf},
		{"entitlement infinite", kai, [3]float64{1, 1, 1}, [3]float64{inf, 10, 10}, 0.1},
		{"both infinite", kai, [3]float64{inf, 1, 1}, [3]float64{inf, 10, 10}, inf},
		{"infinite", kai, [3]float64{inf, 1, 1}, [3]float64{10, 10, 10}, inf},
		{"minus infinity", kai, [3]float64{-inf, 1, 1}, [3]float64{10, 10, 10}, 0.1},
	} {
		used := loadMatrix(m, loadAmounts(t, m, c.allocated[0], c.allocated[1], c.allocated[2]))
		entitled := loadMatrix(m, loadAmounts(t, m, c.entitled[0], c.entitled[1], c.entitled[2]))
		wantScores(t, c.name, compileDRF(c.cfg, m), nil, used, entitled, c.want)
	}
	used := loadMatrix(m, loadAmounts(t, m, 1, 1, 1))
	entitled := loadMatrix(m, loadAmounts(t, m, 10, 10, 10))
	wantScores(t, "with a job", compileDRF(kai, m), loadAmounts(t, m, 0, 4, 0), used, entitled, 0.5)
}

func TestLoadConfigErrors(t *testing.T) {
	m := loadMap()
	folded := testkit.Must(vectormap.New([]string{"cpu", "amd.com/gpu", "nvidia.com/gpu"}, vectormap.FoldVendors()))
	inf, nan := math.Inf(1), math.NaN()
	load := func(cfg scoring.LoadConfig) func(m *vectormap.ResourceVectorMap, opts ...scoring.Option) (loadScorer, error) {
		return func(m *vectormap.ResourceVectorMap, opts ...scoring.Option) (loadScorer, error) {
			return scoring.CompileLoad(cfg, m, opts...)
		}
	}
	drf := func(cfg scoring.DRFConfig) func(m *vectormap.ResourceVectorMap, opts ...scoring.Option) (loadScorer, error) {
		return func(m *vectormap.ResourceVectorMap, opts ...scoring.Option) (loadScorer, error) {
			return scoring.CompileDRF(cfg, m, opts...)
		}
	}
	for _, c := range []struct {
		compile  func(m *vectormap.ResourceVectorMap, opts ...scoring.Option) (loadScorer, error)
		m        *vectormap.ResourceVectorMap
		opts     []scoring.Option
		errors   []string // paths
		unknown  string   // names
		warnings []string // paths
	}{
		{load(scoring.LoadConfig{Metric: scoring.Pack, Direction: "pack"}), m, nil, []string{"direction", "metric"}, "", nil},
		{load(scoring.LoadConfig{Weights: map[string]float64{"cpu": nan, "memory": -1, "nvidia.com/gpu": inf}}), m, nil,
			[]string{`weights["cpu"]`, `weights["memory"]`, `weights["nvidia.com/gpu"]`}, "", nil},
		{load(scoring.LoadConfig{Weights: map[string]float64{"b": 1, "a": 1, "cpu": -1}}), m, nil, []string{`weights["cpu"]`}, "a, b", nil},
		{load(scoring.LoadConfig{Weights: map[string]float64{"b": 1, "a": 1}}), m, []scoring.Option{scoring.AllowUnknown}, nil, "", []string{`weights["a"]`, `weights["b"]`}},
		{load(scoring.LoadConfig{Weights: map[string]float64{"b": -1}}), m, []scoring.Option{scoring.Lenient}, []string{`weights["b"]`}, "", nil},
		{load(scoring.LoadConfig{Weights: map[string]float64{"amd.com/gpu": 1, "nvidia.com/gpu": 2}}), folded, nil, []string{`weights["nvidia.com/gpu"]`}, "", nil},
		{load(scoring.LoadConfig{Weights: map[string]float64{"amd.com/gpu": 2, "nvidia.com/gpu": 2}}), folded, nil, nil, "", []string{`weights["nvidia.com/gpu"]`}},
		{load(scoring.LoadConfig{Capacity: vector.ResourceVector{1, nan, inf, -1}}), m, nil, []string{"capacity[1]", "capacity[2]", "capacity[3]"}, "", nil},
		{load(scoring.LoadConfig{Capacity: make(vector.ResourceVector, m.Len()+1)}), m, nil, []string{"capacity"}, "", nil},
		{load(scoring.LoadConfig{Capacity: make(vector.ResourceVector, m.Len())}), m, nil, nil, "", nil},
		{drf(scoring.DRFConfig{Unlimited: &nan, ZeroFactor: -1}), m, nil, []string{"unlimited", "zeroFactor"}, "", nil},
		{drf(scoring.DRFConfig{ZeroFactor: nan}), m, nil, []string{"zeroFactor"}, "", nil},
		{drf(scoring.DRFConfig{ZeroFactor: inf, Weights: map[string]float64{"x": 1}}), m, nil, []string{"zeroFactor"}, "x", nil},
		{drf(scoring.DRFConfig{Unlimited: &inf, Fallback: vector.ResourceVector{-1}}), m, nil, []string{"fallback[0]"}, "", nil},
		{drf(scoring.DRFConfig{Fallback: vector.ResourceVector{1}}), m, nil, nil, "", []string{"unlimited"}},
	} {
		s, err := c.compile(c.m, c.opts...)
		paths, names := scoring.PathsOf(t, err)
		if !slices.Equal(paths, c.errors) || strings.Join(names, ", ") != c.unknown {
			t.Errorf("errors at %q, unknown %q; want %q, %q: %v", paths, names, c.errors, c.unknown, err)
		}
		if err != nil {
			continue
		}
		var warned []string
		for _, w := range s.Warnings() {
			warned = append(warned, w.Field)
		}
		if !slices.Equal(warned, c.warnings) {
			t.Errorf("warnings at %q, want %q", warned, c.warnings)
		}
	}
}

// loadScorer is a compiled scorer of any kind.
type loadScorer interface {
	scoring.Scorer
	Warnings() field.ErrorList
}

// loadCase is random operands of a scorer over cols resources.
type loadCase struct {
	m                         *vectormap.ResourceVectorMap
	weights                   []float64 // by index
	byName                    map[string]float64
	capacity, request         vector.ResourceVector
	usedRows, allocatableRows [][]float64
	used, allocatable         *vector.Matrix
	rows                      *vector.Mask
}

// newLoadCase draws operands: weights of 0 to 3, requests of 0 mostly, and
// amounts that fill chooses.
func newLoadCase(t testing.TB, r *rand.Rand, rows, cols int, fill func(dst []float64)) *loadCase {
	t.Helper()
	names := make([]string, cols)
	for i := range names {
		names[i] = "example.com/r" + strconv.Itoa(i)
	}
	m := testkit.Must(vectormap.New(names))
	c := &loadCase{
		m: m, weights: make([]float64, m.Len()), byName: map[string]float64{},
		capacity: m.NewVector(), request: m.NewVector(),
		used: m.NewMatrix(rows), allocatable: m.NewMatrix(rows), rows: vector.NewMask(rows),
	}
	for i := range c.weights {
		if c.weights[i] = float64(r.IntN(4)); r.IntN(4) == 0 {
			c.weights[i] = r.Float64()
		}
		c.byName[m.Name(i)] = c.weights[i]
		c.capacity[i] = float64(r.IntN(9))
		if r.IntN(2) == 0 {
			c.request[i] = float64(r.IntN(5)) / 3
		}
	}
	for i := range rows {
		used, allocatable := make([]float64, m.Len()), make([]float64, m.Len())
		fill(used)
		fill(allocatable)
		c.used.SetRow(i, used)
		c.allocatable.SetRow(i, allocatable)
		c.usedRows, c.allocatableRows = append(c.usedRows, used), append(c.allocatableRows, allocatable)
	}
	testkit.FillMask(r, c.rows.Words())
	testkit.TrimMask(c.rows.Words(), rows)
	return c
}

// check holds Score and ScoreBatch against a golden model, for all rows, for
// the rows of the mask and for none.
func (c *loadCase) check(t *testing.T, what string, s scoring.Scorer, golden func(used, allocatable []float64) float64) {
	t.Helper()
	n := len(c.usedRows)
	const untouched = -12345
	for _, rows := range []*vector.Mask{nil, c.rows, vector.NewMask(n)} {
		dst := slices.Repeat([]float64{untouched}, n+3)
		if err := scoring.ScoreBatch(s, dst, c.request, c.used, c.allocatable, rows); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		for i, got := range dst {
			want := float64(untouched)
			if i < n && (rows == nil || rows.Test(i)) {
				want = golden(c.usedRows[i], c.allocatableRows[i])
				one, err := s.Score(c.request, c.usedRows[i], c.allocatableRows[i])
				if err != nil || !testkit.Same(one, want) {
					t.Fatalf("%s: Score of row %d is %v, %v, want %v", what, i, one, err, want)
				}
			}
			if !testkit.Same(got, want) {
				t.Fatalf("%s: row %d of %d scores %v, want %v\nused %v\nallocatable %v", what, i, n, got, want, c.usedRows[i], c.allocatableRows[i])
			}
		}
	}
}

var (
	loadMetrics    = []scoring.ScoringType{"", scoring.DominantResource}
	loadDirections = []scoring.ScoringType{"", scoring.Pack, scoring.Spread}
)

// loadKinds is how many kinds of Load there are.
const loadKinds = 24

// checkLoads checks every step-th kind of Load, and of DRF, from first on.
func (c *loadCase) checkLoads(t *testing.T, unlimited float64, first, step int) {
	t.Helper()
	for kind := first; kind < loadKinds; kind += step {
		cfg := scoring.LoadConfig{
			Metric: loadMetrics[kind%2], Direction: loadDirections[kind/2%3],
			Weights: c.byName, OnlyRequested: kind >= 12,
		}
		if kind/6%2 == 1 {
			cfg.Capacity = c.capacity
		}
		what := fmt.Sprint(cfg.Metric, " ", cfg.Direction, " ", cfg.OnlyRequested, cfg.Capacity != nil)
		c.check(t, what, compileLoad(cfg, c.m), func(used, allocatable []float64) float64 {
			return goldenLoad(cfg, c.weights, c.request, used, allocatable)
		})
	}
	for kind := first % 8; kind < 8; kind += step {
		cfg := scoring.DRFConfig{Weights: c.byName, ZeroFactor: []float64{0, 1000}[kind%2]}
		if kind/2%2 == 1 {
			cfg.Unlimited = &unlimited
		}
		if kind/4 == 1 {
			cfg.Fallback = c.capacity
		}
		c.check(t, fmt.Sprintf("DRF %+v", cfg), compileDRF(cfg, c.m), func(used, allocatable []float64) float64 {
			return goldenDRF(cfg, c.weights, c.request, used, allocatable)
		})
	}
}

// TestLoadGolden holds Load and DRF against their golden models, for widths on
// both sides of what the kernels take.
func TestLoadGolden(t *testing.T) {
	testkit.EachImpl(t, func(t *testing.T) {
		r := testkit.Rand(1)
		for _, shape := range [][2]int{{0, 3}, {1, 1}, {3, 2}, {8, 5}, {64, 4}, {65, 3}, {130, 8}, {200, 40}, {77, 60}, {1000, 3}} {
			for _, fill := range []func(dst []float64){
				func(dst []float64) { testkit.FillTame(r, dst) },
				func(dst []float64) { testkit.Fill(r, dst) },
				func(dst []float64) {
					for i := range dst {
						dst[i] = float64(r.IntN(6)) - 1
					}
				},
			} {
				newLoadCase(t, r, shape[0], shape[1], fill).checkLoads(t, -1, 0, 1)
			}
		}
	})
}

func FuzzLoad(f *testing.F) {
	f.Add(testkit.BytesOf(testkit.Specials()), uint64(1), uint8(70), uint8(5), -1.0)
	f.Add(testkit.BytesOf([]float64{4, 2, 8, 0, 1}), uint64(2), uint8(9), uint8(2), math.Inf(1))
	f.Fuzz(func(t *testing.T, data []byte, seed uint64, rows, cols uint8, unlimited float64) {
		if unlimited != unlimited {
			return
		}
		values, r := make([]float64, len(data)/8+1), testkit.Rand(seed)
		testkit.FloatsOf(values, data)
		c := newLoadCase(t, r, int(rows), int(cols%40)+1, func(dst []float64) {
			for i := range dst {
				dst[i] = values[r.IntN(len(values))]
			}
		})
		for _, impl := range kernel.Available() {
			restore := kernel.Use(impl)
			c.checkLoads(t, unlimited, int(seed%loadKinds), loadKinds)
			restore()
		}
	})
}

// wantExplained checks that the contributions of an explanation add up to the
// score, unless it has a reason, and so do the weighted scores of its terms.
func wantExplained(t *testing.T, what string, e scoring.Explanation, score float64) {
	t.Helper()
	if !testkit.Same(e.Total, score) {
		t.Errorf("%s: total %v, want %v", what, e.Total, score)
	}
	points, terms, size := 0.0, 0.0, 0.0
	for _, term := range e.Terms {
		terms += term.Weight * term.Score
		for _, d := range term.Dims {
			points += d.Contribution
			size += math.Abs(d.Contribution)
		}
	}
	equal := func(x float64) bool { return x == score || math.Abs(x-score) <= 1e-9*max(size, math.Abs(score)) }
	if !equal(terms) || e.Reason == "" && !equal(points) {
		t.Errorf("%s: terms of %v, contributions of %v, score %v\n%v", what, terms, points, score, e)
	}
}

func TestLoadExplain(t *testing.T) {
	m := loadMap()
	nan, unlimited := math.NaN(), -1.0
	pack := scoring.LoadConfig{Direction: scoring.Pack, Weights: map[string]float64{"cpu": 1, "memory": 1, "example.com/disk": 0}}
	spread := scoring.LoadConfig{Metric: scoring.DominantResource, Direction: scoring.Spread}
	for _, c := range []struct {
		s                          scoring.Scorer
		request, used, allocatable vector.ResourceVector
		want                       string
	}{
		{
			compileLoad(pack, m), vector.ResourceVector{2000, 0, 1, 0, 1}, vector.ResourceVector{2000, 5, 7}, vector.ResourceVector{8000, 10},
			"" +
				"total 50\n" +
				"NormalizedSum 50 x 1\n" +
				"  resource request used allocatable rule weight points status\n" +
				"  cpu 2000 2000 8000 Pack 1 25 Scored\n" +
				"  memory 0 5 10 Pack 1 25 Scored\n" +
				"  gpu 1 7 0 0 0 NotConfigured\n" +
				"  example.com/disk 1 0 0 0 0 Inert\n",
		},
		{
			compileLoad(spread, m), vector.ResourceVector{2000, 6, 1}, vector.ResourceVector{2000, 5}, vector.ResourceVector{8000, 10, 0, 4},
			"" +
				"total 0 the sum of the points, -10, is cut to 0\n" +
				"DominantResource 0 x 1\n" +
				"  resource request used allocatable rule weight points status\n" +
				"  cpu 2000 2000 8000 Spread 1 0 Scored\n" +
				"  memory 6 5 10 Spread 1 -10 OverCapacity\n" +
				"  gpu 1 0 0 Spread 1 0 MissingOnNode\n" +
				"  pods 0 0 4 Spread 1 0 Scored\n",
		},
		{
			compileLoad(scoring.LoadConfig{Direction: scoring.Raw, Capacity: vector.ResourceVector{10, 10}}, m), nil, vector.ResourceVector{nan, 5}, nil,
			"" +
				"total 0 cpu: the share is not a number\n" +
				"NormalizedSum 0 x 1\n" +
				"  resource request used allocatable rule weight points status\n" +
				"  cpu 0 NaN 10 Raw 1 0 BadValue\n" +
				"  memory 0 5 10 Raw 1 0.5 Scored\n",
		},
		{
			compileDRF(scoring.DRFConfig{Unlimited: &unlimited, Fallback: vector.ResourceVector{100}}, m), vector.ResourceVector{10}, vector.ResourceVector{10, 5}, vector.ResourceVector{-1, 10},
			"" +
				"total 0.5\n" +
				"DRF 0.5 x 1\n" +
				"  resource request used allocatable rule weight points status\n" +
				"  cpu 10 10 -1 DRF 1 0 Scored\n" +
				"  memory 0 5 10 DRF 1 0.5 Scored\n",
		},
	} {
		e := testkit.Must(c.s.Explain(c.request, c.used, c.allocatable))
		if got := squeezed(e.String()); got != c.want {
			t.Errorf("got\n%swant\n%s", got, c.want)
		}
	}
}

// squeezed returns a table with single spaces between the columns.
func squeezed(table string) string {
	table = regexp.MustCompile(`(?m)(\S) +`).ReplaceAllString(table, "$1 ")
	return regexp.MustCompile(`(?m) +$`).ReplaceAllString(table, "")
}

// What is promised not to allocate.
func TestNormalizeAllocates(t *testing.T) {
	if testkit.RaceEnabled {
		t.Skip("the race detector allocates")
	}
	rows := vector.NewMask(500)
	rows.SetAll()
	dst, ints := make([]float64, 500), make([]int64, 500)
	for name, f := range map[string]func(){
		"NormalizeScores": func() { scoring.NormalizeScores(dst, rows, scoring.NormalizeMinMax) },
		"int64":           func() { scoring.NormalizeScores(ints, nil, scoring.NormalizeReverse) },
	} {
		if n := testing.AllocsPerRun(20, f); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}
