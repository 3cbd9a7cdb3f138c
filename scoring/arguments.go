package scoring

import (
	"maps"
	"slices"
	"strings"

	"github.com/resvec/resvec/internal/document"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// pluginName is the name of Volcano's plugin in a scheduler configuration.
const pluginName = "resource-strategy-fit"

// ParseArguments reads the arguments of Volcano's plugin resource-strategy-fit,
// as YAML or JSON: resourceStrategyFitWeight, resources, sra and proportional.
//
// The result is complete: what the document leaves out or has as null is there
// with its default, policies that are off are nil. Keys of resources are checked
// as patterns, see [WildcardLiteral]; names are looked up only when the result
// is compiled.
//
// All faults of the document are reported at once, sorted by path: as an error
// that lists a *field.Error for each, of a thousand at most, without a result, or
// as warnings, which come beside an error too. Names that the map does not have
// are reported by [CompileStrategy]. A policy without enable is off. With
// [Lenient], faults that have a defined meaning are warnings: unknown keys are
// ignored, invalid patterns removed, unknown types read as LeastAllocated,
// fractions cut off integers.
//
// A document has at most 1 MiB of UTF-8, no second one behind it, no aliases that
// make it much larger, and nests at most a hundred deep. Values are read as YAML
// 1.1 has them; keys must be strings, so 1 and yes need quotes.
func ParseArguments(data []byte, opts ...Option) (cfg *StrategyConfig, warnings field.ErrorList, err error) {
	return parse(data, opts, (*walker).arguments)
}

// ParseSchedulerConf reads a whole configuration of Volcano's scheduler and
// returns the arguments of its plugin resource-strategy-fit, as
// [ParseArguments] does. The plugin must occur exactly once. Other plugins, and
// what else the document holds, are looked at for repeated keys only. Paths
// begin with tiers[i].plugins[j].arguments.
func ParseSchedulerConf(data []byte, opts ...Option) (cfg *StrategyConfig, warnings field.ErrorList, err error) {
	return parse(data, opts, (*walker).schedulerConf)
}

// ParseProportional reads the section proportional of these arguments alone, which
// is what [ParseArguments] has under that key, and as it does. Paths begin below
// the key. cfg is nil for a policy that is off.
func ParseProportional(data []byte, opts ...Option) (cfg *ProportionalConfig, warnings field.ErrorList, err error) {
	return parse(data, opts, (*walker).proportional)
}

// parse reads a document by a method of the walker.
func parse[T any](data []byte, opts []Option, read func(w *walker, root any) *T) (cfg *T, warnings field.ErrorList, err error) {
	var r report
	if root, ok := readDocument(data, &r); ok {
		cfg = read(&walker{options(opts), &r}, root)
	}
	if warnings, err = r.finish(); err != nil {
		return nil, warnings, err
	}
	return cfg, warnings, nil
}

// schedulerConf reads a scheduler's configuration.
func (w *walker) schedulerConf(root any) (cfg *StrategyConfig) {
	plugins := 0
	conf, _ := w.object(root, "")
	for i, item := range w.list(conf["tiers"], "tiers") {
		path := itemPath("tiers", i)
		tier, _ := w.object(item, path)
		path += ".plugins"
		for j, entry := range w.list(tier["plugins"], path) {
			path := itemPath(path, j)
			x, isObject := entry.(document.Object)
			if !isObject || x["name"] != pluginName {
				continue
			}
			if plugins++; plugins > 1 {
				w.r.fail(duplicate(path+".name", pluginName))
			}
			cfg = w.pluginEntry(x, path)
		}
	}
	if plugins == 0 {
		w.r.fail(field.Required(field.NewPath("tiers"), "no plugin is named "+pluginName+notConf(conf)))
	}
	return cfg
}

// argumentNames are the keys of the plugin's arguments.
var argumentNames = []string{pathFitWeight, pathResources, pathSRA, pathProportional}

const isConfigMap = "; this is a ConfigMap: give the text in its data"

// notConf says what is there instead of a scheduler's configuration, "" when that
// is not known.
func notConf(x document.Object) string {
	switch {
	case x["kind"] == "ConfigMap":
		return isConfigMap
	case slices.ContainsFunc(argumentNames, func(key string) bool { return x[key] != nil }):
		return "; these are the arguments of the plugin: use ParseArguments"
	}
	return ""
}

// notArguments says what is there instead of the arguments, "" when that is not
// known.
func notArguments(x document.Object) string {
	switch {
	case x["kind"] == "ConfigMap":
		return isConfigMap
	case x["tiers"] != nil:
		return "; this is a scheduler's whole configuration: use ParseSchedulerConf"
	case x["arguments"] != nil:
		return "; this is the entry of a plugin: give what is under arguments"
	}
	return ""
}

// notProportional says that the section is one level below; "" when it is not.
func notProportional(x document.Object) string {
	if x[pathProportional] != nil {
		return "; these are the arguments of the plugin: give what is under proportional"
	}
	return ""
}

// pluginEntry reads the plugin's entry in a scheduler's configuration. Its
// switches, such as enableNodeOrder, are the scheduler's own matter.
func (w *walker) pluginEntry(x document.Object, path string) *StrategyConfig {
	names := []string{"name", "arguments"}
	for key := range x {
		if strings.HasPrefix(key, "enable") {
			names = append(names, key)
		}
	}
	w.known(x, path, names...)
	defer w.r.below(path + ".arguments")()
	return w.arguments(x["arguments"])
}

// arguments reads the arguments of the plugin.
func (w *walker) arguments(v any) *StrategyConfig {
	x, _ := w.object(v, "")
	w.knownOr(x, "", "unknown key"+notArguments(x), argumentNames...)
	weight := w.weight(x[pathFitWeight], pathFitWeight, 0, defaultFitWeight)
	cfg := &StrategyConfig{Fit: StrategyFitConfig{Weight: &weight, Resources: w.rules(x[pathResources])}}
	back := w.r.below(pathSRA)
	cfg.SRA = w.sra(x[pathSRA])
	back()
	back = w.r.below(pathProportional)
	cfg.Proportional = w.proportional(x[pathProportional])
	back()
	return cfg
}

// rules reads the rules by name and pattern.
func (w *walker) rules(v any) map[string]FitRule {
	x, _ := w.object(v, pathResources)
	if len(x) == 0 {
		return defaultRules()
	}
	rules := make(map[string]FitRule, len(x))
	for _, key := range slices.Sorted(maps.Keys(x)) {
		path := keyPath(pathResources, key)
		rule := w.rule(x[key], path)
		if fault := keyFault(key, w.o); fault != "" {
			w.r.failOrWarn(w.o, invalid(path, key, fault))
			continue
		}
		rules[key] = rule
	}
	return rules
}

func (w *walker) rule(v any, path string) FitRule {
	x, ok := w.object(v, path)
	if !ok {
		return FitRule{}
	}
	w.known(x, path, "type", "weight")
	kind, isText := w.text(x["type"], path+".type")
	rule := FitRule{Type: ScoringType(kind)}
	if isText && rule.Type != MostAllocated && rule.Type != LeastAllocated {
		w.r.failOrWarn(w.o, badType(path, rule.Type))
		rule.Type = LeastAllocated
	}
	rule.Weight = w.weight(x["weight"], path+".weight", 1, 1)
	return rule
}

// sra reads the policy of scarce resources; nil when it is off.
func (w *walker) sra(v any) *SRAConfig {
	x, _ := w.object(v, "")
	w.known(x, "", "enable", pathResources, pathSRAWeight, pathSRAWeights)
	enable := w.boolean(x["enable"], "enable")
	weight := w.sraWeight(x[pathSRAWeight], enable)

	// A pattern is kept as a name that no node has.
	names, listed := w.names(x[pathResources], func(name string) (string, bool) {
		return patternRefused(name), true
	})
	weights := make(map[string]int64, len(names))
	for _, name := range names {
		weights[name] = 1
	}
	given, _ := w.object(x[pathSRAWeights], pathSRAWeights)
	for _, name := range slices.Sorted(maps.Keys(given)) {
		path := keyPath(pathSRAWeights, name)
		if listed[name] {
			weights[name] = w.weight(given[name], path, 0, 1)
			continue
		}
		w.integer(given[name], path)
		w.r.warn(notListed(path, name))
	}
	if !enable || weight == 0 {
		return nil
	}
	return &SRAConfig{Weight: weight, Resources: names, ResourceWeight: weights}
}

// sraWeight reads the weight of the policy. One that is enabled without a
// weight is off.
func (w *walker) sraWeight(v any, enable bool) int64 {
	const path = pathSRAWeight
	weight, how := w.integer(v, path)
	switch {
	case how == numberClean && (weight < 0 || weight == 0 && enable):
		w.r.warn(invalid(path, weight, "sra is off"))
	case how == numberAbsent && enable:
		w.r.warn(field.Required(field.NewPath(path), "sra is off"))
	}
	w.r.limitWeight(path, weight)
	return max(weight, 0)
}

// names reads the comma list of a policy. refuse says what is wrong with an item that
// resource names are not, if anything, and whether lenient mode keeps it. listed
// has all items, the refused ones too.
func (w *walker) names(v any, refuse func(name string) (fault string, keep bool)) (names []string, listed map[string]bool) {
	const path = pathResources
	text, _ := w.text(v, path)
	listed = map[string]bool{}
	repeated := map[string]bool{}
	for item := range strings.SplitSeq(text, ",") {
		name := strings.TrimSpace(item)
		switch {
		case name == "":
			continue
		case listed[name]:
			repeated[name] = true
			continue
		}
		listed[name] = true
		fault, keep := refuse(name)
		switch {
		case fault != "":
			w.r.failOrWarn(w.o, invalid(path, name, fault))
			if !keep {
				continue
			}
		case exactFault(name) != "":
			w.r.fail(invalid(path, name, "a name "+exactFault(name)))
		}
		names = append(names, name)
	}
	for _, name := range slices.Sorted(maps.Keys(repeated)) {
		w.r.warn(duplicate(path, name))
	}
	return names, listed
}

// proportional reads the proportional policy; nil when it is off.
func (w *walker) proportional(v any) *ProportionalConfig {
	x, _ := w.object(v, "")
	w.knownOr(x, "", "unknown key"+notProportional(x), "enable", pathResources, pathProportion)
	enable := w.boolean(x["enable"], "enable")
	names, listed := w.names(x[pathResources], func(name string) (string, bool) {
		if name == "cpu" || name == "memory" {
			return secondaryRefused, false
		}
		return patternRefused(name), false
	})
	ratios := make(map[string]float64, 2*len(names))
	for _, name := range names {
		for _, s := range proportionSecondaries {
			ratios[name+s.suffix] = 1
		}
	}
	given, _ := w.object(x[pathProportion], pathProportion)
	for _, key := range slices.Sorted(maps.Keys(given)) {
		path := keyPath(pathProportion, key)
		ratio, how := w.number(given[key], path)
		_, used := ratios[key]
		switch {
		case !hasPrimary(key, listed):
			w.r.failOrWarn(w.o, badProportionKey(path, key))
		case used && how == numberClean:
			ratios[key] = w.r.ratio(path, ratio)
		}
	}
	if !enable {
		return nil
	}
	return &ProportionalConfig{Resources: names, Proportion: ratios, MemoryUnit: defaultMemoryUnit}
}
