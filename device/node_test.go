package device_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
)

// TestNewNode: rows, cards and problems of devices that are known one by one.
func TestNewNode(t *testing.T) {
	profile, _, err := vectormap.ParseMIG("1g.5gb.me")
	if err != nil {
		t.Fatal(err)
	}
	given := []device.Device{
		{Kind: "gpu", Minor: 1, UUID: "GPU-1", Product: "NVIDIA A100  40GB", MemoryBytes: 40 << 30},
		{Kind: "gpu", Minor: 0, UUID: "GPU-0", Product: "NVIDIA A100  40GB", MemoryBytes: 40 << 30, MIGEnabled: true},
		{Kind: "gpu", Minor: -1, UUID: "MIG-0", Product: "NVIDIA A100  40GB", Profile: profile, Sharing: device.SharingMIG, ParentUUID: "GPU-0", MIGEnabled: true},
		{Kind: "gpu", Minor: 2, UUID: "GPU-2", Product: "NVIDIA A100  40GB", MemoryBytes: 40 << 30, Health: device.Unhealthy},
		{Kind: "gpu", Minor: 3, UUID: "GPU-1", Product: "NVIDIA A100  40GB", Name: "gpu-3"},
		{Kind: "gpu", Minor: 4, Product: "V100", MemoryBytes: 64<<20 - 1},
		{Kind: "gpu", Minor: 5, Product: "V100", MemoryBytes: 4<<40 + 1},
		{Kind: "gpu", Minor: 6, UUID: "GPU-6", Product: "V100", MemoryBytes: -1, Health: device.Healthy},
		{Kind: "gpu", Minor: 7, Product: "T4", MemoryBytes: 16 << 30, Sharing: device.SharingMPS, Replicas: 4},
		{Kind: "gpu", Minor: 8, Product: "T4", MemoryBytes: 16 << 30, Sharing: device.SharingTimeSlicing, Replicas: 2},
		{Kind: "gpu", Minor: 9, Product: "T4", Sharing: device.SharingMPS, Replicas: 4},
		{Kind: "gpu", Minor: 10},
		{Kind: "fpga", Minor: 0, Product: "U250", Replicas: -3},
		{Kind: "gpus", Minor: 11, Product: "V100"},
		{Minor: 12, UUID: "GPU-12", Product: "V100"},
	}
	before := slices.Clone(given)
	names := device.Names{
		SeparateTimeSlicing: true,
		Resources:           map[string]corev1.ResourceName{"V100": "nvidia.com/gpu", "K80": "x.com/gpu"},
	}
	n := device.NewNode("n", device.SourceNVML, given, names)
	wantEqual(t, "the devices given changed", before, given)
	if n.Name != "n" || n.Source != device.SourceNVML {
		t.Errorf("%q from %v", n.Name, n.Source)
	}
	wantCards := []device.Card{
		{Name: "NVIDIA-A100--40GB", Count: 1},
		{Name: "NVIDIA-A100--40GB/mig-1g.5gb.me-mixed", Count: 1},
		{Name: "T4/mps-16g*1/4", Count: 4},
		{Name: "T4/ts-1/2", Count: 2},
		{Name: "U250", Count: 1},
		{Name: "V100", Resource: "nvidia.com/gpu", Count: 3},
	}
	wantEqual(t, "cards", wantCards, n.Cards)
	wantProblems := []string{
		"duplicate-uuid gpu-3", "bad-memory gpu-4", "bad-memory gpu-5", "bad-memory GPU-6",
		"unknown-type gpus-11", "unknown-type GPU-12", "bad-memory gpu-9", "missing-label gpu-10",
	}
	if got := labelProblems(n.Problems); !slices.Equal(got, wantProblems) {
		t.Errorf("problems %q", got)
	}
	var rows []string
	for _, d := range n.Devices {
		rows = append(rows, fmt.Sprintf("%s%d/%d", d.Kind, d.Minor, d.Replicas))
	}
	wantRows := []string{
		"fpga0/1", "gpu-1/1", "gpu0/1", "gpu1/1", "gpu2/1", "gpu4/1", "gpu5/1", "gpu6/1", "gpu7/4", "gpu8/2", "gpu9/4", "gpu10/1",
	}
	if !slices.Equal(rows, wantRows) {
		t.Errorf("rows %q", rows)
	}
	for _, d := range n.Devices {
		if (d.Product == "V100") != (d.Kind == "gpu" && d.Minor >= 4 && d.Minor <= 6) || d.Product == "V100" && d.MemoryBytes != 0 {
			t.Errorf("%+v", d)
		}
	}
}

// TestNewNodeOrder: equal minors go by UUID, then by name.
func TestNewNodeOrder(t *testing.T) {
	n := device.NewNode("n", device.SourceResourceSlices, []device.Device{
		{Kind: "gpu", Minor: -1, UUID: "b", Product: "A"},
		{Kind: "gpu", Minor: -1, Name: "y", Product: "A"},
		{Kind: "gpu", Minor: -1, UUID: "a", Product: "A"},
		{Kind: "gpu", Minor: -1, Name: "x", Product: "A"},
	}, device.Names{})
	var got []string
	for _, d := range n.Devices {
		got = append(got, d.UUID+d.Name)
	}
	if !slices.Equal(got, []string{"x", "y", "a", "b"}) {
		t.Error(got)
	}
}

// TestManyProblems: at most one per code and key, also where there are many.
func TestManyProblems(t *testing.T) {
	var list []device.Device
	for range 2 {
		for minor := range int32(1000) {
			list = append(list, device.Device{Kind: "gpu", Minor: minor, Product: "A", MemoryBytes: 1})
		}
	}
	if n := device.NewNode("n", device.SourceNVML, list, device.Names{}); len(n.Problems) != 1000 {
		t.Errorf("%d problems", len(n.Problems))
	}
}

// TestProblemKeys: what names a device that has no name.
func TestProblemKeys(t *testing.T) {
	profile, _, err := vectormap.ParseMIG("1g.5gb")
	if err != nil {
		t.Fatal(err)
	}
	n := device.NewNode("n", device.SourceNVML, []device.Device{
		{Kind: "gpu", Minor: -1, Name: "gpu-3", UUID: "GPU-3"},
		{Kind: "gpu", Minor: -1, UUID: "GPU-4"},
		{Kind: "gpu", Minor: 7},
		{Kind: "gpu", Minor: -1, Profile: profile, Sharing: device.SharingMIG, Start: -1},
		{Kind: "gpu", Minor: -1, Profile: profile, Sharing: device.SharingMIG, Start: 0, ParentUUID: "GPU-4"},
		{Kind: "gpu", Minor: -1, Profile: profile, Sharing: device.SharingMIG, Start: 2, ParentUUID: "GPU-4"},
	}, device.Names{})
	keys := []string{}
	for _, p := range n.Problems {
		keys = append(keys, p.Key)
	}
	slices.Sort(keys)
	want := []string{"1g.5gb", "1g.5gb at 0 of GPU-4", "1g.5gb at 2 of GPU-4", "GPU-4", "gpu-3", "gpu-7"}
	if !slices.Equal(keys, want) {
		t.Errorf("%q", keys)
	}
}

func TestEnumNames(t *testing.T) {
	for got, want := range map[fmt.Stringer]string{
		device.SourceLabels: "labels", device.SourceResourceSlices: "resourceslices", device.SourceNVML: "nvml", device.Source(0): "none", device.Source(9): "unknown(9)",
		device.SharingNone: "none", device.SharingMPS: "mps", device.SharingTimeSlicing: "time-slicing", device.SharingMIG: "mig", device.Sharing(9): "unknown(9)",
		device.HealthUnknown: "unknown", device.Healthy: "healthy", device.Unhealthy: "unhealthy", device.Health(9): "unknown(9)",
	} {
		if got.String() != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}
