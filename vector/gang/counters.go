package gang

import (
	"iter"
	"sync/atomic"
)

// counts are of one kind of question.
type counts struct{ asked, won atomic.Uint64 }

// note counts a question, and whether it was answered with what was asked for.
func (c *counts) note(won bool) {
	c.asked.Add(1)
	if won {
		c.won.Add(1)
	}
}

// Counters yields how often p was asked, and with what result, by names in the form of
// Prometheus:
//
//   - proofs_asked, proofs_won: of Infeasible, and how often it was;
//   - placements_asked, placements_found: of Place and PlaceTopology;
//   - filters_asked, filters_found: of Filter and FilterTopology, and how often
//     some prefix of the victims was enough.
//
// Later versions may yield more. It may be called while p is in use, by any goroutine.
func (p *Packer) Counters() iter.Seq2[string, uint64] {
	return func(yield func(string, uint64) bool) {
		_ = yield("proofs_asked", p.proofs.asked.Load()) &&
			yield("proofs_won", p.proofs.won.Load()) &&
			yield("placements_asked", p.placements.asked.Load()) &&
			yield("placements_found", p.placements.won.Load()) &&
			yield("filters_asked", p.filters.asked.Load()) &&
			yield("filters_found", p.filters.won.Load())
	}
}

// Counters yields proofs_asked and proofs_won as [Packer.Counters] does: how often
// [Proof.Infeasible] was asked, and how often it was, since p was made.
func (p *Proof) Counters() iter.Seq2[string, uint64] {
	return func(yield func(string, uint64) bool) {
		_ = yield("proofs_asked", p.proofs.asked.Load()) && yield("proofs_won", p.proofs.won.Load())
	}
}
