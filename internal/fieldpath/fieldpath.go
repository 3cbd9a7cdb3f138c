// Package fieldpath joins the paths of what is wrong with a configuration.
package fieldpath

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

// isRoot reports whether a path names nothing. Two of the forms are those of a
// field.Path that is nil, and of one whose name is empty.
func isRoot(path string) bool {
	return path == "" || path == Root || path == "<nil>" || path == "[]"
}
