package resvecfit

import (
	"context"
	"sync"

	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
)

// restrict names the nodes to visit by the rule in the package documentation, nil
// for all of them, and remembers them in s.
func (p *Plugin) restrict(ctx context.Context, cycle fwk.CycleState, pod *corev1.Pod, s *state) (*fwk.PreFilterResult, error) {
	if p.namesNone {
		return nil, nil
	}
	rows, mode, err := p.rowsToVisit(ctx, cycle, pod, s)
	if err != nil {
		return nil, err
	}
	cycles.WithLabelValues(mode).Inc()
	if rows == nil {
		return nil, nil
	}
	s.named = make(sets.Set[string], rows.Count())
	for row := range rows.All() {
		s.named.Insert(p.cluster.names.Name(row))
	}
	namedNodes.Add(float64(len(s.named)))
	return &fwk.PreFilterResult{NodeNames: s.named}, nil
}

// rowsToVisit returns the rows to visit, nil for all of them, and how they were chosen.
func (p *Plugin) rowsToVisit(ctx context.Context, cycle fwk.CycleState, pod *corev1.Pod, s *state) (rows *vector.Mask, mode string, err error) {
	if cycle.IsPodGroupSchedulingCycle() {
		return nil, fallBack(reasonPodGroup), nil
	}
	if p.exact != nil {
		row, why, err := p.bestRow(ctx, pod, s)
		if err != nil {
			return nil, "", err
		}
		if why == "" {
			p.attempts.add(pod.UID)
			s.narrowed = true
			rows = vector.NewMask(len(p.cluster.nodes))
			rows.Set(row)
			return rows, modeExact, nil
		}
		exactFallbacks.WithLabelValues(why).Inc()
	}
	most, k, plenty := p.mostNamed(cycle), p.topK(ctx), reasonPlenty
	if len(p.args.narrowing()) > 0 && !p.mayNarrow(ctx) {
		plenty = reasonProfile
	}
	if s.behind || most == 0 && k == 0 {
		return nil, fallBack(plenty), nil
	}
	reason, fits := reasonUnschedulable, s.fits.Count()
	if fits > 0 {
		switch {
		case p.attempts.has(pod.UID):
			reason = reasonRetry
		case k > 0 && fits > k:
			if rows, err = p.bestRows(pod, s, k); err != nil {
				return nil, "", err
			}
			p.attempts.add(pod.UID)
			s.narrowed = true
			return rows, modeTopK, nil
		default:
			if rows = p.padded(&s.fits, fits, most); rows != nil {
				p.attempts.add(pod.UID)
				return rows, modeFits, nil
			}
			reason = plenty
		}
	}
	if rows = p.padded(p.possible(s), fits, most); rows != nil {
		return rows, modePossible, nil
	}
	return nil, fallBack(reason), nil
}

// topK returns how many of the best nodes are visited, 0 for all.
func (p *Plugin) topK(ctx context.Context) int {
	if p.args.TopK == 0 || !p.mayNarrow(ctx) {
		return 0
	}
	return int(p.args.TopK)
}

// mostNamed returns how many nodes are named at most for what fits.
func (p *Plugin) mostNamed(cycle fwk.CycleState) int {
	if cycle.IsPodGroupSchedulingCycle() {
		return 0
	}
	return len(p.cluster.nodes) * int(p.args.visitPercent()) / 100
}

// possible returns the rows that could hold the pod when empty, or that can hold it
// as they are.
func (p *Plugin) possible(s *state) *vector.Mask {
	alone := s.amounts.Clone()
	alone[vectormap.Pods] = 0 // too many pods is never unresolvable
	var rows vector.Mask
	vector.Fit(&rows, p.cluster.table.Allocatable(), alone)
	rows.Or(&rows, &s.fits)
	return &rows
}

// bestRows returns the k rows with the best scores. Among equal ones it goes round.
func (p *Plugin) bestRows(pod *corev1.Pod, s *state, k int) (*vector.Mask, error) {
	if err := p.scorer.score(p.cluster, pod, &s.fits); err != nil {
		return nil, err
	}
	p.best = vector.TopK(p.best, p.scorer.scores[:len(p.cluster.nodes)], &s.fits, k, vector.TieRoundRobin(&p.cursor))
	rows := vector.NewMask(len(p.cluster.nodes))
	for _, row := range p.best {
		rows.Set(int(row))
	}
	return rows, nil
}

// padded returns rows, of which so many fit, with as many others as it takes for the framework,
// which looks for a part of the nodes that are named, to find no fewer than of all nodes.
// Filter rejects the others, so that they are not scored. It returns nil where no rows are
// given, or more than most, or it would take more than half of all nodes.
func (p *Plugin) padded(rows *vector.Mask, fits, most int) *vector.Mask {
	all, n, percent := len(p.cluster.nodes), rows.Count(), p.percentToScore()
	if n == 0 || n > most {
		return nil
	}
	missing := 0
	for want := min(fits, nodesToScore(all, percent)); nodesToScore(n+missing, percent) < want; missing++ {
		if n+missing >= all/2 {
			return nil
		}
	}
	var more vector.Mask
	more.CopyFrom(rows)
	for row := 0; missing > 0; row++ {
		if !rows.Test(row) {
			more.Set(row)
			missing--
		}
	}
	return &more
}

// percentToScore returns the percentageOfNodesToScore of the profile, 0, the default, where
// it has none.
func (p *Plugin) percentToScore() int {
	profile, ok := p.handle.(interface{ PercentageOfNodesToScore() *int32 })
	if !ok {
		return 0
	}
	if percent := profile.PercentageOfNodesToScore(); percent != nil {
		return int(*percent)
	}
	return 0
}

// nodesToScore returns how many nodes that can hold a pod kube-scheduler looks for among n
// (pkg/scheduler/schedule_one.go, numFeasibleNodesToFind).
func nodesToScore(n, percent int) int {
	const least = 100
	if percent == 0 {
		percent = max(50-n/125, 5)
	}
	return min(n, max(n*percent/100, least))
}

// PostFilter completes the statuses of a cycle that left nodes out, for the
// plugins after it. When it finds that one of these nodes can hold the pod, which
// only Args.TopK can cause, or with Args.TopK can't find out, it has the pod tried again
// and ends the cycle without preemption.
func (p *Plugin) PostFilter(ctx context.Context, cycle fwk.CycleState, pod *corev1.Pod, statuses fwk.NodeToStatusReader) (*fwk.PostFilterResult, *fwk.Status) {
	next := fwk.NewStatus(fwk.Unschedulable)
	if p.exact != nil {
		p.exact.nominated.scan = true
	}
	s, err := p.last.read(cycle, stateKey)
	if err != nil || s.named == nil && !s.behind {
		return nil, next
	}
	p.checkDecision(ctx, cycle, pod, s)
	nodes, err := p.handle.SnapshotSharedLister().NodeInfos().List()
	if err == nil && s.behind {
		p.explainLate(pod, s, nodes)
	}
	if s.behind {
		return nil, next
	}
	room, complete := false, false
	if err == nil {
		room, complete = p.complete(ctx, cycle, pod, s, nodes, statuses)
		if !room && !complete && p.runBehind(ctx, cycle, pod) {
			room, complete = p.complete(ctx, cycle, pod, s, nodes, statuses)
		}
	}
	if room || s.narrowed && !complete {
		retries.Inc()
		p.handle.Activate(klog.FromContext(ctx), map[string]*corev1.Pod{pod.Namespace + "/" + pod.Name: pod})
		return nil, nil
	}
	return nil, next
}

// runBehind has the plugins behind this one run at preFilter, by running all of them again
// without a node being named here, and reports whether they accept the pod. The framework
// leaves them out when plugins name nodes and no node is named by all of these; then their
// filters know nothing of the pod.
func (p *Plugin) runBehind(ctx context.Context, cycle fwk.CycleState, pod *corev1.Pod) bool {
	runner, ok := p.handle.(interface {
		RunPreFilterPlugins(context.Context, fwk.CycleState, *corev1.Pod) (*fwk.PreFilterResult, *fwk.Status, sets.Set[string])
	})
	if !ok {
		return false
	}
	p.namesNone = true
	defer func() { p.namesNone = false }()
	_, status, _ := runner.RunPreFilterPlugins(ctx, cycle, pod)
	return status.IsSuccess()
}

// complete sets the statuses of the nodes that were left out, unless one of them has room
// for the pod, or not all can be found out.
func (p *Plugin) complete(ctx context.Context, cycle fwk.CycleState, pod *corev1.Pod, s *state, nodes []fwk.NodeInfo,
	statuses fwk.NodeToStatusReader) (room, complete bool) {
	// The runtime passes the statuses that preemption and the pod's event read.
	writer, ok := statuses.(interface {
		Set(nodeName string, status *fwk.Status)
	})
	if !ok {
		return false, false
	}
	var leftOut []fwk.NodeInfo
	for _, node := range nodes {
		if !s.named.Has(node.Node().Name) {
			leftOut = append(leftOut, node)
		}
	}
	others := cycle.Clone()
	others.SetSkipFilterPlugins(cycle.GetSkipFilterPlugins().Clone().Insert(Name))
	found := make([]*fwk.Status, len(leftOut))
	p.handle.Parallelizer().Until(ctx, len(leftOut), func(i int) {
		found[i] = p.statusOf(ctx, cycle, others, pod, leftOut[i])
	}, Name)
	if ctx.Err() != nil {
		return false, false
	}
	complete = true
	for _, status := range found {
		if status.IsSuccess() {
			return true, false
		}
		complete = complete && status.IsRejected() // or a plugin behind this one at preFilter has not run
	}
	if !complete {
		return false, false
	}
	for i, status := range found {
		writer.Set(leftOut[i].Node().Name, status)
	}
	return false, true
}

// explainLate reports the refusal of a pod that no node can hold, where PreFilter did
// not know yet.
func (p *Plugin) explainLate(pod *corev1.Pod, s *state, nodes []fwk.NodeInfo) {
	now := &state{request: s.request, plugin: p}
	if p.refresh(nodes) == nil && p.fit(now) == nil && !now.fits.Any() {
		p.refuse(pod, p.explain(now))
	}
}

// statusOf returns what the filters say about a node that was left out. The others
// come first: where they say that preemption can't help, it need not try.
func (p *Plugin) statusOf(ctx context.Context, cycle, others fwk.CycleState, pod *corev1.Pod, node fwk.NodeInfo) *fwk.Status {
	if status := p.handle.RunFilterPluginsWithNominatedPods(ctx, others, pod, node); !status.IsSuccess() {
		return status
	}
	if status := p.Filter(ctx, cycle, pod, node); !status.IsSuccess() {
		return status.WithPlugin(Name)
	}
	return p.handle.RunFilterPluginsWithNominatedPods(ctx, cycle, pod, node)
}

// attempts are the pods for which nodes were left out by rule 3 and that have not
// been placed since.
type attempts struct {
	mu   sync.Mutex
	pods sets.Set[types.UID]
}

func (a *attempts) has(pod types.UID) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.pods.Has(pod)
}

func (a *attempts) add(pod types.UID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pods.Insert(pod)
}

// addExisting adds a pod unless it has been deleted: forgetDeleted has removed it then.
func (a *attempts) addExisting(handle fwk.Handle, pod *corev1.Pod) {
	known, err := handle.SharedInformerFactory().Core().V1().Pods().Lister().Pods(pod.Namespace).Get(pod.Name)
	if err == nil && known.UID == pod.UID {
		a.add(pod.UID)
	}
}

func (a *attempts) remove(pod types.UID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pods.Delete(pod)
}

// forgetDeleted removes pods that are deleted before they are placed.
func (a *attempts) forgetDeleted(handle fwk.Handle) error {
	factory := handle.SharedInformerFactory()
	if factory == nil {
		return nil
	}
	_, err := factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		DeleteFunc: func(obj any) {
			if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = gone.Obj
			}
			if pod, ok := obj.(*corev1.Pod); ok {
				a.remove(pod.UID)
			}
		},
	})
	return err
}
