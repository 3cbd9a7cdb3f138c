package mig_test

import (
	"testing"

	"github.com/resvec/resvec/device/mig"
)

// TestNilOperands: a nil operand panics with a constant text of the package. A nil
// Geometry is one without MIG.
func TestNilOperands(t *testing.T) {
	for want, call := range map[string]func(){
		"mig: nil node": func() { mig.GPUs(nil) },
		"mig: nil map":  func() { mig.Weights(nil, mig.ByCompute, nil) },
	} {
		func() {
			defer func() {
				if got := recover(); got != want {
					t.Errorf("%v, not %q", got, want)
				}
			}()
			call()
			t.Errorf("no panic: %s", want)
		}()
	}
}
