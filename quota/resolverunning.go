package quota

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// resolveRunning works out what a task is charged that runs already, with the card
// of each item, -1 where it can't be told, and the cards of its node. What the node has counts more than what
// the task says: a card that it didn't ask for is a [CodeCardMismatch].
func (l *Ledger) resolveRunning(task *Task) (*sightTask, []EntryError, error) {
	r := l.resolver()
	t := &TaskRequest{id: task.ID, job: task.Job, queue: task.Queue}
	if err := r.task(t, task); err != nil {
		return nil, nil, err
	}
	unnamed := t.invalid != "" && task.Pod != nil && task.Cards == nil
	if unnamed {
		// As if the pod said nothing of its cards: it has some all the same.
		var p podParts
		p, t.invalid = r.pod(task.Pod)
		r.finish(t, task, p, r.carried(t, p, "", UnnamedAsAny))
	}
	cards := make([]int32, len(t.items))
	on := r.found.on(task.node(), r.dims)
	for i := range t.items {
		ti := &t.items[i]
		cards[i] = -1
		if at := slices.IndexFunc(ti.alts.cards, on.has); at >= 0 {
			cards[i] = ti.alts.cards[at]
		}
		if cards[i] < 0 && ti.resource != "" {
			cards[i] = r.carriedOn(task.node(), ti.resource, cards[:i])
		}
		if cards[i] >= 0 && (unnamed || ti.alts.index(cards[i]) < 0) {
			r.note(EntryError{Name: r.cards[cards[i]], Code: CodeCardMismatch, Value: asked(ti, unnamed)})
		}
	}
	return &sightTask{req: t, on: on, cards: cards}, r.notes, nil
}

// asked is what a task asks for that runs on another card.
func asked(ti *taskItem, unnamed bool) string {
	if unnamed {
		return "cards that can't be had"
	}
	return brief(ti.alts.key)
}

// carriedOn returns the first card of a node that a resource carries and that
// isn't taken, -1 if there is none.
func (r *resolver) carriedOn(node string, resource corev1.ResourceName, taken []int32) int32 {
	if r.found.catalogue == nil {
		return -1
	}
	for _, card := range r.found.catalogue.CardsOf(node) {
		dim, ok := r.dims[card.Name]
		if ok && card.Resource == resource && !slices.Contains(taken, dim) {
			return dim
		}
	}
	return -1
}
