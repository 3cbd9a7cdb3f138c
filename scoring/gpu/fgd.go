package gpu

import (
	"math"
	"math/bits"

	"github.com/resvec/resvec/internal/document"
	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/vectormap"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// FGDConfig configures [CompileFGD].
type FGDConfig struct {
	// Typical is what the pods of the cluster are like; required.
	Typical *Typical

	// Exact keeps the fractions of the scores, which are truncated otherwise, as
	// in the published setting.
	Exact bool
}

// CompileFGD returns the scorer of fragmentation gradient descent: a node scores by how
// much its fragmentation falls when it takes the pod. The score is 100 / (1 + exp(-D)),
// truncated to a whole number, where D is F before less F after, in devices; see
// [Typical]. 50 means that nothing changes.
//
// A pod that shares a device gives every device with enough left a score. The
// best one is the node's, and the lowest device that reaches it is chosen. Whole
// devices are the lowest idle ones, and several parts the tightest fits. For a
// pod without GPU only the CPU shrinks.
//
// It warns when no typical pod wants a GPU. (Weng et al., Beware of Fragmentation:
// Scheduling GPU-Sharing Workloads with Fragmentation Gradient Descent, USENIX ATC
// 2023.)
func CompileFGD(cfg FGDConfig, m *vectormap.ResourceVectorMap) (*Scorer, error) {
	if cfg.Typical == nil || cfg.Typical.n == 0 {
		return nil, document.Errors(field.ErrorList{field.Required(field.NewPath("typical"), "what the pods of the cluster are like")})
	}
	s := &Scorer{m: m, kind: fragmentation, fgd: &fgd{typical: cfg.Typical, exact: cfg.Exact}}
	if !cfg.Typical.wantsGPU() {
		s.warnings = field.ErrorList{field.Invalid(field.NewPath("typical"), field.OmitValueType{}, "no pod that wants a GPU: all nodes score alike")}
	}
	if cfg.Typical.table != nil && !cfg.Exact {
		s.fgd.scale = newFGDScale(s.fgd)
	}
	return s, nil
}

// fgd is what FGD scores by.
type fgd struct {
	typical *Typical
	exact   bool
	scale   *fgdScale // nil: compute every score
}

// points turns a change of Phi into a score.
func (f *fgd) points(phi float64) float64 {
	d := phi / f.typical.n / 1000
	score := 100 / (1 + exp(-d))
	if !f.exact {
		score = math.Trunc(score)
	}
	return score
}

// best tries the candidates of a node that can host a request by the definition
// of Phi, and returns the best score and, for a pod that shares a device, the
// device that gives it, else -1.
func (f *fgd) best(h *host, req *Request) (score float64, device int) {
	var room [64]float64
	var taken [64]int32
	before := f.typical.phiList(h.cpu, h.left, h.model)
	after := append(room[:0], h.left...)
	if !req.shares() {
		for _, d := range h.tightest(taken[:0], req) {
			after[d] -= req.Milli
		}
		return f.points(before - f.typical.phiList(h.cpu-req.CPU, after, h.model)), -1
	}
	device = -1
	for d, x := range h.left {
		if x < req.Milli {
			continue
		}
		after[d] = x - req.Milli
		s := f.points(before - f.typical.phiList(h.cpu-req.CPU, after, h.model))
		after[d] = x
		if device < 0 || s > score {
			score, device = s, d
		}
	}
	return score, device
}

// quick reports whether quickScore will do: the table gives Phi, and the pod
// takes whole numbers, a part of one device or whole devices.
func (f *fgd) quick(req *Request, gpus *State) bool {
	return f.typical.exact(gpus) && (req.Count <= 1 || req.Milli == wholeDevice) && req.Milli == math.Trunc(req.Milli)
}

// quickScores scores rows by the table: a block of rows at a time, of which those are
// found first that have the CPU, the model and the whole devices, without a branch for
// each.
func (f *fgd) quickScores(dst []float64, q *query, words []uint64) {
	var block [kernel.Block]int32
	for lo := 0; lo < len(dst); lo += kernel.Block {
		word := ^uint64(0)
		if words != nil {
			word = words[lo/kernel.Block]
		}
		if n := len(dst) - lo; n < kernel.Block {
			word &= 1<<n - 1
		}
		switch rows := q.quickHosts(&block, dst, lo, word); {
		case q.req.shares():
			f.quickShares(dst, q, rows)
		default:
			f.quickWholes(dst, q, rows)
		}
	}
}

// quickHosts sets dst to 0 for the rows that word selects, and returns those that can host
// the request, but for a part of a device, in block.
func (q *query) quickHosts(block *[kernel.Block]int32, dst []float64, lo int, word uint64) []int32 {
	whole, n := int32(q.req.Count), uint(0)
	if q.req.shares() {
		whole = 0
	}
	choosy := q.req.choosy()
	for ; word != 0; word &= word - 1 {
		row := lo + bits.TrailingZeros64(word)
		r := &q.gpus.rows[row]
		dst[row], block[n%kernel.Block] = 0, int32(row)
		can := uint(0)
		if q.cpu[row] >= q.req.CPU {
			can = 1
		}
		if r.idle < whole {
			can = 0
		}
		if choosy && !allows(q.req.Models, r.model) {
			can = 0
		}
		n += can
	}
	return block[:n]
}

// quickShares scores rows for a pod that shares a device.
func (f *fgd) quickShares(dst []float64, q *query, rows []int32) {
	p, gpus, cpu, milli := f.typical.table, q.gpus, q.req.CPU, int64(q.req.Milli)
	for _, row := range rows {
		r, left := &gpus.rows[row], q.cpu[row]
		if gain, ok := p.shareGain(p.cell(r.model, left), p.cell(r.model, left-cpu), int64(r.idle), gpus.partsOf(r), milli); ok {
			dst[row] = f.quickPoints(gain)
		}
	}
}

// quickWholes scores rows for a pod that takes whole devices, or none.
func (f *fgd) quickWholes(dst []float64, q *query, rows []int32) {
	p, gpus, cpu, count := f.typical.table, q.gpus, q.req.CPU, int64(q.req.Count)
	for _, row := range rows {
		r, left := &gpus.rows[row], q.cpu[row]
		dst[row] = f.quickPoints(p.gain(p.cell(r.model, left), p.cell(r.model, left-cpu), int64(r.idle), gpus.partsOf(r), count))
	}
}

// quickPoints is points for an exact change of Phi.
func (f *fgd) quickPoints(gain int64) float64 {
	if f.scale != nil {
		return f.scale.points(gain)
	}
	return f.points(float64(gain))
}

// quickDevice returns the device of a row that can host the request of a pod that shares
// one, by the table.
func (f *fgd) quickDevice(r *stateRow, cpuLeft float64, q *query) int {
	p, req := f.typical.table, q.req
	before, after := p.cell(r.model, cpuLeft), p.cell(r.model, cpuLeft-req.CPU)
	device, best := -1, 0.0
	p.eachShare(before, after, q.gpus.padded(r), int64(req.Milli), func(d int, gain int64) {
		if s := f.quickPoints(gain); device < 0 || s > best {
			device, best = d, s
		}
	})
	return device
}

// fgdScale gives the truncated score of a gain without computing it.
type fgdScale struct {
	limits [102]int64 // limits[s] is the least gain with score s or more, the greatest number if there is none

	// The search begins at the score of the gain's step.
	low, perGain float64
	steps        [fgdSteps]uint8
}

const (
	fgdSteps = 2048
	fgdEnd   = 5000 // beyond this D, in thousandths, the score hardly moves
)

// newFGDScale returns the scale of a scorer; scores grow with the gain.
func newFGDScale(f *fgd) *fgdScale {
	s := &fgdScale{low: -fgdEnd * f.typical.n, perGain: fgdSteps / (2 * fgdEnd * f.typical.n)}
	const bound = int64(1) << 53
	for score := range s.limits {
		lo, hi := -bound, bound // sort.Search takes an int, which may have 32 bits
		for lo < hi {
			if gain := lo + (hi-lo)/2; f.points(float64(gain)) < float64(score) {
				lo = gain + 1
			} else {
				hi = gain
			}
		}
		s.limits[score] = lo
		if lo == bound {
			s.limits[score] = math.MaxInt64
		}
	}
	s.limits[0] = math.MinInt64
	for i := 1; i < fgdSteps; i++ {
		// A step may begin a little early, by rounding.
		begin := s.low + float64(i)/s.perGain
		s.steps[i] = uint8(max(0, f.points(math.Floor(begin-math.Abs(begin)*0x1p-40)-1)))
	}
	return s
}

// points returns the score of a gain.
func (s *fgdScale) points(gain int64) float64 {
	score := s.steps[min(max(int((float64(gain)-s.low)*s.perGain), 0), fgdSteps-1)]
	if gain >= s.limits[score+1] {
		score++
	}
	for gain >= s.limits[score+1] { // seldom: there are several limits in one step
		score++
	}
	return float64(score)
}
