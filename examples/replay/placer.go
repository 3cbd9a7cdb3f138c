package main

import (
	"context"
	"time"

	"github.com/resvec/resvec/vector"
)

// A placer places pods one after the other by a policy. Nothing is allocated
// per pod.
type placer struct {
	*cluster
	policy policy
	free   *vector.Matrix // what the pods placed so far leave
	scores []float64      // of the nodes as they are, nil without a score

	// Scratch space.
	fits    vector.Mask           // the nodes that can hold the pod
	row     vector.ResourceVector // the node that takes it
	fitting *vector.Mask          // its devices that can hold a share
	devices []int32               // those that it takes
}

// newPlacer returns a placer for the empty cluster.
func newPlacer(c *cluster, p policy) *placer {
	s := &placer{
		cluster: c,
		policy:  p,
		free:    new(vector.Matrix),
		row:     c.columns.schema.NewVector(),
		fitting: vector.NewMask(c.columns.devices),
		devices: make([]int32, 0, c.columns.devices),
	}
	s.free.CopyFrom(c.capacity)
	if p.scoreAll != nil {
		s.scores = make([]float64, len(c.nodes))
		p.scoreAll(s.scores, s.free, c.largest)
	}
	return s
}

// place places one pod and returns its node, -1 when no node can hold it, and
// its devices there, valid until the next call.
func (s *placer) place(r *request) (node int, devices []int32) {
	node = s.chooseNode(r)
	if node < 0 {
		return -1, nil
	}
	s.row = s.free.Row(s.row, node)
	devices = s.chooseDevices(r)

	s.row.Sub(r.amounts)
	for _, j := range devices {
		s.columns.ofDevices(s.row)[j] -= r.milli
	}
	s.columns.derive(s.row)
	s.free.SetRow(node, s.row)
	if s.scores != nil {
		s.scores[node] = s.policy.scoreOne(s.row, s.largest)
	}
	return node, devices
}

// chooseNode filters, scores and selects.
func (s *placer) chooseNode(r *request) int {
	vector.Fit(&s.fits, s.free, r.amounts)
	if r.allowed != nil {
		s.fits.And(&s.fits, r.allowed)
	}
	if s.scores != nil {
		return vector.ArgMin(s.scores, &s.fits, vector.TieLowest())
	}
	return s.fits.First()
}

// chooseDevices returns the devices of s.row for a pod that fits there: the
// idle ones with the lowest index for whole devices, the fullest one that it
// fits on for a share.
func (s *placer) chooseDevices(r *request) []int32 {
	free := s.columns.ofDevices(s.row)
	if r.milli == wholeGPU || r.devices == 0 {
		s.devices = vector.TopK(s.devices, free, nil, r.devices, vector.TieLowest())
		return s.devices
	}
	s.fitting.ClearAll()
	for j, milli := range free {
		if milli >= r.milli {
			s.fitting.Set(j)
		}
	}
	s.devices = append(s.devices[:0], int32(vector.ArgMin(free, s.fitting, vector.TieLowest())))
	return s.devices
}

// An outcome is what a policy made of the arrivals.
type outcome struct {
	policy     policy
	placements []placement           // one per arrival
	placed     int                   // how many found a node
	used       vector.ResourceVector // by all of them, one amount per column
	elapsed    time.Duration         // of the decisions alone
}

// decisionsAtATime is how many pods are placed between two looks at the clock:
// few enough to stop at once, enough to keep the clock out of the result.
const decisionsAtATime = 256

// run places the arrivals, indices into the requests of c, on the empty cluster
// and checks the result. It calls progress now and then, with the number of
// pods done, and returns the context's error when that ends first.
func (c *cluster) run(ctx context.Context, p policy, arrivals []int32, progress func(done int)) (*outcome, error) {
	s := newPlacer(c, p)
	out := &outcome{policy: p, placements: make([]placement, len(arrivals))}
	room := make([]int32, 0, c.devicesFor(arrivals))
	for done := 0; done < len(arrivals); {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		progress(done)
		start := time.Now()
		for end := min(done+decisionsAtATime, len(arrivals)); done < end; done++ {
			node, devices := s.place(&c.requests[arrivals[done]])
			first := len(room)
			room = append(room, devices...)
			out.placements[done] = placement{node, room[first:]}
			if node >= 0 {
				out.placed++
			}
		}
		out.elapsed += time.Since(start)
	}
	var err error
	out.used, err = c.verify(s.free, arrivals, out.placements)
	return out, err
}

// devicesFor returns how many devices the arrivals can take at most.
func (c *cluster) devicesFor(arrivals []int32) int {
	n := 0
	for _, id := range arrivals {
		n += min(c.requests[id].devices, c.columns.devices)
	}
	return n
}
