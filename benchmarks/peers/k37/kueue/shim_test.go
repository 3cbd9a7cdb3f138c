package kueue

import (
	"github.com/resvec/resvec/transform"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/resources"
	"sigs.k8s.io/kueue/pkg/workload"
)

// The functions below are an adapter to Kueue, to which docs/migration.md links.
// TestTransform compares them with NewInfo.

// kueueRules compiles the rules of Kueue's configuration, once.
func kueueRules(rules []config.ResourceTransformation, excluded []string) (*transform.Transformation, error) {
	c := &transform.Config{ExcludeResourcePrefixes: excluded}
	for _, r := range rules {
		strategy := transform.Strategy(ptr.Deref(r.Strategy, config.Retain))
		c.Rules = append(c.Rules, transform.Rule{Input: r.Input, Strategy: strategy, MultiplyBy: r.MultiplyBy, Outputs: r.Outputs})
	}
	return transform.Compile(c, transform.Options{Multiplier: transform.AfterExclusion})
}

// totalRequests is what a pod set of so many pods is charged.
func totalRequests(rules *transform.Transformation, ps *kueue.PodSet, count int32) (workload.PodSetResources, error) {
	pod := vectormap.PodRequests(&corev1.Pod{Spec: ps.Template.Spec}, vectormap.PodOptions{})
	charge, err := transform.Charge(rules.Apply(pod), int64(count))
	return workload.PodSetResources{Name: ps.Name, Count: count, Requests: resources.NewRequestsFromMap(charge)}, err
}
