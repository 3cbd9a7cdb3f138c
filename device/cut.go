package device

import (
	"strings"

	"github.com/resvec/resvec/internal/quantity"
	corev1 "k8s.io/api/core/v1"

	"github.com/resvec/resvec/vectormap"
)

// cutInstances is instances of one size: what MIG cuts a GPU into.
type cutInstances struct {
	eighths int // of the memory of the GPU; 0: unknown
	slices  int // compute slices
	media   int // 1: has the media engine, of which a GPU has one
	count   int64
}

// What a GPU has of memory and of compute slices. One of four slices, such as A30, has
// profiles of a quarter of the memory each, so that these count alike.
const (
	cutEighths = 8
	cutSlices  = 7
)

// newCutInstances returns instances of a GPU with so much memory, 0 for unknown. Compute
// instances share a GPU instance.
func newCutInstances(p vectormap.MIGProfile, bytes, count int64) cutInstances {
	if p.C > 0 { // ParseMIG refuses more compute than GPU slices, so that G/C is at least 1
		perInstance := int64(p.G / p.C)
		count = ceilDiv(count, perInstance)
	}
	media := 0
	if strings.HasPrefix(p.Suffix, "+me") {
		media = 1
	}
	return cutInstances{eighthsOf(p, bytes), min(p.G, cutSlices), media, count}
}

// cutGPUs sets, for each match under the MIG strategy mixed, how many GPUs its instances
// need at least. The label of the count includes these GPUs, so they are not whole ones.
func (r *labelReader) cutGPUs() {
	for i := range r.matches {
		m := &r.matches[i]
		if m.rule.MIGPrefix == "" || r.value(m.rule.migStrategy.key(m.base)) != "mixed" {
			continue
		}
		m.mixed = true
		var sizes []cutInstances
		for _, name := range r.resources {
			rest, ok := strings.CutPrefix(name, m.rule.MIGPrefix)
			if !ok || !r.has(name) || r.isStale(name) {
				continue
			}
			if claim, list := r.claim(name); claim != m || list != listsMIG {
				continue
			}
			if p, _, err := vectormap.ParseMIG(rest); err == nil {
				sizes = append(sizes, newCutInstances(p, m.memory, r.instanceCount(name)))
			}
		}
		m.cut = fewestGPUs(sizes)
	}
}

// eighthsOf returns how many eighths of a GPU's memory an instance has: the names of
// profiles are rounded.
func eighthsOf(p vectormap.MIGProfile, bytes int64) int {
	gb := (bytes + 1<<29) >> 30
	if gb <= 0 {
		return 0
	}
	return int(min(max((16*int64(p.MemGB)+gb)/(2*gb), 1), cutEighths))
}

// fewestGPUs returns how many GPUs the instances need. They need enough memory for all,
// a media engine for each that has one, and, for each k, enough parts of k slices: a GPU of seven slices has three pairs, so an
// instance of four and two of two don't fit on it, though there is a slice for each.
func fewestGPUs(sizes []cutInstances) (gpus int64) {
	var eighths, media int64
	for _, s := range sizes {
		eighths = addTimes(eighths, s.eighths, s.count)
		media = addTimes(media, s.media, s.count)
	}
	gpus = max(ceilDiv(eighths, cutEighths), media)
	for k := 1; k <= cutSlices; k++ {
		var parts int64
		for _, s := range sizes {
			parts = addTimes(parts, s.slices/k, s.count)
		}
		gpus = max(gpus, ceilDiv(parts, int64(cutSlices/k)))
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
	plain := strings.TrimSuffix(name, ".shared")
	for _, label := range [...]string{".count", ".memory", ".product", ".replicas", ".multiprocessors", ".slices.gi", ".slices.ci", ".sharing-strategy"} {
		if r.value(labelKey{plain, label}) != "" {
			return false
		}
	}
	return true
}

// instanceCount returns how many MIG instances there are of an allocatable resource,
// which may count shares of them.
func (r *labelReader) instanceCount(name string) int64 {
	q := quantity.Bounded(r.allocatable[corev1.ResourceName(name)])
	count, _ := quantity.Ceiling(&q)
	units, _ := r.instanceUnits(name, count, false)
	return count / max(units, 1)
}
