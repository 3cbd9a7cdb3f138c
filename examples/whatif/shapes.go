package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/examples/whatif/placement"
	"github.com/resvec/resvec/vector"
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
	cost        float64
}

// room returns what a new node has for other pods.
func (s *shape) room() vector.ResourceVector {
	room := s.allocatable.Clone()
	room.Sub(s.daemons.Requested)
	return room
}

// findShapes returns the shapes of nodes in the order in which they appear. Nodes
// are of one shape when they have the same instance type, or none, the same amounts, the
// same devices and taints, and the same values of the labels that pods of the queue select
// by. Nodes of one type may differ in cpu, memory and ephemeral storage, of
// which the kubelet and the hardware keep a little more here or there; a new one
// has the least of each. It runs as much as the node whose DaemonSet and static
// pods request most, resource by resource.
func (c *cluster) findShapes() error {
	var labels []string
	for _, p := range c.queue {
		labels = append(labels, placement.Keys(p.Pod)...)
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
// another node of their instance type announces some. Such a node may have joined before its
// device plugin. It is a shape of its own, and new nodes of that shape have no device either.
func (c *cluster) hints() (hints []string) {
	have := c.state.Nodes().Allocatable()
	vendors := make([]string, c.m.Len()) // of extended resources, by column
	for j := range vendors {
		if domain, _, ok := strings.Cut(c.m.Name(j), "/"); ok && !strings.HasSuffix(domain, "kubernetes.io") {
			vendors[j] = domain
		}
	}
	announced := func(row int) map[string]bool {
		some := make(map[string]bool)
		for j, vendor := range vendors {
			some[vendor] = some[vendor] || have.At(row, j) > 0
		}
		delete(some, "")
		return some
	}
	typical := make(map[string]map[string]string) // by instance type and vendor: a node that announces some
	for row, n := range c.nodes {
		instance := n.Labels[corev1.LabelInstanceTypeStable]
		for vendor, some := range announced(row) {
			if some && instance != "" && typical[instance][vendor] == "" {
				of := typical[instance]
				put(&of, vendor, n.Name)
				typical[instance] = of
			}
		}
	}
	lacking := make(map[string][]string) // nodes by what they lack
	for row, n := range c.nodes {
		instance, some := n.Labels[corev1.LabelInstanceTypeStable], announced(row)
		why := make(map[string]string) // by vendor
		for vendor, other := range typical[instance] {
			why[vendor] = fmt.Sprintf("as %s has, of the same type %s", other, instance)
		}
		if isAny := slices.Contains(slices.Collect(maps.Values(some)), true); !isAny && !c.sliced[n.Name] {
			for _, rule := range device.DefaultRules() {
				if product := n.Labels[rule.Product]; product != "" && len(rule.Whole) > 0 {
					vendor, _, _ := strings.Cut(string(rule.Whole[0]), "/")
					why[vendor] = "though labels name " + product
				}
			}
		}
		for vendor, text := range why {
			if !some[vendor] {
				text = fmt.Sprintf("no %s resource, %s: is the device plugin ready?", vendor, text)
				lacking[text] = append(lacking[text], n.Name)
			}
		}
	}
	for _, text := range sortedKeys(lacking) {
		hints = append(hints, list(lacking[text], 3)+": "+text)
	}
	return hints
}
