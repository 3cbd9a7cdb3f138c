package device_test

import (
	"testing"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/vector"
)

// TestNilOperands: a nil operand panics with a constant text of the package.
func TestNilOperands(t *testing.T) {
	var (
		inventory *device.Inventory
		node      *device.Node
		row       *device.Device
		catalogue *device.Catalogue
		scorer    *device.Scorer
		mask      vector.Mask
	)
	batch, err := scorer.NewBatch(device.KindGPU, nil)
	if err != nil {
		t.Fatal(err)
	}
	need := device.Requirement{Kind: device.KindGPU}
	const noInventory, noCatalogue, noNode, noMask = "device: nil inventory", "device: nil catalogue", "device: nil node", "device: nil mask"
	for name, c := range map[string]struct {
		want string
		call func()
	}{
		"Inventory.Node":         {noInventory, func() { inventory.Node("a") }},
		"Inventory.AllProblems":  {noInventory, func() { inventory.AllProblems() }},
		"Inventory.Catalogue":    {noInventory, func() { inventory.Catalogue() }},
		"Catalogue.Cards":        {noCatalogue, func() { catalogue.Cards() }},
		"Catalogue.CardsOf":      {noCatalogue, func() { catalogue.CardsOf("a") }},
		"Catalogue.NodesOf":      {noCatalogue, func() { catalogue.NodesOf("a") }},
		"Catalogue.CardsFor":     {noCatalogue, func() { catalogue.CardsFor("a") }},
		"Catalogue.Totals":       {noCatalogue, func() { catalogue.Totals() }},
		"Catalogue.Resources":    {noCatalogue, func() { catalogue.Resources("a") }},
		"Catalogue.Resource":     {noCatalogue, func() { _, _ = catalogue.Resource("a") }},
		"Catalogue.Problems":     {noCatalogue, func() { catalogue.Problems() }},
		"Node.States":            {noNode, func() { node.States() }},
		"Node.Device":            {noNode, func() { node.Device(device.KindGPU, 0) }},
		"Node.Placed":            {noNode, func() { node.Placed() }},
		"Device.Allocatable":     {"device: nil device", func() { row.Allocatable() }},
		"Weights":                {"device: nil map", func() { device.Weights(nil, device.Compute, nil) }},
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
