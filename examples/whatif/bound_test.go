package main

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestBoundAgainstAdding attacks what is said about missing nodes: on random clusters with
// gangs, taints, selectors and DaemonSets no bound is above a number of nodes, or the price of
// a mix, with which -add places all pods, by any tie; and with what SCHEDULED says it does.
func TestBoundAgainstAdding(t *testing.T) {
	clusters := 150
	if os.Getenv("RESVEC_LONG") != "" {
		clusters = 3000
	}
	tight, loose, mixed := 0, 0, 0
	for seed := range uint64(clusters) {
		r := rand.New(rand.NewPCG(seed, 7))
		o := randomObjects(r)
		for i := range o.pods { // some come with their node, and run or wait
			if p := o.pods[i]; r.IntN(5) == 0 && p.Labels["gang"] == "" {
				controller := true
				p.OwnerReferences = []metav1.OwnerReference{{Kind: "DaemonSet", Name: "agent", Controller: &controller}}
				p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
					NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{{
						Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{o.nodes[r.IntN(len(o.nodes))].Name}}}}}}}}
			}
		}
		c := testkit.Must(newCluster(testkit.Must(newSnapshot(o, new(objects), false)), kubeTerms))
		c.findGangs([]string{"gang"})
		for _, g := range c.gangs {
			if r.IntN(2) == 0 {
				g.least = 1 + r.IntN(len(g.pods))
			}
		}
		for i := range c.shapes {
			c.shapes[i].cost = float64(1 + r.IntN(3))
		}
		tie := vector.TieSeeded(seed)
		d := c.demandOf(testkit.Must(c.simulate(nil, tie)))
		if len(d.pods) == 0 {
			continue
		}
		// all reports whether some pods and all that were placed are so with new nodes.
		all := func(add []addition, tie vector.Tie, pods []int) bool {
			left := testkit.Must(c.simulate(add, tie)).unplaced()
			return !slices.ContainsFunc(left, func(pod int) bool {
				return slices.Contains(pods, pod) || !slices.Contains(slices.Concat(d.pods, d.there, d.attached, d.never, d.waiting), pod)
			})
		}
		most := 0
		for i := range c.shapes {
			n := testkit.Must(d.alone(&c.shapes[i], tie))
			if n.packed() < n.proved() || n.scheduled > 0 && n.scheduled < n.packed() {
				t.Fatalf("seed %d, %s: packed %d, proved %d, scheduled %d", seed, n.shape.name, n.packed(), n.proved(), n.scheduled)
			}
			if len(n.pods) == 0 {
				continue
			}
			most = max(most, len(n.pods))
			if n.scheduled > 0 && !all([]addition{{n.shape, n.scheduled}}, tie, n.pods) {
				t.Fatalf("seed %d, %s: %d nodes more don't place all, though they should", seed, n.shape.name, n.scheduled)
			}
			least := math.MaxInt
			for nodes := range len(n.pods) + 1 {
				for k := range uint64(4) {
					if all([]addition{{n.shape, nodes}}, vector.TieSeeded(seed+k), n.pods) {
						least = min(least, nodes)
					}
				}
			}
			switch {
			case n.proved() > least:
				t.Fatalf("seed %d, %s: at least %d, but %d suffice", seed, n.shape.name, n.proved(), least)
			case n.proved() == least:
				tight++
			default:
				loose++
			}
		}
		x := testkit.Must(d.mix())
		counts := make([]int, len(c.shapes))
		var try func(i, nodes int, cost float64)
		try = func(i, nodes int, cost float64) {
			if cost >= x.AtLeast || nodes > most {
				return
			}
			if i == len(counts) {
				var add []addition
				for k, n := range counts {
					add = append(add, addition{&c.shapes[k], n})
				}
				mixed++
				if all(add, tie, d.pods) {
					t.Fatalf("seed %d: no mix costs less than %v, but %v costs %v", seed, x.AtLeast, counts, cost)
				}
				return
			}
			for n := range 3 {
				counts[i] = n
				try(i+1, nodes+n, cost+float64(n)*c.shapes[i].cost)
			}
			counts[i] = 0
		}
		try(0, 0, 0)
	}
	t.Logf("%d bounds are tight, %d are not or nothing suffices; %d mixes were tried", tight, loose, mixed)
	if tight < clusters/4 || mixed < clusters/2 {
		t.Error("a dull test")
	}
}
