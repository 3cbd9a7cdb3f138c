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
func TestBoundAgainstAdding(t *testing.T) { attackBounds(t, false) }

// TestBoundWithOthers is TestBoundAgainstAdding on clusters where other pods have a say: by spread
// constraints, affinity, anti-affinity and ports.
func TestBoundWithOthers(t *testing.T) { attackBounds(t, true) }

func attackBounds(t *testing.T, others bool) {
	clusters := 150
	if os.Getenv("RESVEC_LONG") != "" {
		clusters = 3000
	}
	tight, loose, mixed, unfound, refused := 0, 0, 0, 0, 0
	for seed := range uint64(clusters) {
		r := rand.New(rand.NewPCG(seed, 7))
		o := randomObjects(r)
		if others {
			addOthers(r, o)
		}
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
		d := testkit.Must(c.demandOf(testkit.Must(c.simulate(nil, tie))))
		if refused += len(d.refused); len(d.pods) == 0 {
			continue
		}
		// all reports whether some pods and all that were placed are so with new nodes.
		all := func(add []addition, tie vector.Tie, pods []int) bool {
			left := testkit.Must(c.simulate(add, tie)).unplaced()
			return !slices.ContainsFunc(left, func(pod int) bool {
				return slices.Contains(pods, pod) || !slices.Contains(slices.Concat(d.pods, d.there, d.attached, d.never, d.refused, d.waiting), pod)
			})
		}
		most := 0
		for i := range c.shapes {
			n := testkit.Must(d.alone(&c.shapes[i], tie))
			count, found := n.packed()
			if found && count < n.proved() || n.scheduled > 0 && (!found || n.scheduled < count) {
				t.Fatalf("seed %d, %s: packed %d %v, proved %d, scheduled %d", seed, n.shape.name, count, found, n.proved(), n.scheduled)
			}
			if !found {
				unfound++
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
	t.Logf("%d bounds are tight, %d are not or nothing suffices, for %d no number was found; %d mixes were tried, %d pods refused", tight, loose, unfound, mixed, refused)
	if tight < clusters/4 || mixed < clusters/2 || others != (refused > 0) || !others && unfound > 0 {
		t.Error("a dull test")
	}
}

// addOthers gives pods what makes others matter to them.
func addOthers(r *rand.Rand, o *objects) {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	for _, n := range o.nodes {
		if n.Labels[corev1.LabelHostname] = n.Name; r.IntN(8) == 0 {
			delete(n.Labels, corev1.LabelHostname)
		}
	}
	for _, p := range o.pods {
		p.Labels["app"] = pick("x", "y")
		selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": pick(p.Labels["app"], p.Labels["app"], "x")}}
		term := []corev1.PodAffinityTerm{{TopologyKey: pick("zone", corev1.LabelHostname, corev1.LabelHostname), LabelSelector: selector}}
		if p.Spec.Affinity == nil {
			p.Spec.Affinity = &corev1.Affinity{}
		}
		switch r.IntN(8) {
		case 0, 1:
			p.Spec.Affinity.PodAntiAffinity = &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: term}
		case 2:
			p.Spec.Affinity.PodAffinity = &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: term}
		case 3:
			p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1 + r.Int32N(2), TopologyKey: term[0].TopologyKey,
				WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: selector}}
		case 4:
			p.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 80 + r.Int32N(2), HostIP: pick("", "", "10.0.0.1")}}
		}
	}
}
