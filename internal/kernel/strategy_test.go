package kernel_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/internal/testkit"
)

// strategy is the arguments of the strategy kernels: two matrices of the same
// shape, a number per column, and the rows from lo on.
type strategy struct {
	used, allocatable []float64
	reciprocals       []float64 // of allocatable, or nil
	stride, cols      int
	numbers           []float64 // per column: request or weight; whole and positive
	least             []bool    // per column
	exponent          int       // of requests
	lo                int
	rows              []uint64 // from lo on
	base              []float64
}

// column returns the rows of a column that exist.
func (s *strategy) column(matrix []float64, c, rows int) []float64 {
	return matrix[c*s.stride:][: s.lo+rows : s.lo+rows]
}

func (s *strategy) selected(i int) bool {
	return s.rows == nil || s.rows[i/64]>>(i%64)&1 == 1
}

// terms returns the terms of a strategy fit and the sum of their weights.
func (s *strategy) terms(rows int) (terms []kernel.StrategyTerm, weights float64) {
	for c := range s.cols {
		t := kernel.StrategyTerm{
			Used: s.column(s.used, c, rows), Allocatable: s.column(s.allocatable, c, rows),
			Request: s.request(c), Weight: s.numbers[c],
		}
		if s.least[c] {
			t.Least = math.MaxUint64
		}
		if s.reciprocals != nil {
			t.Reciprocals = s.column(s.reciprocals, c, rows)
		}
		terms = append(terms, t)
		weights += s.numbers[c]
	}
	return terms, weights
}

// request is what a pod asks of a column.
func (s *strategy) request(c int) float64 { return math.Ldexp(s.numbers[c], s.exponent-c%3) }

const testPoints = 1000

// fit is the golden model of StrategyFit.
func (s *strategy) fit(row int) float64 {
	var list []testkit.Load
	for c := range s.cols {
		list = append(list, testkit.Load{
			Used: s.used[c*s.stride+row], Request: s.request(c), Capacity: s.allocatable[c*s.stride+row],
			Weight: s.numbers[c], Least: s.least[c],
		})
	}
	return testkit.FitShare(list) * testPoints
}

// scarce is the golden model of ScarceBase.
func (s *strategy) scarce(row int) float64 {
	sum, total := 1.0, 1.0
	for c := range s.cols {
		if !(s.allocatable[c*s.stride+row] > 0) {
			sum += s.numbers[c]
		}
		total += s.numbers[c]
	}
	return testPoints * sum / total
}

// present reports whether the row has some of every column.
func (s *strategy) present(row int) bool {
	for c := range s.cols {
		if !(s.allocatable[c*s.stride+row] > 0) {
			return false
		}
	}
	return true
}

// scoreKernel is a kernel that sets dst in the selected rows, with its golden
// model for row i of dst, which holds old.
type scoreKernel struct {
	name   string
	run    func(dst []float64, s *strategy)
	golden func(s *strategy, i int, old float64) float64
}

var scoreKernels = []scoreKernel{
	{
		"StrategyFit",
		func(dst []float64, s *strategy) {
			terms, weights := s.terms(len(dst))
			kernel.StrategyFit(dst, s.lo, terms, weights, testPoints, s.rows)
		},
		func(s *strategy, i int, _ float64) float64 { return s.fit(s.lo + i) },
	},
	{
		"ScarceBase",
		func(dst []float64, s *strategy) {
			var terms []kernel.ScarceTerm
			total := 1.0
			for c := range s.cols {
				terms = append(terms, kernel.ScarceTerm{Allocatable: s.column(s.allocatable, c, len(dst)), Weight: s.numbers[c]})
				total += s.numbers[c]
			}
			kernel.ScarceBase(dst, s.lo, terms, 1, testPoints, total, s.rows)
		},
		func(s *strategy, i int, _ float64) float64 { return s.scarce(s.lo + i) },
	},
	{
		"SetPresent",
		func(dst []float64, s *strategy) { kernel.SetPresent(dst, s.base, s.lo, s.columns(len(dst)), s.rows) },
		func(s *strategy, i int, _ float64) float64 {
			if s.present(s.lo + i) {
				return s.base[i]
			}
			return 0
		},
	},
	{
		"StrategySum",
		func(dst []float64, s *strategy) {
			terms, _ := s.terms(len(dst))
			n := (len(terms) + 1) / 2
			weights := 0.0
			for _, x := range s.numbers[:n] {
				weights += x
			}
			kernel.StrategySum(dst, s.lo, terms[:n], weights, testPoints, s.base, s.columns(len(dst))[n:], s.rows)
		},
		func(s *strategy, i int, _ float64) float64 {
			first := *s
			first.cols = (s.cols + 1) / 2
			score := first.fit(s.lo + i)
			if s.present(s.lo + i) {
				return score + s.base[i]
			}
			return score
		},
	},
}

// columns returns every column of allocatable.
func (s *strategy) columns(rows int) (columns [][]float64) {
	for c := range s.cols {
		columns = append(columns, s.column(s.allocatable, c, rows))
	}
	return columns
}

// fill makes up numbers: of nodes that hold some of most things and have room
// left or, now and then, anything.
func (s *strategy) fill(r *rand.Rand) {
	for c := range s.numbers {
		s.numbers[c], s.least[c] = float64(1+r.IntN(4)), r.IntN(2) == 0
	}
	for i := range s.allocatable {
		s.allocatable[i] = float64(r.IntN(4) * (8 + r.IntN(64)))
		s.used[i] = math.Floor(s.allocatable[i] * r.Float64() * 0.9)
		if r.IntN(16) == 0 {
			s.used[i] = s.allocatable[i] - s.numbers[i/s.stride] // full, often
		}
	}
	switch s.exponent = 0; r.IntN(4) {
	case 0, 1:
		sprinkle(r, s.allocatable)
		sprinkle(r, s.used)
	case 2: // of all magnitudes
		s.exponent = r.IntN(890) - 490
		for i := range s.allocatable {
			s.allocatable[i] = math.Ldexp(8+r.Float64(), max(s.exponent, r.IntN(800)-400))
			s.used[i] = math.Ldexp(s.allocatable[i], -1-r.IntN(3))
		}
	}
	for i := range s.base {
		s.base[i] = r.Float64()
	}
	if s.reciprocals != nil {
		kernel.Reciprocals(s.reciprocals, s.allocatable)
	}
}

// sprinkle puts a special value here and there.
func sprinkle(r *rand.Rand, values []float64) {
	specials := testkit.Specials()
	for i := 0; i < len(values); i += 1 + r.IntN(32) {
		values[i] = specials[r.IntN(len(specials))]
	}
}

// strategyShapes has every number of rows up to 129, and shapes that take
// several calls into assembly, the last one short.
func strategyShapes() []ratioShape {
	shapes := []ratioShape{{1<<14 + 67, 1}, {5003, 3}, {2500, 16}, {70, 128}, {70, 129}}
	for rows := range 130 {
		shapes = append(shapes, ratioShape{rows, 1 + rows%4})
	}
	for cols := 1; cols < 18; cols++ {
		shapes = append(shapes, ratioShape{71, cols})
	}
	return shapes
}

// eachStrategy calls f with arguments of all lengths and numbers of columns, between pages
// that fault. keeps says how many of 16 have reciprocals, and lows how many blocks come first
// at most.
func eachStrategy(t *testing.T, r *rand.Rand, keeps, lows int, f func(s *strategy, dst []float64, where string)) {
	const mostRows, mostMatrix = 1<<14 + 67, 1 << 16
	for _, front := range []bool{false, true} {
		used := guardedSlices[float64](t, front, mostMatrix)
		allocatable := guardedSlices[float64](t, front, mostMatrix)
		reciprocals := guardedSlices[float64](t, front, mostMatrix)
		dst := guardedSlices[float64](t, front, mostRows)
		base := guardedSlices[float64](t, front, mostRows)
		mask := guardedSlices[uint64](t, front, mostRows/64+1)
		for _, shape := range strategyShapes() {
			s := &strategy{
				stride: (shape.rows + 63) / 64 * 64, cols: shape.cols,
				numbers: make([]float64, shape.cols), least: make([]bool, shape.cols), base: base(shape.rows),
			}
			if shape.rows < 1000 {
				s.lo = 64 * r.IntN(lows+1)
				s.stride += s.lo
			}
			s.used, s.allocatable = used(s.stride*s.cols), allocatable(s.stride*s.cols)
			if r.IntN(16) < keeps {
				s.reciprocals = reciprocals(s.stride * s.cols)
			}
			s.fill(r)
			if r.IntN(4) > 0 {
				s.rows = mask((shape.rows + 63) / 64)
				testkit.FillMask(r, s.rows)
				testkit.TrimMask(s.rows, shape.rows)
			}
			f(s, dst(shape.rows), fmt.Sprintf("front %t, %+v, lo %d", front, shape, s.lo))
		}
	}
}

// TestStrategy holds the score kernels against their golden models.
func TestStrategy(t *testing.T) {
	testkit.EachImpl(t, func(t *testing.T) {
		eachStrategy(t, testkit.Rand(20), 12, 2, func(s *strategy, dst []float64, where string) { checkScores(t, s, dst, where) })
	})
}

// checkScores runs every score kernel into dst.
func checkScores(t *testing.T, s *strategy, dst []float64, where string) {
	t.Helper()
	for _, k := range scoreKernels {
		for i := range dst {
			dst[i] = float64(i) + 0.25
		}
		k.run(dst, s)
		for i, got := range dst {
			want := float64(i) + 0.25
			if s.selected(i) {
				want = k.golden(s, i, want)
			}
			if !testkit.Same(got, want) {
				t.Fatalf("%s, %s, row %d: got %v, want %v", k.name, where, i, got, want)
			}
		}
	}
}

// nearSum is the golden model of what StrategyPeaks compares.
func (s *strategy) nearSum(row int, base []float64) float64 {
	_, weights := s.terms(0)
	start, sum := 0.0, 0.0
	for c := range s.cols {
		if s.least[c] {
			start += s.numbers[c] * testPoints / weights
		}
	}
	sum = start
	for c := range s.cols {
		factor := s.numbers[c] * testPoints / weights
		if s.least[c] {
			factor = -factor
		}
		product, offset := float64(s.used[c*s.stride+row]*factor), float64(factor*s.request(c))
		sum += float64((product + offset) * s.reciprocals[c*s.stride+row])
	}
	if base != nil {
		sum += base[row]
	}
	return sum
}

// holds reports whether a row has room for the request.
func (s *strategy) holds(row int) bool {
	for c := range s.cols {
		if i := c*s.stride + row; !(s.allocatable[i]-s.used[i] >= s.request(c)) {
			return false
		}
	}
	return true
}

// doubtful reports whether StrategyPeaks may refuse because of a row.
func (s *strategy) doubtful(row int, base []float64) bool {
	for c := range s.cols {
		if math.Signbit(s.used[c*s.stride+row]) {
			return true
		}
	}
	x := s.nearSum(row, base)
	return x-x != 0
}

// checkPeaks holds StrategyPeaks against its golden model and its promise.
func checkPeaks(t *testing.T, s *strategy, rows int, base []float64, where string) (found bool) {
	t.Helper()
	terms, weights := s.terms(rows)
	peaks := make([]float64, (rows+63)/64)
	found = kernel.StrategyPeaks(peaks, rows, terms, weights, testPoints, base, s.rows)
	possible := s.reciprocals != nil && s.cols <= 16
	for c := range s.cols {
		possible = possible && kernel.Tame(s.request(c))
	}
	if !possible {
		if found {
			t.Fatalf("%s: peaks that can't be found", where)
		}
		return false
	}
	doubt := false
	for w := range peaks {
		want := math.Inf(-1)
		var doubtful bool
		for i := 64 * w; i < 64*w+64; i++ {
			if i >= rows || !s.selected(i) {
				doubtful = doubtful || s.doubtful(i, nil)
				continue
			}
			x, room := s.nearSum(i, base), math.Ldexp(testPoints+1, -44)
			want = max(want, x)
			for c := range s.cols {
				if math.Signbit(s.used[c*s.stride+i]) || math.IsNaN(x) {
					if found {
						t.Fatalf("%s, row %d: peaks in spite of it", where, i)
					}
				}
			}
			doubt = doubt || s.doubtful(i, base)
			score := s.fit(i)
			if base != nil {
				score += base[i]
			}
			if found && s.holds(i) && !(score <= peaks[w]+room) {
				t.Fatalf("%s, row %d: score %v, peak %v", where, i, score, peaks[w])
			}
		}
		doubt = doubt || doubtful && !math.IsInf(want, -1)
		if found && peaks[w] != want {
			t.Fatalf("%s, block %d: got %v, want %v", where, w, peaks[w], want)
		}
	}
	if !found && !doubt {
		t.Fatalf("%s: no peaks without a reason", where)
	}
	return found
}

// TestStrategyPeaks checks it with a base and without.
func TestStrategyPeaks(t *testing.T) {
	testkit.EachImpl(t, func(t *testing.T) {
		found := 0
		eachStrategy(t, testkit.Rand(23), 15, 0, func(s *strategy, dst []float64, where string) {
			for _, base := range [][]float64{nil, s.base} {
				if checkPeaks(t, s, len(dst), base, fmt.Sprintf("%s, base %t", where, base != nil)) {
					found++
				}
			}
		})
		if found < 100 {
			t.Errorf("peaks of %d shapes only", found)
		}
	})
}

// reserve is the golden model of a rule in one row.
func reserve(rule *kernel.ReserveRule, row int) bool {
	p, pu, s, su := rule.Primary[row], rule.PrimaryUsed[row], rule.Secondary[row], rule.SecondaryUsed[row]
	if p <= 0 {
		return true
	}
	idle := p - pu
	if idle < 0 {
		idle = 0
	}
	product := idle * rule.PerUnit
	needed := product / rule.Scale
	left := (s - su) - rule.Request
	return left >= needed
}

// TestReserve holds AndReserve against its golden model.
func TestReserve(t *testing.T) {
	testkit.EachImpl(t, func(t *testing.T) {
		r := testkit.Rand(21)
		var columns [4]func(n int) []float64
		for _, front := range []bool{false, true} {
			for c := range columns {
				columns[c] = guardedSlices[float64](t, front, 1<<14+128)
			}
			for n := range 140 {
				rows := n
				if n >= 130 {
					rows = 1<<14 + 2*n - 260
				}
				words := (rows + 63) / 64
				rule := randomRule(r, func(c int) []float64 { return columns[c](words * 64) }, rows)
				dst := make([]uint64, words)
				testkit.FillMask(r, dst)
				testkit.TrimMask(dst, rows)
				want := slices.Clone(dst)
				for row := range rows {
					if !reserve(rule, row) {
						want[row/64] &^= 1 << (row % 64)
					}
				}
				kernel.AndReserve(dst, rule)
				if !slices.Equal(dst, want) {
					t.Fatalf("%d rows, scale %v:\n got %x\nwant %x", rows, rule.Scale, dst, want)
				}
			}
		}
	})
}

// randomRule returns a rule over the first rows of columns that it fills.
func randomRule(r *rand.Rand, column func(c int) []float64, rows int) *kernel.ReserveRule {
	var columns [4][]float64
	for c := range columns {
		columns[c] = column(c)
		for i := range columns[c] {
			columns[c][i] = float64(r.IntN(8) * (1 + c/2*3))
		}
		if r.IntN(2) == 0 {
			sprinkle(r, columns[c])
		}
		columns[c] = columns[c][:rows:rows]
	}
	return &kernel.ReserveRule{
		Primary: columns[0], PrimaryUsed: columns[1], Secondary: columns[2], SecondaryUsed: columns[3],
		Request: float64(r.IntN(4)), PerUnit: []float64{0, 0.5, 2, 3}[r.IntN(4)], Scale: []float64{1, 1000}[r.IntN(2)],
	}
}

// TestStrategyAllocates nothing.
func TestStrategyAllocates(t *testing.T) {
	used, allocatable, reciprocals := testkit.Matrix(128, 2), testkit.Matrix(128, 2), testkit.Matrix(128, 2)
	column := func(m []float64, c int) []float64 { return m[c*128:][:100:100] }
	testkit.EachImpl(t, func(t *testing.T) {
		allocates(t, func() {
			var dst, base [100]float64
			var rows [2]uint64
			rows[1] = 5
			terms := [2]kernel.StrategyTerm{
				{Used: column(used, 0), Allocatable: column(allocatable, 0), Reciprocals: column(reciprocals, 0), Request: 1, Weight: 1},
				{Used: column(used, 1), Allocatable: column(allocatable, 1), Reciprocals: column(reciprocals, 1), Request: 1, Weight: 1},
			}
			scarce := [1]kernel.ScarceTerm{{Allocatable: column(allocatable, 0), Weight: 1}}
			columns := [1][]float64{column(allocatable, 0)}
			kernel.StrategyFit(dst[:], 0, terms[:], 2, 100, rows[:])
			kernel.ScarceBase(base[:], 0, scarce[:], 0, 100, 1, nil)
			kernel.SetPresent(dst[:], base[:], 0, columns[:], rows[:])
			kernel.StrategySum(dst[:], 0, terms[:], 2, 100, base[:], columns[:], nil)
			kernel.StrategyPeaks(dst[:], 100, terms[:], 2, 100, base[:], rows[:])
			rule := kernel.ReserveRule{
				Primary: column(allocatable, 0), PrimaryUsed: column(used, 0),
				Secondary: column(allocatable, 1), SecondaryUsed: column(used, 1), PerUnit: 1, Scale: 1,
			}
			kernel.AndReserve(rows[:], &rule)
		})
	})
}

func FuzzStrategy(f *testing.F) {
	for _, cols := range []uint8{1, 2, 16} {
		f.Add(testkit.BytesOf(testkit.Specials()), uint64(math.MaxUint64), cols, uint8(100))
	}
	f.Fuzz(func(t *testing.T, data []byte, mask uint64, cols, n uint8) {
		s := &strategy{
			cols: 1 + int(cols)%18, stride: (int(n) + 63) / 64 * 64, base: make([]float64, n), rows: make([]uint64, (int(n)+63)/64),
		}
		s.used, s.allocatable = testkit.Matrix(s.stride, s.cols), testkit.Matrix(s.stride, s.cols)
		s.numbers, s.least = make([]float64, s.cols), make([]bool, s.cols)
		testkit.FloatsOf(s.allocatable, data)
		testkit.FloatsOf(s.used, data[len(data)/2:])
		testkit.FloatsOf(s.base, data[len(data)/3:])
		for c := range s.cols {
			s.numbers[c], s.least[c] = float64(1+mask>>c%16), mask>>c&2 != 0
		}
		for w := range s.rows {
			s.rows[w] = mask>>w | mask<<(64-w)
		}
		testkit.TrimMask(s.rows, int(n))
		testkit.EachImpl(t, func(t *testing.T) {
			checkScores(t, s, make([]float64, n), "fuzz")
			kept := *s
			kept.reciprocals = testkit.Matrix(s.stride, s.cols)
			kernel.Reciprocals(kept.reciprocals, s.allocatable)
			checkScores(t, &kept, make([]float64, n), "fuzz, kept")
			checkPeaks(t, &kept, int(n), nil, "fuzz")
		})
	})
}
