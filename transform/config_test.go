package transform

import (
	"fmt"
	"github.com/resvec/resvec/internal/testkit"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/api/resource"
)

// table reads tuples "input output amount [strategy]", separated by semicolons.
func table(text string) (ts []Tuple) {
	for line := range strings.SplitSeq(text, ";") {
		f := append(strings.Fields(line), "")
		ts = append(ts, Tuple{long(f[0]), long(f[1]), resource.MustParse(f[2]), Strategy(f[3])})
	}
	return ts
}

// TestTupleFaults is V5 and the rest of the table for tuples.
func TestTupleFaults(t *testing.T) {
	notSupported, required, invalid, duplicate := "FieldValueNotSupported ", "FieldValueRequired ", "FieldValueInvalid ", "FieldValueDuplicate "
	for _, c := range []struct {
		id, tuples string
		want       []string
	}{
		{"V5", "cpu CR 1 Retain; cpu ACC 1 Replace", []string{invalid + "tuples[1].strategy"}},
		{"against the first", "cpu CR 1 Retain; cpu ACC 1 Replace; cpu EC 1 Retain; cpu EA 1 Replace", []string{invalid + "tuples[1].strategy", invalid + "tuples[3].strategy"}},
		{"twice", "cpu CR 1 Retain; memory CR 1 Retain; cpu CR 2 Retain", []string{duplicate + "tuples[2].output"}},
		{"no strategy", "cpu CR 1; cpu ACC 1 Retain; cpu EA 1", []string{required + "tuples[0].strategy", required + "tuples[2].strategy"}},
		{"unknown strategy", "cpu CR 1 retain", []string{notSupported + "tuples[0].strategy"}},
		{"names", "-x CR 1 Retain; cpu y_ 1 Retain", []string{invalid + "tuples[0].input", invalid + "tuples[1].output"}},
	} {
		_, err := FromTuples(table(c.tuples))
		if diff := cmp.Diff(c.want, faultsOf(err)); diff != "" {
			t.Errorf("%s: %v %s", c.id, err, diff)
		}
	}
	_, err := FromTuples([]Tuple{{Strategy: Retain}})
	wantEqual(t, "no names", []string{required + "tuples[0].input", required + "tuples[0].output"}, faultsOf(err))
	if c, err := FromTuples(nil); err != nil || len(c.Rules) != 0 {
		t.Errorf("no tuples: %v, %v", c, err)
	}
}

func TestTuples(t *testing.T) {
	c := rules("memory Replace: EC 1Ki; cpu: CR 1, ACC 2")
	got := testkit.Must(c.Tuples())
	wantEqual(t, "", table("cpu ACC 2 Retain; cpu CR 1 Retain; memory EC 1Ki Replace"), got)
	if got[2].Quantity.Format != resource.BinarySI {
		t.Error("the Format is lost")
	}
	if _, err := rules("cpu Nonsense: CR 1").Tuples(); len(faultsOf(err)) != 1 {
		t.Errorf("faults: %v", err)
	}
}

// TestCompile checks what a Transformation says of itself, and that it shares
// nothing.
func TestCompile(t *testing.T) {
	c := rules("M2 Replace: CR 15; cpu: CR 1, ACC 2; nvidia.com/gpumem Replace x nvidia.com/gpu: OV 0")
	c.ExcludeResourcePrefixes = []string{"b", "a", "ab", "b/c"}
	c.QuotaCheckStrategy = BlockUndeclared
	tr := compile(c, Options{})
	state := func() string {
		return fmt.Sprintln(tr.Inputs(), tr.Outputs(), tr.NNZ(), tr.Strategy("cpu"), tr.Strategy(long("M2")), tr.Strategy("unknown"),
			tr.MultiplyBy("nvidia.com/gpumem"), tr.MultiplyBy("cpu"), tr.MultiplyBy("unknown"))
	}
	want := "[cpu nvidia.com/gpumem nvidia.com/mig-2g.10gb] [kueue.x-k8s.io/accelerator-memory kueue.x-k8s.io/credits quota.example.com/gpu-memory-overage] 4 Retain Replace Retain nvidia.com/gpu  \n"
	wantEqual(t, "", want, state())
	for _, f := range []struct {
		out, in string
		want    string
		ok      bool
	}{{"CR", "cpu", "1", true}, {"CR", "M2", "15", true}, {"OV", "nvidia.com/gpumem", "0", true}, {"OV", "cpu", "0", false}, {"CR", "unknown", "0", false}} {
		if q, ok := tr.Factor(long(f.out), long(f.in)); ok != f.ok || q.String() != f.want {
			t.Errorf("%s of %s: %s, %v", f.out, f.in, q.String(), ok)
		}
	}
	config := tr.Config()
	wantConfig := rules("cpu Retain: CR 1, ACC 2; nvidia.com/gpumem Replace x nvidia.com/gpu: OV 0; M2 Replace: CR 15")
	wantConfig.ExcludeResourcePrefixes, wantConfig.QuotaCheckStrategy = []string{"a", "ab", "b", "b/c"}, BlockUndeclared
	wantEqual(t, "", wantConfig, config, cmpopts.IgnoreUnexported(Config{}))
	// Whatever the callers do to theirs, it stays what it is.
	for _, theirs := range []*Config{c, config} {
		for _, r := range theirs.Rules {
			for name := range r.Outputs {
				r.Outputs[name] = resource.MustParse("12345")
			}
		}
		theirs.Rules[0] = Rule{Input: "other"}
		theirs.ExcludeResourcePrefixes[0] = "changed"
	}
	tr.Inputs()[0], tr.Outputs()[0] = "changed", "changed"
	wantEqual(t, "shared", want, state())
	if q, _ := tr.Factor(long("CR"), "cpu"); q.Value() != 1 || !tr.excluded("ab") || tr.excluded("changed") {
		t.Error("factors or prefixes are shared")
	}
	if again := compile(wantConfig, Options{}); !tr.Equal(again) || !again.Equal(tr) {
		t.Error("the Config compiles to something else")
	}
}

func TestEqual(t *testing.T) {
	const text = "cpu Retain: CR 1, ACC 1Ki; a Replace x b: CR 2"
	same, shuffled := compile(rules(text), Options{}), rules("a Replace x b: CR 2; cpu Retain: ACC 1024, CR 1.0")
	if !compile(shuffled, Options{}).Equal(same) {
		t.Error("order or Format matters")
	}
	for _, other := range []string{"", "cpu Retain: CR 1, ACC 1Ki", "cpu Replace: CR 1, ACC 1Ki; a Replace x b: CR 2", "cpu Retain: CR 1, ACC 1k; a Replace x b: CR 2",
		"cpu Retain: CR 1, ACC 1Ki; a Replace x c: CR 2", "cpu Retain: CR 1, EC 1Ki; a Replace x b: CR 2", "cpu Retain: CR 1; a Replace x b: CR 2"} {
		if compile(rules(other), Options{}).Equal(same) {
			t.Errorf("%s is equal", other)
		}
	}
	for _, change := range []func(*Config, *Options){
		func(c *Config, _ *Options) { c.ExcludeResourcePrefixes = []string{"x"} },
		func(c *Config, _ *Options) { c.QuotaCheckStrategy = BlockUndeclared },
		func(_ *Config, o *Options) { o.Multiplier = AfterExclusion },
	} {
		c, o := rules(text), Options{}
		change(c, &o)
		if compile(c, o).Equal(same) {
			t.Errorf("%+v, %+v is equal", c, o)
		}
	}
	if !compile(&Config{}, Options{}).Equal(new(Transformation)) {
		t.Error("the zero value is not the identity")
	}
	in := list("cpu 1, a 5m")
	wantEqual(t, "", in, new(Transformation).Apply(in))
}

func TestUnknownOptions(t *testing.T) {
	if _, err := Compile(&Config{}, Options{Multiplier: 2}); err == nil {
		t.Error("an unknown multiplier source compiles")
	}
	if _, _, err := Parse([]byte("transformations: []"), ShapeTuples); err == nil {
		t.Error("a document is read as tuples")
	}
	for _, s := range []Shape{ShapeAuto, ShapeTuples, -1} {
		if _, err := new(Config).Encode(s); err == nil {
			t.Errorf("%v is written", s)
		}
	}
	var names []string
	for s := range ShapeTuples + 2 {
		names = append(names, s.String())
	}
	if got := strings.Join(names, " "); got != "Auto Input Output List Tuples unknown" {
		t.Error(got)
	}
}

// TestFormats: contributions carry the Format of their input, a sum takes the
// Format of its first part that is not 0.
func TestFormats(t *testing.T) {
	for _, c := range []struct{ rules, request, want string }{
		{"memory Replace: EC 1", "memory 4Ki", "4Ki"},
		{"memory Replace: EC 1Ki", "memory 4k", "4096k"},
		{"a Replace: EC 1; memory Replace: EC 1", "a 1, memory 4Ki", "4097"},
		{"a Replace: EC 1; memory Replace: EC 1", "a 0, memory 4Ki", "4Ki"},
		{"a Replace: EC 1; EC Retain:", "a 4Ki, EC 4k", "8096"},
		{"a Replace: EC 1; EC Retain:", "a 4Ki, EC 0", "4Ki"},
		{"a Replace: EC -1", "a 4Ki", "0"},
		{"a Replace x b: EC 1", "a 4e3, b 2Ki", "8192e3"},
		{"", "EC 1000e-3", "1"},
	} {
		got := compile(rules(c.rules), Options{}).Apply(list(c.request))[long("EC")]
		if got.String() != c.want {
			t.Errorf("%s of %s: %s, want %s", c.rules, c.request, got.String(), c.want)
		}
	}
}

// TestQueryErrors are the faults of a query.
func TestQueryErrors(t *testing.T) {
	tr := compile(&Config{}, Options{})
	for _, q := range []Query{{}, {Input: "cpu", Step: resource.MustParse("-1")}} {
		if _, err := tr.MaxUnits(q); err == nil {
			t.Errorf("%+v is answered", q)
		}
	}
	base := list("a 1")
	if _, err := tr.MaxUnits(Query{Input: "cpu", Base: base}); err != nil || len(base) != 1 {
		t.Errorf("the base becomes %v, %v", base, err)
	}
}

// TestUsage: the usage is the result at the answer, also when it is infeasible or
// unbounded.
func TestUsage(t *testing.T) {
	tr := compile(rules("M1 Replace: ACC 5G; cpu Retain: CR 1"), Options{})
	for _, c := range []struct{ quota, want string }{
		{"ACC 12G", "ACC 10G, cpu 2, CR 2"},
		{"CR 1", "ACC 0, cpu 2, CR 2"},
		{"b 1", "ACC 0, cpu 2, CR 2"},
	} {
		a := testkit.Must(tr.MaxUnits(Query{Input: long("M1"), Base: list("cpu 2, M1 77"), Quota: list(c.quota)}))
		if diff := cmp.Diff(list(c.want), a.Usage); diff != "" {
			t.Errorf("quota %s: %s", c.quota, diff)
		}
	}
}
