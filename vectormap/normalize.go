package vectormap

import (
	"maps"
	"slices"
	"strings"
)

// Normalizer decides which resource names share an index. It must be a pure
// function, idempotent, safe for concurrent use, and must leave the core names
// alone.
type Normalizer interface {
	// Normalize returns the own name of the index that name belongs to: name
	// itself, unless it is folded into another.
	Normalize(name string) string

	// Targets returns the names that other names may be folded into.
	Targets() []string
}

// ExactNormalizer maps original names to the own names of their indices. Names
// that are not in it stay as they are. It must not be changed once a map was
// built with it.
type ExactNormalizer map[string]string

// DefaultNormalizer returns the rule that maps are built with unless
// [WithNormalizer] says otherwise: nvidia.com/gpu and amd.com/gpu are gpu.
// The caller owns the result and may add to it before use.
func DefaultNormalizer() ExactNormalizer { return maps.Clone(defaultNormalizer) }

var defaultNormalizer = ExactNormalizer{"nvidia.com/gpu": "gpu", "amd.com/gpu": "gpu"}

// Normalize implements [Normalizer].
func (n ExactNormalizer) Normalize(name string) string {
	if own, ok := n[name]; ok {
		return own
	}
	return name
}

// Targets implements [Normalizer]. The result is sorted.
func (n ExactNormalizer) Targets() []string {
	var targets []string
	for name, own := range n {
		if own != name {
			targets = append(targets, own)
		}
	}
	slices.Sort(targets)
	return slices.Compact(targets)
}

// SuffixNormalizer folds every name that ends in gpu into gpu. That is the rule
// of KAI-Scheduler's first design. It is wrong for nvidia.com/vgpu, which is no
// whole GPU, so use it only where no such name occurs.
type SuffixNormalizer struct{}

// Normalize implements [Normalizer].
func (SuffixNormalizer) Normalize(name string) string {
	if strings.HasSuffix(name, "gpu") {
		return "gpu"
	}
	return name
}

// Targets implements [Normalizer].
func (SuffixNormalizer) Targets() []string { return []string{"gpu"} }
