package quota

import (
	"slices"
	"strings"

	"github.com/resvec/resvec/quota/internal/book"
	corev1 "k8s.io/api/core/v1"
)

// Task is a task as its objects describe it.
type Task struct {
	ID, Job, Queue string              // empty only in a [Job]: a pod without one is a job of its own
	Pod            *corev1.Pod         // only read: it names cards, and requests the resources that carry them; nil: Cards says them
	Request        corev1.ResourceList // cpu, memory, and what outputs are made of, instead of what the pod requests; nil: the pod's
	Cards          []Item              // if not nil, the cards whatever the pod says: those of claims, or parts of cards; Unit is 0 or 1000
	Node           string              // that it is bound to, on whose cards it is charged; empty: the pod's
	Phase          TaskPhase           // for Reconcile; empty, and if the pod has ended: what the pod says
}

// TaskPhase says where a task stands, by Volcano's names; others, such as Bound, count as
// allocated. Empty is the pod's; without pod or node, pending.
type TaskPhase string

const (
	TaskPending   TaskPhase = "Pending"   // it has no node
	TaskAllocated TaskPhase = "Allocated" // it has a node, and is charged
	TaskReleasing TaskPhase = "Releasing" // it is being deleted; charged with [Config.CountReleasing]
	TaskPipelined TaskPhase = "Pipelined" // it waits for the resources of such a task; charged with [Config.CountReleasing]
	TaskSucceeded TaskPhase = "Succeeded"
	TaskFailed    TaskPhase = "Failed"
)

// ended reports whether a task of this phase uses nothing any more. Pods have these names, too.
func (s TaskPhase) ended() bool { return s == TaskSucceeded || s == TaskFailed }

// phase returns where the task stands, by its pod if nothing else says so.
func (t *Task) phase() TaskPhase {
	switch {
	case t.Phase != "":
		return t.Phase
	// A pod that has ended uses nothing, whether it is being deleted or not.
	case t.ended():
		return TaskPhase(t.Pod.Status.Phase)
	case t.Pod != nil && t.Pod.DeletionTimestamp != nil:
		return TaskReleasing
	case t.Pod == nil, t.node() == "":
		return TaskPending
	}
	return TaskAllocated
}

// ended reports whether the task uses nothing any more, by its phase or its
// pod's.
func (t *Task) ended() bool {
	// Either may know it first. A task that has ended never counts again.
	return t.Phase.ended() || t.Pod != nil && TaskPhase(t.Pod.Status.Phase).ended()
}

// gated reports whether the task waits outside of scheduling. Its pod is there, and yet
// nothing should be held for it.
func (t *Task) gated() bool { return t.Pod != nil && len(t.Pod.Spec.SchedulingGates) > 0 }

// node returns the node that the task is bound to, empty if none. A scheduler knows it
// before the pod has it, so what the caller says comes first.
func (t *Task) node() string {
	if t.Node == "" && t.Pod != nil {
		return t.Pod.Spec.NodeName
	}
	return t.Node
}

// Job is a job as its objects describe it.
type Job struct {
	ID, Queue    string
	Annotations  map[string]string   // of the job or PodGroup; they count while no task has cards
	MinResources corev1.ResourceList // of the PodGroup: cpu and memory, absent is 0; without live tasks outputs are made of it
	Tasks        []Task              // all that there are; their ids don't matter to ResolveJob
	Min          *Min                // if not nil, replaces what tasks, annotations and MinResources say; a task that can't be resolved still makes the request invalid
	AnyMix       *bool               // nil: as [Config.AnyMix]
	Phase        Phase               // for Reconcile; a caller without phases passes PhaseInqueue for jobs that Reserve admitted
	MinMember    int32               // for Reconcile: how many charged tasks the job needs to run
	MinUnknown   bool                // for Reconcile: the min stays as the ledger has it
}

// Phase says where a job stands, by the names of Volcano's PodGroup. Empty is pending: no
// reservation. Under others, such as Completed, it keeps no holds.
type Phase string

const (
	PhasePending Phase = "Pending" // not admitted
	PhaseInqueue Phase = "Inqueue" // admitted
	PhaseRunning Phase = "Running" // enough of its tasks have been placed
)

// Min is what a job needs before it may start, or what a task is charged.
type Min struct {
	CPU     int64                         `json:"cpu,omitempty"`    // milli-cores
	Memory  int64                         `json:"memory,omitempty"` // bytes
	Items   []Item                        `json:"items,omitempty"`
	Outputs map[corev1.ResourceName]int64 `json:"outputs,omitempty"` // whole units
}

// add adds an item of the book.
func (n *Min) add(alts *book.Alternatives, amount, unit int64) {
	if !isOutput(alts) {
		n.Items = append(n.Items, Item{Alternatives: strings.Split(keyOf(alts), "|"), Milli: amount, Unit: unit})
		return
	}
	if n.Outputs == nil {
		n.Outputs = map[corev1.ResourceName]int64{}
	}
	n.Outputs[corev1.ResourceName(keyOf(alts))] = amount
}

// Item is an amount of one list of acceptable cards.
type Item struct {
	Alternatives []string `json:"alternatives"`   // left preferred; one: that card
	Milli        int64    `json:"milli"`          // milli-cards; with AnyMix and several alternatives, or a Unit other than 1000, a multiple of it
	Unit         int64    `json:"unit,omitempty"` // in a [Min]: milli-cards that must be on one card; 0: 1000
}

// defaultUnit is the unit of items that have none: a card.
const defaultUnit = 1000

// Need returns what the task is charged; if it is bound, on its node's cards.
func (t *TaskRequest) Need() Min {
	need := Min{CPU: t.use.Plain[dimCPU], Memory: t.use.Plain[dimMemory]}
	for i := range t.use.Items {
		alts := t.use.Items[i].Alts
		need.add(alts, t.use.Items[i].Amount, defaultUnit)
		if t.bound != nil && !isOutput(alts) {
			// There is one: bind refuses a node that has none of the item's cards.
			at := slices.IndexFunc(alts.Cards, t.bound.Has)
			it := &need.Items[len(need.Items)-1]
			it.Alternatives = it.Alternatives[at : at+1]
		}
	}
	return need
}

// Need returns what the job needs before it may start.
func (r *JobRequest) Need() Min { return needOf(&r.min) }

// needOf writes a min of the book with names.
func needOf(m *book.Min) Min {
	need := Min{CPU: m.Plain[dimCPU], Memory: m.Plain[dimMemory]}
	for i := range m.Items {
		need.add(m.Items[i].Alts, m.Items[i].Amount, m.Items[i].Unit)
	}
	return need
}

// Invalid says why the request is invalid; empty: it is valid.
func (t *TaskRequest) Invalid() string { return t.text(t.queue, t.queueAt.Load()) }

// Invalid says why the request is invalid; empty: it is valid.
func (r *JobRequest) Invalid() string { return r.text(r.queue, r.queueAt.Load()) }
