package benchmarks

import (
	"fmt"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// newDecision makes whole decisions: which nodes can hold the pod, StrategyFit and
// SRA of those, and the best of them. Half of the nodes lack any
// scarce resource, one of eight lacks GPUs, and the pod requests the first
// columns, of which cpu and GPUs are scored; or it requests all, every node has
// all, and all are scored. The struct form hands lists and maps of scores from
// step to step, as Volcano does.
func newDecision(s shape) *subject {
	d := decisionOf(s)
	scheduler := newVolcanoScheduler(d.plugin, d.volcano)
	return d.subject(scheduler.decide)
}

// newDecisionOnePass is newDecision where the struct form keeps only the best
// node so far: the least work that structs and maps of amounts allow.
func newDecisionOnePass(s shape) *subject {
	d := decisionOf(s)
	return d.subject(func(task *volcanoTask) *volcanoNode { return d.plugin.decideInOnePass(task, d.volcano) })
}

// decisions is what a decision is made from, in every form.
type decisions struct {
	*cluster
	pods     *pods
	rules    *fitRules
	weights  *scarceWeights
	strategy *scoring.Strategy
	plugin   *volcanoPlugin
}

func decisionOf(s shape) *decisions {
	has, scored := mixed, []int{vectormap.CPU, vectormap.GPU}
	if s.requested == s.cols {
		has, scored = everything, allColumns(s.cols)
	}
	d := &decisions{cluster: newCluster(104, s, has)}
	d.pods, d.rules = d.newPods(allColumns(s.requested)...), newFitRules(d.names, scored...)
	d.weights = newScarceWeights(d.names)
	d.strategy = testkit.Must(scoring.CompileStrategy(scoring.StrategyConfig{Fit: d.rules.config, SRA: &d.weights.config}, d.m))
	d.plugin = &volcanoPlugin{
		weight: pluginWeight, resources: d.rules.volcano,
		sraWeight: pluginWeight, sraTotal: d.weights.total, scarce: d.weights.volcano,
	}
	prepareSRA(d.cluster, d.weights, d.plugin)
	return d
}

// subject compares the library with the row loop and with decide.
func (d *decisions) subject(decide func(*volcanoTask) *volcanoNode) *subject {
	n := len(d.rows)
	scores := scoring.Bind(d.strategy, d.nodes)
	scores.LimitCache(0) // the same pods come again and again
	var got, want int
	var structGot *volcanoNode
	return &subject{
		results:  n,
		variants: variants,
		kernel: func(k int) {
			got, _ = scores.Best(d.pods.amounts(k), nil, vector.TieLowest())
		},
		rowloop: func(k int) {
			want = rowsDecide(d.cluster.rows, d.pods.requests[k], d.rules.rows, pluginWeight)
		},
		structmap: func(k int) { structGot = decide(d.pods.volcano[k]) },
		check: func() error {
			if want < 0 || got != want || structGot != d.volcano[want] {
				return fmt.Errorf("Decision: node %d, row loop %d, struct form %+v", got, want, structGot)
			}
			return nil
		},
	}
}
