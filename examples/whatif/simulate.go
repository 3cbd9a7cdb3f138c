package main

import (
	"fmt"
	"time"

	"github.com/resvec/resvec/examples/whatif/placement"
	"github.com/resvec/resvec/vector"
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
	elapsed time.Duration // of the decisions
}

// simulate places the queue, pod after pod, on the cluster with some nodes more.
// A pod that fits nowhere is passed over; nothing is evicted for it.
func (c *cluster) simulate(add []addition, tie vector.Tie) (*outcome, error) {
	o := &outcome{final: c.state.Clone(), more: add, rows: make([]int, len(c.requests))}
	if err := o.add(add); err != nil {
		return nil, err
	}
	start := time.Now()
	for i, request := range c.requests {
		decision, err := o.final.Decide(request)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.queue[i].from, err)
		}
		row := decision.Choose(tie)
		o.rows[i] = row
		if row < 0 {
			continue
		}
		if err := o.final.Assume(row, request); err != nil {
			return nil, fmt.Errorf("%s: %w", c.queue[i].from, err)
		}
		o.placed++
	}
	o.elapsed = time.Since(start)
	return o, nil
}

// add adds new nodes with their daemons. No object has such a name.
func (o *outcome) add(add []addition) error {
	next := make(map[*shape]int)
	for _, a := range add {
		for range a.count {
			next[a.shape]++
			name := fmt.Sprintf("%s +%d", a.shape.name, next[a.shape])
			if err := o.final.AddAmounts(name, a.shape.allocatable); err != nil {
				return err
			}
			if err := o.final.Bind(a.shape.daemons, name); err != nil {
				return err
			}
			o.added = append(o.added, a.shape)
		}
	}
	return nil
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
