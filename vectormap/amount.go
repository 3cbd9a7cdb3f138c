package vectormap

import (
	"math"
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"
)

// limit is the first amount that is not exact any more: 2^53 units.
const limit = 1 << 53

// rounding is the direction in which a quantity finer than the unit goes.
type rounding bool

const (
	up   rounding = true  // requests
	down rounding = false // capacities
)

// The reasons why an amount is refused, as they end an AmountError's text.
const (
	reasonNegative = "is negative"
	reasonTooLarge = "is 2^53 units or more"
	reasonNotANumb = "is not a finite number"
	reasonTooFine  = "is finer than a thousandth"
	reasonNotMilli = "is no whole number of thousandths below 2^40"
	reasonTooMany  = "is 2^40 devices or more"
	reasonNoCent   = "is no whole number of hundredths of a GPU"
	reasonPortion  = "is no portion from 0.005 to 1"
	reasonFraction = "is a fraction of a thousandth"
	reasonNoPart   = "is a number of devices without a portion or GPU memory"
	reasonNoDevice = "is a portion of no device"
	reasonNoForm   = "is neither whole GPUs nor a portion of one"
)

// quantityAmount returns q in units of 1/scale, scale being 1 or 1000, rounded
// as told, or the reason why it has none. The result is exact for every
// Quantity, also for those whose int64 accessors overflow or round the wrong
// way: a Quantity is decimal digits and an exponent of ten, so rounding is
// cutting the digits. It does not change q, and allocates only for quantities
// that are kept as an inf.Dec, such as a parsed 1.5Gi.
func quantityAmount(q *resource.Quantity, scale int64, r rounding) (amount int64, reason string) {
	switch sign := q.Sign(); {
	case sign == 0:
		return 0, ""
	case sign < 0:
		return 0, reasonNegative
	}
	if x, ok := q.AsInt64(); ok {
		if x >= limit/scale+1 || x*scale >= limit {
			return 0, reasonTooLarge
		}
		return x * scale, ""
	}
	var buf [32]byte
	digits, exponent := q.AsCanonicalBytes(buf[:0])
	whole := len(digits) + int(exponent) // digits before the decimal point
	if scale == 1000 {
		whole += 3
	}
	const most = 16 // digits of 2^53
	if whole > most {
		return 0, reasonTooLarge
	}
	for i := range max(whole, 0) {
		amount *= 10
		if i < len(digits) {
			amount += int64(digits[i] - '0')
		}
	}
	if r == up && hasFraction(digits, whole) {
		amount++
	}
	if amount >= limit {
		return 0, reasonTooLarge
	}
	return amount, ""
}

// nearestAmount returns q in units of 1/scale: rounded up to a whole number from 0
// to 2^53, and elsewhere to the nearest finite float64.
func nearestAmount(q *resource.Quantity, scale int64) float64 {
	amount, reason := quantityAmount(q, scale, up)
	if reason == "" {
		return float64(amount)
	}
	digits, power := q.AsCanonicalBytes(nil)
	exponent := int64(power)
	if scale == 1000 {
		exponent += 3
	}
	text := strconv.AppendInt(append(digits, 'e'), exponent, 10)
	x, _ := strconv.ParseFloat(string(text), 64) // ±Inf beyond float64
	return min(max(x, -math.MaxFloat64), math.MaxFloat64)
}

// hasFraction reports whether a digit behind the decimal point is not 0.
func hasFraction(digits []byte, whole int) bool {
	for _, d := range digits[min(max(whole, 0), len(digits)):] {
		if d != '0' {
			return true
		}
	}
	return false
}

// isWhole reports whether q is a whole number, whatever its size.
func isWhole(q *resource.Quantity) bool {
	if _, ok := q.AsInt64(); ok || q.IsZero() {
		return true
	}
	var buf [32]byte
	digits, exponent := q.AsCanonicalBytes(buf[:0])
	return exponent >= 0 || !hasFraction(digits, len(digits)+int(exponent))
}

// thousandths returns the whole number k for which x is the float64 nearest to
// k/1000, as 0.3 is to 300/1000. Below 2^40 the two roundings, of the product
// and of the given x, move k by less than a half, so it is the only one.
func thousandths(x float64) (k float64, ok bool) {
	k = math.Round(x * 1000)
	return k, k/1000 == x && math.Abs(x) < 1<<40
}

// formatFloat writes the digits that identify x, with an exponent only where it
// is far from 1.
func formatFloat(x float64) string {
	format := byte('g')
	if a := math.Abs(x); 1e-6 <= a && a < 1e21 {
		format = 'f'
	}
	return strconv.FormatFloat(x, format, -1, 64)
}
