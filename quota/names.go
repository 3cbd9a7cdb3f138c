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

// String returns the name of the constant without State: Volcano's name of the state.
func (s State) String() string {
	return nameOf([]string{StateOpen: "Open", StateClosing: "Closing", StateClosed: "Closed", StateUnknown: "Unknown"}, s, "unknown")
}

// String returns the name of the constant without Unnamed.
func (u UnnamedPolicy) String() string {
	return nameOf([]string{UnnamedAsAny: "AsAny", UnnamedRefuse: "Refuse", UnnamedIgnore: "Ignore"}, u, "unknown")
}

// sorted returns the keys of a map in order.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
