// Package placement places pods on nodes one after the other, as kube-scheduler
// does: which nodes a pod may go to, which can hold it, how good each of them is,
// which are the best, and what is left once the pod is there. A [Filter] is the pod's
// taints, node selector and required node affinity. It knows no other constraint: no pod
// affinity, spreading, ports, volumes or claims, and no preemption.
//
//	m, err := placement.NewMap(nodes, pods)
//	terms, err := placement.KubeTerms(m, placement.DefaultStrategy(), 1, 1)
//	state, err := placement.NewState(m, terms)
//	err = state.AddNode(node)                  // each node
//	err = state.Bind(request, node.Name)       // each pod that runs
//	request, err := placement.RequestOf(m, pod)
//	decision, err := state.Decide(pod, request, nil) // each pod to be placed
//	row := decision.Choose(vector.TieSeeded(42))
//	err = state.Assume(row, pod, request)
package placement

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/scoring/profile"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
)

// NewMap returns the map of everything that the nodes have and the pods request.
// No two resources are folded into one, so that refusals carry the names that
// the objects have.
func NewMap(nodes []*corev1.Node, pods []*corev1.Pod) (*vectormap.ResourceVectorMap, error) {
	b := vectormap.NewBuilder(vectormap.NoFold())
	for _, node := range nodes {
		b.AddNode(node)
	}
	for _, pod := range pods {
		b.AddPod(pod)
	}
	return b.Build()
}

// RequestOf returns what a pod requests, with what its status reports while it
// is resized in place, and as the API server would make it if it is a manifest that
// was not applied. Scored has 100m of cpu and 200 MiB of memory for every container that
// requests none. A name that the map does not have, and an amount that is
// negative or beyond 2^53, is an error. The request is not changed by anybody, so
// pods may share it.
func RequestOf(m *vectormap.ResourceVectorMap, pod *corev1.Pod) (*vector.PodAmounts, error) {
	r := new(vector.PodAmounts)
	var err error
	options := vectormap.PodOptions{APIServerDefaults: true, UseStatusResources: true}
	r.Requested, r.Scored, err = m.PodRequestBoth(nil, nil, pod, options, nil)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// DefaultStrategy returns what NodeResourcesFit scores by when nobody configures
// it: LeastAllocated over cpu and memory.
func DefaultStrategy() scoring.KubeConfig {
	return scoring.KubeConfig{
		Type:      scoring.LeastAllocated,
		Resources: []scoring.KubeResource{{Name: "cpu", Weight: 1}, {Name: "memory", Weight: 1}},
	}
}

// KubeTerms returns the two terms of kube-scheduler's score that resources alone
// decide: NodeResourcesFit with a strategy and a weight, and
// NodeResourcesBalancedAllocation over the same resources. A term of weight 0 is
// left out. Pods that request none of these resources get nothing from the second,
// as in kube-scheduler, whose PreScore skips it for them: they would all go to the
// same node. A strategy of type BalancedAllocation is not one of NodeResourcesFit;
// it is fed with the true amounts.
func KubeTerms(m *vectormap.ResourceVectorMap, strategy scoring.KubeConfig, weight, balanced float64) ([]scoring.Term, error) {
	var terms []scoring.Term
	add := func(cfg scoring.KubeConfig, weight float64) error {
		if weight == 0 {
			return nil
		}
		scorer, err := scoring.CompileKube(cfg, m)
		if err != nil {
			return err
		}
		terms = append(terms, scoring.Term{Scorer: scorer, Weight: weight, Scored: cfg.Type != scoring.BalancedAllocation})
		return nil
	}
	if err := add(strategy, weight); err != nil {
		return nil, err
	}
	even := scoring.KubeConfig{Type: scoring.BalancedAllocation}
	for _, r := range strategy.Resources {
		even.Resources = append(even.Resources, scoring.KubeResource{Name: r.Name, Weight: 1})
	}
	if err := add(even, balanced); err != nil {
		return nil, err
	}
	return terms, nil
}

// A State is a set of nodes and what is in use on each of them. It is made by
// [NewState] and is for one goroutine. A row is a node, in the order in which
// they were added.
//
// Methods that take a pod and its request look at the pod only where the state observes
// objects; otherwise it may be nil.
type State struct {
	m       *vectormap.ResourceVectorMap
	nodes   *vector.Nodes
	sum     scoring.Scorer // nil: without terms
	scores  *scoring.Bound // of sum; nil without
	objects *objects       // nil: amounts alone decide

	fits   vector.Mask
	points []float64
	counts []int
}

// NewState returns a state without nodes. The scorers of the terms must have been
// compiled against m. Without terms every node scores 0. Errors are as in
// [scoring.Combine].
func NewState(m *vectormap.ResourceVectorMap, terms []scoring.Term) (*State, error) {
	if len(terms) == 0 {
		return newState(m, nil), nil
	}
	sum, err := scoring.Combine(terms)
	if err != nil {
		return nil, err
	}
	return newState(m, sum), nil
}

func newState(m *vectormap.ResourceVectorMap, sum scoring.Scorer) *State {
	s := &State{m: m, sum: sum, nodes: m.NewNodes(vector.WithScored())}
	if sum != nil {
		s.scores = scoring.Bind(sum, s.nodes)
	}
	return s
}

// Clone returns a state with the same nodes, amounts and objects, which can be changed
// without changing s.
func (s *State) Clone() *State {
	c := newState(s.m, s.sum)
	var a vector.NodeAmounts
	for name, row := range s.nodes.All() {
		a.Allocatable = s.nodes.Allocatable().Row(a.Allocatable, row)
		a.Requested = s.nodes.Requested().Row(a.Requested, row)
		a.Scored = s.nodes.Scored().Row(a.Scored, row)
		if _, _, err := c.nodes.Set(name, 0, a); err != nil {
			panic(err) // s has them
		}
	}
	if err := s.copyObjects(c); err != nil {
		panic(err) // s has them
	}
	return c
}

// AddNode adds a node on which nothing runs. A name that is there already, and
// an amount that is negative or beyond 2^53, is an error.
func (s *State) AddNode(node *corev1.Node) error {
	allocatable, err := s.m.NodeAllocatable(nil, node, nil)
	if err != nil {
		return err
	}
	return s.AddAmounts(node.Name, allocatable)
}

// AddAmounts adds a node that has these amounts and on which nothing runs.
func (s *State) AddAmounts(name string, allocatable vector.ResourceVector) error {
	if _, known := s.nodes.Row(name); known {
		return fmt.Errorf("a second node %q", name)
	}
	_, _, err := s.nodes.Set(name, 0, vector.NodeAmounts{Allocatable: allocatable})
	return err
}

// Len returns the number of nodes.
func (s *State) Len() int { return s.nodes.Len() }

// Name returns the name of the node in a row.
func (s *State) Name(row int) string { return s.nodes.Name(row) }

// Row returns the row of a node.
func (s *State) Row(name string) (row int, ok bool) { return s.nodes.Row(name) }

// Nodes returns the nodes, for reading.
func (s *State) Nodes() *vector.Nodes { return s.nodes }

// A Decision is what can be said about a pod. It is a view of the state that made
// it, valid until that state is changed or decides again.
type Decision struct {
	Fits   *vector.Mask // the nodes that can hold the pod
	Scores []float64    // of the nodes in Fits, by row; the others are not set
}

// Decide says which nodes can hold a pod, and how good each of these is. rows are those
// that it may go to; nil is all of them. Without objects it allocates nothing, but after nodes
// were added; who wants nothing but a node asks [scoring.Bound.Best]. A pod whose terms can't be
// parsed is an error.
func (s *State) Decide(pod *corev1.Pod, r *vector.PodAmounts, rows *vector.Mask) (Decision, error) {
	if n := s.Len(); len(s.points) < n {
		s.points = make([]float64, n)
	}
	decision := Decision{Fits: &s.fits, Scores: s.points}
	if s.objects != nil {
		q := profile.Question{Pod: pod, Amounts: *r, Rows: rows}
		if err := s.objects.decide(&s.fits, s.points, q); err != nil || s.objects.like {
			return decision, err
		}
	} else {
		vector.Fit(&s.fits, s.nodes.Free(), r.Requested)
		if rows != nil {
			s.fits.And(&s.fits, rows)
		}
	}
	if s.scores == nil {
		return decision, nil
	}
	return decision, s.scores.Score(s.points, *r, &s.fits)
}

// FitsAny reports whether one of some nodes can hold a pod.
func (s *State) FitsAny(pod *corev1.Pod, r *vector.PodAmounts, rows *vector.Mask) bool {
	if s.objects != nil {
		d, err := s.Decide(pod, r, rows)
		return err == nil && d.Fits.Any()
	}
	vector.FitAmong(&s.fits, s.nodes.Free(), r.Requested, rows)
	return s.fits.Any()
}

// Choose returns one of the best nodes by a rule for ties, or -1 when no node can
// hold the pod.
func (d Decision) Choose(tie vector.Tie) int { return vector.ArgMax(d.Scores, d.Fits, tie) }

// Place places pods one after the other, as a loop of Decide, Choose and Assume does, and faster
// without objects: what is alike is looked at once. It sets dst[i] to the row of the pod that
// requests[i], -1 for none, and returns dst. among[i] are the rows that it may go to; pods that
// may go to the same rows should have the same mask.
func (s *State) Place(dst []int32, pods []*corev1.Pod, requests []vector.PodAmounts, among []*vector.Mask, tie vector.Tie) []int32 {
	if s.scores != nil && s.objects == nil {
		return s.scores.Place(dst, requests, among, tie)
	}
	dst = dst[:0]
	for i := range requests {
		var pod *corev1.Pod
		if s.objects != nil {
			pod = pods[i]
		}
		row := -1
		if d, err := s.Decide(pod, &requests[i], among[i]); err == nil {
			row = d.Choose(tie)
		}
		if row >= 0 && s.Assume(row, pod, &requests[i]) != nil {
			row = -1 // amounts that no node can have
		}
		dst = append(dst, int32(row))
	}
	return dst
}

// Best sets dst to all nodes with the greatest score among those that can hold
// the pod. It is empty when none can.
func (d Decision) Best(dst *vector.Mask) {
	dst.Reset(d.Fits.Len())
	first := d.Choose(vector.TieLowest())
	if first < 0 {
		return
	}
	for row := range d.Fits.All() {
		if d.Scores[row] == d.Scores[first] {
			dst.Set(row)
		}
	}
}

// Assume puts a pod on the node in a row, whether it fits there or not.
func (s *State) Assume(row int, pod *corev1.Pod, r *vector.PodAmounts) error {
	if s.objects != nil {
		return s.objects.add(row, pod, r)
	}
	return s.nodes.Assume(row, *r)
}

// Forget takes a pod away that was assumed.
func (s *State) Forget(row int, pod *corev1.Pod, r *vector.PodAmounts) error {
	if s.objects != nil {
		return s.objects.remove(row, pod, r)
	}
	return s.nodes.Forget(row, *r)
}

// Bind adds amounts to a node, by its name. Objects are those of [State.SetObjects].
func (s *State) Bind(r *vector.PodAmounts, node string) error {
	row, ok := s.nodes.Row(node)
	if !ok {
		return fmt.Errorf("no node %q", node)
	}
	return s.nodes.Assume(row, *r)
}

// Explain says why a pod fits on none of the nodes, in the words of
// kube-scheduler's events:
//
//	0/6 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu, 4 Too many pods.
//
// A node that lacks two resources counts for both; one that lacks a resource doesn't count for
// other pods on it, nor one whose ports are taken for what it lacks. rows are those that the pod
// may go to; nil is all of them. others are reasons why it may not go to the others, with numbers
// of nodes.
func (s *State) Explain(pod *corev1.Pod, r *vector.PodAmounts, rows *vector.Mask, others map[string]int) string {
	if s.Len() == 0 {
		return "no nodes available to schedule pods"
	}
	if s.objects != nil {
		if rows == nil {
			rows = vector.NewMask(s.Len())
			rows.SetAll()
		}
		known := others
		others = make(map[string]int)
		maps.Copy(others, known)
		free, err := s.objects.explain(others, profile.Question{Pod: pod, Amounts: *r, Rows: rows})
		if err != nil {
			return fmt.Sprintf("0/%d nodes are available: %v.", s.Len(), err)
		}
		rows = free
	}
	s.counts = vector.Rejections(s.counts, s.nodes.Free(), r.Requested, rows)
	var reasons []string
	for reason, nodes := range others {
		reasons = append(reasons, fmt.Sprint(nodes, " ", reason))
	}
	for i, nodes := range s.counts {
		switch {
		case nodes == 0:
		case i == vectormap.Pods:
			reasons = append(reasons, fmt.Sprintf("%d Too many pods", nodes))
		default:
			reasons = append(reasons, fmt.Sprintf("%d Insufficient %s", nodes, s.m.Name(i)))
		}
	}
	slices.Sort(reasons) // as text, as kube-scheduler does
	return fmt.Sprintf("0/%d nodes are available: %s.", s.Len(), strings.Join(reasons, ", "))
}
