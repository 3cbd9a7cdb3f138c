package resvecfit

import (
	"context"
	"fmt"
	"slices"

	"github.com/resvec/resvec/scoring/profile"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
)

// InterPodAffinityName is the name of the plugin [InterPodAffinity] in the configuration of
// kube-scheduler.
const InterPodAffinityName = "ResvecInterPodAffinity"

// InterPodAffinity takes the place of the plugin of this name: same verdicts, codes, reasons
// and scores, from counts that are kept. It needs a [Plugin] in the same profile, before it
// at preFilter. Feature gates count as by default.
type InterPodAffinity struct {
	replacement[*profile.Affinity]
}

var (
	_ fwk.PreFilterPlugin     = (*InterPodAffinity)(nil)
	_ fwk.FilterPlugin        = (*InterPodAffinity)(nil)
	_ fwk.PreFilterExtensions = (*InterPodAffinity)(nil)
	_ fwk.PreScorePlugin      = (*InterPodAffinity)(nil)
	_ fwk.ScorePlugin         = (*InterPodAffinity)(nil)
	_ fwk.ScoreExtensions     = (*InterPodAffinity)(nil)
	_ fwk.SignPlugin          = (*InterPodAffinity)(nil)
	_ fwk.EnqueueExtensions   = (*InterPodAffinity)(nil)
)

// InterPodAffinityArgs is the configuration of [InterPodAffinity], as the plugin has it that
// it replaces.
type InterPodAffinityArgs struct {
	// HardPodAffinityWeight is what required affinity of existing pods scores, 0 to 100; the
	// default is 1.
	HardPodAffinityWeight *int32 `json:"hardPodAffinityWeight,omitempty"`

	// IgnorePreferredTermsOfExistingPods leaves existing pods' terms out of the scores of
	// pods that prefer nothing.
	IgnorePreferredTermsOfExistingPods bool `json:"ignorePreferredTermsOfExistingPods,omitempty"`
}

// NewInterPodAffinity makes the plugin from the args of its pluginConfig. It is a
// PluginFactory of kube-scheduler's runtime.
func NewInterPodAffinity(_ context.Context, obj runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
	var args InterPodAffinityArgs
	if err := decode(obj, &args); err != nil {
		return nil, err
	}
	r, err := newReplacement[*profile.Affinity](handle, InterPodAffinityName, profile.InterPodAffinity, profile.Config{
		HardPodAffinityWeight:              args.HardPodAffinityWeight,
		IgnorePreferredTermsOfExistingPods: args.IgnorePreferredTermsOfExistingPods,
	})
	if err != nil {
		return nil, err
	}
	return &InterPodAffinity{r}, nil
}

// only returns the part of a pod that the plugin reads, with all metadata. Faults in the rest
// are for other plugins to find.
func (*InterPodAffinity) only(pod *corev1.Pod) *corev1.Pod {
	part := &corev1.Pod{ObjectMeta: pod.ObjectMeta}
	if a := pod.Spec.Affinity; a != nil {
		part.Spec.Affinity = &corev1.Affinity{PodAffinity: a.PodAffinity, PodAntiAffinity: a.PodAntiAffinity}
	}
	return part
}

// termFaults returns the faults of a pod's terms, in kube-scheduler's words.
func termFaults(pod *corev1.Pod) error {
	var faults []error
	note := func(which string, err error) {
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", which, err))
		}
	}
	a := pod.Spec.Affinity
	_, err := fwk.GetAffinityTerms(pod, fwk.GetPodAffinityTerms(a))
	note("requiredAffinityTerms", err)
	_, err = fwk.GetAffinityTerms(pod, fwk.GetPodAntiAffinityTerms(a))
	note("requiredAntiAffinityTerms", err)
	if a != nil && a.PodAffinity != nil {
		_, err = fwk.GetWeightedAffinityTerms(pod, a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
		note("preferredAffinityTerms", err)
	}
	if a != nil && a.PodAntiAffinity != nil {
		_, err = fwk.GetWeightedAffinityTerms(pod, a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
		note("preferredAntiAffinityTerms", err)
	}
	return utilerrors.NewAggregate(faults)
}

// PreFilter asks whether nodes meet what the pod requires, and what existing pods require of
// it. It skips pods of which nothing is required.
func (a *InterPodAffinity) PreFilter(_ context.Context, cycle fwk.CycleState, pod *corev1.Pod, _ []fwk.NodeInfo) (
	*fwk.PreFilterResult, *fwk.Status) {
	if isResized(pod) {
		return nil, fwk.NewStatus(fwk.Skip)
	}
	status := a.preFilter(cycle, a.only(pod), (*profile.Profile).Affinity)
	if status.Code() == fwk.Error {
		if err := termFaults(pod); err != nil {
			status = fwk.NewStatus(fwk.UnschedulableAndUnresolvable, fmt.Sprintf("parsing pod: %+v", err))
		}
	}
	return nil, status
}

// PreScore scores nodes by what the pod prefers, and what existing pods prefer and require.
// It skips pods of which nothing is preferred.
func (a *InterPodAffinity) PreScore(_ context.Context, cycle fwk.CycleState, pod *corev1.Pod,
	nodes []fwk.NodeInfo) *fwk.Status {
	return a.preScore(cycle, a.only(pod), nodes)
}

// SignPod signs no pod that has terms, and of others the labels, by which existing pods select
// them, as the plugin that is replaced.
func (a *InterPodAffinity) SignPod(_ context.Context, pod *corev1.Pod) ([]fwk.SignFragment, *fwk.Status) {
	switch terms := pod.Spec.Affinity; {
	case terms != nil && (terms.PodAffinity != nil || terms.PodAntiAffinity != nil):
		return nil, fwk.NewStatus(fwk.Unschedulable, "pods with InterPodAffinity are not signable")
	case a.config.IgnorePreferredTermsOfExistingPods:
		return nil, nil
	}
	return []fwk.SignFragment{{Key: fwk.LabelsSignerName, Value: pod.Labels}}, nil
}

// EventsToRegister returns the events that may make room for a pod: pods that come, go, or
// get other labels, nodes that come or get other labels. It also logs likely mistakes in the
// profile, as [Plugin.EventsToRegister] does.
func (a *InterPodAffinity) EventsToRegister(ctx context.Context) ([]fwk.ClusterEventWithHint, error) {
	a.warn(ctx)
	return []fwk.ClusterEventWithHint{
		{
			Event:          fwk.ClusterEvent{Resource: fwk.Pod, ActionType: fwk.Add | fwk.Delete | fwk.UpdatePodLabel},
			QueueingHintFn: a.afterPod,
		},
		{
			Event:          fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add | fwk.UpdateNodeLabel},
			QueueingHintFn: a.afterNode,
		},
	}, nil
}

// requiredTerms returns the terms that a pod requires.
func requiredTerms(pod *corev1.Pod) (affinity, anti []fwk.AffinityTerm, err error) {
	if affinity, err = fwk.GetAffinityTerms(pod, fwk.GetPodAffinityTerms(pod.Spec.Affinity)); err != nil {
		return nil, nil, err
	}
	anti, err = fwk.GetAffinityTerms(pod, fwk.GetPodAntiAffinityTerms(pod.Spec.Affinity))
	return affinity, anti, err
}

// afterPod says whether a pod that came, went or changed may make room. v1.36 and v1.37 have
// different rules: what one of them calls for does here.
func (a *InterPodAffinity) afterPod(_ klog.Logger, pod *corev1.Pod, before, after any) (fwk.QueueingHint, error) {
	old, now, err := objects[*corev1.Pod](before, after)
	switch {
	case err != nil:
		return fwk.Queue, err
	case old != nil && now != nil && now.UID == pod.UID:
		return fwk.Queue, nil // existing pods may no longer select it
	case old != nil && !isPlaced(old) || now != nil && !isPlaced(now):
		return fwk.QueueSkip, nil
	}
	affinity, anti, err := requiredTerms(pod)
	if err != nil {
		return fwk.Queue, err
	}
	meets := func(p *corev1.Pod) bool {
		fails := func(t fwk.AffinityTerm) bool { return !t.Matches(p, nil) }
		return p != nil && len(affinity) > 0 && !slices.ContainsFunc(affinity, fails)
	}
	freed := old != nil && slices.ContainsFunc(anti, func(t fwk.AffinityTerm) bool {
		return t.Matches(old, nil) && (now == nil || !t.Matches(now, nil))
	})
	if meets(now) && !meets(old) || freed {
		return fwk.Queue, nil
	}
	if now != nil {
		return fwk.QueueSkip, nil
	}
	_, rejects, err := requiredTerms(old)
	selects := func(t fwk.AffinityTerm) bool { return t.Matches(pod, nil) }
	return queueIf(err != nil || slices.ContainsFunc(rejects, selects)), err
}

// afterNode says whether a node that came, or got other labels, may make room.
func (a *InterPodAffinity) afterNode(_ klog.Logger, pod *corev1.Pod, before, after any) (fwk.QueueingHint, error) {
	old, now, err := objects[*corev1.Node](before, after)
	if err != nil || now == nil {
		return fwk.Queue, err
	}
	affinity, anti, err := requiredTerms(pod)
	if err != nil {
		return fwk.Queue, err
	}
	if old == nil {
		joins := func(t fwk.AffinityTerm) bool {
			_, ok := now.Labels[t.TopologyKey]
			return ok
		}
		return queueIf(len(anti) > 0 || slices.ContainsFunc(affinity, joins)), nil
	}
	moved := func(t fwk.AffinityTerm) (was, is, other bool) {
		from, was := old.Labels[t.TopologyKey]
		to, is := now.Labels[t.TopologyKey]
		return was, is, from != to
	}
	return queueIf(slices.ContainsFunc(affinity, func(t fwk.AffinityTerm) bool {
		was, is, other := moved(t)
		return is && (!was || other)
	}) || slices.ContainsFunc(anti, func(t fwk.AffinityTerm) bool {
		was, is, other := moved(t)
		return was && (!is || other)
	})), nil
}
