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
		alts, ranks := task.use.Items[i].Alts, ""
		if i < len(task.sources) { // else it is an output
			ranks = task.sources[i].ranks
		}
		// Who names one card has no preference. Who lists a known and an unknown card has one,
		// though one card is left.
		if ranks == "" && !alts.Multi() {
			continue
		}
		n++
		// An item without room adds 0, and still counts in the mean: a node with room for
		// all comes first.
		if card := s.picks[i].Card; card >= 0 {
			at := alts.Index(card)
			// Unknown cards keep their places: the score of a card must not rise because another
			// one is gone.
			if ranks != "" {
				at = int(ranks[at])
			}
			sum += math.Ldexp(100, -at)
		}
	}
	// No item has a choice, so no node is preferred.
	if n == 0 {
		return 0
	}
	return sum / float64(n)
}
