package main

import (
	"strings"
	"testing"
)

const output = `goos: linux
cpu: Some CPU
BenchmarkPeers/FitIn-2  	20	 12 x
--- BENCH: BenchmarkPeers/FitIn-2
    fit_test.go:12: | A v1.0.0 | fits | Fit | w |
    fit_test.go:12: | A v1.0.0 | fits | Fit | x |
    fit_test.go:12: | B v1.0.0 | more | Fit | x |
    fit_test.go:13: measured with go1.99
PASS
ok  	example.com/k35	1.2s
`

func TestTable(t *testing.T) {
	text, err := table(strings.NewReader(output))
	if err != nil || !strings.HasPrefix(text, "Some CPU, go1.99, ") || !strings.HasSuffix(text, "---|\n| A v1.0.0 | fits | Fit | w |\n| | | | x |\n| B v1.0.0 | more | | |\n") {
		t.Errorf("%q, %v", text, err)
	}
	page, err := replace("a\n<!-- x:begin -->\nold\n<!-- x:end -->\nz\n", "x", "new\n")
	if want := "a\n<!-- x:begin -->\nnew\n<!-- x:end -->\nz\n"; err != nil || page != want {
		t.Errorf("%q, %v", page, err)
	}
}

func TestRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"failed": output + "--- FAIL: BenchmarkPeers\n",
		"cut":    strings.TrimSuffix(output, "ok  	example.com/k35	1.2s\n"),
		"empty":  "ok  	example.com/k35	1.2s\n",
	} {
		if _, err := table(strings.NewReader(text)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := replace("<!-- x:begin -->\n", "x", ""); err == nil {
		t.Error("a section without an end: accepted")
	}
}
