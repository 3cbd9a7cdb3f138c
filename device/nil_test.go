package device_test

import (
	"testing"

	"github.com/resvec/resvec/device"
)

// TestNilOperands: a nil operand panics with a constant text of the package.
func TestNilOperands(t *testing.T) {
	var (
		inventory *device.Inventory
		row       *device.Device
		catalogue *device.Catalogue
	)
	const noInventory, noCatalogue, noDevice = "device: nil inventory", "device: nil catalogue", "device: nil device"
	for name, c := range map[string]struct {
		want string
		call func()
	}{
		"Inventory.Node":        {noInventory, func() { inventory.Node("a") }},
		"Inventory.AllProblems": {noInventory, func() { inventory.AllProblems() }},
		"Inventory.Catalogue":   {noInventory, func() { inventory.Catalogue() }},
		"Catalogue.Cards":       {noCatalogue, func() { catalogue.Cards() }},
		"Catalogue.CardsOf":     {noCatalogue, func() { catalogue.CardsOf("a") }},
		"Catalogue.NodesOf":     {noCatalogue, func() { catalogue.NodesOf("a") }},
		"Catalogue.CardsFor":    {noCatalogue, func() { catalogue.CardsFor("a") }},
		"Catalogue.Totals":      {noCatalogue, func() { catalogue.Totals() }},
		"Catalogue.Resources":   {noCatalogue, func() { catalogue.Resources("a") }},
		"Catalogue.Resource":    {noCatalogue, func() { _, _ = catalogue.Resource("a") }},
		"Catalogue.Problems":    {noCatalogue, func() { catalogue.Problems() }},
		"Device.Allocatable":    {noDevice, func() { row.Allocatable() }},
		"Device.Key":            {noDevice, func() { row.Key() }},
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
