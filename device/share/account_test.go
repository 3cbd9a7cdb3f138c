package share_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/device/share"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestStates(t *testing.T) {
	profile, _, err := vectormap.ParseMIG("1g.5gb")
	if err != nil {
		t.Fatal(err)
	}
	node := device.Node{Devices: []device.Device{
		{Kind: device.KindGPU, Minor: 4, UUID: "GPU-4", MemoryBytes: 40 * gi, NUMANode: 1, PCIeRoot: "pci1", Health: device.Unhealthy},
		{Kind: device.KindGPU, Minor: -1, NUMANode: -1},
		{Kind: device.KindGPU, Minor: 0, MIGEnabled: true},
		{Kind: device.KindGPU, Minor: -1, Profile: profile, Sharing: device.SharingMIG},
		{Kind: device.KindGPU, Minor: 1, Sharing: device.SharingMPS, Replicas: 4},
		{Kind: device.KindRDMA, Minor: 2, Name: "nic-2"},
		{Kind: device.KindFPGA, Minor: -1},
		{Kind: device.KindRDMA, Minor: 2},
	}}
	want := []share.State{
		{
			Kind: device.KindGPU, Minor: 4, UUID: "GPU-4", NUMANode: 1, PCIeRoot: "pci1", Health: device.Unhealthy,
			Total: share.Amounts{share.GPUCore: 100, share.GPUMemoryRatio: 100, share.GPUMemory: 40 * gi},
			Free:  share.Amounts{share.GPUCore: 100, share.GPUMemoryRatio: 100, share.GPUMemory: 40 * gi},
		},
		{
			Kind: device.KindGPU, Minor: 5, NUMANode: -1,
			Total: share.Amounts{share.GPUCore: 100, share.GPUMemoryRatio: 100},
			Free:  share.Amounts{share.GPUCore: 100, share.GPUMemoryRatio: 100},
		},
		{Kind: device.KindRDMA, Minor: 2, Name: "nic-2", Total: share.Amounts{share.RDMA: 100}, Free: share.Amounts{share.RDMA: 100}},
		{Kind: device.KindFPGA, Minor: 0, Total: share.Amounts{share.FPGA: 100}, Free: share.Amounts{share.FPGA: 100}},
		{Kind: device.KindRDMA, Minor: 3, Total: share.Amounts{share.RDMA: 100}, Free: share.Amounts{share.RDMA: 100}},
	}
	if diff := cmp.Diff(want, share.States(&node)); diff != "" {
		t.Error(diff)
	}
}

// TestStatesMinors: distinct minors, whatever the sources say.
func TestStatesMinors(t *testing.T) {
	node := device.Node{}
	for _, minor := range []int32{math.MaxInt32, -1, 0, 0, math.MaxInt32, math.MinInt32, 7} {
		node.Devices = append(node.Devices, device.Device{Kind: device.KindGPU, Minor: minor})
	}
	var got []int32
	for _, s := range share.States(&node) {
		got = append(got, s.Minor)
	}
	if diff := cmp.Diff([]int32{math.MaxInt32, 1, 0, 2, 3, 4, 7}, got); diff != "" {
		t.Error(diff)
	}
}

func TestFromResourceList(t *testing.T) {
	list := corev1.ResourceList{
		"koordinator.sh/gpu-core": resource.MustParse("100"), "koordinator.sh/gpu-memory": resource.MustParse("80Gi"),
		"koordinator.sh/rdma": resource.MustParse("0"), "koordinator.sh/gpu": resource.MustParse("100"),
		"cpu": resource.MustParse("500m"), "gpu-core": resource.MustParse("-1"),
	}
	want, unknown := share.Amounts{share.GPUCore: 100, share.GPUMemory: 80 * gi}, []corev1.ResourceName{"cpu", "gpu-core", "koordinator.sh/gpu"}
	request, others, err := share.FromResourceList(list)
	if request != want || !slices.Equal(others, unknown) || err != nil {
		t.Errorf("%v, %v, error %v", request, others, err)
	}
	again, others, err := share.FromResourceList(want.List())
	if again != want || others != nil || err != nil || len(want.List()) != 2 {
		t.Errorf("%v of %v, %v, error %v", again, want.List(), others, err)
	}
	for amount, text := range map[string]string{
		"-1":         "share: invalid amount: koordinator.sh/gpu-core: -1: must be 0 percent of a device or more",
		"1.5":        "share: invalid amount: koordinator.sh/gpu-core: 1500m: must be whole, in percent of a device, and below 2^63",
		"1e99999999": "share: invalid amount: koordinator.sh/gpu-core: 1e99999999: must be whole, in percent of a device, and below 2^63",
	} {
		list["koordinator.sh/gpu-core"] = resource.MustParse(amount)
		if got, _, err := share.FromResourceList(list); !errors.Is(err, share.ErrInvalidUnit) || err.Error() != text || got != (share.Amounts{}) {
			t.Errorf("%s: %v, error %v", amount, got, err)
		}
	}
	if got, others, err := share.FromResourceList(nil); got != (share.Amounts{}) || others != nil || err != nil {
		t.Errorf("nothing: %v, %v, error %v", got, others, err)
	}
}

func TestResourceNames(t *testing.T) {
	for r, want := range map[share.Resource]string{
		share.GPUCore: "koordinator.sh/gpu-core", share.GPUMemory: "koordinator.sh/gpu-memory", share.GPUMemoryRatio: "koordinator.sh/gpu-memory-ratio",
		share.NPUCore: "huawei.com/npu-core", share.NPUCPU: "huawei.com/npu-cpu", share.NPUDVPP: "huawei.com/npu-dvpp",
		share.RDMA: "koordinator.sh/rdma", share.FPGA: "koordinator.sh/fpga", 8: "unknown(8)", 255: "unknown(255)",
	} {
		if named, ok := share.ResourceNamed(want); ok != (int(r) < len(share.Amounts{})) || ok && named != r {
			t.Errorf("%s: %v, %t", want, named, ok)
		}
		if got := r.String(); got != want {
			t.Errorf("%d is %q, not %q", r, got, want)
		}
	}
	if got := (share.Amounts{share.GPUCore: 30, share.GPUMemory: 3 << 29, share.RDMA: -7}).String(); got != "koordinator.sh/gpu-core 30, koordinator.sh/gpu-memory 1536Mi, koordinator.sh/rdma -7" {
		t.Errorf("request: %s", got)
	}
	if got := (share.Amounts{}).String(); got != "nothing" {
		t.Errorf("nothing: %s", got)
	}
}

// goldenAccount is the devices of nodes as lists.
type goldenAccount [][]share.State

// change makes a random change to both.
func (g *goldenAccount) change(t *testing.T, r *rand.Rand, a *share.Account) {
	t.Helper()
	node := 0
	if len(*g) > 0 {
		node = r.IntN(len(*g))
	}
	switch k := r.IntN(10); {
	case k < 3 || len(*g) == 0:
		devices := randomDevices(r)
		*g = append(*g, devices)
		testkit.Check(a.Set(a.Len(), devices))
	case k < 6:
		(*g)[node] = randomDevices(r)
		testkit.Check(a.Set(node, (*g)[node]))
	case k == 6:
		last := len(*g) - 1
		(*g)[node] = (*g)[last]
		*g = (*g)[:last]
		a.Delete(node)
	default:
		devices := slices.Clone((*g)[node])
		if len(devices) == 0 {
			return
		}
		d := &devices[r.IntN(len(devices))]
		amounts := share.Amounts{}
		for i := range amounts {
			amounts[i] = min(d.Total[i], max(d.Free[i], 0))
		}
		all := share.Allocation{Kind: d.Kind, Devices: []share.Allocated{{Minor: d.Minor, Amounts: amounts}}}
		testkit.Check(a.Commit(node, all))
		for i := range amounts {
			d.Free[i] -= amounts[i]
		}
		(*g)[node] = devices
	}
}

func randomDevices(r *rand.Rand) []share.State {
	devices := make([]share.State, r.IntN(12))
	for i := range devices {
		d := &devices[i]
		free := r.Int64N(101)
		*d = share.State{
			Kind: device.KindGPU, Minor: int32(i), NUMANode: int32(r.IntN(3) - 1), PCIeRoot: []string{"", "a", "b"}[r.IntN(3)],
			UUID: string(rune('a' + i)), Health: device.Health(r.IntN(3)),
			Total: share.Amounts{share.GPUCore: 100, share.GPUMemoryRatio: 100, share.GPUMemory: 80 * gi},
			Free:  share.Amounts{share.GPUCore: free, share.GPUMemoryRatio: free, share.GPUMemory: free * gi},
		}
		if r.IntN(3) == 0 {
			d.Kind, d.Total, d.Free = device.KindRDMA, share.Amounts{share.RDMA: 100}, share.Amounts{share.RDMA: free}
		}
	}
	return devices
}

func (g goldenAccount) check(t *testing.T, a *share.Account) {
	t.Helper()
	if a.Len() != len(g) {
		t.Fatalf("%d nodes, want %d", a.Len(), len(g))
	}
	rows := 0
	for k, devices := range g {
		from, to := a.Rows(k)
		if from != rows || to != rows+len(devices) {
			t.Fatalf("node %d has the rows %d to %d, want %d to %d", k, from, to, rows, rows+len(devices))
		}
		rows = to
		if diff := cmp.Diff(append([]share.State{}, devices...), append([]share.State{}, a.States(nil, k)...)); diff != "" {
			t.Fatalf("node %d: %s", k, diff)
		}
	}
	if a.Devices() != rows {
		t.Fatalf("%d devices, want %d", a.Devices(), rows)
	}
	// What fits depends on everything that is kept besides the amounts.
	need := share.Requirement{Kind: device.KindGPU, PerInstance: share.Amounts{share.GPUCore: 30}, Count: 2}
	var fits, without vector.Mask
	testkit.Check((*share.Scorer)(nil).Bind(a).Fit(&fits, []share.Requirement{need}))
	a.Without(&without, device.KindGPU)
	for k, devices := range g {
		n, gpus := 0, 0
		for _, d := range devices {
			if d.Kind == device.KindGPU {
				gpus++
				if d.Health != device.Unhealthy && d.Free[share.GPUCore] >= 30 {
					n++
				}
			}
		}
		if fits.Test(k) != (n >= 2) || without.Test(k) != (gpus == 0) {
			t.Fatalf("node %d: fits %v, without %v: %v", k, fits.Test(k), without.Test(k), devices)
		}
	}
}

// TestAccount compares an account and its copy with lists, through changes of all
// sorts.
func TestAccount(t *testing.T) {
	for seed := range uint64(testkit.Amount(t, 5, 15, 40)) {
		r := testkit.Rand(seed)
		var a, again share.Account
		var g goldenAccount
		g.check(t, &a)
		for range 60 {
			g.change(t, r, &a)
			g.check(t, &a)
			if r.IntN(3) == 0 {
				again.CopyFrom(&a)
				g.check(t, &again)
			}
		}
		kept := slices.Clone(g)
		again.CopyFrom(&a)
		for range 10 {
			g.change(t, r, &a)
		}
		kept.check(t, &again)
		a.CopyFrom(&a)
		g.check(t, &a)
	}
}

// TestAccountRefuses: a node that can't be so changes nothing.
func TestAccountRefuses(t *testing.T) {
	gpu := func(minor int32, r share.Resource, total, free int64) share.State {
		d := share.State{Kind: device.KindGPU, Minor: minor}
		d.Total[r], d.Free[r] = total, free
		return d
	}
	ratio := func(minor int32, total, free int64) share.State { return gpu(minor, share.GPUMemoryRatio, total, free) }
	good := []share.State{ratio(0, 100, 100), ratio(1, 100, 50)}
	for _, c := range []struct {
		name    string
		devices []share.State
		want    error // nil: any
	}{
		{"a total of 2^53", []share.State{ratio(0, 1<<53, 0)}, vector.ErrNotRepresentable},
		{"free of 2^53", []share.State{ratio(0, 0, 1<<53)}, vector.ErrNotRepresentable},
		{"a total of -2^53", []share.State{ratio(0, -1<<53, 0)}, vector.ErrNotRepresentable},
		{"S26", []share.State{gpu(0, share.GPUMemory, 1<<57, 1<<57)}, vector.ErrNotRepresentable},
		{"the least", []share.State{ratio(0, math.MinInt64, math.MinInt64)}, vector.ErrNotRepresentable},
		{"a sum of 2^53", []share.State{ratio(0, 1<<52, 0), ratio(1, 0, 1<<52)}, vector.ErrNotRepresentable},
		{"a sum that comes back", []share.State{ratio(0, 1<<52, 0), ratio(1, -1<<52, 0)}, vector.ErrNotRepresentable},
		{"a resource of another kind", []share.State{gpu(0, share.RDMA, 100, 100)}, share.ErrInvalidCombination},
		{"only free of another kind", []share.State{gpu(0, share.FPGA, 0, 1)}, share.ErrInvalidCombination},
		{"one minor twice", []share.State{ratio(0, 1, 1), ratio(0, 1, 1)}, nil},
		{"one minor of many twice", append(slices.Repeat([]share.State{{Kind: device.KindRDMA}}, 40), good...), nil},
	} {
		account := accountOf(t, good, nil, good)
		for node := range 4 {
			if err := account.Set(node, c.devices); err == nil || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("%s: error %v", c.name, err)
			}
		}
		goldenAccount{good, nil, good}.check(t, account)
	}
	account := accountOf(t, []share.State{ratio(0, 1<<53-1, 1-1<<53)})
	if got := account.States(nil, 0)[0]; got.Total[share.GPUMemoryRatio] != 1<<53-1 || got.Free[share.GPUMemoryRatio] != 1-1<<53 {
		t.Errorf("the largest amounts: %v", got)
	}
}
