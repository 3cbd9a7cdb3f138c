package testkit

import (
	"math"

	"github.com/resvec/resvec/internal/kernel"
)

// Load is a resource of one node, for the golden models of this file.
type Load struct {
	Used, Request, Capacity, Weight float64
	Least                           bool // of FitShare: the less is used the better
}

// LoadScore is the golden model of the load scorer: of resources with a capacity, the sum
// or the greatest of their weighted quotients.
func LoadScore(resources []Load, greatest bool, form kernel.LoadForm) float64 {
	sum, weight, most := 0.0, 0.0, 0.0
	for _, r := range resources {
		if !(r.Capacity > 0) {
			continue
		}
		// Converted, the product is rounded before it is added, also where GOAMD64=v3 could do
		// both at once.
		q := float64((r.Used + r.Request) / r.Capacity * r.Weight)
		if math.IsNaN(q) {
			return 0
		}
		sum += q
		weight += r.Weight
		if q > most {
			most = q
		}
	}
	none := weight == 0
	if greatest {
		sum, weight = most, 1
	}
	mean := sum / weight
	points := 100 * mean
	if form == kernel.LoadSpread {
		points = 100 * (1 - mean)
	}
	switch {
	case none || math.IsNaN(sum):
		return 0
	case form == kernel.LoadRaw:
		return sum
	case math.IsNaN(points) || points <= 0:
		return 0
	case points >= 100:
		return 100
	}
	return points
}

// DominantShare is the golden model of DRF: the greatest weighted share of a capacity that
// is not negative. What there is none of counts by zeroFactor, which may be 0. It is +Inf
// where a share is NaN.
func DominantShare(resources []Load, zeroFactor float64) float64 {
	share := 0.0
	for _, r := range resources {
		v := r.Used + r.Request
		q := v / r.Capacity * r.Weight
		switch {
		case r.Capacity < 0, r.Capacity == 0 && zeroFactor == 0:
			continue
		case r.Capacity == 0:
			q = v * zeroFactor * r.Weight
		}
		if math.IsNaN(q) {
			return math.Inf(1)
		}
		if q > share {
			share = q
		}
	}
	return share
}

// FitShare is the golden model of a strategy fit: the weighted mean of the shares that are
// used, or left, with the request. It is 0 when a resource with a capacity does not hold it.
func FitShare(resources []Load) float64 {
	sum, weights := 0.0, 0.0
	for _, r := range resources {
		weights += r.Weight
		if r.Capacity == 0 {
			continue
		}
		x := r.Used + r.Request
		if !(r.Used >= 0) || !(x <= r.Capacity) || math.IsInf(r.Capacity, 0) {
			return 0
		}
		measured := x
		if r.Least {
			measured = r.Capacity - x
		}
		product := measured * r.Weight
		sum += product / r.Capacity
	}
	if weights == 0 {
		return 0
	}
	return sum / weights
}
