package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/resvec/resvec/scoring/gpu"
)

// A policy says which of the nodes that can host a pod takes it.
type policy struct {
	name string

	// random draws one of the nodes, and a device for a share, instead of taking
	// the node with the greatest score.
	random bool

	// compile makes the scorer for a cluster. For a random policy it only says
	// which devices are idle.
	compile func(c *cluster) (*gpu.Scorer, error)
}

// policies are the paper's, in the order of its tables.
var policies = []*policy{
	{name: "Random", random: true, compile: compilePacking},
	{name: "DotProd", compile: func(c *cluster) (*gpu.Scorer, error) {
		return gpu.CompileDotProduct(gpu.DotProductConfig{Size: c.largest}, c.schema)
	}},
	{name: "GpuClustering", compile: func(c *cluster) (*gpu.Scorer, error) {
		return gpu.CompileClustering(gpu.ClusteringConfig{GPU: c.largest.GPU}, c.schema)
	}},
	{name: "GpuPacking", compile: compilePacking},
	{name: "BestFit", compile: func(c *cluster) (*gpu.Scorer, error) {
		return gpu.CompileBestFit(gpu.BestFitConfig{Size: c.largest, Raw: true}, c.schema)
	}},
	{name: "FGD", compile: func(c *cluster) (*gpu.Scorer, error) {
		return gpu.CompileFGD(gpu.FGDConfig{Typical: c.typical}, c.schema)
	}},
}

func compilePacking(c *cluster) (*gpu.Scorer, error) {
	return gpu.NewPacking(c.schema), nil
}

// policyNames returns the names of all policies, separated by commas.
func policyNames() string {
	names := make([]string, len(policies))
	for i, p := range policies {
		names[i] = p.name
	}
	return strings.Join(names, ",")
}

// selectPolicies returns the policies of a list of names in any case, separated
// by commas, in that order.
func selectPolicies(list string) ([]*policy, error) {
	var selected []*policy
	for name := range strings.SplitSeq(list, ",") {
		p := findPolicy(strings.TrimSpace(name))
		switch {
		case p == nil:
			return nil, fmt.Errorf("-policies: unknown policy %q, want some of %s", name, policyNames())
		case slices.Contains(selected, p):
			return nil, fmt.Errorf("-policies: %s stands there twice", p.name)
		}
		selected = append(selected, p)
	}
	return selected, nil
}

// findPolicy returns the policy of a name in any case, nil when there is none.
func findPolicy(name string) *policy {
	for _, p := range policies {
		if strings.EqualFold(p.name, name) {
			return p
		}
	}
	return nil
}

// ties is a rule for nodes with equal scores.
type ties string

const (
	tiesPermuted ties = "permuted" // the first in a random order, fixed for the run
	tiesShape    ties = "shape"    // the first of the nodes sorted by shape
	tiesRandom   ties = "random"   // any, drawn anew for every pod
)

var allTies = []ties{tiesPermuted, tiesShape, tiesRandom}

// tieNames returns the names of all rules.
func tieNames() string {
	names := make([]string, len(allTies))
	for i, rule := range allTies {
		names[i] = string(rule)
	}
	return strings.Join(names, ", ")
}

// findTies returns the rule of a name in any case.
func findTies(name string) (ties, error) {
	for _, rule := range allTies {
		if strings.EqualFold(string(rule), name) {
			return rule, nil
		}
	}
	return "", fmt.Errorf("-ties: unknown rule %q, want one of %s", name, tieNames())
}
