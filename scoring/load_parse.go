package scoring

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ParseLoad reads a LoadConfig, as YAML or JSON; Capacity is not a part of it.
//
//	metric: DominantResource # or NormalizedSum, the default
//	direction: Pack          # or Raw, or Spread, the default
//	weights:                 # without it, 1 for every resource of the map
//	  cpu: 1
//	  nvidia.com/gpu: 2
//	onlyRequested: true      # the default is false
//
// It is read strictly, as [ParseScoringStrategy] does. [CompileLoad] checks what the
// weights mean.
func ParseLoad(data []byte) (*LoadConfig, error) {
	cfg, _, err := parse(data, nil, (*walker).load)
	return cfg, err
}

func (w *walker) load(root any) *LoadConfig {
	const pathOnlyRequested = "onlyRequested"
	x, _ := w.object(root, "")
	w.known(x, "", pathMetric, pathDirection, pathWeights, pathOnlyRequested)
	cfg := &LoadConfig{
		Metric:        oneOf(w, x[pathMetric], pathMetric, NormalizedSum, DominantResource),
		Direction:     oneOf(w, x[pathDirection], pathDirection, Spread, Pack, Raw),
		OnlyRequested: w.boolean(x[pathOnlyRequested], pathOnlyRequested),
	}
	weights, _ := w.object(x[pathWeights], pathWeights)
	if weights == nil {
		return cfg
	}
	cfg.Weights = make(map[string]float64, len(weights))
	for _, name := range slices.Sorted(maps.Keys(weights)) {
		path := keyPath(pathWeights, name)
		weight, how := w.number(weights[name], path)
		if how == numberAbsent {
			w.r.fail(field.Required(field.NewPath(path), "a weight"))
		}
		cfg.Weights[name] = weight
	}
	return cfg
}

// oneOf reads the name of one of these values, of which the first is the default.
func oneOf[T interface{ String() string }](w *walker, v any, path string, values ...T) T {
	text, isText := w.text(v, path)
	if text == "" && (!isText || v == nil) {
		return values[0]
	}
	var names []string
	for _, value := range values {
		if value.String() == text {
			return value
		}
		names = append(names, value.String())
	}
	w.r.fail(field.NotSupported(field.NewPath(path), brief(text), names))
	return values[0]
}
