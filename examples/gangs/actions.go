package main

import (
	"slices"
	"time"

	"github.com/resvec/resvec/vector"
)

// decision is what an action decides on a gang.
type decision struct {
	placed  bool
	victims int     // jobs that are evicted or moved
	nodes   []int32 // of the members, then of the pods that move
}

// tally counts the work of an engine.
type tally struct {
	simulations int // attempts to place a gang, each over all nodes
	elapsed     time.Duration
}

// allocate places a gang on what is free.
func allocate(e engine, _ *cluster, g waiting, t *tally) decision {
	e.begin(g)
	if e.impossible() {
		return decision{}
	}
	t.simulations++
	nodes, ok := e.place(g)
	return decision{placed: ok, nodes: slices.Clone(nodes)}
}

// allocateEach places as many members as have room: each is a job of its own.
func allocateEach(e engine, _ *cluster, g waiting, t *tally) decision {
	nodes := e.placeEach(g, t)
	return decision{placed: len(nodes) > 0, nodes: slices.Clone(nodes)}
}

// evict releases jobs, one after the other, until the gang has room. It is reclaim and
// preemption: they differ in which jobs may go, and in their order.
func evict(e engine, c *cluster, g waiting, t *tally) decision {
	mark := e.mark()
	e.begin(g)
	for i, victim := range c.running {
		e.release(victim)
		if e.impossible() {
			continue
		}
		t.simulations++
		if nodes, ok := e.place(g); ok {
			return decision{placed: true, victims: i + 1, nodes: slices.Clone(nodes)}
		}
	}
	e.rollback(mark)
	return decision{}
}

// reclaimWithin is evict where no queue may lose more than it has above its quota.
func reclaimWithin(e engine, c *cluster, g waiting, t *tally) decision {
	if e.never(c, g) {
		return decision{}
	}
	mark := e.mark()
	e.begin(g)
	lost, victims := make([]vector.ResourceVector, len(c.above)), 0
	for queue := range lost {
		lost[queue] = make(vector.ResourceVector, columns)
	}
	for _, victim := range c.running {
		after := lost[victim.queue].Clone()
		for _, p := range victim.pods {
			after.Add(p.request)
		}
		if !after.LessEqual(c.above[victim.queue]) {
			continue
		}
		lost[victim.queue] = after
		victims++
		e.release(victim)
		if e.impossible() {
			continue
		}
		t.simulations++
		if nodes, ok := e.place(g); ok {
			return decision{placed: true, victims: victims, nodes: slices.Clone(nodes)}
		}
	}
	e.rollback(mark)
	return decision{}
}

// consolidate moves jobs, one more each time, until the gang has room and all of them
// have another place.
func consolidate(e engine, c *cluster, g waiting, t *tally) decision {
	if e.lacks(g) { // moving pods that share no devices makes no room
		return decision{}
	}
	mark := e.mark()
	e.begin(g)
	var moved []vector.ResourceVector
	for i, j := range c.running {
		e.release(j)
		for _, p := range j.pods {
			moved = append(moved, p.request)
		}
		if e.impossible() {
			continue
		}
		t.simulations++
		attempt := e.mark()
		if nodes, ok := e.place(g); ok {
			all := slices.Clone(nodes)
			if nodes, ok = e.place(waiting{members: moved}); ok {
				return decision{placed: true, victims: i + 1, nodes: append(all, nodes...)}
			}
		}
		e.rollback(attempt)
	}
	e.rollback(mark)
	return decision{}
}
