package vector

import (
	"math"

	"github.com/resvec/resvec/internal/kernel"
)

// ResourceVector is one entity's amounts, such as a node's idle resources or a
// pod's request: element i is the amount of the resource with index i, in that
// resource's unit. The indices and units are given by a
// vectormap.ResourceVectorMap.
//
// It is a plain slice: a []float64 converts for free, and copying the value
// shares the elements. Lengths may differ between operands; a missing element
// counts as 0, so nil and empty act as all zeros. A vector may be read
// concurrently while nobody writes.
//
// The operations are those of KAI-Scheduler's vectorized resources (design
// "Vectorizing Resource Representation", 2025). No method allocates except
// Clone, a growing Add, Sub or SetMax, and Shortfall with a short dst.
type ResourceVector []float64

// LessEqual reports whether every element of v is at most the element of other
// with the same index. The comparison is exact, without a tolerance. It is the
// strict rule: an element of v counts even where it is 0, so a negative element
// of other rejects. A NaN on either side rejects. +Inf in other is "unlimited".
//
// [ResourceVector.FitsIn] is the requested-only rule.
func (v ResourceVector) LessEqual(other ResourceVector) bool {
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

// FitsIn reports whether a request v fits into free: every positive element of
// v is at most the same element of free. An element that is not requested (0,
// -0 or negative) never rejects, not even where free is negative; that is
// kube-scheduler's rule. A NaN in v rejects, and so does a NaN in free where v
// requests something.
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

// FitsInSum reports whether a request v fits into a+b, for example idle plus
// releasing, by the rule of [ResourceVector.FitsIn]. Each sum is rounded once.
func (v ResourceVector) FitsInSum(a, b ResourceVector) bool {
	for i, x := range v {
		if !(x <= 0 || x <= a.Get(i)+b.Get(i)) {
			return false
		}
	}
	return true
}

// LessEqualSum reports whether v is at most a+b, for example idle plus releasing, by
// the strict rule of [ResourceVector.LessEqual]. Each sum is rounded once.
func (v ResourceVector) LessEqualSum(a, b ResourceVector) bool {
	for i := range max(len(v), len(a), len(b)) {
		if !(v.Get(i) <= a.Get(i)+b.Get(i)) {
			return false
		}
	}
	return true
}

// Add adds other to v in place. A shorter v grows to other's length with a new
// backing array, the gap counting as 0; elements of a longer v stay.
func (v *ResourceVector) Add(other ResourceVector) {
	s := v.grown(len(other))
	for i, x := range other {
		s[i] += x
	}
}

// Sub subtracts other from v in place and grows v as [ResourceVector.Add]
// does. Elements may become negative: over-subscription is information.
func (v *ResourceVector) Sub(other ResourceVector) {
	s := v.grown(len(other))
	for i, x := range other {
		s[i] -= x
	}
}

// SetMax raises each element of v to the same element of other where that is
// greater, and grows v as [ResourceVector.Add] does. The gap counts as 0, so a
// negative element of other beyond v's end yields 0; elements of v beyond
// other's end stay, negative ones too. A NaN in other never wins.
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

// Clone returns a copy of v with its own elements. The clone of nil is empty
// and not nil.
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

// IsZero reports whether every element is 0 or -0. It is true for an empty
// vector and false for one that holds a NaN.
func (v ResourceVector) IsZero() bool {
	for _, x := range v {
		if x != 0 {
			return false
		}
	}
	return true
}

// NormalizedSum returns the sum of v[i]/total[i] over the indices with
// total[i] > 0, added in index order. Indices missing on either side
// contribute nothing.
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

// DominantResource returns the dominant share of v: the greatest v[i]/total[i]
// over the indices with total[i] > 0, and at least 0 (Ghodsi et al., Dominant
// Resource Fairness, NSDI 2011). NaN shares are ignored. Indices missing on
// either side contribute nothing.
func (v ResourceVector) DominantResource(total ResourceVector) float64 {
	share, _ := v.DominantResourceIndex(total)
	return share
}

// DominantResourceIndex returns the dominant share of v and the index that has
// it, ties going to the lowest index; 0 and -1 when no share is positive.
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

// CopiesFit returns how many copies of the request v fit into free at the same
// time: the least floor(free[i]/v[i]) over the positive v[i], at least 0. The
// quotient is the rounded IEEE quotient, whose floor is the exact integer
// quotient when both amounts are integers below 2^53 (docs/proofs.md).
//
// A request without a positive element gives math.MaxInt64, and so does a
// quotient of 2^63 or more or an infinite free amount. A NaN in v, or in free
// where v is positive, gives 0. An infinite request fits only infinite room.
func (v ResourceVector) CopiesFit(free ResourceVector) int64 {
	least := math.Inf(1)
	for i, x := range v {
		least = min(least, kernel.Quotient(x, free.Get(i)))
	}
	return kernel.Floor(least)
}

// Shortfall sets dst to what the request v lacks in free, per index: the
// positive difference v[i]-free[i] where v[i] > 0, else 0. It is all zeros
// exactly when [ResourceVector.FitsIn] is true. A NaN in v, or in free where v
// is positive, gives +Inf. dst is overwritten, grown when its capacity is
// short, and returned with v's length; it may be v itself.
//
// vectormap's Explain says in words what a node lacks.
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
