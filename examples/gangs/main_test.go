package main

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/resvec/resvec/examples/internal/command"
	"github.com/resvec/resvec/internal/testkit"
)

// Both engines decide the same, and the proof saves simulations, on clusters of many
// sizes.
func TestDecisions(t *testing.T) {
	for _, story := range stories {
		placed := 0
		for nodes := 1; nodes <= 60; nodes += 3 {
			for seed := range uint64(3) {
				r := testkit.Must(compare(story.action, nodes, story.make(nodes, rand.New(rand.NewPCG(seed, 5)))))
				if r.proof.simulations > r.loops.simulations {
					t.Errorf("%s, %d nodes: %d simulations with a proof, %d without", story.action, nodes, r.proof.simulations, r.loops.simulations)
				}
				placed += r.placed
			}
		}
		if placed == 0 {
			t.Errorf("%s: no gang was placed on any cluster", story.action)
		}
	}
}

// The table has a row for every action and size, and the picture is written.
func TestRun(t *testing.T) {
	var out bytes.Buffer
	results := testkit.Must(run(&out, []int{8, 40}, 1, nil))
	table, _, explained := strings.Cut(out.String(), legend)
	if rows := strings.Count(table, "\n"); rows != 1+2*len(stories) || !explained {
		t.Errorf("%d rows:\n%s", rows, out.String())
	}
	path := filepath.Join(t.TempDir(), "gangs.svg")
	testkit.Check(writePicture(path, results))
	svg, err := os.ReadFile(path)
	if err != nil || !bytes.Contains(svg, []byte("</svg>")) {
		t.Errorf("no picture: %v", err)
	}
	if writePicture(filepath.Join(t.TempDir(), "missing", "x.svg"), results) == nil {
		t.Error("no error for a folder that does not exist")
	}
	if writePicture(path, nil) == nil {
		t.Error("no error without results")
	}
}

func TestParseSizes(t *testing.T) {
	if got, err := parseSizes("10, 200"); err != nil || len(got) != 2 || got[1] != 200 {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{"", "0", "-1", "10,,20", "ten", "100001", "1e3"} {
		if _, err := parseSizes(bad); err == nil || !strings.Contains(err.Error(), "-nodes") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestHelp: every flag is in a group of the help, and the examples are right.
func TestHelp(t *testing.T) {
	testkit.Check(help.Check(func(args []string, stdout io.Writer) error {
		_, err := parseOptions(args, stdout)
		return err
	}))
}

func TestWrongFlags(t *testing.T) {
	for _, args := range [][]string{{"more"}, {"-wrong"}, {"-nodes", "0"}} {
		if status := help.Status(program(args, io.Discard, io.Discard), io.Discard); status != command.Usage {
			t.Errorf("%q: status %d", args, status)
		}
	}
}
