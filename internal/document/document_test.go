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
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"
)

const testLimit = MaxSize

// Object is a mapping; the other values of a tree are nil, bool, string,
// json.Number and []any.
type Object = map[string]any

// treeOf returns the values of a document.
func treeOf(n *node) any {
	switch n.kind {
	case Boolean:
		return n.truth
	case Number:
		if n.value == "" {
			return json.Number(n.text)
		}
		return json.Number(n.value)
	case Text:
		return n.text
	case List:
		list := []any{}
		for _, item := range n.items {
			list = append(list, treeOf(item))
		}
		return list
	case Mapping:
		x := Object{}
		for key, value := range n.fields {
			x[key] = treeOf(value)
		}
		return x
	}
	return nil
}

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
		var r Report
		root := Read([]byte(c.text), Options{}, &r)
		if err := r.Err("test"); err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if diff := cmp.Diff(c.want, treeOf(root.node)); diff != "" {
			t.Errorf("%q: %s", c.text, diff)
		}
	}
}

// TestRepeated has documents of which nobody reads anything: keys that are there
// twice are found all the same, and the last one counts.
func TestRepeated(t *testing.T) {
	for _, c := range []struct {
		text string
		root any
		line int
		want string
	}{
		{"a: 1\nb: 2\na: 3", Object{"a": json.Number("3"), "b": json.Number("2")}, 3, "a"},
		{"x:\n- {k: 1, \"k\": 2, k: 3}", Object{"x": []any{Object{"k": json.Number("3")}}}, 2, "x[0].k"},
		{"a: {<<: {b: 1}, <<: {c: x}}", Object{"a": Object{"b": json.Number("1"), "c": "x"}}, 1, "a.<<"},
		{"a: {<<: {b: 1,\n b: 2}}", Object{"a": Object{"b": json.Number("2")}}, 2, "a.b"},
		{"&x a: 1\n*x : 2", Object{"a": json.Number("2")}, 2, "a"},
		{"a: &a {b: 1, b: 2}\nc: *a", Object{"a": Object{"b": json.Number("2")}, "c": Object{"b": json.Number("2")}}, 1, "a.b c.b"},
		{`{"a": 1, "a": {"b": 1, "b": 2}}`, Object{"a": Object{"b": json.Number("2")}}, 1, "a a.b"},
		{"\"\": 1\n\"a b\": {c: 1, c: 2}\n\"\": 2", Object{"": json.Number("2"), "a b": Object{"c": json.Number("2")}}, 2, `[""] ["a b"].c`},
	} {
		r := Report{Sorted: true}
		root := Read([]byte(c.text), Options{}, &r)
		var paths []string
		for _, e := range r.Faults() {
			if paths = append(paths, e.Field); e.Type != field.ErrorTypeDuplicate {
				t.Errorf("%q: %v", c.text, e)
			}
		}
		if got := strings.Join(paths, " "); got != c.want {
			t.Errorf("%q: at %s, want %s", c.text, got, c.want)
		}
		var parse *ParseError
		if err := r.Err("test"); !errors.As(err, &parse) || parse.Line != c.line {
			t.Errorf("%q: %v, want line %d", c.text, err, c.line)
		}
		if diff := cmp.Diff(c.root, treeOf(root.node)); diff != "" {
			t.Errorf("%q: tree: %s", c.text, diff)
		}
	}
}

// TestManyFaults: what is reported stays small, whatever a document repeats.
func TestManyFaults(t *testing.T) {
	var r Report
	var text strings.Builder
	for i := 0; text.Len() < testLimit-40; i++ {
		fmt.Fprintf(&text, "k%d: 1\nk%d: 2\n", i, i)
	}
	Read([]byte(text.String()), Options{}, &r)
	list := r.Err("test").(*ParseError).Errors()
	if len(list) != maxFaults {
		t.Fatalf("%d faults", len(list))
	}
	last := list[maxFaults-1].(*field.Error)
	if want := fmt.Sprintf("this and %d more faults are not listed", len(r.faults)-maxFaults); last.Detail != want {
		t.Errorf("%q, want %q", last.Detail, want)
	}
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
		{"not UTF-8", "a: 1\nb: é\xff", 2, "UTF-8"},
		{"control character", "a: 1\nb:\n- \"\x01\"", 3, "control characters are not allowed"},
		{"first line", "a: b: c", 1, "mapping values are not allowed"},
		{"no end", "'", 1, "unexpected end"},
		{"mapping key", "a: {? {b: 1} : 2}", 1, "a key is a mapping, not a string"},
		{"long tag", "a: 1\nb: !!int " + strings.Repeat("x", 500), 2, "xxx…"},
		{"large", strings.Repeat("# x\n", testLimit/4+1), 0, "more than"},
		{"alias bomb", bomb, 3, "aliases"},
		{"alias of itself", "a: &a [*a]", 1, "nested"},
		{"large aliases", "a: &a '" + strings.Repeat("x", testLimit/2) + "'\nb: [" + strings.Repeat("*a,", 1000) + "]", 1, "aliases"},
		{"very deep", strings.Repeat("[", 200_000), 1, "depth"},
		{"deep", strings.Repeat("[", 200) + strings.Repeat("]", 200), 1, "nested"},
		{"boolean key", "a: {b: 1,\n yes: 2}", 2, `"yes" is not a string`},
		{"number key", "010: 1", 1, "not a string"},
		{"null key", "~: 1", 1, "not a string"},
		{"list key", "? [a]\n: 1", 1, "not a string"},
		{"merged number", "a: 1\n<<: 5", 1, "no mapping"},
		{"no integer", "a: !!int x", 1, "!!int"},
		{"unknown alias", "a: *b", 0, "anchor"},
	} {
		var r Report
		root := Read([]byte(c.text), Options{}, &r)
		var err *ParseError
		if !errors.As(r.Err("test"), &err) || err.Line != c.line || !strings.Contains(err.Error(), c.want) || root.Kind() != Absent {
			t.Errorf("%s: error %v", c.name, err)
			continue
		}
		// It is a list of one fault, too.
		list := err.Errors()
		if fault, ok := list[0].(*field.Error); len(list) != 1 || !ok || fault.Field != "(document)" || !strings.Contains(fault.Detail, c.want) {
			t.Errorf("%s: %v", c.name, list)
		}
	}
}

// TestLargest: without aliases no document is refused for what it weighs.
func TestLargest(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, item := range []string{"a,", "'',", "a: ,"} {
		text := "[" + strings.Repeat(item, testLimit/len(item)-1) + "]"
		var r Report
		Read([]byte(text), Options{}, &r)
		if err := r.Err("test"); err != nil {
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
		var r Report
		root := Read(data, Options{MaxSize: 1 << 16}, &r)
		if r.Err("test") != nil || differs.Match(data) {
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
		got := treeOf(root.node)
		finite := true // the others are text there, or no JSON
		each(root.node, func(n *node) { finite = finite && (n.kind != Number || n.value != "") })
		if diff := cmp.Diff(want, got); finite && diff != "" {
			t.Error(diff)
		}
	})
}

// each calls f for every value of a document.
func each(n *node, f func(n *node)) {
	f(n)
	for _, item := range n.items {
		each(item, f)
	}
	for _, value := range n.fields {
		each(value, f)
	}
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
		if got := Cut(c.text); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

// TestReadObjects: items of a list of one kind have it where they don't say theirs, and items
// of another list must.
func TestReadObjects(t *testing.T) {
	for _, c := range []struct{ text, want, fault string }{
		{"{apiVersion: a/v1, kind: QueueList, metadata: {}, items: [{metadata: {name: q}}, {apiVersion: a/v2, kind: Pod, metadata: {name: p}}]}", "a/v1 Queue q, a/v2 Pod p", ""},
		{"{apiVersion: v1, kind: List, items: [{metadata: {name: q}}, {apiVersion: v1, kind: Pod, metadata: {name: p}}]}", "v1 Pod p", "document[0].items[0].kind: Required value"},
		{"{apiVersion: a/v1, kind: QueueList, items: [{kind: '', metadata: {name: q}}]}", "", "Queue[q].kind: Required value"},
	} {
		var r Report
		var got []string
		for _, o := range ReadObjects([]byte(c.text), Options{}, &r) {
			got = append(got, o.APIVersion+" "+o.Kind+" "+o.Name)
		}
		err := r.Err("f")
		if strings.Join(got, ", ") != c.want || (err != nil) != (c.fault != "") || err != nil && !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%s: got %q, %v", c.text, got, err)
		}
	}
}
