package gpu_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/scoring/gpu"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

func TestRejections(t *testing.T) {
	gpus := gpu.NewState([]gpu.Node{
		{Model: 0, Left: []float64{1000, 1000}},
		{Model: 0, Left: []float64{500, 700}},
		{Model: 1, Left: []float64{500, 400}},
		{Model: -1},
		{Model: 1, Left: []float64{1000}},
	})
	nodes := vector.NewNodes(vector.Schema{}, 3)
	for i, cpu := range []float64{8000, 8000, 2000, 2000, -1} {
		amounts := vector.NodeAmounts{Allocatable: vector.ResourceVector{cpu, 16, 7}}
		if _, _, err := nodes.Set(strconv.Itoa(i), 0, amounts); err != nil {
			t.Fatal(err)
		}
	}
	bound := gpu.Bind(gpu.NewPacking(gpuMap()), nodes, gpus)
	first := vector.NewMask(5)
	first.Set(1)
	type request = gpu.Request
	for _, test := range []struct {
		name string
		req  request
		rows *vector.Mask
		want gpu.Rejections
		text string
	}{
		{"whole", request{CPU: 4000, Count: 1, Milli: 1000}, nil, gpu.Rejections{Rows: 5, Hosts: 1, CPU: 3, Devices: 3, Fragmented: 1},
			"1/5 nodes fit: 3 insufficient cpu, 3 without enough GPUs left (enough in pieces on 1)"},
		{"model", request{Count: 1, Milli: 400, Models: []int32{1}}, nil, gpu.Rejections{Rows: 5, Hosts: 1, CPU: 1, Model: 2, Devices: 1},
			"1/5 nodes fit: 2 of another GPU model, 1 insufficient cpu, 1 without enough GPUs left"},
		{"cpu", request{CPU: 9000, Models: []int32{7}}, nil, gpu.Rejections{Rows: 5, CPU: 5}, "0/5 nodes fit: 5 insufficient cpu"},
		{"some rows", request{Count: 2, Milli: 600}, first, gpu.Rejections{Rows: 1, Devices: 1, Fragmented: 1},
			"0/1 nodes fit: 1 without enough GPUs left (enough in pieces on 1)"},
		{"other amounts", request{CPU: 1, Amounts: vector.ResourceVector{3000, 32, 9}}, nil, gpu.Rejections{Rows: 5, CPU: 3, Others: 5},
			"0/5 nodes fit: 5 insufficient other resources, 3 insufficient cpu"},
		{"GPUs in the amounts", request{Amounts: vector.ResourceVector{2: 7}}, nil, gpu.Rejections{Rows: 5, Hosts: 4, CPU: 1}, "4/5 nodes fit: 1 insufficient cpu"},
		{"all fit", request{Count: 1, Milli: 100}, first, gpu.Rejections{Rows: 1, Hosts: 1}, "1/1 nodes fit"},
		{"bad", request{Count: 1}, nil, gpu.Rejections{Rows: 5}, "0/5 nodes fit"},
	} {
		got := bound.Rejections(&test.req, test.rows)
		if got != test.want || got.String() != test.text {
			t.Errorf("%s: got %+v, %s, want %+v, %s", test.name, got, got, test.want, test.text)
		}
		var fit vector.Mask
		if bound.Fit(&fit, &test.req, test.rows); fit.Count() != got.Hosts {
			t.Errorf("%s: %d rows fit, %d hosts", test.name, fit.Count(), got.Hosts)
		}
	}
}

func gpuAmountsMap(opts ...vectormap.Option) *vectormap.ResourceVectorMap {
	return testkit.Must(vectormap.New([]string{"nvidia.com/gpu", "amd.com/gpu", "nvidia.com/mig-1g.5gb"}, opts...))
}

func TestRequestOf(t *testing.T) {
	whole, milli := gpuAmountsMap(vectormap.FoldVendors()), gpuAmountsMap(vectormap.FoldVendors(), vectormap.Milli("gpu"))
	apart := gpuAmountsMap(vectormap.NoFold())
	column := func(name string, x float64) vector.ResourceVector {
		v := apart.NewVector()
		i, _ := apart.Index(name)
		v[i] = x
		return v
	}
	type amounts = vector.ResourceVector
	type request = gpu.Request
	const mix = "gpu: request: gpu: amount %v must be a whole number of GPUs, or less than one"
	for _, test := range []struct {
		name string
		m    *vectormap.ResourceVectorMap
		v    amounts
		want request
		err  string
	}{
		{"nothing", whole, nil, request{}, ""},
		{"cpu", whole, amounts{4000}, request{CPU: 4000}, ""},
		{"whole", whole, amounts{4000, 1, 2}, request{CPU: 4000, Count: 2, Milli: 1000}, ""},
		{"part", whole, amounts{0, 0, 0.3}, request{Count: 1, Milli: 300}, ""},
		{"odd part", whole, amounts{0, 0, 0.001001}, request{Count: 1, Milli: 1.001}, ""},
		{"almost one", whole, amounts{0, 0, math.Nextafter(1, 0)}, request{Count: 1, Milli: math.Nextafter(1, 0) * 1000}, ""},
		{"whole in thousandths", milli, amounts{0, 0, 3000}, request{Count: 3, Milli: 1000}, ""},
		{"part in thousandths", milli, amounts{0, 0, 300}, request{Count: 1, Milli: 300}, ""},
		{"NVIDIA apart", apart, column("nvidia.com/gpu", 2), request{Count: 2, Milli: 1000}, ""},
		{"AMD apart", apart, column("amd.com/gpu", 0.5), request{Count: 1, Milli: 500}, ""},
		{"MIG", apart, column("nvidia.com/mig-1g.5gb", 2), request{}, ""},
		{"mix", whole, amounts{0, 0, 1.5}, request{}, fmt.Sprintf(mix, 1.5)},
		{"mix in thousandths", milli, amounts{0, 0, 1500}, request{}, fmt.Sprintf(mix, 1500) + ": the map counts thousandths"},
		{"both apart", apart, amounts{2: 1, 4: 1}, request{}, "gpu: request: amd.com/gpu: amount 1 must be 0 where there is gpu"},
		{"negative", whole, amounts{0, 0, -1}, request{}, "gpu: request: gpu: amount -1 must be finite and not negative"},
		{"infinite", whole, amounts{0, 0, math.Inf(1)}, request{}, "gpu: request: gpu: amount +Inf must be finite and not negative"},
		{"many", whole, amounts{0, 0, 65537}, request{}, "gpu: request: gpu: amount 65537 must be at most 65536 GPUs"},
		{"bad cpu", whole, amounts{math.NaN(), 0, 1}, request{}, "gpu: request: cpu: amount NaN must be finite and not negative"},
	} {
		got, err := gpu.RequestOf(test.m, test.v)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if err == nil && !slices.Equal(got.Amounts, test.v) {
			t.Errorf("%s: amounts %v", test.name, got.Amounts)
		}
		got.Amounts = nil
		if fmt.Sprint(got) != fmt.Sprint(test.want) || text != test.err {
			t.Errorf("%s: got %+v, %s, want %+v, %s", test.name, got, text, test.want, test.err)
		}
		var bad *vector.AmountError
		if err != nil && !errors.As(err, &bad) {
			t.Errorf("%s: %T", test.name, err)
		}
	}
	if _, err := gpu.RequestOf(whole, make(amounts, whole.Len()+1)); !errors.Is(err, vector.ErrShape) {
		t.Errorf("too long: %v", err)
	}
}

func TestNodeOf(t *testing.T) {
	whole, milli := gpuAmountsMap(vectormap.FoldVendors()), gpuAmountsMap(vectormap.FoldVendors(), vectormap.Milli("gpu"))
	type amounts = vector.ResourceVector
	for _, test := range []struct {
		name string
		m    *vectormap.ResourceVectorMap
		v    amounts
		want int
		err  string
	}{
		{"none", whole, amounts{64000}, 0, ""},
		{"four", whole, amounts{64000, 1, 4}, 4, ""},
		{"four in thousandths", milli, amounts{64000, 1, 4000}, 4, ""},
		{"part", whole, amounts{0, 0, 0.5}, 0, "gpu: node: gpu: amount 0.5 must be a whole number of GPUs"},
		{"in thousandths by mistake", milli, amounts{0, 0, 8}, 0, "gpu: node: gpu: amount 8 must be a whole number of GPUs: the map counts thousandths"},
		{"NaN", whole, amounts{0, 0, math.NaN()}, 0, "gpu: node: gpu: amount NaN must be finite and not negative"},
	} {
		got, err := gpu.NodeOf(test.m, test.v, 3)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if text != test.err || !slices.Equal(got.Left, gpuDevices(test.want, 1000)) || err == nil && got.Model != 3 || len(got.Pods) > 0 {
			t.Errorf("%s: got %+v, %s, want %d devices, %s", test.name, got, text, test.want, test.err)
		}
	}
}

// TestStateNodeAllocs lets nodes come and go for long: in the end there is
// room.
func TestStateNodeAllocs(t *testing.T) {
	if testkit.RaceEnabled {
		t.Skip("the race detector allocates")
	}
	gpus := gpu.NewState(make([]gpu.Node, 100))
	node := gpu.Node{Left: gpuDevices(8, 1000)}
	if got := testing.AllocsPerRun(2000, func() {
		gpus.RemoveRow(gpus.Rows() / 2)
		row := gpus.AppendNode(node)
		gpus.SetNode(row/2, node)
		node.Left = node.Left[:1+row*7%8]
	}); got != 0 {
		t.Errorf("%v allocations", got)
	}
}

// TestReleaseFractions gives back fractions of thousandths in another order
// than they were taken in, which leaves sums that are not quite a whole device.
func TestReleaseFractions(t *testing.T) {
	r := testkit.Rand(7)
	for range 2000 {
		gpus := gpu.NewState([]gpu.Node{{Model: -1, Left: []float64{1000}}})
		var pods []gpu.Request
		for left := 1000.0; len(pods) < 3; {
			milli := float64(1+r.IntN(3000)) / 10
			if milli > left {
				break
			}
			left -= milli
			pods = append(pods, gpu.Request{Count: 1, Milli: milli})
			testkit.Check(gpus.Place(0, &pods[len(pods)-1], []int32{0}))
		}
		r.Shuffle(len(pods), func(i, j int) { pods[i], pods[j] = pods[j], pods[i] })
		for i := range pods {
			testkit.Check(gpus.Release(0, &pods[i], []int32{0}))
		}
		if left := gpus.Devices(0)[0]; left < 1000-1e-9 || left > 1000 {
			t.Fatalf("%v left", left)
		}
	}
}
