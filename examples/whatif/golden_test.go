package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Random clusters with taints, selectors, affinity, shared GPUs, nodes that are ill, and
// gangs: every placement passes a slow predicate that was written apart, on a table of
// whole numbers; where a pod is left out, no node passes; and a gang has all nodes or none.
func TestEveryPlacement(t *testing.T) {
	placed, left, whole, broken := 0, 0, 0, 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 3))
		o := randomObjects(r)
		s := testkit.Must(newSnapshot(o, new(objects), false))
		c := testkit.Must(newCluster(s, kubeTerms))
		c.findGangs([]string{"gang"})
		out := testkit.Must(c.simulate(nil, vector.TieSeeded(seed)))
		free := make([]map[corev1.ResourceName]int64, len(c.nodes))
		for i, n := range c.nodes {
			free[i] = make(map[corev1.ResourceName]int64)
			for name, q := range n.Status.Allocatable {
				free[i][name] = q.MilliValue()
			}
		}
		take := func(p pod, row int) {
			free[row]["pods"] -= 1000
			for name, q := range p.Spec.Containers[0].Resources.Requests {
				free[row][name] -= q.MilliValue()
			}
		}
		for _, p := range c.running {
			take(p, slices.IndexFunc(c.nodes, func(n node) bool { return n.Name == p.Spec.NodeName }))
		}
		has := func(p pod, row int) bool {
			ok := free[row]["pods"] >= 1000
			for name, q := range p.Spec.Containers[0].Resources.Requests {
				ok = ok && q.MilliValue() <= free[row][name]
			}
			return ok
		}
		members, gone := make(map[string]int), make(map[string]int)
		for i, p := range c.queue {
			row := out.rows[i]
			if g := p.Labels["gang"]; g != "" {
				members[g]++
				if row < 0 {
					gone[g]++
				}
			}
			if row < 0 {
				continue
			}
			placed++
			if why := mayNot(p.Pod, c.nodes[row].Node); why != "" || !has(p, row) {
				t.Errorf("seed %d: %s is on %s: %s", seed, p.key(), c.nodes[row].Name, why)
			}
			take(p, row)
		}
		for i, p := range c.queue {
			if out.rows[i] >= 0 || p.Labels["gang"] != "" {
				continue
			}
			left++
			for row, n := range c.nodes {
				if mayNot(p.Pod, n.Node) == "" && has(p, row) {
					t.Errorf("seed %d: %s is left out, and %s has room", seed, p.key(), n.Name)
				}
			}
		}
		for g, n := range members {
			switch gone[g] {
			case 0:
				whole++
			case n:
				broken++
			default:
				t.Errorf("seed %d: %d of %d pods of gang %s are placed", seed, n-gone[g], n, g)
			}
		}
	}
	if placed < 500 || left < 500 || whole < 100 || broken < 100 {
		t.Errorf("a dull test: %d pods placed, %d left out, %d gangs placed, %d left out", placed, left, whole, broken)
	}
}

// mayNot says why a pod may not go to a node; the arithmetic of amounts is elsewhere.
func mayNot(p *corev1.Pod, n *corev1.Node) string {
	taints := slices.Clone(n.Spec.Taints)
	if n.Spec.Unschedulable {
		taints = append(taints, corev1.Taint{Key: "node.kubernetes.io/unschedulable", Effect: "NoSchedule"})
	}
	for _, c := range n.Status.Conditions {
		if c.Type == "Ready" && c.Status == "False" {
			taints = append(taints, corev1.Taint{Key: "node.kubernetes.io/not-ready", Effect: "NoSchedule"})
		}
		if c.Type == "Ready" && c.Status == "Unknown" {
			taints = append(taints, corev1.Taint{Key: "node.kubernetes.io/unreachable", Effect: "NoSchedule"})
		}
	}
	for _, taint := range taints {
		tolerated := taint.Effect == "PreferNoSchedule"
		for _, x := range p.Spec.Tolerations {
			sameKey := x.Key == taint.Key || x.Key == "" && x.Operator == "Exists"
			sameValue := x.Operator == "Exists" || x.Value == taint.Value
			tolerated = tolerated || sameKey && sameValue && (x.Effect == "" || x.Effect == taint.Effect)
		}
		if !tolerated {
			return "taint " + taint.Key
		}
	}
	for key, value := range p.Spec.NodeSelector {
		if n.Labels[key] != value {
			return "selector " + key
		}
	}
	if a := p.Spec.Affinity; a != nil {
		matches := false
		for _, term := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
			all := len(term.MatchExpressions) > 0
			for _, e := range term.MatchExpressions {
				value, has := n.Labels[e.Key]
				switch e.Operator {
				case "In":
					all = all && has && slices.Contains(e.Values, value)
				case "NotIn":
					all = all && !(has && slices.Contains(e.Values, value))
				case "Exists":
					all = all && has
				case "DoesNotExist":
					all = all && !has
				case "Gt", "Lt":
					x, err := strconv.Atoi(value)
					y, _ := strconv.Atoi(e.Values[0])
					all = all && err == nil && (e.Operator == "Gt" && x > y || e.Operator == "Lt" && x < y)
				}
			}
			matches = matches || all
		}
		if !matches {
			return "affinity"
		}
	}
	product, named := p.Spec.NodeSelector["nvidia.com/gpu.product"]
	_, asks := p.Spec.Containers[0].Resources.Requests["nvidia.com/gpu"]
	if named && asks && !strings.HasSuffix(product, "-SHARED") && n.Labels["nvidia.com/gpu.replicas"] == "4" {
		return "a GPU in turns"
	}
	return ""
}

func randomObjects(r *rand.Rand) *objects {
	o := new(objects)
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	chance := func(n int) bool { return r.IntN(n) == 0 }
	taint := func() corev1.Taint {
		return corev1.Taint{Key: pick("gpu", "team"), Value: pick("", "x"), Effect: corev1.TaintEffect(pick("NoSchedule", "NoExecute", "PreferNoSchedule"))}
	}
	for i := range 1 + r.IntN(8) {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("n", i), Labels: map[string]string{"zone": pick("a", "b")}}}
		n.Status.Allocatable = corev1.ResourceList{"cpu": *resource.NewQuantity(int64(2+r.IntN(8)), resource.DecimalSI), "pods": *resource.NewQuantity(int64(1+r.IntN(9)), resource.DecimalSI)}
		if chance(3) {
			n.Labels["rank"] = strconv.Itoa(r.IntN(9))
		}
		for chance(3) {
			n.Spec.Taints = append(n.Spec.Taints, taint())
		}
		n.Spec.Unschedulable = chance(8)
		if chance(2) {
			n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionStatus(pick("True", "True", "True", "False", "Unknown"))}}
		}
		if chance(2) { // GPUs, whole or in turns
			n.Labels["nvidia.com/gpu.product"], n.Labels["nvidia.com/gpu.count"], n.Labels["nvidia.com/gpu.memory"] = pick("A100", "H100"), "2", "40960"
			n.Labels["nvidia.com/gpu.replicas"] = pick("1", "4")
			count := int64(2)
			if n.Labels["nvidia.com/gpu.replicas"] == "4" {
				count = 8
				if chance(2) {
					n.Labels["nvidia.com/gpu.product"] += "-SHARED"
				}
			}
			n.Status.Allocatable["nvidia.com/gpu"] = *resource.NewQuantity(count, resource.DecimalSI)
		}
		o.nodes = append(o.nodes, node{Node: n, from: place(n.Name)})
	}
	for i := range 1 + r.IntN(16) {
		requests := corev1.ResourceList{"cpu": *resource.NewMilliQuantity(int64(r.IntN(4000)), resource.DecimalSI)}
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("p", i), Namespace: "default", Labels: map[string]string{}},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: requests}}}}}
		for chance(2) {
			p.Spec.Tolerations = append(p.Spec.Tolerations, corev1.Toleration{Key: pick("gpu", "team", "node.kubernetes.io/not-ready", "node.kubernetes.io/unschedulable"),
				Operator: corev1.TolerationOperator(pick("Exists", "Equal", "")), Effect: corev1.TaintEffect(pick("", "NoSchedule", "NoExecute"))})
			if t := &p.Spec.Tolerations[len(p.Spec.Tolerations)-1]; t.Operator != "Exists" {
				t.Value = pick("", "x")
			}
		}
		if chance(8) {
			p.Spec.Tolerations = append(p.Spec.Tolerations, corev1.Toleration{Operator: "Exists"})
		}
		p.Spec.NodeSelector = map[string]string{}
		if chance(3) {
			p.Spec.NodeSelector["zone"] = pick("a", "b")
		}
		if chance(3) {
			requests["nvidia.com/gpu"] = *resource.NewQuantity(1, resource.DecimalSI)
			if chance(2) {
				p.Spec.NodeSelector["nvidia.com/gpu.product"] = pick("A100", "H100", "H100-SHARED")
			}
		}
		if chance(3) {
			var terms []corev1.NodeSelectorTerm
			for range 1 + r.IntN(2) {
				var term corev1.NodeSelectorTerm
				for range r.IntN(3) {
					e := corev1.NodeSelectorRequirement{Key: pick("zone", "rank"), Operator: corev1.NodeSelectorOperator(pick("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"))}
					switch e.Operator {
					case "In", "NotIn":
						e.Values = []string{pick("a", "b", "3")}
					case "Gt", "Lt":
						e.Key, e.Values = "rank", []string{"4"}
					}
					term.MatchExpressions = append(term.MatchExpressions, e)
				}
				terms = append(terms, term)
			}
			p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms}}}
		}
		switch {
		case chance(6):
			p.Spec.NodeName = o.nodes[r.IntN(len(o.nodes))].Name
		case chance(2):
			p.Labels["gang"] = pick("g1", "g2")
		}
		o.pods = append(o.pods, pod{Pod: p, from: place(p.Name)})
	}
	return o
}
