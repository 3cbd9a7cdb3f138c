package transform

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Strategy says what becomes of the input that a rule transforms. It is
// case-sensitive.
type Strategy string

const (
	Retain  Strategy = "Retain"  // the request keeps it and gets the outputs too
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

	// inexact are the factors that Parse could not keep as they are written.
	inexact []Finding
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
	return &Config{rules, slices.Clone(c.ExcludeResourcePrefixes), c.QuotaCheckStrategy, slices.Clone(c.inexact)}
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

// join lists names in a text.
func join(names []corev1.ResourceName) string {
	texts := make([]string, len(names))
	for i, name := range names {
		texts[i] = string(name)
	}
	return strings.Join(texts, ", ")
}
