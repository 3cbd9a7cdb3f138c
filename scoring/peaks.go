package scoring

import (
	"math"

	"github.com/resvec/resvec/vector"
)

// A peakScorer knows, sooner than the scores, which blocks of rows can have the best.
type peakScorer interface {
	rowScorer

	// peaks sets dst, of an element per block, to the greatest score of the selected
	// rows, nearly: if each of them can hold the request, no score is above its block's
	// peak by more than slack. It may report false, and dst is of no use then.
	peaks(dst []float64, a *amounts, words []uint64) (slack float64, ok bool)
}

// peaks is the working memory of bestOfPeaks.
type peaks struct {
	blocks  []float64
	mask    vector.Mask // of the rows that are scored
	without int         // so many questions are answered without peaks
}

const (
	fewBlocks = 6 // scoring so many of them takes no longer than to find their peaks

	// Where nodes are alike, most blocks can have the best score, and peaks are a waste
	// of time. Then so many questions are answered without.
	peakPause = 31
)

// bestOfPeaks is the rest of Best for work.fits. It scores only rows of blocks that can
// have the best score. It reports false where all rows are to be scored.
func (b *Bound) bestOfPeaks(pod vector.PodAmounts, tie vector.Tie) (row int, ok bool) {
	w, p := b.work, b.plan.only()
	if p == nil || p.scored { // of scored amounts it is unknown whether the pod fits
		return -1, false
	}
	scorer, ok := p.rows.(peakScorer)
	if !ok || selectedBlocks(w.fits.Words()) <= fewBlocks {
		return -1, false
	}
	if w.peaks.without > 0 {
		w.peaks.without--
		return -1, false
	}
	if !b.topBlocks(scorer, p.amounts(b, pod)) {
		w.peaks.without = peakPause
		return -1, false
	}
	return vector.ArgMax(w.scores, &w.peaks.mask, tie), true
}

// topBlocks scores the rows of work.peaks.mask: those of the blocks that can have the
// best score. It reports false when these are most blocks, or may not have it after all.
func (b *Bound) topBlocks(scorer peakScorer, a *amounts) bool {
	w := b.work
	words := w.fits.Words()
	w.peaks.blocks = resized(w.peaks.blocks, len(words))
	slack, ok := scorer.peaks(w.peaks.blocks, a, words)
	if !ok {
		return false
	}
	top := w.peaks.keepTop(&w.fits, slack)
	if 2*selectedBlocks(w.peaks.mask.Words()) > selectedBlocks(words) {
		return false
	}
	w.scores = resized(w.scores, b.len())
	scorer.scoreRows(w.scores, a, w.peaks.mask.Words())
	// Rows of the other blocks score less than top - slack. The best of these does not,
	// unless it is far below its peak.
	best := vector.ArgMax(w.scores, &w.peaks.mask, vector.TieLowest())
	return best >= 0 && w.scores[best] >= top-slack
}

// keepTop sets the mask to the rows of fits whose block has a peak of less than twice
// slack below the greatest, which it returns.
func (p *peaks) keepTop(fits *vector.Mask, slack float64) (top float64) {
	top = math.Inf(-1)
	for _, x := range p.blocks {
		if x > top {
			top = x
		}
	}
	p.mask.CopyFrom(fits)
	words := p.mask.Words()
	for i, x := range p.blocks {
		if x < top-2*slack {
			words[i] = 0
		}
	}
	return top
}

// selectedBlocks returns the number of words that are not 0.
func selectedBlocks(words []uint64) (n int) {
	for _, word := range words {
		if word != 0 {
			n++
		}
	}
	return n
}
