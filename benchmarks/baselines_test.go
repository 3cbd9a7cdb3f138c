package benchmarks

import (
	"math"
	"slices"
)

// The plain-Go code that this library is compared with. All of it preallocates,
// leaves a node at the first resource that decides, and writes its answer to
// memory as the kernels do.

// rowNode is the data structure of KAI-Scheduler's vectorized resources: a
// NodeInfo (pkg/scheduler/api/node_info), reached by pointer, with a
// ResourceVector (pkg/scheduler/api/resource_info) for each kind of amount, a
// []float64 of its own.
type rowNode struct{ allocatable, idle, used, releasing []float64 }

// newRowNodes makes nodes one by one, as they come from the API server.
// releasing and allocatable may be nil.
func newRowNodes(idle, releasing, allocatable [][]float64) []*rowNode {
	nodes := make([]*rowNode, len(idle))
	for i, row := range idle {
		n := &rowNode{
			allocatable: make([]float64, len(row)),
			idle:        slices.Clone(row),
			used:        make([]float64, len(row)),
			releasing:   make([]float64, len(row)),
		}
		if releasing != nil {
			copy(n.releasing, releasing[i])
		}
		if allocatable != nil {
			copy(n.allocatable, allocatable[i])
		}
		nodes[i] = n
	}
	return nodes
}

// rowLessEqual is ResourceVector.LessEqual with its contract: lengths may
// differ, and a missing element counts as 0.
func rowLessEqual(v, other []float64) bool {
	n := min(len(v), len(other))
	for i := range n {
		if v[i] > other[i] {
			return false
		}
	}
	for _, x := range v[n:] {
		if x > 0 {
			return false
		}
	}
	for _, x := range other[n:] {
		if x < 0 {
			return false
		}
	}
	return true
}

func rowsFit(dst []bool, nodes []*rowNode, request []float64) {
	for i, n := range nodes {
		dst[i] = rowLessEqual(request, n.idle)
	}
}

func rowsLessEqual(dst []bool, nodes []*rowNode, limit []float64) {
	for i, n := range nodes {
		dst[i] = rowLessEqual(n.idle, limit)
	}
}

// rowsFitSum is rowsFit for idle plus releasing, without a temporary vector.
func rowsFitSum(dst []bool, nodes []*rowNode, request []float64) {
	for i, n := range nodes {
		dst[i] = rowLessEqualSum(request, n.idle, n.releasing)
	}
}

func rowLessEqualSum(request, a, b []float64) bool {
	a, b = a[:len(request)], b[:len(request)]
	for j, x := range request {
		if x > a[j]+b[j] {
			return false
		}
	}
	return true
}

func rowsNormalizedSum(dst []float64, nodes []*rowNode, total []float64) {
	for i, n := range nodes {
		dst[i] = rowNormalizedSum(n.idle, total)
	}
}

func rowsNormalizedSumRows(dst []float64, nodes []*rowNode) {
	for i, n := range nodes {
		dst[i] = rowNormalizedSum(n.idle, n.allocatable)
	}
}

func rowNormalizedSum(v, total []float64) float64 {
	sum := 0.0
	for j, t := range total[:len(v)] {
		if t > 0 {
			sum += v[j] / t
		}
	}
	return sum
}

func rowsDominantResource(dst []float64, nodes []*rowNode, total []float64) {
	for i, n := range nodes {
		share := 0.0
		for j, t := range total[:len(n.idle)] {
			if t > 0 {
				if q := n.idle[j] / t; q > share {
					share = q
				}
			}
		}
		dst[i] = share
	}
}

// rowsCopies compares the quotients as float64, which may be negative, and
// rounds down once: the least quotient has the least floor.
func rowsCopies(dst []int64, nodes []*rowNode, request []float64) {
	for i, n := range nodes {
		least := math.Inf(1)
		for j, x := range request[:len(n.idle)] {
			if x > 0 {
				if q := n.idle[j] / x; q < least {
					least = q
				}
			}
		}
		dst[i] = int64(max(least, 0))
	}
}

func rowAdd(row, amounts []float64) {
	for j, x := range amounts[:len(row)] {
		row[j] += x
	}
}

func rowSub(row, amounts []float64) {
	for j, x := range amounts[:len(row)] {
		row[j] -= x
	}
}

// argMax is the selection loop of a scheduler: kube-scheduler's selectHost and
// KAI-Scheduler's node order both walk the feasible nodes with their scores.
func argMax(scores []float64, feasible []bool) int {
	best := -1
	for i, s := range scores {
		if feasible[i] && (best < 0 || s > scores[best]) {
			best = i
		}
	}
	return best
}

// topK is argMax for the best k: one pass that keeps dst sorted and compares
// most nodes with its last element only.
func topK(dst []int32, scores []float64, feasible []bool, k int) []int32 {
	dst = dst[:0]
	for i, s := range scores {
		if !feasible[i] || len(dst) == k && s <= scores[dst[k-1]] {
			continue
		}
		if len(dst) < k {
			dst = append(dst, 0)
		}
		at := len(dst) - 1
		for ; at > 0 && s > scores[dst[at-1]]; at-- {
			dst[at] = dst[at-1]
		}
		dst[at] = int32(i)
	}
	return dst
}

// structResources is the data structure of KAI-Scheduler before its vectors,
// Resource with its BaseResource (pkg/scheduler/api/resource_info): fields for
// cpu, memory and gpus, and a map of the scalar resources by name.
type structResources struct {
	milliCPU float64
	memory   float64
	gpus     float64
	scalars  map[string]int64
}

// structFields is how many leading columns have a field of their own.
const structFields = 3

// scalarNames are the names of the columns after the fields, of the length that
// such names have.
var scalarNames = []string{
	"pods", "ephemeral-storage", "hugepages-2Mi", "hugepages-1Gi",
	"nvidia.com/mig-1g.5gb", "nvidia.com/mig-2g.10gb", "nvidia.com/mig-3g.20gb",
	"rdma/hca_shared_devices_a", "openshift.io/sriov-netdevice", "amd.com/gpu",
	"example.com/fpga", "smarter-devices/fuse", "attachable-volumes-csi",
}

// newStructResources returns the amounts of one row in struct form. Resources
// of amount 0 stay out of the map.
func newStructResources(row []float64) *structResources {
	r := &structResources{milliCPU: row[0], memory: row[1], gpus: row[2], scalars: map[string]int64{}}
	for j, x := range row[structFields:] {
		if x != 0 {
			r.scalars[scalarNames[j]] = int64(x)
		}
	}
	return r
}

func (r *structResources) lessEqual(other *structResources) bool {
	if r.milliCPU > other.milliCPU || r.memory > other.memory || r.gpus > other.gpus {
		return false
	}
	for name, amount := range r.scalars {
		if available, ok := other.scalars[name]; !ok || amount > available {
			return false
		}
	}
	return true
}

func (r *structResources) clone() *structResources {
	c := &structResources{r.milliCPU, r.memory, r.gpus, make(map[string]int64, len(r.scalars))}
	for name, amount := range r.scalars {
		c.scalars[name] = amount
	}
	return c
}

func structsFit(dst []bool, free []*structResources, request *structResources) {
	for i, r := range free {
		dst[i] = request.lessEqual(r)
	}
}

func structsLessEqual(dst []bool, requests []*structResources, limit *structResources) {
	for i, r := range requests {
		dst[i] = r.lessEqual(limit)
	}
}

// structNode is what KAI-Scheduler's older NodeInfo holds to decide whether a
// task can run: the idle resources, and per shared GPU the memory in use.
type structNode struct {
	idle         *structResources
	memoryPerGPU int64
	usedOnShared map[string]int64
}

// structTask is a pod's request in the same form. A request for part of a GPU
// has a portion or an amount of GPU memory.
type structTask struct {
	request   *structResources
	portion   float64
	gpuMemory int64
}

// isTaskAllocatable is NodeInfo.IsTaskAllocatable: the counted resources first,
// then a device for the part of a GPU.
func (n *structNode) isTaskAllocatable(t *structTask) bool {
	if !t.request.lessEqual(n.idle) {
		return false
	}
	need := t.gpuMemory
	if t.portion > 0 {
		need = int64(t.portion * float64(n.memoryPerGPU))
	}
	if need == 0 || n.idle.gpus >= 1 && need <= n.memoryPerGPU {
		return true
	}
	for _, used := range n.usedOnShared {
		if n.memoryPerGPU-used >= need {
			return true
		}
	}
	return false
}
