package share

import (
	"github.com/resvec/resvec/device"
	corev1 "k8s.io/api/core/v1"
)

// Koordinator's names of what a device has, and what pods ask for it by.
const (
	GPUCore        corev1.ResourceName = "koordinator.sh/gpu-core"         // CORE: percent of one device
	GPUMemoryRatio corev1.ResourceName = "koordinator.sh/gpu-memory-ratio" // RATIO: percent of one device
	GPUMemory      corev1.ResourceName = "koordinator.sh/gpu-memory"       // MEM: bytes
	GPU            corev1.ResourceName = "koordinator.sh/gpu"              // CORE and RATIO at once, only in what a pod asks for
	GPUShared      corev1.ResourceName = "koordinator.sh/gpu.shared"       // SHARED: the number of instances, only in what a pod asks for
	RDMA           corev1.ResourceName = "koordinator.sh/rdma"             // percent of one device
	FPGA           corev1.ResourceName = "koordinator.sh/fpga"             // percent of one device
	NPUCore        corev1.ResourceName = "huawei.com/npu-core"             // NC: a number of cores
	NPUCPU         corev1.ResourceName = "huawei.com/npu-cpu"              // NCPU: a number of cores
	NPUDVPP        corev1.ResourceName = "huawei.com/npu-dvpp"             // DVPP: percent of one device
)

// deviceResources are the resources that devices have.
var deviceResources = [...]corev1.ResourceName{GPUCore, GPUMemoryRatio, GPUMemory, RDMA, FPGA, NPUCore, NPUCPU, NPUDVPP}

// Request, Total and Free are amounts by resource: what is asked for, what a
// device or node has, and what of it is free. They are three types so that no
// call can confuse them. A name that is absent counts as 0. Nil maps are empty;
// no function of this package writes to one, or keeps it.
type (
	Request map[corev1.ResourceName]int64
	Total   map[corev1.ResourceName]int64
	Free    map[corev1.ResourceName]int64
)

// Requirement is what a pod needs of one kind of devices: Count instances of
// PerInstance, each on a device of its own.
type Requirement struct {
	Kind        string
	PerInstance Request
	Count       int64
	Partial     bool // an instance leaves room on its device for others

	// Warning says that no device can hold an instance, or that nothing is left of
	// its memory, although the request is valid; empty: nothing to say.
	Warning string
}

// State is one device of a node as a scheduler keeps it: what it has and what
// of it is free. Amounts that are reserved for the pod, or that it may preempt,
// the caller counts as free.
type State struct {
	Kind     string
	Minor    int32 // distinct among the devices of a kind
	Total    Total
	Free     Free
	NUMANode int32  // -1: unknown
	PCIeRoot string // empty: unknown
	Health   device.Health
}
