package transform

import (
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
)

// TestGrowthParse reads documents of all shapes that are long in some way, good and bad
// ones. What is said of them stays small.
func TestGrowthParse(t *testing.T) {
	const list = "transformations: ["
	for name, c := range map[string]struct{ before, format, after string }{
		"rules":                   {list, "{input: r%d, outputs: {x/y: 1}}, ", "]"},
		"rules of one input":      {list, "{input: cpu, outputs: {x/y: 1}}, ", "]"},
		"bad rules":               {list, "{Input: r%[1]d, strategy: x, outputs: {-x: y}}, ", "]"},
		"no rules":                {list, "%d, ", "]"},
		"nulls":                   {list, "~, ", "]"},
		"outputs":                 {list + "{input: cpu, outputs: {", "r%d: 5, ", "}}]"},
		"bad outputs":             {list + "{input: cpu, outputs: {", "'r %d': '', ", "}}]"},
		"inexact outputs":         {list + "{input: cpu, outputs: {", "r%d: 1e-400, ", "}}]"},
		"a long factor":           {list + "{input: cpu, outputs: {x: ", "9", "}}]"},
		"a long fraction":         {list + "{input: cpu, outputs: {x: 0.", "9", "}}]"},
		"a long exponent":         {list + "{input: cpu, outputs: {x: 1e-", "9", "}}]"},
		"a long name":             {list + "{input: ", "a", "}]"},
		"a long strategy":         {list + "{input: cpu, strategy: ", "a", "}]"},
		"a long output":           {"{strategy: {}, transformations: {" + strings.Repeat("x", 1<<12) + ": {", "-%d: 1, ", "}}}"},
		"a long input":            {"transformations: {" + strings.Repeat("x", 1<<12) + ": {strategy: Retain, functions: {", "-%d: , ", "}}}"},
		"prefixes":                {"excludeResourcePrefixes: [", "a%d, ", "]"},
		"prefixes of one another": {"excludeResourcePrefixes: [", "a, aa, ", "]"},
		"input":                   {"transformations: {", "r%d: {strategy: Retain, functions: {x/y: 1}}, ", "}"},
		"input, bad":              {"transformations: {", "r%d: {strategy: 5, functions: x}, ", "}"},
		"output":                  {"strategy: {cpu: Retain}\ntransformations: {", "r%d: {cpu: 5}, ", "}"},
		"output, many inputs":     {"strategy: {}\ntransformations: {x: {", "r%d: 5, ", "}}"},
		"output, strategies":      {"transformations: {}\nstrategy: {", "r%d: Retain, ", "}"},
		"unknown keys":            {"", "k%d: 1\n", ""},
		"other keys":              {"apiVersion: v1\nkind: Configuration\n", "k%d: 1\n", ""},
		"repeated keys":           {"apiVersion: v1\nkind: Configuration\n", "k%[1]d: 1\nk%[1]d: 2\n", ""},
		"a list":                  {"", "- {input: cpu}\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			testkit.Linear(t, 8<<10, func(n int) func() {
				text := []byte(testkit.Text(n, c.before, c.format, c.after))
				return func() {
					config, _, err := Parse(text, ShapeAuto)
					if err != nil {
						if len(err.Error()) > 4<<20 {
							t.Errorf("an error of %d bytes", len(err.Error()))
						}
						return
					}
					if compiled, err := Compile(config, Options{}); err == nil {
						compiled.Lint(nil)
					}
				}
			})
		})
	}
}
