package scoring

import (
	"slices"
	"strings"
)

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
