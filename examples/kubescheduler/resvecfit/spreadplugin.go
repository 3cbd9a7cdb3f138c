package resvecfit

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/resvec/resvec/scoring/profile"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
)

// TopologySpreadName is the name of the plugin [TopologySpread] in the configuration of
// kube-scheduler.
const TopologySpreadName = "ResvecTopologySpread"

// TopologySpread takes the place of PodTopologySpread: same verdicts, codes, reasons and
// scores, from counts that are kept. It needs a [Plugin] in the same profile, before it at
// preFilter. Feature gates count as by default.
type TopologySpread struct {
	replacement[*profile.Spread]
}

var (
	_ fwk.PreFilterPlugin     = (*TopologySpread)(nil)
	_ fwk.FilterPlugin        = (*TopologySpread)(nil)
	_ fwk.PreFilterExtensions = (*TopologySpread)(nil)
	_ fwk.PreScorePlugin      = (*TopologySpread)(nil)
	_ fwk.ScorePlugin         = (*TopologySpread)(nil)
	_ fwk.ScoreExtensions     = (*TopologySpread)(nil)
	_ fwk.SignPlugin          = (*TopologySpread)(nil)
	_ fwk.EnqueueExtensions   = (*TopologySpread)(nil)
)

// TopologySpreadArgs is the configuration of [TopologySpread], as PodTopologySpread has it.
type TopologySpreadArgs struct {
	// DefaultConstraints are those of pods that have none, with DefaultingType List. With
	// System, the default, they are Kubernetes' own.
	DefaultConstraints []corev1.TopologySpreadConstraint `json:"defaultConstraints,omitempty"`
	DefaultingType     string                            `json:"defaultingType,omitempty"`
}

// constraints returns the default constraints as [profile.Config] has them.
func (a *TopologySpreadArgs) constraints() []corev1.TopologySpreadConstraint {
	if a.DefaultingType != "List" {
		return nil
	}
	return append([]corev1.TopologySpreadConstraint{}, a.DefaultConstraints...)
}

// validate returns the faults but for those of the constraints.
func (a *TopologySpreadArgs) validate(path *field.Path) field.ErrorList {
	switch a.DefaultingType {
	case "", "System":
		if len(a.DefaultConstraints) > 0 {
			return field.ErrorList{field.Forbidden(path.Child("defaultConstraints"), "only with defaultingType List")}
		}
	case "List":
	default:
		return field.ErrorList{field.NotSupported(path.Child("defaultingType"), a.DefaultingType, []string{"List", "System"})}
	}
	return nil
}

// NewTopologySpread makes the plugin from the args of its pluginConfig. It is a
// PluginFactory of kube-scheduler's runtime.
func NewTopologySpread(_ context.Context, obj runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
	var args TopologySpreadArgs
	if err := decode(obj, &args); err != nil {
		return nil, err
	}
	if faults := args.validate(nil); len(faults) > 0 {
		return nil, faults.ToAggregate()
	}
	config := profile.Config{DefaultConstraints: args.constraints()}
	r, err := newReplacement[*profile.Spread](handle, TopologySpreadName, profile.PodTopologySpread, config)
	if err != nil {
		return nil, err
	}
	return &TopologySpread{r}, nil
}

// only returns the part of a pod that the plugin reads for constraints of one action, with all
// metadata, nil where the pod has no such constraint. Faults in the rest are for other plugins to find.
func (t *TopologySpread) only(pod *corev1.Pod, action corev1.UnsatisfiableConstraintAction) *corev1.Pod {
	other := func(c corev1.TopologySpreadConstraint) bool { return c.WhenUnsatisfiable != action }
	own, defaults := pod.Spec.TopologySpreadConstraints, t.config.DefaultConstraints
	switch {
	case len(own) > 0:
		if own = slices.DeleteFunc(slices.Clone(own), other); len(own) == 0 {
			return nil
		}
	case defaults == nil && action == corev1.DoNotSchedule: // Kubernetes' own are ScheduleAnyway
		return nil
	case defaults != nil && len(slices.DeleteFunc(slices.Clone(defaults), other)) == 0:
		return nil
	}
	part := &corev1.Pod{ObjectMeta: pod.ObjectMeta, Spec: corev1.PodSpec{
		NodeSelector: pod.Spec.NodeSelector, Tolerations: pod.Spec.Tolerations, TopologySpreadConstraints: own,
	}}
	if a := pod.Spec.Affinity; a != nil && a.NodeAffinity != nil {
		part.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution,
		}}
	}
	return part
}

// constraintFault returns the first fault of constraints.
func constraintFault(constraints []corev1.TopologySpreadConstraint) error {
	for i := range constraints {
		if _, err := metav1.LabelSelectorAsSelector(constraints[i].LabelSelector); err != nil {
			return err
		}
	}
	return nil
}

// PreFilter asks whether nodes meet constraints of DoNotSchedule, and skips pods that have
// none.
func (t *TopologySpread) PreFilter(_ context.Context, cycle fwk.CycleState, pod *corev1.Pod, _ []fwk.NodeInfo) (
	*fwk.PreFilterResult, *fwk.Status) {
	if isResized(pod) {
		return nil, fwk.NewStatus(fwk.Skip)
	}
	part := t.only(pod, corev1.DoNotSchedule)
	if part == nil {
		return nil, fwk.NewStatus(fwk.Skip)
	}
	status := t.preFilter(cycle, part, (*profile.Profile).Spread)
	if status.Code() == fwk.Error {
		if err := constraintFault(part.Spec.TopologySpreadConstraints); err != nil {
			status = fwk.AsStatus(fmt.Errorf("get constraints from pod: obtaining pod's hard topology "+
				"spread constraints: %w", err))
		}
	}
	return nil, status
}

// PreScore scores nodes by constraints of ScheduleAnyway, and skips pods that have none.
func (t *TopologySpread) PreScore(_ context.Context, cycle fwk.CycleState, pod *corev1.Pod,
	nodes []fwk.NodeInfo) *fwk.Status {
	part := t.only(pod, corev1.ScheduleAnyway)
	if part == nil {
		return fwk.NewStatus(fwk.Skip)
	}
	status := t.preScore(cycle, part, nodes)
	if status.Code() == fwk.Error {
		if err := constraintFault(part.Spec.TopologySpreadConstraints); err != nil {
			status = fwk.AsStatus(fmt.Errorf("calculating preScoreState: obtaining pod's soft topology "+
				"spread constraints: %w", err))
		}
	}
	return status
}

// SignPod signs no pod that has constraints, its own or default ones, as in
// PodTopologySpread: they depend on where other pods are.
func (t *TopologySpread) SignPod(_ context.Context, pod *corev1.Pod) ([]fwk.SignFragment, *fwk.Status) {
	switch defaults := t.config.DefaultConstraints; {
	case len(pod.Spec.TopologySpreadConstraints) > 0:
		return nil, fwk.NewStatus(fwk.Unschedulable, "pods with topology constraints are not signable")
	case defaults == nil || len(defaults) > 0:
		return nil, fwk.NewStatus(fwk.Unschedulable, "pods with default topology constraints are not signable")
	}
	return nil, nil
}

// EventsToRegister returns the events that may make room for a pod: pods and nodes that come,
// go, or get other labels, nodes with other taints, and other tolerations of the pod itself.
// It also logs likely mistakes in the profile, as [Plugin.EventsToRegister] does.
func (t *TopologySpread) EventsToRegister(ctx context.Context) ([]fwk.ClusterEventWithHint, error) {
	t.warn(ctx)
	return []fwk.ClusterEventWithHint{
		{
			Event: fwk.ClusterEvent{
				Resource:   fwk.Pod,
				ActionType: fwk.Add | fwk.Delete | fwk.UpdatePodLabel | fwk.UpdatePodToleration,
			},
			QueueingHintFn: t.afterPod,
		},
		{
			Event: fwk.ClusterEvent{
				Resource:   fwk.Node,
				ActionType: fwk.Add | fwk.Delete | fwk.UpdateNodeLabel | fwk.UpdateNodeTaint,
			},
			QueueingHintFn: t.afterNode,
		},
	}, nil
}

// afterPod says whether a pod that came, went or changed may matter to constraints of
// DoNotSchedule. Which pods default constraints count depends on services, which a hint can't
// read: for these constraints every pod of the namespace may matter.
func (t *TopologySpread) afterPod(_ klog.Logger, pod *corev1.Pod, before, after any) (fwk.QueueingHint, error) {
	old, now, err := objects[*corev1.Pod](before, after)
	if err != nil {
		return fwk.Queue, err
	}
	for _, p := range []*corev1.Pod{old, now} {
		if p != nil && p.UID != pod.UID && (!isPlaced(p) || p.Namespace != pod.Namespace) {
			return fwk.QueueSkip, nil
		}
	}
	hard, err := hardConstraints(pod)
	switch {
	case err != nil || hard == nil:
		return fwk.Queue, err
	case old == nil || now == nil:
		p := cmp.Or(old, now)
		return queueIf(slices.ContainsFunc(hard, func(c spreadHint) bool { return c.selects(p) })), nil
	}
	tolerates := now.UID == pod.UID && !equality.Semantic.DeepEqual(old.Spec.Tolerations, now.Spec.Tolerations)
	relabeled := !maps.Equal(old.Labels, now.Labels)
	return queueIf(slices.ContainsFunc(hard, func(c spreadHint) bool {
		honors := c.NodeTaintsPolicy != nil && *c.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor
		return tolerates && honors || relabeled && (len(c.MatchLabelKeys) > 0 || c.selects(old) != c.selects(now))
	})), nil
}

// afterNode says whether a node that came, went or changed may matter to constraints of
// DoNotSchedule.
func (t *TopologySpread) afterNode(_ klog.Logger, pod *corev1.Pod, before, after any) (fwk.QueueingHint, error) {
	old, now, err := objects[*corev1.Node](before, after)
	if err != nil {
		return fwk.Queue, err
	}
	hard, err := hardConstraints(pod)
	if err != nil || hard == nil {
		return fwk.Queue, err
	}
	counts := func(n *corev1.Node) bool {
		return n != nil && !slices.ContainsFunc(hard, func(c spreadHint) bool {
			_, ok := n.Labels[c.TopologyKey]
			return !ok
		})
	}
	was, is := counts(old), counts(now)
	moved := was && is && (!equality.Semantic.DeepEqual(old.Spec.Taints, now.Spec.Taints) ||
		slices.ContainsFunc(hard, func(c spreadHint) bool { return old.Labels[c.TopologyKey] != now.Labels[c.TopologyKey] }))
	return queueIf(was != is || moved), nil
}

// spreadHint is a constraint of DoNotSchedule for queueing hints. Its selector leaves out
// matchLabelKeys, and so selects more.
type spreadHint struct {
	*corev1.TopologySpreadConstraint
	selector labels.Selector
}

func (c *spreadHint) selects(pod *corev1.Pod) bool { return c.selector.Matches(labels.Set(pod.Labels)) }

// hardConstraints returns a pod's own constraints of DoNotSchedule, nil where default ones
// count.
func hardConstraints(pod *corev1.Pod) ([]spreadHint, error) {
	list := pod.Spec.TopologySpreadConstraints
	if len(list) == 0 {
		return nil, nil
	}
	hard := []spreadHint{}
	for i := range list {
		if list[i].WhenUnsatisfiable != corev1.DoNotSchedule {
			continue
		}
		selector, err := metav1.LabelSelectorAsSelector(list[i].LabelSelector)
		if err != nil {
			return nil, err
		}
		hard = append(hard, spreadHint{&list[i], selector})
	}
	return hard, nil
}
