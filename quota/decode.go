package quota

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// decode reads a JSON text, which is valid, into a struct of this package, and says of a
// fault where it is, as in jobs[3].min.cpu. Unlike encoding/json it takes no key for one that
// is written otherwise, none twice, none that is missing for 0, and no null: each would lose
// amounts without a word. Unknown keys are ignored, so that a later version may add some.
func decode(data []byte, to any) (place string, err error) {
	d := decoder{json.NewDecoder(bytes.NewReader(data)), map[reflect.Type]map[string]decoderField{}}
	place, err = d.value(reflect.ValueOf(to).Elem())
	return strings.TrimPrefix(place, "."), err
}

// decoder reads tokens and so sees each key, also a second one, which a map or a struct of
// encoding/json would hide. The text is valid, so the only token with an error is a number
// beyond a float64, where a list or an object is wanted: that isn't one.
type decoder struct {
	*json.Decoder
	fields map[reflect.Type]map[string]decoderField // by key
}

// decoderField is a field of a struct. Those with an option, omitempty, may be missing.
type decoderField struct {
	index    int
	optional bool
}

// wanted says what a kind is written as.
var wanted = map[reflect.Kind]string{
	reflect.Struct: "an object", reflect.Map: "an object", reflect.Slice: "a list", reflect.String: "a string", reflect.Bool: "true or false",
	reflect.Int: "a whole number", reflect.Int32: "a whole number", reflect.Pointer: "a whole number", reflect.Uint64: "a whole number, not negative",
	reflect.Int64: "0 to less than 2^53",
}

// value reads one value. A list, a map or a struct is read part by part, so that a fault has
// its place; what is smaller encoding/json reads.
func (d *decoder) value(to reflect.Value) (place string, err error) {
	kind := to.Kind()
	if kind == reflect.Struct || kind == reflect.Map || kind == reflect.Slice {
		token, _ := d.Token()
		switch {
		case kind == reflect.Slice && token == json.Delim('['):
			return d.list(to)
		case kind != reflect.Slice && token == json.Delim('{'):
			return d.object(to)
		}
		return "", fmt.Errorf("isn't %s", wanted[kind])
	}
	// By encoding/json, whose rules for numbers and texts are those of what Snapshot wrote.
	var text json.RawMessage
	_ = d.Decode(&text)
	err = json.Unmarshal(text, to.Addr().Interface())
	want := wanted[kind]
	good := err == nil && string(text) != "null" && (kind != reflect.Int64 || exact(to.Int()))
	if _, is := to.Interface().(Amount); is {
		want += " or " + unlimitedText
		good = good || string(text) == unlimitedText // as Snapshot writes it
	}
	if !good {
		return "", fmt.Errorf("is %s: want %s", brief(string(text)), want)
	}
	return "", nil
}

// list reads a list, which grows as it is read: a text of a few bytes can't ask for memory.
func (d *decoder) list(to reflect.Value) (place string, err error) {
	for i := 0; d.More(); i++ {
		to.Grow(1)
		to.SetLen(i + 1)
		if place, err := d.value(to.Index(i)); err != nil {
			return fmt.Sprintf("[%d]%s", i, place), err
		}
	}
	_, _ = d.Token()
	return "", nil
}

// object reads a struct or a map.
func (d *decoder) object(to reflect.Value) (place string, err error) {
	fields, isMap := d.fieldsOf(to.Type()), to.Kind() == reflect.Map
	if isMap {
		to.Set(reflect.MakeMap(to.Type()))
	}
	seen := make(map[string]bool, len(fields))
	for d.More() {
		token, _ := d.Token()
		key, _ := token.(string)
		field, known := fields[key]
		switch {
		// Of two amounts nobody knows which was meant.
		case seen[key]:
			err = errors.New("is there twice: want it once")
		case isMap:
			value := reflect.New(to.Type().Elem()).Elem()
			if place, err = d.value(value); err == nil {
				to.SetMapIndex(reflect.ValueOf(key), value)
			}
		case known:
			place, err = d.value(to.Field(field.index))
		default:
			err = d.Decode(new(json.RawMessage))
		}
		if err != nil {
			return "." + brief(key) + place, err
		}
		seen[key] = true
	}
	// In order, so that of several missing keys the same one is named each time.
	for _, key := range sorted(fields) {
		if !fields[key].optional && !seen[key] {
			return "." + key, errors.New("is missing")
		}
	}
	_, _ = d.Token()
	return "", nil
}

// fieldsOf returns the fields of a struct by their keys; none of a map.
func (d *decoder) fieldsOf(typ reflect.Type) map[string]decoderField {
	fields := d.fields[typ]
	if fields == nil && typ.Kind() == reflect.Struct {
		fields = map[string]decoderField{}
		for i := range typ.NumField() {
			key, options, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			fields[key] = decoderField{i, options != ""}
		}
		// Once per type: a snapshot has as many structs as the ledger records.
		d.fields[typ] = fields
	}
	return fields
}
