package document

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// FromGo is [Read] for the arguments of a plugin that its host has decoded: maps,
// lists, strings, booleans, numbers of any type and nil. Anything else is a string
// that has its type too. What the host has dropped, such as keys that were there
// twice, nobody sees any more.
func FromGo(x map[string]any, o Options, r *Report) Value {
	s := &source{o, r, fromGo(x, 0), ""}
	return Value{s, s.root, ""}
}

func fromGo(x any, depth int) *node {
	if depth > maxDepth {
		return &node{kind: Text, text: "nested too deep"}
	}
	switch x := x.(type) {
	case nil:
		return &node{kind: Null, text: "null"}
	case bool:
		return &node{kind: Boolean, text: fmt.Sprint(x), truth: x}
	case string:
		return &node{kind: Text, text: x}
	case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64, float32, float64, json.Number:
		n := &node{kind: Number, text: fmt.Sprint(x), isFloat: true}
		if value, err := json.Marshal(x); err == nil { // JSON has finite numbers only
			n.value = string(value)
		}
		return n
	case []any:
		n := &node{kind: List}
		for _, item := range x {
			n.items = append(n.items, fromGo(item, depth+1))
		}
		return n
	case map[string]any:
		n := &node{kind: Mapping, fields: make(map[string]*node, len(x))}
		for key, value := range x {
			n.fields[key] = fromGo(value, depth+1)
		}
		return n
	case map[any]any: // of some YAML libraries
		n := &node{kind: Mapping, fields: make(map[string]*node, len(x))}
		typed := func(key any) string { return fmt.Sprintf("%v %T", key, key) }
		for _, key := range slices.SortedFunc(maps.Keys(x), func(a, b any) int { return cmp.Compare(typed(a), typed(b)) }) {
			name := fmt.Sprint(key)
			if _, repeated := n.fields[name]; repeated { // 1 and "1"
				n.repeat(name, 0)
			}
			n.fields[name] = fromGo(x[key], depth+1)
		}
		return n
	}
	return &node{kind: Text, text: fmt.Sprintf("%v (%T)", x, x)}
}
