package device_test

import (
	"slices"
	"testing"

	"github.com/resvec/resvec/device"
)

// TestVendorNames: what the default rules make of the labels and resources of vendors, and of
// projects that share GPUs. docs/device.md has it as a table.
func TestVendorNames(t *testing.T) {
	const (
		ascend = "accelerator=huawei-Ascend910 host-arch=huawei-arm node.kubernetes.io/npu.chip.name="
		gaudi  = "habana.ai/device.family=gaudi habana.ai/device.id=1020 habana.ai/product.name=HLS2 "
	)
	for _, c := range []struct {
		name, labels, allocatable string
		cards, problems           []string
		vendor                    string
		rows                      int
	}{
		{name: "Ascend 910B", labels: ascend + "910B3 accelerator-type=module-910b-8", allocatable: "huawei.com/Ascend910=8",
			cards: []string{"910B3:8"}, vendor: "huawei.com", rows: 8},
		{name: "Ascend 310P", labels: "accelerator=huawei-Ascend310P node.kubernetes.io/npu.chip.name=310P3", allocatable: "huawei.com/Ascend310P=4",
			cards: []string{"310P3:4"}, vendor: "huawei.com", rows: 4},
		{name: "virtual devices of Ascend", labels: ascend + "910B3", allocatable: "huawei.com/Ascend910=6 huawei.com/Ascend910-5c.1cpu.16g=8",
			cards: []string{"910B3:6"}, vendor: "huawei.com", rows: 6},
		{name: "Ascend without a label", labels: "accelerator=huawei-Ascend910", allocatable: "huawei.com/Ascend910=8",
			problems: []string{"missing-label node.kubernetes.io/npu.chip.name"}},
		{name: "Gaudi", labels: gaudi + "habana.ai/device.type=GAUDI2 habana.ai/device.count=8", allocatable: "habana.ai/gaudi=8",
			cards: []string{"GAUDI2:8"}, vendor: "habana.ai", rows: 8},
		{name: "Gaudi, of which one is unhealthy", labels: gaudi + "habana.ai/device.type=GAUDI3 habana.ai/device.count=8", allocatable: "habana.ai/gaudi=7",
			cards: []string{"GAUDI3:7"}, problems: []string{"count-mismatch habana.ai/gaudi"}, vendor: "habana.ai", rows: 7},
		{name: "Gaudi without its driver", labels: gaudi + "habana.ai/device.count=8", allocatable: "habana.ai/gaudi=8",
			problems: []string{"missing-label habana.ai/device.type"}},

		{name: "Koordinator", labels: "node.koordinator.sh/gpu-model=NVIDIA-H800 node.koordinator.sh/gpu-vendor=nvidia",
			allocatable: "koordinator.sh/gpu=800 koordinator.sh/gpu-core=800 koordinator.sh/gpu-memory=640Gi koordinator.sh/gpu-memory-ratio=800 koordinator.sh/rdma=800"},
		{name: "HAMi", labels: "gpu=on", allocatable: "nvidia.com/gpu=20",
			problems: []string{"missing-label nvidia.com/gpu.product"}},
		{name: "HAMi and feature discovery", labels: "gpu=on nvidia.com/gpu.product=Tesla-T4 nvidia.com/gpu.count=2 nvidia.com/gpu.memory=15360 nvidia.com/gpu.replicas=1", allocatable: "nvidia.com/gpu=20",
			cards: []string{"Tesla-T4:20"}, problems: []string{"count-mismatch nvidia.com/gpu"}, vendor: "nvidia.com", rows: 20},
		{name: "HAMi on Ascend", labels: "accelerator=huawei-Ascend910", allocatable: "huawei.com/Ascend910B3=8 huawei.com/Ascend910B3-memory=524288"},
		{name: "Volcano vGPU", allocatable: "volcano.sh/vgpu-number=20 volcano.sh/vgpu-memory=30720 volcano.sh/vgpu-cores=200"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := readLabels(t, nil, device.Names{}, labelNode("node", c.labels, c.allocatable))
			if got := labelCards(n); !slices.Equal(got, c.cards) {
				t.Errorf("cards %v, want %v", got, c.cards)
			}
			if got := labelProblems(n.Problems); !slices.Equal(got, c.problems) {
				t.Errorf("problems %v, want %v", got, c.problems)
			}
			if len(n.Devices) != c.rows {
				t.Errorf("%d devices, want %d", len(n.Devices), c.rows)
			}
			for _, d := range n.Devices {
				if d.Vendor != c.vendor || d.Kind != device.KindGPU || d.Sharing != device.SharingNone {
					t.Errorf("%+v", d)
				}
			}
		})
	}
}
