package gpu

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/resvec/resvec/internal/document"
	"github.com/resvec/resvec/internal/fieldpath"
	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Scorer says how good a node is for a pod, greater is better, and which devices the
// pod should get there. [CompileFGD] and the functions like it make one. [Bind] asks
// it about many nodes; its own methods are the definition, for one node.
//
// A node that can't host the pod scores 0: it has too little CPU, a model that isn't
// allowed, or too few devices with enough left.
//
// A Scorer is immutable and safe for concurrent use. Its methods panic for a [Node] with
// pods that it can't hold.
type Scorer struct {
	m        *vectormap.ResourceVectorMap // for explanations; nil: not compiled
	kind     kind
	size     NodeSize // of dotProduct, bestFit and clustering
	spread   bool     // of bestFit
	fgd      *fgd     // of fragmentation
	warnings field.ErrorList
}

// kind is the formula of a scorer.
type kind uint8

const (
	fragmentation kind = iota
	dotProduct
	bestFit
	packing
	clustering
)

// Warnings returns what was reported when the configuration was compiled, sorted
// by path. The caller must not change it.
func (s *Scorer) Warnings() field.ErrorList {
	return s.warnings
}

// Score returns the score of a node with so many millicores left. The error is a
// [*vector.AmountError] for a bad amount of the request, as in [State.Place], and
// [scoring.ErrNeedsBatch] where scores depend on the other nodes (see
// [CompileBestFit]). It allocates nothing for nodes of up to 64 devices.
func (s *Scorer) Score(req *Request, cpuLeft float64, node Node) (float64, error) {
	if err := req.check(); err != nil {
		return 0, err
	}
	if s.spread {
		return 0, scoring.ErrNeedsBatch
	}
	var room [64]float64
	h := hostOf(room[:], cpuLeft, &node)
	return s.score(&h, req), nil
}

// ChooseDevices sets dst to the devices of a node that the pod should get and returns
// it: as many as the pod asks for, or none when the node can't host it or the request
// is bad.
func (s *Scorer) ChooseDevices(dst []int32, req *Request, cpuLeft float64, node Node) []int32 {
	if req.check() != nil {
		return dst[:0]
	}
	var room [64]float64
	h := hostOf(room[:], cpuLeft, &node)
	return s.devices(dst[:0], &h, req)
}

// Explain returns the numbers that make the score of a node, with the errors of
// [Scorer.Score]. Amounts are in units of the map; the amounts of the GPU are of all devices
// together, and Allocatable is what is left. Each device that the pod should get has a
// line without points: there Used is what others have of it.
//
// FGD gives the whole score to the GPU. Two more lines show what it comes from: F of
// the node before and after the pod.
func (s *Scorer) Explain(req *Request, cpuLeft float64, node Node) (scoring.Explanation, error) {
	if err := req.check(); err != nil {
		return scoring.Explanation{}, err
	}
	if s.spread {
		return scoring.Explanation{}, scoring.ErrNeedsBatch
	}
	h := hostOf(nil, cpuLeft, &node)
	return s.explain(&h, req), nil
}

// score returns the score of a node, raw, by its definition.
func (s *Scorer) score(h *host, req *Request) float64 {
	if !h.canHost(req) {
		return 0
	}
	if s.kind == fragmentation {
		score, _ := s.fgd.best(h, req)
		return score
	}
	return s.policyScore(h, req)
}

// devices appends the devices of a node that a pod should get, none where the node
// can't host it.
func (s *Scorer) devices(dst []int32, h *host, req *Request) []int32 {
	switch {
	case !h.canHost(req):
		return dst
	case s.kind == fragmentation && req.shares():
		_, device := s.fgd.best(h, req)
		return append(dst, int32(device))
	}
	return h.tightest(dst, req)
}

// explain explains a raw score.
func (s *Scorer) explain(h *host, req *Request) scoring.Explanation {
	e := scoring.Explanation{Total: s.score(h, req)}
	name, rule, cpu, gpu := s.shares(h, req, e.Total)
	if !h.canHost(req) {
		e.Reason = h.reason(req)
	}
	dims := []scoring.DimExplanation{
		{Request: req.CPU, Allocatable: h.cpu, Contribution: cpu},
		{Request: s.units(req.total()), Allocatable: s.units(h.total), Contribution: gpu},
	}
	for k, index := range [...]int{vectormap.CPU, vectormap.GPU} {
		d := &dims[k]
		d.Index, d.Name, d.Type, d.Weight = index, s.m.Name(index), rule, 1
		switch {
		case e.Reason != "":
			d.Contribution = 0
			if d.Request > d.Allocatable {
				d.Status = scoring.OverCapacity
			}
		case cpu+gpu != 0:
			d.Contribution *= e.Total / (cpu + gpu)
		}
		if d.Request == 0 {
			d.Status = scoring.NotRequested
		}
	}
	devices := s.devices(nil, h, req)
	for _, d := range devices {
		dims = append(dims, scoring.DimExplanation{
			Index: vectormap.GPU, Name: "device " + strconv.Itoa(int(d)), Type: "chosen",
			Request: s.units(req.Milli), Used: s.units(wholeDevice - h.left[d]), Allocatable: s.units(wholeDevice),
		})
	}
	if s.kind == fragmentation {
		fragments := func(name string, cpu float64, left []float64) {
			dims = append(dims, scoring.DimExplanation{
				Index: vectormap.GPU, Name: name, Type: "fragments", Allocatable: s.units(s.fgd.typical.FNode(cpu, left, h.model)),
			})
		}
		fragments("F before", h.cpu, h.left)
		if e.Reason == "" {
			left := slices.Clone(h.left)
			for _, d := range devices {
				left[d] -= req.Milli
			}
			fragments("F after", h.cpu-req.CPU, left)
		}
	}
	e.Terms = []scoring.TermExplanation{{Name: name, Weight: 1, Score: e.Total, Dims: dims}}
	return e
}

// shares returns the names of the formula and the shares of CPU and GPU in a score,
// before it was truncated.
func (s *Scorer) shares(h *host, req *Request, score float64) (name, rule string, cpu, gpu float64) {
	switch s.kind {
	case dotProduct:
		terms := s.terms(req)
		return "DotProduct", "dot product",
			50 * (1 - h.cpu/s.size.CPU*terms.ByCPU), 50 * (1 - h.total/s.size.GPU*terms.ByGPU)
	case bestFit:
		return "BestFit", "best fit",
			50 * (1 - (h.cpu-req.CPU)/s.size.CPU), 50 * (1 - (h.total-req.total())/s.size.GPU)
	case packing:
		return "Packing", "packing", 0, score
	case clustering:
		return "Clustering", "clustering", 0, score
	}
	return "FGD", "fragmentation", 0, score
}

// units returns thousandths of a device in the unit of the map.
func (s *Scorer) units(milli float64) float64 {
	return milli * float64(s.m.Unit(vectormap.GPU).Scale()) / wholeDevice
}

// query is a question about many nodes: a request that is valid, and what is left of
// the CPU of every row.
type query struct {
	req  *Request
	cpu  []float64
	gpus *State
}

// scoreRows sets dst, of an element per row, to the raw scores of the rows that words
// selects, nil for all.
func (s *Scorer) scoreRows(dst []float64, q *query, words []uint64) {
	switch {
	case len(dst) == 0:
	case s.kind == fragmentation && s.fgd.quick(q.req, q.gpus):
		s.fgd.quickScores(dst, q, words)
	case s.kind == fragmentation || !s.policyScores(dst, q, words):
		kernel.EachRow(len(dst), words, func(row int) {
			h := q.gpus.host(row, q.cpu[row])
			dst[row] = s.score(&h, q.req)
		})
	}
}

// spreadRows spreads the scores of the rows that can host a request over 0 to 100.
func (q *query) spreadRows(dst []float64, words []uint64) {
	least, greatest := math.Inf(1), math.Inf(-1)
	q.gpus.eachHost(words, q.req, q.cpu, func(row int) {
		least, greatest = min(least, dst[row]), max(greatest, dst[row])
	})
	q.gpus.eachHost(words, q.req, q.cpu, func(row int) {
		if least == greatest {
			dst[row] = 0
		} else {
			dst[row] = math.Trunc((dst[row] - least) * 100 / (greatest - least))
		}
	})
}

// NodeSize is the size of the largest node, by which amounts are divided.
type NodeSize struct {
	CPU float64 // millicores; 0: 128000
	GPU float64 // thousandths of a device; 0: 8000
}

// resolve returns the size with its defaults; the error has paths below path.
func (s NodeSize) resolve(path string) (NodeSize, error) {
	var faults field.ErrorList
	for _, x := range []struct {
		value    *float64
		name     string
		standard float64
	}{{&s.CPU, "cpu", 128000}, {&s.GPU, "gpu", 8000}} {
		switch v := *x.value; {
		case v == 0:
			*x.value = x.standard
		case !(v > 0 && v-v == 0):
			faults = append(faults, field.Invalid(field.NewPath(fieldpath.Below(path, x.name)), v, "must be positive and finite"))
		}
	}
	return s, document.Errors(faults)
}

// wordsOf returns the bits of a mask for the kernels: nil, which selects every
// row, for a nil mask.
func wordsOf(rows *vector.Mask) []uint64 {
	if rows == nil {
		return nil
	}
	return rows.Words()
}

// usable reports whether x is an amount: neither negative nor infinite nor NaN.
func usable(x float64) bool { return x-x == 0 && x >= 0 }

// shapeError says which operand has a wrong shape. It wraps [vector.ErrShape].
func shapeError(format string, args ...any) error {
	return fmt.Errorf("gpu: %s: %w", fmt.Sprintf(format, args...), vector.ErrShape)
}
