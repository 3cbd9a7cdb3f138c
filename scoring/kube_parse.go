package scoring

import (
	"github.com/resvec/resvec/internal/document"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ParseScoringStrategy reads a scoringStrategy of kube-scheduler's plugin
// NodeResourcesFit, as YAML or JSON: type, resources with name and weight, and
// requestedToCapacityRatio with its shape. A resource without a weight, or with
// null, has weight 1; nothing else has a default.
//
// The document is read strictly, and nothing is only a warning. Unknown and
// repeated keys, values of a wrong type and integers with fractions are reported
// all at once, sorted by path. [CompileKube] checks what the values mean.
// Documents are limited as those of [ParseArguments] are.
func ParseScoringStrategy(data []byte) (*KubeConfig, error) {
	cfg, _, err := parse(data, nil, (*walker).scoringStrategy)
	return cfg, err
}

func (w *walker) scoringStrategy(root document.Value) *KubeConfig {
	const ratio = "requestedToCapacityRatio"
	x := root.Fields()
	x.Known("type", "resources", ratio)
	cfg := &KubeConfig{}
	kind, _ := x.Get("type").Text()
	cfg.Type = ScoringType(kind)
	for _, item := range x.Get("resources").Items() {
		cfg.Resources = append(cfg.Resources, w.kubeResource(item.Item()))
	}
	y := x.Get(ratio).Fields()
	y.Known("shape")
	for _, item := range y.Get("shape").Items() {
		cfg.Shape = append(cfg.Shape, shapePoint(item.Item()))
	}
	return cfg
}

func (w *walker) kubeResource(x document.Fields) (resource KubeResource) {
	x.Known("name", "weight")
	name, isText := x.Get("name").Text()
	if isText && name == "" {
		w.r.fail(field.Required(field.NewPath(x.Get("name").Path()), "a resource name"))
	}
	weight, how := x.Get("weight").Integer()
	if how == document.NoNumber {
		weight = 1
	}
	return KubeResource{Name: name, Weight: weight}
}

func shapePoint(x document.Fields) ShapePoint {
	x.Known("utilization", "score")
	utilization, _ := x.Get("utilization").Integer()
	score, _ := x.Get("score").Integer()
	return ShapePoint{Utilization: utilization, Score: score}
}
