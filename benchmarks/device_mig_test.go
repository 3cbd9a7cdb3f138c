package benchmarks

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/resvec/resvec/device/mig"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vectormap"
)

// BenchmarkMIGPlace asks for every multiset of 1 to slots instances on an A100-40 in
// every state that instances can be in, the idle one included. ns/query is
// the mean, worst-ns the slowest single query; of several times the fastest
// counts, since the machine may be shared.
func BenchmarkMIGPlace(b *testing.B) {
	const possible = 14746 // queries with the answer yes
	g := testkit.Must(mig.GeometryNamed("A100-40"))
	states, wants := migStates(g), migMultisets(g)
	fastest := slices.Repeat([]time.Duration{math.MaxInt64}, len(states))
	dst := make([]int8, 0, g.Slots())
	b.ReportAllocs()
	for b.Loop() {
		placed := 0
		for i, used := range states { // long for a clock, and short for a scheduler
			begin := time.Now()
			for _, want := range wants {
				_, ok, err := mig.PlaceInstances(dst, g, used, want)
				testkit.Check(err)
				if ok {
					placed++
				}
			}
			fastest[i] = min(fastest[i], time.Since(begin))
		}
		if placed != possible {
			b.Fatalf("%d can be placed, want %d", placed, possible)
		}
	}
	var sum time.Duration
	for _, t := range fastest {
		sum += t
	}
	n := float64(len(states) * len(wants))
	b.ReportMetric(float64(sum.Nanoseconds())/n, "ns/query")
	b.ReportMetric(n, "queries")
	b.ReportMetric(float64(migWorst(g, states, wants).Nanoseconds()), "worst-ns")
}

// migStates returns every set of instances that can be on a GPU together.
func migStates(g *mig.Geometry) [][]mig.Placed {
	var all []mig.Placed
	for _, p := range g.Profiles() {
		for _, s := range p.Starts {
			all = append(all, mig.Placed{Profile: p.Profile, Start: s})
		}
	}
	var states [][]mig.Placed
	var grow func(used []mig.Placed, from int)
	grow = func(used []mig.Placed, from int) {
		states = append(states, slices.Clone(used))
		for i := from; i < len(all); i++ {
			next := append(used, all[i])
			if _, _, err := mig.PlaceInstances(nil, g, next, nil); err == nil {
				grow(next, i+1)
			}
		}
	}
	grow(nil, 0)
	return states
}

// migMultisets returns every multiset of 1 to slots profiles.
func migMultisets(g *mig.Geometry) [][]vectormap.MIGProfile {
	profiles := g.Profiles()
	var all [][]vectormap.MIGProfile
	var grow func(want []vectormap.MIGProfile, from int)
	grow = func(want []vectormap.MIGProfile, from int) {
		if len(want) > 0 {
			all = append(all, slices.Clone(want))
		}
		if len(want) == g.Slots() {
			return
		}
		for i := from; i < len(profiles); i++ {
			grow(append(want, profiles[i].Profile), i)
		}
	}
	grow(nil, 0)
	return all
}

// migWorst returns the time of the slowest query: all are timed once, and the
// slow ones again and again.
func migWorst(g *mig.Geometry, states [][]mig.Placed, wants [][]vectormap.MIGProfile) time.Duration {
	const batch = 5
	dst := make([]int8, 0, g.Slots())
	fastest := func(used []mig.Placed, want []vectormap.MIGProfile, tries int) time.Duration {
		best := time.Duration(math.MaxInt64)
		for range tries {
			begin := time.Now()
			for range batch {
				_, _, _ = mig.PlaceInstances(dst, g, used, want)
			}
			best = min(best, time.Since(begin))
		}
		return best / batch
	}
	var worst time.Duration
	for _, used := range states {
		for _, want := range wants {
			if fastest(used, want, 1) > worst {
				worst = max(worst, fastest(used, want, 50))
			}
		}
	}
	return worst
}
