package device_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/resvec/resvec/device"
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
	}}
	want := []device.State{
		{
			Kind: device.KindGPU, Minor: 4, NUMANode: 1, PCIeRoot: "pci1", Health: device.Unhealthy,
			Total: device.Total{device.GPUCore: 100, device.GPUMemoryRatio: 100, device.GPUMemory: 40 * gi},
			Free:  device.Free{device.GPUCore: 100, device.GPUMemoryRatio: 100, device.GPUMemory: 40 * gi},
		},
		{
			Kind: device.KindGPU, Minor: 5, NUMANode: -1,
			Total: device.Total{device.GPUCore: 100, device.GPUMemoryRatio: 100},
			Free:  device.Free{device.GPUCore: 100, device.GPUMemoryRatio: 100},
		},
		{Kind: device.KindRDMA, Minor: 2, Total: device.Total{device.RDMA: 100}, Free: device.Free{device.RDMA: 100}},
		{Kind: device.KindFPGA, Minor: 0, Total: device.Total{device.FPGA: 100}, Free: device.Free{device.FPGA: 100}},
	}
	if diff := cmp.Diff(want, node.States()); diff != "" {
		t.Error(diff)
	}
}

// TestNewBatch checks that a batch of states scores as the states do, also after
// an update.
func TestNewBatch(t *testing.T) {
	scorer, err := device.NewScorer(device.Config{})
	if err != nil {
		t.Fatal(err)
	}
	gpu := func(minor int32, free int64) device.State {
		return device.State{
			Kind: device.KindGPU, Minor: minor,
			Total: device.Total{device.GPUMemoryRatio: 100}, Free: device.Free{device.GPUMemoryRatio: free},
		}
	}
	nic := device.State{Kind: device.KindRDMA, Total: device.Total{device.RDMA: 100}, Free: device.Free{device.RDMA: 100}}
	nodes := [][]device.State{{gpu(0, 100), nic, gpu(1, 100)}, {gpu(0, 100), gpu(1, 50), gpu(2, 0)}, {nic}, {gpu(0, 25)}}
	batch, err := scorer.NewBatch(device.KindGPU, nodes)
	if err != nil {
		t.Fatal(err)
	}
	need := device.Requirement{Kind: device.KindGPU, PerInstance: device.Request{device.GPUMemoryRatio: 50}, Count: 2}
	check := func(want ...int64) {
		t.Helper()
		scores := make([]int64, len(nodes))
		if err := scorer.ScoreNodes(scores, batch, need, nil); err != nil {
			t.Fatal(err)
		}
		for k := range nodes {
			one, err := scorer.ScoreNode([]device.Requirement{need}, nodes[k])
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
		states []device.State
		want   error
	}{
		"another number of devices": {0, nodes[3], vector.ErrShape},
		"no such node":              {4, nil, vector.ErrShape},
		"negative node":             {-1, nil, vector.ErrShape},
		"too large":                 {1, []device.State{gpu(0, 7), gpu(1, 7), gpu(2, 1<<53)}, device.ErrNotRepresentable},
	} {
		if err := batch.Update(c.node, c.states); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	check(20, 16, 0, 0)
	if _, err := scorer.NewBatch(device.KindGPU, [][]device.State{{gpu(0, 1<<60)}}); !errors.Is(err, device.ErrNotRepresentable) {
		t.Error(err)
	}
}
