package main

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// An outcome is what a policy made of the arrivals of one seed.
type outcome struct {
	seed      int64
	curve     curve
	decisions int
	placed    int             // how many pods found a node
	elapsed   time.Duration   // of the decisions alone
	samples   []time.Duration // of some of them
}

const (
	// decisionsAtATime is how many pods are placed between two looks at the
	// context: few enough to stop at once.
	decisionsAtATime = 256

	// Every so many decisions one is timed alone: few enough to keep the clock
	// out of the mean.
	decisionsPerSample = 32
)

// run places the arrivals of a seed on the empty cluster. It calls progress
// after every part of them, with how many decisions it was and how many of the
// pods were placed.
func (c *cluster) run(ctx context.Context, p *policy, seed int64, opts *options, progress func(part float64, placed int)) (*outcome, error) {
	arrivals, err := c.arrivals(seed, opts.inflate)
	if err != nil {
		return nil, err
	}
	s, err := newPlacer(c, p, seed, opts.ties)
	if err != nil {
		return nil, err
	}
	out := &outcome{seed: seed, curve: curve{capacity: c.capacity}, decisions: len(arrivals)}
	out.samples = make([]time.Duration, 0, len(arrivals)/decisionsPerSample+1)
	var arrived, allocated int64
	for done := 0; done < len(arrivals); {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		part := arrivals[done:min(done+decisionsAtATime, len(arrivals))]
		before := out.placed
		start := time.Now()
		for i, kind := range part {
			var begun time.Time
			if i%decisionsPerSample == 0 {
				begun = time.Now()
			}
			row, _, err := s.place(kind)
			if err != nil {
				return nil, err
			}
			if i%decisionsPerSample == 0 {
				out.samples = append(out.samples, time.Since(begun))
			}
			arrived += c.kinds[kind].total
			if row >= 0 {
				out.placed++
				allocated += c.kinds[kind].total
			}
			out.curve.record(arrived, allocated, s.fragmented())
		}
		out.elapsed += time.Since(start)
		done += len(part)
		progress(float64(len(part))/float64(len(arrivals)), out.placed-before)
	}
	return out, nil
}

// maxRuns is how many runs there are at a time, at most: each holds some
// megabytes, and all of them should stay below a hundred.
const maxRuns = 8

// runAll runs every policy with every seed, as many at a time as there are
// cores. What they return does not depend on that.
func (c *cluster) runAll(ctx context.Context, opts *options, line *progress) ([]*result, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	results := make([]*result, len(opts.policies))
	for i, p := range opts.policies {
		results[i] = &result{policy: p, runs: make([]*outcome, opts.seeds)}
	}
	all := len(results) * opts.seeds
	line.start(all)
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), maxRuns, all) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < all && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				r, seed := results[i/opts.seeds], opts.seed+int64(i%opts.seeds)
				out, err := c.run(ctx, r.policy, seed, opts, func(part float64, placed int) {
					line.add(r.policy.name, seed, part, placed)
				})
				if err != nil {
					stop(err)
				}
				r.runs[i%opts.seeds] = out
			}
		})
	}
	workers.Wait()
	return results, context.Cause(ctx)
}
