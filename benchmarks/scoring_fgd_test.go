package benchmarks

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/scoring/gpu"
	"github.com/resvec/resvec/vector"
)

// fragPods is how many pods newFragmentation asks about.
const fragPods = 8

// coverage is the part of all pods that the typical ones make up, as published.
const coverage = 0.95

// typicalPods returns the typical pods of the production trace.
func typicalPods() *gpu.Typical {
	_, pods := readTrace()
	var trace []gpu.TypicalPod
	for _, p := range pods {
		trace = append(trace, gpu.TypicalPod{
			CPU: p.cpu, Count: p.gpus, Milli: p.milli, Models: p.models, Pods: int64(p.count)})
	}
	return testkit.Must(gpu.TypicalPods(trace, coverage))
}

// newFragmentation scores nodes by FGD for pods of the trace. A third of the
// devices are idle, a third are full, and the others shared. A call scores for
// all pods, since some cost much more than others.
func newFragmentation(s shape) *subject {
	r := random(105)
	typical := typicalPods()
	fgd := testkit.Must(gpu.CompileFGD(gpu.FGDConfig{Typical: typical}, streamMap()))
	cpuLeft, nodes := fragNodes(r, s)
	cluster := streamMap().NewNodes()
	for i, cpu := range cpuLeft {
		_, _, err := cluster.Set(fmt.Sprint(i), 0, vector.NodeAmounts{Allocatable: vector.ResourceVector{cpu}})
		testkit.Check(err)
	}
	bound := gpu.Bind(fgd, cluster, gpu.NewState(nodes))
	bound.LimitCache(0)
	structs, rows := fragForms(cpuLeft, nodes)
	loop := &fragLoop{total: int64(typical.N())}
	var rowTypical []fragRowPod
	for _, p := range typical.Pods() {
		pod := fragPod{int64(p.CPU), int64(p.Milli), int64(p.Count), map[string]bool{}, p.Pods}
		loop.typical = append(loop.typical, pod)
		rowTypical = append(rowTypical, pod.row())
	}
	requests, structPods, rowPods := fragQuestions(r)
	var scratch fragRow
	got, want, structGot := scoresOf(s.nodes), scoresOf(s.nodes), scoresOf(s.nodes)
	return &subject{
		results:  s.nodes * fragPods,
		variants: 1,
		kernel: func(int) {
			for k := range requests {
				testkit.Check(bound.Score(got[k], &requests[k], nil))
			}
		},
		rowloop: func(int) {
			for k := range rowPods {
				rowsFGD(want[k], rows, rowTypical, loop.total, &rowPods[k], &scratch)
			}
		},
		structmap: func(int) {
			for k := range structPods {
				loop.all(structGot[k], structs, &structPods[k])
			}
		},
		check: func() error {
			for k := range want {
				if err := errors.Join(
					same("Fragmentation", s.nodes, at(got[k]), at(want[k])),
					same("structmap", s.nodes, at(structGot[k]), at(want[k]))); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// scoresOf returns room for the scores of every pod.
func scoresOf(nodes int) [][]float64 {
	all := make([][]float64, fragPods)
	for k := range all {
		all[k] = make([]float64, nodes)
	}
	return all
}

// fragNodes makes nodes of 8 devices.
func fragNodes(r *rand.Rand, s shape) (cpuLeft []float64, nodes []gpu.Node) {
	cpuLeft = make([]float64, s.nodes)
	nodes = make([]gpu.Node, s.nodes)
	for i := range nodes {
		cpuLeft[i] = float64(1000 * r.IntN(97))
		nodes[i] = gpu.Node{Model: int32(r.IntN(len(fragModels))), Left: make([]float64, s.cols)}
		for d := range nodes[i].Left {
			switch r.IntN(3) {
			case 0:
				nodes[i].Left[d] = 1000
			case 1:
				nodes[i].Left[d] = float64(10 * r.IntN(100))
			}
		}
	}
	return cpuLeft, nodes
}

// fragModels are the names of the models of the struct form.
var fragModels = []string{"A10", "G2", "G3", "P100", "T4", "V100M16", "V100M32"}

// fragForms returns nodes in the forms of the other contenders.
func fragForms(cpuLeft []float64, nodes []gpu.Node) (structs []*fragNode, rows []*fragRow) {
	for i, n := range nodes {
		cpu := int64(cpuLeft[i])
		structs = append(structs, &fragNode{cpu, wholeAmounts(n.Left), fragModels[n.Model]})
		rows = append(rows, &fragRow{cpu, wholeAmounts(n.Left), n.Model})
	}
	return structs, rows
}

// row returns the pod in the form of the row loop. The trace has no lists of
// models.
func (p *fragPod) row() fragRowPod {
	return fragRowPod{cpu: p.milliCPU, milli: p.milli, devices: p.devices, count: p.count}
}

// fragQuestions draws pods of the trace that want GPUs, in all forms, every
// other one a part of a device.
func fragQuestions(r *rand.Rand) (requests []gpu.Request, structs []fragPod, rows []fragRowPod) {
	_, pods := readTrace()
	for len(requests) < fragPods {
		p := pods[r.IntN(len(pods))]
		if share := p.gpus == 1 && p.milli < 1000; p.gpus == 0 || share != (len(requests)%2 == 0) {
			continue
		}
		requests = append(requests, gpu.Request{CPU: p.cpu, Count: p.gpus, Milli: p.milli, Models: p.models})
		pod := fragPod{milliCPU: int64(p.cpu), milli: int64(p.milli), devices: int64(p.gpus)}
		structs, rows = append(structs, pod), append(rows, pod.row())
	}
	return requests, structs, rows
}
