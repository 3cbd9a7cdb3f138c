package mig_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/resvec/resvec/device/mig"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vectormap"
	resourcev1 "k8s.io/api/resource/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The tables of the known GPUs: slots, slices, and for each profile its slots,
// starts, maximum, media engine and memory in MiB, 0 where only the device knows.
func TestGeometries(t *testing.T) {
	eight := func(name string, mib [4]int, names ...string) string {
		return fmt.Sprintf(`%[1]s: 8 slots, 7 slices
%[6]s: 1 at [0 1 2 3 4 5 6], 7 at most, %[2]d MiB
%[6]s+me: 1 at [0 1 2 3 4 5 6], 1 at most, media, %[2]d MiB
%[7]s: 2 at [0 2 4 6], 4 at most, %[3]d MiB
%[8]s: 2 at [0 2 4], 3 at most, %[3]d MiB
%[9]s: 4 at [0 4], 2 at most, %[4]d MiB
%[10]s: 4 at [0], 1 at most, %[4]d MiB
%[11]s: 8 at [0], 1 at most, media, %[5]d MiB
`, name, mib[0], mib[1], mib[2], mib[3], names[0], names[1], names[2], names[3], names[4], names[5])
	}
	var none [4]int
	want := eight("A100-40", [4]int{4864, 9856, 19968, 40192}, "1g.5gb", "1g.10gb", "2g.10gb", "3g.20gb", "4g.20gb", "7g.40gb") +
		eight("A100-80", [4]int{9856, 19968, 40192, 80384}, "1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb") +
		`A30-24: 4 slots, 4 slices
1g.6gb: 1 at [0 1 2 3], 4 at most, 5836 MiB
1g.6gb+me: 1 at [0 1 2 3], 1 at most, media, 5836 MiB
2g.12gb: 2 at [0 2], 2 at most, 11672 MiB
2g.12gb+me: 2 at [0 2], 1 at most, media, 11672 MiB
4g.24gb: 4 at [0], 1 at most, media, 23344 MiB
` +
		eight("B200-180", none, "1g.23gb", "1g.45gb", "2g.45gb", "3g.90gb", "4g.90gb", "7g.180gb") +
		eight("B300-269", none, "1g.34gb", "1g.67gb", "2g.67gb", "3g.135gb", "4g.135gb", "7g.269gb") +
		eight("GB200-186", none, "1g.23gb", "1g.47gb", "2g.47gb", "3g.93gb", "4g.93gb", "7g.186gb") +
		eight("GB300-278", none, "1g.35gb", "1g.70gb", "2g.70gb", "3g.139gb", "4g.139gb", "7g.278gb") +
		eight("GH200-144", none, "1g.18gb", "1g.36gb", "2g.36gb", "3g.72gb", "4g.72gb", "7g.144gb") +
		eight("H100-80", none, "1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb") +
		eight("H100-94", none, "1g.12gb", "1g.24gb", "2g.24gb", "3g.47gb", "4g.47gb", "7g.94gb") +
		eight("H100-96", none, "1g.12gb", "1g.24gb", "2g.24gb", "3g.48gb", "4g.48gb", "7g.96gb") +
		eight("H20-96", none, "1g.12gb", "1g.24gb", "2g.24gb", "3g.48gb", "4g.48gb", "7g.96gb") +
		eight("H200-141", none, "1g.18gb", "1g.35gb", "2g.35gb", "3g.71gb", "4g.71gb", "7g.141gb") +
		`RTX-PRO-4500-32: 2 slots, 2 slices
1g.16gb: 1 at [0 1], 2 at most, 1 decoders, 0 MiB
1g.16gb+gfx: 1 at [0 1], 2 at most, 1 decoders, 0 MiB
1g.16gb+me.all: 1 at [0 1], 1 at most, media, 3 decoders, 0 MiB
1g.16gb-me: 1 at [0 1], 2 at most, 0 MiB
2g.32gb: 2 at [0], 1 at most, media, 3 decoders, 0 MiB
2g.32gb+gfx: 2 at [0], 1 at most, media, 3 decoders, 0 MiB
RTX-PRO-5000-48: 2 slots, 2 slices
1g.24gb: 1 at [0 1], 2 at most, 1 decoders, 0 MiB
1g.24gb+me: 1 at [0 1], 1 at most, media, 1 decoders, 0 MiB
1g.24gb+gfx: 1 at [0 1], 2 at most, 1 decoders, 0 MiB
1g.24gb+me.all: 1 at [0 1], 1 at most, media, 3 decoders, 0 MiB
1g.24gb-me: 1 at [0 1], 2 at most, 0 MiB
2g.48gb: 2 at [0], 1 at most, media, 3 decoders, 0 MiB
2g.48gb+gfx: 2 at [0], 1 at most, media, 3 decoders, 0 MiB
RTX-PRO-6000-96: 12 slots, 4 slices
1g.24gb: 3 at [0 3 6 9], 4 at most, 1 decoders, 0 MiB
1g.24gb+me: 3 at [0 3 6 9], 1 at most, media, 1 decoders, 0 MiB
1g.24gb+gfx: 3 at [0 3 6 9], 4 at most, 1 decoders, 0 MiB
1g.24gb+me.all: 3 at [0 3 6 9], 1 at most, media, 4 decoders, 0 MiB
1g.24gb-me: 3 at [0 3 6 9], 4 at most, 0 MiB
2g.48gb: 6 at [0 6], 2 at most, 2 decoders, 0 MiB
2g.48gb+gfx: 6 at [0 6], 2 at most, 2 decoders, 0 MiB
2g.48gb+me.all: 6 at [0 6], 1 at most, media, 4 decoders, 0 MiB
2g.48gb-me: 6 at [0 6], 2 at most, 0 MiB
4g.96gb: 12 at [0], 1 at most, media, 4 decoders, 0 MiB
4g.96gb+gfx: 12 at [0], 1 at most, media, 4 decoders, 0 MiB
`
	var got strings.Builder
	for _, g := range knownGeometries() {
		fmt.Fprintf(&got, "%s: %d slots, %d slices\n", g.Name(), g.Slots(), g.Slices())
		if !strings.HasPrefix(g.Source(), "NVIDIA ") {
			t.Errorf("%s: source %q", g.Name(), g.Source())
		}
		for _, p := range g.Profiles() {
			media := ""
			if p.Media {
				media = "media, "
			}
			if p.Decoders > 0 {
				media += fmt.Sprintf("%d decoders, ", p.Decoders)
			}
			fmt.Fprintf(&got, "%v: %d at %v, %d at most, %s%d MiB\n", p.Profile, p.Slots, p.Starts, p.Max, media, p.MemoryBytes>>20)
		}
	}
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Error(diff)
	}
}

func TestGeometryFor(t *testing.T) {
	const unknown = ""
	for _, c := range []struct {
		id, product string
		mib         int64
		want        string
	}{
		{"L1", "NVIDIA-A100-SXM4-40GB", 0, "A100-40"},
		{"L2", "NVIDIA-H100-80GB-HBM3", 0, "H100-80"},
		{"L3", "NVIDIA-A10", 23028, unknown},
		{"L4", "NVIDIA-B200", 183359, "B200-180"},
		{"L5", "NVIDIA-A30-PCIE-24GB", 0, "A30-24"},

		{"the driver's spelling", "NVIDIA A100-SXM4-80GB", 0, "A100-80"},
		{"Mock", "Mock-NVIDIA-A100-SXM4-40GB", 0, "A100-40"},
		{"PCIe", "NVIDIA-A100-PCIE-40GB", 40960, "A100-40"},
		{"the name before the memory", "NVIDIA-A100-SXM4-40GB", 81920, "A100-40"},
		{"shared", "NVIDIA-A100-SXM4-80GB-SHARED", 0, "A100-80"},
		{"an instance", "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb", 4864, "A100-40"},
		{"an instance, the driver's spelling", "NVIDIA A100-SXM4-80GB MIG 1g.10gb", 9856, "A100-80"},
		{"an instance's memory says nothing", "NVIDIA-H100-NVL-MIG-7g.94gb", 95830, unknown},
		{"an instance of an only variant", "NVIDIA-H200-MIG-1g.18gb", 16384, "H200-141"},
		{"an only variant", "NVIDIA-H200", 143771, "H200-141"},
		{"an only variant of any memory", "NVIDIA-A30", 0, "A30-24"},
		{"H200 NVL", "NVIDIA-H200-NVL", 143771, "H200-141"},
		{"by memory", "NVIDIA-H100-NVL", 95830, "H100-94"},
		{"by memory: PCIe", "NVIDIA-H100-PCIe", 81559, "H100-80"},
		{"480GB is the memory of the CPU", "NVIDIA-GH200-480GB", 97871, "H100-96"},
		{"GH200 of 144 GB", "NVIDIA-GH200-144G-HBM3e", 0, "GH200-144"},
		{"GH200 of 144 GB by memory", "NVIDIA GH200", 147456, "GH200-144"},
		{"H100 of 144 GB", "NVIDIA-H100", 147456, unknown},
		{"no memory", "NVIDIA-H100-NVL", 0, unknown},
		{"negative memory", "NVIDIA-H100-NVL", -81559, unknown},
		{"A100 of 64 GB", "NVIDIA-A100-SXM-64GB", 65536, unknown},
		{"10% below 40", "A100", 36864, "A100-40"},
		{"more than 10% below", "A100", 36863, unknown},
		{"10% above 80", "A100", 90112, "A100-80"},
		{"more than 10% above", "A100", 90113, unknown},
		{"the smaller of two", "H100", 95 << 10, "H100-94"},
		{"huge", "H100", 1<<43 - 1, unknown},
		{"another size", "NVIDIA-B200-192GB", 0, "B200-180"},
		{"a size in the middle of a word", "NVIDIA-A100-x40GB", 0, unknown},
		{"a size with a zero", "NVIDIA-A100-040GB", 0, unknown},
		{"the family in the middle of a word", "NVIDIA-A100X-40GB", 40960, unknown},
		{"GB200", "NVIDIA-GB200", 189471, "GB200-186"},
		{"GB300", "NVIDIA-GB300", 284208, "GB300-278"},
		{"GB300 of a newer driver", "NVIDIA GB300", 257000, "GB300-278"},
		{"B300", "NVIDIA B300 SXM6 AC", 275040, "B300-269"},
		{"A800", "NVIDIA-A800-SXM4-80GB", 81920, "A100-80"},
		{"A800 of 40 GB", "NVIDIA A800 40GB Active", 40960, "A100-40"},
		{"H800", "NVIDIA-H800", 81559, "H100-80"},
		{"H800 NVL", "NVIDIA-H800-NVL", 95830, "H100-94"},
		{"an H800 that there is none of", "NVIDIA-H800", 110 << 10, unknown},
		{"H20", "NVIDIA-H20", 97871, "H20-96"},
		{"H20 of 141 GB", "NVIDIA-H20-3e", 143771, unknown},
		{"H20 of 141 GB by its memory", "NVIDIA-H20", 143771, unknown},
		{"an only variant of another memory", "NVIDIA-A30", 48 << 10, unknown},
		{"RTX PRO 6000", "NVIDIA RTX PRO 6000 Blackwell Server Edition", 97887, "RTX-PRO-6000-96"},
		{"RTX PRO 6000 by label", "NVIDIA-RTX-PRO-6000-Blackwell-Max-Q-Workstation-Edition", 0, "RTX-PRO-6000-96"},
		{"RTX 6000 Ada", "NVIDIA-RTX-6000-Ada-Generation", 49140, unknown},
		{"RTX PRO 5000", "NVIDIA-RTX-PRO-5000-Blackwell", 48935, "RTX-PRO-5000-48"},
		{"RTX PRO 5000 of 72 GB", "NVIDIA RTX PRO 5000 72GB Blackwell", 0, unknown},
		{"RTX PRO 5000 of 72 GB by its memory", "NVIDIA RTX PRO 5000 Blackwell", 73 << 10, unknown},
		{"RTX PRO 4500", "NVIDIA RTX PRO 4500 Blackwell Server Edition", 32623, "RTX-PRO-4500-32"},
		{"RTX PRO 4000", "NVIDIA RTX PRO 4000 Blackwell", 24467, unknown},
		{"letter case", "nvidia-a100-sxm4-40gb", 0, unknown},
		{"two families: the first", "H200-A100-40GB", 0, "H200-141"},
		{"only the part of an instance", "-MIG-A100-40GB", 0, unknown},
		{"no name", "", 40960, unknown},
		{"any separators", "A100_SXM4.40GB", 0, "A100-40"},
	} {
		g, err := mig.GeometryFor(c.product, c.mib<<20)
		if g.Name() != c.want || (err != nil) != (c.want == unknown) {
			t.Errorf("%s: %s with %d MiB: %q, %v; want %q", c.id, c.product, c.mib, g.Name(), err, c.want)
		}
		if err != nil && (!errors.Is(err, mig.ErrUnknownGeometry) || !strings.Contains(err.Error(), fmt.Sprintf("%q with %d bytes", c.product, c.mib<<20)) || g != nil) {
			t.Errorf("%s: %v", c.id, err)
		}
	}
}

// TestProfileNames: the GB of a name is rounded, and differs by driver and board.
func TestProfileNames(t *testing.T) {
	for _, c := range []struct {
		geometry, name string
		want           string // as the geometry has it; empty: foreign
	}{
		{"A100-80", "3g.39gb", "3g.40gb"},
		{"A100-80", "4g.39gb", "4g.40gb"},
		{"A100-80", "7g.79gb", "7g.80gb"},
		{"A100-80", "2g.19gb", "2g.20gb"},
		{"A100-80", "1g.9gb", "1g.10gb"},
		{"A100-80", "1g.11gb+me", "1g.10gb+me"},
		{"A100-80", "1g.19gb", "1g.20gb"},
		{"A100-40", "3g.19gb", "3g.20gb"},
		{"A100-40", "1g.9gb", "1g.10gb"},
		{"H100-94", "3g.46gb", "3g.47gb"},
		{"H200-141", "1g.16gb", "1g.18gb"},
		{"H200-141", "1g.33gb", "1g.35gb"},
		{"GB200-186", "1g.24gb", "1g.23gb"},
		{"GB200-186", "1g.24gb+me", "1g.23gb+me"},
		{"GB200-186", "3g.95gb", "3g.93gb"},
		{"GB200-186", "7g.189gb", "7g.186gb"},
		{"GB300-278", "1g.31gb", "1g.35gb"},
		{"GB300-278", "3g.126gb", "3g.139gb"},
		{"GB300-278", "7g.251gb", "7g.278gb"},
		{"RTX-PRO-6000-96", "1g.23gb+me.all", "1g.24gb+me.all"},
		{"A100-80", "3g.20gb", ""}, // of another GPU
		{"A100-80", "2g.39gb", ""}, // of other slices
		{"A100-80", "1g.15gb", ""}, // as near to one size as to the other
		{"A30-24", "1g.10gb", ""},
		{"A100-40", "1g.6gb", ""},
		{"A100-40", "1g.5gb-me", ""},
		{"A100-40", "1c.3g.20gb", ""},
		{"", "1g.5gb", ""},
	} {
		var g *mig.Geometry
		if c.geometry != "" {
			g = geometry(c.geometry)
		}
		p, ok := g.Profile(parse(t, c.name))
		if ok != (c.want != "") || ok && p.Profile.String() != c.want {
			t.Errorf("%s, %s: %v, %t; want %q", c.geometry, c.name, p.Profile, ok, c.want)
		}
		starts, placed, err := mig.PlaceInstances(nil, g, nil, parseWant(t, c.name))
		if placed != ok || err != nil {
			t.Errorf("%s, %s: placed at %v, %v", c.geometry, c.name, starts, err)
		}
	}
	for _, gb := range []int{math.MaxInt/4 + 1, math.MaxInt/2 + 1, math.MaxInt, math.MinInt, -10, 0} {
		if p, ok := geometry("A100-80").Profile(vectormap.MIGProfile{G: 1, MemGB: gb}); ok {
			t.Errorf("%d GB: %v", gb, p.Profile)
		}
	}
	// Both names of a profile count together, and used ones are as they are written.
	g := geometry("A100-80")
	used := parseUsed(t, "3g.39gb@0,3g.40gb@4")
	if text, err := mig.ExplainPlace(g, used, parseWant(t, "1g.10gb")); text != "9 memory slots of 8" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	if _, _, err := mig.PlaceInstances(nil, g, append(used, parseUsed(t, "1g.9gb@4")...), nil); err == nil || !strings.Contains(err.Error(), "used[2]: 1g.9gb@4: must not overlap used[1]: 3g.40gb@4") {
		t.Errorf("an overlap: %v", err)
	}
	// Of sizes as near as each other, the smaller.
	near := []mig.GeometryProfile{
		{Profile: vectormap.MIGProfile{G: 1, MemGB: 22}, Slots: 2, Starts: []int8{0}, Max: 1},
		{Profile: vectormap.MIGProfile{G: 1, MemGB: 20}, Slots: 1, Starts: []int8{0, 1}, Max: 2},
	}
	for name, want := range map[string]int{"1g.20gb": 20, "1g.21gb": 20, "1g.22gb": 22, "1g.23gb": 22} {
		if p, ok := testkit.Must(mig.NewGeometry("near", 2, 2, near)).Profile(parse(t, name)); !ok || p.Profile.MemGB != want {
			t.Errorf("%s: %v, %t", name, p.Profile, ok)
		}
	}
}

// rtxPro is a geometry that isn't known here: four slots, and a profile that
// keeps off the media engine.
func rtxPro() []mig.GeometryProfile {
	return []mig.GeometryProfile{
		{Profile: vectormap.MIGProfile{G: 4, MemGB: 96}, Slots: 4, Starts: []int8{0}, Max: 1, Media: true},
		{Profile: vectormap.MIGProfile{G: 1, MemGB: 24}, Slots: 1, Starts: []int8{3, 2, 1, 0}, Max: 4},
		{Profile: vectormap.MIGProfile{G: 1, MemGB: 24, Suffix: "+me.all"}, Slots: 1, Starts: []int8{0, 1, 2, 3}, Max: 1, Media: true},
		{Profile: vectormap.MIGProfile{G: 1, MemGB: 24, Suffix: "-me"}, Slots: 1, Starts: []int8{0, 1, 2, 3}, Max: 4},
		{Profile: vectormap.MIGProfile{G: 2, MemGB: 48}, Slots: 2, Starts: []int8{0, 2}, Max: 2, MemoryBytes: 47 << 30},
	}
}

func TestNewGeometry(t *testing.T) {
	profiles := rtxPro()
	g, err := mig.NewGeometry("RTX-PRO-6000", 4, 4, profiles)
	if err != nil {
		t.Fatal(err)
	}
	profiles[1].Starts[0], profiles[0].Slots = 7, 1
	if diff := cmp.Diff(rtxPro(), g.Profiles()); diff != "" || g.Name() != "RTX-PRO-6000" || g.Slots() != 4 || g.Slices() != 4 {
		t.Errorf("it isn't as given: %s", diff)
	}
	g.Profiles()[1].Starts[0] = 7
	p, ok := g.Profile(vectormap.MIGProfile{G: 1, MemGB: 24})
	if diff := cmp.Diff(rtxPro()[1], p); diff != "" || !ok {
		t.Errorf("the copy isn't one: %s", diff)
	}
	p.Starts[0] = 7
	if starts, ok, err := mig.PlaceInstances(nil, g, nil, parseWant(t, "2g.48gb,1g.24gb,1g.24gb-me")); !ok || err != nil || startsText(starts) != "0,2,3" {
		t.Errorf("Place: %v, %t, %v", starts, ok, err)
	}
	if counts, err := mig.Remaining(g, parseUsed(t, "1g.24gb+me.all@0")); err != nil || fmt.Sprint(counts) != "[0 3 0 3 1]" {
		t.Errorf("Remaining: %v, %v", counts, err)
	}
	// A maximum that neither slots nor slices imply.
	few := rtxPro()
	few[1].Max = 2
	if g, err = mig.NewGeometry("few", 4, 4, few); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := mig.PlaceInstances(nil, g, nil, parseWant(t, "3*1g.24gb")); ok || err != nil {
		t.Errorf("three of at most two: %t, %v", ok, err)
	}
	if _, ok, err := mig.PlaceInstances(nil, g, parseUsed(t, "1g.24gb@3,1g.24gb@0"), parseWant(t, "1g.24gb")); ok || err != nil {
		t.Errorf("one more than two: %t, %v", ok, err)
	}
	if _, _, err := mig.PlaceInstances(nil, g, parseUsed(t, "1g.24gb@3,1g.24gb@0,1g.24gb@1"), nil); err == nil {
		t.Error("no error for three used of at most two")
	}
}

func TestNewGeometryFaults(t *testing.T) {
	with := func(change func(p []mig.GeometryProfile)) []mig.GeometryProfile {
		p := rtxPro()
		change(p)
		return p
	}
	type profiles = []mig.GeometryProfile
	for _, c := range []struct {
		what          string
		slots, slices int
		profiles      profiles
		want          []string // type and field
	}{
		{"no slots or slices", 0, -1, rtxPro(), []string{"Invalid slots", "Invalid slices"}},
		{"too many of both", 33, 33, nil, []string{"Invalid slots", "Invalid slices"}},
		{"no profiles", 4, 4, nil, []string{"Required profiles"}},
		{"too many profiles", 4, 4, make(profiles, 33), []string{"TooMany profiles"}},
		{"one slice less", 4, 3, rtxPro(), []string{"Invalid profiles[0].profile"}},
		{"one slot less", 3, 4, with(func(p profiles) { p[1].Starts, p[2].Starts, p[3].Starts = []int8{2}, []int8{0}, []int8{1} }), []string{
			"Invalid profiles[0].slots", "Invalid profiles[1].max", "Invalid profiles[3].max", "Invalid profiles[4].starts[1]"}},
		{"a profile twice", 4, 4, with(func(p profiles) { p[3].Profile = p[1].Profile }), []string{"Duplicate profiles[3].profile"}},
		{"a compute instance", 4, 4, with(func(p profiles) { p[0].Profile.C = 1 }), []string{"Invalid profiles[0].profile"}},
		{"no profile", 4, 4, with(func(p profiles) { p[0].Profile = vectormap.MIGProfile{} }), []string{"Invalid profiles[0].profile"}},
		{"a suffix in another spelling", 4, 4, with(func(p profiles) { p[2].Profile.Suffix = ".me" }), []string{"Invalid profiles[2].profile"}},
		{"a shared one", 4, 4, with(func(p profiles) { p[2].Profile.Suffix = ".shared" }), []string{"Invalid profiles[2].profile"}},
		{"no slots in it", 4, 4, with(func(p profiles) { p[0].Slots = 0 }), []string{"Invalid profiles[0].slots"}},
		{"more slots than any", 4, 4, with(func(p profiles) { p[0].Slots = math.MaxInt }), []string{"Invalid profiles[0].slots"}},
		{"no maximum", 4, 4, with(func(p profiles) { p[0].Max = 0 }), []string{"Invalid profiles[0].max"}},
		{"a maximum above the slots", 4, 4, with(func(p profiles) { p[1].Max = 5 }), []string{"Invalid profiles[1].max"}},
		{"no start", 4, 4, with(func(p profiles) { p[4].Starts = nil }), []string{"Required profiles[4].starts"}},
		{"a start twice", 4, 4, with(func(p profiles) { p[4].Starts = []int8{2, 0, 2} }), []string{"Duplicate profiles[4].starts[2]"}},
		{"starts outside", 4, 4, with(func(p profiles) { p[4].Starts = []int8{-1, 3, 127} }), []string{
			"Invalid profiles[4].starts[0]", "Invalid profiles[4].starts[1]", "Invalid profiles[4].starts[2]"}},
		{"decoders below 0 and beyond all", 4, 4, with(func(p profiles) { p[3].Decoders, p[4].Decoders = -1, math.MaxInt }), []string{"Invalid profiles[3].decoders", "Invalid profiles[4].decoders"}},
		{"negative memory", 4, 4, with(func(p profiles) { p[4].MemoryBytes = -1 }), []string{"Invalid profiles[4].memoryBytes"}},
	} {
		g, err := mig.NewGeometry("g", c.slots, c.slices, c.profiles)
		got := fieldFaults(err)
		if c.what == "too many profiles" {
			got = got[:1] // and what is wrong with each
		}
		if g != nil || !cmp.Equal(got, c.want) {
			t.Errorf("%s: %v", c.what, err)
		}
	}
	if _, err := mig.NewGeometry("", 4, 4, rtxPro()); !cmp.Equal(fieldFaults(err), []string{"Required name"}) {
		t.Errorf("no name: %v", err)
	}
}

// fieldFaults lists the faults of a configuration.
func fieldFaults(err error) (faults []string) {
	types := map[field.ErrorType]string{
		field.ErrorTypeInvalid: "Invalid", field.ErrorTypeRequired: "Required",
		field.ErrorTypeDuplicate: "Duplicate", field.ErrorTypeTooMany: "TooMany",
	}
	var all utilerrors.Aggregate
	if !errors.As(err, &all) {
		return nil
	}
	for _, e := range all.Errors() {
		var fault *field.Error
		errors.As(e, &fault)
		faults = append(faults, types[fault.Type]+" "+fault.Field)
	}
	return faults
}

// The most profiles, slots and slices that a geometry can have, in the order
// that is worst for a search: all but the last can be anywhere.
func TestLargestGeometry(t *testing.T) {
	for _, slots := range []int{8, 32} {
		var anywhere []int8
		for s := range slots {
			anywhere = append(anywhere, int8(s))
		}
		var profiles []mig.GeometryProfile
		for i := range 32 {
			p := mig.GeometryProfile{Profile: vectormap.MIGProfile{G: 1, MemGB: 1000 + i}, Slots: 1, Starts: anywhere, Max: slots}
			switch i {
			case 3, 5:
				p.Starts = p.Starts[:slots-1]
			case 29, 30, 31:
				p.Starts = p.Starts[:2]
			}
			profiles = append(profiles, p)
		}
		g := testkit.Must(mig.NewGeometry("large", slots, slots, profiles))
		var want []vectormap.MIGProfile
		for _, i := range []int{0, 3, 1, 5, 2, 29, 30, 31} {
			want = append(want, profiles[i].Profile)
		}
		for i := len(want); i < slots; i++ {
			want = append(want, profiles[6+i%20].Profile)
		}
		if starts, ok, err := mig.PlaceInstances(nil, g, nil, want); ok || err != nil {
			t.Errorf("%d slots, three that start at 0 or 1: %v, %v", slots, starts, err)
		}
		want[7] = profiles[6].Profile
		if starts, ok, err := mig.PlaceInstances(nil, g, nil, want); !ok || err != nil {
			t.Errorf("%d slots: %v, %v", slots, starts, err)
		}
	}
}

// Twelve slots: an instance on the last of them, as a slice declares it.
func TestTwelveSlots(t *testing.T) {
	d := sliceInstance("a", "1g.24gb", 9, 10, 11)
	product := "NVIDIA RTX PRO 6000 Blackwell Server Edition"
	d.Attributes["productName"] = resourcev1.DeviceAttribute{StringValue: &product}
	node := slicedNode(t, d)
	gpu := mig.GPUs(node)[0]
	gpu.Geometry = geometry("RTX-PRO-6000-96") // slicedNode's GPU is another
	if len(node.Problems) > 0 || node.Devices[0].Slots.String() != "9,10,11" {
		t.Errorf("%v, %v", node.Devices[0].Slots, node.Problems)
	}
	starts, ok, err := mig.PlaceInstances(nil, gpu.Geometry, parseUsed(t, "1g.24gb@9"), parseWant(t, "2g.48gb,1g.24gb+me.all"))
	if ok || err != nil {
		t.Errorf("a whole set of media engines: %v, %v", starts, err)
	}
	starts, ok, err = mig.PlaceInstances(nil, gpu.Geometry, gpu.Instances, parseWant(t, "1g.24gb+me,2g.48gb"))
	if !ok || err != nil || startsText(starts) != "6,0" {
		t.Errorf("the rest: %v, %t, %v", starts, ok, err)
	}
}

// knownGeometries returns all of them, sorted by name.
func knownGeometries() (list []*mig.Geometry) {
	for _, name := range []string{"A100-40", "A100-80", "A30-24", "B200-180", "B300-269", "GB200-186", "GB300-278", "GH200-144", "H100-80", "H100-94", "H100-96", "H20-96", "H200-141",
		"RTX-PRO-4500-32", "RTX-PRO-5000-48", "RTX-PRO-6000-96"} {
		g := testkit.Must(mig.GeometryNamed(name))
		list = append(list, g)
	}
	return list
}
