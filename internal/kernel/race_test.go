//go:build amd64 && !purego && race

package kernel_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/internal/testkit"
)

// TestRaceDetector checks that the race detector sees through the assembly, in
// a process of its own, which it fails.
func TestRaceDetector(t *testing.T) {
	const child, mark = "RESVEC_RACE", "race case "
	if os.Getenv(child) != "" {
		for _, c := range raceCases() {
			os.Stderr.WriteString(mark + c.name + "\n")
			done := make(chan struct{})
			go func() {
				defer close(done)
				c.other()
			}()
			c.run()
			<-done
		}
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestRaceDetector$")
	cmd.Env = append(os.Environ(), child+"=1",
		"GORACE=halt_on_error=0 atexit_sleep_ms=0 suppress_equal_stacks=0 suppress_equal_addresses=0")
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatalf("the races passed:\n%s", out)
	}
	reports := strings.Split(string(out), mark)[1:]
	cases := raceCases()
	if len(reports) != len(cases) {
		t.Fatalf("%d of %d cases ran:\n%s", len(reports), len(cases), out)
	}
	for i, c := range cases {
		if got := strings.Contains(reports[i], "DATA RACE"); got != c.race {
			t.Errorf("%s: a report: %t, want %t", c.name, got, c.race)
		}
	}
}

// raceCases has, for every kernel and every operand, an access that races with
// it, and accesses to other elements, which do not.
func raceCases() []raceCase { return slices.Concat(plainCases(), raceLoads(), raceStrategies()) }

// raceLoads runs the load kernels over 100 rows, one of the last 36 not selected.
func raceLoads() []raceCase {
	const stride, rows, out = 128, 100, 90
	var cases []raceCase
	for _, k := range loadKernels {
		a := loads{
			used: testkit.Matrix(stride, 2), allocatable: testkit.Matrix(stride, 2), stride: stride,
			dims:   []kernel.LoadDim{{Weight: 1}, {Weight: 1}},
			scores: [][]float64{make([]float64, stride), make([]float64, stride)}, weights: []float64{1, 1}, span: 1,
			rows: []uint64{1<<64 - 1, (1<<(rows-64) - 1) &^ (1 << (out - 64))},
		}
		dst := make([]float64, stride)
		add := func(what string, other func(), race bool) {
			cases = append(cases, raceCase{k.name + " " + what, func() { k.run(dst[:rows], &a) }, other, race})
		}
		add("dst", func() { dst[rows-1] = 1 }, true)
		add("others", func() {
			dst[rows], dst[out] = 1, 1
			a.used[stride+rows], a.allocatable[stride+rows] = 1, 1
			a.scores[0][out], a.scores[0][rows] = 1, 1
		}, false)
		switch k.name {
		case "Combine", "Rescale":
			add("scores", func() { a.scores[0][rows-1] = 1 }, true)
			continue
		case "LoadSum", "LoadGreatest", "Share":
			add("allocatable", func() { a.allocatable[stride+rows-1] = 1 }, true)
		}
		add("used", func() { a.used[stride+rows-1] = 1 }, true)
	}
	return cases
}

// raceStrategies runs the strategy kernels over 100 rows of 128, every other one
// of which is selected.
func raceStrategies() []raceCase {
	const stride, rows = 128, 100
	var cases []raceCase
	for _, k := range scoreKernels {
		s := &strategy{
			stride: stride, cols: 2, numbers: []float64{1, 1}, least: []bool{true, false}, base: make([]float64, stride),
			used: testkit.Matrix(stride, 2), allocatable: testkit.Matrix(stride, 2), reciprocals: testkit.Matrix(stride, 2),
			rows: []uint64{0x5555555555555555, 0x5555555555555555 >> (stride - rows)},
		}
		dst := make([]float64, stride)
		run := func() { k.run(dst[:rows], s) }
		cases = append(cases,
			raceCase{k.name + " allocatable", run, func() { s.allocatable[rows-1] = 1 }, true},
			raceCase{k.name + " dst", run, func() { dst[rows-2] = 1 }, true},
			raceCase{k.name + " reciprocals", run, func() { s.reciprocals[rows-1] = 1 }, strings.HasPrefix(k.name, "Strategy")},
			raceCase{k.name + " others", run, func() { s.allocatable[rows], s.used[rows], s.base[rows-1], dst[rows-1] = 1, 1, 1, 1 }, false})
	}
	s := &strategy{
		stride: stride, cols: 2, numbers: []float64{1, 1}, least: []bool{true, false}, base: make([]float64, stride),
		used: testkit.Matrix(stride, 2), allocatable: testkit.Matrix(stride, 2), reciprocals: testkit.Matrix(stride, 2),
		rows: []uint64{0x5555555555555555, 0x5555555555555555 >> (stride - rows)},
	}
	peaks := make([]float64, 3)
	find := func() {
		terms, weights := s.terms(rows)
		kernel.StrategyPeaks(peaks, rows, terms, weights, testPoints, s.base[:rows], s.rows)
	}
	cases = append(cases,
		raceCase{"StrategyPeaks used", find, func() { s.used[rows-1] = 1 }, true},
		raceCase{"StrategyPeaks reciprocals", find, func() { s.reciprocals[rows-1] = 1 }, true},
		raceCase{"StrategyPeaks base", find, func() { s.base[rows-2] = 1 }, true},
		raceCase{"StrategyPeaks dst", find, func() { peaks[1] = 1 }, true},
		raceCase{"StrategyPeaks others", find, func() { s.used[rows], s.base[rows-1], peaks[2] = 1, 1, 1 }, false})
	columns := func() []float64 { return testkit.Matrix(stride, 1)[:rows] }
	rule := &kernel.ReserveRule{
		Primary: columns(), PrimaryUsed: columns(), Secondary: columns(), SecondaryUsed: columns(), PerUnit: 1, Scale: 1,
	}
	dst := []uint64{1, 1, 1}
	run := func() { kernel.AndReserve(dst[:2], rule) }
	return append(cases,
		raceCase{"AndReserve primary", run, func() { rule.Primary[rows-1] = 1 }, true},
		raceCase{"AndReserve secondary used", run, func() { rule.SecondaryUsed[0] = 1 }, true},
		raceCase{"AndReserve dst", run, func() { dst[1] = 1 }, true},
		raceCase{"AndReserve others", run, func() { dst[2] = 1 }, false})
}
