package main

import (
	"flag"
	"testing"

	"github.com/resvec/resvec/examples/internal/golden"
)

var update = flag.Bool("update", false, "write the picture of docs/topology.md, and testdata")

// The picture and the printed table are those that are kept.
func TestRun(t *testing.T) {
	golden.Check(t, *update, run, "testdata/output.txt", "topology.svg")
}
