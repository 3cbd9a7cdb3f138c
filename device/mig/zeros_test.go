package mig_test

import (
	"reflect"
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
		Functions: map[string]any{
			"Assumed":        mig.Assumed,
			"BestStart":      mig.BestStart,
			"ExplainPlace":   mig.ExplainPlace,
			"GPUs":           mig.GPUs,
			"GeometryFor":    mig.GeometryFor,
			"GeometryNamed":  mig.GeometryNamed,
			"NewGeometry":    mig.NewGeometry,
			"PlaceInstances": mig.PlaceInstances,
			"Remaining":      mig.Remaining,
			"Weights":        mig.Weights,
		},
		Types: []any{
			(*mig.GPU)(nil),
			(*mig.Geometry)(nil),
			(*mig.GeometryProfile)(nil),
			(*mig.Placed)(nil),
			(*mig.WeightRule)(nil),
		},
		Operand: func(typ reflect.Type) any {
			switch typ {
			case reflect.TypeFor[*mig.Geometry]():
				return knownGeometries()[0]
			case reflect.TypeFor[*device.Node]():
				return &device.Node{Devices: []device.Device{{Product: "A"}}}
			case reflect.TypeFor[*vectormap.ResourceVectorMap]():
				m, _ := vectormap.New([]string{"nvidia.com/gpu", "nvidia.com/mig-1g.5gb"})
				return m
			case reflect.TypeFor[[]device.Profile]():
				return []device.Profile{{G: 1, MemGB: 5}}
			case reflect.TypeFor[device.Profile]():
				return device.Profile{G: 1, MemGB: 5}
			case reflect.TypeFor[string]():
				return "A100-SXM4-40GB"
			}
			return nil
		},
	}.Run(t)
}
