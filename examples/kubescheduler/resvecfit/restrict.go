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
func (p *Plugin) restrict(cycle fwk.CycleState, pod *corev1.Pod, s *state) (*fwk.PreFilterResult, error) {
	most := p.mostNamed(cycle)
	if s.behind || cycle.IsPodGroupSchedulingCycle() || most == 0 && p.args.TopK == 0 {
		return nil, nil
	}
	if fits := s.fits.Count(); fits > 0 && !p.attempts.has(pod.UID) {
		if k := int(p.args.TopK); k > 0 && fits > k {
			return p.visitBest(pod, s, k)
		}
		if fits <= most {
			p.attempts.add(pod.UID)
			return p.visit(s, &s.fits), nil
		}
	}
	if possible := p.possible(s); possible.Any() && possible.Count() <= most {
		return p.visit(s, possible), nil
	}
	return nil, nil
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

// visit names the nodes of some rows.
func (p *Plugin) visit(s *state, rows *vector.Mask) *fwk.PreFilterResult {
	s.named = make(sets.Set[string], rows.Count())
	for row := range rows.All() {
		s.named.Insert(p.cluster.names.Name(row))
	}
	return &fwk.PreFilterResult{NodeNames: s.named}
}

// visitBest names the k nodes with the best scores. Among equal ones it goes round.
func (p *Plugin) visitBest(pod *corev1.Pod, s *state, k int) (*fwk.PreFilterResult, error) {
	if err := p.scorer.score(p.cluster, pod, &s.fits); err != nil {
		return nil, err
	}
	p.attempts.add(pod.UID)
	p.best = vector.TopK(p.best, p.scorer.scores[:len(p.cluster.nodes)], &s.fits, k, vector.TieRoundRobin(&p.cursor))
	rows := vector.NewMask(len(p.cluster.nodes))
	for _, row := range p.best {
		rows.Set(int(row))
	}
	return p.visit(s, rows), nil
}

// PostFilter completes the statuses of a cycle that left nodes out, for the
// plugins after it. When it finds that one of these nodes can hold the pod, which
// only Args.TopK can cause, it has the pod tried again and ends the cycle without
// preemption.
func (p *Plugin) PostFilter(ctx context.Context, cycle fwk.CycleState, pod *corev1.Pod, statuses fwk.NodeToStatusReader) (*fwk.PostFilterResult, *fwk.Status) {
	next := fwk.NewStatus(fwk.Unschedulable)
	// The runtime passes the statuses that preemption and the pod's event read.
	writer, ok := statuses.(interface {
		Set(nodeName string, status *fwk.Status)
	})
	s, err := p.last.read(cycle, stateKey)
	if !ok || err != nil || s.named == nil && !s.behind {
		return nil, next
	}
	all, err := p.handle.SnapshotSharedLister().NodeInfos().List()
	if err != nil {
		return nil, next
	}
	if s.behind {
		p.explainLate(pod, s, all)
		return nil, next
	}
	var leftOut []fwk.NodeInfo
	for _, node := range all {
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
		return nil, next
	}
	for _, status := range found {
		switch {
		case status.IsSuccess():
			p.handle.Activate(klog.FromContext(ctx), map[string]*corev1.Pod{pod.Namespace + "/" + pod.Name: pod})
			return nil, nil
		case !status.IsRejected():
			return nil, next // a plugin behind this one at preFilter has not run
		}
	}
	for i, status := range found {
		writer.Set(leftOut[i].Node().Name, status)
	}
	return nil, next
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
