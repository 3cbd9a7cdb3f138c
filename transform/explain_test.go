package transform

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// TestExplainFacts is T28, with a resource that is excluded.
func TestExplainFacts(t *testing.T) {
	q := resource.MustParse
	c := rules(seven)
	c.ExcludeResourcePrefixes = []string{"vendor.example/"}
	got := compile(c, Options{}).Explain(list("M1 2, M2 1, memory 100M, cpu 1, vendor.example/x 1"))
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
		Excluded: []corev1.ResourceName{"vendor.example/x"},
	}
	wantEqual(t, "", want, got)
}
