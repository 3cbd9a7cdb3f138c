package profile

import (
	"fmt"

	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// Plugin is the name of a plugin of kube-scheduler.
type Plugin string

// The plugins that a [Profile] answers for.
const (
	NodeUnschedulable               Plugin = "NodeUnschedulable"
	NodeName                        Plugin = "NodeName"
	TaintToleration                 Plugin = "TaintToleration"
	NodeAffinity                    Plugin = "NodeAffinity"
	NodePorts                       Plugin = "NodePorts"
	NodeResourcesFit                Plugin = "NodeResourcesFit"
	NodeResourcesBalancedAllocation Plugin = "NodeResourcesBalancedAllocation"
	PodTopologySpread               Plugin = "PodTopologySpread"
	InterPodAffinity                Plugin = "InterPodAffinity"
	ImageLocality                   Plugin = "ImageLocality"
)

// Config is what kube-scheduler's configuration says of these plugins. The zero value is
// its default profile, of Kubernetes v1.37.
type Config struct {
	// Minor is the minor version of Kubernetes, 36 or 37; 0 is 37. They differ in
	// two things. In v1.36 a namespaceSelector of the pod's own terms that matches a
	// namespace without labels matches all namespaces, and the images of volumes aren't
	// counted in the number of images that ImageLocality divides by.
	Minor int

	// Weights are the weights of the scores of TaintToleration, NodeAffinity,
	// PodTopologySpread, InterPodAffinity and ImageLocality: nil is 3, 2, 2, 2 and 1. A
	// plugin that isn't there doesn't score. The weights of resources stand in their [Term].
	Weights map[Plugin]int64

	// DefaultConstraints, which must not change, are PodTopologySpread's for pods that have none of their own: nil
	// is defaultingType System, another list, also an empty one, defaultingType List.
	DefaultConstraints []corev1.TopologySpreadConstraint

	// HardPodAffinityWeight is what the required affinity of existing pods counts, 0 to 100;
	// nil is 1.
	HardPodAffinityWeight *int32

	// IgnorePreferredTermsOfExistingPods leaves out the terms of existing pods, for pods
	// that prefer nothing themselves.
	IgnorePreferredTermsOfExistingPods bool

	// AddedAffinity is NodeAffinity's for all pods; nil is none.
	AddedAffinity *corev1.NodeAffinity

	// ComparisonOperators are the tolerations Lt and Gt: the feature gate
	// TaintTolerationComparisonOperators, off by default.
	ComparisonOperators bool
}

// Term is a score of resources: of NodeResourcesFit, NodeResourcesBalancedAllocation, or
// another in their place.
type Term struct {
	Plugin Plugin
	Weight int64

	// Scores sets dst, of an element a row, to whole numbers from 0 to 100 for the
	// given rows: those that are feasible. A [*scoring.Bound] does.
	Scores interface {
		ScorePercent(dst []int64, pod vector.PodAmounts, rows *vector.Mask) error
	}
}

// DefaultTerms returns kube-scheduler's default scores of resources: LeastAllocated of cpu
// and memory by scored amounts, and BalancedAllocation of both, each of weight 1. The nodes
// keep scored amounts ([vector.WithScored]) and are of the map m.
func DefaultTerms(m *vectormap.ResourceVectorMap, nodes *vector.Nodes) ([]Term, error) {
	resources := []scoring.KubeResource{{Name: "cpu", Weight: 1}, {Name: "memory", Weight: 1}}
	fit, err := scoring.CompileKube(scoring.KubeConfig{Type: scoring.LeastAllocated, Resources: resources}, m)
	if err != nil {
		return nil, err
	}
	balanced, err := scoring.CompileKube(scoring.KubeConfig{Type: scoring.BalancedAllocation, Resources: resources}, m)
	if err != nil {
		return nil, err
	}
	scored, err := scoring.Combine([]scoring.Term{{Scorer: fit, Weight: 1, Scored: true}})
	if err != nil {
		return nil, err
	}
	return []Term{
		{Plugin: NodeResourcesFit, Weight: 1, Scores: scoring.Bind(scored, nodes)},
		{Plugin: NodeResourcesBalancedAllocation, Weight: 1, Scores: scoring.Bind(balanced, nodes)},
	}, nil
}

var weightRange = fmt.Sprintf("must be from 0 to %d", int64(maxWeight))

// settings is a checked Config.
type settings struct {
	minor       int
	weights     [weighted]int64
	defaults    []corev1.TopologySpreadConstraint
	system      bool // the defaults are defaultingType System
	hardWeight  int64
	ignore      bool
	added       *nodeaffinity.NodeSelector
	preferred   *nodeaffinity.PreferredSchedulingTerms
	comparisons bool
}

// The plugins that have a weight, in the order in which they are explained.
const (
	weighTaints = iota
	weighAffinity
	weighSpread
	weighPods
	weighImages
	weighted
)

// weightedPlugins are their names, and the default weights.
var weightedPlugins = [weighted]struct {
	name   Plugin
	weight int64
}{{TaintToleration, 3}, {NodeAffinity, 2}, {PodTopologySpread, 2}, {InterPodAffinity, 2}, {ImageLocality, 1}}

// maxWeight is the largest weight that kube-scheduler takes: sums stay below 2^63.
const maxWeight = (1<<63 - 1) / 100 / 64

// check returns the settings, or all faults of a configuration.
func (cfg *Config) check() (s settings, faults field.ErrorList) {
	s = settings{
		minor: cfg.Minor, hardWeight: 1,
		ignore: cfg.IgnorePreferredTermsOfExistingPods, comparisons: cfg.ComparisonOperators,
	}
	switch cfg.Minor {
	case 0:
		s.minor = 37
	case 36, 37:
	default:
		faults = append(faults, field.Invalid(field.NewPath("minor"), cfg.Minor, "must be 36 or 37"))
	}
	faults = append(faults, s.setWeights(cfg.Weights)...)
	faults = append(faults, s.setDefaults(cfg.DefaultConstraints)...)
	if w := cfg.HardPodAffinityWeight; w != nil {
		if s.hardWeight = int64(*w); *w < 0 || *w > 100 {
			faults = append(faults, field.Invalid(field.NewPath("hardPodAffinityWeight"), *w, "must be from 0 to 100"))
		}
	}
	return s, append(faults, s.setAdded(cfg.AddedAffinity)...)
}

// checkTerms returns the faults of scores of resources.
func checkTerms(terms []Term) (faults field.ErrorList) {
	for i, t := range terms {
		path := field.NewPath("terms").Index(i)
		if t.Scores == nil {
			faults = append(faults, field.Required(path.Child("scores"), ""))
		}
		if t.Weight < 0 || t.Weight > maxWeight {
			faults = append(faults, field.Invalid(path.Child("weight"), t.Weight, weightRange))
		}
	}
	return faults
}

func (s *settings) setWeights(weights map[Plugin]int64) (faults field.ErrorList) {
	known := map[Plugin]bool{}
	for i, p := range weightedPlugins {
		known[p.name] = true
		if weights == nil {
			s.weights[i] = p.weight
		} else {
			s.weights[i] = weights[p.name]
		}
	}
	for _, name := range sortedKeys(weights) {
		path := field.NewPath("weights").Key(string(name))
		switch weight := weights[name]; {
		case !known[name]:
			faults = append(faults, field.Invalid(path, weight, "no plugin with a weight here"))
		case weight < 0 || weight > maxWeight:
			faults = append(faults, field.Invalid(path, weight, weightRange))
		}
	}
	return faults
}

// setDefaults checks constraints as kube-scheduler's validation of its arguments does.
func (s *settings) setDefaults(constraints []corev1.TopologySpreadConstraint) (faults field.ErrorList) {
	if s.system = constraints == nil; s.system {
		s.defaults = []corev1.TopologySpreadConstraint{
			{TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.ScheduleAnyway, MaxSkew: 3},
			{TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.ScheduleAnyway, MaxSkew: 5},
		}
		return nil
	}
	s.defaults = constraints
	for i := range constraints {
		c, path := &constraints[i], field.NewPath("defaultConstraints").Index(i)
		if c.MaxSkew <= 0 {
			faults = append(faults, field.Invalid(path.Child("maxSkew"), c.MaxSkew, "must be greater than 0"))
		}
		if c.TopologyKey == "" {
			faults = append(faults, field.Required(path.Child("topologyKey"), ""))
		} else {
			faults = append(faults, validation.ValidateLabelName(c.TopologyKey, path.Child("topologyKey"))...)
		}
		if c.LabelSelector != nil {
			why := "the selector follows from services and owners"
			faults = append(faults, field.Forbidden(path.Child("labelSelector"), why))
		}
		switch c.WhenUnsatisfiable {
		case corev1.DoNotSchedule, corev1.ScheduleAnyway:
		default:
			faults = append(faults, field.NotSupported(path.Child("whenUnsatisfiable"), c.WhenUnsatisfiable,
				[]corev1.UnsatisfiableConstraintAction{corev1.DoNotSchedule, corev1.ScheduleAnyway}))
		}
		for _, before := range constraints[:i] {
			if before.TopologyKey == c.TopologyKey && before.WhenUnsatisfiable == c.WhenUnsatisfiable {
				faults = append(faults, field.Duplicate(path, fmt.Sprintf("{%s, %s}", c.TopologyKey, c.WhenUnsatisfiable)))
				break
			}
		}
	}
	return faults
}

func (s *settings) setAdded(added *corev1.NodeAffinity) (faults field.ErrorList) {
	if added == nil {
		return nil
	}
	path := field.NewPath("addedAffinity")
	var err error
	if required := added.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
		at := path.Child("requiredDuringSchedulingIgnoredDuringExecution")
		if s.added, err = nodeaffinity.NewNodeSelector(required, field.WithPath(at)); err != nil {
			faults = append(faults, vectormap.Faults(nil, err)...)
		}
	}
	if terms := added.PreferredDuringSchedulingIgnoredDuringExecution; len(terms) > 0 {
		at := path.Child("preferredDuringSchedulingIgnoredDuringExecution")
		if s.preferred, err = nodeaffinity.NewPreferredSchedulingTerms(terms, field.WithPath(at)); err != nil {
			faults = append(faults, vectormap.Faults(nil, err)...)
		}
	}
	return faults
}
