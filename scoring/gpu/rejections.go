package gpu

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/vector"
)

// Rejections says how many rows can host a request, and what the others lack.
// A row that lacks two things counts for both.
type Rejections struct {
	Rows    int // looked at
	Hosts   int // that can host it
	CPU     int // with too little CPU
	Model   int // of another model
	Devices int // with too few devices that have enough left

	// Fragmented is how many of Devices have enough left on all devices
	// together.
	Fragmented int
}

// Rejections counts why rows, of those in rows, can't host a request; a nil mask
// stands for all of them. cpuLeft has an element per row. Pass the rows that may
// be chosen, not those that fit. With a bad amount in the request nobody is a
// host, and nothing is lacking.
func (s *State) Rejections(req *Request, cpuLeft []float64, rows *vector.Mask) Rejections {
	live(s != nil)
	if req == nil {
		panic(panicOperand)
	}
	if len(cpuLeft) != len(s.rows) || rows != nil && rows.Len() != len(s.rows) {
		panic(panicShape)
	}
	var j Rejections
	valid := req.valid()
	kernel.EachRow(len(s.rows), wordsOf(rows), func(row int) {
		j.Rows++
		if valid {
			j.add(s, row, req, cpuLeft[row])
		}
	})
	return j
}

// add counts a row.
func (j *Rejections) add(s *State, row int, req *Request, cpuLeft float64) {
	devices := *req
	devices.CPU, devices.Models = 0, nil
	cpu := !(cpuLeft >= req.CPU)
	model := req.choosy() && !allows(req.Models, s.Model(row))
	short := !s.canHost(row, &devices, 0)
	for _, x := range [...]struct {
		count *int
		is    bool
	}{{&j.CPU, cpu}, {&j.Model, model}, {&j.Devices, short}, {&j.Fragmented, short && s.Total(row) >= req.total()}, {&j.Hosts, !cpu && !model && !short}} {
		if x.is {
			*x.count++
		}
	}
}

// String returns one line of text, in the form of
// [vectormap.ResourceVectorMap.ExplainRejections]: the reason of most rows comes
// first.
//
//	0/5000 nodes fit: 3100 without enough GPUs left (enough in pieces on 127), 2400 of another GPU model
func (j Rejections) String() string {
	devices := "without enough GPUs left"
	if j.Fragmented > 0 {
		devices += fmt.Sprintf(" (enough in pieces on %d)", j.Fragmented)
	}
	type reason struct {
		rows int
		text string
	}
	reasons := []reason{{j.CPU, "insufficient cpu"}, {j.Model, "of another GPU model"}, {j.Devices, devices}}
	slices.SortStableFunc(reasons, func(a, b reason) int { return cmp.Compare(b.rows, a.rows) })
	var texts []string
	for _, r := range reasons {
		if r.rows > 0 {
			texts = append(texts, fmt.Sprintf("%d %s", r.rows, r.text))
		}
	}
	line := fmt.Sprintf("%d/%d nodes fit", j.Hosts, j.Rows)
	if len(texts) > 0 {
		line += ": " + strings.Join(texts, ", ")
	}
	return line
}
