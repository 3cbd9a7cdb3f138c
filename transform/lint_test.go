package transform

import (
	"fmt"
	"github.com/resvec/resvec/internal/testkit"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// found returns the findings as code(input,output), and checks their severity.
func found(t *testing.T, findings []Finding) []string {
	t.Helper()
	texts := []string{}
	infos := strings.Fields("chain drops-input excluded-output native-output negative-factor zero-factor")
	for _, f := range findings {
		if want := map[bool]Severity{true: Info, false: Warning}[slices.Contains(infos, f.Code)]; f.Severity != want {
			t.Errorf("%s is of severity %q", f.Code, f.Severity)
		}
		if !strings.HasPrefix(f.String(), string(f.Severity)+": "+f.Code+"(") || f.Detail == "" {
			t.Errorf("prints as %s", f)
		}
		texts = append(texts, fmt.Sprintf("%s(%s,%s)", f.Code, shortName(f.Input), shortName(f.Output)))
	}
	return texts
}

// shortName is a name without its example.com/.
func shortName(name corev1.ResourceName) string {
	return strings.TrimPrefix(string(name), "example.com/")
}

// TestLintFacts is T29 and a case for every code.
func TestLintFacts(t *testing.T) {
	const q = "example.com/q"
	for _, c := range []struct {
		id, rules, exclude, known string
		options                   Options
		want                      string
	}{
		{id: "T29", exclude: "vendor.example/", known: "cpu memory example.com/gpumem a b vendor.example/x",
			rules: "example.com/gpumem Replace x example.com/gpus: " + q + " 1; a Retain: b 1; b Replace: a 1; vendor.example/x Retain: " + q + " 5Gi; cpu Retain:; memory Retain: " + q + " 10G",
			want:  "chain(a,b) chain(b,a) cycle(a,) excluded-input(vendor.example/x,) no-effect(cpu,) unit-mismatch(,q) unknown-multiplier(gpumem,)"},
		{id: "nothing known", rules: "a Retain x b: c 1", want: ""},
		{id: "unknown", rules: "a Retain x b: c 1", known: "cpu", want: "unknown-input(a,) unknown-multiplier(a,)"},
		{id: "excluded", rules: "a Retain x b: c 1; b Retain: c 1", exclude: "example.com/", want: "excluded-input(a,) excluded-input(b,) excluded-output(,credit)"},
		{id: "excluded multiplier", rules: "a Retain x vendor.example/x: c 1", exclude: "vendor.example/", options: Options{AfterExclusion}, want: "excluded-multiplier(a,)"},
		{id: "excluded multiplier that counts", rules: "a Retain x vendor.example/x: c 1", exclude: "vendor.example/", want: ""},
		{id: "itself", rules: "a Retain x a: a 2; b Replace: b 1", want: "self-multiplier(a,) self-output(a,a) self-output(b,b)"},
		{id: "chain", rules: "a Retain: b 1; b Retain: d 1", want: "chain(a,b)"},
		{id: "factors", rules: "a Retain: c -1, b 0; d Retain: c 1, b -1", want: "negative-factor(a,credit) negative-factor(d,b) never-positive(,b) zero-factor(a,b)"},
		{id: "no outputs", rules: "a Retain:; b Replace:", want: "drops-input(b,) no-effect(a,)"},
		{id: "native", rules: "a Retain: cpu 1, memory 1, ephemeral-storage 1, pods 1, hugepages-2Mi 1, b 1",
			want: "native-output(,cpu) native-output(,ephemeral-storage) native-output(,hugepages-2Mi) native-output(,memory) native-output(,pods)"},
		{id: "units", rules: "a Retain: c 1Ki; b Retain: c 999", want: ""},
		{id: "units, two systems", rules: "a Retain: c 1Ki; b Retain: c 1000", want: "unit-mismatch(,credit)"},
		{id: "units, negative", rules: "a Retain: c 1Ki; b Retain: c -1000", want: "negative-factor(b,credit) unit-mismatch(,credit)"},
		{id: "units, far apart", rules: "a Retain: c 1m; b Retain: c 1000", want: "unit-mismatch(,credit)"},
		{id: "units, not as far", rules: "a Retain: c 1m; b Retain: c 999999m; d Retain: c 0", want: "zero-factor(d,credit)"},
		{id: "two cycles", rules: "a Retain: b 1; b Retain: a 1; c Retain: d 1; d Retain: ec 1; ec Retain: c 1, a 1",
			want: "chain(a,b) chain(b,a) chain(c,a) chain(c,credit) chain(credit,d) chain(d,c) cycle(a,) cycle(c,)"},
		{id: "identity", want: ""},
	} {
		cfg := rules(c.rules)
		if c.exclude != "" {
			cfg.ExcludeResourcePrefixes = []string{c.exclude}
		}
		var known []corev1.ResourceName
		for _, name := range strings.Fields(c.known) {
			known = append(known, long(name))
		}
		findings := compile(cfg, c.options).Lint(known)
		wantEqual(t, c.id, strings.Fields(c.want), found(t, findings))
	}
}

// TestLintCycles: the members stand in the detail, and a rule that leads into a
// cycle is none of it.
func TestLintCycles(t *testing.T) {
	tr := compile(rules("a Retain: b 1; b Retain: d 1; d Retain: b 1, g 1; g Retain: M1 1"), Options{})
	var details []string
	for _, f := range tr.Lint(nil) {
		if f.Code == "cycle" {
			details = append(details, string(f.Input)+": "+f.Detail)
		}
	}
	want := []string{"example.com/b: outputs lead back to example.com/b, example.com/d; none is transformed again"}
	wantEqual(t, "", want, details)
}

// ring returns rules of which each produces the input of the next, the last that
// of the first.
func ring(n int) *Config {
	c := new(Config)
	name := func(k int) corev1.ResourceName {
		return corev1.ResourceName(fmt.Sprintf("example.com/r%06d", k%n))
	}
	for k := range n {
		c.Rules = append(c.Rules, Rule{Input: name(k), Strategy: Replace, Outputs: corev1.ResourceList{name(k + 1): resource.MustParse("1")}})
	}
	return c
}

// Factors that Kubernetes holds otherwise than they are written are found, in
// every shape, and others not.
func TestLintInexact(t *testing.T) {
	check := lintsFactor(t)
	for _, c := range []struct{ factor, code, detail string }{
		{"0.0000000001", "rounded-factor", "0.0000000001 is written, 1n is charged: Kubernetes holds nothing finer than 1n and rounds away from 0"},
		{"-1.5n", "rounded-factor", "-1.5n is written, -2n is charged: Kubernetes holds nothing finer than 1n and rounds away from 0"},
		{"1.0000000001", "rounded-factor", "1.0000000001 is written, 1000000001n is charged: Kubernetes holds nothing finer than 1n and rounds away from 0"},
		{"12345678901234567890123456789Ki", "capped-factor", "12345678901234567890123456789Ki is written, 9223372036854775807 is charged: Kubernetes holds no more with a binary suffix"},
		{"8Ei", "capped-factor", "8Ei is written, 9223372036854775807 is charged: Kubernetes holds no more with a binary suffix"},
		{"1n", "", ""}, {"0.000000001", "", ""}, {"7Ei", "", ""}, {"1e30", "", ""}, {"9223372036854775807", "", ""}, {"0", "", ""}, {"1e400", "", ""},
	} {
		check("'"+c.factor+"'", c.code, c.detail)
	}
	const float = ": YAML reads a number without quotes as a float64"
	for _, c := range []struct{ factor, code, detail string }{
		{"0.0000000001", "rounded-factor", "0.0000000001 is written, 1e-9 is charged: Kubernetes holds nothing finer than 1n and rounds away from 0"},
		{"1.0000000001", "rounded-factor", "1.0000000001 is written, 1000000001n is charged: Kubernetes holds nothing finer than 1n and rounds away from 0"},
		{"8Ei", "capped-factor", "8Ei is written, 9223372036854775807 is charged: Kubernetes holds no more with a binary suffix"},
		{"1E-1_0", "rounded-factor", "1E-1_0 is written, 1e-9 is charged: Kubernetes holds nothing finer than 1n and rounds away from 0"},
		{"1e-400", "rounded-factor", "1e-400 is written, 0 is charged" + float},
		{"-1e-400", "rounded-factor", "-1e-400 is written, 0 is charged" + float},
		{"1e-99999999", "rounded-factor", "1e-99999999 is written, 0 is charged" + float},
		{"123456789.123456789", "rounded-factor", "123456789.123456789 is written, 123456789123456790n is charged" + float},
		{"-123456789.123456789", "rounded-factor", "-123456789.123456789 is written, -123456789123456790n is charged" + float},
		{"9007199254740993.0", "rounded-factor", "9007199254740993.0 is written, 9007199254740992 is charged" + float},
		{"9_007_199_254_740_993e0", "rounded-factor", "9_007_199_254_740_993e0 is written, 9007199254740992 is charged" + float},
		{"18446744073709551617", "rounded-factor", "18446744073709551617 is written, 18446744073709552k is charged" + float},
		{"1.00000000000000000000001", "rounded-factor", "1.00000000000000000000001 is written, 1 is charged" + float},
		{"1e400", "", ""}, {"0.1", "", ""}, {"0.50", "", ""}, {"9007199254740993", "", ""}, {"18446744073709551615", "", ""}, {"010", "", ""}, {"0x10", "", ""},
		{"1_000", "", ""}, {"-0.0", "", ""}, {"1e3", "", ""}, {"18446744073709551616e0", "rounded-factor", "18446744073709551616e0 is written, 18446744073709552k is charged" + float},
	} {
		check(c.factor, c.code, c.detail)
	}
}

// lintsFactor returns a function that checks the findings about a factor of that
// text, in each shape.
func lintsFactor(t *testing.T) func(factor, code, detail string) {
	return func(factor, code, detail string) {
		for _, document := range []string{
			"transformations: {example.com/a: {strategy: Retain, functions: {example.com/b: %s}}}",
			"{transformations: {example.com/b: {example.com/a: %s}}, strategy: {example.com/a: Retain}}",
			"transformations: [{input: example.com/a, outputs: {example.com/b: %s}}]",
		} {
			config, _, err := Parse([]byte(fmt.Sprintf(document, factor)), ShapeAuto)
			if err != nil {
				t.Fatal(err)
			}
			compiled := testkit.Must(Compile(config, Options{}))
			var got []Finding
			for _, f := range compiled.Lint(nil) {
				if f.Code == "rounded-factor" || f.Code == "capped-factor" {
					got = append(got, f)
				}
			}
			var want []Finding
			if code != "" {
				want = []Finding{{code, Warning, "example.com/a", "example.com/b", detail}}
			}
			wantEqual(t, factor, want, got)
		}
	}
}
