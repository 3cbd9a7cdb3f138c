package testkit

import "slices"

// Choose is the golden model of ArgMax and TopK: the selected rows whose score
// is a number, by descending score (ascending if least is set), rows of equal
// score by ascending place, and then by row. The first of them is the choice.
func Choose[T float64 | int64](scores []T, selected func(row int) bool, least bool, places []uint64) []int {
	var rows []int
	for r, x := range scores {
		if selected(r) && x == x {
			rows = append(rows, r)
		}
	}
	slices.SortStableFunc(rows, func(a, b int) int {
		x, y := scores[a], scores[b]
		if least {
			x, y = y, x
		}
		switch {
		case x > y:
			return -1
		case x < y:
			return 1
		case places[a] < places[b]:
			return -1
		case places[a] > places[b]:
			return 1
		}
		return 0
	})
	return rows
}

// The places that the tie rules give to n rows.

// LowestPlaces prefers the lowest row.
func LowestPlaces(n int) []uint64 {
	places := make([]uint64, n)
	for r := range places {
		places[r] = uint64(r)
	}
	return places
}

// SeededPlaces are the first n outputs of SplitMix64 (Steele, Lea, Flood,
// OOPSLA 2014).
func SeededPlaces(seed uint64, n int) []uint64 {
	places := make([]uint64, n)
	state := seed
	for r := range places {
		state += 0x9E3779B97F4A7C15
		z := state
		z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9
		z = (z ^ (z >> 27)) * 0x94D049BB133111EB
		places[r] = z ^ (z >> 31)
	}
	return places
}

// RankPlaces are the caller's ranks.
func RankPlaces(rank []int32) []uint64 {
	places := make([]uint64, len(rank))
	for r, x := range rank {
		places[r] = uint64(int64(x) + 1<<31)
	}
	return places
}

// RoundRobinPlaces counts from the cursor on, around the end.
func RoundRobinPlaces(cursor, n int) []uint64 {
	places := make([]uint64, n)
	for r := range places {
		places[r] = uint64(((r-cursor)%n + n) % n)
	}
	return places
}
