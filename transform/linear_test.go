package transform

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

type vec = vector.ResourceVector

// newMap returns a NoFold map of names, which may be abbreviated.
func newMap(t testing.TB, names string, opts ...vectormap.Option) *vectormap.ResourceVectorMap {
	t.Helper()
	var full []string
	for _, name := range strings.Fields(names) {
		full = append(full, string(long(name)))
	}
	return testkit.Must(vectormap.New(full, append(opts, vectormap.NoFold())...))
}

// put returns a vector of m with amounts for the names, in their order.
func put(t testing.TB, m *vectormap.ResourceVectorMap, names string, amounts ...float64) vec {
	t.Helper()
	v := m.NewVector()
	for k, name := range strings.Fields(names) {
		i, ok := m.Index(string(long(name)))
		if !ok {
			t.Fatalf("no %s in %v", name, m)
		}
		v[i] = amounts[k]
	}
	return v
}

func bind(tr *Transformation, in, out *vectormap.ResourceVectorMap, o BindOptions) *Linear {
	return testkit.Must(tr.Bind(in, out, o))
}

// rows returns a matrix over m.
func rows(m *vectormap.ResourceVectorMap, vs ...vec) *vector.Matrix {
	x := m.NewMatrix(len(vs))
	for r, v := range vs {
		x.SetRow(r, v)
	}
	return x
}

// vectorFacts are T25, T27, T36 and T37: out is the result of Apply, charged that
// of ChargeBatch where pods is not 0.
var vectorFacts = []struct {
	id, rules, exclude string
	options            Options
	bind               BindOptions
	in, out            string
	request, want      []float64
	pods               int64
	charged            []float64
	linear, exact      bool
}{
	{id: "T25", rules: seven, in: "cpu memory M1 M2 M4", out: "cpu memory ACC CR", request: []float64{1000, 1e8, 2, 1, 0}, want: []float64{1000, 1e8, 2e10, 36}, linear: true, exact: true},
	{id: "T25", rules: seven, in: "cpu memory M1 M2 M4", out: "cpu memory ACC CR", request: []float64{250, 0, 0, 0, 3}, want: []float64{250, 0, 6e10, 90.25}, linear: true, exact: true},
	{id: "T25", rules: seven, in: "cpu memory M1 M2 M4", out: "cpu memory ACC CR", request: []float64{1, 0, 0, 0, 0}, want: []float64{1, 0, 0, 0.001}, pods: 5, charged: []float64{5, 0, 0, 5}, linear: true, exact: true},
	{id: "T25", rules: seven, in: "cpu memory M1 M2 M4", out: "cpu memory ACC CR", request: make([]float64, 5), want: make([]float64, 4), pods: 7, charged: make([]float64, 4), linear: true, exact: true},
	{id: "T27", rules: overage, in: "nvidia.com/gpu nvidia.com/gpumem", out: "nvidia.com/gpu OV", request: []float64{2, 2048}, want: []float64{2, 2048}, exact: true},
	{id: "T27", rules: overage, in: "nvidia.com/gpu nvidia.com/gpumem", out: "nvidia.com/gpu OV", request: []float64{2, 512}, want: []float64{2, 0}, exact: true},
	{id: "T27", rules: overage, in: "nvidia.com/gpu nvidia.com/gpumem", out: "nvidia.com/gpu OV", request: []float64{0, 700}, want: []float64{0, 700}, exact: true},
	{id: "as zero", rules: overage, bind: BindOptions{ZeroMultiplier: AsZero}, in: "nvidia.com/gpu nvidia.com/gpumem", out: "nvidia.com/gpu OV", request: []float64{0, 700}, want: []float64{0, 0}, exact: true},
	{id: "T36", rules: "cpu Replace: EC 500m", in: "cpu", out: "EC", request: []float64{1000}, want: []float64{0.5}, pods: 3, charged: []float64{3}, linear: true, exact: true},
	{id: "T36", rules: "cpu Replace: EC 500m", in: "cpu", out: "EC", request: []float64{3000}, want: []float64{1.5}, pods: 2, charged: []float64{4}, linear: true, exact: true},
	{id: "T36", rules: "cpu Replace: EC 500m", in: "cpu", out: "EC", request: []float64{1}, want: []float64{0.0005}, pods: -1, charged: []float64{0}, linear: true, exact: true},
	{id: "T37", rules: "example.com/mem Replace x vendor.example/gpu: quota.example.com/total-mem 1", exclude: "vendor.example/",
		in: "example.com/mem vendor.example/gpu", out: "quota.example.com/total-mem", request: []float64{1024, 4}, want: []float64{4096}, exact: true},
	{id: "T37", rules: "example.com/mem Replace x vendor.example/gpu: quota.example.com/total-mem 1", exclude: "vendor.example/", options: Options{AfterExclusion},
		in: "example.com/mem vendor.example/gpu", out: "quota.example.com/total-mem", request: []float64{1024, 4}, want: []float64{1024}, linear: true, exact: true},
	{id: "cpu multiplies", rules: "a Replace x cpu: b 1", in: "cpu a", out: "cpu b", request: []float64{1500, 3}, want: []float64{1500, 4.5}, exact: true},
	{id: "absent cpu multiplies by 1", rules: "a Replace x cpu: b 1", in: "cpu a", out: "cpu b", request: []float64{0, 3}, want: []float64{0, 3}, exact: true},
	{id: "kept and produced", rules: "g Retain: g 5; c Replace: g -4500m", in: "g c", out: "g", request: []float64{1, 1}, want: []float64{1.5}, pods: 2, charged: []float64{4}, exact: true},
	{id: "negative", rules: "", in: "g", out: "g", request: []float64{-2}, want: []float64{-2}, pods: 3, charged: []float64{0}, linear: true, exact: true},
	{id: "no integers", rules: "a Replace: b 123456789.987654321; c Replace: b 1", in: "a c", out: "b", request: []float64{2, 1}, want: []float64{246913580.975308642}, linear: true, exact: false},
}

func TestVectorFacts(t *testing.T) {
	for _, f := range vectorFacts {
		c := rules(f.rules)
		if f.exclude != "" {
			c.ExcludeResourcePrefixes = []string{f.exclude}
		}
		tr := compile(c, f.options)
		in := newMap(t, f.in)
		out := testkit.Must(tr.OutMap(in))
		l := bind(tr, in, out, f.bind)
		src := put(t, in, f.in, f.request...)
		want := put(t, out, f.out, f.want...)
		if got := l.Apply(nil, src); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", f.id, got, want)
		}
		if l.IsLinear() != f.linear || l.Exact() != f.exact {
			t.Errorf("%s: linear %v, exact %v", f.id, l.IsLinear(), l.Exact())
		}
		if f.charged == nil {
			continue
		}
		testkit.EachImpl(t, func(t *testing.T) {
			dst := out.NewMatrix(1)
			l.ChargeBatch(dst, rows(in, src), []int64{max(f.pods, 0)})
			if got, want := dst.Row(nil, 0), put(t, out, f.out, f.charged...); !slices.Equal(got, want) {
				t.Errorf("%s: charged %v, want %v", f.id, got, want)
			}
		})
	}
}

// TestOutMap is T35 and T38, and what else becomes of the names of a map.
func TestOutMap(t *testing.T) {
	literal := vectormap.Literal(vectormap.UnitWhole, "a dimension")
	for _, c := range []struct {
		id, rules, exclude, in string
		opts                   []vectormap.Option
		want                   string
	}{
		{"T35", seven, "", "cpu memory M1", nil, "cpu=milli-cpu memory=byte gpu=whole pods=whole kueue.x-k8s.io/accelerator-memory=whole kueue.x-k8s.io/credits=whole"},
		{"no rule fires", seven, "", "memory", nil, "cpu=milli-cpu memory=byte gpu=whole pods=whole kueue.x-k8s.io/credits=whole"},
		{"excluded", story1, "nvidia.com/", "M1 nvidia.com/gpu g", nil, "cpu=milli-cpu memory=byte gpu=whole pods=whole example.com/gpu=whole"},
		{"output with a prefix", story1, "kueue.x-k8s.io/", "M1 CR", nil, "cpu=milli-cpu memory=byte gpu=whole pods=whole kueue.x-k8s.io/accelerator-memory=whole"},
		{"units", "a Retain: b 1", "", "a", []vectormap.Option{vectormap.Milli("example.com/b", "example.com/a")}, "cpu=milli-cpu memory=byte gpu=whole pods=whole example.com/a=milli example.com/b=milli"},
		{"literal", "a Replace: b 1", "", "a", []vectormap.Option{literal}, `cpu=milli-cpu memory=byte gpu=whole pods=whole literal:"a dimension"=whole example.com/b=whole`},
	} {
		cfg := rules(c.rules)
		if c.exclude != "" {
			cfg.ExcludeResourcePrefixes = []string{c.exclude}
		}
		tr, in := compile(cfg, Options{}), newMap(t, c.in, c.opts...)
		out := testkit.Must(tr.OutMap(in))
		wantEqual(t, c.id, c.want, out.String())
		if _, err := tr.Bind(in, out, BindOptions{Strict: true}); err != nil {
			t.Errorf("%s: %v", c.id, err)
		}
		if out.Folds("nvidia.com/gpu") {
			t.Errorf("%s: the map folds", c.id)
		}
	}
}

func TestBindErrors(t *testing.T) {
	folding := func(names string, opts ...vectormap.Option) *vectormap.ResourceVectorMap {
		return testkit.Must(vectormap.New(strings.Fields(names), opts...))
	}
	milli := vectormap.Milli
	for _, c := range []struct {
		id, rules, exclude string
		in, out            *vectormap.ResourceVectorMap
		options            BindOptions
		want               string // the names of the error; "" for none
	}{
		{id: "T35", rules: seven, in: newMap(t, "cpu memory M1"), out: newMap(t, "CR"), want: "*transform.UnmappedError kueue.x-k8s.io/accelerator-memory"},
		{id: "T35, dropped", rules: seven, in: newMap(t, "cpu memory M1"), out: newMap(t, "CR"), options: BindOptions{Drop: true}},
		{id: "T38", rules: overage, in: folding("cpu nvidia.com/gpumem nvidia.com/gpu"), out: newMap(t, "OV nvidia.com/gpu"), want: "*transform.AmbiguousNameError nvidia.com/gpu"},
		{id: "T38, output map", rules: overage, in: newMap(t, "nvidia.com/gpumem nvidia.com/gpu"), out: folding("quota.example.com/gpu-memory-overage"), want: "*transform.AmbiguousNameError nvidia.com/gpu"},
		{id: "T38, NoFold", rules: overage, in: newMap(t, "nvidia.com/gpumem nvidia.com/gpu"), out: newMap(t, "OV nvidia.com/gpu")},
		{id: "the own name", rules: "gpu Retain: b 1", in: folding("cpu"), out: folding("example.com/b"), want: "*transform.AmbiguousNameError gpu"},
		{id: "a suffix", rules: "a Replace x nvidia.com/vgpu: b 1", in: folding("example.com/a", vectormap.WithNormalizer(vectormap.SuffixNormalizer{})), out: folding("example.com/b"),
			want: "*transform.AmbiguousNameError nvidia.com/vgpu"},
		{id: "folded and not touched", rules: seven, in: folding("nvidia.com/gpu " + abbreviations["M1"]), out: folding("nvidia.com/gpu " + abbreviations["ACC"] + " " + abbreviations["CR"])},
		{id: "folded in both", rules: "", in: folding("nvidia.com/gpu"), out: folding("cpu")},
		{id: "folded in one", rules: "", in: folding("nvidia.com/gpu"), out: newMap(t, "nvidia.com/gpu")},
		{id: "missing in one", rules: "", in: folding("nvidia.com/gpu"), out: newMap(t, ""), want: "*transform.UnmappedError nvidia.com/gpu"},
		{id: "two in one", rules: "", in: newMap(t, "nvidia.com/gpu"), out: folding("nvidia.com/gpu"), want: "*transform.AmbiguousNameError nvidia.com/gpu"},
		{id: "one in two", rules: "", in: folding("nvidia.com/gpu amd.com/gpu", vectormap.FoldVendors()), out: newMap(t, "nvidia.com/gpu amd.com/gpu"), want: "*transform.AmbiguousNameError nvidia.com/gpu"},
		{id: "excluded in part", rules: "", exclude: "amd.com/", in: folding("nvidia.com/gpu amd.com/gpu", vectormap.FoldVendors()), out: folding("nvidia.com/gpu amd.com/gpu", vectormap.FoldVendors()),
			want: "*transform.AmbiguousNameError nvidia.com/gpu"},
		{id: "units", rules: "a Replace: b 1", in: newMap(t, "a g", milli("example.com/a", "example.com/g")), out: newMap(t, "a b g"), want: "transform: different units in the two maps: example.com/a"},
		{id: "strict", rules: "a Replace x c: b 1; b Replace x d: b 1", in: newMap(t, "a"), out: newMap(t, "b"), options: BindOptions{Strict: true}, want: "*transform.UnmappedError example.com/credit"},
		{id: "kept", rules: "a Replace: b 1", in: newMap(t, "a g c"), out: newMap(t, "b"), want: "*transform.UnmappedError example.com/credit example.com/gpu"},
		{id: "excluded is not kept", rules: "a Replace: b 1", exclude: "example.com/g", in: newMap(t, "a g"), out: newMap(t, "b")},
		{id: "everything", rules: "a Replace x c: b 1", in: newMap(t, "a cpu g", milli("example.com/gpu")), out: newMap(t, "g"), options: BindOptions{Strict: true},
			want: "*transform.UnmappedError example.com/credit; *transform.UnmappedError example.com/b; transform: different units in the two maps: example.com/gpu"},
	} {
		cfg := rules(c.rules)
		if c.exclude != "" {
			cfg.ExcludeResourcePrefixes = []string{c.exclude}
		}
		_, err := compile(cfg, Options{}).Bind(c.in, c.out, c.options)
		if diff := cmp.Diff(c.want, namesOf(err)); diff != "" {
			t.Errorf("%s: %v %s", c.id, err, diff)
		}
		var ambiguous *AmbiguousNameError
		if errors.As(err, &ambiguous) && !strings.Contains(err.Error(), "build the map with NoFold") {
			t.Errorf("%s: %v", c.id, err)
		}
	}
	if _, err := compile(&Config{}, Options{}).Bind(newMap(t, ""), newMap(t, ""), BindOptions{ZeroMultiplier: 7}); err == nil {
		t.Error("an unknown option is accepted")
	}
	if _, err := compile(rules(overage), Options{}).OutMap(folding("cpu")); namesOf(err) != "*transform.AmbiguousNameError nvidia.com/gpu" {
		t.Errorf("T38, OutMap: %v", err)
	}
}

// namesOf returns the type and the names of an error, or of those it joins.
func namesOf(err error) string {
	var names []corev1.ResourceName
	switch e := err.(type) {
	case nil:
		return ""
	case interface{ Unwrap() []error }:
		var texts []string
		for _, err := range e.Unwrap() {
			texts = append(texts, namesOf(err))
		}
		return strings.Join(texts, "; ")
	case *UnmappedError:
		names = e.Names
	case *AmbiguousNameError:
		names = e.Names
	default:
		return err.Error()
	}
	return strings.ReplaceAll(fmt.Sprintf("%T %s", err, join(names)), ",", "")
}

func TestMissingMultipliers(t *testing.T) {
	tr := compile(rules("a Replace x c: b 1; g Replace x d: b 1; M1 Replace x ec: b 1"), Options{})
	in, out := newMap(t, "a g"), newMap(t, "b")
	l := bind(tr, in, out, BindOptions{})
	if got, want := l.MissingMultipliers(), []corev1.ResourceName{long("c"), long("d")}; !slices.Equal(got, want) || !l.IsLinear() {
		t.Errorf("missing %v, want %v; linear %v", got, want, l.IsLinear())
	}
	if got, want := l.Apply(nil, put(t, in, "a g", 3, 4)), put(t, out, "b", 7); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	l.MissingMultipliers()[0] = "changed"
	if l.MissingMultipliers()[0] == "changed" {
		t.Error("the caller does not own the names")
	}
}

// bound is a random Linear with requests over its input map: plain amounts, or
// any numbers.
type bound struct {
	config  *Config
	options Options
	bind    BindOptions
	in, out *vectormap.ResourceVectorMap
	linear  *Linear
}

func newBound(t *testing.T, d dice, c *Config) bound {
	b := bound{config: c, options: d.options(), bind: BindOptions{ZeroMultiplier: ZeroMultiplier(d.IntN(2))}}
	var names, milli []string
	for _, k := range d.Perm(len(diceNames))[:d.IntN(len(diceNames)+1)] {
		names = append(names, string(diceNames[k]))
	}
	for _, name := range diceNames[3:] {
		if d.IntN(4) == 0 {
			milli = append(milli, string(name))
		}
	}
	b.in = testkit.Must(vectormap.New(names, vectormap.NoFold(), vectormap.Milli(milli...)))
	tr := compile(c, b.options)
	b.out = testkit.Must(tr.OutMap(b.in))
	b.linear = bind(tr, b.in, b.out, b.bind)
	return b
}

// list returns the request that a vector stands for: zeros are absent, except
// multipliers under AsZero.
func (b *bound) list(v vec) corev1.ResourceList {
	list := corev1.ResourceList{}
	for i, name := range b.in.All() {
		amount := new(big.Rat).SetFloat64(v[i])
		amount.Quo(amount, big.NewRat(b.in.Unit(i).Scale(), 1))
		if v[i] != 0 || b.bind.ZeroMultiplier == AsZero {
			list[corev1.ResourceName(name)] = decimal(amount, resource.DecimalSI)
		}
	}
	return list
}

// amount is the exact value of a column in its unit.
func (b *bound) amount(e exact, j int) *big.Rat {
	return new(big.Rat).Mul(value(e, corev1.ResourceName(b.out.Name(j))), big.NewRat(b.out.Unit(j).Scale(), 1))
}

// FuzzLinear holds Apply, ApplyBatch and ChargeBatch against the
// exact path, where float64 holds all intermediate values.
func FuzzLinear(f *testing.F) {
	for seed := range uint64(60) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		d := dice{testkit.Rand(seed)}
		b := newBound(t, d, d.whole())
		if !b.linear.Exact() {
			return
		}
		n := 1 + d.IntN(4)
		src, pods := b.in.NewMatrix(n), make([]int64, n)
		amounts, charges := make([]exact, n), make([]map[corev1.ResourceName]int64, n)
		tr := compile(b.config, b.options)
		for r := range n {
			v := b.in.NewVector()
			for i := range v {
				v[i] = float64(max(d.IntN(6000)-2000, 0) / (1 + 40*d.IntN(2)))
			}
			src.SetRow(r, v)
			pods[r] = int64(d.IntN(5))
			amounts[r] = golden(b.config, b.options, b.list(v))
			var err error
			if charges[r], err = Charge(tr.Apply(b.list(v)), pods[r]); err != nil {
				t.Fatal(err)
			}
		}
		testkit.EachImpl(t, func(t *testing.T) {
			dst, charged, one := b.out.NewMatrix(n), b.out.NewMatrix(n), b.out.NewMatrix(n)
			b.linear.ApplyBatch(dst, src)
			b.linear.ChargeBatch(charged, src, pods)
			b.linear.ChargeBatch(one, src, nil)
			for r := range n {
				v := src.Row(nil, r)
				for j, name := range b.out.All() {
					sum, held := b.intermediates(j, v)
					if !held {
						continue
					}
					if want, _ := b.amount(amounts[r], j).Float64(); dst.At(r, j) != want && b.quotientHeld(j, sum) {
						t.Errorf("row %d, %s: got %v, want %v", r, name, dst.At(r, j), want)
					}
					if sum.Cmp(big.NewRat(1<<53, 1)) >= 0 {
						continue
					}
					units := inUnits(charges[r][corev1.ResourceName(name)], b.linear.columns[j].unit)
					if charged.At(r, j) != units {
						t.Errorf("row %d, %s: charged %v for %d pods, want %v", r, name, charged.At(r, j), pods[r], units)
					}
					if pods[r] == 1 && one.At(r, j) != units {
						t.Errorf("row %d, %s: charged %v, want %v", r, name, one.At(r, j), units)
					}
				}
			}
		})
	})
}

// inUnits returns a charge in the unit of a column, +Inf from 2^53 on.
func inUnits(charge int64, unit float64) float64 {
	n := new(big.Int).Mul(big.NewInt(charge), big.NewInt(int64(unit)))
	if n.Cmp(big.NewInt(1<<53)) >= 0 {
		return math.Inf(1)
	}
	return float64(n.Int64())
}

// intermediates returns the sum of the terms of a column, and whether float64
// holds all products and partial sums.
func (b *bound) intermediates(j int, v vec) (sum *big.Rat, held bool) {
	sum, held = new(big.Rat), true
	hold := func(r *big.Rat) {
		_, exact := r.Float64()
		held = held && exact
	}
	for _, t := range b.linear.columns[j].terms {
		x := new(big.Rat).SetFloat64(v[t.input])
		if t.multiplier >= 0 {
			hold(x.Mul(x, new(big.Rat).SetFloat64(t.times(v))))
		}
		hold(x.Mul(x, new(big.Rat).SetFloat64(t.factor)))
		hold(sum.Add(sum, x))
	}
	return sum, held
}

// quotientHeld reports whether float64 holds what is generated for a column, or
// nothing is added to it.
func (b *bound) quotientHeld(j int, sum *big.Rat) bool {
	c := &b.linear.columns[j]
	_, exact := new(big.Rat).Quo(sum, new(big.Rat).SetFloat64(c.over)).Float64()
	return exact || c.kept < 0 || sum.Sign() < 0
}

// FuzzBatch holds ApplyBatch against Apply, bit for bit, and ChargeBatch against
// its definition, for any numbers and any factors.
func FuzzBatch(f *testing.F) {
	for seed := range uint64(40) {
		f.Add(seed, testkit.BytesOf(testkit.Specials()))
	}
	f.Fuzz(func(t *testing.T, seed uint64, data []byte) {
		d := dice{testkit.Rand(seed)}
		b := newBound(t, d, d.anything())
		n := []int{0, 1, 7, 64, 65, 511, 512, 513, 1100}[d.IntN(9)]
		src, pods := b.in.NewMatrix(n), make([]int64, n)
		column := make([]float64, n)
		for j := range b.in.Len() {
			if testkit.FloatsOf(column, data[min(j, len(data)):]); d.IntN(2) == 0 {
				testkit.Fill(d.Rand, column)
			}
			src.SetColumn(j, 0, column)
		}
		for r := range pods {
			pods[r] = []int64{0, 1, 2, 1000, 1 << 53, math.MaxInt64}[d.IntN(6)]
		}
		testkit.EachImpl(t, func(t *testing.T) {
			dst, charged := b.out.NewMatrix(n), b.out.NewMatrix(n)
			b.linear.ApplyBatch(dst, src)
			b.linear.ChargeBatch(charged, src, pods)
			for r := range n {
				v := src.Row(nil, r)
				want := b.linear.Apply(nil, v)
				if j := testkit.Difference(dst.Row(nil, r), want); j >= 0 {
					t.Fatalf("row %d, column %d: got %v, want %v", r, j, dst.At(r, j), want[j])
				}
				for j := range want {
					if want[j] == 0 && math.Signbit(want[j]) {
						t.Fatalf("row %d, column %d: -0", r, j)
					}
					checkCharge(t, charged.At(r, j), want[j], b.linear.columns[j].unit, pods[r])
				}
			}
		})
	})
}

// checkCharge checks what holds of a charge whatever the amount is.
func checkCharge(t *testing.T, got, amount, unit float64, pods int64) {
	t.Helper()
	ok, total := false, amount*float64(pods)
	switch {
	case amount != amount:
		ok = got != got
	case pods == 0 || amount <= -1:
		ok = got == 0 && !math.Signbit(got)
	case total < 1<<50 && pods <= 1000:
		most := (math.Ceil(math.Max(amount, 0)/unit) + 1) * unit * float64(pods)
		ok = got >= total*(1-1e-15) && got <= most && math.Mod(got, unit*float64(pods)) == 0
	default:
		ok = got >= total*(1-1e-15) && (got < 1<<53 || math.IsInf(got, 1))
	}
	if !ok {
		t.Fatalf("%v for %d pods is charged as %v", amount, pods, got)
	}
}

// FuzzCharge holds ChargeBatch against Charge for one amount of each kind: cpu,
// a whole unit, a Milli unit, kept and not, up to where 2^53 is passed.
func FuzzCharge(f *testing.F) {
	for _, x := range []uint32{0, 1, 999, 1000, 1001, 1 << 20, math.MaxUint32} {
		f.Add(x, x/3, int64(x%7), uint16(x%1000))
		f.Add(x, uint32(7), int64(math.MaxInt64), uint16(1))
		f.Add(x, uint32(1<<20), int64(1<<33), uint16(999))
	}
	f.Fuzz(func(t *testing.T, a, kept uint32, pods int64, thousandths uint16) {
		factor := *resource.NewMilliQuantity(int64(thousandths)-100, resource.DecimalSI)
		c := &Config{Rules: []Rule{{Input: "example.com/a", Strategy: Replace, Outputs: corev1.ResourceList{
			"cpu": factor, "memory": factor, "example.com/b": factor, "example.com/c": factor, "quota.example/q": factor,
		}}}}
		tr := compile(c, Options{})
		in := newMap(t, "cpu memory example.com/a example.com/b example.com/c", vectormap.Milli("example.com/a", "example.com/b", "quota.example/q"))
		out := testkit.Must(tr.OutMap(in))
		l, v := bind(tr, in, out, BindOptions{}), in.NewVector()
		for i, name := range in.All() {
			if v[i] = float64(kept); name == "example.com/a" {
				v[i] = float64(a)
			}
		}
		b := bound{in: in, out: out, bind: BindOptions{ZeroMultiplier: AsZero}}
		pods = max(pods, 0)
		want := testkit.Must(Charge(tr.Apply(b.list(v)), pods))
		testkit.EachImpl(t, func(t *testing.T) {
			dst := out.NewMatrix(1)
			l.ChargeBatch(dst, rows(in, v), []int64{pods})
			for j, name := range out.All() {
				units := inUnits(want[corev1.ResourceName(name)], l.columns[j].unit)
				if got := dst.At(0, j); got != units {
					t.Errorf("%s: charged %v, want %v", name, got, units)
				}
			}
		})
	})
}

// TestApply says what Apply does with its destination.
func TestApply(t *testing.T) {
	tr := compile(rules("a Replace: b 2"), Options{})
	in, out := newMap(t, "a"), newMap(t, "b g")
	l := bind(tr, in, out, BindOptions{})
	src := put(t, in, "a", 3)
	want := put(t, out, "b", 6)
	dst := slices.Repeat(vec{math.NaN()}, 9)
	got := l.Apply(dst[:1], src)
	if !slices.Equal(got, want) || &got[0] != &dst[0] || dst[len(want)] == 0 {
		t.Errorf("into a large destination: %v", dst)
	}
	if got := l.Apply(dst[:0:2], src); !slices.Equal(got, want) || &got[0] == &dst[0] {
		t.Errorf("into a small one: %v", got)
	}
	if got := l.Apply(nil, vec{7}); !slices.Equal(got, vec{7, 0, 0, 0, 0, 0}) {
		t.Errorf("of a short request: %v", got)
	}
}

// TestSpecialAmounts: NaN reaches every output that uses it, infinities follow
// IEEE rules, zeros are positive.
func TestSpecialAmounts(t *testing.T) {
	tr := compile(rules("a Replace: b 2, c 0; d Retain: b -1; M1 Replace x g: CR 1"), Options{})
	in := newMap(t, "a d M1 g")
	out := testkit.Must(tr.OutMap(in))
	l, inf, nan, zero := bind(tr, in, out, BindOptions{}), math.Inf(1), math.NaN(), math.Copysign(0, -1)
	for _, c := range []struct{ request, want []float64 }{ // a d M1 g -> b c d CR g
		{[]float64{nan, 1, 1, 1}, []float64{nan, nan, 1, 1, 1}},
		{[]float64{1, nan, 1, 2}, []float64{nan, 0, nan, 2, 2}},
		{[]float64{1, 1, 1, nan}, []float64{1, 0, 1, nan, nan}},
		{[]float64{inf, 1, inf, 0}, []float64{inf, nan, 1, inf, 0}},
		{[]float64{1, inf, 0, inf}, []float64{0, 0, inf, nan, inf}},
		{[]float64{inf, inf, 1, 1}, []float64{nan, nan, inf, 1, 1}},
		{[]float64{zero, zero, zero, zero}, []float64{0, 0, 0, 0, 0}},
	} {
		src, want := put(t, in, "a d M1 g", c.request...), put(t, out, "b c d CR g", c.want...)
		testkit.EachImpl(t, func(t *testing.T) {
			dst := out.NewMatrix(1)
			l.ApplyBatch(dst, rows(in, src))
			for _, got := range []vec{dst.Row(nil, 0), l.Apply(nil, src)} {
				if testkit.Difference(got, want) >= 0 {
					t.Errorf("%v: got %v, want %v", c.request, got, want)
				}
			}
		})
	}
}

func TestLinearPanics(t *testing.T) {
	tr := compile(rules("a Replace: b 2"), Options{})
	in, out := newMap(t, "a"), newMap(t, "b")
	l := bind(tr, in, out, BindOptions{})
	src, dst, other := in.NewMatrix(2), out.NewMatrix(2), newMap(t, "g").NewMatrix(2)
	both := slices.Repeat(vec{1}, 20)
	same := bind(compile(&Config{}, Options{}), in, in, BindOptions{})
	large := in.NewMatrix(200)
	for what, f := range map[string]func(){
		"long vector":       func() { l.Apply(nil, make(vec, 6)) },
		"overlap":           func() { l.Apply(both[:0], both[3:8]) },
		"overlap, capacity": func() { l.Apply(both[:0], both[4:5]) },
		"dst schema":        func() { l.ApplyBatch(src, src) },
		"src schema":        func() { l.ApplyBatch(dst, other) },
		"columns":           func() { l.ApplyBatch(dst, vector.NewMatrix(vector.Schema{}, 2, 4)) },
		"rows":              func() { l.ApplyBatch(out.NewMatrix(3), src) },
		"same matrix":       func() { same.ApplyBatch(src, src) },
		"view":              func() { same.ApplyBatch(large, large.Slice(0, 200)) },
		"pods":              func() { l.ChargeBatch(dst, src, []int64{1, -1}) },
		"few pods":          func() { l.ChargeBatch(dst, src, []int64{1}) },
		"many pods":         func() { l.ChargeBatch(dst, src, []int64{1, 2, 3}) },
		"Coefficient":       func() { l.Coefficient(make(vec, 6), 0, 0) },
	} {
		if text, _ := testkit.Recovered(f).(string); !strings.HasPrefix(text, "transform: ") {
			t.Errorf("%s: panic %v", what, text)
		}
	}
	// These are right.
	l.ApplyBatch(vector.NewMatrix(vector.Schema{}, 2, out.Len()), vector.NewMatrix(vector.Schema{}, 2, in.Len()))
	l.Apply(both[:0:5], both[5:10])
	l.ApplyBatch(out.NewMatrix(0), in.NewMatrix(0))
}

func TestLinearAllocates(t *testing.T) {
	if testkit.RaceEnabled {
		t.Skip("the race detector allocates")
	}
	tr := compile(rules(seven+"; g Replace x nvidia.com/gpu: CR 3"), Options{})
	in := newMap(t, "cpu memory M1 M2 M4 g nvidia.com/gpu")
	out := testkit.Must(tr.OutMap(in))
	l := bind(tr, in, out, BindOptions{})
	src, dst := in.NewMatrix(1000), out.NewMatrix(1000)
	v, w, pods := in.NewVector(), out.NewVector(), make([]int64, 1000)
	testkit.EachImpl(t, func(t *testing.T) {
		if n := testing.AllocsPerRun(10, func() {
			w = l.Apply(w, v)
			l.ApplyBatch(dst, src)
			l.ChargeBatch(dst, src, pods)
			l.ChargeBatch(dst, src, nil)
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

// TestManyTerms has more terms in one column than the kernels take at once.
func TestManyTerms(t *testing.T) {
	const n = 3*batchTerms + 5
	c, names := new(Config), []string(nil)
	for k := range n {
		name := fmt.Sprintf("example.com/in%03d", k)
		names = append(names, name)
		c.Rules = append(c.Rules, Rule{Input: corev1.ResourceName(name), Strategy: Replace, Outputs: corev1.ResourceList{"example.com/out": *resource.NewQuantity(int64(k), resource.DecimalSI)}})
	}
	tr, in := compile(c, Options{}), newMap(t, strings.Join(names, " "))
	out := testkit.Must(tr.OutMap(in))
	l, src := bind(tr, in, out, BindOptions{}), in.NewMatrix(70)
	want := 0.0
	for k, name := range names {
		i, _ := in.Index(name)
		src.SetColumn(i, 0, slices.Repeat([]float64{2}, 70))
		want += 2 * float64(k)
	}
	testkit.EachImpl(t, func(t *testing.T) {
		dst := out.NewMatrix(70)
		l.ApplyBatch(dst, src)
		for r := range 70 {
			if got := dst.At(r, 4); got != want {
				t.Fatalf("row %d: got %v, want %v", r, got, want)
			}
		}
	})
}

// TestConcurrency uses one Transformation and one Linear from many goroutines;
// the race detector watches.
func TestConcurrency(t *testing.T) {
	tr := compile(rules(seven), Options{})
	in := newMap(t, "cpu memory M1 M2 M4")
	out := testkit.Must(tr.OutMap(in))
	l, request := bind(tr, in, out, BindOptions{}), list("M1 2, M2 1, memory 100M, cpu 1.0")
	src := rows(in, put(t, in, "cpu memory M1 M2", 1000, 1e8, 2, 1))
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			dst := out.NewMatrix(1)
			l.ApplyBatch(dst, src)
			l.ChargeBatch(dst, src, []int64{1})
			if got := dst.Row(nil, 0); got[5] != 36 {
				t.Errorf("charged %v", got)
			}
			if q := tr.Apply(request)[long("CR")]; q.Value() != 36 {
				t.Errorf("applied %v", q.Value())
			}
			tr.Explain(request)
			tr.Lint(nil)
			_ = tr.Config()
			if _, err := tr.MaxUnits(Query{Input: "cpu", Base: request, Quota: list("CR 100")}); err != nil {
				t.Error(err)
			}
			if _, err := tr.Bind(in, out, BindOptions{}); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
}
