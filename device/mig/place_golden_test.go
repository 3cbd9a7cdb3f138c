package mig_test

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/resvec/resvec/device/mig"
	"github.com/resvec/resvec/vectormap"
)

// golden is a geometry, read by the rules alone: no masks, no tables.
type golden struct {
	slots, slices int
	profiles      map[vectormap.MIGProfile]mig.GeometryProfile
}

func newGolden(g *mig.Geometry) golden {
	golden := golden{g.Slots(), g.Slices(), map[vectormap.MIGProfile]mig.GeometryProfile{}}
	for _, p := range g.Profiles() {
		golden.profiles[p.Profile] = p
	}
	return golden
}

// profile finds what a name stands for, by the compute slices, the suffix and the nearest
// size that is at most an eighth off, the smaller of two.
func (m golden) profile(name vectormap.MIGProfile) (found mig.GeometryProfile, ok bool) {
	for own, p := range m.profiles {
		distance := func(size int) float64 { return math.Abs(float64(size - name.MemGB)) }
		if name.C != 0 || own.G != name.G || own.Suffix != name.Suffix || distance(own.MemGB) > float64(own.MemGB)/8 {
			continue
		}
		if d := cmp.Compare(distance(own.MemGB), distance(found.Profile.MemGB)); !ok || d < 0 || d == 0 && own.MemGB < found.Profile.MemGB {
			found, ok = p, true
		}
	}
	return found, ok
}

// mustProfile is profile of a name that the GPU has, and nothing of another.
func (m golden) mustProfile(name vectormap.MIGProfile) mig.GeometryProfile {
	p, _ := m.profile(name)
	return p
}

// slotsOf lists the slots of an instance whose place is known.
func (m golden) slotsOf(i mig.Placed) (list []int) {
	if i.Slots == 0 {
		for s := range m.mustProfile(i.Profile).Slots {
			list = append(list, int(i.Start)+s)
		}
		return list
	}
	for s := range 32 {
		if i.Slots>>s&1 != 0 {
			list = append(list, s)
		}
	}
	return list
}

// enough reports whether the GPU has enough for instances, starts aside.
func (m golden) enough(used []mig.Placed, more ...vectormap.MIGProfile) bool {
	for _, p := range more {
		used = append(used[:len(used):len(used)], mig.Placed{Profile: p, Start: -1})
	}
	slots, compute, media, decoders, most, count := 0, 0, 0, 0, 0, map[vectormap.MIGProfile]int{}
	for _, p := range m.profiles {
		most = max(most, p.Decoders)
	}
	for _, u := range used {
		p, ok := m.profile(u.Profile)
		if !ok {
			return false
		}
		name := p.Profile
		slots, compute, decoders = slots+p.Slots, compute+name.G, decoders+p.Decoders
		if u.Slots != 0 {
			slots += len(m.slotsOf(u)) - p.Slots
		}
		if p.Media {
			media++
		}
		if count[name]++; count[name] > p.Max {
			return false
		}
	}
	return slots <= m.slots && compute <= m.slices && media <= 1 && decoders <= most
}

// apart reports whether instances start where they may and don't overlap.
func (m golden) apart(placed []mig.Placed) bool {
	var taken [64]bool
	for _, i := range placed {
		if i.Slots == 0 && !slices.Contains(m.mustProfile(i.Profile).Starts, i.Start) {
			return false
		}
		for _, s := range m.slotsOf(i) {
			if s >= m.slots || taken[s] {
				return false
			}
			taken[s] = true
		}
	}
	return true
}

// valid reports whether instances with known starts can be on the GPU together.
func (m golden) valid(placed []mig.Placed) bool {
	return m.enough(placed) && m.apart(placed)
}

// extend looks for the first starts of more that leave placed alone, trying all.
func (m golden) extend(placed []mig.Placed, more []vectormap.MIGProfile) ([]mig.Placed, bool) {
	if !m.apart(placed) {
		return nil, false
	}
	if len(more) == 0 {
		return placed, true
	}
	for s := range int8(m.slots) {
		if all, ok := m.extend(append(placed[:len(placed):len(placed)], mig.Placed{Profile: more[0], Start: s}), more[1:]); ok {
			return all, true
		}
	}
	return nil, false
}

// place is Place. The instances whose start is unknown come last, since only
// the starts of the wanted ones are asked for.
func (m golden) place(used []mig.Placed, want []vectormap.MIGProfile) (starts []int8, ok, usedOK bool) {
	var known []mig.Placed
	var unknown []vectormap.MIGProfile
	for _, u := range used {
		if u.Start == -1 && u.Slots == 0 {
			unknown = append(unknown, u.Profile)
		} else {
			known = append(known, u)
		}
	}
	if !m.enough(used) {
		return nil, false, false
	}
	if _, ok := m.extend(known, unknown); !ok {
		return nil, false, false
	}
	if !m.enough(used, want...) {
		return nil, false, true
	}
	order := make([]int, len(want))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		p, q := m.mustProfile(want[a]), m.mustProfile(want[b])
		return cmp.Or(-cmp.Compare(p.Slots, q.Slots), -cmp.Compare(p.Profile.G, q.Profile.G),
			strings.Compare(p.Profile.String(), q.Profile.String()))
	})
	var more []vectormap.MIGProfile
	for _, i := range order {
		more = append(more, want[i])
	}
	placed, ok := m.extend(known, append(more, unknown...))
	if !ok {
		return nil, false, true
	}
	starts = make([]int8, len(want))
	for k, i := range order {
		starts[i] = placed[len(known)+k].Start
	}
	return starts, true, true
}

// remaining is Remaining for one profile.
func (m golden) remaining(used []mig.Placed, p vectormap.MIGProfile) int {
	for n := 0; ; n++ {
		if _, ok, _ := m.place(used, slices.Repeat([]vectormap.MIGProfile{p}, n+1)); !ok {
			return n
		}
	}
}

// best is Best.
func (m golden) best(used []mig.Placed, p vectormap.MIGProfile) (start int8, ok bool) {
	start = -1
	var most [2]int
	for s := range int8(m.slots) {
		after := append(used[:len(used):len(used)], mig.Placed{Profile: p, Start: s})
		if _, _, ok := m.place(after, nil); !ok {
			continue
		}
		if room := m.room(after); start == -1 || slices.Compare(room[:], most[:]) > 0 {
			start, most = s, room
		}
	}
	return start, start >= 0
}

// room is what Best keeps: the largest g, and the pairs of profile and start.
func (m golden) room(used []mig.Placed) (room [2]int) {
	for p := range m.profiles {
		for s := range int8(m.slots) {
			if _, _, ok := m.place(append(used[:len(used):len(used)], mig.Placed{Profile: p, Start: s}), nil); ok {
				room[0] = max(room[0], p.G)
				if !strings.HasPrefix(p.Suffix, "+me") {
					room[1]++
				}
			}
		}
	}
	return room
}

// states returns every set of instances that can be on the GPU together, in a
// fixed order.
func (m golden) states(g *mig.Geometry) [][]mig.Placed {
	var all []mig.Placed
	for _, p := range g.Profiles() {
		for _, s := range p.Starts {
			all = append(all, mig.Placed{Profile: p.Profile, Start: s})
		}
	}
	var states [][]mig.Placed
	var grow func(used []mig.Placed, from int)
	grow = func(used []mig.Placed, from int) {
		states = append(states, used)
		for i := from; i < len(all); i++ {
			if next := append(used[:len(used):len(used)], all[i]); m.valid(next) {
				grow(next, i+1)
			}
		}
	}
	grow(nil, 0)
	return states
}

// check compares everything about one state and one want with the golden
// model.
func check(t *testing.T, g *mig.Geometry, used []mig.Placed, want []vectormap.MIGProfile) {
	t.Helper()
	m := newGolden(g)
	starts, ok, err := mig.PlaceInstances(nil, g, used, want)
	wantStarts, wantOK, usedOK := m.place(used, want)
	if (err == nil) != usedOK || ok != wantOK || !slices.Equal(starts, wantStarts) {
		t.Fatalf("Place(%v, %v) = %v, %t, %v; want %v, %t, used ok %t", used, want, starts, ok, err, wantStarts, wantOK, usedOK)
	}
	checkExplainPlace(t, g, used, want)
	counts, err := mig.Remaining(g, used)
	if (err == nil) != usedOK {
		t.Fatalf("Remaining(%v): %v", used, err)
	}
	for i, p := range g.Profiles() {
		start, ok, err := mig.BestStart(g, used, p.Profile)
		if (err == nil) != usedOK {
			t.Fatalf("Best(%v): %v", used, err)
		}
		if !usedOK {
			continue
		}
		if n := m.remaining(used, p.Profile); counts[i] != n {
			t.Fatalf("Remaining(%v): %d of %v, want %d", used, counts[i], p.Profile, n)
		}
		if wantStart, wantOK := m.best(used, p.Profile); start != wantStart || ok != wantOK {
			t.Fatalf("Best(%v, %v) = %d, %t; want %d, %t", used, p.Profile, start, ok, wantStart, wantOK)
		}
	}
}

// Every state of A30-24 with every want of up to three instances, and some states of
// A100-40 with some wants, by the golden model.
func TestPlaceAllStates(t *testing.T) {
	for name, step := range map[string]int{"A30-24": 1, "A100-40": 97} {
		g := geometry(name)
		m, wants := newGolden(g), multisets(g, 3)
		for i, used := range m.states(g) {
			for k, want := range wants {
				if (i*len(wants)+k)%step != 0 {
					continue
				}
				starts, ok, err := mig.PlaceInstances(nil, g, used, want)
				if wantStarts, wantOK, _ := m.place(used, want); err != nil || ok != wantOK || !slices.Equal(starts, wantStarts) {
					t.Fatalf("%s: PlaceInstances(%v, %v) = %v, %t, %v; want %v, %t", name, used, want, starts, ok, err, wantStarts, wantOK)
				}
			}
		}
	}
}

// multisets returns every multiset of 1 to most profiles.
func multisets(g *mig.Geometry, most int) [][]vectormap.MIGProfile {
	profiles := g.Profiles()
	var all [][]vectormap.MIGProfile
	var grow func(want []vectormap.MIGProfile, from int)
	grow = func(want []vectormap.MIGProfile, from int) {
		if len(want) > 0 {
			all = append(all, want)
		}
		for i := from; i < len(profiles) && len(want) < most; i++ {
			grow(append(want[:len(want):len(want)], profiles[i].Profile), i)
		}
	}
	grow(nil, 0)
	return all
}

// Every state of A30-24, and one in some of A100-40, by the golden model.
func TestBestAllStates(t *testing.T) {
	for name, step := range map[string]int{"A30-24": 1, "A100-40": 16} {
		g := geometry(name)
		states := newGolden(g).states(g)
		for i := 0; i < len(states); i += step {
			check(t, g, states[i], nil)
		}
	}
}
