package vectormap

import (
	"math"
	"testing"
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
		m                *ResourceVectorMap
		request, free, _ vec
		want             string
	}{
		{m: m, request: vec{1000, 1 << 30}, free: vec{1000, 1 << 30}, want: ""},
		{m: m, request: vec{1000, 0, 8}, free: vec{500, 0, 6},
			want: "Insufficient cpu (short 500m), nvidia.com/gpu (short 2)"},
		{m: m, request: vec{0, 4 << 30, 0, 1, 1500, 2}, free: vec{0, 1 << 30},
			want: "Insufficient memory (short 3Gi), pods (short 1), card:x (short 1500m), efa (short 2)"},
		{m: m, request: vec{math.NaN()}, free: vec{1}, want: "Insufficient cpu (not a finite amount)"},
		{m: fold, request: vec{0, 0, 1}, want: "Insufficient gpu (short 1)"},
	} {
		if got := c.m.Explain(c.request.Shortfall(nil, c.free)); got != c.want {
			t.Errorf("%v in %v: %q, want %q", c.request, c.free, got, c.want)
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
		{0, nil, "0/0 nodes fit"},
		{5, []int{0, 0, 0, 0, 0}, "0/5 nodes fit"},
		{5000, []int{2400, 0, 3100}, "0/5000 nodes fit: 3100 insufficient nvidia.com/gpu, 2400 insufficient cpu"},
		{7, []int{7, 7, 0, 1, 7}, "0/7 nodes fit: 7 insufficient cpu, 7 insufficient memory, 7 insufficient example.com/fpga, 1 insufficient pods"},
	} {
		if got := m.ExplainRejections(c.nodes, c.rejections); got != c.want {
			t.Errorf("ExplainRejections(%d, %v) = %q, want %q", c.nodes, c.rejections, got, c.want)
		}
	}
	defer func() {
		if r := recover(); r != "vectormap: rejections are longer than the map" {
			t.Errorf("panic %v", r)
		}
	}()
	m.ExplainRejections(1, make([]int, 6))
}
