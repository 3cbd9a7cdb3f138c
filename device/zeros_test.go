package device_test

import (
	"testing"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/internal/testkit"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
)

// TestZeros: what is nil or a zero value works, or says in the words of the package
// that it can not.
func TestZeros(t *testing.T) {
	testkit.Zeros{
		Prefix: "device: ",
		Functions: []any{
			device.Agree, device.FromNodes[*corev1.Node],
			device.FromResourceSlices[*resourcev1.ResourceSlice], device.Merge, device.NewNode,
		},
		Types: []any{
			(*device.Card)(nil), (*device.CardTotal)(nil), (*device.Catalog)(nil), (*device.Counter)(nil),
			(*device.Device)(nil), (*device.Difference)(nil), (*device.Driver)(nil), (*device.Health)(nil),
			(*device.Inventory)(nil), (*device.Names)(nil), (*device.Options)(nil),
			(*device.Node)(nil), (*device.Partition)(nil), (*device.Problem)(nil), (*device.Rule)(nil),
			(*device.Sharing)(nil), (*device.Slots)(nil),
			(*device.Source)(nil), (*device.Totals)(nil),
		},
		Operands: []any{
			func() *device.Inventory {
				return &device.Inventory{Nodes: []device.Node{device.NewNode("n", device.SourceLabels, []device.Device{{Product: "A", MemoryBytes: 1 << 30}}, device.Names{})}}
			},
			func() *device.Catalog { return new(device.Inventory).Catalog() },
			func() *device.Device { return &device.Device{Product: "A"} },
			func() string { return "NVIDIA-A100-80GB" },
		},
	}.Run(t)
}
