package benchmarks

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/resvec/resvec/benchmarks/internal/stopwatch"
	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/internal/testkit"
)

// BenchmarkRatio measures what docs/benchmarks.md quotes. One iteration times
// the baselines, the roof and the kernel in turn, so that all of them meet the
// same neighbours on a shared machine; the fastest sample of each counts.
//
//	ns/node            of the kernel
//	rowloop-ns/node    of the row loop
//	structmap-ns/node  of the struct form, where it has the operation, or of the
//	                   list form (ArgMax, TopK); per node, feasible or not
//	roof-ns/node       of loading and summing the same numbers, 8 bytes each
//	x_rowloop          how many times as fast as the row loop
//	x_structmap        how many times as fast as the struct form
//	of_roof            speed as a part of the speed of memory
//	ns/call            of the kernel
//	B/call, allocs/call, rowloop-B/call, rowloop-allocs/call, structmap-B/call,
//	structmap-allocs/call
//	                   bytes and allocations per call
func BenchmarkRatio(b *testing.B) { ratios(b, "kernel", operations) }

// ratios measures operations against their baselines, by each implementation.
func ratios(b *testing.B, what string, operations []operation) {
	for _, op := range operations {
		for _, shape := range op.ratios {
			if tooLarge(shape.nodes) {
				continue
			}
			subject := sync.OnceValue(func() *subject { return op.new(shape) })
			for _, impl := range slices.Backward(kernel.Available()) {
				b.Run(fmt.Sprintf("%s=%s/impl=%v/%v", what, op.name, impl, shape), func(b *testing.B) {
					ratio(b, subject(), impl)
				})
			}
		}
	}
}

func ratio(b *testing.B, s *subject, impl kernel.Impl) {
	defer kernel.Use(impl)()
	var all []*stopwatch.Stopwatch
	start := func(run func(k int)) *stopwatch.Stopwatch {
		w := stopwatch.New(s.variants, run)
		w.Call() // grows what has to grow
		all = append(all, w)
		return w
	}
	ours, rowloop := start(s.kernel), start(s.rowloop)
	var structmap *stopwatch.Stopwatch
	if s.structmap != nil {
		structmap = start(s.structmap)
	}
	var roofs []*stopwatch.Stopwatch
	if impl != kernel.Generic { // the pure-Go code is bound by its instructions
		for _, c := range s.roofs(impl) {
			roofs = append(roofs, start(c.run))
		}
	}

	alternate(b, all...)
	testkit.Check(s.verify())
	b.ReportMetric(ours.Best, "ns/call")
	b.ReportMetric(ours.Best/float64(s.results), "ns/node")
	b.ReportMetric(rowloop.Best/float64(s.results), "rowloop-ns/node")
	b.ReportMetric(rowloop.Best/ours.Best, "x_rowloop")
	reportAllocs(b, "", ours, s.variants)
	reportAllocs(b, "rowloop-", rowloop, s.variants)
	if structmap != nil {
		reportAllocs(b, "structmap-", structmap, s.variants)
		b.ReportMetric(structmap.Best/float64(s.results), "structmap-ns/node")
		b.ReportMetric(structmap.Best/ours.Best, "x_structmap")
	}
	if roof := fastest(roofs); roof < math.Inf(1) {
		b.ReportMetric(roof/float64(s.results), "roof-ns/node")
		b.ReportMetric(roof/ours.Best, "of_roof")
	}
}

// alternate samples all in turn, in every iteration.
func alternate(b *testing.B, all ...*stopwatch.Stopwatch) {
	for b.Loop() {
		for _, w := range all {
			w.Sample()
		}
	}
	b.ReportMetric(0, "ns/op") // of all together, which means nothing
}

// reportAllocs reports the bytes and allocations of a call: the mean over all variants,
// rounded down, since the runtime allocates a little too.
func reportAllocs(b *testing.B, contender string, w *stopwatch.Stopwatch, variants int) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range variants {
		w.Call()
	}
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64((after.TotalAlloc-before.TotalAlloc)/uint64(variants)), contender+"B/call")
	b.ReportMetric(float64((after.Mallocs-before.Mallocs)/uint64(variants)), contender+"allocs/call")
}

// fastest returns the best time of several ways to do one thing.
func fastest(all []*stopwatch.Stopwatch) float64 {
	best := math.Inf(1)
	for _, w := range all {
		best = min(best, w.Best)
	}
	return best
}
