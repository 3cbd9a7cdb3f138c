package transform

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// TestExplainFacts is T28.
func TestExplainFacts(t *testing.T) {
	q := resource.MustParse
	got := compile(t, rules(seven), Options{}).Explain(list("M1 2, M2 1, memory 100M, cpu 1"))
	want := &Explanation{
		Results: []Result{
			{Name: "cpu", Total: q("1"), Retained: q("1")},
			{Name: long("ACC"), Total: q("20G"), Generated: q("20G"), Terms: []Term{
				{Input: long("M1"), Quantity: q("2"), Factor: q("5G"), Amount: q("10G")},
				{Input: long("M2"), Quantity: q("1"), Factor: q("10G"), Amount: q("10G")},
			}},
			{Name: long("CR"), Total: q("36"), Generated: q("36"), Terms: []Term{
				{Input: "cpu", Quantity: q("1"), Factor: q("1"), Amount: q("1")},
				{Input: long("M1"), Quantity: q("2"), Factor: q("10"), Amount: q("20")},
				{Input: long("M2"), Quantity: q("1"), Factor: q("15"), Amount: q("15")},
			}},
			{Name: "memory", Total: q("100M"), Retained: q("100M")},
		},
		Replaced: []corev1.ResourceName{long("M1"), long("M2")},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestExplainMultipliers(t *testing.T) {
	c := rules(overage + "; example.com/mem Replace x vendor.example/gpu: b 2")
	c.ExcludeResourcePrefixes = []string{"vendor.example/"}
	for _, x := range []struct {
		source  MultiplierSource
		request string
		want    string
	}{
		{BeforeExclusion, "nvidia.com/gpumem 512, nvidia.com/gpu 2, example.com/mem 3, vendor.example/gpu 4", `
example.com/b                         24    retained 0, generated 24
                                      24    example.com/mem 3 x 2 x vendor.example/gpu 4
nvidia.com/gpu                        2     retained 2, generated 0
quota.example.com/gpu-memory-overage  0     retained 0, generated 0 (negative sum)
                                      -2048 nvidia.com/gpu 2 x -1024
                                      1024  nvidia.com/gpumem 512 x 1 x nvidia.com/gpu 2
example.com/mem                             replaced
nvidia.com/gpumem                           replaced
vendor.example/gpu                          excluded
`},
		{AfterExclusion, "example.com/mem 3, vendor.example/gpu 4, g 1500m", `
example.com/b      6     retained 0, generated 6
                   6     example.com/mem 3 x 2
example.com/gpu    1500m retained 1500m, generated 0
example.com/mem          replaced
vendor.example/gpu       excluded
`},
		{BeforeExclusion, "", "\n"},
	} {
		got := "\n" + compile(t, c, Options{x.source}).Explain(list(x.request)).String()
		if diff := cmp.Diff(lines(x.want), lines(got)); diff != "" {
			t.Error(diff)
		}
	}
}

// lines makes runs of spaces one.
func lines(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		out = append(out, strings.Join(strings.Fields(line), " "))
	}
	return out
}
