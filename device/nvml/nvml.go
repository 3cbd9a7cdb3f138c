// Package nvml reads the GPUs of this machine from the NVIDIA driver, as the
// third source of a [device.Node] beside node labels and ResourceSlices:
//
//	library, err := nvml.Open()
//	...
//	node, err := nvml.Collect(library, name, nvml.CollectOptions{Topology: nvml.SysfsTopology})
//
// [Open] needs cgo, Linux, and NVIDIA's management library; elsewhere it returns
// an [*UnavailableError], so that a program builds and runs everywhere. [Wrap]
// takes a go-nvml library instead. [Collect] itself knows only the interfaces
// [Library] and [Handle] and is the same in every build.
//
// The package is a module of its own: nobody who doesn't import it gets go-nvml
// or cgo.
package nvml

import (
	"errors"

	"github.com/resvec/resvec/device"
)

// Library is what [Collect] needs of NVIDIA's management library (NVML). Between
// Init and Shutdown its methods may be called; Init may be called again, and
// every Init that succeeds needs a Shutdown.
//
// An error that is [ErrNotSupported] or [ErrLost] has the meaning given there.
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

	// MIGInstances returns the MIG devices of a GPU in MIG mode, that is its
	// compute instances. What can't be read of one is left unknown, or the one
	// left out, and the error tells; the others are returned with the error.
	MIGInstances() ([]MIGInstance, error)
}

// MIGInstance is one MIG device of a GPU.
type MIGInstance struct {
	UUID        string // empty: unknown
	Profile     string // such as 1g.5gb+me or 1c.3g.20gb; empty: unknown
	Start       int    // first memory slot of its GPU instance; -1: unknown
	MemoryBytes uint64 // of its GPU instance; 0: unknown
}

// CollectOptions says what [Collect] can't learn from the driver. The zero value
// leaves the topology unknown and names cards as [device.Names] does.
type CollectOptions struct {
	Names device.Names

	// Topology returns the NUMA node, -1 if unknown, and the PCIe root, "" if
	// unknown, of the GPU at a PCI address such as 0000:07:00.0, written as in
	// /sys/bus/pci/devices: NVML tells the NUMA node of the GPU's memory, not
	// of its PCIe slot. It is called once per GPU with a known address. Nil:
	// nothing is known. [SysfsTopology] asks Linux.
	Topology func(pciBusID string) (numaNode int32, pcieRoot string)
}

// DriverError is the code of a problem with the driver: calls that failed in
// another way than [ErrNotSupported]. Its key is the UUID of the GPU, "index n"
// for a GPU without one, or "shutdown"; its detail names the calls.
const DriverError device.ProblemCode = "driver-error"

var (
	// ErrNotSupported says that a GPU or its driver can't tell something.
	// [Collect] takes it as unknown.
	ErrNotSupported = errors.New("not supported")

	// ErrLost says that a GPU fell off the bus or can't be used before a
	// reset. [Collect] keeps its row as unhealthy.
	ErrLost = errors.New("GPU is lost")
)

// UnavailableError says why this program can't use NVML on this machine. It is
// what [Open] returns without a driver, without cgo, and on other systems than
// Linux.
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
func (e *UnavailableError) Unwrap() error { return e.Err }
