package transform

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/resvec/resvec/internal/document"
	"gopkg.in/inf.v0"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// MultiplierSource says which request a multiplier is read from.
type MultiplierSource int

const (
	// BeforeExclusion reads multipliers from the request as it is: Kueue's rule
	// since #15954.
	BeforeExclusion MultiplierSource = iota

	// AfterExclusion reads them from what exclusion left, so that an excluded
	// multiplier counts as 1: Kueue up to 0.19.
	AfterExclusion
)

// Options change what a Config means.
type Options struct {
	Multiplier MultiplierSource
}

// Transformation is a compiled Config of any shape. It is
// immutable and safe for concurrent use. The zero value is the identity.
type Transformation struct {
	config   Config // strategies written out; rules sorted by input, prefixes by name
	options  Options
	prefixes []string  // of config, without those that begin with another
	rules    []rule    // as in config
	outputs  []product // sorted by name
}

// rule is a Rule ready to apply.
type rule struct {
	Rule
	entries []entry // sorted by output
}

// entry is one factor of a rule.
type entry struct {
	output corev1.ResourceName
	factor *inf.Dec
}

// product is an output and the rules that have it, sorted by input.
type product struct {
	name  corev1.ResourceName
	rules []*rule
}

// Compile validates c and returns it in compiled form, which keeps no reference
// to it. The error is the Aggregate of [Config.Validate].
func Compile(c *Config, o Options) (*Transformation, error) {
	if err := document.Errors(c.Validate()); err != nil {
		return nil, err
	}
	if o.Multiplier != BeforeExclusion && o.Multiplier != AfterExclusion {
		return nil, document.Errors(field.ErrorList{field.Invalid(field.NewPath("multiplier"), o.Multiplier, "must be BeforeExclusion or AfterExclusion")})
	}
	t := &Transformation{options: o, config: *c.clone(), rules: make([]rule, len(c.Rules))}
	slices.Sort(t.config.ExcludeResourcePrefixes)
	t.prefixes = shortest(t.config.ExcludeResourcePrefixes)
	t.config.Rules = t.config.sortedRules()
	producers := map[corev1.ResourceName][]*rule{}
	for k := range t.rules {
		r := &t.rules[k]
		t.config.Rules[k].Strategy = t.config.Rules[k].strategy()
		r.Rule = t.config.Rules[k]
		for _, name := range sortedNames(r.Outputs) {
			r.entries = append(r.entries, entry{name, dec(r.Outputs[name])})
			producers[name] = append(producers[name], r)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(producers)) {
		t.outputs = append(t.outputs, product{name, producers[name]})
	}
	return t, nil
}

// shortest returns the prefixes, given sorted, that begin with no other one. Then a binary
// search finds whether a name is excluded, however many prefixes there are.
func shortest(prefixes []string) []string {
	var kept []string
	for _, prefix := range prefixes {
		if len(kept) == 0 || !strings.HasPrefix(prefix, kept[len(kept)-1]) {
			kept = append(kept, prefix)
		}
	}
	return kept
}

// Inputs returns the names that have a rule, sorted. The caller owns it.
func (t *Transformation) Inputs() []corev1.ResourceName {
	names := make([]corev1.ResourceName, len(t.rules))
	for i := range t.rules {
		names[i] = t.rules[i].Input
	}
	return names
}

// Outputs returns the names that some rule produces, sorted. The caller owns it.
func (t *Transformation) Outputs() []corev1.ResourceName {
	names := make([]corev1.ResourceName, len(t.outputs))
	for i := range t.outputs {
		names[i] = t.outputs[i].name
	}
	return names
}

// Factor returns how much of out one unit of in is charged as, and false when no
// rule says.
func (t *Transformation) Factor(out, in corev1.ResourceName) (resource.Quantity, bool) {
	r := t.rule(in)
	if r == nil {
		return resource.Quantity{}, false
	}
	q, ok := r.Outputs[out]
	return q.DeepCopy(), ok
}

// Strategy returns what becomes of in, Retain for a name without a rule.
func (t *Transformation) Strategy(in corev1.ResourceName) Strategy {
	if r := t.rule(in); r != nil {
		return r.Strategy
	}
	return Retain
}

// MultiplyBy returns the multiplier of in's rule, "" when it has none.
func (t *Transformation) MultiplyBy(in corev1.ResourceName) corev1.ResourceName {
	if r := t.rule(in); r != nil {
		return r.MultiplyBy
	}
	return ""
}

// NNZ returns the number of factors, zeros that were written included.
func (t *Transformation) NNZ() int {
	n := 0
	for i := range t.rules {
		n += len(t.rules[i].entries)
	}
	return n
}

// Config returns the Config that t was compiled from, rules sorted by input and
// prefixes by name. The caller owns it.
func (t *Transformation) Config() *Config {
	return t.config.clone()
}

// Equal reports whether both do the same: equal rules, factors of equal value in
// whatever Format, prefixes and options.
func (t *Transformation) Equal(other *Transformation) bool {
	return t.options == other.options && t.config.QuotaCheckStrategy == other.config.QuotaCheckStrategy &&
		slices.Equal(t.config.ExcludeResourcePrefixes, other.config.ExcludeResourcePrefixes) &&
		slices.EqualFunc(t.rules, other.rules, func(a, b rule) bool {
			return a.Input == b.Input && a.Strategy == b.Strategy && a.MultiplyBy == b.MultiplyBy &&
				slices.EqualFunc(a.entries, b.entries, func(x, y entry) bool {
					return x.output == y.output && x.factor.Cmp(y.factor) == 0
				})
		})
}

// find returns the index of the rule of an input, and false when it has none.
func (t *Transformation) find(in corev1.ResourceName) (int, bool) {
	return slices.BinarySearchFunc(t.rules, in, func(r rule, in corev1.ResourceName) int {
		return cmp.Compare(r.Input, in)
	})
}

// rule returns the rule of an input, nil when it has none.
func (t *Transformation) rule(in corev1.ResourceName) *rule {
	if i, ok := t.find(in); ok {
		return &t.rules[i]
	}
	return nil
}

// producers returns the rules that produce an output, sorted by input.
func (t *Transformation) producers(out corev1.ResourceName) []*rule {
	i, ok := slices.BinarySearchFunc(t.outputs, out, func(p product, out corev1.ResourceName) int {
		return cmp.Compare(p.name, out)
	})
	if !ok {
		return nil
	}
	return t.outputs[i].rules
}

// excluded reports whether a name is dropped from every request. Names that begin with a
// prefix sort right behind it, so only the last prefix that sorts before a name can match.
func (t *Transformation) excluded(name corev1.ResourceName) bool {
	i, found := slices.BinarySearch(t.prefixes, string(name))
	return found || i > 0 && strings.HasPrefix(string(name), t.prefixes[i-1])
}

// keeps reports whether a requested name stays in the result.
func (t *Transformation) keeps(name corev1.ResourceName) bool {
	return !t.excluded(name) && t.Strategy(name) == Retain
}

// readsMultiplier reports whether the multiplier of a rule is read at all.
func (t *Transformation) readsMultiplier(name corev1.ResourceName) bool {
	return name != "" && (t.options.Multiplier == BeforeExclusion || !t.excluded(name))
}

// dec returns the value of q. It works on a copy: AsDec changes its receiver.
func dec(q resource.Quantity) *inf.Dec {
	q = q.DeepCopy()
	return q.AsDec()
}
