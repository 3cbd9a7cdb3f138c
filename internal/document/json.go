package document

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ReadJSON is [Read] for a text that must be JSON, an annotation for one, which
// stands at path. What keeps it from being read is a fault of that path, with the
// byte where it is, counted from 1.
func ReadJSON(text, path string, o Options, r *Report) Value {
	if o.MaxSize == 0 {
		o.MaxSize = MaxSize
	}
	root, err := readJSON(text, o.MaxSize)
	if err != nil {
		r.malformed(field.Invalid(field.NewPath(path), Cut(text), "is not JSON: "+err.Error()), 0)
		r.leave(path)
		return Value{}
	}
	s := &source{o, r, root, path}
	r.sources = append(r.sources, s)
	return Value{s, root, path}
}

func readJSON(text string, limit int) (*node, error) {
	if len(text) > limit {
		return nil, fmt.Errorf("%d bytes, more than %d", len(text), limit)
	}
	for at, c := range text {
		if c == utf8.RuneError && !strings.HasPrefix(text[at:], string(utf8.RuneError)) {
			return nil, fmt.Errorf("not UTF-8 at byte %d", at+1)
		}
	}
	var all json.RawMessage
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return nil, fmt.Errorf("at byte %d: %w", syntax.Offset, err)
		}
		return nil, err
	}
	m := jsonMaker{json.NewDecoder(strings.NewReader(text))}
	m.decoder.UseNumber()
	return m.value(0)
}

// jsonMaker makes nodes of a text that is JSON.
type jsonMaker struct{ decoder *json.Decoder }

func (m *jsonMaker) value(depth int) (*node, error) {
	token, err := m.decoder.Token()
	if err != nil {
		return nil, err
	}
	if depth > maxDepth {
		return nil, fmt.Errorf("at byte %d: nested deeper than %d levels", m.decoder.InputOffset(), maxDepth)
	}
	switch token := token.(type) {
	case nil:
		return &node{kind: Null, text: "null"}, nil
	case bool:
		return &node{kind: Boolean, text: fmt.Sprint(token), truth: token}, nil
	case string:
		return &node{kind: Text, text: token}, nil
	case json.Number:
		x := &node{kind: Number, text: token.String(), value: token.String(), isFloat: true}
		if _, err := token.Float64(); err != nil {
			x.value = ""
		}
		return x, nil
	case json.Delim:
		if token == '[' {
			return m.list(depth)
		}
	}
	return m.mapping(depth)
}

func (m *jsonMaker) list(depth int) (*node, error) {
	x := &node{kind: List}
	for m.decoder.More() {
		item, err := m.value(depth + 1)
		if err != nil {
			return nil, err
		}
		x.items = append(x.items, item)
	}
	_, err := m.decoder.Token()
	return x, err
}

func (m *jsonMaker) mapping(depth int) (*node, error) {
	x := &node{kind: Mapping, fields: map[string]*node{}}
	for m.decoder.More() {
		token, err := m.decoder.Token()
		if err != nil {
			return nil, err
		}
		key, _ := token.(string)
		if before, repeated := x.fields[key]; repeated {
			x.replaced = append(x.replaced, replaced{key, before})
			x.repeat(key, 0)
		}
		if x.fields[key], err = m.value(depth + 1); err != nil {
			return nil, err
		}
	}
	_, err := m.decoder.Token()
	return x, err
}
