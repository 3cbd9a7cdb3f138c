package share_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/device/share"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// TestUnknownKind: a kind that no device has is an error wherever it is named.
// Otherwise there would be no device of it for ever.
func TestUnknownKind(t *testing.T) {
	s := testkit.Must(share.NewScorer(share.Config{}))
	one := share.Amounts{share.GPUMemoryRatio: 10}
	good := share.State{Kind: device.KindGPU, Total: share.Amounts{share.GPUMemoryRatio: 100}, Free: share.Amounts{share.GPUMemoryRatio: 100}}
	account := accountOf(t, []share.State{good})
	b := s.Bind(account)
	for _, kind := range []string{"gpus", "GPU", " gpu", "", "nvidia.com/gpu", "npu"} {
		bad := good
		bad.Kind = kind
		need := share.Requirement{Kind: kind, PerInstance: one, Count: 1}
		request, other := share.AllocRequest{Requirement: need}, share.AllocRequest{Requirement: share.Requirement{Kind: device.KindGPU}}
		taken := share.Allocation{Kind: kind, Devices: []share.Allocated{{Amounts: one}}}
		var nodes vector.Mask
		for call, err := range map[string]error{
			"Set":                  account.Set(0, []share.State{bad}),
			"Set, another node":    account.Set(1, []share.State{good, bad}),
			"Commit":               account.Commit(0, taken),
			"Release":              account.Release(0, taken),
			"Fit":                  b.Fit(&nodes, []share.Requirement{need}),
			"Score":                b.Score(make([]int64, 1), []share.Requirement{need}, nil),
			"Best":                 third(b.Best([]share.Requirement{need}, nil, vector.TieLowest())),
			"Explain":              second(b.Explain(0, []share.Requirement{need})),
			"Allocate":             second(b.Allocate(0, request)),
			"ExplainAllocation":    second(b.ExplainAllocation(0, request)),
			"AllocateJoint":        third(b.AllocateJoint(0, other, request, 0)),
			"AllocateJoint, first": third(b.AllocateJoint(0, request, other, 0)),
			"ExplainJoint":         second(b.ExplainJoint(0, request, other, 0)),
		} {
			var fault *field.Error
			if !errors.As(err, &fault) || fault.Type != field.ErrorTypeNotSupported || !strings.Contains(err.Error(), `"gpu", "rdma", "fpga"`) {
				t.Errorf("%s with kind %q: error %v", call, kind, err)
			}
		}
	}
	if account.Len() != 1 || account.Devices() != 1 {
		t.Errorf("the account changed: %v", account.States(nil, 0))
	}
}

func second[T any](_ T, err error) error { return err }

func third[T, U any](_ T, _ U, err error) error { return err }
