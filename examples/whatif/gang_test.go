package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
)

// By which words pods are a gang.
func TestGangNames(t *testing.T) {
	for _, c := range []struct{ meta, spec, want string }{
		{"", "", ""},
		{"annotations: {scheduling.k8s.io/group-name: g}", "", "default/g"},
		{"annotations: {scheduling.volcano.sh/group-name: g}", "", "default/g"},
		{"annotations: {pod-group-name: g}", "", "default/g"},
		{"labels: {pod-group-name: g}", "", "default/g"},
		{"labels: {scheduling.x-k8s.io/pod-group: g}", "", "default/g"},
		{"labels: {pod-group.scheduling.sigs.k8s.io: g}", "", "default/g"},
		{"namespace: lab, annotations: {pod-group-name: g}", "", "lab/g"},
		{"", "schedulingGroup: {podGroupName: g}", "default/g"},
		{"", "workloadRef: {name: w, podGroup: g}", "default/w/g"},
		{"", "workloadRef: {name: w, podGroup: g, podGroupReplicaKey: r}", "default/w/g/r"},
		{"labels: {other: g}", "", ""},
	} {
		k := mustAsk(both + fmt.Sprintf("- {apiVersion: v1, kind: Pod, metadata: {name: p, %s}, spec: {%s}}\n", c.meta, c.spec))
		if got := gangName(k.queue[0], strings.Split(gangKeys, ",")); got != c.want {
			t.Errorf("%s, %s: got %q, want %q", c.meta, c.spec, got, c.want)
		}
		if len(k.unknown) > 0 {
			t.Errorf("%s: unknown %v", c.spec, k.unknown)
		}
	}
}

// A gang has all its nodes or none, when the turn of its first pod comes, and what it doesn't
// take is there for others.
func TestAllOrNothing(t *testing.T) {
	member := func(name, gang string) string {
		return fmt.Sprintf("- {apiVersion: v1, kind: Pod, metadata: {name: %s, labels: {team: %s}}, spec: {containers: [{name: c, resources: {requests: {cpu: 2}}}]}}\n", name, gang)
	}
	c := mustAsk(both + nodeYAML("a", "", "cpu: 4, pods: 9", "") + nodeYAML("b", "", "cpu: 4, pods: 9", "") +
		member("x0", "five") + podYAML("single", "cpu: 1", "") + member("y0", "three") + member("x1", "five") + member("x2", "five") +
		member("x3", "five") + member("x4", "five") + member("y1", "three") + member("y2", "three"))
	c.findGangs([]string{"team"})
	o, err := c.simulate(nil, vector.TieLowest())
	if err != nil {
		t.Fatal(err)
	}
	placed := ""
	for i, row := range o.rows {
		if row >= 0 {
			placed += " " + c.queue[i].Name
		}
	}
	if placed != " single y0 y1 y2" || o.placed != 4 {
		t.Errorf("placed are%s, %d in number", placed, o.placed)
	}
	if got, want := c.explain(o, 0), "4 of the 5 pods of gang default/five have room at once, and it takes all; 0/2 nodes are available: 2 Insufficient cpu."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	o, err = c.simulate([]addition{{&c.shapes[0], 3}}, vector.TieLowest())
	if err != nil || o.placed != 9 {
		t.Errorf("with three nodes more %d of 9 are placed, error %v", o.placed, err)
	}
}

// A gang with a PodGroup takes as many pods as that says, those that run included, and more
// where they fit.
func TestPodGroups(t *testing.T) {
	for _, c := range []struct {
		group string
		want  int // pods placed of four, on nodes with room for three
	}{
		{"", 0},
		{"{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: g}, spec: {minMember: 2, queue: q}}", 3},
		{"{apiVersion: scheduling.x-k8s.io/v1alpha1, kind: PodGroup, metadata: {name: g}, spec: {minMember: 4}}", 3},
		{"{apiVersion: scheduling.run.ai/v2alpha2, kind: PodGroup, metadata: {name: g}, spec: {minMember: 5}}", 0},
		{"{apiVersion: scheduling.k8s.io/v1alpha2, kind: PodGroup, metadata: {name: g}, spec: {schedulingPolicy: {gang: {minCount: 5}}}}", 0},
		{"{apiVersion: scheduling.k8s.io/v1alpha2, kind: PodGroup, metadata: {name: g}, spec: {schedulingPolicy: {basic: {}}}}", 3},
		{"{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: g, namespace: lab}, spec: {minMember: 2}}", 0},
	} {
		text := both + nodeYAML("a", "", "cpu: 4, pods: 9", "") + podYAML("runs", "cpu: 1", "nodeName: a, schedulingGroup: {podGroupName: g}")
		for i := range 4 {
			text += podYAML(fmt.Sprint("p", i), "cpu: 1", "schedulingGroup: {podGroupName: g}")
		}
		if c.group != "" {
			text += "- " + c.group
		}
		k := mustAsk(text)
		k.findGangs(nil)
		o, err := k.simulate(nil, vector.TieLowest())
		if err != nil || o.placed != c.want {
			t.Errorf("%s: %d are placed, want %d; error %v", c.group, o.placed, c.want, err)
		}
	}
	if _, err := question(both + "- {apiVersion: scheduling.k8s.io/v1alpha2, kind: PodGroup, metadata: {name: g}, spec: {minMember: [1]}}"); err == nil ||
		err.Error() != "f: items[0] (PodGroup g): spec.minMember: want a whole number" {
		t.Errorf("error %v", err)
	}
}

// A gang whose pods fit one by one, but not all at once.
func TestGangOfFew(t *testing.T) {
	c := mustAsk(both + nodeYAML("a", "", "cpu: 3, pods: 9", "") + podYAML("p", "cpu: 2", "") + podYAML("q", "cpu: 2", ""))
	for i := range c.queue {
		c.queue[i].group = "g"
	}
	c.findGangs(nil)
	o := testkit.Must(c.simulate(nil, vector.TieLowest()))
	if got, want := c.explain(o, 1), "1 of the 2 pods of gang default/g have room at once, and it takes all."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What no node announces is left out of all that a pod requests.
func TestIgnore(t *testing.T) {
	o := new(objects)
	testkit.Check(o.read("f", strings.NewReader(both+nodeYAML("a", "", "cpu: 3, pods: 9", "")+
		"- {apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {overhead: {x/y: 1}, initContainers: [{name: i, resources: {limits: {x/y: 1}}}], containers: [{name: c, resources: {requests: {cpu: 1, x/y: 1}, limits: {x/y: 1}}}]}}\n"+
		podYAML("q", "cpu: 1", "")), kinds{node: true, pod: true}))
	s := testkit.Must(newSnapshot(o, new(objects), false))
	testkit.Check(s.ignore([]string{"x/y"}))
	c := testkit.Must(newCluster(s, kubeTerms))
	if got := (&report{cluster: c}).amounts(c.requests[0].Requested); got != "cpu 1" || s.ignored[0].pods != 1 {
		t.Errorf("the pod requests %s; of %v", got, s.ignored)
	}
	if _, has := o.pods[0].Spec.Overhead["x/y"]; !has {
		t.Error("the pod that was read is changed")
	}
}
