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
	return parseStrategy(data, "arguments", opts, func(w walker, root any) *StrategyConfig {
		p := argumentsParser{walker: w}
		return p.arguments(root)
	})
}

// ParseSchedulerConf reads a whole configuration of Volcano's scheduler and
// returns the arguments of its plugin resource-strategy-fit, as
// [ParseArguments] does. The plugin must occur exactly once. Other plugins, and
// what else the document holds, are looked at for repeated keys only. Paths
// begin with tiers[i].plugins[j].arguments.
func ParseSchedulerConf(data []byte, opts ...Option) (cfg *StrategyConfig, warnings field.ErrorList, err error) {
	return parseStrategy(data, "configuration", opts, func(w walker, root any) *StrategyConfig {
		return w.schedulerConf(root)
	})
}

// parseStrategy reads a document whose root is called name in messages.
func parseStrategy(data []byte, name string, opts []Option, parse func(walker, any) *StrategyConfig) (cfg *StrategyConfig, warnings field.ErrorList, err error) {
	var r report
	if root, ok := readDocument(data, name, &r); ok {
		cfg = parse(walker{options(opts), &r}, root)
	}
	if warnings, err = r.finish(); err != nil {
		return nil, warnings, err
	}
	return cfg, warnings, nil
}

// schedulerConf reads a scheduler's configuration.
func (w *walker) schedulerConf(root any) (cfg *StrategyConfig) {
	plugins := 0
	conf, _ := w.object(root, "configuration")
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
var argumentNames = []string{pathFitWeight, pathResources, "sra", "proportional"}

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
	p := argumentsParser{walker: *w, prefix: path + ".arguments"}
	return p.arguments(x["arguments"])
}

// argumentsParser reads the arguments of the plugin.
type argumentsParser struct {
	walker
	prefix string // of all paths
}

// at returns a path with the prefix.
func (p *argumentsParser) at(path string) string {
	if p.prefix == "" {
		return path
	}
	return p.prefix + "." + path
}

func (p *argumentsParser) arguments(v any) *StrategyConfig {
	name := p.prefix
	if name == "" {
		name = "arguments"
	}
	x, _ := p.object(v, name)
	if p.prefix == "" {
		p.knownOr(x, "", "unknown key"+notArguments(x), argumentNames...)
	} else {
		p.known(x, p.prefix, argumentNames...)
	}
	weight := p.weight(x[pathFitWeight], p.at(pathFitWeight), 0, defaultFitWeight)
	return &StrategyConfig{
		Fit:          StrategyFitConfig{Weight: &weight, Resources: p.rules(x[pathResources])},
		SRA:          p.sra(x["sra"]),
		Proportional: p.proportional(x["proportional"]),
	}
}

// rules reads the rules by name and pattern.
func (p *argumentsParser) rules(v any) map[string]FitRule {
	path := p.at(pathResources)
	x, _ := p.object(v, path)
	if len(x) == 0 {
		return defaultRules()
	}
	rules := make(map[string]FitRule, len(x))
	for _, key := range slices.Sorted(maps.Keys(x)) {
		path := keyPath(path, key)
		rule := p.rule(x[key], path)
		if fault := keyFault(key, p.o); fault != "" {
			p.r.failOrWarn(p.o, invalid(path, key, fault))
			continue
		}
		rules[key] = rule
	}
	return rules
}

func (p *argumentsParser) rule(v any, path string) FitRule {
	x, ok := p.object(v, path)
	if !ok {
		return FitRule{}
	}
	p.known(x, path, "type", "weight")
	kind, isText := p.text(x["type"], path+".type")
	rule := FitRule{Type: ScoringType(kind)}
	if isText && rule.Type != MostAllocated && rule.Type != LeastAllocated {
		p.r.failOrWarn(p.o, badType(path, rule.Type))
		rule.Type = LeastAllocated
	}
	rule.Weight = p.weight(x["weight"], path+".weight", 1, 1)
	return rule
}

// sra reads the policy of scarce resources; nil when it is off.
func (p *argumentsParser) sra(v any) *SRAConfig {
	path := p.at("sra")
	x, _ := p.object(v, path)
	p.known(x, path, "enable", "resources", "weight", "resourceWeight")
	enable := p.boolean(x["enable"], path+".enable")
	weight := p.sraWeight(x["weight"], enable)

	// A pattern is kept as a name that no node has.
	names, listed := p.names(x["resources"], p.at(pathSRANames), func(name string) (string, bool) {
		return patternRefused(name), true
	})
	weights := make(map[string]int64, len(names))
	for _, name := range names {
		weights[name] = 1
	}
	path = p.at(pathSRAWeights)
	given, _ := p.object(x["resourceWeight"], path)
	for _, name := range slices.Sorted(maps.Keys(given)) {
		path := keyPath(path, name)
		if listed[name] {
			weights[name] = p.weight(given[name], path, 0, 1)
			continue
		}
		p.integer(given[name], path)
		p.r.warn(notListed(path, name))
	}
	if !enable || weight == 0 {
		return nil
	}
	return &SRAConfig{Weight: weight, Resources: names, ResourceWeight: weights}
}

// sraWeight reads the weight of the policy. One that is enabled without a
// weight is off.
func (p *argumentsParser) sraWeight(v any, enable bool) int64 {
	path := p.at(pathSRAWeight)
	weight, how := p.integer(v, path)
	switch {
	case how == numberClean && (weight < 0 || weight == 0 && enable):
		p.r.warn(invalid(path, weight, "sra is off"))
	case how == numberAbsent && enable:
		p.r.warn(field.Required(field.NewPath(path), "sra is off"))
	}
	p.r.limitWeight(path, weight)
	return max(weight, 0)
}

// names reads a comma list. refuse says what is wrong with an item that
// resource names are not, if anything, and whether lenient mode keeps it. listed
// has all items, the refused ones too.
func (p *argumentsParser) names(v any, path string, refuse func(name string) (fault string, keep bool)) (names []string, listed map[string]bool) {
	text, _ := p.text(v, path)
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
			p.r.failOrWarn(p.o, invalid(path, name, fault))
			if !keep {
				continue
			}
		case exactFault(name) != "":
			p.r.fail(invalid(path, name, "a name "+exactFault(name)))
		}
		names = append(names, name)
	}
	for _, name := range slices.Sorted(maps.Keys(repeated)) {
		p.r.warn(duplicate(path, name))
	}
	return names, listed
}

// proportional reads the proportional policy; nil when it is off.
func (p *argumentsParser) proportional(v any) *ProportionalConfig {
	path := p.at("proportional")
	x, _ := p.object(v, path)
	p.known(x, path, "enable", "resources", "resourceProportion")
	enable := p.boolean(x["enable"], path+".enable")
	names, listed := p.names(x["resources"], p.at(pathPrimaries), func(name string) (string, bool) {
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
	path = p.at(pathProportion)
	given, _ := p.object(x["resourceProportion"], path)
	for _, key := range slices.Sorted(maps.Keys(given)) {
		path := keyPath(path, key)
		ratio, how := p.number(given[key], path)
		_, used := ratios[key]
		switch {
		case !hasPrimary(key, listed):
			p.r.failOrWarn(p.o, badProportionKey(path, key))
		case used && how == numberClean:
			ratios[key] = p.r.ratio(path, ratio)
		}
	}
	if !enable {
		return nil
	}
	return &ProportionalConfig{Resources: names, Proportion: ratios, MemoryUnit: defaultMemoryUnit}
}
