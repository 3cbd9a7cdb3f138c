//go:build !race

package testkit

// RaceEnabled says whether the race detector is on, which allocates.
const RaceEnabled = false
