// Package progress shows on a terminal how far a program is.
package progress

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// width is how many columns of a terminal the line takes.
const width = 70

// A Line is a line on a terminal that rewrites itself. The nil Line, and one of a
// writer that is no terminal, writes nothing. Its methods may be called at the same
// time.
type Line struct {
	w   io.Writer
	now func() time.Time

	mu    sync.Mutex
	last  time.Time // when it was written last
	there bool      // it has a text
}

// New returns a line on w, if that is a terminal.
func New(w io.Writer) *Line {
	if IsTerminal(w) {
		return On(w, time.Now)
	}
	return nil
}

// IsTerminal reports whether someone looks at what is written.
func IsTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// On returns a line on a terminal, with a clock.
func On(w io.Writer, now func() time.Time) *Line { return &Line{w: w, now: now} }

// Printf writes the line, unless that was done less than a tenth of a second ago.
func (l *Line) Printf(format string, args ...any) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := l.now(); now.Sub(l.last) >= time.Second/10 {
		l.last, l.there = now, true
		l.write(fmt.Sprintf(format, args...))
	}
}

// Clear takes the line away, so that something else can be written.
func (l *Line) Clear() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.there {
		l.there = false
		l.write("")
	}
}

func (l *Line) write(text string) {
	if runes := []rune(text); len(runes) > width {
		text = string(runes[:width])
	}
	fmt.Fprintf(l.w, "\r%-*s\r", width, text)
}
