package vectormap

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

var (
	// ErrUnknownResource says that a map does not have a name; see
	// [*UnknownResourcesError].
	ErrUnknownResource = errors.New("unknown resource")

	// ErrAmbiguousGPU says that an amount of GPUs has no canonical count and
	// portion; see [ResourceRequirements.FromVector].
	ErrAmbiguousGPU = errors.New("no canonical count and portion")
)

// UnknownResourcesError reports the names that a map does not have. It wraps
// [ErrUnknownResource].
type UnknownResourcesError struct {
	Names []string           // sorted, each once
	Map   *ResourceVectorMap // the map, which has the names that would be right; nil: not said
}

// Error names all of them, and what the map has.
func (e *UnknownResourcesError) Error() string {
	names := make([]string, len(e.Names))
	for i, name := range e.Names {
		names[i] = strconv.Quote(name)
	}
	return "vectormap: unknown resource " + strings.Join(names, ", ") + e.known()
}

// known says which names the map has, of many the first.
func (e *UnknownResourcesError) known() string {
	const most = 10
	if e.Map == nil {
		return ""
	}
	var names []string
	for i, name := range e.Map.All() {
		if i == most {
			names = append(names, fmt.Sprintf("%d more", e.Map.Len()-most))
			break
		}
		names = append(names, name)
	}
	return ": the map has " + strings.Join(names, ", ")
}

// Unwrap returns [ErrUnknownResource].
func (e *UnknownResourcesError) Unwrap() error { return ErrUnknownResource }

// NameError reports a name or an option that a map cannot be built with. With the
// option [Lenient], malformed names are such notes of the map instead.
type NameError struct {
	Name    string
	Reason  string   // what is wrong with it
	Objects []string // that have the name, sorted, such as "Pod default/a" and "Node b"
}

// Error names the name, the objects and what is wrong.
func (e *NameError) Error() string { return "vectormap: " + e.String() }

// String is Error without the package.
func (e *NameError) String() string {
	const shown = 3
	of := e.Objects
	text := fmt.Sprintf("name %q", e.Name)
	if len(of) > 0 {
		text += " of " + strings.Join(of[:min(shown, len(of))], ", ")
	}
	if len(of) > shown {
		text += fmt.Sprintf(" and %d more", len(of)-shown)
	}
	return text + " " + e.Reason
}

func (e *NameError) note() {}

// OriginalsError reports an index with several original names: when the map is built, in
// a list of amounts that has several of them, or when an amount is converted back and the
// caller chose none of them.
type OriginalsError struct {
	Name      string   // the index's own name
	Originals []string // sorted
	Objects   []string // nil, or for each original an object that has it, or ""
	noChoice  bool     // an amount is converted back; else the names would share the index
}

// Error names all originals and the way out.
func (e *OriginalsError) Error() string {
	originals := slices.Clone(e.Originals)
	for i, object := range e.Objects {
		if object != "" {
			originals[i] += " (" + object + ")"
		}
	}
	text := strings.Join(originals, " and ")
	if e.noChoice {
		return fmt.Sprintf("vectormap: %s stands for %s: name the one to use", e.Name, text)
	}
	return fmt.Sprintf("vectormap: %s would stand for %s: use NoFold or FoldVendors", e.Name, text)
}
