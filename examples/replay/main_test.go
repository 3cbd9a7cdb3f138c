package main

import (
	"bytes"
	"context"
	"flag"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/resvec/resvec/examples/internal/golden"
	line "github.com/resvec/resvec/examples/internal/progress"
	"github.com/resvec/resvec/internal/testkit"
)

var update = flag.Bool("update", false, "write the golden files anew")

// runProgram runs the program and returns what it wrote.
func runProgram(ctx context.Context, args ...string) (status int, stdout, stderr string) {
	var out, errs bytes.Buffer
	status = run(ctx, args, &out, &errs)
	return status, out.String(), errs.String()
}

// isLong reports whether the environment asks for all of the tests. Otherwise they run the
// same cases once, on one implementation: the packages that the program calls have their
// own tests for all.
func isLong(t *testing.T) bool { return testkit.Amount(t, 0, 0, 1) > 0 }

// The report up to the speed is the same on every CPU and with any number of
// runs at a time.
func TestReport(t *testing.T) {
	each := testkit.EachImpl
	if !isLong(t) {
		each = func(t *testing.T, f func(*testing.T)) { f(t) }
	}
	each(t, func(t *testing.T) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
		golden.Text(t, *update, "testdata/default.txt", reportOf(t))
	})
	if testing.Short() {
		return
	}
	few := []string{"-seeds", "3", "-policies", "bestfit,random"}
	several := reportOf(t, few...)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if one := reportOf(t, few...); one != several {
		t.Errorf("one run at a time:\n%s\nseveral:\n%s", one, several)
	}
}

// reportOf returns what the program writes before the speed of each policy.
func reportOf(t *testing.T, args ...string) string {
	t.Helper()
	status, out, errs := runProgram(t.Context(), args...)
	if status != 0 || errs != "" {
		t.Fatalf("%v: status %d: %s", args, status, errs)
	}
	report, speed, ok := strings.Cut(out, "\nspeed ")
	if !ok || strings.Count(speed, "\n") < 2 {
		t.Errorf("%v: the report does not end with the speed of each policy:\n%s", args, out)
	}
	return report
}

// The tables and the lists that they were made from give the same report.
func TestReportOnTheLists(t *testing.T) {
	args := []string{"-seeds", "2", "-policies", "Random,DotProd"}
	files := []string{"-nodes", listFile(t, nodeList), "-pods", listFile(t, podList("default"))}
	if got, want := reportOf(t, append(files, args...)...), reportOf(t, args...); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Nothing was published of one run's spread, another demand or other nodes.
func TestReportWithoutPublishedResults(t *testing.T) {
	nodes := golden.File(t, "nodes.csv", nodeHeader+"a,64000,262144,2,T4\n")
	for _, test := range []struct {
		args      string
		published bool
	}{
		{"-seeds 1 -policies BestFit", true},
		{"-seeds 2 -policies BestFit -inflate 0.5", false},
		{"-seeds 2 -policies BestFit -nodes " + nodes, false},
	} {
		report := reportOf(t, strings.Fields(test.args)...)
		if strings.Contains(report, "published") != test.published || strings.Contains(report, "cells within") {
			t.Errorf("%s:\n%s", test.args, report)
		}
	}
}

func TestStatus(t *testing.T) {
	folder := t.TempDir()
	file := func(name, text string) string { return golden.File(t, name, text) }
	bad := file("bad.csv", podHeader+"a,1,2,1,2000\n")
	for _, test := range []struct {
		args   string
		status int
		stderr string // part of the one line
	}{
		{"-help", 0, ""},
		{"-seed -7 -seeds 1 -policies BESTFIT -ties SHAPE", 0, ""},
		{"-seeds 2 -policies BestFit -nodes " + file("nodes.csv", nodeHeader+"a,9000,9000,1,\n"), 0, ""},
		{"-seeds 2 -inflate 1e-9 -pods " + file("one.csv", podHeader+"a,1,2,1,1000\n") + " -plot " + filepath.Join(folder, "nobody.svg"), 0, ""}, // no pod arrives
		{"-unknown", 2, "-unknown"},
		{"-seed x", 2, `"x"`},
		{"-seed 9223372036854775807", 2, "-seed: got 9223372036854775807, want at most"},
		{"-seeds 0", 2, "-seeds: got 0, want a number from 1 to 10000"},
		{"-seeds -1", 2, "-seeds: got -1"},
		{"-inflate 0", 2, "-inflate: got 0, want a number above 0"},
		{"-inflate -1.3", 2, "-inflate: got -1.3"},
		{"-inflate NaN", 2, "-inflate: got NaN"},
		{"-inflate +Inf", 2, "-inflate: got +Inf"},
		{"-inflate x", 2, `"x"`},
		{"-ties none", 2, `-ties: unknown rule "none", want one of permuted, shape, random`},
		{"-plot picture.gif", 2, `-plot: got "picture.gif", want a name that ends in .svg, .png, .pdf`},
		{"-check -seeds 1", 2, "-check"},
		{"-check -inflate 1.2", 2, "-check"},
		{"extra", 2, `"extra"`},
		{"-policies FGD,worst", 2, `unknown policy "worst", want some of Random,DotProd,GpuClustering,GpuPacking,BestFit,FGD`},
		{"-policies FGD,fgd", 2, "FGD stands there twice"},
		{"-policies=", 2, "empty value for -policies"},
		{"-nodes=", 2, "empty value for -nodes"},
		{"-nodes " + filepath.Join(folder, "none.csv"), 1, "none.csv: no such file"},
		{"-pods " + folder, 1, "is a directory"},
		{"-nodes " + file("huge.csv", "cpu_milli,memory_mib,gpu,model,count\n1,1,256,A,262145\n"), 1,
			"262145 nodes with up to 256 devices: at most 67108864 devices can be kept"},
		{"-pods " + bad, 1, bad + `: row 2: column gpu_milli: got "2000", want a whole number from 1 to 1000`},
		{"-pods " + file("cpu.csv", podHeader+"a,1,2,0,0\n"), 1, "cpu.csv: no pod asks for a GPU"},
		{"-check -nodes " + file("other.csv", nodeHeader+"a,9000,9000,1,\n"), 1, "-check: nothing was published of these lists"},
		{"-check -seeds 2 -policies FGD,BestFit -ties random", 1, "check failed: "},
		{"-seeds 1 -policies BestFit -csv " + filepath.Join(folder, "none", "out.csv"), 1, "out.csv: no such file"},
	} {
		status, out, errs := runProgram(t.Context(), strings.Fields(test.args)...)
		lines := 0
		if test.status != 0 {
			lines = 1
		}
		if status != test.status || strings.Count(errs, "\n") != lines || !strings.Contains(errs, test.stderr) {
			t.Errorf("%s: status %d, stderr %q, want %d and %q", test.args, status, errs, test.status, test.stderr)
		}
		if failed := strings.Contains(errs, "check failed") || strings.Contains(errs, "out.csv"); (status == 0 || failed) != (out != "") {
			t.Errorf("%s: status %d with %d bytes of output", test.args, status, len(out))
		}
	}
}

func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if status, _, errs := runProgram(ctx); status != 130 || errs != "replay: interrupted\n" {
		t.Errorf("status %d, %q", status, errs)
	}
}

func TestProgress(t *testing.T) {
	var terminal bytes.Buffer
	now := time.Unix(1e9, 0)
	clock := func() time.Time { return now }
	p := progress{line: line.On(&terminal, clock), now: clock}
	p.start(4)
	now = now.Add(time.Hour)
	p.add("FGD", 42, 0.5, 7200)
	p.add("FGD", 42, 0.5, 3600) // too soon
	p.clear()
	shown, blank, ok := strings.Cut(strings.TrimPrefix(terminal.String(), "\r"), "\r\r")
	if !ok || strings.TrimSpace(shown) != "FGD, seed 42: 12%, 2 placements/s" || strings.TrimSpace(blank) != "" {
		t.Errorf("wrote %q", terminal.String())
	}
	file := testkit.Must(os.Create(filepath.Join(t.TempDir(), "stderr")))
	defer file.Close()
	if newProgress(file).line != nil {
		t.Error("a file is taken for a terminal")
	}
	new(progress).add("", 0, 0, 0)
	new(progress).clear()
}

func TestGrouped(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 8152: "8,152", 1234567: "1,234,567"} {
		if got := grouped(n); got != want {
			t.Errorf("grouped(%d) = %q, want %q", n, got, want)
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
