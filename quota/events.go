package quota

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Event is one change of a ledger, or an operation that was refused.
type Event struct {
	Seq     uint64 // of the change; of a refusal, of the state that it was decided on
	Kind    EventKind
	Queue   string
	Job     string
	Task    string // empty: the whole job
	CPU     int64  // milli-cores: the task's, or the job's min
	Memory  int64  // bytes
	Cards   []CardAmount
	Outputs map[corev1.ResourceName]int64 // of a hold or a charge, in whole units
	Refusal Refusal                       // of Refused
}

// CardAmount is an amount of a card, in milli-cards.
type CardAmount struct {
	Card  string // of a hold or a charge
	Milli int64
}

// EventKind is what an [Event] is about.
type EventKind uint8

const (
	EventReserved EventKind = iota
	EventResized
	EventCommitted
	EventRolledBack
	EventReleased
	EventExpired
	EventReconciled
	EventRefused
)

var (
	dimNames   = [...]string{dimCPU: "cpu", dimMemory: "memory"}
	plainUnits = [...]string{dimCPU: "milli-cores", dimMemory: "bytes"}
)

func conflict(what, id, detail string) error {
	return fmt.Errorf("%w: %s %q: %s", ErrConflict, what, brief(id), detail)
}

// overflow makes an [ErrOverflow] of the amount that was too much, in its unit.
func overflow(what, id, amount, of string) error {
	return fmt.Errorf("%w: %s %q: %s of %s: want sums below 2^53 milli-cores, bytes or milli-cards", ErrOverflow, what, brief(id), amount, oneLine(brief(of)))
}

// overflowAt is overflow for an amount of a dimension.
func (l *Ledger) overflowAt(what, id string, amount int64, dim int32) error {
	return overflow(what, id, unitOf(int(dim), l.cards[dim] != "").text(amount), l.resource(int(dim)))
}

// refused counts a refused operation and makes its event.
func (l *Ledger) refused(queue, job, task string, a *Answer) []Event {
	if q := l.queues[queue]; q != nil {
		if q.refused == nil {
			q.refused = new([reasons]uint64)
		}
		q.refused[a.Refusal.Reason]++
	} else {
		l.refusedU[a.Refusal.Reason]++
	}
	if l.cfg.OnEvent == nil {
		return nil
	}
	return []Event{{Seq: l.seq, Kind: EventRefused, Queue: queue, Job: job, Task: task, Refusal: a.Refusal}}
}

// taskEvent makes the event of a task's charges.
func (l *Ledger) taskEvent(kind EventKind, seq uint64, t *task) []Event {
	if l.cfg.OnEvent == nil {
		return nil
	}
	e := Event{Seq: seq, Kind: kind, Queue: queueName(t.Job.Queue), Job: t.job, Task: t.id, CPU: t.CPU.Amount, Memory: t.Memory.Amount}
	for i := range t.Charges {
		l.addToEvent(&e, t.Charges[i].Card, t.Charges[i].Amount)
	}
	return []Event{e}
}

// addToEvent adds an amount of a card or an output.
func (l *Ledger) addToEvent(e *Event, dim int32, amount int64) {
	output := l.output(dim)
	switch {
	case output == "":
		e.Cards = append(e.Cards, CardAmount{l.cardName(dim), amount})
	case e.Outputs == nil:
		e.Outputs = map[corev1.ResourceName]int64{output: amount}
	default:
		e.Outputs[output] = amount
	}
}

// jobEvent makes the event of a job's holds.
func (l *Ledger) jobEvent(kind EventKind, seq uint64, j *job) []Event {
	if l.cfg.OnEvent == nil {
		return nil
	}
	e := Event{Seq: seq, Kind: kind, Queue: queueName(j.Queue), Job: j.id, CPU: j.Min[dimCPU], Memory: j.Min[dimMemory]}
	for _, it := range j.Items {
		for at, dim := range it.Alts.Cards {
			if held := it.HeldOn(at); held > 0 {
				l.addToEvent(&e, dim, held)
			}
		}
	}
	return []Event{e}
}

// sorted returns the keys of a map in order.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
