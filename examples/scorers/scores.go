package main

import (
	"fmt"
	"math"

	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// grid is a score for each row and column of a table.
type grid struct {
	title         string
	x, y          string    // what columns and rows are
	least, most   float64   // that a score can be
	columns, rows []string  // from left to right, from the bottom up
	scores        []float64 // row after row
}

func (g *grid) score(row, column int) float64 { return g.scores[row*len(g.columns)+column] }

// lines are the scores of some scorers at the same places.
type lines struct {
	title, x string
	at       []float64
	names    []string
	scores   [][]float64
}

// scoreFill scores nodes from empty to nearly full in cpu and in memory, all of
// them in one batch per scorer.
func scoreFill() ([]*grid, error) {
	m, err := vectormap.New(nil)
	if err != nil {
		return nil, err
	}
	const cpu, memory = 100_000, 100 << 30
	percents := []float64{0, 20, 40, 60, 80}
	var names []string
	nodes := m.NewNodes()
	for _, byMemory := range percents {
		names = append(names, fmt.Sprint(byMemory))
		for _, byCPU := range percents {
			_, _, err := nodes.Set(fmt.Sprint(byCPU, "/", byMemory), 1, vector.NodeAmounts{
				Allocatable: vector.ResourceVector{vectormap.CPU: cpu, vectormap.Memory: memory},
				Requested:   vector.ResourceVector{vectormap.CPU: byCPU / 100 * cpu, vectormap.Memory: math.Floor(byMemory / 100 * memory)},
			})
			if err != nil {
				return nil, err
			}
		}
	}
	pod := vector.PodAmounts{Requested: vector.ResourceVector{vectormap.CPU: 0.2 * cpu, vectormap.Memory: 0.05 * memory}}
	var grids []*grid
	for _, config := range []scoring.KubeConfig{
		{Type: scoring.LeastAllocated},
		{Type: scoring.MostAllocated},
		{Type: scoring.RequestedToCapacityRatio, Shape: []scoring.ShapePoint{
			{Utilization: 0, Score: 0}, {Utilization: 80, Score: 10}, {Utilization: 100, Score: 5}}},
		{Type: scoring.BalancedAllocation},
	} {
		config.Resources = []scoring.KubeResource{{Name: "cpu", Weight: 1}, {Name: "memory", Weight: 1}}
		scorer, err := scoring.CompileKube(config, m)
		if err != nil {
			return nil, err
		}
		g := &grid{
			title: string(config.Type), most: 100, x: "cpu in use, %", y: "memory in use, %", columns: names, rows: names,
			scores: make([]float64, nodes.Len()),
		}
		if config.Type == scoring.BalancedAllocation {
			g.least = 50
		}
		if err := scoring.Bind(scorer, nodes).Score(g.scores, pod, nil); err != nil {
			return nil, err
		}
		grids = append(grids, g)
	}
	return grids, nil
}

// scoreScarce scores four pods on four nodes that have T4s, A10s, both or
// neither.
func scoreScarce() (*grid, error) {
	const t4, a10 = "nvidia.com/t4", "nvidia.com/a10"
	m, err := vectormap.New([]string{t4, a10})
	if err != nil {
		return nil, err
	}
	scorer, err := scoring.CompileStrategy(scoring.StrategyConfig{
		Fit: scoring.StrategyFitConfig{Weight: new(int64)}, // off
		SRA: &scoring.SRAConfig{
			Weight:         5,
			Resources:      []string{t4, a10},
			ResourceWeight: map[string]int64{t4: 2, a10: 3},
		},
	}, m)
	if err != nil {
		return nil, err
	}
	g := &grid{title: "SRA, T4 weight 2, A10 weight 3", most: 500, x: "the node has", y: "the pod needs"}
	devices := []struct {
		name    string
		t4, a10 float64
	}{{"T4+A10", 1, 1}, {"A10", 0, 1}, {"T4", 1, 0}, {"none", 0, 0}}
	nodes := m.NewNodes()
	for _, d := range devices {
		amounts := m.NewVector()
		amounts[vectormap.CPU] = 1000
		for name, amount := range map[string]float64{t4: d.t4, a10: d.a10} {
			j, _ := m.Index(name)
			amounts[j] = amount
		}
		if _, _, err := nodes.Set(d.name, 1, vector.NodeAmounts{Allocatable: amounts}); err != nil {
			return nil, err
		}
		g.columns, g.rows = append(g.columns, d.name), append(g.rows, d.name)
	}
	bound := scoring.Bind(scorer, nodes)
	for row := range nodes.Len() {
		scores := make([]float64, nodes.Len())
		pod := vector.PodAmounts{Requested: nodes.Allocatable().Row(nil, row)} // all of such a node
		if err := bound.Score(scores, pod, nil); err != nil {
			return nil, err
		}
		g.scores = append(g.scores, scores...)
	}
	return g, nil
}
