package device_test

import (
	"reflect"
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
		Functions: map[string]any{
			"Agree":              device.Agree,
			"FromNodes":          device.FromNodes[*corev1.Node],
			"FromResourceSlices": device.FromResourceSlices[*resourcev1.ResourceSlice],
			"Merge":              device.Merge,
			"NewNode":            device.NewNode,
			"ParseProfile":       device.ParseProfile,
		},
		Types: []any{
			(*device.Card)(nil),
			(*device.CardTotal)(nil),
			(*device.Catalog)(nil),
			(*device.Counter)(nil),
			(*device.Device)(nil),
			(*device.Difference)(nil),
			(*device.Driver)(nil),
			(*device.Health)(nil),
			(*device.Inventory)(nil),
			(*device.LabelOptions)(nil),
			(*device.Names)(nil),
			(*device.Node)(nil),
			(*device.Partition)(nil),
			(*device.Problem)(nil),
			(*device.Rule)(nil),
			(*device.Sharing)(nil),
			(*device.SliceOptions)(nil),
			(*device.Slots)(nil),
			(*device.Source)(nil),
			(*device.Totals)(nil),
		},
		Operand: func(typ reflect.Type) any {
			switch typ {
			case reflect.TypeFor[*device.Inventory]():
				return &device.Inventory{Nodes: []device.Node{device.NewNode("n", device.SourceLabels, []device.Device{{Product: "A", MemoryBytes: 1 << 30}}, device.Names{})}}
			case reflect.TypeFor[*device.Catalog]():
				return new(device.Inventory).Catalog()
			case reflect.TypeFor[*device.Device]():
				return &device.Device{Product: "A"}
			case reflect.TypeFor[string]():
				return "NVIDIA-A100-80GB"
			}
			return nil
		},
	}.Run(t)
}
