package quota

import (
	"maps"
	"slices"
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
