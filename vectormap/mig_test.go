package vectormap

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
)

func TestParseMIG(t *testing.T) {
	for _, c := range []struct {
		name     string
		want     MIGProfile
		shared   bool
		text     string
		resource string
	}{
		{"1g.5gb", MIGProfile{0, 1, 5, ""}, false, "1g.5gb", "nvidia.com/mig-1g.5gb"},
		{"mig-1g.5gb", MIGProfile{0, 1, 5, ""}, false, "1g.5gb", "nvidia.com/mig-1g.5gb"},
		{"nvidia.com/mig-2g.10gb", MIGProfile{0, 2, 10, ""}, false, "2g.10gb", "nvidia.com/mig-2g.10gb"},
		{"1g.5gb.me", MIGProfile{0, 1, 5, "+me"}, false, "1g.5gb+me", "nvidia.com/mig-1g.5gb.me"},
		{"1g.5gb+me", MIGProfile{0, 1, 5, "+me"}, false, "1g.5gb+me", "nvidia.com/mig-1g.5gb.me"},
		{"1c.3g.20gb", MIGProfile{1, 3, 20, ""}, false, "1c.3g.20gb", "nvidia.com/mig-1c.3g.20gb"},
		{"3c.3g.20gb", MIGProfile{3, 3, 20, ""}, false, "3c.3g.20gb", "nvidia.com/mig-3c.3g.20gb"},
		{"1g.24gb+me.all", MIGProfile{0, 1, 24, "+me.all"}, false, "1g.24gb+me.all", "nvidia.com/mig-1g.24gb.me.all"},
		{"nvidia.com/mig-1g.24gb.me.all", MIGProfile{0, 1, 24, "+me.all"}, false, "1g.24gb+me.all", "nvidia.com/mig-1g.24gb.me.all"},
		{"1g.24gb-me", MIGProfile{0, 1, 24, "-me"}, false, "1g.24gb-me", "nvidia.com/mig-1g.24gb-me"},
		{"1g.24gb+gfx", MIGProfile{0, 1, 24, "+gfx"}, false, "1g.24gb+gfx", "nvidia.com/mig-1g.24gb.gfx"},
		{"1g.24gb.gfx", MIGProfile{0, 1, 24, "+gfx"}, false, "1g.24gb+gfx", "nvidia.com/mig-1g.24gb.gfx"},
		{"nvidia.com/mig-1g.5gb.shared", MIGProfile{0, 1, 5, ""}, true, "1g.5gb", "nvidia.com/mig-1g.5gb"},
		{"nvidia.com/mig-1g.5gb.me.shared", MIGProfile{0, 1, 5, "+me"}, true, "1g.5gb+me", "nvidia.com/mig-1g.5gb.me"},
		{"9999c.9999g.9999gb", MIGProfile{9999, 9999, 9999, ""}, false, "9999c.9999g.9999gb", "nvidia.com/mig-9999c.9999g.9999gb"},
	} {
		p, shared, err := ParseMIG(c.name)
		if err != nil || p != c.want || shared != c.shared {
			t.Errorf("ParseMIG(%q) = %+v, %t, %v", c.name, p, shared, err)
		}
		if p.String() != c.text || string(p.ResourceName()) != c.resource {
			t.Errorf("%q: %s, %s", c.name, p, p.ResourceName())
		}
	}
}

func TestParseMIGFaults(t *testing.T) {
	for _, name := range names(
		"", "mig-", "nvidia.com/mig-", "nvidia.com/gpu", "amd.com/mig-1g.5gb", "mig-mig-1g.5gb", "nvidia.com/mig-mig-1g.5gb",
		"1g.5gb111", "1g.5gb.", "1g.5g", "1g.5", "1g.gb", "1g", "1g.", "g.5gb", "1.5gb", "1g5gb", "1G.5gb", "1g.5GB", " 1g.5gb", "1g.5gb ",
		"0g.5gb", "01g.5gb", "1g.05gb", "1g.0gb", "-1g.5gb", "+1g.5gb", "10000g.5gb", "1g.10000gb", "99999999999999999999g.5gb",
		"4c.3g.20gb", "0c.3g.20gb", "c.3g.20gb", "1c.20gb", "1c.1c.1g.5gb", "1c.g.5gb",
		"1g.5gb+", "1g.5gb+me+me", "1g.5gb+me.gfx", "1g.5gb.all", "1g.5gb-gfx", "1g.5gb-me.all", "1g.5gb.shared.me", "1g.5gb.shared.shared",
		"1g.5gbme", "1g.5gb+ME", "1g.5gb\x00", "१g.5gb",
	) {
		p, shared, err := ParseMIG(name)
		var fault *MIGError
		if !errors.As(err, &fault) || fault.Name != name || !strings.HasSuffix(err.Error(), " is no MIG profile: "+fault.Reason) || fault.Reason == "" || p != (MIGProfile{}) || shared {
			t.Errorf("ParseMIG(%q) = %+v, %t, %v", name, p, shared, err)
		}
	}
}

func TestMIGSlices(t *testing.T) {
	const g1, g2, g7 = "nvidia.com/mig-1g.5gb", "nvidia.com/mig-2g.10gb", "nvidia.com/mig-7g.40gb"
	w1 := must(t, names("nvidia.com/gpu", g1, g2, g7))
	for i, want := range []float64{0, 0, 1, 0, 1, 2, 7} { // W1 of package device's facts
		v := w1.NewVector()
		v[i] = 1
		if got := w1.MIGSlices(v); got != want {
			t.Errorf("%s counts %v, want %v", w1.Name(i), got, want)
		}
	}
	for _, c := range []struct {
		what string
		m    *ResourceVectorMap
		v    vec
		want float64
	}{
		{"nothing", w1, nil, 0},
		{"a short vector", w1, vec{1, 1, 3}, 3},
		{"all", w1, vec{1, 1, 1, 1, 1, 1, 1}, 11},
		{"suffixes count", must(t, names(g1+".me", g1+".shared")), vec{0, 0, 0, 0, 2, 3}, 5},
		{"compute instances count their GPU instance", must(t, names("nvidia.com/mig-1c.3g.20gb")), vec{0, 0, 0, 0, 1}, 3},
		{"no profile", must(t, names(g1+"111", "nvidia.com/mig-none")), vec{0, 0, 0, 0, 4, 4}, 0},
		{"another vendor's name", must(t, names("x.io/mig-1g.5gb")), vec{0, 0, 0, 0, 4}, 0},
		{"without the domain", must(t, names("mig-2g.10gb")), vec{0, 0, 0, 0, 4}, 8},
		{"a literal", must(t, nil, Literal(UnitWhole, g1)), vec{0, 0, 0, 0, 4}, 0},
		{"NoFold: both vendors", must(t, names("nvidia.com/gpu", "amd.com/gpu", "nvidia.com/gpumem"), NoFold()), vec{0, 0, 1, 0, 2, 3, 9}, 6},
		{"shared GPUs are no GPUs", must(t, names("nvidia.com/gpu.shared")), vec{0, 0, 0, 0, 8}, 0},
		{"thousandths", must(t, names(g2), Milli("gpu", g2)), vec{0, 0, 300, 0, 500}, 1.3},
		{"ten tenths", must(t, names(g1), Milli("gpu")), vec{0, 0, 1000, 0, 1}, 2},
		{"unlimited", w1, vec{0, 0, math.Inf(1)}, math.Inf(1)},
		{"a vector of a map that extends it", must(t, names("nvidia.com/gpu")), vec{0, 0, 8, 0, 3}, 8},
		{"a long vector without slices", must(t, nil, NoFold(), WithNormalizer(ExactNormalizer{})), vec{1, 1, 0, 1, 1, 1}, 0},
	} {
		if got := c.m.MIGSlices(c.v); got != c.want {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
}

func TestTooLongVectorPanics(t *testing.T) {
	m := must(t, nil)
	long := make(vector.ResourceVector, 5)
	for what, f := range map[string]func(){
		"Explain":    func() { m.Explain(long, nil, nil) },
		"Fractional": func() { m.Fractional(long) },
	} {
		if r := testkit.Recovered(f); r != "vectormap: vector is longer than the map" {
			t.Errorf("%s: %v", what, r)
		}
	}
}
