package share_test

import (
	"testing"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/device/share"
	"github.com/resvec/resvec/vector"
)

// TestNilOperands: a nil operand panics with a constant text of the package.
func TestNilOperands(t *testing.T) {
	var (
		scorer *share.Scorer
		mask   vector.Mask
	)
	batch, err := scorer.NewBatch(device.KindGPU, nil)
	if err != nil {
		t.Fatal(err)
	}
	need := share.Requirement{Kind: device.KindGPU}
	const noNode, noMask = "share: nil node", "share: nil mask"
	for name, c := range map[string]struct {
		want string
		call func()
	}{
		"States":                 {noNode, func() { share.States(nil) }},
		"DeviceOf":               {noNode, func() { share.DeviceOf(nil, device.KindGPU, 0) }},
		"FitDevices":             {noMask, func() { _ = scorer.FitDevices(nil, batch, nil) }},
		"FitNodes":               {noMask, func() { _ = scorer.FitNodes(nil, &mask, batch, need) }},
		"FitNodes, the second":   {noMask, func() { _ = scorer.FitNodes(&mask, nil, batch, need) }},
		"FitNodes, both":         {noMask, func() { _ = scorer.FitNodes(nil, nil, batch, need) }},
		"FitDevices of no batch": {noMask, func() { _ = scorer.FitDevices(nil, nil, nil) }},
	} {
		func() {
			defer func() {
				if got := recover(); got != c.want {
					t.Errorf("%s: %v, not %q", name, got, c.want)
				}
			}()
			c.call()
			t.Errorf("%s: no panic", name)
		}()
	}
}
