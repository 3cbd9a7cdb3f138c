package quota

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// resolveRunning works out what a task is charged that runs already, with the card of each
// item, -1 where that isn't known, and the cards of its node. What the node has counts more
// than what the task says: a card that it didn't ask for is a codeCardMismatch.
//
// A pod that can't be resolved runs all the same. What can be known of it is charged: what
// it requests of cpu and memory, and the cards of its node that its resources carry.
func (l *Ledger) resolveRunning(task *Task) (*sightTask, []entryError, error) {
	r := l.resolver(task.Queue)
	t := &TaskRequest{id: task.ID, job: task.Job, queue: task.Queue, node: task.node()}
	if err := r.task(t, task); err != nil {
		return nil, nil, err
	}
	unnamed := t.invalid != "" && task.Pod != nil && task.Cards == nil
	if unnamed {
		// As if the pod said nothing of its cards: it has some all the same.
		var p podParts
		p, t.invalid = r.pod(task.Pod)
		p.names = ""
		r.finish(t, task, p, r.carried(t, p, ""))
	}
	cards := make([]int32, len(t.use.Items))
	on := r.found.on(task.node()).cards
	for i := range t.use.Items {
		alts, resource := t.use.Items[i].Alts, t.sources[i].resource
		cards[i] = -1
		if at := slices.IndexFunc(alts.Cards, on.Has); at >= 0 {
			cards[i] = alts.Cards[at]
		}
		// It asked for other cards, and yet got one of this resource: what it uses is
		// counted.
		if cards[i] < 0 && resource != "" {
			cards[i] = r.carriedOn(task.node(), resource, cards[:i])
		}
		if cards[i] >= 0 && (unnamed || alts.Index(cards[i]) < 0) {
			asked := "cards that can't be had"
			if !unnamed {
				asked = brief(keyOf(alts))
			}
			r.note(entryError{Name: r.cards[cards[i]], Code: codeCardMismatch, Value: asked})
		}
	}
	// Not before: the items up to here are those on cards.
	r.addOutputs(t)
	for _, it := range t.use.Items[len(cards):] {
		cards = append(cards, it.Alts.Cards[0])
	}
	return &sightTask{req: t, on: on, cards: cards}, r.notes, nil
}

// carriedOn returns the first card of a node that a resource carries and that isn't taken,
// -1 if there is none. Taken are those of the task's items before, which share no card.
func (r *resolver) carriedOn(node string, resource corev1.ResourceName, taken []int32) int32 {
	if r.found.catalog == nil {
		return -1
	}
	for _, card := range r.found.catalog.CardsOf(node) {
		dim, ok := r.dims[card.Name]
		if ok && card.Resource == resource && !slices.Contains(taken, dim) {
			return dim
		}
	}
	return -1
}
