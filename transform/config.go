package transform

import (
	"cmp"
	"slices"

	"github.com/resvec/resvec/internal/document"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Strategy says what becomes of the input that a rule transforms. It is
// case-sensitive.
type Strategy string

const (
	Retain  Strategy = "Retain"  // the request keeps it, beside the outputs
	Replace Strategy = "Replace" // the outputs take its place
)

// Rule says what one unit of an input is charged as. Strategy "" is Retain.
type Rule struct {
	Input    corev1.ResourceName
	Strategy Strategy

	// MultiplyBy names a resource of the same request whose amount multiplies
	// the outputs; "" multiplies by nothing. One that is absent from a request
	// counts as 1.
	MultiplyBy corev1.ResourceName

	// Outputs hold how much of each is charged per unit of the input. 0 and
	// negative amounts are allowed.
	Outputs corev1.ResourceList
}

// Tuple is one entry of a rule: so much of Output per unit of Input.
type Tuple struct {
	Input, Output corev1.ResourceName
	Quantity      resource.Quantity
	Strategy      Strategy
}

// Values of [Config.QuotaCheckStrategy].
const (
	BlockUndeclared  = "BlockUndeclared"
	IgnoreUndeclared = "IgnoreUndeclared"
)

// Config is a set of rules, one per input, in any order. The zero value is the
// identity. [Parse] reads it from any of the three shapes, [FromTuples] makes it
// from a table, and it may be written in Go. [Compile] keeps no reference to it.
type Config struct {
	Rules []Rule

	// ExcludeResourcePrefixes are literal prefixes of names that are dropped
	// from a request before the rules; printable, as names are.
	ExcludeResourcePrefixes []string

	// QuotaCheckStrategy is carried for Kueue and not interpreted here: "",
	// BlockUndeclared or IgnoreUndeclared.
	QuotaCheckStrategy string

	// Inexact are findings of Parse: factors that are not charged as they are
	// written. [Transformation.Lint] lists them with its own. They
	// change nothing, and nil will do for a Config written in Go.
	Inexact []Finding
}

// Shape is a form in which a Config is written.
type Shape int

const (
	ShapeAuto   Shape = iota // in Parse: whichever it is
	ShapeInput               // a map from input to functions and strategy: KEP-2937, option 1
	ShapeOutput              // a map from output to inputs, and a strategy map: option 2
	ShapeList                // Kueue's list of rules, with multiplyBy and exclusion
	ShapeTuples              // the table of Config.Tuples; not a document
)

// String returns the name that follows Shape in the constant.
func (s Shape) String() string {
	switch s {
	case ShapeAuto:
		return "Auto"
	case ShapeInput:
		return "Input"
	case ShapeOutput:
		return "Output"
	case ShapeList:
		return "List"
	case ShapeTuples:
		return "Tuples"
	}
	return "unknown"
}

// FromTuples returns the Config of a table in any order. All tuples of an input
// have the same strategy. The error is the Aggregate of a field.ErrorList with
// paths tuples[i].
func FromTuples(ts []Tuple) (*Config, error) {
	var errs field.ErrorList
	c := new(Config)
	at := map[corev1.ResourceName]int{}
	for i, t := range ts {
		path := field.NewPath("tuples").Index(i)
		errs = append(errs, checkName(t.Input, path.Child("input"))...)
		errs = append(errs, checkName(t.Output, path.Child("output"))...)
		errs = append(errs, checkStrategy(t.Strategy, true, path.Child("strategy"))...)
		k, seen := at[t.Input]
		if !seen {
			k = len(c.Rules)
			at[t.Input] = k
			c.Rules = append(c.Rules, Rule{Input: t.Input, Strategy: t.Strategy, Outputs: corev1.ResourceList{}})
		}
		rule := &c.Rules[k]
		if rule.Strategy == "" {
			rule.Strategy = t.Strategy
		}
		if t.Strategy != rule.Strategy && t.Strategy != "" {
			errs = append(errs, field.Invalid(path.Child("strategy"), t.Strategy,
				"another tuple of this input has the strategy "+string(rule.Strategy)))
		}
		if _, seen := rule.Outputs[t.Output]; seen {
			errs = append(errs, field.Duplicate(path.Child("output"), t.Output))
		}
		rule.Outputs[t.Output] = t.Quantity.DeepCopy()
	}
	if len(errs) > 0 {
		return nil, document.Errors(errs)
	}
	return c, nil
}

// Tuples returns the rules of c as a table, sorted by input and then by output.
// The error is a [*NotExpressibleError] when c has what a table cannot hold, or
// the faults of [Config.Validate].
func (c *Config) Tuples() ([]Tuple, error) {
	live(c != nil)
	if err := document.Errors(c.Validate()); err != nil {
		return nil, err
	}
	if err := c.expressible(ShapeTuples); err != nil {
		return nil, err
	}
	var ts []Tuple
	for _, rule := range c.sortedRules() {
		for _, out := range sortedNames(rule.Outputs) {
			ts = append(ts, Tuple{rule.Input, out, rule.Outputs[out].DeepCopy(), rule.strategy()})
		}
	}
	return ts, nil
}

// strategy returns the strategy that holds.
func (r *Rule) strategy() Strategy {
	if r.Strategy == "" {
		return Retain
	}
	return r.Strategy
}

// clone returns a copy that shares nothing with c.
func (c *Config) clone() *Config {
	rules := slices.Clone(c.Rules)
	for i := range rules {
		outputs := rules[i].Outputs.DeepCopy()
		if outputs == nil {
			outputs = corev1.ResourceList{}
		}
		rules[i].Outputs = outputs
	}
	return &Config{rules, slices.Clone(c.ExcludeResourcePrefixes), c.QuotaCheckStrategy, slices.Clone(c.Inexact)}
}

// sortedRules returns the rules sorted by input.
func (c *Config) sortedRules() []Rule {
	return slices.SortedFunc(slices.Values(c.Rules), func(a, b Rule) int { return cmp.Compare(a.Input, b.Input) })
}

// sortedNames returns the names of a list, sorted.
func sortedNames(list corev1.ResourceList) []corev1.ResourceName {
	names := make([]corev1.ResourceName, 0, len(list))
	for name := range list {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
