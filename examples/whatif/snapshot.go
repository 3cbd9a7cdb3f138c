package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/resvec/resvec/examples/internal/command"
	"github.com/resvec/resvec/examples/internal/progress"
	"github.com/resvec/resvec/examples/whatif/placement"
	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/scoring/profile"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// A snapshot is what the files say, sorted out: what counts and what doesn't.
type snapshot struct {
	nodes   []node
	running []pod // on nodes
	queue   []pod // to be placed, in this order

	// Pods that take nothing from a node and are not placed.
	ended    []pod // succeeded or failed
	gated    []pod // by scheduling gates
	deleting []pod // and not on a node
	orphans  []pod // on nodes that are not in the snapshot
	vast     []pod // that request more than can be computed with, so more than any node has
	parts    []pod // that ask KAI-Scheduler for parts of GPUs

	owners []any // namespaces, services and owners of pods
	like   bool  // scores are those of kube-scheduler's default profile

	startup []string        // keys of taints that a new node loses
	sliced  map[string]bool // nodes of which ResourceSlices say the devices

	line *progress.Line // says how far it is

	notRead  map[string]int // see objects
	unknown  map[string]int // see objects
	least    map[string]int // see objects
	problems []string
	ignored  []ignored
}

// ignored is a resource that is left out of what pods request, and of how many.
type ignored struct {
	name string
	pods int
}

// newSnapshot sorts out the objects of the cluster, and those that are only
// pending. Two objects of one name are an error.
func newSnapshot(cluster, pending *objects, keepOrder bool) (*snapshot, error) {
	s := &snapshot{notRead: cluster.notRead, unknown: map[string]int{}, least: map[string]int{}, line: cluster.line}
	here := make(map[string]bool)
	seen := make(map[string]place)
	for _, n := range cluster.nodes {
		if other, twice := seen[n.Name]; twice {
			return nil, fmt.Errorf("%s: the same node as %s", n.from, other)
		}
		seen[n.Name] = n.from
		here[n.Name] = true
		s.nodes = append(s.nodes, n)
	}
	clear(seen)
	for _, p := range slices.Concat(cluster.pods, pending.pods) {
		if other, twice := seen[p.key()]; twice {
			return nil, fmt.Errorf("%s: the same pod as %s", p.from, other)
		}
		seen[p.key()] = p.from
		s.sort(p, here)
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
		maps.Copy(s.least, o.least)
	}
	s.problems = slices.Concat(cluster.problems, pending.problems)
	s.owners = slices.Concat(cluster.owners, pending.owners)
	if err := s.countClaims(cluster.dra.with(&pending.dra)); err != nil {
		return nil, err
	}
	if !keepOrder {
		slices.SortStableFunc(s.queue, byPriorityAndAge)
	}
	return s, nil
}

// step says how far something is, now and then.
func (s *snapshot) step(what string, i, of int) {
	if i%1024 == 0 {
		s.line.Printf("%s: %d of %d", what, i, of)
	}
}

// sort puts a pod where it belongs.
func (s *snapshot) sort(p pod, here map[string]bool) {
	to := &s.queue
	switch {
	case p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed:
		to = &s.ended
	case p.Spec.NodeName != "" && !here[p.Spec.NodeName]:
		to = &s.orphans
	case p.Spec.NodeName != "":
		to = &s.running
	case p.DeletionTimestamp != nil:
		to = &s.deleting
	case len(p.Spec.SchedulingGates) > 0:
		to = &s.gated
	}
	*to = append(*to, p)
}

// ignore leaves resources out of what pods request. An extender of the scheduler counts
// them, such as HAMi's, and no node announces them.
func (s *snapshot) ignore(names []string) error {
	for _, name := range names {
		for _, n := range s.nodes {
			for _, list := range []corev1.ResourceList{n.Status.Allocatable, n.Status.Capacity} {
				if _, has := list[corev1.ResourceName(name)]; has {
					return fmt.Errorf("%s: node %s announces it", name, n.Name)
				}
			}
		}
		out := ignored{name: name}
		known := make(map[*corev1.Pod]*corev1.Pod) // pods may share an object
		for _, pods := range [][]pod{s.running, s.queue} {
			for i, p := range pods {
				bare, seen := known[p.Pod]
				if !seen {
					bare = without(p.Pod, corev1.ResourceName(name))
					known[p.Pod] = bare
				}
				if bare != nil {
					pods[i].Pod = bare
					out.pods++
				}
			}
		}
		if out.pods == 0 {
			return fmt.Errorf("%s: no pod requests it%s", name, command.Nearest(name, s.requested()))
		}
		s.ignored = append(s.ignored, out)
	}
	return nil
}

// loseTaints says which taints, by key, nodes lose once they are ready.
func (s *snapshot) loseTaints(keys []string) error {
	var there []string
	for _, n := range s.nodes {
		for _, taint := range n.Spec.Taints {
			there = append(there, taint.Key)
		}
	}
	for _, key := range keys {
		if !slices.Contains(there, key) {
			return fmt.Errorf("%s: no node has a taint with this key%s", key, command.Nearest(key, there))
		}
	}
	s.startup = keys
	return nil
}

// requested returns the names of all resources that containers request.
func (s *snapshot) requested() (names []string) {
	for _, pods := range [][]pod{s.running, s.queue} {
		for _, p := range pods {
			for _, c := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers) {
				for _, list := range []corev1.ResourceList{c.Resources.Requests, c.Resources.Limits} {
					for name := range list {
						names = append(names, string(name))
					}
				}
			}
		}
	}
	return names
}

// without returns a pod without a resource; nil if it doesn't request it.
func without(p *corev1.Pod, name corev1.ResourceName) *corev1.Pod {
	found := false
	bare := p.DeepCopy()
	drop := func(lists ...corev1.ResourceList) {
		for _, list := range lists {
			if _, has := list[name]; has {
				delete(list, name)
				found = true
			}
		}
	}
	for _, containers := range [][]corev1.Container{bare.Spec.InitContainers, bare.Spec.Containers} {
		for _, c := range containers {
			drop(c.Resources.Requests, c.Resources.Limits)
		}
	}
	for _, statuses := range [][]corev1.ContainerStatus{bare.Status.InitContainerStatuses, bare.Status.ContainerStatuses} {
		for _, c := range statuses {
			if drop(c.AllocatedResources); c.Resources != nil {
				drop(c.Resources.Requests, c.Resources.Limits)
			}
		}
	}
	if r := bare.Spec.Resources; r != nil {
		drop(r.Requests, r.Limits)
	}
	drop(bare.Spec.Overhead)
	if !found {
		return nil
	}
	return bare
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
	state    *placement.State             // before any pod of the queue is placed
	requests []*vector.PodAmounts         // of the queue
	objects  []*corev1.Pod                // of the queue; where the state observes objects, each has its name
	alike    []int                        // of the queue: a number for what other pods mean to it
	excludes map[int]map[string]exclusion // by this number, see exclusionsOf
	kinds    int                          // how many of them are different
	verdicts []*verdict                   // of the queue: which nodes each may go to
	hosts    []placement.Host             // of the nodes
	gangs    []*gangOfPods                // of the queue
	gangOf   []*gangOfPods                // of each pod of the queue, nil for none
	inBytes  map[string]bool              // extended resources of which nodes have Ki, Mi, Gi
	shapes   []shape
	shapeOf  map[string]int // by node
}

// newCluster puts a snapshot into the form of the library.
func newCluster(s *snapshot, terms func(*vectormap.ResourceVectorMap) ([]scoring.Term, error)) (*cluster, error) {
	c := &cluster{snapshot: s}
	var err error
	counted := slices.Concat(s.running, s.queue)
	if c.m, err = placement.NewMap(bareNodes(s.nodes), barePods(counted)); err != nil {
		return nil, blameObject(err, s.nodes, counted)
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
	known := newRequests()
	for i, p := range s.running {
		s.step("counting pods that run", i, len(s.running))
		r, err := c.request(p, known)
		if err != nil {
			return nil, err
		}
		if err := c.state.Bind(r, p.Spec.NodeName); err != nil {
			return nil, fmt.Errorf("%s: %w", p.from, err)
		}
	}
	known = newRequests()
	queue := s.queue
	s.queue = nil
	for i, p := range queue {
		s.step("counting pods that wait", i, len(queue))
		if asksForPart(p.Pod) {
			s.parts = append(s.parts, p)
			continue
		}
		r, err := c.request(p, known)
		switch {
		case errors.Is(err, vector.ErrNotRepresentable) && !errors.Is(err, vector.ErrNegative):
			s.vast = append(s.vast, p)
			s.problems = append(s.problems, err.Error())
			continue
		case err != nil:
			return nil, err
		}
		s.queue = append(s.queue, p)
		c.requests = append(c.requests, r)
	}
	c.kinds, c.gangOf = len(known.alike), make([]*gangOfPods, len(s.queue))
	if c.hosts, err = placement.Hosts(bareNodes(s.nodes)); err != nil {
		return nil, err
	}
	c.inBytes = make(map[string]bool)
	for i, n := range s.nodes {
		c.hosts[i].Closed = n.closed
		for name, q := range n.Status.Allocatable {
			if q.Format == resource.BinarySI {
				c.inBytes[string(name)] = true
			}
		}
	}
	if err := c.findShapes(); err != nil {
		return nil, err
	}
	c.findVerdicts()
	return c, c.observe()
}

// observe makes the state look at objects where a constraint asks for it, or the scores do.
func (c *cluster) observe() error {
	c.objects, c.alike = barePods(c.queue), make([]int, len(c.queue))
	if !c.like && !slices.ContainsFunc(c.queue, func(p pod) bool { return isConstrained(p.Pod) }) &&
		!slices.ContainsFunc(c.running, func(p pod) bool { return len(termsOf(p.Pod).excludes) > 0 }) {
		return nil
	}
	number := make(map[string]int)
	for i, p := range c.queue {
		c.objects[i] = p.named()
		key := constraintKey(p.Pod)
		if _, known := number[key]; !known {
			number[key] = len(number)
		}
		c.alike[i] = number[key]
	}
	if err := c.state.Observe(profile.Config{}, c.like, c.owners...); err != nil {
		return err
	}
	on := make([][]*corev1.Pod, len(c.nodes))
	for _, p := range c.running {
		row, _ := c.state.Row(p.Spec.NodeName)
		on[row] = append(on[row], p.named())
	}
	for row, n := range c.nodes {
		c.step("what is on nodes", row, len(c.nodes))
		if err := c.state.SetObjects(row, c.hosts[row].Object(n.Name), on[row]); err != nil {
			return fmt.Errorf("%s: %w", n.from, err)
		}
	}
	return nil
}

// requests are the requests of pods, by object and by amounts.
type requests struct {
	of    map[*corev1.Pod]*vector.PodAmounts
	alike map[string]*vector.PodAmounts
}

func newRequests() requests {
	return requests{make(map[*corev1.Pod]*vector.PodAmounts), make(map[string]*vector.PodAmounts)}
}

// request returns the request of a pod, one for all pods that request the same.
func (c *cluster) request(p pod, known requests) (*vector.PodAmounts, error) {
	if r := known.of[p.Pod]; r != nil {
		return r, nil
	}
	r, err := placement.RequestOf(c.m, p.Pod)
	if err != nil {
		return nil, fmt.Errorf("%s: its requests: %w", p.from, err)
	}
	key := fmt.Sprint(r.Requested, r.Scored)
	if same := known.alike[key]; same != nil {
		r = same
	}
	known.of[p.Pod], known.alike[key] = r, r
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
