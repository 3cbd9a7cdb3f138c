//go:build !(cgo && linux)

package nvml_test

import "testing"

// TestGPU is about the driver, which only builds with cgo on Linux can ask.
func TestGPU(t *testing.T) { t.Skip("DID NOT RUN, this build has no driver: it needs cgo and Linux") }
