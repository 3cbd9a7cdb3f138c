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

func TestKept(t *testing.T) {
	for _, test := range []struct {
		text string
		want int
	}{
		{"1", 0}, {"+1.50", 0}, {"1n", 0}, {"1000000001n", 0}, {"0.000000001", 0}, {"1e-9", 0}, {"-3u", 0}, {"1.5Gi", 0}, {"0", 0},
		{"7E", 0}, {"7E2", 0}, {"7e999", 0}, {"12345678901234567890123456789k", 0}, {".5", 0}, {"5.", 0}, {"7Ei", 0},
		{"0.0000000001", 1}, {"-0.0000000001", 1}, {"1e-10", 1}, {"1.0000000001", 1}, {"0.1n", 1}, {"1.5n", 1}, {"0.0000000015", 1},
		{"0.0000000000001Ki", 1},
		{"12345678901234567890123456789Ki", -1}, {"-12345678901234567890123456789Ki", -1}, {"8Ei", -1}, {"9007199254740992Ki", -1},
	} {
		q, err := Parse(test.text)
		if err != nil {
			t.Errorf("%s: %v", test.text, err)
		} else if got := Kept(q, test.text); got != test.want {
			t.Errorf("%s: %d, want %d: %s", test.text, got, test.want, q.String())
		}
	}
}

// TestKeptAny compares with texts that Parse refuses.
func TestKeptAny(t *testing.T) {
	most, _ := Parse(strings.Repeat("9", 300))
	for _, test := range []struct {
		q    resource.Quantity
		text string
		want int
	}{
		{resource.Quantity{}, "1e-400", -1}, {resource.Quantity{}, "1e-99999999", -1}, {resource.Quantity{}, "0e99999999", 0}, {resource.Quantity{}, "x", 0},
		{resource.MustParse("1n"), "1e-99999999", 1}, {resource.MustParse("1"), "1e99999999", -1}, {resource.MustParse("1"), "1." + strings.Repeat("0", 1e6), 0},
		{resource.MustParse("1"), "1." + strings.Repeat("0", 1e6) + "1", -1}, {resource.MustParse("-1"), "0." + strings.Repeat("9", 1e6), 1},
		{most, strings.Repeat("9", 300), 0}, {most, strings.Repeat("9", 301), -1}, {most, strings.Repeat("9", 300) + "." + strings.Repeat("0", 9999) + "1", -1},
	} {
		if got := Kept(test.q, test.text); got != test.want {
			t.Errorf("%s and %.40s: %d", test.q.String(), test.text, got)
		}
	}
}

// What a Quantity holds is kept when it is written out in full, whatever text it
// came from.
func FuzzKept(f *testing.F) {
	f.Add(int64(1), int32(9), byte(0))
	f.Add(int64(math.MaxInt64), int32(2), byte(5))
	f.Fuzz(func(t *testing.T, digits int64, places int32, suffix byte) {
		names := []string{"", "n", "u", "m", "k", "M", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e3", "E-7"}
		text := inf.NewDec(digits, inf.Scale(uint32(places)%20)).String() + names[int(suffix)%len(names)]
		q, err := Parse(text)
		if err != nil {
			t.Skip()
		}
		again, err := Parse(q.AsDec().String())
		if err != nil || Kept(again, q.AsDec().String()) != 0 {
			t.Errorf("%s: %s is not kept: %v", text, q.AsDec(), err)
		}
		if got := Kept(q, text); got != 0 && q.IsZero() {
			t.Errorf("%s: %d for 0", text, got)
		}
	})
}

func TestText(t *testing.T) {
	for _, text := range []string{
		"0", "1", "-1", "1500m", "8Pi", "1e400", "-1e400", "1e99999999", "123e2000000000", "12e4", "1e3", "-12e1001",
	} {
		if got := Text(resource.MustParse(text)); got != text {
			t.Errorf("%s is written %s", text, got)
		}
	}
	for _, test := range []struct {
		q    resource.Quantity
		want string
	}{
		{resource.MustParse("1e0"), "1"},
		{resource.MustParse("0e9"), "0"},
		{resource.MustParse("120e9"), "12e10"},
		{resource.MustParse("1.5Gi"), "1536Mi"},
		{scaled(12345, 99_999_999, resource.BinarySI), "12345e99999999"},
		{scaled(1, 99_999_999, resource.DecimalSI), "1e99999999"},
		{*resource.NewDecimalQuantity(*inf.NewDec(7, -99_999_999), resource.DecimalSI), "7e99999999"},
		{scaled(0, 99_999_999, resource.DecimalSI), "0"},
	} {
		if got := Text(test.q); got != test.want {
			t.Errorf("%s, want %s", got, test.want)
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
