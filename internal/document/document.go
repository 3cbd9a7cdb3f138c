// Package document reads configuration documents, YAML or JSON, and loses nothing
// in them without a word. The values are those that sigs.k8s.io/yaml reads, but
// that library drops a second document, keeps one value of a repeated key, lets <<
// replace keys, refuses numbers that are not finite, and names no paths. So this
// package reads the nodes of the YAML parser itself.
package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

const (
	// maxDepth is how deep the values of a document may nest in one another.
	maxDepth = 100

	// maxGrowth is how many times the limit of bytes a document may weigh once
	// its aliases are replaced, with valueWeight bytes for a value beside its
	// text. Without aliases no document reaches it.
	maxGrowth   = 16
	valueWeight = 8

	// maxFaults is how many faults are listed.
	maxFaults = 1000
)

// ErrEmpty says that a document has no value, or only null.
var ErrEmpty = errors.New("the document is empty")

// Object is a mapping. The other values of a tree are nil, bool, string,
// json.Number and []any.
type Object = map[string]any

// Fault is a place of a document where a key is repeated, or where a number
// stands that is not finite.
type Fault struct {
	Path     []Step
	Line     int
	Repeated bool   // the key that Path ends with; else the number is at fault
	Value    string // the number as it was written
}

// Step is one step down a tree: into the value of a key, or into an item of a
// list when IsItem is set.
type Step struct {
	Key    string
	Item   int
	IsItem bool
}

// SyntaxError says why a document cannot be read at all.
type SyntaxError struct {
	Line int // 1 is the first; 0 when not known
	Err  error
}

// Error gives the line, when known, and the cause.
func (e *SyntaxError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("line %d: %v", e.Line, e.Err)
	}
	return e.Err.Error()
}

// Unwrap returns Err.
func (e *SyntaxError) Unwrap() error { return e.Err }

func syntax(line int, format string, args ...any) *SyntaxError {
	return &SyntaxError{Line: line, Err: fmt.Errorf(format, args...)}
}

// Read returns the tree of the one document of data and its faults, the first
// thousand in the order of the text; a fault below an anchor is one at each alias
// too. With faults the tree has the last value of a repeated key, and for a number
// that is not finite a json.Number of the text as written, which does not parse.
//
// Values are read as YAML 1.1 has them. What << merges into a mapping yields to
// the mapping's own keys, before and behind it. Documents that hold nothing may
// follow.
//
// With an error the rest is nil: data is longer than limit bytes, not UTF-8, not
// YAML, empty (it wraps [ErrEmpty]), more than one document, nested more than a
// hundred deep, has aliases that make it too large, or a key that is no string: YAML
// 1.1 reads yes, 010 and ~ as none.
func Read(data []byte, limit int) (root any, faults []Fault, err *SyntaxError) {
	if len(data) > limit {
		return nil, nil, syntax(0, "%d bytes, more than %d", len(data), limit)
	}
	if !utf8.Valid(data) {
		return nil, nil, syntax(0, "not UTF-8")
	}
	node, err := parse(data)
	if err != nil {
		return nil, nil, err
	}
	r := reader{room: maxGrowth * limit}
	root = r.value(node, nil)
	if r.err != nil {
		return nil, nil, r.err
	}
	return root, r.faults, nil
}

// parse returns the value of the only document.
func parse(data []byte) (only *yaml.Node, err *SyntaxError) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var document yaml.Node
		err := decoder.Decode(&document)
		switch {
		case errors.Is(err, io.EOF):
			if only == nil || isNull(only) {
				return nil, &SyntaxError{Err: ErrEmpty}
			}
			return only, nil
		case err != nil:
			return nil, fromLibrary(err)
		case only == nil:
			only = document.Content[0]
		case !isNull(document.Content[0]):
			return nil, syntax(document.Content[0].Line, "a second document")
		}
	}
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

var libraryError = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// fromLibrary returns an error of the YAML library with its line apart.
func fromLibrary(err error) *SyntaxError {
	text := err.Error()
	found := libraryError.FindStringSubmatch(text)
	if found == nil {
		return &SyntaxError{Err: err}
	}
	line, _ := strconv.Atoi(found[1])
	return &SyntaxError{Line: line, Err: errors.New(text[len(found[0]):])}
}

// reader makes the nodes of a parsed document a tree.
type reader struct {
	room   int // how much more the tree may weigh
	faults []Fault
	err    *SyntaxError // the first; nothing is read any more
}

func (r *reader) fail(err *SyntaxError) {
	if r.err == nil {
		r.err = err
	}
}

// note lists a fault, with a path of its own.
func (r *reader) note(f Fault) {
	if len(r.faults) < maxFaults {
		f.Path = append([]Step(nil), f.Path...)
		r.faults = append(r.faults, f)
	}
}

// value returns the tree of n. An alias within its own anchor nests too deep.
func (r *reader) value(n *yaml.Node, path []Step) any {
	r.room -= valueWeight + len(n.Value)
	switch {
	case r.err != nil:
		return nil
	case r.room < 0:
		r.fail(syntax(n.Line, "aliases make it too large"))
		return nil
	case len(path) > maxDepth:
		r.fail(syntax(n.Line, "nested deeper than %d levels", maxDepth))
		return nil
	}
	switch n.Kind {
	case yaml.AliasNode:
		return r.value(n.Alias, path)
	case yaml.MappingNode:
		return r.mapping(n, path)
	case yaml.SequenceNode:
		list := []any{}
		for i := 0; i < len(n.Content) && r.err == nil; i++ {
			list = append(list, r.value(n.Content[i], append(path, Step{Item: i, IsItem: true})))
		}
		return list
	}
	return r.scalar(n, path)
}

func (r *reader) mapping(n *yaml.Node, path []Step) Object {
	x := Object{}
	var merged []any // by <<
	for i := 0; i+1 < len(n.Content) && r.err == nil; i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		name := r.key(key)
		at := append(path, Step{Key: name})
		isMerge := key.ShortTag() == "!!merge"
		if _, repeated := x[name]; repeated || isMerge && len(merged) > 0 {
			r.note(Fault{Path: at, Line: key.Line, Repeated: true})
		}
		v := r.value(value, at)
		if isMerge {
			merged = append(merged, v)
		} else {
			x[name] = v
		}
	}
	r.merge(x, merged, n.Line)
	return x
}

// merge adds to x the keys that it does not have from a mapping, or from each of
// a list of them. line is where x stands.
func (r *reader) merge(x Object, from any, line int) {
	switch from := from.(type) {
	case Object:
		for key, value := range from {
			if _, has := x[key]; !has {
				x[key] = value
			}
		}
	case []any:
		for _, item := range from {
			r.merge(x, item, line)
		}
	default:
		r.fail(syntax(line, "<< merges no mapping"))
	}
}

// key returns the text of a key.
func (r *reader) key(n *yaml.Node) string {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind == yaml.ScalarNode {
		if text, ok := r.plain(n).(string); ok {
			return text
		}
	}
	r.fail(syntax(n.Line, "the key %.100q is not a string: quote it", n.Value))
	return ""
}

// scalar returns nil, a bool, json.Number or string.
func (r *reader) scalar(n *yaml.Node, path []Step) any {
	v := r.plain(n)
	switch v.(type) {
	case int, int64, uint64, float64:
		text, err := json.Marshal(v)
		if err != nil { // JSON has finite numbers only
			r.note(Fault{Path: path, Line: n.Line, Value: n.Value})
			return json.Number(n.Value)
		}
		return json.Number(text)
	}
	return v
}

// booleans are the words of YAML 1.1 that later versions read as text.
var booleans = map[string]bool{
	"y": true, "Y": true, "yes": true, "Yes": true, "YES": true, "on": true, "On": true, "ON": true,
	"n": false, "N": false, "no": false, "No": false, "NO": false, "off": false, "Off": false, "OFF": false,
}

// plain returns nil, a bool, int, int64, uint64, float64 or string.
func (r *reader) plain(n *yaml.Node) (v any) {
	switch n.ShortTag() {
	case "!!str":
		if b, ok := booleans[n.Value]; ok && n.Style == 0 { // plain
			return b
		}
		return n.Value
	case "!!timestamp", "!!merge":
		return n.Value
	}
	if err := n.Decode(&v); err != nil {
		r.fail(fromLibrary(err))
	}
	return v
}

// Cut cuts text that stands in a message or a path, and puts mark behind what is
// left. Every legal resource name stays whole.
func Cut(text, mark string) string {
	const most = 320
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + mark
}
