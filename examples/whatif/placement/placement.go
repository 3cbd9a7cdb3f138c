// Package placement places pods on nodes one after the other, as kube-scheduler
// does by resources alone: which nodes can hold a pod, how good each of them is,
// which are the best, and what is left once the pod is there. It is the library
// with nothing around it, and knows no other constraint: no taints, affinity,
// spreading, ports, volumes or claims, and no preemption.
//
//	m, err := placement.NewMap(nodes, pods)
//	terms, err := placement.KubeTerms(m, placement.DefaultStrategy(), 1, 1)
//	state, err := placement.NewState(m, terms)
//	err = state.AddNode(node)                  // each node
//	err = state.Bind(request, node.Name)       // each pod that runs
//	request, err := placement.RequestOf(m, pod)
//	decision, err := state.Decide(request)     // each pod to be placed
//	row := decision.Choose(vector.TieSeeded(42))
//	err = state.Assume(row, request)
package placement

import (
	"fmt"
	"slices"
	"strings"

	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
)

// The matrices of a State, by which [State.Matrix] returns them.
const (
	Used        = iota // what the pods of a node request
	Allocatable        // what a node has
	Free               // Allocatable less Used
	Scored             // Used with the default amounts of kube-scheduler's scores
	matrices
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

// A Request is what a pod requests, in the units of the map. It is not changed
// once it is made, so pods may share it.
type Request struct {
	Amounts vector.ResourceVector // what it takes from a node

	// Scored is Amounts with 100m of cpu and 200 MiB of memory for every
	// container that requests none.
	Scored vector.ResourceVector
}

// RequestOf returns the request of a pod, with what its status reports while it
// is resized in place, and as the API server would make it if it is a manifest that
// was not applied. A name that the map does not have, and an amount that is
// negative or beyond 2^53, is an error.
func RequestOf(m *vectormap.ResourceVectorMap, pod *corev1.Pod) (*Request, error) {
	r := new(Request)
	var err error
	options := vectormap.PodOptions{APIServerDefaults: true, UseStatusResources: true}
	r.Amounts, r.Scored, err = m.PodRequestBoth(nil, nil, pod, options, nil)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// A Term is one part of a score.
type Term struct {
	Scorer scoring.Scorer
	Weight float64

	// Defaults gives the scorer the amounts called Scored instead of the true
	// ones. kube-scheduler does so for the strategies of NodeResourcesFit, and
	// not for NodeResourcesBalancedAllocation.
	Defaults bool
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
func KubeTerms(m *vectormap.ResourceVectorMap, strategy scoring.KubeConfig, weight, balanced float64) ([]Term, error) {
	var terms []Term
	add := func(cfg scoring.KubeConfig, weight float64) error {
		if weight == 0 {
			return nil
		}
		scorer, err := scoring.CompileKube(cfg, m)
		if err != nil {
			return err
		}
		terms = append(terms, Term{Scorer: scorer, Weight: weight, Defaults: cfg.Type != scoring.BalancedAllocation})
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
type State struct {
	m     *vectormap.ResourceVectorMap
	nodes *vector.Table
	terms []Term
	score *scoring.Combination // of the terms; nil without any

	fits    vector.Mask
	scores  []float64
	amounts []scoring.TermRows // of each term
	scratch scoring.CombineScratch
	counts  []int
}

// NewState returns a state without nodes. The scorers of the terms must have been
// compiled against m. Without terms every node scores 0. Errors are those of
// [scoring.Combine].
func NewState(m *vectormap.ResourceVectorMap, terms []Term) (*State, error) {
	s := &State{m: m, nodes: m.NewTable(matrices), terms: terms, amounts: make([]scoring.TermRows, len(terms))}
	if len(terms) == 0 {
		return s, nil
	}
	var list []scoring.Term
	for _, t := range terms {
		list = append(list, scoring.Term{Scorer: t.Scorer, Weight: t.Weight})
	}
	var err error
	s.score, err = scoring.Combine(list)
	return s, err
}

// Clone returns a state with the same nodes and amounts, which can be changed
// without changing s.
func (s *State) Clone() *State {
	c := &State{m: s.m, nodes: s.m.NewTable(matrices), terms: s.terms, score: s.score, amounts: make([]scoring.TermRows, len(s.terms))}
	rows := make([]vector.ResourceVector, matrices)
	for name, row := range s.nodes.All() {
		for k := range rows {
			rows[k] = s.nodes.Matrix(k).Row(rows[k], row)
		}
		c.nodes.Upsert(name, 0, rows...)
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
	s.nodes.Upsert(name, 0, nil, allocatable, allocatable, nil)
	return nil
}

// Len returns the number of nodes.
func (s *State) Len() int { return s.nodes.Len() }

// Name returns the name of the node in a row.
func (s *State) Name(row int) string { return s.nodes.Name(row) }

// Row returns the row of a node.
func (s *State) Row(name string) (row int, ok bool) { return s.nodes.Row(name) }

// Matrix returns one of the matrices: Used, Allocatable, Free or Scored. It is
// read-only and follows the state.
func (s *State) Matrix(k int) *vector.Matrix { return s.nodes.Matrix(k) }

// A Decision is what can be said about a pod. It is a view of the state that made
// it, valid until that state is changed or decides again.
type Decision struct {
	Fits   *vector.Mask // the nodes that can hold the pod
	Scores []float64    // of the nodes in Fits, by row; the others are not set
}

// Decide says which nodes can hold a pod, and how good each of these is.
// It allocates nothing, but after nodes were added. It scores all nodes anew: that
// is a matter of microseconds, and a [scoring.Cache] pays only where the pods are
// of few kinds.
func (s *State) Decide(r *Request) (Decision, error) {
	if n := s.Len(); len(s.scores) < n {
		s.scores = make([]float64, n)
	}
	vector.Fit(&s.fits, s.nodes.Matrix(Free), r.Amounts)
	decision := Decision{Fits: &s.fits, Scores: s.scores}
	if s.score == nil {
		return decision, nil
	}
	for k, term := range s.terms {
		s.amounts[k] = scoring.TermRows{Request: r.Amounts, Used: s.nodes.Matrix(Used)}
		if term.Defaults {
			s.amounts[k] = scoring.TermRows{Request: r.Scored, Used: s.nodes.Matrix(Scored)}
		}
	}
	err := s.score.ScoreTermsBatch(&s.scratch, s.scores, s.amounts, s.nodes.Matrix(Allocatable), &s.fits)
	return decision, err
}

// Choose returns one of the best nodes by a rule for ties, or -1 when no node can
// hold the pod.
func (d Decision) Choose(tie vector.Tie) int { return vector.ArgMax(d.Scores, d.Fits, tie) }

// Best sets dst to all nodes with the greatest score among those that can hold
// the pod. It is empty when none can.
func (d Decision) Best(dst *vector.Mask) {
	dst.Resize(d.Fits.Len())
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
func (s *State) Assume(row int, r *Request) error {
	if err := s.nodes.Move(Free, Used, row, r.Amounts); err != nil {
		return err
	}
	return s.nodes.AddRow(Scored, row, r.Scored)
}

// Forget takes a pod away that was assumed.
func (s *State) Forget(row int, r *Request) error {
	if err := s.nodes.Move(Used, Free, row, r.Amounts); err != nil {
		return err
	}
	return s.nodes.SubRow(Scored, row, r.Scored)
}

// Bind is Assume on a node by name.
func (s *State) Bind(r *Request, node string) error {
	row, ok := s.nodes.Row(node)
	if !ok {
		return fmt.Errorf("no node %q", node)
	}
	return s.Assume(row, r)
}

// Explain says why a pod fits on none of the nodes, in the words of
// kube-scheduler's events:
//
//	0/6 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu, 4 Too many pods.
//
// A node that lacks two resources counts for both. unschedulable nodes are not in
// the state and count besides.
func (s *State) Explain(r *Request, unschedulable int) string {
	s.counts = vector.Rejections(s.counts, s.nodes.Matrix(Free), r.Amounts, nil)
	var reasons []string
	if unschedulable > 0 {
		reasons = append(reasons, fmt.Sprintf("%d node(s) were unschedulable", unschedulable))
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
	if s.Len()+unschedulable == 0 {
		return "no nodes available to schedule pods"
	}
	return fmt.Sprintf("0/%d nodes are available: %s.", s.Len()+unschedulable, strings.Join(reasons, ", "))
}
