package share_test

import (
	"testing"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/device/share"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/scoring/gpu"
	corev1 "k8s.io/api/core/v1"
)

// TestErrorTexts: an error names the field, the value, its unit, and what would be
// right.
func TestErrorTexts(t *testing.T) {
	scorer := testkit.Must(share.NewScorer(share.Config{}))
	devices := []share.State{{Kind: device.KindGPU, Total: share.Amounts{share.GPUMemoryRatio: 100}, Free: share.Amounts{share.GPUMemoryRatio: 100}}}
	bound := scorer.Bind(accountOf(t, devices))
	list := func(amounts string) corev1.ResourceList { return needList(amounts) }
	for _, c := range []struct {
		err  error
		want string
	}{
		{second(share.RatioToBytes(-1, 1)), "share: invalid amount: koordinator.sh/gpu-memory-ratio: -1: must be 0 percent of a device or more"},
		{second(share.BytesToRatio(-1, 1)), "share: invalid amount: koordinator.sh/gpu-memory: -1: must be 0 bytes or more"},
		{second(share.RatioToBytes(50, 0)), "share: no total memory to convert by: koordinator.sh/gpu-memory-ratio: 50, of a device with 0 bytes: must have 1 byte or more"},
		{second(share.Normalize(list("FPGA 201"))), "share: invalid amount: koordinator.sh/fpga: 201: must be at most 100 percent of a device, or a multiple of 100"},
		{second(allocate(scorer, share.AllocRequest{Requirement: share.Requirement{Kind: device.KindGPU, Count: 1}, Policy: share.LeastFragmentation, Mix: []gpu.TypicalPod{{Count: 1, Milli: 0, Pods: 1}}}, devices)),
			"share: invalid amount: mix[0].milli: 0: must be above 0 and at most 1000 thousandths of a device"},
		{bound.Score(nil, nil, nil), "share: dst: 0 elements: must be 1, one for each node: vector: shapes differ"},
	} {
		if c.err == nil || c.err.Error() != c.want {
			t.Errorf("got  %v\nwant %s", c.err, c.want)
		}
	}
}
