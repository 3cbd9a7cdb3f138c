package scoring

import (
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
	var r report
	var cfg *KubeConfig
	if root, ok := readDocument(data, &r); ok {
		w := walker{r: &r}
		cfg = w.scoringStrategy(root)
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	return cfg, nil
}

func (w *walker) scoringStrategy(root any) *KubeConfig {
	const ratio = "requestedToCapacityRatio"
	x, _ := w.object(root, "")
	w.known(x, "", "type", "resources", ratio)
	cfg := &KubeConfig{}
	kind, _ := w.text(x["type"], "type")
	cfg.Type = ScoringType(kind)
	for i, item := range w.list(x["resources"], "resources") {
		cfg.Resources = append(cfg.Resources, w.kubeResource(item, itemPath("resources", i)))
	}
	y, _ := w.object(x[ratio], ratio)
	w.known(y, ratio, "shape")
	for i, item := range w.list(y["shape"], ratio+".shape") {
		cfg.Shape = append(cfg.Shape, w.shapePoint(item, itemPath(ratio+".shape", i)))
	}
	return cfg
}

func (w *walker) kubeResource(v any, path string) (resource KubeResource) {
	x, ok := w.object(v, path)
	if !ok {
		return KubeResource{}
	}
	w.known(x, path, "name", "weight")
	name, isText := w.text(x["name"], path+".name")
	if isText && name == "" {
		w.r.fail(field.Required(field.NewPath(path+".name"), ""))
	}
	weight, how := w.integer(x["weight"], path+".weight")
	if how == numberAbsent {
		weight = 1
	}
	return KubeResource{Name: name, Weight: weight}
}

func (w *walker) shapePoint(v any, path string) ShapePoint {
	x, _ := w.object(v, path)
	w.known(x, path, "utilization", "score")
	utilization, _ := w.integer(x["utilization"], path+".utilization")
	score, _ := w.integer(x["score"], path+".score")
	return ShapePoint{Utilization: utilization, Score: score}
}
