package main

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/resvec/resvec/examples/whatif/placement"
	"github.com/resvec/resvec/vector"
	corev1 "k8s.io/api/core/v1"
)

// An addition is a number of new nodes of a shape.
type addition struct {
	shape *shape
	count int
}

// An outcome is what becomes of the queue.
type outcome struct {
	final   *placement.State
	more    []addition
	added   []*shape // of the rows behind the cluster's
	rows    []int    // of the queue's pods, -1 for none
	placed  int
	partial map[*gangOfPods]int // how many pods of a gang had room at once, where it needs more
	elapsed time.Duration       // of the decisions

	allowed map[*verdict]*mayGo
}

// mayGo is a verdict about all rows, new nodes included.
type mayGo struct {
	rows    *vector.Mask
	reasons map[string]int
}

// mostAtOnce is how many pods are placed before it is said how far it is.
const mostAtOnce = 4096

// simulate places the queue, pod after pod, on the cluster with some nodes more.
// A pod that fits nowhere is passed over; nothing is evicted for it. A gang is placed when
// its first pod's turn comes, as many as it needs or nothing.
func (c *cluster) simulate(add []addition, tie vector.Tie) (*outcome, error) {
	o, err := c.join(c.state, nil, add)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	at := func(pod int) {
		c.line.Printf("placing pod %d of %d on %d nodes", pod+1, len(c.requests), o.final.Len())
	}
	at(0)
	var single []int // pods that are placed at once
	for i := range c.requests {
		g := c.gangOf[i]
		if g == nil {
			single = append(single, i)
		}
		if g != nil && g.pods[0] == i || len(single) == mostAtOnce {
			at(i)
			c.place(o, single, tie)
			single = single[:0]
		}
		if g != nil && g.pods[0] == i {
			if err := c.placeAll(o, g, tie); err != nil {
				return nil, err
			}
		}
	}
	c.place(o, single, tie)
	o.elapsed = time.Since(start)
	for _, row := range o.rows {
		if row >= 0 {
			o.placed++
		}
	}
	return o, nil
}

// place places pods that fit somewhere, one after the other, and returns how many.
func (c *cluster) place(o *outcome, pods []int, tie vector.Tie) (placed int) {
	var objects []*corev1.Pod
	var requests []vector.PodAmounts
	var among []*vector.Mask
	for _, i := range pods {
		objects = append(objects, c.objects[i])
		requests = append(requests, *c.requests[i])
		among = append(among, o.allowed[c.verdicts[i]].rows)
	}
	for k, row := range o.final.Place(nil, objects, requests, among, tie) {
		o.rows[pods[k]] = int(row)
		if row >= 0 {
			placed++
		}
	}
	return placed
}

// placeAll places as many pods of a gang as it needs, and more where they fit, or none.
func (c *cluster) placeAll(o *outcome, g *gangOfPods, tie vector.Tie) error {
	found := c.place(o, g.pods, tie)
	if found >= g.least {
		return nil
	}
	o.partial[g] = found
	for _, i := range g.pods {
		if row := o.rows[i]; row >= 0 {
			if err := o.final.Forget(row, c.objects[i], c.requests[i]); err != nil {
				return fmt.Errorf("%s: %w", c.queue[i].from, err)
			}
		}
		o.rows[i] = -1
	}
	return nil
}

// takes says how many of its pods a gang needs.
func (g *gangOfPods) takes() string {
	if g.least == len(g.pods) {
		return "all"
	}
	return fmt.Sprint(g.least)
}

// extend adds the new nodes to a verdict.
func (o *outcome) extend(v *verdict, c *cluster) *mayGo {
	m := &mayGo{v.rows, v.reasons}
	if len(o.added) == 0 {
		return m
	}
	m = &mayGo{vector.NewMask(o.final.Len()), maps.Clone(v.reasons)}
	for row := range v.rows.All() {
		m.rows.Set(row)
	}
	for i, s := range o.added {
		if refusal := v.shapes[c.indexOf(s)]; refusal.Reason == "" {
			m.rows.Set(v.rows.Len() + i)
		} else {
			m.reasons[refusal.Reason]++
		}
	}
	return m
}

// explain says why a pod of the queue fits nowhere.
func (c *cluster) explain(o *outcome, pod int) string {
	v, g := o.allowed[c.verdicts[pod]], c.gangOf[pod]
	if found, broken := o.partial[g]; !broken || found == 0 && len(g.pods) == 1 {
		return o.final.Explain(c.objects[pod], c.requests[pod], v.rows, v.reasons)
	}
	text := fmt.Sprintf("%d of the %d pods of gang %s have room at once, and it takes %s", o.partial[g], len(g.pods), g.name, g.takes())
	if o.fitsNow(c, pod) {
		return text + "."
	}
	return text + "; " + o.final.Explain(c.objects[pod], c.requests[pod], v.rows, v.reasons)
}

// fitsNow reports whether a pod that was left out fits on a node by itself.
func (o *outcome) fitsNow(c *cluster, pod int) bool {
	return o.final.FitsAny(c.objects[pod], c.requests[pod], o.allowed[c.verdicts[pod]].rows)
}

// join returns an outcome in which no pod of the queue is placed yet: on a state, which has new
// nodes of some shapes already, with some more. Their daemons run on them. No object has the name of
// a new node.
func (c *cluster) join(state *placement.State, there []*shape, add []addition) (*outcome, error) {
	o := &outcome{final: state.Clone(), more: add, added: slices.Clone(there), rows: make([]int, len(c.requests)),
		partial: make(map[*gangOfPods]int), allowed: make(map[*verdict]*mayGo)}
	for i := range o.rows {
		o.rows[i] = -1
	}
	next := make(map[*shape]int)
	for _, s := range there {
		next[s]++
	}
	first := o.final.Len()
	for _, a := range add {
		for range a.count {
			next[a.shape]++
			name := fmt.Sprintf("%s +%d", a.shape.name, next[a.shape])
			if err := o.final.AddAmounts(name, a.shape.allocatable); err != nil {
				return nil, err
			}
			if err := o.final.Bind(a.shape.daemons, name); err != nil {
				return nil, err
			}
			o.added = append(o.added, a.shape)
		}
	}
	for row := first; row < o.final.Len(); row++ {
		s, name := o.added[row-len(c.hosts)], o.final.Name(row)
		if err := o.final.SetObjects(row, s.host.Object(name), s.agentsOn(name)); err != nil {
			return nil, err
		}
	}
	for _, v := range c.verdicts {
		if o.allowed[v] == nil {
			o.allowed[v] = o.extend(v, c)
		}
	}
	return o, nil
}

// unplaced returns the pods of the queue that fit nowhere.
func (o *outcome) unplaced() (pods []int) {
	for i, row := range o.rows {
		if row < 0 {
			pods = append(pods, i)
		}
	}
	return pods
}
