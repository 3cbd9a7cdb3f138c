package nvml_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/device/nvml"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// machine is a Library whose every answer is set by the test.
type machine struct {
	initErr, shutdownErr, countErr error
	gpus                           []*gpu
	hidden                         map[int]error // Device fails at these

	mu   sync.Mutex
	open int // Inits without a Shutdown
	most int
}

func (m *machine) Init() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.initErr != nil {
		return m.initErr
	}
	m.open++
	m.most = max(m.most, m.open)
	return nil
}

func (m *machine) Shutdown() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.open--
	return m.shutdownErr
}

func (m *machine) DeviceCount() (int, error) { return len(m.gpus), m.countErr }

func (m *machine) Device(i int) (nvml.Handle, error) {
	if err := m.hidden[i]; err != nil {
		return nil, err
	}
	if m.gpus[i] == nil {
		return nil, nil
	}
	return m.gpus[i], nil
}

// gpu is a Handle. Each error is returned by its call, and a call in panics panics.
type gpu struct {
	name, uuid, address string
	minor               int
	memory              uint64
	mig                 bool
	instances           []nvml.MIGInstance
	errs                map[string]error
	panics              string
}

func (g *gpu) fail(call string) error {
	if call == g.panics {
		panic(call + "Func: method is nil")
	}
	return g.errs[call]
}

func (g *gpu) Name() (string, error)        { return g.name, g.fail("Name") }
func (g *gpu) UUID() (string, error)        { return g.uuid, g.fail("UUID") }
func (g *gpu) Minor() (int, error)          { return g.minor, g.fail("Minor") }
func (g *gpu) MemoryTotal() (uint64, error) { return g.memory, g.fail("MemoryTotal") }
func (g *gpu) PCIBusID() (string, error)    { return g.address, g.fail("PCIBusID") }
func (g *gpu) MIGEnabled() (bool, error)    { return g.mig, g.fail("MIGEnabled") }
func (g *gpu) MIGInstances() ([]nvml.MIGInstance, error) {
	return g.instances, g.fail("MIGInstances")
}

// calls are the methods of a Handle.
var calls = []string{"Name", "UUID", "Minor", "MemoryTotal", "PCIBusID", "MIGEnabled", "MIGInstances"}

const h100Bytes = 81559 << 20

// h100 returns a GPU of 80 GB.
func h100(minor int) *gpu {
	return &gpu{
		name:    "NVIDIA H100 80GB HBM3",
		uuid:    fmt.Sprintf("GPU-%d", minor),
		minor:   minor,
		memory:  h100Bytes,
		address: fmt.Sprintf("00000000:%02X:00.0", 0xa0+minor),
		errs:    map[string]error{},
	}
}

// row is the row of h100(minor).
func row(minor int32) device.Device {
	return device.Device{
		Kind:        device.KindGPU,
		Vendor:      "nvidia.com",
		Product:     "NVIDIA-H100-80GB-HBM3",
		UUID:        fmt.Sprintf("GPU-%d", minor),
		Minor:       minor,
		MemoryBytes: h100Bytes,
		Replicas:    1,
		Start:       -1,
		NUMANode:    -1,
		PCIBusID:    fmt.Sprintf("0000:%02x:00.0", 0xa0+minor),
		Health:      device.Healthy,
	}
}

// unknown is the row of a GPU of which nothing is known.
func unknown(health device.Health) device.Device {
	return device.Device{
		Kind: device.KindGPU, Vendor: "nvidia.com", Minor: -1, Replicas: 1, Start: -1, NUMANode: -1, Health: health,
	}
}

func collect(t *testing.T, m *machine, o nvml.CollectOptions) device.Node {
	t.Helper()
	n, err := nvml.Collect(m, "n1", o)
	if err != nil {
		t.Fatal(err)
	}
	if m.open != 0 {
		t.Errorf("%d Inits without a Shutdown", m.open)
	}
	if n.Name != "n1" || n.Source != device.SourceNVML || n.CPUMilli != 0 || n.MemoryBytes != 0 || n.Potential != nil {
		t.Errorf("node %+v", n)
	}
	return n
}

func check[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestCollect(t *testing.T) {
	n := collect(t, &machine{gpus: []*gpu{h100(1), h100(0)}}, nvml.CollectOptions{})
	check(t, "rows", n.Devices, []device.Device{row(0), row(1)})
	check(t, "cards", n.Cards, []device.Card{{Name: "NVIDIA-H100-80GB-HBM3", Count: 2}})
	check(t, "problems", n.Problems, nil)
}

func TestCollectNothing(t *testing.T) {
	n := collect(t, &machine{}, nvml.CollectOptions{})
	check(t, "rows", n.Devices, nil)
	check(t, "cards", n.Cards, nil)
}

// What the driver doesn't support is unknown and no problem, whatever comes
// with the error.
func TestCollectUnsupported(t *testing.T) {
	for _, f := range []struct {
		call string
		edit func(*device.Device)
	}{
		{"UUID", func(d *device.Device) { d.UUID = "" }},
		{"Minor", func(d *device.Device) { d.Minor = -1 }},
		{"MemoryTotal", func(d *device.Device) { d.MemoryBytes = 0 }},
		{"PCIBusID", func(d *device.Device) { d.PCIBusID = "" }},
		{"MIGEnabled", func(d *device.Device) {}},
	} {
		t.Run(f.call, func(t *testing.T) {
			g := h100(0)
			g.errs[f.call] = fmt.Errorf("GPU 0: %w", nvml.ErrNotSupported)
			want := row(0)
			f.edit(&want)
			n := collect(t, &machine{gpus: []*gpu{g}}, nvml.CollectOptions{})
			check(t, "rows", n.Devices, []device.Device{want})
			check(t, "cards", n.Cards, []device.Card{{Name: "NVIDIA-H100-80GB-HBM3", Count: 1}})
			check(t, "problems", n.Problems, nil)
		})
	}
}

// A driver that answers with no memory is wrong, one that can't list the MIG devices
// of a GPU in MIG mode hides what is there.
func TestCollectContradictions(t *testing.T) {
	empty, cut := h100(0), h100(1)
	empty.memory = 0
	cut.mig = true
	cut.errs["MIGInstances"] = fmt.Errorf("GetMaxMigDeviceCount: %w", nvml.ErrNotSupported)
	n := collect(t, &machine{gpus: []*gpu{empty, cut}}, nvml.CollectOptions{})
	first, second := row(0), row(1)
	first.MemoryBytes, second.MIGEnabled = 0, true
	check(t, "rows", n.Devices, []device.Device{first, second})
	check(t, "cards", n.Cards, []device.Card{{Name: "NVIDIA-H100-80GB-HBM3", Count: 1}})
	check(t, "problems", n.Problems, []device.Problem{
		{Code: "bad-memory", Key: "GPU-0", Detail: "memory: 0 bytes: must be from 64 MiB to 4 TiB"},
		{Code: "driver-error", Key: "GPU-1", Detail: "GetMaxMigDeviceCount: not supported"},
	})
}

// An error of any call, and a panic, leaves that field unknown, keeps the row
// and names the call.
func TestCollectFailing(t *testing.T) {
	for _, panics := range []bool{false, true} {
		for _, call := range calls {
			t.Run(fmt.Sprintf("%s/panics=%v", call, panics), func(t *testing.T) {
				g := h100(0)
				g.mig = call == "MIGInstances"
				if panics {
					g.panics = call
				} else {
					g.errs[call] = errors.New(call + ": unknown error")
				}
				n := collect(t, &machine{gpus: []*gpu{g, h100(1)}}, nvml.CollectOptions{})
				if len(n.Devices) != 2 {
					t.Fatalf("%d rows", len(n.Devices))
				}
				var detail string
				for _, p := range n.Problems {
					if p.Code == "driver-error" {
						detail += p.Key + ": " + p.Detail
					}
				}
				if !strings.Contains(detail, call) || strings.Contains(detail, "panic") != panics {
					t.Errorf("problems %v", n.Problems)
				}
				if n.Devices[1].UUID != "GPU-1" || n.Devices[1].Health != device.Healthy {
					t.Errorf("the other GPU: %+v", n.Devices[1])
				}
			})
		}
	}
}

func TestCollectLost(t *testing.T) {
	lost := fmt.Errorf("GPU 1: %w", nvml.ErrLost)

	t.Run("no handle", func(t *testing.T) {
		m := &machine{gpus: []*gpu{h100(0), h100(1)}, hidden: map[int]error{1: lost}}
		n := collect(t, m, nvml.CollectOptions{})
		check(t, "rows", n.Devices, []device.Device{unknown(device.Unhealthy), row(0)})
		check(t, "cards", n.Cards, []device.Card{{Name: "NVIDIA-H100-80GB-HBM3", Count: 1}})
		check(t, "problems", n.Problems, []device.Problem{
			{Code: "driver-error", Key: "index 1", Detail: "GPU 1: GPU is lost"}})
	})

	t.Run("some calls", func(t *testing.T) {
		g := h100(1)
		g.errs["MemoryTotal"], g.errs["MIGEnabled"] = lost, lost
		want := row(1)
		want.MemoryBytes, want.Health = 0, device.Unhealthy
		n := collect(t, &machine{gpus: []*gpu{h100(0), g}}, nvml.CollectOptions{})
		check(t, "rows", n.Devices, []device.Device{row(0), want})
		check(t, "cards", n.Cards, []device.Card{{Name: "NVIDIA-H100-80GB-HBM3", Count: 1}})
		check(t, "problems", n.Problems, []device.Problem{
			{Code: "driver-error", Key: "GPU-1", Detail: "GPU 1: GPU is lost"}})
	})

	t.Run("while its MIG devices are read", func(t *testing.T) {
		g := h100(0)
		g.mig = true
		g.instances = []nvml.MIGInstance{{UUID: "MIG-0", Profile: "1g.10gb", MemoryBytes: 9856 << 20}}
		g.errs["MIGInstances"] = lost
		n := collect(t, &machine{gpus: []*gpu{g}}, nvml.CollectOptions{})
		if len(n.Devices) != 2 || n.Devices[0].Health != device.Unhealthy || n.Devices[1].Health != device.Unhealthy {
			t.Errorf("rows %+v", n.Devices)
		}
		check(t, "cards", n.Cards, nil)
	})

	t.Run("no handle and no error", func(t *testing.T) {
		n := collect(t, &machine{gpus: []*gpu{nil}}, nvml.CollectOptions{})
		check(t, "rows", n.Devices, []device.Device{unknown(device.Unhealthy)})
		if len(n.Problems) != 1 || n.Problems[0].Code != "driver-error" {
			t.Errorf("problems %v", n.Problems)
		}
	})
}

func TestCollectMIG(t *testing.T) {
	g := h100(3)
	g.mig = true
	g.instances = []nvml.MIGInstance{
		{UUID: "MIG-c", Profile: "3g.40gb", Start: 4, Slots: 4, MemoryBytes: 40192 << 20},
		{UUID: "MIG-a", Profile: "1c.2g.20gb", Start: 0, MemoryBytes: 19968 << 20},
		{UUID: "MIG-b", Profile: "1g.10gb+me", Start: -1, Slots: 1},
	}
	topology := func(address string) (int32, string) {
		if address != "0000:a3:00.0" {
			t.Errorf("address %q", address)
		}
		return 1, "pci0000:a0"
	}
	n := collect(t, &machine{gpus: []*gpu{g}}, nvml.CollectOptions{Topology: topology})

	parent := row(3)
	parent.MIGEnabled, parent.NUMANode, parent.PCIeRoot = true, 1, "pci0000:a0"
	instance := func(uuid string, p vectormap.MIGProfile, start int8, slots device.Slots, memory int64) device.Device {
		d := parent
		d.MIGEnabled, d.Sharing, d.ParentUUID = false, device.SharingMIG, parent.UUID
		d.UUID, d.Minor, d.Profile, d.Start, d.Slots, d.MemoryBytes = uuid, -1, p, start, slots, memory
		return d
	}
	check(t, "rows", n.Devices, []device.Device{
		instance("MIG-a", vectormap.MIGProfile{C: 1, G: 2, MemGB: 20}, 0, 0, 19968<<20),
		instance("MIG-b", vectormap.MIGProfile{G: 1, MemGB: 10, Suffix: "+me"}, -1, 0, 0),
		instance("MIG-c", vectormap.MIGProfile{G: 3, MemGB: 40}, 4, 0b1111_0000, 40192<<20),
		parent,
	})
	check(t, "cards", n.Cards, []device.Card{
		{Name: "NVIDIA-H100-80GB-HBM3/mig-1c.2g.20gb-mixed", Count: 1},
		{Name: "NVIDIA-H100-80GB-HBM3/mig-1g.10gb.me-mixed", Count: 1},
		{Name: "NVIDIA-H100-80GB-HBM3/mig-3g.40gb-mixed", Count: 1},
	})
	check(t, "problems", n.Problems, nil)
}

// An instance whose profile nobody knows can't be counted as anything.
func TestCollectMIGUnparsed(t *testing.T) {
	g := h100(0)
	g.mig = true
	g.instances = []nvml.MIGInstance{
		{UUID: "MIG-a", Profile: "1g.10gb+new"},
		{Profile: ""},
		{UUID: "MIG-b", Profile: "1g.10gb"},
	}
	n := collect(t, &machine{gpus: []*gpu{g}}, nvml.CollectOptions{})
	check(t, "cards", n.Cards, []device.Card{{Name: "NVIDIA-H100-80GB-HBM3/mig-1g.10gb-mixed", Count: 1}})
	var keys []string
	for _, p := range n.Problems {
		if p.Code == "unparsed-profile" {
			keys = append(keys, p.Key)
		}
	}
	check(t, "unparsed", keys, []string{"MIG-a", "GPU-0, MIG device 1"})
}

// A driver that gives a GPU twice gives its problems twice.
func TestCollectTwice(t *testing.T) {
	g := h100(0)
	g.errs["MemoryTotal"] = errors.New("MemoryTotal: unknown error")
	n := collect(t, &machine{gpus: []*gpu{g, g}}, nvml.CollectOptions{})
	want := row(0)
	want.MemoryBytes = 0
	check(t, "rows", n.Devices, []device.Device{want})
	var codes []string
	for _, p := range n.Problems {
		codes = append(codes, p.Code)
	}
	check(t, "problems", codes, []string{"duplicate-uuid", "driver-error"})
}

// MIG devices are asked for only if MIG mode is current.
func TestCollectMIGOff(t *testing.T) {
	g := h100(0)
	g.panics = "MIGInstances"
	n := collect(t, &machine{gpus: []*gpu{g}}, nvml.CollectOptions{})
	check(t, "problems", n.Problems, nil)
}

func TestCollectNumbers(t *testing.T) {
	g := h100(0)
	minor := int64(math.MaxInt64)
	g.memory, g.minor = math.MaxUint64, int(minor) // -1 where int has 32 bits
	n := collect(t, &machine{gpus: []*gpu{g}}, nvml.CollectOptions{})
	if d := n.Devices[0]; d.MemoryBytes != 0 || d.Minor != -1 {
		t.Errorf("row %+v", d)
	}
	if len(n.Problems) != 1 || n.Problems[0].Code != "bad-memory" {
		t.Errorf("problems %v", n.Problems)
	}
	for start, want := range map[int]int8{0: 0, 7: 7, -1: -1, -5: -1, 128: -1, 256: -1} {
		g := h100(0)
		g.mig, g.instances = true, []nvml.MIGInstance{{UUID: "MIG-a", Profile: "1g.10gb", Start: start}}
		n := collect(t, &machine{gpus: []*gpu{g}}, nvml.CollectOptions{})
		if got := n.Devices[0].Start; got != want {
			t.Errorf("start %d: %d, want %d", start, got, want)
		}
	}
	for _, test := range []struct {
		start, slots int
		want         device.Slots
		problem      bool
	}{
		{0, 1, 1, false}, {6, 2, 0b1100_0000, false}, {0, 8, 0xFF, false}, {3, 0, 0, false}, {3, -1, 0, false}, {-1, 2, 0, false},
		{9, 3, 0b1110_0000_0000, false}, {30, 3, 0b11 << 30, true}, {32, 1, 0, true}, {0, math.MaxInt32, math.MaxUint32, true}, {127, 1, 0, true},
	} {
		g := h100(0)
		g.mig, g.instances = true, []nvml.MIGInstance{{UUID: "MIG-a", Profile: "1g.10gb", Start: test.start, Slots: test.slots}}
		n := collect(t, &machine{gpus: []*gpu{g}}, nvml.CollectOptions{})
		problem := len(n.Problems) == 1 && n.Problems[0].Code == "bad-slots" && n.Problems[0].Key == "MIG-a"
		if got := n.Devices[0].Slots; got != test.want || problem != test.problem || !problem && len(n.Problems) > 0 {
			t.Errorf("%d slots from %d on: %v, %v, want %v", test.slots, test.start, got, n.Problems, test.want)
		}
	}
	for address, want := range map[string]string{
		"00000000:AF:00.0": "0000:af:00.0",
		"0000:af:00.0":     "0000:af:00.0",
		"00010000:01:00.0": "10000:01:00.0",
		"0001:01:00.0":     "0001:01:00.0",
		"":                 "",
		"nonsense":         "",
	} {
		g := h100(0)
		g.address = address
		n := collect(t, &machine{gpus: []*gpu{g}}, nvml.CollectOptions{})
		if got := n.Devices[0].PCIBusID; got != want {
			t.Errorf("address %q: %q, want %q", address, got, want)
		}
	}
}

// A machine that can't be read at all is an error. Shutdown follows an Init
// that succeeded, and no other.
func TestCollectErrors(t *testing.T) {
	broken := errors.New("broken")
	for _, f := range []struct {
		name string
		m    *machine
		want error
	}{
		{"init", &machine{initErr: broken}, broken},
		{"count", &machine{countErr: broken}, broken},
		{"count and shutdown", &machine{countErr: broken, shutdownErr: nvml.ErrLost}, nvml.ErrLost},
	} {
		t.Run(f.name, func(t *testing.T) {
			n, err := nvml.Collect(f.m, "n1", nvml.CollectOptions{})
			if !errors.Is(err, broken) || !errors.Is(err, f.want) {
				t.Errorf("error %v", err)
			}
			check(t, "node", n, device.Node{})
			if f.m.open != 0 {
				t.Errorf("%d Inits without a Shutdown", f.m.open)
			}
		})
	}

	t.Run("shutdown", func(t *testing.T) {
		n := collect(t, &machine{gpus: []*gpu{h100(0)}, shutdownErr: broken}, nvml.CollectOptions{})
		check(t, "rows", n.Devices, []device.Device{row(0)})
		check(t, "problems", n.Problems, []device.Problem{
			{Code: "driver-error", Key: "shutdown", Detail: "broken"}})
	})

	t.Run("topology panics", func(t *testing.T) {
		m := &machine{gpus: []*gpu{h100(0)}}
		defer func() {
			if recover() == nil {
				t.Error("a panic of the caller's was swallowed")
			}
			if m.open != 0 {
				t.Errorf("%d Inits without a Shutdown", m.open)
			}
		}()
		nvml.Collect(m, "n1", nvml.CollectOptions{Topology: func(string) (int32, string) { panic("mine") }})
	})

	t.Run("nil", func(t *testing.T) {
		defer func() {
			if p := recover(); p != "nvml: nil library" {
				t.Errorf("panic %v", p)
			}
		}()
		nvml.Collect(nil, "n1", nvml.CollectOptions{})
	})
}

// Facts AG1 and AG3: the same node from labels and from the driver.
func TestCollectAgrees(t *testing.T) {
	const mib = 1 << 20
	labels := corev1.Node{}
	labels.Name = "n1"
	labels.Labels = map[string]string{
		"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3",
		"nvidia.com/gpu.count":   "8",
		"nvidia.com/gpu.memory":  "81559",
	}
	labels.Status.Allocatable = corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("8")}
	inventory, err := device.FromNodes([]corev1.Node{labels}, nil, device.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []struct {
		fact   string
		memory uint64
		fields []string
	}{
		{"AG1", 85520809984, nil},
		{"1 MiB apart", 85520809984 + mib, nil},
		{"AG3", 85899345920, []string{"memory"}},
	} {
		t.Run(f.fact, func(t *testing.T) {
			m := &machine{}
			for i := range 8 {
				g := h100(i)
				g.memory = f.memory
				m.gpus = append(m.gpus, g)
			}
			var fields []string
			for _, d := range device.Agree(inventory.Nodes[0], collect(t, m, nvml.CollectOptions{})) {
				fields = append(fields, d.Field)
			}
			check(t, "differences", fields, f.fields)
		})
	}
}

func TestCollectConcurrent(t *testing.T) {
	m := &machine{gpus: []*gpu{h100(0), h100(1)}}
	want := collect(t, m, nvml.CollectOptions{})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				n, err := nvml.Collect(m, "n1", nvml.CollectOptions{})
				if err != nil || !cmp.Equal(n, want) {
					t.Errorf("%v, %v", n, err)
				}
			}
		})
	}
	wg.Wait()
	if m.open != 0 {
		t.Errorf("%d Inits without a Shutdown", m.open)
	}
}
