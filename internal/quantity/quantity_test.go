package quantity

import (
	"math"
	"strings"
	"testing"

	"gopkg.in/inf.v0"
	"k8s.io/apimachinery/pkg/api/resource"
)

func scaled(value int64, exponent int32, f resource.Format) resource.Quantity {
	q := *resource.NewScaledQuantity(value, resource.Scale(exponent))
	q.Format = f
	return q
}

func TestParse(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"1", "1"}, {"1500m", "1500m"}, {"1.5Gi", "1536Mi"}, {"1e3", "1e3"}, {"12E", "12E"}, {"1e+0999", "1e999"},
		{"1e1000", ""}, {"1e-99999999", ""}, {"1E99999999", ""}, {"11111111111111111111e9999999", ""},
		{strings.Repeat("9", 301), ""}, {"", ""}, {"x", ""}, {"1e", ""},
	} {
		q, err := Parse(test.text)
		switch {
		case (err == nil) != (test.want != ""):
			t.Errorf("%q: %v, %v", test.text, q, err)
		case err == nil && q.Cmp(resource.MustParse(test.want)) != 0:
			t.Errorf("%q is %v", test.text, q)
		}
	}
}

func TestBounded(t *testing.T) {
	most := resource.NewDecimalQuantity(*inf.NewDec(1, -1000), resource.DecimalSI)
	least := resource.NewDecimalQuantity(*inf.NewDec(-1, -1000), resource.DecimalSI)
	for _, test := range []struct {
		q    resource.Quantity
		want *resource.Quantity // nil: as it is
	}{
		{resource.MustParse("0"), nil},
		{resource.MustParse("-5"), nil},
		{resource.MustParse("1500m"), nil},
		{resource.MustParse("1.5Gi"), nil},
		{resource.MustParse("9E"), nil},
		{scaled(7, 30, resource.DecimalExponent), nil},
		{scaled(-1, 999, resource.DecimalExponent), nil},
		{scaled(1, 1000, resource.DecimalExponent), most},
		{scaled(123, 999, resource.DecimalExponent), most},
		{scaled(123, -999, resource.DecimalExponent), nil},
		{scaled(1, 99_999_999, resource.DecimalExponent), most},
		{scaled(-12345, math.MaxInt32-9, resource.BinarySI), least},
		{scaled(1, -99_999_999, resource.DecimalSI), resource.NewScaledQuantity(1, resource.Nano)},
		{scaled(-1, -99_999_999, resource.DecimalSI), resource.NewScaledQuantity(-1, resource.Nano)},
		{scaled(0, 99_999_999, resource.DecimalSI), &resource.Quantity{}},
		{scaled(0, -99_999_999, resource.DecimalSI), &resource.Quantity{}},
		{*resource.NewDecimalQuantity(*inf.NewDec(1, -99_999_999), resource.DecimalSI), most},
		{*resource.NewDecimalQuantity(*inf.NewDec(0, -99_999_999), resource.DecimalSI), &resource.Quantity{}},
	} {
		q, changed := Bounded(test.q), Far(&test.q)
		switch {
		case changed != (test.want != nil):
			t.Errorf("%#v: changed %v", test.q, changed)
		case changed && (q.Cmp(*test.want) != 0 || q.Format != test.q.Format && !q.IsZero() && q.AsDec().Scale() < 0):
			t.Errorf("%#v is %v", test.q, q)
		case !changed && q != test.q:
			t.Errorf("%#v is %v", test.q, q)
		}
	}
}

func TestCeiling(t *testing.T) {
	for _, test := range []struct {
		q    resource.Quantity
		want int64
		ok   bool
	}{
		{resource.MustParse("0"), 0, true},
		{resource.MustParse("1500m"), 2, true},
		{resource.MustParse("-1500m"), -2, true},
		{resource.MustParse("9223372036854775807"), math.MaxInt64, true},
		{resource.MustParse("9223372036854775808"), 0, false},
		{resource.MustParse("-9223372036854775807"), -math.MaxInt64, true},
		{resource.MustParse("-9223372036854775808"), math.MinInt64, true},
		{resource.MustParse("-9223372036854775809"), 0, false},
		{scaled(1, 99_999_999, resource.DecimalExponent), 0, false},
		{scaled(-1, 99_999_999, resource.BinarySI), 0, false},
		{scaled(0, 99_999_999, resource.DecimalSI), 0, true},
		{scaled(1, -99_999_999, resource.DecimalSI), 1, true},
	} {
		if got, ok := Ceiling(&test.q); ok != test.ok || ok && got != test.want {
			t.Errorf("%#v: %d, %v, want %d, %v", test.q, got, ok, test.want, test.ok)
		}
	}
}
