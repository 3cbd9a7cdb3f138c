package device_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// migMap returns a map with these names.
func migMap(t testing.TB, names []string, opts ...vectormap.Option) *vectormap.ResourceVectorMap {
	t.Helper()
	m, err := vectormap.New(names, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// migMention is a Problem without its text.
type migMention struct {
	Code device.ProblemCode
	Key  string
}

func TestWeights(t *testing.T) {
	const mig = "nvidia.com/mig-"
	type weights map[string]float64 // the others are 0
	type problems []migMention
	for _, c := range []struct {
		id       string
		names    []string
		opts     []vectormap.Option
		rule     device.WeightRule
		geometry string // none: nil
		want     weights
		problems problems
	}{
		{"W2", []string{"nvidia.com/gpu", mig + "1g.5gb", mig + "2g.10gb", mig + "3g.20gb"}, nil, device.Compute, "A100-40",
			weights{"gpu": 1, mig + "1g.5gb": 1.0 / 7, mig + "2g.10gb": 2.0 / 7, mig + "3g.20gb": 3.0 / 7}, nil},
		{"W3", []string{mig + "1g.10gb"}, nil, device.Memory, "A100-40", weights{"gpu": 1, mig + "1g.10gb": 0.25}, nil},
		{"W3", []string{mig + "1g.10gb"}, nil, device.Memory, "A100-80", weights{"gpu": 1, mig + "1g.10gb": 0.125}, nil},
		{"W3", []string{mig + "1g.10gb"}, nil, device.Memory, "A30-24", weights{"gpu": 1}, problems{{device.ForeignProfile, mig + "1g.10gb"}}},

		{"memory", []string{mig + "1g.5gb", mig + "2g.10gb", mig + "3g.20gb", mig + "4g.20gb", mig + "7g.40gb"}, nil, device.Memory, "A100-40",
			weights{"gpu": 1, mig + "1g.5gb": 0.125, mig + "2g.10gb": 0.25, mig + "3g.20gb": 0.5, mig + "4g.20gb": 0.5, mig + "7g.40gb": 1}, nil},
		{"A30 has four slices", []string{mig + "1g.6gb", mig + "2g.12gb.me", mig + "4g.24gb"}, nil, device.Compute, "A30-24",
			weights{"gpu": 1, mig + "1g.6gb": 0.25, mig + "2g.12gb.me": 0.5, mig + "4g.24gb": 1}, nil},
		{"suffixes", []string{mig + "1g.5gb.me", mig + "1g.5gb.gfx"}, nil, device.Memory, "A100-40",
			weights{"gpu": 1, mig + "1g.5gb.me": 0.125}, problems{{device.ForeignProfile, mig + "1g.5gb.gfx"}}},
		{"replicas", []string{mig + "1g.5gb.shared"}, nil, device.Memory, "A100-40", weights{"gpu": 1, mig + "1g.5gb.shared": 0.125}, nil},
		{"compute instances", []string{mig + "1c.3g.20gb"}, nil, device.Compute, "A100-40",
			weights{"gpu": 1}, problems{{device.ForeignProfile, mig + "1c.3g.20gb"}}},
		{"no profiles, in index order", []string{mig + "all", mig + "1g.5gb111", mig + "1g.6gb"}, nil, device.Compute, "A100-40",
			weights{"gpu": 1}, problems{{device.UnparsedProfile, mig + "1g.5gb111"}, {device.ForeignProfile, mig + "1g.6gb"}, {device.UnparsedProfile, mig + "all"}}},
		{"without the domain", []string{"mig-1g.5gb"}, nil, device.Memory, "A100-40", weights{"gpu": 1, "mig-1g.5gb": 0.125}, nil},
		{"everything else", []string{"nvidia.com/gpu.shared", "x.io/mig-1g.5gb", "ephemeral-storage", "rdma/hca"}, nil, device.Compute, "A100-40",
			weights{"gpu": 1}, nil},
		{"no geometry", []string{"nvidia.com/gpu", mig + "1g.5gb"}, nil, device.Compute, "",
			weights{"gpu": 1}, problems{{device.ForeignProfile, mig + "1g.5gb"}}},
		{"whole GPUs of several vendors", []string{"nvidia.com/gpu", "amd.com/gpu"}, []vectormap.Option{vectormap.NoFold()}, device.Compute, "A100-40",
			weights{"gpu": 1, "nvidia.com/gpu": 1, "amd.com/gpu": 1}, nil},
		{"thousandths", []string{mig + "1g.6gb"}, []vectormap.Option{vectormap.Milli("gpu", mig+"1g.6gb")}, device.Compute, "A30-24",
			weights{"gpu": 0.001, mig + "1g.6gb": 0.00025}, nil},
		{"literals", nil, []vectormap.Option{vectormap.Literal(vectormap.UnitWhole, mig+"1g.5gb", mig+"x")}, device.Compute, "A100-40", weights{"gpu": 1}, nil},
	} {
		vm := migMap(t, c.names, c.opts...)
		var g *device.Geometry
		if c.geometry != "" {
			g = geometry(t, c.geometry)
		}
		got, found := device.Weights(vm, c.rule, g)
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
			mentions = append(mentions, migMention{p.Code, p.Key})
			if p.Detail == "" {
				t.Errorf("%s: %s says nothing", c.id, p.Key)
			}
		}
		if !cmp.Equal(got, []float64(want)) || !cmp.Equal(mentions, c.problems) {
			t.Errorf("%s on %s: %v, %v; want %v, %v", c.id, c.geometry, got, mentions, want, c.problems)
		}
	}
}

func TestMIGSlicesW1(t *testing.T) {
	vm := migMap(t, []string{"nvidia.com/gpu", "nvidia.com/mig-1g.5gb", "nvidia.com/mig-2g.10gb", "nvidia.com/mig-7g.40gb"})
	for name, want := range map[string]float64{"cpu": 0, "nvidia.com/gpu": 1, "nvidia.com/mig-1g.5gb": 1, "nvidia.com/mig-2g.10gb": 2, "nvidia.com/mig-7g.40gb": 7} {
		i, _ := vm.Index(name)
		v := vm.NewVector()
		v[i] = 1
		if got := vm.MIGSlices(v); got != want {
			t.Errorf("W1: %s counts %v, want %v", name, got, want)
		}
	}
}

// Weights are for sums over a matrix: a node of two GPUs, and one whose GPUs
// are cut.
func TestWeightsOfMatrix(t *testing.T) {
	vm := migMap(t, []string{"nvidia.com/gpu", "nvidia.com/mig-1g.5gb", "nvidia.com/mig-3g.20gb"})
	weights, _ := device.Weights(vm, device.Memory, geometry(t, "A100-40"))
	small, _ := vm.Index("nvidia.com/mig-1g.5gb")
	large, _ := vm.Index("nvidia.com/mig-3g.20gb")
	x := vm.NewMatrix(2)
	whole, cut := vm.NewVector(), vm.NewVector()
	whole[vectormap.GPU] = 2
	cut[small], cut[large] = 6, 3
	x.SetRow(0, whole)
	x.SetRow(1, cut)
	sums := make([]float64, 2)
	vector.WeightedSum(sums, x, weights)
	if !cmp.Equal(sums, []float64{2, 2.25}) {
		t.Errorf("GPU equivalents: %v", sums)
	}
}

func TestWeightsPanics(t *testing.T) {
	defer func() {
		if r := recover(); r != "device: unknown weight rule" {
			t.Errorf("panic: %v", r)
		}
	}()
	device.Weights(migMap(t, nil), 2, nil)
}
