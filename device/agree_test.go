package device_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// One node of eight H100 as each source has it: 81559 MiB by its label and its
// slice, 85520809984 bytes by the driver, which is the same.
const goldenBytes = 85520809984

func goldenLabels(t *testing.T) device.Node {
	t.Helper()
	node := corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{
			"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3", "nvidia.com/gpu.count": "8", "nvidia.com/gpu.memory": "81559",
		}},
		Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("8")}},
	}
	inv, err := device.FromNodes([]corev1.Node{node}, nil, device.Options{})
	if err != nil || len(inv.Nodes) != 1 {
		t.Fatal(inv, err)
	}
	return inv.Nodes[0]
}

func goldenSlice(t *testing.T, edits ...func(i int) sliceEdit) device.Node {
	t.Helper()
	var devices []resourcev1.Device
	for i := range 8 {
		d := sliceGPU(i)
		for _, edit := range edits {
			if change := edit(i); change != nil {
				change(&d)
			}
		}
		devices = append(devices, d)
	}
	return fromSlices(device.Options{}, sliceOf("a", 0, 1, 1, devices...)).Nodes[0]
}

func goldenNVML(bytes int64) device.Node {
	var devices []device.Device
	for i := range 8 {
		devices = append(devices, device.Device{
			Kind: device.KindGPU, Vendor: "nvidia.com", Product: "NVIDIA H100 80GB HBM3", UUID: fmt.Sprintf("GPU-%d", i),
			Minor: int32(7 - i), MemoryBytes: bytes, Replicas: 1, Start: -1, NUMANode: int32(i / 4),
			PCIBusID: fmt.Sprintf("00000000:%d8:00.0", i), Health: device.Healthy,
		})
	}
	return device.NewNode("a", device.SourceNVML, devices, device.Names{})
}

func migRows(profile string) device.Node {
	p, _, err := vectormap.ParseMIG(profile)
	if err != nil {
		panic(err)
	}
	var devices []device.Device
	for i := range 4 {
		devices = append(devices, device.Device{
			Kind: device.KindGPU, Vendor: "nvidia.com", Product: "NVIDIA-H100-80GB-HBM3", UUID: fmt.Sprintf("MIG-%d", i), Minor: -1,
			MemoryBytes: 10334765056, Replicas: 1, Sharing: device.SharingMIG, Profile: p, Start: int8(i), ParentUUID: "GPU-0", NUMANode: -1,
		})
	}
	return device.NewNode("a", device.SourceNVML, devices, device.Names{})
}

// amdLabels and amdSlice are a GPU of AMD's in two partitions. The labeller rounds what a
// partition has to whole GiB, and writes G.
func amdLabels(t *testing.T, partition string) device.Node {
	return *readLabels(t, nil, device.Names{}, labelNode("a", mi355x("144G amd.com/compute-memory-partition="+partition), "amd.com/gpu=2"))
}

func amdSlice(t *testing.T, partition string) device.Node {
	var devices []resourcev1.Device
	for i := range 2 {
		devices = append(devices, amdDevice(fmt.Sprintf("gpu-%d-128", i), "amdgpu-partition", "147440Mi", text("partitionProfile", partition)))
	}
	return fromSlices(device.Options{}, changed(sliceOf("a", 0, 1, 1, devices...), driver("gpu.amd.com"))).Nodes[0]
}

// labeledShares is a GPU that four pods can share.
func labeledShares(t *testing.T) device.Node {
	return *readLabels(t, nil, device.Names{}, labelNode("a",
		"nvidia.com/gpu.product=NVIDIA-H100-80GB-HBM3 nvidia.com/gpu.count=1 nvidia.com/gpu.memory=81559 nvidia.com/gpu.replicas=4", "nvidia.com/gpu.shared=4"))
}

func TestAgreeSources(t *testing.T) {
	const h100 = "NVIDIA-H100-80GB-HBM3"
	tainted := func(i int) sliceEdit {
		if i == 3 {
			return taint("NoSchedule")
		}
		return nil
	}
	for _, c := range []struct {
		name string
		a, b device.Node
		want []device.Difference
	}{
		{"AG1 labels and slices", goldenLabels(t), goldenSlice(t), nil},
		{"AMD in DPX", amdLabels(t, "dpx_nps2"), amdSlice(t, "dpx_nps2"), nil},
		{"AMD in DPX without a label of it", amdLabels(t, ""), amdSlice(t, "dpx_nps2"), nil},
		{"AMD in DPX without a label of it, and in CPX", amdLabels(t, ""), amdSlice(t, "cpx_nps4"), []device.Difference{
			{Field: "cards", Key: "AMD_Instinct_MI355X_OAM/cpx", A: "0", B: "2"}, {Field: "cards", Key: "AMD_Instinct_MI355X_OAM/dpx", A: "2", B: "0"},
			{Kind: "gpu", Field: "profile", A: "dpx", B: "cpx"}}},
		{"AMD in DPX, and in CPX", amdLabels(t, "dpx_nps2"), amdSlice(t, "cpx_nps4"), []device.Difference{
			{Field: "cards", Key: "AMD_Instinct_MI355X_OAM/cpx_nps4", A: "0", B: "2"}, {Field: "cards", Key: "AMD_Instinct_MI355X_OAM/dpx_nps2", A: "2", B: "0"},
			{Kind: "gpu", Field: "profile", A: "dpx_nps2", B: "cpx_nps4"}}},
		{"shares by either", labeledShares(t), fromSlices(device.Options{}, sliceOf("a", 0, 1, 1, sliceGPU(0, shareable, capacity("shares", "4")))).Nodes[0], nil},
		{"AG1 labels and NVML", goldenLabels(t), goldenNVML(goldenBytes), nil},
		{"AG1 slices and NVML", goldenSlice(t), goldenNVML(goldenBytes), nil},
		{"AG2 a tainted GPU", goldenLabels(t), goldenSlice(t, tainted), []device.Difference{
			{Field: "cards", Key: h100, A: "8", B: "7"},
			{Kind: device.KindGPU, Field: "devices", A: "8", B: "7"},
		}},
		{"AG3 more memory", goldenLabels(t), goldenNVML(85899345920), []device.Difference{
			{Kind: device.KindGPU, Field: "memory", A: "85520809984", B: "85899345920"},
		}},
		{"AG4 other profiles", migRows("1g.10gb+me"), migRows("1g.10gb"), []device.Difference{
			{Field: "cards", Key: h100 + "/mig-1g.10gb-mixed", A: "0", B: "4"},
			{Field: "cards", Key: h100 + "/mig-1g.10gb.me-mixed", A: "4", B: "0"},
			{Kind: device.KindGPU, Field: "profile", A: "1g.10gb+me", B: "1g.10gb"},
		}},
		{"unknown memory", goldenLabels(t), goldenSlice(t, func(int) sliceEdit { return without("memory") }), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			wantEqual(t, "", c.want, device.Agree(c.a, c.b))
			for i := range c.want {
				c.want[i].A, c.want[i].B = c.want[i].B, c.want[i].A
			}
			wantEqual(t, "the other way round", c.want, device.Agree(c.b, c.a))
			for _, n := range []device.Node{c.a, c.b} {
				if len(n.Problems) > 0 {
					t.Errorf("problems %v", n.Problems)
				}
			}
		})
	}
}

// A node whose GPUs are cut, in mixed strategy: its labels, its slices and the
// driver agree, and the GPU in MIG mode counts nowhere.
func TestAgreeSourcesMIG(t *testing.T) {
	labels := testkit.Must(device.FromNodes([]corev1.Node{{
		ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{
			"nvidia.com/gpu.product": sliceCard, "nvidia.com/gpu.count": "2", "nvidia.com/gpu.memory": "81559",
			"nvidia.com/mig.strategy": "mixed", "nvidia.com/mig-1g.10gb.memory": "9856", "nvidia.com/mig-1g.10gb.me.memory": "9856",
		}},
		Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
			"nvidia.com/gpu": resource.MustParse("1"), "nvidia.com/mig-1g.10gb": resource.MustParse("2"), "nvidia.com/mig-1g.10gb.me": resource.MustParse("1"),
		}},
	}}, nil, device.Options{}))
	parent := text("parentUUID", "GPU-gpu-0")
	cut := sliceOf("a", 0, 1, 1, sliceGPU(1), sliceMIG("gpu-0-mig-0", "1g.10gb", parent), sliceMIG("gpu-0-mig-1", "1g.10gb", parent), sliceMIG("gpu-0-mig-2", "1g.10gb+me", parent))
	slice := fromSlices(device.Options{}, cut).Nodes[0]
	withParent := fromSlices(device.Options{}, changed(cut, func(s *resourcev1.ResourceSliceSpec) { s.Devices = append(s.Devices, sliceGPU(0)) })).Nodes[0]

	rows := slices.Clone(slice.Devices)
	rows = append(rows, device.Device{Kind: device.KindGPU, Product: sliceCard, UUID: "GPU-gpu-0", MemoryBytes: goldenBytes, Replicas: 1, MIGEnabled: true, Start: -1, NUMANode: -1})
	nvml := device.NewNode("a", device.SourceNVML, rows, device.Names{})
	for _, other := range []device.Node{slice, withParent, nvml} {
		if diff := device.Agree(labels.Nodes[0], other); len(diff) > 0 {
			t.Errorf("%s: %v", other.Source, diff)
		}
	}
	if len(withParent.Devices) != 5 || len(withParent.Cards) != 3 {
		t.Errorf("%+v", withParent)
	}
}
