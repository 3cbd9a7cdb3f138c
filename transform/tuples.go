package transform

import (
	"github.com/resvec/resvec/internal/document"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Tuple is one entry of a rule: so much of Output per unit of Input.
type Tuple struct {
	Input, Output corev1.ResourceName
	Quantity      resource.Quantity
	Strategy      Strategy
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
