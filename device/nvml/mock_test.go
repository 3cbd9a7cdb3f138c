//go:build cgo && linux

package nvml_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock/dgxa100"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock/dgxb200"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock/dgxh100"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock/dgxh200"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock/gpus"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock/server"
	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/device/nvml"
)

// wrapped collects from a mock and checks that each Init had its Shutdown.
func wrapped(t *testing.T, s *server.Server) device.Node {
	t.Helper()
	n, err := nvml.Collect(nvml.Wrap(s), "n1", nvml.CollectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if a, b := len(s.InitCalls()), len(s.ShutdownCalls()); a != 1 || b != 1 {
		t.Errorf("%d times Init, %d times Shutdown", a, b)
	}
	return n
}

// Fact X1, and the other mocks of go-nvml.
func TestMockDGX(t *testing.T) {
	for _, f := range []struct {
		name    string
		server  *server.Server
		product string
		memory  int64
	}{
		{"X1 A100", dgxa100.New(), "Mock-NVIDIA-A100-SXM4-40GB", 42949672960},
		{"H100", dgxh100.New(), "NVIDIA-H100-80GB-HBM3", 81920 << 20},
		{"H200", dgxh200.New(), "NVIDIA-H200-141GB-HBM3e", 144384 << 20},
		{"B200", dgxb200.New(), "NVIDIA-B200-180GB-HBM3e", 184320 << 20},
	} {
		t.Run(f.name, func(t *testing.T) {
			n := wrapped(t, f.server)
			if len(n.Devices) != 8 {
				t.Fatalf("%d rows, want 8", len(n.Devices))
			}
			uuids := map[string]bool{}
			for i, d := range n.Devices {
				if !strings.HasPrefix(d.UUID, "GPU-") || uuids[d.UUID] {
					t.Errorf("row %d: UUID %q", i, d.UUID)
				}
				uuids[d.UUID] = true
				d.UUID = ""
				check(t, "row", d, device.Device{
					Kind: device.KindGPU, Vendor: "nvidia.com", Product: f.product, Minor: int32(i),
					MemoryBytes: f.memory, Replicas: 1, Start: -1, NUMANode: -1, Health: device.Healthy,
				})
			}
			check(t, "cards", n.Cards, []device.Card{{Name: f.product, Count: 8}})
			check(t, "problems", n.Problems, nil)
		})
	}
}

// instance is a MIG device of a mock.
type instance struct {
	name    string // as NVML returns it; empty: the function is not set
	profile int    // one of NVML's GPU instance profiles
	start   uint32
	size    uint32
	compute uint32 // compute slices; 0: all
	hole    bool   // there is none at this index
}

// oneGPU returns a mock of a single GPU in MIG mode with these MIG devices, and
// the GPU.
func oneGPU(t *testing.T, config gpus.Config, instances ...instance) (*server.Server, *server.Device) {
	t.Helper()
	s, err := server.New(server.WithGPUs(config))
	if err != nil {
		t.Fatal(err)
	}
	parent := s.Devices[0].(*server.Device)
	parent.UUID = "GPU-0"
	parent.SetMigMode(gonvml.DEVICE_MIG_ENABLE)
	parent.GetMaxMigDeviceCountFunc = func() (int, gonvml.Return) { return len(instances), gonvml.SUCCESS }
	parent.GetMigDeviceHandleByIndexFunc = func(i int) (gonvml.Device, gonvml.Return) {
		if instances[i].hole {
			return nil, gonvml.ERROR_NOT_FOUND
		}
		return migDevice(config, i, instances[i]), gonvml.SUCCESS
	}
	parent.GetGpuInstanceByIdFunc = func(id int) (gonvml.GpuInstance, gonvml.Return) {
		m := instances[id-10]
		return &mock.GpuInstance{GetInfoFunc: func() (gonvml.GpuInstanceInfo, gonvml.Return) {
			return gonvml.GpuInstanceInfo{
				Id:        uint32(id),
				ProfileId: config.MIGProfiles.GpuInstanceProfiles[m.profile].Id,
				Placement: gonvml.GpuInstancePlacement{Start: m.start, Size: m.size},
			}, gonvml.SUCCESS
		}}, gonvml.SUCCESS
	}
	return s, parent
}

// migDevice is the MIG device of index i, of the GPU instance 10 + i.
func migDevice(config gpus.Config, i int, m instance) *mock.Device {
	info := config.MIGProfiles.GpuInstanceProfiles[m.profile]
	compute := info.SliceCount
	if m.compute != 0 {
		compute = m.compute
	}
	d := &mock.Device{
		GetUUIDFunc:          func() (string, gonvml.Return) { return fmt.Sprintf("MIG-%d", i), gonvml.SUCCESS },
		GetGpuInstanceIdFunc: func() (int, gonvml.Return) { return 10 + i, gonvml.SUCCESS },
		GetAttributesFunc: func() (gonvml.DeviceAttributes, gonvml.Return) {
			return gonvml.DeviceAttributes{
				GpuInstanceSliceCount:     info.SliceCount,
				ComputeInstanceSliceCount: compute,
				MemorySizeMB:              info.MemorySizeMB,
			}, gonvml.SUCCESS
		},
	}
	if m.name != "" {
		d.GetNameFunc = func() (string, gonvml.Return) { return m.name, gonvml.SUCCESS }
	}
	return d
}

// placed is a row of a MIG device in short.
type placed struct {
	UUID    string
	Profile string
	Start   int8
	MiB     int64
	Slots   device.Slots
}

func placements(n device.Node) []placed {
	var out []placed
	for _, d := range n.Devices {
		if d.Sharing == device.SharingMIG {
			out = append(out, placed{d.UUID, d.Profile.String(), d.Start, d.MemoryBytes >> 20, d.Slots})
		}
	}
	return out
}

func TestMockMIG(t *testing.T) {
	s, _ := oneGPU(t, gpus.A100_SXM4_40GB,
		instance{hole: true},
		instance{profile: gonvml.GPU_INSTANCE_PROFILE_3_SLICE, start: 4, size: 4},
		instance{hole: true},
		instance{profile: gonvml.GPU_INSTANCE_PROFILE_1_SLICE_REV1, start: 0, size: 1, name: "NVIDIA A100-SXM4-40GB MIG 1g.5gb"},
		instance{profile: gonvml.GPU_INSTANCE_PROFILE_2_SLICE, start: 2, size: 2, compute: 1},
		instance{profile: gonvml.GPU_INSTANCE_PROFILE_1_SLICE, start: 1, name: "NVIDIA A100-SXM4-40GB MIG 1g.5gb"},
		instance{hole: true},
	)
	n := wrapped(t, s)
	check(t, "MIG devices", placements(n), []placed{
		{"MIG-1", "3g.20gb", 4, 19968, 0b1111_0000},
		{"MIG-3", "1g.5gb+me", 0, 4864, 1},
		{"MIG-4", "1c.2g.10gb", 2, 9856, 0b1100},
		{"MIG-5", "1g.5gb", 1, 4864, 0},
	})
	const product = "Mock-NVIDIA-A100-SXM4-40GB"
	check(t, "cards", n.Cards, []device.Card{
		{Name: product + "/mig-1c.2g.10gb-mixed", Count: 1},
		{Name: product + "/mig-1g.5gb-mixed", Count: 1},
		{Name: product + "/mig-1g.5gb.me-mixed", Count: 1},
		{Name: product + "/mig-3g.20gb-mixed", Count: 1},
	})
	check(t, "problems", n.Problems, nil)
	for i, d := range n.Devices {
		if whole := d.UUID == "GPU-0"; d.MIGEnabled != whole || d.Allocatable() == whole || !whole && d.ParentUUID != "GPU-0" {
			t.Errorf("row %d: %+v", i, d)
		}
	}
}

// The names that the package makes, if the driver has none, are the names of
// NVIDIA's tables.
func TestMockMIGNames(t *testing.T) {
	for _, f := range []struct {
		config gpus.Config
		names  map[int]string
	}{
		{gpus.A100_SXM4_40GB, eightSlots("5", "10", "20", "40")},
		{gpus.A100_PCIE_80GB, eightSlots("10", "20", "40", "80")},
		{gpus.H100_SXM5_80GB, eightSlots("10", "20", "40", "80")},
		{gpus.H200_SXM5_141GB, eightSlots("18", "35", "71", "141")},
		{gpus.B200_SXM5_180GB, eightSlots("23", "45", "90", "180")},
		{gpus.A30_PCIE_24GB, map[int]string{
			gonvml.GPU_INSTANCE_PROFILE_1_SLICE:      "1g.6gb",
			gonvml.GPU_INSTANCE_PROFILE_1_SLICE_REV1: "1g.6gb+me",
			gonvml.GPU_INSTANCE_PROFILE_2_SLICE:      "2g.12gb",
			gonvml.GPU_INSTANCE_PROFILE_2_SLICE_REV1: "2g.12gb+me",
			gonvml.GPU_INSTANCE_PROFILE_4_SLICE:      "4g.24gb",
		}},
	} {
		t.Run(f.config.Name, func(t *testing.T) {
			var indices []int
			for i := range f.config.MIGProfiles.GpuInstanceProfiles {
				indices = append(indices, i)
			}
			slices.Sort(indices)
			for _, i := range indices {
				s, _ := oneGPU(t, f.config, instance{profile: i})
				got := placements(wrapped(t, s))
				if len(got) != 1 || got[0].Profile != f.names[i] {
					t.Errorf("profile %d: %v, want %s", i, got, f.names[i])
				}
			}
		})
	}
}

// eightSlots names the profiles of a GPU whose memory has eight slots, from the
// memory of one, two, four and eight.
func eightSlots(one, two, four, eight string) map[int]string {
	return map[int]string{
		gonvml.GPU_INSTANCE_PROFILE_1_SLICE:      "1g." + one + "gb",
		gonvml.GPU_INSTANCE_PROFILE_1_SLICE_REV1: "1g." + one + "gb+me",
		gonvml.GPU_INSTANCE_PROFILE_1_SLICE_REV2: "1g." + two + "gb",
		gonvml.GPU_INSTANCE_PROFILE_2_SLICE:      "2g." + two + "gb",
		gonvml.GPU_INSTANCE_PROFILE_3_SLICE:      "3g." + four + "gb",
		gonvml.GPU_INSTANCE_PROFILE_4_SLICE:      "4g." + four + "gb",
		gonvml.GPU_INSTANCE_PROFILE_7_SLICE:      "7g." + eight + "gb",
	}
}

// The suffixes of the profiles that no mock has.
func TestMockMIGSuffixes(t *testing.T) {
	for profile, want := range map[int]string{
		gonvml.GPU_INSTANCE_PROFILE_1_SLICE_GFX:    "1g.24gb+gfx",
		gonvml.GPU_INSTANCE_PROFILE_1_SLICE_NO_ME:  "1g.24gb-me",
		gonvml.GPU_INSTANCE_PROFILE_1_SLICE_ALL_ME: "1g.24gb+me.all",
	} {
		config := gpus.Config{Name: "NVIDIA RTX PRO 6000 Blackwell Server Edition", MemoryMB: 97887}
		config.MIGProfiles.GpuInstanceProfiles = map[int]gonvml.GpuInstanceProfileInfo{
			profile: {Id: 47, SliceCount: 1, MemorySizeMB: 24192},
		}
		s, _ := oneGPU(t, config, instance{profile: profile})
		check(t, "MIG devices", placements(wrapped(t, s)), []placed{{"MIG-0", want, 0, 24192, 0}})
	}
}

// What a process may not ask, or a driver doesn't know, is unknown; what can't
// be done without is left out. Problems say why.
func TestMockMIGPartly(t *testing.T) {
	two := []instance{
		{profile: gonvml.GPU_INSTANCE_PROFILE_2_SLICE, start: 2, name: "NVIDIA A100-SXM4-40GB MIG 2g.10gb"},
		{profile: gonvml.GPU_INSTANCE_PROFILE_1_SLICE, start: 5},
	}
	full := []placed{{"MIG-0", "2g.10gb", 2, 9856, 0}, {"MIG-1", "1g.5gb", 5, 4864, 0}}
	for _, f := range []struct {
		name    string
		edit    func(*server.Device)
		want    []placed
		problem string // part of the only problem; empty: none
	}{
		{"all", func(d *server.Device) {}, full, ""},
		{"not privileged", func(d *server.Device) {
			d.GetGpuInstanceByIdFunc = func(int) (gonvml.GpuInstance, gonvml.Return) { return nil, gonvml.ERROR_NO_PERMISSION }
		}, []placed{{"MIG-0", "2g.10gb", -1, 9856, 0}, {"MIG-1", "1g.5gb", -1, 4864, 0}}, "GetGpuInstanceById: ERROR_NO_PERMISSION"},
		{"GPU instances not supported", func(d *server.Device) {
			d.GetGpuInstanceByIdFunc = func(int) (gonvml.GpuInstance, gonvml.Return) { return nil, gonvml.ERROR_NOT_SUPPORTED }
		}, []placed{{"MIG-0", "2g.10gb", -1, 9856, 0}, {"MIG-1", "1g.5gb", -1, 4864, 0}}, ""},
		{"no GPU instance", func(d *server.Device) {
			d.GetGpuInstanceByIdFunc = func(int) (gonvml.GpuInstance, gonvml.Return) { return nil, gonvml.SUCCESS }
		}, []placed{{"MIG-0", "2g.10gb", -1, 9856, 0}, {"MIG-1", "1g.5gb", -1, 4864, 0}}, "GetGpuInstanceById: no result"},
		{"GPU instance not set", func(d *server.Device) { d.GetGpuInstanceByIdFunc = nil },
			[]placed{{"MIG-0", "2g.10gb", -1, 9856, 0}, {"MIG-1", "1g.5gb", -1, 4864, 0}}, "GetGpuInstanceById: panic: "},
		{"profiles not set", func(d *server.Device) { d.GetGpuInstanceProfileInfoFunc = nil }, full, "GetGpuInstanceProfileInfo: panic: "},
		{"older driver", func(d *server.Device) {
			d.GetGpuInstanceProfileInfoFunc = func(int) (gonvml.GpuInstanceProfileInfo, gonvml.Return) {
				return gonvml.GpuInstanceProfileInfo{}, gonvml.ERROR_INVALID_ARGUMENT
			}
		}, full, ""},
		{"a device fails", func(d *server.Device) {
			byIndex := d.GetMigDeviceHandleByIndexFunc
			d.GetMigDeviceHandleByIndexFunc = func(i int) (gonvml.Device, gonvml.Return) {
				if i == 1 {
					return nil, gonvml.ERROR_UNKNOWN
				}
				return byIndex(i)
			}
		}, full[:1], "GetMigDeviceHandleByIndex: ERROR_UNKNOWN"},
		{"devices not set", func(d *server.Device) { d.GetMigDeviceHandleByIndexFunc = nil }, nil, "GetMigDeviceHandleByIndex: panic: "},
		{"count not set", func(d *server.Device) { d.GetMaxMigDeviceCountFunc = nil }, nil, "GetMaxMigDeviceCount: panic: "},
		{"pending only", func(d *server.Device) {
			d.GetMigModeFunc = func() (int, int, gonvml.Return) { return 0, 1, gonvml.SUCCESS }
			d.GetMaxMigDeviceCountFunc = nil
		}, nil, ""},
		{"MIG not supported", func(d *server.Device) {
			d.GetMigModeFunc = func() (int, int, gonvml.Return) { return 1, 1, gonvml.ERROR_NOT_SUPPORTED }
		}, nil, ""},
	} {
		t.Run(f.name, func(t *testing.T) {
			s, d := oneGPU(t, gpus.A100_SXM4_40GB, two...)
			f.edit(d)
			n := wrapped(t, s)
			check(t, "MIG devices", placements(n), f.want)
			onlyProblem(t, n, f.problem)
		})
	}

	t.Run("nothing but a handle", func(t *testing.T) {
		s, d := oneGPU(t, gpus.A100_SXM4_40GB, two[0])
		d.GetMigDeviceHandleByIndexFunc = func(int) (gonvml.Device, gonvml.Return) { return &mock.Device{}, gonvml.SUCCESS }
		n := wrapped(t, s)
		check(t, "MIG devices", placements(n), nil)
		check(t, "cards", n.Cards, nil)
		for _, call := range []string{"GetUUID", "GetName", "GetAttributes", "GetGpuInstanceId"} {
			if !strings.Contains(fmt.Sprint(n.Problems), call+": panic: ") {
				t.Errorf("no word of %s in %v", call, n.Problems)
			}
		}
	})
}

// onlyProblem checks that there is one problem with part in it, or none if part
// is empty.
func onlyProblem(t *testing.T, n device.Node, part string) {
	t.Helper()
	if part == "" {
		check(t, "problems", n.Problems, nil)
		return
	}
	if len(n.Problems) != 1 || n.Problems[0].Code != "driver-error" || !strings.Contains(n.Problems[0].Detail, part) {
		t.Errorf("problems %v, want one with %q", n.Problems, part)
	}
}

// A driver before 450 has no MIG: its functions must not be called.
func TestMockOldDriver(t *testing.T) {
	s := dgxa100.New()
	s.LookupSymbolFunc = func(symbol string) error {
		if strings.Contains(symbol, "Mig") {
			return fmt.Errorf("symbol %q not found", symbol)
		}
		return nil
	}
	n := wrapped(t, s)
	check(t, "problems", n.Problems, nil)
	for _, d := range s.Devices {
		if len(d.(*server.Device).GetMigModeCalls()) > 0 {
			t.Error("GetMigMode was called")
		}
	}
}

// A GPU that is lost, or needs a reset, is a row that counts in no card.
func TestMockLost(t *testing.T) {
	const product = "Mock-NVIDIA-A100-SXM4-40GB"
	seven := []device.Card{{Name: product, Count: 7}}

	t.Run("no handle", func(t *testing.T) {
		s := dgxa100.New()
		byIndex := s.DeviceGetHandleByIndexFunc
		s.DeviceGetHandleByIndexFunc = func(i int) (gonvml.Device, gonvml.Return) {
			if i == 3 {
				return nil, gonvml.ERROR_GPU_IS_LOST
			}
			return byIndex(i)
		}
		n := wrapped(t, s)
		if len(n.Devices) != 8 {
			t.Fatalf("%d rows, want 8", len(n.Devices))
		}
		check(t, "row", n.Devices[0], unknown(device.Unhealthy))
		check(t, "cards", n.Cards, seven)
		onlyProblem(t, n, "DeviceGetHandleByIndex: GPU is lost (ERROR_GPU_IS_LOST)")
	})

	t.Run("reset required", func(t *testing.T) {
		s := dgxa100.New()
		s.Devices[3].(*server.Device).GetMemoryInfoFunc = func() (gonvml.Memory, gonvml.Return) {
			return gonvml.Memory{}, gonvml.ERROR_RESET_REQUIRED
		}
		n := wrapped(t, s)
		if d := n.Devices[3]; d.Health != device.Unhealthy || d.Product != product || d.MemoryBytes != 0 {
			t.Errorf("row %+v", d)
		}
		check(t, "cards", n.Cards, seven)
		onlyProblem(t, n, "GetMemoryInfo: GPU is lost (ERROR_RESET_REQUIRED)")
	})
}

// A mock with no function set panics at each; that is an error of the call.
func TestMockUnset(t *testing.T) {
	ok := func() gonvml.Return { return gonvml.SUCCESS }

	t.Run("library", func(t *testing.T) {
		_, err := nvml.Collect(nvml.Wrap(&mock.Interface{}), "n1", nvml.CollectOptions{})
		if err == nil || !strings.Contains(err.Error(), "Init: panic: ") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("count", func(t *testing.T) {
		m := &mock.Interface{InitFunc: ok, ShutdownFunc: ok}
		_, err := nvml.Collect(nvml.Wrap(m), "n1", nvml.CollectOptions{})
		if err == nil || !strings.Contains(err.Error(), "DeviceGetCount: panic: ") || len(m.ShutdownCalls()) != 1 {
			t.Errorf("error %v, %d times Shutdown", err, len(m.ShutdownCalls()))
		}
	})
	for _, dev := range []gonvml.Device{&mock.Device{}, nil} {
		m := &mock.Interface{
			InitFunc:           ok,
			DeviceGetCountFunc: func() (int, gonvml.Return) { return 1, gonvml.SUCCESS },
			DeviceGetHandleByIndexFunc: func(int) (gonvml.Device, gonvml.Return) {
				return dev, gonvml.SUCCESS
			},
		}
		n, err := nvml.Collect(nvml.Wrap(m), "n1", nvml.CollectOptions{})
		if err != nil {
			t.Fatal(err)
		}
		wants, health := []string{"GetName", "GetUUID", "GetMinorNumber", "GetMemoryInfo", "GetPciInfo", "GetMigMode", "Shutdown"}, device.Healthy
		if dev == nil {
			wants, health = []string{"DeviceGetHandleByIndex: no result", "Shutdown"}, device.Unhealthy
		}
		check(t, "rows", n.Devices, []device.Device{unknown(health)})
		check(t, "cards", n.Cards, nil)
		for _, want := range wants {
			if !strings.Contains(fmt.Sprint(n.Problems), want) {
				t.Errorf("no word of %s in %v", want, n.Problems)
			}
		}
	}
}

func TestMockPCI(t *testing.T) {
	for _, legacy := range []bool{false, true} {
		s := dgxa100.New()
		s.Devices[0].(*server.Device).GetPciInfoFunc = func() (gonvml.PciInfo, gonvml.Return) {
			var info gonvml.PciInfo
			if legacy {
				chars(info.BusIdLegacy[:], "0000:AF:00.0")
			} else {
				chars(info.BusId[:], "00000000:AF:00.0")
			}
			return info, gonvml.SUCCESS
		}
		if got := wrapped(t, s).Devices[0].PCIBusID; got != "0000:af:00.0" {
			t.Errorf("legacy %v: %q", legacy, got)
		}
	}
}

func chars(dst []int8, s string) {
	for i := range len(s) {
		dst[i] = int8(s[i])
	}
}

func TestMockConcurrent(t *testing.T) {
	s, _ := oneGPU(t, gpus.A100_SXM4_40GB, instance{profile: gonvml.GPU_INSTANCE_PROFILE_3_SLICE, start: 4})
	l := nvml.Wrap(s)
	want, err := nvml.Collect(l, "n1", nvml.CollectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				n, err := nvml.Collect(l, "n1", nvml.CollectOptions{})
				if err != nil {
					t.Error(err)
				}
				check(t, "node", n, want)
			}
		})
	}
	wg.Wait()
	if a, b := len(s.InitCalls()), len(s.ShutdownCalls()); a != b {
		t.Errorf("%d times Init, %d times Shutdown", a, b)
	}
}
