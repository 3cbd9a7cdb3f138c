package resvecfit

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/resvec/resvec/examples/kubescheduler/resvecfit/cardquota"
	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vectormap"
	"k8s.io/apimachinery/pkg/runtime"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	fwk "k8s.io/kube-scheduler/framework"
	kubejson "sigs.k8s.io/json"
)

// Args is the configuration of the plugin, the args of its entry in a profile's
// pluginConfig. The zero value is NodeResourcesFit with its defaults.
type Args struct {
	// IgnoredResources and IgnoredResourceGroups are extended resources, by name
	// and by what stands before the slash, that Filter does not compare.
	IgnoredResources      []string `json:"ignoredResources,omitempty"`
	IgnoredResourceGroups []string `json:"ignoredResourceGroups,omitempty"`

	// PodLevelResources and DRAExtendedResource have to say what the feature gates
	// of these names do, which a plugin can't ask for. Both default to true, as the
	// gates do. With DRAExtendedResource, a node that lacks an extended resource
	// which a DeviceClass provides is left to the plugin DynamicResources; it needs
	// a scheduler with the gate DynamicResourceAllocation.
	PodLevelResources   *bool `json:"podLevelResources,omitempty"`
	DRAExtendedResource *bool `json:"draExtendedResource,omitempty"`

	// GangScheduling has to say what the feature gates do that gangs need, GenericWorkload
	// and, in Kubernetes v1.36, GangScheduling. It defaults to false, as the gates do.
	// With it, a gang that fits nowhere, whatever preemption does, is refused before
	// nodes are looked at for its members.
	GangScheduling bool `json:"gangScheduling,omitempty"`

	// VisitPercent is how many of all nodes PreFilter names at most, in percent;
	// when more can hold the pod it names none, and the framework looks for them.
	// 0 never names nodes. The default is 25. Measured with 5,000 nodes, naming stops
	// to pay between 30 and 40 with the default percentageOfNodesToScore, and beyond
	// 50 with 100.
	//
	// The framework scores only a part of the nodes that are named, too. So nodes that can't
	// hold the pod are named with the others, as many as it takes to have no fewer nodes
	// scored than if none were named, and where that is more than half of all nodes none
	// are. This holds for the default percentageOfNodesToScore, for 100, and for any other
	// in the profile; a plugin can't see the one of all profiles.
	VisitPercent *int32 `json:"visitPercent,omitempty"`

	// TopK has only the k nodes with the best scores visited, when more can hold
	// the pod. The other plugins choose among these k, so that what they prefer is lost
	// where the best nodes lack it. The README of the scheduler says how often; it
	// recommends 100 for pods that prefer nothing but to be spread. Up to 100, all k are
	// scored whatever percentageOfNodesToScore is. Of more, the framework scores that part
	// of k, at least 100, in no order: by default 100 of 200, and 230 of 500. 0, the
	// default, is off.
	//
	// It needs the plugin at postFilter, before DefaultPreemption and all others that may
	// evict pods: see [Plugin.CheckProfile].
	TopK int32 `json:"topK,omitempty"`

	// Exact has one node visited: a best one of all that are feasible, as kube-scheduler's own
	// plugins would choose it if they scored all nodes, whatever percentageOfNodesToScore
	// says. [profile.Profile] keeps what that takes. Some pods are decided without it, see the
	// package documentation. It needs the plugin first at postFilter, as TopK
	// does, and only plugins of Kubernetes and of this package at preFilter, filter and score.
	// The default is false.
	Exact bool `json:"exact,omitempty"`

	// ExactArgs say how other plugins of the profile are configured, for Exact.
	ExactArgs ExactArgs `json:"exactArgs,omitempty"`

	// Proportional keeps cpu and memory in reserve for idle devices: the section of
	// this name in the arguments of Volcano's plugin resource-strategy-fit; see
	// [scoring.Proportional].
	Proportional json.RawMessage `json:"proportional,omitempty"`

	// CardQuota charges pods to queues that may use so many cards of each kind. In a
	// scheduler with several profiles only one may have it; others share a ledger
	// that [Factory] is given.
	CardQuota *cardquota.Config `json:"cardQuota,omitempty"`

	// Scoring are the terms of the score. It is their mean by weight, truncated;
	// a single term of kube keeps its own score. The default is LeastAllocated of
	// cpu and memory.
	Scoring []Term `json:"scoring,omitempty"`

	// Events says whether refusals are reported as events, with amounts, in
	// addition to kube-scheduler's events. The default is true.
	Events *bool `json:"events,omitempty"`
}

// Term is one scorer. Exactly one of Kube, Strategy and Load is set.
type Term struct {
	Weight int64 `json:"weight,omitempty"` // 1 to 100; 0 is 1

	// Normalize is None, Max, MinMax or Reverse; see [scoring.NormalizeScores]. A
	// term of Strategy has no fixed range: its default is Max, and None an error.
	Normalize string `json:"normalize,omitempty"`

	// Kube is a scoringStrategy of NodeResourcesFit. The type may also be
	// BalancedAllocation, which makes the term NodeResourcesBalancedAllocation.
	Kube json.RawMessage `json:"kube,omitempty"`

	// Strategy are the arguments of Volcano's plugin resource-strategy-fit, with
	// sra, and without proportional, which is a predicate. The pod's annotations
	// override its rules; see [scoring.ParsePodOverride].
	Strategy json.RawMessage `json:"strategy,omitempty"`

	// Load configures a [scoring.Load], see [scoring.ParseLoad]. Its direction is
	// Spread or Pack. The default weights are 1 for cpu and memory.
	Load json.RawMessage `json:"load,omitempty"`
}

const defaultKube = `{"type":"LeastAllocated","resources":[{"name":"cpu"},{"name":"memory"}]}`

func (a *Args) podLevelResources() bool { return a.PodLevelResources == nil || *a.PodLevelResources }
func (a *Args) draExtendedResource() bool {
	return a.DRAExtendedResource == nil || *a.DRAExtendedResource
}

// narrowing returns the arguments by which nodes that could hold a pod are left out.
func (a *Args) narrowing() (options []string) {
	if a.TopK > 0 {
		options = append(options, "topK")
	}
	if a.Exact {
		options = append(options, "exact")
	}
	return options
}

func (a *Args) events() bool { return a.Events == nil || *a.Events }

func (a *Args) visitPercent() int32 {
	if a.VisitPercent == nil {
		return 25
	}
	return *a.VisitPercent
}

// DecodeArgs reads the arguments that kube-scheduler hands to a plugin: nil for
// none, or a *runtime.Unknown with JSON. It is strict, and all unknown and repeated
// fields are reported at once. What the values mean is checked by [NewWith].
func DecodeArgs(obj runtime.Object) (*Args, error) {
	args := &Args{}
	return args, decode(obj, args)
}

func decode(obj runtime.Object, into any) error {
	if obj == nil {
		return nil
	}
	unknown, ok := obj.(*runtime.Unknown)
	if !ok {
		return fmt.Errorf("want args of type *runtime.Unknown, got %T", obj)
	}
	if len(unknown.Raw) == 0 {
		return nil
	}
	strict, err := kubejson.UnmarshalStrict(unknown.Raw, into)
	if err != nil {
		return fmt.Errorf("args: %w", err)
	}
	if len(strict) > 0 {
		return fmt.Errorf("args: %w", utilerrors.NewAggregate(strict))
	}
	return nil
}

// validate checks what can be checked without the documents inside.
func (a *Args) validate() field.ErrorList {
	var faults field.ErrorList
	path := field.NewPath("ignoredResources")
	for i, name := range a.IgnoredResources {
		for _, fault := range validation.IsQualifiedName(name) {
			faults = append(faults, field.Invalid(path.Index(i), name, fault))
		}
	}
	path = field.NewPath("ignoredResourceGroups")
	for i, name := range a.IgnoredResourceGroups {
		if strings.Contains(name, "/") {
			faults = append(faults, field.Invalid(path.Index(i), name, "must be what stands before the slash of resource names"))
			continue
		}
		for _, fault := range validation.IsQualifiedName(name) {
			faults = append(faults, field.Invalid(path.Index(i), name, fault))
		}
	}
	if v := a.visitPercent(); v < 0 || v > 100 {
		faults = append(faults, field.Invalid(field.NewPath("visitPercent"), v, "must be from 0 to 100"))
	}
	if a.TopK < 0 {
		faults = append(faults, field.Invalid(field.NewPath("topK"), a.TopK, "must not be negative"))
	}
	return append(faults, a.ExactArgs.validate(field.NewPath("exactArgs"))...)
}

// validateQuota checks the card quota, which takes the place of a ledger.
func (a *Args) validateQuota(ledger Ledger) field.ErrorList {
	path := field.NewPath("cardQuota")
	switch {
	case a.CardQuota == nil:
		return nil
	case ledger != nil:
		return field.ErrorList{field.Forbidden(path, "this scheduler has a ledger of its own")}
	}
	return a.CardQuota.Validate(path)
}

// ledger returns the ledger to use: the one that is given, or the card
// quota's.
func (a *Args) ledger(ledger Ledger, handle fwk.Handle) (Ledger, error) {
	if a.CardQuota == nil {
		return ledger, nil
	}
	made, err := cardquota.New(a.CardQuota, handle.SharedInformerFactory())
	if err != nil {
		return nil, vectormap.Faults(field.NewPath("cardQuota"), err).ToAggregate()
	}
	return made, nil
}

// given reports whether a document is there; null is none.
func given(document json.RawMessage) bool {
	return len(document) > 0 && string(document) != "null"
}

// parseProportional reads the predicate's document; nil when there is none.
func (a *Args) parseProportional() (*scoring.ProportionalConfig, field.ErrorList) {
	path := field.NewPath("proportional")
	if !given(a.Proportional) {
		return nil, nil
	}
	arguments, _, err := scoring.ParseArguments(slices.Concat([]byte(`{"proportional":`), a.Proportional, []byte("}")))
	if err != nil {
		return nil, vectormap.Faults(nil, err)
	}
	cfg := arguments.Proportional
	if cfg == nil {
		return nil, nil // it is off
	}
	return cfg, tryCompile(path, func(m *vectormap.ResourceVectorMap) error {
		_, err := scoring.CompileProportional(*cfg, m, scoring.AllowUnknown)
		return err
	})
}

// parseTerms reads the terms of the score.
func (a *Args) parseTerms() (terms []term, faults field.ErrorList) {
	list := a.Scoring
	if len(list) == 0 {
		list = []Term{{Kube: []byte(defaultKube)}}
	}
	for i := range list {
		t, more := list[i].parse(field.NewPath("scoring").Index(i))
		if faults = append(faults, more...); t != nil {
			terms = append(terms, *t)
		}
	}
	return terms, faults
}
