package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the picture of docs/topology.md, and testdata")

// The picture and the printed table are those that are kept.
func TestRun(t *testing.T) {
	const golden, docs = "testdata/output.txt", "../../docs"
	folder := t.TempDir()
	if *update {
		folder = docs
	}
	var out bytes.Buffer
	if err := run(&out, folder); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(golden, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(read(t, golden), out.String()); diff != "" {
		t.Errorf("the table differs from %s (-want +got):\n%s", golden, diff)
	}
	if read(t, filepath.Join(docs, "topology.svg")) != read(t, filepath.Join(folder, "topology.svg")) {
		t.Error("docs/topology.svg is not what the program draws; go test ./examples/topology -update writes it")
	}
}

func TestNoFolder(t *testing.T) {
	if err := run(new(bytes.Buffer), filepath.Join(t.TempDir(), "missing")); err == nil {
		t.Error("no error for a folder that does not exist")
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
