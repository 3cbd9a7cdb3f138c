package gpu

import (
	"fmt"
	"strconv"

	"github.com/resvec/resvec/internal/document"
	"github.com/resvec/resvec/internal/fieldpath"
	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Scorer scores nodes with GPUs for one pod and says which devices it should
// get; greater is better. cpuLeft is what is left of the CPU of every row, in
// millicores, and has as many elements as gpus has rows; a column of the matrix
// of free amounts will do. A row that can't host the pod, see
// [State.CanHost], scores 0: pass the rows that fit.
//
// Score and ScoreBatch return the same bits for the same row. Errors are
// [vector.ErrShape], [*vector.AmountError] for a bad amount of the request, as in
// [State.Place], and, from [BestFit], [scoring.ErrNeedsBatch]; they come before
// anything is written. A row out of range panics. [Combine] takes no scorers of
// GPUs: score by both, and add. Implementations are immutable, safe for
// concurrent use while nobody writes to the operands, and allocate nothing but in
// Explain, for errors, and for nodes of more than 64 devices.
type Scorer interface {
	// Score scores one row.
	Score(row int, req *Request, cpuLeft []float64, gpus *State) (float64, error)

	// ScoreBatch sets dst[r] for every selected row r; a nil mask selects all.
	// Other elements of dst are not touched, other rows not read. dst must have
	// an element per row at least.
	ScoreBatch(dst []float64, req *Request, cpuLeft []float64, gpus *State, rows *vector.Mask) error

	// ChooseDevices sets buf to the devices of a row that the pod should get,
	// and returns it, grown when its capacity is short: as many as the pod asks
	// for, or none when the row can't host it or the request is bad.
	ChooseDevices(row int, req *Request, cpuLeft []float64, gpus *State, buf []int32) []int32

	// Explain returns the numbers that make the score of one row, in units of
	// the map; those of the GPU are of all devices together, and Allocatable is
	// what is left. Each device that the pod should get has a line of its own,
	// without points: there Used is what others have of it.
	Explain(row int, req *Request, cpuLeft []float64, gpus *State) (scoring.Explanation, error)
}

const (
	panicNil     = "gpu: nil receiver"
	panicOperand = "gpu: nil state or request"
	panicMap     = "gpu: nil map"
	panicMask    = "gpu: nil mask as a destination"
)

// live panics for a receiver that is nil.
func live(isLive bool) {
	if !isLive {
		panic(panicNil)
	}
}

// needMap panics for a map that is nil.
func needMap(m *vectormap.ResourceVectorMap) {
	if m == nil {
		panic(panicMap)
	}
}

// compiled is what every scorer keeps of the map, for explanations.
type compiled struct{ m *vectormap.ResourceVectorMap }

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

// check checks the operands of a scorer.
func check(req *Request, cpuLeft []float64, gpus *State) error {
	if gpus == nil || req == nil {
		panic(panicOperand)
	}
	if len(cpuLeft) != gpus.Rows() {
		return fmt.Errorf("gpu: cpuLeft has %d elements, the state %d rows: %w", len(cpuLeft), gpus.Rows(), vector.ErrShape)
	}
	return req.check()
}

// checkBatch checks the operands of ScoreBatch.
func checkBatch(dst []float64, req *Request, cpuLeft []float64, gpus *State, rows *vector.Mask) error {
	if gpus == nil {
		panic(panicOperand)
	}
	switch n := gpus.Rows(); {
	case len(dst) < n:
		return fmt.Errorf("gpu: dst has %d elements, the state %d rows: %w", len(dst), n, vector.ErrShape)
	case rows != nil && rows.Len() != n:
		return fmt.Errorf("gpu: the mask has %d rows, the state %d: %w", rows.Len(), n, vector.ErrShape)
	}
	return check(req, cpuLeft, gpus)
}

// tightest appends to buf the devices with enough left for a request that the
// node can host, those with the least left first and of equal ones the lowest.
func tightest(buf []int32, left []float64, req *Request) []int32 {
	last, lastLeft := -1, -1.0
	for range req.Count {
		next := -1
		for d, x := range left {
			if x < req.Milli || x < lastLeft || x == lastLeft && d <= last {
				continue // too little, or taken
			}
			if next < 0 || x < left[next] {
				next = d
			}
		}
		last, lastLeft = next, left[next]
		buf = append(buf, int32(next))
	}
	return buf
}

// chooseTightest is ChooseDevices of the scorers that take the tightest fit.
func chooseTightest(row int, req *Request, cpuLeft []float64, gpus *State, buf []int32) []int32 {
	buf = buf[:0]
	if check(req, cpuLeft, gpus) != nil || !gpus.canHost(row, req, cpuLeft[row]) {
		return buf
	}
	return tightest(buf, gpus.Devices(row), req)
}

// explanation returns the explanation of a score of s. cpu and gpu are the shares
// of the two before the score was truncated; kind names the formula.
func (c *compiled) explanation(s Scorer, name, kind string, row int, req *Request, cpuLeft []float64, gpus *State, score, cpu, gpu float64) scoring.Explanation {
	e := scoring.Explanation{Total: score}
	if !gpus.canHost(row, req, cpuLeft[row]) {
		e.Reason = hostReason(row, req, cpuLeft[row], gpus)
	}
	dims := []scoring.DimExplanation{
		{Request: req.CPU, Allocatable: cpuLeft[row], Contribution: cpu},
		{Request: c.units(req.total()), Allocatable: c.units(gpus.Total(row)), Contribution: gpu},
	}
	for k, index := range [...]int{vectormap.CPU, vectormap.GPU} {
		d := &dims[k]
		d.Index, d.Name, d.Type, d.Weight = index, c.m.Name(index), kind, 1
		switch {
		case e.Reason != "":
			d.Contribution = 0
			if d.Request > d.Allocatable {
				d.Status = scoring.OverCapacity
			}
		case cpu+gpu != 0:
			d.Contribution *= score / (cpu + gpu)
		}
		if d.Request == 0 {
			d.Status = scoring.NotRequested
		}
	}
	left := gpus.Devices(row)
	for _, d := range s.ChooseDevices(row, req, cpuLeft, gpus, nil) {
		dims = append(dims, scoring.DimExplanation{
			Index: vectormap.GPU, Name: "device " + strconv.Itoa(int(d)), Type: "chosen",
			Request: c.units(req.Milli), Used: c.units(wholeDevice - left[d]), Allocatable: c.units(wholeDevice),
		})
	}
	e.Terms = []scoring.TermExplanation{{Name: name, Weight: 1, Score: score, Dims: dims}}
	return e
}

// units returns thousandths of a device in the unit of the map.
func (c *compiled) units(milli float64) float64 {
	return milli * float64(c.m.Unit(vectormap.GPU).Scale()) / wholeDevice
}

// hostReason says why a row can't host a request.
func hostReason(row int, req *Request, cpuLeft float64, gpus *State) string {
	switch {
	case !(cpuLeft >= req.CPU):
		return "not enough cpu"
	case !allows(req.Models, gpus.Model(row)):
		return "another GPU model"
	}
	return "not enough devices with enough left"
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
