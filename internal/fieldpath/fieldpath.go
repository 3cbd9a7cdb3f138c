// Package fieldpath joins the paths of what is wrong with a configuration.
package fieldpath

import (
	"fmt"
	"strings"
)

// Root is the path of a document as a whole, where nothing names it.
const Root = "(document)"

// Below returns a path with root, the path of what it is in, before it. Either may
// be empty or [Root].
func Below(root, path string) string {
	switch {
	case isRoot(root) && isRoot(path):
		return Root
	case isRoot(path):
		return root
	case isRoot(root):
		return path
	case path[0] == '[':
		return root + path
	}
	return root + "." + path
}

// isRoot reports whether a path names nothing. Two of the forms are what a
// nil field.Path and one with an empty name print.
func isRoot(path string) bool {
	return path == "" || path == Root || path == "<nil>" || path == "[]"
}

// Field returns the path of a field: parent.name, or parent["name"] for a name
// that would not be readable so.
func Field(parent, name string) string {
	isOdd := strings.ContainsFunc(name, func(c rune) bool {
		return c <= ' ' || c > '~' && c != '…' || strings.ContainsRune(`"[]()`, c) // a name that is cut ends with …
	})
	switch {
	case isOdd || name == "":
		return Key(parent, name)
	case parent == "":
		return name
	}
	return parent + "." + name
}

// Key returns parent["name"], the path of an entry by name. A field.Path has no
// quotes there.
func Key(parent, name string) string { return fmt.Sprintf("%s[%q]", parent, name) }

// Item returns parent[i], the path of an item of a list.
func Item(parent string, i int) string { return fmt.Sprintf("%s[%d]", parent, i) }
