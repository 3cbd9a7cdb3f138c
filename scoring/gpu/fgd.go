package gpu

import (
	"math"
	"slices"

	"github.com/resvec/resvec/internal/document"
	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vector"
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

// FGD scores a node by how much its fragmentation falls when it takes the pod:
// 100 / (1 + exp(-D)), truncated to a whole number, where D is F before less F
// after, in devices; see [Typical]. 50 means that nothing changes.
//
// A pod that shares a device gives every device with enough left a score. The
// best one is the node's, and the lowest device that reaches it is chosen. Whole
// devices are the lowest idle ones, and several parts the tightest fits. For a
// pod without GPU only the CPU shrinks.
//
// (Weng et al., Beware of Fragmentation: Scheduling GPU-Sharing Workloads with
// Fragmentation Gradient Descent, USENIX ATC 2023.)
type FGD struct {
	compiled
	warnings field.ErrorList
	typical  *Typical
	exact    bool
	scale    *fgdScale // nil: compute every score
}

// CompileFGD returns the scorer of a configuration; see [FGD]. It warns when no
// typical pod wants a GPU.
func CompileFGD(cfg FGDConfig, m *vectormap.ResourceVectorMap) (*FGD, error) {
	needMap(m)
	if cfg.Typical == nil {
		return nil, document.Errors(field.ErrorList{field.Required(field.NewPath("typical"), "what the pods of the cluster are like")})
	}
	f := &FGD{compiled: compiled{m}, typical: cfg.Typical, exact: cfg.Exact}
	if !cfg.Typical.wantsGPU() {
		f.warnings = field.ErrorList{field.Invalid(field.NewPath("typical"), field.OmitValueType{}, "no pod that wants a GPU: all nodes score alike")}
	}
	if f.typical.table != nil && !f.exact {
		f.scale = newFGDScale(f)
	}
	return f, nil
}

// Warnings returns what was reported when the configuration was compiled, sorted
// by path. The caller must not change it.
func (f *FGD) Warnings() field.ErrorList {
	live(f != nil)
	return f.warnings
}

// Score implements [Scorer].
func (f *FGD) Score(row int, req *Request, cpuLeft []float64, gpus *State) (float64, error) {
	live(f != nil)
	if err := check(req, cpuLeft, gpus); err != nil {
		return 0, err
	}
	if f.quick(req, gpus) {
		return f.quickScore(gpus.row(row), gpus.Total(row), req, cpuLeft[row], gpus), nil
	}
	return f.score(row, req, cpuLeft[row], gpus), nil
}

// ScoreBatch implements [Scorer].
func (f *FGD) ScoreBatch(dst []float64, req *Request, cpuLeft []float64, gpus *State, rows *vector.Mask) error {
	live(f != nil)
	if err := checkBatch(dst, req, cpuLeft, gpus, rows); err != nil {
		return err
	}
	if f.quick(req, gpus) {
		totals := gpus.summary.Column(0)
		if rows == nil || rows.Count() >= manyAlike {
			f.quickScores(dst, totals, req, cpuLeft, gpus, wordsOf(rows))
			return nil
		}
		kernel.EachRow(gpus.Rows(), wordsOf(rows), func(row int) {
			dst[row] = f.quickScore(&gpus.rows[row], totals[row], req, cpuLeft[row], gpus)
		})
		return nil
	}
	kernel.EachRow(gpus.Rows(), wordsOf(rows), func(row int) {
		dst[row] = f.score(row, req, cpuLeft[row], gpus)
	})
	return nil
}

// quick reports whether quickScore will do: the table gives Phi, and the pod
// takes whole numbers, a part of one device or whole devices.
func (f *FGD) quick(req *Request, gpus *State) bool {
	return f.typical.exact(gpus) && (req.Count <= 1 || req.Milli == wholeDevice) && req.Milli == math.Trunc(req.Milli)
}

// manyAlike is how many rows have to be scored for it to pay to look for equal
// ones.
const manyAlike = 256

// quickScores is quickScore for many rows. Nodes whose devices are all idle are
// often alike, in an empty cluster nearly all of them, so that their scores are
// remembered.
func (f *FGD) quickScores(dst, totals []float64, req *Request, cpuLeft []float64, gpus *State, words []uint64) {
	var known [64]struct {
		cpuLeft, score float64
		model, devices int32 // one more than the devices; 0 where nothing is known
	}
	kernel.EachRow(gpus.Rows(), words, func(row int) {
		r, cpu := &gpus.rows[row], cpuLeft[row]
		if totals[row] != float64(int64(r.devices)*wholeDevice) {
			dst[row] = f.quickScore(r, totals[row], req, cpu, gpus)
			return
		}
		hash := (math.Float64bits(cpu) ^ uint64(uint32(r.model)) ^ uint64(r.devices)<<32) * 0x9E3779B97F4A7C15
		k := &known[hash>>58]
		if k.devices != r.devices+1 || k.model != r.model || k.cpuLeft != cpu {
			k.cpuLeft, k.model, k.devices = cpu, r.model, r.devices+1
			k.score = f.quickScore(r, totals[row], req, cpu, gpus)
		}
		dst[row] = k.score
	})
}

// quickScore scores a row, which has this much left in total, by the table.
func (f *FGD) quickScore(r *stateRow, total float64, req *Request, cpuLeft float64, gpus *State) float64 {
	if !(cpuLeft >= req.CPU) || req.Count > 0 && !allows(req.Models, r.model) {
		return 0
	}
	p := f.typical.table
	before, after := p.cell(r.model, cpuLeft), p.cell(r.model, cpuLeft-req.CPU)
	var gain int64
	var ok bool
	switch devices := int64(r.devices); {
	case total == float64(devices*wholeDevice):
		gain, ok = p.idleGain(before, after, devices, int64(req.Count), int64(req.Milli))
	case req.shares():
		gain, ok = p.shareGain(before, after, gpus.padded(r), int64(req.Milli))
	default:
		gain, ok = p.gain(before, after, gpus.padded(r), int64(req.Count))
	}
	if !ok {
		return 0
	}
	return f.quickPoints(gain)
}

// quickPoints is points for an exact change of Phi.
func (f *FGD) quickPoints(gain int64) float64 {
	if f.scale != nil {
		return f.scale.points(float64(gain))
	}
	return f.points(float64(gain))
}

// quickDevice returns the device that a pod gets that shares one, by the table.
func (f *FGD) quickDevice(r *stateRow, req *Request, cpuLeft float64, gpus *State) int {
	p := f.typical.table
	before, after := p.cell(r.model, cpuLeft), p.cell(r.model, cpuLeft-req.CPU)
	device, best := -1, 0.0
	p.eachShare(before, after, gpus.padded(r), int64(req.Milli), func(d int, gain int64) {
		if s := f.quickPoints(gain); device < 0 || s > best {
			device, best = d, s
		}
	})
	return device
}

// score scores a row by the definition of Phi.
func (f *FGD) score(row int, req *Request, cpuLeft float64, gpus *State) float64 {
	if !gpus.canHost(row, req, cpuLeft) {
		return 0
	}
	score, _ := f.best(row, req, cpuLeft, gpus)
	return score
}

// points turns a change of Phi into a score.
func (f *FGD) points(phi float64) float64 {
	d := phi / f.typical.n / 1000
	score := 100 / (1 + exp(-d))
	if !f.exact {
		score = math.Trunc(score)
	}
	return score
}

// best tries the candidates of a row that can host a request by the definition
// of Phi, and returns the best score and, for a pod that shares a device, the
// device that gives it, else -1.
func (f *FGD) best(row int, req *Request, cpuLeft float64, gpus *State) (score float64, device int) {
	var room [64]float64
	var taken [64]int32
	left, model := gpus.Devices(row), gpus.Model(row)
	before := f.typical.phiList(cpuLeft, left, model)
	after := append(room[:0], left...)
	if !req.shares() {
		for _, d := range tightest(taken[:0], left, req) {
			after[d] -= req.Milli
		}
		return f.points(before - f.typical.phiList(cpuLeft-req.CPU, after, model)), -1
	}
	device = -1
	for d, x := range left {
		if x < req.Milli {
			continue
		}
		after[d] = x - req.Milli
		s := f.points(before - f.typical.phiList(cpuLeft-req.CPU, after, model))
		after[d] = x
		if device < 0 || s > score {
			score, device = s, d
		}
	}
	return score, device
}

// ChooseDevices implements [Scorer].
func (f *FGD) ChooseDevices(row int, req *Request, cpuLeft []float64, gpus *State, buf []int32) []int32 {
	live(f != nil)
	if req == nil {
		panic(panicOperand)
	}
	if !req.shares() {
		return chooseTightest(row, req, cpuLeft, gpus, buf)
	}
	buf = buf[:0]
	if check(req, cpuLeft, gpus) != nil || !gpus.canHost(row, req, cpuLeft[row]) {
		return buf
	}
	var device int
	if f.quick(req, gpus) {
		device = f.quickDevice(gpus.row(row), req, cpuLeft[row], gpus)
	} else {
		_, device = f.best(row, req, cpuLeft[row], gpus)
	}
	return append(buf, int32(device))
}

// Explain implements [Scorer]. The whole score is that of the GPU, and two
// more lines show what it comes from: F of the row before and after the pod, in
// the column of the amount that F is the useless part of.
func (f *FGD) Explain(row int, req *Request, cpuLeft []float64, gpus *State) (scoring.Explanation, error) {
	live(f != nil)
	score, err := f.Score(row, req, cpuLeft, gpus)
	if err != nil {
		return scoring.Explanation{}, err
	}
	e := f.explanation(f, "FGD", "fragmentation", row, req, cpuLeft, gpus, score, 0, score)
	fragments := func(name string, cpu float64, left []float64) {
		e.Terms[0].Dims = append(e.Terms[0].Dims, scoring.DimExplanation{
			Index: vectormap.GPU, Name: name, Type: "fragments",
			Allocatable: f.units(f.typical.FNode(cpu, left, gpus.Model(row))),
		})
	}
	left := gpus.Devices(row)
	fragments("F before", cpuLeft[row], left)
	if e.Reason == "" {
		left = slices.Clone(left)
		for _, d := range f.ChooseDevices(row, req, cpuLeft, gpus, nil) {
			left[d] -= req.Milli
		}
		fragments("F after", cpuLeft[row]-req.CPU, left)
	}
	return e, nil
}

// fgdScale gives the truncated score of a gain without computing it.
type fgdScale struct {
	limits [102]float64 // limits[s] is the least gain with score s or more, +Inf if there is none

	// The search begins at the score of the gain's step.
	low, perGain float64
	steps        [fgdSteps]uint8
}

const (
	fgdSteps = 2048
	fgdEnd   = 5000 // beyond this D, in thousandths, the score hardly moves
)

// newFGDScale returns the scale of a scorer; scores grow with the gain.
func newFGDScale(f *FGD) *fgdScale {
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
		s.limits[score] = float64(lo)
		if lo == bound {
			s.limits[score] = math.Inf(1)
		}
	}
	s.limits[0] = math.Inf(-1)
	for i := 1; i < fgdSteps; i++ {
		// A step may begin a little early, by rounding.
		begin := s.low + float64(i)/s.perGain
		s.steps[i] = uint8(max(0, f.points(math.Floor(begin-math.Abs(begin)*0x1p-40)-1)))
	}
	return s
}

// points returns the score of a gain.
func (s *fgdScale) points(gain float64) float64 {
	k := s.steps[min(max(int((gain-s.low)*s.perGain), 0), fgdSteps-1)]
	for gain >= s.limits[k+1] {
		k++
	}
	return float64(k)
}
