//go:build race

package transform

// raceEnabled says that the race detector is on: tests do not count allocations
// then.
const raceEnabled = true
