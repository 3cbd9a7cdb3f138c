package main

import (
	"fmt"

	"github.com/resvec/resvec/scoring/gpu"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// usual are the pods of the cluster in this example, in thousandths of a GPU:
// ten each that take half of one, a whole one, and a quarter.
var usual = []gpu.TypicalPod{
	{CPU: 4000, Count: 1, Milli: 500, Pods: 10},
	{CPU: 8000, Count: 1, Milli: 1000, Pods: 10},
	{CPU: 2000, Count: 1, Milli: 250, Pods: 10},
}

// scoreDevices scores nodes with one GPU each, of which 300 to 1000 thousandths
// are left, for a pod that takes 300.
func scoreDevices() (*lines, error) {
	m, err := vectormap.New([]string{"nvidia.com/gpu"}, vectormap.Milli("nvidia.com/gpu"))
	if err != nil {
		return nil, err
	}
	typical, err := gpu.TypicalPods(usual, 1)
	if err != nil {
		return nil, err
	}
	fgd, err := gpu.CompileFGD(gpu.FGDConfig{Typical: typical}, m)
	if err != nil {
		return nil, err
	}
	bestFit, err := gpu.CompileBestFit(gpu.BestFitConfig{Size: gpu.NodeSize{CPU: 16000, GPU: 1000}, Raw: true}, m)
	if err != nil {
		return nil, err
	}

	l := &lines{title: "A pod that takes 300 thousandths of a GPU", x: "thousandths left before"}
	var nodes []gpu.Node
	amounts := m.NewNodes()
	for left := 300.0; left <= 1000; left += 5 {
		l.at = append(l.at, left)
		nodes = append(nodes, gpu.Node{Left: []float64{left}})
		node := vector.NodeAmounts{Allocatable: vector.ResourceVector{vectormap.CPU: 16000}}
		if _, _, err := amounts.Set(fmt.Sprint(left), 1, node); err != nil {
			return nil, err
		}
	}
	gpus := gpu.NewState(nodes)
	request := &gpu.Request{CPU: 2000, Count: 1, Milli: 300}
	for _, s := range []struct {
		name   string
		scorer *gpu.Scorer
	}{{"FGD", fgd}, {"BestFit", bestFit}} {
		scores := make([]float64, gpus.Rows())
		if err := gpu.Bind(s.scorer, amounts, gpus).Score(scores, request, nil); err != nil {
			return nil, err
		}
		l.names, l.scores = append(l.names, s.name), append(l.scores, scores)
	}
	return l, nil
}
