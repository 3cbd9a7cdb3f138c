package resvecfit

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
)

// The keys of the states of a scheduling cycle: of PreFilter's, and of the scores of
// [Plugin].
const (
	stateKey  fwk.StateKey = "PreFilter" + Name
	fitScores fwk.StateKey = "PreScore" + Name
)

// state is what PreFilter finds out about a pod. PreScore brings it in step with the
// nodes that were visited; nothing else writes it.
type state struct {
	request request
	amounts vector.ResourceVector // the request in columns of the map, with 1 of pods

	// fits are the rows that can hold the pod, in the table as of version.
	fits    vector.Mask
	plugin  *Plugin
	version uint64

	// behind says that rows may be older than their nodes, and asked that Filter has
	// been called since, which marks those.
	behind bool
	asked  atomic.Bool

	// scored is what rowsToScore returns, of the table as of scoredVersion.
	scored        *vector.Mask
	scoredVersion uint64

	// named are the nodes to visit, nil for all of them. narrowed says that nodes which
	// could hold the pod are not among them.
	named    sets.Set[string]
	narrowed bool

	// checks says that the decision of exact is checked; checking, that this has begun.
	checks   bool
	checking atomic.Bool
}

// Clone returns s: preemption and nominated pods share it.
func (s *state) Clone() fwk.StateData { return s }

// PreFilter compares the pod with all nodes and names the nodes to visit, see the
// package documentation.
func (p *Plugin) PreFilter(ctx context.Context, cycle fwk.CycleState, pod *corev1.Pod, nodes []fwk.NodeInfo) (*fwk.PreFilterResult, *fwk.Status) {
	if isResized(pod) {
		return nil, fwk.NewStatus(fwk.UnschedulableAndUnresolvable, Name+" makes no room for pods that are resized in place")
	}
	s := &state{request: p.requestOf(pod), plugin: p}
	if err := p.compareAll(ctx, cycle, s, nodes); err != nil {
		return nil, fwk.AsStatus(err)
	}
	cycle.Write(stateKey, s)
	p.last.set(cycle, s)
	if p.ledger != nil {
		if status := p.ledger.Admit(ctx, pod, nodes); !status.IsSuccess() {
			p.refuse(pod, status.Message())
			return nil, status // preemption may still ask Filter
		}
	}
	if status := p.proveGang(cycle, pod); !status.IsSuccess() {
		p.refuse(pod, status.Message())
		return nil, status
	}
	if !s.fits.Any() {
		p.refuse(pod, p.explain(s))
	}
	result, err := p.restrict(ctx, cycle, pod, s)
	if err != nil {
		return nil, fwk.AsStatus(err)
	}
	return result, nil
}

// isResized reports whether a pod is on a node already and waits there for room to grow.
// kube-scheduler tries such pods with the gate InPlacePodVerticalScalingSchedulerPreemption,
// which is alpha and off in Kubernetes v1.37 (KEP-5836). To compare them as if they were
// new would count them twice, and have other pods preempted for nothing.
func isResized(pod *corev1.Pod) bool {
	return pod.Spec.NodeName != "" && slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodResizePending && c.Reason == corev1.PodReasonDeferred
	})
}

// compareAll sets s.fits. Bringing every row in step means a look at every node, so it
// does that only where its outcome matters: not while the rows as they stand have room
// for the pod on more nodes than are ever named. Filter then compares the nodes that are
// newer than their row by themselves, and these rows are written next.
func (p *Plugin) compareAll(ctx context.Context, cycle fwk.CycleState, s *state, nodes []fwk.NodeInfo) error {
	c := p.cluster
	exact := p.shared || p.topK(ctx) > 0 || p.exact != nil && !p.exact.off.Load() || p.args.GangScheduling && cycle.IsPodGroupSchedulingCycle()
	if !exact && c.isList(nodes) {
		if err := p.catchUp(nil); err != nil {
			return err
		}
		if err := p.fit(s); err != nil {
			return err
		}
		if s.behind = s.fits.Count() > p.mostNamed(cycle); s.behind {
			return nil
		}
	}
	if err := p.refresh(nodes); err != nil {
		return err
	}
	if s.amounts != nil && s.version == c.version {
		return nil // nothing has changed
	}
	return p.fit(s)
}

// refresh brings the table and everything compiled against its map in step with a
// snapshot.
func (p *Plugin) refresh(nodes []fwk.NodeInfo) error {
	if err := p.cluster.refresh(nodes); err != nil {
		return err
	}
	p.cluster.list = nodes
	return p.compile()
}

// beforeScores brings the rows of the nodes that Filter accepted in step with them.
func (p *Plugin) beforeScores(s *state) error {
	if !s.behind {
		return nil
	}
	s.behind = false
	if s.asked.Load() {
		return p.catchUp(s)
	}
	// Another plugin filters.
	nodes, err := p.handle.SnapshotSharedLister().NodeInfos().List()
	if err != nil {
		return err
	}
	return p.refresh(nodes)
}

// catchUp brings the rows that Filter found older than their nodes in step with them,
// and a state with them, unless that is nil or already of another version.
func (p *Plugin) catchUp(s *state) error {
	c := p.cluster
	current := s != nil && s.version == c.version
	rows, err := c.catchUp()
	if err != nil {
		return err
	}
	if err := p.compile(); err != nil {
		return err
	}
	if !current || len(rows) == 0 {
		return nil
	}
	for _, row := range rows {
		if p.check(s, c.nodes[c.places[row]]).IsSuccess() {
			s.fits.Set(int(row))
		} else {
			s.fits.Clear(int(row))
		}
	}
	s.version = c.version
	return nil
}

// PreFilterExtensions returns nil: what depends on the pods of a node is in its
// NodeInfo.
func (p *Plugin) PreFilterExtensions() fwk.PreFilterExtensions { return nil }

// fit sets s.amounts and s.fits from s.request and the table as it stands.
func (p *Plugin) fit(s *state) error {
	c := p.cluster
	s.version = c.version
	exact, known := s.setAmounts(c)
	switch {
	case !exact:
		s.compare(c)
	case !known:
		s.fits.Reset(len(c.nodes))
	default:
		vector.Fit(&s.fits, c.table.Free(), s.amounts)
		s.delegated(c)
		s.large(c)
	}
	if !p.proportional.Enabled() {
		return nil
	}
	return p.proportional.Filter(&s.fits, c.table, s.amounts, &s.fits)
}

// large sets the bits of nodes with amounts that the table does not have exactly.
func (s *state) large(c *cluster) {
	for name, node := range c.large {
		row, _ := c.names.Row(name)
		if why := s.request.compare(capacityOf(node)); len(why.reasons) == 0 {
			s.fits.Set(row)
		} else {
			s.fits.Clear(row)
		}
	}
}

// setAmounts makes the vector of the request, without what is ignored or
// delegated. exact says that it has every amount exactly and in a column; known,
// that there are nodes which have the resources at all.
func (s *state) setAmounts(c *cluster) (exact, known bool) {
	r := &s.request
	s.amounts = c.m.NewVector()
	s.amounts[vectormap.Pods] = 1
	s.amounts[vectormap.CPU] = float64(r.cpu)
	s.amounts[vectormap.Memory] = float64(r.memory)
	s.amounts[c.storage] = float64(r.storage)
	exact, known = max(r.cpu, r.memory, r.storage) < limit, true
	for i := range r.scalars {
		x := &r.scalars[i]
		if x.ignored {
			continue
		}
		exact = exact && x.amount < limit && !c.refused[x.name]
		if x.delegated {
			continue
		}
		if column, ok := c.columns[x.name]; ok {
			s.amounts[column] = float64(x.amount)
		} else {
			known = false
		}
	}
	return exact, known
}

// delegated removes the rows that have a delegated resource in their allocatable
// amounts, and too little of it.
func (s *state) delegated(c *cluster) {
	for i := range s.request.scalars {
		x := &s.request.scalars[i]
		column, ok := c.columns[x.name]
		if !x.delegated || !ok {
			continue
		}
		has, left := c.table.Allocatable().Column(column), c.table.Free().Column(column)
		for row := range s.fits.All() {
			if has[row] > 0 && float64(x.amount) > left[row] {
				s.fits.Clear(row)
			}
		}
	}
}

// compare sets s.fits by the scalar comparison of every node.
func (s *state) compare(c *cluster) {
	s.fits.Reset(len(c.nodes))
	for i, node := range c.nodes {
		if why := s.request.compare(capacityOf(node)); len(why.reasons) == 0 {
			s.fits.Set(int(c.rows[i]))
		}
	}
}

// Filter says whether a node can hold the pod.
func (p *Plugin) Filter(ctx context.Context, cycle fwk.CycleState, pod *corev1.Pod, node fwk.NodeInfo) *fwk.Status {
	s, err := p.last.read(cycle, stateKey)
	if err != nil {
		return fwk.AsStatus(err)
	}
	p.checkDecision(ctx, cycle, pod, s)
	if s.behind && !s.asked.Load() {
		s.asked.Store(true)
	}
	if !p.rowFits(s, node) {
		if status := p.check(s, node); !status.IsSuccess() {
			return status
		}
	}
	if p.ledger == nil {
		return nil
	}
	return p.ledger.Filter(ctx, pod, node.Node().Name)
}

// rowFits reports whether a node has a row, and that can hold the pod.
func (p *Plugin) rowFits(s *state, node fwk.NodeInfo) bool {
	if s.version != p.cluster.version {
		return false
	}
	row, ok := p.cluster.index.row(node)
	if !ok {
		return false
	}
	if p.cluster.generation[row] != node.GetGeneration() {
		p.cluster.visit(row)
		return false
	}
	return s.fits.Test(row)
}

// check is Filter for one node, without the table.
func (p *Plugin) check(s *state, node fwk.NodeInfo) *fwk.Status {
	why := s.request.compare(capacityOf(node))
	if len(why.reasons) > 0 || !p.proportional.Enabled() {
		return why.status()
	}
	v := p.cluster.amountsOf(node)
	result, err := p.proportional.Check(s.amounts, v.Requested, v.Allocatable)
	if err != nil {
		return fwk.AsStatus(err)
	}
	if result.OK {
		return nil
	}
	m := p.cluster.m
	return fwk.NewStatus(fwk.Unschedulable, fmt.Sprintf("Too little %s left for idle %s", m.Name(result.Secondary), m.Name(result.Primary)))
}

// explain says with numbers why no node can hold the pod.
func (p *Plugin) explain(s *state) string {
	c := p.cluster
	m := c.table.Free()
	for i := range s.request.scalars {
		if x := &s.request.scalars[i]; !x.ignored && !x.delegated {
			if _, ok := c.columns[x.name]; !ok {
				return fmt.Sprintf("0/%d nodes are available: no node has %s.", m.Rows(), x.name)
			}
		}
	}
	line := c.m.ExplainRejections(m.Rows(), vector.Rejections(nil, m, s.amounts, nil))
	var capable vector.Mask
	vector.Fit(&capable, m, s.amounts)
	if n := capable.Count(); n > 0 && p.proportional.Enabled() {
		line += fmt.Sprintf(" %d have the room, but keep it for idle devices.", n)
	}
	return line
}
