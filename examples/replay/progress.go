package main

import (
	"io"
	"sync"
	"time"

	line "github.com/resvec/resvec/examples/internal/progress"
)

// A progress is a line on a terminal about several runs, which may report at the same
// time. Nothing is written where there is no terminal.
type progress struct {
	line *line.Line
	now  func() time.Time

	mu     sync.Mutex
	runs   int // of the whole program
	begun  time.Time
	done   float64 // in runs
	placed int
}

// newProgress returns a progress line on w, if that is a terminal.
func newProgress(w io.Writer) *progress { return &progress{line: line.New(w), now: time.Now} }

// start says how many runs there will be.
func (p *progress) start(runs int) {
	if p.line != nil {
		p.runs, p.begun = runs, p.now()
	}
}

// add shows a part of a run that was done and how many pods it placed.
func (p *progress) add(policy string, seed int64, part float64, placed int) {
	if p.line == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += part
	p.placed += placed
	p.line.Printf("%s, seed %d: %.0f%%, %s placements/s", policy, seed,
		100*p.done/float64(p.runs), grouped(perSecond(p.placed, p.now().Sub(p.begun))))
}

// clear takes the line away.
func (p *progress) clear() { p.line.Clear() }
