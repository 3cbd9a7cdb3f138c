package scoring

import (
	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/vectormap"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// KubeConfig configures [CompileKube]: a scoring strategy of kube-scheduler's
// plugin NodeResourcesFit, or its plugin NodeResourcesBalancedAllocation.
type KubeConfig struct {
	Type      ScoringType    `json:"type"`
	Resources []KubeResource `json:"resources"`       // they are scored in this order
	Shape     []ShapePoint   `json:"shape,omitempty"` // of RequestedToCapacityRatio
}

// KubeResource is a resource that counts, and how much.
type KubeResource struct {
	Name   string `json:"name"`   // exact, not pods
	Weight int64  `json:"weight"` // 1 to 100, 1 for BalancedAllocation; there is no default
}

// ShapePoint is the score of a resource of which so much is used. Scores between
// two points lie on the line between them, truncated toward the first; below the
// first point and above the last they stay the same.
type ShapePoint struct {
	Utilization int64 `json:"utilization"` // percent, strictly increasing
	Score       int64 `json:"score"`       // 0 to 10, where 10 stands for 100
}

// CompileKube compiles a configuration against a map. Resources are looked up by
// [vectormap.ResourceVectorMap.Index]. Errors are a utilerrors.Aggregate of
// *field.Error sorted by path, a [*vectormap.UnknownResourcesError], or both
// joined; with [AllowUnknown] or [Lenient] a resource that the map does not have
// is a warning, and left out.
func CompileKube(cfg KubeConfig, m *vectormap.ResourceVectorMap, opts ...Option) (*Kube, error) {
	needMap(m)
	var r report
	k := &Kube{compiled: compiled{m: m}, name: cfg.Type}
	k.kind = r.kubeType(cfg.Type)
	k.rules = r.kubeRules(&cfg, m, options(opts))
	r.checkShape(&cfg)
	var err error
	if k.warnings, err = r.finish(); err != nil {
		return nil, err
	}
	if cfg.Type == RequestedToCapacityRatio {
		for v := range int64(101) {
			k.points[v] = uint8(brokenLine(cfg.Shape, 10, v))
		}
	}
	return k, nil
}

// kubeType returns the kernel's name of a type.
func (r *report) kubeType(t ScoringType) kernel.KubeType {
	switch t {
	case LeastAllocated:
		return kernel.KubeLeast
	case MostAllocated:
		return kernel.KubeMost
	case RequestedToCapacityRatio:
		return kernel.KubeRatio
	case BalancedAllocation:
		return kernel.KubeBalanced
	}
	r.fail(field.NotSupported(field.NewPath("type"), t,
		[]ScoringType{LeastAllocated, MostAllocated, RequestedToCapacityRatio, BalancedAllocation}))
	return 0
}

// kubeRules checks the resources and returns those that the map has.
func (r *report) kubeRules(cfg *KubeConfig, m *vectormap.ResourceVectorMap, o Option) []kubeRule {
	path := field.NewPath(pathResources)
	if len(cfg.Resources) == 0 {
		r.fail(field.Required(path, "at least one resource must be given"))
	}
	most, allowed := int64(100), "must be from 1 to 100"
	if cfg.Type == BalancedAllocation {
		most, allowed = 1, "must be 1"
	}
	var rules []kubeRule
	names, indexes := map[string]bool{}, map[int]bool{}
	for i, resource := range cfg.Resources {
		name, weight := path.Index(i).Child("name"), path.Index(i).Child("weight")
		if resource.Weight < 1 || resource.Weight > most {
			r.fail(field.Invalid(weight, resource.Weight, allowed))
		}
		index, known := m.Index(resource.Name)
		switch {
		case resource.Name == "":
			r.fail(field.Required(name, ""))
		case known && index == vectormap.Pods:
			r.fail(invalid(name.String(), resource.Name, "kube-scheduler does not score pods"))
		case names[resource.Name] || known && indexes[index]:
			r.fail(duplicate(name.String(), resource.Name))
		case known:
			rules = append(rules, newKubeRule(m, index, resource.Weight))
		default:
			r.lookup(m, o, name.String(), resource.Name)
		}
		names[resource.Name] = true
		if known {
			indexes[index] = true
		}
	}
	return rules
}

// newKubeRule returns the rule of an index of the map.
func newKubeRule(m *vectormap.ResourceVectorMap, index int, weight int64) kubeRule {
	rule := kubeRule{index: index, weight: float64(weight), scale: 1}
	if m.Unit(index) == vectormap.UnitMilli {
		rule.scale = 1000
	}
	rule.always = index == vectormap.CPU || index == vectormap.Memory || m.Name(index) == "ephemeral-storage"
	return rule
}

// checkShape checks the points of a shape, and that there is one where it is
// needed.
func (r *report) checkShape(cfg *KubeConfig) {
	path := field.NewPath("shape")
	if cfg.Type == RequestedToCapacityRatio && len(cfg.Shape) == 0 {
		r.fail(field.Required(path, "at least one point must be given"))
	}
	if cfg.Type != RequestedToCapacityRatio && len(cfg.Shape) > 0 {
		r.warn(field.Forbidden(path, "only RequestedToCapacityRatio has a shape"))
	}
	for i, p := range cfg.Shape {
		utilization, score := path.Index(i).Child("utilization"), path.Index(i).Child("score")
		switch {
		case p.Utilization < 0 || p.Utilization > 100:
			r.fail(field.Invalid(utilization, p.Utilization, "must be from 0 to 100"))
		case i > 0 && p.Utilization <= cfg.Shape[i-1].Utilization:
			r.fail(field.Invalid(utilization, p.Utilization, "must be above the one before"))
		}
		if p.Score < 0 || p.Score > 10 {
			r.fail(field.Invalid(score, p.Score, "must be from 0 to 10"))
		}
	}
}

// brokenLine returns factor times the score of the line through the points at
// utilization v, each step rounded toward the point before.
func brokenLine(points []ShapePoint, factor, v int64) int64 {
	for i, p := range points {
		if v > p.Utilization {
			continue
		}
		if i == 0 {
			return factor * p.Score
		}
		from := points[i-1]
		rise, run := factor*(p.Score-from.Score), p.Utilization-from.Utilization
		return factor*from.Score + rise*(v-from.Utilization)/run
	}
	return factor * points[len(points)-1].Score
}
