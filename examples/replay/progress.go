package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// progressWidth is how many columns of a terminal the progress line takes.
const progressWidth = 70

// A progress is a line on a terminal that rewrites itself. Nothing is written
// where there is no terminal. Several runs may report at the same time.
type progress struct {
	w   io.Writer // nil: none
	now func() time.Time

	mu     sync.Mutex
	runs   int // of the whole program
	begun  time.Time
	last   time.Time // when the line was written last
	done   float64   // in runs
	placed int
}

// newProgress returns a progress line on w, if that is a terminal.
func newProgress(w io.Writer) *progress {
	p := &progress{now: time.Now}
	if file, ok := w.(*os.File); ok {
		if info, err := file.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			p.w = w
		}
	}
	return p
}

// start says how many runs there will be.
func (p *progress) start(runs int) {
	if p.w != nil {
		p.runs, p.begun = runs, p.now()
	}
}

// add tells of a part of a run that was done and how many pods it placed. The
// line follows a few times per second at most.
func (p *progress) add(policy string, seed int64, part float64, placed int) {
	if p.w == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += part
	p.placed += placed
	now := p.now()
	if now.Sub(p.last) < time.Second/10 {
		return
	}
	p.last = now
	p.write(fmt.Sprintf("%s, seed %d: %.0f%%, %s placements/s", policy, seed,
		100*p.done/float64(p.runs), grouped(perSecond(p.placed, now.Sub(p.begun)))))
}

// clear takes the line away.
func (p *progress) clear() {
	if p.w != nil && !p.last.IsZero() {
		p.write("")
	}
}

func (p *progress) write(line string) {
	fmt.Fprintf(p.w, "\r%-*s\r", progressWidth, line)
}
