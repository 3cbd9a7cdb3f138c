package transform

import (
	"errors"
	"github.com/resvec/resvec/internal/testkit"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// ascend is the device of T34.
func ascend() RoundUp {
	size := func(core, memory string) corev1.ResourceList {
		return corev1.ResourceList{"huawei.com/core": resource.MustParse(core), "huawei.com/memory": resource.MustParse(memory)}
	}
	return RoundUp{
		Dims:      []corev1.ResourceName{"huawei.com/core", "huawei.com/memory"},
		Templates: []Template{{"vir05_1c_16g", size("5", "16384")}, {"vir10_3c_32g", size("10", "32768")}},
		Whole:     size("20", "65536"),
	}
}

// TestRoundUpFacts is T34.
func TestRoundUpFacts(t *testing.T) {
	for _, c := range []struct{ request, want, template string }{
		{"huawei.com/core 1, huawei.com/memory 16384, cpu 3", "huawei.com/core 5, huawei.com/memory 16384, cpu 3", "vir05_1c_16g"},
		{"huawei.com/core 6, huawei.com/memory 16384", "huawei.com/core 10, huawei.com/memory 32768", "vir10_3c_32g"},
		{"huawei.com/core 0, huawei.com/memory 20000", "huawei.com/core 10, huawei.com/memory 32768", "vir10_3c_32g"},
		{"huawei.com/memory 20000", "huawei.com/core 10, huawei.com/memory 32768", "vir10_3c_32g"},
		{"huawei.com/core 20, huawei.com/memory 40000", "huawei.com/core 20, huawei.com/memory 65536", ""},
		{"huawei.com/core 0, cpu 1", "huawei.com/core 0, cpu 1", ""},
		{"", "", ""},
	} {
		in := list(c.request)
		got, template, err := ascend().Apply(in)
		if err != nil || template != c.template {
			t.Errorf("%s: template %q, error %v", c.request, template, err)
		}
		wantEqual(t, c.request, list(c.want), got)
		if diff := cmp.Diff(list(c.request), in); diff != "" {
			t.Errorf("%s: the request was changed: %s", c.request, diff)
		}
	}
	if got, _, err := ascend().Apply(list("huawei.com/core 0, huawei.com/memory 70000")); !errors.Is(err, ErrNoTemplate) || got != nil {
		t.Errorf("70000: %v, %v", got, err)
	}
	if got, _, err := ascend().Apply(nil); got != nil || err != nil {
		t.Errorf("nil: %v, %v", got, err)
	}
}

func TestRoundUpErrors(t *testing.T) {
	core := corev1.ResourceName("huawei.com/core")
	for _, c := range []struct {
		change func(*RoundUp)
		want   string
	}{
		{func(r *RoundUp) { r.Templates[1].Size[core] = resource.MustParse("4") }, `templates[1].size[huawei.com/core]: Invalid value: "4": must be at least the 5 of the template before it`},
		{func(r *RoundUp) { r.Whole[core] = resource.MustParse("9") }, `whole[huawei.com/core]: Invalid value: "9": must be at least the 10 of the template before it`},
		{func(r *RoundUp) { delete(r.Templates[0].Size, core) }, "templates[0].size[huawei.com/core]: Required value: a size in every dimension"},
		{func(r *RoundUp) { delete(r.Whole, core) }, "whole[huawei.com/core]: Required value: a size in every dimension"},
		{func(r *RoundUp) { r.Templates[0].Size[core] = resource.MustParse("-1") }, `templates[0].size[huawei.com/core]: Invalid value: "-1": must be 0 or more`},
		{func(r *RoundUp) { r.Whole = nil }, ErrNoTemplate.Error()},
		{func(r *RoundUp) { r.Whole, r.Templates = nil, nil }, ErrNoTemplate.Error()},
	} {
		r := ascend()
		c.change(&r)
		if _, _, err := r.Apply(list("huawei.com/core 20")); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
	if got, _, err := (RoundUp{}).Apply(list("cpu 1")); err != nil || len(got) != 1 {
		t.Errorf("without dimensions: %v, %v", got, err)
	}
}

func TestTemplateRules(t *testing.T) {
	percent := func(pct, cards, out corev1.ResourceName, perCard string) Rule {
		return testkit.Must(PercentOfDevice(pct, cards, out, resource.MustParse(perCard)))
	}
	for _, c := range []struct {
		id   string
		got  Rule
		want string
	}{
		{"T17", PerCard("nvidia.com/gpumem", "nvidia.com/gpu", "nvidia.com/total-gpumem"), "nvidia.com/gpumem Replace x nvidia.com/gpu: nvidia.com/total-gpumem 1"},
		{"T32", percent(long("a"), long("g"), long("b"), "81920"), "a Replace x g: b 819.2"},
		{"no cards", percent(long("a"), "", long("b"), "16Gi"), "a Replace: b 171798691840m"},
		{"rounded up", percent(long("a"), "", long("b"), "1n"), "a Replace: b 1n"},
	} {
		if !compile(&Config{Rules: []Rule{c.got}}, Options{}).Equal(compile(rules(c.want), Options{})) {
			t.Errorf("%s: %+v, want %s", c.id, c.got, c.want)
		}
	}
	for _, perCard := range []string{"0", "-1"} {
		if _, err := PercentOfDevice("a", "g", "b", resource.MustParse(perCard)); err == nil {
			t.Errorf("a card of %s is accepted", perCard)
		}
	}
}
