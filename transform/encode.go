package transform

import (
	"fmt"
	"slices"
	"strings"

	"github.com/resvec/resvec/internal/document"
	"gopkg.in/inf.v0"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"
)

// NotExpressibleError says that a shape cannot hold what a Config has.
type NotExpressibleError struct {
	Shape   Shape
	Input   corev1.ResourceName // of the rule; "" for a setting of the Config
	Feature string              // the field: multiplyBy, outputs, excludeResourcePrefixes, quotaCheckStrategy
}

// Error names the shape, the rule and the feature.
func (e *NotExpressibleError) Error() string {
	if e.Input == "" {
		return fmt.Sprintf("transform: the shape %v cannot express %s", e.Shape, e.Feature)
	}
	return fmt.Sprintf("transform: the shape %v cannot express %s of %s", e.Shape, e.Feature, e.Input)
}

// expressible returns an error for the first thing, by input and then the settings, that
// the shape cannot hold. Leaving it out would charge something else in silence.
func (c *Config) expressible(s Shape) error {
	if s == ShapeList {
		return nil
	}
	for _, rule := range c.sortedRules() {
		switch {
		case rule.MultiplyBy != "":
			return &NotExpressibleError{s, rule.Input, multiplyByKey}
		case s == ShapeTuples && len(rule.Outputs) == 0:
			return &NotExpressibleError{s, rule.Input, outputsKey}
		}
	}
	switch {
	case len(c.ExcludeResourcePrefixes) > 0:
		return &NotExpressibleError{s, "", excludeKey}
	case c.QuotaCheckStrategy != "":
		return &NotExpressibleError{s, "", quotaCheckKey}
	}
	return nil
}

// Encode writes c as canonical YAML of a shape: with its envelope, sorted by
// name, every strategy written out and every quantity in its canonical text.
// What it writes parses to an equal Config, with the same Format in every
// factor; a quantity whose canonical text has another Format, as 5 in BinarySI
// has, is written in one that keeps it (0.0048828125Ki); one without a Format,
// such as the zero Quantity, gets the Format of its text. The error is a
// [*NotExpressibleError], which no shape avoids for a quantity that has no such
// text (finer than 1n, say), or the faults of [Config.Validate]. Only Input,
// Output and List are shapes of a document.
func (c *Config) Encode(s Shape) ([]byte, error) {
	if s != ShapeInput && s != ShapeOutput && s != ShapeList {
		return nil, fmt.Errorf("transform: the shape %v is none of a document", s)
	}
	if err := document.Errors(c.Validate()); err != nil {
		return nil, err
	}
	if err := c.expressible(s); err != nil {
		return nil, err
	}
	rules := make([]textRule, 0, len(c.Rules))
	for _, r := range c.sortedRules() {
		texts, ok := quantityTexts(r.Outputs)
		if !ok {
			return nil, &NotExpressibleError{s, r.Input, outputsKey}
		}
		rules = append(rules, textRule{r, texts})
	}
	switch s {
	case ShapeInput:
		return yaml.Marshal(object{matrixKey: inputDocument(rules)})
	case ShapeOutput:
		return yaml.Marshal(object{matrixKey: outputDocument(rules)})
	}
	return yaml.Marshal(object{resourcesKey: c.listDocument(rules)})
}

// object is a mapping of a document.
type object = map[string]any

// textRule is a rule with its outputs as text.
type textRule struct {
	Rule
	texts map[string]string
}

// inputDocument returns the rules by input.
func inputDocument(rules []textRule) object {
	table := object{}
	for _, r := range rules {
		table[string(r.Input)] = object{strategyKey: r.strategy(), functionsKey: r.texts}
	}
	return object{transformationsKey: table}
}

// outputDocument returns the factors by output, and the strategies, which belong to inputs,
// apart. So a rule without outputs stays, as a strategy alone.
func outputDocument(rules []textRule) object {
	table, strategies := map[string]map[string]string{}, object{}
	for _, r := range rules {
		strategies[string(r.Input)] = r.strategy()
		for out, text := range r.texts {
			if table[out] == nil {
				table[out] = map[string]string{}
			}
			table[out][string(r.Input)] = text
		}
	}
	return object{transformationsKey: table, strategyKey: strategies}
}

// listDocument returns the rules as Kueue's list, the only shape that has settings.
func (c *Config) listDocument(rules []textRule) object {
	list := make([]object, 0, len(rules))
	for _, r := range rules {
		x := object{inputKey: r.Input, strategyKey: r.strategy(), outputsKey: r.texts}
		if r.MultiplyBy != "" {
			x[multiplyByKey] = r.MultiplyBy
		}
		list = append(list, x)
	}
	document := object{transformationsKey: list}
	if len(c.ExcludeResourcePrefixes) > 0 {
		document[excludeKey] = slices.Sorted(slices.Values(c.ExcludeResourcePrefixes))
	}
	if c.QuotaCheckStrategy != "" {
		document[quotaCheckKey] = c.QuotaCheckStrategy
	}
	return document
}

// quantityTexts returns the quantities of a list as text, and false when one has
// none.
func quantityTexts(list corev1.ResourceList) (texts map[string]string, ok bool) {
	texts = make(map[string]string, len(list))
	for name, q := range list {
		if texts[string(name)], ok = quantityText(q); !ok {
			return nil, false
		}
	}
	return texts, true
}

// quantityText returns the canonical text of q, or where that would parse with
// another value (the type writes 10^21 as 1) or Format, one that does not; false
// when there is none.
func quantityText(q resource.Quantity) (text string, ok bool) {
	d, other := dec(q), ""
	switch q.Format {
	case resource.BinarySI:
		// A 1024th has ten more decimals and is exact.
		other = plain(new(inf.Dec).QuoExact(d, inf.NewDec(1024, 0))) + "Ki"
	case resource.DecimalExponent:
		other = plain(d) + "e0"
	default:
		other = plain(d)
	}
	for _, text := range []string{canonical(q), other} {
		if keeps(text, q) {
			return text, true
		}
	}
	return "", false
}

// plain returns the digits of d without zeros at the end of its decimals.
func plain(d *inf.Dec) string {
	text := d.String()
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// keeps reports whether text parses to q with its Format, if it has one.
func keeps(text string, q resource.Quantity) bool {
	back, err := resource.ParseQuantity(text)
	return err == nil && (back.Format == q.Format || q.Format == "") && back.Cmp(q) == 0
}
