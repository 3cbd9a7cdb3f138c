package quota

import "math"

// NodeScore says how much a task prefers a node: the mean over its items with several cards
// of 100 * 0.5^i, where card i, from 0, is the first that the node has and that has room.
// Volcano's doesn't look for room.
func (l *Ledger) NodeScore(task *TaskRequest, node string) float64 {
	l.serves(task.owner)
	l.mu.RLock()
	defer l.mu.RUnlock()
	s := l.scratch()
	defer l.spare.Put(s)
	l.mayCharge(s, task, l.source.on(node).cards)
	sum, n := 0.0, 0
	for i := range s.picks {
		// Who names one card has no preference.
		if !task.listed(i) {
			continue
		}
		n++
		// An item without room adds 0, and still counts in the mean: a node with room for
		// all comes first.
		if card := s.picks[i].Card; card >= 0 {
			sum += math.Ldexp(100, -task.rank(i, task.use.Items[i].Alts.Index(card)))
		}
	}
	// No item has a choice, so no node is preferred.
	if n == 0 {
		return 0
	}
	return sum / float64(n)
}

// listed reports whether several cards were listed for an item, unknown ones included. One
// that lists a known and an unknown card has a preference, though one card is left.
func (t *TaskRequest) listed(item int) bool {
	return t.source(item).ranks != "" || t.use.Items[item].Alts.Multi()
}

// rank returns the place of an alternative of an item in what was listed.
func (t *TaskRequest) rank(item, at int) int {
	// Unknown cards keep their places: the score of a card must not rise because another
	// one is gone.
	if ranks := t.source(item).ranks; ranks != "" {
		return int(ranks[at])
	}
	return at
}

// source returns where an item comes from.
func (t *TaskRequest) source(item int) source {
	if item < len(t.sources) {
		return t.sources[item]
	}
	return source{}
}
