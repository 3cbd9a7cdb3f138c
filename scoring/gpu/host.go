package gpu

import (
	"math"
	"math/bits"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/vector"
)

// host is a node as the definitions of the scorers see it.
type host struct {
	cpu, total float64   // left, total of all devices
	left       []float64 // by device
	pods       []int32   // by class
	model      int32
}

// hostOf returns a node as [NewState] would take it. room is for its devices.
func hostOf(room []float64, cpuLeft float64, node *Node) host {
	node.check()
	h := host{cpu: cpuLeft, left: room[:0], pods: node.Pods, model: node.Model}
	for _, x := range node.Left {
		if !(x >= 0 && x <= wholeDevice) {
			x = 0
		}
		h.left = append(h.left, x)
		h.total += x
	}
	return h
}

// host returns a row of which so much CPU is left.
func (s *State) host(row int, cpuLeft float64) host {
	return host{cpu: cpuLeft, total: s.Total(row), left: s.Devices(row), pods: s.Pods(row), model: s.rows[row].model}
}

// canHost reports whether the node has the CPU, a model that is allowed, and enough
// devices with enough left for a valid request.
func (h *host) canHost(req *Request) bool {
	if !(h.cpu >= req.CPU) {
		return false
	}
	if req.Count == 0 {
		return true
	}
	return allows(req.Models, h.model) && h.hasDevices(req)
}

// hasDevices reports whether enough devices have enough left.
func (h *host) hasDevices(req *Request) bool {
	n := 0
	for _, x := range h.left {
		if x >= req.Milli {
			n++
		}
	}
	return n >= req.Count
}

// reason says why the node can't host a request.
func (h *host) reason(req *Request) string {
	switch {
	case !(h.cpu >= req.CPU):
		return "not enough cpu"
	case !allows(req.Models, h.model):
		return "another GPU model"
	}
	return "not enough devices with enough left"
}

// tightest appends to buf the devices with enough left for a request that the
// node can host, those with the least left first and of equal ones the lowest.
func (h *host) tightest(buf []int32, req *Request) []int32 {
	last, lastLeft := -1, -1.0
	for range req.Count {
		next := -1
		for d, x := range h.left {
			if x < req.Milli || x < lastLeft || x == lastLeft && d <= last {
				continue // too little, or taken
			}
			if next < 0 || x < h.left[next] {
				next = d
			}
		}
		last, lastLeft = next, h.left[next]
		buf = append(buf, int32(next))
	}
	return buf
}

// classes returns the classes of pods that the node holds as bits: the bit of class, and
// others.
func (h *host) classes(class int) (bits uint64) {
	own := classBit(class)
	for c, n := range h.pods {
		switch {
		case n > 0 && c == class:
			bits |= own
		case n > 0:
			bits |= ^own
		}
	}
	return bits
}

// fit takes the rows that can't host a valid request out of dst, which is a mask over
// the rows. cpuLeft has an element per row.
func (s *State) fit(dst *vector.Mask, req *Request, cpuLeft []float64) {
	var g kernel.GPURows
	switch {
	case !s.columns(&g, req, cpuLeft):
		for row := range dst.All() {
			if h := s.host(row, cpuLeft[row]); !h.canHost(req) {
				dst.Clear(row)
			}
		}
	case dst.Count() <= len(s.rows)/fewRows:
		s.keepFew(dst.Words(), &g, req)
	default:
		s.keepFitting(dst.Words(), 0, &g, req)
	}
}

// fewRows is the share of the rows, 1 in so many, up to which asking them one by
// one is faster than asking the kernels for all.
const fewRows = 16

// keepFew is keepFitting for few rows of all. Nobody can foresee what a row
// fails in, so it looks at all amounts.
func (s *State) keepFew(dst []uint64, g *kernel.GPURows, req *Request) {
	choosy := req.choosy()
	for w, word := range dst {
		for rest := word; rest != 0; rest &= rest - 1 {
			i := bits.TrailingZeros64(rest)
			row := w*kernel.Block + i
			var enough, enoughCPU uint64
			if g.Enough[row] >= g.NeedMilli {
				enough = 1
			}
			if g.CPU[row] >= g.NeedCPU {
				enoughCPU = 1
			}
			if choosy && !allows(req.Models, s.rows[row].model) {
				enough = 0
			}
			word &^= (enough&enoughCPU ^ 1) << i
		}
		dst[w] = word
	}
}

// columns sets the columns of g, and what a row needs to host a request but for
// the model. It reports false when the summary doesn't say.
func (s *State) columns(g *kernel.GPURows, req *Request, cpuLeft []float64) bool {
	if len(s.rows) == 0 { // the zero value has no columns
		return false
	}
	g.CPU, g.NeedCPU = cpuLeft, req.CPU
	g.Total = s.summary.Column(0)
	g.Classes = s.classes
	if req.Count == 0 {
		g.Enough, g.NeedMilli = g.Total, math.Inf(-1)
		return true
	}
	if req.Count < s.summary.Cols() {
		g.Enough, g.NeedMilli = s.summary.Column(req.Count), req.Milli
		return true
	}
	// No row has so many devices, but those that have more than columns.
	g.Enough, g.NeedMilli = g.Total, math.Inf(1)
	return s.most <= mostRanks
}

// keepFitting clears the bits of the rows that can't host a request, from row lo
// on, a multiple of 64. columns has set g.
func (s *State) keepFitting(dst []uint64, lo int, g *kernel.GPURows, req *Request) {
	hi := min(lo+len(dst)*kernel.Block, len(s.rows))
	kernel.MaskGE(dst, g.CPU[lo:hi], dst, g.NeedCPU)
	kernel.MaskGE(dst, g.Enough[lo:hi], dst, g.NeedMilli)
	if !req.choosy() {
		return
	}
	for i, w := range dst {
		for ; w != 0; w &= w - 1 {
			k := bits.TrailingZeros64(w)
			if !allows(req.Models, s.rows[lo+i*kernel.Block+k].model) {
				dst[i] &^= 1 << k
			}
		}
	}
}

// eachHost calls f for the selected rows that can host a request.
func (s *State) eachHost(rows []uint64, req *Request, cpuLeft []float64, f func(row int)) {
	var g kernel.GPURows
	if !s.columns(&g, req, cpuLeft) {
		kernel.EachRow(len(s.rows), rows, func(row int) {
			if h := s.host(row, cpuLeft[row]); h.canHost(req) {
				f(row)
			}
		})
		return
	}
	var room [16]uint64
	const step = len(room) * kernel.Block
	for lo := 0; lo < len(s.rows); lo += step {
		n := min(step, len(s.rows)-lo)
		hosts := room[:(n+kernel.Block-1)/kernel.Block]
		for i := range hosts {
			hosts[i] = math.MaxUint64
			if rows != nil {
				hosts[i] = rows[lo/kernel.Block+i]
			}
		}
		s.keepFitting(hosts, lo, &g, req)
		kernel.EachRow(n, hosts, func(i int) { f(lo + i) })
	}
}

// clearOthers sets the scores of the selected rows whose model is not allowed
// to 0.
func (s *State) clearOthers(dst []float64, req *Request, rows []uint64) {
	if req.choosy() {
		kernel.EachRow(len(s.rows), rows, func(row int) {
			if !allows(req.Models, s.rows[row].model) {
				dst[row] = 0
			}
		})
	}
}
