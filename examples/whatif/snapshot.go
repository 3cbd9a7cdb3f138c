package main

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/resvec/resvec/examples/whatif/placement"
	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A snapshot is what the files say, sorted out: what counts and what doesn't.
type snapshot struct {
	nodes    []node // on which pods can be placed
	cordoned []node // left out
	running  []pod  // on nodes
	queue    []pod  // to be placed, in this order

	// Pods that take nothing from a node and are not placed.
	ended    []pod // succeeded or failed
	gated    []pod // by scheduling gates
	deleting []pod // and not on a node
	orphans  []pod // on nodes that are not in the snapshot
	hidden   []pod // on cordoned nodes

	unknown map[string]int // see objects
}

// newSnapshot sorts out the objects of the cluster, and those that are only
// pending. Two objects of one name are an error.
func newSnapshot(cluster, pending *objects, keepOrder bool) (*snapshot, error) {
	s := &snapshot{unknown: map[string]int{}}
	cordoned := make(map[string]bool)
	seen := make(map[string]place)
	for _, n := range cluster.nodes {
		if other, twice := seen[n.Name]; twice {
			return nil, fmt.Errorf("%s: the same node as %s", n.from, other)
		}
		seen[n.Name] = n.from
		if cordoned[n.Name] = n.Spec.Unschedulable; n.Spec.Unschedulable {
			s.cordoned = append(s.cordoned, n)
		} else {
			s.nodes = append(s.nodes, n)
		}
	}
	clear(seen)
	for _, p := range slices.Concat(cluster.pods, pending.pods) {
		if other, twice := seen[p.key()]; twice {
			return nil, fmt.Errorf("%s: the same pod as %s", p.from, other)
		}
		seen[p.key()] = p.from
		s.sort(p, cordoned)
	}
	for _, p := range pending.pods {
		if p.Spec.NodeName != "" {
			return nil, fmt.Errorf("%s: spec.nodeName: it is on %s, and not pending", p.from, p.Spec.NodeName)
		}
	}
	for _, o := range []*objects{cluster, pending} {
		for path, count := range o.unknown {
			s.unknown[path] += count
		}
	}
	if !keepOrder {
		slices.SortStableFunc(s.queue, byPriorityAndAge)
	}
	return s, nil
}

// sort puts a pod where it belongs.
func (s *snapshot) sort(p pod, cordoned map[string]bool) {
	isCordoned, isNode := cordoned[p.Spec.NodeName]
	to := &s.queue
	switch {
	case p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed:
		to = &s.ended
	case p.Spec.NodeName != "" && !isNode:
		to = &s.orphans
	case isCordoned:
		to = &s.hidden
	case p.Spec.NodeName != "":
		to = &s.running
	case p.DeletionTimestamp != nil:
		to = &s.deleting
	case len(p.Spec.SchedulingGates) > 0:
		to = &s.gated
	}
	*to = append(*to, p)
}

// byPriorityAndAge orders pods as kube-scheduler's queue does, with their creation
// for the time at which they came to it. Pods that were not created yet come last.
func byPriorityAndAge(a, b pod) int {
	if c := cmp.Compare(priority(b), priority(a)); c != 0 {
		return c
	}
	switch created, other := a.CreationTimestamp, b.CreationTimestamp; {
	case created.IsZero() && other.IsZero():
		return 0
	case created.IsZero():
		return 1
	case other.IsZero():
		return -1
	default:
		return created.Time.Compare(other.Time)
	}
}

func priority(p pod) int32 {
	if p.Spec.Priority == nil {
		return 0
	}
	return *p.Spec.Priority
}

// A cluster is a snapshot in the form of the library.
type cluster struct {
	*snapshot
	m        *vectormap.ResourceVectorMap
	state    *placement.State     // before any pod of the queue is placed
	requests []*vector.PodAmounts // of the queue
	kinds    int                  // how many of them are different
	shapes   []shape
	shapeOf  map[string]int // by node, cordoned ones too
}

// newCluster puts a snapshot into the form of the library.
func newCluster(s *snapshot, terms func(*vectormap.ResourceVectorMap) ([]scoring.Term, error)) (*cluster, error) {
	c := &cluster{snapshot: s}
	var err error
	all := slices.Concat(s.nodes, s.cordoned)
	counted := slices.Concat(s.running, s.hidden, s.queue)
	if c.m, err = placement.NewMap(bareNodes(all), barePods(counted)); err != nil {
		return nil, blameObject(err, all, counted)
	}
	scored, err := terms(c.m)
	if err != nil {
		return nil, err
	}
	if c.state, err = placement.NewState(c.m, scored); err != nil {
		return nil, err
	}
	for _, n := range s.nodes {
		if err := c.state.AddNode(n.Node); err != nil {
			return nil, fmt.Errorf("%s: status.allocatable: %w", n.from, err)
		}
	}
	known := make(map[string]*vector.PodAmounts)
	for _, p := range s.running {
		r, err := c.request(p, known)
		if err != nil {
			return nil, err
		}
		if err := c.state.Bind(r, p.Spec.NodeName); err != nil {
			return nil, fmt.Errorf("%s: %w", p.from, err)
		}
	}
	clear(known)
	for _, p := range s.queue {
		r, err := c.request(p, known)
		if err != nil {
			return nil, err
		}
		c.requests = append(c.requests, r)
	}
	c.kinds = len(known)
	return c, c.findShapes(all)
}

// request returns the request of a pod, one for all pods that request the same.
func (c *cluster) request(p pod, known map[string]*vector.PodAmounts) (*vector.PodAmounts, error) {
	r, err := placement.RequestOf(c.m, p.Pod)
	if err != nil {
		return nil, fmt.Errorf("%s: its requests: %w", p.from, err)
	}
	key := fmt.Sprint(r.Requested, r.Scored)
	if same := known[key]; same != nil {
		return same, nil
	}
	known[key] = r
	return r, nil
}

// blameObject says in which object a name is that no map takes.
func blameObject(err error, nodes []node, pods []pod) error {
	for i, n := range nodes {
		if _, err := placement.NewMap(bareNodes(nodes[i:i+1]), nil); err != nil {
			return fmt.Errorf("%s: %w", n.from, err)
		}
	}
	for i, p := range pods {
		if _, err := placement.NewMap(nil, barePods(pods[i:i+1])); err != nil {
			return fmt.Errorf("%s: %w", p.from, err)
		}
	}
	return err // of all together: two names that can't both be
}

func bareNodes(nodes []node) (bare []*corev1.Node) {
	for _, n := range nodes {
		bare = append(bare, n.Node)
	}
	return bare
}

func barePods(pods []pod) (bare []*corev1.Pod) {
	for _, p := range pods {
		bare = append(bare, p.Pod)
	}
	return bare
}

// A shape is a kind of node that the cluster has.
type shape struct {
	name  string
	nodes []string // of this shape

	allocatable vector.ResourceVector // what a new one has
	daemons     *vector.PodAmounts    // what runs on every new one
	cost        float64
}

// room returns what a new node has for other pods.
func (s *shape) room() vector.ResourceVector {
	room := s.allocatable.Clone()
	room.Sub(s.daemons.Requested)
	return room
}

// findShapes returns the shapes of nodes in the order in which they appear. Nodes
// are of one shape when they have the same instance type, or none, and the same
// amounts. Nodes of one type may differ in cpu, memory and ephemeral storage, of
// which the kubelet and the hardware keep a little more here or there; a new one
// has the least of each. It runs as much as the node whose DaemonSet and static
// pods request most, resource by resource.
func (c *cluster) findShapes(nodes []node) error {
	index := make(map[string]int)
	c.shapeOf = make(map[string]int)
	for _, n := range nodes {
		amounts, err := c.m.NodeAllocatable(nil, n.Node, nil)
		if err != nil {
			return fmt.Errorf("%s: status.allocatable: %w", n.from, err)
		}
		instance := n.Labels[corev1.LabelInstanceTypeStable]
		key := c.shapeKey(instance, amounts)
		i, known := index[key]
		if !known {
			i = len(c.shapes)
			index[key] = i
			c.shapes = append(c.shapes, shape{name: cmp.Or(instance, "as "+n.Name), allocatable: amounts, cost: 1,
				daemons: &vector.PodAmounts{Requested: c.m.NewVector(), Scored: c.m.NewVector()}})
		}
		c.shapeOf[n.Name] = i
		s := &c.shapes[i]
		s.nodes = append(s.nodes, n.Name)
		for j, amount := range amounts {
			s.allocatable[j] = min(s.allocatable[j], amount)
		}
	}
	nameTwins(c.shapes)
	return c.addDaemons()
}

// shapeKey returns what nodes of one shape have in common.
func (c *cluster) shapeKey(instance string, amounts vector.ResourceVector) string {
	key := amounts.Clone()
	for j := range key {
		switch name := c.m.Name(j); {
		case instance == "":
		case name == "cpu", name == "memory", name == "ephemeral-storage":
			key[j] = 0
		}
	}
	return fmt.Sprint(instance, key)
}

// nameTwins names shapes of one instance type after a node of each.
func nameTwins(shapes []shape) {
	count := make(map[string]int)
	for _, s := range shapes {
		count[s.name]++
	}
	for i := range shapes {
		if s := &shapes[i]; count[s.name] > 1 {
			s.name += " as " + s.nodes[0]
		}
	}
}

// addDaemons sets what runs on every new node.
func (c *cluster) addDaemons() error {
	sums := make(map[string]*vector.PodAmounts) // by node
	for _, p := range slices.Concat(c.running, c.hidden) {
		if !isDaemon(p) {
			continue
		}
		r, err := placement.RequestOf(c.m, p.Pod)
		if err != nil {
			return fmt.Errorf("%s: its requests: %w", p.from, err)
		}
		sum := sums[p.Spec.NodeName]
		if sum == nil {
			sum = new(vector.PodAmounts)
			sums[p.Spec.NodeName] = sum
		}
		sum.Requested.Add(r.Requested)
		sum.Scored.Add(r.Scored)
	}
	for name, sum := range sums {
		daemons := c.shapes[c.shapeOf[name]].daemons
		daemons.Requested.SetMax(sum.Requested)
		daemons.Scored.SetMax(sum.Scored)
	}
	return nil
}

// isDaemon reports whether a pod is one that comes with its node: of a DaemonSet,
// or a static one.
func isDaemon(p pod) bool {
	owner := metav1.GetControllerOf(p.Pod)
	return owner != nil && (owner.Kind == "DaemonSet" || owner.Kind == "Node")
}
