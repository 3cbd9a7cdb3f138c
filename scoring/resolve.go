package scoring

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/resvec/resvec/vectormap"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The paths of configuration fields, as YAML has them.
const (
	pathFitWeight    = "resourceStrategyFitWeight"
	pathResources    = "resources" // of all three parts
	pathSRA          = "sra"
	pathSRAWeight    = "weight"
	pathSRAWeights   = "resourceWeight"
	pathProportional = "proportional"
	pathProportion   = "resourceProportion"
	pathSecondaries  = "secondaries"
	pathMemoryUnit   = "memoryUnit"
)

const (
	defaultFitWeight  = 10
	defaultMemoryUnit = 1e9
	maxWeight         = 1_000_000
)

// defaultRules returns the rules of a configuration that has none.
func defaultRules() map[string]FitRule {
	return map[string]FitRule{"cpu": {LeastAllocated, 1}, "memory": {LeastAllocated, 1}}
}

// fitRule is the rule of one dimension.
type fitRule struct {
	index  int
	key    string // of the configuration: a name or a pattern
	kind   ScoringType
	weight int64
}

// sraRule is the weight of one scarce resource.
type sraRule struct {
	index  int
	weight int64
}

// proportionRule is what one primary reserves of one secondary: per idle device
// perUnit, in map units, the device being scale map units.
type proportionRule struct {
	primary, secondary int
	perUnit, scale     float64
}

// invalid returns the error for a value that is not allowed.
func invalid(path string, value any, detail string) *field.Error {
	if s, ok := value.(string); ok {
		value = brief(s)
	}
	return field.Invalid(field.NewPath(path), value, detail)
}

// duplicate returns the warning for a name that counts once.
func duplicate(path, name string) *field.Error {
	return field.Duplicate(field.NewPath(path), brief(name))
}

// lookup finds an exact name in m. One that m does not have is noted.
func (r *report) lookup(m *vectormap.ResourceVectorMap, o Option, path, name string) (index int, ok bool) {
	index, ok = m.Index(name)
	if ok {
		return index, true
	}
	if o&(AllowUnknown|Lenient) != 0 {
		r.warn(field.NotFound(field.NewPath(path), brief(name)))
	} else {
		r.unknown = append(r.unknown, name)
	}
	return 0, false
}

// limitWeight notes a weight above the limit.
func (r *report) limitWeight(path string, weight int64) {
	if weight > maxWeight {
		r.fail(invalid(path, weight, overLimit))
	}
}

var overLimit = fmt.Sprintf("must be at most %d", maxWeight)

// replacedBy says that a number below a range is another one.
func replacedBy(number int64) string { return fmt.Sprintf("replaced by %d", number) }

// atLeast returns weight, or otherwise with a warning when it is below least.
func (r *report) atLeast(path string, weight, least, otherwise int64) int64 {
	if weight < least {
		r.warn(invalid(path, weight, replacedBy(otherwise)))
		return otherwise
	}
	return weight
}

// resolveFit returns the rules of the dimensions that have one, ascending by
// index, and the weight of the plugin.
func resolveFit(cfg *StrategyFitConfig, m *vectormap.ResourceVectorMap, o Option, r *report) (rules []fitRule, weight int64) {
	weight = defaultFitWeight
	if cfg.Weight != nil {
		weight = r.atLeast(pathFitWeight, *cfg.Weight, 0, defaultFitWeight)
		r.limitWeight(pathFitWeight, weight)
	}
	given := cfg.Resources
	if given == nil {
		given = defaultRules()
	}
	f := fitResolver{m: m, o: o, r: r, rules: checkRules(given, o, r), reported: map[[2]string]bool{}, folded: map[int][]string{}}
	f.findNames()
	for i := range m.Len() {
		if rule, ok := f.rule(i); ok {
			rules = append(rules, rule)
		}
	}
	return rules, weight
}

// checkRules returns the rules whose keys are valid, with types and weights put
// right.
func checkRules(given map[string]FitRule, o Option, r *report) map[string]FitRule {
	rules := make(map[string]FitRule, len(given))
	for _, key := range slices.Sorted(maps.Keys(given)) {
		path := keyPath(pathResources, key)
		if fault := keyFault(key, o); fault != "" {
			r.failOrWarn(o, invalid(path, key, fault))
			continue
		}
		rule := given[key]
		if rule.Type != MostAllocated && rule.Type != LeastAllocated {
			r.failOrWarn(o, badType(path, rule.Type))
			rule.Type = LeastAllocated
		}
		if rule.Weight == 0 { // the zero value
			rule.Weight = 1
		}
		rule.Weight = r.atLeast(path+".weight", rule.Weight, 1, 1)
		r.limitWeight(path+".weight", rule.Weight)
		rules[key] = rule
	}
	return rules
}

// badType returns the error for a rule without a type that can be used.
func badType(rule string, kind ScoringType) *field.Error {
	path := field.NewPath(rule + ".type")
	if kind == "" {
		return field.Required(path, fmt.Sprintf("supported values: %q, %q", LeastAllocated, MostAllocated))
	}
	return field.NotSupported(path, brief(string(kind)), fitTypes)
}

var fitTypes = []ScoringType{LeastAllocated, MostAllocated}

// fitResolver finds the rule of each dimension.
type fitResolver struct {
	m        *vectormap.ResourceVectorMap
	o        Option
	r        *report
	rules    map[string]FitRule
	patterns *patterns
	longest  map[string]string  // by name: the longest prefix of a pattern
	folded   map[int][]string   // by index: keys that are normalized to it, and none of its names
	reported map[[2]string]bool // pairs of keys that meet on several indices
}

// findNames looks every name of the map up among the patterns, and every key
// among the names.
func (f *fitResolver) findNames() {
	var names, keys []string
	for i, own := range f.m.All() {
		names = append(append(names, own), f.m.Originals(i)...)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	for _, key := range slices.Sorted(maps.Keys(f.rules)) {
		path := keyPath(pathResources, key)
		if !isPattern(key) {
			if i, known := f.r.lookup(f.m, f.o, path, key); known && key != f.m.Name(i) && !slices.Contains(f.m.Originals(i), key) {
				f.folded[i] = append(f.folded[i], key)
			}
			continue
		}
		keys = append(keys, key)
		if !matchesAny(key, f.o, names) {
			f.r.warn(invalid(path, key, "matches no resource"+stemHint(key, names)))
		}
	}
	f.patterns = newPatterns(keys, f.o)
	f.longest = make(map[string]string, len(names))
	for i, prefix := range f.patterns.longest(names) {
		f.longest[names[i]] = prefix
	}
}

// stemHint says that a pattern which matches nothing would be a name without its
// end; "" when it would not. names are sorted.
func stemHint(key string, names []string) string {
	stem := strings.TrimRight(key, "/*")
	if _, found := slices.BinarySearch(names, stem); !found {
		return ""
	}
	return fmt.Sprintf("; %q itself is a resource, but not matched: name it, or write %q", stem, stem+"*")
}

// rule returns the rule of index i.
func (f *fitResolver) rule(i int) (rule fitRule, ok bool) {
	var keys []string
	for _, original := range f.names(i) {
		keys = append(keys, f.keysOf(original, f.m.Name(i))...)
	}
	if len(keys) == 0 {
		return fitRule{}, false
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	for _, key := range keys[1:] {
		f.meet(i, keys[0], key)
	}
	first := f.rules[keys[0]]
	return fitRule{i, keys[0], first.Type, first.Weight}, true
}

// names returns the names that index i stands for: those that the map was built
// from, or else what is normalized to it.
func (f *fitResolver) names(i int) []string {
	names, folded := f.m.Originals(i), f.folded[i]
	if len(folded) > 0 && len(names) == 1 && names[0] == f.m.Name(i) {
		return folded
	}
	return append(names, folded...)
}

// keysOf returns the keys that decide for an index of these two names, which may
// be the same: the exact ones, or else the pattern with the longest prefix of
// either. There are two when both names are keys, or when the prefixes of both
// are equally long.
func (f *fitResolver) keysOf(original, own string) (keys []string) {
	names := []string{original, own}
	for _, name := range names {
		if _, ok := f.rules[name]; ok {
			keys = append(keys, name)
		}
	}
	if len(keys) > 0 {
		return keys
	}
	length := max(len(f.longest[original]), len(f.longest[own]))
	for _, name := range names {
		if prefix := f.longest[name]; length > 0 && len(prefix) == length {
			keys = append(keys, f.patterns.keys[prefix])
		}
	}
	return keys
}

// meet notes that two keys land on index i.
func (f *fitResolver) meet(i int, first, second string) {
	pair := [2]string{first, second}
	if f.reported[pair] {
		return
	}
	f.reported[pair] = true
	f.r.meet(keyPath(pathResources, second), f.m.Name(i), first, second, f.rules[first] == f.rules[second])
}

// meet notes that two keys stand for one resource: an error when they differ in
// what they say of it, else a warning.
func (r *report) meet(path, resource, first, second string, same bool) {
	detail := fmt.Sprintf("%q and %q are both %s", brief(first), brief(second), brief(resource))
	if same {
		r.warn(invalid(path, second, detail+" and count once"))
	} else {
		r.fail(invalid(path, second, detail+" and differ"))
	}
}

// unique returns the names without repetitions, sorted. Empty ones are errors,
// and left out.
func (r *report) unique(path string, names []string) (unique []string) {
	repeated := map[string]bool{}
	for _, name := range slices.Sorted(slices.Values(names)) {
		switch {
		case name == "":
			r.fail(invalid(path, name, "a name is empty"))
		case len(unique) == 0 || name != unique[len(unique)-1]:
			unique = append(unique, name)
		case !repeated[name]:
			repeated[name] = true
			r.warn(duplicate(path, name))
		}
	}
	return unique
}

// resolveSRA returns the weights of the scarce resources in the map, ascending
// by index, the sum of the weights of those that are not, the sum of all, and the
// weight of the policy, 0 when it is off.
func resolveSRA(cfg *SRAConfig, m *vectormap.ResourceVectorMap, o Option, r *report) (rules []sraRule, outside, total, weight int64) {
	names := r.unique(pathResources, cfg.Resources)
	weights := sraWeights(cfg, names, r)
	if weight = max(cfg.Weight, 0); weight == 0 {
		r.warn(invalid(pathSRAWeight, cfg.Weight, "sra is off"))
	}
	r.limitWeight(pathSRAWeight, weight)
	first := map[int]string{} // by index: the name that counts
	for _, name := range names {
		index, known := 0, false
		if patternRefused(name) != "" {
			r.failOrWarn(o, invalid(pathResources, name, patternRefused(name)))
		} else if weight > 0 { // a policy that is off asks for nothing
			index, known = r.lookup(m, o, pathResources, name)
		}
		if !known {
			outside += weights[name]
			continue
		}
		if other, met := first[index]; met {
			same := weights[other] == weights[name]
			path := pathResources
			if !same {
				path = keyPath(pathSRAWeights, name)
			}
			r.meet(path, m.Name(index), other, name, same)
			continue
		}
		first[index] = name
		rules = append(rules, sraRule{index, weights[name]})
	}
	slices.SortFunc(rules, func(a, b sraRule) int { return a.index - b.index })
	total = outside
	for _, rule := range rules {
		total += rule.weight
	}
	// The score is exact while 100 * weight * total is a float64.
	if weight > 0 && total > 1<<53/(100*weight) {
		r.fail(invalid(pathSRAWeight, weight, fmt.Sprintf("times 100 times the sum of resourceWeight, %d, must be at most 2^53", total)))
	}
	return rules, outside, total, weight
}

// sraWeights returns the weight of every name.
func sraWeights(cfg *SRAConfig, names []string, r *report) map[string]int64 {
	weights := make(map[string]int64, len(names))
	for _, name := range names {
		weights[name] = 1
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.ResourceWeight)) {
		path := keyPath(pathSRAWeights, name)
		if _, listed := weights[name]; !listed {
			r.warn(notListed(path, name))
			continue
		}
		weights[name] = r.atLeast(path, cfg.ResourceWeight[name], 0, 1)
		r.limitWeight(path, weights[name])
	}
	return weights
}

// resolveProportional returns the indices of the primaries, ascending, and the
// rules, ascending by primary and secondary.
func resolveProportional(cfg *ProportionalConfig, m *vectormap.ResourceVectorMap, o Option, r *report) (primaries []int, rules []proportionRule) {
	p := proportionResolver{m: m, o: o, r: r, listed: map[string]bool{}, index: map[string]int{}, by: map[[2]int]proportionSource{}}
	unit := cfg.MemoryUnit
	if unit == 0 {
		unit = defaultMemoryUnit
	}
	if !(unit > 0) || math.IsInf(unit, 1) {
		r.fail(invalid(pathMemoryUnit, fmt.Sprint(unit), "must be positive and finite"))
	}
	p.findPrimaries(cfg.Resources)
	ratios := p.ratios(cfg.Proportion)
	for _, name := range slices.Sorted(maps.Keys(p.index)) {
		for _, s := range proportionSecondaries {
			factor := 1000.0
			if s.index == vectormap.Memory {
				factor = unit
			}
			key := name + s.suffix
			p.add(name, s.index, ratios[key], factor, keyPath(pathProportion, key), key)
		}
	}
	for i := range cfg.Secondaries {
		p.addSecondary(&cfg.Secondaries[i], fmt.Sprintf("%s[%d]", pathSecondaries, i))
	}
	return p.finish()
}

// notListed returns the warning for a weight of a name that is not scarce.
func notListed(path, name string) *field.Error {
	return invalid(path, name, "ignored: not one of the scarce resources")
}

// patternRefused says that an exact name is a pattern, "" when it is none.
func patternRefused(name string) string {
	if strings.Contains(name, "*") {
		return "patterns are for resources only"
	}
	return ""
}

// secondaryRefused says that cpu or memory are no primaries.
const secondaryRefused = "is a secondary, not a primary"

// proportionSecondaries are the secondaries that every primary has.
var proportionSecondaries = [...]struct {
	suffix string
	index  int
}{{".cpu", vectormap.CPU}, {".memory", vectormap.Memory}}

// proportionSource is a rule and what in the configuration made it.
type proportionSource struct {
	perUnit float64
	key     string
}

// proportionResolver finds the rules of the proportional predicate.
type proportionResolver struct {
	m      *vectormap.ResourceVectorMap
	o      Option
	r      *report
	listed map[string]bool // the primaries, also refused ones
	index  map[string]int  // of the primaries that can be used; -1: not in the map
	by     map[[2]int]proportionSource
}

func (p *proportionResolver) findPrimaries(names []string) {
	for _, name := range p.r.unique(pathResources, names) {
		p.listed[name] = true
		if fault := patternRefused(name); fault != "" {
			p.r.failOrWarn(p.o, invalid(pathResources, name, fault))
			continue
		}
		index, known := p.r.lookup(p.m, p.o, pathResources, name)
		switch {
		case !known:
			index = -1
		case index == vectormap.CPU || index == vectormap.Memory:
			p.r.failOrWarn(p.o, invalid(pathResources, name, secondaryRefused))
			continue
		}
		p.index[name] = index
	}
}

// ratios returns the ratio of every key that a primary can have.
func (p *proportionResolver) ratios(given map[string]float64) map[string]float64 {
	ratios := make(map[string]float64, 2*len(p.index))
	for name := range p.index {
		for _, s := range proportionSecondaries {
			ratios[name+s.suffix] = 1
		}
	}
	for _, key := range slices.Sorted(maps.Keys(given)) {
		path := keyPath(pathProportion, key)
		_, used := ratios[key]
		switch {
		case !hasPrimary(key, func(name string) bool { return p.listed[name] }):
			p.r.failOrWarn(p.o, badProportionKey(path, key))
		case used:
			ratios[key] = p.r.ratio(path, given[key])
		}
	}
	return ratios
}

// hasPrimary reports whether key is .cpu or .memory of a listed primary.
func hasPrimary(key string, isListed func(name string) bool) bool {
	for _, s := range proportionSecondaries {
		if name, ok := strings.CutSuffix(key, s.suffix); ok && isListed(name) {
			return true
		}
	}
	return false
}

// badProportionKey returns the error for a key without a meaning.
func badProportionKey(path, key string) *field.Error {
	return invalid(path, key, "is not .cpu or .memory of a primary")
}

// ratio returns a ratio, or 1 with a warning when it is negative.
func (r *report) ratio(path string, x float64) float64 {
	switch {
	case x-x != 0: // NaN or infinite
		r.fail(invalid(path, fmt.Sprint(x), "must be finite"))
		return 1
	case x < 0:
		r.warn(invalid(path, x, replacedBy(1)))
		return 1
	}
	return x
}

// addSecondary adds a rule that was given in full.
func (p *proportionResolver) addSecondary(rule *ProportionalRule, path string) {
	if _, ok := p.index[rule.Primary]; !ok {
		p.r.failOrWarn(p.o, invalid(path+".primary", rule.Primary, "is not one of the primaries"))
		return
	}
	ratio := p.r.ratio(path+".ratio", rule.Ratio)
	secondary, known := p.r.lookup(p.m, p.o, path+".secondary", rule.Secondary)
	switch {
	case !known:
	case secondary == vectormap.CPU || secondary == vectormap.Memory:
		p.r.failOrWarn(p.o, invalid(path+".secondary", rule.Secondary, "has its ratio in "+pathProportion))
	default:
		p.add(rule.Primary, secondary, ratio, 1, path+".ratio", rule.Primary+" to "+rule.Secondary)
	}
}

// add adds a rule. key names it where another one is for the same resources.
func (p *proportionResolver) add(primary string, secondary int, ratio, factor float64, path, key string) {
	perUnit := ratio * factor
	if math.IsInf(perUnit, 0) {
		p.r.fail(invalid(path, ratio, "is too large"))
	}
	index := p.index[primary]
	if index < 0 {
		return
	}
	at := [2]int{index, secondary}
	if other, met := p.by[at]; met {
		resources := p.m.Name(index) + " and " + p.m.Name(secondary)
		p.r.meet(path, resources, other.key, key, other.perUnit == perUnit)
		return
	}
	p.by[at] = proportionSource{perUnit, key}
}

func (p *proportionResolver) finish() (primaries []int, rules []proportionRule) {
	for _, index := range p.index {
		if index >= 0 {
			primaries = append(primaries, index)
		}
	}
	slices.Sort(primaries)
	primaries = slices.Compact(primaries)
	for at, source := range p.by {
		scale := 1.0
		if p.m.Unit(at[0]) == vectormap.UnitMilli {
			scale = 1000
		}
		rules = append(rules, proportionRule{at[0], at[1], source.perUnit, scale})
	}
	slices.SortFunc(rules, func(a, b proportionRule) int {
		if a.primary != b.primary {
			return a.primary - b.primary
		}
		return a.secondary - b.secondary
	})
	return primaries, rules
}
