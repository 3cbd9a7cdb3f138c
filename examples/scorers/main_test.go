package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the pictures of docs and testdata/want.txt")

// The pictures of the documentation and the tables are what the program makes.
func TestUpToDate(t *testing.T) {
	const docs, golden = "../../docs", "testdata/want.txt"
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
		t.Errorf("the tables differ from %s (-want +got):\n%s", golden, diff)
	}
	for _, name := range []string{"scoring-utilization.svg", "scoring-devices.svg"} {
		if read(t, filepath.Join(docs, name)) != read(t, filepath.Join(folder, name)) {
			t.Errorf("docs/%s is not what the program draws; go test ./examples/scorers -update writes it", name)
		}
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
