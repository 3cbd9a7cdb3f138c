package transform

import (
	"cmp"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"gopkg.in/inf.v0"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// rat is the value of a Quantity, by way of its decimal text.
func rat(q resource.Quantity) *big.Rat {
	q = q.DeepCopy()
	r, ok := new(big.Rat).SetString(q.AsDec().String())
	if !ok {
		panic("not a number")
	}
	return r
}

// exact is the result that the formula gives for every name, and that the
// additions of Quantities give, whose Format counts. It is obviously right and
// slow.
type exact struct {
	value map[corev1.ResourceName]*big.Rat
	added corev1.ResourceList
}

func golden(c *Config, o Options, in corev1.ResourceList) exact {
	kept := corev1.ResourceList{}
	for name, q := range in {
		if !excludedBy(c, name) {
			kept[name] = q
		}
	}
	source := in
	if o.Multiplier == AfterExclusion {
		source = kept
	}
	generated, sum := map[corev1.ResourceName]*big.Rat{}, corev1.ResourceList{}
	retained := kept.DeepCopy()
	rules := slices.Clone(c.Rules)
	slices.SortFunc(rules, func(a, b Rule) int { return cmp.Compare(a.Input, b.Input) })
	for _, r := range rules {
		q, ok := kept[r.Input]
		if !ok {
			continue
		}
		if r.Strategy == Replace {
			delete(retained, r.Input)
		}
		m := resource.MustParse("1")
		if k, ok := source[r.MultiplyBy]; ok && r.MultiplyBy != "" {
			m = k
		}
		for name, factor := range r.Outputs {
			if generated[name] == nil {
				generated[name] = new(big.Rat)
			}
			product := new(big.Rat).Mul(new(big.Rat).Mul(rat(factor), rat(q)), rat(m))
			generated[name].Add(generated[name], product)
			total := sum[name]
			total.Add(decimal(product, q.Format))
			sum[name] = total
		}
	}
	e := exact{map[corev1.ResourceName]*big.Rat{}, retained}
	for name, q := range retained {
		e.value[name] = rat(q)
	}
	for name, g := range generated {
		floored := sum[name]
		if g.Sign() < 0 {
			g, floored = new(big.Rat), resource.Quantity{Format: floored.Format}
		}
		if q, ok := retained[name]; ok {
			e.value[name].Add(e.value[name], g)
			q.Add(floored)
			e.added[name] = q
		} else {
			e.value[name], e.added[name] = g, floored
		}
	}
	return e
}

func excludedBy(c *Config, name corev1.ResourceName) bool {
	return slices.ContainsFunc(c.ExcludeResourcePrefixes, func(prefix string) bool {
		return len(name) >= len(prefix) && string(name[:len(prefix)]) == prefix
	})
}

// decimal is a Quantity of a value with finitely many decimals.
func decimal(r *big.Rat, format resource.Format) resource.Quantity {
	const scale = 60
	text := r.FloatString(scale)
	d, _ := new(inf.Dec).SetString(text)
	if back, _ := new(big.Rat).SetString(text); back.Cmp(r) != 0 {
		panic("more decimals")
	}
	return *resource.NewDecimalQuantity(*d, format)
}

// ceilNano is a value as a result shows it.
func ceilNano(r *big.Rat) *big.Rat {
	const nano = 1_000_000_000
	n := new(big.Int).Mul(r.Num(), big.NewInt(nano))
	q, m := new(big.Int).DivMod(n, r.Denom(), new(big.Int))
	if m.Sign() != 0 {
		q.Add(q, big.NewInt(1))
	}
	return new(big.Rat).SetFrac(q, big.NewInt(nano))
}

// dice draws small problems in which everything happens.
type dice struct{ *rand.Rand }

var diceNames = []corev1.ResourceName{
	"cpu", "memory", "pods", "example.com/a", "example.com/b", "example.com/c",
	"vendor.example/x", "vendor.example/y", "quota.example/q", "quota.example/r",
}

func (d dice) name() corev1.ResourceName { return diceNames[d.IntN(len(diceNames))] }

func (d dice) quantity(texts ...string) resource.Quantity {
	return resource.MustParse(texts[d.IntN(len(texts))])
}

// whole returns a config whose exact results float64 can hold, anything one
// with any factors.
func (d dice) whole() *Config {
	return d.config("1", "2", "3", "10", "0", "-1", "-7", "500m", "250m", "1Ki", "5G")
}
func (d dice) anything() *Config {
	return d.config("1", "0", "-1", "1n", "-3n", "0.1", "1e0", "7e3", "1Ki", "5Gi", "9E", "123456789.987654321")
}

func (d dice) config(factors ...string) *Config {
	c := new(Config)
	for _, k := range d.Perm(len(diceNames))[:d.IntN(len(diceNames))] {
		r := Rule{Input: diceNames[k], Strategy: []Strategy{Retain, Replace, ""}[d.IntN(3)], Outputs: corev1.ResourceList{}}
		if d.IntN(3) == 0 {
			r.MultiplyBy = d.name()
		}
		for range d.IntN(4) {
			r.Outputs[d.name()] = d.quantity(factors...)
		}
		c.Rules = append(c.Rules, r)
	}
	if d.IntN(3) == 0 {
		c.ExcludeResourcePrefixes = [][]string{{"vendor.example/"}, {"vendor.example/x", "c"}, {"quota.", "quota.example/q"}}[d.IntN(3)]
	}
	return c
}

func (d dice) options() Options { return Options{MultiplierSource(d.IntN(2))} }

func (d dice) list(amounts ...string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for range d.IntN(len(diceNames)) {
		list[d.name()] = d.quantity(amounts...)
	}
	return list
}

// problem is one of the seed.
func problem(seed uint64) (*Config, Options, corev1.ResourceList) {
	d := dice{testkit.Rand(seed)}
	return d.anything(), d.options(), d.list("0", "1", "-2", "3n", "0.5", "100m", "1500", "16Gi", "0Ki", "1e3", "9223372036854775807", "7E")
}

// FuzzApply holds Apply and Explain against the model, and checks that they
// change nothing and share nothing.
func FuzzApply(f *testing.F) {
	for seed := range uint64(200) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		c, o, in := problem(seed)
		tr, before := compile(c, o), fmt.Sprintf("%#v", in)
		want, got := golden(c, o, in), tr.Apply(in)
		if len(got) != len(want.value) {
			t.Fatalf("got %v, want %v", got, want.added)
		}
		for name, q := range got {
			if want.value[name] == nil || rat(q).Cmp(ceilNano(want.value[name])) != 0 {
				t.Errorf("%s: got %v, want %v", name, q.AsDec(), want.value[name])
			}
			if added := want.added[name]; q.Format != added.Format {
				t.Errorf("%s: Format %s, want %s", name, q.Format, added.Format)
			}
			// Larger quantities have no text that parses to them.
			if back, err := resource.ParseQuantity(canonical(q)); err != nil || back.Cmp(q) != 0 && rat(q).Cmp(big.NewRat(1<<62, 1)) < 0 {
				t.Errorf("%s: the text of %v is %s", name, q.AsDec(), canonical(q))
			}
		}
		checkExplanation(t, tr.Explain(in), want, got)
		if after := fmt.Sprintf("%#v", in); after != before {
			t.Errorf("the request was %s and is %s", before, after)
		}
		for name := range got { // overwrite what might be shared
			q := got[name]
			q.AsDec().SetUnscaled(12345)
		}
		if after := fmt.Sprintf("%#v", in); after != before {
			t.Error("the result shares storage with the request")
		}
		if again := tr.Apply(in); rat(again["cpu"]).Cmp(ceilNano(value(want, "cpu"))) != 0 {
			t.Error("the result shares storage with the factors")
		}
	})
}

func value(e exact, name corev1.ResourceName) *big.Rat {
	if r := e.value[name]; r != nil {
		return r
	}
	return new(big.Rat)
}

// checkExplanation checks what holds between the parts of an explanation.
func checkExplanation(t *testing.T, e *Explanation, want exact, got corev1.ResourceList) {
	t.Helper()
	if len(e.Results) != len(got) {
		t.Fatalf("%d results are explained, of %d", len(e.Results), len(got))
	}
	for i, r := range e.Results {
		if i > 0 && e.Results[i-1].Name >= r.Name {
			t.Error("results are not sorted")
		}
		if total := got[r.Name]; r.Total.Cmp(total) != 0 || r.Total.Format != total.Format {
			t.Errorf("%s is explained as %v, not %v", r.Name, r.Total.AsDec(), total.AsDec())
		}
		if sum := new(big.Rat).Add(rat(r.Retained), rat(r.Generated)); sum.Cmp(rat(r.Total)) != 0 {
			t.Errorf("%s: %v and %v are not %v", r.Name, rat(r.Retained), rat(r.Generated), rat(r.Total))
		}
		sum, fine := new(big.Rat), false
		for k, term := range r.Terms {
			if k > 0 && r.Terms[k-1].Input >= term.Input {
				t.Error("terms are not sorted")
			}
			product := new(big.Rat).Mul(rat(term.Quantity), rat(term.Factor))
			if term.Multiplier != nil {
				product.Mul(product, rat(*term.Multiplier))
			}
			fine = fine || ceilNano(product).Cmp(product) != 0
			if ceilNano(product).Cmp(rat(term.Amount)) != 0 {
				t.Errorf("%s: the term of %s is %v, want %v", r.Name, term.Input, rat(term.Amount), product)
			}
			sum.Add(sum, product)
		}
		if r.Floored != (sum.Sign() < 0) || !r.Floored && !fine && sum.Cmp(rat(r.Generated)) != 0 {
			t.Errorf("%s: generated %v, floored %v, of %v", r.Name, rat(r.Generated), r.Floored, sum)
		}
	}
}

// FuzzMaxUnits holds MaxUnits against trying all numbers.
func FuzzMaxUnits(f *testing.F) {
	for seed := range uint64(300) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		d := dice{testkit.Rand(seed)}
		c := d.config("1", "2", "-1", "-3", "500m", "10", "1n")
		q := Query{Input: d.name(), Base: d.list("0", "1", "2", "5", "-3", "100m"), Quota: d.list("0", "5", "40", "200", "-1", "1e3")}
		q.Step = d.quantity("0", "1", "3", "500m", "7")
		o := d.options()
		a := testkit.Must(compile(c, o).MaxUnits(q))
		step := q.Step
		if step.IsZero() {
			step = resource.MustParse("1")
		}
		usage := func(n int64) exact {
			list := q.Base.DeepCopy()
			list[q.Input] = decimal(new(big.Rat).Mul(rat(step), new(big.Rat).SetInt64(n)), step.Format)
			return golden(c, o, list)
		}
		violated := func(n int64) (first corev1.ResourceName) {
			e := usage(n)
			for _, name := range sortedNames(q.Quota) {
				if value(e, name).Cmp(rat(q.Quota[name])) > 0 {
					return name
				}
			}
			return ""
		}
		const most = 300
		n := int64(0)
		for n < most && violated(n) == "" {
			n++
		}
		switch {
		case n == 0:
			if a.Feasible || a.Units != 0 || a.Unbounded || a.Limiting != violated(0) {
				t.Errorf("%+v, but 0 units violate %s", a, violated(0))
			}
		case n == most:
			if !a.Feasible || !a.Unbounded && a.Units < most {
				t.Errorf("%+v, but %d units violate nothing", a, most)
			}
		case !a.Feasible || a.Unbounded || a.Units != n-1 || a.Limiting != violated(n):
			t.Errorf("%+v, want %d, limited by %s", a, n-1, violated(n))
		}
		if !a.Unbounded && a.Units < most {
			want := usage(a.Units)
			if len(a.Usage) != len(want.value) {
				t.Errorf("usage %v, want %v", a.Usage, want.added)
			}
			for name, q := range a.Usage {
				if rat(q).Cmp(ceilNano(value(want, name))) != 0 {
					t.Errorf("usage of %s: %v", name, q.AsDec())
				}
			}
		}
	})
}
