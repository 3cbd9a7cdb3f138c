package scoring

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// textOf is a parsed configuration in short.
func textOf(cfg *StrategyConfig) string {
	if cfg == nil {
		return ""
	}
	text := fmt.Sprint("P ", *cfg.Fit.Weight)
	for _, key := range slices.Sorted(maps.Keys(cfg.Fit.Resources)) {
		rule := cfg.Fit.Resources[key]
		text += fmt.Sprintf(" %s=%s%d", key, strings.TrimSuffix(string(rule.Type), "Allocated"), rule.Weight)
	}
	if cfg.SRA != nil {
		text += fmt.Sprintf("; V %d %q", cfg.SRA.Weight, cfg.SRA.Resources)
		for _, key := range slices.Sorted(maps.Keys(cfg.SRA.ResourceWeight)) {
			text += fmt.Sprintf(" %s=%d", key, cfg.SRA.ResourceWeight[key])
		}
	}
	if cfg.Proportional != nil {
		text += fmt.Sprintf("; proportional %q", cfg.Proportional.Resources)
		for _, key := range slices.Sorted(maps.Keys(cfg.Proportional.Proportion)) {
			text += fmt.Sprintf(" %s=%v", key, cfg.Proportional.Proportion[key])
		}
	}
	return text
}

// parsed is what a document comes to.
func parsed(t *testing.T, parse parser, text string, o Option) resolution {
	t.Helper()
	cfg, warnings, err := parse([]byte(text), o)
	if err != nil && cfg != nil {
		t.Errorf("%q: a result and an error", text)
	}
	paths, _ := pathsOf(t, err)
	if !slices.IsSorted(paths) || !slices.IsSorted(warned(warnings)) {
		t.Errorf("%q: paths are not sorted: %q %q", text, paths, warned(warnings))
	}
	if err != nil { // TestParseWarnings has the warnings that come with errors
		warnings = nil
	}
	return resolution{result: textOf(cfg), errors: paths, warnings: warned(warnings)}
}

type parser = func([]byte, ...Option) (*StrategyConfig, fieldErrors, error)

const defaults = "P 10 cpu=Least1 memory=Least1"

// TestParseArguments has the faults of the documents of one key each, and what
// becomes of them by default and in lenient mode.
func TestParseArguments(t *testing.T) {
	const unknownKey = "ResourceStrategyFitPlusWeight"
	const proportion = "proportional.resourceProportion"
	ok := func(result string, warnings ...string) resolution {
		return resolution{result: result, warnings: warnings}
	}
	bad := func(paths ...string) resolution { return resolution{errors: paths} }
	for _, c := range []struct {
		name, text      string
		normal, lenient resolution
	}{
		{"whole", "resourceStrategyFitWeight: 10\nresources:\n  cpu: {type: MostAllocated, weight: 1}\n  memory: {type: LeastAllocated, weight: 2}",
			ok("P 10 cpu=Most1 memory=Least2"), ok("P 10 cpu=Most1 memory=Least2")},
		{"weight only", "resourceStrategyFitWeight: 10", ok(defaults), ok(defaults)},
		{"as JSON", `{"resourceStrategyFitWeight":7,"resources":{"cpu":{"type":"MostAllocated","weight":2}}}`, ok("P 7 cpu=Most2"), ok("P 7 cpu=Most2")},
		{"empty", "", bad("(document)"), bad("(document)")},
		{"a comment", "# nothing\n", bad("(document)"), bad("(document)")},
		{"null", "null", bad("(document)"), bad("(document)")},
		{"empty mapping", "{}", ok(defaults), ok(defaults)},
		{"null values", "resourceStrategyFitWeight:\nresources:\nsra:\nproportional:", ok(defaults), ok(defaults)},
		{"no rules", "resources: {}", ok(defaults), ok(defaults)},
		{"off", "resourceStrategyFitWeight: 0", ok("P 0 cpu=Least1 memory=Least1"), ok("P 0 cpu=Least1 memory=Least1")},
		{"weights absent", "resources: {cpu: {type: MostAllocated}, memory: {type: MostAllocated, weight: null}}", ok("P 10 cpu=Most1 memory=Most1"), ok("P 10 cpu=Most1 memory=Most1")},
		{"numbers as YAML has them", "resourceStrategyFitWeight: 1_0\nresources: {cpu: {type: MostAllocated, weight: 0x10}, memory: {type: MostAllocated, weight: 2e1}, pods: {type: MostAllocated, weight: 2.0}}",
			ok("P 10 cpu=Most16 memory=Most20 pods=Most2"), ok("P 10 cpu=Most16 memory=Most20 pods=Most2")},
		{"anchors", "resources: {cpu: &r {type: MostAllocated, weight: 2}, memory: *r, pods: {<<: *r}}", ok("P 10 cpu=Most2 memory=Most2 pods=Most2"), ok("P 10 cpu=Most2 memory=Most2 pods=Most2")},

		// unknown keys
		{"unknown key and pattern", unknownKey + ": 10\nresources: {cpu: {type: LeastAllocated}, '*': {type: MostAllocated, weight: 2}}",
			bad(unknownKey, `resources["*"]`), ok("P 10 cpu=Least1", unknownKey, `resources["*"]`)},
		{"unknown key and patterns", unknownKey + ": 10\nresources: {nvidia.com/gpu/*: {type: MostAllocated, weight: 3}, cloudml.gpu**: {type: LeastAllocated, weight: 2}}",
			bad(unknownKey, `resources["cloudml.gpu**"]`), ok("P 10 nvidia.com/gpu/*=Most3", unknownKey, `resources["cloudml.gpu**"]`)},
		{"unknown keys below", "resources: {cpu: {type: MostAllocated, wieght: 3}}\nsra: {x: {z: 1}}\nproportional: {\"a b\": 1, memoryunit: 3}",
			bad("proportional.memoryunit", `proportional["a b"]`, `resources["cpu"].wieght`, "sra.x"),
			ok("P 10 cpu=Most1", "proportional.memoryunit", `proportional["a b"]`, `resources["cpu"].wieght`, "sra.x")},

		// types
		{"type unknown", "resources: {cpu: {type: RequestedToCapacityRatio}}", bad(`resources["cpu"].type`), ok("P 10 cpu=Least1", `resources["cpu"].type`)},
		{"type of another case", "resources: {cpu: {type: mostAllocated, weight: 2}}", bad(`resources["cpu"].type`), ok("P 10 cpu=Least2", `resources["cpu"].type`)},
		{"type missing", "resources: {cpu: {weight: 3}}", bad(`resources["cpu"].type`), ok("P 10 cpu=Least3", `resources["cpu"].type`)},
		{"type empty", "resources: {cpu: {type: ''}}", bad(`resources["cpu"].type`), ok("P 10 cpu=Least1", `resources["cpu"].type`)},
		{"rule null", "resources: {cpu: }", bad(`resources["cpu"].type`), ok("P 10 cpu=Least1", `resources["cpu"].type`)},

		// patterns
		{"patterns", "resources: {'gpu-[a-z]+': {type: MostAllocated}, '*': {type: MostAllocated}}", bad(`resources["*"]`, `resources["gpu-[a-z]+"]`), ok("P 10", `resources["*"]`, `resources["gpu-[a-z]+"]`)},

		// integers
		{"fractions", "resourceStrategyFitWeight: 2.9\nresources: {cpu: {type: MostAllocated, weight: 3.5}, memory: {type: MostAllocated, weight: 0.5}}",
			bad("resourceStrategyFitWeight", `resources["cpu"].weight`, `resources["memory"].weight`),
			ok("P 2 cpu=Most3 memory=Most1", "resourceStrategyFitWeight", `resources["cpu"].weight`, `resources["memory"].weight`)},
		{"negative fractions", "resourceStrategyFitWeight: -0.5\nresources: {cpu: {type: MostAllocated, weight: -3.5}}",
			bad("resourceStrategyFitWeight", `resources["cpu"].weight`), ok("P 0 cpu=Most1", "resourceStrategyFitWeight", `resources["cpu"].weight`)},
		{"fraction of a negative weight", "resourceStrategyFitWeight: -1.5", bad("resourceStrategyFitWeight"), ok(defaults, "resourceStrategyFitWeight")},

		// ranges
		{"below the range", "resourceStrategyFitWeight: -1\nresources: {cpu: {type: MostAllocated, weight: 0}, memory: {type: MostAllocated, weight: -7}}",
			ok("P 10 cpu=Most1 memory=Most1", "resourceStrategyFitWeight", `resources["cpu"].weight`, `resources["memory"].weight`),
			ok("P 10 cpu=Most1 memory=Most1", "resourceStrategyFitWeight", `resources["cpu"].weight`, `resources["memory"].weight`)},
		{"above the range", "resourceStrategyFitWeight: 1000001\nresources: {cpu: {type: MostAllocated, weight: 1000001}, memory: {type: MostAllocated, weight: 1000000}}\nsra: {weight: 1000001, resources: a/b, resourceWeight: {a/b: 1000001}}",
			bad("resourceStrategyFitWeight", `resources["cpu"].weight`, `sra.resourceWeight["a/b"]`, "sra.weight"),
			bad("resourceStrategyFitWeight", `resources["cpu"].weight`, `sra.resourceWeight["a/b"]`, "sra.weight")},
		{"not 64 bits", "resourceStrategyFitWeight: 9223372036854775808\nresources: {cpu: {type: MostAllocated, weight: -1e30}}",
			bad("resourceStrategyFitWeight", `resources["cpu"].weight`), bad("resourceStrategyFitWeight", `resources["cpu"].weight`)},
		{"not finite", "resourceStrategyFitWeight: .nan\nresources: {cpu: {type: MostAllocated, weight: -.inf}}\nproportional: {resources: a/b, resourceProportion: {a/b.cpu: .Inf}}",
			bad(proportion+`["a/b.cpu"]`, "resourceStrategyFitWeight", `resources["cpu"].weight`), bad(proportion+`["a/b.cpu"]`, "resourceStrategyFitWeight", `resources["cpu"].weight`)},

		// sra
		{"sra", "sra: {enable: true, weight: 3, resources: ' nvidia.com/t4, nvidia.com/a10,, ', resourceWeight: {nvidia.com/t4: 1, nvidia.com/a10: 2}}",
			ok(defaults + `; V 3 ["nvidia.com/t4" "nvidia.com/a10"] nvidia.com/a10=2 nvidia.com/t4=1`), ok(defaults + `; V 3 ["nvidia.com/t4" "nvidia.com/a10"] nvidia.com/a10=2 nvidia.com/t4=1`)},
		{"sra not enabled", "sra: {weight: 3, resources: a/b}", ok(defaults), ok(defaults)},
		{"sra of weights only", "sra: {resourceWeight: {}}", ok(defaults), ok(defaults)},
		{"sra empty", "sra: {enable: null, weight: null}", ok(defaults), ok(defaults)},
		{"sra without resources", "sra: {enable: true, weight: 3}", ok(defaults + "; V 3 []"), ok(defaults + "; V 3 []")},
		{"sra of blank resources", "sra: {enable: true, weight: 3, resources: ' , '}", ok(defaults + "; V 3 []"), ok(defaults + "; V 3 []")},
		{"sra enabled only", "sra: {enable: true}", ok(defaults, "sra.weight"), ok(defaults, "sra.weight")},
		{"sra disabled", "sra: {enable: false, weight: 3, resources: a/b}", ok(defaults), ok(defaults)},
		{"sra without a weight", "sra: {enable: true, resources: a/b}", ok(defaults, "sra.weight"), ok(defaults, "sra.weight")},
		{"sra of weight 0", "sra: {enable: true, weight: 0, resources: a/b}", ok(defaults, "sra.weight"), ok(defaults, "sra.weight")},
		{"sra of a negative weight", "sra: {enable: true, weight: -2, resources: a/b}", ok(defaults, "sra.weight"), ok(defaults, "sra.weight")},
		{"sra disabled, of a negative weight", "sra: {enable: false, weight: -2, resources: a/b}", ok(defaults, "sra.weight"), ok(defaults, "sra.weight")},
		{"sra of a fraction", "sra: {enable: true, weight: 0.5, resources: a/b}", bad("sra.weight"), ok(defaults, "sra.weight")},
		{"sra weights", "sra: {enable: true, weight: 1, resources: 'a/b,a/c,a/d', resourceWeight: {a/b: -1, a/c: 0, x/y: 2}}",
			ok(defaults+`; V 1 ["a/b" "a/c" "a/d"] a/b=1 a/c=0 a/d=1`, `sra.resourceWeight["a/b"]`, `sra.resourceWeight["x/y"]`),
			ok(defaults+`; V 1 ["a/b" "a/c" "a/d"] a/b=1 a/c=0 a/d=1`, `sra.resourceWeight["a/b"]`, `sra.resourceWeight["x/y"]`)},
		{"sra item twice", "sra: {enable: true, weight: 1, resources: 'a/b, a/b ,a/b'}", ok(defaults+`; V 1 ["a/b"] a/b=1`, "sra.resources"), ok(defaults+`; V 1 ["a/b"] a/b=1`, "sra.resources")},
		{"sra pattern", "sra: {enable: true, weight: 1, resources: 'a/*, a/b', resourceWeight: {a/*: 2}}", bad("sra.resources"), ok(defaults+`; V 1 ["a/*" "a/b"] a/*=2 a/b=1`, "sra.resources")},
		{"sra items that are no names", "sra: {resources: 'a/b a/c, -x, y/', resourceWeight: {-x: 2}}", bad("sra.resources", "sra.resources", "sra.resources"), bad("sra.resources", "sra.resources", "sra.resources")},

		// proportional
		{"proportional", "proportional: {enable: true, resources: 'nvidia.com/gpu, a/b', resourceProportion: {nvidia.com/gpu.cpu: 4, nvidia.com/gpu.memory: 2.5, a/b.cpu: 0}}",
			ok(defaults + `; proportional ["nvidia.com/gpu" "a/b"] a/b.cpu=0 a/b.memory=1 nvidia.com/gpu.cpu=4 nvidia.com/gpu.memory=2.5`),
			ok(defaults + `; proportional ["nvidia.com/gpu" "a/b"] a/b.cpu=0 a/b.memory=1 nvidia.com/gpu.cpu=4 nvidia.com/gpu.memory=2.5`)},
		{"proportional not enabled", "proportional: {resources: a/b}", ok(defaults), ok(defaults)},
		{"proportional disabled", "proportional: {enable: false, resources: a/b}", ok(defaults), ok(defaults)},
		{"proportional without resources", "proportional: {enable: true}", ok(defaults + `; proportional []`), ok(defaults + `; proportional []`)},
		{"proportional, negative", "proportional: {enable: true, resources: a/b, resourceProportion: {a/b.cpu: -0.5}}",
			ok(defaults+`; proportional ["a/b"] a/b.cpu=1 a/b.memory=1`, proportion+`["a/b.cpu"]`), ok(defaults+`; proportional ["a/b"] a/b.cpu=1 a/b.memory=1`, proportion+`["a/b.cpu"]`)},
		{"proportional keys", "proportional: {enable: true, resources: a/b, resourceProportion: {a/b: 1, x/y.cpu: 2, a/b.pods: 3}}",
			bad(proportion+`["a/b"]`, proportion+`["a/b.pods"]`, proportion+`["x/y.cpu"]`),
			ok(defaults+`; proportional ["a/b"] a/b.cpu=1 a/b.memory=1`, proportion+`["a/b"]`, proportion+`["a/b.pods"]`, proportion+`["x/y.cpu"]`)},
		{"proportional primaries", "proportional: {enable: true, resources: 'cpu,a/b,memory,a/*', resourceProportion: {cpu.memory: 1, a/*.cpu: 3}}",
			bad("proportional.resources", "proportional.resources", "proportional.resources"),
			ok(defaults+`; proportional ["a/b"] a/b.cpu=1 a/b.memory=1`, "proportional.resources", "proportional.resources", "proportional.resources")},
		{"proportional item twice", "proportional: {enable: true, resources: 'a/b,a/b'}", ok(defaults+`; proportional ["a/b"] a/b.cpu=1 a/b.memory=1`, "proportional.resources"), ok(defaults+`; proportional ["a/b"] a/b.cpu=1 a/b.memory=1`, "proportional.resources")},
		{"proportional item that is no name", "proportional: {resources: 'a b'}", bad("proportional.resources"), bad("proportional.resources")},

		// wrong types, in both modes
		{"wrong types", "resourceStrategyFitWeight: '10'\nresources: {cpu: {type: 5, weight: '2'}, memory: most, pods: {type: [], weight: {}}}\nsra: {enable: 'yes', weight: true, resources: [a/b], resourceWeight: 1}\nproportional: []",
			bad("proportional", "resourceStrategyFitWeight", `resources["cpu"].type`, `resources["cpu"].weight`, `resources["memory"]`, `resources["pods"].type`, `resources["pods"].weight`, "sra.enable", "sra.resourceWeight", "sra.resources", "sra.weight"),
			bad("proportional", "resourceStrategyFitWeight", `resources["cpu"].type`, `resources["cpu"].weight`, `resources["memory"]`, `resources["pods"].type`, `resources["pods"].weight`, "sra.enable", "sra.resourceWeight", "sra.resources", "sra.weight")},
		{"wrong types below", "sra: {resources: a/b, resourceWeight: {a/b: '1', x/y: []}}\nproportional: {enable: 1, resources: a/b, resourceProportion: {a/b.cpu: '4', x/y: 1}}",
			bad("proportional.enable", proportion+`["a/b.cpu"]`, proportion+`["x/y"]`, `sra.resourceWeight["a/b"]`, `sra.resourceWeight["x/y"]`),
			bad("proportional.enable", proportion+`["a/b.cpu"]`, `sra.resourceWeight["a/b"]`, `sra.resourceWeight["x/y"]`)},
		{"not a mapping", "- 1", bad("(document)"), bad("(document)")},
		{"text", "most", bad("(document)"), bad("(document)")},
		{"not YAML", "resources: [", bad("(document)"), bad("(document)")},

		// one fault each: what follows from it is none
		{"a number that is too large", "resourceStrategyFitWeight: 1e400\nproportional: {enable: true, resources: a/b, resourceProportion: {a/b.cpu: 1e400}}",
			bad(proportion+`["a/b.cpu"]`, "resourceStrategyFitWeight"), bad(proportion+`["a/b.cpu"]`, "resourceStrategyFitWeight")},
		{"lists for comma lists", "sra: {enable: true, weight: 1, resources: [a/b], resourceWeight: {a/b: 2, x/y: 1}}\nproportional: {enable: true, resources: [a/b], resourceProportion: {a/b.cpu: 4}}",
			bad("proportional.resources", "sra.resources"), bad("proportional.resources", "sra.resources")},
		{"lists for mappings", "resources: [cpu]\nsra: [a/b]\nproportional: [a/b]", bad("proportional", "resources", "sra"), bad("proportional", "resources", "sra")},
		{"a name for a rule", "resources: {cpu: MostAllocated}", bad(`resources["cpu"]`), bad(`resources["cpu"]`)},
		{"keys in another case", "resources: {cpu: {Type: MostAllocated}}", bad(`resources["cpu"].Type`), ok("P 10 cpu=Least1", `resources["cpu"].Type`, `resources["cpu"].type`)},

		// repeated keys, in both modes
		{"repeated", "resourceStrategyFitWeight: 1\nresourceStrategyFitWeight: 2", bad("resourceStrategyFitWeight"), bad("resourceStrategyFitWeight")},
		{"repeated, with other faults", "x: 1\nresources:\n  cpu:\n    type: a\n    type: b\n    weight: [1]\n  'cpu': {type: MostAllocated, weight: 2.5}\nsra: {weight: .nan, resourceWeight: {a: 1, b: 2, a: 1}}\nz: {k: 1, k: 2}",
			bad(`resources["cpu"]`, `resources["cpu"].type`, `resources["cpu"].weight`, `sra.resourceWeight["a"]`, "sra.weight", "x", "z", "z.k"),
			bad(`resources["cpu"]`, `resources["cpu"].type`, `sra.resourceWeight["a"]`, "sra.weight", "z.k")},
		{"repeated in JSON", `{"resources":{"cpu":{"type":"MostAllocated","type":"MostAllocated","weight":"2"}}}`, bad(`resources["cpu"].type`, `resources["cpu"].weight`), bad(`resources["cpu"].type`, `resources["cpu"].weight`)},
		{"read alike", "resources: {1: {type: MostAllocated}, '1': {type: LeastAllocated}}", bad("(document)"), bad("(document)")},
	} {
		for o, want := range map[Option]resolution{0: c.normal, Lenient: c.lenient} {
			if got := parsed(t, ParseArguments, c.text, o); !sameResolution(got, want) {
				t.Errorf("%s, options %b:\ngot  %v\nwant %v", c.name, o, got, want)
			}
			// The same below a plugin, with longer paths.
			const above = "tiers[1].plugins[2].arguments"
			for i, path := range want.errors {
				want.errors[i] = above + "." + path
				if path == "(document)" {
					want.errors[i] = above
				}
			}
			for i, path := range want.warnings {
				want.warnings[i] = above + "." + path
			}
			conf := "tiers:\n- plugins: [{name: gang}]\n- plugins:\n  - name: priority\n  - {name: drf, arguments: {resources: 7}, enablePreemptable: false}\n  - name: resource-strategy-fit\n    enableNodeOrder: true\n    arguments:\n      " +
				strings.ReplaceAll(c.text, "\n", "\n      ")
			switch c.name {
			case "not YAML", "read alike":
				want.errors = []string{"(document)"}
			case "empty", "a comment", "null": // arguments that are left out
				want = resolution{result: defaults}
			}
			if got := parsed(t, ParseSchedulerConf, conf, o); !sameResolution(got, want) {
				t.Errorf("%s, whole configuration, options %b:\ngot  %v\nwant %v", c.name, o, got, want)
			}
		}
	}
}

// TestParseWarnings: warnings come with errors too.
func TestParseWarnings(t *testing.T) {
	const text = "resourceStrategyFitWeight: -1\nresources: {cpu: {type: x}}\nsra: {enable: true, weight: 1, resources: 'a/b,a/b'}"
	cfg, warnings, err := ParseArguments([]byte(text))
	if paths, _ := pathsOf(t, err); cfg != nil || !slices.Equal(paths, []string{`resources["cpu"].type`}) {
		t.Errorf("%v, %v", cfg, err)
	}
	if got, want := warned(warnings), []string{"resourceStrategyFitWeight", "sra.resources"}; !slices.Equal(got, want) {
		t.Errorf("warnings %q, want %q", got, want)
	}
	var fault *field.Error
	if !errors.As(err, &fault) || fault.Type != field.ErrorTypeNotSupported {
		t.Errorf("%v has no field.Error", err)
	}
}

// TestPathsOfParts: the paths of a part are its own when it is compiled alone.
func TestPathsOfParts(t *testing.T) {
	m := mustMap(t, nil)
	sra := SRAConfig{Weight: maxWeight + 1, Resources: []string{""}}
	proportional := ProportionalConfig{MemoryUnit: -1, Resources: []string{"cpu"}}
	_, err := CompileSRA(sra, m)
	if paths, _ := pathsOf(t, err); !slices.Equal(paths, []string{"resources", "weight"}) {
		t.Error(err)
	}
	_, err = CompileProportional(proportional, m)
	if paths, _ := pathsOf(t, err); !slices.Equal(paths, []string{"memoryUnit", "resources"}) {
		t.Error(err)
	}
	_, err = CompileStrategy(StrategyConfig{SRA: &sra, Proportional: &proportional}, m)
	if paths, _ := pathsOf(t, err); !slices.Equal(paths, []string{"proportional.memoryUnit", "proportional.resources", "sra.resources", "sra.weight"}) {
		t.Error(err)
	}
}

// TestParseOther gives each parser the documents of the others.
func TestParseOther(t *testing.T) {
	const (
		arguments = "resourceStrategyFitWeight: 1\n"
		entry     = "name: resource-strategy-fit\narguments: {resourceStrategyFitWeight: 1}\n"
		conf      = "actions: allocate\ntiers: [{plugins: [{name: resource-strategy-fit}]}]\n"
		configMap = "kind: ConfigMap\ndata: {volcano-scheduler.conf: 'tiers: []'}\n"
		unnamed   = "tiers: Required value: no plugin is named resource-strategy-fit"
	)
	for _, c := range []struct {
		parse parser
		text  string
		want  string // the last fault
	}{
		{ParseArguments, conf, `tiers: Unsupported value: "tiers": supported values: "resourceStrategyFitWeight", "resources", "sra", "proportional"; this is a scheduler's whole configuration: use ParseSchedulerConf`},
		{ParseArguments, entry, `name: Unsupported value: "name": supported values: "resourceStrategyFitWeight", "resources", "sra", "proportional"; this is the entry of a plugin: give what is under arguments`},
		{ParseArguments, configMap, `kind: Unsupported value: "kind": supported values: "resourceStrategyFitWeight", "resources", "sra", "proportional"; this is a ConfigMap: give the text in its data`},
		{ParseArguments, "x: 1", `x: Unsupported value: "x": supported values: "resourceStrategyFitWeight", "resources", "sra", "proportional"`},
		{ParseSchedulerConf, arguments, unnamed + "; these are the arguments of the plugin: use ParseArguments"},
		{ParseSchedulerConf, "sra: {enable: true}", unnamed + "; these are the arguments of the plugin: use ParseArguments"},
		{ParseSchedulerConf, configMap, unnamed + "; this is a ConfigMap: give the text in its data"},
		{ParseSchedulerConf, "tiers: []", unnamed},
	} {
		_, _, err := c.parse([]byte(c.text))
		var list utilerrors.Aggregate
		if !errors.As(err, &list) {
			t.Fatalf("%s: %v", c.text, err)
		}
		if got := list.Errors()[len(list.Errors())-1].Error(); got != c.want {
			t.Errorf("%s: %q, want %q", c.text, got, c.want)
		}
	}
}

func TestParseArgumentsLiteral(t *testing.T) {
	text := "resources: {nvidia.com/gpu/*: {type: MostAllocated}, 'gpu-[a-z]+': {type: MostAllocated}, '*': {type: MostAllocated}}"
	for o, want := range map[Option]resolution{
		WildcardLiteral:           {errors: []string{`resources["*"]`}},
		WildcardLiteral | Lenient: {result: "P 10 gpu-[a-z]+=Most1 nvidia.com/gpu/*=Most1", warnings: []string{`resources["*"]`}},
	} {
		if got := parsed(t, ParseArguments, text, o); !sameResolution(got, want) {
			t.Errorf("options %b: %v, want %v", o, got, want)
		}
	}
}

func TestParseSchedulerConf(t *testing.T) {
	const plugin = "{name: resource-strategy-fit, arguments: {resourceStrategyFitWeight: 3}}"
	const weight3 = "P 3 cpu=Least1 memory=Least1"
	for _, c := range []struct {
		name, text string
		want       resolution
	}{
		{"seed", "actions: \"enqueue, allocate, backfill\"\ntiers:\n- plugins:\n  - name: resource-strategy-fit\n    arguments:\n      resourceStrategyFitWeight: 10\n      resources:\n        nvidia.com/gpu: {type: MostAllocated, weight: 2}\n        cpu: {type: LeastAllocated, weight: 1}\n",
			resolution{result: "P 10 cpu=Least1 nvidia.com/gpu=Most2"}},
		{"without arguments", "tiers: [{plugins: [{name: resource-strategy-fit}]}]", resolution{result: defaults}},
		{"arguments null", "tiers: [{plugins: [{name: resource-strategy-fit, arguments: }]}]", resolution{result: defaults}},
		{"other parts are ignored", "metrics: {type: 5}\nconfigurations: [7]\ntiers: [{plugins: [7, null, {name: 5}, " + plugin + "], x: 1}, null]", resolution{result: weight3}},
		{"none", "actions: allocate\ntiers: [{plugins: [{name: gang}]}]", resolution{errors: []string{"tiers"}}},
		{"nothing", "", resolution{errors: []string{"(document)"}}},
		{"nothing in it", "{}", resolution{errors: []string{"tiers"}}},
		{"two", "tiers: [{plugins: [" + plugin + "]}, {plugins: [{name: gang}, " + plugin + "]}]", resolution{errors: []string{"tiers[1].plugins[1].name"}}},
		{"two with faults", "tiers: [{plugins: [{name: resource-strategy-fit, arguments: {x: 1}}, {name: resource-strategy-fit, arguments: {sra: 1}}]}]",
			resolution{errors: []string{"tiers[0].plugins[0].arguments.x", "tiers[0].plugins[1].arguments.sra", "tiers[0].plugins[1].name"}}},
		{"misspelt arguments", "tiers: [{plugins: [{name: resource-strategy-fit, argument: {resourceStrategyFitWeight: 3}}]}]", resolution{errors: []string{"tiers[0].plugins[0].argument"}}},
		{"wrong types", "tiers: {plugins: []}", resolution{errors: []string{"tiers"}}},
		{"wrong types below", "tiers: [5, {plugins: 5}, {plugins: [" + plugin + "]}]", resolution{errors: []string{"tiers[0]", "tiers[1].plugins"}}},
		{"not a mapping", "[]", resolution{errors: []string{"(document)"}}},
		{"no list of plugins", "tiers: [{plugins: {name: resource-strategy-fit}}]", resolution{errors: []string{"tiers[0].plugins"}}},
		{"keys that are one in JSON", "yes: 1\n'true': 2\ntiers: [{plugins: [" + plugin + "]}]", resolution{errors: []string{"(document)"}}},
		{"repeated keys anywhere", "actions: a\nactions: b\ntiers: [{x: {z: 1, z: 2}, x: 3, plugins: [{name: gang, name: drf}, " + plugin + "]}]\nm: [{a: 1, a: 2}]",
			resolution{errors: []string{"actions", "m[0].a", "tiers[0].plugins[0].name", "tiers[0].x", "tiers[0].x.z"}}},
	} {
		if got := parsed(t, ParseSchedulerConf, c.text, 0); !sameResolution(got, c.want) {
			t.Errorf("%s:\ngot  %v\nwant %v", c.name, got, c.want)
		}
	}
}

// TestParsedIsClean compiles what lenient parsing made of faulty documents: the
// result has none of the faults any more.
func TestParsedIsClean(t *testing.T) {
	for _, text := range []string{
		"resourceStrategyFitWeight: -1\nresources: {cpu: {type: x, weight: -3}, '*': {}}",
		"sra: {enable: true, weight: 2.5, resources: 'gpu,gpu', resourceWeight: {gpu: -1, x: 2}}",
		"sra: {enable: true, weight: 0, resources: 'gpu'}",
		"proportional: {enable: true, resources: 'gpu,gpu,cpu', resourceProportion: {gpu.cpu: -1, x: 2}}",
	} {
		cfg, warnings, err := ParseArguments([]byte(text), Lenient)
		if err != nil || len(warnings) == 0 {
			t.Fatal(text, warnings, err)
		}
		m := testMaps["gpu"](t)
		var r report
		resolveFit(&cfg.Fit, m, 0, &r)
		if cfg.SRA != nil {
			resolveSRA(cfg.SRA, m, 0, &r)
		}
		if cfg.Proportional != nil {
			resolveProportional(cfg.Proportional, m, 0, &r)
		}
		if again, err := r.finish(); err != nil || len(again) > 0 {
			t.Errorf("%s: %v %v", text, again, err)
		}
	}
}

// TestMemoryUnit: the unit of a proportion of memory, as a number or a quantity.
func TestMemoryUnit(t *testing.T) {
	for text, want := range map[string]float64{
		"": 1e9, "memoryUnit: 1Gi": 1 << 30, "memoryUnit: 1G": 1e9, "memoryUnit: 1": 1, "memoryUnit: 1073741824": 1 << 30,
		"memoryUnit: '1e9'": 1e9, "memoryUnit: null": 1e9, "memoryUnit: 0.1": 0.1, "memoryUnit: 0x10": 16,
		"memoryUnit: 0": 0, "memoryUnit: -1Gi": 0, "memoryUnit: 1 GB": 0, "memoryUnit: [1]": 0, "memoryUnit: .inf": 0, "memoryUnit: true": 0,
	} {
		cfg, _, err := ParseArguments([]byte("proportional: {enable: true, resources: a/b, " + text + "}"))
		paths, _ := pathsOf(t, err)
		if want == 0 {
			if !slices.Equal(paths, []string{"proportional.memoryUnit"}) {
				t.Errorf("%s: %v", text, err)
			}
		} else if err != nil || cfg.Proportional.MemoryUnit != want {
			t.Errorf("%s: %v, %v, want %v", text, cfg, err, want)
		}
	}
}
