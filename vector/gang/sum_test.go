package gang

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestExactSum adds and takes away numbers of every magnitude, and compares the sum
// with an exact one, to the bit.
func TestExactSum(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		var s exactSum
		want := new(big.Float).SetPrec(2400)
		var inside []float64
		spread := 1 + r.IntN(2000)
		for range 400 {
			x := math.Ldexp(r.Float64()-0.5, r.IntN(spread)-spread/2-r.IntN(40))
			if r.IntN(4) == 0 {
				x = math.Ldexp(1, r.IntN(spread)-spread/2) // a single bit
			}
			switch {
			case len(inside) > 0 && r.IntN(2) == 0:
				at := r.IntN(len(inside))
				s.replace(inside[at], x)
				want.Sub(want, big.NewFloat(inside[at]))
				inside[at] = x
			default:
				s.add(x)
				inside = append(inside, x)
			}
			want.Add(want, big.NewFloat(x))
			rounded, _ := want.Float64()
			if got := s.value(); got != rounded || s.negative() != (want.Sign() < 0) {
				t.Fatalf("seed %d: %v, negative %v, want %v", seed, got, s.negative(), rounded)
			}
		}
		for _, x := range inside {
			s.add(-x)
		}
		if s.n != 0 {
			t.Fatalf("seed %d: %v left of nothing", seed, s.parts[:s.n])
		}
	}
}

// TestExactSumCompress makes the list as long as it gets.
func TestExactSumCompress(t *testing.T) {
	var s exactSum
	want := new(big.Float).SetPrec(2400)
	for i := range sumParts { // single bits so close that compress merges some
		s.parts[i] = math.Ldexp(1, -1074+40*i)
		want.Add(want, big.NewFloat(s.parts[i]))
	}
	s.n = sumParts
	s.add(1)
	want.Add(want, big.NewFloat(1))
	rounded, _ := want.Float64()
	if s.n >= sumParts || s.value() != rounded {
		t.Errorf("%v in %d parts, want %v", s.value(), s.n, rounded)
	}
}
