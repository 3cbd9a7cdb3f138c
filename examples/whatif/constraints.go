package main

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/resvec/resvec/examples/internal/kai"
	"github.com/resvec/resvec/examples/whatif/placement"
	corev1 "k8s.io/api/core/v1"
)

// A remark says how many pods or nodes have a constraint that this program does
// not look at, and which.
type remark struct {
	constraint string
	pods       []string // names, in the order of the queue
}

// A constraint is one that kube-scheduler looks at and this program does not.
type constraint struct {
	name string
	has  func(p *corev1.Pod) bool
}

// preferences are what pods in the queue prefer. The scores of -like default look at it.
var preferences = []constraint{
	{"preferred node affinity", func(p *corev1.Pod) bool {
		a := p.Spec.Affinity
		return a != nil && a.NodeAffinity != nil && len(a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution) > 0
	}},
	{"preferred podAffinity", func(p *corev1.Pod) bool { return len(termsOf(p).prefers) > 0 }},
	{"preferred podAntiAffinity", func(p *corev1.Pod) bool { return len(termsOf(p).avoids) > 0 }},
	{"topologySpreadConstraints of ScheduleAnyway", func(p *corev1.Pod) bool { return spreads(p, corev1.ScheduleAnyway) }},
}

// constraints are what pods in the queue ask of nodes.
var constraints = []constraint{
	{"volumes that bind to nodes", func(p *corev1.Pod) bool { return slices.ContainsFunc(p.Spec.Volumes, isBound) }},
	{"resourceClaims", hasClaims},
	{"nominatedNodeName", func(p *corev1.Pod) bool { return p.Status.NominatedNodeName != "" }},
	{"priorityClassName, but no priority: 0 is taken", func(p *corev1.Pod) bool {
		return p.Spec.PriorityClassName != "" && p.Spec.Priority == nil
	}},
	{"another scheduler", func(p *corev1.Pod) bool {
		return p.Spec.SchedulerName != "" && p.Spec.SchedulerName != corev1.DefaultSchedulerName
	}},
}

// remarks returns the constraints that pods of the queue have, and those that
// running pods put on them.
func (c *cluster) remarks() (remarks []remark) {
	note := func(name string, pods []pod, has func(*corev1.Pod) bool) {
		r := remark{constraint: name}
		for _, p := range pods {
			if has(p.Pod) {
				r.pods = append(r.pods, p.key())
			}
		}
		if len(r.pods) > 0 {
			remarks = append(remarks, r)
		}
	}
	if !c.like {
		for _, k := range preferences {
			note(k.name, c.queue, k.has)
		}
	}
	for _, k := range constraints {
		note(k.name, c.queue, k.has)
	}
	note("resourceClaims of pods that run, in no status", c.running, hasClaims)
	note("parts of GPUs that pods of KAI-Scheduler have, which count as free", c.running, asksForPart)
	return remarks
}

// asksForPart reports whether a pod asks for a part of GPUs, of which its requests have nothing.
func asksForPart(p *corev1.Pod) bool {
	_, ok, _ := kai.PartOfGPUs(p)
	return ok
}

func hasClaims(p *corev1.Pod) bool { return len(p.Spec.ResourceClaims) > 0 }

// podTerms are the terms of a pod's affinity to pods.
type podTerms struct {
	requires, excludes []corev1.PodAffinityTerm
	prefers, avoids    []corev1.WeightedPodAffinityTerm
}

func termsOf(p *corev1.Pod) (t podTerms) {
	a := p.Spec.Affinity
	if a != nil && a.PodAffinity != nil {
		t.requires = a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		t.prefers = a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution
	}
	if a != nil && a.PodAntiAffinity != nil {
		t.excludes = a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		t.avoids = a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution
	}
	return t
}

// isConstrained reports whether other pods have a say in where a pod may go, by what it asks.
func isConstrained(p *corev1.Pod) bool {
	t := termsOf(p)
	return spreads(p, corev1.DoNotSchedule) || len(t.requires)+len(t.excludes)+len(placement.HostPorts(p)) > 0
}

// spreads reports whether a pod has a spread constraint of a kind.
func spreads(p *corev1.Pod, kind corev1.UnsatisfiableConstraintAction) bool {
	return slices.ContainsFunc(p.Spec.TopologySpreadConstraints, func(c corev1.TopologySpreadConstraint) bool {
		return c.WhenUnsatisfiable == kind
	})
}

// lacking says which objects the files lack without which pods are placed otherwise.
func (c *cluster) lacking() (hints []string) {
	isNamespace := func(o any) bool { _, ok := o.(*corev1.Namespace); return ok }
	if c.like && !slices.ContainsFunc(c.owners, func(o any) bool { return !isNamespace(o) }) {
		hints = append(hints, "no Service, ReplicaSet, StatefulSet or ReplicationController: default constraints spread no pod")
	}
	selects := func(p pod) bool { return selectsNamespaces(p.Pod) }
	if slices.ContainsFunc(c.queue, selects) && !slices.ContainsFunc(c.owners, isNamespace) {
		hints = append(hints, "no Namespace: a namespaceSelector sees no labels")
	}
	return hints
}

// selectsNamespaces reports whether a term of a pod's required affinity selects namespaces by labels.
func selectsNamespaces(p *corev1.Pod) bool {
	t := termsOf(p)
	return slices.ContainsFunc(slices.Concat(t.requires, t.excludes), func(t corev1.PodAffinityTerm) bool {
		s := t.NamespaceSelector
		return s != nil && len(s.MatchLabels)+len(s.MatchExpressions) > 0
	})
}

// constraintKey returns what decides about a pod where other pods have a say: equal for pods that
// are alike in it.
func constraintKey(p *corev1.Pod) string {
	t := termsOf(p)
	key, _ := json.Marshal([]any{ // it came from JSON
		p.Namespace, p.Labels, p.Spec.TopologySpreadConstraints, t.requires, t.excludes, placement.HostPorts(p)})
	return string(key)
}

// topologyKeys returns the labels of the domains that a pod's constraints on other pods are
// about, and its preferences if these count.
func topologyKeys(p *corev1.Pod, preferences bool) (keys []string) {
	for _, c := range p.Spec.TopologySpreadConstraints {
		if preferences || c.WhenUnsatisfiable == corev1.DoNotSchedule {
			keys = append(keys, c.TopologyKey)
		}
	}
	t := termsOf(p)
	for _, term := range slices.Concat(t.requires, t.excludes) {
		keys = append(keys, term.TopologyKey)
	}
	for _, term := range slices.Concat(t.prefers, t.avoids) {
		if preferences {
			keys = append(keys, term.PodAffinityTerm.TopologyKey)
		}
	}
	return keys
}

// isBound reports whether a volume can be out of a node's reach, in use elsewhere,
// or one too many. Volumes that every node can make are not.
func isBound(v corev1.Volume) bool {
	s := v.VolumeSource
	return s.HostPath == nil && s.EmptyDir == nil && s.GitRepo == nil && s.Secret == nil &&
		s.ConfigMap == nil && s.DownwardAPI == nil && s.Projected == nil && s.Image == nil
}

// list writes some names, and how many more there are.
func list(names []string, most int) string {
	text := ""
	for i, name := range names {
		switch {
		case i == most:
			return fmt.Sprintf("%s and %d more", text, len(names)-most)
		case i > 0:
			text += ", "
		}
		text += name
	}
	return text
}
