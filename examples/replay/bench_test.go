package main

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/internal/testkit"
)

// A replayer is one of the programs that are compared. It returns the row of a
// pod, in the order of the seed, and its first device; -1 for none.
type replayer func(kind int32) (row, device int)

// An impl is a program under a name.
type impl struct {
	name string
	make func(b *testing.B, c *cluster, p *policy, seed int64) replayer
	use  kernel.Impl // of the library
	ours bool
}

// impls returns the programs that run here, the one without the library first.
func impls() []impl {
	all := []impl{{name: "scalar", make: func(_ *testing.B, c *cluster, p *policy, seed int64) replayer {
		return newScalar(c.trace, p.name, seed).place
	}}}
	for _, use := range kernel.Available() {
		name := use.String()
		if use == kernel.Generic {
			name = "purego"
		}
		all = append(all, impl{name: name, make: library, use: use, ours: true})
	}
	return all
}

func library(b *testing.B, c *cluster, p *policy, seed int64) replayer {
	s := testkit.Must(newPlacer(c, p, seed, tiesPermuted))
	return func(kind int32) (row, device int) {
		row, devices, err := s.place(kind)
		if err != nil {
			b.Fatal(err)
		}
		if len(devices) == 0 {
			return row, -1
		}
		return row, int(devices[0])
	}
}

// mostDecisions is how many decisions of a run are measured. Only the largest
// cluster has more, for which the program without the library takes minutes.
const mostDecisions = 50_000

// replay runs one program over the arrivals of a seed and returns how long the
// decisions took and what they were, in short.
func (i *impl) replay(b *testing.B, c *cluster, p *policy, seed int64) (decisions int, elapsed time.Duration, digest uint64) {
	if i.ours {
		defer kernel.Use(i.use)()
	}
	arrivals := testkit.Must(c.trace.arrivals(seed, publishedInflation))
	arrivals = arrivals[:min(len(arrivals), mostDecisions)]
	place := i.make(b, c, p, seed)
	h := uint64(14695981039346656037)
	start := time.Now()
	for _, kind := range arrivals {
		row, device := place(kind)
		h = (h ^ uint64(row+1)<<8 ^ uint64(device+1)) * 1099511628211 // FNV-1a
	}
	return len(arrivals), time.Since(start), h
}

// multiplied returns a trace with so many times the nodes and pods.
func multiplied(tr *trace, times int) *trace {
	nodes, pods := shapeCounts(tr)
	for shape := range nodes {
		nodes[shape] *= times
	}
	for shape := range pods {
		pods[shape] *= times
	}
	return newTrace(nodes, pods)
}

// BenchmarkReplay measures the whole default run, and a decision of every policy
// on clusters of one, four and sixteen times the size. All programs must place
// alike.
func BenchmarkReplay(b *testing.B) {
	tr := testkit.Must(loadTrace("", ""))
	b.Run("default", func(b *testing.B) { benchmarkDefault(b, testkit.Must(newCluster(tr))) })
	for _, times := range []int{1, 4, 16} {
		c := testkit.Must(newCluster(multiplied(tr, times)))
		for _, p := range policies {
			var want uint64
			for _, program := range impls() {
				b.Run(fmt.Sprintf("policy=%s/cluster=%dx/impl=%s", p.name, times, program.name), func(b *testing.B) {
					var decisions int
					var elapsed time.Duration
					for b.Loop() {
						n, took, digest := program.replay(b, c, p, 42)
						if want == 0 {
							want = digest
						}
						if digest != want {
							b.Fatal("places otherwise than the first program")
						}
						decisions += n
						elapsed += took
					}
					b.ReportMetric(float64(elapsed.Nanoseconds())/float64(decisions), "ns/decision")
				})
			}
		}
	}
}

// benchmarkDefault measures six policies and ten seeds, and how many times as
// fast they are as the program without the library. The programs take turns, and
// of each run the fastest iteration counts, so that other work of the machine
// counts as little as may be.
func benchmarkDefault(b *testing.B, c *cluster) {
	const seeds = 10
	all := impls()
	fastest := make([][]time.Duration, len(all)) // by policy and seed
	for i := range fastest {
		fastest[i] = slices.Repeat([]time.Duration{math.MaxInt64}, len(policies)*seeds)
	}
	decisions := 0
	for b.Loop() {
		decisions = 0
		for run := range len(policies) * seeds {
			p, seed := policies[run/seeds], int64(42+run%seeds)
			var want uint64
			for i := range all {
				n, took, digest := all[i].replay(b, c, p, seed)
				fastest[i][run] = min(fastest[i][run], took)
				if i == 0 {
					decisions, want = decisions+n, digest
				}
				if digest != want {
					b.Fatalf("%s, seed %d: %s places otherwise than %s", p.name, seed, all[i].name, all[0].name)
				}
			}
		}
	}
	elapsed := make([]time.Duration, len(all))
	for i := range all {
		for _, took := range fastest[i] {
			elapsed[i] += took
		}
	}
	for i, program := range all {
		b.ReportMetric(float64(elapsed[i].Nanoseconds())/float64(decisions), program.name+"-ns/decision")
		if program.ours {
			b.ReportMetric(elapsed[0].Seconds()/elapsed[i].Seconds(), program.name+"-times")
		}
	}
}
