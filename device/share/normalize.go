package share

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/internal/quantity"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Names that pods may ask for and that no normalized request has.
const (
	nvidiaGPU corev1.ResourceName = "nvidia.com/gpu" // whole devices
	amdGPU    corev1.ResourceName = "amd.com/gpu"    // whole devices
	hygonDCU  corev1.ResourceName = "dcu.com/gpu"    // whole devices
)

// nameSet is a set of names of kind gpu, bit i for gpuNames[i].
type nameSet uint16

const (
	hasNVIDIA nameSet = 1 << iota
	hasAMD
	hasDCU
	hasGPU
	hasShared
	hasCore
	hasRatio
	hasMemory
	hasNPUCore
	hasNPUCPU
	hasNPUDVPP
)

var gpuNames = [...]corev1.ResourceName{
	nvidiaGPU, amdGPU, hygonDCU, GPU, GPUShared, GPUCore, GPUMemoryRatio, GPUMemory, NPUCore, NPUCPU, NPUDVPP,
}

// Normalize brings the devices that a pod asks for into one form: a Requirement
// per kind, in the order gpu, rdma, fpga. total is what the pod asks for as a
// whole. Amounts of 0 and names that aren't listed here are ignored; with nothing
// left the result is empty. The rules are Koordinator's (package deviceshare of
// its scheduler, at commit a7a1b76), which doesn't look for negative and
// fractional quantities.
//
// Of kind gpu are, with pct(x) for an x that is at most 100 or a multiple of 100,
// exactly one of
//
//	nvidia.com/gpu, amd.com/gpu, dcu.com/gpu: n    gpu-core and gpu-memory-ratio 100n
//	koordinator.sh/gpu: p                          gpu-core and gpu-memory-ratio p; pct(p)
//	[gpu-core +] gpu-memory                        as it is; pct(gpu-core)
//	[gpu-core +] gpu-memory-ratio                  as it is; pct of both
//	npu-core + gpu-memory-ratio                    as it is; pct(gpu-memory-ratio)
//	gpu.shared + [gpu-core +] gpu-memory           gpu-core in gpu.shared equal shares of at most 100
//	gpu.shared + [gpu-core +] gpu-memory-ratio     both in gpu.shared equal shares of at most 100
//	gpu.shared + npu-core + npu-cpu + gpu-memory   gpu.shared is 1
//	  [+ npu-dvpp]                                 npu-dvpp is at most 100
//
// where gpu-core, gpu-memory-ratio, gpu-memory and gpu.shared belong to
// koordinator.sh and npu-* to huawei.com. The number of instances is gpu.shared,
// or gpu-memory-ratio/100 where that is more than 1, or 1, and an instance gets
// an equal part of every amount but gpu.shared, truncated. It is Partial with a
// gpu-memory-ratio below 100, or gpu-memory without a ratio.
//
// koordinator.sh/rdma and koordinator.sh/fpga are kinds of their own: pct(p), of
// which p/100 instances of 100 above 100, else one of p.
//
// An error wraps [ErrInvalidCombination] for other names together, and
// [ErrInvalidUnit] for the right names with an amount that is against the rules,
// negative, no integer or too large for an int64. There is no result then. A
// request that is valid but that no device can hold has a Warning.
func Normalize(total corev1.ResourceList) ([]Requirement, error) {
	var needs []Requirement
	gpu, err := normalizeGPU(total)
	if err != nil {
		return nil, err
	}
	if gpu.Count > 0 {
		needs = append(needs, gpu)
	}
	for _, other := range [...]struct {
		kind string
		name corev1.ResourceName
	}{{device.KindRDMA, RDMA}, {device.KindFPGA, FPGA}} {
		amounts, err := askedAmounts(total, other.name)
		if err != nil {
			return nil, err
		}
		p, asked := amounts[other.name]
		if !asked {
			continue
		}
		if !isPercent(p) {
			return nil, unitError(other.name, p, notPercent)
		}
		needs = append(needs, Requirement{Kind: other.kind, PerInstance: Request{other.name: min(p, 100)}, Count: max(p/100, 1)})
	}
	return needs, nil
}

const notPercent = "must be at most 100 percent of a device, or a multiple of 100"

// isPercent reports whether p is a part of one device or a number of whole ones.
func isPercent(p int64) bool { return p <= 100 || p%100 == 0 }

// normalizeGPU returns the requirement of kind gpu. Its Count is 0 when there is
// none.
func normalizeGPU(total corev1.ResourceList) (Requirement, error) {
	var present nameSet
	for i, name := range gpuNames {
		if q := total[name]; !q.IsZero() {
			present |= 1 << i
		}
	}
	check, ok := gpuCheck(present)
	if !ok {
		return Requirement{}, combinationError(present)
	}
	amounts, err := askedAmounts(total, gpuNames[:]...)
	if err != nil || present == 0 {
		return Requirement{}, err
	}
	if err := check(amounts); err != nil {
		return Requirement{}, err
	}
	return shared(spelledOut(amounts)), nil
}

// gpuCheck returns the check of amounts with these names; ok is false when the
// names can't be asked for together.
func gpuCheck(present nameSet) (check func(Request) error, ok bool) {
	const (
		npu     = hasShared | hasNPUCore | hasNPUCPU | hasMemory
		npuDVPP = npu | hasNPUDVPP
	)
	switch present {
	case 0, hasNVIDIA, hasAMD, hasDCU:
		return checkWhole, true
	case hasGPU, hasMemory, hasRatio, hasCore | hasMemory, hasCore | hasRatio, hasNPUCore | hasRatio:
		return checkPercent, true
	case hasShared | hasMemory, hasShared | hasRatio, hasShared | hasCore | hasMemory, hasShared | hasCore | hasRatio:
		return checkShares, true
	case npu, npuDVPP:
		return checkNPU, true
	}
	return nil, false
}

func checkWhole(asked Request) error {
	for name, n := range asked { // the only one
		if n > math.MaxInt64/100 {
			return unitError(name, n, fmt.Sprintf("must be at most %d devices", int64(math.MaxInt64/100)))
		}
	}
	return nil
}

func checkPercent(asked Request) error {
	for _, name := range [...]corev1.ResourceName{GPU, GPUCore, GPUMemoryRatio} {
		if p := asked[name]; !isPercent(p) {
			return unitError(name, p, notPercent)
		}
	}
	return nil
}

func checkShares(asked Request) error {
	n := asked[GPUShared]
	for _, name := range [...]corev1.ResourceName{GPUCore, GPUMemoryRatio} {
		if p := asked[name]; p%n != 0 || p/n > 100 {
			return unitError(name, p, fmt.Sprintf("must be %d equal whole shares of at most 100 percent of a device", n))
		}
	}
	return nil
}

func checkNPU(asked Request) error {
	if n := asked[GPUShared]; n != 1 {
		return unitError(GPUShared, n, "must be 1 instance beside "+string(NPUCore))
	}
	if p := asked[NPUDVPP]; p > 100 {
		return unitError(NPUDVPP, p, "must be at most 100 percent of a device")
	}
	return nil
}

// spelledOut replaces names for whole devices, and for two amounts at once, by
// those amounts.
func spelledOut(asked Request) Request {
	for _, name := range [...]corev1.ResourceName{nvidiaGPU, amdGPU, hygonDCU} {
		if n, ok := asked[name]; ok {
			return Request{GPUCore: 100 * n, GPUMemoryRatio: 100 * n}
		}
	}
	if p, ok := asked[GPU]; ok {
		return Request{GPUCore: p, GPUMemoryRatio: p}
	}
	return asked
}

// shared cuts a request into equal instances.
func shared(asked Request) Requirement {
	need := Requirement{Kind: device.KindGPU, PerInstance: Request{}}
	ratio, byRatio := asked[GPUMemoryRatio]
	if n, ok := asked[GPUShared]; ok {
		need.Count = n
	} else {
		need.Count = max(ratio/100, 1)
	}
	for name, x := range asked {
		if name != GPUShared {
			need.PerInstance[name] = x / need.Count
		}
	}
	need.Partial = !byRatio || need.PerInstance[GPUMemoryRatio] < 100
	if core := need.PerInstance[GPUCore]; core > 100 {
		need.Warning = fmt.Sprintf("%s: %d percent for one instance, more than a device has", GPUCore, core)
	}
	if asked[GPUMemory] > 0 && need.PerInstance[GPUMemory] == 0 {
		need.Warning = fmt.Sprintf("%s: %d bytes are less than one for each of %d instances", GPUMemory, asked[GPUMemory], need.Count)
	}
	return need
}

// askedAmounts returns the amounts of these names that are not 0.
func askedAmounts(total corev1.ResourceList, names ...corev1.ResourceName) (Request, error) {
	asked := Request{}
	for _, name := range names {
		q := total[name]
		if q.IsZero() {
			continue
		}
		x, ok := wholeQuantity(&q)
		switch {
		case q.Sign() < 0:
			return nil, unitError(name, quantity.Text(q), "must be 0 "+unitOf(name)+" or more")
		case !ok:
			return nil, unitError(name, quantity.Text(q), "must be whole, in "+unitOf(name)+", and below 2^63")
		}
		asked[name] = x
	}
	return asked, nil
}

// wholeQuantity returns q as an integer; ok is false when it is none, or too
// large. Value would round it up, or wrap around.
func wholeQuantity(q *resource.Quantity) (x int64, ok bool) {
	if x, ok := q.AsInt64(); ok {
		return x, true
	}
	// Of a canonical integer the exponent of ten is not negative.
	const mostZeros = 18 // of an int64
	var buf [32]byte
	digits, exponent := q.AsCanonicalBytes(buf[:0])
	if exponent < 0 || exponent > mostZeros {
		return 0, false
	}
	x, err := strconv.ParseInt(string(digits)+strings.Repeat("0", int(exponent)), 10, 64)
	return x, err == nil
}

func combinationError(present nameSet) error {
	var names []string
	for i, name := range gpuNames {
		if present&(1<<i) != 0 {
			names = append(names, string(name))
		}
	}
	if len(names) == 1 {
		names = append(names, "nothing else")
	}
	return fmt.Errorf("%w: %s: must be a combination that Normalize lists", ErrInvalidCombination, strings.Join(names, " with "))
}
