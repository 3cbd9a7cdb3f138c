package share_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/device/share"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/scoring/gpu"
	"github.com/resvec/resvec/vector"
)

const allocGiB = int64(1) << 30

// allocAmounts are a percentage of a GPU of 8Gi.
func allocAmounts(percent int64) [8]int64 {
	return [8]int64{
		share.GPUCore:        percent,
		share.GPUMemoryRatio: percent,
		share.GPUMemory:      percent * 8 * allocGiB / 100,
	}
}

// allocGPU is a GPU of 8Gi of which this percentage is free, of unknown topology.
func allocGPU(minor int32, free int64) share.State {
	return share.State{Kind: device.KindGPU, Minor: minor, Total: allocAmounts(100), Free: allocAmounts(free), NUMANode: -1}
}

// allocGPUs are GPUs from minor 0 on, by what is free of them.
func allocGPUs(free ...int64) []share.State {
	devices := make([]share.State, len(free))
	for i, f := range free {
		devices[i] = allocGPU(int32(i), f)
	}
	return devices
}

// allocNIC is a NIC of which this percentage is free.
func allocNIC(minor int32, free int64, numa int32, root string) share.State {
	return share.State{
		Kind: device.KindRDMA, Minor: minor, NUMANode: numa, PCIeRoot: root,
		Total: share.Amounts{share.RDMA: 100}, Free: share.Amounts{share.RDMA: free},
	}
}

// allocEight is a node with roots 0 and 1 on NUMA node 0, 2 and 3 on 1, two GPUs
// each, of which some are used up.
func allocEight(used ...int32) []share.State {
	devices := allocGPUs(100, 100, 100, 100, 100, 100, 100, 100)
	for i := range devices {
		d := &devices[i]
		d.NUMANode, d.PCIeRoot = d.Minor/4, string(rune('0'+d.Minor/2))
		if slices.Contains(used, d.Minor) {
			d.Free = allocAmounts(0)
		}
	}
	return devices
}

// allocScorer returns a scorer over the resources that Koordinator weighs, or over
// gpu-memory-ratio alone.
func allocScorer(t testing.TB, scoring string, koordinator bool) *share.Scorer {
	t.Helper()
	cfg := share.Config{}
	if koordinator {
		cfg = share.KoordinatorDefaults()
	}
	cfg.Type = scoring
	return testkit.Must(share.NewScorer(cfg))
}

var (
	allocHalf  = share.Amounts{share.GPUCore: 50, share.GPUMemoryRatio: 50}
	allocWhole = share.Amounts{share.GPUCore: 100, share.GPUMemoryRatio: 100}
)

// allocateCase is a request and the minors that it gets.
type allocateCase struct {
	name    string
	scorer  *share.Scorer
	devices []share.State
	request share.AllocRequest
	want    []int32
}

func (c *allocateCase) run(t *testing.T) {
	got, err := allocate(c.scorer, c.request, c.devices)
	if err != nil || !slices.Equal(got.Minors(), c.want) {
		t.Errorf("minors %v, want %v; error %v", got.Minors(), c.want, err)
	}
}

func TestAllocate(t *testing.T) {
	least, most := allocScorer(t, share.LeastAllocated, true), allocScorer(t, share.MostAllocated, false)
	pack := func(r share.AllocRequest) share.AllocRequest { r.Policy = share.PackTopology; return r }
	frag := func(ratio int64, mix ...gpu.TypicalPod) share.AllocRequest {
		return share.AllocRequest{Requirement: share.Requirement{Kind: device.KindGPU, PerInstance: share.Amounts{share.GPUMemoryRatio: ratio}, Count: 1}, Policy: share.LeastFragmentation, Mix: mix}
	}
	for _, test := range []allocateCase{
		{"A1", least, []share.State{allocGPU(1, 50), allocGPU(2, 50), allocGPU(3, 100), allocGPU(4, 100)},
			share.AllocRequest{Requirement: share.Requirement{Kind: device.KindGPU, PerInstance: allocHalf, Count: 1}}, []int32{3}},
		{"A2", least, []share.State{allocGPU(1, 100), allocGPU(2, 100)},
			share.AllocRequest{Requirement: share.Requirement{Kind: device.KindGPU, PerInstance: allocAmounts(50), Count: 1}}, []int32{1}},
		{"A3", least, []share.State{allocNIC(1, 100, -1, ""), allocNIC(2, 100, -1, "")},
			share.AllocRequest{Requirement: share.Requirement{Kind: device.KindRDMA, PerInstance: share.Amounts{share.RDMA: 50}, Count: 1}}, []int32{1}},
		{"A4", most, allocGPUs(50, 100, 50, 100),
			share.AllocRequest{Requirement: share.Requirement{Kind: device.KindGPU, PerInstance: allocHalf, Count: 2}}, []int32{0, 2}},
		{"A6", most, allocGPUs(100, 100, 100, 100),
			share.AllocRequest{Requirement: share.Requirement{Kind: device.KindGPU, PerInstance: allocWhole, Count: 2}, Preferred: []int32{3}}, []int32{0, 3}},
		{"A7", least, allocEight(0), pack(share.AllocRequest{Requirement: share.Requirement{Kind: device.KindGPU, PerInstance: allocWhole, Count: 2}}), []int32{2, 3}},
		{"A8", least, allocEight(5), pack(share.AllocRequest{Requirement: share.Requirement{Kind: device.KindGPU, PerInstance: allocWhole, Count: 1}}), []int32{4}},
		{"A9", least, allocEight(5), pack(share.AllocRequest{Requirement: share.Requirement{Kind: device.KindGPU, PerInstance: allocWhole, Count: 4}, Scope: share.ScopeNUMA}), []int32{0, 1, 2, 3}},
		{"A10", most, allocEight(5), pack(share.AllocRequest{Requirement: share.Requirement{Kind: device.KindGPU, PerInstance: allocHalf, Count: 1}}), []int32{4}},
		{"A11", least, allocEight(), pack(share.AllocRequest{Requirement: share.Requirement{Kind: device.KindGPU, PerInstance: allocWhole, Count: 6}}), []int32{0, 1, 2, 3, 4, 5}},
		{"A12", least, allocGPUs(100, 50, 30), frag(30, gpu.TypicalPod{Count: 1, Milli: 500, Pods: 1}, gpu.TypicalPod{Count: 1, Milli: 1000, Pods: 1}), []int32{2}},
		{"A13", least, allocGPUs(100, 80, 60, 40),
			frag(20, gpu.TypicalPod{Count: 1, Milli: 200, Pods: 5}, gpu.TypicalPod{Count: 1, Milli: 600, Pods: 2}, gpu.TypicalPod{Count: 1, Milli: 1000, Pods: 3}), []int32{3}},
	} {
		t.Run(test.name, test.run)
	}
}

// Cases beyond the facts.
func TestAllocateMore(t *testing.T) {
	least, most := allocScorer(t, share.LeastAllocated, false), allocScorer(t, share.MostAllocated, false)
	half := share.AllocRequest{Requirement: share.Requirement{Kind: device.KindGPU, PerInstance: allocHalf, Count: 1}}
	whole := share.AllocRequest{Requirement: share.Requirement{Kind: device.KindGPU, PerInstance: allocWhole, Count: 1}}
	with := func(r share.AllocRequest, change func(*share.AllocRequest)) share.AllocRequest {
		change(&r)
		return r
	}
	pack := func(r share.AllocRequest, scope share.Scope, count int64) share.AllocRequest {
		r.Policy, r.Scope, r.Count = share.PackTopology, scope, count
		return r
	}
	sick := allocGPUs(100, 100, 100)
	sick[0].Health, sick[1].Health = device.Unhealthy, device.HealthUnknown
	halfUsed := allocEight()
	halfUsed[5].Free = allocAmounts(50)
	loose := allocGPUs(100, 100) // no topology
	mixed := append(allocGPUs(100, 100), allocNIC(0, 100, -1, ""), allocNIC(1, 100, -1, ""))
	rootsOnly := allocGPUs(100, 100, 100, 100)
	for i := range rootsOnly {
		rootsOnly[i].PCIeRoot = []string{"b", "a", "b", "a"}[i]
	}
	odd := allocEight()
	odd[3].Total[share.NPUCore], odd[3].Free[share.NPUCore] = 0, 5
	huge := allocGPUs(100, 30)
	huge[0].Free[share.GPUMemoryRatio] = 1<<53 - 1000
	more := allocGPU(1, 100)
	more.Free = allocAmounts(120)
	bytes := share.AllocRequest{Requirement: share.Requirement{Kind: device.KindGPU, PerInstance: share.Amounts{share.GPUMemory: 8 * allocGiB * 30 / 100}, Count: 1}, Policy: share.LeastFragmentation, Mix: []gpu.TypicalPod{{Count: 1, Milli: 500, Pods: 1}, {Count: 1, Milli: 1000, Pods: 1}}}
	bytesOnly := allocGPUs(100, 50, 30)
	for i := range bytesOnly {
		bytesOnly[i].Total[share.GPUMemoryRatio], bytesOnly[i].Free[share.GPUMemoryRatio] = 0, 0
	}
	for _, test := range []allocateCase{
		{"no scorer: by minor", nil, []share.State{allocGPU(4, 100), allocGPU(2, 50), allocGPU(3, 100)}, half, []int32{2}},
		{"no devices, none wanted", least, nil, with(whole, func(r *share.AllocRequest) { r.Count = 0 }), []int32{}},
		{"none wanted", least, allocGPUs(100), with(whole, func(r *share.AllocRequest) { r.Count = 0 }), []int32{}},
		{"none wanted, of one PCIe root", least, loose, pack(whole, share.ScopePCIe, 0), []int32{}},
		{"nothing asked of the device", least, allocGPUs(0, 100), share.AllocRequest{Requirement: share.Requirement{Kind: device.KindGPU, Count: 1}}, []int32{1}},
		{"amounts of 0 always fit", least, allocGPUs(100), with(half, func(r *share.AllocRequest) {
			r.PerInstance = share.Amounts{share.GPUCore: 50, share.NPUCore: 0}
		}), []int32{0}},
		{"preferred before score", most, allocGPUs(50, 100), with(half, func(r *share.AllocRequest) { r.Preferred = []int32{1} }), []int32{1}},
		{"preferred but used up", most, allocGPUs(100, 0), with(half, func(r *share.AllocRequest) { r.Preferred = []int32{1, 7, 7} }), []int32{0}},
		{"required", least, allocGPUs(100, 100, 100), with(whole, func(r *share.AllocRequest) { r.Required = []int32{2, 1, 2} }), []int32{1}},
		{"required and preferred", least, allocGPUs(100, 100, 100), with(whole, func(r *share.AllocRequest) {
			r.Required, r.Preferred = []int32{1, 2}, []int32{0, 2}
		}), []int32{2}},
		{"unhealthy, unknown health", least, sick, whole, []int32{1}},
		{"free above the total counts as full for the score only", least, []share.State{allocGPU(0, 50), more}, half, []int32{0}},
		{"kind", least, mixed, share.AllocRequest{Requirement: share.Requirement{Kind: device.KindRDMA, PerInstance: share.Amounts{share.RDMA: 1}, Count: 2}}, []int32{0, 1}},

		{"pack: a half free device is used", most, halfUsed, pack(half, share.ScopeNode, 1), []int32{5}},
		{"pack: best score of a part only if partial", most, halfUsed, pack(whole, share.ScopeNode, 1), []int32{4}},
		{"pack: a resource that a device doesn't have isn't used", least, odd, pack(whole, share.ScopeNode, 2), []int32{0, 1}},
		{"pack: no topology", least, loose, pack(whole, share.ScopeNode, 2), []int32{0, 1}},
		{"pack: the smallest part first", least, append(allocGPUs(100), allocEight()[6:]...), pack(whole, share.ScopeNode, 1), []int32{6}},
		{"pack: roots without NUMA nodes", least, rootsOnly, pack(whole, share.ScopePCIe, 2), []int32{1, 3}},
		{"pack: preferred counts inside the part only", least, allocEight(5), pack(with(whole, func(r *share.AllocRequest) {
			r.Preferred = []int32{0, 7}
		}), share.ScopeNode, 2), []int32{6, 7}},
		{"pack: required devices bound the parts", least, allocEight(5), pack(with(whole, func(r *share.AllocRequest) {
			r.Required = []int32{1, 2, 3, 4}
		}), share.ScopeNode, 2), []int32{2, 3}},
		{"by score on one NUMA node", least, allocEight(0), with(whole, func(r *share.AllocRequest) {
			r.Count, r.Scope = 4, share.ScopeNUMA
		}), []int32{4, 5, 6, 7}},

		{"fragmentation by bytes", least, allocGPUs(100, 50, 30), bytes, []int32{2}},
		{"fragmentation of devices without a ratio", least, bytesOnly, bytes, []int32{2}},
		{"fragmentation: too much free is a whole device", least, huge, bytes, []int32{1}},
		{"fragmentation: preferred first", least, allocGPUs(100, 50, 30), with(bytes, func(r *share.AllocRequest) { r.Preferred = []int32{0} }), []int32{0}},
		{"fragmentation without a mix: the fullest", least, allocGPUs(100, 50, 30, 30), with(bytes, func(r *share.AllocRequest) { r.Mix = nil }), []int32{2}},
		{"fragmentation without a mix and scorer: by minor", nil, allocGPUs(100, 50, 30), with(bytes, func(r *share.AllocRequest) { r.Mix = nil }), []int32{0}},
		{"fragmentation: many GPUs are whole ones", least, allocGPUs(100, 50, 30), with(bytes, func(r *share.AllocRequest) {
			r.Mix = []gpu.TypicalPod{{Count: 1, Milli: 500, Pods: 1}, {Count: 8, Milli: 1000, Pods: 1}}
		}), []int32{2}},
		{"fragmentation: only devices of a pod count, and no pods are one", least, allocGPUs(100, 50, 30), with(bytes, func(r *share.AllocRequest) {
			r.Mix = []gpu.TypicalPod{{CPU: 8000, Pods: 9}, {CPU: 4000, Count: 1, Milli: 500, Models: []int32{3}}, {Count: 1, Milli: 1000, Pods: 1, Weight: 7}}
		}), []int32{2}},
	} {
		t.Run(test.name, test.run)
	}
}

func TestAllocateRefuses(t *testing.T) {
	sick := allocGPUs(50, 50, 0, 100, 100, 100)
	sick[3].Health = device.Unhealthy
	sick[4].Total = share.Amounts{}
	sick[5].Free = share.Amounts{}
	none := []share.Reason{{Cause: share.CauseNoneOfKind}}
	short := func(resource share.Resource, devices, want, free int64) share.Reason {
		return share.Reason{Cause: share.CauseInsufficient, Resource: resource, Devices: devices, Want: want, Free: free}
	}
	for _, test := range []struct {
		fact    string
		devices []share.State
		request share.AllocRequest
		want    share.NotEnoughError
		text    string
	}{
		{"A5", allocGPUs(50, 100, 50, 100), share.AllocRequest{Requirement: share.Requirement{Kind: device.KindGPU, PerInstance: allocWhole, Count: 3}},
			share.NotEnoughError{Kind: "gpu", Want: 3, Got: 2, Reasons: []share.Reason{
				short(share.GPUCore, 2, 100, 50), short(share.GPUMemoryRatio, 2, 100, 50)}},
			"share: gpu: want 3, got 2: 2 insufficient koordinator.sh/gpu-core (want 100, at most 50 free), 2 insufficient koordinator.sh/gpu-memory-ratio (want 100, at most 50 free)"},
		{"no devices", nil, share.AllocRequest{Requirement: share.Requirement{Kind: device.KindGPU, PerInstance: allocWhole, Count: 1}},
			share.NotEnoughError{Kind: "gpu", Want: 1, Reasons: none}, "share: gpu: want 1, got 0: no device of the kind"},
		{"none of the kind", allocGPUs(100), share.AllocRequest{Requirement: share.Requirement{Kind: device.KindFPGA, PerInstance: share.Amounts{share.FPGA: 1}, Count: 1}},
			share.NotEnoughError{Kind: "fpga", Want: 1, Reasons: none}, "share: fpga: want 1, got 0: no device of the kind"},
		{"memory reads as such", allocGPUs(50, 75), share.AllocRequest{Requirement: share.Requirement{Kind: device.KindGPU, PerInstance: share.Amounts{share.GPUMemory: 8 * allocGiB}, Count: 1}},
			share.NotEnoughError{Kind: "gpu", Want: 1, Reasons: []share.Reason{short(share.GPUMemory, 2, 8*allocGiB, 6*allocGiB)}},
			"share: gpu: want 1, got 0: 2 insufficient koordinator.sh/gpu-memory (want 8Gi, at most 6Gi free)"},
		{"every cause once", sick, share.AllocRequest{Requirement: share.Requirement{Kind: device.KindGPU, PerInstance: allocWhole, Count: 1}, Required: []int32{1, 2, 3, 4, 5}},
			share.NotEnoughError{Kind: "gpu", Want: 1, Reasons: []share.Reason{
				{Cause: share.CauseOutsideRequired, Devices: 1}, {Cause: share.CauseUnhealthy, Devices: 1},
				{Cause: share.CauseNoCapacity, Devices: 1}, {Cause: share.CauseExhausted, Devices: 2},
				short(share.GPUCore, 1, 100, 50), short(share.GPUMemoryRatio, 1, 100, 50)}},
			""},
		{"the least shortage, below zero too", []share.State{
			{Kind: "gpu", Minor: 0, Total: share.Amounts{share.GPUCore: 100}, Free: share.Amounts{share.GPUCore: -1 << 52}},
			{Kind: "gpu", Minor: 1, Total: share.Amounts{share.GPUCore: 100}, Free: share.Amounts{share.GPUCore: -7}},
			{Kind: "gpu", Minor: 2, Total: share.Amounts{share.GPUCore: 100}, Free: share.Amounts{share.GPUCore: 10}},
			{Kind: "gpu", Minor: 3, Total: share.Amounts{share.GPUCore: 100}, Free: share.Amounts{share.GPUCore: -7}},
		}, share.AllocRequest{Requirement: share.Requirement{Kind: device.KindGPU, PerInstance: share.Amounts{share.GPUCore: math.MaxInt64}, Count: 1}},
			share.NotEnoughError{Kind: "gpu", Want: 1, Reasons: []share.Reason{short(share.GPUCore, 4, math.MaxInt64, 10)}}, ""},
		{"N6: no device has a core of 200", allocGPUs(100, 100), share.AllocRequest{Requirement: share.Requirement{Kind: device.KindGPU, PerInstance: share.Amounts{share.GPUCore: 200, share.GPUMemory: 4 * allocGiB}, Count: 1}},
			share.NotEnoughError{Kind: "gpu", Want: 1, Reasons: []share.Reason{short(share.GPUCore, 2, 200, 100)}}, ""},
		{"not on one NUMA node", allocEight(5, 0), share.AllocRequest{Requirement: share.Requirement{Kind: device.KindGPU, PerInstance: allocWhole, Count: 4}, Policy: share.PackTopology, Scope: share.ScopeNUMA},
			share.NotEnoughError{Kind: "gpu", Want: 4, Got: 3, Reasons: []share.Reason{
				{Cause: share.CauseExhausted, Devices: 2}, {Cause: share.CauseOutsideScope, Devices: 3}}},
			"share: gpu: want 4, got 3: 2 exhausted, 3 outside scope"},
		{"no NUMA node is known", allocGPUs(100, 100), share.AllocRequest{Requirement: share.Requirement{Kind: device.KindGPU, PerInstance: allocWhole, Count: 1}, Scope: share.ScopeNUMA},
			share.NotEnoughError{Kind: "gpu", Want: 1, Reasons: []share.Reason{{Cause: share.CauseOutsideScope, Devices: 2}}}, ""},
	} {
		t.Run(test.fact, func(t *testing.T) {
			got, err := allocate(allocScorer(t, share.LeastAllocated, true), test.request, test.devices)
			var refusal *share.NotEnoughError
			if !errors.As(err, &refusal) || got.Devices != nil {
				t.Fatalf("allocated %v, error %v", got, err)
			}
			if diff := cmp.Diff(&test.want, refusal); diff != "" {
				t.Error(diff)
			}
			if test.text != "" && err.Error() != test.text {
				t.Errorf("text %q", err)
			}
		})
	}
}

func TestAllocateBadInput(t *testing.T) {
	frag := func(devices []share.State, perInstance share.Amounts, mix ...gpu.TypicalPod) error {
		_, err := allocate(nil, share.AllocRequest{Requirement: share.Requirement{Kind: device.KindGPU, PerInstance: perInstance, Count: 1}, Policy: share.LeastFragmentation, Mix: mix}, devices)
		return err
	}
	unknown := allocGPUs(100)
	unknown[0].Total[share.GPUMemory] = 0
	memory := share.Amounts{share.GPUMemory: 1}
	first := func(r share.AllocRequest, devices ...share.State) error {
		_, err := allocate(nil, r, devices)
		return err
	}
	for _, test := range []struct {
		name string
		err  error
		want error // nil: any
	}{
		{"amount below 0", first(share.AllocRequest{Requirement: share.Requirement{Kind: device.KindGPU, PerInstance: share.Amounts{share.GPUCore: -1}}}), share.ErrInvalidUnit},
		{"a resource of another kind", first(share.AllocRequest{Requirement: share.Requirement{Kind: device.KindGPU, PerInstance: share.Amounts{share.RDMA: 1}}}), share.ErrInvalidCombination},
		{"pods below 0", frag(nil, memory, gpu.TypicalPod{Count: 1, Milli: 10, Pods: -1}), share.ErrInvalidUnit},
		{"devices below 0", frag(nil, memory, gpu.TypicalPod{Count: -1, Milli: 10}), share.ErrInvalidUnit},
		{"a weight, and no pods", frag(nil, memory, gpu.TypicalPod{Count: 1, Milli: 10, Weight: 1}), share.ErrInvalidUnit},
		{"more than a device", frag(nil, memory, gpu.TypicalPod{Count: 1, Milli: 1001}), share.ErrInvalidUnit},
		{"pods too many", frag(nil, memory, gpu.TypicalPod{Count: 1, Milli: 10, Pods: 1 << 42}, gpu.TypicalPod{Count: 1, Milli: 20, Pods: 1 << 43}), vector.ErrNotRepresentable},
		{"pods too many for an int64", frag(nil, memory, gpu.TypicalPod{Count: 1, Milli: 10, Pods: 1}, gpu.TypicalPod{Count: 1, Milli: 20, Pods: math.MaxInt64}), vector.ErrNotRepresentable},
		{"pods just too many", frag(nil, memory, gpu.TypicalPod{Count: 1, Milli: 10, Pods: 9_007_199_254_740}, gpu.TypicalPod{Count: 1, Milli: 20, Pods: 1}), vector.ErrNotRepresentable},
		{"memory of the device unknown", frag(unknown, memory), share.ErrNoTotal},
	} {
		if test.err == nil || test.want != nil && !errors.Is(test.err, test.want) {
			t.Errorf("%s: error %v, want %v", test.name, test.err, test.want)
		}
	}
	most := gpu.TypicalPod{Count: 1, Milli: 1000, Pods: 9_007_199_254_740}
	if err := frag(allocGPUs(100), memory, most); err != nil {
		t.Errorf("the most pods: %v", err)
	}
	if err := first(share.AllocRequest{Requirement: share.Requirement{Kind: "gpu"}}, allocGPU(0, 0), allocNIC(0, 0, 0, "")); err != nil {
		t.Errorf("one minor, two kinds: %v", err)
	}
}

// With FillMemory the missing one of ratio and bytes is compared and taken too.
func TestAllocateFillMemory(t *testing.T) {
	s := testkit.Must(share.NewScorer(share.Config{FillMemory: true}))
	devices := allocGPUs(100, 100)
	devices[1].Total[share.GPUMemory], devices[1].Free[share.GPUMemory] = 16*allocGiB, 16*allocGiB
	devices[0].Free[share.GPUMemory] = 2 * allocGiB // 25%, though the ratio says 100%
	for _, test := range []struct {
		ask  share.Amounts
		want []share.Allocated
	}{
		{share.Amounts{share.GPUMemoryRatio: 25}, []share.Allocated{
			{Minor: 0, Amounts: share.Amounts{share.GPUMemoryRatio: 25, share.GPUMemory: 2 * allocGiB}},
			{Minor: 1, Amounts: share.Amounts{share.GPUMemoryRatio: 25, share.GPUMemory: 4 * allocGiB}}}},
		{share.Amounts{share.GPUMemory: allocGiB}, []share.Allocated{
			{Minor: 0, Amounts: share.Amounts{share.GPUMemoryRatio: 12, share.GPUMemory: allocGiB}},
			{Minor: 1, Amounts: share.Amounts{share.GPUMemoryRatio: 6, share.GPUMemory: allocGiB}}}},
		{share.Amounts{share.GPUMemoryRatio: 26}, nil},
		{share.Amounts{share.GPUMemoryRatio: 1, share.GPUMemory: allocGiB}, []share.Allocated{ // both stay
			{Minor: 0, Amounts: share.Amounts{share.GPUMemoryRatio: 1, share.GPUMemory: allocGiB}},
			{Minor: 1, Amounts: share.Amounts{share.GPUMemoryRatio: 1, share.GPUMemory: allocGiB}}}},
		{share.Amounts{share.GPUMemory: 1}, []share.Allocated{ // less than a percent
			{Minor: 0, Amounts: share.Amounts{share.GPUMemory: 1}},
			{Minor: 1, Amounts: share.Amounts{share.GPUMemory: 1}}}},
	} {
		got, err := allocate(s, share.AllocRequest{Requirement: share.Requirement{Kind: device.KindGPU, PerInstance: test.ask, Count: 2}}, devices)
		if diff := cmp.Diff(test.want, got.Devices); diff != "" || (err == nil) == (test.want == nil) {
			t.Errorf("%v: error %v\n%s", test.ask, err, diff)
		}
	}
}

func TestAllocateStrings(t *testing.T) {
	for got, want := range map[fmt.Stringer]string{
		share.ByScore: "ByScore", share.PackTopology: "PackTopology", share.LeastFragmentation: "LeastFragmentation",
		share.CauseOutsideRequired: "outside required", share.CauseUnhealthy: "unhealthy",
		share.CauseNoCapacity: "without capacity", share.CauseExhausted: "exhausted",
		share.CauseInsufficient: "insufficient", share.CauseOutsideScope: "outside scope",
		share.Policy(9): "unknown(9)", share.Cause(19): "unknown(19)",
		share.CauseNoneOfKind: "no device of the kind", share.CauseApart: "apart from the other kind",
		share.PreferSamePCIe: "PreferSamePCIe", share.RequireSamePCIe: "RequireSamePCIe", share.SeekSamePCIe: "SeekSamePCIe",
		share.Joint(9): "unknown(9)",
	} {
		if got.String() != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
