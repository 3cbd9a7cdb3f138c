package mig_test

import (
	"math/rand/v2"
	"testing"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/device/mig"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vectormap"
)

// fuzzBytes reads numbers from fuzz data; at its end all are 0.
type fuzzBytes []byte

// n returns a number below limit.
func (b *fuzzBytes) n(limit int) int {
	if len(*b) == 0 {
		return 0
	}
	x := (*b)[0]
	*b = (*b)[1:]
	return int(x) % limit
}

// geometry reads a geometry: a known one, or any that is valid.
func (b *fuzzBytes) geometry() (*mig.Geometry, error) {
	known := knownGeometries()
	if k := b.n(len(known) + 4); k < len(known) {
		return known[k], nil
	}
	slots, slices := 1+b.n(8), 1+b.n(8)
	if b.n(4) == 0 {
		slots += b.n(5)
	}
	var profiles []mig.GeometryProfile
	for i := range 1 + b.n(6) {
		p := mig.GeometryProfile{
			Profile: vectormap.MIGProfile{G: 1 + b.n(slices), MemGB: 10 + i/2*2, Suffix: []string{"", "+me"}[i%2]},
			Slots:   1 + b.n(slots),
			Max:     1 + b.n(slots),
			Media:   b.n(3) == 0, Decoders: b.n(4),
		}
		bits := 1 + b.n(255)
		for s := range slots - p.Slots + 1 {
			if bits>>(s%8)&1 != 0 {
				p.Starts = append(p.Starts, int8(s))
			}
		}
		if len(p.Starts) == 0 {
			p.Starts = []int8{0}
		}
		profiles = append(profiles, p)
	}
	return mig.NewGeometry("fuzz", slots, slices, profiles)
}

// profile reads a profile of g, now and then under a name of about that size, or another.
func (b *fuzzBytes) profile(g *mig.Geometry) vectormap.MIGProfile {
	profiles := g.Profiles()
	if i := b.n(64); i > 0 {
		p := profiles[i%len(profiles)].Profile
		if i >= 56 {
			p.MemGB += b.n(5) - 2
		}
		return p
	}
	return vectormap.MIGProfile{C: b.n(2), G: b.n(12), MemGB: b.n(24), Suffix: []string{"", "+me", "+gfx"}[b.n(3)]}
}

// used reads instances: most can be there, some can't, some have no start.
func (b *fuzzBytes) used(g *mig.Geometry) []mig.Placed {
	m := newGolden(g)
	var used, known []mig.Placed
	for range b.n(6) {
		p := mig.Placed{Profile: b.profile(g), Start: int8(b.n(g.Slots()+2) - 1)}
		if b.n(8) == 0 {
			p.Slots = device.Slots(b.n(256) << b.n(5))
		}
		if next := append(known[:len(known):len(known)], p); m.valid(next) {
			used, known = append(used, p), next
		} else if p.Start == -1 && p.Slots == 0 || b.n(8) == 0 {
			used = append(used, p)
		}
	}
	return used
}

func checkBytes(t *testing.T, data []byte) {
	b := fuzzBytes(data)
	g := testkit.Must(b.geometry())
	used := b.used(g)
	var want []vectormap.MIGProfile
	for range b.n(g.Slots() + 2) {
		want = append(want, b.profile(g))
	}
	check(t, g, used, want)
}

func FuzzPlace(f *testing.F) {
	f.Add([]byte{0, 2, 5, 0, 4, 4, 1, 2, 3})
	f.Add([]byte{2, 3, 1, 1, 2, 2, 3, 3})
	f.Add([]byte{11, 7, 7, 5, 0, 0, 7, 1, 254, 0, 0, 7, 1, 254, 0, 0, 7, 1, 0, 0, 8, 1, 2, 3, 4, 5, 6, 7})
	r := rand.New(rand.NewPCG(5, 4))
	for range testkit.Amount(f, 100, 300, 1000) {
		data := make([]byte, 64)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		f.Add(data)
	}
	f.Fuzz(checkBytes)
}

// FuzzOwnGeometry: a profile is in the geometry of its own.
func FuzzOwnGeometry(f *testing.F) {
	for _, name := range []string{"1g.5gb", "1c.3g.20gb", "9g.5gb", "7g.40gb+gfx"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		p, _, err := vectormap.ParseMIG(name)
		if err != nil {
			return
		}
		g, err := mig.NewGeometry("own", 1, 8, []mig.GeometryProfile{{Profile: p, Slots: 1, Starts: []int8{0}, Max: 1}})
		if want := p.C == 0 && p.G <= 8; (err == nil) != want {
			t.Fatalf("%q: %v", name, err)
		}
		if _, ok, err := mig.PlaceInstances(nil, g, nil, []vectormap.MIGProfile{p}); ok != (g != nil) || err != nil {
			t.Errorf("%q on its own GPU: %t, %v", name, ok, err)
		}
	})
}
