//go:build amd64 && !purego && race

package kernel_test

import (
	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/internal/testkit"
)

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
