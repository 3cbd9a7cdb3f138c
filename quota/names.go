package quota

import (
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/resvec/resvec/internal/document"
)

// nameOf returns the name of a value, or the other one where it has none.
func nameOf[V ~uint8](names []string, value V, otherwise string) string {
	if int(value) < len(names) {
		return names[value]
	}
	return otherwise
}

// sorted returns the keys of a map in order.
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
