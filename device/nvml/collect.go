package nvml

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/vectormap"
)

// Collect makes a node of the GPUs of this machine: a row for each GPU and for each MIG
// device, and the cards that they count in. The node's amounts of cpu and memory are
// unknown.
//
//   - What a GPU or its driver does not support is unknown.
//   - A GPU that is lost, or for which the driver has no handle, is an unhealthy row with
//     what could be read.
//   - If a call fails otherwise, its field is unknown and there is a driver-error. An
//     unknown MIG mode counts as off. If the MIG devices of a GPU in MIG mode can't be
//     listed, for whatever cause, there is a driver-error and the GPU is in no card.
//   - A memory of 0 bytes, or one that no GPU has, is the problem bad-memory.
//   - MIG devices are read from GPUs whose MIG mode is current. They have the address,
//     the topology and the health of their GPU, and no minor. A MIG device with an
//     unknown profile is left out, with the problem unparsed-profile.
//   - Each compute instance of a GPU instance is a row. The rows have the same start, and
//     each has the memory of the whole GPU instance.
//
// Collect calls Init and, if that succeeds, Shutdown at its end. It fails, with the zero
// Node, only if Init fails or the count of devices. If a method of l or of a handle
// panics, that is an error of this call: the mocks of go-nvml panic in every function
// that is not set. Collect itself panics if l is nil.
//
// Collect may be called concurrently with one Library if the methods of that Library may
// be; the methods of what [Open] returns may.
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
			n.Problems = append(n.Problems, device.Problem{Code: driverError, Key: "shutdown", Detail: failed.Error()})
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
		c.problem("bad-memory", key, "memory: 0 bytes: must be from 64 MiB to 4 TiB")
	}
	if len(g.errs) > 0 {
		c.problem(driverError, key, join(g.errs))
	}
}

// problem records a problem, unless there is one of this code and key.
func (c *collector) problem(code string, key, detail string) {
	if !slices.ContainsFunc(c.problems, func(p device.Problem) bool { return p.Code == code && p.Key == key }) {
		c.problems = append(c.problems, device.Problem{Code: code, Key: key, Detail: detail})
	}
}

// addInstance adds the row of a MIG device. The name is the key of a problem if the
// device has no UUID.
func (c *collector) addInstance(parent *device.Device, m MIGInstance, name string) {
	if m.UUID != "" {
		name = m.UUID
	}
	profile, _, err := vectormap.ParseMIG(m.Profile)
	if err != nil {
		c.problem("unparsed-profile", name, err.Error())
		return
	}
	row := *parent
	row.MIGEnabled = false
	row.Minor = -1
	row.Sharing = device.SharingMIG
	row.Profile = profile
	row.Start = narrow[int8](m.Start)
	row.Slots = c.slots(row.Start, m.Slots, name)
	row.ParentUUID = parent.UUID
	row.UUID = m.UUID
	row.MemoryBytes = bytesOf(m.MemoryBytes)
	c.rows = append(c.rows, row)
}

// mostSlots is how many memory slots a GPU has at most.
const mostSlots = 32

// slots returns so many memory slots from a start on, as far as a GPU has them.
func (c *collector) slots(start int8, slots int, name string) (set device.Slots) {
	if start < 0 || slots <= 0 {
		return 0
	}
	if slots > mostSlots-int(start) {
		c.problem("bad-slots", name, fmt.Sprintf("%d memory slots from %d on: a GPU has memory slots 0 to %d", slots, start, mostSlots-1))
	}
	for i := int(start); i < mostSlots && i-int(start) < slots; i++ {
		set |= 1 << i
	}
	return set
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

// ask returns what f answers. If that is an error, it notes it and returns unknown.
func ask[T any](g *gpu, call string, f func() (T, error), unknown T) T {
	v, err := attempt(call, f)
	g.note(err)
	if err != nil {
		return unknown
	}
	return v
}

// note keeps an error. If a GPU is lost, one error says it for all calls.
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

// narrow converts a number. It returns -1, unknown, for negative and too large ones.
func narrow[T int8 | int32](n int) T {
	if v := T(n); n >= 0 && int(v) == n {
		return v
	}
	return -1
}

// bytesOf converts an amount of memory. NVML's mark for an unknown one, and others that
// are too large for a device, stay too large.
func bytesOf(n uint64) int64 { return int64(min(n, math.MaxInt64)) }

// pciAddress writes a PCI address as sysfs does: in lower case, and with a domain of
// four digits if that has no more. NVML writes eight.
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
