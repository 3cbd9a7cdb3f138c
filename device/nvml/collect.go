package nvml

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/resvec/resvec/device"
)

// Collect describes the GPUs of this machine as the node of the given name:
// a row per GPU and one per MIG device, with cards counted from the rows.
//
//   - What a GPU or its driver doesn't support is unknown.
//   - A GPU that is lost, or that the driver hands out no handle for, is an
//     unhealthy row, with what could still be read.
//   - Another error of a call leaves that field unknown and is a [DriverError]; an
//     unknown MIG mode counts as off. Not being able to list the MIG devices of a GPU
//     in MIG mode is a DriverError, whatever the cause; the GPU is in no card then.
//   - 0 bytes of a GPU are the problem bad-memory, as is an amount that none can have.
//   - MIG devices are read only of GPUs whose MIG mode is current. They have the
//     address, the topology and the health of their GPU, but no minor. One whose
//     profile is unknown is left out with the problem unparsed-profile: what it
//     counts as can't be said. Several compute instances of one GPU instance are
//     a row each, with the same start, and each has the memory of all.
//
// Amounts of CPU and memory of the node are unknown to this source.
//
// Collect calls Init first and, if that succeeds, Shutdown at the end, however
// it ends. It fails, with the zero Node, only if Init or the count of devices
// does. A panic of a method of l or its handles is an error of that call: the
// mocks of go-nvml panic on every function that is not set. It panics itself
// if l is nil.
//
// Calls may run concurrently, on one Library or several, if the methods of each
// Library may; they may for those of [Open].
func Collect(l Library, node string, o CollectOptions) (n device.Node, err error) {
	if l == nil {
		panic("nvml: nil library")
	}
	if err := try("Init", l.Init); err != nil {
		return device.Node{}, err
	}
	defer func() {
		if failed := try("Shutdown", l.Shutdown); failed != nil {
			if err != nil {
				err = errors.Join(err, failed)
				return
			}
			n.Problems = append(n.Problems, device.Problem{Code: DriverError, Key: "shutdown", Detail: failed.Error()})
		}
	}()
	count, err := attempt("DeviceCount", l.DeviceCount)
	if err != nil {
		return device.Node{}, err
	}
	c := collector{options: o}
	for i := range count {
		c.collect(l, i)
	}
	n = device.NewNode(node, device.SourceNVML, c.rows, o.Names)
	n.Problems = append(n.Problems, c.problems...)
	return n, nil
}

// collector gathers the rows of a node.
type collector struct {
	options  CollectOptions
	rows     []device.Device
	problems []device.Problem
}

// collect adds the rows of the GPU of index i.
func (c *collector) collect(l Library, i int) {
	g := gpu{row: device.Device{
		Kind:     device.KindGPU,
		Vendor:   "nvidia.com",
		Minor:    -1,
		Replicas: 1,
		Start:    -1,
		NUMANode: -1,
		Health:   device.Healthy,
	}}
	h, err := attempt("Device", func() (Handle, error) { return l.Device(i) })
	if err == nil && h == nil {
		err = errors.New("nvml: Device: no handle")
	}
	if err != nil {
		g.row.Health = device.Unhealthy
		g.errs = append(g.errs, err)
	} else {
		g.read(h)
		if c.options.Topology != nil && g.row.PCIBusID != "" {
			g.row.NUMANode, g.row.PCIeRoot = c.options.Topology(g.row.PCIBusID)
		}
	}
	key := g.row.UUID
	if key == "" {
		key = fmt.Sprintf("index %d", i)
	}
	c.rows = append(c.rows, g.row)
	for k, instance := range g.instances {
		c.addInstance(&g.row, instance, fmt.Sprintf("%s, MIG device %d", key, k))
	}
	if g.noMemory {
		c.problem(device.BadMemory, key, "memory: 0 bytes: must be from 64 MiB to 4 TiB")
	}
	if len(g.errs) > 0 {
		c.problem(DriverError, key, join(g.errs))
	}
}

// problem records a problem, unless there is one of this code and key.
func (c *collector) problem(code device.ProblemCode, key, detail string) {
	if !slices.ContainsFunc(c.problems, func(p device.Problem) bool { return p.Code == code && p.Key == key }) {
		c.problems = append(c.problems, device.Problem{Code: code, Key: key, Detail: detail})
	}
}

// addInstance adds the row of a MIG device of the GPU. The name stands for one
// without a UUID.
func (c *collector) addInstance(parent *device.Device, m MIGInstance, name string) {
	profile, _, err := device.ParseProfile(m.Profile)
	if err != nil {
		if m.UUID != "" {
			name = m.UUID
		}
		c.problem(device.UnparsedProfile, name, err.Error())
		return
	}
	row := *parent
	row.MIGEnabled = false
	row.Minor = -1
	row.Sharing = device.SharingMIG
	row.Profile = profile
	row.Start = narrow[int8](m.Start)
	row.ParentUUID = parent.UUID
	row.UUID = m.UUID
	row.MemoryBytes = bytesOf(m.MemoryBytes)
	c.rows = append(c.rows, row)
}

// gpu is what could be read of one GPU.
type gpu struct {
	row       device.Device
	instances []MIGInstance
	noMemory  bool // the driver says 0 bytes
	errs      []error
}

// read asks the driver for everything about a GPU.
func (g *gpu) read(h Handle) {
	g.row.Product = strings.TrimSpace(ask(g, "Name", h.Name, ""))
	g.row.UUID = ask(g, "UUID", h.UUID, "")
	g.row.Minor = narrow[int32](ask(g, "Minor", h.Minor, -1))
	memory, err := attempt("MemoryTotal", h.MemoryTotal)
	if g.note(err); err == nil {
		g.row.MemoryBytes, g.noMemory = bytesOf(memory), memory == 0
	}
	g.row.PCIBusID = pciAddress(ask(g, "PCIBusID", h.PCIBusID, ""))
	g.row.MIGEnabled = ask(g, "MIGEnabled", h.MIGEnabled, false)
	if g.row.MIGEnabled {
		g.instances, err = attempt("MIGInstances", h.MIGInstances)
		if g.note(err); errors.Is(err, ErrNotSupported) {
			g.errs = append(g.errs, err)
		}
	}
}

// ask calls f. An error is noted, and then the answer is the unknown one.
func ask[T any](g *gpu, call string, f func() (T, error), unknown T) T {
	v, err := attempt(call, f)
	g.note(err)
	if err != nil {
		return unknown
	}
	return v
}

// note keeps what an error says about the GPU. What a GPU that is lost fails at
// needs to be said only once.
func (g *gpu) note(err error) {
	lost := errors.Is(err, ErrLost)
	known := lost && g.row.Health == device.Unhealthy
	if lost {
		g.row.Health = device.Unhealthy
	}
	if err != nil && !known && !errors.Is(err, ErrNotSupported) {
		g.errs = append(g.errs, err)
	}
}

// attempt calls f. A panic becomes an error that names the call.
func attempt[T any](call string, f func() (T, error)) (v T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("nvml: %s: panic: %v", call, p)
		}
	}()
	return f()
}

// try is attempt without a result.
func try(call string, f func() error) error {
	_, err := attempt(call, func() (struct{}, error) { return struct{}{}, f() })
	return err
}

// join lists different errors in one line.
func join(errs []error) string {
	var texts []string
	seen := map[string]bool{}
	for _, err := range errs {
		for text := range strings.SplitSeq(err.Error(), "\n") {
			if !seen[text] {
				seen[text] = true
				texts = append(texts, text)
			}
		}
	}
	return strings.Join(texts, "; ")
}

// narrow converts a number from 0 on; any other is unknown, -1.
func narrow[T int8 | int32](n int) T {
	if v := T(n); n >= 0 && int(v) == n {
		return v
	}
	return -1
}

// bytesOf converts an amount of memory. One above any that a device can have,
// NVML's mark for unknown among them, stays above.
func bytesOf(n uint64) int64 { return int64(min(n, math.MaxInt64)) }

// pciAddress writes a PCI address as sysfs does: in lower case, the domain of at
// least four digits, where NVML gives it eight.
func pciAddress(address string) string {
	domain, rest, ok := strings.Cut(strings.ToLower(strings.TrimSpace(address)), ":")
	if !ok {
		return ""
	}
	for len(domain) > 4 && domain[0] == '0' {
		domain = domain[1:]
	}
	return domain + ":" + rest
}
