package mig

import (
	"strings"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/vectormap"
)

// WeightRule says which part of a GPU a MIG instance counts as.
type WeightRule uint8

const (
	ByCompute WeightRule = iota // its part of the compute slices of the GPU
	ByMemory                    // its part of the memory slots of the GPU
)

// Weights returns for each index of vm how many GPUs one unit of it is, so that the dot
// product with a vector of vm, or [vector.WeightedSum] with a matrix, gives GPU
// equivalents. A whole GPU counts 1, a MIG instance the fraction of the GPU that the rule
// says, everything else 0; a thousandth of a device counts a thousandth. Fractions depend
// on the geometry (1g.10gb is two slots of eight on A100-40, one on A100-80), so make
// weights once for each class of nodes. The caller owns them.
//
// The columns are those that [vectormap.ResourceVectorMap.MIGSlices] counts: not
// literals, and of the shared ones every replica. A name that looks like a MIG
// profile and is none counts 0 and gives an unparsed-profile, a profile that g
// lacks 0 and a foreign-profile; the Key is the name, in the order of the
// indices. A nil g lacks all. It panics if rule is neither constant.
func Weights(vm *vectormap.ResourceVectorMap, rule WeightRule, g *Geometry) (weights []float64, problems []device.Problem) {
	if rule != ByCompute && rule != ByMemory {
		panic("mig: unknown weight rule")
	}
	weights = make([]float64, vm.Len())
	for i, name := range vm.All() {
		switch {
		case vm.IsLiteral(i):
			continue
		case vm.IsGPU(i):
			weights[i] = 1
		case strings.HasPrefix(name, "nvidia.com/mig-"), strings.HasPrefix(name, "mig-"):
			w, problem := fraction(name, rule, g.orNone())
			if problem != nil {
				problems = append(problems, *problem)
			}
			weights[i] = w
		}
		weights[i] /= float64(vm.Unit(i).Scale())
	}
	return weights, problems
}

// fraction returns what fraction of a GPU the instance of this name is, or why
// it is none.
func fraction(name string, rule WeightRule, g *Geometry) (float64, *device.Problem) {
	p, _, err := vectormap.ParseMIG(name)
	if err != nil {
		return 0, &device.Problem{Code: "unparsed-profile", Key: name, Detail: err.Error()}
	}
	r := g.rank(&p)
	switch {
	case r < 0:
		return 0, &device.Problem{Code: "foreign-profile", Key: name, Detail: g.lacks(p)}
	case rule == ByCompute:
		return float64(p.G) / float64(g.slices), nil
	}
	return float64(g.kinds[r].slots) / float64(g.slots), nil
}
