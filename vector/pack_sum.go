package vector

import "math"

// exactSum is the sum of float64 numbers without rounding, as a list of floats
// that do not overlap, smallest first (Shewchuk, Adaptive Precision
// Floating-Point Arithmetic, 1997; the form is Python's math.fsum). For whole
// numbers below 2^53 the list has one element. The zero value is 0.
type exactSum struct {
	n        int
	parts    [40]float64 // 2098 bits from the least denormal on, 53 bits each
	infinite bool        // +Inf was added, or the sum left the range of float64
}

// add adds x, which is finite or +Inf.
func (s *exactSum) add(x float64) {
	kept := 0
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
	if math.IsInf(x, 0) {
		s.infinite = true
		s.n = 0
		return
	}
	if x != 0 {
		s.parts[kept] = x
		kept++
	}
	s.n = kept
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

// negative reports whether the sum is below 0. A sum that left the range is
// not.
func (s *exactSum) negative() bool {
	return !s.infinite && s.n > 0 && s.parts[s.n-1] < 0
}

// value returns the sum, nearly rounded; +Inf when it left the range.
func (s *exactSum) value() float64 {
	if s.infinite {
		return math.Inf(1)
	}
	sum := 0.0
	for _, x := range s.parts[:s.n] {
		sum += x
	}
	return sum
}

// positive returns x where it is positive, else 0.
func positive(x float64) float64 {
	if x > 0 {
		return x
	}
	return 0
}
