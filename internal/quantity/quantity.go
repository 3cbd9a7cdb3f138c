// Package quantity guards against Quantities whose exponent is out of all
// proportion. 1e99999999 is twelve characters of a pod, but Kubernetes compares
// and adds it, and parses some texts like it, by writing the power of ten out,
// which takes minutes.
package quantity

import (
	"errors"
	"regexp"

	"gopkg.in/inf.v0"
	"k8s.io/apimachinery/pkg/api/resource"
)

// MostExponent is the largest exponent of ten, up or down, that arithmetic
// meets.
const MostExponent = 999

// sized matches the texts that take no time to parse: up to 300 characters and
// with an exponent of up to MostExponent.
var sized = regexp.MustCompile(`^[^eE]{0,300}([eE][^0-9]*0*[0-9]{0,3})?$`)

// errSize is the error of a text that is not parsed at all.
var errSize = errors.New("is too long, or has an exponent beyond 999")

// Parse is resource.ParseQuantity for a text of any origin.
func Parse(text string) (resource.Quantity, error) {
	if !sized.MatchString(text) {
		return resource.Quantity{}, errSize
	}
	return resource.ParseQuantity(text)
}

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
// it is too near to it, or a zero with an exponent out of bounds.
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
// Kubernetes keeps, for what is nearer to it than 10^-999, and a plain 0. So it
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

// Ceiling returns q rounded away from 0, as its Value does, and whether that is
// an int64; Value is wrong where it is not, and for some negative amounts.
func Ceiling(q *resource.Quantity) (value int64, ok bool) {
	bounded := Bounded(*q)
	if value, ok := bounded.AsInt64(); ok {
		return value, true
	}
	return new(inf.Dec).Round(bounded.AsDec(), 0, inf.RoundUp).Unscaled()
}
