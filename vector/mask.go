package vector

import (
	"iter"
	"math"
	"math/bits"

	"github.com/resvec/resvec/internal/kernel"
)

// Mask is a set of rows, one bit each. The zero value is empty, of length 0. Copying the
// value shares the bits; use [Mask.CopyFrom].
type Mask struct {
	words []uint64 // bits beyond rows are 0
	rows  int
}

const (
	panicMaskRow    = "vector: mask row out of range"
	panicMaskLength = "vector: mask lengths differ"
	panicNegative   = "vector: negative size"
	panicMaskLarge  = "vector: mask is too large"
)

// NewMask returns an empty mask over rows rows.
func NewMask(rows int) *Mask {
	m := new(Mask)
	m.Reset(rows)
	return m
}

// wordsFor returns the number of mask words for rows rows.
func wordsFor(rows int) int { return int((uint(rows) + kernel.Block - 1) / kernel.Block) }

// Reset makes m an empty mask over rows rows, reusing its storage.
func (m *Mask) Reset(rows int) {
	m.resize(rows)
	clear(m.words)
}

// resize sets the length and leaves the bits undefined.
func (m *Mask) resize(rows int) {
	switch {
	case rows < 0:
		panic(panicNegative)
	case rows > math.MaxInt32: // which no index of a row can be
		panic(panicMaskLarge)
	}
	// Reused words hold anything: callers fill or clear them.
	m.words = resized(m.words, wordsFor(rows))
	m.rows = rows
}

// fill makes m the full mask over rows rows and returns its words.
func (m *Mask) fill(rows int) []uint64 {
	m.resize(rows)
	setAll(m.words)
	m.trim()
	return m.words
}

// setAll sets every bit of words.
func setAll(words []uint64) {
	for i := range words {
		words[i] = ^uint64(0)
	}
}

// trim clears the bits of the last word beyond the rows.
func (m *Mask) trim() {
	// Counting, iterating and comparing read whole words and rely on it.
	if r := m.rows % kernel.Block; r != 0 {
		m.words[len(m.words)-1] &= 1<<r - 1
	}
}

// Len returns the number of rows that m ranges over, in the set or not.
func (m *Mask) Len() int {
	return m.rows
}

// Words returns the bits as a view: row r is bit r%64 of word r/64. Bits beyond the last
// row must stay 0.
func (m *Mask) Words() []uint64 {
	return m.words
}

// Set adds row r.
func (m *Mask) Set(r int) {
	// The words alone would take rows up to the next multiple of 64.
	if uint(r) >= uint(m.rows) {
		panic(panicMaskRow)
	}
	m.words[r/kernel.Block] |= 1 << (r % kernel.Block)
}

// Clear removes row r.
func (m *Mask) Clear(r int) {
	if uint(r) >= uint(m.rows) {
		panic(panicMaskRow)
	}
	m.words[r/kernel.Block] &^= 1 << (r % kernel.Block)
}

// Test reports whether row r is in the set.
func (m *Mask) Test(r int) bool {
	if uint(r) >= uint(m.rows) {
		panic(panicMaskRow)
	}
	return m.words[r/kernel.Block]>>(r%kernel.Block)&1 != 0
}

// SetAll adds every row.
func (m *Mask) SetAll() { m.fill(m.Len()) }

// Count returns how many rows are in the set.
func (m *Mask) Count() int {
	n := 0
	for _, w := range m.Words() {
		n += bits.OnesCount64(w)
	}
	return n
}

// Any reports whether a row is in the set.
func (m *Mask) Any() bool {
	for _, w := range m.Words() {
		if w != 0 {
			return true
		}
	}
	return false
}

// First returns the lowest row in the set, or -1.
func (m *Mask) First() int {
	for i, w := range m.Words() {
		if w != 0 {
			return i*kernel.Block + bits.TrailingZeros64(w)
		}
	}
	return -1
}

// Nth returns the row of the set that has n rows of it below, or -1.
func (m *Mask) Nth(n int) int {
	if n < 0 {
		return -1
	}
	// Whole words are counted; only the one with the row is looked into.
	for i, w := range m.words {
		if c := bits.OnesCount64(w); n >= c {
			n -= c
			continue
		}
		for range n {
			w &= w - 1
		}
		return i*kernel.Block + bits.TrailingZeros64(w)
	}
	return -1
}

// All iterates over the rows in the set, ascending.
func (m *Mask) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, w := range m.words {
			for ; w != 0; w &= w - 1 {
				if !yield(i*kernel.Block + bits.TrailingZeros64(w)) {
					return
				}
			}
		}
	}
}

// And sets m to the rows in both a and b. m may be either of them.
func (m *Mask) And(a, b *Mask) {
	m.prepare(a, b)
	for i, w := range a.words {
		m.words[i] = w & b.words[i]
	}
}

// Or sets m to the rows in a, in b or in both. m may be either of them.
func (m *Mask) Or(a, b *Mask) {
	m.prepare(a, b)
	for i, w := range a.words {
		m.words[i] = w | b.words[i]
	}
}

// AndNot sets m to the rows in a and not in b. m may be either of them.
func (m *Mask) AndNot(a, b *Mask) {
	m.prepare(a, b)
	for i, w := range a.words {
		m.words[i] = w &^ b.words[i]
	}
}

// prepare resizes m for a result of a and b.
func (m *Mask) prepare(a, b *Mask) {
	if a.rows != b.rows {
		panic(panicMaskLength)
	}
	m.resize(a.rows)
}

// CopyFrom makes m a copy of src, reusing m's storage.
func (m *Mask) CopyFrom(src *Mask) {
	m.resize(src.Len())
	copy(m.words, src.words)
}

// Equal reports whether m and other have the same length and the same rows.
func (m *Mask) Equal(other *Mask) bool {
	if m.Len() != other.Len() {
		return false
	}
	for i, w := range m.words {
		if w != other.words[i] {
			return false
		}
	}
	return true
}

// selection returns the words of a row mask over rows rows; nil, which selects
// every row, stays nil.
func selection(m *Mask, rows int) []uint64 {
	if m == nil {
		return nil
	}
	if m.rows != rows {
		panic(panicMaskLength)
	}
	return m.words
}
