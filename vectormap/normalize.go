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

// folding is what happens when two originals normalize to one name.
type folding uint8

const (
	refuseVendors folding = iota
	foldVendors
	noFold
)

// rules are the options that a map was built with. Extensions inherit them; nothing
// changes them once a map has them. What a column is, it knows itself.
type rules struct {
	normalizer Normalizer // nil: defaultNormalizer
	folding    folding
	lenient    bool
	gpus       map[string]bool // the GPUs; nil: what the normalizer says
	milli      map[string]bool // own names that are Milli once they have a column
	literals   map[string]Unit // names that are literals once they have a column
}

// declaration is a list of names that the option Milli was given, as it was given
// them, after the lists of earlier maps.
type declaration struct {
	before *declaration
	names  []string
	like   bool // by the option Like, of which there are no notes
}

// own returns the own name of the index that name belongs to, unless name is a
// literal column.
func (r *rules) own(name string) string {
	if _, literal := r.literals[name]; literal || r.folding == noFold {
		return name
	}
	return r.normalize(name)
}

// normalize is own for a map that folds.
func (r *rules) normalize(name string) string {
	own := r.normalizes().Normalize(name)
	switch {
	case r.gpus == nil:
	case r.gpus[name]:
		return coreNames[GPU]
	case own == coreNames[GPU]:
		return name
	}
	return own
}

func (r *rules) normalizes() Normalizer {
	if r.normalizer == nil {
		return defaultNormalizer
	}
	return r.normalizer
}

// nameFault says what is wrong with a resource name, or "" when nothing is. The
// characters are what Kubernetes' qualified names may have, which leaves out every
// separator of a map's text form.
func nameFault(name string) string {
	alphanumeric := func(c byte) bool {
		return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
	}
	const longest = 253 + 1 + 63 // prefix, slash and name of a qualified name
	switch {
	case name == "":
		return "is empty"
	case len(name) > longest:
		return "is longer than 317 bytes"
	case !alphanumeric(name[0]) || !alphanumeric(name[len(name)-1]):
		return "does not start and end with a letter or digit"
	}
	for i := range len(name) {
		switch c := name[i]; {
		case alphanumeric(c), c == '.', c == '_', c == '-', c == '/':
		default:
			return "has characters other than letters, digits and . _ - /"
		}
	}
	return ""
}
