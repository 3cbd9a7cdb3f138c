package share

import (
	"github.com/resvec/resvec/vector"
	corev1 "k8s.io/api/core/v1"
)

// The types of scoring.
const (
	LeastAllocated = "LeastAllocated"
	MostAllocated  = "MostAllocated"
)

// Config is a scoringStrategy of Koordinator's DeviceShareArgs. The zero value
// is LeastAllocated over gpu-memory-ratio with weight 1.
type Config struct {
	Type      string         `json:"type,omitempty"`      // LeastAllocated (default) or MostAllocated
	Resources []ResourceSpec `json:"resources,omitempty"` // nil: gpu-memory-ratio with weight 1
}

// ResourceSpec is a resource that counts in the score.
type ResourceSpec struct {
	Name   string `json:"name"`
	Weight int64  `json:"weight"` // 1 to 100
}

// Option changes how a [Scorer] counts.
type Option uint8

const (
	// PerInstance adds one instance to a node's use instead of the pod's whole
	// request, as Koordinator does: an idle node of eight GPUs scores 87, not
	// 50, for a pod of four.
	PerInstance Option = 1 << iota

	// FillMemory completes a request for one of gpu-memory-ratio and gpu-memory
	// with the other, from the totals of the same device or node, truncated:
	// without it the one that isn't requested counts as 0, as in Koordinator. A
	// request for both stays as it is, and so does one where either total is 0 or less.
	FillMemory
)

// Scorer scores devices and nodes for a request. It is made by [NewScorer],
// immutable, and safe for concurrent use. A nil *Scorer, and the zero Scorer, give
// every device and node the score 0.
type Scorer struct {
	most    bool
	options Option
	names   []corev1.ResourceName // weighted, in Config order; with FillMemory the missing one of RATIO and MEM last
	weights []int64               // of names; 0 for a name that only completes requests
	schema  vector.Schema         // of names

	// With FillMemory the indices of gpu-memory-ratio and gpu-memory in names, where
	// pairs says that they are there.
	pairs         bool
	ratio, memory int
}
