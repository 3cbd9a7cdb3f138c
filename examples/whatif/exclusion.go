package main

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/resvec/resvec/examples/whatif/placement"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// An exclusion is pods of the queue of which a node takes one at most. It is counted as a resource
// of which a node has one and each of them requests one, so bounds and packings know of it.
type exclusion struct {
	why  string
	pods map[int]bool

	// keeps reports whether a pod of a node keeps all of them from it.
	keeps    func(p *corev1.Pod) bool
	hostname bool // it is one of nodes that have a hostname
}

// mostExclusions bounds the resources that are counted besides those of nodes.
const mostExclusions = 64

// exclusions returns those that pods are in, of the first of them first.
func (c *cluster) exclusions(pods []int) (all []exclusion) {
	if !c.state.Observes() {
		return nil
	}
	index := make(map[string]int)
	wanted := make(map[string]bool)
	for _, pod := range pods {
		for key := range c.exclusionsOf(pod) {
			wanted[key] = true
		}
	}
	for pod := range c.queue {
		of := c.exclusionsOf(pod)
		for _, key := range sortedKeys(of) {
			at, there := index[key]
			if !there {
				if !wanted[key] || len(all) == mostExclusions {
					continue
				}
				at = len(all)
				index[key] = at
				x := of[key]
				x.why, x.pods = fmt.Sprintf("%s of %s", x.why, c.queue[pod].key()), make(map[int]bool)
				all = append(all, x)
			}
			all[at].pods[pod] = true
		}
	}
	return all
}

// exclusionsOf returns what makes a pod exclude those that have the same, by a key: each of its
// ports, and terms of required anti-affinity by hostname that select the pod itself. Of terms
// with a selector of namespaces there are none: which these are, the files may not say.
func (c *cluster) exclusionsOf(pod int) map[string]exclusion {
	if known, seen := c.excludes[c.alike[pod]]; seen {
		return known
	}
	p := c.queue[pod].Pod
	all := make(map[string]exclusion)
	put(&c.excludes, c.alike[pod], all)
	for _, port := range placement.HostPorts(p) {
		all[fmt.Sprint("port ", port)] = exclusion{why: fmt.Sprintf("port %d", port.Port), keeps: port.TakenBy}
	}
	for _, term := range termsOf(p).excludes {
		if term.TopologyKey != corev1.LabelHostname || term.NamespaceSelector != nil || len(term.MismatchLabelKeys) > 0 {
			continue
		}
		selector, err := metav1.LabelSelectorAsSelector(term.LabelSelector)
		spaces := slices.Clone(term.Namespaces)
		if len(spaces) == 0 {
			spaces = []string{p.Namespace}
		}
		slices.Sort(spaces)
		var same []string // values of labels that must be the same
		for _, key := range term.MatchLabelKeys {
			value, has := p.Labels[key]
			same = append(same, fmt.Sprint(has, value))
		}
		selects := func(other *corev1.Pod) bool {
			for i, key := range term.MatchLabelKeys {
				if value, has := other.Labels[key]; fmt.Sprint(has, value) != same[i] {
					return false
				}
			}
			return slices.Contains(spaces, other.Namespace) && selector.Matches(labels.Set(other.Labels))
		}
		if err != nil || !selects(p) {
			continue
		}
		key, _ := json.Marshal([]any{spaces, term.LabelSelector, term.MatchLabelKeys, same}) // it came from JSON
		all["anti-affinity "+string(key)] = exclusion{why: "the anti-affinity", keeps: selects, hostname: true}
	}
	return all
}

// free returns for how many of the pods the node in a row has a place: at most one, where the
// node is one of those that count.
func (x *exclusion) free(state *placement.State, row int) float64 {
	node, pods := state.Objects(row)
	if _, has := node.Labels[corev1.LabelHostname]; x.hostname && !has {
		return math.Inf(1)
	}
	return x.places(pods)
}

// mayJoin reports whether the pods of DaemonSets leave a place for a pod on a new node of a shape.
func (c *cluster) mayJoin(pod, shape int) bool {
	if !c.state.Observes() {
		return true
	}
	for _, x := range c.exclusionsOf(pod) {
		if x.places(c.shapes[shape].agents) == 0 {
			return false
		}
	}
	return true
}

// places returns for how many of the pods a node has a place on which others are.
func (x *exclusion) places(others []*corev1.Pod) float64 {
	if slices.ContainsFunc(others, x.keeps) {
		return 0
	}
	return 1
}
