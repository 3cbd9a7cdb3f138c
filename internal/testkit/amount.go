package testkit

import "testing"

// Amount returns how much of a test to run: few with -short, all if the environment asks
// for it by RESVEC_LONG=1, as continuous integration does, and otherwise usual, which
// covers the same cases with fewer repetitions. The race detector slows everything down:
// with it, all becomes usual, and usual few.
func Amount(t testing.TB, few, usual, all int) int {
	t.Helper()
	long := Environment(t, "RESVEC_LONG", 0) > 0
	switch {
	case testing.Short() || RaceEnabled && !long:
		return few
	case RaceEnabled || !long:
		return usual
	}
	return all
}
