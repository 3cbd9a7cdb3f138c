package share

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/resvec/resvec/internal/document"
	"github.com/resvec/resvec/internal/fieldpath"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maxDocument is the size in bytes of the largest document that is read, the most
// that a ConfigMap can hold.
const maxDocument = 1 << 20

// ParseError says that a document is no scoringStrategy. Err is what keeps it
// from being read, or the Aggregate of *field.Error, with paths from the root of
// the document, when it is YAML of another form.
type ParseError struct {
	Line int // 1 is the first; 0 when not known
	Err  error
}

// Error gives the line, when known, and the cause.
func (e *ParseError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("share: line %d: %v", e.Line, e.Err)
	}
	return fmt.Sprintf("share: %v", e.Err)
}

// Unwrap returns Err.
func (e *ParseError) Unwrap() error { return e.Err }

// Keys of the documents.
const (
	kindKey      = "kind"
	strategyKey  = "scoringStrategy"
	typeKey      = "type"
	resourcesKey = "resources"
	nameKey      = "name"
	weightKey    = "weight"
)

// deviceShareArgs is the kind of the arguments of Koordinator's plugin.
const deviceShareArgs = "DeviceShareArgs"

// ParseScoringStrategy reads a Config from YAML or JSON: the value of the key
// scoringStrategy, that key with its value, or DeviceShareArgs of Koordinator, of
// which other keys than scoringStrategy are ignored. Resources must be ones that
// devices have, under their full names; what else the values mean is checked by
// [NewScorer].
//
//	scoringStrategy:
//	  type: LeastAllocated
//	  resources:
//	  - {name: koordinator.sh/gpu-memory-ratio, weight: 1}
//
// null stands for what is absent; DeviceShareArgs without a scoringStrategy are a
// zero Config. Otherwise reading is strict: unknown keys, keys in another case,
// repeated keys, values of a wrong type, fractional weights, an empty document, a
// second one and more than 1 MiB are errors. The error is a [*ParseError]; of more
// than 100 faults it has the first ones.
func ParseScoringStrategy(data []byte) (*Config, error) {
	root, faults, err := document.Read(data, maxDocument)
	if err != nil {
		return nil, &ParseError{Line: err.Line, Err: err.Err}
	}
	p := &strategyParser{}
	for _, f := range faults {
		if f.Repeated { // a number that is not finite is no weight either
			p.repeated(f)
		}
	}
	cfg := p.document(root)
	if len(p.faults) == 0 {
		p.names(cfg)
	}
	if len(p.faults) > 0 {
		return nil, &ParseError{Line: p.line, Err: document.Errors(p.faults)}
	}
	return cfg, nil
}

// strategyParser collects what is wrong with the form of a document.
type strategyParser struct {
	faults    field.ErrorList
	line      int         // of the first repeated key
	resources *field.Path // of the list
}

// document reads the strategy from whichever document it stands in.
func (p *strategyParser) document(root any) *Config {
	top := p.object(root, nil)
	_, wrapped := top[strategyKey]
	path := field.NewPath(strategyKey)
	switch {
	case top[kindKey] == deviceShareArgs:
		for _, key := range sortedDocumentKeys(top) {
			if key != strategyKey && strings.EqualFold(key, strategyKey) {
				p.unknown(nil, key, strategyKey)
			}
		}
	case top[kindKey] != nil: // a document of something else: what its other keys are says nothing
		path := field.NewPath(kindKey)
		if kind, ok := top[kindKey].(string); ok {
			p.fail(field.NotSupported(path, shortText(kind), []string{deviceShareArgs}))
		} else {
			p.wrong(path, top[kindKey], "a string")
		}
		return &Config{}
	case wrapped:
		p.known(top, nil, strategyKey)
	default:
		return p.strategy(top, nil)
	}
	if top[strategyKey] == nil {
		return &Config{}
	}
	return p.strategy(p.object(top[strategyKey], path), path)
}

func (p *strategyParser) strategy(x document.Object, path *field.Path) *Config {
	p.known(x, path, typeKey, resourcesKey)
	cfg := &Config{Type: p.text(x[typeKey], path.Child(typeKey))}
	at := path.Child(resourcesKey)
	p.resources = at
	switch list := x[resourcesKey].(type) {
	case nil:
	case []any:
		cfg.Resources = make([]ResourceSpec, len(list))
		for i, item := range list {
			cfg.Resources[i] = p.resource(item, at.Index(i))
		}
	default:
		p.wrong(at, list, "a list")
	}
	return cfg
}

// names looks for resources that no device has.
func (p *strategyParser) names(cfg *Config) {
	for i, r := range cfg.Resources {
		if r.Name != "" && !slices.Contains(deviceResources[:], corev1.ResourceName(r.Name)) {
			p.fail(unknownResource(p.resources.Index(i).Child(nameKey), r.Name))
		}
	}
}

func (p *strategyParser) resource(item any, path *field.Path) ResourceSpec {
	x := p.object(item, path)
	p.known(x, path, nameKey, weightKey)
	return ResourceSpec{
		Name:   p.text(x[nameKey], path.Child(nameKey)),
		Weight: p.integer(x[weightKey], path.Child(weightKey)),
	}
}

// object returns a value that must be a mapping; nil when it is none.
func (p *strategyParser) object(value any, path *field.Path) document.Object {
	x, ok := value.(document.Object)
	if !ok {
		p.wrong(path, value, "a mapping")
	}
	return x
}

// text returns a value that must be a string or null.
func (p *strategyParser) text(value any, path *field.Path) string {
	text, ok := value.(string)
	if !ok && value != nil {
		p.wrong(path, value, "a string")
	}
	return text
}

// integer returns a value that must be an integer or null.
func (p *strategyParser) integer(value any, path *field.Path) int64 {
	if value == nil {
		return 0
	}
	number, _ := value.(json.Number)
	n, err := number.Int64()
	if err != nil {
		p.wrong(path, value, "an integer of 64 bits")
	}
	return n
}

// known notes the keys of a mapping that are none of these.
func (p *strategyParser) known(x document.Object, path *field.Path, keys ...string) {
	for _, key := range sortedDocumentKeys(x) {
		if !slices.Contains(keys, key) {
			p.unknown(path, key, keys...)
		}
	}
}

// unknown notes a key that is none of these.
func (p *strategyParser) unknown(path *field.Path, key string, keys ...string) {
	p.fail(field.NotSupported(path.Child(shortText(key)), shortText(key), keys))
}

// wrong notes a value of another type.
func (p *strategyParser) wrong(path *field.Path, value any, want string) {
	is := "null"
	switch v := value.(type) {
	case document.Object:
		is = "a mapping"
	case []any:
		is = "a list"
	case bool:
		is = "a boolean"
	case string:
		is = "a string"
	case json.Number:
		is = "the number " + shortText(v.String())
	}
	if path == nil {
		path = field.NewPath(fieldpath.Root)
	}
	p.fail(field.TypeInvalid(path, field.OmitValueType{}, fmt.Sprintf("must be %s, not %s", want, is)))
}

// repeated notes a key that a mapping has twice.
func (p *strategyParser) repeated(f document.Fault) {
	if p.line == 0 {
		p.line = f.Line
	}
	var path *field.Path
	var last string
	for _, step := range f.Path {
		if step.IsItem {
			path = path.Index(step.Item)
			continue
		}
		last = shortText(step.Key)
		path = path.Child(last)
	}
	p.fail(field.Duplicate(path, last))
}

// fail notes a fault, unless there are many.
func (p *strategyParser) fail(err *field.Error) {
	if len(p.faults) < maxFaults {
		p.faults = append(p.faults, err)
	}
}

// shortText cuts a text that stands in a message. Every legal resource name stays
// whole.
func shortText(s string) string { return document.Cut(s, "...") }

func sortedDocumentKeys(x document.Object) []string { return slices.Sorted(maps.Keys(x)) }
