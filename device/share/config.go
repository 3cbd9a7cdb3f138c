package share

import (
	"slices"

	"github.com/resvec/resvec/internal/document"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	minWeight = 1
	maxWeight = 100
)

const panicOption = "share: unknown option"

// KoordinatorDefaults returns the scoringStrategy that Koordinator ships:
// LeastAllocated over gpu-memory-ratio, gpu-memory, rdma and fpga, with weight 1
// each.
func KoordinatorDefaults() Config {
	return Config{
		Type: LeastAllocated,
		Resources: []ResourceSpec{
			{Name: string(GPUMemoryRatio), Weight: 1},
			{Name: string(GPUMemory), Weight: 1},
			{Name: string(RDMA), Weight: 1},
			{Name: string(FPGA), Weight: 1},
		},
	}
}

// NewScorer returns the scorer of a configuration. It keeps no reference to cfg.
//
// The error is the Aggregate of a field.ErrorList, with paths below
// scoringStrategy: a type that is neither of the two, an empty list that isn't
// nil, a resource without a name, with the name of an earlier one or with one that
// no device has, a weight outside 1 to 100. Of more than 1000 faults the first
// ones are listed. It panics on an option that there isn't.
func NewScorer(cfg Config, opts ...Option) (*Scorer, error) {
	if err := document.Errors(cfg.faults()); err != nil {
		return nil, err
	}
	s := &Scorer{most: cfg.Type == MostAllocated}
	for _, o := range opts {
		if o&^(PerInstance|FillMemory) != 0 {
			panic(panicOption)
		}
		s.options |= o
	}
	resources := cfg.Resources
	if resources == nil {
		resources = []ResourceSpec{{Name: string(GPUMemoryRatio), Weight: 1}}
	}
	for _, r := range resources {
		s.names = append(s.names, corev1.ResourceName(r.Name))
		s.weights = append(s.weights, r.Weight)
	}
	if s.options&FillMemory != 0 {
		s.pairMemory()
	}
	s.schema = amountSchema(s.names)
	return s, nil
}

// pairMemory finds gpu-memory-ratio and gpu-memory among the names, and adds
// the one that is missing, with weight 0, when the other is there.
func (s *Scorer) pairMemory() {
	s.ratio = slices.Index(s.names, GPUMemoryRatio)
	s.memory = slices.Index(s.names, GPUMemory)
	switch last := len(s.names); {
	case s.ratio < 0 && s.memory >= 0:
		s.ratio, s.names, s.weights = last, append(s.names, GPUMemoryRatio), append(s.weights, 0)
	case s.memory < 0 && s.ratio >= 0:
		s.memory, s.names, s.weights = last, append(s.names, GPUMemory), append(s.weights, 0)
	}
	s.pairs = s.ratio >= 0
}

// Columns returns the resources that a score depends on, in the order of the
// columns of a batch: those with a weight as the configuration lists them and,
// with [FillMemory], the missing one of gpu-memory-ratio and gpu-memory last.
// None is added when neither has a weight. The caller may change the result; it
// is nil for a nil Scorer.
func (s *Scorer) Columns() []corev1.ResourceName {
	if s == nil {
		return nil
	}
	return slices.Clone(s.names)
}

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
	for i, r := range c.Resources {
		name, weight := path.Index(i).Child("name"), path.Index(i).Child("weight")
		switch {
		case r.Name == "":
			list = append(list, field.Required(name, "must name a resource"))
		case seen[r.Name]:
			list = append(list, field.Duplicate(name, r.Name))
		case !slices.Contains(deviceResources[:], corev1.ResourceName(r.Name)):
			list = append(list, unknownResource(name, r.Name))
		}
		seen[r.Name] = true
		if r.Weight < minWeight || r.Weight > maxWeight {
			list = append(list, field.Invalid(weight, r.Weight, "must be from 1 to 100"))
		}
	}
	return list
}

// unknownResource says that no device has a resource, which would score 0 for ever.
func unknownResource(path *field.Path, name string) *field.Error {
	return field.NotSupported(path, shortText(name), deviceResources[:])
}
