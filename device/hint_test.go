package device_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/resvec/resvec/device"
)

// TestHints: the matching ones of five NICs.
func TestHints(t *testing.T) {
	const none = device.Hint(0)
	for _, c := range []struct {
		name, request string
		hint          device.Hint
		matching      int
		want          device.Requirement
	}{
		{"H1", "RDMA 100", none, 5, need(device.KindRDMA, "RDMA 100", 1)},
		{"H2", "RDMA 1", device.ApplyForAll, 4, need(device.KindRDMA, "RDMA 1", 4)},
		{"H3", "RDMA 1", device.ApplyForAll, 5, need(device.KindRDMA, "RDMA 1", 5)},
		{"H4", "RDMA 4", device.RequestsAsCount, 4, need(device.KindRDMA, "RDMA 1", 4)},
		{"H4, whole devices", "RDMA 4", device.RequestsAsDevices, 0, need(device.KindRDMA, "RDMA 100", 4)},
		{"whole devices for all", "RDMA 100", device.ApplyForAll, 3, need(device.KindRDMA, "RDMA 100", 3)},
		{"100 instances", "RDMA 100", device.RequestsAsCount, 5, need(device.KindRDMA, "RDMA 1", 100)},
		{"fpga", "FPGA 30", device.ApplyForAll, 2, need(device.KindFPGA, "FPGA 30", 2)},
		{"fpga as count", "FPGA 3", device.RequestsAsCount, 5, need(device.KindFPGA, "FPGA 1", 3)},
		{"above 100", "RDMA 200", device.ApplyForAll, 5, need(device.KindRDMA, "RDMA 100", 2)},
		{"above 100 as count", "RDMA 200", device.RequestsAsCount, 5, need(device.KindRDMA, "RDMA 100", 2)},
		{"above 100, none match", "RDMA 200", device.ApplyForAll, 0, need(device.KindRDMA, "RDMA 100", 2)},
		{"gpu", "GPU 50", device.ApplyForAll, 5, partial("CORE 50, RATIO 50", 1)},
	} {
		needs, err := device.Normalize(needList(c.request))
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
		if again, _ := device.Normalize(needList(c.request)); !cmp.Equal(again, needs) {
			t.Errorf("%s: the hint changed its receiver to %v", c.name, needs)
		}
	}
}

func TestHintErrors(t *testing.T) {
	r := need(device.KindRDMA, "RDMA 1", 1)
	var few *device.NotEnoughError
	if _, err := r.WithHint(device.ApplyForAll, 0); !errors.As(err, &few) || few.Kind != device.KindRDMA || few.Got != 0 {
		t.Errorf("no device: error %v", err)
	}
	for _, h := range []device.Hint{0, device.RequestsAsDevices + 1} {
		func() {
			defer func() {
				if recover() != "device: unknown hint" {
					t.Errorf("hint %d: no panic", h)
				}
			}()
			r.WithHint(h, 1)
		}()
	}
}
