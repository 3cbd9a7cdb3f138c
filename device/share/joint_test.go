package share_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/device/share"
)

// jointNICs are NICs for the node of allocEight: 1 to 4 on its roots in order, 5
// to 8 once more.
func jointNICs(minors ...int32) []share.State {
	list := make([]share.State, len(minors))
	for i, m := range minors {
		root := (m - 1) % 4
		list[i] = allocNIC(m, 100, root/2, string(rune('0'+root)))
	}
	return list
}

// gpusAndNICs asks for whole GPUs and a percent of NICs.
func gpusAndNICs(gpus, nics int64) (primary, secondary share.AllocRequest) {
	return share.AllocRequest{Requirement: share.Requirement{Kind: device.KindGPU, PerInstance: allocWhole, Count: gpus}, Policy: share.PackTopology},
		share.AllocRequest{Requirement: share.Requirement{Kind: device.KindRDMA, PerInstance: share.Amounts{share.RDMA: 1}, Count: nics}}
}

// jointly asks for whole GPUs, packed, and a percent of NICs.
func jointly(t *testing.T, gpus, nics int64, joint share.Joint, devices []share.State) (gpu, nic []int32, err error) {
	t.Helper()
	primary, secondary := gpusAndNICs(gpus, nics)
	first, second, err := allocateJoint(allocScorer(t, share.LeastAllocated, true), primary, secondary, devices, joint)
	return first.Minors(), second.Minors(), err
}

func TestAllocateJoint(t *testing.T) {
	oneNUMA := slices.Concat(allocEight(), jointNICs(1))
	for i := range oneNUMA {
		oneNUMA[i].NUMANode = 0
	}
	busy := jointNICs(1, 2, 3, 4)
	busy[0].Free = share.Amounts{share.RDMA: 0}

	for _, test := range []struct {
		fact       string
		devices    []share.State
		gpus       int64
		rdma, nics int64
		joint      share.Joint
		wantGPUs   []int32
		wantNICs   []int32 // nil: ErrJointViolation
	}{
		{"J1", slices.Concat(allocEight(), jointNICs(1, 2, 3, 4)), 1, 1, 1, share.PreferSamePCIe, []int32{0}, []int32{1}},
		{"J2", slices.Concat(allocEight(), jointNICs(1, 2, 3, 4)), 3, 1, 1, share.PreferSamePCIe, []int32{0, 1, 2}, []int32{1, 2}},
		{"J3", slices.Concat(allocEight(), jointNICs(1, 2, 3, 4)), 6, 1, 1, share.PreferSamePCIe, []int32{0, 1, 2, 3, 4, 5}, []int32{1, 2, 3}},
		{"J4", slices.Concat(allocEight(), jointNICs(1, 2, 3, 4)), 8, 1, 1, share.PreferSamePCIe, []int32{0, 1, 2, 3, 4, 5, 6, 7}, []int32{1, 2, 3, 4}},
		{"J5", slices.Concat(allocEight(0), jointNICs(1, 2, 3, 4)), 2, 1, 1, share.PreferSamePCIe, []int32{2, 3}, []int32{2}},
		{"J6", slices.Concat(allocEight(0, 1, 2, 3), jointNICs(1, 2, 3, 4, 5, 6, 7, 8)), 4, 100, 4, share.PreferSamePCIe, []int32{4, 5, 6, 7}, []int32{3, 4, 7, 8}},
		{"J7", oneNUMA, 4, 1, 1, share.PreferSamePCIe, []int32{0, 1, 2, 3}, []int32{1}},
		{"J8", slices.Concat(allocEight(0), busy), 3, 1, 1, share.RequireSamePCIe, nil, nil},
		{"J9", slices.Concat(allocEight(), jointNICs(3, 4)), 2, 1, 1, share.RequireSamePCIe, nil, nil},
	} {
		t.Run(test.fact, func(t *testing.T) {
			s := allocScorer(t, share.LeastAllocated, true)
			primary, secondary := gpusAndNICs(test.gpus, test.nics)
			secondary.PerInstance = share.Amounts{share.RDMA: test.rdma}
			gpu, nic, err := allocateJoint(s, primary, secondary, test.devices, test.joint)
			if violation := errors.Is(err, share.ErrJointViolation); violation != (test.wantNICs == nil) || !violation && err != nil {
				t.Fatalf("error %v", err)
			}
			if !slices.Equal(gpu.Minors(), test.wantGPUs) || !slices.Equal(nic.Minors(), test.wantNICs) {
				t.Errorf("GPUs %v, NICs %v, want %v, %v", gpu.Minors(), nic.Minors(), test.wantGPUs, test.wantNICs)
			}
		})
	}
}

func violation(primary, secondary []string) error {
	return fmt.Errorf("%w: primary on %q, secondary on %q", share.ErrJointViolation, primary, secondary)
}

func TestAllocateJointRefuses(t *testing.T) {
	busy := jointNICs(1, 2, 3, 4)
	busy[0].Free = share.Amounts{share.RDMA: 0}
	loose := jointNICs(1, 2)
	loose[1].PCIeRoot = ""
	for _, test := range []struct {
		name       string
		gpus, nics int64
		joint      share.Joint
		devices    []share.State
		want       error
	}{
		{"J8", 3, 1, share.RequireSamePCIe, slices.Concat(allocEight(0), busy),
			violation([]string{"0", "1"}, []string{"1", "2"})},
		{"J9", 2, 1, share.RequireSamePCIe, slices.Concat(allocEight(), jointNICs(3, 4)),
			violation([]string{"0"}, []string{"2"})},
		{"root of a GPU unknown", 1, 1, share.RequireSamePCIe, slices.Concat(allocGPUs(100), loose),
			violation([]string{""}, []string{"0"})},
		{"roots of both unknown", 1, 1, share.RequireSamePCIe, slices.Concat(allocGPUs(100), loose[1:]),
			violation([]string{""}, []string{""})},
		{"root of a NIC unknown", 3, 1, share.RequireSamePCIe, slices.Concat(allocEight(), loose),
			violation([]string{"0", "1"}, []string{"", "0"})},
		{"fewer NICs than roots", 3, 1, share.RequireSamePCIe, slices.Concat(allocEight(), jointNICs(1)),
			&share.NotEnoughError{Kind: "rdma", Want: 2, Got: 1}},
		{"fewer NICs than wanted", 1, 2, share.PreferSamePCIe, slices.Concat(allocEight(), busy[:2]),
			&share.NotEnoughError{Kind: "rdma", Want: 2, Got: 1, Reasons: []share.Reason{{Cause: share.CauseExhausted, Devices: 1}}}},
		{"too few GPUs", 8, 1, share.PreferSamePCIe, slices.Concat(allocEight(5), busy),
			&share.NotEnoughError{Kind: "gpu", Want: 8, Got: 7, Reasons: []share.Reason{{Cause: share.CauseExhausted, Devices: 1}}}},
	} {
		gpus, nics, err := jointly(t, test.gpus, test.nics, test.joint, test.devices)
		if diff := cmp.Diff(fmt.Sprint(test.want), fmt.Sprint(err)); diff != "" || len(gpus) > 0 || len(nics) > 0 ||
			errors.Is(test.want, share.ErrJointViolation) != errors.Is(err, share.ErrJointViolation) {
			t.Errorf("%s: GPUs %v, NICs %v, error %v\n%s", test.name, gpus, nics, err, diff)
		}
	}
	_, _, err := allocateJoint(allocScorer(t, share.LeastAllocated, true), share.AllocRequest{Requirement: share.Requirement{Kind: device.KindGPU, Count: 1}}, share.AllocRequest{Requirement: share.Requirement{Kind: device.KindRDMA, Count: -1}}, allocEight(), share.PreferSamePCIe)
	if !errors.Is(err, share.ErrInvalidUnit) {
		t.Errorf("bad second request: error %v", err)
	}
	for count, want := range []error{nil, share.ErrInvalidCombination} { // of the second request
		first, second, err := allocateJoint(allocScorer(t, share.LeastAllocated, true), share.AllocRequest{Requirement: share.Requirement{Kind: device.KindGPU, PerInstance: allocWhole, Count: 1}}, share.AllocRequest{Requirement: share.Requirement{Kind: device.KindGPU, PerInstance: allocWhole, Count: int64(count)}},
			allocEight(), share.PreferSamePCIe)
		if !errors.Is(err, want) || (err == nil) != (len(first.Devices) == 1) || len(second.Devices) > 0 {
			t.Errorf("one kind, %d of the second: %v, %v, error %v", count, first, second, err)
		}
	}
}

// SeekSamePCIe: the first kind goes where the second is.
func TestAllocateJointSeek(t *testing.T) {
	busy := jointNICs(1, 2, 3, 4)
	busy[0].Free = share.Amounts{share.RDMA: 0}
	loose := jointNICs(1, 3)
	loose[0].PCIeRoot = ""
	apart := func(n int64) []share.Reason { return []share.Reason{{Cause: share.CauseApart, Devices: n}} }
	for _, test := range []struct {
		name       string
		gpus, nics int64
		devices    []share.State
		wantGPUs   []int32
		wantNICs   []int32
		want       error
	}{
		{"J2", 3, 1, slices.Concat(allocEight(), jointNICs(1, 2, 3, 4)), []int32{0, 1, 2}, []int32{1, 2}, nil},
		{"J8: the other NUMA node", 3, 1, slices.Concat(allocEight(0), busy), []int32{4, 5, 6}, []int32{3, 4}, nil},
		{"J9", 2, 1, slices.Concat(allocEight(), jointNICs(3, 4)), []int32{4, 5}, []int32{3}, nil},
		{"both NUMA nodes", 4, 1, slices.Concat(allocEight(), jointNICs(1, 4)), []int32{0, 1, 6, 7}, []int32{1, 4}, nil},
		{"a root with two", 1, 2, slices.Concat(allocEight(), jointNICs(1, 2, 3, 7)), []int32{4}, []int32{3, 7}, nil},
		{"a GPU on each of two roots", 2, 2, slices.Concat(allocEight(), jointNICs(1, 2)), []int32{0, 2}, []int32{1, 2}, nil},
		{"no NIC wanted", 2, 0, slices.Concat(allocEight(), jointNICs(3)), []int32{0, 1}, []int32{}, nil},
		{"no GPU wanted", 0, 1, slices.Concat(allocEight(), jointNICs(3)), []int32{}, []int32{3}, nil},
		{"NICs of unknown root count for nothing", 2, 1, slices.Concat(allocEight(), loose), []int32{4, 5}, []int32{3}, nil},
		{"too few GPUs at all", 9, 1, slices.Concat(allocEight(), jointNICs(1)), nil, nil,
			&share.NotEnoughError{Kind: "gpu", Want: 9, Got: 8}},
		{"too few NICs at all", 1, 2, slices.Concat(allocEight(), jointNICs(1)), nil, nil,
			&share.NotEnoughError{Kind: "rdma", Want: 2, Got: 1}},
		{"too few GPUs by NICs", 3, 1, slices.Concat(allocEight(0), jointNICs(1)), nil, nil,
			&share.NotEnoughError{Kind: "gpu", Want: 3, Got: 1, Reasons: []share.Reason{
				{Cause: share.CauseExhausted, Devices: 1}, {Cause: share.CauseApart, Devices: 6}}}},
		{"too few NICs by GPUs", 1, 2, slices.Concat(allocEight(), jointNICs(1, 2, 3)), nil, nil,
			&share.NotEnoughError{Kind: "rdma", Want: 2, Got: 1, Reasons: apart(2)}},
		{"no root is known", 1, 1, slices.Concat(allocGPUs(100), jointNICs(1)), nil, nil,
			&share.NotEnoughError{Kind: "gpu", Want: 1, Reasons: apart(1)}},
	} {
		gpus, nics, err := jointly(t, test.gpus, test.nics, share.SeekSamePCIe, test.devices)
		if diff := cmp.Diff(test.want, err); diff != "" || !slices.Equal(gpus, test.wantGPUs) || !slices.Equal(nics, test.wantNICs) {
			t.Errorf("%s: GPUs %v, NICs %v, want %v, %v; error %v\n%s", test.name, gpus, nics, test.wantGPUs, test.wantNICs, err, diff)
		}
	}
}

// A preferred GPU is passed over where with it the NICs are too few.
func TestAllocateJointSeekPreferred(t *testing.T) {
	node := slices.Concat(allocEight(), jointNICs(2, 6, 3, 7, 4)) // two, two and one on the last three roots
	for _, test := range []struct {
		nics     int64
		wantGPUs []int32
		wantNICs []int32
		want     error
	}{
		{1, []int32{6, 7}, []int32{4}, nil},
		{2, []int32{2, 6}, []int32{2, 4}, nil},
		{4, []int32{2, 4}, []int32{2, 3, 6, 7}, nil},
		{5, nil, nil, &share.NotEnoughError{Kind: "rdma", Want: 5, Got: 4, Reasons: []share.Reason{{Cause: share.CauseApart, Devices: 1}}}},
	} {
		gpu, nic, err := allocateJoint(allocScorer(t, share.LeastAllocated, true), share.AllocRequest{Requirement: share.Requirement{Kind: device.KindGPU, PerInstance: allocWhole, Count: 2}, Preferred: []int32{6, 7}},
			share.AllocRequest{Requirement: share.Requirement{Kind: device.KindRDMA, PerInstance: share.Amounts{share.RDMA: 1}, Count: test.nics}},
			node, share.SeekSamePCIe)
		if diff := cmp.Diff(test.want, err); diff != "" || !slices.Equal(gpu.Minors(), test.wantGPUs) || !slices.Equal(nic.Minors(), test.wantNICs) {
			t.Errorf("%d NICs: %v, %v, error %v\n%s", test.nics, gpu.Minors(), nic.Minors(), err, diff)
		}
	}
}
