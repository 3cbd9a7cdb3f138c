package profile

import "math"

// logOf returns the natural logarithm of a whole number from 1 on, with the bits of Go's
// math.Log on amd64 without fused multiply-add, by which kube-scheduler weighs the domains of
// a constraint. math.Log fuses on some CPUs. It is the formula of fdlibm's e_log.c (Sun
// Microsystems, 1993): x = 2^k (1+f), s = f/(2+f), and a polynomial of s² of degree 7.
func logOf(n int) float64 {
	const (
		ln2High = 6.93147180369123816490e-01
		ln2Low  = 1.90821492927058770002e-10
	)
	odd := [...]float64{
		6.666666666666735130e-01, 2.857142874366239149e-01, 1.818357216161805012e-01, 1.479819860511658591e-01,
	}
	even := [...]float64{3.999999999940941908e-01, 2.222219843214978396e-01, 1.531383769920937332e-01}
	fraction, exponent := math.Frexp(float64(n))
	if fraction < math.Sqrt2/2 {
		fraction, exponent = 2*fraction, exponent-1
	}
	f, k := fraction-1, float64(exponent)
	s := f / (2 + f)
	s2 := s * s
	s4 := s2 * s2
	// Each product is converted, so that no sum is fused with it.
	horner := func(coefficients []float64) (sum float64) {
		for i := len(coefficients) - 1; i >= 0; i-- {
			sum = coefficients[i] + float64(s4*sum)
		}
		return sum
	}
	rest := float64(s2*horner(odd[:])) + float64(s4*horner(even[:]))
	half := float64(0.5 * f * f)
	low := float64(s*(half+rest)) + float64(k*ln2Low)
	return float64(k*ln2High) - ((half - low) - f)
}
