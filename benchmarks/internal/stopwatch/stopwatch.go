// Package stopwatch times functions that take turns, so that all of them meet the same
// neighbours on a shared machine.
package stopwatch

import (
	"math"
	"time"
)

// Stopwatch keeps the time per call of a function's fastest sample.
type Stopwatch struct {
	// Best is the time per call of the fastest sample, in nanoseconds: infinite
	// without a sample.
	Best float64

	run         func(k int)
	k, variants int // the next variant of the question, and how many there are
	calls       int // per sample
}

const (
	shortest = 200 * time.Microsecond // a sample: long against the clock's resolution
	warmUps  = 2                      // calls before a sample
	warm     = 20 * time.Millisecond  // calls of this length warm up by themselves
)

// New returns a stopwatch of a function that is asked the variants 0 to variants-1 of a
// question in turn.
func New(variants int, run func(k int)) *Stopwatch {
	return &Stopwatch{run: run, variants: variants, calls: 1, Best: math.Inf(1)}
}

// Sample times some calls. The calls before them bring the data back into the
// caches, which the others have emptied.
func (w *Stopwatch) Sample() {
	for range warmUps {
		if w.Best < float64(warm) || math.IsInf(w.Best, 1) {
			w.Call()
		}
	}
	for {
		start := time.Now()
		for range w.calls {
			w.Call()
		}
		elapsed := time.Since(start)
		if elapsed >= shortest {
			w.Best = min(w.Best, float64(elapsed)/float64(w.calls))
			return
		}
		w.calls *= 2
	}
}

// Call asks the next variant without timing it.
func (w *Stopwatch) Call() {
	w.run(w.k)
	w.k = (w.k + 1) % w.variants
}
