package fieldpath

import "testing"

func TestBelow(t *testing.T) {
	for _, c := range []struct{ root, path, want string }{
		{"", "a.b", "a.b"},
		{"a", "b", "a.b"},
		{"a[0]", "b", "a[0].b"},
		{"a", "[0].b", "a[0].b"},
		{"a", `["b"]`, `a["b"]`},
		{"a", "", "a"},
		{"a", Root, "a"},
		{"a", "[]", "a"},
		{"<nil>", "a", "a"},
		{Root, "a", "a"},
		{"", "", Root},
		{"<nil>", "<nil>", Root},
	} {
		if got := Below(c.root, c.path); got != c.want {
			t.Errorf("Below(%q, %q) = %q, want %q", c.root, c.path, got, c.want)
		}
	}
}

func TestSteps(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Field("", "a"), "a"},
		{Field("a", "b"), "a.b"},
		{Field("a", "b.c/d"), "a.b.c/d"},
		{Field("a", "b c"), `a["b c"]`},
		{Field("", ""), `[""]`},
		{Field("a", "b["), `a["b["]`},
		{Field("a", "é"), `a["é"]`},
		{Field("a", "b…"), "a.b…"},
		{Key("a", "b\"c"), `a["b\"c"]`},
		{Key("", "b"), `["b"]`},
		{Item("a", 3), "a[3]"},
	} {
		if c.got != c.want {
			t.Errorf("%s, want %s", c.got, c.want)
		}
	}
}
