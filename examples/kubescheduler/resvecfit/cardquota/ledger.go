// Package cardquota is the ledger of package quota as an option of plugin
// ResvecFit: each queue may use so many cards of each kind, and so much cpu and
// memory, and a pod is placed only where its queue has room for the card of the
// node.
//
// A pod says by a label which queue it is of, and by the annotation
// volcano.sh/card.name which cards it takes, alternatives separated by |; one that
// asks for devices and names no card takes any. Nodes say which cards they have by
// the labels that vendors put on them, see [device.FromNodes].
//
// A pod is charged when the scheduler reserves its node, and until it is gone or
// has ended. What is bound already when the scheduler starts, or is bound by
// someone else, is charged as it is found, whether there is room or not; so is what
// changes while it runs: a pod that is resized, or gets another queue, or whose node
// gets other cards. Preemption frees devices, but never quota: a pod that its queue
// has no room for preempts nothing. Devices of resource claims are not counted.
package cardquota

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/quota"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/informers"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
)

// Ledger charges pods to queues. It is made by [New] and follows the pods of a
// cluster. All profiles of a scheduler that charge the same queues must share one.
type Ledger struct {
	cfg     *Config
	pods    corelisters.PodLister
	account *quota.Ledger

	// current is the pod of the scheduling cycle.
	current atomic.Pointer[resolved]

	// mu is held while the account follows the cluster: what is known of a pod must
	// not be older than what the account had before.
	mu        sync.Mutex
	charged   map[types.UID]*corev1.Pod // as they were when they were charged
	unsettled map[types.UID]*corev1.Pod // to be charged: bound by others, changed, or on cards that have changed
	listed    bool                      // the pods that were there at the start are known
	nodes     []*corev1.Node            // of the last snapshot
	seen      []int64                   // the generations of nodes when their pods were last followed
	moved     bool                      // nodes and seen disagree
	stale     bool                      // the cards of nodes are not read yet
	cards     *device.Catalog           // of nodes
}

// resolved is what a pod is charged.
type resolved struct {
	pod  types.UID
	task *quota.TaskRequest
}

// New makes a ledger and adds its handler to the informer of pods, which need not
// have been started. The configuration is one that [Config.Validate] finds no fault
// with; else New may fail, too.
func New(cfg *Config, factory informers.SharedInformerFactory) (*Ledger, error) {
	if factory == nil {
		return nil, errors.New("the scheduler has no informers")
	}
	account, err := cfg.account()
	if err != nil {
		return nil, err
	}
	l := &Ledger{
		cfg:       cfg,
		pods:      factory.Core().V1().Pods().Lister(),
		account:   account,
		charged:   map[types.UID]*corev1.Pod{},
		unsettled: map[types.UID]*corev1.Pod{},
		cards:     (&device.Inventory{}).Catalog(),
	}
	_, err = factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(after any) { l.podChanged(nil, after) },
		UpdateFunc: l.podChanged,
		DeleteFunc: func(before any) { l.podChanged(before, nil) },
	})
	return l, err
}

// podOf returns the pod of an informer's event, nil for anything else.
func podOf(obj any) *corev1.Pod {
	if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = gone.Obj
	}
	pod, _ := obj.(*corev1.Pod)
	return pod
}

func (l *Ledger) podChanged(before, after any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.changed(podOf(before), podOf(after))
}

// changed follows a pod of which the cluster had one state, and has another; nil is
// none. Where events were missed, the two may be different pods of one name.
func (l *Ledger) changed(before, now *corev1.Pod) {
	if before != nil {
		l.follow(before.UID, now)
	}
	if now != nil && (before == nil || before.UID != now.UID) {
		l.follow(now.UID, now)
	}
}

// follow notes that a pod may have changed; now is the pod of its name, nil
// for none.
func (l *Ledger) follow(uid types.UID, now *corev1.Pod) {
	was := l.charged[uid]
	switch {
	case now == nil, now.UID != uid, hasEnded(now):
		l.release(uid)
	case now.Spec.NodeName == "": // waits, or its binding is not seen yet
	case l.queueOf(now) == "":
		l.release(uid)
	case was != nil && l.unsettled[uid] == nil && l.sameCharge(was, now):
		l.charged[uid] = now
	default:
		l.unsettled[uid] = now
	}
}

// sameCharge reports whether a pod is charged the same as before it was changed.
func (l *Ledger) sameCharge(was, now *corev1.Pod) bool {
	return was == now || l.jobOf(was) == l.jobOf(now) &&
		was.Annotations[quota.NameAnnotation] == now.Annotations[quota.NameAnnotation] &&
		equality.Semantic.DeepEqual(was.Spec, now.Spec) &&
		equality.Semantic.DeepEqual(totalOf(was), totalOf(now))
}

// totalOf returns what a pod requests as the account counts it: what a pod that is
// resized still has is in its status.
func totalOf(pod *corev1.Pod) corev1.ResourceList {
	return vectormap.PodRequests(pod, vectormap.PodOptions{APIServerDefaults: true, UseStatusResources: true})
}

func hasEnded(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

func (l *Ledger) release(pod types.UID) {
	l.account.Release(string(pod))
	delete(l.charged, pod)
	delete(l.unsettled, pod)
}

// refresh gives the account what has changed since the last time.
func (l *Ledger) refresh(logger klog.Logger, nodes []fwk.NodeInfo) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.observe(nodes)
	if l.stale {
		if err := l.discover(); err != nil {
			return err
		}
		l.stale = false
	}
	return l.chargeUnsettled(logger)
}

// observe sets l.nodes, l.moved, and l.stale when there may be other cards than
// before.
func (l *Ledger) observe(nodes []fwk.NodeInfo) {
	if len(nodes) != len(l.nodes) {
		l.nodes, l.seen = make([]*corev1.Node, len(nodes)), make([]int64, len(nodes))
		l.moved, l.stale = true, true
	}
	for i, info := range nodes {
		if node, old := info.Node(), l.nodes[i]; node != old {
			l.moved = l.moved || node.Name != old.Name
			l.stale = l.stale || !sameCards(node, old)
			l.nodes[i] = node
		}
	}
}

func sameCards(a, b *corev1.Node) bool {
	return a.Name == b.Name && maps.Equal(a.Labels, b.Labels) && equality.Semantic.DeepEqual(a.Status.Allocatable, b.Status.Allocatable)
}

// discover reads the cards of the nodes. Pods on nodes that had other cards have to
// be charged anew, and all of them when the cluster had.
func (l *Ledger) discover() error {
	inventory, err := device.FromNodes(l.nodes, nil, device.Options{})
	if err != nil {
		return err
	}
	cards := inventory.Catalog()
	if _, err := l.account.SetCatalog(cards); err != nil {
		return err
	}
	same := slices.Equal(l.cards.Cards(), cards.Cards()) // else other pods may be of other cards, too
	for uid, pod := range l.charged {
		if node := pod.Spec.NodeName; !same || !slices.Equal(l.cards.CardsOf(node), cards.CardsOf(node)) {
			l.unsettled[uid] = pod
		}
	}
	l.cards = cards
	return nil
}

// catchUp follows the pods that are charged, of which the handler may not have
// heard although the scheduler has: a pod that was refused is tried again at once.
// What the scheduler has heard of is in its snapshot, and in the informer's cache.
func (l *Ledger) catchUp(logger klog.Logger, nodes []fwk.NodeInfo) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	changed := sets.New[string]()
	for i, info := range nodes {
		if generation := info.GetGeneration(); generation != l.seen[i] {
			changed.Insert(info.Node().Name)
			l.seen[i] = generation
		}
	}
	if len(changed) == 0 && !l.moved {
		return nil
	}
	for _, pod := range l.charged {
		if l.moved || changed.Has(pod.Spec.NodeName) {
			l.changed(pod, l.known(pod))
		}
	}
	l.moved = false
	return l.chargeUnsettled(logger)
}

// known returns the pod of that name in the informer's cache, nil for none.
func (l *Ledger) known(pod *corev1.Pod) *corev1.Pod {
	now, err := l.pods.Pods(pod.Namespace).Get(pod.Name)
	if err != nil { // there is no other than that it is not found
		return nil
	}
	return now
}

// chargeUnsettled charges the pods that are to be charged. One that can't be, since its
// amounts are more than can be added up, doesn't keep others from it.
func (l *Ledger) chargeUnsettled(logger klog.Logger) error {
	if !l.listed {
		pods, err := l.pods.List(labels.Everything())
		if err != nil {
			return err
		}
		for _, pod := range pods {
			l.follow(pod.UID, pod)
		}
		l.listed = true
	}
	for _, pod := range l.unsettled {
		l.changed(pod, l.known(pod)) // events may be late
	}
	if len(l.unsettled) == 0 {
		return nil
	}
	var tasks []quota.Task
	for _, uid := range slices.Sorted(maps.Keys(l.unsettled)) {
		task := l.taskOf(l.unsettled[uid])
		task.Phase = quota.TaskAllocated
		tasks = append(tasks, task)
	}
	if err := l.reconcile(logger, tasks...); err != nil {
		for _, task := range tasks {
			if err := l.reconcile(logger, task); err != nil {
				logger.Error(err, "A bound pod can't be charged", "job", task.Job, "task", task.ID)
			}
		}
	}
	maps.Copy(l.charged, l.unsettled)
	clear(l.unsettled)
	return nil
}

// reconcile has the account charge tasks.
func (l *Ledger) reconcile(logger klog.Logger, tasks ...quota.Task) error {
	report, err := l.account.Reconcile(quota.View{Partial: true, Tasks: tasks})
	for _, x := range report.Failed {
		logger.Info("A bound pod can't be charged", "job", x.Job, "task", x.Task, "reason", x.Reason, "detail", x.Detail)
	}
	return err
}

// queueOf returns the queue of a pod; empty for a pod that isn't charged.
func (l *Ledger) queueOf(pod *corev1.Pod) string {
	if queue := pod.Labels[l.cfg.queueLabel()]; queue != "" {
		return queue
	}
	return l.cfg.DefaultQueue
}

// jobOf returns the id of a pod's job. It begins with the queue, so that pods of
// one name in two queues are two jobs.
func (l *Ledger) jobOf(pod *corev1.Pod) string {
	prefix := l.queueOf(pod) + "/" + pod.Namespace + "/"
	if group := pod.Spec.SchedulingGroup; group != nil && group.PodGroupName != nil {
		return prefix + "group/" + *group.PodGroupName
	}
	for _, label := range l.cfg.jobLabels() {
		if name := pod.Labels[label]; name != "" {
			return prefix + "job/" + name
		}
	}
	return prefix + "pod/" + string(pod.UID)
}

func (l *Ledger) taskOf(pod *corev1.Pod) quota.Task {
	return quota.Task{ID: string(pod.UID), Job: l.jobOf(pod), Queue: l.queueOf(pod), Pod: pod}
}

// request returns what a pod is charged, nil if it isn't.
func (l *Ledger) request(pod *corev1.Pod) (*quota.TaskRequest, *fwk.Status) {
	if l.queueOf(pod) == "" {
		return nil, nil
	}
	if r := l.current.Load(); r != nil && r.pod == pod.UID {
		return r.task, nil
	}
	task, _, err := l.account.ResolveTask(l.taskOf(pod))
	if err != nil {
		return nil, fwk.AsStatus(err)
	}
	l.current.Store(&resolved{pod.UID, task})
	return task, nil
}

// Admit says whether the queue has room for the pod on any of its cards. No
// preemption makes room.
func (l *Ledger) Admit(ctx context.Context, pod *corev1.Pod, nodes []fwk.NodeInfo) *fwk.Status {
	l.current.Store(nil)
	if l.queueOf(pod) == "" {
		return nil
	}
	logger := klog.FromContext(ctx)
	if err := l.refresh(logger, nodes); err != nil {
		return fwk.AsStatus(err)
	}
	task, status := l.request(pod)
	if task == nil {
		return status
	}
	var answer quota.Answer
	if !l.account.Allocatable(&answer, task) || slices.ContainsFunc(answer.Options, mayPass) {
		if err := l.catchUp(logger, nodes); err != nil {
			return fwk.AsStatus(err)
		}
	}
	if !l.account.Allocatable(&answer, task) {
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, answer.Refusal.Message())
	}
	return nil
}

// mayPass reports whether a card is refused that the end of other pods makes room on.
func mayPass(o quota.Headroom) bool { return o.Why != "" && o.Why != quota.ReasonNoQuota }

// Filter says whether the queue has room for the pod on a card of the node.
func (l *Ledger) Filter(_ context.Context, pod *corev1.Pod, node string) *fwk.Status {
	task, status := l.request(pod)
	if task == nil {
		return status
	}
	var answer quota.Answer
	switch {
	case l.account.AllocatableOn(&answer, task, node):
		return nil
	case answer.Refusal.Reason == quota.ReasonGetTaskRequestResourceFailed:
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "node(s) had none of the cards that the pod takes")
	}
	return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, answer.Refusal.Message())
}

// Reserve charges the pod on a card of the node.
func (l *Ledger) Reserve(_ context.Context, pod *corev1.Pod, node string) *fwk.Status {
	task, status := l.request(pod)
	if task == nil {
		return status
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	answer, err := l.account.CommitOn(task, node)
	if err != nil {
		return fwk.AsStatus(err)
	}
	if !answer.OK {
		return fwk.NewStatus(fwk.Unschedulable, answer.Refusal.Message())
	}
	l.charged[pod.UID] = pod
	return nil
}

// Unreserve takes the charge back. A pod that is bound all the same, by someone else
// or since an answer of the API server was lost, is charged as one that is found so.
func (l *Ledger) Unreserve(_ context.Context, pod *corev1.Pod, _ string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.account.Rollback(string(pod.UID))
	delete(l.charged, pod.UID)
	delete(l.unsettled, pod.UID)
	l.follow(pod.UID, l.known(pod))
}

// Events returns the events that may make a refused pod admissible: pods that go,
// shrink or get another queue, nodes that come or have other cards, and another queue for the
// pod itself.
func (l *Ledger) Events() []fwk.ClusterEventWithHint {
	return []fwk.ClusterEventWithHint{
		{
			Event:          fwk.ClusterEvent{Resource: fwk.Pod, ActionType: fwk.Delete | fwk.UpdatePodLabel | fwk.UpdatePodScaleDown},
			QueueingHintFn: l.afterPod,
		},
		{
			Event:          fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add | fwk.UpdateNodeLabel | fwk.UpdateNodeAllocatable},
			QueueingHintFn: l.afterNode,
		},
	}
}

// afterPod says whether a pod that went or shrank, or whose labels have changed, may
// make room. Only pods that are on a node, or on the way to one, are charged.
func (l *Ledger) afterPod(_ klog.Logger, pod *corev1.Pod, before, after any) (fwk.QueueingHint, error) {
	if l.queueOf(pod) == "" {
		return fwk.QueueSkip, nil
	}
	old, now := podOf(before), podOf(after)
	switch {
	case now != nil && now.UID == pod.UID, old == nil:
		return fwk.Queue, nil
	case old.Spec.NodeName == "" || l.queueOf(old) == "":
		return fwk.QueueSkip, nil
	case now != nil && l.jobOf(old) == l.jobOf(now) && !shrank(totalOf(old), totalOf(now)):
		return fwk.QueueSkip, nil
	}
	return fwk.Queue, nil
}

// shrank reports whether a list has less of something than before.
func shrank(before, after corev1.ResourceList) bool {
	for name, had := range before {
		if has := after[name]; has.Cmp(had) < 0 {
			return true
		}
	}
	return false
}

// afterNode says that any node may have a card that was missing.
func (l *Ledger) afterNode(_ klog.Logger, pod *corev1.Pod, _, _ any) (fwk.QueueingHint, error) {
	if l.queueOf(pod) == "" {
		return fwk.QueueSkip, nil
	}
	return fwk.Queue, nil
}

// Sign says that pods of a queue are not taken for equal: each takes of what the
// next one is left.
func (l *Ledger) Sign(pod *corev1.Pod) (any, bool) { return nil, l.queueOf(pod) == "" }
