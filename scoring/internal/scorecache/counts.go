package scorecache

import (
	"iter"
	"sync/atomic"
)

// Counts is what a bound scorer has done since it was made. It only grows, and may be
// read while the scorer works.
type Counts struct {
	Questions atomic.Uint64 // for the best row, the best k, or the scores of rows
	Kept      atomic.Uint64 // answered with scores that were known
	Made      atomic.Uint64 // whose request was new, or forgotten: all rows were scored to keep them
	Rows      atomic.Uint64 // scored to be kept, the rows of Made included
	Forgotten atomic.Uint64 // requests, for want of room
}

// All yields the names of the counts, as users know them, and their values.
func (c *Counts) All() iter.Seq2[string, uint64] {
	return func(yield func(string, uint64) bool) {
		_ = yield("questions", c.Questions.Load()) &&
			yield("kept_scores_used", c.Kept.Load()) &&
			yield("kept_scores_made", c.Made.Load()) &&
			yield("kept_scores_rows", c.Rows.Load()) &&
			yield("kept_scores_forgotten", c.Forgotten.Load())
	}
}
