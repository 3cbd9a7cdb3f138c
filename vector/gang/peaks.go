package gang

import (
	"math"

	"github.com/resvec/resvec/internal/kernel"
)

// peaks is the greatest of many values, kept while single values change: the
// greatest of every block of 64 selected values, of every 64 blocks, and so on. A change
// costs a block a level, also when the greatest of all gets smaller, where a single maximum
// would have to look at all values again. NaN is ignored.
type peaks struct{ greatest []float64 }

// take builds p over values.
func (p *peaks) take(values []float64, selected []uint64) {
	p.greatest = p.greatest[:0]
	for n := len(values); n > 0; {
		from := len(p.greatest)
		n = wordsFor(n)
		for b := range n {
			p.greatest = append(p.greatest, greatestOf(values, selected, b))
		}
		if n == 1 {
			return
		}
		values, selected = p.greatest[from:], nil
	}
}

// changed brings p up to date with a new values[i].
func (p *peaks) changed(values []float64, selected []uint64, i int) {
	level := p.greatest
	for n := len(values); ; {
		i /= kernel.Block
		n = wordsFor(n)
		level[i] = greatestOf(values, selected, i)
		if n == 1 {
			return
		}
		values, selected, level = level[:n], nil, level[n:]
	}
}

// greatestOf returns the greatest selected value of block b.
func greatestOf(values []float64, selected []uint64, b int) float64 {
	lo := b * kernel.Block
	if selected != nil {
		selected = selected[b : b+1]
	}
	return kernel.Max(values[lo:min(lo+kernel.Block, len(values))], selected)
}

// top returns the greatest value of all, -Inf when there is none.
func (p *peaks) top() float64 {
	if len(p.greatest) == 0 {
		return math.Inf(-1)
	}
	return p.greatest[len(p.greatest)-1]
}
