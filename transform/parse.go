package transform

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/resvec/resvec/internal/document"
	"github.com/resvec/resvec/internal/quantity"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// MaxDocument is the size in bytes that [Parse] takes at most. A Kubernetes
// object is limited to less.
const MaxDocument = 4 << 20

// ParseError says that a document is not one of the shapes. Err is the YAML
// library's error, or the Aggregate of *field.Error, all of them, when the
// document is YAML of another form.
type ParseError struct {
	Line int // 1 is the first; 0 when not known
	Err  error
}

// Error gives the line, when known, and the cause.
func (e *ParseError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("transform: line %d: %v", e.Line, e.Err)
	}
	return fmt.Sprintf("transform: %v", e.Err)
}

// Unwrap returns Err.
func (e *ParseError) Unwrap() error { return e.Err }

// Parse reads a Config from YAML or JSON in the shape s, or in whichever shape
// it is for [ShapeAuto], and returns the shape found.
//
// A document may be wrapped in the key resourceTransformationMatrix (Input and
// Output) or resources (List), or be a whole Kueue configuration, which has
// apiVersion and kind and of which only resources is read; one without
// resources is an empty Config, and a ConfigMap around it an error. ShapeAuto takes a
// list of transformations for List, one beside a map strategy for Output, a map
// of objects with no keys but functions and strategy for Input, and else Output.
//
// Parsing is strict: unknown and duplicate keys, keys that differ in case or are
// no strings, nulls, booleans, quantities that don't parse or have an exponent
// beyond 999, an empty document, a second one, and more than [MaxDocument] bytes
// are errors. Numbers follow YAML 1.1 and pass through float64 when they have a
// fraction, so quote quantities: an unquoted 010 is 8. A document of another form
// gives a [*ParseError], faults of the rules the Aggregate of a field.ErrorList
// with the paths of the shape, and both together are joined. Of more than 1000
// faults the first ones are listed.
func Parse(data []byte, s Shape) (*Config, Shape, error) {
	if s < ShapeAuto || s > ShapeList {
		return nil, s, &ParseError{Err: fmt.Errorf("the shape %v is none of a document", s)}
	}
	tree, faults, err := document.Read(data, MaxDocument)
	if err != nil {
		return nil, s, &ParseError{Line: err.Line, Err: err.Err}
	}
	top, ok := tree.(object)
	if !ok {
		return nil, s, &ParseError{Err: errors.New("the document is no map")}
	}
	p := &parser{}
	body := p.unwrap(top, &s)
	for _, f := range faults {
		if f.Repeated { // what is no finite number is no quantity either
			p.repeated(f)
		}
	}
	c, rules := &Config{}, []located(nil)
	if body != nil {
		switch s {
		case ShapeInput:
			rules = p.inputShape(body)
		case ShapeOutput:
			rules = p.outputShape(body)
		case ShapeList:
			rules = p.listShape(body, c)
		}
	}
	p.rules = append(p.rules, c.validate(rules)...)
	if err := p.err(); err != nil {
		return nil, s, err
	}
	for i := range rules {
		c.Rules = append(c.Rules, rules[i].Rule)
	}
	c.Inexact = p.inexact
	return c, s, nil
}

// object is a mapping of a document. Numbers are json.Number.
type object = document.Object

// parser collects what is wrong with a document.
type parser struct {
	root  *field.Path     // of the document: nil where it has an envelope
	form  field.ErrorList // it is not of the shape
	line  int             // of the first of form whose line is known
	rules field.ErrorList // it says what no rule may

	inexact []Finding // factors that are not what was written
}

// err returns all faults.
func (p *parser) err() error {
	if len(p.form) == 0 {
		return aggregate(p.rules)
	}
	// What was not read for its form is not missing too.
	unread := map[string]bool{}
	for _, e := range p.form {
		unread[e.Field] = true
	}
	rules := slices.DeleteFunc(p.rules, func(e *field.Error) bool { return unread[e.Field] })
	form := &ParseError{Line: p.line, Err: aggregate(p.form)}
	if len(rules) == 0 {
		return form
	}
	return errors.Join(form, aggregate(rules))
}

// aggregate returns the faults as an error, the first of them if there are very
// many: the text of an Aggregate takes quadratic time.
func aggregate(faults field.ErrorList) error {
	const most = 1000
	if n := len(faults); n > most {
		last := *faults[most]
		last.Type, last.BadValue, last.Detail = field.ErrorTypeTooMany, n, "faults, of which this is no more than the beginning"
		faults = append(faults[:most:most], &last)
	}
	return document.Errors(faults)
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

// unwrap returns what stands inside the envelope, and settles the shape.
func (p *parser) unwrap(top object, s *Shape) object {
	_, hasVersion := top["apiVersion"]
	_, hasKind := top["kind"]
	list, isList := top[resourcesKey]
	matrix, isMatrix := top[matrixKey]
	switch {
	case hasVersion && hasKind:
		if top["kind"] == "ConfigMap" { // the file that Kueue reads stands in it
			p.fail(field.NotSupported(field.NewPath("kind"), "ConfigMap", []string{"Configuration, which an entry of its data holds"}))
		}
		if list == nil {
			list = object{}
		}
		p.settle(s, ShapeList, true)
		return p.object(list, resourcesPath)
	case isList:
		p.known(top, nil, resourcesKey)
		p.settle(s, ShapeList, true)
		return p.object(list, resourcesPath)
	case isMatrix:
		p.known(top, nil, matrixKey)
		body := p.object(matrix, matrixPath)
		p.settle(s, shapeOf(body), false)
		if *s == ShapeList {
			p.fail(field.Invalid(matrixPath, matrixKey, "the envelope of the List shape is "+resourcesKey))
		}
		return body
	}
	p.settle(s, shapeOf(top), false)
	p.root = matrixPath
	if *s == ShapeList {
		p.root = resourcesPath
	}
	return top
}

// settle sets the shape to the one found, or checks it against an envelope that
// only the List shape has.
func (p *parser) settle(s *Shape, found Shape, envelope bool) {
	switch {
	case *s == ShapeAuto:
		*s = found
	case envelope && *s != ShapeList:
		p.fail(field.Invalid(resourcesPath, resourcesKey, "is the envelope of the List shape, not of "+s.String()))
	}
}

// shapeOf tells the shape of an unwrapped document.
func shapeOf(body object) Shape {
	has := func(key string) bool { _, ok := body[key]; return ok }
	table, _ := body[transformationsKey].(object)
	_, isList := body[transformationsKey].([]any)
	switch {
	case isList, !has(transformationsKey) && (has(excludeKey) || has(quotaCheckKey) || has(deviceClassesKey)):
		return ShapeList
	case has(strategyKey):
		return ShapeOutput
	}
	for _, value := range table {
		if !looksLikeRule(value) {
			return ShapeOutput
		}
	}
	return ShapeInput
}

// looksLikeRule reports whether a value is an object of the Input shape.
func looksLikeRule(value any) bool {
	rule, ok := value.(object)
	for key := range rule {
		ok = ok && (key == functionsKey || key == strategyKey)
	}
	return ok
}

// inputShape reads the rules of the Input shape, sorted by input.
func (p *parser) inputShape(body object) (rules []located) {
	p.known(body, matrixPath, transformationsKey)
	path := matrixPath.Child(transformationsKey)
	table := p.optional(body, transformationsKey, path)
	for _, input := range sortedKeys(table) {
		at := key(path, input)
		strategy, functions := at.Child(strategyKey), at.Child(functionsKey)
		value := p.object(table[input], at)
		p.known(value, at, functionsKey, strategyKey)
		rule := located{input: at, strategy: strategy, outputs: functions, strict: true}
		rule.Input = corev1.ResourceName(input)
		rule.Strategy = Strategy(p.text(value, strategyKey, strategy))
		rule.Outputs, rule.nulls = p.quantities(p.optional(value, functionsKey, functions), functions, p.fromInput(input))
		rules = append(rules, rule)
	}
	return rules
}

// outputShape reads the rules of the Output shape, sorted by input.
func (p *parser) outputShape(body object) []located {
	p.known(body, matrixPath, transformationsKey, strategyKey)
	path, strategies := matrixPath.Child(transformationsKey), matrixPath.Child(strategyKey)
	byInput := map[string]*located{}
	rule := func(input string, at *field.Path) *located {
		if byInput[input] == nil {
			byInput[input] = &located{
				Rule:  Rule{Input: corev1.ResourceName(input), Outputs: corev1.ResourceList{}},
				input: at, strategy: key(strategies, input), strict: true,
			}
		}
		return byInput[input]
	}
	table := p.optional(body, transformationsKey, path)
	for _, output := range sortedKeys(table) {
		at, name := key(path, output), corev1.ResourceName(output)
		quantities, nulls := p.quantities(p.object(table[output], at), at, func(input string, q resource.Quantity, text string) {
			p.compare(input, output, q, text)
		})
		p.rules = append(append(p.rules, checkName(name, at)...), nulls...)
		for input, q := range quantities {
			rule(string(input), key(at, string(input))).Outputs[name] = q
		}
	}
	chosen := p.optional(body, strategyKey, strategies)
	for _, input := range sortedKeys(chosen) {
		at := key(strategies, input)
		rule(input, at).Strategy = Strategy(p.text(chosen, input, at))
	}
	rules := make([]located, 0, len(byInput))
	for _, input := range slices.Sorted(maps.Keys(byInput)) {
		rules = append(rules, *byInput[input])
	}
	return rules
}

// listShape reads the rules of the List shape, and the settings of c.
func (p *parser) listShape(body object, c *Config) (rules []located) {
	p.known(body, resourcesPath, transformationsKey, excludeKey, quotaCheckKey, deviceClassesKey)
	c.QuotaCheckStrategy = p.text(body, quotaCheckKey, resourcesPath.Child(quotaCheckKey))
	prefixes := resourcesPath.Child(excludeKey)
	for i, x := range p.list(body, excludeKey, prefixes) {
		prefix, ok := x.(string)
		if !ok {
			p.wrong(prefixes.Index(i), x, "a string")
		}
		c.ExcludeResourcePrefixes = append(c.ExcludeResourcePrefixes, prefix)
	}
	path := resourcesPath.Child(transformationsKey)
	for i, x := range p.list(body, transformationsKey, path) {
		at := path.Index(i)
		value, rule := p.object(x, at), listed(Rule{}, i)
		p.known(value, at, inputKey, strategyKey, multiplyByKey, outputsKey)
		rule.Input = corev1.ResourceName(p.text(value, inputKey, rule.input))
		rule.Strategy = Strategy(p.text(value, strategyKey, rule.strategy))
		rule.MultiplyBy = corev1.ResourceName(p.text(value, multiplyByKey, rule.multiplyBy))
		rule.Outputs, rule.nulls = p.quantities(p.optional(value, outputsKey, rule.outputs), rule.outputs, p.fromInput(string(rule.Input)))
		rules = append(rules, rule)
	}
	return rules
}

// quantities reads a map of quantities. A null is a fault of the rules, and
// returned, anything else that is no quantity one of the form. read is called for
// every quantity.
func (p *parser) quantities(table object, path *field.Path, read func(name string, q resource.Quantity, text string)) (list corev1.ResourceList, nulls field.ErrorList) {
	list = make(corev1.ResourceList, len(table))
	for _, name := range sortedKeys(table) {
		q, at := resource.Quantity{}, key(path, name)
		switch value := table[name].(type) {
		case nil:
			nulls = append(nulls, field.Required(at, "a quantity"))
		case string:
			q = p.quantity(value, at)
			read(name, q, value)
		case json.Number:
			q = p.quantity(value.String(), at)
			read(name, q, value.String())
		default:
			p.wrong(at, value, "a quantity")
		}
		list[corev1.ResourceName(name)] = q
	}
	return list, nulls
}

// fromInput returns what compares the factors of an input.
func (p *parser) fromInput(input string) func(output string, q resource.Quantity, text string) {
	return func(output string, q resource.Quantity, text string) { p.compare(input, output, q, text) }
}

// compare notes a factor that is not what was written.
func (p *parser) compare(input, output string, q resource.Quantity, text string) {
	if f, ok := inexact(corev1.ResourceName(input), corev1.ResourceName(output), q, text); ok {
		p.inexact = append(p.inexact, f)
	}
}

func (p *parser) quantity(text string, at *field.Path) resource.Quantity {
	q, err := quantity.Parse(text)
	if err != nil {
		p.fail(field.Invalid(at, short(text), err.Error()))
	}
	return q
}

// fail notes that the document has another form.
func (p *parser) fail(err *field.Error) { p.form = append(p.form, err) }

// repeated notes a repeated key.
func (p *parser) repeated(f document.Fault) {
	if p.line == 0 {
		p.line = f.Line
	}
	path, last := p.root, ""
	for _, step := range f.Path {
		switch last = short(step.Key); {
		case step.IsItem:
			path = path.Index(step.Item)
		case path == nil || isField(step.Key):
			path = path.Child(last)
		default:
			path = path.Key(last)
		}
	}
	p.fail(field.Duplicate(path, last))
}

// isField reports whether a key is a field of a shape and no resource.
func isField(key string) bool {
	return slices.Contains([]string{
		resourcesKey, transformationsKey, strategyKey, functionsKey,
		inputKey, multiplyByKey, outputsKey, excludeKey, quotaCheckKey, deviceClassesKey,
	}, key)
}

// wrong notes a value of another type.
func (p *parser) wrong(path *field.Path, value any, want string) {
	got := "null"
	switch value.(type) {
	case object:
		got = "a map"
	case []any:
		got = "a list"
	case string:
		got = "a string"
	case json.Number:
		got = "a number"
	case bool:
		got = "a boolean"
	}
	p.fail(field.TypeInvalid(path, got, "must be "+want))
}

// known notes the keys of a map that are none of these. A nil path is the top of
// the document.
func (p *parser) known(x object, path *field.Path, keys ...string) {
	for _, key := range sortedKeys(x) {
		if !slices.Contains(keys, key) {
			p.fail(field.NotSupported(path.Child(short(key)), short(key), keys))
		}
	}
}

// object returns a value that must be a map; nil when it is none.
func (p *parser) object(value any, path *field.Path) object {
	x, ok := value.(object)
	if !ok {
		p.wrong(path, value, "a map")
	}
	return x
}

// optional returns the map under a key, which has this path, and nil when there is
// none.
func (p *parser) optional(x object, key string, at *field.Path) object {
	if value, ok := x[key]; ok {
		return p.object(value, at)
	}
	return nil
}

// list is optional for a list.
func (p *parser) list(x object, key string, at *field.Path) []any {
	value, ok := x[key]
	list, isList := value.([]any)
	if ok && !isList {
		p.wrong(at, value, "a list")
	}
	return list
}

// text is optional for a string.
func (p *parser) text(x object, key string, at *field.Path) string {
	value, ok := x[key]
	text, isText := value.(string)
	if ok && !isText {
		p.wrong(at, value, "a string")
	}
	return text
}

// short cuts a text that stands in a message or a path. No name is as long.
func short(s string) string { return document.Cut(s, "...") }

func sortedKeys(x object) []string { return slices.Sorted(maps.Keys(x)) }
