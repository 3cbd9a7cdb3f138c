package gang

import (
	"math/bits"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/vector"
)

// checkSame panics unless a and b have the same width and compatible schemas.
func checkSame(a, b *vector.Matrix) {
	if a.Cols() != b.Cols() {
		panic("gang: matrices have different widths")
	}
	if a.Schema() != b.Schema() && a.Schema() != (vector.Schema{}) && b.Schema() != (vector.Schema{}) {
		panic("gang: matrices have different schemas")
	}
}

// checkVector panics when v is longer than m is wide.
func checkVector(m *vector.Matrix, v vector.ResourceVector) {
	if len(v) > m.Cols() {
		panic("gang: vector is longer than the matrix is wide")
	}
}

// selection returns the words of a row mask over rows rows; nil, which selects
// every row, stays nil.
func selection(m *vector.Mask, rows int) []uint64 {
	if m == nil {
		return nil
	}
	if m.Len() != rows {
		panic("gang: mask lengths differ")
	}
	return m.Words()
}

// isSelected reports whether row r is in a selection.
func isSelected(selected []uint64, r int) bool {
	return selected == nil || selected[r/kernel.Block]>>(r%kernel.Block)&1 != 0
}

// wordsFor returns the number of mask words for rows rows.
func wordsFor(rows int) int { return int((uint(rows) + kernel.Block - 1) / kernel.Block) }

// eachRow calls f for the selected rows in order until it returns false.
func eachRow(selected []uint64, rows int, f func(r int) bool) {
	for w := range wordsFor(rows) {
		word := ^uint64(0)
		if selected != nil {
			word = selected[w]
		}
		for ; word != 0; word &= word - 1 {
			r := w*kernel.Block + bits.TrailingZeros64(word)
			if r >= rows || !f(r) {
				return
			}
		}
	}
}

// at returns the element in row i, column j, which are in range. Compiled in line, it
// spares the hot loops the checks of [vector.Matrix.At].
func at(m *vector.Matrix, i, j int) float64 { return m.Elements()[j*m.Stride()+i] }

// resized returns s with length n, its elements undefined: callers overwrite them all, and
// clearing first would cost a second pass.
func resized[S ~[]T, T any](s S, n int) S {
	if cap(s) < n {
		return make(S, n)
	}
	return s[:n]
}

// grown returns s with length n. What its elements hold beyond their old length is
// kept too: it is memory to reuse.
func grown[T any](s []T, n int) []T {
	s = s[:cap(s)]
	if len(s) < n {
		s = append(s, make([]T, n-len(s))...)
	}
	return s[:n]
}
