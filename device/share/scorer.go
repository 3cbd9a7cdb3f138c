package share

import (
	"math"
	"math/bits"
	"slices"

	"github.com/resvec/resvec/internal/document"
	"github.com/resvec/resvec/internal/kernel"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The types of scoring.
const (
	LeastAllocated = "LeastAllocated"
	MostAllocated  = "MostAllocated"
)

// Config is a scoringStrategy of Koordinator's DeviceShareArgs, and how a [Scorer]
// counts, which no document says. The zero value is LeastAllocated over
// gpu-memory-ratio with weight 1.
type Config struct {
	Type      string         `json:"type,omitempty"`      // LeastAllocated (default) or MostAllocated
	Resources []ResourceSpec `json:"resources,omitempty"` // nil: gpu-memory-ratio with weight 1

	// PerInstance adds one instance to a node's use instead of the pod's whole
	// request, as Koordinator does: an idle node of eight GPUs scores 87, not
	// 50, for a pod of four.
	PerInstance bool `json:"-"`

	// FillMemory completes a request for one of gpu-memory-ratio and gpu-memory
	// with the other, from the totals of the same device or node, truncated. It
	// does so in scores, filters and allocations. Use it wherever some pods ask in
	// percent and some in bytes. Without it the one that isn't requested counts as
	// 0, as in Koordinator: a pod that takes a whole GPU by percent leaves all its
	// bytes free. A request for both stays as it is, and so does one where either
	// total is 0 or less.
	FillMemory bool `json:"-"`
}

// ResourceSpec is a resource that counts in the score.
type ResourceSpec struct {
	Name   string `json:"name"`   // the full name of a [Resource]
	Weight int64  `json:"weight"` // 1 to 100
}

// KoordinatorDefaults returns the scoringStrategy that Koordinator ships:
// LeastAllocated over gpu-memory-ratio, gpu-memory, rdma and fpga, with weight 1
// each.
func KoordinatorDefaults() Config {
	return Config{
		Type: LeastAllocated,
		Resources: []ResourceSpec{
			{GPUMemoryRatio.String(), 1}, {GPUMemory.String(), 1}, {RDMA.String(), 1}, {FPGA.String(), 1},
		},
	}
}

// Scorer says how good devices and nodes are for a pod. It is made by [NewScorer],
// immutable, and safe for concurrent use. [Scorer.Bind] asks it about an [Account].
// A nil *Scorer, and the zero Scorer, give every device and node the score 0.
type Scorer struct {
	most    bool
	each    bool             // by PerInstance
	fills   bool             // by FillMemory
	columns []Resource       // that a score depends on, as configured; with FillMemory the missing one of the two last
	weights [resources]int64 // 0: doesn't count
	pairs   bool             // FillMemory has something to complete
}

// NewScorer returns the scorer of a configuration. It keeps no reference to cfg.
//
// The error is the Aggregate of a field.ErrorList, with paths below
// scoringStrategy: an unknown type, an empty list that isn't nil, a resource
// without a name, with the name of an earlier one or with one that no device has, a
// weight outside 1 to 100. Of more than 1000 faults the first ones are listed.
func NewScorer(cfg Config) (*Scorer, error) {
	if err := document.Errors(cfg.faults()); err != nil {
		return nil, err
	}
	s := &Scorer{most: cfg.Type == MostAllocated, each: cfg.PerInstance, fills: cfg.FillMemory}
	specs := cfg.Resources
	if specs == nil {
		specs = []ResourceSpec{{GPUMemoryRatio.String(), 1}}
	}
	for _, spec := range specs {
		r, _ := ResourceNamed(spec.Name)
		s.columns = append(s.columns, r)
		s.weights[r] = spec.Weight
	}
	if s.fills {
		ratio, memory := slices.Contains(s.columns, GPUMemoryRatio), slices.Contains(s.columns, GPUMemory)
		s.pairs = ratio || memory
		switch {
		case ratio && !memory:
			s.columns = append(s.columns, GPUMemory)
		case memory && !ratio:
			s.columns = append(s.columns, GPUMemoryRatio)
		}
	}
	return s, nil
}

const (
	minWeight = 1
	maxWeight = 100
)

// faults returns what is wrong with a configuration, in the order type,
// resources.
func (c *Config) faults() (list field.ErrorList) {
	if c.Type != "" && c.Type != LeastAllocated && c.Type != MostAllocated {
		list = append(list, field.NotSupported(field.NewPath("type"), c.Type, []string{LeastAllocated, MostAllocated}))
	}
	path := field.NewPath("resources")
	if c.Resources != nil && len(c.Resources) == 0 {
		list = append(list, field.Required(path, "must not be empty; leave it out for the default"))
	}
	seen := map[string]bool{}
	for i, spec := range c.Resources {
		name, weight := path.Index(i).Child("name"), path.Index(i).Child("weight")
		_, known := ResourceNamed(spec.Name)
		switch {
		case spec.Name == "":
			list = append(list, field.Required(name, "must name a resource"))
		case seen[spec.Name]:
			list = append(list, field.Duplicate(name, spec.Name))
		case !known:
			list = append(list, unknownResource(name, spec.Name))
		}
		seen[spec.Name] = true
		if spec.Weight < minWeight || spec.Weight > maxWeight {
			list = append(list, field.Invalid(weight, spec.Weight, "must be from 1 to 100"))
		}
	}
	return list
}

// ScoreDevice returns the score of one device for one instance, from 0 to 100: the
// weighted mean of the scores of the resources that the device has, that is whose
// total is above 0, truncated; 0 when it has none of them. With
//
//	used = total − free + req, or total where free is above total
//
// the score of a resource is as of kube-scheduler's LeastAllocated or MostAllocated:
// (total − used)·100/total, 0 where used is above total, or min(used, total)·100/total,
// truncated. Free above total is a mistake of the caller, and must not attract pods: the
// resource counts as full. Negative free makes used larger than total. Resources without
// a weight don't count. No amount is too large: nothing wraps around or is rounded.
//
// The error wraps [ErrInvalidUnit]: a negative amount in req. It allocates nothing.
func (s *Scorer) ScoreDevice(req Amounts, total Amounts, free Amounts) (int64, error) {
	if err := req.check(); err != nil {
		return 0, err
	}
	return s.scoreDevice(&req, &total, &free), nil
}

// scoreDevice is ScoreDevice for a request without negative amounts.
func (s *Scorer) scoreDevice(req *Amounts, total *Amounts, free *Amounts) int64 {
	if s == nil {
		return 0
	}
	return s.mean(s.columns, &amounts{request: *req, total: *total, free: *free})
}

// amounts are what a device has, or of all devices of a kind on a node.
type amounts struct {
	request Amounts
	total   Amounts
	free    Amounts
}

// mean completes the request and returns the weighted mean of the scores of the
// resources that are there. Columns are the resources that count, and those that
// complete a request for them.
func (s *Scorer) mean(columns []Resource, a *amounts) int64 {
	s.fill(&a.request, &a.total)
	var sum, weights int64
	for _, r := range columns {
		if w := s.weights[r]; w > 0 && a.total[r] > 0 {
			sum += w * s.step(a.used(r), a.total[r])
			weights += w
		}
	}
	if weights == 0 {
		return 0
	}
	return sum / weights
}

// fill completes a request for one of gpu-memory-ratio and gpu-memory with the
// other one, where both have a total, for a score.
func (s *Scorer) fill(req *Amounts, total *Amounts) {
	if s.pairs {
		fillMemory(req, total)
	}
}

// fillMemory completes a request for one of gpu-memory-ratio and gpu-memory with
// the other one, where both have a total. What is beyond int64 then is beyond the
// total too.
func fillMemory(req *Amounts, total *Amounts) {
	ratio, memory := total[GPUMemoryRatio], total[GPUMemory]
	switch {
	case ratio <= 0 || memory <= 0:
	case req[GPUMemory] == 0:
		req[GPUMemory], _ = mulDiv(req[GPUMemoryRatio], memory, ratio)
	case req[GPUMemoryRatio] == 0:
		req[GPUMemoryRatio], _ = mulDiv(req[GPUMemory], ratio, memory)
	}
}

// used returns how much of a resource is in use with the request, at most
// MaxInt64. The limit changes no score: what is used up to or beyond the total
// scores the same.
func (a *amounts) used(r Resource) int64 {
	total, free := a.total[r], a.free[r]
	if free > total {
		return total
	}
	sum, carry := bits.Add64(uint64(total)-uint64(free), uint64(a.request[r]), 0)
	if carry != 0 || sum > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(sum)
}

// step returns the score of one resource.
func (s *Scorer) step(used, total int64) int64 {
	if s.most {
		return kernel.KubeMostStep(used, total)
	}
	return kernel.KubeLeastStep(used, total)
}

// mostAllocated returns a scorer of the same resources by [MostAllocated].
func (s *Scorer) mostAllocated() *Scorer {
	if s == nil || s.most {
		return s
	}
	most := *s
	most.most = true
	return &most
}

// isMost reports whether what is used makes the score.
func (s *Scorer) isMost() bool { return s != nil && s.most }
