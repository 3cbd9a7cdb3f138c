package device

import (
	"slices"
	"sort"
	"strings"

	"github.com/resvec/resvec/internal/quantity"
	corev1 "k8s.io/api/core/v1"

	"github.com/resvec/resvec/vectormap"
)

// cutInstances is instances of one size: what MIG cuts a GPU into. A GPU has eight eighths of
// memory and of its media decoders, seven compute slices, and one media engine.
type cutInstances struct {
	memory   int // eighths: 1, 2, 4 or 8; 0: unknown
	slices   int
	engines  int
	decoders int // eighths
	count    int64
}

// The parts of a GPU. One of four slices, such as A30, or of two has profiles of a quarter or
// of a half of the memory each, so that these count alike.
const (
	cutEighths = 8
	cutSlices  = 7
)

// newCutInstances returns instances of a GPU with so much memory, 0 for unknown. Compute
// instances share a GPU instance. A full instance has all media engines, +me the one engine,
// +me.all that and all decoders, -me none. Others have decoders as they have memory: where
// these are counted, as on RTX PRO, such instances leave enough for one another.
func newCutInstances(p vectormap.MIGProfile, bytes, count int64) cutInstances {
	if p.C > 0 { // ParseMIG refuses more compute than GPU slices, so that G/C is at least 1
		perInstance := int64(p.G / p.C)
		count = ceilDiv(count, perInstance)
	}
	s := cutInstances{memory: eighthsOf(p, bytes), slices: min(p.G, cutSlices), count: count}
	s.decoders = s.memory
	switch {
	case s.memory == cutEighths || s.slices == cutSlices || p.Suffix == "+me.all":
		s.engines, s.decoders = 1, cutEighths
	case p.Suffix == "+me":
		s.engines = 1
	case p.Suffix == "-me":
		s.decoders = 0
	}
	return s
}

// cutGPUs sets, for each match under the MIG strategy mixed, how many GPUs its instances
// need at least. The label of the count includes these GPUs, so they are not whole ones.
// Instances that only their label counts are unhealthy, or their device plugin has stopped:
// their GPUs are cut all the same.
func (r *labelReader) cutGPUs() {
	for i := range r.matches {
		m := &r.matches[i]
		if m.rule.MIGPrefix == "" || r.value(m.rule.migStrategy.key(m.base)) != "mixed" {
			continue
		}
		m.mixed = true
		names := r.instanceNames(m)
		r.sizes = r.sizes[:0]
		for _, name := range names {
			allocatable, _ := r.allocatableInstances(m, name)
			count := max(allocatable, r.labeledInstances(name), 0)
			p, _, err := vectormap.ParseMIG(name[len(m.rule.MIGPrefix):])
			if err != nil {
				count = 0
			}
			r.sizes = append(r.sizes, newCutInstances(p, m.memory, count))
		}
		m.cut = fewestGPUs(r.sizes)
		if m.count < 0 || m.cut <= m.count {
			continue
		}
		// The first for which the GPUs don't suffice, or what is allocatable behind it.
		full := sort.Search(len(r.sizes), func(i int) bool { return fewestGPUs(r.sizes[:i+1]) > m.count })
		for _, name := range names[full:] {
			if r.has(name) || r.has(name+sharedResource) {
				m.overfull = name
				break
			}
		}
	}
}

// instanceNames returns the names of MIG instances that are allocatable or have a count by
// label, without .shared at the end, sorted. They are valid until the next call.
func (r *labelReader) instanceNames(m *ruleMatch) []string {
	names := r.instanceList[:0]
	for _, name := range r.resources {
		if r.isInstance(m, name) && r.has(name) && !r.isStale(name) {
			names = append(names, strings.TrimSuffix(name, sharedResource))
		}
	}
	for _, label := range r.keys() {
		if name, ok := strings.CutSuffix(label, ".count"); ok && r.isInstance(m, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	r.instanceList = slices.Compact(names)
	return r.instanceList
}

// isInstance reports whether a resource of this name is of MIG instances of a match.
func (r *labelReader) isInstance(m *ruleMatch, name string) bool {
	if !strings.HasPrefix(name, m.rule.MIGPrefix) {
		return false
	}
	claim, list := r.claim(name)
	return claim == m && list == listsMIG
}

// allocatableInstances returns how many MIG instances of a name are allocatable, whole and in
// shares. It is the least that there can be where known is false, as nobody says how many
// pods share one.
func (r *labelReader) allocatableInstances(m *ruleMatch, plain string) (count int64, known bool) {
	known = true
	for _, ending := range [...]string{"", sharedResource} {
		if !r.has(plain + ending) { // which allocates nothing
			continue
		}
		name := plain + ending
		amount := r.amount(name)
		if !r.isInstance(m, name) || r.isStale(name) {
			continue
		}
		units, ok := r.instanceUnits(name, amount, false)
		if !ok {
			units, known = amount, false
		}
		count = addCapped(count, ceilDiv(amount, units))
	}
	return count, known
}

// labeledInstances returns how many MIG instances of a name there are by label, -1 if that
// is unknown.
func (r *labelReader) labeledInstances(plain string) int64 {
	if n, ok := parseLabelNumber(r.value(labelKey{plain, ".count"})); ok {
		return n
	}
	return -1
}

// eighthsOf returns how many eighths of a GPU's memory an instance has, by the nearest size:
// the names of profiles are rounded, and differ by driver and board.
func eighthsOf(p vectormap.MIGProfile, bytes int64) int {
	gb := gibibytes(bytes)
	if gb <= 0 {
		return 0
	}
	eighths := 1
	for eighths < cutEighths && cutEighths*int64(p.MemGB)*2 > 3*int64(eighths)*gb { // above the middle of two sizes
		eighths *= 2
	}
	return eighths
}

// cutBounds weigh an instance so that what is on one GPU together weighs at most so much.
// They suffice: instances fit on so many GPUs if and only if no bound says that they need
// more. TestFewestGPUs compares them with all ways to place instances.
var cutBounds = [...]struct {
	weight func(s cutInstances) int
	most   int
}{
	{func(s cutInstances) int { return s.memory }, cutEighths},
	{func(s cutInstances) int { return s.decoders }, cutEighths},
	{func(s cutInstances) int { return s.engines }, 1},
	// However small an instance with the media engine is, no other of these shares its pair of
	// slots, or its half of the memory: they are on different GPUs.
	{func(s cutInstances) int { return max(s.memory/2, s.engines) }, cutEighths / 2},
	{func(s cutInstances) int { return max(s.memory/4, s.engines) }, cutEighths / 4},
	{func(s cutInstances) int { return max(s.decoders/4, s.engines) }, cutEighths / 4},
	// Next to an instance with all decoders there are only instances without any. So it takes
	// half of the memory from those that need half.
	{func(s cutInstances) int { return max(min(s.decoders, 4), s.memory/4*4) }, cutEighths},
	// Parts of k slices: a GPU of seven slices has three pairs, so an instance of four and two
	// of two don't fit on it, though there is a slice for each.
	{func(s cutInstances) int { return s.slices }, cutSlices},
	{func(s cutInstances) int { return s.slices / 2 }, cutSlices / 2},
	{func(s cutInstances) int { return s.slices / 3 }, cutSlices / 3},
	{func(s cutInstances) int { return s.slices / 4 }, cutSlices / 4},
}

// fewestGPUs returns how many GPUs the instances need.
func fewestGPUs(sizes []cutInstances) (gpus int64) {
	for _, bound := range cutBounds {
		var sum int64
		for _, s := range sizes {
			sum = addTimes(sum, bound.weight(s), s.count)
		}
		gpus = max(gpus, ceilDiv(sum, int64(bound.most)))
	}
	return gpus
}

// addTimes adds b so many times, which are few, up to the largest int64.
func addTimes(a int64, times int, b int64) int64 {
	for range times {
		a = addCapped(a, b)
	}
	return a
}

// ceilDiv returns a/b, rounded up.
func ceilDiv(a, b int64) int64 { return a/b + min(a%b, 1) }

// isStale reports whether a resource of MIG instances has none of the labels that GPU
// feature discovery gives it: the instances are gone, and the kubelet still counts them.
func (r *labelReader) isStale(name string) bool {
	plain := strings.TrimSuffix(name, sharedResource)
	for _, label := range [...]string{".count", ".memory", ".product", ".replicas", ".multiprocessors", ".slices.gi", ".slices.ci", ".sharing-strategy"} {
		if r.value(labelKey{plain, label}) != "" {
			return false
		}
	}
	return true
}

// amount returns how much of a resource is allocatable, without a problem for what is no
// number: whoever reads the resource reports that.
func (r *labelReader) amount(name string) int64 {
	q, ok := r.allocatable[corev1.ResourceName(name)]
	if !ok {
		return 0
	}
	q = quantity.Bounded(q)
	count, _ := quantity.Ceiling(&q)
	return count
}
