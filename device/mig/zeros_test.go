package mig_test

import (
	"testing"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/device/mig"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vectormap"
)

// TestZeros: what is nil or a zero value works, or says in the words of the package
// that it can not.
func TestZeros(t *testing.T) {
	testkit.Zeros{
		Prefix: "mig: ",
		Functions: []any{
			mig.Assumed, mig.BestStart, mig.ExplainPlace, mig.GPUs, mig.GeometryFor, mig.GeometryNamed,
			mig.NewGeometry, mig.PlaceInstances, mig.Remaining, mig.Weights,
		},
		Types: []any{
			(*mig.GPU)(nil), (*mig.Geometry)(nil), (*mig.GeometryProfile)(nil), (*mig.Placed)(nil),
			(*mig.WeightRule)(nil),
		},
		Operands: []any{
			func() *mig.Geometry { return knownGeometries()[0] },
			func() *device.Node { return &device.Node{Devices: []device.Device{{Product: "A"}}} },
			func() *vectormap.ResourceVectorMap {
				m, _ := vectormap.New([]string{"nvidia.com/gpu", "nvidia.com/mig-1g.5gb"})
				return m
			},
			func() []vectormap.MIGProfile { return []vectormap.MIGProfile{{G: 1, MemGB: 5}} },
			func() vectormap.MIGProfile { return vectormap.MIGProfile{G: 1, MemGB: 5} },
			func() string { return "A100-SXM4-40GB" },
		},
	}.Run(t)
}
