package mig_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/resvec/resvec/device/mig"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vectormap"
)

// newMap returns a map with these names.
func newMap(names []string, opts ...vectormap.Option) *vectormap.ResourceVectorMap {
	return testkit.Must(vectormap.New(names, opts...))
}

// mention is a Problem without its text.
type mention struct {
	Code string
	Key  string
}

func TestWeights(t *testing.T) {
	const prefix = "nvidia.com/mig-"
	type weights map[string]float64 // the others are 0
	type problems []mention
	for _, c := range []struct {
		id       string
		names    []string
		opts     []vectormap.Option
		rule     mig.WeightRule
		geometry string // none: nil
		want     weights
		problems problems
	}{
		{"W2", []string{"nvidia.com/gpu", prefix + "1g.5gb", prefix + "2g.10gb", prefix + "3g.20gb"}, nil, mig.ByCompute, "A100-40",
			weights{"gpu": 1, prefix + "1g.5gb": 1.0 / 7, prefix + "2g.10gb": 2.0 / 7, prefix + "3g.20gb": 3.0 / 7}, nil},
		{"W3", []string{prefix + "1g.10gb"}, nil, mig.ByMemory, "A100-40", weights{"gpu": 1, prefix + "1g.10gb": 0.25}, nil},
		{"W3", []string{prefix + "1g.10gb"}, nil, mig.ByMemory, "A100-80", weights{"gpu": 1, prefix + "1g.10gb": 0.125}, nil},
		{"W3", []string{prefix + "1g.10gb"}, nil, mig.ByMemory, "A30-24", weights{"gpu": 1}, problems{{"foreign-profile", prefix + "1g.10gb"}}},

		{"memory", []string{prefix + "1g.5gb", prefix + "2g.10gb", prefix + "3g.20gb", prefix + "4g.20gb", prefix + "7g.40gb"}, nil, mig.ByMemory, "A100-40",
			weights{"gpu": 1, prefix + "1g.5gb": 0.125, prefix + "2g.10gb": 0.25, prefix + "3g.20gb": 0.5, prefix + "4g.20gb": 0.5, prefix + "7g.40gb": 1}, nil},
		{"A30 has four slices", []string{prefix + "1g.6gb", prefix + "2g.12gb.me", prefix + "4g.24gb"}, nil, mig.ByCompute, "A30-24",
			weights{"gpu": 1, prefix + "1g.6gb": 0.25, prefix + "2g.12gb.me": 0.5, prefix + "4g.24gb": 1}, nil},
		{"suffixes", []string{prefix + "1g.5gb.me", prefix + "1g.5gb.gfx"}, nil, mig.ByMemory, "A100-40",
			weights{"gpu": 1, prefix + "1g.5gb.me": 0.125}, problems{{"foreign-profile", prefix + "1g.5gb.gfx"}}},
		{"replicas", []string{prefix + "1g.5gb.shared"}, nil, mig.ByMemory, "A100-40", weights{"gpu": 1, prefix + "1g.5gb.shared": 0.125}, nil},
		{"compute instances", []string{prefix + "1c.3g.20gb"}, nil, mig.ByCompute, "A100-40",
			weights{"gpu": 1}, problems{{"foreign-profile", prefix + "1c.3g.20gb"}}},
		{"no profiles, in index order", []string{prefix + "all", prefix + "1g.5gb111", prefix + "1g.6gb"}, nil, mig.ByCompute, "A100-40",
			weights{"gpu": 1}, problems{{"unparsed-profile", prefix + "1g.5gb111"}, {"foreign-profile", prefix + "1g.6gb"}, {"unparsed-profile", prefix + "all"}}},
		{"without the domain", []string{"mig-1g.5gb"}, nil, mig.ByMemory, "A100-40", weights{"gpu": 1, "mig-1g.5gb": 0.125}, nil},
		{"everything else", []string{"nvidia.com/gpu.shared", "x.io/mig-1g.5gb", "ephemeral-storage", "rdma/hca"}, nil, mig.ByCompute, "A100-40",
			weights{"gpu": 1}, nil},
		{"no geometry", []string{"nvidia.com/gpu", prefix + "1g.5gb"}, nil, mig.ByCompute, "",
			weights{"gpu": 1}, problems{{"foreign-profile", prefix + "1g.5gb"}}},
		{"whole GPUs of several vendors", []string{"nvidia.com/gpu", "amd.com/gpu"}, []vectormap.Option{vectormap.NoFold()}, mig.ByCompute, "A100-40",
			weights{"gpu": 1, "nvidia.com/gpu": 1, "amd.com/gpu": 1}, nil},
		{"thousandths", []string{prefix + "1g.6gb"}, []vectormap.Option{vectormap.Milli("gpu", prefix+"1g.6gb")}, mig.ByCompute, "A30-24",
			weights{"gpu": 0.001, prefix + "1g.6gb": 0.00025}, nil},
		{"literals", nil, []vectormap.Option{vectormap.Literal(vectormap.UnitWhole, prefix+"1g.5gb", prefix+"x")}, mig.ByCompute, "A100-40", weights{"gpu": 1}, nil},
	} {
		vm := newMap(c.names, c.opts...)
		var g *mig.Geometry
		if c.geometry != "" {
			g = geometry(c.geometry)
		}
		got, found := mig.Weights(vm, c.rule, g)
		want := vm.NewVector()
		for name, w := range c.want {
			i, ok := vm.Index(name)
			if !ok {
				t.Fatalf("%s: no %s", c.id, name)
			}
			want[i] = w
		}
		var mentions problems
		for _, p := range found {
			mentions = append(mentions, mention{p.Code, p.Key})
			if p.Detail == "" {
				t.Errorf("%s: %s says nothing", c.id, p.Key)
			}
		}
		if !cmp.Equal(got, []float64(want)) || !cmp.Equal(mentions, c.problems) {
			t.Errorf("%s on %s: %v, %v; want %v, %v", c.id, c.geometry, got, mentions, want, c.problems)
		}
	}
}

func TestWeightsPanics(t *testing.T) {
	if got := testkit.Recovered(func() { mig.Weights(newMap(nil), 2, nil) }); got != "mig: unknown weight rule" {
		t.Errorf("panic: %v", got)
	}
}
