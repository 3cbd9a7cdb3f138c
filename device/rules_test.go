package device_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/resvec/resvec/device"
	corev1 "k8s.io/api/core/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// TestRules: every fault of the caller's rules is found, with its place and the
// name of the rule.
func TestRules(t *testing.T) {
	good := device.Rule{Name: "x", Product: "x.com/gpu.product", Whole: []corev1.ResourceName{"x.com/gpu"}}
	for _, c := range []struct {
		name string
		edit func(*device.Rule)
		want []string
	}{
		{"good", func(*device.Rule) {}, nil},
		{"all there is", func(r *device.Rule) {
			*r = device.DefaultRules()[0]
			r.Vendor, r.Kind, r.MemoryUnit = "nvidia.com", device.KindGPU, "MiB"
		}, nil},
		{"a pattern", func(r *device.Rule) { *r = device.DefaultRules()[2] }, nil},
		{"zero", func(r *device.Rule) { *r = device.Rule{} }, []string{
			"rules[0].name FieldValueRequired", "rules[0].product FieldValueRequired", "rules[0].whole FieldValueRequired",
		}},
		{"kind", func(r *device.Rule) { r.Kind = "GPU" }, []string{"rules[0].kind FieldValueNotSupported"}},
		{"unit", func(r *device.Rule) { r.MemoryUnit = "GiB" }, []string{"rules[0].memoryUnit FieldValueNotSupported"}},
		{"no label", func(r *device.Rule) { r.Count = "not a label" }, []string{"rules[0].count FieldValueInvalid"}},
		{"no labels", func(r *device.Rule) {
			r.Product, r.Memory, r.Replicas, r.SharingStrategy, r.MIGStrategy = "/", "a//b", " ", "-", "é"
		}, []string{
			"rules[0].product FieldValueInvalid", "rules[0].memory FieldValueInvalid", "rules[0].replicas FieldValueInvalid",
			"rules[0].sharingStrategy FieldValueInvalid", "rules[0].migStrategy FieldValueInvalid",
		}},
		{"one label twice", func(r *device.Rule) { r.Count = r.Product }, []string{"rules[0].count FieldValueDuplicate"}},
		{"a pattern where the product is none", func(r *device.Rule) {
			r.Count, r.Whole = "*.count", []corev1.ResourceName{"*"}
		}, []string{"rules[0].count FieldValueInvalid", "rules[0].whole[0] FieldValueInvalid"}},
		{"a pattern of everything", func(r *device.Rule) { r.Product = "*" }, []string{"rules[0].product FieldValueInvalid"}},
		{"a pattern in the middle", func(r *device.Rule) { r.Product = "x.com/*.product" }, []string{"rules[0].product FieldValueInvalid"}},
		{"no name", func(r *device.Rule) { r.Whole = append(r.Whole, "", "x.com/") }, []string{
			"rules[0].whole[1] FieldValueRequired", "rules[0].whole[2] FieldValueInvalid",
		}},
		{"no domain", func(r *device.Rule) { r.Whole = append(r.Whole, "cpu") }, []string{"rules[0].whole[1] FieldValueInvalid"}},
		{"one resource twice", func(r *device.Rule) { r.Whole = append(r.Whole, "x.com/gpu") }, []string{"rules[0].whole[1] FieldValueDuplicate"}},
		{"shared without what its cards need", func(r *device.Rule) { r.Shared = []corev1.ResourceName{"x.com/gpu"} }, []string{
			"rules[0].shared[0] FieldValueDuplicate", "rules[0].replicas FieldValueRequired", "rules[0].memory FieldValueRequired",
		}},
		{"prefix", func(r *device.Rule) { r.MIGPrefix = "mig-" }, []string{"rules[0].migPrefix FieldValueInvalid"}},
		{"partition", func(r *device.Rule) { r.Partition = []string{"", "x.com/a", "x y", "x.com/a"} }, []string{
			"rules[0].partition[0] FieldValueRequired", "rules[0].partition[2] FieldValueInvalid", "rules[0].partition[3] FieldValueDuplicate"}},
		{"prefix of nothing", func(r *device.Rule) { r.MIGPrefix = "x y/" }, []string{"rules[0].migPrefix FieldValueInvalid"}},
	} {
		rule := good
		rule.Whole = slices.Clone(good.Whole)
		c.edit(&rule)
		got := ruleFaults(t, []device.Rule{rule})
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q", c.name, got)
		}
	}

	if got := ruleFaults(t, []device.Rule{}); !slices.Equal(got, []string{"rules FieldValueRequired"}) {
		t.Errorf("no rules: %q", got)
	}
	if got := ruleFaults(t, []device.Rule{good, good}); !slices.Equal(got, []string{"rules[1].name FieldValueDuplicate"}) {
		t.Errorf("one name twice: %q", got)
	}
}

// ruleFaults returns place and kind of every fault.
func ruleFaults(t *testing.T, rules []device.Rule) (list []string) {
	t.Helper()
	inv, err := device.FromNodes([]corev1.Node{}, rules, device.Options{})
	if err == nil {
		return nil
	}
	if inv != nil {
		t.Error("an inventory besides the error")
	}
	var all utilerrors.Aggregate
	if !errors.As(err, &all) {
		t.Fatalf("%T %v", err, err)
	}
	for _, err := range all.Errors() {
		var fault *field.Error
		if !errors.As(err, &fault) {
			t.Fatalf("%T %v", err, err)
		}
		list = append(list, fault.Field+" "+string(fault.Type))
		if len(rules) > 0 && !strings.Contains(err.Error(), "rule \"") {
			t.Errorf("%v doesn't name the rule", err)
		}
	}
	return list
}
