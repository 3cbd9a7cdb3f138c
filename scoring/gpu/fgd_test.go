package gpu_test

import (
	"math"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/scoring/gpu"
	"github.com/resvec/resvec/vectormap"
)

// Many rows, of which most are alike, score as each of them does by itself.
func TestFGDOfManyAlike(t *testing.T) {
	r := testkit.Rand(7)
	m := testkit.Must(vectormap.New(nil, vectormap.Milli("gpu")))
	typical := testkit.Must(gpu.TypicalPods([]gpu.TypicalPod{
		{CPU: 4000, Count: 1, Milli: 500, Pods: 40},
		{CPU: 8000, Count: 1, Milli: 1000, Pods: 30},
		{CPU: 12000, Count: 1, Milli: 300, Models: []int32{1}, Spec: "B", Pods: 20},
		{CPU: 30000, Count: 4, Milli: 1000, Pods: 10},
		{CPU: 1000, Pods: 5},
	}, 1))
	fgd := testkit.Must(gpu.CompileFGD(gpu.FGDConfig{Typical: typical}, m))
	nodes := make([]gpu.Node, 700)
	cpuLeft := make([]float64, len(nodes))
	for i := range nodes {
		nodes[i].Model = int32(r.IntN(4) - 1)
		nodes[i].Left = make([]float64, r.IntN(9))
		for d := range nodes[i].Left {
			nodes[i].Left[d] = 1000
		}
		if n := len(nodes[i].Left); n > 0 && r.IntN(4) == 0 {
			nodes[i].Left[r.IntN(n)] = float64(r.IntN(1001))
		}
		cpuLeft[i] = float64(r.IntN(5) * 8000)
	}
	bound := gpu.Bind(fgd, nodesOf(cpuLeft), gpu.NewState(nodes))
	for _, req := range []gpu.Request{
		{CPU: 4000},
		{CPU: 4000, Count: 1, Milli: 300},
		{Count: 1, Milli: 999, Models: []int32{0, 2}},
		{CPU: 8000, Count: 1, Milli: 1000},
		{CPU: 16000, Count: 3, Milli: 1000},
	} {
		got := make([]float64, len(nodes))
		testkit.Check(bound.Score(got, &req, nil))
		for row := range nodes {
			want, err := fgd.Score(&req, cpuLeft[row], nodes[row])
			if err != nil || got[row] != want {
				t.Fatalf("%+v, row %d, %+v: %v in the batch, %v alone, %v", req, row, nodes[row], got[row], want, err)
			}
		}
	}
}

// Phi of rows is the Phi of each node, whatever is left of the CPU: amounts that kinds of pods
// ask for, next to them, far from them, and none.
func TestPhiOfAnyCPU(t *testing.T) {
	kinds := []gpu.TypicalPod{{Count: 1, Milli: 250, Pods: 7}, {CPU: 40000, Count: 4, Milli: 1000, Pods: 3}, {CPU: 90, Pods: 2}}
	cpus := []float64{0, math.Copysign(0, -1), -1, math.NaN(), math.Inf(1), math.Inf(-1), 1e300, 5e-324, 39999, 1e9}
	for i, cpu := range []float64{8000, 8000.5, 8001, 8008, 8016, 16000} {
		kinds = append(kinds, gpu.TypicalPod{CPU: cpu, Count: 1 + i%2, Milli: []float64{float64(100 * (i + 1)), 1000}[i%2], Pods: int64(10 + i)})
		cpus = append(cpus, cpu, math.Nextafter(cpu, 0), math.Nextafter(cpu, 1e9), cpu/2)
	}
	for _, left := range [][]float64{nil, {0}, {1000}, {1000, 1000, 0, 999, 1}, {250, 249, 600, 1000, 1000, 1000, 1000, 1000, 1000, 5}} {
		for _, without := range []int{0, 1} { // with and without a kind that wants no CPU
			typical := testkit.Must(gpu.TypicalPods(kinds[without:], 1))
			nodes := make([]gpu.Node, len(cpus))
			for i := range nodes {
				nodes[i] = gpu.Node{Left: left}
			}
			got := make([]float64, len(cpus))
			for row := range got {
				got[row] = typical.F(row, cpus, gpu.NewState(nodes))
			}
			for i, cpu := range cpus {
				if want := typical.FNode(cpu, left, 0); got[i] != want {
					t.Errorf("cpu %v, devices %v: %v, want %v", cpu, left, got[i], want)
				}
			}
		}
	}
}
