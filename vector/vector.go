package vector

import (
	"math"

	"github.com/resvec/resvec/internal/kernel"
)

// ResourceVector is one entity's amounts: element i is of resource i, and a missing one
// counts as 0. Copying the value shares the elements.
// Only Clone, a growing Add, Sub or SetMax, and Shortfall with a short dst allocate. The
// operations are KAI-Scheduler's (Vectorizing Resource Representation).
type ResourceVector []float64

// LessEqual reports whether every element of v is at most other's: the strict
// rule. A 0 in v counts: a negative element of other rejects, and NaN.
func (v ResourceVector) LessEqual(other ResourceVector) bool {
	// !(x <= y), and not x > y, rejects a NaN on either side.
	n := min(len(v), len(other))
	for i, x := range v[:n] {
		if !(x <= other[i]) {
			return false
		}
	}
	for _, x := range v[n:] {
		if !(x <= 0) {
			return false
		}
	}
	for _, x := range other[n:] {
		if !(x >= 0) {
			return false
		}
	}
	return true
}

// FitsIn reports whether a request v fits into free: every positive element is at most
// free's. What is not requested never rejects, not even a negative free:
// kube-scheduler's rule. NaN in v rejects, and in free where v requests.
func (v ResourceVector) FitsIn(free ResourceVector) bool {
	n := min(len(v), len(free))
	for i, x := range v[:n] {
		if !(x <= 0 || x <= free[i]) {
			return false
		}
	}
	for _, x := range v[n:] {
		if !(x <= 0) {
			return false
		}
	}
	return true
}

// FitsInSum is FitsIn for a+b, idle plus releasing, each sum rounded once.
func (v ResourceVector) FitsInSum(a, b ResourceVector) bool {
	for i, x := range v {
		if !(x <= 0 || x <= a.Get(i)+b.Get(i)) {
			return false
		}
	}
	return true
}

// Add adds other to v. A shorter v grows, from 0, into new elements.
func (v *ResourceVector) Add(other ResourceVector) {
	s := v.grown(len(other))
	for i, x := range other {
		s[i] += x
	}
}

// Sub subtracts other from v and grows v as Add does. It may become negative.
func (v *ResourceVector) Sub(other ResourceVector) {
	s := v.grown(len(other))
	for i, x := range other {
		s[i] -= x
	}
}

// SetMax raises elements of v to greater ones of other. v grows as in Add.
func (v *ResourceVector) SetMax(other ResourceVector) {
	s := v.grown(len(other))
	for i, x := range other {
		if x > s[i] {
			s[i] = x
		}
	}
}

// grown makes v at least n elements long and returns it.
func (v *ResourceVector) grown(n int) ResourceVector {
	if len(*v) < n {
		s := make(ResourceVector, n)
		copy(s, *v)
		*v = s
	}
	return *v
}

// resized returns s with length n, its elements undefined: how destinations and
// scratch are reused.
func resized[S ~[]T, T any](s S, n int) S {
	if cap(s) < n {
		return make(S, n)
	}
	return s[:n]
}

// Clone returns a copy of v with its own elements. It is never nil.
func (v ResourceVector) Clone() ResourceVector {
	c := make(ResourceVector, len(v))
	copy(c, v)
	return c
}

// Get returns element i, or 0 when i is out of range.
func (v ResourceVector) Get(i int) float64 {
	if uint(i) >= uint(len(v)) {
		return 0
	}
	return v[i]
}

// Set sets element i to x. It does nothing when i is out of range.
func (v ResourceVector) Set(i int, x float64) {
	if uint(i) < uint(len(v)) {
		v[i] = x
	}
}

// IsZero reports whether every element is 0 or -0.
func (v ResourceVector) IsZero() bool {
	for _, x := range v {
		if x != 0 {
			return false
		}
	}
	return true
}

// NormalizedSum returns the sum of v[i]/total[i] over total[i] > 0, in order.
func (v ResourceVector) NormalizedSum(total ResourceVector) float64 {
	n := min(len(v), len(total))
	sum := 0.0
	for i, t := range total[:n] {
		if t > 0 {
			sum += v[i] / t
		}
	}
	return sum
}

// DominantResource returns the greatest v[i]/total[i] over total[i] > 0, at least 0: the
// dominant share (Ghodsi et al., NSDI 2011). NaN is ignored.
func (v ResourceVector) DominantResource(total ResourceVector) float64 {
	share, _ := v.DominantResourceIndex(total)
	return share
}

// DominantResourceIndex also returns its index, the lowest of equals, or -1.
func (v ResourceVector) DominantResourceIndex(total ResourceVector) (share float64, index int) {
	n := min(len(v), len(total))
	index = -1
	for i, t := range total[:n] {
		if t > 0 {
			if q := v[i] / t; q > share {
				share, index = q, i
			}
		}
	}
	return share, index
}

// CopiesFit returns how many copies of the request v fit into free together: the least
// floor(free[i]/v[i]) over positive v[i], exact for integers below 2^53 (docs/proofs.md),
// at most math.MaxInt64, as for a request of nothing; 0 where FitsIn rejects a NaN. An
// infinite request fits only infinite room.
func (v ResourceVector) CopiesFit(free ResourceVector) int64 {
	// Rounding down once, at the end, gives the same: the least quotient has the least floor.
	least := math.Inf(1)
	for i, x := range v {
		least = min(least, kernel.Quotient(x, free.Get(i)))
	}
	return kernel.Floor(least)
}

// Shortfall sets dst to what the request v lacks in free, per index: v[i]-free[i] where
// that and v[i] are positive, else 0, and +Inf where a NaN rejects. It has v's length;
// dst may be v.
func (v ResourceVector) Shortfall(dst, free ResourceVector) ResourceVector {
	dst = resized(dst, len(v))
	for i, x := range v {
		dst[i] = shortfall(x, free.Get(i))
	}
	return dst
}

// shortfall is the scalar definition of Shortfall for one amount.
func shortfall(request, free float64) float64 {
	switch {
	case request <= 0 || request <= free:
		return 0
	case request != request || free != free:
		return math.Inf(1)
	}
	return request - free
}
