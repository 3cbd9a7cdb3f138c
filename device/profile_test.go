package device_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/resvec/resvec/device"
)

func TestParseProfile(t *testing.T) {
	for _, c := range []struct {
		id, name string
		want     device.Profile
		text     string // as NVIDIA writes it
		resource string
	}{
		{"P1", "1g.5gb", device.Profile{G: 1, MemGB: 5}, "1g.5gb", "nvidia.com/mig-1g.5gb"},
		{"P2", "1g.5gb.me", device.Profile{G: 1, MemGB: 5, Suffix: "+me"}, "1g.5gb+me", "nvidia.com/mig-1g.5gb.me"},
		{"P3", "1c.3g.20gb", device.Profile{C: 1, G: 3, MemGB: 20}, "1c.3g.20gb", "nvidia.com/mig-1c.3g.20gb"},
		{"P4", "1g.24gb+me.all", device.Profile{G: 1, MemGB: 24, Suffix: "+me.all"}, "1g.24gb+me.all", "nvidia.com/mig-1g.24gb.me.all"},
		{"P4", "nvidia.com/mig-1g.24gb.me.all", device.Profile{G: 1, MemGB: 24, Suffix: "+me.all"}, "1g.24gb+me.all", "nvidia.com/mig-1g.24gb.me.all"},
		{"P5", "1g.24gb-me", device.Profile{G: 1, MemGB: 24, Suffix: "-me"}, "1g.24gb-me", "nvidia.com/mig-1g.24gb-me"},
	} {
		p, shared, err := device.ParseProfile(c.name)
		if p != c.want || shared || err != nil || p.String() != c.text || string(p.ResourceName()) != c.resource {
			t.Errorf("%s: %q is %+v, %v, resource %s", c.id, c.name, p, err, p.ResourceName())
		}
	}
	for id, name := range map[string]string{"P6": "1g.5gb111", "P7": "4c.3g.20gb"} {
		_, _, err := device.ParseProfile(name)
		var fault *device.ProfileError
		if !errors.As(err, &fault) || fault.Name != name {
			t.Errorf("%s: %q: %v", id, name, err)
		}
	}
	if p, shared, err := device.ParseProfile("nvidia.com/mig-1g.5gb.shared"); p != (device.Profile{G: 1, MemGB: 5}) || !shared || err != nil {
		t.Errorf("shared: %+v, %t, %v", p, shared, err)
	}
}

// FuzzParseProfile checks that both names of a profile read as the profile.
func FuzzParseProfile(f *testing.F) {
	for _, name := range []string{"1g.5gb", "nvidia.com/mig-1c.3g.20gb.me.all.shared", "mig-1g.5gb111", "1g.24gb-me", "7g.40gb+gfx", ""} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		p, shared, err := device.ParseProfile(name)
		if err != nil {
			var fault *device.ProfileError
			if !errors.As(err, &fault) || fault.Name != name || p != (device.Profile{}) || shared {
				t.Fatalf("%q: %+v, %t, %v", name, p, shared, err)
			}
			return
		}
		if shared != strings.HasSuffix(name, ".shared") {
			t.Errorf("%q: shared %t", name, shared)
		}
		for _, text := range []string{p.String(), string(p.ResourceName())} {
			if again, shared, err := device.ParseProfile(text); again != p || shared || err != nil {
				t.Errorf("%q: %q reads as %+v, %t, %v", name, text, again, shared, err)
			}
		}
	})
}
