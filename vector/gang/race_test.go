//go:build race

package gang_test

// raceEnabled says that the race detector is on: tests do less then, and do not
// count allocations.
const raceEnabled = true
