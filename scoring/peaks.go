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
	if !ok || !moreBlocks(w.fits.Words(), fewBlocks) {
		return -1, false
	}
	if w.peaks.without > 0 {
		w.peaks.without--
		return -1, false
	}
	if row = b.bestOfTop(scorer, p.amounts(b, pod)); row < 0 {
		w.peaks.without = peakPause
		return -1, false
	}
	if !tie.Same(vector.TieLowest()) {
		row = vector.ArgMax(w.scores, &w.peaks.mask, tie)
	}
	return row, true
}

// bestOfTop returns the first best row, and scores the rows of work.peaks.mask: those of
// blocks that can have the best score. It returns -1 when these are most blocks, or may
// not have it after all.
func (b *Bound) bestOfTop(scorer peakScorer, a *amounts) int {
	w := b.work
	words := w.fits.Words()
	w.peaks.blocks = resized(w.peaks.blocks, len(words))
	slack, ok := scorer.peaks(w.peaks.blocks, a, words)
	if !ok {
		return -1
	}
	top, most := w.peaks.keepTop(&w.fits, slack)
	if most {
		return -1
	}
	w.scores = resized(w.scores, b.len())
	scorer.scoreRows(w.scores, a, w.peaks.mask.Words())
	row := vector.ArgMax(w.scores, &w.peaks.mask, vector.TieLowest())
	if row < 0 || !(w.scores[row] >= top-slack) {
		return -1 // it is far below its peak: the best may be in another block
	}
	return row
}

// keepTop sets the mask to the rows of fits whose block has a peak of less than twice
// slack below top, the greatest, and reports whether these are most blocks.
func (p *peaks) keepTop(fits *vector.Mask, slack float64) (top float64, most bool) {
	top = math.Inf(-1)
	for _, x := range p.blocks {
		if x > top {
			top = x
		}
	}
	p.mask.CopyFrom(fits)
	words, limit, all, kept := p.mask.Words()[:len(p.blocks)], top-2*slack, 0, 0
	for i, x := range p.blocks {
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
