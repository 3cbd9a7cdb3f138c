package scoring

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vectormap"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// pathsOf returns the paths of the faults in an error, in its order, and the
// names that are unknown.
func pathsOf(t *testing.T, err error) (paths, unknown []string) {
	t.Helper()
	var missing *vectormap.UnknownResourcesError
	if errors.As(err, &missing) {
		unknown = missing.Names
	}
	var list utilerrors.Aggregate
	var single *field.Error
	switch {
	case errors.As(err, &list):
		for _, err := range list.Errors() {
			if !errors.As(err, &single) {
				t.Fatalf("%v is no field error", err)
			}
			paths = append(paths, single.Field)
		}
	case errors.As(err, &single):
		paths = append(paths, single.Field)
	}
	if err != nil && paths == nil && unknown == nil {
		t.Fatalf("%v is of no known type", err)
	}
	return paths, unknown
}

// warned returns the paths of warnings.
func warned(list field.ErrorList) (paths []string) {
	for _, w := range list {
		paths = append(paths, w.Field)
	}
	return paths
}

// resolution is what a configuration comes to, for comparing.
type resolution struct {
	result   string
	errors   []string // paths
	unknown  []string
	warnings []string // paths
}

func (r resolution) String() string {
	return fmt.Sprintf("%s; errors %q; unknown %q; warnings %q", r.result, r.errors, r.unknown, r.warnings)
}

func (r *report) resolution(t *testing.T, result string) resolution {
	t.Helper()
	warnings, err := r.finish()
	if err != nil { // TestParseWarnings has the warnings that come with errors
		result, warnings = "", nil
	}
	paths, unknown := pathsOf(t, err)
	return resolution{result, paths, unknown, warned(warnings)}
}

func sameResolution(a, b resolution) bool {
	return a.result == b.result && slices.Equal(a.errors, b.errors) && slices.Equal(a.unknown, b.unknown) && slices.Equal(a.warnings, b.warnings)
}

func mustMap(names []string, opts ...vectormap.Option) *vectormap.ResourceVectorMap {
	return testkit.Must(vectormap.New(names, opts...))
}

const (
	nvidiaGPU = "nvidia.com/gpu"
	amdGPU    = "amd.com/gpu"
	teslaT4   = "nvidia.com/t4"
	ampereA10 = "nvidia.com/a10"
	fooName   = "example.com/foo"
)

// The maps that tables of this file choose from. The columns of each are cpu,
// memory, gpu, pods, and the others sorted.
var testMaps = map[string]func(t *testing.T) *vectormap.ResourceVectorMap{
	"plain": func(t *testing.T) *vectormap.ResourceVectorMap { return mustMap(nil) },
	"gpu": func(t *testing.T) *vectormap.ResourceVectorMap {
		return mustMap([]string{nvidiaGPU, teslaT4, ampereA10, fooName})
	},
	"milli": func(t *testing.T) *vectormap.ResourceVectorMap {
		return mustMap([]string{nvidiaGPU, fooName}, vectormap.Milli(nvidiaGPU))
	},
	"fold": func(t *testing.T) *vectormap.ResourceVectorMap {
		return mustMap([]string{nvidiaGPU, amdGPU}, vectormap.FoldVendors())
	},
	"nofold": func(t *testing.T) *vectormap.ResourceVectorMap {
		return mustMap([]string{nvidiaGPU, amdGPU}, vectormap.NoFold())
	},
}

func weightPtr(x int64) *int64 { return &x }

func ruleMost(w int64) FitRule  { return FitRule{MostAllocated, w} }
func ruleLeast(w int64) FitRule { return FitRule{LeastAllocated, w} }

func TestResolveFit(t *testing.T) {
	type rules = map[string]FitRule
	for _, c := range []struct {
		name string
		m    string
		cfg  StrategyFitConfig
		o    Option
		want resolution
	}{
		{"defaults", "plain", StrategyFitConfig{}, 0,
			resolution{result: "10: cpu=Least1 memory=Least1"}},
		{"no rules", "plain", StrategyFitConfig{Resources: rules{}}, 0,
			resolution{result: "10:"}},
		{"off", "plain", StrategyFitConfig{Weight: weightPtr(0), Resources: rules{"cpu": ruleMost(2)}}, 0,
			resolution{result: "0: cpu=Most2"}},
		{"negative plugin weight", "plain", StrategyFitConfig{Weight: weightPtr(-1), Resources: rules{}}, 0,
			resolution{result: "10:", warnings: []string{"resourceStrategyFitWeight"}}},
		{"greatest weights", "plain", StrategyFitConfig{Weight: weightPtr(1e6), Resources: rules{"cpu": ruleMost(1e6)}}, 0,
			resolution{result: "1000000: cpu=Most1000000"}},
		{"weights above the limit", "plain", StrategyFitConfig{Weight: weightPtr(1e6 + 1), Resources: rules{"cpu": ruleMost(1e6 + 1)}}, Lenient,
			resolution{errors: []string{"resourceStrategyFitWeight", `resources["cpu"].weight`}}},
		{"weights 0 and negative", "plain", StrategyFitConfig{Resources: rules{"cpu": ruleMost(0), "memory": ruleLeast(-3)}}, 0,
			resolution{result: "10: cpu=Most1 memory=Least1", warnings: []string{`resources["memory"].weight`}}},
		{"types", "plain", StrategyFitConfig{Resources: rules{"cpu": {RequestedToCapacityRatio, 1}, "memory": {"", 2}, "pods": {"mostAllocated", 3}}}, 0,
			resolution{errors: []string{`resources["cpu"].type`, `resources["memory"].type`, `resources["pods"].type`}}},
		{"types, lenient", "plain", StrategyFitConfig{Resources: rules{"cpu": {RequestedToCapacityRatio, 1}, "memory": {"", 2}}}, Lenient,
			resolution{result: "10: cpu=Least1 memory=Least2", warnings: []string{`resources["cpu"].type`, `resources["memory"].type`}}},
		{"invalid patterns", "plain", StrategyFitConfig{Resources: rules{"*": ruleMost(1), "gpu-[a-z]+": ruleMost(1), "cpu": ruleMost(1)}}, 0,
			resolution{errors: []string{`resources["*"]`, `resources["gpu-[a-z]+"]`}}},
		{"invalid patterns, lenient: none is left", "plain", StrategyFitConfig{Resources: rules{"*": ruleMost(1), "gpu-[a-z]+": ruleMost(1)}}, Lenient,
			resolution{result: "10:", warnings: []string{`resources["*"]`, `resources["gpu-[a-z]+"]`}}},
		{"invalid patterns, literal", "plain", StrategyFitConfig{Resources: rules{"nvidia.com/gpu-[1-9]*": ruleMost(1), "gpu-[a-z]+": ruleMost(1)}}, WildcardLiteral,
			resolution{unknown: []string{"gpu-[a-z]+"}, warnings: nil}},
		{"unknown names", "plain", StrategyFitConfig{Resources: rules{"z/z": ruleMost(1), teslaT4: ruleMost(1), "amd.com/gpu/*": ruleLeast(1), "cpu": ruleMost(1)}}, 0,
			resolution{unknown: []string{teslaT4, "z/z"}}},
		{"unknown names, allowed", "plain", StrategyFitConfig{Resources: rules{teslaT4: ruleMost(1), "amd.com/gpu/*": ruleLeast(1), "cpu": ruleMost(1)}}, AllowUnknown,
			resolution{result: "10: cpu=Most1", warnings: []string{`resources["amd.com/gpu/*"]`, `resources["nvidia.com/t4"]`}}},
		{"unknown names, lenient", "plain", StrategyFitConfig{Resources: rules{teslaT4: ruleMost(1), "cpu": ruleMost(1)}}, Lenient,
			resolution{result: "10: cpu=Most1", warnings: []string{`resources["nvidia.com/t4"]`}}},
		{"a name that is normalized to an index", "plain", StrategyFitConfig{Resources: rules{nvidiaGPU: ruleMost(2), "g*": ruleLeast(1)}}, 0,
			resolution{result: "10: gpu=Most2(nvidia.com/gpu)"}},
		{"that and the name of the index", "plain", StrategyFitConfig{Resources: rules{nvidiaGPU: ruleMost(2), "gpu": ruleLeast(1)}}, 0,
			resolution{errors: []string{`resources["nvidia.com/gpu"]`}}},
		{"original name", "gpu", StrategyFitConfig{Resources: rules{nvidiaGPU: ruleMost(2)}}, 0,
			resolution{result: "10: gpu=Most2(nvidia.com/gpu)"}},
		{"own name", "gpu", StrategyFitConfig{Resources: rules{"gpu": ruleMost(2)}}, 0,
			resolution{result: "10: gpu=Most2"}},
		{"pattern for the original name", "gpu", StrategyFitConfig{Resources: rules{"nvidia.com/*": ruleMost(2)}}, 0,
			resolution{result: "10: gpu=Most2(nvidia.com/*) nvidia.com/a10=Most2(nvidia.com/*) nvidia.com/t4=Most2(nvidia.com/*)"}},
		{"pattern for the own name", "gpu", StrategyFitConfig{Resources: rules{"g*": ruleMost(2)}}, 0,
			resolution{result: "10: gpu=Most2(g*)"}},
		{"patterns for both names: the longer", "gpu", StrategyFitConfig{Resources: rules{"g*": ruleMost(2), "nvidia.com/g*": ruleLeast(1)}}, 0,
			resolution{result: "10: gpu=Least1(nvidia.com/g*)"}},
		{"patterns for both names, equally long", "gpu", StrategyFitConfig{Resources: rules{"gp*": ruleMost(2), "nv*": ruleLeast(1)}}, 0,
			resolution{errors: []string{`resources["nv*"]`}}},
		{"exact name before the other's pattern", "gpu", StrategyFitConfig{Resources: rules{"gpu": ruleMost(2), "nvidia.com/g*": ruleLeast(1)}}, 0,
			resolution{result: "10: gpu=Most2"}},
		{"shadowed pattern", "gpu", StrategyFitConfig{Resources: rules{fooName: ruleMost(2), "example.com/f*": ruleLeast(1)}}, 0,
			resolution{result: "10: example.com/foo=Most2"}},
		{"both names differ", "gpu", StrategyFitConfig{Resources: rules{"gpu": ruleMost(2), nvidiaGPU: ruleMost(1)}}, Lenient,
			resolution{errors: []string{`resources["nvidia.com/gpu"]`}}},
		{"both names agree", "gpu", StrategyFitConfig{Resources: rules{"gpu": ruleMost(2), nvidiaGPU: ruleMost(2)}}, 0,
			resolution{result: "10: gpu=Most2", warnings: []string{`resources["nvidia.com/gpu"]`}}},
		{"folded, different", "fold", StrategyFitConfig{Resources: rules{nvidiaGPU: ruleMost(2), amdGPU: ruleLeast(1)}}, 0,
			resolution{errors: []string{`resources["nvidia.com/gpu"]`}}},
		{"folded, different weights only", "fold", StrategyFitConfig{Resources: rules{nvidiaGPU: ruleMost(2), amdGPU: ruleMost(1)}}, Lenient,
			resolution{errors: []string{`resources["nvidia.com/gpu"]`}}},
		{"folded, equal", "fold", StrategyFitConfig{Resources: rules{nvidiaGPU: ruleMost(2), amdGPU: ruleMost(2)}}, 0,
			resolution{result: "10: gpu=Most2(amd.com/gpu)", warnings: []string{`resources["nvidia.com/gpu"]`}}},
		{"folded, one of them", "fold", StrategyFitConfig{Resources: rules{nvidiaGPU: ruleMost(2)}}, 0,
			resolution{result: "10: gpu=Most2(nvidia.com/gpu)"}},
		{"folded, patterns", "fold", StrategyFitConfig{Resources: rules{"nvidia.com/*": ruleMost(2), "amd.com/*": ruleLeast(2)}}, 0,
			resolution{errors: []string{`resources["nvidia.com/*"]`}}},
		{"folded, exact and pattern", "fold", StrategyFitConfig{Resources: rules{nvidiaGPU: ruleMost(2), "amd.com/*": ruleLeast(2)}}, 0,
			resolution{errors: []string{`resources["nvidia.com/gpu"]`}}},
		{"not folded", "nofold", StrategyFitConfig{Resources: rules{nvidiaGPU: ruleMost(2), amdGPU: ruleLeast(1)}}, 0,
			resolution{result: "10: amd.com/gpu=Least1 nvidia.com/gpu=Most2"}},
		{"not folded: gpu is another", "nofold", StrategyFitConfig{Resources: rules{nvidiaGPU: ruleMost(2), "gpu": ruleLeast(1)}}, 0,
			resolution{result: "10: gpu=Least1 nvidia.com/gpu=Most2"}},
		{"all at once", "plain", StrategyFitConfig{Weight: weightPtr(2e6), Resources: rules{"z": ruleMost(1), "a b": {"x", 2e6}, "cpu": {"x", 2e6}}}, 0,
			resolution{errors: []string{"resourceStrategyFitWeight", `resources["a b"]`, `resources["cpu"].type`, `resources["cpu"].weight`}, unknown: []string{"z"}}},
	} {
		m := testMaps[c.m](t)
		var r report
		got, weight := resolveFit(&c.cfg, m, c.o, &r)
		text := fmt.Sprintf("%d:", weight)
		for i, rule := range got {
			text += fmt.Sprintf(" %s=%s%d", m.Name(rule.index), strings.TrimSuffix(string(rule.kind), "Allocated"), rule.weight)
			if rule.key != m.Name(rule.index) {
				text += "(" + rule.key + ")"
			}
			if i > 0 && rule.index <= got[i-1].index {
				t.Errorf("%s: not ascending", c.name)
			}
		}
		if got := r.resolution(t, text); !sameResolution(got, c.want) {
			t.Errorf("%s:\ngot  %v\nwant %v", c.name, got, c.want)
		}
	}
}

func TestResolveSRA(t *testing.T) {
	type weights = map[string]int64
	many := func(n int) (names []string, w weights) {
		w = weights{}
		for i := range n {
			names = append(names, fmt.Sprintf("x.com/r%d", i))
			w[names[i]] = 1e6
		}
		return names, w
	}
	names90, weights90 := many(90)
	names91, weights91 := many(91)
	for _, c := range []struct {
		name string
		m    string
		cfg  SRAConfig
		o    Option
		want resolution
	}{
		{"seed", "gpu", SRAConfig{Weight: 3, Resources: []string{teslaT4, ampereA10}, ResourceWeight: weights{teslaT4: 1, ampereA10: 2}}, 0,
			resolution{result: "V 3: nvidia.com/a10=2 nvidia.com/t4=1 outside 0"}},
		{"defaults", "gpu", SRAConfig{Weight: 3, Resources: []string{teslaT4, ampereA10}, ResourceWeight: weights{teslaT4: -1, ampereA10: 0}}, 0,
			resolution{result: "V 3: nvidia.com/a10=0 nvidia.com/t4=1 outside 0", warnings: []string{`resourceWeight["nvidia.com/t4"]`}}},
		{"off", "gpu", SRAConfig{Resources: []string{teslaT4}}, 0,
			resolution{result: "V 0: outside 1", warnings: []string{"weight"}}},
		{"off, negative", "gpu", SRAConfig{Weight: -5, Resources: []string{teslaT4, "x"}}, 0,
			resolution{result: "V 0: outside 2", warnings: []string{"weight"}}},
		{"listed twice", "gpu", SRAConfig{Weight: 5, Resources: []string{teslaT4, teslaT4, teslaT4}}, 0,
			resolution{result: "V 5: nvidia.com/t4=1 outside 0", warnings: []string{"resources"}}},
		{"unknown", "gpu", SRAConfig{Weight: 5, Resources: []string{teslaT4, "x/z", "x/y"}}, 0,
			resolution{unknown: []string{"x/y", "x/z"}}},
		{"unknown, allowed", "gpu", SRAConfig{Weight: 5, Resources: []string{teslaT4, "x/z", "x/y"}, ResourceWeight: weights{"x/z": 7}}, AllowUnknown,
			resolution{result: "V 5: nvidia.com/t4=1 outside 8", warnings: []string{"resources", "resources"}}},
		{"unknown, lenient", "gpu", SRAConfig{Weight: 5, Resources: []string{"x/z"}}, Lenient,
			resolution{result: "V 5: outside 1", warnings: []string{"resources"}}},
		{"pattern", "gpu", SRAConfig{Weight: 5, Resources: []string{"nvidia.com/*"}}, 0,
			resolution{errors: []string{"resources"}}},
		{"pattern, lenient: present nowhere", "gpu", SRAConfig{Weight: 5, Resources: []string{"nvidia.com/*", teslaT4}, ResourceWeight: weights{"nvidia.com/*": 4}}, Lenient,
			resolution{result: "V 5: nvidia.com/t4=1 outside 4", warnings: []string{"resources"}}},
		{"empty name", "gpu", SRAConfig{Weight: 5, Resources: []string{""}}, AllowUnknown,
			resolution{errors: []string{"resources"}}},
		{"weight of another", "gpu", SRAConfig{Weight: 5, Resources: []string{teslaT4}, ResourceWeight: weights{ampereA10: 2}}, 0,
			resolution{result: "V 5: nvidia.com/t4=1 outside 0", warnings: []string{`resourceWeight["nvidia.com/a10"]`}}},
		{"above the limit", "gpu", SRAConfig{Weight: 1e6 + 1, Resources: []string{teslaT4}, ResourceWeight: weights{teslaT4: 1e6 + 1}}, Lenient,
			resolution{errors: []string{`resourceWeight["nvidia.com/t4"]`, "weight"}}},
		{"90 names", "plain", SRAConfig{Weight: 1e6, Resources: names90, ResourceWeight: weights90}, AllowUnknown,
			resolution{result: "V 1000000: outside 90000000", warnings: slices.Repeat([]string{"resources"}, 90)}},
		{"91 names", "plain", SRAConfig{Weight: 1e6, Resources: names91, ResourceWeight: weights91}, Lenient,
			resolution{errors: []string{"weight"}}},
		{"folded, different", "fold", SRAConfig{Weight: 1, Resources: []string{nvidiaGPU, amdGPU}, ResourceWeight: weights{amdGPU: 2}}, Lenient,
			resolution{errors: []string{`resourceWeight["nvidia.com/gpu"]`}}},
		{"folded, equal", "fold", SRAConfig{Weight: 1, Resources: []string{nvidiaGPU, amdGPU}, ResourceWeight: weights{amdGPU: 2, nvidiaGPU: 2}}, 0,
			resolution{result: "V 1: gpu=2 outside 0", warnings: []string{"resources"}}},
		{"own and original", "gpu", SRAConfig{Weight: 1, Resources: []string{nvidiaGPU, "gpu"}}, 0,
			resolution{result: "V 1: gpu=1 outside 0", warnings: []string{"resources"}}},
		{"not folded", "nofold", SRAConfig{Weight: 1, Resources: []string{nvidiaGPU, amdGPU}, ResourceWeight: weights{amdGPU: 2}}, 0,
			resolution{result: "V 1: amd.com/gpu=2 nvidia.com/gpu=1 outside 0"}},
	} {
		m := testMaps[c.m](t)
		var r report
		rules, outside, total, weight := resolveSRA(&c.cfg, m, c.o, &r)
		text := fmt.Sprintf("V %d:", weight)
		for _, rule := range rules {
			text += fmt.Sprintf(" %s=%d", m.Name(rule.index), rule.weight)
			total -= rule.weight
		}
		text += fmt.Sprintf(" outside %d", outside)
		if total != outside {
			t.Errorf("%s: the sum of all weights is off by %d", c.name, total-outside)
		}
		if got := r.resolution(t, text); !sameResolution(got, c.want) {
			t.Errorf("%s:\ngot  %v\nwant %v", c.name, got, c.want)
		}
	}
}

func TestResolveProportional(t *testing.T) {
	type ratios = map[string]float64
	type more = map[string]map[string]float64
	const path = "resourceProportion"
	for _, c := range []struct {
		name string
		m    string
		cfg  ProportionalConfig
		o    Option
		want resolution
	}{
		{"off", "gpu", ProportionalConfig{}, 0, resolution{result: "[]"}},
		{"seed", "gpu", ProportionalConfig{Resources: []string{nvidiaGPU}, Proportion: ratios{nvidiaGPU + ".cpu": 8, nvidiaGPU + ".memory": 8}}, 0,
			resolution{result: "[gpu] gpu:cpu=8000/1 gpu:memory=8e+09/1"}},
		{"defaults", "gpu", ProportionalConfig{Resources: []string{teslaT4, nvidiaGPU}, Proportion: ratios{nvidiaGPU + ".cpu": 0, teslaT4 + ".memory": -1}}, 0,
			resolution{result: "[gpu nvidia.com/t4] gpu:cpu=0/1 gpu:memory=1e+09/1 nvidia.com/t4:cpu=1000/1 nvidia.com/t4:memory=1e+09/1",
				warnings: []string{path + `["nvidia.com/t4.memory"]`}}},
		{"binary unit", "gpu", ProportionalConfig{Resources: []string{nvidiaGPU}, MemoryUnit: 1 << 30}, 0,
			resolution{result: "[gpu] gpu:cpu=1000/1 gpu:memory=1.073741824e+09/1"}},
		{"thousandths", "milli", ProportionalConfig{Resources: []string{nvidiaGPU}, Secondaries: more{nvidiaGPU: {fooName: 2.5}}}, 0,
			resolution{result: "[gpu] gpu:cpu=1000/1000 gpu:memory=1e+09/1000 gpu:example.com/foo=2.5/1000"}},
		{"unit", "gpu", ProportionalConfig{MemoryUnit: -1}, Lenient, resolution{errors: []string{"memoryUnit"}}},
		{"unit NaN", "gpu", ProportionalConfig{MemoryUnit: math.NaN()}, Lenient, resolution{errors: []string{"memoryUnit"}}},
		{"ratios", "gpu", ProportionalConfig{Resources: []string{nvidiaGPU, teslaT4}, Proportion: ratios{nvidiaGPU + ".cpu": math.NaN(), nvidiaGPU + ".memory": math.Inf(1), teslaT4 + ".cpu": 1e308}}, Lenient,
			resolution{errors: []string{path + `["nvidia.com/gpu.cpu"]`, path + `["nvidia.com/gpu.memory"]`, path + `["nvidia.com/t4.cpu"]`}}},
		{"primaries", "gpu", ProportionalConfig{Resources: []string{nvidiaGPU, "cpu", "memory", "nvidia.com/*", ""}}, 0,
			resolution{errors: slices.Repeat([]string{"resources"}, 4)}},
		{"primaries, lenient", "gpu", ProportionalConfig{Resources: []string{"cpu", "memory", "nvidia.com/*"}, Proportion: ratios{"cpu.memory": 3, "nvidia.com/*.cpu": 2}}, Lenient,
			resolution{result: "[]", warnings: slices.Repeat([]string{"resources"}, 3)}},
		{"keys", "gpu", ProportionalConfig{Resources: []string{nvidiaGPU}, Proportion: ratios{teslaT4 + ".cpu": 1, nvidiaGPU: 1, nvidiaGPU + ".pods": 1, "cpu": 1}}, 0,
			resolution{errors: []string{path + `["cpu"]`, path + `["nvidia.com/gpu"]`, path + `["nvidia.com/gpu.pods"]`, path + `["nvidia.com/t4.cpu"]`}}},
		{"keys, lenient", "gpu", ProportionalConfig{Resources: []string{nvidiaGPU}, Proportion: ratios{teslaT4 + ".cpu": 1, nvidiaGPU + ".cpu": 2}}, Lenient,
			resolution{result: "[gpu] gpu:cpu=2000/1 gpu:memory=1e+09/1", warnings: []string{path + `["nvidia.com/t4.cpu"]`}}},
		{"listed twice", "gpu", ProportionalConfig{Resources: []string{nvidiaGPU, nvidiaGPU}}, 0,
			resolution{result: "[gpu] gpu:cpu=1000/1 gpu:memory=1e+09/1", warnings: []string{"resources"}}},
		{"unknown", "plain", ProportionalConfig{Resources: []string{teslaT4}, Proportion: ratios{teslaT4 + ".cpu": 2}}, 0,
			resolution{unknown: []string{teslaT4}}},
		{"unknown, allowed", "plain", ProportionalConfig{Resources: []string{teslaT4}, Proportion: ratios{teslaT4 + ".cpu": 2}}, AllowUnknown,
			resolution{result: "[]", warnings: []string{"resources"}}},
		{"secondaries", "gpu", ProportionalConfig{Resources: []string{nvidiaGPU},
			Secondaries: more{teslaT4: {fooName: 1}, nvidiaGPU: {"cpu": 1, "x/y": 1, fooName: math.NaN()}}}, 0,
			resolution{errors: []string{`secondaries["nvidia.com/gpu"]["cpu"]`, `secondaries["nvidia.com/gpu"]["example.com/foo"]`, `secondaries["nvidia.com/t4"]`}, unknown: []string{"x/y"}}},
		{"secondaries, lenient", "gpu", ProportionalConfig{Resources: []string{nvidiaGPU},
			Secondaries: more{teslaT4: {fooName: 1}, nvidiaGPU: {"cpu": 1, "x/y": 1, fooName: -2}}}, Lenient,
			resolution{result: "[gpu] gpu:cpu=1000/1 gpu:memory=1e+09/1 gpu:example.com/foo=1/1",
				warnings: []string{`secondaries["nvidia.com/gpu"]["cpu"]`, `secondaries["nvidia.com/gpu"]["example.com/foo"]`, `secondaries["nvidia.com/gpu"]["x/y"]`, `secondaries["nvidia.com/t4"]`}}},
		{"secondary twice", "fold", ProportionalConfig{Resources: []string{nvidiaGPU, amdGPU}, Secondaries: more{amdGPU: {"pods": 1}, nvidiaGPU: {"pods": 1}}}, 0,
			resolution{result: "[gpu] gpu:cpu=1000/1 gpu:memory=1e+09/1 gpu:pods=1/1",
				warnings: []string{path + `["nvidia.com/gpu.cpu"]`, path + `["nvidia.com/gpu.memory"]`, `secondaries["nvidia.com/gpu"]["pods"]`}}},
		{"secondary twice, different", "fold", ProportionalConfig{Resources: []string{nvidiaGPU, amdGPU}, Secondaries: more{amdGPU: {"pods": 1}, nvidiaGPU: {"pods": 2}}}, Lenient,
			resolution{errors: []string{`secondaries["nvidia.com/gpu"]["pods"]`}}},
		{"folded, different", "fold", ProportionalConfig{Resources: []string{nvidiaGPU, amdGPU}, Proportion: ratios{amdGPU + ".memory": 2}}, Lenient,
			resolution{errors: []string{path + `["nvidia.com/gpu.memory"]`}}},
		{"folded, equal", "fold", ProportionalConfig{Resources: []string{nvidiaGPU, amdGPU}, Proportion: ratios{amdGPU + ".cpu": 2, nvidiaGPU + ".cpu": 2}}, 0,
			resolution{result: "[gpu] gpu:cpu=2000/1 gpu:memory=1e+09/1", warnings: []string{path + `["nvidia.com/gpu.cpu"]`, path + `["nvidia.com/gpu.memory"]`}}},
		{"not folded", "nofold", ProportionalConfig{Resources: []string{nvidiaGPU, amdGPU}, Proportion: ratios{amdGPU + ".memory": 2}}, 0,
			resolution{result: "[amd.com/gpu nvidia.com/gpu] amd.com/gpu:cpu=1000/1 amd.com/gpu:memory=2e+09/1 nvidia.com/gpu:cpu=1000/1 nvidia.com/gpu:memory=1e+09/1"}},
	} {
		m := testMaps[c.m](t)
		var r report
		primaries, rules := resolveProportional(&c.cfg, m, c.o, &r)
		names := make([]string, len(primaries))
		for i, p := range primaries {
			names[i] = m.Name(p)
		}
		text := fmt.Sprint(names)
		for _, rule := range rules {
			text += fmt.Sprintf(" %s:%s=%v/%v", m.Name(rule.primary), m.Name(rule.secondary), rule.perUnit, rule.scale)
		}
		if got := r.resolution(t, text); !sameResolution(got, c.want) {
			t.Errorf("%s:\ngot  %v\nwant %v", c.name, got, c.want)
		}
	}
}

// TestConflictNamesBoth demands that both keys stand in the message.
func TestConflictNamesBoth(t *testing.T) {
	var r report
	resolveFit(&StrategyFitConfig{Resources: map[string]FitRule{nvidiaGPU: ruleMost(2), amdGPU: ruleLeast(1)}}, testMaps["fold"](t), 0, &r)
	if text := r.err().Error(); !strings.Contains(text, nvidiaGPU) || !strings.Contains(text, amdGPU) {
		t.Error(text)
	}
}

// TestConflictOnce has two patterns that meet on two indices.
func TestConflictOnce(t *testing.T) {
	n := vectormap.ExactNormalizer{"a/1": "x", "b/1": "x", "a/2": "y", "b/2": "y"}
	m := mustMap(slices.Sorted(maps.Keys(n)), vectormap.WithNormalizer(n), vectormap.FoldVendors())
	cfg := &StrategyFitConfig{Resources: map[string]FitRule{"a/*": ruleMost(2), "b/*": ruleLeast(1)}}
	var r report
	resolveFit(cfg, m, 0, &r)
	if got, want := r.resolution(t, ""), (resolution{errors: []string{`resources["b/*"]`}}); !sameResolution(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestMessagesAreBounded(t *testing.T) {
	long := strings.Repeat("ü\xff\n", 1<<18)
	var r report
	resolveFit(&StrategyFitConfig{Resources: map[string]FitRule{long: {ScoringType(long), 1}}}, mustMap(nil), 0, &r)
	if n := len(r.err().Error()); n > 8<<10 {
		t.Errorf("%d bytes", n)
	}
}

// TestMatchesNothing says of a pattern that only looks as if it had its name.
func TestMatchesNothing(t *testing.T) {
	for key, want := range map[string]string{
		"nvidia.com/gpu/*": `; "nvidia.com/gpu" itself is a resource, but not matched: name it, or write "nvidia.com/gpu*"`,
		"amd.com/gpu/*":    "",
		"amd.com/*":        "",
	} {
		var r report
		resolveFit(&StrategyFitConfig{Resources: map[string]FitRule{key: {Type: MostAllocated}}}, testMaps["gpu"](t), 0, &r)
		if len(r.Warnings()) != 1 || r.Warnings()[0].Detail != "matches no resource"+want {
			t.Errorf("%s: %v", key, r.Warnings())
		}
	}
}
