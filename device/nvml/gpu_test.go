//go:build cgo && linux

package nvml_test

import (
	"errors"
	"slices"
	"testing"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock/gpus"
	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/device/mig"
	"github.com/resvec/resvec/device/nvml"
	"github.com/resvec/resvec/vectormap"
)

// On a machine with GPUs, what Collect says is what the driver says. Run it
// with -v to see whether it ran.
func TestGPU(t *testing.T) {
	l, err := nvml.Open()
	if err != nil {
		t.Skipf("DID NOT RUN, there are no GPUs to read: %v", err)
	}
	n, err := nvml.Collect(l, "n1", nvml.CollectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range n.Problems {
		t.Logf("%s, %s: %s", p.Code, p.Key, p.Detail)
	}
	api := gonvml.New()
	if ret := api.Init(); ret != gonvml.SUCCESS {
		t.Fatal(ret)
	}
	defer api.Shutdown()

	var whole []device.Device
	for _, d := range n.Devices {
		if d.Profile == (vectormap.MIGProfile{}) {
			whole = append(whole, d)
		}
	}
	count, ret := api.DeviceGetCount()
	if ret != gonvml.SUCCESS || count != len(whole) {
		t.Fatalf("%d GPUs (%v), but %d rows", count, ret, len(whole))
	}
	for i := range count {
		dev, ret := api.DeviceGetHandleByIndex(i)
		if ret != gonvml.SUCCESS {
			t.Logf("GPU %d can't be compared: %v", i, ret)
			continue
		}
		compareGPU(t, n, dev)
	}
	t.Logf("RAN on %d GPUs, cards %v", count, n.Cards)
}

// compareGPU compares the rows of a GPU with the driver.
func compareGPU(t *testing.T, n device.Node, dev gonvml.Device) {
	uuid, ret := dev.GetUUID()
	i := slices.IndexFunc(n.Devices, func(d device.Device) bool { return d.UUID == uuid })
	if ret != gonvml.SUCCESS || i < 0 {
		t.Errorf("UUID %s (%v) has no row", uuid, ret)
		return
	}
	row := n.Devices[i]
	if memory, ret := dev.GetMemoryInfo(); ret == gonvml.SUCCESS && memory.Total != uint64(row.MemoryBytes) {
		t.Errorf("%s: %d bytes, the driver says %d", uuid, row.MemoryBytes, memory.Total)
	}
	if minor, ret := dev.GetMinorNumber(); ret == gonvml.SUCCESS && minor != int(row.Minor) {
		t.Errorf("%s: minor %d, the driver says %d", uuid, row.Minor, minor)
	}
	if row.PCIBusID == "" || row.Product == "" || row.Health != device.Healthy {
		t.Errorf("row %+v", row)
	}
	if current, _, ret := dev.GetMigMode(); ret != gonvml.SUCCESS || current != gonvml.DEVICE_MIG_ENABLE {
		if row.MIGEnabled {
			t.Errorf("%s: not in MIG mode: %v", uuid, ret)
		}
		t.Logf("%s, %s: not in MIG mode, so its placements were not compared", row.Product, uuid)
		return
	}
	g, err := mig.GeometryFor(row.Product, row.MemoryBytes)
	if err != nil {
		t.Logf("%s: %v, so its placements were not compared", uuid, err)
		return
	}
	comparePlacements(t, dev, g)
	var used []mig.Placed
	for _, d := range n.Devices {
		if d.ParentUUID == uuid {
			used = append(used, mig.Placed{Profile: d.Profile, Start: d.Start})
		}
	}
	if len(used) > 0 && !slices.ContainsFunc(used, func(p mig.Placed) bool { return p.Profile.C != 0 }) {
		if _, _, err := mig.PlaceInstances(nil, g, used, nil); err != nil {
			t.Errorf("%s: instances %v: %v", uuid, used, err)
		}
	}
	t.Logf("%s: MIG devices %v", uuid, used)
}

// comparePlacements compares what NVML knows of the profiles of a GPU in MIG
// mode with a geometry.
func comparePlacements(t *testing.T, dev gonvml.Device, g *mig.Geometry) {
	t.Helper()
	compared := 0
	for index := range gonvml.GPU_INSTANCE_PROFILE_COUNT {
		info, ret := dev.GetGpuInstanceProfileInfo(index)
		if ret != gonvml.SUCCESS {
			continue
		}
		places, ret := dev.GetGpuInstancePossiblePlacements(&info)
		if ret != gonvml.SUCCESS || len(places) == 0 {
			t.Logf("profile %d: no placements: %v", index, ret)
			continue
		}
		media := index == gonvml.GPU_INSTANCE_PROFILE_1_SLICE_REV1 || index == gonvml.GPU_INSTANCE_PROFILE_2_SLICE_REV1
		profiles := g.Profiles()
		k := slices.IndexFunc(profiles, func(p mig.GeometryProfile) bool {
			return p.Profile.G == int(info.SliceCount) && p.Slots == int(places[0].Size) && (p.Profile.Suffix == "+me") == media
		})
		if k < 0 {
			t.Errorf("%s has no profile of %d slices and %d slots, media %v", g.Name(), info.SliceCount, places[0].Size, media)
			continue
		}
		var starts []int8
		for _, p := range places {
			starts = append(starts, int8(p.Start))
		}
		slices.Sort(starts)
		p := profiles[k]
		if !slices.Equal(starts, p.Starts) || int(info.InstanceCount) != p.Max {
			t.Errorf("%s of %s: starts %v, maximum %d, the driver says %v, %d",
				p.Profile, g.Name(), p.Starts, p.Max, starts, info.InstanceCount)
		}
		compared++
	}
	if compared != len(g.Profiles()) {
		t.Errorf("%d profiles were compared, %s has %d", compared, g.Name(), len(g.Profiles()))
	}
}

// The comparison of [TestGPU], on those mocks of go-nvml whose placements are
// right. The names of the H100, H200 and B200 aren't.
func TestMockPlacements(t *testing.T) {
	for _, config := range []gpus.Config{gpus.A100_PCIE_40GB, gpus.A100_SXM4_40GB, gpus.A100_PCIE_80GB, gpus.A100_SXM4_80GB, gpus.A30_PCIE_24GB} {
		t.Run(config.Name, func(t *testing.T) {
			s, d := oneGPU(t, config)
			row := wrapped(t, s).Devices[0]
			g, err := mig.GeometryFor(row.Product, row.MemoryBytes)
			if err != nil {
				t.Fatal(err)
			}
			comparePlacements(t, d, g)
		})
	}
}

// Every MIG device that Collect names has a profile that the geometry of its
// GPU has, if there is one.
func TestMockGeometries(t *testing.T) {
	for _, config := range []gpus.Config{
		gpus.A100_PCIE_40GB, gpus.A100_PCIE_80GB, gpus.A30_PCIE_24GB, gpus.H100_SXM5_80GB, gpus.H200_SXM5_141GB, gpus.B200_SXM5_180GB,
	} {
		for index := range config.MIGProfiles.GpuInstanceProfiles {
			s, _ := oneGPU(t, config, instance{profile: index})
			n := wrapped(t, s)
			i := slices.IndexFunc(n.Devices, func(d device.Device) bool { return d.Sharing == device.SharingMIG })
			if i < 0 {
				t.Fatalf("%s, profile %d: no MIG device", config.Name, index)
			}
			row := n.Devices[i]
			g, err := mig.GeometryFor(row.Product, int64(config.MemoryMB)<<20)
			if errors.Is(err, mig.ErrUnknownGeometry) {
				t.Fatalf("%s: %v", config.Name, err)
			}
			if _, ok := g.Profile(row.Profile); !ok {
				t.Errorf("%s has no %s", g.Name(), row.Profile)
			}
		}
	}
}
