package vectormap

import "strings"

// Indices of the core resources, the same in every map.
const (
	CPU    = 0 // cpu, in thousandths of a CPU
	Memory = 1 // memory, in bytes
	GPU    = 2 // gpu, in whole GPUs unless declared Milli
	Pods   = 3 // pods
)

// coreNames are the own names of the core indices, in their order.
var coreNames = [...]string{CPU: "cpu", Memory: "memory", GPU: "gpu", Pods: "pods"}

// gpuMemory is the column that holds [ResourceRequirements.GPUMemory].
const gpuMemory = "gpu-memory"

// Unit says what an amount of 1 means in a column.
type Unit uint8

const (
	UnitWhole    Unit = iota // one of the resource: a device, a pod
	UnitMilli                // a thousandth of one, declared by the option Milli
	UnitMilliCPU             // a thousandth of a CPU: the unit of cpu
	UnitByte                 // a byte: memory, ephemeral-storage, hugepages-*
)

// Scale returns how many of the unit make one of the resource's Kubernetes base
// unit (a CPU, a byte, a device): 1000 or 1.
func (u Unit) Scale() int64 {
	if u == UnitMilli || u == UnitMilliCPU {
		return 1000
	}
	return 1
}

// String returns the unit's name as it stands in the text form of a map.
func (u Unit) String() string {
	switch u {
	case UnitWhole:
		return "whole"
	case UnitMilli:
		return "milli"
	case UnitMilliCPU:
		return "milli-cpu"
	case UnitByte:
		return "byte"
	}
	return "unknown"
}

// plural says what an amount counts, for messages.
func (u Unit) plural() string {
	switch u {
	case UnitMilli:
		return "thousandths"
	case UnitMilliCPU:
		return "thousandths of a CPU"
	case UnitByte:
		return "bytes"
	}
	return "whole units"
}

// unitOf is the one rule of units, for a name that no option mentions.
func unitOf(name string) Unit {
	switch {
	case name == "cpu":
		return UnitMilliCPU
	case name == "memory", name == "ephemeral-storage", name == gpuMemory,
		strings.HasPrefix(name, "hugepages-"):
		return UnitByte
	}
	return UnitWhole
}
