package main

import (
	"math/rand/v2"
	"slices"

	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/scoring/gpu"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// A placer places pods one after the other by a policy. Its rows are the nodes
// in the order that decides between equal scores, so the lowest row wins. Once
// it has seen every request, it allocates nothing.
type placer struct {
	*cluster
	policy *policy
	order  []int32        // the canonical node of every row
	free   *vector.Matrix // what the pods placed so far leave
	gpus   *gpu.State
	scorer gpu.Scorer
	cache  *gpu.Cache
	redraw bool       // draw one of the rows with the best score
	random *rand.Rand // what the policy draws from

	phi    []int64 // the fragments of every row, see [gpu.Typical.Phi]
	allPhi int64   // their sum
	query  gpu.Query

	// Scratch space.
	devices  []int32
	feasible vector.Mask // rows
	fitting  vector.Mask // devices
}

// newPlacer returns a placer for the empty cluster and one seed.
func newPlacer(c *cluster, p *policy, seed int64, rule ties) (*placer, error) {
	s := &placer{cluster: c, policy: p, redraw: rule == tiesRandom, random: stream(seed, streamPolicy)}
	var err error
	if s.scorer, err = p.compile(c); err != nil {
		return nil, err
	}
	s.cache = gpu.NewCache(s.scorer, scoring.CacheOptions{})
	s.order = c.nodeOrder(seed)
	if rule == tiesShape {
		slices.Sort(s.order)
	}
	s.free = c.schema.NewMatrix(len(s.order))
	nodes := make([]gpu.Node, len(s.order))
	for row, node := range s.order {
		shape := c.nodes[node]
		s.free.SetRow(row, c.amounts(shape))
		nodes[row] = gpu.Node{Model: c.models[shape.model], Left: slices.Repeat([]float64{wholeGPU}, int(shape.gpus))}
	}
	s.gpus = gpu.NewState(nodes)
	s.query.Free, s.query.GPUs = s.free, s.gpus
	s.phi = make([]int64, len(s.order))
	for row := range s.phi {
		s.measure(row)
	}
	return s, nil
}

// place places a pod of a kind and returns its row, -1 when no node can host it,
// and its devices there, valid until the next call.
func (s *placer) place(kind int32) (row int, devices []int32, err error) {
	r := &s.kinds[kind]
	s.query.Request, s.query.Amounts = r.gpu, r.rest
	row, err = s.chooseRow()
	if err != nil || row < 0 {
		return row, nil, err
	}
	devices = s.chooseDevices(row, &r.gpu)
	if err := s.gpus.Place(row, &r.gpu, devices); err != nil {
		return -1, nil, err
	}
	if err := s.free.SubRow(row, r.amounts); err != nil {
		return -1, nil, err
	}
	s.measure(row)
	return row, devices, nil
}

// chooseRow filters, scores and selects.
func (s *placer) chooseRow() (row int, err error) {
	switch {
	case s.policy.random:
		return s.draw(), nil
	case s.redraw:
		scores, feasible, err := s.cache.Scores(&s.query)
		if err != nil {
			return -1, err
		}
		return s.drawTied(scores, feasible), nil
	}
	row, _, err = s.cache.Best(&s.query, vector.TieLowest())
	return row, err
}

// draw filters and returns any of the rows that can host the pod. Without
// scores there is nothing to keep.
func (s *placer) draw() int {
	vector.Fit(&s.feasible, s.free, s.query.Amounts)
	s.gpus.Fit(&s.feasible, &s.query.Request, s.cpuLeft(), &s.feasible)
	n := s.feasible.Count()
	if n == 0 {
		return -1
	}
	return s.feasible.Nth(s.random.IntN(n))
}

// drawTied looks through the rows in order and returns one with the best score.
// Each time a row equals the best so far, it draws whether the row takes its
// place, so that in the end all of them are equally likely.
func (s *placer) drawTied(scores []float64, feasible *vector.Mask) int {
	row, tied := -1, 0
	for r := range feasible.All() {
		switch {
		case row < 0 || scores[r] > scores[row]:
			row, tied = r, 1
		case scores[r] == scores[row]:
			if tied++; s.random.IntN(tied) == 0 {
				row = r
			}
		}
	}
	return row
}

// chooseDevices returns the devices of a row for a pod that fits there.
func (s *placer) chooseDevices(row int, req *gpu.Request) []int32 {
	if s.policy.random && req.Count == 1 && req.Milli < wholeGPU {
		left := s.gpus.Devices(row)
		s.fitting.Resize(len(left))
		for j, milli := range left {
			if milli >= req.Milli {
				s.fitting.Set(j)
			}
		}
		s.devices = append(s.devices[:0], int32(s.fitting.Nth(s.random.IntN(s.fitting.Count()))))
		return s.devices
	}
	s.devices = s.scorer.ChooseDevices(row, req, s.cpuLeft(), s.gpus, s.devices)
	return s.devices
}

// cpuLeft returns the free CPU of every row.
func (s *placer) cpuLeft() []float64 { return s.free.Column(vectormap.CPU) }

// measure brings the fragments of a row up to date.
func (s *placer) measure(row int) {
	phi := int64(s.typical.Phi(row, s.cpuLeft(), s.gpus))
	s.allPhi += phi - s.phi[row]
	s.phi[row] = phi
}

// fragmented returns how much of the free devices is fragmented, in thousandths
// of a device.
func (s *placer) fragmented() float64 { return float64(s.allPhi) / s.typical.N() }
