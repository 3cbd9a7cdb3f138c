package vectormap

import (
	"math"
	"strconv"

	"github.com/resvec/resvec/vector"
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

// reason says why an amount is refused.
type reason uint8

const (
	fine reason = iota
	reasonNegative
	reasonTooLarge
	reasonSum
	reasonNotANumb
	reasonTooFine
	reasonNotMilli
	reasonTooMany
	reasonNoCent
	reasonPortion
	reasonFraction
	reasonNoPart
	reasonNoDevice
	reasonNoForm
)

// text says what is wrong and what would be right, for a resource counted in u.
func (r reason) text(u Unit) string {
	switch r {
	case reasonNegative:
		return "is negative: want 0 or more"
	case reasonTooLarge:
		return "is too large: want less than 2^53 " + u.plural()
	case reasonSum:
		return "is too large a sum: want less than 2^53 " + u.plural()
	case reasonNotANumb:
		return "is not a finite number: want a number of " + u.plural()
	case reasonTooFine:
		return "is too fine: want whole " + UnitMilli.plural()
	case reasonNotMilli:
		return "is no whole number of thousandths: want thousandths of a GPU, and less than 2^40 GPUs"
	case reasonTooMany:
		return "is too large: want less than 2^40 devices"
	case reasonNoCent:
		return "is too fine: want whole hundredths of a GPU"
	case reasonPortion:
		return "is no portion of a device: want 0.005 to 1, or 0"
	case reasonFraction:
		return "is too fine: want whole thousandths of a GPU"
	case reasonNoPart:
		return "is a number of devices without a size: want a portion or GPU memory"
	case reasonNoDevice:
		return "is a portion of no device: want a count of 1 or more"
	}
	return "is neither whole GPUs nor a portion of one: want a whole number, or less than 1"
}

// cause returns what errors.Is finds.
func (r reason) cause() error {
	switch r {
	case reasonNegative:
		return vector.ErrNegative
	case reasonNoForm:
		return ErrAmbiguousGPU
	}
	return vector.ErrNotRepresentable
}

// amountFault reports an amount, as it was written, of a resource counted in u.
func amountFault(name, amount string, u Unit, r reason) *vector.AmountError {
	return &vector.AmountError{Resource: name, Row: -1, Amount: amount, Reason: r.text(u), Cause: r.cause()}
}

// quantityAmount returns q in units of 1/scale, scale being 1 or 1000, rounded
// as asked, or the reason why it has none. The result is exact for every
// Quantity, also for those whose int64 accessors overflow or round the wrong
// way: a Quantity is decimal digits and an exponent of ten, so rounding is
// cutting the digits. It does not change q, and allocates only for quantities
// that are kept as an inf.Dec, such as a parsed 1.5Gi.
func quantityAmount(q *resource.Quantity, scale int64, r rounding) (amount int64, why reason) {
	switch sign := q.Sign(); {
	case sign == 0:
		return 0, fine
	case sign < 0:
		return 0, reasonNegative
	}
	if x, ok := q.AsInt64(); ok {
		if x >= limit/scale+1 || x*scale >= limit {
			return 0, reasonTooLarge
		}
		return x * scale, fine
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
	return amount, fine
}

// nearestAmount returns q in units of 1/scale: rounded up to a whole number from 0
// to 2^53, and elsewhere to the nearest finite float64.
func nearestAmount(q *resource.Quantity, scale int64) float64 {
	amount, why := quantityAmount(q, scale, up)
	if why == fine {
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
