package mig

import (
	"fmt"

	"github.com/resvec/resvec/device"
)

// PlaceRule is a rule that [PlaceInstances] decides by.
type PlaceRule uint8

const (
	PlaceFits    PlaceRule = iota // all rules are kept
	PlaceProfile                  // the GPU has no such profile
	PlaceSlots                    // more memory slots than the GPU has
	PlaceSlices                   // more compute slices than the GPU has
	PlaceCount                    // more instances of a profile than it allows
	PlaceMedia                    // more than one instance with the media engine
	PlaceStarts                   // enough of everything, but no starts without overlap
)

// String returns the rule in words.
func (r PlaceRule) String() string {
	names := [...]string{"fits", "profile", "memory slots", "compute slices", "count", "media", "starts"}
	if int(r) < len(names) {
		return names[r]
	}
	return fmt.Sprintf("unknown(%d)", r)
}

// PlaceExplanation is the first rule, in the order of [PlaceRule], that wanted
// instances break together with the used ones.
type PlaceExplanation struct {
	Rule    PlaceRule
	Profile device.Profile // that the GPU lacks or allows too few of; else zero

	// What the instances need together and what the GPU has, for the rules that
	// count; else 0.
	Need, Have int
}

// ExplainPlace returns why [PlaceInstances] says no, or [PlaceFits]. Where more instances
// are wanted than the GPU has slots, the rule is PlaceSlots and each counts as one slot.
// Errors are those of [PlaceInstances].
func ExplainPlace(g *Geometry, used []Placed, want []device.Profile) (PlaceExplanation, error) {
	g = g.orNone()
	var l load
	if err := g.load(&l, used); err != nil {
		return PlaceExplanation{}, err
	}
	if _, ok, _ := PlaceInstances(nil, g, used, want); ok { // its errors are those of load
		return PlaceExplanation{}, nil
	}
	if len(want) > g.slots {
		return PlaceExplanation{Rule: PlaceSlots, Need: int(l.slots) + len(want), Have: g.slots}, nil
	}
	for i := range want {
		r := g.rank(&want[i])
		if r < 0 {
			return PlaceExplanation{Rule: PlaceProfile, Profile: want[i]}, nil
		}
		l.add(g, r)
	}
	return g.explain(&l), nil
}

// explain returns what a load is too much for, or else that there are no starts.
func (g *Geometry) explain(l *load) PlaceExplanation {
	switch {
	case int(l.slots) > g.slots:
		return PlaceExplanation{Rule: PlaceSlots, Need: int(l.slots), Have: g.slots}
	case int(l.slices) > g.slices:
		return PlaceExplanation{Rule: PlaceSlices, Need: int(l.slices), Have: g.slices}
	}
	for r := range g.kinds {
		if k := &g.kinds[r]; l.counts[r] > k.max {
			return PlaceExplanation{Rule: PlaceCount, Profile: k.profile, Need: int(l.counts[r]), Have: int(k.max)}
		}
	}
	if l.media > 1 {
		return PlaceExplanation{Rule: PlaceMedia, Need: int(l.media), Have: 1}
	}
	return PlaceExplanation{Rule: PlaceStarts}
}

// String returns the explanation as a phrase, such as "9 memory slots of 8".
func (e PlaceExplanation) String() string {
	switch e.Rule {
	case PlaceProfile:
		return fmt.Sprintf("the GPU has no profile %v", e.Profile)
	case PlaceSlots, PlaceSlices:
		return fmt.Sprintf("%d %v of %d", e.Need, e.Rule, e.Have)
	case PlaceCount:
		return fmt.Sprintf("%d instances of %v, at most %d", e.Need, e.Profile, e.Have)
	case PlaceMedia:
		return fmt.Sprintf("%d instances with the media engine, at most 1", e.Need)
	case PlaceStarts:
		return "no starts without overlap"
	}
	return e.Rule.String()
}
