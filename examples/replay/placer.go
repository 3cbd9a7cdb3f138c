package main

import (
	"math/rand/v2"
	"slices"
	"strconv"

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
	order  []int32 // the canonical node of every row
	nodes  *vector.Nodes
	gpus   *gpu.State // of the nodes
	scorer *gpu.Bound
	redraw bool       // draw one of the rows with the best score
	random *rand.Rand // what the policy draws from

	phi    []int64 // the fragments of every row, see [gpu.Typical.Phi]
	allPhi int64   // their sum

	// Scratch space.
	devices  []int32
	scores   []float64   // of rows
	feasible vector.Mask // rows
	fitting  vector.Mask // devices
}

// newPlacer returns a placer for the empty cluster and one seed.
func newPlacer(c *cluster, p *policy, seed int64, rule ties) (*placer, error) {
	s := &placer{cluster: c, policy: p, redraw: rule == tiesRandom, random: stream(seed, streamPolicy)}
	scorer, err := p.compile(c)
	if err != nil {
		return nil, err
	}
	s.order = c.nodeOrder(seed)
	if rule == tiesShape {
		slices.Sort(s.order)
	}
	s.nodes, s.gpus = c.schema.NewNodes(), new(gpu.State)
	for _, node := range s.order {
		shape := c.trace.nodes[node]
		if _, _, err := s.nodes.Set(strconv.Itoa(int(node)), 0, vector.NodeAmounts{Allocatable: c.amounts(shape)}); err != nil {
			return nil, err
		}
		s.gpus.AppendNode(gpu.Node{Model: c.models[shape.model], Left: slices.Repeat([]float64{wholeGPU}, int(shape.gpus))})
	}
	s.scorer, s.scores = gpu.Bind(scorer, s.nodes, s.gpus), make([]float64, len(s.order))
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
	row, err = s.chooseRow(&r.gpu)
	if err != nil || row < 0 {
		return row, nil, err
	}
	devices = s.chooseDevices(row, &r.gpu)
	if err := s.gpus.Place(row, &r.gpu, devices); err != nil {
		return -1, nil, err
	}
	if err := s.nodes.Assume(row, vector.PodAmounts{Requested: r.amounts}); err != nil {
		return -1, nil, err
	}
	s.measure(row)
	return row, devices, nil
}

// chooseRow filters, scores and selects.
func (s *placer) chooseRow(req *gpu.Request) (row int, err error) {
	switch {
	case s.policy.random:
		return s.draw(req), nil
	case s.redraw:
		s.scorer.Fit(&s.feasible, req, nil)
		if err := s.scorer.Score(s.scores, req, &s.feasible); err != nil {
			return -1, err
		}
		return s.drawTied(s.scores, &s.feasible), nil
	}
	row, _ = s.scorer.Best(req, nil, vector.TieLowest())
	return row, nil
}

// draw filters and returns any of the rows that can host the pod.
func (s *placer) draw(req *gpu.Request) int {
	s.scorer.Fit(&s.feasible, req, nil)
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
		s.fitting.Reset(len(left))
		for j, milli := range left {
			if milli >= req.Milli {
				s.fitting.Set(j)
			}
		}
		s.devices = append(s.devices[:0], int32(s.fitting.Nth(s.random.IntN(s.fitting.Count()))))
		return s.devices
	}
	s.devices = s.scorer.ChooseDevices(s.devices, req, row)
	return s.devices
}

// cpuLeft returns the free CPU of every row.
func (s *placer) cpuLeft() []float64 { return s.nodes.Free().Column(vectormap.CPU) }

// measure brings the fragments of a row up to date.
func (s *placer) measure(row int) {
	phi := int64(s.typical.Phi(row, s.cpuLeft(), s.gpus))
	s.allPhi += phi - s.phi[row]
	s.phi[row] = phi
}

// fragmented returns how much of the free devices is fragmented, in thousandths
// of a device.
func (s *placer) fragmented() float64 { return float64(s.allPhi) / s.typical.N() }
