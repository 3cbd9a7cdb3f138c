package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/examples/whatif/placement"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A shape is a kind of node that the cluster has.
type shape struct {
	name  string
	nodes []string       // of this shape
	host  placement.Host // a new one, as filters see it

	allocatable vector.ResourceVector // what a new one has
	daemons     *vector.PodAmounts    // what runs on every new one
	agents      []*corev1.Pod         // a pod of each DaemonSet of which one does
	cost        float64
}

// room returns what a new node has for other pods.
func (s *shape) room() vector.ResourceVector {
	room := s.allocatable.Clone()
	room.Sub(s.daemons.Requested)
	return room
}

// agentsOn returns the pods of DaemonSets on a new node.
func (s *shape) agentsOn(name string) (pods []*corev1.Pod) {
	for _, agent := range s.agents {
		pod := *agent
		pod.Name += " on " + name
		pods = append(pods, &pod)
	}
	return pods
}

// findShapes returns the shapes of nodes in the order in which they appear. Nodes
// are of one shape when they have the same instance type, or none, the same amounts, the
// same devices and taints, and the same values of the labels that pods of the queue select
// by, or that make the domains in which pods are spread and kept together or apart. Nodes of one type may differ in cpu, memory and ephemeral storage, of
// which the kubelet and the hardware keep a little more here or there; a new one
// has the least of each. It runs as much as the node whose DaemonSet and static
// pods request most, resource by resource.
func (c *cluster) findShapes() error {
	var labels []string
	if c.like {
		labels = append(labels, corev1.LabelTopologyZone) // of default constraints
	}
	for _, p := range c.queue {
		labels = append(append(labels, placement.Keys(p.Pod)...), topologyKeys(p.Pod, c.like)...)
	}
	for _, p := range c.running {
		labels = append(labels, topologyKeys(p.Pod, c.like)...)
	}
	slices.Sort(labels)
	labels = slices.Compact(labels)
	index := make(map[string]int)
	c.shapeOf = make(map[string]int)
	for row, n := range c.nodes {
		amounts, err := c.m.NodeAllocatable(nil, n.Node, nil)
		if err != nil {
			return fmt.Errorf("%s: status.allocatable: %w", n.from, err)
		}
		instance, host := n.Labels[corev1.LabelInstanceTypeStable], c.hosts[row].New(c.startup...)
		key := c.shapeKey(instance, amounts, &host, labels)
		i, known := index[key]
		if !known {
			i = len(c.shapes)
			index[key] = i
			c.shapes = append(c.shapes, shape{name: cmp.Or(instance, "as "+n.Name), host: host, allocatable: amounts, cost: 1,
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
func (c *cluster) shapeKey(instance string, amounts vector.ResourceVector, host *placement.Host, labels []string) string {
	key := amounts.Clone()
	for j := range key {
		switch name := c.m.Name(j); {
		case instance == "":
		case name == "cpu", name == "memory", name == "ephemeral-storage":
			key[j] = 0
		}
	}
	parts := []string{fmt.Sprint(instance, key, host.Closed, host.Taints)}
	for _, d := range host.Devices {
		if part := fmt.Sprint(d.Product, d.Sharing); part != parts[len(parts)-1] {
			parts = append(parts, part)
		}
	}
	for _, label := range labels {
		value, has := host.Node.Labels[label]
		parts = append(parts, fmt.Sprint(has, value))
	}
	return strings.Join(parts, "\n")
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

// addDaemons sets what runs on every new node: of each DaemonSet a pod, as it requests most
// while it is rolled out, whether the pod runs there or waits for room.
func (c *cluster) addDaemons() error {
	type daemon struct{ node, owner string }
	most := make(map[daemon]*vector.PodAmounts)
	known := make(map[daemon]bool) // here node is a shape's
	for _, p := range slices.Concat(c.running, c.queue) {
		owner, ok := daemonOf(p)
		node := cmp.Or(p.Spec.NodeName, placement.NameOf(p.Pod))
		if _, here := c.shapeOf[node]; !ok || !here {
			continue
		}
		r, err := placement.RequestOf(c.m, p.Pod)
		if err != nil {
			return fmt.Errorf("%s: its requests: %w", p.from, err)
		}
		of := most[daemon{node, owner}]
		if of == nil {
			of = new(vector.PodAmounts)
			most[daemon{node, owner}] = of
		}
		of.Requested.SetMax(r.Requested)
		of.Scored.SetMax(r.Scored)
		s := &c.shapes[c.shapeOf[node]]
		if key := (daemon{s.name, owner}); !known[key] {
			known[key] = true
			s.agents = append(s.agents, p.named())
		}
	}
	sums := make(map[string]*vector.PodAmounts) // by node
	for d, r := range most {                    // whole numbers: the order makes no difference
		sum := sums[d.node]
		if sum == nil {
			sum = new(vector.PodAmounts)
			sums[d.node] = sum
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

// daemonOf returns whose pod comes with its node: the DaemonSet that has it, or of a static pod
// itself.
func daemonOf(p pod) (owner string, ok bool) {
	switch o := metav1.GetControllerOf(p.Pod); {
	case o == nil:
		return "", false
	case o.Kind == "DaemonSet":
		return p.Namespace + "/" + o.Name, true
	default:
		return p.key() + " of its node", o.Kind == "Node"
	}
}

// hints says which nodes announce no device of a vendor, though their labels name one, or
// another node of their instance type and size announces some. Such a node may have joined
// before its device plugin. It is a shape of its own, and new nodes of that shape have no device
// either.
func (c *cluster) hints() (hints []string) {
	type offer struct{ instance, vendor string }
	typical := make(map[offer]int) // the first node that announces devices
	some := make([]map[string]bool, len(c.nodes))
	vendors := make(map[string]bool)
	for row, n := range c.nodes {
		some[row] = c.announced(row)
		for vendor := range some[row] {
			vendors[vendor] = true
			of := offer{n.Labels[corev1.LabelInstanceTypeStable], vendor}
			if _, known := typical[of]; !known && of.instance != "" {
				typical[of] = row
			}
		}
	}
	lacking := make(map[string][]string) // nodes by what they lack
	for row, n := range c.nodes {
		lacks := func(vendor, why string) {
			text := fmt.Sprintf("no %s resource, %s: is the device plugin ready?", vendor, why)
			lacking[text] = append(lacking[text], n.Name)
		}
		instance := n.Labels[corev1.LabelInstanceTypeStable]
		for vendor := range vendors {
			if other, known := typical[offer{instance, vendor}]; known && !some[row][vendor] && c.ofOneSize(row, other) {
				lacks(vendor, fmt.Sprintf("as %s has, of the same type %s", c.nodes[other].Name, instance))
			}
		}
		if vendor, product := named(n.Node); product != "" && len(some[row]) == 0 && !c.sliced[n.Name] {
			if _, said := typical[offer{instance, vendor}]; !said {
				lacks(vendor, "though labels name "+product)
			}
		}
	}
	for _, text := range sortedKeys(lacking) {
		hints = append(hints, list(lacking[text], 3)+": "+text)
	}
	return hints
}

// announced returns the domains of extended resources of which a node has any.
func (c *cluster) announced(row int) map[string]bool {
	some := make(map[string]bool)
	for j := range c.m.Len() {
		vendor, _, ok := strings.Cut(c.m.Name(j), "/")
		if ok && !strings.HasSuffix(vendor, "kubernetes.io") && c.state.Nodes().Allocatable().At(row, j) > 0 {
			some[vendor] = true
		}
	}
	return some
}

// ofOneSize reports whether two nodes have about as much cpu and memory. Some distributions give
// all nodes one instance type.
func (c *cluster) ofOneSize(a, b int) bool {
	have := c.state.Nodes().Allocatable()
	for _, j := range []int{vectormap.CPU, vectormap.Memory} {
		if x, y := have.At(a, j), have.At(b, j); math.Abs(x-y) > .1*max(x, y) {
			return false
		}
	}
	return true
}

// named returns the product that labels of a node name, and the domain of its resource.
func named(n *corev1.Node) (vendor, product string) {
	for _, rule := range device.DefaultRules() {
		if product := n.Labels[rule.Product]; product != "" && len(rule.Whole) > 0 {
			vendor, _, _ := strings.Cut(string(rule.Whole[0]), "/")
			return vendor, product
		}
	}
	return "", ""
}
