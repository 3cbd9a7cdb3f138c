//go:build amd64 && !purego && race

package kernel_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/internal/testkit"
)

// raceCase is a kernel and what another goroutine does while it runs.
type raceCase struct {
	name       string
	run, other func()
	race       bool
}

// raceCases has, for every kernel and every operand, an access that races with
// it, and accesses to other elements, which do not.
func raceCases() []raceCase {
	const stride, cols, last = 4 * kernel.Block, 3, 2*4*kernel.Block + 2*kernel.Block - 1
	list, amounts := []int32{2, 0, 1}, []float64{1, 1, 1}
	var cases []raceCase
	add := func(name string, run, other func(), race bool) {
		cases = append(cases, raceCase{name, run, other, race})
	}
	for _, k := range compareKernels {
		o := operands{
			a: testkit.Matrix(stride, cols), b: testkit.Matrix(stride, cols), codes: testkit.Matrix32(stride, cols),
			stride: stride, cols: list, vals: amounts,
		}
		o.round()
		dst := []uint64{1, 1, 1, 1}
		run := func() { k.run(dst[:2], o) }
		add(k.name+" a", run, func() { o.a[last], o.codes[last] = 1, 1 }, true)
		add(k.name+" dst", run, func() { dst[1] = 1 }, true)
		if strings.Contains(k.name, "Sum") || strings.Contains(k.name, "Rows") {
			add(k.name+" b", run, func() { o.b[last] = 1 }, true)
		}
		add(k.name+" others", run, func() { o.a[last+1], o.b[last+1], o.codes[last+1], dst[2] = 1, 1, 1, 1 }, false)
	}
	cases = append(cases, raceRatio(ratioKernels, stride, last)...)
	cases = append(cases, raceRatio(keptKernels, stride, last)...)
	cases = append(cases, raceRatio(copiesKernels, stride, last)...)
	cases = append(cases, raceSelect(floatPlaces, floatLimits)...)
	cases = append(cases, raceLoads()...)
	cases = append(cases, raceStrategies()...)
	cases = append(cases, raceKube()...)
	cases = append(cases, raceLinear()...)
	cases = append(cases, raceDevices()...)
	return append(cases, raceSelect(intPlaces, intLimits)...)
}

// raceRatio runs kernels over three columns, up to the row of the element last
// of the third.
func raceRatio[T float64 | int64](kernels []ratioKernel[T], stride, last int) []raceCase {
	var cases []raceCase
	for _, k := range kernels {
		a := ratio{
			data: testkit.Matrix(stride, 3), stride: stride, totals: testkit.Matrix(stride, 3), totalStride: stride,
			reciprocals: testkit.Matrix(stride, 3), cols: []int32{2, 0, 1}, amounts: []float64{1, 1, 1},
		}
		dst := make([]T, stride)
		rows := last%stride + 1
		run := func() { k.run(dst[:rows], a) }
		cases = append(cases,
			raceCase{k.name + " data", run, func() { a.data[last] = 1 }, true},
			raceCase{k.name + " dst", run, func() { dst[rows-1] = 1 }, true},
			raceCase{k.name + " others", run, func() { a.data[last+1], a.totals[last+1], dst[rows] = 1, 1, 1 }, false})
		if strings.Contains(k.name, "Rows") {
			cases = append(cases, raceCase{k.name + " total", run, func() { a.totals[last] = 1 }, true})
		}
		if strings.HasSuffix(k.name, " kept") {
			cases = append(cases, raceCase{k.name + " reciprocals", run, func() { a.reciprocals[last] = 1 }, true})
		}
	}
	return cases
}

func raceSelect[T score](places []placeKernel[T], limits []limitKernel[T]) []raceCase {
	const n = 100
	var cases []raceCase
	add := func(name string, values []T, rows []uint64, run func()) {
		cases = append(cases,
			raceCase{name + " values", run, func() { values[n-1] = 1 }, true},
			raceCase{name + " rows", run, func() { rows[1] = 1 }, true},
			raceCase{name + " others", run, func() { values[n], rows[2] = 1, 1 }, false})
	}
	for _, k := range places {
		values, rows := make([]T, n+1), []uint64{1, 1, 1}
		add(k.name, values, rows, func() { k.run(values[:n], rows[:2]) })
	}
	for _, k := range limits {
		values, rows, dst := make([]T, n+1), []uint64{1, 1, 1}, make([]uint64, 2)
		run := func() { k.run(dst, values[:n], rows[:2], 1) }
		add(k.name, values, rows, run)
		cases = append(cases, raceCase{k.name + " dst", run, func() { dst[1] = 1 }, true})
	}
	return cases
}

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
