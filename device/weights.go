package device

import (
	"strings"

	"github.com/resvec/resvec/vectormap"
)

// WeightRule says which part of a GPU a MIG instance counts as.
type WeightRule uint8

const (
	Compute WeightRule = iota // its compute slices of those of the GPU
	Memory                    // its memory slots of those of the GPU
)

// Weights returns for each index of vm how many GPUs one unit of it is, so that
// the dot product with a vector of vm, or [vector.WeightedSum] with a matrix,
// gives GPU equivalents: whole GPUs count 1, MIG instances the fraction of the
// GPU that the rule says, everything else 0, and thousandths of either a
// thousandth. Fractions depend on the geometry (1g.10gb is two slots of eight on
// A100-40, one on A100-80), so make weights once for each class of nodes. The
// caller owns them.
//
// The columns are those that [vectormap.ResourceVectorMap.MIGSlices] counts: not
// literals, and of the shared ones every replica. A name that looks like a MIG
// profile and is none counts 0 and gives an [UnparsedProfile], a profile that g
// lacks 0 and a [ForeignProfile]; the Key is the name, the order that of the
// indices. A nil g lacks all. It panics if rule is neither constant.
func Weights(vm *vectormap.ResourceVectorMap, rule WeightRule, g *Geometry) (weights []float64, problems []Problem) {
	if vm == nil {
		panic(panicMap)
	}
	if rule != Compute && rule != Memory {
		panic("device: unknown weight rule")
	}
	weights = make([]float64, vm.Len())
	for i, name := range vm.All() {
		switch {
		case vm.IsLiteral(i):
			continue
		case vm.IsGPU(i):
			weights[i] = 1
		case strings.HasPrefix(name, "nvidia.com/mig-"), strings.HasPrefix(name, "mig-"):
			w, problem := migWeight(name, rule, g.orNone())
			if problem != nil {
				problems = append(problems, *problem)
			}
			weights[i] = w
		}
		weights[i] /= float64(vm.Unit(i).Scale())
	}
	return weights, problems
}

// migWeight returns what fraction of a GPU the instance of this name is, or why
// it is none.
func migWeight(name string, rule WeightRule, g *Geometry) (float64, *Problem) {
	p, _, err := ParseProfile(name)
	if err != nil {
		return 0, &Problem{UnparsedProfile, name, notProfile(err)}
	}
	r := g.rank(&p)
	switch {
	case r < 0:
		return 0, &Problem{ForeignProfile, name, g.lacks(p)}
	case rule == Compute:
		return float64(p.G) / float64(g.slices), nil
	}
	return float64(g.kinds[r].slots) / float64(g.slots), nil
}
