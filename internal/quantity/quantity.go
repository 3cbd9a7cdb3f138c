// Package quantity guards against Quantities whose exponent is out of all
// proportion. 1e99999999 is twelve characters of a pod, but Kubernetes compares
// and adds it, and parses some texts like it, by writing the power of ten out,
// which takes minutes.
package quantity

import (
	"bytes"
	"errors"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"github.com/resvec/resvec/internal/decimal"
	"gopkg.in/inf.v0"
	"k8s.io/apimachinery/pkg/api/resource"
)

// MostExponent is the largest exponent of ten, up or down, that arithmetic
// meets.
const MostExponent = 999

// sized matches the texts that take no time to parse: up to 300 characters and
// with an exponent of up to MostExponent.
var sized = regexp.MustCompile(`^[^eE]{0,300}([eE][^0-9]*0*[0-9]{0,3})?$`)

var (
	errSize = errors.New("must be a quantity of at most 300 characters, with an exponent of at most 999")
	errForm = errors.New("must be a quantity, such as 2, 500m or 5Gi")
)

// Parse is resource.ParseQuantity for a text of any origin. The error says what
// would be right.
func Parse(text string) (resource.Quantity, error) {
	if !sized.MatchString(text) {
		return resource.Quantity{}, errSize
	}
	q, err := resource.ParseQuantity(text)
	if err != nil {
		return resource.Quantity{}, errForm
	}
	return q, nil
}

// Kept compares the magnitude of q with the magnitude of a text. For the text that [Parse] made
// it from, it is +1 where q is greater, since a Quantity holds nothing finer than 1n
// and rounds away from 0, -1 where it is smaller, since amounts with a binary suffix
// end at 2^63-1, and 0 where q is what was written. It is 0 for a text that is no
// quantity. Text and exponent may have any size.
func Kept(q resource.Quantity, text string) int {
	written, ok := magnitude(text)
	if !ok {
		return 0
	}
	q = q.DeepCopy()
	kept, ok := new(big.Rat).SetString(q.AsDec().String())
	if !ok {
		return 0
	}
	return kept.Abs(kept).Cmp(written)
}

// magnitude returns the magnitude of an amount as written, and false for a text
// that is none.
func magnitude(text string) (value *big.Rat, ok bool) {
	text = strings.TrimLeft(text, "+-")
	end := strings.LastIndexAny(text, "0123456789.") + 1
	number, suffix := text[:end], text[end:]
	n, ok := decimal.Parse(number)
	if !ok {
		return nil, false
	}
	value = rational(n)
	if suffix == "" || strings.ContainsAny(number, "eE") { // an exponent of ten, or nothing
		return value, true
	}
	scale, known := suffixes[suffix]
	if !known {
		return nil, false
	}
	return value.Mul(value, scale), true
}

// rational returns the magnitude of n, or of a number close to it that compares with
// every quantity as n does.
func rational(n decimal.Number) *big.Rat {
	const most = 3 * MostExponent // digits of a quantity, and exponents, up or down
	digits, exponent := n.Digits, n.Exponent
	if digits == "" {
		return new(big.Rat)
	}
	if more := len(digits) - most; more > 0 {
		digits = digits[:most] + "1"
		exponent += int64(more) - 1
	}
	exponent = min(max(exponent, -3*most), 3*most)
	value, _ := new(big.Rat).SetString(digits + "e" + strconv.FormatInt(exponent, 10))
	return value
}

// suffixes are the units of Kubernetes.
var suffixes = func() map[string]*big.Rat {
	units := map[string]*big.Rat{
		"n": big.NewRat(1, 1e9), "u": big.NewRat(1, 1e6), "m": big.NewRat(1, 1e3),
		"k": big.NewRat(1e3, 1), "M": big.NewRat(1e6, 1), "G": big.NewRat(1e9, 1),
		"T": big.NewRat(1e12, 1), "P": big.NewRat(1e15, 1), "E": big.NewRat(1e18, 1),
	}
	for i, name := range []string{"Ki", "Mi", "Gi", "Ti", "Pi", "Ei"} {
		units[name] = big.NewRat(1<<(10*(i+1)), 1)
	}
	return units
}()

// Far reports whether arithmetic with q takes long. It does not change q.
func Far(q *resource.Quantity) bool {
	if !q.IsZero() { // counting a zero's exponent up takes long
		if _, ok := q.AsInt64(); ok {
			return false
		}
	}
	return span(q) != 0
}

// span says on which side of the bounds q lies: 1 if it is too far from 0, -1 if
// it is too close to it, or a zero with an exponent out of bounds.
func span(q *resource.Quantity) int {
	var buf [32]byte
	digits, exponent := q.AsCanonicalBytes(buf[:0])
	if q.IsZero() {
		if max(exponent, -exponent) > MostExponent {
			return -1
		}
		return 0
	}
	magnitude := int64(len(digits)) + int64(exponent) // below 10^magnitude
	if q.Sign() < 0 {
		magnitude--
	}
	switch {
	case magnitude > MostExponent+1:
		return 1
	case magnitude < -MostExponent:
		return -1
	}
	return 0
}

// Bounded returns q itself, unless it is [Far], or else the nearest Quantity that
// is not: ±10^1000 for what is as far from 0 as that, ±1n, the least that
// Kubernetes keeps, for what is closer to it than 10^-999, and a plain 0. So it
// compares with any usual amount as q does.
func Bounded(q resource.Quantity) resource.Quantity {
	switch sign := q.Sign(); {
	case !Far(&q):
		return q
	case sign == 0:
		return resource.Quantity{Format: q.Format}
	case span(&q) > 0:
		return *resource.NewDecimalQuantity(*inf.NewDec(int64(sign), -MostExponent-1), q.Format)
	default:
		return *resource.NewScaledQuantity(int64(sign), resource.Nano)
	}
}

// Text returns q as it was written, or nearly so: a Quantity keeps no more than the
// digits, an exponent and the kind of its suffix. Its own String writes 1e400 as
// 10e399, and takes minutes for what is [Far].
func Text(q resource.Quantity) string {
	if q.Format != resource.DecimalExponent && !Far(&q) {
		return q.String()
	}
	var buf [64]byte
	canonical, exponent := q.AsCanonicalBytes(buf[:0])
	digits := bytes.TrimRight(canonical, "0")
	power := int(exponent) + len(canonical) - len(digits)
	switch {
	case len(digits) == 0:
		return "0"
	case 0 <= power && power < 3:
		return string(canonical)
	}
	return string(digits) + "e" + strconv.Itoa(power)
}

// Ceiling returns q rounded away from 0, as its Value does, and whether that is
// an int64; Value is wrong where it is not, and for some negative amounts.
func Ceiling(q *resource.Quantity) (value int64, ok bool) {
	bounded := Bounded(*q)
	if value, ok := bounded.AsInt64(); ok {
		return value, true
	}
	return new(inf.Dec).Round(bounded.AsDec(), 0, inf.RoundUp).Unscaled()
}

// Whole returns q as an integer; ok is false where it is none, or no int64. Value
// would round it up, or wrap around.
func Whole(q *resource.Quantity) (x int64, ok bool) {
	if x, ok := q.AsInt64(); ok {
		return x, true
	}
	// Of a canonical integer the exponent of ten is not negative.
	const mostZeros = 18 // of an int64
	var buf [32]byte
	digits, exponent := q.AsCanonicalBytes(buf[:0])
	if exponent < 0 || exponent > mostZeros {
		return 0, false
	}
	x, err := strconv.ParseInt(string(digits)+strings.Repeat("0", int(exponent)), 10, 64)
	return x, err == nil
}
