package main

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
)

var update = flag.Bool("update", false, "write the golden files anew")

// runProgram runs the program and returns what it wrote.
func runProgram(ctx context.Context, args ...string) (status int, stdout, stderr string) {
	var out, errs bytes.Buffer
	status = run(ctx, args, &out, &errs)
	return status, out.String(), errs.String()
}

// The report up to the speed is the same on every CPU.
func TestReport(t *testing.T) {
	const golden = "testdata/default.txt"
	testkit.EachImpl(t, func(t *testing.T) {
		status, out, errs := runProgram(t.Context())
		if status != 0 || errs != "" {
			t.Fatalf("status %d: %s", status, errs)
		}
		report, speed, ok := strings.Cut(out, "\nspeed ")
		if !ok || strings.Count(speed, "\n") != 1+len(policies) {
			t.Errorf("the report does not end with the speed of each policy:\n%s", out)
		}
		if *update {
			if err := os.WriteFile(golden, []byte(report), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if report != string(want) {
			t.Errorf("got\n%s\nwant\n%s", report, want)
		}
	})
}

func TestStatus(t *testing.T) {
	folder := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	bad := file("bad.csv", podHeader+"a,1,2,1,2000\n")
	for _, test := range []struct {
		args   string
		status int
		stderr string // part of the one line
	}{
		{"-help", 0, ""},
		{"-seed -7 -policies FIRST-fit", 0, ""},
		{"-nodes " + file("nodes.csv", nodeHeader+"a,9000,9000,1,\n"), 0, ""},
		{"-unknown", 2, "-unknown"},
		{"-seed x", 2, `"x"`},
		{"extra", 2, `"extra"`},
		{"-policies first-fit,worst", 2, `unknown policy "worst", want some of first-fit,bestfit-sum,bestfit-dominant`},
		{"-policies=", 2, "empty value for -policies"},
		{"-nodes=", 2, "empty value for -nodes"},
		{"-nodes " + filepath.Join(folder, "none.csv"), 1, "none.csv: no such file"},
		{"-pods " + folder, 1, "is a directory"},
		{"-nodes " + file("huge.csv", "cpu_milli,memory_mib,gpu,model,count\n1,1,256,A,262145\n"), 1,
			"262145 nodes with up to 256 devices: at most 67108864 devices can be kept"},
		{"-pods " + bad, 1, bad + `: row 2: column gpu_milli: got "2000", want a whole number from 1 to 1000`},
	} {
		status, out, errs := runProgram(t.Context(), strings.Fields(test.args)...)
		lines := 0
		if test.status != 0 {
			lines = 1
		}
		if status != test.status || strings.Count(errs, "\n") != lines || !strings.Contains(errs, test.stderr) {
			t.Errorf("%s: status %d, stderr %q, want %d and %q", test.args, status, errs, test.status, test.stderr)
		}
		if (status == 0) != (out != "") {
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
	p := progress{w: &terminal}
	p.show("first-fit", 256, 8152)
	p.show("first-fit", 512, 8152) // too soon
	p.clear()
	shown, blank, ok := strings.Cut(strings.TrimPrefix(terminal.String(), "\r"), "\r\r")
	if !ok || strings.TrimSpace(shown) != "first-fit: 256 of 8,152 pods" || strings.TrimSpace(blank) != "" {
		t.Errorf("wrote %q", terminal.String())
	}
	file, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if newProgress(file).w != nil {
		t.Error("a file is taken for a terminal")
	}
	new(progress).show("", 0, 0)
	new(progress).clear()
}

func TestGrouped(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 8152: "8,152", 1234567: "1,234,567"} {
		if got := grouped(n); got != want {
			t.Errorf("grouped(%d) = %q, want %q", n, got, want)
		}
	}
}
