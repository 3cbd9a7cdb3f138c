package transform

import (
	"fmt"
	"maps"
	"slices"

	"github.com/resvec/resvec/internal/document"
	"github.com/resvec/resvec/internal/quantity"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ParseError says that a document cannot be read, or that it is none of the shapes.
// It is the same type in every package of this module.
type ParseError = document.ParseError

// Parse reads a Config from YAML or JSON in the shape s, or in whichever shape
// it is for [ShapeAuto], and returns the shape found.
//
// A document may be wrapped in the key resourceTransformationMatrix (Input and
// Output) or resources (List), or be a whole Kueue configuration, which has
// apiVersion and kind and of which only resources is read; one without
// resources is an empty Config, and a ConfigMap around it an error. ShapeAuto takes a
// list of transformations for List, one with a sibling map strategy for Output, a map
// of objects with no keys but functions and strategy for Input, and else Output.
//
// Parsing is strict: unknown and duplicate keys, keys that differ in case or are
// no strings, nulls, booleans, quantities that don't parse or have an exponent
// beyond 999, an empty document, a second one, and more than 4 MiB
// are errors. Numbers follow YAML 1.1, as Kueue reads them, so quote quantities: an
// unquoted 010 is 8, and one with a fraction or an exponent, or of 2^64 and more, is
// rounded to a float64. [Transformation.Lint] lists the factors that are not what is written.
//
// The error is an Aggregate of *field.Error, of a thousand at most, with the paths of
// the shape: first faults of the document, then faults of the rules, in their order. It
// is a [*ParseError] when the document cannot be read or is none of the shapes.
func Parse(data []byte, s Shape) (*Config, Shape, error) {
	if s < ShapeAuto || s > ShapeList {
		return nil, s, fmt.Errorf("transform: the shape %v is none of a document", s)
	}
	p := &parser{}
	root := document.Read(data, document.Options{MaxSize: maxDocument, NullIsFault: true, BareKeys: true}, &p.Report)
	body := p.unwrap(root, &s)
	c, rules := &Config{}, []located(nil)
	switch s {
	case ShapeInput:
		rules = p.inputShape(body.Fields())
	case ShapeOutput:
		rules = p.outputShape(body.Fields())
	case ShapeList:
		rules = p.listShape(body.Fields(), c)
	}
	for _, e := range c.validate(rules) {
		p.Fail(e)
	}
	if err := p.Err("transform"); err != nil {
		return nil, s, err
	}
	for i := range rules {
		c.Rules = append(c.Rules, rules[i].Rule)
	}
	c.inexact = p.inexact
	return c, s, nil
}

// maxDocument is the size in bytes that Parse takes at most. An object of Kubernetes is
// limited to less.
const maxDocument = 4 << 20

// parser collects what is wrong with a document.
type parser struct {
	document.Report
	inexact []Finding // factors that are not what was written
}

// Keys of the documents.
const (
	matrixKey          = "resourceTransformationMatrix"
	resourcesKey       = "resources"
	transformationsKey = "transformations"
	strategyKey        = "strategy"
	functionsKey       = "functions"
	inputKey           = "input"
	multiplyByKey      = "multiplyBy"
	outputsKey         = "outputs"
	excludeKey         = "excludeResourcePrefixes"
	quotaCheckKey      = "quotaCheckStrategy"
	deviceClassesKey   = "deviceClassMappings"
)

var (
	matrixPath    = field.NewPath(matrixKey)
	resourcesPath = field.NewPath(resourcesKey)
)

// unwrap returns what stands inside the envelope, and chooses the shape. It notes the
// keys that the shape does not have, where they are written: a misspelled key would
// otherwise charge nothing in silence.
func (p *parser) unwrap(root document.Value, s *Shape) document.Value {
	kind, list, matrix := root.Peek("kind"), root.Peek(resourcesKey), root.Peek(matrixKey)
	hint := ""
	if root.Has("apiVersion") != root.Has("kind") {
		hint = "; a Kueue configuration has apiVersion and kind"
	}
	switch {
	case root.Has("apiVersion") && root.Has("kind"):
		if kind.Written() == "ConfigMap" { // the file that Kueue reads stands in it
			kind.Refuse(field.NotSupported(field.NewPath("kind"), "ConfigMap", []string{"Configuration, which an entry of its data holds"}))
		}
		choose(s, ShapeList, list)
		if list.Kind() == document.Null {
			return document.Value{}
		}
		return known(list, *s, "")
	case root.Has(resourcesKey):
		root.Fields().KnownOr(hint, resourcesKey)
		choose(s, ShapeList, list)
		return known(list, *s, "")
	case root.Has(matrixKey):
		root.Fields().KnownOr(hint, matrixKey)
		choose(s, shapeOf(matrix), document.Value{})
		if *s == ShapeList {
			matrix.Refuse(field.Invalid(matrixPath, matrixKey, "the envelope of the List shape is "+resourcesKey))
			return document.Value{}
		}
		return known(matrix, *s, "")
	case root.Kind() == document.List && slices.ContainsFunc(root.Items(), isMapping):
		root.Refuse(field.TypeInvalid(field.NewPath(""), field.OmitValueType{}, "must be a mapping, not a list; a list of rules stands under "+transformationsKey))
		choose(s, ShapeInput, document.Value{})
		return document.Value{}
	case root.Kind() == document.Mapping && *s == ShapeAuto && shapeless(root, hint):
		choose(s, ShapeInput, document.Value{})
		return document.Value{}
	}
	choose(s, shapeOf(root), document.Value{})
	body := known(root, *s, hint)
	switch {
	case root.Kind() != document.Mapping: // it is at fault as a whole
		return body
	case *s == ShapeList:
		return body.At(resourcesKey)
	}
	return body.At(matrixKey)
}

func isMapping(v document.Value) bool { return v.Kind() == document.Mapping }

// known returns the body of a document, with a fault for each key that its shape does not
// have. The text of each ends with hint.
func known(body document.Value, s Shape, hint string) document.Value {
	keys := map[Shape][]string{
		ShapeInput:  {transformationsKey},
		ShapeOutput: {transformationsKey, strategyKey},
		ShapeList:   listKeys,
	}[s]
	if x := body.Fields(); x.IsRead() {
		x.KnownOr(hint, keys...)
		return body
	}
	return document.Value{}
}

// listKeys are the keys of the List shape. Kueue has deviceClassMappings there, which is
// accepted and not read.
var listKeys = []string{transformationsKey, excludeKey, quotaCheckKey, deviceClassesKey}

// shapeless notes what keeps a document without an envelope from having a shape, and
// reports whether anything does. It looks for a single rule in the place of a document,
// which is the usual mistake, to say where that belongs.
func shapeless(root document.Value, hint string) bool {
	table := root.Peek(transformationsKey)
	if hasListKey(root) || len(root.Keys()) == 0 {
		return false
	}
	switch table.Kind() {
	case document.List, document.Mapping:
		return false
	case document.Absent:
		for _, key := range []string{inputKey, outputsKey, multiplyByKey, functionsKey} {
			if root.Has(key) {
				v := root.Fields().Get(key)
				e := field.NotSupported(pathOf(v), key, []string{transformationsKey})
				e.Detail += "; this is one rule, which stands in " + transformationsKey
				v.Refuse(e)
				return true
			}
		}
		if root.Has(strategyKey) {
			return false
		}
		root.Fields().KnownOr(hint, transformationsKey, resourcesKey, matrixKey)
		return true
	}
	if root.Has(strategyKey) {
		return false
	}
	table.Wrong("a list or a mapping")
	return true
}

// choose sets the shape to the one found, or checks it against an envelope that
// only the List shape has.
func choose(s *Shape, found Shape, envelope document.Value) {
	switch {
	case *s == ShapeAuto:
		*s = found
	case envelope.Kind() != document.Absent && *s != ShapeList:
		envelope.Refuse(field.Invalid(resourcesPath, resourcesKey, "is the envelope of the List shape, not of "+s.String()))
	}
}

// shapeOf returns the shape of an unwrapped document.
func shapeOf(body document.Value) Shape {
	table := body.Peek(transformationsKey)
	switch {
	case table.Kind() == document.List, table.Kind() != document.Mapping && hasListKey(body):
		return ShapeList
	case body.Has(strategyKey):
		return ShapeOutput
	}
	for _, key := range table.Keys() {
		if !looksLikeRule(table.Peek(key)) {
			return ShapeOutput
		}
	}
	return ShapeInput
}

// hasListKey reports whether a body has a key of the List shape alone.
func hasListKey(body document.Value) bool { return slices.ContainsFunc(listKeys[1:], body.Has) }

// looksLikeRule reports whether a value is an object of the Input shape.
func looksLikeRule(v document.Value) bool {
	for _, key := range v.Keys() {
		if key != functionsKey && key != strategyKey {
			return false
		}
	}
	return v.Kind() == document.Mapping
}

// inputShape reads the rules of the Input shape, sorted by input.
func (p *parser) inputShape(body document.Fields) (rules []located) {
	for input, v := range body.Get(transformationsKey).Names().All() {
		x := v.Fields()
		x.Known(functionsKey, strategyKey)
		strategy, functions := x.Get(strategyKey), x.Get(functionsKey)
		rule := located{input: pathOf(v), strategy: pathOf(strategy), outputs: pathOf(functions), strict: true}
		rule.Input = corev1.ResourceName(input)
		rule.Strategy = Strategy(text(strategy))
		rule.Outputs, rule.nulls = p.quantities(functions.Names(), p.fromInput(input))
		rules = append(rules, rule)
	}
	return rules
}

// outputShape reads the rules of the Output shape, sorted by input. The document is a table
// by output and a rule has all outputs of an input, so the table is turned round.
func (p *parser) outputShape(body document.Fields) []located {
	chosen := body.Get(strategyKey).Names()
	byInput := map[string]*located{}
	rule := func(input string, at document.Value) *located {
		if byInput[input] == nil {
			byInput[input] = &located{
				Rule:  Rule{Input: corev1.ResourceName(input), Outputs: corev1.ResourceList{}},
				input: pathOf(at), strategy: pathOf(chosen.Get(input)), strict: true,
			}
		}
		return byInput[input]
	}
	for output, v := range body.Get(transformationsKey).Names().All() {
		name, inputs := corev1.ResourceName(output), v.Names()
		quantities, nulls := p.quantities(inputs, func(input string, q resource.Quantity, v document.Value) {
			p.compare(input, output, q, v)
		})
		for _, e := range append(checkName(name, pathOf(v)), nulls...) {
			p.Fail(e)
		}
		for input, q := range quantities {
			if at := inputs.Get(string(input)); !p.IsUnread(at.Path()) {
				rule(string(input), at).Outputs[name] = q
			}
		}
	}
	for input, v := range chosen.All() {
		rule(input, v).Strategy = Strategy(text(v))
	}
	rules := make([]located, 0, len(byInput))
	for _, input := range slices.Sorted(maps.Keys(byInput)) {
		rules = append(rules, *byInput[input])
	}
	return rules
}

// listShape reads the rules of the List shape, and the settings of c.
func (p *parser) listShape(body document.Fields, c *Config) (rules []located) {
	c.QuotaCheckStrategy = text(body.Get(quotaCheckKey))
	for _, v := range body.Get(excludeKey).Items() {
		c.ExcludeResourcePrefixes = append(c.ExcludeResourcePrefixes, text(v))
	}
	for i, v := range body.Get(transformationsKey).Items() {
		x, rule := v.Item(), listed(Rule{}, i)
		x.Known(inputKey, strategyKey, multiplyByKey, outputsKey)
		rule.Input = corev1.ResourceName(text(x.Get(inputKey)))
		rule.Strategy = Strategy(text(x.Get(strategyKey)))
		rule.MultiplyBy = corev1.ResourceName(text(x.Get(multiplyByKey)))
		rule.Outputs, rule.nulls = p.quantities(x.Get(outputsKey).Names(), p.fromInput(string(rule.Input)))
		rules = append(rules, rule)
	}
	return rules
}

// quantities reads a map of quantities and calls read for each. A null is a fault of the
// rules, and returned: resource.Quantity would decode it as 0, and so charge nothing.
// Anything else that is no quantity is a fault of the document.
func (p *parser) quantities(x document.Fields, read func(name string, q resource.Quantity, v document.Value)) (list corev1.ResourceList, nulls field.ErrorList) {
	list = corev1.ResourceList{}
	for name, v := range x.All() {
		q := resource.Quantity{}
		if v.Kind() == document.Null {
			nulls = append(nulls, field.Required(pathOf(v), "a quantity"))
		} else if text, ok := v.Literal("a quantity"); ok {
			var err error
			if q, err = quantity.Parse(text); err != nil {
				v.Malformed(err.Error())
			} else {
				read(name, q, v)
			}
		}
		list[corev1.ResourceName(name)] = q
	}
	return list, nulls
}

// fromInput returns what compares the factors of an input.
func (p *parser) fromInput(input string) func(output string, q resource.Quantity, v document.Value) {
	return func(output string, q resource.Quantity, v document.Value) { p.compare(input, output, q, v) }
}

// compare notes a factor that is not what was written.
func (p *parser) compare(input, output string, q resource.Quantity, v document.Value) {
	if f, ok := inexact(corev1.ResourceName(input), corev1.ResourceName(output), q, v); ok {
		p.inexact = append(p.inexact, f)
	}
}

// text reads a string, "" where there is none.
func text(v document.Value) string {
	text, _ := v.Text()
	return text
}

func pathOf(v document.Value) *field.Path { return field.NewPath(v.Path()) }
