package quota

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/resvec/resvec/internal/document"
)

// sorted returns the keys of a map in order. A map has no order, and what a ledger says or
// does must not hang on one.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// badName says what is wrong with a name that the ledger would keep, if anything.
// One that isn't UTF-8 would come back from a snapshot as another one.
func badName(name string) error {
	if name == "" || !utf8.ValidString(name) {
		return ErrBadName
	}
	return nil
}

// brief cuts text for a message. Every legal name stays whole.
func brief(text string) string { return document.Cut(text) }

// meant asks which of some names may be meant by one that isn't among them; empty: none is
// similar. The most similar three come first.
func meant(name string, names []string) string {
	type similar struct {
		name string
		off  int
	}
	var found []similar
	for _, other := range names {
		if off, is := typos(name, other); is {
			found = append(found, similar{other, off})
		}
	}
	slices.SortFunc(found, func(a, b similar) int { return cmp.Or(cmp.Compare(a.off, b.off), cmp.Compare(a.name, b.name)) })
	var quoted []string
	for _, s := range found[:min(len(found), 3)] {
		quoted = append(quoted, fmt.Sprintf("%q", brief(s.name)))
	}
	if len(quoted) == 0 {
		return ""
	}
	return "is " + strings.Join(quoted, " or ") + " meant?"
}

// typos counts the typing errors that make a name of another one, and reports whether they are so
// few that the other may be meant: one for three letters of it, and three at most. Upper and lower
// case don't count.
func typos(name, other string) (n int, is bool) {
	most := min(len(other)/3, 3)
	n = distance(strings.ToLower(name), strings.ToLower(other), most)
	return n, n <= most
}

// isSimilar reports whether other may be meant by name.
func isSimilar(name, other string) bool {
	_, is := typos(name, other)
	return is
}

// distance returns how many typing errors make b of a: a letter too many, one too few, another one, or
// two that changed places (the optimal string alignment). More than most is most + 1.
//
// Only so much of the table is filled in as can be at most that: names are of users, and may be
// as long as they like.
func distance(a, b string, most int) int {
	if max(len(a)-len(b), len(b)-len(a)) > most {
		return most + 1
	}
	// Row i has what makes the first j letters of b of the first i of a. Most names are short.
	var space [3 * 64]int
	table, n := space[:], len(b)+2
	if 3*n > len(table) {
		table = make([]int, 3*n)
	}
	before, last, row := table[:n], table[n:2*n], table[2*n:3*n]
	for j := range row {
		row[j] = min(j, most+1)
	}
	leastBefore, least := 0, 0
	for i := 1; i <= len(a); i++ {
		before, last, row = last, row, before
		from, to := max(1, i-most), min(len(b), i+most)
		row[from-1] = min(i, most+1)
		leastBefore, least = least, row[from-1]
		for j := from; j <= to; j++ {
			replaced := last[j-1]
			if a[i-1] != b[j-1] {
				replaced++
			}
			row[j] = min(replaced, last[j]+1, row[j-1]+1, most+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			least = min(least, row[j])
		}
		row[to+1] = most + 1
		if min(leastBefore, least) > most { // a row goes on from the two before it
			return most + 1
		}
	}
	return row[len(b)]
}
