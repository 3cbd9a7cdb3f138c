package gang

import "github.com/resvec/resvec/vector"

// Rejections says why no row holds a pod, set by set: dst[k*cols+j] is how many of the
// selected rows in set k of domains reject request in column j, as [vector.Rejections] counts
// them, and cols is the width of free. It sets dst, grown when its capacity is short, and
// returns it. Nil domains are one set of every row.
//
// It costs an element for each row of a set and column requested, and makes no text:
// ExplainRejections of package vectormap writes the counts of a set, dst[k*cols:][:cols], as
// one line. Rejections panics when request is longer than free is wide, the mask has another
// length than free has rows, or domains are not sets of its rows.
func Rejections(dst []int, free *vector.Matrix, request vector.ResourceVector, rows *vector.Mask, domains *Domains) []int {
	if domains == nil {
		return vector.Rejections(dst, free, request, rows)
	}
	checkVector(free, request)
	var sets rowSets
	sets.take(domains, selection(rows, free.Rows()), free.Rows())
	cols := free.Cols()
	dst = resized(dst, sets.n*cols)
	clear(dst)
	for j, x := range request {
		if x <= 0 {
			continue
		}
		column := free.Column(j)
		for k := range sets.n {
			rejecting := 0
			for _, r := range sets.rowsOf(k) {
				if !(x <= column[r]) && sets.eligible(int(r)) { // also where one of them is a NaN
					rejecting++
				}
			}
			dst[k*cols+j] = rejecting
		}
	}
	return dst
}
