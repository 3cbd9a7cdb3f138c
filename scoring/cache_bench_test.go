package scoring_test

import (
	"fmt"
	"testing"

	"github.com/resvec/resvec/internal/scorecache/cachetest"
	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// BenchmarkScoreCache measures decisions: find a node for a pod, put the pod
// there, and let the oldest pod end. impl=full is the full pass that the cache
// equals.
func BenchmarkScoreCache(b *testing.B) {
	m, err := vectormap.New(nil)
	if err != nil {
		b.Fatal(err)
	}
	fit, err := scoring.CompileStrategyFit(scoring.StrategyFitConfig{}, m)
	if err != nil {
		b.Fatal(err)
	}
	for _, rows := range []int{1213, 5000} {
		b.Run(fmt.Sprintf("scorer=StrategyFit/nodes=%d/impl=cache", rows), func(b *testing.B) {
			c, cache := cachetest.NewCluster(rows), scoring.NewCache(fit, scoring.CacheOptions{})
			q := &scoring.Query{Free: c.Free, Used: c.Used, Allocatable: c.Size}
			c.Run(b, func(i int) {
				k := c.Draw(i)
				q.Request = c.Requests[k]
				row, _, _ := cache.Best(q, vector.TieRank(c.Rank))
				c.Place(row, k, nil)
			})
			cachetest.Report(b, cache.Stats())
		})
		b.Run(fmt.Sprintf("scorer=StrategyFit/nodes=%d/impl=full", rows), func(b *testing.B) {
			c, scores, feasible := cachetest.NewCluster(rows), make([]float64, rows), new(vector.Mask)
			c.Run(b, func(i int) {
				k := c.Draw(i)
				vector.Fit(feasible, c.Free, c.Requests[k])
				_ = fit.ScoreBatch(scores, c.Requests[k], c.Used, c.Size, feasible)
				c.Place(vector.ArgMax(scores, feasible, vector.TieRank(c.Rank)), k, nil)
			})
		})
	}
}
