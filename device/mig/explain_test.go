package mig_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/resvec/resvec/device/mig"
	"github.com/resvec/resvec/vectormap"
)

func TestExplainPlace(t *testing.T) {
	for _, c := range facts(t, "explain") {
		e, err := mig.ExplainPlace(geometry(c.geometry), parseUsed(t, c.used), parseWant(t, c.want))
		if err != nil || e != c.answer {
			t.Errorf("%s: %q, %v; want %q", c.name, e, err, c.answer)
		}
	}
	if e, err := mig.ExplainPlace(nil, nil, parseWant(t, "1g")); err != nil || e != "1 memory slots of 0" {
		t.Errorf("no MIG: %v, %v", e, err)
	}
	if e, err := mig.ExplainPlace(geometry("A100-40"), parseUsed(t, "4g@4"), nil); err == nil || e != "" {
		t.Errorf("bad used instances: %v, %v", e, err)
	}
}

// checkExplainPlace compares with the golden model: a rule that is named is broken, and
// none is where the instances have a place.
func checkExplainPlace(t *testing.T, g *mig.Geometry, used []mig.Placed, want []vectormap.MIGProfile) {
	t.Helper()
	m := newGolden(g)
	_, ok, usedOK := m.place(used, want)
	e, err := mig.ExplainPlace(g, used, want)
	if (err == nil) != usedOK || (usedOK && ok) != (err == nil && e == "") {
		t.Fatalf("ExplainPlace(%v, %v) = %q, %v; want ok %t, used ok %t", used, want, e, err, ok, usedOK)
	}
	if err != nil || ok {
		return
	}
	all := want[:len(want):len(want)]
	slots, compute, media, decoders := 0, 0, 0, 0
	for _, u := range used {
		all = append(all, u.Profile)
		if u.Slots != 0 {
			slots += len(m.slotsOf(u)) - m.mustProfile(u.Profile).Slots
		}
	}
	broken := map[string]bool{}
	counts := map[vectormap.MIGProfile]int{}
	for _, name := range all {
		p, ok := m.profile(name)
		if !ok {
			broken[fmt.Sprintf("the GPU has no profile %v", name)] = true
		}
		slots, compute, decoders = slots+p.Slots, compute+name.G, decoders+p.Decoders
		if p.Media {
			media++
		}
		counts[p.Profile]++
	}
	if len(want) > m.slots { // refused unread
		slots, broken = len(want), map[string]bool{}
		for _, u := range used {
			slots += m.mustProfile(u.Profile).Slots
			if u.Slots != 0 {
				slots += len(m.slotsOf(u)) - m.mustProfile(u.Profile).Slots
			}
		}
	}
	switch {
	case len(broken) > 0:
	case slots > m.slots:
		broken[fmt.Sprintf("%d memory slots of %d", slots, m.slots)] = true
	case compute > m.slices:
		broken[fmt.Sprintf("%d compute slices of %d", compute, m.slices)] = true
	default:
		for name, count := range counts {
			if most := m.profiles[name].Max; count > most {
				broken[fmt.Sprintf("%d instances of %v, at most %d", count, name, most)] = true
			}
		}
		if len(broken) == 0 && media > 1 {
			broken[fmt.Sprintf("%d instances with the media engine, at most 1", media)] = true
		}
		if most := slices.MaxFunc(g.Profiles(), func(a, b mig.GeometryProfile) int { return a.Decoders - b.Decoders }).Decoders; len(broken) == 0 && decoders > most {
			broken[fmt.Sprintf("%d media decoders of %d", decoders, most)] = true
		}
		if len(broken) == 0 {
			broken["no starts without overlap"] = m.enough(used, want...)
		}
	}
	if !broken[e] {
		t.Fatalf("ExplainPlace(%v, %v) = %q; want one of %v", used, want, e, broken)
	}
}
