package quota

import (
	"fmt"
	"testing"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/internal/testkit"
)

// What was declared or discovered last says which resource carries a card, and the
// catalog while it has the card.
func TestDeclareAgain(t *testing.T) {
	w := fleet(t, Config{}, "q", "")
	for _, c := range []struct {
		card     device.Card
		resource string
	}{
		{device.Card{Name: "L40"}, "[]"},
		{device.Card{Name: "L40", Resource: "nvidia.com/gpu"}, "[nvidia.com/gpu]"},
		{device.Card{Name: "L40"}, "[nvidia.com/gpu]"},
		{device.Card{Name: "L40", Resource: "nvidia.com/gpu.shared"}, "[nvidia.com/gpu.shared]"},
		{device.Card{Name: "A100", Resource: "vendor.example/other"}, "[nvidia.com/gpu]"},
	} {
		testkit.Must(w.Declare([]device.Card{c.card}))
		w.want(fmt.Sprint(w.source.known[c.card.Name]), c.resource)
	}
}
