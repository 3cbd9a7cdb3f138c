package mig_test

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/resvec/resvec/device/mig"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vectormap"
)

// geometry returns the known geometry of a name.
func geometry(name string) *mig.Geometry {
	return testkit.Must(mig.GeometryNamed(name))
}

// shortNames names the profiles of A100-40 as the facts do.
var shortNames = map[string]string{
	"1g": "1g.5gb", "1g+me": "1g.5gb+me", "1gd": "1g.10gb", "2g": "2g.10gb", "3g": "3g.20gb", "4g": "4g.20gb", "7g": "7g.40gb",
}

// parse parses a profile, or a short name of one of A100-40.
func parse(t testing.TB, name string) vectormap.MIGProfile {
	t.Helper()
	if long, ok := shortNames[name]; ok {
		name = long
	}
	p, _, err := vectormap.ParseMIG(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// parseWant reads profiles such as 3g,2g,2*1g.
func parseWant(t testing.TB, text string) []vectormap.MIGProfile {
	t.Helper()
	var want []vectormap.MIGProfile
	for _, name := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' }) {
		n := 1
		if before, after, ok := strings.Cut(name, "*"); ok {
			name = after
			testkit.Must(fmt.Sscan(before, &n))
		}
		want = append(want, slices.Repeat([]vectormap.MIGProfile{parse(t, name)}, n)...)
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
			testkit.Must(fmt.Sscan(at, &start))
		}
		used = append(used, mig.Placed{Profile: parse(t, name), Start: start})
	}
	return used
}

// startsText writes starts as the facts do.
func startsText(starts []int8) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(starts), "[]"), " ", ",")
}

// fact is a line of testdata/places.txt.
type fact struct{ name, geometry, used, want, answer string }

// facts returns the lines of a part of testdata/places.txt.
func facts(t *testing.T, part string) (list []fact) {
	t.Helper()
	text := testkit.Must(os.ReadFile("testdata/places.txt"))
	_, text, _ = bytes.Cut(text, []byte("\n\n"+part+"\n"))
	text, _, _ = bytes.Cut(text, []byte("\n\n"))
	for line := range strings.Lines(string(text)) {
		f := strings.SplitN(strings.TrimSpace(line), "|", 5)
		for i := range f {
			f[i] = strings.TrimSpace(f[i])
		}
		list = append(list, fact{f[0], f[1], f[2], f[3], f[4]})
	}
	if len(list) == 0 {
		t.Fatalf("no facts of %s", part)
	}
	return list
}

func TestPlace(t *testing.T) {
	for _, c := range facts(t, "place") { // no: can't be placed
		used := parseUsed(t, c.used)
		starts, ok, err := mig.PlaceInstances(nil, geometry(c.geometry), used, parseWant(t, c.want))
		if err != nil || ok != (c.answer != "no") || ok && startsText(starts) != c.answer || !ok && len(starts) > 0 {
			t.Errorf("%+v: %v, %t, %v", c, starts, ok, err)
		}
		if got := mig.Assumed(used); got != strings.Contains(c.used, "?") {
			t.Errorf("%+v: Assumed: %t", c, got)
		}
	}
}

func TestPlaceFaults(t *testing.T) {
	for _, c := range facts(t, "faults") {
		g, used := geometry(c.geometry), parseUsed(t, c.used)
		// Nothing else comes first: the wanted ones can't be placed either.
		starts, ok, err := mig.PlaceInstances(make([]int8, 3), g, used, parseWant(t, c.want))
		if ok || len(starts) > 0 || err == nil || err.Error() != c.answer {
			t.Errorf("Place with %s: %v, %t, %v; want %s", c.used, starts, ok, err, c.answer)
		}
		if counts, err := mig.Remaining(g, used); counts != nil || err == nil || err.Error() != c.answer {
			t.Errorf("Remaining with %s: %v, %v; want %s", c.used, counts, err, c.answer)
		}
		if start, ok, err := mig.BestStart(g, used, parse(t, "1g")); start != -1 || ok || err == nil || err.Error() != c.answer {
			t.Errorf("Best with %s: %v, %t, %v; want %s", c.used, start, ok, err, c.answer)
		}
	}
}

// The array of dst is used and written only for an answer.
func TestPlaceDst(t *testing.T) {
	g := geometry("A100-40")
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
	g := geometry("A100-40")
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
	for _, c := range facts(t, "remaining") {
		if counts, err := mig.Remaining(geometry(c.geometry), parseUsed(t, c.used)); err != nil || fmt.Sprint(counts) != c.answer {
			t.Errorf("%+v: %v, %v", c, counts, err)
		}
	}
}

func TestBest(t *testing.T) {
	for _, c := range facts(t, "best") { // -1: can't be placed
		start, ok, err := mig.BestStart(geometry(c.geometry), parseUsed(t, c.used), parse(t, c.want))
		if err != nil || fmt.Sprint(start) != c.answer || ok != (start >= 0) {
			t.Errorf("%+v: %d, %t, %v", c, start, ok, err)
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
