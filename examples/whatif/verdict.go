package main

import (
	"encoding/json"
	"fmt"

	"github.com/resvec/resvec/examples/whatif/placement"
	"github.com/resvec/resvec/vector"
	corev1 "k8s.io/api/core/v1"
)

// A verdict is which nodes pods may go to, however much room there is: pods of one verdict
// demand the same.
type verdict struct {
	rows    *vector.Mask
	reasons map[string]int      // of the other nodes, in kube-scheduler's words
	kept    map[string][]int    // the other nodes, by the constraint that keeps the pods from them
	shapes  []placement.Refusal // why they may not go to a new node of each shape
}

// findVerdicts sets the verdicts of the queue.
func (c *cluster) findVerdicts() {
	known, of := make(map[string]*verdict), make(map[*corev1.Pod]*verdict)
	for i, p := range c.queue {
		c.step("which nodes pods may go to", i, len(c.queue))
		if v := of[p.Pod]; v != nil {
			c.verdicts = append(c.verdicts, v)
			continue
		}
		_, daemon := daemonOf(p)
		key := fmt.Sprint(daemon, demands(p.Pod))
		v := known[key]
		if v == nil {
			v = c.judge(placement.NewFilter(p.Pod), daemon)
			known[key] = v
		}
		of[p.Pod] = v
		c.verdicts = append(c.verdicts, v)
	}
}

// demands returns what a filter depends on.
func demands(p *corev1.Pod) string {
	var lists []corev1.ResourceRequirements
	for _, containers := range [][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for _, c := range containers {
			lists = append(lists, c.Resources)
		}
	}
	var required *corev1.NodeSelector
	if a := p.Spec.Affinity; a != nil && a.NodeAffinity != nil {
		required = a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	}
	if len(p.Spec.NodeSelector) == 0 && required == nil {
		lists = nil // no card is named
	}
	key, _ := json.Marshal([]any{p.Spec.Tolerations, p.Spec.NodeSelector, required, lists}) // it came from JSON
	return string(key)
}

// judge asks about all nodes and shapes. A pod of a DaemonSet stays with its node: a new one
// gets another pod.
func (c *cluster) judge(f *placement.Filter, daemon bool) *verdict {
	v := &verdict{rows: vector.NewMask(len(c.hosts)), reasons: make(map[string]int), kept: make(map[string][]int)}
	for row := range c.hosts {
		refusal := f.Refuse(&c.hosts[row])
		if refusal.Reason == "" {
			v.rows.Set(row)
			continue
		}
		v.reasons[refusal.Reason]++
		v.kept[refusal.Detail] = append(v.kept[refusal.Detail], row)
	}
	for i := range c.shapes {
		refusal := f.Refuse(&c.shapes[i].host)
		if daemon && refusal.Reason == "" {
			refusal = placement.Refusal{Reason: "node(s) didn't match Pod's node affinity/selector", Detail: "a DaemonSet's pod has its node"}
		}
		v.shapes = append(v.shapes, refusal)
	}
	return v
}

// fits reports whether a pod of the queue fits on a new node of a shape.
func (c *cluster) fits(pod, shape int) bool {
	return c.verdicts[pod].shapes[shape].Reason == "" && c.requests[pod].Requested.FitsIn(c.shapes[shape].room()) && c.mayJoin(pod, shape)
}

// indexOf returns the index of a shape.
func (c *cluster) indexOf(s *shape) int {
	for i := range c.shapes {
		if s == &c.shapes[i] {
			return i
		}
	}
	return -1
}
