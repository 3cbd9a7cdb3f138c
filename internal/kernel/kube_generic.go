package kernel

import (
	"math"
	"math/bits"
)

// KubeType names a formula of the kube family.
type KubeType uint8

// The formulas of kube-scheduler's plugins NodeResourcesFit and
// NodeResourcesBalancedAllocation.
const (
	KubeLeast KubeType = iota
	KubeMost
	KubeRatio
	KubeBalanced
)

// KubeTable is the function of KubeRatio: the score, 0 to 100, of every
// utilization from 0 to 100 percent. The other elements only make it whole
// vectors.
type KubeTable [128]uint8

// KubeEntry is a resource that counts in a kube score. The assembly knows the
// layout.
type KubeEntry struct {
	Used, Allocatable []float64 // an element per row, in units of the map

	// Reciprocals of Allocatable, as the function of that name sets them, if they
	// are whole and Scale is 1; or nil.
	Reciprocals []float64

	Request float64 // of the pod, in units of Kubernetes, a whole number
	Weight  float64 // a whole number, 1 to 100
	Scale   float64 // how many units of the map make one of Kubernetes

	Lane, Lane100, Lane52 float64 // set where assembly is called, see prepare there
	Whole                 uint64
}

// KubeEntries is how many entries the assembly takes at most; longer lists get
// the Go code.
const KubeEntries = 32

// KubeRow returns the score of row r, 0 to 100: the definition of the kube
// family, in whole numbers bounded by int64 alone. A row with an
// amount that is NaN, negative or not below 2^63 scores 0. table is for
// KubeRatio only.
func KubeRow(t KubeType, entries []KubeEntry, table *KubeTable, r int) int64 {
	var s KubeSum
	for k := range entries {
		s.Add(t, &entries[k], table, r)
	}
	if s.Again(t) {
		for k := range entries {
			s.AddAgain(&entries[k], r)
		}
	}
	return s.Score(t)
}

// KubeSum makes the score of one row, an entry after the other: Add all, then,
// if Again says so, AddAgain all in the same order, then Score. It is how lists
// of any length are scored without memory for them.
type KubeSum struct {
	bad           bool
	sum, weights  int64
	with, without spread // of KubeBalanced: with the pod, and without it
}

// Add takes an entry. The formula and table are as in [KubeRow].
func (s *KubeSum) Add(t KubeType, e *KubeEntry, table *KubeTable, r int) {
	requested, used, allocatable, ok := e.Amounts(r)
	if !ok {
		s.bad = true
	}
	if allocatable == 0 {
		return
	}
	score, w := int64(0), int64(e.Weight)
	switch t {
	case KubeLeast:
		score = KubeLeastStep(requested, allocatable)
	case KubeMost:
		score = KubeMostStep(requested, allocatable)
	case KubeRatio:
		if score = int64(table[KubeMostStep(requested, allocatable)]); score == 0 {
			w = 0
		}
	case KubeBalanced:
		s.with.add(kubeFraction(requested, allocatable))
		s.without.add(kubeFraction(used, allocatable))
	}
	s.sum += score * w
	s.weights += w
}

// Again reports whether the entries are needed once more.
func (s *KubeSum) Again(t KubeType) bool {
	if s.bad || t != KubeBalanced || s.with.n < 3 {
		return false
	}
	s.with.center()
	s.without.center()
	return true
}

// AddAgain takes an entry once more.
func (s *KubeSum) AddAgain(e *KubeEntry, r int) {
	if requested, used, allocatable, _ := e.Amounts(r); allocatable > 0 {
		s.with.addSquare(kubeFraction(requested, allocatable))
		s.without.addSquare(kubeFraction(used, allocatable))
	}
}

// Score returns the score of the row.
func (s *KubeSum) Score(t KubeType) int64 {
	switch {
	case s.bad:
		return 0
	case t == KubeBalanced:
		return 50 + (50+s.with.balance()-s.without.balance())/2
	case s.weights == 0:
		return 0
	case t == KubeRatio:
		return int64(math.Round(float64(s.sum) / float64(s.weights)))
	}
	return s.sum / s.weights
}

// spread measures how far the fractions of a row are apart.
type spread struct {
	n                   int
	total, mean, square float64
	last, difference    float64
}

// add takes a fraction, in the first pass.
func (s *spread) add(f float64) {
	s.n++
	s.total += f
	s.difference = f - s.last
	s.last = f
}

// center ends the first pass.
func (s *spread) center() { s.mean = s.total / float64(s.n) }

// addSquare takes a fraction, in the second pass.
func (s *spread) addSquare(f float64) {
	d := f - s.mean
	s.square += float64(d * d)
}

// balance returns 100 for no spread, 50 for the greatest.
func (s *spread) balance() int64 {
	deviation := 0.0
	switch {
	case s.n == 2:
		deviation = math.Abs(s.difference / 2)
	case s.n > 2:
		deviation = math.Sqrt(s.square / float64(s.n))
	}
	return int64((1 - deviation) * 100)
}

// kubeFraction returns part/whole, at most 1.
func kubeFraction(part, whole int64) float64 {
	f := float64(part) / float64(whole)
	if f > 1 {
		return 1
	}
	return f
}

// Amounts returns what is used in row r with the pod and without it, and what
// the node has, in units of Kubernetes. It returns zeros when the node has
// none, and when an amount is bad, which makes ok false.
func (e *KubeEntry) Amounts(r int) (requested, used, allocatable int64, ok bool) {
	allocatable, ok = kubeAmount(e.Allocatable[r], e.Scale)
	if !ok || allocatable == 0 {
		return 0, 0, 0, ok
	}
	if used, ok = kubeAmount(e.Used[r], e.Scale); !ok {
		return 0, 0, 0, false
	}
	// A sum of 2^63 and more is above every amount that a node may have.
	requested = math.MaxInt64
	if p := wholeAmount(e.Request); used <= math.MaxInt64-p {
		requested = used + p
	}
	return requested, used, allocatable, true
}

// kubeAmount returns x in units of Kubernetes, rounded up, and whether it is a
// number from 0 to below 2^63.
func kubeAmount(x, scale float64) (n int64, ok bool) {
	if !(x >= 0) {
		return 0, false
	}
	if scale != 1 {
		x /= scale
	}
	if x >= 1<<63 {
		return 0, false
	}
	if n = int64(x); float64(n) < x {
		n++
	}
	return n, true
}

// wholeAmount returns a whole x >= 0 as an integer, MaxInt64 at most.
func wholeAmount(x float64) int64 {
	if x < 1<<63 {
		return int64(x)
	}
	return math.MaxInt64
}

// KubeLeastStep returns the free share of capacity in percent, truncated: 0
// when requested is more than capacity, or capacity is not positive. A negative
// requested counts as 0. The product is exact.
func KubeLeastStep(requested, capacity int64) int64 {
	if capacity <= 0 || requested > capacity {
		return 0
	}
	return percent(capacity-max(requested, 0), capacity)
}

// KubeMostStep returns the used share of capacity in percent, truncated: 100
// when requested is more than capacity, 0 when capacity is not positive. A
// negative requested counts as 0. The product is exact.
func KubeMostStep(requested, capacity int64) int64 {
	if capacity <= 0 {
		return 0
	}
	return percent(max(min(requested, capacity), 0), capacity)
}

// percent returns part*100/whole, for 0 <= part <= whole.
func percent(part, whole int64) int64 {
	hi, lo := bits.Mul64(uint64(part), 100)
	if hi == 0 {
		return int64(lo / uint64(whole))
	}
	q, _ := bits.Div64(hi, lo, uint64(whole))
	return int64(q)
}
