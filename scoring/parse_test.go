package scoring

import (
	"cmp"
	"errors"
	"fmt"
	"github.com/resvec/resvec/internal/testkit"
	"maps"
	"os"
	"slices"
	"strconv"
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

// resolutionOf reads a resolution as testdata has it.
func resolutionOf(text string) resolution {
	parts := strings.Split(text, " | ")
	if parts[0] == "refused" {
		return resolution{errors: parts[1:]}
	}
	return resolution{result: parts[0], warnings: parts[1:]}
}

// TestParseArguments has the faults of the documents of one key each, and what
// becomes of them by default and in lenient mode.
func TestParseArguments(t *testing.T) {
	facts := testkit.Must(os.ReadFile("testdata/arguments.txt"))
	for _, fact := range strings.Split(string(facts), "\n\n")[1:] {
		name, rest, _ := strings.Cut(fact, "\n  text: ")
		quoted, rest, _ := strings.Cut(rest, "\n  comes to: ")
		normal, lenient, _ := strings.Cut(strings.TrimSpace(rest), "\n  leniently: ")
		document, err := strconv.Unquote(quoted)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for o, text := range map[Option]string{0: normal, Lenient: cmp.Or(lenient, normal)} {
			want := resolutionOf(text)
			if got := parsed(t, ParseArguments, document, o); !sameResolution(got, want) {
				t.Errorf("%s, options %b:\ngot  %v\nwant %v", name, o, got, want)
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
				strings.ReplaceAll(document, "\n", "\n      ")
			switch name {
			case "not YAML", "read alike":
				want.errors = []string{"(document)"}
			case "empty", "a comment", "null": // arguments that are left out
				want = resolution{result: defaults}
			}
			if got := parsed(t, ParseSchedulerConf, conf, o); !sameResolution(got, want) {
				t.Errorf("%s, whole configuration, options %b:\ngot  %v\nwant %v", name, o, got, want)
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

// TestPathsOfParts: the paths of the predicate are its own when it is compiled alone.
func TestPathsOfParts(t *testing.T) {
	m := mustMap(nil)
	sra := SRAConfig{Weight: maxWeight + 1, Resources: []string{""}}
	proportional := ProportionalConfig{MemoryUnit: -1, Resources: []string{"cpu"}}
	_, err := CompileProportional(proportional, m)
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
