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
	Text(t, update, text, out.String())
	for _, name := range pictures {
		if read(t, filepath.Join(docs, name)) != read(t, filepath.Join(folder, name)) {
			t.Errorf("docs/%s is not what the program draws; go test -update writes it", name)
		}
	}
	if err := run(new(bytes.Buffer), filepath.Join(t.TempDir(), "missing")); err == nil {
		t.Error("no error for a folder that does not exist")
	}
}

// Text compares a text with the content of a file, or writes it there.
func Text(t *testing.T, update bool, file, got string) {
	t.Helper()
	if update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(read(t, file), got); diff != "" {
		t.Errorf("the text differs from %s (-want +got); go test -update writes it:\n%s", file, diff)
	}
}

// File writes a file for a program to read, and returns its path.
func File(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
