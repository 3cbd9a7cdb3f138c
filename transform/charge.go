package transform

import (
	"fmt"
	"math"
	"math/bits"

	"gopkg.in/inf.v0"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Charge returns the whole units that a workload of equal pods is charged. Per pod, a
// negative amount is 0, cpu counts in thousandths and everything else in its base unit, and
// fractions are rounded up. Then the amount is multiplied by pods. Both steps saturate at
// MaxInt64. Rounding per pod makes 0.5 for 3 pods 3, as Kueue charges it. A negative number
// of pods is an error. The list is not changed.
func Charge(rl corev1.ResourceList, pods int64) (map[corev1.ResourceName]int64, error) {
	if pods < 0 {
		return nil, errPods(pods)
	}
	out := make(map[corev1.ResourceName]int64, len(rl))
	for name, q := range rl {
		out[name] = charge(name, q, pods)
	}
	return out, nil
}

// ChargeAmount is [Charge] for one amount.
func ChargeAmount(name corev1.ResourceName, q resource.Quantity, pods int64) (int64, error) {
	if pods < 0 {
		return 0, errPods(pods)
	}
	return charge(name, q, pods), nil
}

func errPods(pods int64) error {
	return fmt.Errorf("transform: pods: %d is negative, must be 0 or more", pods)
}

func charge(name corev1.ResourceName, q resource.Quantity, pods int64) int64 {
	units := wholeUnits(name, dec(q))
	if high, low := bits.Mul64(uint64(units), uint64(pods)); high == 0 && low <= math.MaxInt64 {
		return int64(low)
	}
	return math.MaxInt64
}

// wholeUnits returns the units of one pod, 0 to MaxInt64. It rounds the decimal itself:
// Quantity.Value makes 1 of -500m that is kept as a decimal, and wraps around above MaxInt64.
func wholeUnits(name corev1.ResourceName, d *inf.Dec) int64 {
	switch {
	case d.Sign() <= 0:
		return 0
	case d.Scale() < -18: // 10^19 and more; it may be so much more that it can't be written out
		return math.MaxInt64
	}
	scale := d.Scale()
	if name == corev1.ResourceCPU {
		scale -= 3
	}
	units := new(inf.Dec).Round(inf.NewDecBig(d.UnscaledBig(), scale), 0, inf.RoundCeil).UnscaledBig()
	if !units.IsInt64() {
		return math.MaxInt64
	}
	return units.Int64()
}
