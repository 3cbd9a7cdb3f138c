package mig_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/device/mig"
)

// geometry returns the known geometry of a name.
func geometry(t testing.TB, name string) *mig.Geometry {
	t.Helper()
	g, err := mig.GeometryNamed(name)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// shortNames names the profiles of A100-40 as the facts do.
var shortNames = map[string]string{
	"1g": "1g.5gb", "1g+me": "1g.5gb+me", "1gd": "1g.10gb", "2g": "2g.10gb", "3g": "3g.20gb", "4g": "4g.20gb", "7g": "7g.40gb",
}

// parse parses a profile, or a short name of one of A100-40.
func parse(t testing.TB, name string) device.Profile {
	t.Helper()
	if long, ok := shortNames[name]; ok {
		name = long
	}
	p, _, err := device.ParseProfile(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// parseWant reads profiles such as 3g,2g,2*1g.
func parseWant(t testing.TB, text string) []device.Profile {
	t.Helper()
	var want []device.Profile
	for _, name := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' }) {
		n := 1
		if before, after, ok := strings.Cut(name, "*"); ok {
			name = after
			if _, err := fmt.Sscan(before, &n); err != nil {
				t.Fatal(err)
			}
		}
		want = append(want, slices.Repeat([]device.Profile{parse(t, name)}, n)...)
	}
	return want
}

// parseUsed reads instances such as 3g@4,1g@?.
func parseUsed(t testing.TB, text string) []mig.Placed {
	t.Helper()
	var used []mig.Placed
	for _, item := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' }) {
		name, at, _ := strings.Cut(item, "@")
		start := int8(-1)
		if at != "?" {
			if _, err := fmt.Sscan(at, &start); err != nil {
				t.Fatal(err)
			}
		}
		used = append(used, mig.Placed{Profile: parse(t, name), Start: start})
	}
	return used
}

// startsText writes starts as the facts do.
func startsText(starts []int8) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(starts), "[]"), " ", ",")
}

func TestPlace(t *testing.T) {
	for _, c := range []struct {
		id, geometry, used, want string
		starts                   string // no: can't be placed
	}{
		{"M1", "A100-40", "", "3g,3g,1g", "no"},
		{"M1: without the 1g", "A100-40", "", "3g,3g", "0,4"},
		{"M2", "A100-40", "", "1g,2g,4g", "6,4,0"},
		{"M3", "A100-40", "", "3g,2g,2g", "4,0,2"},
		{"M4", "A100-40", "", "8*1g", "no"},
		{"M4: seven", "A100-40", "", "7*1g", "0,1,2,3,4,5,6"},
		{"M5", "A100-40", "", "4*1gd", "0,2,4,6"},
		{"M6", "A100-40", "", "4*1gd,1g", "no"},
		{"M7", "A100-40", "", "2*1g+me", "no"},
		{"M8", "A100-40", "1g@0", "4g", "no"},
		{"M9", "A100-40", "1g@5", "4g,1g,1g", "0,4,6"},
		{"M16", "A100-40", "", "9*1g", "no"},
		{"M16: a million", "A100-40", "", "1000000*1g", "no"},

		{"nothing", "A100-40", "", "", ""},
		{"nothing on a full GPU", "A100-40", "7g@0", "", ""},
		{"all in one", "A100-40", "", "7g", "0"},
		{"equal ones as wanted", "A100-40", "", "1g,2g,1g,2g", "4,0,5,2"},
		{"by name after slices", "A100-40", "", "1g+me,1g", "1,0"},
		{"2g before the double 1g", "A100-40", "", "1gd,2g", "2,0"},
		{"the double 1g goes where 2g can't", "A100-40", "", "1gd,3*2g", "6,0,2,4"},
		{"slot 7 has no slices", "A100-40", "3g@0,2g@4,1g@6", "1g", "no"},
		{"slices end before slots", "A100-40", "4g@0,2g@4", "1gd", "6"},
		{"no slices left", "A100-40", "4g@0,3g@4", "1g", "no"},
		{"4g has one start", "A100-40", "", "4g,4g", "no"},
		{"media: full and +me", "A100-40", "", "7g,1g+me", "no"},
		{"media: used", "A100-40", "1g+me@3", "1g+me", "no"},
		{"media: one is free to go", "A100-40", "1g@3", "1g+me", "0"},
		{"three compute slices are left, no media", "A100-40", "4g@0,1g+me@4", "2*1g", "5,6"},
		{"a profile of another GPU", "A100-40", "", "1g.6gb", "no"},
		{"the 1g.10gb of A100-80 has one slot", "A100-80", "", "7*1g.10gb", "0,1,2,3,4,5,6"},
		{"a compute instance", "A100-40", "", "1c.3g.20gb", "no"},
		{"an unknown suffix", "A100-40", "", "1g.5gb+gfx", "no"},
		{"larger than the GPU", "A100-40", "", "9999g.9999gb", "no"},
		{"H100-94", "H100-94", "", "1g.12gb,2g.24gb,4g.47gb", "6,4,0"},
		{"H100-96", "H100-96", "", "3g.48gb,3g.48gb", "0,4"},
		{"H200", "H200-141", "", "1g.35gb,2g.35gb,1g.18gb+me,1g.18gb", "2,0,5,4"},
		{"B200", "B200-180", "1g.23gb@0", "3g.90gb,4g.90gb", "no"},
		{"A30 in four", "A30-24", "", "4*1g.6gb", "0,1,2,3"},
		{"A30: 1g+me uses a slot of 1g", "A30-24", "", "4*1g.6gb,1g.6gb+me", "no"},
		{"A30: halves, one with media", "A30-24", "", "2g.12gb+me,2g.12gb", "2,0"},
		{"A30: two with media", "A30-24", "", "2*2g.12gb+me", "no"},
		{"A30: 2g starts at even slots", "A30-24", "1g.6gb@1,1g.6gb@2", "2g.12gb", "no"},

		{"unknown start: gives way", "A100-40", "1g@?", "4g", "0"},
		{"unknown start: to all wanted", "A100-40", "1g@?", "4g,2g", "0,4"},
		{"unknown start: keeps its slot", "A100-40", "1g@?", "7*1g", "no"},
		{"unknown start: keeps its slices", "A100-40", "3g@?", "3g,1g", "no"},
		{"unknown start: only one is left", "A100-40", "3g@?", "4g", "0"},
		{"unknown start: 3g would have either half", "A100-40", "3g@?", "2g", "0"},
		{"unknown start and a known one", "A100-40", "1g@1,2g@?", "3g", "4"},
		{"unknown starts", "A100-40", "3g@?,2g@?,1g@?", "1g", "0"},
	} {
		used := parseUsed(t, c.used)
		starts, ok, err := mig.PlaceInstances(nil, geometry(t, c.geometry), used, parseWant(t, c.want))
		if err != nil || ok != (c.starts != "no") || ok && startsText(starts) != c.starts || !ok && len(starts) > 0 {
			t.Errorf("%s: %s on %s with %q: %v, %t, %v; want %s", c.id, c.want, c.geometry, c.used, starts, ok, err, c.starts)
		}
		if got := mig.Assumed(used); got != strings.Contains(c.used, "?") {
			t.Errorf("%s: Assumed: %t", c.id, got)
		}
	}
}

func TestPlaceFaults(t *testing.T) {
	for _, c := range []struct{ geometry, used, want string }{
		{"A100-40", "1g.6gb@0", "mig: used[0]: 1g.6gb@0: A100-40 has no profile 1g.6gb: must be one of 1g.5gb, 1g.5gb+me, 1g.10gb, 2g.10gb, 3g.20gb, 4g.20gb, 7g.40gb"},
		{"A100-40", "1c.3g.20gb@0", "mig: used[0]: 1c.3g.20gb@0: A100-40 has no profile 1c.3g.20gb: must be one of 1g.5gb, 1g.5gb+me, 1g.10gb, 2g.10gb, 3g.20gb, 4g.20gb, 7g.40gb"},
		{"A100-40", "3g@2", "mig: used[0]: 3g.20gb@2: must start at one of the memory slots [0 4]"},
		{"A100-40", "1g@0,1g@7", "mig: used[1]: 1g.5gb@7: must start at one of the memory slots [0 1 2 3 4 5 6]"},
		{"A100-40", "1g@-2", "mig: used[0]: 1g.5gb@-2: must start at one of the memory slots [0 1 2 3 4 5 6]"},
		{"A100-40", "1g@127", "mig: used[0]: 1g.5gb@127: must start at one of the memory slots [0 1 2 3 4 5 6]"},
		{"A100-40", "1g@-128", "mig: used[0]: 1g.5gb@-128: must start at one of the memory slots [0 1 2 3 4 5 6]"},
		{"A100-40", "3g@0,2g@2", "mig: used[1]: 2g.10gb@2: must not overlap used[0]: 3g.20gb@0"},
		{"A100-40", "1g@3,1gd@4,1g@5", "mig: used[2]: 1g.5gb@5: must not overlap used[1]: 1g.10gb@4"},
		{"A100-40", "1g@3,1g@3", "mig: used[1]: 1g.5gb@3: must not overlap used[0]: 1g.5gb@3"},
		{"A100-40", "1g+me@0,1g@1,1g+me@2", "mig: used[2]: 1g.5gb+me@2: with those before it 2 instances of 1g.5gb+me, at most 1"},
		{"A100-40", "7g@?,1g@?", "mig: used[1]: 1g.5gb@?: with those before it 9 memory slots of 8"},
		{"A100-40", "4g@?,4g@?", "mig: used[1]: 4g.20gb@?: with those before it 8 compute slices of 7"},
		{"A100-40", "1g@0,4g@?", "mig: used[1]: 4g.20gb@?: no memory slots are left for all instances whose start is unknown"},
		{"A100-40", "1g@0,1g@?,3g@?,3g@4", "mig: used[3]: 3g.20gb@4: with those before it 10 memory slots of 8"},
		{"A100-40", "3g@?,1g@0,1g@4", "mig: used[0]: 3g.20gb@?: no memory slots are left for all instances whose start is unknown"},
		{"A30-24", "1g.6gb@1,2g.12gb@?,1g.6gb@2", "mig: used[1]: 2g.12gb@?: no memory slots are left for all instances whose start is unknown"},
		{"A30-24", "4g.24gb@0,4g.24gb@0", "mig: used[1]: 4g.24gb@0: must not overlap used[0]: 4g.24gb@0"},
	} {
		g, used := geometry(t, c.geometry), parseUsed(t, c.used)
		// Nothing else comes first: the wanted ones can't be placed either.
		starts, ok, err := mig.PlaceInstances(make([]int8, 3), g, used, parseWant(t, "9*1g"))
		if ok || len(starts) > 0 || err == nil || err.Error() != c.want {
			t.Errorf("Place with %s: %v, %t, %v; want %s", c.used, starts, ok, err, c.want)
		}
		if counts, err := mig.Remaining(g, used); counts != nil || err == nil || err.Error() != c.want {
			t.Errorf("Remaining with %s: %v, %v; want %s", c.used, counts, err, c.want)
		}
		if start, ok, err := mig.BestStart(g, used, parse(t, "1g")); start != -1 || ok || err == nil || err.Error() != c.want {
			t.Errorf("Best with %s: %v, %t, %v; want %s", c.used, start, ok, err, c.want)
		}
	}
}

// The array of dst is used and written only for an answer.
func TestPlaceDst(t *testing.T) {
	g := geometry(t, "A100-40")
	used := parseUsed(t, "1g@5,1g@?")
	for _, c := range []struct {
		want  string
		after string
	}{
		{"1g,2g", "2,0,9,9"},
		{"3g,3g,1g", "9,9,9,9"},
		{"9*1g", "9,9,9,9"},
	} {
		dst := []int8{9, 9, 9, 9}
		starts, ok, err := mig.PlaceInstances(dst[:2], g, used, parseWant(t, c.want))
		if err != nil || startsText(dst) != c.after || ok && &starts[0] != &dst[0] {
			t.Errorf("%s: %v, %v, dst %v, want %s", c.want, starts, err, dst, c.after)
		}
	}
	if starts, ok, _ := mig.PlaceInstances(make([]int8, 0, 1), g, nil, parseWant(t, "1g,1g")); !ok || startsText(starts) != "0,1" || cap(starts) < 8 {
		t.Errorf("a dst that is too small: %v, %t", starts, ok)
	}
}

func TestPlaceAllocatesNothing(t *testing.T) {
	g := geometry(t, "A100-40")
	dst := make([]int8, 0, g.Slots())
	for _, used := range []string{"", "1g@5", "1g@?,2g@2"} {
		used := parseUsed(t, used)
		for _, want := range []string{"", "1g,2g", "2*2g,1gd", "3*3g", "1000*1g", "1g.6gb"} {
			want := parseWant(t, want)
			if n := testing.AllocsPerRun(10, func() { dst, _, _ = mig.PlaceInstances(dst, g, used, want) }); n > 0 {
				t.Errorf("Place(%v, %d wanted) allocates %v times", used, len(want), n)
			}
			if n := testing.AllocsPerRun(10, func() { _, _, _ = mig.BestStart(g, used, parse(t, "1g")) }); n > 0 {
				t.Errorf("Best(%v) allocates %v times", used, n)
			}
		}
	}
}

func TestRemaining(t *testing.T) {
	for _, c := range []struct{ id, geometry, used, want string }{
		{"M10", "A100-40", "", "[7 1 4 3 2 1 1]"},
		{"M11", "A100-40", "1g@0", "[6 1 3 2 1 0 0]"},
		{"M12", "A100-40", "1g@6", "[6 1 3 3 1 1 0]"},
		{"full", "A100-40", "7g@0", "[0 0 0 0 0 0 0]"},
		{"media taken", "A100-40", "1g+me@6", "[6 0 3 3 1 1 0]"},
		{"a slot without a slice", "A100-40", "3g@0,3g@4", "[0 0 0 0 0 0 0]"},
		{"one slice", "A100-40", "4g@0,2g@4", "[1 1 1 0 0 0 0]"},
		{"unknown start", "A100-40", "1g@?", "[6 1 3 3 1 1 0]"},
		{"unknown start of 3g", "A100-40", "3g@?", "[4 1 2 2 1 1 0]"},
		{"A30", "A30-24", "", "[4 1 2 1 1]"},
		{"A30: media taken", "A30-24", "1g.6gb+me@3", "[3 0 1 0 0]"},
	} {
		counts, err := mig.Remaining(geometry(t, c.geometry), parseUsed(t, c.used))
		if err != nil || fmt.Sprint(counts) != c.want {
			t.Errorf("%s: %s with %q: %v, %v; want %s", c.id, c.geometry, c.used, counts, err, c.want)
		}
	}
}

func TestBest(t *testing.T) {
	for _, c := range []struct {
		id, geometry, used, profile string
		want                        int8 // -1: can't be placed
	}{
		{"M13", "A100-40", "", "1g", 6},
		{"M14", "A100-40", "", "3g", 4},
		{"M15", "A100-40", "1g@6", "1g", 4},
		{"2g as far from 4g as it goes", "A100-40", "", "2g", 4},
		{"the double 1g too", "A100-40", "", "1gd", 6},
		{"the only start", "A100-40", "", "4g", 0},
		{"with a 4g", "A100-40", "4g@0", "1g", 6},
		{"where there is a hole", "A100-40", "1g@4,4g@0", "1g", 5},
		{"no room", "A100-40", "1g@2", "4g", -1},
		{"no media", "A100-40", "1g+me@2", "1g+me", -1},
		{"lacking", "A100-40", "", "1g.6gb", -1},
		{"A30", "A30-24", "", "1g.6gb", 0},
		{"A30: completes a pair", "A30-24", "1g.6gb@2", "1g.6gb", 3},
		{"unknown start", "A100-40", "1g@?", "1g", 6},
		{"unknown start: 3g leaves 4g", "A100-40", "3g@?", "1g", 0},
	} {
		start, ok, err := mig.BestStart(geometry(t, c.geometry), parseUsed(t, c.used), parse(t, c.profile))
		if err != nil || start != c.want || ok != (c.want >= 0) {
			t.Errorf("%s: %s on %s with %q: %d, %t, %v; want %d", c.id, c.profile, c.geometry, c.used, start, ok, err, c.want)
		}
	}
}

// A nil geometry and the zero value have room for nothing.
func TestNoGeometry(t *testing.T) {
	for _, g := range []*mig.Geometry{nil, {}} {
		if _, ok, err := mig.PlaceInstances(nil, g, nil, nil); !ok || err != nil {
			t.Errorf("nothing can't be placed: %v", err)
		}
		if _, ok, err := mig.PlaceInstances(nil, g, nil, parseWant(t, "1g")); ok || err != nil {
			t.Errorf("1g: %t, %v", ok, err)
		}
		if _, _, err := mig.PlaceInstances(nil, g, parseUsed(t, "1g@0"), nil); err == nil {
			t.Error("no error for a used 1g")
		}
		if counts, err := mig.Remaining(g, nil); len(counts) > 0 || err != nil {
			t.Errorf("Remaining: %v, %v", counts, err)
		}
		if start, ok, err := mig.BestStart(g, nil, parse(t, "1g")); start != -1 || ok || err != nil {
			t.Errorf("Best: %d, %t, %v", start, ok, err)
		}
		if _, ok := g.Profile(parse(t, "1g")); ok || g.Name() != "" || g.Slots() != 0 || g.Slices() != 0 || len(g.Profiles()) > 0 {
			t.Error("it has something")
		}
	}
}
