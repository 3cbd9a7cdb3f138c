package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite testdata/want.md")

func TestTables(t *testing.T) {
	page := tables(readFile(t, "testdata/bench.txt"))
	const golden = "testdata/want.md"
	if *update {
		if err := os.WriteFile(golden, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), page); diff != "" {
		t.Errorf("tables differ from %s (-want +got):\n%s", golden, diff)
	}
}

// The fastest of several runs counts, and a ratio is that of the fastest runs.
func TestFastestRunCounts(t *testing.T) {
	all := readText(t,
		"BenchmarkRatio/kernel=Fit/impl=avx2/nodes=5000/cols=8-2 20 2.0 ns/node 30 rowloop-ns/node",
		"BenchmarkRatio/kernel=Fit/impl=avx2/nodes=5000/cols=8-2 20 4.0 ns/node 10 rowloop-ns/node")
	if len(all.rows) != 1 {
		t.Fatalf("%d rows, want 1", len(all.rows))
	}
	if got := all.rows[0].per(kernelTime, rowLoopTime); got != 5 {
		t.Errorf("ratio %v, want 5", got)
	}
}

// A baseline outside its band is not quoted.
func TestBaselineOutsideItsBand(t *testing.T) {
	for _, c := range []struct {
		rowLoop string
		quoted  bool
	}{
		{"4.9", false},
		{"5.0", true},
		{"15.0", true},
		{"15.1", false},
	} {
		all := readText(t, "BenchmarkRatio/kernel=Fit/impl=avx2/nodes=5000/cols=8-2 20 1.0 ns/node "+c.rowLoop+" rowloop-ns/node")
		page := tables(all)
		if quoted := strings.Contains(page, "×"); quoted != c.quoted {
			t.Errorf("row loop at %s ns: quoted %v, want %v\n%s", c.rowLoop, quoted, c.quoted, page)
		}
	}
}

func TestRun(t *testing.T) {
	dir := t.TempDir()
	md, svg := filepath.Join(dir, "page.md"), filepath.Join(dir, "picture.svg")
	if err := os.WriteFile(md, []byte("before\n<!-- bench:begin -->\nold\n<!-- bench:end -->\nafter\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var pages, pictures [2]string
	for i := range 2 { // the second run finds what the first one wrote
		if err := run("testdata/bench.txt", md, svg, "make bench"); err != nil {
			t.Fatal(err)
		}
		page, err := os.ReadFile(md)
		if err != nil {
			t.Fatal(err)
		}
		picture, err := os.ReadFile(svg)
		if err != nil {
			t.Fatal(err)
		}
		pages[i], pictures[i] = string(page), string(picture)
	}
	if pages[0] != pages[1] || pictures[0] != pictures[1] {
		t.Error("the second run differs from the first one")
	}
	for _, want := range []string{"before\n<!-- bench:begin -->\n\n`make bench`, Example CPU, go", "<!-- bench:end -->\nafter\n"} {
		if !strings.Contains(pages[0], want) {
			t.Errorf("%q is missing in\n%s", want, pages[0])
		}
	}
	if strings.Contains(pages[0], "old") {
		t.Error("the old text is still there")
	}
	for _, want := range []string{"<svg", "nodes (log scale)", "AVX-512", "pure Go"} {
		if !strings.Contains(pictures[0], want) {
			t.Errorf("%q is missing in the picture", want)
		}
	}
}

func TestErrors(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	plain := write("plain.md", "no markers\n")
	for _, c := range []struct {
		name, in, md, svg, want string
	}{
		{"no file", filepath.Join(dir, "missing"), "", "", "no such file"},
		{"no results", write("empty.txt", "PASS\n"), "", "", "no benchmark results"},
		{"bad line", write("bad.txt", "BenchmarkX notanumber 3 ns/op\n"), "", "", "iteration count"},
		{"failure", write("fail.txt", "BenchmarkX 1 3 ns/op\n--- FAIL: BenchmarkY\nFAIL\n"), "", "", "a benchmark failed"},
		{"no markers", "testdata/bench.txt", plain, "", "no section between"},
		{"nothing to draw", write("clone.txt", "BenchmarkClone/case=a/form=struct 1 3 ns/op\n"), "", filepath.Join(dir, "x.svg"), "no results of BenchmarkRatio"},
	} {
		err := run(c.in, c.md, c.svg, "make bench")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
}

func TestNumber(t *testing.T) {
	for x, want := range map[float64]string{
		0.1234: "0.12", 9.876: "9.88", 12.34: "12.3", 123.4: "123", 1234567.8: "1,234,568",
	} {
		if got := number(x); got != want {
			t.Errorf("number(%v) = %q, want %q", x, got, want)
		}
	}
}

func readFile(t *testing.T, path string) *results {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := read(f, path)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func readText(t *testing.T, lines ...string) *results {
	t.Helper()
	all, err := read(strings.NewReader(strings.Join(lines, "\n")+"\n"), "test")
	if err != nil {
		t.Fatal(err)
	}
	return all
}
