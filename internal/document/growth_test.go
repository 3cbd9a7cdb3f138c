package document

import (
	"fmt"
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
)

// TestGrowth reads documents that are long, deep or wide in some way, and asks for all
// that is wrong with them.
func TestGrowth(t *testing.T) {
	counted := func(before, format, after string) func(n int) string {
		return func(n int) string { return testkit.Text(len(before)+n, before, format, after) }
	}
	fill := func(text string) func(n int) string { return counted("", text, "") }
	for name, text := range map[string]func(n int) string{
		"items":            fill("- a\n"),
		"keys":             counted("", "k%d: 1\n", ""),
		"keys on one line": counted("{", "k%d: 1, ", "}"),
		"null keys":        counted("{", "k%d, ", "}"),
		"repeated keys":    fill("a: 1\n"),
		"keys twice":       counted("", "k%[1]d: 1\nk%[1]d: 2\n", ""),
		"keys twice, deep": counted(strings.Repeat("{"+strings.Repeat("k", 300)+": ", 60)+"{", "k%[1]d: 1, k%[1]d: 2, ", strings.Repeat("}", 61)),
		"lists in lists":   counted(strings.Repeat("[", 90), "{a: 1, b: [%d]}, ", strings.Repeat("]", 90)),
		"brackets":         fill("["),
		"braces":           fill("{"),
		"nested keys":      fill("a: "),
		"nested lists":     fill("- "),
		"question marks":   fill("? "),
		"a long key":       counted("? ", "k", "\n: 1"),
		"a long key, often": func(n int) string {
			return "a: &a\n  ? " + strings.Repeat("k", n/2) + "\n  : 1\nb: [" + strings.Repeat("*a,", n/6) + "]"
		},
		"a long text, often": func(n int) string {
			return "a: &a " + strings.Repeat("k", n/2) + "\nb: [" + strings.Repeat("*a,", n/6) + "]"
		},
		"a long number":     counted("a: ", "9", ""),
		"numbers":           fill("- 1.5e3\n"),
		"quoted":            counted("a: \"", "\\x41", "\""),
		"a block":           counted("a: |\n", " x y\n", ""),
		"folded":            counted("a: >\n", " x y\n\n", ""),
		"quotes":            fill("\"a\n"),
		"tags":              fill("!!a "),
		"tagged":            fill("- !!str 1\n"),
		"aliases":           counted("a: &a [", "*a,", "]"),
		"aliases of a list": counted("a: &a [x, x]\nb: [", "*a,", "]"),
		"anchors":           fill("- &a 1\n"),
		"many anchors":      counted("", "- &a%[1]d 1\n- *a%[1]d\n", ""),
		"merges":            counted("a: &a {b: 1, c: 2, d: 3}\nb: {", "<<: *a, ", "}"),
		"merged lists":      counted("a: &a {b: 1, c: 2, d: 3}\nb: {<<: [", "*a,", "]}"),
		"comments":          fill("a: # x\n"),
		"comment lines":     fill("# x\n"),
		"comments of items": fill("# x\n- a # y\n# z\n\n"),
		"documents":         fill("---\n"),
		"zeros":             fill("\x00"),
		"spaces":            counted("a:", " ", "b"),
		"lines":             counted("a:", "\n", " b"),
		"merged merges": func(n int) string {
			var b strings.Builder
			b.WriteString("a0: &a0 {k: 1}\n")
			for i := 1; b.Len() < n; i++ {
				fmt.Fprintf(&b, "a%[1]d: &a%[1]d {<<: *a%[2]d, k%[1]d: 1}\n", i, i-1)
			}
			return b.String()
		},
		"merges of what is there": counted("a: &a {b: 1, b: 2, c: 3, c: 4}\nb: [", "{<<: *a, b: 1}, ", "]"),
		"directives":              fill("%%A b\n"),
	} {
		t.Run(name, func(t *testing.T) {
			testkit.Linear(t, 16<<10, func(n int) func() {
				data := []byte(text(n))
				return func() {
					var r Report
					Read(data, Options{MaxSize: 64 << 20}, &r)
					if err := r.Err("document"); err != nil && len(err.Error()) > 4<<20 {
						t.Errorf("an error of %d bytes", len(err.Error()))
					}
				}
			})
		})
	}
}
