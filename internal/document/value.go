package document

import (
	"encoding/json"
	"iter"
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/resvec/resvec/internal/decimal"
	"github.com/resvec/resvec/internal/fieldpath"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Kind is what a value is.
type Kind uint8

const (
	Absent Kind = iota
	Null
	Boolean
	Number
	Text
	List
	Mapping
)

// String returns the kind with its article, as messages have it.
func (k Kind) String() string {
	switch k {
	case Null:
		return "null"
	case Boolean:
		return "a boolean"
	case Number:
		return "a number"
	case Text:
		return "a string"
	case List:
		return "a list"
	case Mapping:
		return "a mapping"
	}
	return "absent"
}

// source is a document that is being read.
type source struct {
	Options
	report *Report
	root   *node
	path   string // of the root
}

// Value is a value of a document. The zero Value is absent. Its methods note what
// is wrong with it, once for every call.
type Value struct {
	source *source
	node   *node
	path   string
}

// At returns the value with another path, where a document may leave out what it
// is in.
func (v Value) At(path string) Value {
	v.path = path
	return v
}

// Path returns the path of the value, "" for the document as a whole.
func (v Value) Path() string { return v.path }

// Kind returns what the value is.
func (v Value) Kind() Kind {
	if v.node == nil || v.node.kind == Null && !v.source.NullIsFault {
		return Absent
	}
	return v.node.kind
}

// Written returns a scalar as the document has it, a string without its quotes.
func (v Value) Written() string {
	if v.node == nil {
		return ""
	}
	return v.node.text
}

// bad returns the value for a field.Error.
func (v Value) bad() any {
	if v.node != nil {
		switch v.node.kind {
		case Text:
			return Cut(v.node.text)
		case Number, Boolean:
			return json.Number(Cut(v.node.text)) // printed as it is written
		}
	}
	return field.OmitValueType{}
}

// Invalid returns the fault of a value, as it is written.
func (v Value) Invalid(detail string) *field.Error {
	return field.Invalid(field.NewPath(v.path), v.bad(), detail)
}

// Malformed notes that the value is not of the form that it must be, so that it
// has no meaning.
func (v Value) Malformed(detail string) { v.malformed(v.Invalid(detail)) }

// Wrong notes a value of another kind than it must have, with its article.
func (v Value) Wrong(want string) {
	v.malformed(field.TypeInvalid(field.NewPath(v.path), v.bad(), "must be "+want+", not "+v.node.kind.String()))
}

func (v Value) malformed(e *field.Error) {
	line := 0
	if v.node != nil {
		line = v.node.line
	}
	v.source.report.malformed(e, line)
	v.source.report.leave(v.path)
}

// Refuse is Malformed with a fault of the caller's.
func (v Value) Refuse(e *field.Error) { v.malformed(e) }

// Text reads a string. ok is false when it is something else.
func (v Value) Text() (text string, ok bool) {
	switch v.Kind() {
	case Absent:
		return "", true
	case Text:
		return v.node.text, true
	}
	v.Wrong("a string")
	return "", false
}

// Boolean reads true or false.
func (v Value) Boolean() bool {
	switch v.Kind() {
	case Absent:
		return false
	case Boolean:
		return v.node.truth
	}
	v.Wrong("true or false")
	return false
}

// Found says how a number was found.
type Found uint8

const (
	NoNumber Found = iota // it is absent
	Clean
	Noted // something is wrong with it, and noted
)

// Number reads a number, as the nearest float64. One that is too large
// or too small for any is at fault.
func (v Value) Number() (float64, Found) {
	switch v.Kind() {
	case Absent:
		return 0, NoNumber
	case Number:
	default:
		v.Wrong("a number")
		return 0, Noted
	}
	n, ok := v.node.number()
	x := n.Float64()
	switch {
	case !ok:
		v.Malformed("must be a finite number")
	case math.IsInf(x, 0):
		v.Malformed("must be a finite number, from -1.7e308 to 1.7e308")
	case x == 0 && n.Digits != "":
		v.Malformed("is too small: must be 0, or 5e-324 or more in magnitude")
	default:
		return x, Clean
	}
	return 0, Noted
}

// Integer reads a whole number of 64 bits, in whatever form it is written. What
// counts is the text: 9007199254740993.0 is that number, and 1e-400 is no integer.
func (v Value) Integer() (int64, Found) {
	switch v.Kind() {
	case Absent:
		return 0, NoNumber
	case Number:
	default:
		v.Wrong("an integer")
		return 0, Noted
	}
	n, ok := v.node.number()
	switch x, isWhole, fits := n.Int64(); {
	case !ok || !fits:
		v.Malformed("must be an integer of 64 bits")
	case isWhole:
		return x, Clean
	case v.source.Lenient:
		v.source.report.Warn(v.Invalid("must be an integer"))
		return x, Noted
	default:
		v.Malformed("must be an integer")
	}
	return 0, Noted
}

// number returns a number as it is written; ok is false for infinity and NaN.
func (n *node) number() (x decimal.Number, ok bool) {
	read, isFinite := decimal.Parse(n.value)
	if isFinite && !n.isFloat {
		return read, true
	}
	plain := strings.ReplaceAll(n.text, "_", "")
	x, ok = decimal.Parse(plain)
	switch {
	case isFinite && (!ok || x.Float64() != read.Float64()): // such as !!float 010
		return read, true
	case ok || isFinite:
		return x, ok
	}
	return integerOf(plain)
}

// integerOf reads an integer of YAML of more than 64 bits, which it writes with a
// base: 0x, 0o or 0b.
func integerOf(text string) (x decimal.Number, ok bool) {
	const most = 1100 // digits: more is too large for any type
	sign, rest := "", strings.TrimLeft(text, "+-")
	if strings.HasPrefix(text, "-") {
		sign = "-"
	}
	base := map[string]int{"0x": 16, "0o": 8, "0b": 2}[rest[:min(2, len(rest))]]
	if base == 0 {
		return x, false
	}
	digits := strings.TrimLeft(rest[2:], "0")
	if len(digits) > most {
		return decimal.Parse(sign + "1e9999")
	}
	i, ok := new(big.Int).SetString(digits, base)
	if !ok {
		return x, false
	}
	return decimal.Parse(sign + i.String())
}

// Literal returns the text of a number or a string: of a number in JSON, after
// YAML 1.1 has read it, so that 010 is 8 and 1e-400 is 0, or as it is written where it
// is not finite. ok is false when the value is something else, which is noted; want
// says what it must be, with its article.
func (v Value) Literal(want string) (text string, ok bool) {
	switch {
	case v.Kind() == Text, v.Kind() == Number && v.node.value == "":
		return v.node.text, true
	case v.Kind() == Number:
		return v.node.value, true
	case v.Kind() != Absent:
		v.Wrong(want)
	}
	return "", false
}

// Exact is Literal with a number as it is written, in decimal and not rounded. It is ""
// where Literal is not ok.
func (v Value) Exact() string {
	switch v.Kind() {
	case Text:
		return v.node.text
	case Number:
		if n, ok := v.node.number(); ok {
			return n.String()
		}
		return v.node.text
	}
	return ""
}

// Items reads a list, nil when it is absent or something else. Items that are null
// are of a wrong kind.
func (v Value) Items() []Value {
	switch v.Kind() {
	case Absent:
		return nil
	case List:
		items := make([]Value, len(v.node.items))
		for i, item := range v.node.items {
			items[i] = Value{v.source, item, fieldpath.Item(v.path, i)}
		}
		return items
	}
	v.Wrong("a list")
	return nil
}

// Item reads a mapping that is an item of a list, where null is none.
func (v Value) Item() Fields {
	if v.node != nil && v.node.kind == Null {
		v.Wrong("a mapping")
		v.node = nil
	}
	return v.Fields()
}

// Peek returns the value of a key of a mapping without reading that.
func (v Value) Peek(key string) Value {
	var x *node
	if v.Kind() == Mapping {
		x = v.node.fields[key]
	}
	return Value{v.source, x, fieldpath.Field(v.path, Cut(key))}
}

// Has reports whether a mapping has a key, even with null, without reading it.
func (v Value) Has(key string) bool { return v.Kind() == Mapping && v.node.fields[key] != nil }

// Keys returns the keys of a mapping, in the order of bytes, without reading it.
func (v Value) Keys() []string {
	if v.Kind() != Mapping {
		return nil
	}
	return slices.Sorted(maps.Keys(v.node.fields))
}

// Fields is a mapping that is read. Its keys are the fields of a structure, or names.
type Fields struct {
	v      Value // node is nil where there is no mapping
	byName bool
}

// Fields reads a mapping, an empty one when it is absent or something else.
func (v Value) Fields() Fields { return v.fields(false) }

// Names is Fields for a mapping whose keys are names of any kind.
func (v Value) Names() Fields { return v.fields(true) }

func (v Value) fields(byName bool) Fields {
	x := Fields{v, byName}
	switch v.Kind() {
	case Mapping:
		x.open()
		return x
	case Absent:
	default:
		v.Wrong("a mapping")
	}
	x.v.node = nil
	return x
}

// open notes the keys that the mapping has twice.
func (x Fields) open() {
	n := x.v.node
	if n.isRead {
		return
	}
	n.isRead, n.byName, n.path = true, x.byName, x.v.path
	for _, key := range slices.Sorted(maps.Keys(n.repeated)) {
		e := field.Duplicate(field.NewPath(x.path(key)), Cut(key))
		x.v.source.report.malformed(e, n.repeated[key])
	}
}

// path returns the path of a key.
func (x Fields) path(key string) string {
	parent := short(x.v.path)
	key = Cut(key)
	switch {
	case !x.byName:
		return fieldpath.Field(parent, key)
	case x.v.source != nil && x.v.source.BareKeys:
		return parent + "[" + key + "]"
	}
	return fieldpath.Key(parent, key)
}

// short cuts the beginning of a path that is longer than any of use, so that paths of
// many faults far down take no more memory than the document.
func short(path string) string {
	const most = 1024
	if len(path) <= most {
		return path
	}
	return "…" + strings.ToValidUTF8(path[len(path)-most/2:], "")
}

// IsRead reports whether there is a mapping.
func (x Fields) IsRead() bool { return x.v.node != nil }

// Has reports whether there is a key, even with null.
func (x Fields) Has(key string) bool { return x.v.node != nil && x.v.node.fields[key] != nil }

// Get returns the value of a key, absent when there is none.
func (x Fields) Get(key string) Value {
	v := Value{x.v.source, nil, x.path(key)}
	if x.v.node != nil {
		v.node = x.v.node.fields[key]
	}
	return v
}

// All returns the keys, in the order of bytes, and their values.
func (x Fields) All() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		for _, key := range x.v.Keys() {
			if !yield(key, x.Get(key)) {
				return
			}
		}
	}
}

// IsRepeated reports whether a key is there more than once.
func (x Fields) IsRepeated(key string) bool {
	if x.v.node == nil {
		return false
	}
	_, is := x.v.node.repeated[key]
	return is
}

// Known notes the keys that are none of these.
func (x Fields) Known(keys ...string) { x.KnownOr("", keys...) }

// KnownOr is Known with a hint that goes behind every fault.
func (x Fields) KnownOr(hint string, keys ...string) { x.known(hint, "", keys) }

// KnownBut is Known without the keys that begin with a prefix.
func (x Fields) KnownBut(prefix string, keys ...string) { x.known("", prefix, keys) }

// known notes the keys that are none of these, and don't begin with a prefix unless it
// is empty. A field that is absent while another has its name in another case has not
// been read.
func (x Fields) known(hint, prefix string, keys []string) {
	for _, key := range x.v.Keys() {
		if slices.Contains(keys, key) || prefix != "" && strings.HasPrefix(key, prefix) {
			continue
		}
		v := x.Get(key)
		e := field.NotSupported(field.NewPath(v.path), Cut(key), keys)
		e.Detail += hint
		if v.source.Lenient {
			v.source.report.Warn(e)
			continue
		}
		v.source.report.malformed(e, v.node.line)
		for _, known := range keys {
			if strings.EqualFold(known, key) && !x.Has(known) {
				v.source.report.leave(x.Get(known).path)
			}
		}
	}
}

// rest opens the mappings that are not read. It looks at nothing without a fault.
func (v Value) rest() {
	if !v.node.isFaulty {
		return
	}
	switch v.node.kind {
	case List:
		for i, item := range v.node.items {
			if item.isFaulty {
				Value{v.source, item, fieldpath.Item(short(v.path), i)}.rest()
			}
		}
	case Mapping:
		x := Fields{v, false}
		if v.node.isRead {
			x.byName, x.v.path = v.node.byName, v.node.path
		}
		x.open()
		for _, key := range x.v.Keys() {
			if v.node.fields[key].isFaulty {
				x.Get(key).rest()
			}
		}
		for _, before := range v.node.replaced {
			if before.node.isFaulty {
				Value{v.source, before.node, x.path(before.key)}.rest()
			}
		}
	}
}
