package resvecfit

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// Ledger keeps account of something that nodes don't have, such as the quota of a
// queue, and admits pods by it. kube-scheduler calls Admit and Reserve for one pod
// at a time, Filter for the same pod from several goroutines, and Unreserve at any
// time. Package cardquota has one.
type Ledger interface {
	// Admit says whether the pod could be placed at all, before nodes are looked
	// at; nodes is the snapshot of the cycle, for what the ledger wants to know of
	// the cluster. It reserves nothing. A refusal that preemption can't cure is
	// UnschedulableAndUnresolvable.
	Admit(ctx context.Context, pod *corev1.Pod, nodes []fwk.NodeInfo) *fwk.Status

	// Filter says whether the pod could be placed on a node that has the resources
	// for it. It is called after Admit, whatever that said.
	Filter(ctx context.Context, pod *corev1.Pod, node string) *fwk.Status

	// Reserve charges the pod on a node, or refuses.
	Reserve(ctx context.Context, pod *corev1.Pod, node string) *fwk.Status

	// Unreserve takes back what Reserve charged. It must be idempotent, and is also
	// called for pods that Reserve refused or was not called for.
	Unreserve(ctx context.Context, pod *corev1.Pod, node string)

	// Events are those that may make a refused pod admissible.
	Events() []fwk.ClusterEventWithHint

	// Sign returns what the decisions depend on besides the pod's requests, as a
	// value for JSON, and false when pods must not be taken for equal.
	Sign(pod *corev1.Pod) (any, bool)
}

// Reserve charges the pod in the ledger. A refusal is reported as an event, in
// addition to kube-scheduler's.
func (p *Plugin) Reserve(ctx context.Context, _ fwk.CycleState, pod *corev1.Pod, node string) *fwk.Status {
	if p.ledger != nil {
		if status := p.ledger.Reserve(ctx, pod, node); !status.IsSuccess() {
			p.refuse(pod, status.Message())
			return status
		}
	}
	p.attempts.remove(pod.UID)
	if p.exact != nil {
		p.exact.nominated.set(pod, false)
	}
	return nil
}

// Unreserve takes back what Reserve charged.
func (p *Plugin) Unreserve(ctx context.Context, _ fwk.CycleState, pod *corev1.Pod, node string) {
	if p.ledger != nil {
		p.ledger.Unreserve(ctx, pod, node)
	}
	if p.exact != nil {
		p.attempts.addExisting(p.handle, pod) // the node that was named is of no use
	}
}

// refuse reports a refusal as an event of the pod.
func (p *Plugin) refuse(pod *corev1.Pod, why string) {
	if recorder := p.handle.EventRecorder(); recorder != nil && p.args.events() {
		recorder.Eventf(pod, nil, corev1.EventTypeWarning, "ResourcesRefused", "Scheduling", "%s", why)
	}
}
