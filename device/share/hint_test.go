package share_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/device/share"
	"github.com/resvec/resvec/internal/testkit"
)

// TestHints: the matching ones of five NICs.
func TestHints(t *testing.T) {
	const none = share.Hint(0)
	for _, c := range []struct {
		name, request string
		hint          share.Hint
		matching      int
		want          share.Requirement
	}{
		{"H1", "RDMA 100", none, 5, need(device.KindRDMA, "RDMA 100", 1)},
		{"H2", "RDMA 1", share.ApplyForAll, 4, need(device.KindRDMA, "RDMA 1", 4)},
		{"H3", "RDMA 1", share.ApplyForAll, 5, need(device.KindRDMA, "RDMA 1", 5)},
		{"H4", "RDMA 4", share.RequestsAsCount, 4, need(device.KindRDMA, "RDMA 1", 4)},
		{"H4, whole devices", "RDMA 4", share.RequestsAsDevices, 0, need(device.KindRDMA, "RDMA 100", 4)},
		{"whole devices for all", "RDMA 100", share.ApplyForAll, 3, need(device.KindRDMA, "RDMA 100", 3)},
		{"100 instances", "RDMA 100", share.RequestsAsCount, 5, need(device.KindRDMA, "RDMA 1", 100)},
		{"fpga", "FPGA 30", share.ApplyForAll, 2, need(device.KindFPGA, "FPGA 30", 2)},
		{"fpga as count", "FPGA 3", share.RequestsAsCount, 5, need(device.KindFPGA, "FPGA 1", 3)},
		{"above 100", "RDMA 200", share.ApplyForAll, 5, need(device.KindRDMA, "RDMA 100", 2)},
		{"above 100 as count", "RDMA 200", share.RequestsAsCount, 5, need(device.KindRDMA, "RDMA 100", 2)},
		{"above 100, none match", "RDMA 200", share.ApplyForAll, 0, need(device.KindRDMA, "RDMA 100", 2)},
		{"gpu", "GPU 50", share.ApplyForAll, 5, need(device.KindGPU, "CORE 50, RATIO 50", 1)},
	} {
		needs, err := share.Normalize(needList(c.request))
		if err != nil || len(needs) != 1 {
			t.Fatalf("%s: %v, error %v", c.name, needs, err)
		}
		got := needs[0]
		if c.hint != none {
			got, err = needs[0].WithHint(c.hint, c.matching)
		}
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: error %v, %s", c.name, err, diff)
		}
		if again, _ := share.Normalize(needList(c.request)); !cmp.Equal(again, needs) {
			t.Errorf("%s: the hint changed its receiver to %v", c.name, needs)
		}
	}
}

func TestHintErrors(t *testing.T) {
	r := need(device.KindRDMA, "RDMA 1", 1)
	var few *share.NotEnoughError
	if _, err := r.WithHint(share.ApplyForAll, 0); !errors.As(err, &few) || few.Kind != device.KindRDMA || few.Got != 0 {
		t.Errorf("no device: error %v", err)
	}
	for _, h := range []share.Hint{0, share.RequestsAsDevices + 1} {
		if got := testkit.Recovered(func() { r.WithHint(h, 1) }); got != "share: unknown hint" {
			t.Errorf("hint %d: %v", h, got)
		}
	}
}
