package main

import (
	"fmt"
	"io"
	"os"
	"time"
)

// progressWidth is how many columns of a terminal the progress line takes.
const progressWidth = 60

// A progress is a line on a terminal that rewrites itself. Nothing is written
// where there is no terminal.
type progress struct {
	w    io.Writer // nil: none
	last time.Time // when it was written last
}

// newProgress returns a progress line on w, if that is a terminal.
func newProgress(w io.Writer) *progress {
	p := new(progress)
	if file, ok := w.(*os.File); ok {
		if info, err := file.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			p.w = w
		}
	}
	return p
}

// show says how far a policy is, a few times per second at most.
func (p *progress) show(name string, done, all int) {
	if p.w == nil || time.Since(p.last) < time.Second/10 {
		return
	}
	p.last = time.Now()
	p.write(fmt.Sprintf("%s: %s of %s pods", name, grouped(done), grouped(all)))
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
