package testkit

import (
	"os"
	"strconv"
	"testing"
)

// Environment returns a number from the environment, otherwise if it isn't set: how
// much of a test to run, or with which seed. Text that is no number fails the test.
func Environment(t testing.TB, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}
