package share_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/device/share"
	"github.com/resvec/resvec/vector"
)

func TestRejections(t *testing.T) {
	nodes := ratioNodes([]int64{100, 100}, []int64{50, 40}, []int64{0}, nil, []int64{100, 30, 0}, []int64{100})
	nodes[0] = append(nodes[0], share.State{Kind: device.KindRDMA, Total: share.Amounts{share.RDMA: 100}, Free: share.Amounts{share.RDMA: 100}})
	nodes[2] = append(nodes[2], share.State{Kind: device.KindGPU, Minor: 7, Health: device.Unhealthy})
	account := accountOf(t, nodes...)
	bound := (*share.Scorer)(nil).Bind(account)
	first := vector.NewMask(len(nodes))
	first.Set(1)
	rdma := share.Requirement{Kind: device.KindRDMA, Count: 1, PerInstance: share.Amounts{share.RDMA: 50}}
	for _, test := range []struct {
		name  string
		needs []share.Requirement
		rows  *vector.Mask
		want  string
	}{
		{"one", ratioNeeds(60, 1), nil, "3/6 nodes fit: 1 without gpu, 1 gpu unhealthy, 1 gpu exhausted, 1 gpu insufficient koordinator.sh/gpu-memory-ratio (want 60, at most 50 free)"},
		{"two", ratioNeeds(60, 2), nil, "1/6 nodes fit: 2 gpu exhausted, 2 gpu insufficient koordinator.sh/gpu-memory-ratio (want 60, at most 50 free), 1 with too few gpu, 1 without gpu, 1 gpu unhealthy"},
		{"some rows", ratioNeeds(60, 1), first, "0/1 nodes fit: 1 gpu insufficient koordinator.sh/gpu-memory-ratio (want 60, at most 50 free)"},
		{"two kinds", append(ratioNeeds(45, 1), rdma), nil, "1/6 nodes fit: 5 without rdma, 1 without gpu, 1 gpu unhealthy, 1 gpu exhausted"},
		{"nothing", nil, nil, "6/6 nodes fit"},
		{"no instance", ratioNeeds(60, 0), nil, "6/6 nodes fit"},
	} {
		got, err := bound.Rejections(test.needs, test.rows)
		if err != nil || got.String() != test.want {
			t.Errorf("%s: %v, %v, want %s", test.name, got, err, test.want)
		}
	}
	got, err := bound.Rejections(ratioNeeds(60, 2), first)
	if want := (share.Rejections{Rows: 1, Reasons: []share.Rejection{{
		Kind: device.KindGPU, Rows: 1, Reason: share.Reason{Cause: share.CauseInsufficient, Resource: share.GPUMemoryRatio, Devices: 2, Want: 60, Free: 50},
	}}}); err != nil || !cmp.Equal(got, want) {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	if _, err := bound.Rejections(nil, vector.NewMask(2)); !errors.Is(err, vector.ErrShape) {
		t.Errorf("a mask over other nodes: %v", err)
	}
	if _, err := bound.Rejections(ratioNeeds(-1, 1), nil); !errors.Is(err, share.ErrInvalidUnit) {
		t.Errorf("a negative amount: %v", err)
	}
}

// TestReasonInOneUnit: amounts of memory that are to be compared have one unit, and are exact.
func TestReasonInOneUnit(t *testing.T) {
	for _, c := range []struct {
		want, free int64
		text       string
	}{
		{81559 << 20, 62637312 << 10, "want 83516416Ki, at most 62637312Ki free"},
		{16 << 30, 12 << 30, "want 16Gi, at most 12Gi free"},
		{1<<30 + 1, 1 << 30, "want 1073741825, at most 1073741824 free"},
		{1 << 30, -1 << 20, "want 1024Mi, at most -1Mi free"},
		{1 << 60, 1 << 62, "want 1Ei, at most 4Ei free"},
		{80 << 30, 0, "want 80Gi, at most 0 free"},
	} {
		r := share.Reason{Cause: share.CauseInsufficient, Resource: share.GPUMemory, Devices: 2, Want: c.want, Free: c.free}
		if got, want := r.String(), "2 insufficient koordinator.sh/gpu-memory ("+c.text+")"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
