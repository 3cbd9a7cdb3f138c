package resvecfit

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/resvec/resvec/scoring/profile"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	versionutil "k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/tools/cache"
	"k8s.io/component-base/version"
	ndf "k8s.io/component-helpers/nodedeclaredfeatures"
	schedulinghelpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
)

// ExactArgs repeat what other plugins of the profile are configured with, which a plugin
// can't see. The zero value is their default.
type ExactArgs struct {
	// Of PodTopologySpread and InterPodAffinity, or the plugins in their place.
	TopologySpreadArgs   `json:",inline"`
	InterPodAffinityArgs `json:",inline"`

	// Of NodeAffinity.
	AddedAffinity *corev1.NodeAffinity `json:"addedAffinity,omitempty"`

	// Of NodeResourcesBalancedAllocation, or of [Balanced], as [BalancedArgs] has them.
	BalancedResources json.RawMessage `json:"balancedResources,omitempty"`

	// TaintTolerationComparisonOperators says what the feature gate of this name does.
	TaintTolerationComparisonOperators bool `json:"taintTolerationComparisonOperators,omitempty"`

	// CheckOneIn is of how many decisions one is checked by the other plugins, with all
	// nodes. The default is 1,000; 0 is an error.
	CheckOneIn *int32 `json:"checkOneIn,omitempty"`
}

func (a *ExactArgs) checkOneIn() int32 {
	if a.CheckOneIn == nil {
		return 1000
	}
	return *a.CheckOneIn
}

// config returns the configuration of what decides, with the weights of a profile.
func (a *ExactArgs) config(weights map[profile.Plugin]int64) profile.Config {
	return profile.Config{
		Weights: weights, DefaultConstraints: a.constraints(), HardPodAffinityWeight: a.HardPodAffinityWeight,
		IgnorePreferredTermsOfExistingPods: a.IgnorePreferredTermsOfExistingPods,
		AddedAffinity:                      a.AddedAffinity, ComparisonOperators: a.TaintTolerationComparisonOperators,
	}
}

// validate returns the faults of the arguments.
func (a *ExactArgs) validate(path *field.Path) field.ErrorList {
	faults := a.TopologySpreadArgs.validate(path)
	if n := a.checkOneIn(); n < 1 {
		faults = append(faults, field.Invalid(path.Child("checkOneIn"), n, "must be at least 1"))
	}
	return faults
}

// Why the best node was not named though [Args].Exact says so, the values of the label
// reason of exactFallbacks.
const (
	exactOff        = "off"         // a check has found a difference, or the profile has plugins that it can't answer for
	exactRetry      = "retry"       // an earlier attempt named a node and failed
	exactInfeasible = "infeasible"  // no node can hold the pod
	exactNominated  = "nominated"   // a nominated pod of equal or higher priority waits
	exactOwnNominee = "own_nominee" // the pod is nominated itself
	exactVolumes    = "volumes"     // the pod has volumes that filters look at
	exactClaims     = "claims"      // it has claims, or resources of a DeviceClass
	exactFeatures   = "features"    // it needs features that nodes declare
	exactExtender   = "extender"    // an extender is interested in it
	exactLedger     = "ledger"      // a ledger admits by node
	exactUnparsable = "unparsable"  // its terms can't be parsed
	exactLarge      = "large"       // a node has amounts of 2^53 units and more
	exactPodGroup   = "pod_group"   // it is of a pod group
)

// exact names the one best node of all that are feasible.
type exact struct {
	args   ExactArgs
	events *objectEvents

	once     sync.Once        // of starting
	off      atomic.Bool      // until restart
	stopped  bool             // nothing is kept for it
	decider  *profile.Profile // nil: not started, or off
	balanced scorer
	scores   [2]exactScores // of fit and of balanced allocation

	decisions int64
	tie       uint64 // of the last decision
	nominated nominated
	features  *versionutil.Version
}

// exactWeights are the weights of the scores of resources.
type exactWeights struct{ fit, balanced int64 }

// newExact makes what [Args].Exact needs, nil where it is off.
func (p *Plugin) newExact() (*exact, error) {
	if !p.args.Exact {
		return nil, nil
	}
	e := &exact{args: p.args.ExactArgs, tie: rand.Uint64()}
	t, err := balancedTerm(e.args.BalancedResources, field.NewPath("exactArgs", "balancedResources"))
	if err != nil {
		return nil, err
	}
	e.balanced = scorer{
		handle: p.handle, key: "PreScore" + Name + "Exact", podLevel: p.args.podLevelResources(), terms: []term{t},
	}
	if e.features, err = versionutil.Parse(version.Get().String()); err != nil {
		return nil, err
	}
	// Faults of the configuration are found now, not in the first cycle.
	if _, err := profile.Bind(e.args.config(nil), profile.NewCluster(p.cluster.table)); err != nil {
		return nil, vectormap.Faults(field.NewPath("exactArgs"), err).ToAggregate()
	}
	if err := p.cluster.need(e.balanced.names()); err != nil {
		return nil, err
	}
	if e.events, err = newObjectEvents(p.handle); err != nil {
		return nil, fmt.Errorf("exact: %w", err)
	}
	return e, e.nominated.follow(p.handle)
}

// The plugins of a profile that exact answers for, or that have nothing to say of the pods
// that it decides. Each of the filters in answered must be there, or the one in its place.
var (
	answeredFilters = []string{
		"NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts", Name,
		"PodTopologySpread", "InterPodAffinity",
	}
	answeredScores = map[string]profile.Plugin{
		"TaintToleration":   profile.TaintToleration,
		"NodeAffinity":      profile.NodeAffinity,
		"ImageLocality":     profile.ImageLocality,
		"PodTopologySpread": profile.PodTopologySpread,
		"InterPodAffinity":  profile.InterPodAffinity,
	}
	silent = []string{
		"SchedulingGates", "VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone", "DynamicResources",
		"NodeDeclaredFeatures",
		"GangScheduling", "TopologyPlacementGenerator", "PodGroupPodsCount", "DeferredPodScheduling",
	}
	inPlaceOf = map[string]string{"PodTopologySpread": TopologySpreadName, "InterPodAffinity": InterPodAffinityName}
)

// weightsOf returns the weights that plugins of a profile have, or why exact can't answer for
// the profile.
func weightsOf(l *lists) (weights map[profile.Plugin]int64, of exactWeights, why string) {
	for _, name := range answeredFilters {
		if !l.Filter.has(name) && !(inPlaceOf[name] != "" && l.Filter.has(inPlaceOf[name])) {
			return nil, of, name + " is not enabled at filter"
		}
	}
	known := func(name string) bool {
		return slices.Contains(answeredFilters, name) || slices.Contains(silent, name) || name == builtinFit ||
			slices.Contains(slices.Collect(maps.Values(inPlaceOf)), name)
	}
	for _, name := range slices.Concat(l.PreFilter.names(), l.Filter.names()) {
		if !known(name) {
			return nil, of, name + " filters by rules that aren't known"
		}
	}
	weights = map[profile.Plugin]int64{}
	for _, plugin := range l.Score.Enabled {
		name := plugin.Name
		for ours, theirs := range inPlaceOf {
			if name == theirs {
				name = ours
			}
		}
		switch name {
		case Name:
			of.fit = plugin.Weight
		case BalancedName, builtinBalanced:
			of.balanced = plugin.Weight
		case builtinFit:
			return nil, of, builtinFit + " scores beside " + Name
		default:
			answered, ok := answeredScores[name]
			if !ok && !slices.Contains(silent, name) {
				return nil, of, name + " scores by rules that aren't known"
			}
			if ok {
				weights[answered] = plugin.Weight
			}
		}
	}
	return weights, of, ""
}

// start makes what decides, in the first cycle: then the profile is complete.
func (p *Plugin) startExact(ctx context.Context) {
	e := p.exact
	e.once.Do(func() {
		err := p.makeDecider(ctx)
		if err != nil {
			klog.FromContext(ctx).Error(err, "The plugin works without exact", "plugin", Name)
			e.off.Store(true)
		}
	})
}

func (p *Plugin) makeDecider(ctx context.Context) error {
	e := p.exact
	if !p.mayNarrow(ctx) {
		e.off.Store(true)
		return nil
	}
	weights, of, why := weightsOf(listsOf(p.handle))
	if why != "" { // mayNarrow has logged it
		e.off.Store(true)
		return nil
	}
	if err := p.cluster.keepObjects(e.events); err != nil {
		return err
	}
	var err error
	if e.decider, err = p.cluster.world.profile(e.args.config(weights)); err != nil {
		return err
	}
	terms := []profile.Term{
		{Plugin: profile.NodeResourcesFit, Weight: of.fit, Scores: &e.scores[0]},
		{Plugin: profile.NodeResourcesBalancedAllocation, Weight: of.balanced, Scores: &e.scores[1]},
	}
	e.decider.Rebind(slices.DeleteFunc(terms, func(t profile.Term) bool { return t.Weight == 0 })...)
	return nil
}

// stopExact has nothing kept any longer that exact alone needs, once it is off.
func (p *Plugin) stopExact() error {
	e, w := p.exact, p.cluster.world
	if e.stopped || p.shared && w != nil && w.events == e.events {
		return nil
	}
	if e.stopped, e.decider = true, nil; w != nil && w.events == e.events {
		p.cluster.world = nil
	}
	return e.events.stop()
}

// exactScores are the scores of resources, as a [profile.Term] has them.
type exactScores struct {
	cluster *cluster
	scorer  *scorer
	pod     *corev1.Pod
	idle    bool // all score 0
}

// ScorePercent sets dst to the scores of the rows.
func (s *exactScores) ScorePercent(dst []int64, _ vector.PodAmounts, rows *vector.Mask) error {
	if s.idle {
		clear(dst)
		return nil
	}
	if err := s.scorer.score(s.cluster, s.pod, rows); err != nil {
		return err
	}
	copy(dst, s.scorer.scores)
	return nil
}

// question brings everything in step with the snapshot, and returns the question about a pod.
func (e *exact) question(p *Plugin, pod *corev1.Pod, s *state) (profile.Question, error) {
	c := p.cluster
	if err := c.world.apply(); err != nil {
		return profile.Question{}, err
	}
	if err := e.balanced.compile(c); err != nil {
		return profile.Question{}, err
	}
	e.scores[0] = exactScores{cluster: c, scorer: &p.scorer, pod: pod}
	e.scores[1] = exactScores{cluster: c, scorer: &e.balanced, pod: pod, idle: e.balanced.idle(pod)}
	return profile.Question{Pod: pod, Amounts: vector.PodAmounts{Requested: s.amounts}, Rows: &s.fits}, nil
}

// bestRow returns the row to name, or why none is named.
func (p *Plugin) bestRow(ctx context.Context, pod *corev1.Pod, s *state) (row int, why string, err error) {
	e := p.exact
	p.startExact(ctx)
	switch why := p.exactFallback(pod, s); why {
	case "":
	case exactOff:
		return 0, why, p.stopExact()
	default:
		return 0, why, nil
	}
	q, err := e.question(p, pod, s)
	if err != nil {
		return 0, "", err
	}
	// Each of the best is as likely as another.
	e.tie++
	row, ok, err := e.decider.Best(q, vector.TieSeeded(e.tie*0x9E3779B97F4A7C15))
	switch {
	case err != nil: // another plugin says what is wrong with the pod
		klog.FromContext(ctx).V(3).Info("exact leaves a pod to the other plugins", "plugin", Name, "pod", klog.KObj(pod), "err", err)
		return 0, exactUnparsable, nil
	case !ok:
		return 0, exactInfeasible, nil
	}
	shapes, bytes := e.decider.Kept()
	keptShapes.Set(float64(shapes))
	keptBytes.Set(float64(bytes))
	e.decisions++
	s.checks = e.decisions%int64(e.args.checkOneIn()) == 0
	return row, "", nil
}

// exactFallback returns why exact leaves a pod to the other plugins, "" where it decides.
func (p *Plugin) exactFallback(pod *corev1.Pod, s *state) string {
	e := p.exact
	switch {
	case e.off.Load():
		return exactOff
	case !s.fits.Any():
		return exactInfeasible
	case p.attempts.has(pod.UID):
		return exactRetry
	case pod.Spec.SchedulingGroup != nil:
		return exactPodGroup
	case p.ledger != nil:
		return exactLedger
	case len(p.cluster.large) > 0:
		return exactLarge
	case len(pod.Spec.ResourceClaims) > 0 || s.request.isDelegated():
		return exactClaims
	case slices.ContainsFunc(pod.Spec.Volumes, isLookedAt):
		return exactVolumes
	case pod.Status.NominatedNodeName != "":
		return exactOwnNominee
	case e.nominated.above(p.handle, p.cluster, pod):
		return exactNominated
	case e.needsFeatures(pod):
		return exactFeatures
	case slices.ContainsFunc(p.handle.Extenders(), func(x fwk.Extender) bool { return x.IsInterested(pod) }):
		return exactExtender
	}
	return ""
}

// isLookedAt reports whether filters may look at a volume.
func isLookedAt(v corev1.Volume) bool {
	return v.ConfigMap == nil && v.Secret == nil && v.EmptyDir == nil && v.Projected == nil &&
		v.DownwardAPI == nil && v.HostPath == nil
}

// needsFeatures reports whether a pod needs features that nodes declare.
func (e *exact) needsFeatures(pod *corev1.Pod) bool {
	needs, err := ndf.DefaultFramework.InferForPodScheduling(&ndf.PodInfo{Spec: &pod.Spec}, e.features)
	return err != nil || !needs.IsEmpty()
}

// nominated are the pods that wait for a node that they are nominated to, with their
// priorities.
type nominated struct {
	mu   sync.Mutex
	pods map[types.UID]int32 // by the informer

	// The scheduler knows of nominations before the informer does. waiting are those of the
	// last scan. There is another one while there are any, or after PostFilter, which nominates.
	waiting map[types.UID]int32
	scan    bool
}

// follow keeps the pods that the informer shows as nominated.
func (n *nominated) follow(handle fwk.Handle) error {
	n.pods, n.waiting = map[types.UID]int32{}, map[types.UID]int32{}
	see := func(obj any) {
		if pod, ok := obj.(*corev1.Pod); ok {
			n.set(pod, pod.Status.NominatedNodeName != "" && pod.Spec.NodeName == "")
		}
	}
	_, err := handle.SharedInformerFactory().Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    see,
		UpdateFunc: func(_, obj any) { see(obj) },
		DeleteFunc: func(obj any) {
			if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = gone.Obj
			}
			if pod, ok := obj.(*corev1.Pod); ok {
				n.set(pod, false)
			}
		},
	})
	return err
}

func (n *nominated) set(pod *corev1.Pod, is bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if is {
		n.pods[pod.UID] = schedulinghelpers.PodPriority(pod)
	} else {
		delete(n.pods, pod.UID)
	}
}

// above reports whether another pod of equal or higher priority is nominated.
func (n *nominated) above(handle fwk.Handle, c *cluster, pod *corev1.Pod) bool {
	if n.scan {
		clear(n.waiting)
		for _, node := range c.nodes {
			for _, on := range handle.NominatedPodsForNode(node.Node().Name) {
				n.waiting[on.GetPod().UID] = schedulinghelpers.PodPriority(on.GetPod())
			}
		}
		n.scan = len(n.waiting) > 0
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, pods := range []map[types.UID]int32{n.waiting, n.pods} {
		for uid, priority := range pods {
			if uid != pod.UID && priority >= schedulinghelpers.PodPriority(pod) {
				return true
			}
		}
	}
	return false
}

// checkDecision has the other plugins decide about all nodes, and compares, once a cycle where
// s.checks says so. It is called when PreFilter of all plugins has run and no other goroutine
// works on the cycle: by Filter, which looks at one node then, and by PostFilter, where another
// plugin has rejected this node before Filter.
func (p *Plugin) checkDecision(ctx context.Context, cycle fwk.CycleState, pod *corev1.Pod, s *state) {
	if !s.checks || !s.checking.CompareAndSwap(false, true) {
		return
	}
	nodes, err := p.handle.SnapshotSharedLister().NodeInfos().List()
	if err != nil {
		return
	}
	feasible, totals, status := p.decideByPlugins(ctx, cycle.Clone(), pod, nodes)
	if !status.IsSuccess() || ctx.Err() != nil {
		return
	}
	checks.Inc()
	difference := p.differs(pod, s, feasible, totals)
	if difference == "" {
		return
	}
	// What selects pods may have changed, and its events not have been handled yet.
	if err := p.cluster.world.relist(p.handle, pod.Namespace); err == nil && p.differs(pod, s, feasible, totals) == "" {
		return
	}
	differences.Inc()
	p.exact.off.Store(true)
	klog.FromContext(ctx).Error(nil, "A decision differs from the other plugins'; the plugin works without exact until "+
		"restart. Compare exactArgs with the arguments of the other plugins, and report it otherwise",
		"plugin", Name, "pod", klog.KObj(pod), "difference", difference)
}

// decideByPlugins returns the nodes that all filters accept, and their scores.
func (p *Plugin) decideByPlugins(ctx context.Context, cycle fwk.CycleState, pod *corev1.Pod, nodes []fwk.NodeInfo) (
	feasible []fwk.NodeInfo, totals []fwk.NodePluginScores, status *fwk.Status) {
	accepted := make([]bool, len(nodes))
	var failed atomic.Pointer[fwk.Status]
	p.handle.Parallelizer().Until(ctx, len(nodes), func(i int) {
		status := p.handle.RunFilterPluginsWithNominatedPods(ctx, cycle, pod, nodes[i])
		if accepted[i] = status.IsSuccess(); !status.IsSuccess() && !status.IsRejected() {
			failed.Store(status)
		}
	}, Name)
	if status := failed.Load(); status != nil {
		return nil, nil, status
	}
	for i, node := range nodes {
		if accepted[i] {
			feasible = append(feasible, node)
		}
	}
	if len(feasible) == 0 {
		return nil, nil, nil
	}
	if status := p.handle.RunPreScorePlugins(ctx, cycle, pod, feasible); !status.IsSuccess() {
		return nil, nil, status
	}
	totals, status = p.handle.RunScorePlugins(ctx, cycle, pod, feasible)
	return feasible, totals, status
}

// differs returns how a decision differs from what plugins say, "" where it does not. Totals
// may differ by the same number everywhere.
func (p *Plugin) differs(pod *corev1.Pod, s *state, feasible []fwk.NodeInfo, totals []fwk.NodePluginScores) string {
	e, c := p.exact, p.cluster
	q, err := e.question(p, pod, s)
	if err != nil {
		return err.Error()
	}
	own := make([]int64, len(c.nodes))
	var mask vector.Mask
	if err := e.decider.Totals(own, &mask, q); err != nil {
		return err.Error()
	}
	theirs, _ := c.rowsOf(feasible)
	if !theirs.Equal(&mask) {
		for row := range len(c.nodes) {
			if theirs.Test(row) != mask.Test(row) {
				return e.explain(q, c, row, fmt.Sprintf("accepted by the plugins: %t", theirs.Test(row)))
			}
		}
	}
	first := int64(math.MinInt64)
	for i := range totals {
		row, _ := c.rowOf(feasible[i])
		by := totals[i].TotalScore - own[row]
		if first == math.MinInt64 {
			first = by
		}
		if by != first {
			return e.explain(q, c, row, fmt.Sprintf("the plugins: %+v", totals[i].Scores))
		}
	}
	return ""
}

// explain explains a row, together with what plugins say of it.
func (e *exact) explain(q profile.Question, c *cluster, row int, theirs string) string {
	own, err := e.decider.Explain(q, row)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("node %s: %s; exact: %q %+v", c.names.Name(row), theirs, own.Reason, own.Plugins)
}
