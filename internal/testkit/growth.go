package testkit

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// growth is the environment variable that asks for the measurements of [Linear].
const growth = "RESVEC_GROWTH"

// The second size of [Linear] is step times the first. Work that grows linearly takes
// step times as long, and with the square step² times: the limit lies in the middle and
// leaves both a factor of more than 5.
const (
	step  = 32
	limit = 180
)

// Linear checks that work grows linearly with its input. prepare makes an input of
// size n and returns the work on it, which runs once. The work runs for n, and if the
// environment asks for it by RESVEC_GROWTH=1 for 32n as well: then the best times of
// the two are compared. n is large enough if the work on it takes some 100
// microseconds.
func Linear(t *testing.T, n int, prepare func(n int) (work func())) {
	t.Helper()
	if Environment(t, growth, 0) == 0 {
		prepare(n)()
		return
	}
	ratio := growthOf(n, prepare)
	t.Logf("%d times the input takes %.0f times as long", step, ratio)
	if ratio > limit {
		t.Errorf("more than %d", limit)
	}
}

// growthOf returns how many times as long the work on an input takes that is larger by
// step. It repeats both until the ratio is within the limit: more runs find better
// times, never worse ones, so a busy machine costs time and fails nothing.
func growthOf(n int, prepare func(n int) func()) (ratio float64) {
	small, large := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
	for range 6 {
		for range 4 {
			small = min(small, timeOf(prepare(n)))
		}
		large = min(large, timeOf(prepare(step*n)))
		if ratio = float64(large) / float64(max(small, time.Microsecond)); ratio <= limit {
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
