package resvecfit

import (
	"context"
	"reflect"
	"slices"

	"github.com/resvec/resvec/scoring"
	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// signature is what the decisions about a pod depend on.
type signature struct {
	CPU, Memory, Storage int64
	Scalars              map[corev1.ResourceName]int64 `json:",omitempty"`
	Scored               []corev1.ResourceList         `json:",omitempty"` // by term
	Override             [2]string                     // the annotations of a pod's own rules
	Ledger               any                           `json:",omitempty"`
}

// rescores says that opportunistic batching scores the node of the last pod again, for
// the next pod of the same signature, and compares it with scores that it has kept of the
// other nodes: so it does from Kubernetes v1.37 on, which keeps scores as plugins give
// them. Then scores that depend on which other nodes there are must not be signed.
var rescores = func() bool {
	_, kept := reflect.TypeFor[fwk.NodePluginScores]().FieldByName("RawScores")
	return kept
}()

// SignPod returns what the decisions depend on, so that opportunistic batching
// (KEP-5598) works. Pods with delegated resources are not signed, as in
// NodeResourcesFit. With Kubernetes v1.37 neither are pods whose scores are normalized.
func (p *Plugin) SignPod(_ context.Context, pod *corev1.Pod) ([]fwk.SignFragment, *fwk.Status) {
	if rescores && slices.ContainsFunc(p.scorer.terms, func(t term) bool { return t.normalize != "" }) {
		return nil, fwk.NewStatus(fwk.Unschedulable, "normalized scores depend on the other nodes, so that pods are not signed")
	}
	r := p.requestOf(pod)
	if r.isDelegated() {
		return nil, fwk.NewStatus(fwk.Unschedulable, "pods with extended resources of a DeviceClass are not signed")
	}
	s := signature{CPU: r.cpu, Memory: r.memory, Storage: r.storage}
	for _, x := range r.scalars {
		if s.Scalars == nil {
			s.Scalars = map[corev1.ResourceName]int64{}
		}
		s.Scalars[x.name] = x.amount
	}
	for i := range p.scorer.terms {
		s.Scored = append(s.Scored, p.scorer.terms[i].total(pod, p.scorer.podLevel))
	}
	if p.scorer.own {
		s.Override = [2]string{pod.Annotations[scoring.ScoringTypeAnnotation], pod.Annotations[scoring.WeightAnnotation]}
	}
	if p.ledger != nil {
		var ok bool
		if s.Ledger, ok = p.ledger.Sign(pod); !ok {
			return nil, fwk.NewStatus(fwk.Unschedulable, "the ledger does not sign this pod")
		}
	}
	return []fwk.SignFragment{{Key: Name, Value: s}}, nil
}
