package scoring

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	defaultMemoryUnit = 1e9
	pathSecondaries   = "secondaries"
)

// ProportionalConfig configures [CompileProportional], the reservation of cpu
// and memory for idle devices.
type ProportionalConfig struct {
	Resources []string // the primaries, exact names

	// Proportion is what to keep for one idle device, by "<primary>.cpu" in CPUs
	// and "<primary>.memory" in units of MemoryUnit; missing or negative: 1.
	Proportion map[string]float64

	// Secondaries is what to keep of resources other than cpu and memory, in units of the
	// map, by primary and then by the resource; negative: 1.
	Secondaries map[string]map[string]float64

	// MemoryUnit is how many bytes a proportion of memory of 1 means; 0 is 1e9,
	// as in Volcano.
	MemoryUnit float64
}

// Proportional keeps cpu and memory, or other secondary resources, in reserve
// for the idle devices of a node: a predicate of Volcano's plugin
// resource-strategy-fit. It is not a scorer.
//
// A pod that requests a primary resource, a device, may use the reserve: it
// passes everywhere. Any other pod fails on a node that would have less left of
// a secondary than its idle devices need:
//
//	needed = (max(0, A - U of the primary) * reserve) / scale of the primary
//	left   = (A - U of the secondary) - request
//
// reserve is what the configuration keeps for one idle device, in units of the
// map: 1000 per CPU, 1e9 per GB. scale is 1000 where the map counts the primary in
// thousandths, else 1.
//
// A node without the primary is not checked for it, several primaries are
// checked one by one, equality passes, and NaN fails. A failure can be cured by
// removing other pods from the node; report it as resolvable.
//
// A nil *Proportional, as [Strategy.Proportional] returns when there is no such
// policy, is not enabled and lets every node pass.
type Proportional struct {
	compiled
	primaries []int            // ascending
	rules     []proportionRule // ascending by primary and secondary
}

// Result is what a [Proportional] says about one node.
type Result struct {
	OK     bool
	Exempt bool // the pod requests a primary, so every node passes

	// The first pair of resources that fails, in the order of the map, and its
	// amounts, in units of the map; -1, -1, 0 and 0 when none does.
	Primary, Secondary int
	Needed, Left       float64
}

// CompileProportional compiles a configuration against a map. Errors are those
// of [CompileStrategy].
func CompileProportional(cfg ProportionalConfig, m *vectormap.ResourceVectorMap, opts ...Option) (*Proportional, error) {
	var r report
	p := compileProportional(&cfg, m, options(opts), &r)
	var err error
	if p.warnings, err = r.finish(); err != nil {
		return nil, err
	}
	return p, nil
}

func compileProportional(cfg *ProportionalConfig, m *vectormap.ResourceVectorMap, o Option, r *report) *Proportional {
	primaries, rules := resolveProportional(cfg, m, o, r)
	return &Proportional{compiled: compiled{m: m}, primaries: primaries, rules: rules}
}

// proportionRule is what one primary reserves of one secondary: per idle device
// perUnit, in map units, the device being scale map units.
type proportionRule struct {
	primary, secondary int
	perUnit, scale     float64
}

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
	for _, primary := range slices.Sorted(maps.Keys(cfg.Secondaries)) {
		p.addSecondaries(primary, cfg.Secondaries[primary])
	}
	return p.finish()
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

// addSecondaries adds the rules of a primary for other resources than cpu and memory.
func (p *proportionResolver) addSecondaries(primary string, ratios map[string]float64) {
	of := keyPath(pathSecondaries, primary)
	if _, ok := p.index[primary]; !ok {
		p.r.failOrWarn(p.o, invalid(of, primary, "is not one of the primaries"))
		return
	}
	for _, name := range slices.Sorted(maps.Keys(ratios)) {
		path := keyPath(of, name)
		ratio := p.r.ratio(path, ratios[name])
		secondary, known := p.r.lookup(p.m, p.o, path, name)
		switch {
		case !known:
		case secondary == vectormap.CPU || secondary == vectormap.Memory:
			p.r.failOrWarn(p.o, invalid(path, name, "has its ratio in "+pathProportion))
		default:
			p.add(primary, secondary, ratio, 1, path, primary+" to "+name)
		}
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

// secondaryRefused says that cpu or memory are no primaries.
const secondaryRefused = "is a secondary, not a primary"

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

// Enabled reports whether there is a rule; otherwise every node passes.
func (p *Proportional) Enabled() bool { return p != nil && len(p.rules) > 0 }

// Check checks one node. Errors are as in [Scorer]; a nil p has none.
func (p *Proportional) Check(request, requested, allocatable vector.ResourceVector) (Result, error) {
	passed := Result{OK: true, Primary: -1, Secondary: -1}
	if p == nil {
		return passed, nil
	}
	if err := p.checkRow(request, requested, allocatable); err != nil {
		return Result{}, err
	}
	if passed.Exempt = p.exempts(request); passed.Exempt {
		return passed, nil
	}
	for k := range p.rules {
		r := &p.rules[k]
		rule := r.rule(request)
		needed, left, ok := rule.Check(at(allocatable, r.primary), at(requested, r.primary), at(allocatable, r.secondary), at(requested, r.secondary))
		if !ok {
			return Result{Primary: r.primary, Secondary: r.secondary, Needed: needed, Left: left}, nil
		}
	}
	return passed, nil
}

// exempts reports whether the request is for a primary.
func (p *Proportional) exempts(request vector.ResourceVector) bool {
	for _, i := range p.primaries {
		if at(request, i) > 0 {
			return true
		}
	}
	return false
}

// rule returns what the kernel has to know of a rule, its columns aside.
func (r *proportionRule) rule(request vector.ResourceVector) kernel.ReserveRule {
	return kernel.ReserveRule{Request: at(request, r.secondary), PerUnit: r.perUnit, Scale: r.scale}
}

// Filter sets dst to the selected nodes that pass; a nil mask selects all. dst is
// resized, and may be rows. The error is [vector.ErrSchema] or [vector.ErrShape], or a
// [*vector.AmountError] of the request; dst keeps its content then.
func (p *Proportional) Filter(dst *vector.Mask, nodes *vector.Nodes, request vector.ResourceVector, rows *vector.Mask) error {
	n := nodes.Free().Rows()
	if rows != nil && rows.Len() != n {
		return shapeError("the mask has %d rows, the nodes %d", rows.Len(), n)
	}
	if p != nil {
		if err := p.checkMatrix("nodes", nodes.Free()); err != nil {
			return err
		}
		if err := p.checkRequest(request); err != nil {
			return err
		}
	}
	if rows == nil {
		dst.Reset(n)
		dst.SetAll()
	} else {
		dst.CopyFrom(rows)
	}
	if p != nil && !p.exempts(request) {
		p.and(dst, request, nodes.Requested(), nodes.Allocatable())
	}
	return nil
}

// and clears the bits of rows that fail.
func (p *Proportional) and(dst *vector.Mask, request vector.ResourceVector, requested, allocatable *vector.Matrix) {
	for k := range p.rules {
		r := &p.rules[k]
		rule := r.rule(request)
		rule.Primary, rule.PrimaryUsed = allocatable.Column(r.primary), requested.Column(r.primary)
		rule.Secondary, rule.SecondaryUsed = allocatable.Column(r.secondary), requested.Column(r.secondary)
		kernel.AndReserve(dst.Words(), &rule)
	}
}
