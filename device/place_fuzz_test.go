package device_test

import (
	"math/rand/v2"
	"testing"

	"github.com/resvec/resvec/device"
)

// migBytes reads numbers from fuzz data; at its end all are 0.
type migBytes []byte

// n returns a number below limit.
func (b *migBytes) n(limit int) int {
	if len(*b) == 0 {
		return 0
	}
	x := (*b)[0]
	*b = (*b)[1:]
	return int(x) % limit
}

// geometry reads a geometry: a known one, or any that is valid.
func (b *migBytes) geometry() (*device.Geometry, error) {
	known := device.Geometries()
	if k := b.n(len(known) + 4); k < len(known) {
		return known[k], nil
	}
	slots, slices := 1+b.n(8), 1+b.n(8)
	var profiles []device.GeometryProfile
	for i := range 1 + b.n(6) {
		p := device.GeometryProfile{
			Profile: device.Profile{G: 1 + b.n(slices), MemGB: 1 + i/2, Suffix: []string{"", "+me"}[i%2]},
			Slots:   1 + b.n(slots),
			Max:     1 + b.n(slots),
			Media:   b.n(3) == 0,
		}
		bits := 1 + b.n(255)
		for s := range slots - p.Slots + 1 {
			if bits>>s&1 != 0 {
				p.Starts = append(p.Starts, int8(s))
			}
		}
		if len(p.Starts) == 0 {
			p.Starts = []int8{0}
		}
		profiles = append(profiles, p)
	}
	return device.NewGeometry("fuzz", slots, slices, profiles)
}

// profile reads a profile of g, or now and then another.
func (b *migBytes) profile(g *device.Geometry) device.Profile {
	profiles := g.Profiles()
	if i := b.n(64); i > 0 {
		return profiles[i%len(profiles)].Profile
	}
	return device.Profile{C: b.n(2), G: b.n(12), MemGB: b.n(24), Suffix: []string{"", "+me", "+gfx"}[b.n(3)]}
}

// used reads instances: most can be there, some can't, some have no start.
func (b *migBytes) used(g *device.Geometry) []device.Placed {
	m := newMIGGolden(g)
	var used, known []device.Placed
	for range b.n(6) {
		p := device.Placed{Profile: b.profile(g), Start: int8(b.n(g.Slots()+2) - 1)}
		if b.n(8) == 0 {
			p.Slots = uint8(b.n(256))
		}
		if next := append(known[:len(known):len(known)], p); m.valid(next) {
			used, known = append(used, p), next
		} else if p.Start == -1 && p.Slots == 0 || b.n(8) == 0 {
			used = append(used, p)
		}
	}
	return used
}

func checkMIGBytes(t *testing.T, data []byte) {
	b := migBytes(data)
	g, err := b.geometry()
	if err != nil {
		t.Fatal(err)
	}
	used := b.used(g)
	var want []device.Profile
	for range b.n(g.Slots() + 2) {
		want = append(want, b.profile(g))
	}
	checkMIG(t, g, used, want)
}

func FuzzPlace(f *testing.F) {
	f.Add([]byte{0, 2, 5, 0, 4, 4, 1, 2, 3})
	f.Add([]byte{2, 3, 1, 1, 2, 2, 3, 3})
	f.Add([]byte{11, 7, 7, 5, 0, 0, 7, 1, 254, 0, 0, 7, 1, 254, 0, 0, 7, 1, 0, 0, 8, 1, 2, 3, 4, 5, 6, 7})
	f.Fuzz(checkMIGBytes)
}

// TestPlaceRandom is a part of FuzzPlace that every run of the tests has.
func TestPlaceRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 4))
	data := make([]byte, 64)
	for range 1000 {
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		checkMIGBytes(t, data)
	}
}
