package scoring

import (
	"slices"

	"github.com/resvec/resvec/internal/document"
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

func (w *walker) load(root document.Value) *LoadConfig {
	const pathOnlyRequested = "onlyRequested"
	x := root.Fields()
	x.Known(pathMetric, pathDirection, pathWeights, pathOnlyRequested)
	cfg := &LoadConfig{
		Metric:        oneOf(w, x.Get(pathMetric), loadMetrics),
		Direction:     oneOf(w, x.Get(pathDirection), loadDirections),
		OnlyRequested: x.Get(pathOnlyRequested).Boolean(),
	}
	weights := x.Get(pathWeights).Names()
	if !weights.IsRead() {
		return cfg
	}
	cfg.Weights = map[string]float64{}
	for name, v := range weights.All() {
		weight, how := v.Number()
		if how == document.NoNumber {
			w.r.fail(field.Required(field.NewPath(v.Path()), "a weight"))
		}
		cfg.Weights[name] = weight
	}
	return cfg
}

// oneOf reads the name of one of these values, of which the first is the default.
func oneOf(w *walker, v document.Value, values []ScoringType) ScoringType {
	text, isText := v.Text()
	if !isText || v.Kind() == document.Absent {
		return values[0]
	}
	if slices.Contains(values, ScoringType(text)) {
		return ScoringType(text)
	}
	w.r.fail(field.NotSupported(field.NewPath(v.Path()), brief(text), values))
	return values[0]
}
