package main

import (
	"fmt"
	"strings"

	"github.com/resvec/resvec/vector"
)

// A policy says which of the nodes that can hold a pod takes it: the one with
// the least score, equal scores going to the lowest row.
type policy struct {
	name  string
	about string

	// What scores a node by its free amounts: all of a matrix at once, and the
	// same for a single row, bit for bit. Both are nil when all nodes are equal.
	scoreAll func(dst []float64, free *vector.Matrix, total vector.ResourceVector)
	scoreOne func(free, total vector.ResourceVector) float64
}

// policies are those of the library for packing. Best fit takes the node that
// has the least left, as a share of the largest node: the sum of its shares of
// cpu, memory and GPU, or the greatest of them.
var policies = []policy{
	{
		name:  "first-fit",
		about: "the first node that fits",
	},
	{
		name:     "bestfit-sum",
		about:    "the node with the least normalized sum of free resources",
		scoreAll: vector.NormalizedSum,
		scoreOne: vector.ResourceVector.NormalizedSum,
	},
	{
		name:     "bestfit-dominant",
		about:    "the node with the least dominant share of free resources",
		scoreAll: vector.DominantResource,
		scoreOne: vector.ResourceVector.DominantResource,
	},
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
func selectPolicies(list string) ([]policy, error) {
	var selected []policy
	for name := range strings.SplitSeq(list, ",") {
		p, ok := findPolicy(strings.TrimSpace(name))
		if !ok {
			return nil, fmt.Errorf("-policies: unknown policy %q, want some of %s", name, policyNames())
		}
		selected = append(selected, p)
	}
	return selected, nil
}

func findPolicy(name string) (policy, bool) {
	for _, p := range policies {
		if strings.EqualFold(p.name, name) {
			return p, true
		}
	}
	return policy{}, false
}
