package scoring

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/resvec/resvec/internal/document"
	"github.com/resvec/resvec/internal/quantity"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// pluginName is the name of Volcano's plugin in a scheduler configuration.
const pluginName = "resource-strategy-fit"

// ParseArguments reads the arguments of Volcano's plugin resource-strategy-fit,
// as YAML or JSON: resourceStrategyFitWeight, resources, sra and proportional.
//
// One key is not Volcano's: proportional.memoryUnit says how many bytes a proportion
// of memory of 1 means, 1Gi for one; without it, 1e9.
//
// The result is complete: what the document leaves out or has as null is there
// with its default, policies that are off are nil. Keys of resources are checked
// as patterns, see [WildcardLiteral]; names are looked up only when the result
// is compiled.
//
// All faults of the document are reported at once, sorted by path: as an error
// that is an Aggregate of *field.Error, of a thousand at most, without a result, or
// as warnings, which come with an error too. [vectormap.Faults] lists them; a
// document that cannot be read is one fault, of the line at fault. Names that the map
// does not have are reported by [CompileStrategy]. A policy without
// enable is off. With [Lenient], faults that have a defined meaning are warnings:
// unknown keys are ignored, invalid patterns removed, unknown types read as
// LeastAllocated, fractions cut off integers.
//
// A document has at most 1 MiB of UTF-8, no second one after it, no aliases that
// make it much larger, and nests at most a hundred deep. An empty one is an error;
// {} has all defaults. Values are read as YAML 1.1 has them; keys must be strings,
// so 1 and yes need quotes.
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

// parse reads a document by a method of the walker.
func parse[T any](data []byte, opts []Option, read func(w *walker, root document.Value) *T) (cfg *T, warnings field.ErrorList, err error) {
	var r report
	o := options(opts)
	root := document.Read(data, document.Options{Lenient: o.has(Lenient)}, &r.Report)
	cfg = read(&walker{o, &r}, root)
	if warnings, err = r.finish(); err != nil {
		return nil, warnings, err
	}
	return cfg, warnings, nil
}

// walker reads the values of a document and notes what is wrong with them.
type walker struct {
	o Option
	r *report
}

// weight reads a weight that is otherwise when it is absent or below least.
func (w *walker) weight(v document.Value, least, otherwise int64) int64 {
	n, how := v.Integer()
	if how == document.NoNumber {
		return otherwise
	}
	if n < least {
		if how == document.Clean {
			w.r.warn(v.Invalid(replacedBy(otherwise)))
		}
		n = otherwise
	}
	w.limitWeight(v, n)
	return n
}

// limitWeight notes a weight above the limit.
func (w *walker) limitWeight(v document.Value, weight int64) {
	if weight > maxWeight {
		w.r.fail(v.Invalid(overLimit))
	}
}

// schedulerConf reads a scheduler's configuration.
func (w *walker) schedulerConf(root document.Value) (cfg *StrategyConfig) {
	for arguments := range document.PluginArguments(root, pluginName, argumentNames...) {
		cfg = w.arguments(arguments)
	}
	return cfg
}

// argumentNames are the keys of the plugin's arguments.
var argumentNames = []string{pathFitWeight, pathResources, "sra", "proportional"}

// notArguments says what is there instead of the arguments, "" when that is not
// known.
func notArguments(v document.Value) string {
	switch {
	case v.Peek("kind").Written() == "ConfigMap":
		return document.IsConfigMap
	case v.Peek("tiers").Kind() != document.Absent:
		return "; this is a scheduler's whole configuration: use ParseSchedulerConf"
	case v.Peek("arguments").Kind() != document.Absent:
		return "; this is the entry of a plugin: give what is under arguments"
	}
	return ""
}

// arguments reads the arguments of the plugin.
func (w *walker) arguments(v document.Value) *StrategyConfig {
	x := v.Fields()
	x.KnownOr(notArguments(v), argumentNames...)
	weight := w.weight(x.Get(pathFitWeight), 0, defaultFitWeight)
	return &StrategyConfig{
		Fit:          StrategyFitConfig{Weight: &weight, Resources: w.rules(x.Get(pathResources).Names())},
		SRA:          w.sra(x.Get("sra")),
		Proportional: w.proportional(x.Get("proportional")),
	}
}

// rules reads the rules by name and pattern.
func (w *walker) rules(x document.Fields) map[string]FitRule {
	rules, given := map[string]FitRule{}, false
	for key, v := range x.All() {
		given = true
		rule := w.rule(v)
		if fault := keyFault(key, w.o); fault != "" {
			w.r.failOrWarn(w.o, invalid(v.Path(), key, fault))
			continue
		}
		rules[key] = rule
	}
	if !given {
		return defaultRules()
	}
	return rules
}

func (w *walker) rule(v document.Value) FitRule {
	x := v.Fields()
	x.Known("type", "weight")
	kind, isText := x.Get("type").Text()
	rule := FitRule{Type: ScoringType(kind)}
	if isText && rule.Type != MostAllocated && rule.Type != LeastAllocated {
		w.r.failOrWarn(w.o, badType(v.Path(), rule.Type))
		rule.Type = LeastAllocated
	}
	rule.Weight = w.weight(x.Get("weight"), 1, 1)
	return rule
}

// sra reads the policy of scarce resources; nil when it is off.
func (w *walker) sra(v document.Value) *SRAConfig {
	x := v.Fields()
	x.Known("enable", pathResources, pathSRAWeight, pathSRAWeights)
	enable := x.Get("enable").Boolean()
	weight := w.sraWeight(x.Get(pathSRAWeight), enable)

	// A pattern is kept as a name that no node has.
	names, isListed := w.names(x.Get(pathResources), func(name string) (string, bool) {
		return patternRefused(name), true
	})
	weights := make(map[string]int64, len(names))
	for _, name := range names {
		weights[name] = 1
	}
	for name, v := range x.Get(pathSRAWeights).Names().All() {
		if isListed(name) {
			weights[name] = w.weight(v, 0, 1)
			continue
		}
		v.Integer()
		w.r.warn(notListed(v.Path(), name))
	}
	if !enable || weight == 0 {
		return nil
	}
	return &SRAConfig{Weight: weight, Resources: names, ResourceWeight: weights}
}

// sraWeight reads the weight of the policy. One that is enabled without a
// weight is off.
func (w *walker) sraWeight(v document.Value, enable bool) int64 {
	weight, how := v.Integer()
	switch {
	case how == document.Clean && (weight < 0 || weight == 0 && enable):
		w.r.warn(v.Invalid("sra is off"))
	case how == document.NoNumber && enable:
		w.r.warn(field.Required(field.NewPath(v.Path()), "sra is off"))
	}
	w.limitWeight(v, weight)
	return max(weight, 0)
}

// names reads the comma list of a policy. refuse says what is wrong with an item that
// resource names are not, if anything, and whether lenient mode keeps it. Of a list
// that could be read, isListed knows all items, the refused ones too; of another
// one, any name may be.
func (w *walker) names(v document.Value, refuse func(name string) (fault string, keep bool)) (names []string, isListed func(name string) bool) {
	text, isText := v.Text()
	if !isText {
		return nil, func(string) bool { return true }
	}
	listed := map[string]bool{}
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
			w.r.failOrWarn(w.o, invalid(v.Path(), name, fault))
			if !keep {
				continue
			}
		case exactFault(name) != "":
			w.r.fail(invalid(v.Path(), name, "a name "+exactFault(name)))
		}
		names = append(names, name)
	}
	for _, name := range slices.Sorted(maps.Keys(repeated)) {
		w.r.warn(duplicate(v.Path(), name))
	}
	return names, func(name string) bool { return listed[name] }
}

// proportional reads the proportional policy; nil when it is off.
func (w *walker) proportional(v document.Value) *ProportionalConfig {
	x := v.Fields()
	x.Known("enable", pathResources, pathProportion, pathMemoryUnit)
	enable := x.Get("enable").Boolean()
	names, isListed := w.names(x.Get(pathResources), func(name string) (string, bool) {
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
	for key, v := range x.Get(pathProportion).Names().All() {
		ratio, how := v.Number()
		_, used := ratios[key]
		switch {
		case !hasPrimary(key, isListed):
			w.r.failOrWarn(w.o, badProportionKey(v.Path(), key))
		case used && how == document.Clean && ratio < 0:
			w.r.warn(v.Invalid(replacedBy(1)))
		case used && how == document.Clean:
			ratios[key] = ratio
		}
	}
	unit := memoryUnit(x.Get(pathMemoryUnit))
	if !enable {
		return nil
	}
	return &ProportionalConfig{Resources: names, Proportion: ratios, MemoryUnit: unit}
}

// memoryUnit reads how many bytes a proportion of 1 means: a number, or a quantity
// such as 1Gi.
func memoryUnit(v document.Value) float64 {
	unit := defaultMemoryUnit
	switch v.Kind() {
	case document.Number:
		x, how := v.Number()
		if how != document.Clean {
			return unit
		}
		unit = x
	default:
		text, ok := v.Literal("a quantity of bytes")
		if !ok {
			return unit
		}
		q, err := quantity.Parse(text)
		if err != nil {
			v.Malformed(err.Error())
			return unit
		}
		if quantity.Kept(q, text) != 0 {
			v.Malformed("must be a quantity that Kubernetes holds: nothing finer than 1n, below 2^63 with a binary suffix")
			return unit
		}
		unit = q.AsApproximateFloat64()
	}
	if !(unit > 0) || math.IsInf(unit, 1) {
		v.Malformed("must be more than 0 bytes, and finite")
		return defaultMemoryUnit
	}
	return unit
}

// ParseScoringStrategy reads a scoringStrategy of kube-scheduler's plugin
// NodeResourcesFit, as YAML or JSON: type, resources with name and weight, and
// requestedToCapacityRatio with its shape. A resource without a weight, or with
// null, has weight 1; nothing else has a default.
//
// The document is read strictly, and nothing is only a warning. Unknown and
// repeated keys, values of a wrong type and integers with fractions are reported
// all at once, sorted by path. [CompileKube] checks what the values mean.
// Documents are limited as in [ParseArguments].
func ParseScoringStrategy(data []byte) (*KubeConfig, error) {
	cfg, _, err := parse(data, nil, (*walker).scoringStrategy)
	return cfg, err
}

func (w *walker) scoringStrategy(root document.Value) *KubeConfig {
	const ratio = "requestedToCapacityRatio"
	x := root.Fields()
	x.Known("type", "resources", ratio)
	cfg := &KubeConfig{}
	kind, _ := x.Get("type").Text()
	cfg.Type = ScoringType(kind)
	for _, item := range x.Get("resources").Items() {
		cfg.Resources = append(cfg.Resources, w.kubeResource(item.Item()))
	}
	y := x.Get(ratio).Fields()
	y.Known("shape")
	for _, item := range y.Get("shape").Items() {
		cfg.Shape = append(cfg.Shape, shapePoint(item.Item()))
	}
	return cfg
}

func (w *walker) kubeResource(x document.Fields) (resource KubeResource) {
	x.Known("name", "weight")
	name, isText := x.Get("name").Text()
	if isText && name == "" {
		w.r.fail(field.Required(field.NewPath(x.Get("name").Path()), "a resource name"))
	}
	weight, how := x.Get("weight").Integer()
	if how == document.NoNumber {
		weight = 1
	}
	return KubeResource{Name: name, Weight: weight}
}

func shapePoint(x document.Fields) ShapePoint {
	x.Known("utilization", "score")
	utilization, _ := x.Get("utilization").Integer()
	score, _ := x.Get("score").Integer()
	return ShapePoint{Utilization: utilization, Score: score}
}

// ParseLoad reads a LoadConfig, as YAML or JSON; Capacity is not a part of it.
//
//	metric: DominantResource # or NormalizedSum, the default
//	direction: Pack          # or Raw, or Spread, the default
//	weights:                 # without it, 1 for every resource of the map
//	  cpu: 1
//	  nvidia.com/gpu: 2
//	onlyRequested: true      # the default is false
//
// It is read strictly, as [ParseScoringStrategy] does. [CompileLoad] checks what the
// weights mean.
func ParseLoad(data []byte) (*LoadConfig, error) {
	cfg, _, err := parse(data, nil, (*walker).load)
	return cfg, err
}

func (w *walker) load(root document.Value) *LoadConfig {
	const pathOnlyRequested = "onlyRequested"
	x := root.Fields()
	x.Known(pathMetric, pathDirection, pathWeights, pathOnlyRequested)
	cfg := &LoadConfig{
		Metric:        oneOf(w, x.Get(pathMetric), loadMetrics),
		Direction:     oneOf(w, x.Get(pathDirection), loadDirections),
		OnlyRequested: x.Get(pathOnlyRequested).Boolean(),
	}
	weights := x.Get(pathWeights).Names()
	if !weights.IsRead() {
		return cfg
	}
	cfg.Weights = map[string]float64{}
	for name, v := range weights.All() {
		weight, how := v.Number()
		if how == document.NoNumber {
			w.r.fail(field.Required(field.NewPath(v.Path()), "a weight"))
		}
		cfg.Weights[name] = weight
	}
	return cfg
}

// oneOf reads the name of one of these values, of which the first is the default.
func oneOf(w *walker, v document.Value, values []ScoringType) ScoringType {
	text, isText := v.Text()
	if !isText || v.Kind() == document.Absent {
		return values[0]
	}
	if slices.Contains(values, ScoringType(text)) {
		return ScoringType(text)
	}
	w.r.fail(field.NotSupported(field.NewPath(v.Path()), brief(text), values))
	return values[0]
}
