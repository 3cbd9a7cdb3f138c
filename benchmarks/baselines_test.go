package benchmarks

import (
	"cmp"
	"math"
	"slices"

	"github.com/resvec/resvec/vector"
)

// The plain-Go code that this library is compared with. All of it preallocates,
// leaves a node at the first resource that decides, and writes its answer to
// memory as the kernels do.

// rowNode is the data structure of KAI-Scheduler's vectorized resources: a
// NodeInfo (pkg/scheduler/api/node_info), reached by pointer, with a
// ResourceVector (pkg/scheduler/api/resource_info) for each kind of amount, a
// []float64 of its own.
type rowNode struct {
	allocatable, idle, used, releasing []float64

	sra float64 // see prepareSRA
}

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

// rowsWithin compares two vectors of each node.
func rowsWithin(dst []bool, nodes []*rowNode) {
	for i, n := range nodes {
		dst[i] = rowLessEqual(n.idle, n.allocatable)
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
		dst[i] = rowDominantResource(n.idle, total)
	}
}

func rowsDominantResourceRows(dst []float64, nodes []*rowNode) {
	for i, n := range nodes {
		dst[i] = rowDominantResource(n.idle, n.allocatable)
	}
}

func rowDominantResource(v, total []float64) float64 {
	share := 0.0
	for j, t := range total[:len(v)] {
		if t > 0 {
			if q := v[j] / t; q > share {
				share = q
			}
		}
	}
	return share
}

func rowsCopies(dst []int64, nodes []*rowNode, request []float64) {
	for i, n := range nodes {
		dst[i] = rowCopies(n.idle, request)
	}
}

func rowsSumCopies(nodes []*rowNode, request []float64) int64 {
	var sum int64
	for _, n := range nodes {
		sum += rowCopies(n.idle, request)
	}
	return sum
}

// rowCopies divides float64 amounts, keeps the least quotient with a branch, as
// rowDominantResource keeps the greatest, and rounds down once: the least quotient
// has the least floor. That branch, which the CPU cannot foresee, is about half of
// the time. With the builtin min, or with integers and min, the loop takes the
// other half; integer quotients are another answer, though, for amounts that are
// negative, infinite, 2^63 or more, or not whole. structsCopies is the form with
// integers.
func rowCopies(free, request []float64) int64 {
	least := math.Inf(1)
	for j, x := range request[:len(free)] {
		if x > 0 {
			if q := free[j] / x; q < least {
				least = q
			}
		}
	}
	return int64(max(least, 0))
}

// rowsShortfall writes what request lacks in each node to that node's slice of
// dst.
func rowsShortfall(dst [][]float64, nodes []*rowNode, request []float64) {
	for i, n := range nodes {
		lack := dst[i][:len(request)]
		free := n.idle[:len(request)]
		for j, x := range request {
			lack[j] = 0
			if x > free[j] {
				lack[j] = x - free[j]
			}
		}
	}
}

func rowsFailingColumns(dst []uint64, nodes []*rowNode, request []float64) {
	for i, n := range nodes {
		failing, free := uint64(0), n.idle[:len(request)]
		for j, x := range request {
			if x > free[j] {
				failing |= 1 << j
			}
		}
		dst[i] = failing
	}
}

func rowsRejections(dst []int, nodes []*rowNode, request []float64) {
	clear(dst)
	for _, n := range nodes {
		free := n.idle[:len(request)]
		for j, x := range request {
			if x > free[j] {
				dst[j]++
			}
		}
	}
}

func rowsSum(dst []float64, nodes []*rowNode) {
	clear(dst)
	for _, n := range nodes {
		rowAdd(dst, n.idle)
	}
}

// rowsSegmentSum writes the sums of groups of nodes to a slice per group.
func rowsSegmentSum(dst [][]float64, nodes []*rowNode, offsets []int32) {
	for k := range dst {
		rowsSum(dst[k], nodes[offsets[k]:offsets[k+1]])
	}
}

func rowsMax(dst []float64, nodes []*rowNode) {
	copy(dst, nodes[0].idle)
	for _, n := range nodes {
		for j, x := range n.idle[:len(dst)] {
			if x > dst[j] {
				dst[j] = x
			}
		}
	}
}

func rowsWeightedSum(dst []float64, nodes []*rowNode, weights []float64) {
	for i, n := range nodes {
		sum := 0.0
		for j, w := range weights[:len(n.idle)] {
			sum += float64(n.idle[j] * w) // rounded, on every architecture
		}
		dst[i] = sum
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

// argMax walks all nodes and asks of each whether it is feasible: the plain form
// of what ArgMax does, scores and a mask in and an index out. With a random half of
// the nodes feasible the CPU cannot foresee that branch, and its mistakes are most
// of the time. Schedulers do not have this loop; listArgMax is theirs.
func argMax[T cmp.Ordered](scores []T, feasible []bool) int {
	best := -1
	for i, s := range scores {
		if feasible[i] && (best < 0 || s > scores[best]) {
			best = i
		}
	}
	return best
}

// nodeScore is a feasible node with its score, as kube-scheduler keeps them in a
// list (NodeScore in k8s.io/kube-scheduler/framework) and KAI-Scheduler when it
// orders the nodes for a task.
type nodeScore[T cmp.Ordered] struct {
	name  string
	row   int32
	score T
}

// listArgMax walks the list of the feasible nodes only. To make that list is not
// part of the time.
func listArgMax[T cmp.Ordered](nodes []nodeScore[T]) int {
	if len(nodes) == 0 {
		return -1
	}
	best := &nodes[0]
	for i := range nodes {
		if nodes[i].score > best.score {
			best = &nodes[i]
		}
	}
	return int(best.row)
}

// topK is argMax for the best k: one pass that keeps the best sorted and compares
// most nodes with the last of them only.
func topK[T cmp.Ordered](best []nodeScore[T], scores []T, feasible []bool, k int) []nodeScore[T] {
	best = best[:0]
	for i, s := range scores {
		if feasible[i] && (len(best) < k || s > best[k-1].score) {
			best = insert(best, nodeScore[T]{row: int32(i), score: s}, k)
		}
	}
	return best
}

// listTopK is topK for the list of the feasible nodes.
func listTopK[T cmp.Ordered](best, nodes []nodeScore[T], k int) []nodeScore[T] {
	best = best[:0]
	for i := range nodes {
		if len(best) < k || nodes[i].score > best[k-1].score {
			best = insert(best, nodes[i], k)
		}
	}
	return best
}

// insert puts a node in its place among the best, of which k stay.
func insert[T cmp.Ordered](best []nodeScore[T], n nodeScore[T], k int) []nodeScore[T] {
	if len(best) < k {
		best = append(best, n)
	}
	at := len(best) - 1
	for ; at > 0 && n.score > best[at-1].score; at-- {
		best[at] = best[at-1]
	}
	best[at] = n
	return best
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

// structsCopies divides integers, which is right for whole amounts from 0 to below
// 2^63 only.
func structsCopies(dst []int64, free []*structResources, request *structResources) {
	for i, r := range free {
		dst[i] = request.copiesIn(r)
	}
}

func (r *structResources) copiesIn(free *structResources) int64 {
	least := int64(math.MaxInt64)
	if r.milliCPU > 0 {
		least = min(least, int64(free.milliCPU)/int64(r.milliCPU))
	}
	if r.memory > 0 {
		least = min(least, int64(free.memory)/int64(r.memory))
	}
	if r.gpus > 0 {
		least = min(least, int64(free.gpus)/int64(r.gpus))
	}
	for name, amount := range r.scalars {
		if amount > 0 {
			least = min(least, free.scalars[name]/amount)
		}
	}
	return least
}

// structNode is what KAI-Scheduler's NodeInfo holds to decide whether a task can run:
// the idle resources, as a struct or as a vector, and its GPUs.
type structNode struct {
	idle   *structResources
	vector []float64
	gpus   nodeGPUs
}

// nodeGPUs are the GPUs of a node: per shared one the memory in use.
type nodeGPUs struct {
	memoryPerGPU int64
	usedOnShared map[string]int64
}

// structTask is a pod's request in the same forms. A request for part of a GPU has a
// portion or an amount of GPU memory.
type structTask struct {
	request *structResources
	vector  []float64
	part    gpuPart
}

type gpuPart struct {
	portion float64
	memory  int64
}

// isTaskAllocatable is NodeInfo.IsTaskAllocatable: the counted resources first, then a
// device for the part of a GPU.
func (n *structNode) isTaskAllocatable(t *structTask) bool {
	return t.request.lessEqual(n.idle) && n.gpus.hold(t.part, n.idle.gpus)
}

// hold walks over the devices for a part of a GPU, in the same way for every form of the
// counted resources.
func (g *nodeGPUs) hold(part gpuPart, idle float64) bool {
	need := part.memory
	if part.portion > 0 {
		need = int64(part.portion * float64(g.memoryPerGPU))
	}
	if need == 0 || idle >= 1 && need <= g.memoryPerGPU {
		return true
	}
	for _, used := range g.usedOnShared {
		if g.memoryPerGPU-used >= need {
			return true
		}
	}
	return false
}

// structRecord is a node's record or a pod's, as far as it holds resources: allocatable,
// idle, used and releasing, or the one request.
type structRecord struct {
	amounts []*structResources
	part    gpuPart
}

func (r *structRecord) clone() *structRecord {
	c := &structRecord{make([]*structResources, len(r.amounts)), r.part}
	for k, a := range r.amounts {
		c.amounts[k] = a.clone()
	}
	return c
}

// vectorRecord is structRecord with vectors.
type vectorRecord struct {
	amounts []vector.ResourceVector
	part    gpuPart
}

func (r *vectorRecord) clone() *vectorRecord {
	c := &vectorRecord{make([]vector.ResourceVector, len(r.amounts)), r.part}
	for k, v := range r.amounts {
		c.amounts[k] = v.Clone()
	}
	return c
}
