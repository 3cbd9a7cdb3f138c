package main

import (
	"fmt"
	"slices"

	"github.com/resvec/resvec/examples/internal/kai"
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

// constraints are what pods in the queue ask of nodes.
var constraints = []constraint{
	{"preferred node affinity", func(p *corev1.Pod) bool {
		a := p.Spec.Affinity
		return a != nil && a.NodeAffinity != nil && len(a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution) > 0
	}},
	{"podAffinity", func(p *corev1.Pod) bool {
		a := p.Spec.Affinity
		return a != nil && a.PodAffinity != nil
	}},
	{"podAntiAffinity", func(p *corev1.Pod) bool { return hasAntiAffinity(p) }},
	{"topologySpreadConstraints", func(p *corev1.Pod) bool { return len(p.Spec.TopologySpreadConstraints) > 0 }},
	{"host ports", func(p *corev1.Pod) bool { return hasHostPort(p) }},
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
	for _, k := range constraints {
		note(k.name, c.queue, k.has)
	}
	note("podAntiAffinity of pods that run", c.running, hasAntiAffinity)
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

func hasAntiAffinity(p *corev1.Pod) bool {
	return p.Spec.Affinity != nil && p.Spec.Affinity.PodAntiAffinity != nil
}

// hasHostPort reports whether a pod takes a port of its node: in its network every
// port is one.
func hasHostPort(p *corev1.Pod) bool {
	for _, containers := range [][]corev1.Container{p.Spec.Containers, p.Spec.InitContainers} {
		for _, container := range containers {
			for _, port := range container.Ports {
				if port.HostPort > 0 || p.Spec.HostNetwork {
					return true
				}
			}
		}
	}
	return false
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
