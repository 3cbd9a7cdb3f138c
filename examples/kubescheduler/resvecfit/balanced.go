package resvecfit

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	fwk "k8s.io/kube-scheduler/framework"
)

// BalancedName is the name of the plugin [Balanced] in the configuration of
// kube-scheduler.
const BalancedName = "ResvecBalancedAllocation"

// Balanced does the work of NodeResourcesBalancedAllocation on the table of a
// [Plugin] in the same profile, which it needs. It only scores.
type Balanced struct {
	handle   fwk.Handle
	scorer   scorer
	addToFit bool
}

var (
	_ fwk.PreScorePlugin    = (*Balanced)(nil)
	_ fwk.ScorePlugin       = (*Balanced)(nil)
	_ fwk.SignPlugin        = (*Balanced)(nil)
	_ fwk.PermitPlugin      = (*Balanced)(nil)
	_ fwk.EnqueueExtensions = (*Balanced)(nil)
)

// BalancedArgs is the configuration of [Balanced].
type BalancedArgs struct {
	// Resources are those that are balanced, as in the args of
	// NodeResourcesBalancedAllocation: a list of {name, weight}, where a weight other
	// than 1 is refused. The default is cpu and memory.
	Resources json.RawMessage `json:"resources,omitempty"`

	// PodLevelResources is as in [Args].
	PodLevelResources *bool `json:"podLevelResources,omitempty"`

	// AddToFit has the scores added to the scores of [Plugin], so that the framework has
	// a plugin less to ask for every node. Both must score, with the same weight; a warning
	// is logged where they don't. What is given is the sum less the
	// least sum of the nodes that can hold the pod, so that nodes differ by what they
	// would differ by. Where that is more than 100, or the scoring of [Plugin] is
	// not a single term of kube, each plugin gives its own scores. The default is
	// false.
	AddToFit bool `json:"addToFit,omitempty"`
}

// NewBalanced makes the plugin from the args of its pluginConfig. It is a
// PluginFactory of kube-scheduler's runtime.
func NewBalanced(_ context.Context, obj runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
	var args BalancedArgs
	if err := decode(obj, &args); err != nil {
		return nil, err
	}
	t, err := balancedTerm(args.Resources, field.NewPath("args"))
	if err != nil {
		return nil, err
	}
	return &Balanced{handle: handle, addToFit: args.AddToFit, scorer: scorer{
		handle:   handle,
		key:      "PreScore" + BalancedName,
		podLevel: args.PodLevelResources == nil || *args.PodLevelResources,
		terms:    []term{t},
	}}, nil
}

// balancedTerm returns the term of a list of resources; the default is cpu and memory.
func balancedTerm(resources json.RawMessage, path *field.Path) (term, error) {
	if !given(resources) {
		resources = []byte(`[{"name":"cpu"},{"name":"memory"}]`)
	}
	document, err := json.Marshal(map[string]any{"type": "BalancedAllocation", "resources": resources})
	if err != nil {
		return term{}, err
	}
	t := term{weight: 1}
	return t, t.kube(document, path).ToAggregate()
}

// Name returns [BalancedName].
func (b *Balanced) Name() string { return BalancedName }

// PreScore scores all nodes that can hold the pod. A pod that requests none of
// the resources is not scored, so that such pods are spread by other plugins.
func (b *Balanced) PreScore(_ context.Context, cycle fwk.CycleState, pod *corev1.Pod, nodes []fwk.NodeInfo) *fwk.Status {
	if b.scorer.idle(pod) {
		return fwk.NewStatus(fwk.Skip)
	}
	var none lastRead[*state]
	s, err := none.read(cycle, stateKey)
	if err != nil {
		return fwk.AsStatus(fmt.Errorf("%s needs %s at preFilter: %w", BalancedName, Name, err))
	}
	c := s.plugin.cluster
	if err := s.plugin.beforeScores(s); err != nil {
		return fwk.AsStatus(err)
	}
	if err := c.need(b.scorer.names()); err != nil {
		return fwk.AsStatus(err)
	}
	if err := b.scorer.compile(c); err != nil {
		return fwk.AsStatus(err)
	}
	if err := b.scorer.preScore(c, cycle, pod, s.rowsToScore(nodes)); err != nil {
		return fwk.AsStatus(err)
	}
	if b.addToFit && b.add(cycle) {
		return fwk.NewStatus(fwk.Skip)
	}
	return nil
}

// add adds the scores to the scores of [Plugin], if it has any and that is possible.
func (b *Balanced) add(cycle fwk.CycleState) bool {
	var none lastRead[*scoreState]
	fit, err := none.read(cycle, fitScores)
	return err == nil && fit.add(&b.scorer)
}

// idle reports whether a pod requests none of the resources of the first term.
func (s *scorer) idle(pod *corev1.Pod) bool {
	total := trueTotal(pod, s.podLevel)
	for _, name := range s.terms[0].names {
		if quantity := total[corev1.ResourceName(name)]; !quantity.IsZero() {
			return false
		}
	}
	return true
}

// Score returns what PreScore found out.
func (b *Balanced) Score(_ context.Context, cycle fwk.CycleState, pod *corev1.Pod, node fwk.NodeInfo) (int64, *fwk.Status) {
	return b.scorer.lookUp(cycle, pod, node)
}

// EventsToRegister returns none, since the plugin refuses no pod. kube-scheduler calls it
// when the plugins of all profiles have been made: it logs likely mistakes in the profile.
func (b *Balanced) EventsToRegister(ctx context.Context) ([]fwk.ClusterEventWithHint, error) {
	if l := listsOf(b.handle); l != nil {
		warn(ctx, BalancedName, b.warnings(l))
	}
	return nil, nil
}

// Permit permits every pod. kube-scheduler calls EventsToRegister only of plugins that could
// refuse a pod; of the methods that do so, it calls this one least often.
func (b *Balanced) Permit(context.Context, fwk.CycleState, *corev1.Pod, string) (*fwk.Status, time.Duration) {
	return nil, 0
}

// ScoreExtensions returns nil: scores are from 0 to 100 already.
func (b *Balanced) ScoreExtensions() fwk.ScoreExtensions { return nil }

// SignPod returns what the scores depend on. What is delegated to a DeviceClass is
// left to [Plugin.SignPod].
func (b *Balanced) SignPod(_ context.Context, pod *corev1.Pod) ([]fwk.SignFragment, *fwk.Status) {
	if rescores && b.addToFit {
		return nil, fwk.NewStatus(fwk.Unschedulable, "with addToFit scores depend on the other nodes, so that pods are not signed")
	}
	return []fwk.SignFragment{{Key: BalancedName, Value: trueTotal(pod, b.scorer.podLevel)}}, nil
}
