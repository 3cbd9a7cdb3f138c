package scoring

import (
	"math"

	"github.com/resvec/resvec/vector"
)

// pruned is the working memory of bestPruned.
type pruned struct {
	bounds []float64   // by block
	mask   vector.Mask // of the rows that are scored
	pause  int         // so many questions are answered without bounds
}

const (
	fewBlocks = 6 // scoring so many of them takes no longer than to find their bounds

	// Where nodes are alike, most blocks can have the best score, and bounds are a waste
	// of time. Then so many questions are answered without.
	pruneBreak = 31
)

// bestPruned is the rest of Best for work.fits. It scores only rows of blocks that can
// have the best score. It reports false where all rows are to be scored.
func (b *Bound) bestPruned(pod vector.PodAmounts, tie vector.Tie) (row int, ok bool) {
	w, p := b.work, b.plan.only()
	if p == nil || p.scored { // of scored amounts it is unknown whether the pod fits
		return -1, false
	}
	scorer, ok := p.rows.(blockScorer)
	if !ok || !moreBlocks(w.fits.Words(), fewBlocks) {
		return -1, false
	}
	if w.pruned.pause > 0 {
		w.pruned.pause--
		return -1, false
	}
	if row = b.bestOfTop(scorer, p.amounts(b, pod)); row < 0 {
		w.pruned.pause = pruneBreak
		return -1, false
	}
	if !tie.Same(vector.TieLowest()) {
		row = vector.ArgMax(w.scores, &w.pruned.mask, tie)
	}
	return row, true
}

// bestOfTop returns the first best row, and scores the rows of work.pruned.mask, of
// blocks that can have the best score. It returns -1 when these are most blocks, or may
// not have it after all.
func (b *Bound) bestOfTop(scorer blockScorer, a *amounts) int {
	w := b.work
	words := w.fits.Words()
	w.pruned.bounds = resized(w.pruned.bounds, len(words))
	slack, ok := scorer.blockBounds(w.pruned.bounds, a, words)
	if !ok {
		return -1
	}
	top, most := w.pruned.keepTop(&w.fits, slack)
	if most {
		return -1
	}
	w.scores = resized(w.scores, b.len())
	scorer.scoreRows(w.scores, a, w.pruned.mask.Words())
	row := vector.ArgMax(w.scores, &w.pruned.mask, vector.TieLowest())
	if row < 0 || !(w.scores[row] >= top-slack) {
		return -1 // it is far below its bound: the best may be in another block
	}
	return row
}

// keepTop sets the mask to the rows of fits whose block has a bound of less than twice
// slack below top, the greatest, and reports whether these are most blocks.
func (p *pruned) keepTop(fits *vector.Mask, slack float64) (top float64, most bool) {
	top = math.Inf(-1)
	for _, x := range p.bounds {
		if x > top {
			top = x
		}
	}
	p.mask.CopyFrom(fits)
	words, limit, all, kept := p.mask.Words()[:len(p.bounds)], top-2*slack, 0, 0
	for i, x := range p.bounds {
		switch {
		case x >= limit:
			kept++
			all++
		case words[i] != 0:
			words[i] = 0
			all++
		}
	}
	return top, 2*kept > all
}

// moreBlocks reports whether more than n words are not 0.
func moreBlocks(words []uint64, n int) bool {
	for _, word := range words {
		if word != 0 {
			if n--; n < 0 {
				return true
			}
		}
	}
	return false
}
