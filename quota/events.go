package quota

import corev1 "k8s.io/api/core/v1"

// Event is a job or task that changed, or a refused operation.
type Event struct {
	Seq     uint64    `json:"seq"` // of the change, all of whose events have it; of a refusal, of the state that it was decided on
	Kind    EventKind `json:"kind"`
	Queue   string    `json:"queue,omitempty"`
	Job     string    `json:"job,omitempty"`
	Task    string    `json:"task,omitempty"` // empty: the whole job
	Amounts           // what the task is charged; of a job the cpu and memory of its min, and what it holds of the rest
	Refusal Refusal   `json:"refusal,omitzero"` // of EventRefused, which has no amounts
}

// EventKind is what an [Event] is about.
type EventKind string

const (
	EventReserved   EventKind = "Reserved"   // a job was promised its min
	EventResized    EventKind = "Resized"    // a reserved job has another min
	EventCommitted  EventKind = "Committed"  // a task was charged
	EventRolledBack EventKind = "RolledBack" // a charge was taken back
	EventReleased   EventKind = "Released"   // a task has ended, or a job and all its tasks; by Reconcile a job's reservation alone
	EventExpired    EventKind = "Expired"    // a job has lost its hold
	EventReconciled EventKind = "Reconciled" // a view has changed a job or a task; without both: the view as a whole
	EventRefused    EventKind = "Refused"    // an operation was refused, and nothing changed
)

// Amounts are amounts of cpu, memory, cards and outputs.
type Amounts struct {
	CPU     int64                         `json:"cpu,omitempty"`     // milli-cores
	Memory  int64                         `json:"memory,omitempty"`  // bytes
	Cards   map[string]int64              `json:"cards,omitempty"`   // milli-cards, of those that are not 0; nil: none
	Outputs map[corev1.ResourceName]int64 `json:"outputs,omitempty"` // whole units, of those that are not 0; nil: none
}

// events are those of the change that is being made, or of a refusal. unlock tells them.
// Without a callback none is made, so that a ledger without one pays nothing.
type events []Event

func (is *events) add(e Event) { *is = append(*is, e) }

// refused counts a refused operation and notes its event. It counts in the queue that was
// asked, so a queue that isn't there counts with the ledger: names that anybody may write
// don't fill the memory.
func (l *Ledger) refused(queue, job, task string, a *Answer) {
	refused := &l.refusals
	if q := l.queues[queue]; q != nil {
		refused = &q.refusals
	}
	addIn(refused, a.Refusal.Reason, 1)
	l.counts.refused.Add(1)
	// Counted above in any case: metrics need no callback.
	if l.cfg.OnEvent != nil {
		l.events.add(Event{Seq: l.seq, Kind: EventRefused, Queue: queue, Job: job, Task: task, Refusal: a.Refusal})
	}
}

// taskEvent notes what a task is charged. It comes before its charges are taken away, and
// after they are made.
func (l *Ledger) taskEvent(kind EventKind, t *task) {
	if l.cfg.OnEvent == nil {
		return
	}
	e := Event{Seq: l.seq + 1, Kind: kind, Queue: queueName(t.Job.Queue), Job: t.job, Task: t.id}
	e.CPU, e.Memory = t.Plain[dimCPU].Amount, t.Plain[dimMemory].Amount
	// By the card that is charged, whichever item listed it.
	for i := range t.Charges {
		l.addTo(&e.Amounts, t.Charges[i].Card, t.Charges[i].Amount)
	}
	l.events.add(e)
}

// jobEvent notes what a job holds.
func (l *Ledger) jobEvent(kind EventKind, j *job) {
	if l.cfg.OnEvent == nil {
		return
	}
	e := Event{Seq: l.seq + 1, Kind: kind, Queue: queueName(j.Queue), Job: j.id}
	e.CPU, e.Memory = j.Min[dimCPU], j.Min[dimMemory]
	for _, it := range j.Items {
		for at, dim := range it.Alts.Cards {
			l.addTo(&e.Amounts, dim, it.HeldAt(at))
		}
	}
	l.events.add(e)
}

// addTo adds an amount of a dimension. A 0 makes no entry, so that equal amounts have equal
// maps.
func (l *Ledger) addTo(to *Amounts, dim int32, amount int64) {
	switch {
	case amount == 0:
	case dim == dimCPU:
		to.CPU += amount
	case dim == dimMemory:
		to.Memory += amount
	case l.output(dim) != "":
		addIn(&to.Outputs, l.output(dim), amount)
	default:
		addIn(&to.Cards, l.cards[dim], amount)
	}
}

// addIn adds to an element of a map, and makes the map if there is none.
func addIn[K comparable, N int64 | uint64](m *map[K]N, key K, amount N) {
	if *m == nil {
		*m = map[K]N{}
	}
	(*m)[key] += amount
}
