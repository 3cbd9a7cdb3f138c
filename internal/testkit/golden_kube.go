package testkit

import (
	"math"
	"math/big"

	"github.com/resvec/resvec/internal/kernel"
)

// KubeAmounts is what the golden model of the kube family knows of one resource
// of one node.
type KubeAmounts struct {
	Used, Allocatable float64 // in units of the map
	Request           float64 // in units of Kubernetes, a whole number
	Weight            int64
	Scale             float64 // 1 or 1000
}

// KubeScore is the golden model of the kube family: the score of one node, in
// integers of any size, with float64 only where kube-scheduler has it. function
// is the function of KubeRatio.
func KubeScore(t kernel.KubeType, resources []KubeAmounts, function func(utilization int64) int64) int64 {
	var scores, weights []*big.Int
	var with, without []float64
	for _, r := range resources {
		a, ok := kubernetesAmount(r.Allocatable, r.Scale)
		if !ok {
			return 0
		}
		if a.Sign() == 0 {
			continue
		}
		u, ok := kubernetesAmount(r.Used, r.Scale)
		if !ok {
			return 0
		}
		p, _ := big.NewFloat(r.Request).Int(nil)
		x := new(big.Int).Add(u, p)
		over := x.Cmp(a) > 0
		score := new(big.Int)
		switch {
		case t == kernel.KubeLeast && !over:
			score = percentage(new(big.Int).Sub(a, x), a)
		case t != kernel.KubeLeast && over:
			score = big.NewInt(100)
		case t != kernel.KubeLeast:
			score = percentage(x, a)
		}
		if t == kernel.KubeRatio {
			score = big.NewInt(function(score.Int64()))
		}
		if t != kernel.KubeRatio || score.Sign() > 0 {
			scores = append(scores, score)
			weights = append(weights, big.NewInt(r.Weight))
		}
		with = append(with, fraction(x, a))
		without = append(without, fraction(u, a))
	}
	if t == kernel.KubeBalanced {
		return 50 + (50+balance(with)-balance(without))/2
	}
	sum, weight := new(big.Int), new(big.Int)
	for i := range scores {
		sum.Add(sum, new(big.Int).Mul(scores[i], weights[i]))
		weight.Add(weight, weights[i])
	}
	switch {
	case weight.Sign() == 0:
		return 0
	case t == kernel.KubeRatio:
		return int64(math.Round(float64(sum.Int64()) / float64(weight.Int64())))
	}
	return new(big.Int).Quo(sum, weight).Int64()
}

// kubernetesAmount rounds an amount up to whole units of Kubernetes.
func kubernetesAmount(x, scale float64) (*big.Int, bool) {
	amount := math.Ceil(x / scale)
	if math.IsNaN(x) || x < 0 || amount >= 1<<63 {
		return nil, false
	}
	n, _ := big.NewFloat(amount).Int(nil)
	return n, true
}

// percentage returns part*100/whole, truncated.
func percentage(part, whole *big.Int) *big.Int {
	n := new(big.Int).Mul(part, big.NewInt(100))
	return n.Quo(n, whole)
}

// fraction returns the quotient of two rounded amounts, at most 1.
func fraction(part, whole *big.Int) float64 {
	p, _ := new(big.Float).SetInt(part).Float64()
	w, _ := new(big.Float).SetInt(whole).Float64()
	return math.Min(p/w, 1)
}

// balance returns how even fractions are, from 50 to 100.
func balance(fractions []float64) int64 {
	deviation := 0.0
	if len(fractions) == 2 {
		deviation = math.Abs((fractions[0] - fractions[1]) / 2)
	} else if len(fractions) > 2 {
		total, squares := 0.0, 0.0
		for _, f := range fractions {
			total += f
		}
		mean := total / float64(len(fractions))
		for _, f := range fractions {
			square := (f - mean) * (f - mean)
			squares += float64(square)
		}
		deviation = math.Sqrt(squares / float64(len(fractions)))
	}
	return int64((1 - deviation) * 100)
}
