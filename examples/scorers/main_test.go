package main

import (
	"flag"
	"io"
	"os"
	"testing"

	"github.com/resvec/resvec/examples/internal/command"
	"github.com/resvec/resvec/examples/internal/golden"
	"github.com/resvec/resvec/internal/testkit"
)

var update = flag.Bool("update", false, "rewrite the pictures of docs and testdata/want.txt")

// The pictures of the documentation and the tables are what the program makes.
func TestUpToDate(t *testing.T) {
	golden.Check(t, *update, run, "testdata/want.txt", "scoring-utilization.svg", "scoring-devices.svg")
}

// TestHelp: every flag is in a group of the help, and the examples are right.
func TestHelp(t *testing.T) {
	t.Chdir(t.TempDir()) // the examples write files
	testkit.Check(os.Mkdir("docs", 0o755))
	testkit.Check(help.Check(program))
}

func TestWrongFlags(t *testing.T) {
	for _, args := range [][]string{{"more"}, {"-wrong"}} {
		if status := help.Status(program(args, io.Discard), io.Discard); status != command.Usage {
			t.Errorf("%q: status %d", args, status)
		}
	}
}
