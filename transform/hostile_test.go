package transform

import (
	"errors"
	"fmt"
	"testing"

	"gopkg.in/inf.v0"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// TestHugeAmounts: amounts that no one can write out are passed on and charged.
func TestHugeAmounts(t *testing.T) {
	tr := compile(rules("cpu Replace: EC 3"), Options{})
	t.Run("Apply", func(t *testing.T) {
		got := tr.Apply(list("cpu 1e2000000000, memory 1e2000000000"))
		for name, want := range map[corev1.ResourceName]string{"memory": "1e2000000000", "example.com/credits": "3e2000000000"} {
			if q := got[name]; q.AsDec().UnscaledBig().String()+"e"+fmt.Sprint(-q.AsDec().Scale()) != want {
				t.Errorf("%s is %v", name, q)
			}
		}
		charged, err := Charge(got, 1)
		if err != nil || charged["memory"] != 1<<63-1 || charged[long("EC")] != 1<<63-1 {
			t.Errorf("charged %v, %v", charged, err)
		}
	})
	// Sums with what no one can write out count it as 10^1000, or as 1n.
	scaled := func(value int64, exponent int32) resource.Quantity {
		return *resource.NewScaledQuantity(value, resource.Scale(exponent))
	}
	most := *resource.NewDecimalQuantity(*inf.NewDec(1, -1000), resource.DecimalSI)
	for _, c := range []struct {
		what        string
		cpu, memory resource.Quantity
		want        *inf.Dec // of cpu: itself and 3 times the memory
	}{
		{"a large and a small one", scaled(1, 2_000_000_000), scaled(1, 0), new(inf.Dec).Add(most.AsDec(), inf.NewDec(3, 0))},
		{"a small and a large one", scaled(2, 0), scaled(1, 2_000_000_000), new(inf.Dec).Add(most.AsDec(), inf.NewDec(2, 0))},
		{"two large ones", scaled(1, 2_000_000_000), scaled(1, 1_999_000_000), new(inf.Dec).Add(most.AsDec(), most.AsDec())},
		{"a tiny one", scaled(1, 0), scaled(1, -2_000_000_000), inf.NewDec(1_000_000_001, 9)},
		{"zeros", scaled(0, 2_000_000_000), scaled(0, -2_000_000_000), inf.NewDec(0, 0)},
	} {
		tr := compile(rules("cpu Retain; memory Replace: cpu 3"), Options{})
		got := tr.Apply(corev1.ResourceList{"cpu": c.cpu, "memory": c.memory})["cpu"]
		if got.AsDec().Cmp(c.want) != 0 {
			t.Errorf("%s: %.60s", c.what, got.AsDec())
		}
	}
	t.Run("multipliers", func(t *testing.T) {
		tr := compile(rules("cpu Replace x memory: EC 3"), Options{})
		got := tr.Apply(corev1.ResourceList{"cpu": scaled(1, 2_000_000_000), "memory": scaled(1, 2_000_000_000)})[long("EC")]
		if got.AsDec().Cmp(new(inf.Dec).Mul(inf.NewDec(3, -1000), most.AsDec())) != 0 {
			t.Errorf("%.60s", got.AsDec())
		}
	})
	t.Run("MaxUnits", func(t *testing.T) {
		tr := compile(rules("cpu Retain: EC 2"), Options{})
		far := Query{Input: "cpu", Step: scaled(1, 0), Quota: corev1.ResourceList{"cpu": scaled(5, 0), long("EC"): scaled(1, 2_000_000_000)}}
		if a, err := tr.MaxUnits(far); err != nil || a.Units != 5 {
			t.Errorf("%+v, %v", a, err)
		}
		far.Step = scaled(1, 2_000_000_000)
		if a, err := tr.MaxUnits(far); err != nil || a.Units != 0 {
			t.Errorf("%+v, %v", a, err)
		}
	})
	t.Run("RoundUp", func(t *testing.T) {
		r := RoundUp{Templates: []Template{{"all", corev1.ResourceList{"cpu": scaled(1, 9)}}}, Dims: []corev1.ResourceName{"cpu"}}
		if _, _, err := r.Apply(corev1.ResourceList{"cpu": scaled(1, 2_000_000_000)}); !errors.Is(err, ErrNoTemplate) {
			t.Error(err)
		}
	})
}

// TestHugeTexts: what no one can write out is shown as it was written, at once.
func TestHugeTexts(t *testing.T) {
	huge := *resource.NewScaledQuantity(1, 99_999_999)
	config := &Config{Rules: []Rule{{Input: "cpu", Outputs: corev1.ResourceList{"memory": huge}}}}
	want := `resources.transformations[0].outputs[memory]: Invalid value: "1e99999999": must have an exponent of at most 999`
	if _, err := Compile(config, Options{}); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	step := *resource.NewScaledQuantity(-1, 99_999_999)
	step.Format = resource.BinarySI
	if _, err := new(Transformation).MaxUnits(Query{Input: "cpu", Step: step}); err == nil || err.Error() != "transform: query: step: -1e99999999 is negative; 0 stands for 1" {
		t.Error(err)
	}
}
