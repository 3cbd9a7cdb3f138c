//go:build amd64 && !purego && race

package kernel

// raceSelected informs the race detector that the selected elements of s, all of
// them for nil rows, are written. Others may write the other ones.
func raceSelected[T any](s []T, rows []uint64) { raceMasked(s, rows, raceWrite[T]) }

// raceReadSelected informs the race detector that the selected elements of s, all
// of them for nil rows, are read.
func raceReadSelected[T any](s []T, rows []uint64) { raceMasked(s, rows, raceRead[T]) }

// raceMasked calls access for the selected elements of s.
func raceMasked[T any](s []T, rows []uint64, access func([]T)) {
	if rows == nil {
		access(s)
		return
	}
	for i := range s {
		if selected(rows, i) {
			access(s[i : i+1])
		}
	}
}

// raceReadGroups informs the race detector that the rows of the selected groups, of
// all for nil words, are read: group k is the rows offsets[k] to offsets[k+1]-1.
func raceReadGroups[T any](s []T, offsets []int32, groups []uint64) {
	for k, lo := range offsets[:len(offsets)-1] {
		if selected(groups, k) {
			raceRead(s[lo:offsets[k+1]])
		}
	}
}

// selected reports whether words, nil for all, select element i.
func selected(words []uint64, i int) bool {
	return words == nil || words[i/Block]>>(i%Block)&1 != 0
}
