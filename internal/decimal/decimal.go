// Package decimal reads decimal numbers without rounding them, and writes numbers into
// messages.
package decimal

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Number is a decimal number of any length: Digits times 10^Exponent. Digits have no
// zeros at either end; the digits of 0 are "", and it has no sign.
type Number struct {
	IsNegative bool
	Digits     string
	Exponent   int64
}

// mostExponent is the largest exponent of ten that is kept, up or down. None that is
// beyond it makes a number of any type.
const mostExponent = 1 << 60

var form = regexp.MustCompile(`^([-+]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([-+]?[0-9]+))?$`)

// Parse reads a number as JSON writes it, also with a + before it, with zeros in front,
// and without digits before or behind the point. It takes linear time, whatever the
// exponent is. ok is false for anything else.
func Parse(text string) (n Number, ok bool) {
	parts := form.FindStringSubmatch(text)
	if parts == nil || parts[2]+parts[3] == "" {
		return Number{}, false
	}
	exponent, _ := strconv.ParseInt(parts[4], 10, 64) // the nearest, if it is out of range
	exponent = min(max(exponent, -mostExponent), mostExponent)
	all := parts[2] + parts[3]
	digits := strings.TrimRight(all, "0")
	exponent += int64(len(all) - len(digits) - len(parts[3]))
	if digits = strings.TrimLeft(digits, "0"); digits == "" {
		return Number{}, true
	}
	return Number{parts[1] == "-", digits, exponent}, true
}

// Int64 returns n without its fraction. isWhole is false where n has one, and ok where
// the rest is no int64.
func (n Number) Int64() (x int64, isWhole, ok bool) {
	isWhole = n.Exponent >= 0
	const most = 19 // digits of an int64
	places := int64(len(n.Digits)) + n.Exponent
	switch {
	case n.Digits == "" || places <= 0:
		return 0, isWhole, true
	case places > most:
		return 0, isWhole, false
	}
	text := n.Digits + strings.Repeat("0", int(max(n.Exponent, 0)))
	text = text[:places]
	if n.IsNegative {
		text = "-" + text
	}
	x, err := strconv.ParseInt(text, 10, 64)
	return x, isWhole, err == nil
}

// Float64 returns the nearest float64, infinite for what is too large.
func (n Number) Float64() float64 {
	if n.Digits == "" {
		return 0
	}
	x, _ := strconv.ParseFloat(n.String(), 64)
	return x
}

// String returns n as [Parse] reads it.
func (n Number) String() string {
	if n.Digits == "" {
		return "0"
	}
	text := n.Digits + "e" + strconv.FormatInt(n.Exponent, 10)
	if n.IsNegative {
		text = "-" + text
	}
	return text
}

// Format writes the digits that identify x, with an exponent only where x is far
// from 1.
func Format(x float64) string {
	format := byte('g')
	if a := math.Abs(x); 1e-6 <= a && a < 1e21 {
		format = 'f'
	}
	return strconv.FormatFloat(x, format, -1, 64)
}
