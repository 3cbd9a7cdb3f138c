package transform

import (
	"github.com/resvec/resvec/internal/testkit"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// short names of the resources in the facts.
var abbreviations = map[string]string{
	"M1": "nvidia.com/mig-1g.5gb", "M2": "nvidia.com/mig-2g.10gb", "M4": "nvidia.com/mig-4g.20gb", "M7": "nvidia.com/mig-7g.40gb",
	"ACC": "kueue.x-k8s.io/accelerator-memory", "CR": "kueue.x-k8s.io/credits",
	"EA": "example.com/accelerator-memory", "EC": "example.com/credits",
	"OV": "quota.example.com/gpu-memory-overage", "g": "example.com/gpu", "c": "example.com/credit",
	"a": "example.com/a", "b": "example.com/b", "d": "example.com/d", "ec": "example.com/c",
}

func long(name string) corev1.ResourceName {
	if full, ok := abbreviations[name]; ok {
		return corev1.ResourceName(full)
	}
	return corev1.ResourceName(name)
}

// list reads "M1 2, memory 100M".
func list(text string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for item := range strings.SplitSeq(text, ",") {
		if name, amount, ok := strings.Cut(strings.TrimSpace(item), " "); ok {
			out[long(name)] = resource.MustParse(amount)
		}
	}
	return out
}

// rules reads "input [Strategy [x multiplier]]: output amount, ...", separated by
// semicolons.
func rules(text string) *Config {
	c := new(Config)
	for line := range strings.SplitSeq(text, ";") {
		head, outputs, _ := strings.Cut(strings.TrimSpace(line), ":")
		if head == "" {
			continue
		}
		f := append(strings.Fields(head), "", "", "")
		r := Rule{Input: long(f[0]), Strategy: Strategy(f[1]), MultiplyBy: long(f[3]), Outputs: list(outputs)}
		c.Rules = append(c.Rules, r)
	}
	return c
}

func compile(c *Config, o Options) *Transformation {
	return testkit.Must(Compile(c, o))
}

const (
	story1  = "M1 Replace: ACC 5G; M2 Replace: ACC 10G; M4 Replace: ACC 20G; M7 Replace: ACC 40G"
	seven   = "M1 Replace: ACC 5G, CR 10; M2 Replace: ACC 10G, CR 15; M4 Replace: ACC 20G, CR 30; cpu Retain: CR 1"
	vendorA = "M1 Replace: EA 5Ki, EC 10; M2 Replace: EA 10Ki, EC 15; nvidia.com/gpu Retain: EA 40Ki, EC 100;" +
		"nvidia.com/vgpucores Replace x nvidia.com/vgpu: example.com/total-vgpucores 1;" +
		"nvidia.com/vgpumem Replace x nvidia.com/vgpu: example.com/total-vgpumem 1"
	overage = "nvidia.com/gpumem Replace x nvidia.com/gpu: OV 1; nvidia.com/gpu Retain: OV -1024"
)

func TestApplyFacts(t *testing.T) {
	for _, f := range []struct{ id, rules, request, want string }{
		{"T1", story1, "M1 2, M2 1, memory 100M, cpu 1", "ACC 20G, memory 100M, cpu 1"},
		{"T2", strings.ReplaceAll(story1, "Replace", "Retain"), "M1 2, M2 1, memory 100M, cpu 1", "ACC 20G, memory 100M, cpu 1, M1 2, M2 1"},
		{"T3", seven, "M1 2, M2 1, M4 1, cpu 4, memory 1G", "ACC 40G, CR 69, cpu 4, memory 1G"},
		{"T3b", seven, "M1 2, M2 1, memory 100M, cpu 1", "ACC 20G, CR 36, cpu 1, memory 100M"},
		{"T4", "gpu-large Retain: CR 20; gpu-small Retain: CR 10", "gpu-large 1, gpu-small 3, cpu 8", "CR 50, gpu-large 1, gpu-small 3, cpu 8"},
		{"T10", overage, "nvidia.com/gpumem 2048, nvidia.com/gpu 2", "OV 2048, nvidia.com/gpu 2"},
		{"T11", overage, "nvidia.com/gpumem 512, nvidia.com/gpu 2", "OV 0, nvidia.com/gpu 2"},
		{"T12", "c Replace: g -1", "g 8, c 3", "g 8"},
		{"T13", "c Replace: g 1", "g 1, c 1", "g 2"},
		{"T14", "g Retain: g 5", "g 1", "g 6"},
		{"T15", "example.com/gpumem Retain x g: gpumem-quota 1", "example.com/gpumem 1024, g 2", "example.com/gpumem 1024, gpumem-quota 2048, g 2"},
		{"T17", "nvidia.com/gpumem Replace x nvidia.com/gpu: nvidia.com/total-gpumem 1", "nvidia.com/gpu 2, nvidia.com/gpumem 1024", "nvidia.com/gpu 2, nvidia.com/total-gpumem 2048"},
		{"T21", "cpu Replace: EC 1000", "cpu 300m", "EC 300"},
		{"T23", "a Replace: b 2; b Replace: ec 3", "a 1, b 1", "b 2, ec 3"},
		{"T24", "a Replace: b 2, ec 0; d Replace:", "a 0, d 7, pods 1", "b 0, ec 0, pods 1"},
		{"T32", "example.com/gpumem-percentage Replace x g: example.com/gpumem 819.2", "g 2, example.com/gpumem-percentage 50", "g 2, example.com/gpumem 81920"},
		{"T33", "memory Replace: EC 1n", "memory 100m", "EC 1n"},
	} {
		tr := compile(rules(f.rules), Options{})
		got := tr.Apply(list(f.request))
		wantEqual(t, f.id, list(f.want), got)
	}
}

func TestChargeFacts(t *testing.T) {
	for _, f := range []struct {
		id, rules, exclude, request string
		pods                        int64
		want                        map[string]int64
	}{
		{"T8", vendorA, "", "M1 2, M2 1, cpu 1", 1, map[string]int64{"cpu": 1000, "EA": 20480, "EC": 35}},
		{"T9", vendorA, "", "nvidia.com/vgpu 2, nvidia.com/vgpucores 20, nvidia.com/vgpumem 1024", 1,
			map[string]int64{"nvidia.com/vgpu": 2, "example.com/total-vgpucores": 40, "example.com/total-vgpumem": 2048}},
		{"T16", "c Replace: g 10000000000", "", "c 10000000000", 1, map[string]int64{"g": 1<<63 - 1}},
		{"T19", "", "dummyPrefix,networking.example.com/", "cpu 10m, memory 512Ki, networking.example.com/vpc1 1", 1,
			map[string]int64{"cpu": 10, "memory": 524288}},
		{"T22", "cpu Replace: EC 500m", "", "cpu 1", 3, map[string]int64{"EC": 3}},
	} {
		c := rules(f.rules)
		if f.exclude != "" {
			c.ExcludeResourcePrefixes = strings.Split(f.exclude, ",")
		}
		got := testkit.Must(Charge(compile(c, Options{}).Apply(list(f.request)), f.pods))
		want := map[corev1.ResourceName]int64{}
		for name, n := range f.want {
			want[long(name)] = n
		}
		wantEqual(t, f.id, want, got)
	}
	for _, list := range []corev1.ResourceList{nil, list("cpu 1")} {
		if _, err := Charge(list, -1); err == nil {
			t.Error("a negative number of pods is charged")
		}
	}
}

func TestExclusionFacts(t *testing.T) { // T18
	c := rules("example.com/mem Replace x vendor.example/gpu: quota.example.com/total-mem 1")
	c.ExcludeResourcePrefixes = []string{"vendor.example/"}
	for source, want := range map[MultiplierSource]string{BeforeExclusion: "4096", AfterExclusion: "1024"} {
		tr := compile(c, Options{Multiplier: source})
		got := tr.Apply(list("example.com/mem 1024, vendor.example/gpu 4"))
		if diff := cmp.Diff(list("quota.example.com/total-mem "+want), got); diff != "" {
			t.Errorf("source %v: %s", source, diff)
		}
	}
}

func TestInverseFacts(t *testing.T) {
	retain1 := strings.ReplaceAll(story1, "Replace", "Retain")
	for _, f := range []struct {
		id, rules, input, step, base, quota string
		units                               int64
		limiting                            string
		infeasible, unbounded               bool
	}{
		{id: "T5", rules: story1, input: "M1", quota: "ACC 200G", units: 40, limiting: "ACC"},
		{id: "T5", rules: story1, input: "M2", quota: "ACC 200G", units: 20, limiting: "ACC"},
		{id: "T5", rules: story1, input: "M4", quota: "ACC 200G", units: 10, limiting: "ACC"},
		{id: "T5", rules: story1, input: "M7", quota: "ACC 200G", units: 5, limiting: "ACC"},
		{id: "T6", rules: story1, input: "M1", quota: "ACC 320G", units: 64, limiting: "ACC"},
		{id: "T6", rules: story1, input: "M7", quota: "ACC 320G", units: 8, limiting: "ACC"},
		{id: "T7", rules: retain1, input: "M1", quota: "ACC 200G, M1 40, M2 20, M4 4, M7 0", units: 40, limiting: "ACC"},
		{id: "T7", rules: retain1, input: "M2", quota: "ACC 200G, M1 40, M2 20, M4 4, M7 0", units: 20, limiting: "ACC"},
		{id: "T7", rules: retain1, input: "M4", quota: "ACC 200G, M1 40, M2 20, M4 4, M7 0", units: 4, limiting: "M4"},
		{id: "T7", rules: retain1, input: "M7", quota: "ACC 200G, M1 40, M2 20, M4 4, M7 0", units: 0, limiting: "M7"},
		{id: "T20", rules: "cpu Retain: cpu_credits 1", input: "cpu", step: "3", quota: "cpu_credits 8", units: 2, limiting: "cpu_credits"},
		{id: "T30", rules: "g Retain: CR 10; cpu Retain: CR 1", input: "g", base: "cpu 8, g 77", quota: "CR 100", units: 9, limiting: "CR"},
		{id: "T31", rules: overage, input: "nvidia.com/gpumem", step: "512", base: "nvidia.com/gpu 2", quota: "OV 2048", units: 4, limiting: "OV"},
		{id: "no quota", rules: story1, input: "M1", unbounded: true},
		{id: "infeasible", rules: story1, input: "M1", base: "cpu 2", quota: "cpu 1", infeasible: true, limiting: "cpu"},
		{id: "square", rules: "a Replace x a: b 1", input: "a", quota: "b 50", units: 7, limiting: "b"},
		{id: "hump", rules: "a Replace x a: b -1; d Replace x a: b 10", input: "a", base: "d 1", quota: "b 24", units: 4, limiting: "b"},
		{id: "below the hump", rules: "a Replace x a: b -1; d Replace x a: b 10", input: "a", base: "d 1", quota: "b 25", unbounded: true},
		{id: "falling", rules: "a Replace x a: b -1", input: "a", quota: "b 1", unbounded: true},
		{id: "falling square", rules: "a Replace x a: b -1; d Replace x a: b -10", input: "a", base: "d 1", quota: "b 1", unbounded: true},
		{id: "between two numbers", rules: "a Replace x a: b -4; d Replace x a: b 1", input: "a", base: "d 7", quota: "b 2", units: 0, limiting: "b"},
		{id: "above its vertex", rules: "a Replace x a: b -1; d Replace x a: b 1", input: "a", base: "d 1900m, c 1", quota: "b 899m", units: 0, limiting: "b"},
		{id: "allowance", rules: "a Replace: b -1; d Replace: b 1", input: "a", base: "d 5", quota: "b 5", unbounded: true},
		{id: "far", rules: "a Replace: b 1n", input: "a", quota: "b 9000000000000000000", unbounded: true},
		{id: "MaxInt64 violates", rules: "a Replace: b 1", input: "a", quota: "b 9223372036854775806", units: 1<<63 - 2, limiting: "b"},
		{id: "only MaxInt64+1 violates", rules: "a Replace: b 1", input: "a", quota: "b 9223372036854775807", unbounded: true},
		{id: "far step", rules: "a Replace: b 1", input: "a", step: "1n", quota: "b 9000000000", units: 9e18, limiting: "b"},
	} {
		q := Query{Input: long(f.input), Base: list(f.base), Quota: list(f.quota)}
		if f.step != "" {
			q.Step = resource.MustParse(f.step)
		}
		a := testkit.Must(compile(rules(f.rules), Options{}).MaxUnits(q))
		if a.Units != f.units || a.Feasible == f.infeasible || a.Unbounded != f.unbounded || a.Limiting != long(f.limiting) && f.limiting+string(a.Limiting) != "" {
			t.Errorf("%s, %s: %+v", f.id, f.input, a)
		}
	}
}

func TestChargeAmount(t *testing.T) {
	for _, c := range []struct {
		name, amount string
		pods, want   int64
	}{
		{"cpu", "1", 0, 0}, {"cpu", "9223372036854775", 3, 1<<63 - 1}, {"g", "1n", 2, 2}, {"g", "-500m", 2, 0}, {"cpu", "1500m", 2, 3000}, {"cpu", "1u", 2, 2}, {"cpu", "1e16", 1, 1<<63 - 1}, {"memory", "1500m", 2, 4}, {"memory", "-1500m", 2, 0},
		{"g", "9223372036854775807", 1, 1<<63 - 1}, {"g", "9223372036854775806500m", 1, 1<<63 - 1}, {"g", "9223372036854775805500m", 1, 1<<63 - 2},
		{"g", "3037000500", 3037000500, 1<<63 - 1}, {"g", "3037000499", 3037000499, 3037000499 * 3037000499},
		{"g", "1e18", 0, 0}, {"g", "1e18", 1, 1e18}, {"g", "1e19", 1, 1<<63 - 1}, {"g", "12e400", 1, 1<<63 - 1}, {"g", "-12e400", 1, 0},
	} {
		q := resource.MustParse(c.amount)
		if got, err := ChargeAmount(long(c.name), q, c.pods); err != nil || got != c.want {
			t.Errorf("%s of %s for %d pods: %d, %v, want %d", c.amount, c.name, c.pods, got, err, c.want)
		}
	}
	if _, err := ChargeAmount("cpu", resource.MustParse("1"), -1); err == nil {
		t.Error("a negative number of pods is charged")
	}
}

// wantEqual reports where what a test got differs; what says of what.
func wantEqual(t *testing.T, what string, want, got any, opts ...cmp.Option) {
	t.Helper()
	if diff := cmp.Diff(want, got, opts...); diff != "" {
		t.Errorf("%s (-want +got)\n%s", what, diff)
	}
}
