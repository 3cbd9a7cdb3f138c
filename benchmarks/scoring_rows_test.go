package benchmarks

import (
	"math"
)

// rowRule is a rule of a row loop, with the column that it is about.
type rowRule struct {
	column int
	most   bool
	weight float64
}

// rowFit scores one node of [rowNode], whose vectors have equal lengths.
func rowFit(n *rowNode, request []float64, rules []rowRule, plugin float64) float64 {
	score, weights := 0.0, 0.0
	for _, rule := range rules {
		q := request[rule.column]
		if q == 0 {
			continue
		}
		weights += rule.weight
		a := n.allocatable[rule.column]
		if a == 0 {
			continue
		}
		x := n.used[rule.column] + q
		if x > a {
			return 0
		}
		if rule.most {
			score += x * rule.weight / a
		} else {
			score += (a - x) * rule.weight / a
		}
	}
	if weights == 0 {
		return 0
	}
	return score / weights * (100 * plugin)
}

// prepareSRA computes what SRA says of each node whatever the pod requests, as a bound
// scorer does: the nodes of all forms keep it. weights are by column, and 0 where a
// resource is not scarce.
func prepareSRA(c *cluster, weights *scarceWeights, plugin *volcanoPlugin) {
	for i, n := range c.rows {
		absent := 0.0
		for j, a := range n.allocatable {
			if a <= 0 {
				absent += weights.rows[j]
			}
		}
		n.sra = 100 * pluginWeight * absent / float64(weights.total)
		c.volcano[i].sra = plugin.absent(c.volcano[i])
	}
}

// rowSRA scores one node.
func rowSRA(n *rowNode, request []float64) float64 {
	for j, q := range request {
		if q > 0 && n.allocatable[j] <= 0 {
			return 0
		}
	}
	return n.sra
}

// rowReserve is what an idle device of a column reserves of cpu and memory.
type rowReserve struct {
	column      int
	cpu, memory float64
}

func rowProportional(n *rowNode, request []float64, reserves []rowReserve) bool {
	for _, r := range reserves {
		if request[r.column] > 0 {
			return true
		}
	}
	for _, r := range reserves {
		if n.allocatable[r.column] <= 0 {
			continue
		}
		idle := max(0, n.allocatable[r.column]-n.used[r.column])
		if n.allocatable[0]-n.used[0]-request[0] < idle*r.cpu ||
			n.allocatable[1]-n.used[1]-request[1] < idle*r.memory {
			return false
		}
	}
	return true
}

func rowsStrategyFit(dst []float64, nodes []*rowNode, request []float64, rules []rowRule, plugin float64) {
	for i, n := range nodes {
		dst[i] = rowFit(n, request, rules, plugin)
	}
}

func rowsSRA(dst []float64, nodes []*rowNode, request []float64) {
	for i, n := range nodes {
		dst[i] = rowSRA(n, request)
	}
}

func rowsProportional(dst []bool, nodes []*rowNode, request []float64, reserves []rowReserve) {
	for i, n := range nodes {
		dst[i] = rowProportional(n, request, reserves)
	}
}

// rowsDecide filters, scores and picks in one pass.
func rowsDecide(nodes []*rowNode, request []float64, rules []rowRule, plugin float64) int {
	best, most := -1, math.Inf(-1)
	for i, n := range nodes {
		if !rowLessEqual(request, n.idle) {
			continue
		}
		if score := rowFit(n, request, rules, plugin) + rowSRA(n, request); score > most {
			best, most = i, score
		}
	}
	return best
}
