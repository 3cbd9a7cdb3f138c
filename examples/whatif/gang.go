package main

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/resvec/resvec/examples/internal/command"
)

// gangKeys are the labels and annotations by which schedulers group pods: Volcano,
// KAI, the coscheduling plugin, Koordinator, Kueue.
const gangKeys = "scheduling.k8s.io/group-name,scheduling.volcano.sh/group-name,pod-group-name," +
	"scheduling.x-k8s.io/pod-group,pod-group.scheduling.sigs.k8s.io,gang.scheduling.koordinator.sh/name,kueue.x-k8s.io/pod-group-name"

// A gangOfPods is pods of the queue of which so many are placed together, or none.
type gangOfPods struct {
	name  string
	pods  []int
	least int
}

// findGangs groups the pods of the queue, in its order, by the keys of labels or
// annotations, and by the field of their spec that Kubernetes 1.35 and later have for it.
func (c *cluster) findGangs(keys []string) {
	index := make(map[string]*gangOfPods)
	for i, p := range c.queue {
		name := gangName(p, keys)
		if name == "" {
			continue
		}
		g := index[name]
		if g == nil {
			g = &gangOfPods{name: name}
			index[name] = g
			c.gangs = append(c.gangs, g)
		}
		g.pods = append(g.pods, i)
		c.gangOf[i] = g
	}
	count := func(lists ...[]pod) map[string]int {
		n := make(map[string]int)
		for _, p := range slices.Concat(lists...) {
			n[gangName(p, keys)]++
		}
		return n
	}
	running, waiting := count(c.running), count(c.gated, c.vast, c.parts)
	for _, g := range c.gangs {
		g.least = len(g.pods) + waiting[g.name]
		if least, known := c.least[g.name]; known {
			g.least = max(least-running[g.name], 0)
		}
	}
}

// gangName returns the gang of a pod, "" for none.
func gangName(p pod, keys []string) string {
	name := ""
	for _, key := range keys {
		name = cmp.Or(name, p.Labels[key], p.Annotations[key])
	}
	if name = cmp.Or(name, p.group); name == "" {
		return ""
	}
	return p.Namespace + "/" + name
}

// unusedKeys says which keys no pod has as a label or annotation.
func (c *cluster) unusedKeys(keys []string) (remarks []string) {
	there := make(map[string]bool)
	for _, p := range slices.Concat(c.queue, c.running, c.gated) {
		for _, m := range []map[string]string{p.Labels, p.Annotations} {
			for key := range m {
				there[key] = true
			}
		}
	}
	for _, key := range keys {
		if !there[key] {
			remarks = append(remarks, fmt.Sprintf("%s: no pod has this label or annotation%s", key, command.Nearest(key, sortedKeys(there))))
		}
	}
	return remarks
}
