package share

import (
	"strings"

	"github.com/resvec/resvec/internal/document"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ParseError says that a document cannot be read, or that it is no scoringStrategy.
// It is the same type in every package of this module.
type ParseError = document.ParseError

// Keys of the documents.
const (
	versionKey   = "apiVersion"
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
// than 1000 faults it has the first ones.
func ParseScoringStrategy(data []byte) (*Config, error) {
	var r document.Report
	cfg := readStrategy(document.Read(data, document.Options{}, &r))
	if err := r.Err("share"); err != nil {
		return nil, err
	}
	return cfg, nil
}

// readStrategy reads the strategy from whichever document it stands in.
func readStrategy(root document.Value) *Config {
	kind := root.Peek(kindKey)
	switch {
	case kind.Kind() == document.Text && kind.Written() == deviceShareArgs:
		x := root.Fields()
		for key, v := range x.All() {
			if key != strategyKey && strings.EqualFold(key, strategyKey) {
				v.Refuse(field.NotSupported(field.NewPath(v.Path()), key, []string{strategyKey}))
			}
		}
		return strategyOf(x.Get(strategyKey))
	case kind.Kind() != document.Absent: // a document of something else: what its other keys are says nothing
		if text, ok := kind.Text(); ok {
			kind.Refuse(field.NotSupported(field.NewPath(kindKey), document.Cut(text), []string{deviceShareArgs}))
		}
		return &Config{}
	case root.Has(versionKey) || root.Has(kindKey):
		kind.Refuse(field.Required(field.NewPath(kindKey), deviceShareArgs))
		return &Config{}
	case root.Has(strategyKey):
		x := root.Fields()
		x.Known(strategyKey)
		return strategyOf(x.Get(strategyKey))
	}
	return strategyOf(root)
}

func strategyOf(v document.Value) *Config {
	x := v.Fields()
	x.Known(typeKey, resourcesKey)
	cfg := &Config{}
	cfg.Type, _ = x.Get(typeKey).Text()
	if list := x.Get(resourcesKey); list.Kind() == document.List {
		cfg.Resources = []ResourceSpec{}
	}
	for _, item := range x.Get(resourcesKey).Items() {
		y := item.Item()
		y.Known(nameKey, weightKey)
		var r ResourceSpec
		r.Name, _ = y.Get(nameKey).Text()
		if _, known := ResourceNamed(r.Name); !known && r.Name != "" {
			y.Get(nameKey).Refuse(unknownResource(field.NewPath(y.Get(nameKey).Path()), r.Name))
		}
		r.Weight, _ = y.Get(weightKey).Integer()
		cfg.Resources = append(cfg.Resources, r)
	}
	return cfg
}
