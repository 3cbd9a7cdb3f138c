package vector

import (
	"math"

	"github.com/resvec/resvec/internal/kernel"
)

// ResourceVector is one entity's amounts, such as a node's idle resources or a pod's
// request: element i is the amount of resource i, in that resource's unit. It is a plain
// slice: a []float64 converts for free, and copying the value shares the elements.
// Lengths may differ between operands: a missing element counts as 0. Only Clone, a
// growing Add, Sub or SetMax, and Shortfall with a short dst allocate. The operations are
// KAI-Scheduler's ("Vectorizing Resource Representation", 2025).
type ResourceVector []float64

// LessEqual reports whether every element of v is at most the same element of other,
// exactly. It is the strict rule: an element that is 0 in v counts, so a negative one in
// other rejects. NaN on either side rejects; +Inf in other is unlimited.
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
// the same element of free. What is not requested never rejects, even where free is
// negative: kube-scheduler's rule. NaN in v rejects, and so does NaN in free where v
// requests.
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

// FitsInSum is FitsIn for a+b, such as idle plus releasing, each sum rounded once.
func (v ResourceVector) FitsInSum(a, b ResourceVector) bool {
	for i, x := range v {
		if !(x <= 0 || x <= a.Get(i)+b.Get(i)) {
			return false
		}
	}
	return true
}

// LessEqualSum is LessEqual for a+b, each sum rounded once.
func (v ResourceVector) LessEqualSum(a, b ResourceVector) bool {
	// The strict rule also asks about elements that v does not have.
	for i := range max(len(v), len(a), len(b)) {
		if !(v.Get(i) <= a.Get(i)+b.Get(i)) {
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

// SetMax raises each element of v to the same element of other where that is greater, and
// grows v as [ResourceVector.Add] does. A NaN in other never wins.
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
	if v == nil {
		panic("vector: pointer to the vector is nil")
	}
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

// NormalizedSum returns the sum of v[i]/total[i] over total[i] > 0, in index order.
// Indices missing on either side contribute nothing.
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

// DominantResource returns the dominant share of v: the greatest v[i]/total[i] over
// total[i] > 0, at least 0 (Ghodsi et al., Dominant Resource Fairness, NSDI 2011). NaN
// shares are ignored.
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
// floor(free[i]/v[i]) over positive v[i], at least 0. It is the exact integer quotient
// when both amounts are integers below 2^53 (docs/proofs.md), and at most math.MaxInt64,
// which a request of nothing and unlimited room give. NaN in v, or in free where v is
// positive, gives 0; an infinite request fits only infinite room.
func (v ResourceVector) CopiesFit(free ResourceVector) int64 {
	// Rounding down once, at the end, gives the same: the least quotient has the least floor.
	least := math.Inf(1)
	for i, x := range v {
		least = min(least, kernel.Quotient(x, free.Get(i)))
	}
	return kernel.Floor(least)
}

// Shortfall sets dst to what the request v lacks in free, per index: v[i]-free[i] where
// that and v[i] are positive, else 0, and +Inf where a NaN rejects. It is all zeros
// exactly when [ResourceVector.FitsIn] is true. dst is returned with v's length; it may
// be v. vectormap's Explain says it in words.
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
