package quota

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// decode reads a JSON text, which is valid, into a value of this package, and says of a fault
// where it is, as in .jobs[3].min.cpu. Unlike encoding/json it takes no key for one that is
// written otherwise, none twice, none that is missing for 0, and no null: each would lose
// amounts without a word. Unknown keys are ignored, so that a later version may add some.
func decode(text json.RawMessage, to reflect.Value) (place string, err error) {
	kind := to.Kind()
	switch {
	case kind == reflect.Slice && text[0] == '[':
		return decodeList(text, to)
	case (kind == reflect.Struct || kind == reflect.Map) && text[0] == '{':
		return decodeObject(text, to)
	}
	// By encoding/json, whose rules for numbers and texts are those of what Snapshot wrote.
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

// wanted says what a kind is written as.
var wanted = map[reflect.Kind]string{
	reflect.Struct: "an object", reflect.Map: "an object", reflect.Slice: "a list", reflect.String: "a string", reflect.Bool: "true or false",
	reflect.Int: "a whole number", reflect.Int32: "a whole number", reflect.Pointer: "a whole number", reflect.Uint64: "a whole number, not negative",
	reflect.Int64: "0 to less than 2^53",
}

// decodeList reads a list, which grows as it is read: a text of a few bytes can't ask for
// memory.
func decodeList(text json.RawMessage, to reflect.Value) (place string, err error) {
	var list []json.RawMessage
	_ = json.Unmarshal(text, &list) // it is valid
	for i := range list {
		to.Grow(1)
		to.SetLen(i + 1)
		if place, err := decode(list[i], to.Index(i)); err != nil {
			return fmt.Sprintf("[%d]%s", i, place), err
		}
	}
	return "", nil
}

// decodeObject reads a struct or a map.
func decodeObject(text json.RawMessage, to reflect.Value) (place string, err error) {
	values := map[string]json.RawMessage{}
	for key, value := range members(string(text)) {
		// Of two amounts nobody knows which was meant.
		if values[key] != nil {
			return "." + brief(key), errors.New("is there twice: want it once")
		}
		values[key] = value
	}
	if to.Kind() == reflect.Map {
		to.Set(reflect.MakeMap(to.Type()))
		for _, key := range sorted(values) {
			value := reflect.New(to.Type().Elem()).Elem()
			if place, err := decode(values[key], value); err != nil {
				return "." + brief(key) + place, err
			}
			to.SetMapIndex(reflect.ValueOf(key), value)
		}
		return "", nil
	}
	for i := range to.NumField() {
		key, optional := keyOfField(to, i)
		if value := values[key]; value != nil {
			if place, err := decode(value, to.Field(i)); err != nil {
				return "." + key + place, err
			}
		} else if !optional {
			return "." + key, errors.New("is missing")
		}
	}
	return "", nil
}

// keyOfField returns the key of a field. One with an option, omitempty, may be missing.
func keyOfField(of reflect.Value, i int) (key string, optional bool) {
	key, options, _ := strings.Cut(of.Type().Field(i).Tag.Get("json"), ",")
	return key, options != ""
}

// compare says where two values of this package differ, and how: one of a snapshot, and one
// that a ledger here has.
func compare(snapshot, here reflect.Value) (place string, err error) {
	switch kind := snapshot.Kind(); {
	case kind == reflect.Struct:
		for i := range snapshot.NumField() {
			if place, err := compare(snapshot.Field(i), here.Field(i)); err != nil {
				key, _ := keyOfField(snapshot, i)
				return "." + key + place, err
			}
		}
		return "", nil
	case kind == reflect.Slice:
		for i := range min(snapshot.Len(), here.Len()) {
			if place, err := compare(snapshot.Index(i), here.Index(i)); err != nil {
				return fmt.Sprintf("[%d]%s", i, place), err
			}
		}
		if snapshot.Len() != here.Len() {
			return "", fmt.Errorf("has %d in the snapshot and %d here: want the same", snapshot.Len(), here.Len())
		}
		return "", nil
	case snapshot.Comparable() && snapshot.Equal(here):
		return "", nil
	}
	// A map, a pointer, or what differs.
	is, _ := json.Marshal(snapshot.Interface())
	want, _ := json.Marshal(here.Interface())
	if string(is) != string(want) {
		return "", fmt.Errorf("is %s in the snapshot and %s here: want the same", brief(string(is)), brief(string(want)))
	}
	return "", nil
}
