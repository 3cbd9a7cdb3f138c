package device_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/device/mig"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vectormap"
)

// cutGeometries are the known GPUs whose names have the sizes of their profiles, and what
// memory they have.
var cutGeometries = map[string]int64{
	"A100-40": 40960, "A100-80": 81920, "A30-24": 24576, "B200-180": 183359, "B300-269": 275040, "GB200-186": 189471, "GB300-278": 284208,
	"GH200-144": 147456, "H100-80": 81559, "H100-94": 95830, "H100-96": 97871, "H20-96": 97871, "H200-141": 143771,
	"RTX-PRO-4500-32": 32623, "RTX-PRO-5000-48": 48935, "RTX-PRO-6000-96": 97887,
}

// fewest finds how many GPUs instances need by trying all ways to fill one after the other.
type fewest struct {
	fills [][]int // the sets of instances that fit on one GPU together, how many of each profile
	known map[string]int
}

func newFewest(g *mig.Geometry) *fewest {
	f := &fewest{known: map[string]int{}}
	profiles := g.Profiles()
	var fill func(on []vectormap.MIGProfile, counts []int, from int)
	fill = func(on []vectormap.MIGProfile, counts []int, from int) {
		f.fills = append(f.fills, counts)
		for i := from; i < len(profiles); i++ {
			more := append(slices.Clone(on), profiles[i].Profile)
			if _, ok, _ := mig.PlaceInstances(nil, g, nil, more); ok {
				next := slices.Clone(counts)
				next[i]++
				fill(more, next, i)
			}
		}
	}
	fill(nil, make([]int, len(profiles)), 0)
	return f
}

// of returns how many GPUs so many instances of each profile need.
func (f *fewest) of(counts []int) int {
	first := slices.IndexFunc(counts, func(n int) bool { return n > 0 })
	if first < 0 {
		return 0
	}
	key := fmt.Sprint(counts)
	if n, ok := f.known[key]; ok {
		return n
	}
	least := math.MaxInt
	for _, fill := range f.fills {
		rest := slices.Clone(counts)
		for i := range rest {
			rest[i] -= min(rest[i], fill[i])
		}
		if rest[first] < counts[first] { // some GPU has one of these
			least = min(least, 1+f.of(rest))
		}
	}
	f.known[key] = least
	return least
}

// TestFewestGPUs compares with all ways to spread instances over GPUs, by the placement
// of package mig.
func TestFewestGPUs(t *testing.T) {
	r := testkit.Rand(31)
	for name, mebibytes := range cutGeometries {
		g := testkit.Must(mig.GeometryNamed(name))
		golden := newFewest(g)
		profiles := g.Profiles()
		for range testkit.Amount(t, 60, 200, 2000) {
			counts, names := make([]int, len(profiles)), map[string]int64{}
			for range 1 + r.IntN(10) {
				i := r.IntN(len(profiles))
				counts[i]++
				names[profiles[i].Profile.String()]++
			}
			if got, want := device.FewestGPUs(names, mebibytes<<20), golden.of(counts); got != int64(want) {
				t.Errorf("%s: %v on %d GPUs, not %d", name, names, got, want)
			}
		}
	}
	for _, c := range []struct {
		counts map[string]int64
		bytes  int64
		want   int64
	}{
		{nil, 0, 0},
		{map[string]int64{"1g.5gb": 14}, 0, 2}, // by slices
		{map[string]int64{"1g.5gb": 15}, 0, 3},
		{map[string]int64{"1g.5gb": 1 << 62}, 40 << 30, (1<<62 + 6) / 7},
		{map[string]int64{"1c.3g.20gb": 3, "2c.3g.20gb": 1}, 40 << 30, 1}, // in two GPU instances
		{map[string]int64{"1g.5gb+me": 2, "7g.40gb": 1}, 40 << 30, 3},     // a full one has the media engine
		{map[string]int64{"1g.5gb+me": 2, "7g.40gb": 1}, 0, 3},
		{map[string]int64{"1g.10gb": 7, "1g.5gb+me": 2}, 40 << 30, 3},                       // a pair of slots with a +me in it
		{map[string]int64{"1g.24gb+me.all": 1, "1g.24gb": 1, "2g.48gb-me": 3}, 96 << 30, 3}, // half of a GPU is free on each of two, and none whole
		{map[string]int64{"1g.24gb+me.all": 5, "1g.24gb-me": 15}, 96 << 30, 5},
		{map[string]int64{"1g.24gb+me.all": 1 << 62, "1g.24gb-me": 1}, 96 << 30, 1 << 62},
		{map[string]int64{"3g.39gb": 2, "1g.9gb": 1}, 80 << 30, 2}, // by the nearest size
		{map[string]int64{"1g.16gb": 7, "3g.66gb": 2}, 143771 << 20, 2},
		{map[string]int64{"1g.1gb": 8}, 80 << 30, 2},
		{map[string]int64{"1g.9999gb": 8}, 80 << 30, 8},
	} {
		if got := device.FewestGPUs(c.counts, c.bytes); got != c.want {
			t.Errorf("%v: %d GPUs, not %d", c.counts, got, c.want)
		}
	}
}
