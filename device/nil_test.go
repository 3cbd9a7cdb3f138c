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
		catalog   *device.Catalog
	)
	const noInventory, noCatalog, noDevice = "device: nil inventory", "device: nil catalog", "device: nil device"
	for name, c := range map[string]struct {
		want string
		call func()
	}{
		"Inventory.Node":        {noInventory, func() { inventory.Node("a") }},
		"Inventory.AllProblems": {noInventory, func() { inventory.AllProblems() }},
		"Inventory.Catalog":     {noInventory, func() { inventory.Catalog() }},
		"Catalog.Cards":         {noCatalog, func() { catalog.Cards() }},
		"Catalog.CardsOf":       {noCatalog, func() { catalog.CardsOf("a") }},
		"Catalog.NodesOf":       {noCatalog, func() { catalog.NodesOf("a") }},
		"Catalog.CardsFor":      {noCatalog, func() { catalog.CardsFor("a") }},
		"Catalog.Totals":        {noCatalog, func() { catalog.Totals() }},
		"Catalog.Resources":     {noCatalog, func() { catalog.Resources("a") }},
		"Catalog.Resource":      {noCatalog, func() { _, _ = catalog.Resource("a") }},
		"Catalog.Problems":      {noCatalog, func() { catalog.Problems() }},
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
