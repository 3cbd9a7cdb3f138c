package vectormap_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/resvec/resvec/vectormap"
)

func TestMIGProfile(t *testing.T) {
	for _, c := range []struct {
		id, name string
		want     vectormap.MIGProfile
		text     string // as NVIDIA writes it
		resource string
	}{
		{"P1", "1g.5gb", vectormap.MIGProfile{G: 1, MemGB: 5}, "1g.5gb", "nvidia.com/mig-1g.5gb"},
		{"P2", "1g.5gb.me", vectormap.MIGProfile{G: 1, MemGB: 5, Suffix: "+me"}, "1g.5gb+me", "nvidia.com/mig-1g.5gb.me"},
		{"P3", "1c.3g.20gb", vectormap.MIGProfile{C: 1, G: 3, MemGB: 20}, "1c.3g.20gb", "nvidia.com/mig-1c.3g.20gb"},
		{"P4", "1g.24gb+me.all", vectormap.MIGProfile{G: 1, MemGB: 24, Suffix: "+me.all"}, "1g.24gb+me.all", "nvidia.com/mig-1g.24gb.me.all"},
		{"P4", "nvidia.com/mig-1g.24gb.me.all", vectormap.MIGProfile{G: 1, MemGB: 24, Suffix: "+me.all"}, "1g.24gb+me.all", "nvidia.com/mig-1g.24gb.me.all"},
		{"P5", "1g.24gb-me", vectormap.MIGProfile{G: 1, MemGB: 24, Suffix: "-me"}, "1g.24gb-me", "nvidia.com/mig-1g.24gb-me"},
	} {
		p, shared, err := vectormap.ParseMIG(c.name)
		if p != c.want || shared || err != nil || p.String() != c.text || string(p.ResourceName()) != c.resource {
			t.Errorf("%s: %q is %+v, %v, resource %s", c.id, c.name, p, err, p.ResourceName())
		}
	}
	for id, name := range map[string]string{"P6": "1g.5gb111", "P7": "4c.3g.20gb"} {
		_, _, err := vectormap.ParseMIG(name)
		var fault *vectormap.MIGError
		if !errors.As(err, &fault) || fault.Name != name {
			t.Errorf("%s: %q: %v", id, name, err)
		}
	}
	if p, shared, err := vectormap.ParseMIG("nvidia.com/mig-1g.5gb.shared"); p != (vectormap.MIGProfile{G: 1, MemGB: 5}) || !shared || err != nil {
		t.Errorf("shared: %+v, %t, %v", p, shared, err)
	}
}

// FuzzParseMIG checks that both names of a profile read as the profile.
func FuzzParseMIG(f *testing.F) {
	for _, name := range []string{"1g.5gb", "nvidia.com/mig-1c.3g.20gb.me.all.shared", "mig-1g.5gb111", "1g.24gb-me", "7g.40gb+gfx", ""} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		p, shared, err := vectormap.ParseMIG(name)
		if err != nil {
			var fault *vectormap.MIGError
			if !errors.As(err, &fault) || fault.Name != name || p != (vectormap.MIGProfile{}) || shared {
				t.Fatalf("%q: %+v, %t, %v", name, p, shared, err)
			}
			return
		}
		if shared != strings.HasSuffix(name, ".shared") {
			t.Errorf("%q: shared %t", name, shared)
		}
		for _, text := range []string{p.String(), string(p.ResourceName())} {
			if again, shared, err := vectormap.ParseMIG(text); again != p || shared || err != nil {
				t.Errorf("%q: %q reads as %+v, %t, %v", name, text, again, shared, err)
			}
		}
	})
}
