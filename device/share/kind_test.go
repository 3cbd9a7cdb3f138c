package share_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/device/share"
	"github.com/resvec/resvec/vector"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// TestUnknownKind: a kind that no device has is an error wherever it is named.
// Otherwise there would be no device of it for ever, and a node without devices
// of a kind is one whose numbers decide alone.
func TestUnknownKind(t *testing.T) {
	s, err := share.NewScorer(share.Config{})
	if err != nil {
		t.Fatal(err)
	}
	one := share.Request{share.GPUMemoryRatio: 10}
	good := []share.State{{Kind: device.KindGPU, Total: share.Total{share.GPUMemoryRatio: 100}, Free: share.Free{share.GPUMemoryRatio: 100}}}
	batch, err := s.NewBatch(device.KindGPU, [][]share.State{good})
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"gpus", "GPU", " gpu", "", "nvidia.com/gpu", "npu"} {
		bad := []share.State{{Kind: kind, Total: good[0].Total, Free: good[0].Free}}
		need := share.Requirement{Kind: kind, PerInstance: one, Count: 1}
		request := share.AllocRequest{Kind: kind, PerInstance: one, Count: 1}
		taken := share.Allocation{Kind: kind, Devices: []share.Allocated{{Amounts: one}}}
		var nodes, devices vector.Mask
		for call, err := range map[string]error{
			"NewBatch":                second(s.NewBatch(kind, [][]share.State{good})),
			"NewBatch, devices":       second(s.NewBatch(device.KindGPU, [][]share.State{bad})),
			"nil Scorer":              second((*share.Scorer)(nil).NewBatch(kind, [][]share.State{good})),
			"Update":                  batch.Update(0, bad),
			"FitNodes":                s.FitNodes(&nodes, &devices, batch, need),
			"ScoreNodes":              s.ScoreNodes(make([]int64, 1), batch, need, nil),
			"ScoreNode":               second(s.ScoreNode([]share.Requirement{need}, good)),
			"ScoreNode, devices":      second(s.ScoreNode(nil, bad)),
			"ExplainNode":             second(s.ExplainNode([]share.Requirement{need}, good)),
			"Allocate":                second(s.Allocate(request, good)),
			"Allocate, devices":       second(s.Allocate(share.AllocRequest{}, bad)),
			"ExplainAllocation":       second(s.ExplainAllocation(request, good)),
			"AllocateJoint":           third(s.AllocateJoint(share.AllocRequest{Kind: device.KindGPU}, request, good, 0)),
			"ExplainJoint":            second(s.ExplainJoint(request, share.AllocRequest{Kind: device.KindGPU}, good, 0)),
			"Commit":                  taken.Commit(good),
			"Release":                 taken.Release(good),
			"Commit, devices":         share.Allocation{}.Commit(bad),
			"Release, devices":        share.Allocation{}.Release(bad),
			"Allocate, named devices": second(s.Allocate(share.AllocRequest{Kind: device.KindGPU}, bad)),
		} {
			if kind == "" && strings.Contains("Allocate ExplainAllocation AllocateJoint ExplainJoint", call) {
				continue // there it stands for the kind of the devices
			}
			var fault *field.Error
			if !errors.As(err, &fault) || fault.Type != field.ErrorTypeNotSupported || !strings.Contains(err.Error(), `"gpu", "rdma", "fpga"`) {
				t.Errorf("%s with kind %q: error %v", call, kind, err)
			}
		}
	}
	if got := batch.Free.Column(0)[0]; got != 100 {
		t.Errorf("the batch changed: %v", got)
	}
}

func second[T any](_ T, err error) error { return err }

func third[T, U any](_ T, _ U, err error) error { return err }
