package transform

import (
	"fmt"
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// TestGrowthRules takes a ring of rules through everything, with as many prefixes.
func TestGrowthRules(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T, c *Config) func(){
		"Compile": func(t *testing.T, c *Config) func() {
			return func() { compile(c, Options{}) }
		},
		"Lint": func(t *testing.T, c *Config) func() {
			tr := compile(c, Options{})
			return func() {
				found := map[string]int{}
				for _, f := range tr.Lint(tr.Inputs()) {
					found[f.Code]++
				}
				if len(found) != 2 || found["chain"] != len(c.Rules) || found["cycle"] != 1 {
					t.Errorf("found %v", found)
				}
			}
		},
		"Encode and Parse": func(t *testing.T, c *Config) func() {
			return func() {
				data := testkit.Must((&Config{Rules: c.Rules}).Encode(ShapeOutput))
				if back, _, err := Parse(data, ShapeAuto); err != nil || len(back.Rules) != len(c.Rules) {
					t.Fatal(err)
				}
			}
		},
		"Apply": func(t *testing.T, c *Config) func() {
			tr, request := compile(c, Options{}), onesOf(c)
			return func() {
				if got := tr.Apply(request); len(got) != len(c.Rules) {
					t.Errorf("%d results", len(got))
				}
			}
		},
		"MaxUnits": func(t *testing.T, c *Config) func() {
			tr, request := compile(c, Options{}), onesOf(c)
			quota := corev1.ResourceList{}
			for name := range request {
				quota[name] = resource.MustParse("5")
			}
			return func() {
				a, err := tr.MaxUnits(Query{Input: c.Rules[7].Input, Base: request, Quota: quota})
				if err != nil || a.Units != 5 {
					t.Errorf("%+v, %v", a.Units, err)
				}
			}
		},
		"Tuples": func(t *testing.T, c *Config) func() {
			return func() {
				ts := testkit.Must((&Config{Rules: c.Rules}).Tuples())
				testkit.Must(FromTuples(ts))
			}
		},
		"Bind": func(t *testing.T, c *Config) func() {
			tr := compile(c, Options{})
			in := newMap(t, strings.ReplaceAll(join(tr.Inputs()[:20]), ",", ""))
			return func() {
				out := testkit.Must(tr.OutMap(in))
				bind(tr, in, out, BindOptions{})
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			testkit.Linear(t, 1000, func(n int) func() {
				c := ring(n)
				for k := range n {
					c.ExcludeResourcePrefixes = append(c.ExcludeResourcePrefixes, fmt.Sprintf("vendor%d/", k))
				}
				return prepare(t, c)
			})
		})
	}
}

// onesOf is a request for one of each input.
func onesOf(c *Config) corev1.ResourceList {
	request := corev1.ResourceList{}
	for _, r := range c.Rules {
		request[r.Input] = resource.MustParse("1")
	}
	return request
}
