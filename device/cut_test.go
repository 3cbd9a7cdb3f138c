package device_test

import (
	"slices"
	"testing"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/device/mig"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vectormap"
)

// TestFewestGPUs compares with all ways to spread instances over GPUs, by the placement
// of package mig.
func TestFewestGPUs(t *testing.T) {
	r := testkit.Rand(31)
	for _, gpu := range []struct {
		geometry string
		bytes    int64
	}{{"A100-40", 40960 << 20}, {"A100-80", 81920 << 20}, {"H100-94", 95830 << 20}, {"A30-24", 24576 << 20}, {"B200-180", 183359 << 20}} {
		g := testkit.Must(mig.GeometryNamed(gpu.geometry))
		profiles := slices.DeleteFunc(g.Profiles(), func(p mig.GeometryProfile) bool { return p.Profile.Suffix != "" })
		for range testkit.Amount(t, 60, 200, 1000) {
			counts := map[string]int64{}
			var list []vectormap.MIGProfile
			for range 1 + r.IntN(7) {
				p := profiles[r.IntN(len(profiles))].Profile
				counts[p.String()]++
				list = append(list, p)
			}
			want := int64(len(list))
			var spread func(gpus [][]vectormap.MIGProfile, rest []vectormap.MIGProfile)
			spread = func(gpus [][]vectormap.MIGProfile, rest []vectormap.MIGProfile) {
				if int64(len(gpus)) >= want {
					return
				}
				if len(rest) == 0 {
					want = int64(len(gpus))
					return
				}
				for i := range gpus {
					gpus[i] = append(gpus[i], rest[0])
					if _, ok, _ := mig.PlaceInstances(nil, g, nil, gpus[i]); ok {
						spread(gpus, rest[1:])
					}
					gpus[i] = gpus[i][:len(gpus[i])-1]
				}
				spread(append(slices.Clone(gpus), []vectormap.MIGProfile{rest[0]}), rest[1:])
			}
			spread(nil, list)
			if got := device.FewestGPUs(counts, gpu.bytes); got != want {
				t.Errorf("%s: %v on %d GPUs, not %d", gpu.geometry, list, got, want)
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
	} {
		if got := device.FewestGPUs(c.counts, c.bytes); got != c.want {
			t.Errorf("%v: %d GPUs, not %d", c.counts, got, c.want)
		}
	}
}
