package scoring

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/resvec/resvec/vectormap"
)

// fitResolver finds the rule of each dimension.
type fitResolver struct {
	m        *vectormap.ResourceVectorMap
	o        Option
	r        *report
	rules    map[string]FitRule
	patterns *patterns
	longest  map[string]string  // by name: the longest prefix of a pattern
	folded   map[int][]string   // by index: keys that are normalized to it, and none of its names
	reported map[[2]string]bool // pairs of keys that meet on several indices
}

// findNames looks every name of the map up among the patterns, and every key
// among the names.
func (f *fitResolver) findNames() {
	var names, keys []string
	for i, own := range f.m.All() {
		names = append(append(names, own), f.m.Originals(i)...)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	for _, key := range slices.Sorted(maps.Keys(f.rules)) {
		path := keyPath(pathResources, key)
		if !isPattern(key) {
			if i, known := f.r.lookup(f.m, f.o, path, key); known && key != f.m.Name(i) && !slices.Contains(f.m.Originals(i), key) {
				f.folded[i] = append(f.folded[i], key)
			}
			continue
		}
		keys = append(keys, key)
		if !matchesAny(key, f.o, names) {
			f.r.warn(invalid(path, key, "matches no resource"+stemHint(key, names)))
		}
	}
	f.patterns = newPatterns(keys, f.o)
	f.longest = make(map[string]string, len(names))
	for i, prefix := range f.patterns.longest(names) {
		f.longest[names[i]] = prefix
	}
}

// stemHint says that a pattern which matches nothing would be a name without its
// end; "" when it would not. names are sorted.
func stemHint(key string, names []string) string {
	stem := strings.TrimRight(key, "/*")
	if _, found := slices.BinarySearch(names, stem); !found {
		return ""
	}
	return fmt.Sprintf("; %q itself is a resource, but not matched: name it, or write %q", stem, stem+"*")
}

// rule returns the rule of index i.
func (f *fitResolver) rule(i int) (rule fitRule, ok bool) {
	var keys []string
	for _, original := range f.names(i) {
		keys = append(keys, f.keysOf(original, f.m.Name(i))...)
	}
	if len(keys) == 0 {
		return fitRule{}, false
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	for _, key := range keys[1:] {
		f.meet(i, keys[0], key)
	}
	first := f.rules[keys[0]]
	return fitRule{i, keys[0], first.Type, first.Weight}, true
}

// names returns the names that index i stands for: those that the map was built
// from, or else what is normalized to it.
func (f *fitResolver) names(i int) []string {
	names, folded := f.m.Originals(i), f.folded[i]
	if len(folded) > 0 && len(names) == 1 && names[0] == f.m.Name(i) {
		return folded
	}
	return append(names, folded...)
}

// keysOf returns the keys that decide for an index of these two names, which may
// be the same: the exact ones, or else the pattern with the longest prefix of
// either. There are two when both names are keys, or when the prefixes of both
// are equally long.
func (f *fitResolver) keysOf(original, own string) (keys []string) {
	names := []string{original, own}
	for _, name := range names {
		if _, ok := f.rules[name]; ok {
			keys = append(keys, name)
		}
	}
	if len(keys) > 0 {
		return keys
	}
	length := max(len(f.longest[original]), len(f.longest[own]))
	for _, name := range names {
		if prefix := f.longest[name]; length > 0 && len(prefix) == length {
			keys = append(keys, f.patterns.keys[prefix])
		}
	}
	return keys
}

// meet notes that two keys land on index i.
func (f *fitResolver) meet(i int, first, second string) {
	pair := [2]string{first, second}
	if f.reported[pair] {
		return
	}
	f.reported[pair] = true
	f.r.meet(keyPath(pathResources, second), f.m.Name(i), first, second, f.rules[first] == f.rules[second])
}

// separators are what may stand between the name of a family and the rest of a
// member's name.
const separators = "/-._"

// keyFault says what is wrong with a key of [StrategyFitConfig].Resources, ""
// when nothing is.
func keyFault(key string, o Option) string {
	rest, isPattern := strings.CutSuffix(key, "*")
	switch {
	case isPattern && rest == "":
		return "a pattern needs something before its *"
	case strings.Contains(rest, "*"):
		return "only one * is allowed, at the end"
	case o.has(WildcardLiteral):
		return ""
	}
	if !isPattern {
		return exactFault(rest)
	}
	return nameFault(rest)
}

// exactFault says what is wrong with a resource name, "" when nothing is.
func exactFault(name string) string {
	if fault := nameFault(name); fault != "" {
		return fault
	}
	if !isAlphanumeric(name[len(name)-1]) {
		return "must end in a letter or digit"
	}
	return ""
}

// nameFault says what is wrong with the beginning of a resource name, "" when
// nothing is.
func nameFault(name string) string {
	switch {
	case name == "":
		return "is empty"
	case !isAlphanumeric(name[0]):
		return "must start with a letter or digit"
	case strings.Contains(name, "//"):
		return "must not contain //"
	}
	for i := range len(name) {
		if c := name[i]; !isAlphanumeric(c) && strings.IndexByte(separators, c) < 0 {
			return "has characters other than letters, digits and . _ / -"
		}
	}
	return ""
}

func isAlphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func isPattern(key string) bool { return strings.HasSuffix(key, "*") }

// prefixesOf returns the prefixes of the names that a valid pattern matches, all
// of the same length. separated reports whether the pattern is a family, which
// leaves the last byte of the prefix open.
func prefixesOf(key string, o Option) (prefixes []string, separated bool) {
	prefix := strings.TrimSuffix(key, "*")
	family, isFamily := strings.CutSuffix(prefix, "/")
	if o.has(WildcardLiteral) || !isFamily || !strings.Contains(family, "/") {
		return []string{prefix}, false
	}
	for _, separator := range separators {
		prefixes = append(prefixes, family+string(separator))
	}
	return prefixes, true
}

// patterns finds the pattern that decides for a name: the one with the longest
// prefix, and of two with the same prefix the one that names its last byte.
type patterns struct {
	prefixes []string // sorted
	keys     map[string]string
}

// newPatterns takes valid patterns, in any order.
func newPatterns(keys []string, o Option) *patterns {
	p := &patterns{keys: make(map[string]string, len(keys))}
	for _, key := range keys {
		prefixes, separated := prefixesOf(key, o)
		for _, prefix := range prefixes {
			if _, taken := p.keys[prefix]; !taken {
				p.prefixes = append(p.prefixes, prefix)
			} else if separated {
				continue
			}
			p.keys[prefix] = key
		}
	}
	slices.Sort(p.prefixes)
	return p
}

// longest returns the longest prefix of each name, "" where there is none. names
// must be sorted. All strings with one prefix are neighbors in a sorted list,
// so one pass over both lists with a stack of the prefixes that still apply
// does it, whatever their number.
func (p *patterns) longest(names []string) []string {
	found := make([]string, len(names))
	var stack []string
	next := 0
	drop := func(name string) {
		for len(stack) > 0 && !strings.HasPrefix(name, stack[len(stack)-1]) {
			stack = stack[:len(stack)-1]
		}
	}
	for i, name := range names {
		for ; next < len(p.prefixes) && p.prefixes[next] <= name; next++ {
			drop(p.prefixes[next])
			stack = append(stack, p.prefixes[next])
		}
		drop(name)
		if len(stack) > 0 {
			found[i] = stack[len(stack)-1]
		}
	}
	return found
}

// matchesAny reports whether a pattern matches one of the sorted names, be it
// that another key decides for all of them.
func matchesAny(key string, o Option, names []string) bool {
	prefixes, _ := prefixesOf(key, o)
	return slices.ContainsFunc(prefixes, func(prefix string) bool {
		at, _ := slices.BinarySearch(names, prefix)
		return at < len(names) && strings.HasPrefix(names[at], prefix)
	})
}
