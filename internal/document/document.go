// Package document reads configuration documents, YAML or JSON, and loses nothing
// in them without a word. The values are those that sigs.k8s.io/yaml reads, but
// that library drops a second document, keeps one value of a repeated key, lets <<
// replace keys, takes numbers that are too large for text, and names no paths. So
// this package reads the nodes of the YAML parser itself.
//
// [Read] gives the root of a document as a [Value], whose methods read it as what it
// must be. What is wrong is noted in a [Report], all of it, with paths; the one
// error of all parsers is [Report.Err].
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

	// maxGrowth is how many times its bytes a document may weigh once its aliases
	// are replaced, with valueWeight bytes for a key or a value in addition to its text, so
	// that reading it takes linear time. A document of less than usualSize may weigh
	// as much as one of that size. Without aliases no document reaches it.
	maxGrowth   = 16
	valueWeight = 8
	usualSize   = 16 << 10
)

// MaxSize is the size in bytes of the largest document that is read unless
// [Options] say otherwise, the most that a ConfigMap can hold.
const MaxSize = 1 << 20

// errEmpty says that a document has no value, or only null.
var errEmpty = errors.New("the document is empty")

// Options say how documents of a kind are read. The zero value is ready to use.
type Options struct {
	// MaxSize is the size in bytes of the largest document that is read; 0 means
	// the constant of that name.
	MaxSize int

	// Lenient makes warnings of keys without a meaning, and of fractions where an
	// integer must be: the former are left out, the latter cut off.
	Lenient bool

	// NullIsFault makes null a value of a wrong type; else it stands for a value
	// that is absent. As an item of a list it is a fault always.
	NullIsFault bool

	// BareKeys writes entries by name as a[name] in paths, as field.Path does; else
	// as a["name"].
	BareKeys bool
}

// Read returns the root of the one document of data. What is wrong with it is
// noted in r, and keys that are there twice when faults are asked for: the last
// one counts until then.
//
// Values are read as YAML 1.1 has them. What << merges into a mapping yields to
// the mapping's own keys, before and behind it. Documents that hold nothing may
// follow.
//
// The root is absent when nothing can be read: data is longer than the limit, not
// UTF-8, not YAML, empty, more than one document, nested more than a hundred deep,
// has aliases that make it too large, or a key that is no string: YAML 1.1 reads
// yes, 010 and ~ as none.
func Read(data []byte, o Options, r *Report) Value {
	if roots := readRoots(data, 1, o, r); roots != nil {
		return roots[0]
	}
	return Value{}
}

// readRoots returns the roots of at most so many documents, nil when they cannot be read.
func readRoots(data []byte, most int, o Options, r *Report) (roots []Value) {
	if o.MaxSize == 0 {
		o.MaxSize = MaxSize
	}
	nodes, line, err := read(data, o.MaxSize, most)
	if err != nil {
		r.cause, r.causeLine = err, line
		return nil
	}
	for _, root := range nodes {
		s := &source{o, r, root, ""}
		r.sources = append(r.sources, s)
		roots = append(roots, Value{s, root, ""})
	}
	return roots
}

// read returns the roots of documents, or why there are none and in which line.
func read(data []byte, limit, most int) (roots []*node, line int, err error) {
	if len(data) > limit {
		return nil, 0, fmt.Errorf("%d bytes, more than %d", len(data), limit)
	}
	if !utf8.Valid(data) {
		return nil, lineOf(data, func(r rune, size int) bool { return r == utf8.RuneError && size == 1 }), errors.New("not UTF-8")
	}
	trees, line, err := parse(data, most)
	if err != nil {
		return nil, line, err
	}
	m := maker{room: maxGrowth * max(len(data), usualSize)}
	for _, tree := range trees {
		roots = append(roots, m.value(tree, 0))
	}
	return roots, m.line, m.err
}

// parse returns the values of documents that hold any.
func parse(data []byte, most int) (values []*yaml.Node, line int, err error) {
	isFirst := true
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var document yaml.Node
		err := decoder.Decode(&document)
		switch {
		case errors.Is(err, io.EOF):
			if len(values) == 0 {
				return nil, 0, errEmpty
			}
			return values, 0, nil
		case err != nil:
			line, err := fromLibrary(err, 1)
			switch text := err.Error(); {
			case strings.HasPrefix(text, "unknown anchor"): // wherever that is
				line = 0
			case strings.HasPrefix(text, "control characters"):
				line = lineOf(data, isControl)
			}
			return nil, line, err
		}
		value := document.Content[0]
		switch isValue := !isNull(value); {
		case isValue && most == 1 && !isFirst: // also behind an empty one
			return nil, value.Line, errors.New("a second document")
		case isValue:
			values = append(values, value)
		}
		isFirst = false
	}
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

var libraryError = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// fromLibrary returns an error of the YAML library with its line apart, which is
// otherwise where the library names none: it never names the first.
func fromLibrary(err error, otherwise int) (line int, cause error) {
	text := err.Error()
	found := libraryError.FindStringSubmatch(text)
	if found == nil {
		return otherwise, errors.New(Cut(text))
	}
	line, err = strconv.Atoi(found[1])
	if err != nil {
		line = otherwise
	}
	return line, errors.New(Cut(text[len(found[0]):]))
}

// lineOf returns the line of the first such character, 0 if there is none.
func lineOf(data []byte, is func(r rune, size int) bool) int {
	for line, at := 1, 0; at < len(data); {
		r, size := utf8.DecodeRune(data[at:])
		if is(r, size) {
			return line
		}
		if r == '\n' {
			line++
		}
		at += size
	}
	return 0
}

// isControl reports whether YAML does not allow a character.
func isControl(r rune, _ int) bool {
	return r < ' ' && r != '\t' && r != '\n' && r != '\r' || '\x7f' <= r && r < '\xa0' && r != '\x85'
}

// node is a value of a document.
type node struct {
	kind  Kind
	line  int
	text  string // a scalar as it was written, a string without quotes
	value string // of a number: in JSON, as YAML reads it; "" when it is not finite
	truth bool   // of a boolean
	items []*node

	fields   map[string]*node // the last one of each key
	repeated map[string]int   // keys that are there more than once, and the line of the second
	replaced []replaced       // the values before the last one of a key

	isFloat  bool // a number that YAML reads as a float64, so that value is rounded
	isFaulty bool // it, or a value in it, has a key more than once

	// Where a mapping was read as one: its path, and whether its keys are names.
	isRead, byName bool
	path           string
}

// replaced is the value of a key that has another one.
type replaced struct {
	key  string
	node *node
}

// maker makes nodes from the YAML parser's.
type maker struct {
	room int   // how much more they may weigh
	err  error // the first; nothing is made any more
	line int   // of err
}

func (m *maker) fail(line int, err error) {
	if m.err == nil {
		m.line, m.err = line, err
	}
}

// value returns n, which is depth levels deep. An alias within its own anchor
// nests too deep.
func (m *maker) value(n *yaml.Node, depth int) *node {
	m.room -= valueWeight + len(n.Value)
	switch {
	case m.err != nil:
	case m.room < 0:
		m.fail(n.Line, errors.New("aliases make it too large"))
	case depth > maxDepth:
		m.fail(n.Line, fmt.Errorf("nested deeper than %d levels", maxDepth))
	case n.Kind == yaml.AliasNode:
		return m.value(n.Alias, depth)
	case n.Kind == yaml.MappingNode:
		return m.mapping(n, depth)
	case n.Kind == yaml.SequenceNode:
		list := &node{kind: List, line: n.Line, items: make([]*node, 0, len(n.Content))}
		for i := 0; i < len(n.Content) && m.err == nil; i++ {
			item := m.value(n.Content[i], depth+1)
			list.items = append(list.items, item)
			list.isFaulty = list.isFaulty || item != nil && item.isFaulty
		}
		return list
	default:
		x := m.scalar(n)
		return &x
	}
	return nil
}

func (m *maker) mapping(n *yaml.Node, depth int) *node {
	x := &node{kind: Mapping, line: n.Line, fields: make(map[string]*node, len(n.Content)/2)}
	var merged []*node // by <<
	for i := 0; i+1 < len(n.Content) && m.err == nil; i += 2 {
		key, name := n.Content[i], m.key(n.Content[i])
		m.room -= valueWeight + len(name)
		isMerge := key.ShortTag() == "!!merge"
		before, repeated := x.fields[name]
		if repeated {
			x.replaced = append(x.replaced, replaced{name, before})
		}
		if repeated || isMerge && len(merged) > 0 {
			x.repeat(name, key.Line)
		}
		value := m.value(n.Content[i+1], depth+1)
		x.isFaulty = x.isFaulty || repeated || value != nil && value.isFaulty
		if isMerge {
			merged = append(merged, value)
		} else {
			x.fields[name] = value
		}
	}
	for _, from := range merged {
		m.merge(x, from)
	}
	return x
}

// repeat notes that x has a key once more.
func (n *node) repeat(key string, line int) {
	if n.repeated == nil {
		n.repeated = map[string]int{}
	}
	if _, is := n.repeated[key]; !is {
		n.repeated[key] = line
	}
	n.isFaulty = true
}

// merge adds to x the keys that it does not have from a mapping, or from each of
// a list of them.
func (m *maker) merge(x, from *node) {
	switch {
	case m.err != nil:
	case from.kind == Mapping:
		for key, value := range from.fields {
			if _, has := x.fields[key]; !has {
				x.fields[key] = value
			}
		}
		for key, line := range from.repeated {
			x.repeat(key, line)
		}
	case from.kind == List:
		for _, item := range from.items {
			m.merge(x, item)
		}
	default:
		m.fail(x.line, errors.New("<< merges no mapping"))
	}
}

// key returns the text of a key.
func (m *maker) key(n *yaml.Node) string {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch n.Kind {
	case yaml.ScalarNode:
		x := m.scalar(n)
		if x.kind == Text {
			return x.text
		}
		m.fail(n.Line, fmt.Errorf("the key %.100q is not a string: quote it", n.Value))
	case yaml.SequenceNode:
		m.fail(n.Line, errors.New("a key is a list, not a string"))
	default:
		m.fail(n.Line, errors.New("a key is a mapping, not a string"))
	}
	return ""
}

// booleans are the words of YAML 1.1 that later versions read as text.
var booleans = map[string]bool{
	"y": true, "Y": true, "yes": true, "Yes": true, "YES": true, "on": true, "On": true, "ON": true,
	"n": false, "N": false, "no": false, "No": false, "NO": false, "off": false, "Off": false, "OFF": false,
}

// tooLarge matches the numbers of YAML that no float64 holds, which its parser
// takes for text.
var tooLarge = regexp.MustCompile(`^[-+]?(0x[0-9a-fA-F]+|0b[01]+|0o[0-7]+|(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?)$`)

// scalar returns a node of what is neither a mapping nor a list.
func (m *maker) scalar(n *yaml.Node) node {
	x := node{kind: Text, line: n.Line, text: n.Value}
	isPlain := n.Style == 0
	switch n.ShortTag() {
	case "!!str":
		if truth, ok := booleans[n.Value]; ok && isPlain {
			x.kind, x.truth = Boolean, truth
		} else if isPlain && tooLarge.MatchString(strings.ReplaceAll(n.Value, "_", "")) {
			x.kind = Number
		}
		return x
	case "!!timestamp", "!!merge":
		return x
	case "!!null":
		if isPlain {
			x.kind = Null
			return x
		}
	}
	var v any
	if err := n.Decode(&v); err != nil {
		m.fail(fromLibrary(err, n.Line))
		return x
	}
	switch v := v.(type) {
	case nil:
		x.kind = Null
	case bool:
		x.kind, x.truth = Boolean, v
	case string: // of !!binary, for one
		x.text = v
	case int, int64, uint64, float64:
		x.kind = Number
		_, x.isFloat = v.(float64)
		if value, err := json.Marshal(v); err == nil { // JSON has finite numbers only
			x.value = string(value)
		}
	}
	return x
}
