package quota

import (
	"maps"
	"slices"
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
