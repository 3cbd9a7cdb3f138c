package document

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// TestReaders has every reader with every kind of value: what it reads, and the
// one fault otherwise, with the value as it is written.
func TestReaders(t *testing.T) {
	readers := map[string]func(v Value) string{
		"text": func(v Value) string { text, _ := v.Text(); return text },
		"boolean": func(v Value) string {
			if v.Boolean() {
				return "true"
			}
			return ""
		},
		"number": func(v Value) string {
			if x, found := v.Number(); found == Clean {
				return fmt.Sprint(x)
			}
			return ""
		},
		"integer": func(v Value) string {
			if x, found := v.Integer(); found == Clean {
				return fmt.Sprint(x)
			}
			return ""
		},
		"literal": func(v Value) string { text, _ := v.Literal("a quantity"); return text },
		"exact":   Value.Exact,
		"list": func(v Value) string {
			if items := v.Items(); items != nil {
				return fmt.Sprint(len(items))
			}
			return ""
		},
		"mapping": func(v Value) string {
			if x := v.Fields(); x.IsRead() {
				return strings.Join(x.v.Keys(), ",")
			}
			return ""
		},
	}
	for _, c := range []struct{ value, reader, want, fault string }{
		{"x", "text", "x", ""},
		{"", "text", "", ""},
		{"'1e400'", "text", "1e400", ""},
		{"5", "text", "", "Invalid value: 5: must be a string, not a number"},
		{"1e400", "text", "", "Invalid value: 1e400: must be a string, not a number"},
		{"yes", "text", "", "Invalid value: yes: must be a string, not a boolean"},
		{"[a]", "text", "", "Invalid value: must be a string, not a list"},
		{"{a: b}", "text", "", "Invalid value: must be a string, not a mapping"},

		{"yes", "boolean", "true", ""},
		{"~", "boolean", "", ""},
		{"'true'", "boolean", "", `Invalid value: "true": must be true or false, not a string`},
		{"1", "boolean", "", "Invalid value: 1: must be true or false, not a number"},

		{"0.5", "number", "0.5", ""},
		{"0x1F", "number", "31", ""},
		{"1_0", "number", "10", ""},
		{".inf", "number", "", "Invalid value: .inf: must be a finite number"},
		{".NaN", "number", "", "Invalid value: .NaN: must be a finite number"},
		{"1e400", "number", "", "Invalid value: 1e400: must be a finite number, from -1.7e308 to 1.7e308"},
		{"-1_0e+4_00", "number", "", "Invalid value: -1_0e+4_00: must be a finite number, from -1.7e308 to 1.7e308"},
		{"1e99999999999999999999", "number", "", "Invalid value: 1e99999999999999999999: must be a finite number, from -1.7e308 to 1.7e308"},
		{"1e-400", "number", "", "Invalid value: 1e-400: is too small: must be 0, or 5e-324 or more in magnitude"},
		{"-1e-99999999", "number", "", "Invalid value: -1e-99999999: is too small: must be 0, or 5e-324 or more in magnitude"},
		{"1e-310", "number", "1e-310", ""},
		{"-0.0", "number", "0", ""},
		{"0e-400", "number", "0", ""},
		{"9007199254740993.0", "number", "9.007199254740992e+15", ""},
		{"0xFFFFFFFFFFFFFFFFFFFFFFFFF", "number", "1.2676506002282294e+30", ""},
		{"-0o7777777777777777777777777", "number", "-3.777893186295716e+22", ""},
		{"0b1" + strings.Repeat("0", 1100), "number", "", "Invalid value: 0b1" + strings.Repeat("0", 317) + "…: must be a finite number, from -1.7e308 to 1.7e308"},
		{"0b12", "number", "", `Invalid value: "0b12": must be a number, not a string`},
		{"!!float 010", "number", "8", ""},
		{"'5'", "number", "", `Invalid value: "5": must be a number, not a string`},
		{"5Gi", "number", "", `Invalid value: "5Gi": must be a number, not a string`},

		{"7", "integer", "7", ""},
		{"7.0", "integer", "7", ""},
		{"2e1", "integer", "20", ""},
		{"010", "integer", "8", ""},
		{"9223372036854775807", "integer", "9223372036854775807", ""},
		{"9223372036854775807.0", "integer", "9223372036854775807", ""},
		{"-9223372036854775808", "integer", "-9223372036854775808", ""},
		{"9007199254740993.0", "integer", "9007199254740993", ""},
		{"9_007_199_254_740_993.0", "integer", "9007199254740993", ""},
		{"90071992547409930e-1", "integer", "9007199254740993", ""},
		{"1e3", "integer", "1000", ""},
		{"-0", "integer", "0", ""},
		{"-0.0", "integer", "0", ""},
		{"0e99999999", "integer", "0", ""},
		{"0x1F", "integer", "31", ""},
		{"-0b11", "integer", "-3", ""},
		{"0o17", "integer", "15", ""},
		{"1_000", "integer", "1000", ""},
		{"+5", "integer", "5", ""},
		{"5.", "integer", "5", ""},
		{"!!float 5", "integer", "5", ""},
		{"!!float 010", "integer", "8", ""},
		{"089", "integer", "89", ""},
		{"1.50", "integer", "", "Invalid value: 1.50: must be an integer"},
		{"1e-400", "integer", "", "Invalid value: 1e-400: must be an integer"},
		{"1e-99999999", "integer", "", "Invalid value: 1e-99999999: must be an integer"},
		{"1.00000000000000000000001", "integer", "", "Invalid value: 1.00000000000000000000001: must be an integer"},
		{"4503599627370496.00000000001", "integer", "", "Invalid value: 4503599627370496.00000000001: must be an integer"},
		{"0.99999999999999999999999", "integer", "", "Invalid value: 0.99999999999999999999999: must be an integer"},
		{"9223372036854775807.5", "integer", "", "Invalid value: 9223372036854775807.5: must be an integer"},
		{"1e99999999", "integer", "", "Invalid value: 1e99999999: must be an integer of 64 bits"},
		{"9223372036854775808.0", "integer", "", "Invalid value: 9223372036854775808.0: must be an integer of 64 bits"},
		{"-0x8000000000000000", "integer", "-9223372036854775808", ""},
		{"0x8000000000000000", "integer", "", "Invalid value: 0x8000000000000000: must be an integer of 64 bits"},
		{"0xFFFFFFFFFFFFFFFFFFFFFFFFF", "integer", "", "Invalid value: 0xFFFFFFFFFFFFFFFFFFFFFFFFF: must be an integer of 64 bits"},
		{"-.inf", "integer", "", "Invalid value: -.inf: must be an integer of 64 bits"},
		{"9223372036854775808", "integer", "", "Invalid value: 9223372036854775808: must be an integer of 64 bits"},
		{"1e400", "integer", "", "Invalid value: 1e400: must be an integer of 64 bits"},
		{".nan", "integer", "", "Invalid value: .nan: must be an integer of 64 bits"},
		{"'7'", "integer", "", `Invalid value: "7": must be an integer, not a string`},
		{"no", "integer", "", "Invalid value: no: must be an integer, not a boolean"},

		{"5Gi", "literal", "5Gi", ""},
		{"010", "literal", "8", ""},
		{"1e400", "literal", "1e400", ""},
		{"0.0000000001", "literal", "1e-10", ""},
		{"1e-400", "literal", "0", ""},
		{"1e-400", "exact", "1e-400", ""},
		{"0.50", "exact", "5e-1", ""},
		{"010", "exact", "8e0", ""},
		{"-1_00.5", "exact", "-1005e-1", ""},
		{"18446744073709551617", "exact", "18446744073709551617e0", ""},
		{".inf", "exact", ".inf", ""},
		{"'0.50'", "exact", "0.50", ""},
		{"[]", "literal", "", "Invalid value: must be a quantity, not a list"},

		{"[1, 2]", "list", "2", ""},
		{"{}", "list", "", "Invalid value: must be a list, not a mapping"},
		{"a, b", "list", "", `Invalid value: "a, b": must be a list, not a string`},

		{"{b: 1, a: 2}", "mapping", "a,b", ""},
		{"[{}]", "mapping", "", "Invalid value: must be a mapping, not a list"},
		{"1.50", "mapping", "", "Invalid value: 1.50: must be a mapping, not a number"},
	} {
		for _, at := range []string{"a: " + c.value, "b:\n- a: " + c.value} {
			var r Report
			v, path := Read([]byte(at), Options{}, &r), "a"
			if at[0] == 'b' {
				v, path = v.Fields().Get("b").Items()[0], "b[0].a"
			}
			got := readers[c.reader](v.Fields().Get("a"))
			fault := ""
			if list := r.Faults(); len(list) > 0 {
				if fault = list[0].ErrorBody(); len(list) > 1 || list[0].Field != path || r.Warnings() != nil || !r.IsUnread(path+".x") {
					t.Errorf("%s as %s: %v, %v", c.value, c.reader, list, r.Warnings())
				}
			}
			if got != c.want || fault != c.fault {
				t.Errorf("%s as %s: %q, %s, want %q, %s", c.value, c.reader, got, fault, c.want, c.fault)
			}
		}
	}
}

// TestLenientInteger: the fraction is cut off what is written, with one warning.
func TestLenientInteger(t *testing.T) {
	for _, c := range []struct {
		text string
		want int64
	}{
		{"1.5", 1}, {"-1.5", -1}, {"1e-400", 0}, {"-1e-99999999", 0}, {"0.99999999999999999999999", 0},
		{"9007199254740993.5", 9007199254740993}, {"9223372036854775807.5", math.MaxInt64}, {"-9223372036854775808.5", math.MinInt64},
	} {
		for _, read := range []func(r *Report) Value{
			func(r *Report) Value { return Read([]byte(c.text), Options{Lenient: true}, r) },
			func(r *Report) Value { return ReadJSON(c.text, "", Options{Lenient: true}, r) },
			func(r *Report) Value {
				return FromGo(map[string]any{"a": json.Number(c.text)}, Options{Lenient: true}, r).Fields().Get("a").At("")
			},
		} {
			var r Report
			x, how := read(&r).Integer()
			if want := "(document): Invalid value: " + c.text + ": must be an integer"; x != c.want || how != Noted || r.Faults() != nil && len(r.Faults()) > 0 || len(r.Warnings()) != 1 || r.Warnings()[0].Error() != want {
				t.Errorf("%s: %d, %v, %v", c.text, x, r.Faults(), r.Warnings())
			}
		}
	}
	for _, x := range []any{int8(-5), uint64(5), float32(5), 5.0, json.Number("5.0"), json.Number("0.5e1")} {
		var r Report
		if n, how := FromGo(map[string]any{"a": x}, Options{}, &r).Fields().Get("a").Integer(); n*n != 25 || how != Clean {
			t.Errorf("%T %v: %d, %v", x, x, n, r.Faults())
		}
	}
}

// TestAbsent: what is absent is read as nothing, without a fault, and so is null
// unless the options say otherwise.
func TestAbsent(t *testing.T) {
	for _, o := range []Options{{}, {NullIsFault: true}} {
		var r Report
		root := Read([]byte("a: null\nb: [null]"), o, &r).Fields()
		for _, v := range []Value{root.Get("a"), root.Get("c"), root.Get("c").Fields().Get("d"), {}} {
			text, isText := v.Text()
			_, number := v.Number()
			_, integer := v.Integer()
			literal, isLiteral := v.Literal("x")
			v.Boolean()
			isNull := o.NullIsFault && v.Path() == "a"
			if text != "" || isText == isNull || number != NoNumber != isNull || integer != NoNumber != isNull || literal != "" || isLiteral ||
				v.Items() != nil || v.Fields().IsRead() || v.Names().IsRead() || (v.Kind() == Absent) == isNull {
				t.Errorf("%+v: %s is read", o, v.Path())
			}
		}
		if want := map[bool]int{true: 8}[o.NullIsFault]; len(r.Faults()) != want {
			t.Errorf("%+v: %v", o, r.Faults())
		}
		root.Get("b").Items()[0].Item()
		if list := r.Faults(); list[len(list)-1].Error() != "b[0]: Invalid value: must be a mapping, not null" {
			t.Errorf("%+v: %v", o, list)
		}
	}
	if path := (Value{}).Fields().Get("a").Names().Get("b").Path(); path != `a["b"]` {
		t.Error(path)
	}
}

func TestKnown(t *testing.T) {
	const text = "name: x\nNames: 5\nbogus: 1\n\"a b\": 2\n" + "enable: {x: 1}"
	for _, c := range []struct {
		o                Options
		faults, warnings string
	}{
		{Options{}, "line 2: [Names bogus [\"a b\"]]", ""},
		{Options{Lenient: true}, "", "Names bogus [\"a b\"]"},
	} {
		var r Report
		x := Read([]byte(text), c.o, &r).Fields()
		x.KnownOr("; a hint", "name", "names", "enable")
		r.Fail(field.Required(field.NewPath("names"), "")) // follows from Names
		r.Fail(field.Required(field.NewPath("nothing"), ""))
		var faults, warnings []string
		for _, e := range r.Faults() {
			faults = append(faults, e.Field)
		}
		for _, e := range r.Warnings() {
			if warnings = append(warnings, e.Field); e.Detail != `supported values: "name", "names", "enable"; a hint` || e.Type != field.ErrorTypeNotSupported {
				t.Errorf("%v", e)
			}
		}
		slices.SortStableFunc(warnings, func(a, b string) int { return strings.Compare(strings.Trim(a, "["), strings.Trim(b, "[")) })
		want := []string{"[\"a b\"]", "Names", "bogus", "nothing"}
		if c.o.Lenient {
			want = []string{"names", "nothing"}
		}
		slices.Sort(faults)
		slices.Sort(want)
		if diff := cmp.Diff(want, faults); diff != "" {
			t.Errorf("%+v: %s", c.o, diff)
		}
		if !c.o.Lenient != (warnings == nil) || c.o.Lenient && len(warnings) != 3 {
			t.Errorf("%+v: warnings %q", c.o, warnings)
		}
		var parse *ParseError
		if isForm := errors.As(r.Err("test"), &parse); isForm == c.o.Lenient || isForm && parse.Line != 2 {
			t.Errorf("%+v: %v", c.o, r.Err("test"))
		}
	}
}

// TestPaths: keys that are names stand in brackets, and so do odd ones.
func TestPaths(t *testing.T) {
	const text = "byName: {a.b/c: {x: 1}}\nodd: {\"a b\": {\"(\": 1}}\n" + "long: {" + "kkkkkkkkkk: 1}"
	for _, c := range []struct {
		o    Options
		want []string
	}{
		{Options{}, []string{`byName["a.b/c"].x`, `odd["a b"]["("]`}},
		{Options{BareKeys: true}, []string{`byName[a.b/c].x`, `odd["a b"]["("]`}},
	} {
		var r Report
		root := Read([]byte(text), c.o, &r).Fields()
		got := []string{
			root.Get("byName").Names().Get("a.b/c").Fields().Get("x").Path(),
			root.Get("odd").Fields().Get("a b").Fields().Get("(").Path(),
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Error(diff)
		}
	}
	var r Report
	long := strings.Repeat("k", 400)
	Read([]byte("x: {"+long+": {a: 1, a: 2}}"), Options{}, &r)
	if list := r.Faults(); len(list) != 1 || list[0].Field != "x."+long[:320]+"….a" {
		t.Error(list)
	}
	if v := Read([]byte("a: {b: 1}"), Options{}, &r).At("in.another"); v.Fields().Get("a").Path() != "in.another.a" {
		t.Error(v.Path())
	}
}

func TestReadJSON(t *testing.T) {
	for _, c := range []struct{ text, fault string }{
		{`{"a": 1, "b": [true, null, "x"]}`, ""},
		{" 5 ", ""},
		{"invalid-json", `x["y"]: Invalid value: "invalid-json": is not JSON: at byte 1: invalid character 'i' looking for beginning of value`},
		{`{"a": 1`, `x["y"]: Invalid value: "{\"a\": 1": is not JSON: at byte 7: unexpected end of JSON input`},
		{`{"a": 1} x`, `x["y"]: Invalid value: "{\"a\": 1} x": is not JSON: at byte 10: invalid character 'x' after top-level value`},
		{`{a: 1}`, `x["y"]: Invalid value: "{a: 1}": is not JSON: at byte 2: invalid character 'a' looking for beginning of object key string`},
		{"", `x["y"]: Invalid value: "": is not JSON: at byte 0: unexpected end of JSON input`},
		{"{\"a\": \"\xff\"}", "x[\"y\"]: Invalid value: \"{\\\"a\\\": \\\"\\xff\\\"}\": is not JSON: not UTF-8 at byte 8"},
		{`{"a": 1, "b": {"c": 1, "c": 2}, "a": 3}`, `x["y"].a: Duplicate value: "a"`},
		{strings.Repeat(" ", 1<<10) + "1", `x["y"]: Invalid value: "` + strings.Repeat(" ", 320) + `…": is not JSON: 1025 bytes, more than 1024`},
		{strings.Repeat("[", 200) + strings.Repeat("]", 200), `x["y"]: Invalid value: "` + strings.Repeat("[", 200) + strings.Repeat("]", 120) + `…": is not JSON: at byte 102: nested deeper than 100 levels`},
		{strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100), ""},
	} {
		var r Report
		v := ReadJSON(c.text, `x["y"]`, Options{MaxSize: 1 << 10}, &r)
		fault := ""
		if list := r.Faults(); len(list) > 0 {
			fault = list[0].Error()
			if r.IsUnread(`x["y"].a`) != (v.Kind() == Absent) {
				t.Errorf("%q: %v", c.text, list)
			}
		}
		if fault != c.fault {
			t.Errorf("%q:\n%s, want\n%s", c.text, fault, c.fault)
		}
	}
	var r Report
	x := ReadJSON(`{"n": 1e999, "i": 1.0, "s": "1", "t": true, "z": null, "a": 1, "a": 2}`, "p", Options{}, &r).Names()
	if n, found := x.Get("i").Integer(); n != 1 || found != Clean || !x.Get("t").Boolean() || x.Get("z").Kind() != Absent || !x.IsRepeated("a") || x.IsRepeated("i") {
		t.Error(n, found)
	}
	x.Get("n").Number()
	want := "[p[\"a\"]: Duplicate value: \"a\", p[\"n\"]: Invalid value: 1e999: must be a finite number, from -1.7e308 to 1.7e308]"
	if got := Errors(r.Faults()).Error(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestUnread: what follows from a value that could not be read is no fault of its
// own.
func TestUnread(t *testing.T) {
	r := Report{Sorted: true}
	x := Read([]byte("a: 5\nab: {c: [1]}"), Options{}, &r).Fields()
	x.Get("a").Fields()
	x.Get("ab").Fields().Get("c").Items()[0].Fields()
	for _, path := range []string{"a", "a.b", "a[0].c", "ab", "ab.c", "ab.c[0]", "ab.c[0].x", "ab.c[01]", "b"} {
		r.Fail(field.Required(field.NewPath(path), ""))
	}
	var got []string
	for _, e := range r.Faults() {
		got = append(got, e.Field)
	}
	if diff := cmp.Diff([]string{"a", "ab", "ab.c", "ab.c[01]", "ab.c[0]", "b"}, got); diff != "" {
		t.Error(diff)
	}
	var whole Report
	Read([]byte("[]"), Options{}, &whole).Fields()
	whole.Fail(field.Required(field.NewPath("tiers"), ""))
	if err := whole.Err("test"); err == nil || err.Error() != "test: line 1: (document): Invalid value: must be a mapping, not a list" {
		t.Error(err)
	}
}

// TestFromGoKeys: keys of a host that are the same text are one key, and at fault.
func TestFromGoKeys(t *testing.T) {
	for range 20 {
		var r Report
		x := FromGo(map[string]any{"a": map[any]any{1: "int", "1": "string", true: "bool"}}, Options{}, &r).Fields().Get("a").Fields()
		if got, _ := x.Get("1").Text(); got != "string" || len(x.v.Keys()) != 2 {
			t.Fatal(got, x.v.Keys())
		}
		if err := r.Err("test"); err == nil || err.Error() != `test: a.1: Duplicate value: "1"` {
			t.Fatal(err)
		}
	}
}
