package kernel_test

import (
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

// plainCases has the kernels whose operands need no terms made of them.
func plainCases() []raceCase {
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

// raceDevices runs the device kernels over 100 rows of 128, every other one of
// which is selected, and over 10 groups of 10 rows, of which the last is not.
func raceDevices() []raceCase {
	const stride, rows = 128, 100
	column := func() []float64 { return testkit.Matrix(stride, 1) }
	mask := []uint64{0x5555555555555555, 0x5555555555555555 >> (stride - rows)}
	var cases []raceCase
	add := func(name string, run, other func(), race bool) {
		cases = append(cases, raceCase{name, run, other, race})
	}
	for _, most := range []bool{false, true} {
		name, dst := "DeviceScores", make([]int64, stride)
		if most {
			name += " most"
		}
		total, free, other := column(), column(), column()
		entries := []kernel.DeviceEntry{{Total: total[:rows], Free: free[:rows], Other: other[:rows], Weight: 1}}
		run := func() { kernel.DeviceScores(dst[:rows], most, entries, mask) }
		add(name+" total", run, func() { total[rows-2] = 1 }, true)
		add(name+" free", run, func() { free[0] = 1 }, true)
		add(name+" other", run, func() { other[0] = 1 }, true)
		add(name+" dst", run, func() { dst[rows-2] = 1 }, true)
		add(name+" others", run, func() { total[1], free[rows-1], other[1], dst[1], dst[rows] = 1, 1, 1, 1, 1 }, false)
	}
	x := column()
	bound := func() { kernel.DeviceBound(x[:rows], mask) }
	add("DeviceBound", bound, func() { x[rows-2] = 1 }, true)
	add("DeviceBound others", bound, func() { x[1], x[rows] = 1, 1 }, false)

	y, dst, offsets := column(), column(), make([]int32, 11)
	for k := range offsets {
		offsets[k] = int32(10 * k)
	}
	long := make([]int32, 128)
	groups := func() { kernel.Groups(long[:100], rows) }
	add("Groups", groups, func() { long[5] = 0 }, true)
	add("Groups others", groups, func() { long[100] = 0 }, false)
	sums := func() { kernel.DeviceSums(dst[:10], y[:rows], offsets, []uint64{1<<9 - 1}) }
	add("DeviceSums column", sums, func() { y[89] = 1 }, true)
	add("DeviceSums dst", sums, func() { dst[8] = 1 }, true)
	add("DeviceSums others", sums, func() { y[90], dst[9] = 1, 1 }, false)
	return cases
}

// raceKube runs the kube kernels over 100 rows of 128, every other one of which
// is selected.
func raceKube() []raceCase {
	const stride, rows = 128, 100
	var cases []raceCase
	for _, formula := range kubeTypes {
		column := func() []float64 { return testkit.Matrix(stride, 1) }
		used, allocatable, reciprocals, dst := column(), column(), column(), make([]float64, stride)
		entries := []kernel.KubeEntry{{Used: used[:rows], Allocatable: allocatable[:rows], Reciprocals: reciprocals[:rows], Weight: 1, Scale: 1}}
		mask := []uint64{0x5555555555555555, 0x5555555555555555 >> (stride - rows)}
		table := new(kernel.KubeTable)
		run := func() { kernel.Kube(dst[:rows], formula.KubeType, entries, table, mask) }
		cases = append(cases,
			raceCase{formula.name + " used", run, func() { used[rows-2] = 1 }, true},
			raceCase{formula.name + " allocatable", run, func() { allocatable[0] = 1 }, true},
			raceCase{formula.name + " reciprocals", run, func() { reciprocals[0] = 1 }, true},
			raceCase{formula.name + " dst", run, func() { dst[rows-2] = 1 }, true},
			raceCase{formula.name + " others", run, func() { used[rows-1], allocatable[rows], dst[1], dst[rows] = 1, 1, 1, 1 }, false})
	}
	return cases
}

// raceLinear runs the linear kernels over 100 rows, and Codes.
func raceLinear() []raceCase {
	const stride, rows = 128, 100
	var cases []raceCase
	for _, k := range linearKernels {
		a := sums{
			data: testkit.Matrix(stride, 3), stride: stride, terms: make([]kernel.LinearTerm, 2),
			before: make([]float64, rows), keeps: true, over: 1, unit: 1, pods: make([]float64, stride),
		}
		a.bind()
		acc := make([]float64, stride)
		add := func(what string, other func(), race bool) {
			cases = append(cases, raceCase{k.name + " " + what, func() { k.run(acc[:rows], &a) }, other, race})
		}
		add("acc", func() { acc[rows-1] = 1 }, true)
		add("others", func() { acc[rows], a.pods[rows], a.data[rows], a.data[2*stride+rows] = 1, 1, 1, 1 }, false)
		add("kept or input", func() { a.data[rows-1] = 1 }, true)
		add("multiplier", func() { a.data[2*stride+rows-1] = 1 }, true)
		if k.name == "LinearCharge" {
			add("pods", func() { a.pods[rows-1] = 1 }, true)
		}
	}
	src, dst := make([]float64, stride), make([]float32, stride)
	run := func() { kernel.Codes(dst[:rows], src[:rows]) }
	return append(cases,
		raceCase{"Codes src", run, func() { src[rows-1] = 1 }, true},
		raceCase{"Codes dst", run, func() { dst[rows-1] = 1 }, true},
		raceCase{"Codes others", run, func() { src[rows], dst[rows] = 1, 1 }, false})
}

// TestAllocates: no kernel does. Those of loads and strategies have tests of their own.
func TestAllocates(t *testing.T) {
	if testkit.RaceEnabled {
		t.Skip("the race detector allocates")
	}
	testkit.EachImpl(t, func(t *testing.T) {
		for _, c := range plainCases() {
			if n := testing.AllocsPerRun(5, c.run); n != 0 {
				t.Errorf("%s: %v allocations", c.name, n)
			}
		}
	})
}
