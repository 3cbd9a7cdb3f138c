package benchmarks

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/device/mig"
)

// BenchmarkMIGPlace asks for every multiset of 1 to slots instances on a GPU in
// every state that instances can be in, the idle one included: queries=all. Most
// are refused, so queries=possible asks only for what can be placed. ns/query is
// the mean, worst-ns the slowest single query; of several times the fastest
// counts, since the machine may be shared.
func BenchmarkMIGPlace(b *testing.B) {
	for _, name := range []string{"A100-40", "A30-24"} {
		g := must(mig.GeometryNamed(name))
		states, wants := migStates(g), migMultisets(g)
		yes := migPossible(g, states)
		var all, possible []migQueries
		for _, used := range states {
			all = append(all, migQueries{used, wants})
			possible = append(possible, migQueries{used, migPlaceable(g, used, wants)})
		}
		b.Run("geometry="+name+"/queries=all", func(b *testing.B) { migPlace(b, g, all, yes) })
		b.Run("geometry="+name+"/queries=possible", func(b *testing.B) { migPlace(b, g, possible, yes) })
	}
}

// migQueries are questions to Place about one state.
type migQueries struct {
	used  []mig.Placed
	wants [][]device.Profile
}

// migPlaceable returns the wants that can be placed.
func migPlaceable(g *mig.Geometry, used []mig.Placed, wants [][]device.Profile) [][]device.Profile {
	var yes [][]device.Profile
	for _, want := range wants {
		if _, ok, err := mig.PlaceInstances(nil, g, used, want); err == nil && ok {
			yes = append(yes, want)
		}
	}
	return yes
}

// migPlace asks all queries, to so many of which the answer is yes. It times
// them by parts and adds up the fastest time of each part.
func migPlace(b *testing.B, g *mig.Geometry, queries []migQueries, yes int) {
	parts, n := migParts(queries)
	fastest := slices.Repeat([]time.Duration{math.MaxInt64}, len(parts))
	dst := make([]int8, 0, g.Slots())
	b.ReportAllocs()
	for b.Loop() {
		placed := 0
		for i, part := range parts {
			begin := time.Now()
			placed += migAsk(dst, g, part)
			fastest[i] = min(fastest[i], time.Since(begin))
		}
		if placed != yes {
			b.Fatalf("%d of %d can be placed, want %d", placed, n, yes)
		}
	}
	var sum time.Duration
	for _, t := range fastest {
		sum += t
	}
	b.ReportMetric(float64(sum.Nanoseconds())/float64(n), "ns/query")
	b.ReportMetric(float64(n), "queries")
	b.ReportMetric(float64(migWorst(g, queries).Nanoseconds()), "worst-ns")
}

// migParts cuts queries, of which there are n, into parts that are long for a
// clock and short for a scheduler.
func migParts(queries []migQueries) (parts [][]migQueries, n int) {
	begin, size := 0, 0
	for i := range queries {
		size += len(queries[i].wants)
		n += len(queries[i].wants)
		if size >= 500 || i == len(queries)-1 {
			parts = append(parts, queries[begin:i+1])
			begin, size = i+1, 0
		}
	}
	return parts, n
}

// migAsk asks queries and returns how many can be placed.
func migAsk(dst []int8, g *mig.Geometry, queries []migQueries) int {
	placed := 0
	for i := range queries {
		for _, want := range queries[i].wants {
			_, ok, err := mig.PlaceInstances(dst, g, queries[i].used, want)
			check(err)
			if ok {
				placed++
			}
		}
	}
	return placed
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
func migMultisets(g *mig.Geometry) [][]device.Profile {
	profiles := g.Profiles()
	var all [][]device.Profile
	var grow func(want []device.Profile, from int)
	grow = func(want []device.Profile, from int) {
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

// migPossible counts the queries with the answer yes without asking: what can be
// placed in addition to a state is what a larger state has beyond it.
func migPossible(g *mig.Geometry, states [][]mig.Placed) int {
	type query struct {
		used uint64   // the instances, a bit each
		want [8]uint8 // how many of each profile
	}
	bit, kind := map[mig.Placed]int{}, map[device.Profile]int{}
	for i, p := range g.Profiles() {
		kind[p.Profile] = i
		for _, s := range p.Starts {
			bit[mig.Placed{Profile: p.Profile, Start: s}] = len(bit)
		}
	}
	possible := map[query]bool{}
	for _, state := range states {
		for part := range 1<<len(state) - 1 {
			var q query
			for i, p := range state {
				if part>>i&1 != 0 {
					q.used |= 1 << bit[p]
				} else {
					q.want[kind[p.Profile]]++
				}
			}
			possible[q] = true
		}
	}
	return len(possible)
}

// migWorst returns the time of the slowest query: all are timed once, and the
// slow ones again and again.
func migWorst(g *mig.Geometry, queries []migQueries) time.Duration {
	const batch = 5
	dst := make([]int8, 0, g.Slots())
	fastest := func(used []mig.Placed, want []device.Profile, tries int) time.Duration {
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
	for _, q := range queries {
		for _, want := range q.wants {
			if fastest(q.used, want, 1) > worst {
				worst = max(worst, fastest(q.used, want, 50))
			}
		}
	}
	return worst
}
