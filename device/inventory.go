package device

import (
	"fmt"
	"iter"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/resvec/resvec/internal/document"
	corev1 "k8s.io/api/core/v1"

	"github.com/resvec/resvec/vectormap"
)

// Inventory is the accelerators of a cluster, a node each, sorted by name. It is
// read-only after construction and safe for concurrent readers. The zero value
// has no nodes.
type Inventory struct {
	Nodes []Node

	// Problems is what belongs to no node, as found: ResourceSlices whose
	// devices several nodes reach.
	Problems []Problem
}

// Node is the accelerators of one node, as one source describes them.
type Node struct {
	Name   string
	Source Source

	CPUMilli    int64 // allocatable, in thousandths of a core; 0 if the source doesn't say
	MemoryBytes int64 // allocatable; 0 if the source doesn't say

	Devices   []Device    // by kind, minor, UUID and name
	Cards     []Card      // by name
	Potential []Partition // partitions that could be made, by name; never counted
	Problems  []Problem   // as found

	// Consumable is what pods can share of devices that they allocate together, by DRA:
	// the capacities of each, by device and name. Its Set is the name of the device.
	Consumable []Counter
}

// Node returns the node of this name.
func (inv *Inventory) Node(name string) (*Node, bool) {
	i, found := slices.BinarySearchFunc(inv.Nodes, name, func(n Node, name string) int {
		return strings.Compare(n.Name, name)
	})
	if !found {
		return nil, false
	}
	return &inv.Nodes[i], true
}

// AllProblems returns an iterator over the problems of the inventory with the
// names of their nodes: first problems of no node, with an empty name, then the problems of
// each node in order, each list as found. What nodes disagree on is in
// [Catalog.Problems].
func (inv *Inventory) AllProblems() iter.Seq2[string, Problem] {
	return func(yield func(node string, p Problem) bool) {
		for _, p := range inv.Problems {
			if !yield("", p) {
				return
			}
		}
		for i := range inv.Nodes {
			for _, p := range inv.Nodes[i].Problems {
				if !yield(inv.Nodes[i].Name, p) {
					return
				}
			}
		}
	}
}

// Source says where the description of a node comes from.
type Source uint8

const (
	SourceLabels         Source = iota + 1 // node labels and allocatable
	SourceResourceSlices                   // DRA ResourceSlices
	SourceNVML                             // the NVIDIA driver
)

// String returns labels, resourceslices or nvml.
func (s Source) String() string {
	return document.EnumName(int(s), "none", "labels", "resourceslices", "nvml")
}

// Kinds of devices.
const (
	KindGPU  = "gpu"
	KindRDMA = "rdma"
	KindFPGA = "fpga"
)

// kinds are all of them.
var kinds = [...]string{KindGPU, KindRDMA, KindFPGA}

// Device is one physical device or one MIG instance of one. A physical GPU with
// MIGEnabled is a row but can't be allocated and counts in no card.
type Device struct {
	Kind    string // [KindGPU], [KindRDMA], [KindFPGA]
	Name    string // the name in its ResourceSlice; empty from other sources
	Vendor  string // the vendor's domain, such as nvidia.com
	Product string // as the driver names it, with - for spaces
	UUID    string // empty: unknown

	Minor     int32 // -1: unknown
	Synthetic bool  // the minor was numbered here, not by the driver

	MemoryBytes int64 // 0: unknown
	Sharing     Sharing
	Replicas    int32 // how many pods may share the device; 1: not shared, or by amounts alone

	MIGEnabled bool                 // a GPU in MIG mode
	Profile    vectormap.MIGProfile // of a MIG instance; zero: not one
	Start      int8                 // memory slot where the instance starts; -1: unknown, or no instance
	Slots      Slots                // memory slots that its source declares; 0: none
	ParentUUID string               // the GPU of a MIG instance
	Partition  string               // which part of a GPU without MIG, such as AMD's cpx_nps4; empty: not one

	NUMANode int32  // -1: unknown
	PCIBusID string // empty: unknown
	PCIeRoot string // empty: unknown
	Health   Health
}

// Allocatable reports whether pods can be given the device: a GPU in MIG mode
// is there only through its instances.
func (d *Device) Allocatable() bool {
	return !d.MIGEnabled || d.Profile != vectormap.MIGProfile{}
}

// Slots is a set of memory slots of a GPU, bit i for slot i: what MIG cuts the
// memory into. A GPU has at most 32: an A100 has eight, an RTX PRO 6000 twelve.
type Slots uint32

// maxSlots is how many slots a GPU has at most.
const maxSlots = 32

// String lists the slots, such as 0,5,6,7.
func (s Slots) String() string {
	var b strings.Builder
	for rest := s; rest != 0; rest &= rest - 1 {
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(bits.TrailingZeros32(uint32(rest))))
	}
	return b.String()
}

// Key names the device in a [Problem]: by its name, else by its UUID, else by its
// kind and minor or, of a MIG instance, by its profile, start and GPU.
func (d *Device) Key() string {
	switch {
	case d.Name != "":
		return d.Name
	case d.UUID != "":
		return d.UUID
	case d.Profile != vectormap.MIGProfile{}:
		key := d.Profile.String()
		if d.Start >= 0 {
			key += fmt.Sprintf(" at %d", d.Start)
		}
		if d.ParentUUID != "" {
			key += " of " + d.ParentUUID
		}
		return key
	}
	return fmt.Sprintf("%s-%d", d.Kind, d.Minor)
}

// Sharing says how several pods use one device.
type Sharing uint8

const (
	SharingNone        Sharing = iota // one pod at a time
	SharingMPS                        // NVIDIA's multi-process service
	SharingTimeSlicing                // in turns
	SharingMIG                        // the row is a MIG instance
	SharingConsumable                 // by amounts of its capacities, see [Node]
)

// String returns none, mps, time-slicing, mig or consumable.
func (s Sharing) String() string {
	return document.EnumName(int(s), "none", "mps", "time-slicing", "mig", "consumable")
}

// Health says whether a device can be used. HealthUnknown counts as healthy.
type Health uint8

const (
	HealthUnknown Health = iota
	Healthy
	Unhealthy
)

// String returns unknown, healthy or unhealthy.
func (h Health) String() string {
	return document.EnumName(int(h), "unknown", "healthy", "unhealthy")
}

// Card is a kind of accelerator on a node, or a share of one, under the name
// that quotas are written in, and how many of it the node has.
type Card struct {
	Name     string
	Resource corev1.ResourceName // the resource that carries it; empty if unknown
	Count    int64
}

// Partition is a part that a GPU could be cut into, such as a MIG instance, from a
// ResourceSlice with partitionable devices: a possibility, not a device. The Profile of a
// MIG instance is zero if that can't be read.
type Partition struct {
	Device
	Counters []Counter // by set and name
}

// Counter is what a [Partition] uses of a counter that it shares with others, or a capacity
// of a device that pods share.
type Counter struct {
	Set, Name string
	Value     int64 // rounded up
}
