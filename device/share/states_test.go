package share_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/device/share"
	"github.com/resvec/resvec/vector"
)

func TestStates(t *testing.T) {
	profile, _, err := device.ParseProfile("1g.5gb")
	if err != nil {
		t.Fatal(err)
	}
	const gi = int64(1 << 30)
	node := device.Node{Devices: []device.Device{
		{Kind: device.KindGPU, Minor: 4, MemoryBytes: 40 * gi, NUMANode: 1, PCIeRoot: "pci1", Health: device.Unhealthy},
		{Kind: device.KindGPU, Minor: -1, NUMANode: -1},
		{Kind: device.KindGPU, Minor: 0, MIGEnabled: true},
		{Kind: device.KindGPU, Minor: -1, Profile: profile, Sharing: device.SharingMIG},
		{Kind: device.KindGPU, Minor: 1, Sharing: device.SharingMPS, Replicas: 4},
		{Kind: device.KindRDMA, Minor: 2},
		{Kind: device.KindFPGA, Minor: -1},
		{Kind: device.KindRDMA, Minor: 2},
	}}
	want := []share.State{
		{
			Kind: device.KindGPU, Minor: 4, NUMANode: 1, PCIeRoot: "pci1", Health: device.Unhealthy,
			Total: share.Total{share.GPUCore: 100, share.GPUMemoryRatio: 100, share.GPUMemory: 40 * gi},
			Free:  share.Free{share.GPUCore: 100, share.GPUMemoryRatio: 100, share.GPUMemory: 40 * gi},
		},
		{
			Kind: device.KindGPU, Minor: 5, NUMANode: -1,
			Total: share.Total{share.GPUCore: 100, share.GPUMemoryRatio: 100},
			Free:  share.Free{share.GPUCore: 100, share.GPUMemoryRatio: 100},
		},
		{Kind: device.KindRDMA, Minor: 2, Total: share.Total{share.RDMA: 100}, Free: share.Free{share.RDMA: 100}},
		{Kind: device.KindFPGA, Minor: 0, Total: share.Total{share.FPGA: 100}, Free: share.Free{share.FPGA: 100}},
		{Kind: device.KindRDMA, Minor: 3, Total: share.Total{share.RDMA: 100}, Free: share.Free{share.RDMA: 100}},
	}
	if diff := cmp.Diff(want, share.States(&node)); diff != "" {
		t.Error(diff)
	}
	for k, i := range []int{0, 1, 5, 6, 7} {
		if d, ok := share.DeviceOf(&node, want[k].Kind, want[k].Minor); !ok || d != &node.Devices[i] {
			t.Errorf("state %d is device %v, not %d", k, d, i)
		}
	}
	if d, ok := share.DeviceOf(&node, device.KindGPU, 0); ok {
		t.Errorf("a GPU in MIG mode has a state: %v", d)
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

// TestNewBatch checks that a batch of states scores as the states do, also after
// an update.
func TestNewBatch(t *testing.T) {
	scorer, err := share.NewScorer(share.Config{})
	if err != nil {
		t.Fatal(err)
	}
	gpu := func(minor int32, free int64) share.State {
		return share.State{
			Kind: device.KindGPU, Minor: minor,
			Total: share.Total{share.GPUMemoryRatio: 100}, Free: share.Free{share.GPUMemoryRatio: free},
		}
	}
	nic := share.State{Kind: device.KindRDMA, Total: share.Total{share.RDMA: 100}, Free: share.Free{share.RDMA: 100}}
	nodes := [][]share.State{{gpu(0, 100), nic, gpu(1, 100)}, {gpu(0, 100), gpu(1, 50), gpu(2, 0)}, {nic}, {gpu(0, 25)}}
	batch, err := scorer.NewBatch(device.KindGPU, nodes)
	if err != nil {
		t.Fatal(err)
	}
	need := share.Requirement{Kind: device.KindGPU, PerInstance: share.Request{share.GPUMemoryRatio: 50}, Count: 2}
	check := func(want ...int64) {
		t.Helper()
		scores := make([]int64, len(nodes))
		if err := scorer.ScoreNodes(scores, batch, need, nil); err != nil {
			t.Fatal(err)
		}
		for k := range nodes {
			one, err := scorer.ScoreNode([]share.Requirement{need}, nodes[k])
			if err != nil || one != scores[k] {
				t.Errorf("node %d: batch %d, scalar %d, %v", k, scores[k], one, err)
			}
		}
		if diff := cmp.Diff(want, scores); diff != "" {
			t.Error(diff)
		}
	}
	check(50, 16, 0, 0)

	nodes[0][0] = gpu(0, 40)
	if err := batch.Update(0, nodes[0]); err != nil {
		t.Fatal(err)
	}
	check(20, 16, 0, 0)

	for name, c := range map[string]struct {
		node   int
		states []share.State
		want   error
	}{
		"another number of devices": {0, nodes[3], vector.ErrShape},
		"no such node":              {4, nil, vector.ErrShape},
		"negative node":             {-1, nil, vector.ErrShape},
		"the largest node":          {math.MaxInt, nil, vector.ErrShape},
		"too large":                 {1, []share.State{gpu(0, 7), gpu(1, 7), gpu(2, 1<<53)}, share.ErrNotRepresentable},
	} {
		if err := batch.Update(c.node, c.states); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	twins := []share.State{gpu(0, 100), nic, gpu(0, 7)}
	const twinText = "share: node 0: two devices of kind gpu with minor 0: minors must be distinct"
	if err := batch.Update(0, twins); err == nil || err.Error() != twinText {
		t.Errorf("one minor twice: %v", err)
	}
	if _, err := scorer.NewBatch(device.KindGPU, [][]share.State{twins}); err == nil || err.Error() != twinText {
		t.Errorf("one minor twice: %v", err)
	}
	broken := *batch
	broken.Free = nil
	if err := broken.Update(0, nodes[0]); !errors.Is(err, vector.ErrShape) {
		t.Errorf("no matrix: %v", err)
	}
	if err := (*share.Batch)(nil).Update(0, nil); !errors.Is(err, vector.ErrShape) {
		t.Errorf("no batch: %v", err)
	}
	check(20, 16, 0, 0)

	other, err := share.NewScorer(share.Config{Resources: []share.ResourceSpec{{Name: string(share.GPUCore), Weight: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	scores := untouchedScores(len(nodes))
	checkRefused(t, scores, other.ScoreNodes(scores, batch, need, nil), vector.ErrSchema, "gpu-core", "gpu-memory-ratio")
	nic2 := share.Requirement{Kind: device.KindRDMA, PerInstance: share.Request{share.RDMA: 1}, Count: 1}
	checkRefused(t, scores, scorer.ScoreNodes(scores, batch, nic2, nil), share.ErrInvalidCombination, "rdma", "gpu")
	rows := untouchedScores(batch.Total.Rows())
	checkRefused(t, rows, other.ScoreDevices(rows, batch, need.PerInstance, nil), vector.ErrSchema)

	if _, err := scorer.NewBatch(device.KindGPU, [][]share.State{{gpu(0, 1<<60)}}); !errors.Is(err, share.ErrNotRepresentable) {
		t.Error(err)
	}
}

// TestFit checks the masks against Allocate on every node, with random devices.
func TestFit(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 0))
	some := func(amounts ...int64) int64 { return amounts[r.IntN(len(amounts))] }
	for _, options := range [][]share.Option{nil, {share.FillMemory}} {
		scorer, err := share.NewScorer(share.KoordinatorDefaults(), options...)
		if err != nil {
			t.Fatal(err)
		}
		for range 300 {
			nodes := make([][]share.State, 1+r.IntN(20))
			for k := range nodes {
				for minor := range int32(r.IntN(9)) {
					d := share.State{Kind: device.KindGPU, Minor: minor, Total: share.Total{}, Free: share.Free{}, Health: device.Health(r.IntN(3))}
					if r.IntN(9) > 0 {
						d.Total[share.GPUMemoryRatio], d.Free[share.GPUMemoryRatio] = some(100, 100, 0), some(100, 50, 30, 0, -10)
					}
					if r.IntN(4) > 0 {
						d.Total[share.GPUMemory], d.Free[share.GPUMemory] = some(80, 40), some(80, 40, 25, 24, 0, -5)
					}
					if r.IntN(3) == 0 {
						d.Kind = device.KindRDMA
					}
					nodes[k] = append(nodes[k], d)
				}
			}
			batch, err := scorer.NewBatch(device.KindGPU, nodes)
			if err != nil {
				t.Fatal(err)
			}
			need := share.Requirement{Kind: device.KindGPU, Count: int64(r.IntN(4)), PerInstance: share.Request{share.GPUMemoryRatio: some(0, 1, 30, 31, 100)}}
			if r.IntN(2) == 0 {
				need.PerInstance[share.GPUMemory] = some(0, 20, 25, 1<<60)
			}
			if r.IntN(20) == 0 {
				need.PerInstance[share.NPUCore] = some(0, 1)
			}
			var fits, devices vector.Mask
			if err := scorer.FitNodes(&fits, &devices, batch, need); err != nil {
				t.Fatal(err)
			}
			for k := range nodes {
				_, err := scorer.Allocate(need.AllocRequest(), nodes[k])
				if fits.Test(k) != (err == nil) {
					t.Fatalf("node %d %+v, need %+v: %v, Allocate says %v", k, nodes[k], need, fits.Test(k), err)
				}
			}
			if n := testing.AllocsPerRun(5, func() { _ = scorer.FitNodes(&fits, &devices, batch, need) }); n != 0 {
				t.Fatalf("%v allocations", n)
			}
		}
	}
	var scorer *share.Scorer
	var mask, devices vector.Mask
	batch, err := scorer.NewBatch(device.KindGPU, [][]share.State{{{Kind: device.KindGPU}}})
	if err != nil {
		t.Fatal(err)
	}
	need := share.Requirement{Kind: device.KindGPU}
	for _, offsets := range []vector.Offsets{nil, {0, 900}, {-1, 1}, {1, 0}} {
		batch.Offsets = offsets
		if err := scorer.FitNodes(&mask, &devices, batch, need); !errors.Is(err, vector.ErrShape) {
			t.Errorf("offsets %v: %v", offsets, err)
		}
		if err := batch.Update(0, nil); !errors.Is(err, vector.ErrShape) && len(offsets) > 0 && offsets[0] < offsets[1] {
			t.Errorf("update with offsets %v: %v", offsets, err)
		}
	}
	need.Kind = device.KindRDMA
	if err := scorer.FitNodes(&mask, &devices, batch, need); !errors.Is(err, share.ErrInvalidCombination) {
		t.Errorf("another kind: %v", err)
	}
	if err := scorer.FitDevices(&mask, &share.Batch{}, nil); !errors.Is(err, vector.ErrShape) {
		t.Errorf("another batch: %v", err)
	}
	if err := scorer.FitNodes(&mask, &devices, nil, share.Requirement{Kind: device.KindRDMA, PerInstance: share.Request{share.RDMA: -1}}); !errors.Is(err, share.ErrInvalidUnit) {
		t.Errorf("negative: %v", err)
	}
}
