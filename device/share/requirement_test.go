package share_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/device/share"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

const (
	mi = int64(1) << 20
	gi = int64(1) << 30
)

// needNames are the short names that the tables use.
var needNames = map[string]corev1.ResourceName{
	"NVIDIA": "nvidia.com/gpu", "AMD": "amd.com/gpu", "DCU": "dcu.com/gpu",
	"GPU": "koordinator.sh/gpu", "SHARED": "koordinator.sh/gpu.shared",
	"CORE": corev1.ResourceName(share.GPUCore.String()), "RATIO": corev1.ResourceName(share.GPUMemoryRatio.String()), "MEM": corev1.ResourceName(share.GPUMemory.String()),
	"NC": corev1.ResourceName(share.NPUCore.String()), "NCPU": corev1.ResourceName(share.NPUCPU.String()), "DVPP": corev1.ResourceName(share.NPUDVPP.String()),
	"RDMA": corev1.ResourceName(share.RDMA.String()), "FPGA": corev1.ResourceName(share.FPGA.String()),
}

// needList makes a ResourceList of a text such as "CORE 100, MEM 64Gi". A name
// that isn't short stands for itself.
func needList(text string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for item := range strings.SplitSeq(text, ",") {
		if fields := strings.Fields(item); len(fields) == 2 {
			name, ok := needNames[fields[0]]
			if !ok {
				name = corev1.ResourceName(fields[0])
			}
			list[name] = resource.MustParse(fields[1])
		}
	}
	return list
}

// needAmounts is needList for the amounts of this package, negative ones too.
func needAmounts(text string) (amounts share.Amounts) {
	list := needList(text)
	for r := range amounts {
		q := list[corev1.ResourceName(share.Resource(r).String())]
		amounts[r] = q.Value()
	}
	return amounts
}

func need(kind, perInstance string, count int64) share.Requirement {
	return share.Requirement{Kind: kind, PerInstance: needAmounts(perInstance), Count: count}
}

func TestNormalize(t *testing.T) {
	const gpu, rdma, fpga = device.KindGPU, device.KindRDMA, device.KindFPGA
	const crowded = "koordinator.sh/gpu-core: %d percent for one instance, more than a device has"
	warned := func(n share.Requirement, core int64) share.Requirement {
		n.Warning = fmt.Sprintf(crowded, core)
		return n
	}
	crumbs := need(gpu, "MEM 0", 3)
	crumbs.Warning = "koordinator.sh/gpu-memory: 2 bytes are less than one for each of 3 instances"
	whole := func(count int64) share.Requirement { return need(gpu, "CORE 100, RATIO 100", count) }
	for _, c := range []struct {
		name, request string
		want          []share.Requirement
		err           error
	}{
		{"N1", "", nil, nil},
		{"HAMi", "nvidia.com/gpu 2, nvidia.com/gpumem 3000, nvidia.com/gpumem-percentage 50, nvidia.com/gpucores 30", []share.Requirement{whole(2)}, nil},
		{"Volcano vGPU", "volcano.sh/vgpu-number 1, volcano.sh/vgpu-memory 3000, volcano.sh/vgpu-cores 50", nil, nil},
		{"vendors", "huawei.com/Ascend910 8, huawei.com/Ascend310P 1, habana.ai/gaudi 1", nil, nil},
		{"N2", "CORE 101", nil, share.ErrInvalidCombination},
		{"N3", "GPU 101", nil, share.ErrInvalidUnit},
		{"N4", "NVIDIA 2", []share.Requirement{whole(2)}, nil},
		{"N5", "GPU 200", []share.Requirement{whole(2)}, nil},
		{"N6", "CORE 200, MEM 64Gi", []share.Requirement{warned(need(gpu, "CORE 200, MEM 64Gi", 1), 200)}, nil},
		{"N7", "RATIO 200", []share.Requirement{need(gpu, "RATIO 100", 2)}, nil},
		{"N8", "RATIO 101, SHARED 1", nil, share.ErrInvalidUnit},
		{"N9", "CORE 101, MEM 64Gi, SHARED 2", nil, share.ErrInvalidUnit},
		{"N10", "RATIO 200, SHARED 2", []share.Requirement{need(gpu, "RATIO 100", 2)}, nil},
		{"N11", "CORE 100, MEM 64Gi, SHARED 2", []share.Requirement{need(gpu, "CORE 50, MEM 32Gi", 2)}, nil},
		{"N12", "NC 40, RATIO 200", []share.Requirement{need(gpu, "NC 20, RATIO 100", 2)}, nil},
		{"N13", "SHARED 1, NC 10, NCPU 3, MEM 16Gi", []share.Requirement{need(gpu, "NC 10, NCPU 3, MEM 16Gi", 1)}, nil},
		{"N14", "SHARED 2, NC 20, NCPU 6, DVPP 200, MEM 32Gi", nil, share.ErrInvalidUnit},
		{"N15", "FPGA 201", nil, share.ErrInvalidUnit},
		{"N16", "RDMA 50", []share.Requirement{need(rdma, "RDMA 50", 1)}, nil},
		{"N17", "SHARED 2, CORE 100, RATIO 100", []share.Requirement{need(gpu, "CORE 50, RATIO 50", 2)}, nil},
		{"N18", "RATIO 200, CORE 200", []share.Requirement{whole(2)}, nil},
		{"N19", "NC 16, RATIO 200", []share.Requirement{need(gpu, "NC 8, RATIO 100", 2)}, nil},
		{"N20", "SHARED 3, MEM 64Gi", []share.Requirement{need(gpu, "MEM 22906492245", 3)}, nil},
		{"less than a byte for each", "SHARED 3, MEM 2", []share.Requirement{crumbs}, nil},
		{"N21", "NVIDIA 4, RDMA 400", []share.Requirement{whole(4), need(rdma, "RDMA 100", 4)}, nil},
		{"N22", "RDMA 80", []share.Requirement{need(rdma, "RDMA 80", 1)}, nil},
		{"N23", "MEM 64Gi", []share.Requirement{need(gpu, "MEM 64Gi", 1)}, nil},
		{"N24", "CORE 100, MEM 64Gi, SHARED 1", []share.Requirement{need(gpu, "CORE 100, MEM 64Gi", 1)}, nil},
		{"N25", "RDMA 201", nil, share.ErrInvalidUnit},
		{"N26", "FPGA 50", []share.Requirement{need(fpga, "FPGA 50", 1)}, nil},

		{"other vendors", "AMD 1", []share.Requirement{whole(1)}, nil},
		{"other vendors, DCU", "DCU 8", []share.Requirement{whole(8)}, nil},
		{"two vendors", "NVIDIA 1, AMD 1", nil, share.ErrInvalidCombination},
		{"vendor and percent", "NVIDIA 1, GPU 100", nil, share.ErrInvalidCombination},
		{"vendor and core", "NVIDIA 1, CORE 100", nil, share.ErrInvalidCombination},
		{"vendor shared", "NVIDIA 2, SHARED 2", nil, share.ErrInvalidCombination},
		{"percent shared", "GPU 100, SHARED 2", nil, share.ErrInvalidCombination},
		{"shared alone", "SHARED 2", nil, share.ErrInvalidCombination},
		{"shared cores alone", "SHARED 2, CORE 100", nil, share.ErrInvalidCombination},
		{"memory twice", "MEM 1Gi, RATIO 50", nil, share.ErrInvalidCombination},
		{"all three", "CORE 50, MEM 1Gi, RATIO 50", nil, share.ErrInvalidCombination},
		{"shared memory twice", "SHARED 2, MEM 1Gi, RATIO 50", nil, share.ErrInvalidCombination},
		{"NPU alone", "NC 10", nil, share.ErrInvalidCombination},
		{"NPU with memory", "NC 10, MEM 16Gi", nil, share.ErrInvalidCombination},
		{"NPU without its CPU", "SHARED 1, NC 10, MEM 16Gi", nil, share.ErrInvalidCombination},
		{"NPU not shared", "NC 10, NCPU 3, MEM 16Gi", nil, share.ErrInvalidCombination},
		{"NPU by ratio", "SHARED 1, NC 10, NCPU 3, RATIO 50", nil, share.ErrInvalidCombination},
		{"DVPP alone", "DVPP 100", nil, share.ErrInvalidCombination},

		{"part of a device", "GPU 50", []share.Requirement{need(gpu, "CORE 50, RATIO 50", 1)}, nil},
		{"one device", "GPU 100", []share.Requirement{whole(1)}, nil},
		{"part by ratio", "RATIO 50", []share.Requirement{need(gpu, "RATIO 50", 1)}, nil},
		{"ratio 150", "RATIO 150", nil, share.ErrInvalidUnit},
		{"NPU ratio 150", "NC 10, RATIO 150", nil, share.ErrInvalidUnit},
		{"core 150 with memory", "CORE 150, MEM 1Gi", nil, share.ErrInvalidUnit},
		{"core 150 with ratio", "CORE 150, RATIO 100", nil, share.ErrInvalidUnit},
		{"more cores than memory", "CORE 60, RATIO 50", []share.Requirement{need(gpu, "CORE 60, RATIO 50", 1)}, nil},
		{"more cores than devices", "CORE 300, RATIO 200", []share.Requirement{warned(need(gpu, "CORE 150, RATIO 100", 2), 150)}, nil},
		{"cores cut off", "CORE 100, RATIO 300", []share.Requirement{need(gpu, "CORE 33, RATIO 100", 3)}, nil},
		{"fewer than instances", "NC 1, RATIO 200", []share.Requirement{need(gpu, "NC 0, RATIO 100", 2)}, nil},
		{"shared ratio", "SHARED 4, RATIO 100", []share.Requirement{need(gpu, "RATIO 25", 4)}, nil},
		{"one shared device", "SHARED 1, RATIO 100", []share.Requirement{need(gpu, "RATIO 100", 1)}, nil},
		{"shared cores do not divide", "SHARED 3, CORE 100, RATIO 99", nil, share.ErrInvalidUnit},
		{"shared ratio does not divide", "SHARED 3, CORE 99, RATIO 100", nil, share.ErrInvalidUnit},
		{"shared cores of one", "SHARED 1, CORE 200, RATIO 100", nil, share.ErrInvalidUnit},
		{"NPU with DVPP", "SHARED 1, NC 20, NCPU 6, DVPP 100, MEM 32Gi", []share.Requirement{need(gpu, "NC 20, NCPU 6, DVPP 100, MEM 32Gi", 1)}, nil},
		{"NPU with too much DVPP", "SHARED 1, NC 20, NCPU 6, DVPP 101, MEM 32Gi", nil, share.ErrInvalidUnit},
		{"NPU twice", "SHARED 2, NC 20, NCPU 6, MEM 32Gi", nil, share.ErrInvalidUnit},

		{"rdma 100", "RDMA 100", []share.Requirement{need(rdma, "RDMA 100", 1)}, nil},
		{"rdma 150", "RDMA 150", nil, share.ErrInvalidUnit},
		{"fpga 300", "FPGA 300", []share.Requirement{need(fpga, "FPGA 100", 3)}, nil},
		{"all kinds", "FPGA 1, RDMA 2, GPU 3", []share.Requirement{need(gpu, "CORE 3, RATIO 3", 1), need(rdma, "RDMA 2", 1), need(fpga, "FPGA 1", 1)}, nil},
		{"one kind is wrong", "NVIDIA 4, RDMA 101", nil, share.ErrInvalidUnit},

		{"zeros are absent", "NVIDIA 0, CORE 0, MEM 1Gi, SHARED 0, RDMA 0", []share.Requirement{need(gpu, "MEM 1Gi", 1)}, nil},
		{"only zeros", "NVIDIA 0, RDMA 0", nil, nil},
		{"other names", "cpu 1500m, memory -1, nvidia.com/gpu.shared 2, vendor.example/gpu 1", nil, nil},
		{"negative", "NVIDIA -1", nil, share.ErrInvalidUnit},
		{"negative percent", "GPU -100", nil, share.ErrInvalidUnit},
		{"negative memory", "CORE 50, MEM -1", nil, share.ErrInvalidUnit},
		{"negative shares", "SHARED -2, RATIO 100", nil, share.ErrInvalidUnit},
		{"negative rdma", "RDMA -100", nil, share.ErrInvalidUnit},
		{"negative with a wrong name", "NVIDIA -1, AMD 1", nil, share.ErrInvalidCombination},
		{"half a device", "NVIDIA 500m", nil, share.ErrInvalidUnit},
		{"half a byte", "MEM 1023.5", nil, share.ErrInvalidUnit},
		{"fine", "RDMA 1n", nil, share.ErrInvalidUnit},
		{"whole in thousandths", "NVIDIA 2000m", []share.Requirement{whole(2)}, nil},
		{"whole in binary", "MEM 1.5Gi", []share.Requirement{need(gpu, "MEM 1610612736", 1)}, nil},
		{"whole with an exponent", "RATIO 2e2", []share.Requirement{need(gpu, "RATIO 100", 2)}, nil},
		{"many", "NVIDIA 92233720368547758", []share.Requirement{whole(92233720368547758)}, nil},
		{"too many", "NVIDIA 92233720368547759", nil, share.ErrInvalidUnit},
		{"much", "MEM 9223372036854775807", []share.Requirement{need(gpu, "MEM 9223372036854775807", 1)}, nil},
	} {
		got, err := share.Normalize(needList(c.request))
		if !errors.Is(err, c.err) || (err == nil) != (c.err == nil) {
			t.Errorf("%s: error %v, want %v", c.name, err, c.err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// TestNormalizeHuge: quantities that no document can hold, but a program.
func TestNormalizeHuge(t *testing.T) {
	for _, c := range []struct {
		q  *resource.Quantity
		ok bool
	}{
		{resource.NewScaledQuantity(1, 18), true},
		{resource.NewScaledQuantity(1, 19), false},
		{resource.NewScaledQuantity(1, 2_000_000_000), false},
		{resource.NewScaledQuantity(1, -2_000_000_000), false},
		{resource.NewScaledQuantity(0, 2_000_000_000), true},
		{resource.NewScaledQuantity(1_000_000, -6), true},
		{resource.NewScaledQuantity(1_000_001, -6), false},
	} {
		got, err := share.Normalize(corev1.ResourceList{corev1.ResourceName(share.GPUMemory.String()): *c.q})
		if (err == nil) != c.ok || !c.ok && (got != nil || !errors.Is(err, share.ErrInvalidUnit)) {
			t.Errorf("%v: %v, error %v", c.q, got, err)
		}
	}
}

func TestNormalizeErrors(t *testing.T) {
	for _, c := range []struct{ request, want string }{
		{"CORE 101", "share: invalid combination of resources: koordinator.sh/gpu-core with nothing else: must be a combination that Normalize lists, for example with koordinator.sh/gpu-memory-ratio or koordinator.sh/gpu-memory"},
		{"SHARED 1, NC 10", "share: invalid combination of resources: koordinator.sh/gpu.shared with huawei.com/npu-core: must be a combination that Normalize lists, for example with koordinator.sh/gpu-memory and huawei.com/npu-cpu"},
		{"NVIDIA 1, AMD 1, MEM 1", "share: invalid combination of resources: nvidia.com/gpu with amd.com/gpu with koordinator.sh/gpu-memory: must be a combination that Normalize lists"},
		{"GPU 101", "share: invalid amount: koordinator.sh/gpu: 101: must be at most 100 percent of a device, or a multiple of 100"},
		{"SHARED 2, RATIO 99", "share: invalid amount: koordinator.sh/gpu-memory-ratio: 99: must be 2 equal whole shares of at most 100 percent of a device"},
		{"SHARED 2, NC 1, NCPU 1, MEM 1", "share: invalid amount: koordinator.sh/gpu.shared: 2: must be 1 instance with huawei.com/npu-core"},
		{"MEM -1Gi", "share: invalid amount: koordinator.sh/gpu-memory: -1Gi: must be 0 bytes or more"},
		{"RDMA 1500m", "share: invalid amount: koordinator.sh/rdma: 1500m: must be whole, in percent of a device, and below 2^63"},
	} {
		if _, err := share.Normalize(needList(c.request)); err == nil || err.Error() != c.want {
			t.Errorf("%s: error %v", c.request, err)
		}
	}
}

// TestNormalizeNames: which of all sets of names can be asked for together. The
// amounts are right for every row of the table.
func TestNormalizeNames(t *testing.T) {
	rows := []string{
		"", "NVIDIA", "AMD", "DCU", "GPU",
		"MEM", "RATIO", "CORE MEM", "CORE RATIO", "NC RATIO",
		"MEM SHARED", "RATIO SHARED", "CORE MEM SHARED", "CORE RATIO SHARED",
		"MEM NC NCPU SHARED", "DVPP MEM NC NCPU SHARED",
	}
	names := slices.Sorted(maps.Keys(needNames))
	names = slices.DeleteFunc(names, func(name string) bool { return name == "RDMA" || name == "FPGA" })
	for set := range 1 << len(names) {
		var present []string
		total := needList("cpu 1, RDMA 50")
		for i, name := range names {
			if set&(1<<i) != 0 {
				present = append(present, name)
				total[needNames[name]] = resource.MustParse("1")
			} else if i%2 == set%2 {
				total[needNames[name]] = resource.Quantity{}
			}
		}
		valid := slices.Contains(rows, strings.Join(present, " "))
		needs, err := share.Normalize(total)
		switch {
		case valid && (err != nil || len(needs) != min(len(present), 1)+1):
			t.Errorf("%v: %v, error %v", present, needs, err)
		case !valid && !errors.Is(err, share.ErrInvalidCombination):
			t.Errorf("%v: %v, error %v", present, needs, err)
		}
	}
}

// kindOf returns which devices have a resource.
func kindOf(r share.Resource) string {
	switch r {
	case share.RDMA:
		return device.KindRDMA
	case share.FPGA:
		return device.KindFPGA
	}
	return device.KindGPU
}
