package testkit

import (
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

// The second size of [Linear] is step times the first. Work that grows linearly takes
// about step times as long, and work that grows with the square step² times.
const step = 32

// Linear measures how work grows with its input. prepare makes an input of size n and
// returns the work on it, which runs once. The work runs for n, and if the environment
// asks for it by RESVEC_GROWTH=1 for 32n as well: then the test logs how the best times
// of the two compare. Nothing fails by it, since a clock can't decide that on a busy
// machine. n is large enough if the work on it takes some 100 microseconds.
func Linear(t *testing.T, n int, prepare func(n int) (work func())) {
	t.Helper()
	if Environment(t, "RESVEC_GROWTH", 0) == 0 {
		prepare(n)()
		return
	}
	t.Logf("growth %4.0f, linear is %d: %s", growth(n, prepare), step, t.Name())
}

// growth returns how many times as long the work on an input takes that is larger by
// step. It takes more samples while the ratio looks worse than linear: they find better
// times, never worse ones.
func growth(n int, prepare func(n int) func()) (ratio float64) {
	small, large := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
	for range 3 {
		for range 4 {
			small = min(small, timeOf(prepare(n)))
		}
		large = min(large, timeOf(prepare(step*n)))
		if ratio = float64(large) / float64(max(small, time.Microsecond)); ratio < 3*step {
			break
		}
	}
	return ratio
}

// timeOf returns how long work takes without collecting garbage, which small work may
// leave to others.
func timeOf(work func()) time.Duration {
	runtime.GC()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	start := cpuTime()
	work()
	return cpuTime() - start
}

// Text returns a text for [Linear] that has about n bytes: before, then format for the
// numbers from 0 on, or again and again if it has no verb, then after.
func Text(n int, before, format, after string) string {
	var b strings.Builder
	b.WriteString(before)
	for i := 0; b.Len() < n; i++ {
		if strings.Contains(format, "%") {
			fmt.Fprintf(&b, format, i)
		} else {
			b.WriteString(format)
		}
	}
	return b.String() + after
}
