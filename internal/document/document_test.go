package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

const testLimit = 1 << 20

func TestRead(t *testing.T) {
	for _, c := range []struct {
		text string
		want any
	}{
		{"a: 1", Object{"a": json.Number("1")}},
		{"a: 010", Object{"a": json.Number("8")}}, // YAML 1.1
		{"a: yes", Object{"a": true}},
		{"a: 0.5\nb: [x, null, '1']", Object{"a": json.Number("0.5"), "b": []any{"x", nil, "1"}}},
		{`{"a": {"b": []}}`, Object{"a": Object{"b": []any{}}}},
		{"--- # a comment\na: 1\n...\n", Object{"a": json.Number("1")}},
		{"a: 1\n---\n# nothing\n", Object{"a": json.Number("1")}},
		{"%YAML 1.1\n---\na: x", Object{"a": "x"}},
		{"text: |\n  ---\n  two", Object{"text": "---\ntwo"}},
		{"a: &x {b: 1}\nc: {<<: *x, d: 2}", Object{"a": Object{"b": json.Number("1")}, "c": Object{"b": json.Number("1"), "d": json.Number("2")}}},
		{"a: &x {b: 1}\nc: {b: x, <<: *x}\nd: {<<: [{b: z, e: z}, *x], e: x}", Object{"a": Object{"b": json.Number("1")}, "c": Object{"b": "x"}, "d": Object{"b": "z", "e": "x"}}},
		{"\ufeffa: x", Object{"a": "x"}},
		{"a: \"---\"\n---a: b\n...b: c", Object{"a": "---", "---a": "b", "...b": "c"}},
		{"a: 1\n---\n...\n---\n", Object{"a": json.Number("1")}},
		{"'yes': 1\n\"010\": 2\n!!str ~: 3", Object{"yes": json.Number("1"), "010": json.Number("2"), "~": json.Number("3")}},
		{"&x a: 1\nb: *x", Object{"a": json.Number("1"), "b": "a"}},
		{"5", json.Number("5")},
	} {
		got, faults, err := Read([]byte(c.text), testLimit)
		if err != nil || len(faults) > 0 {
			t.Errorf("%q: faults %v, error %v", c.text, faults, err)
			continue
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q: %s", c.text, diff)
		}
	}
}

func TestFaults(t *testing.T) {
	for _, c := range []struct {
		text string
		root any
		want []string
	}{
		{"a: 1\nb: 2\na: 3", Object{"a": json.Number("3"), "b": json.Number("2")}, []string{"3 /a repeated"}},
		{"x:\n- {k: 1, \"k\": 2, k: 3}", Object{"x": []any{Object{"k": json.Number("3")}}}, []string{"2 /x/0/k repeated", "2 /x/0/k repeated"}},
		{"w: .nan\nv: [-.inf, 1e999]", Object{"w": json.Number(".nan"), "v": []any{json.Number("-.inf"), "1e999"}}, []string{"1 /w .nan", "2 /v/0 -.inf"}},
		{"a: &x [.inf]\nb: *x", Object{"a": []any{json.Number(".inf")}, "b": []any{json.Number(".inf")}}, []string{"1 /a/0 .inf", "1 /b/0 .inf"}},
		{"a: {<<: {b: .nan}, <<: {c: x}}", Object{"a": Object{"b": json.Number(".nan"), "c": "x"}}, []string{"1 /a/<</b .nan", "1 /a/<< repeated"}},
		{"&x a: 1\n*x : 2", Object{"a": json.Number("2")}, []string{"2 /a repeated"}},
		{`{"a": 1, "a": {"b": 1, "b": 2}}`, Object{"a": Object{"b": json.Number("2")}}, []string{"1 /a repeated", "1 /a/b repeated"}},
	} {
		root, faults, err := Read([]byte(c.text), testLimit)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		var got []string
		for _, f := range faults {
			got = append(got, describe(f))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q: %s", c.text, diff)
		}
		if diff := cmp.Diff(c.root, root); diff != "" {
			t.Errorf("%q: tree: %s", c.text, diff)
		}
	}
}

// TestManyFaults: what is reported stays small, whatever a document repeats.
func TestManyFaults(t *testing.T) {
	_, faults, err := Read([]byte(strings.Repeat("a: 1\n", testLimit/5)), testLimit)
	if err != nil || len(faults) != maxFaults {
		t.Errorf("%d faults, error %v", len(faults), err)
	}
}

func describe(f Fault) string {
	path := ""
	for _, s := range f.Path {
		if s.IsItem {
			path += fmt.Sprintf("/%d", s.Item)
		} else {
			path += "/" + s.Key
		}
	}
	if f.Repeated {
		return fmt.Sprintf("%d %s repeated", f.Line, path)
	}
	return fmt.Sprintf("%d %s %s", f.Line, path, f.Value)
}

func TestSyntaxErrors(t *testing.T) {
	bomb := "a0: &a0 [x]\n"
	for i := range 30 {
		bomb += fmt.Sprintf("a%d: &a%d [*a%d, *a%d, *a%d]\n", i+1, i+1, i, i, i)
	}
	for _, c := range []struct {
		name, text string
		line       int
		want       string
	}{
		{"empty", "", 0, "empty"},
		{"comments only", "# nothing\n---\n", 0, "empty"},
		{"null", "null", 0, "empty"},
		{"second document", "a: 1\n---\nb: 2", 3, "second document"},
		{"first empty", "---\n---\na: 1", 3, "second document"},
		{"third document", "a: 1\n---\n---\nb: 2", 4, "second document"},
		{"second in one line", "a: 1\n--- b", 2, "second document"},
		{"second after an end", "a: 1\n...\nb: 2", 2, "document"},
		{"second with a directive", "a: 1\n...\n%YAML 1.1\n---\nb: 2", 5, "second document"},
		{"not YAML", "a: 1\n b: [", 2, "mapping"},
		{"tab", "a:\n\t- 1", 2, "character"},
		{"not UTF-8", "a: \xff", 0, "UTF-8"},
		{"large", strings.Repeat("# x\n", testLimit/4+1), 0, "more than"},
		{"alias bomb", bomb, 2, "aliases"},
		{"alias of itself", "a: &a [*a]", 1, "nested"},
		{"large aliases", "a: &a '" + strings.Repeat("x", testLimit/2) + "'\nb: [" + strings.Repeat("*a,", 1000) + "]", 1, "aliases"},
		{"very deep", strings.Repeat("[", 200_000), 0, "depth"},
		{"deep", strings.Repeat("[", 200) + strings.Repeat("]", 200), 1, "nested"},
		{"boolean key", "a: {b: 1,\n yes: 2}", 2, `"yes" is not a string`},
		{"number key", "010: 1", 1, "not a string"},
		{"null key", "~: 1", 1, "not a string"},
		{"list key", "? [a]\n: 1", 1, "not a string"},
		{"merged number", "a: 1\n<<: 5", 1, "no mapping"},
		{"no integer", "a: !!int x", 0, "!!int"},
		{"unknown alias", "a: *b", 0, "anchor"},
	} {
		_, _, err := Read([]byte(c.text), testLimit)
		if err == nil || err.Line != c.line || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v", c.name, err)
			continue
		}
		if errors.Is(err, ErrEmpty) != (c.want == "empty") {
			t.Errorf("%s: error %v", c.name, err)
		}
	}
}

// TestLargest: without aliases no document is refused for what it weighs.
func TestLargest(t *testing.T) {
	for _, item := range []string{"a,", "'',", "a: ,"} {
		text := "[" + strings.Repeat(item, testLimit/len(item)-1) + "]"
		if _, _, err := Read([]byte(text), testLimit); err != nil {
			t.Errorf("%s: %v", item, err)
		}
	}
}

// differs finds what sigs.k8s.io/yaml reads otherwise: tags, <<, and octal numbers
// with a sign inside, which are text there.
var differs = regexp.MustCompile(`!|<<|o_*[-+]`)

// FuzzRead compares with sigs.k8s.io/yaml what is read without faults.
func FuzzRead(f *testing.F) {
	for _, text := range []string{
		"a: 1\na: 2", "- .nan", "a: &x 1\nb: *x", "? [a]\n: b", "a: 1\n---\nb", "<<: {a: 1}", "&a [*a]",
		"[0x10, 010, 1_0, 1e3, 2.50, 0b11, 0o7, -0o7, +1, .5, 1e21, 1e-7, 1:30, 2020-01-01, 18446744073709551615, ~, y, Off, No]",
		"a: |\n  x\nb: >-\n  y\n  z\nc: \"\\x41\"\nd: 'x\n\n  y'\n",
		"# x\na: # y\n- b # z\n", "- a\n-  b: c\n   d: e\n-\n  - f\n", "? a\n: b\n? c\n", "{a: [b, {c: d}], e, f: }",
		"%YAML 1.1\n--- >\n a\n\n b\n...\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, faults, syntax := Read(data, 1<<16)
		if syntax != nil || len(faults) > 0 || differs.Match(data) {
			return
		}
		text, err := yaml.YAMLToJSON(data)
		if err != nil {
			return
		}
		var want any
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.UseNumber()
		if err := decoder.Decode(&want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestCut(t *testing.T) {
	whole := strings.Repeat("a", 320)
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"a\xffb", "a\xffb"},
		{whole, whole},
		{whole + "b", whole + "…"},
		{whole[1:] + "é", whole[1:] + "…"},
	} {
		if got := Cut(c.text, "…"); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}
