package main

import (
	"flag"
	"testing"

	"github.com/resvec/resvec/examples/internal/golden"
)

var update = flag.Bool("update", false, "rewrite the pictures of docs and testdata/want.txt")

// The pictures of the documentation and the tables are what the program makes.
func TestUpToDate(t *testing.T) {
	golden.Check(t, *update, run, "testdata/want.txt", "scoring-utilization.svg", "scoring-devices.svg")
}
