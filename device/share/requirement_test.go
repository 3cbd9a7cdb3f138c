package share_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/device/share"
	"github.com/resvec/resvec/internal/testkit"
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

// needText is a list of requirements as testdata has it, or the error.
func needText(needs []share.Requirement, err error) string {
	switch {
	case errors.Is(err, share.ErrInvalidCombination):
		return "invalid combination"
	case errors.Is(err, share.ErrInvalidUnit):
		return "invalid amount"
	case err != nil:
		return err.Error()
	}
	var texts []string
	for _, n := range needs {
		var amounts []string
		for _, short := range []string{"CORE", "RATIO", "MEM", "NC", "NCPU", "DVPP", "RDMA", "FPGA"} {
			r, _ := share.ResourceNamed(string(needNames[short]))
			if x := n.PerInstance[r]; x != 0 {
				amounts = append(amounts, fmt.Sprint(short, " ", x))
			}
		}
		texts = append(texts, strings.TrimSpace(fmt.Sprintf("%s %d of %s %s", n.Kind, n.Count, strings.Join(amounts, ", "), n.Warning)))
	}
	return strings.Join(texts, "; ")
}

// TestNormalize has the facts of requests: what each asks of the devices of a kind.
func TestNormalize(t *testing.T) {
	facts := testkit.Must(os.ReadFile("testdata/requirements.txt"))
	for fact := range strings.Lines(string(facts)) {
		name, rest, _ := strings.Cut(strings.TrimSpace(fact), ":")
		request, want, found := strings.Cut(rest, "=>")
		if !found {
			continue // a comment
		}
		if got := needText(share.Normalize(needList(request))); got != strings.TrimSpace(want) {
			t.Errorf("%s: %s, want %s", name, got, want)
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
