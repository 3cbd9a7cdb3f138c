package mig

import (
	"fmt"

	"github.com/resvec/resvec/vectormap"
)

// ExplainPlace returns why [PlaceInstances] says no, or "" where it says yes: the first
// rule that the wanted instances break together with the used ones, such as "9 memory
// slots of 8". The rules are, in order, the profiles that the GPU has, memory slots,
// compute slices, instances of a profile, the media engine, media decoders, and starts
// without overlap.
// Where more instances are wanted than the GPU has slots, each counts as one slot.
// Errors are as of [PlaceInstances].
func ExplainPlace(g *Geometry, used []Placed, want []vectormap.MIGProfile) (string, error) {
	g = g.orNone()
	var l load
	if err := g.load(&l, used); err != nil {
		return "", err
	}
	if _, ok, _ := PlaceInstances(nil, g, used, want); ok { // its errors are the errors of load
		return "", nil
	}
	if len(want) > g.slots {
		return slotsText(int(l.slots)+len(want), g.slots), nil
	}
	for i := range want {
		r := g.rank(&want[i])
		if r < 0 {
			return fmt.Sprintf("the GPU has no profile %v", want[i]), nil
		}
		l.add(g, r)
	}
	return g.excess(&l), nil
}
