package scoring_test

import (
	"fmt"

	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// Pods with equal requests come one after the other. Each changes one node, and
// only that is scored again for the next.
func ExampleCache() {
	m, _ := vectormap.New(nil)
	most, _ := scoring.CompileStrategyFit(scoring.StrategyFitConfig{
		Resources: map[string]scoring.FitRule{"cpu": {Type: scoring.MostAllocated}},
	}, m)

	const nodes = 1000
	free := vector.NewMatrix(m.Schema(), nodes, m.Len())
	used := vector.NewMatrix(m.Schema(), nodes, m.Len())
	allocatable := vector.NewMatrix(m.Schema(), nodes, m.Len())
	for i := range nodes {
		free.SetRow(i, vector.ResourceVector{4000})
		allocatable.SetRow(i, vector.ResourceVector{4000})
	}

	cache := scoring.NewCache(most, scoring.CacheOptions{})
	request := vector.ResourceVector{1500}
	for range 3 {
		query := &scoring.Query{Request: request, Free: free, Used: used, Allocatable: allocatable}
		row, score, err := cache.Best(query, vector.TieLowest())
		if err != nil {
			fmt.Println(err)
			return
		}
		_ = free.SubRow(row, request)
		_ = used.AddRow(row, request)
		fmt.Printf("node %d, %.1f points\n", row, score)
	}
	stats := cache.Stats()
	fmt.Printf("%d rows scored for %d pods\n", stats.Rescored, stats.Hits+stats.Misses)
	// Output:
	// node 0, 375.0 points
	// node 0, 750.0 points
	// node 1, 375.0 points
	// 1002 rows scored for 3 pods
}
