package device_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/resvec/resvec/device"
	corev1 "k8s.io/api/core/v1"
)

const allocGiB = int64(1) << 30

// allocAmounts are a percentage of a GPU of 8Gi.
func allocAmounts(percent int64) map[corev1.ResourceName]int64 {
	return map[corev1.ResourceName]int64{
		device.GPUCore:        percent,
		device.GPUMemoryRatio: percent,
		device.GPUMemory:      percent * 8 * allocGiB / 100,
	}
}

// allocGPU is a GPU of 8Gi of which this percentage is free, of unknown topology.
func allocGPU(minor int32, free int64) device.State {
	return device.State{Kind: device.KindGPU, Minor: minor, Total: allocAmounts(100), Free: allocAmounts(free), NUMANode: -1}
}

// allocGPUs are GPUs from minor 0 on, by what is free of them.
func allocGPUs(free ...int64) []device.State {
	devices := make([]device.State, len(free))
	for i, f := range free {
		devices[i] = allocGPU(int32(i), f)
	}
	return devices
}

// allocNIC is a NIC of which this percentage is free.
func allocNIC(minor int32, free int64, numa int32, root string) device.State {
	return device.State{
		Kind: device.KindRDMA, Minor: minor, NUMANode: numa, PCIeRoot: root,
		Total: device.Total{device.RDMA: 100}, Free: device.Free{device.RDMA: free},
	}
}

// allocEight is a node with roots 0 and 1 on NUMA node 0, 2 and 3 on 1, two GPUs
// each, of which some are used up.
func allocEight(used ...int32) []device.State {
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
func allocScorer(t testing.TB, scoring string, koordinator bool, options ...device.Option) *device.Scorer {
	t.Helper()
	cfg := device.Config{}
	if koordinator {
		cfg = device.KoordinatorDefaults()
	}
	cfg.Type = scoring
	s, err := device.NewScorer(cfg, options...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var (
	allocHalf  = device.Request{device.GPUCore: 50, device.GPUMemoryRatio: 50}
	allocWhole = device.Request{device.GPUCore: 100, device.GPUMemoryRatio: 100}
)

func TestAllocate(t *testing.T) {
	least, most := allocScorer(t, device.LeastAllocated, true), allocScorer(t, device.MostAllocated, false)
	pack := func(r device.AllocRequest) device.AllocRequest { r.Policy = device.PackTopology; return r }
	frag := func(ratio int64, mix ...device.Share) device.AllocRequest {
		return device.AllocRequest{
			PerInstance: device.Request{device.GPUMemoryRatio: ratio}, Count: 1, Partial: ratio < 100,
			Policy: device.LeastFragmentation, Mix: mix,
		}
	}
	for _, test := range []struct {
		fact    string
		scorer  *device.Scorer
		devices []device.State
		request device.AllocRequest
		want    []int32
	}{
		{"A1", least, []device.State{allocGPU(1, 50), allocGPU(2, 50), allocGPU(3, 100), allocGPU(4, 100)},
			device.AllocRequest{PerInstance: allocHalf, Count: 1, Partial: true}, []int32{3}},
		{"A2", least, []device.State{allocGPU(1, 100), allocGPU(2, 100)},
			device.AllocRequest{PerInstance: allocAmounts(50), Count: 1, Partial: true}, []int32{1}},
		{"A3", least, []device.State{allocNIC(1, 100, -1, ""), allocNIC(2, 100, -1, "")},
			device.AllocRequest{PerInstance: device.Request{device.RDMA: 50}, Count: 1}, []int32{1}},
		{"A4", most, allocGPUs(50, 100, 50, 100),
			device.AllocRequest{PerInstance: allocHalf, Count: 2, Partial: true}, []int32{0, 2}},
		{"A6", most, allocGPUs(100, 100, 100, 100),
			device.AllocRequest{PerInstance: allocWhole, Count: 2, Preferred: []int32{3}}, []int32{0, 3}},
		{"A7", least, allocEight(0), pack(device.AllocRequest{PerInstance: allocWhole, Count: 2}), []int32{2, 3}},
		{"A8", least, allocEight(5), pack(device.AllocRequest{PerInstance: allocWhole, Count: 1}), []int32{4}},
		{"A9", least, allocEight(5), pack(device.AllocRequest{PerInstance: allocWhole, Count: 4, Scope: device.ScopeNUMA}), []int32{0, 1, 2, 3}},
		{"A10", most, allocEight(5), pack(device.AllocRequest{PerInstance: allocHalf, Count: 1, Partial: true}), []int32{4}},
		{"A11", least, allocEight(), pack(device.AllocRequest{PerInstance: allocWhole, Count: 6}), []int32{0, 1, 2, 3, 4, 5}},
		{"A12", least, allocGPUs(100, 50, 30), frag(30, device.Share{Ratio: 50, Weight: 1}, device.Share{Ratio: 100, Weight: 1}), []int32{2}},
		{"A13", least, allocGPUs(100, 80, 60, 40),
			frag(20, device.Share{Ratio: 20, Weight: 5}, device.Share{Ratio: 60, Weight: 2}, device.Share{Ratio: 100, Weight: 3}), []int32{3}},
	} {
		t.Run(test.fact, func(t *testing.T) {
			got, err := test.scorer.Allocate(test.request, test.devices)
			if err != nil || !slices.Equal(got.Minors(), test.want) {
				t.Errorf("minors %v, want %v; error %v", got.Minors(), test.want, err)
			}
		})
	}
}

// Cases beyond the facts.
func TestAllocateMore(t *testing.T) {
	least, most := allocScorer(t, device.LeastAllocated, false), allocScorer(t, device.MostAllocated, false)
	half := device.AllocRequest{PerInstance: allocHalf, Count: 1, Partial: true}
	whole := device.AllocRequest{PerInstance: allocWhole, Count: 1}
	with := func(r device.AllocRequest, change func(*device.AllocRequest)) device.AllocRequest {
		change(&r)
		return r
	}
	pack := func(r device.AllocRequest, scope device.Scope, count int64) device.AllocRequest {
		r.Policy, r.Scope, r.Count = device.PackTopology, scope, count
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
	odd[3].Total[device.RDMA], odd[3].Free[device.RDMA] = 0, 5
	huge := allocGPUs(100, 30)
	huge[0].Free[device.GPUMemoryRatio] = math.MaxInt64
	more := allocGPU(1, 100)
	more.Free = allocAmounts(120)
	bytes := device.AllocRequest{PerInstance: device.Request{device.GPUMemory: 8 * allocGiB * 30 / 100}, Count: 1,
		Policy: device.LeastFragmentation, Mix: []device.Share{{Ratio: 50, Weight: 1}, {Ratio: 100, Weight: 1}}}
	bytesOnly := allocGPUs(100, 50, 30)
	for i := range bytesOnly {
		delete(bytesOnly[i].Total, device.GPUMemoryRatio)
		delete(bytesOnly[i].Free, device.GPUMemoryRatio)
	}
	for _, test := range []struct {
		name    string
		scorer  *device.Scorer
		devices []device.State
		request device.AllocRequest
		want    []int32
	}{
		{"no scorer: by minor", nil, []device.State{allocGPU(4, 100), allocGPU(2, 50), allocGPU(3, 100)}, half, []int32{2}},
		{"no devices, none wanted", least, nil, device.AllocRequest{}, []int32{}},
		{"none wanted", least, allocGPUs(100), with(whole, func(r *device.AllocRequest) { r.Count = 0 }), []int32{}},
		{"none wanted, of one PCIe root", least, loose, pack(whole, device.ScopePCIe, 0), []int32{}},
		{"nothing asked of the device", least, allocGPUs(0, 100), device.AllocRequest{Count: 1}, []int32{1}},
		{"amounts of 0 always fit", least, allocGPUs(100), with(half, func(r *device.AllocRequest) {
			r.PerInstance = device.Request{device.GPUCore: 50, device.RDMA: 0}
		}), []int32{0}},
		{"preferred before score", most, allocGPUs(50, 100), with(half, func(r *device.AllocRequest) { r.Preferred = []int32{1} }), []int32{1}},
		{"preferred but used up", most, allocGPUs(100, 0), with(half, func(r *device.AllocRequest) { r.Preferred = []int32{1, 7, 7} }), []int32{0}},
		{"required", least, allocGPUs(100, 100, 100), with(whole, func(r *device.AllocRequest) { r.Required = []int32{2, 1, 2} }), []int32{1}},
		{"required and preferred", least, allocGPUs(100, 100, 100), with(whole, func(r *device.AllocRequest) {
			r.Required, r.Preferred = []int32{1, 2}, []int32{0, 2}
		}), []int32{2}},
		{"unhealthy, unknown health", least, sick, whole, []int32{1}},
		{"free above the total counts as full for the score only", least, []device.State{allocGPU(0, 50), more}, half, []int32{0}},
		{"kind", least, mixed, device.AllocRequest{Kind: device.KindRDMA, PerInstance: device.Request{device.RDMA: 1}, Count: 2}, []int32{0, 1}},

		{"pack: a half free device is used", most, halfUsed, pack(half, device.ScopeNode, 1), []int32{5}},
		{"pack: best score of a part only if partial", most, halfUsed, pack(whole, device.ScopeNode, 1), []int32{4}},
		{"pack: a resource that a device doesn't have isn't used", least, odd, pack(whole, device.ScopeNode, 2), []int32{0, 1}},
		{"pack: no topology", least, loose, pack(whole, device.ScopeNode, 2), []int32{0, 1}},
		{"pack: the smallest part first", least, append(allocGPUs(100), allocEight()[6:]...), pack(whole, device.ScopeNode, 1), []int32{6}},
		{"pack: roots without NUMA nodes", least, rootsOnly, pack(whole, device.ScopePCIe, 2), []int32{1, 3}},
		{"pack: preferred counts inside the part only", least, allocEight(5), pack(with(whole, func(r *device.AllocRequest) {
			r.Preferred = []int32{0, 7}
		}), device.ScopeNode, 2), []int32{6, 7}},
		{"pack: required devices bound the parts", least, allocEight(5), pack(with(whole, func(r *device.AllocRequest) {
			r.Required = []int32{1, 2, 3, 4}
		}), device.ScopeNode, 2), []int32{2, 3}},
		{"first fit on one NUMA node", least, allocEight(0), with(whole, func(r *device.AllocRequest) {
			r.Count, r.Scope = 4, device.ScopeNUMA
		}), []int32{4, 5, 6, 7}},

		{"fragmentation by bytes", least, allocGPUs(100, 50, 30), bytes, []int32{2}},
		{"fragmentation of devices without a ratio", least, bytesOnly, bytes, []int32{2}},
		{"fragmentation: too much free is a whole device", least, huge, bytes, []int32{1}},
		{"fragmentation: preferred first", least, allocGPUs(100, 50, 30), with(bytes, func(r *device.AllocRequest) { r.Preferred = []int32{0} }), []int32{0}},
		{"fragmentation without a mix: the fullest", least, allocGPUs(100, 50, 30, 30), with(bytes, func(r *device.AllocRequest) { r.Mix = nil }), []int32{2}},
		{"fragmentation without a mix and scorer: by minor", nil, allocGPUs(100, 50, 30), with(bytes, func(r *device.AllocRequest) { r.Mix = nil }), []int32{0}},
		{"fragmentation: many GPUs are whole ones", least, allocGPUs(100, 50, 30), with(bytes, func(r *device.AllocRequest) {
			r.Mix = []device.Share{{Ratio: 50, Weight: 1}, {Ratio: 800, Weight: 1}}
		}), []int32{2}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := test.scorer.Allocate(test.request, test.devices)
			if err != nil || !slices.Equal(got.Minors(), test.want) {
				t.Errorf("minors %v, want %v; error %v", got.Minors(), test.want, err)
			}
		})
	}
}

func TestAllocateRefuses(t *testing.T) {
	sick := allocGPUs(50, 50, 0, 100, 100, 100)
	sick[3].Health = device.Unhealthy
	sick[4].Total = nil
	sick[5].Free = nil
	none := []device.Reason{{Cause: device.CauseNoneOfKind}}
	short := func(resource corev1.ResourceName, devices, want, free int64) device.Reason {
		return device.Reason{Cause: device.CauseInsufficient, Resource: resource, Devices: devices, Want: want, Free: free}
	}
	for _, test := range []struct {
		fact    string
		devices []device.State
		request device.AllocRequest
		want    device.NotEnoughError
		text    string
	}{
		{"A5", allocGPUs(50, 100, 50, 100), device.AllocRequest{PerInstance: allocWhole, Count: 3},
			device.NotEnoughError{Kind: "gpu", Want: 3, Got: 2, Reasons: []device.Reason{
				short(device.GPUCore, 2, 100, 50), short(device.GPUMemoryRatio, 2, 100, 50)}},
			"device: gpu: want 3, got 2: 2 insufficient koordinator.sh/gpu-core (want 100, at most 50 free), 2 insufficient koordinator.sh/gpu-memory-ratio (want 100, at most 50 free)"},
		{"no devices", nil, device.AllocRequest{PerInstance: allocWhole, Count: 1},
			device.NotEnoughError{Want: 1, Reasons: none}, "device: any kind: want 1, got 0: no device of the kind"},
		{"none of the kind", allocGPUs(100), device.AllocRequest{Kind: device.KindFPGA, PerInstance: allocWhole, Count: 1},
			device.NotEnoughError{Kind: "fpga", Want: 1, Reasons: none}, "device: fpga: want 1, got 0: no device of the kind"},
		{"memory reads as such", allocGPUs(50, 75), device.AllocRequest{PerInstance: device.Request{device.GPUMemory: 8 * allocGiB}, Count: 1},
			device.NotEnoughError{Kind: "gpu", Want: 1, Reasons: []device.Reason{short(device.GPUMemory, 2, 8*allocGiB, 6*allocGiB)}},
			"device: gpu: want 1, got 0: 2 insufficient koordinator.sh/gpu-memory (want 8Gi, at most 6Gi free)"},
		{"every cause once", sick, device.AllocRequest{PerInstance: allocWhole, Count: 1, Required: []int32{1, 2, 3, 4, 5}},
			device.NotEnoughError{Kind: "gpu", Want: 1, Reasons: []device.Reason{
				{Cause: device.CauseOutsideRequired, Devices: 1}, {Cause: device.CauseUnhealthy, Devices: 1},
				{Cause: device.CauseNoCapacity, Devices: 1}, {Cause: device.CauseExhausted, Devices: 2},
				short(device.GPUCore, 1, 100, 50), short(device.GPUMemoryRatio, 1, 100, 50)}},
			""},
		{"the least shortage, below zero too", []device.State{
			{Kind: "gpu", Minor: 0, Total: device.Total{device.GPUCore: 100}, Free: device.Free{device.GPUCore: math.MinInt64}},
			{Kind: "gpu", Minor: 1, Total: device.Total{device.GPUCore: 100}, Free: device.Free{device.GPUCore: -7}},
			{Kind: "gpu", Minor: 2, Total: device.Total{device.GPUCore: 100}, Free: device.Free{device.GPUCore: 10}},
			{Kind: "gpu", Minor: 3, Total: device.Total{device.GPUCore: 100}, Free: device.Free{device.GPUCore: -7}},
		}, device.AllocRequest{PerInstance: device.Request{device.GPUCore: math.MaxInt64}, Count: 1},
			device.NotEnoughError{Kind: "gpu", Want: 1, Reasons: []device.Reason{short(device.GPUCore, 4, math.MaxInt64, 10)}}, ""},
		{"N6: no device has a core of 200", allocGPUs(100, 100), device.AllocRequest{
			PerInstance: device.Request{device.GPUCore: 200, device.GPUMemory: 4 * allocGiB}, Count: 1},
			device.NotEnoughError{Kind: "gpu", Want: 1, Reasons: []device.Reason{short(device.GPUCore, 2, 200, 100)}}, ""},
		{"not on one NUMA node", allocEight(5, 0), device.AllocRequest{
			PerInstance: allocWhole, Count: 4, Policy: device.PackTopology, Scope: device.ScopeNUMA},
			device.NotEnoughError{Kind: "gpu", Want: 4, Got: 3, Reasons: []device.Reason{
				{Cause: device.CauseExhausted, Devices: 2}, {Cause: device.CauseOutsideScope, Devices: 3}}},
			"device: gpu: want 4, got 3: 2 exhausted, 3 outside scope"},
		{"no NUMA node is known", allocGPUs(100, 100), device.AllocRequest{PerInstance: allocWhole, Count: 1, Scope: device.ScopeNUMA},
			device.NotEnoughError{Kind: "gpu", Want: 1, Reasons: []device.Reason{{Cause: device.CauseOutsideScope, Devices: 2}}}, ""},
	} {
		t.Run(test.fact, func(t *testing.T) {
			got, err := allocScorer(t, device.LeastAllocated, true).Allocate(test.request, test.devices)
			var refusal *device.NotEnoughError
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
	frag := func(devices []device.State, perInstance device.Request, mix ...device.Share) error {
		_, err := (*device.Scorer)(nil).Allocate(device.AllocRequest{
			PerInstance: perInstance, Count: 1, Policy: device.LeastFragmentation, Mix: mix}, devices)
		return err
	}
	unknown := allocGPUs(100)
	delete(unknown[0].Total, device.GPUMemory)
	memory := device.Request{device.GPUMemory: 1}
	first := func(r device.AllocRequest, devices ...device.State) error {
		_, err := (*device.Scorer)(nil).Allocate(r, devices)
		return err
	}
	for _, test := range []struct {
		name string
		err  error
		want error // nil: any
	}{
		{"amount below 0", first(device.AllocRequest{PerInstance: device.Request{device.GPUCore: -1}}), device.ErrInvalidUnit},
		{"count below 0", first(device.AllocRequest{Count: -1}), device.ErrInvalidUnit},
		{"minor twice", first(device.AllocRequest{}, allocGPU(3, 0), allocGPU(1, 0), allocGPU(3, 100)), nil},
		{"two kinds, none named", first(device.AllocRequest{}, allocGPU(3, 0), allocNIC(1, 0, 0, "")), device.ErrInvalidCombination},
		{"ratio of 0", frag(nil, memory, device.Share{Ratio: 0, Weight: 1}), device.ErrInvalidUnit},
		{"weight below 0", frag(nil, memory, device.Share{Ratio: 1, Weight: -1}), device.ErrInvalidUnit},
		{"weights too large", frag(nil, memory, device.Share{Ratio: 1, Weight: 1 << 42}, device.Share{Ratio: 2, Weight: 1 << 43}), device.ErrNotRepresentable},
		{"weights too large for an int64", frag(nil, memory, device.Share{Ratio: 1, Weight: 1}, device.Share{Ratio: 2, Weight: math.MaxInt64}), device.ErrNotRepresentable},
		{"weights just too large", frag(nil, memory, device.Share{Ratio: 1, Weight: 9_007_199_254_740}, device.Share{Ratio: 2, Weight: 1}), device.ErrNotRepresentable},
		{"memory of the device unknown", frag(unknown, memory), device.ErrNoTotal},
	} {
		if test.err == nil || test.want != nil && !errors.Is(test.err, test.want) {
			t.Errorf("%s: error %v, want %v", test.name, test.err, test.want)
		}
	}
	most := device.Share{Ratio: 100, Weight: 9_007_199_254_740}
	if err := frag(allocGPUs(100), memory, most); err != nil {
		t.Errorf("the largest weight: %v", err)
	}
	if err := first(device.AllocRequest{Kind: "gpu"}, allocGPU(0, 0), allocNIC(0, 0, 0, "")); err != nil {
		t.Errorf("one minor, two kinds: %v", err)
	}
	for name, call := range map[string]func(){
		"policy": func() { _ = first(device.AllocRequest{Policy: 3}) },
		"scope":  func() { _ = first(device.AllocRequest{Scope: 3}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("no panic: %s", name)
				}
			}()
			call()
		}()
	}
}

// With FillMemory the missing one of ratio and bytes is compared and taken too.
func TestAllocateFillMemory(t *testing.T) {
	s := allocScorer(t, device.LeastAllocated, false, device.FillMemory)
	devices := allocGPUs(100, 100)
	devices[1].Total[device.GPUMemory], devices[1].Free[device.GPUMemory] = 16*allocGiB, 16*allocGiB
	devices[0].Free[device.GPUMemory] = 2 * allocGiB // 25%, though the ratio says 100%
	for _, test := range []struct {
		ask  device.Request
		want []device.Allocated
	}{
		{device.Request{device.GPUMemoryRatio: 25}, []device.Allocated{
			{Minor: 0, Amounts: device.Request{device.GPUMemoryRatio: 25, device.GPUMemory: 2 * allocGiB}},
			{Minor: 1, Amounts: device.Request{device.GPUMemoryRatio: 25, device.GPUMemory: 4 * allocGiB}}}},
		{device.Request{device.GPUMemory: allocGiB}, []device.Allocated{
			{Minor: 0, Amounts: device.Request{device.GPUMemoryRatio: 12, device.GPUMemory: allocGiB}},
			{Minor: 1, Amounts: device.Request{device.GPUMemoryRatio: 6, device.GPUMemory: allocGiB}}}},
		{device.Request{device.GPUMemoryRatio: 26}, nil},
		{device.Request{device.GPUMemoryRatio: 1, device.GPUMemory: allocGiB}, []device.Allocated{ // both stay
			{Minor: 0, Amounts: device.Request{device.GPUMemoryRatio: 1, device.GPUMemory: allocGiB}},
			{Minor: 1, Amounts: device.Request{device.GPUMemoryRatio: 1, device.GPUMemory: allocGiB}}}},
		{device.Request{device.GPUMemory: 1}, []device.Allocated{ // less than a percent
			{Minor: 0, Amounts: device.Request{device.GPUMemory: 1}},
			{Minor: 1, Amounts: device.Request{device.GPUMemory: 1}}}},
	} {
		got, err := s.Allocate(device.AllocRequest{PerInstance: test.ask, Count: 2}, devices)
		if diff := cmp.Diff(test.want, got.Devices); diff != "" || (err == nil) == (test.want == nil) {
			t.Errorf("%v: error %v\n%s", test.ask, err, diff)
		}
	}
}

func TestAllocateStrings(t *testing.T) {
	for got, want := range map[fmt.Stringer]string{
		device.FirstFit: "FirstFit", device.PackTopology: "PackTopology", device.LeastFragmentation: "LeastFragmentation",
		device.ScopeNode: "node", device.ScopeNUMA: "NUMA", device.ScopePCIe: "PCIe",
		device.CauseAbsent: "absent", device.CauseOutsideRequired: "outside required", device.CauseUnhealthy: "unhealthy",
		device.CauseNoCapacity: "without capacity", device.CauseExhausted: "exhausted",
		device.CauseInsufficient: "insufficient", device.CauseOutsideScope: "outside scope",
		device.Policy(9): "unknown(9)", device.Scope(9): "unknown(9)", device.Cause(19): "unknown(19)",
		device.CauseNoneOfKind: "no device of the kind", device.CauseApart: "apart from the other kind",
		device.PreferSamePCIe: "PreferSamePCIe", device.RequireSamePCIe: "RequireSamePCIe", device.SeekSamePCIe: "SeekSamePCIe",
		device.Joint(9): "unknown(9)",
	} {
		if got.String() != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
