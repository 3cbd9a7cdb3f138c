package mig_test

import (
	"testing"

	"github.com/resvec/resvec/device/mig"
)

// TestErrorTexts: an error names the field, the value, its unit, and what would be
// right.
func TestErrorTexts(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{second(mig.GeometryNamed("A10")), "mig: unknown geometry: \"A10\": must be one of A100-40, A100-80, A30-24, B200-180, B300-269, GB200-186, GB300-278, GH200-144, H100-80, H100-94, H100-96, H20-96, H200-141, RTX-PRO-4500-32, RTX-PRO-5000-48, RTX-PRO-6000-96"},
		{second(mig.GeometryFor("NVIDIA-H100", 60<<30)), "mig: unknown geometry: product \"NVIDIA-H100\" with 64424509440 bytes: must say by its memory, within 10%, or in its name which of H100-80, H100-94, H100-96 it is"},
		{second(mig.NewGeometry("x", 33, 0, nil)), "[slots: Invalid value: 33: must be 1 to 32 memory slots, slices: Invalid value: 0: must be 1 to 32 compute slices]"},
	} {
		if c.err == nil || c.err.Error() != c.want {
			t.Errorf("got  %v\nwant %s", c.err, c.want)
		}
	}
}

func second[T any](_ T, err error) error { return err }
