// Package golden compares what an example prints and draws with what is kept.
package golden

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const docs = "../../docs"

// Check runs a program that prints to out and draws to a folder. What it prints must be
// the content of the file text, and the pictures those in docs. With update they are
// written instead.
func Check(t *testing.T, update bool, run func(out io.Writer, folder string) error, text string, pictures ...string) {
	t.Helper()
	folder := t.TempDir()
	if update {
		folder = docs
	}
	var out bytes.Buffer
	if err := run(&out, folder); err != nil {
		t.Fatal(err)
	}
	if update {
		if err := os.WriteFile(text, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(read(t, text), out.String()); diff != "" {
		t.Errorf("the text differs from %s (-want +got); go test -update writes it:\n%s", text, diff)
	}
	for _, name := range pictures {
		if read(t, filepath.Join(docs, name)) != read(t, filepath.Join(folder, name)) {
			t.Errorf("docs/%s is not what the program draws; go test -update writes it", name)
		}
	}
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
