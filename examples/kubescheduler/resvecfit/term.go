package resvecfit

import (
	"cmp"
	"maps"
	"slices"

	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// term is a parsed [Term], and the scorer that it is compiled to.
type term struct {
	weight    int64
	normalize scoring.Normalization
	scored    bool     // by amounts with the least ones per container, as NodeResourcesFit
	names     []string // the resources that it names

	compile func(*vectormap.ResourceVectorMap) (scoring.Scorer, error)
}

// trueTotal returns what a pod requests.
func trueTotal(pod *corev1.Pod, podLevel bool) corev1.ResourceList {
	return vectormap.PodRequests(pod, vectormap.PodOptions{SkipPodLevelResources: !podLevel, UseStatusResources: true})
}

// scoredTotal returns what a pod requests with the least amounts per container.
// NodeResourcesFit scores with the containers, whatever the pod level says.
func scoredTotal(pod *corev1.Pod) corev1.ResourceList {
	return vectormap.PodRequests(pod, vectormap.PodOptions{SkipPodLevelResources: true, KubeScoringDefaults: true})
}

// total returns what the term counts a pod as.
func (t *term) total(pod *corev1.Pod, podLevel bool) corev1.ResourceList {
	if t.scored {
		return scoredTotal(pod)
	}
	return trueTotal(pod, podLevel)
}

// podAmounts returns what the terms of a scorer count a pod as.
func (s *scorer) podAmounts(c *cluster, pod *corev1.Pod) (amounts vector.PodAmounts) {
	for i := range s.terms {
		switch scored := s.terms[i].scored; {
		case scored && amounts.Scored == nil:
			amounts.Scored = c.request(scoredTotal(pod))
		case !scored && amounts.Requested == nil:
			amounts.Requested = c.request(trueTotal(pod, s.podLevel))
		}
	}
	return amounts
}

// request returns a total as a vector; what has no column is on no node.
func (c *cluster) request(list corev1.ResourceList) vector.ResourceVector {
	v := c.m.NearestVector(nil, list)
	v[vectormap.Pods] = 1
	return v
}

// parse reads the term.
func (t *Term) parse(path *field.Path) (*term, field.ErrorList) {
	var faults field.ErrorList
	parsed := &term{weight: cmp.Or(t.Weight, 1)}
	if parsed.weight < 1 || parsed.weight > 100 {
		faults = append(faults, field.Invalid(path.Child("weight"), t.Weight, "must be from 1 to 100"))
	}
	kinds := 0
	for _, is := range []bool{given(t.Kube), given(t.Strategy), given(t.Load)} {
		if is {
			kinds++
		}
	}
	normalize := cmp.Or(t.Normalize, "None")
	switch {
	case kinds != 1:
		faults = append(faults, field.Required(path, "exactly one of kube, strategy and load must be given"))
	case given(t.Kube):
		faults = append(faults, parsed.kube(t.Kube, path.Child("kube"))...)
	case given(t.Strategy):
		normalize = cmp.Or(t.Normalize, "Max")
		faults = append(faults, parsed.strategy(t.Strategy, path.Child("strategy"))...)
		if normalize == "None" {
			faults = append(faults, field.Invalid(path.Child("normalize"), normalize, "a strategy has no fixed range: must be Max, MinMax or Reverse"))
		}
	default:
		faults = append(faults, parsed.load(t.Load, path.Child("load"))...)
	}
	switch parsed.normalize = scoring.Normalization(normalize); parsed.normalize {
	case "None":
		parsed.normalize = ""
	case scoring.NormalizeMinMax, scoring.NormalizeMax, scoring.NormalizeReverse:
	default:
		faults = append(faults, field.NotSupported(path.Child("normalize"), t.Normalize, []string{"None", "Max", "MinMax", "Reverse"}))
	}
	if len(faults) > 0 {
		return nil, faults
	}
	return parsed, nil
}

func (t *term) kube(document []byte, path *field.Path) field.ErrorList {
	cfg, err := scoring.ParseScoringStrategy(document)
	if err != nil {
		return vectormap.Faults(path, err)
	}
	t.scored = cfg.Type != scoring.BalancedAllocation
	for _, r := range cfg.Resources {
		t.names = append(t.names, r.Name)
	}
	t.compile = func(m *vectormap.ResourceVectorMap) (scoring.Scorer, error) {
		return scoring.CompileKube(*cfg, m, scoring.AllowUnknown)
	}
	return t.tryCompile(path)
}

func (t *term) strategy(document []byte, path *field.Path) field.ErrorList {
	cfg, _, err := scoring.ParseArguments(document)
	if err != nil {
		return vectormap.Faults(path, err)
	}
	if cfg.Proportional != nil {
		return field.ErrorList{field.Forbidden(path.Child("proportional"), "it is a predicate: give it as proportional of the plugin")}
	}
	t.compile = func(m *vectormap.ResourceVectorMap) (scoring.Scorer, error) {
		return scoring.CompileStrategy(*cfg, m, scoring.AllowUnknown)
	}
	return t.tryCompile(path)
}

func (t *term) load(document []byte, path *field.Path) field.ErrorList {
	cfg, err := scoring.ParseLoad(document)
	if err != nil {
		return vectormap.Faults(path, err)
	}
	if cfg.Direction == scoring.Raw {
		return field.ErrorList{field.NotSupported(path.Child("direction"), cfg.Direction, []scoring.ScoringType{scoring.Spread, scoring.Pack})}
	}
	if cfg.Weights == nil {
		cfg.Weights = map[string]float64{"cpu": 1, "memory": 1}
	}
	t.names = slices.Sorted(maps.Keys(cfg.Weights))
	t.compile = func(m *vectormap.ResourceVectorMap) (scoring.Scorer, error) {
		return scoring.CompileLoad(*cfg, m, scoring.AllowUnknown)
	}
	return t.tryCompile(path)
}

// tryCompile reports the faults of a term's values.
func (t *term) tryCompile(path *field.Path) field.ErrorList {
	return tryCompile(path, func(m *vectormap.ResourceVectorMap) error {
		_, err := t.compile(m)
		return err
	})
}

// tryCompile reports the faults that a configuration has with any map.
func tryCompile(path *field.Path, compile func(*vectormap.ResourceVectorMap) error) field.ErrorList {
	m, err := vectormap.New(nil, vectormap.NoFold())
	if err != nil {
		return field.ErrorList{field.InternalError(path, err)}
	}
	return vectormap.Faults(path, compile(m))
}
