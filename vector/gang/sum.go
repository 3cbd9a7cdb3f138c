package gang

import "math"

// exactSum is the sum of float64 numbers without rounding, as a list of floats
// that do not overlap, smallest first (Shewchuk, Adaptive Precision
// Floating-Point Arithmetic, 1997; the form is Python's math.fsum). For whole
// numbers below 2^53 the list has one element. The zero value is 0.
type exactSum struct {
	n         int
	parts     [sumParts]float64
	unlimited int  // how many +Inf were added, which are in no part: they can be taken away again
	overflow  bool // the others left the range of float64
}

// sumParts is more than the 41 parts that compress leaves: 2098 bits from the
// least denormal on, 53 bits each.
const sumParts = 48

// add adds x, which is finite or +Inf.
func (s *exactSum) add(x float64) {
	if math.IsInf(x, 1) {
		s.unlimited++
		return
	}
	if s.n == sumParts {
		s.compress()
	}
	kept := 0
	// Each step adds a part without rounding: high is what float64 holds of it, low the rest, which
	// stays in the list (Dekker's fast two-sum, which wants the larger first).
	for _, y := range s.parts[:s.n] {
		if math.Abs(x) < math.Abs(y) {
			x, y = y, x
		}
		high := x + y
		if low := y - (high - x); low != 0 {
			s.parts[kept] = low
			kept++
		}
		x = high
	}
	if math.IsInf(x, 0) { // parts mean nothing any more
		s.overflow = true
		s.n = 0
		return
	}
	if x != 0 {
		s.parts[kept] = x
		kept++
	}
	s.n = kept
}

// compress writes the sum with as few parts as can be: each is at most half a
// unit in the last place of the next (Shewchuk's COMPRESS, its downward half).
func (s *exactSum) compress() {
	bottom := s.n - 1
	high := s.parts[bottom]
	for i := s.n - 2; i >= 0; i-- {
		y := s.parts[i]
		sum := high + y
		low := y - (sum - high)
		high = sum
		if low != 0 {
			s.parts[bottom] = high
			bottom--
			high = low
		}
	}
	s.parts[bottom] = high
	s.n = copy(s.parts[:], s.parts[bottom:s.n])
}

// replace takes x away, which was added, and adds y. One addition of the difference is half
// the work, and whole amounts have a difference without rounding.
func (s *exactSum) replace(x, y float64) {
	if change := y - x; exactly(y, -x, change) {
		s.add(change)
		return
	}
	s.add(y)
	if math.IsInf(x, 1) {
		s.unlimited--
		return
	}
	s.add(-x)
}

// addPositive adds the positive values. They are added up in one float64 as long
// as that is exact, by Knuth's test (The Art of Computer Programming, volume 2,
// section 4.2.2).
func (s *exactSum) addPositive(values []float64) {
	var even, odd float64 // two chains of additions take the time of one
	for ; len(values) >= 2; values = values[2:] {
		x, y := positive(values[0]), positive(values[1])
		nextEven, nextOdd := even+x, odd+y
		if exactly(even, x, nextEven) && exactly(odd, y, nextOdd) {
			even, odd = nextEven, nextOdd
		} else {
			s.add(x)
			s.add(y)
		}
	}
	for _, x := range values {
		s.add(positive(x))
	}
	s.add(even)
	s.add(odd)
}

// exactly reports whether the rounded sum of a and b is their sum. It is false
// when that is not finite.
func exactly(a, b, sum float64) bool {
	added := sum - a
	return (a-(sum-added))+(b-added) == 0
}

// negative reports whether the sum is below 0: the last part, which is the largest, decides.
// An infinite sum is not.
func (s *exactSum) negative() bool {
	return !s.infinite() && s.n > 0 && s.parts[s.n-1] < 0
}

// infinite reports whether the sum is +Inf, or left the range.
func (s *exactSum) infinite() bool { return s.unlimited > 0 || s.overflow }

// reset makes s 0. To clear all parts would take longer than most sums.
func (s *exactSum) reset() { s.n, s.unlimited, s.overflow = 0, 0, false }

// value returns the sum, rounded once, to closest even; +Inf when it left the
// range. So it depends on the sum alone and not on what was added in which order.
func (s *exactSum) value() float64 {
	if s.infinite() {
		return math.Inf(1)
	}
	if s.n == 0 {
		return 0
	}
	i := s.n - 1
	high, low := s.parts[i], 0.0
	for i > 0 && low == 0 {
		i--
		y := s.parts[i]
		sum := high + y
		low = y - (sum - high)
		high = sum
	}
	// The rest decides when low is exactly half a unit in the last place.
	if i > 0 && (low < 0) == (s.parts[i-1] < 0) {
		if twice := high + 2*low; twice-high == 2*low {
			return twice
		}
	}
	return high
}

// plus returns the value of the sum and x.
func (s *exactSum) plus(x float64) float64 {
	if s.n == 1 && !s.infinite() { // whole amounts need no copy of the list
		if sum := s.parts[0] + x; exactly(s.parts[0], x, sum) {
			return sum
		}
	}
	with := *s
	with.add(x)
	return with.value()
}

// positive returns x where it is positive, else 0.
func positive(x float64) float64 {
	if x > 0 {
		return x
	}
	return 0
}
