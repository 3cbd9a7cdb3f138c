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
