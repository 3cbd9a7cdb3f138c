package main

import (
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/resvec/resvec/examples/internal/command"
	"github.com/resvec/resvec/examples/internal/golden"
	"github.com/resvec/resvec/internal/testkit"
)

var update = flag.Bool("update", false, "rewrite testdata/want.md")

func TestTables(t *testing.T) {
	golden.Text(t, *update, "testdata/want.md", tables(readFile(t, "testdata/bench.txt")))
}

// The fastest of several runs counts, and a ratio is of the fastest runs.
func TestFastestRunCounts(t *testing.T) {
	all := readText(
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
		all := readText("BenchmarkRatio/kernel=Fit/impl=avx2/nodes=5000/cols=8-2 20 1.0 ns/node " + c.rowLoop + " rowloop-ns/node")
		page := tables(all)
		if quoted := strings.Contains(page, "×"); quoted != c.quoted {
			t.Errorf("row loop at %s ns: quoted %v, want %v\n%s", c.rowLoop, quoted, c.quoted, page)
		}
	}
}

// TestHelp: every flag is in a group of the help, and the examples are right.
func TestHelp(t *testing.T) {
	testkit.Check(help.Check(func(args []string, stdout io.Writer) error {
		_, err := parseOptions(args, stdout)
		return err
	}))
	for _, args := range [][]string{{"more"}, {"-wrong"}} {
		if status := help.Status(program(args, io.Discard), io.Discard); status != command.Usage {
			t.Errorf("%q: status %d", args, status)
		}
	}
}

func TestRun(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		testkit.Check(os.WriteFile(path, []byte(text), 0o644))
		return path
	}
	other := "### Other CPU\n\n| a | b |\n\n#### Kernels\n\nkept\n"
	page := "before\n<!-- bench:begin -->\n\n### Example CPU (Zen 5)\n\nstale\n\n" + other + "\n<!-- bench:end -->\nafter\n"
	o := options{
		in: "testdata/bench.txt", command: "make bench", cpu: "Example CPU (Zen 5)",
		tables:  write("tables.md", page),
		summary: write("summary.md", page),
	}
	picture := filepath.Join(dir, "summary-example-cpu-zen-5.svg")
	files := []string{o.tables, o.summary, picture}
	var before []string
	for range 2 { // the second run finds what the first one wrote
		testkit.Check(run(o))
		var after []string
		for _, file := range files {
			text := testkit.Must(os.ReadFile(file))
			after = append(after, string(text))
		}
		if before != nil && !slices.Equal(before, after) {
			t.Errorf("the second run differs from the first one:\n%s", cmp.Diff(before, after))
		}
		before = after
	}
	for i, want := range [][]string{
		{"before\n<!-- bench:begin -->\n\n### Example CPU (Zen 5)\n\n`make bench`, go", "\n\n" + other + "\n<!-- bench:end -->\nafter\n", "#### Kernels, ns per node with 5,000"},
		{"before\n<!-- bench:begin -->\n\n### Example CPU (Zen 5)\n\n`make bench`, go", "\n\n" + other + "\n<!-- bench:end -->\nafter\n", "`Fit`: which", "(summary-example-cpu-zen-5.svg)"},
		{"<svg", "nodes (log scale)", "AVX-512", "pure Go"},
	} {
		for _, w := range want {
			if !strings.Contains(before[i], w) {
				t.Errorf("%s: %q is missing in\n%s", files[i], w, before[i])
			}
		}
		if i < 3 && strings.Contains(before[i], "stale") {
			t.Errorf("%s: the old text is still there", files[i])
		}
	}
}

// A CPU that has no section yet comes behind the others.
func TestNewSection(t *testing.T) {
	page, want := "a\n<!-- bench:begin -->\n<!-- bench:end -->\nb\n", "a\n<!-- bench:begin -->\n\n"
	for _, cpu := range []string{"X", "X (2)", "Y"} {
		var err error
		if page, err = replaceSection(page, cpu, "text of "+cpu+"\n"); err != nil {
			t.Fatal(err)
		}
		want += "### " + cpu + "\n\ntext of " + cpu + "\n\n"
		if diff := cmp.Diff(want+"<!-- bench:end -->\nb\n", page); diff != "" {
			t.Errorf("%s (-want +got):\n%s", cpu, diff)
		}
	}
	if got, err := replaceSection(page, "X (2)", "text of X (2)"); err != nil || got != page {
		t.Errorf("the same text again: %v\n%s", err, cmp.Diff(page, got))
	}
}

func TestCPUName(t *testing.T) {
	for _, c := range []struct{ cpu, family, model, want string }{
		{"AMD EPYC", "25", "17", "AMD EPYC (Zen 4)"},
		{"AMD EPYC", "25", "1", "AMD EPYC (Zen 3)"},
		{"AMD EPYC 9655 96-Core Processor", "26", "2", "AMD EPYC 9655 96-Core (Zen 5)"},
		{"Intel(R) Xeon(R) Processor", "6", "143", "Intel Xeon (Sapphire Rapids)"},
		{"Intel(R) Xeon(R) Processor", "6", "999", "Intel Xeon (family 6, model 999)"},
		{"Apple M3", "", "", "Apple M3"},
		{"", "", "", "unknown CPU"},
	} {
		if got := (&results{cpu: c.cpu, family: c.family, model: c.model}).cpuName(); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

func TestErrors(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		testkit.Check(os.WriteFile(path, []byte(text), 0o644))
		return path
	}
	plain := write("plain.md", "no markers\n")
	for _, c := range []struct {
		name string
		o    options
		want string
	}{
		{"no file", options{in: filepath.Join(dir, "missing")}, "no such file"},
		{"no results", options{in: write("empty.txt", "PASS\n")}, "no benchmark results"},
		{"bad line", options{in: write("bad.txt", "BenchmarkX notanumber 3 ns/op\n")}, "iteration count"},
		{"failure", options{in: write("fail.txt", "BenchmarkX 1 3 ns/op\n--- FAIL: BenchmarkY\nFAIL\n")}, "a benchmark failed"},
		{"no markers", options{in: "testdata/bench.txt", tables: plain}, "no place between"},
		{"nothing to draw", options{in: write("clone.txt", "BenchmarkClone/case=a/form=struct 1 3 ns/op\n"), summary: filepath.Join(dir, "x.md")}, "no results of BenchmarkRatio"},
	} {
		err := run(c.o)
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
	f := testkit.Must(os.Open(path))
	defer f.Close()
	return testkit.Must(read(f, path))
}

func readText(lines ...string) *results {
	return testkit.Must(read(strings.NewReader(strings.Join(lines, "\n")+"\n"), "test"))
}
