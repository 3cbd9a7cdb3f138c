package kernel_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/internal/testkit"
)

// deviceCase is the arguments of DeviceScores but for dst and the formula.
type deviceCase struct {
	entries []kernel.DeviceEntry
	rows    []uint64
	n       int
}

// newDeviceCase returns a case whose columns are cut out of a buffer.
func newDeviceCase(r *rand.Rand, rows, entries int, column func(n int) []float64) deviceCase {
	stride := (rows + 63) / 64 * 64
	c := deviceCase{n: rows}
	data := column(3 * stride * entries)
	for k := range entries {
		part := func(j int) []float64 { return data[(3*k+j)*stride:][:rows] }
		e := kernel.DeviceEntry{Total: part(0), Free: part(1), Weight: float64(1 + r.IntN(100))}
		if entries == 1 && r.IntN(2) == 0 {
			e.Weight = 1
		}
		if r.IntN(3) == 0 {
			e.Other = part(2)
		}
		fillDevice(r, &e)
		c.entries = append(c.entries, e)
	}
	if r.IntN(4) > 0 {
		c.rows = make([]uint64, (rows+63)/64)
		testkit.FillMask(r, c.rows)
		testkit.TrimMask(c.rows, rows)
	}
	return c
}

// fillDevice overwrites the amounts of an entry: of up to DeviceExact, around every
// whole percentage, and zeros and signs that devices don't have.
func fillDevice(r *rand.Rand, e *kernel.DeviceEntry) {
	most := int64(kernel.DeviceExact)
	e.Request = float64(r.Int64N(kernel.DeviceMost+1) >> r.IntN(53))
	if e.Other != nil && e.Request > 0 {
		most = min(most, kernel.DeviceMost/int64(e.Request))
	}
	for i := range e.Total {
		total := r.Int64N(most+1) >> r.IntN(47)
		free := int64(e.Request) + total/100*r.Int64N(101) + total%100*r.Int64N(101)/100 + r.Int64N(3) - 1
		if r.IntN(4) == 0 || free > total || free < -most {
			free = r.Int64N(total + 2)
		}
		switch r.IntN(24) {
		case 0:
			total = 0
		case 1:
			total = -total
		case 2:
			free = -free
		case 3:
			total, free = most, most
		}
		e.Total[i], e.Free[i] = float64(total), float64(free)
		if e.Other != nil {
			e.Other[i] = float64(r.Int64N(kernel.DeviceExact)>>r.IntN(47) - r.Int64N(3))
		}
	}
}

// score is the golden model of a score, in integers of any size.
func (c *deviceCase) score(most bool, row int) int64 {
	whole := func(x float64) *big.Int { n, _ := big.NewFloat(x).Int(nil); return n }
	var list []testkit.Device
	for _, e := range c.entries {
		r := testkit.Device{Request: whole(e.Request), Total: whole(e.Total[row]), Free: whole(e.Free[row]), Weight: whole(e.Weight)}
		if e.Other != nil {
			if other := whole(e.Other[row]); other.Sign() > 0 {
				r.Request.Quo(r.Request.Mul(r.Request, r.Total), other)
			} else {
				r.Request.SetInt64(0)
			}
		}
		list = append(list, r)
	}
	return testkit.DeviceScore(list, most)
}

// check compares both formulas with the golden model in the selected rows; the
// others must stay as they are.
func (c *deviceCase) check(t *testing.T, dst []int64) {
	t.Helper()
	for _, most := range []bool{false, true} {
		for i := range dst {
			dst[i] = -7
		}
		kernel.DeviceScores(dst, most, c.entries, c.rows)
		for row, got := range dst {
			want := int64(-7)
			if c.rows == nil || c.rows[row/64]>>(row%64)&1 != 0 {
				want = c.score(most, row)
			}
			if got != want {
				t.Fatalf("%d rows, most %v, row %d: got %d, want %d: %s", len(dst), most, row, got, want, c.describe(row))
			}
		}
	}
}

func (c *deviceCase) describe(row int) string {
	s := ""
	for _, e := range c.entries {
		s += fmt.Sprintf("\n%v free of %v, request %v, weight %v", e.Free[row], e.Total[row], e.Request, e.Weight)
		if e.Other != nil {
			s += fmt.Sprintf(", other %v", e.Other[row])
		}
	}
	return s
}

// TestDeviceScores holds the scores against the golden model, for all numbers of
// rows and of entries, between pages that fault.
func TestDeviceScores(t *testing.T) {
	shapes := []ratioShape{{5000, 2}, {33000, 1}, {300, kernel.DeviceEntries}, {300, kernel.DeviceEntries + 1}}
	for rows := range 130 {
		shapes = append(shapes, ratioShape{rows, rows % 5})
	}
	for entries := range kernel.DeviceEntries {
		shapes = append(shapes, ratioShape{71, entries})
	}
	testkit.EachImpl(t, func(t *testing.T) {
		r := testkit.Rand(21)
		for _, front := range []bool{false, true} {
			column, dst := guardedSlices[float64](t, front, 1<<17), guardedSlices[int64](t, front, 1<<16)
			for _, shape := range shapes {
				c := newDeviceCase(r, shape.rows, shape.cols, column)
				c.check(t, dst(shape.rows))
			}
		}
	})
}

// TestDeviceSums sums groups of all sizes, between pages that fault.
func TestDeviceSums(t *testing.T) {
	sizes := map[string]func(r *rand.Rand) int{
		"eight":  func(*rand.Rand) int { return 8 },
		"four":   func(*rand.Rand) int { return 4 },
		"any":    func(r *rand.Rand) int { return r.IntN(20) },
		"mostly": func(r *rand.Rand) int { return 8 * r.IntN(12) / 10 },
		"none":   func(*rand.Rand) int { return 0 },
	}
	testkit.EachImpl(t, func(t *testing.T) {
		for name, size := range sizes {
			t.Run(name, func(t *testing.T) {
				r := testkit.Rand(22)
				for _, front := range []bool{false, true} {
					column, dst := guardedSlices[float64](t, front, 1<<15), guardedSlices[float64](t, front, 1<<10)
					offsets := guardedSlices[int32](t, front, 1<<10)
					for n := range 200 {
						checkDeviceSums(t, r, dst(n), offsets(n+1), size, column)
					}
				}
			})
		}
		for _, most := range []int{1 << 9, 1 << 16} { // more than one call into assembly takes
			checkDeviceSums(t, testkit.Rand(23), make([]float64, 200), make([]int32, 201), func(r *rand.Rand) int { return r.IntN(most) },
				func(n int) []float64 { return make([]float64, n) })
		}
	})
}

// checkDeviceSums makes groups, and compares their sums with a loop.
func checkDeviceSums(t *testing.T, r *rand.Rand, dst []float64, offsets []int32, size func(*rand.Rand) int, buffer func(n int) []float64) {
	t.Helper()
	offsets[0] = int32(r.IntN(3))
	for k := range dst {
		offsets[k+1] = offsets[k] + int32(size(r))
		dst[k] = -7
	}
	column := buffer(int(offsets[len(dst)]))
	for i := range column {
		column[i] = float64(r.Int64N(1<<44) - 1<<43)
	}
	var groups []uint64
	if r.IntN(3) > 0 {
		groups = make([]uint64, (len(dst)+63)/64)
		testkit.FillMask(r, groups)
		testkit.TrimMask(groups, len(dst))
	}
	kernel.DeviceSums(dst, column, offsets, groups)
	for k, got := range dst {
		want := -7.0
		if groups == nil || groups[k/64]>>(k%64)&1 != 0 {
			want = 0
			for _, x := range column[offsets[k]:offsets[k+1]] {
				want += x
			}
		}
		if got != want {
			t.Fatalf("%d groups, group %d of rows %d to %d: got %v, want %v", len(dst), k, offsets[k], offsets[k+1], got, want)
		}
	}
}

// TestDeviceBound puts special values in every place, and every one in some.
func TestDeviceBound(t *testing.T) {
	testkit.EachImpl(t, func(t *testing.T) {
		for _, front := range []bool{false, true} {
			buffer := guardedSlices[float64](t, front, 192)
			for rows := range 130 {
				column := buffer((rows + 63) / 64 * 64)[:rows]
				for i := range column {
					column[i] = float64(-i)
				}
				mask := make([]uint64, (rows+63)/64)
				for i := range column {
					mask[i/64] |= 1 << (i % 64)
				}
				wantBound(t, column, nil, float64(max(rows-1, 0)))
				for i := range column {
					for k, x := range testkit.Specials() {
						if rows != 65 && (rows+i+k)%16 != 0 {
							continue
						}
						column[i] = x
						want := max(float64(rows-1), math.Abs(x))
						if i == rows-1 {
							want = max(float64(rows-2), 0, math.Abs(x))
						}
						if x != math.Trunc(x) || math.IsInf(x, 0) {
							want = math.NaN()
						}
						wantBound(t, column, nil, want)
						wantBound(t, column, mask, want)
					}
					column[i] = math.NaN()
					mask[i/64] &^= 1 << (i % 64)
					want := float64(rows - 1)
					if i == rows-1 {
						want = float64(max(rows-2, 0))
					}
					wantBound(t, column, mask, want)
					mask[i/64] |= 1 << (i % 64)
					column[i] = float64(-i)
				}
			}
		}
	})
}

// TestDeviceBoundLong has the special row in each of several calls into assembly.
func TestDeviceBoundLong(t *testing.T) {
	testkit.EachImpl(t, func(t *testing.T) {
		column := testkit.Matrix(1<<17, 1)[:100_000]
		mask := make([]uint64, len(column)/64+1)
		for i := range mask {
			mask[i] = ^uint64(0)
		}
		for _, at := range []int{0, 32767, 32768, 70_000, 99_999} {
			column[at] = 1 << 50
			wantBound(t, column, mask, 1<<50)
			column[at] = 0.5
			wantBound(t, column, mask, math.NaN())
			column[at] = 0
		}
	})
}

func wantBound(t *testing.T, column []float64, rows []uint64, want float64) {
	t.Helper()
	if got := kernel.DeviceBound(column, rows); !testkit.Same(got, want) {
		t.Fatalf("%d rows: got %v, want %v", len(column), got, want)
	}
}

// goldenGroups is Groups in 64 bits.
func goldenGroups(offsets []int32, rows int) (largest int, ok bool) {
	for k, at := range offsets {
		if at < 0 || int(at) > rows || k > 0 && at < offsets[k-1] {
			return 0, false
		}
		if k > 0 {
			largest = max(largest, int(at-offsets[k-1]))
		}
	}
	return largest, true
}

func wantGroups(t *testing.T, offsets []int32, rows int) {
	t.Helper()
	want, wantOK := goldenGroups(offsets, rows)
	if got, ok := kernel.Groups(offsets, rows); ok != wantOK || ok && got != want {
		t.Fatalf("%d offsets within %d rows: got %d, %v, want %d, %v", len(offsets), rows, got, ok, want, wantOK)
	}
}

// groupFaults writes what no list of offsets may have, and what only just may be.
var groupFaults = []int32{-1, math.MinInt32, math.MaxInt32, math.MaxInt32 - 1, 0, 1 << 30}

// TestGroups has lists that are too short for the assembly.
func TestGroups(t *testing.T) {
	testkit.EachImpl(t, func(t *testing.T) {
		for _, offsets := range [][]int32{
			nil, {0}, {4}, {-1}, {0, 2, 2, 7}, {3, 7}, {0, 8}, {0, 3, 2, 7}, {0, -1, 7}, {1, math.MinInt32, 7},
			{0, math.MaxInt32, math.MinInt32, 7}, {math.MinInt32, math.MaxInt32}, {0, math.MaxInt32},
		} {
			for _, rows := range []int{0, 3, 7, math.MaxInt32} {
				wantGroups(t, offsets, rows)
			}
		}
	})
}

// TestManyGroups has a largest group, and a fault, at every place of lists of every
// length, between pages that fault.
func TestManyGroups(t *testing.T) {
	const most = 200
	for _, front := range []bool{false, true} {
		slice := guardedSlices[int32](t, front, most)
		testkit.EachImpl(t, func(t *testing.T) {
			for n := 1; n <= most; n++ {
				offsets := slice(n)
				for at := range offsets {
					for k := range offsets {
						offsets[k] = int32(3 * k)
						if k > at {
							offsets[k] += 2
						}
					}
					rows := int(offsets[n-1])
					wantGroups(t, offsets, rows)
					wantGroups(t, offsets, rows-1)
					fault := groupFaults[(n+at)%len(groupFaults)]
					offsets[at] = fault
					wantGroups(t, offsets, rows)
					wantGroups(t, offsets, math.MaxInt32)
				}
			}
		})
	}
}

// TestGroupsLong takes more than one call of the assembly, around its ends.
func TestGroupsLong(t *testing.T) {
	const call = 1 << 15
	testkit.EachImpl(t, func(t *testing.T) {
		for _, n := range []int{call - 1, call, call + 1, call + 16, call + 17, 2*call + 70} {
			offsets := make([]int32, n)
			for k := range offsets {
				offsets[k] = int32(3 * k)
			}
			for _, base := range []int{0, call, n - 20} {
				for at := max(base-20, 0); at < min(base+20, n); at++ {
					was := offsets[at]
					for _, change := range []int32{was + 1, was + 4, -1, math.MaxInt32, math.MinInt32} {
						offsets[at] = change
						wantGroups(t, offsets, 3*n+5)
					}
					offsets[at] = was
				}
			}
			wantGroups(t, offsets, 3*(n-1))
			wantGroups(t, offsets, 3*(n-1)-1)
		}
	})
}

func FuzzGroups(f *testing.F) {
	f.Add([]byte{0, 1, 1, 0, 255, 3}, uint8(100), uint16(500))
	f.Add([]byte{}, uint8(0), uint16(0))
	f.Fuzz(func(t *testing.T, sizes []byte, before uint8, rows uint16) {
		var offsets []int32
		at := int32(0)
		for range before { // so that the assembly sees what follows
			offsets = append(offsets, at)
		}
		for _, size := range sizes {
			if size == 255 {
				at = groupFaults[len(offsets)%len(groupFaults)]
			}
			at += int32(int8(size)) + 4
			offsets = append(offsets, at)
		}
		testkit.EachImpl(t, func(t *testing.T) {
			wantGroups(t, offsets, int(rows))
			wantGroups(t, offsets, math.MaxInt32)
		})
	})
}

func FuzzDeviceScores(f *testing.F) {
	for _, entries := range []uint8{0, 1, 2, 3, 8, 17} {
		f.Add(uint64(entries), entries, uint8(100))
	}
	f.Fuzz(func(t *testing.T, seed uint64, entries, rows uint8) {
		c := newDeviceCase(testkit.Rand(seed), int(rows), int(entries%20), func(n int) []float64 { return testkit.Matrix(n, 1) })
		testkit.EachImpl(t, func(t *testing.T) { c.check(t, make([]int64, rows)) })
	})
}

// TestSegmentSums holds SegmentSums against a loop, for groups of all sizes and lists
// that take several calls, between pages that fault.
func TestSegmentSums(t *testing.T) {
	const stride, mostCols = 5 * 64, 11
	large := 80 * 64 // rows of one group that is too large for a call
	testkit.EachImpl(t, func(t *testing.T) {
		r := testkit.Rand(41)
		check := func(data []float64, stride, cols int, offsets []int32) {
			t.Helper()
			groups := len(offsets) - 1
			const more = 3
			dst := make([]float64, (groups+more)*cols)
			for i := range dst {
				dst[i] = 77
			}
			kernel.SegmentSums(dst, groups+more, data, stride, cols, offsets)
			for j := range cols {
				for k := range groups + more {
					want := 77.0
					if k < groups {
						want = 0
						for _, x := range data[j*stride:][offsets[k]:offsets[k+1]] {
							want += x
						}
					}
					if got := dst[j*(groups+more)+k]; math.Float64bits(got) != math.Float64bits(want) && !(got != got && want != want) {
						t.Fatalf("column %d of %d, group %d of %d: got %v, want %v", j, cols, k, groups, got, want)
					}
				}
			}
		}
		for _, p := range places {
			for cols := range mostCols + 1 {
				data := p.matrix(t, stride, max(cols, 1))
				for _, most := range []int{1, 2, 3, 9, 70, stride} {
					testkit.Fill(r, data)
					offsets := []int32{0}
					for last := 0; last < stride; {
						last = min(last+r.IntN(most+1), stride)
						offsets = append(offsets, int32(last))
					}
					check(data, stride, cols, offsets)
					check(data, stride, cols, offsets[len(offsets)/2:])
				}
			}
		}
		data := testkit.Matrix(3*large, 5)
		testkit.FillTame(r, data)
		check(data, 3*large, 5, []int32{1, int32(large + 2), int32(large + 5), int32(3 * large)})
		offsets := []int32{0}
		for k := range 3 * large / 3 {
			offsets = append(offsets, int32(3*k+3))
		}
		check(data, 3*large, 5, offsets)
		allocates(t, func() {
			var dst [8]float64
			var three [4]int32
			kernel.SegmentSums(dst[:], 2, data, 64, 4, three[:3])
		})
	})
}
