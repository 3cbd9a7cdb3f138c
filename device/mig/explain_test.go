package mig_test

import (
	"math"
	"testing"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/device/mig"
)

func TestExplainPlace(t *testing.T) {
	for _, c := range []struct {
		id, geometry, used, want string
		rule                     mig.PlaceRule
		text                     string
	}{
		{"M1", "A100-40", "", "3g,3g,1g", mig.PlaceSlots, "9 memory slots of 8"},
		{"M2", "A100-40", "", "1g,2g,4g", mig.PlaceFits, "fits"},
		{"M4", "A100-40", "", "8*1g", mig.PlaceSlices, "8 compute slices of 7"},
		{"M6", "A100-40", "", "4*1gd,1g", mig.PlaceSlots, "9 memory slots of 8"},
		{"M7", "A100-40", "", "2*1g+me", mig.PlaceCount, "2 instances of 1g.5gb+me, at most 1"},
		{"M8", "A100-40", "1g@0", "4g", mig.PlaceStarts, "no starts without overlap"},
		{"M16", "A100-40", "", "9*1g", mig.PlaceSlots, "9 memory slots of 8"},
		{"M16: a million", "A100-40", "1g@0", "1000000*1g", mig.PlaceSlots, "1000001 memory slots of 8"},
		{"slices of used ones", "A100-40", "4g@0", "3g,1g", mig.PlaceSlots, "9 memory slots of 8"},
		{"count", "A100-40", "", "3g,3g,4g", mig.PlaceSlots, "12 memory slots of 8"},
		{"two 4g", "A100-40", "", "4g,4g", mig.PlaceSlices, "8 compute slices of 7"},
		{"no such profile", "A100-40", "", "1g,1g.6gb", mig.PlaceProfile, "the GPU has no profile 1g.6gb"},
		{"media", "A30-24", "", "2g.12gb+me,1g.6gb+me", mig.PlaceMedia, "2 instances with the media engine, at most 1"},
		{"nothing", "A100-40", "", "", mig.PlaceFits, "fits"},
	} {
		e, err := mig.ExplainPlace(geometry(t, c.geometry), parseUsed(t, c.used), parseWant(t, c.want))
		if err != nil || e.Rule != c.rule || e.String() != c.text {
			t.Errorf("%s: %v %q, %v; want %v %q", c.id, e.Rule, e, err, c.rule, c.text)
		}
	}
	if e, err := mig.ExplainPlace(nil, nil, parseWant(t, "1g")); err != nil || e != (mig.PlaceExplanation{Rule: mig.PlaceSlots, Need: 1}) {
		t.Errorf("no MIG: %v, %v", e, err)
	}
	if e, err := mig.ExplainPlace(geometry(t, "A100-40"), parseUsed(t, "4g@4"), nil); err == nil || e != (mig.PlaceExplanation{}) {
		t.Errorf("bad used instances: %v, %v", e, err)
	}
	if got := mig.PlaceRule(math.MaxUint8).String(); got != "unknown(255)" {
		t.Error(got)
	}
}

// checkExplainPlace compares with the golden model: the rule that is named is
// broken, and none where the instances have a place.
func checkExplainPlace(t *testing.T, g *mig.Geometry, used []mig.Placed, want []device.Profile) {
	t.Helper()
	m := newGolden(g)
	_, ok, usedOK := m.place(used, want)
	e, err := mig.ExplainPlace(g, used, want)
	if (err == nil) != usedOK || (usedOK && ok) != (err == nil && e.Rule == mig.PlaceFits) {
		t.Fatalf("ExplainPlace(%v, %v) = %v, %v; want ok %t, used ok %t", used, want, e, err, ok, usedOK)
	}
	if err != nil || ok {
		return
	}
	all := want[:len(want):len(want)]
	for _, u := range used {
		all = append(all, u.Profile)
	}
	slots, compute, media, count, known := 0, 0, 0, 0, true
	for _, u := range used {
		if u.Slots != 0 {
			slots += len(m.slotsOf(u)) - m.profiles[u.Profile].Slots
		}
	}
	for _, name := range all {
		p, ok := m.profiles[name]
		known = known && ok
		slots, compute = slots+p.Slots, compute+name.G
		if p.Media {
			media++
		}
		if name == e.Profile {
			count++
		}
	}
	_, has := m.profiles[e.Profile]
	broken := map[mig.PlaceRule]bool{
		mig.PlaceProfile: !known && !has,
		mig.PlaceSlots:   e.Need > m.slots && e.Have == m.slots && (e.Need == slots || len(want) > m.slots),
		mig.PlaceSlices:  e.Need == compute && compute > m.slices && e.Have == m.slices && slots <= m.slots,
		mig.PlaceCount:   has && e.Need == count && count > m.profiles[e.Profile].Max && compute <= m.slices,
		mig.PlaceMedia:   e.Need == media && media > 1 && slots <= m.slots && compute <= m.slices,
		mig.PlaceStarts:  m.enough(used, want...),
	}
	if !broken[e.Rule] {
		t.Fatalf("ExplainPlace(%v, %v) = %v", used, want, e)
	}
}
