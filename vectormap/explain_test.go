package vectormap

import (
	"math"
	"slices"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector/gang"
)

func TestFormat(t *testing.T) {
	m := must(t, names("a", "b"), Milli("b"))
	for _, c := range []struct {
		name   string
		amount float64
		want   string
	}{
		{"cpu", 500, "500m"}, {"cpu", 2000, "2"}, {"cpu", 0, "0"}, {"cpu", -250, "-250m"}, {"cpu", 0.5, "0.0005"},
		{"memory", 1 << 30, "1Gi"}, {"memory", 1000, "1k"}, {"memory", 1025, "1025"}, {"memory", 0.5, "0.5"}, {"memory", 1 << 60, "1152921504606847000"},
		{"gpu", 2, "2"}, {"gpu", 0.5, "0.5"}, {"gpu", 2000, "2000"}, {"gpu", 2000000, "2000000"},
		{"b", 2250, "2250m"}, {"b", 1000, "1"},
		{"a", math.Inf(1), "unlimited"}, {"cpu", math.Inf(1), "unlimited"}, {"a", math.NaN(), "NaN"},
	} {
		i, _ := m.Index(c.name)
		if got := m.Format(i, c.amount); got != c.want {
			t.Errorf("Format(%s, %v) = %s, want %s", c.name, c.amount, got, c.want)
		}
	}
}

func TestExplain(t *testing.T) {
	m := must(t, names("nvidia.com/gpu", "efa"), Literal(UnitMilli, "card:x"))
	fold := must(t, names("nvidia.com/gpu", "amd.com/gpu"), FoldVendors())
	for _, c := range []struct {
		m                          *ResourceVectorMap
		request, used, allocatable vec
		want                       string
	}{
		{m: m, request: vec{1000, 1 << 30}, allocatable: vec{1000, 1 << 30}, want: ""},
		{m: m, request: vec{1000, 0, 8}, used: vec{3500, 0, 2}, allocatable: vec{4000, 0, 8},
			want: "Insufficient cpu (requested 1, used 3500m of 4, free 500m), Insufficient nvidia.com/gpu (requested 8, used 2 of 8, free 6)"},
		{m: m, request: vec{0, 4 << 30, 0, 1, 1500, 2}, used: vec{0, 0, 0, 110}, allocatable: vec{0, 1 << 30, 0, 110},
			want: "Insufficient memory (requested 4Gi, used 0 of 1Gi, free 1Gi), Too many pods (requested 1, used 110 of 110, free 0), " +
				"Insufficient card:x (requested 1500m, used 0 of 0, free 0), Insufficient efa (requested 2, used 0 of 0, free 0)"},
		{m: m, request: vec{1000}, used: vec{5000}, allocatable: vec{4000}, want: "Insufficient cpu (requested 1, used 5 of 4, free -1)"},
		{m: m, request: vec{math.NaN()}, allocatable: vec{1000}, want: "Insufficient cpu (requested NaN, used 0 of 1, free 1)"},
		{m: m, request: vec{math.Inf(1)}, allocatable: vec{1000}, want: "Insufficient cpu (requested unlimited, used 0 of 1, free 1)"},
		{m: m, request: vec{1000}, allocatable: vec{math.Inf(1)}, want: ""},
		{m: m, request: vec{0, -1, 0, 0}, used: vec{0, 1}, want: ""}, // what is not requested never rejects
		{m: fold, request: vec{0, 0, 1}, want: "Insufficient gpu (requested 1, used 0 of 0, free 0)"},
	} {
		got := c.m.Explain(c.request, c.used, c.allocatable)
		if got.String() != c.want {
			t.Errorf("%v in %v of %v: %q, want %q", c.request, c.used, c.allocatable, got, c.want)
		}
		free := c.m.NewVector()
		free.Add(c.allocatable)
		free.Sub(c.used)
		if c.request.FitsIn(free) != (len(got) == 0) {
			t.Errorf("%v in %v: a refusal %q of a request that fits, or none", c.request, free, got)
		}
	}
	want := Refusal{{"nvidia.com/gpu", UnitWhole, 8, 2, 8, 6}, {"pods", UnitWhole, 1, 110, 110, 0}, {"card:x", UnitMilli, 3000, 500, 1000, 500}}
	got := m.Explain(vec{0, 0, 8, 1, 3000}, vec{0, 0, 2, 110, 500}, vec{0, 0, 8, 110, 1000})
	if !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
	for i, reason := range []string{"Insufficient nvidia.com/gpu", "Too many pods", "Insufficient card:x"} {
		if got[i].Reason() != reason {
			t.Errorf("%q, want %q", got[i].Reason(), reason)
		}
	}
}

func TestExplainRejections(t *testing.T) {
	m := must(t, names("nvidia.com/gpu", "example.com/fpga"))
	for _, c := range []struct {
		nodes      int
		rejections []int
		want       string
	}{
		{0, nil, "0/0 nodes are available."},
		{5, []int{0, 0, 0, 0, 0}, "0/5 nodes are available."},
		{5000, []int{2400, 0, 3100}, "0/5000 nodes are available: 3100 Insufficient nvidia.com/gpu, 2400 Insufficient cpu."},
		{7, []int{7, 7, 0, 1, 7}, "0/7 nodes are available: 7 Insufficient cpu, 7 Insufficient memory, 7 Insufficient example.com/fpga, 1 Too many pods."},
	} {
		if got := m.ExplainRejections(c.nodes, c.rejections); got != c.want {
			t.Errorf("ExplainRejections(%d, %v) = %q, want %q", c.nodes, c.rejections, got, c.want)
		}
	}
	if got := testkit.Recovered(func() { m.ExplainRejections(1, make([]int, 6)) }); got != "vectormap: rejections are longer than the map" {
		t.Errorf("panic %v", got)
	}
}

func TestExplainInfeasible(t *testing.T) {
	m := must(t, names("nvidia.com/gpu"), FoldVendors())
	gpu, _ := m.Index("nvidia.com/gpu")
	why := func(reason gang.Reason, column, member int, needed, available float64) gang.Infeasibility {
		return gang.Infeasibility{Reason: reason, Column: column, Member: member, Needed: needed, Available: available}
	}
	for _, c := range []struct {
		why  gang.Infeasibility
		want string
	}{
		{gang.Infeasibility{}, "not proved"},
		{gang.Infeasibility{Reason: 99}, "undefined"},
		{why(gang.InfeasibleAggregate, gpu, -1, 128, 4), "the pods request 128 of nvidia.com/gpu, all nodes together have 4"},
		{why(gang.InfeasibleAggregate, CPU, -1, 2500, 2000), "the pods request 2500m of cpu, all nodes together have 2"},
		{why(gang.InfeasibleMember, Memory, 3, 4<<30, 1<<30), "a pod requests 4Gi of memory, no node has more than 1Gi"},
		{why(gang.InfeasibleMember, CPU, 0, math.NaN(), math.Inf(1)), "a pod requests NaN of cpu, no node has more than unlimited"},
		{why(gang.InfeasibleMember, -1, 3, 1, 0), "a pod fits on no node"},
		{why(gang.InfeasibleCopies, -1, 0, 3, 2), "of 3 pods there is room for 2"},
		{why(gang.InfeasibleCopies, gpu, -1, 3, 2), "of the 3 pods that request the most nvidia.com/gpu there is room for 2"},
		{why(gang.InfeasibleLeader, -1, 1, 8, 7), "of 8 workers there is room for 7, wherever the leader goes"},
		{why(gang.InfeasibleBudget, gpu, -1, 8, 6), "the pods request 8 of nvidia.com/gpu, all nodes together have 6, with all that may be released"},
		{why(gang.InfeasibleSpread, -1, -1, 4, 3), "of 4 pods there is room for 3, as they must be apart"},
		{why(gang.InfeasibleSpread, gpu, -1, 4, 0), "of the 4 pods that request the most nvidia.com/gpu there is room for 0, as they must be apart"},
	} {
		if got := m.ExplainInfeasible(c.why); got != c.want {
			t.Errorf("%v: %q, want %q", c.why, got, c.want)
		}
	}
	for r := gang.NotProved + 1; r.String() != "undefined"; r++ { // also one that comes later
		if m.ExplainInfeasible(gang.Infeasibility{Reason: r, Column: CPU}) == r.String() {
			t.Errorf("%v has no text", r)
		}
	}

	free, requests := m.NewMatrix(2), m.NewMatrix(3)
	for row := range 2 {
		free.SetRow(row, vec{0, 0, 4})
	}
	for row := range 3 {
		requests.SetRow(row, vec{0, 0, 2})
	}
	p := gang.NewPacker(gang.Options{})
	testkit.Check(p.Spread(gang.Spread{Most: 1}))
	found, _ := p.Infeasible(free, requests, nil, nil)
	if got := m.ExplainInfeasible(found); got != "of 3 pods there is room for 2, as they must be apart" {
		t.Errorf("%v: %q", found, got)
	}

	if got := testkit.Recovered(func() {
		m.ExplainInfeasible(gang.Infeasibility{Reason: gang.InfeasibleCopies, Column: m.Len()})
	}); got != "vectormap: index out of range" {
		t.Errorf("panic %v", got)
	}
}
