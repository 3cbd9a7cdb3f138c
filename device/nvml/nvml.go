// Package nvml reads the GPUs of this machine from the NVIDIA driver. It is the third
// source of a [device.Node], besides node labels and ResourceSlices:
//
//	library, err := nvml.Open()
//	if err != nil {
//		return err // *nvml.UnavailableError: no driver, no cgo, or not Linux
//	}
//	node, err := nvml.Collect(library, name, nvml.CollectOptions{Topology: nvml.SysfsTopology})
//
// [Open] needs cgo, Linux, and NVIDIA's management library. Without them it returns an
// [*UnavailableError], so a program builds and runs everywhere. [Wrap] takes a go-nvml
// library instead. [Collect] uses only the interfaces [Library] and [Handle], and is the
// same in every build.
//
// Experimental: a minor version may change it, since what else drivers can tell needs methods in
// Library and Handle. Its tests run against a library that plays GPUs, cut ones among them, and
// no test has a real one: on most models and drivers it was never run. Compare what [Collect]
// says with the labels or slices of the node, see [device.Agree], before you rely on it.
//
// The package is a module of its own, so that only those who import it depend on go-nvml
// and cgo.
package nvml

import (
	"errors"

	"github.com/resvec/resvec/device"
)

// Library is what [Collect] needs of NVIDIA's management library (NVML). Its methods may
// be called between Init and Shutdown. Init may be called several times; each Init that
// succeeds needs a Shutdown.
//
// The errors [ErrNotSupported] and [ErrLost] have a meaning, also where they are wrapped.
type Library interface {
	Init() error
	Shutdown() error
	DeviceCount() (int, error)

	// Device returns the GPU of index i, from 0 to DeviceCount - 1. The index
	// isn't the minor, and may change with a restart.
	Device(i int) (Handle, error)
}

// Handle is one physical GPU. It is valid until the Shutdown of its [Library].
type Handle interface {
	Name() (string, error) // of the product, such as NVIDIA A100-SXM4-40GB
	UUID() (string, error)
	Minor() (int, error)          // the n of /dev/nvidia<n>
	MemoryTotal() (uint64, error) // bytes
	PCIBusID() (string, error)    // domain:bus:device.function, in any case, the domain of 4 or 8 digits

	// MIGEnabled reports whether MIG mode is current; a pending mode doesn't
	// count.
	MIGEnabled() (bool, error)

	// MIGInstances returns the MIG devices of a GPU in MIG mode: its compute
	// instances. What can't be read of an instance is unknown, or the instance is
	// left out. The error says so; the instances come with it.
	MIGInstances() ([]MIGInstance, error)
}

// MIGInstance is one MIG device of a GPU.
type MIGInstance struct {
	UUID        string // empty: unknown
	Profile     string // such as 1g.5gb+me or 1c.3g.20gb; empty: unknown
	Start       int    // first memory slot of its GPU instance; -1: unknown
	Slots       int    // memory slots of its GPU instance; 0: unknown
	MemoryBytes uint64 // of its GPU instance; 0: unknown
}

// CollectOptions says what [Collect] can't learn from the driver. With the zero value
// the topology is unknown, and cards are named as by the zero [device.Names].
type CollectOptions struct {
	Names device.Names

	// Topology returns the NUMA node of a GPU, or -1, and its PCIe root, or "". The
	// address is written as in /sys/bus/pci/devices, such as 0000:07:00.0. Topology
	// is called once for each GPU with a known address; if it is nil, the topology
	// is unknown. [SysfsTopology] reads it from Linux. NVML can't say it: its NUMA
	// node belongs to the GPU's memory and not to its PCIe slot.
	Topology func(pciBusID string) (numaNode int32, pcieRoot string)
}

// driverError is the code of a problem with the driver: calls failed, and not with
// [ErrNotSupported]. Its key is the UUID of the GPU, "index n" for a GPU without one, or
// "shutdown". Its detail names the calls.
const driverError = "driver-error"

var (
	// ErrNotSupported says that a GPU or its driver can't answer a call. For
	// [Collect] the answer is unknown.
	ErrNotSupported = errors.New("not supported")

	// ErrLost says that a GPU fell off the bus or needs a reset. [Collect] keeps its
	// row, which is unhealthy.
	ErrLost = errors.New("GPU is lost")
)

// UnavailableError says why this program can't use NVML on this machine: there is no
// driver, the program was built without cgo, or the system is not Linux.
type UnavailableError struct {
	Reason string // for people
	Err    error  // what NVML returned; nil if it was not asked
}

// Error gives the reason and what NVML returned.
func (e *UnavailableError) Error() string {
	text := "nvml: unavailable: " + e.Reason
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns Err.
func (e *UnavailableError) Unwrap() error {
	return e.Err
}
