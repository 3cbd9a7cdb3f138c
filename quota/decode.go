package quota

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// readSnapshot reads the text into the structs of a snapshot, and returns these and how they
// are written. Whether a ledger can have them is for restore.
//
// encoding/json takes a key that is missing for 0, the last one of several, null for nothing,
// and a key that is written otherwise: each would lose amounts without a word. So what it has
// read is written again, and must be what the text has. Unknown keys are ignored, so that a
// later version may add some.
func readSnapshot(data []byte) (doc *snapshotDoc, written json.RawMessage, err error) {
	var text bytes.Buffer
	if json.Compact(&text, data) != nil {
		return nil, nil, fmt.Errorf("%w: not JSON: %s", ErrSnapshot, jsonFault(data, 0))
	}
	// To encoding/json it is another text: an id would come back as that of another job.
	if fault := unicodeFault(data, 0); fault != "" {
		return nil, nil, fmt.Errorf("%w: %s", ErrSnapshot, fault)
	}
	var head map[string]json.RawMessage
	if err := json.Unmarshal(data, &head); err != nil || string(head["format"]) != strconv.Quote(snapshotFormat) {
		return nil, nil, fmt.Errorf("%w: the format is %s: want %q", ErrSnapshot, cmp.Or(brief(string(head["format"])), "missing"), snapshotFormat)
	}
	doc = new(snapshotDoc)
	err = json.Unmarshal(data, doc)
	written = textOf(doc)
	if place, differs := compare(text.Bytes(), written, false); differs != nil {
		return nil, nil, fmt.Errorf("%w: %s %w", ErrSnapshot, strings.TrimPrefix(place, "."), differs)
	}
	// Of a key that may be missing, which isn't written again.
	if wrong := new(json.UnmarshalTypeError); errors.As(err, &wrong) {
		return nil, nil, fmt.Errorf("%w: %s is a %s at byte %d: want another type", ErrSnapshot, wrong.Field, wrong.Value, wrong.Offset)
	}
	return doc, written, nil
}

// compare says where two texts differ, and how: that of a snapshot, and what is here instead.
// Keys that are not here are unknown, or a difference if all count.
func compare(is, here json.RawMessage, all bool) (place string, err error) {
	switch {
	case bytes.Equal(is, here):
		return "", nil
	case is[0] == '{' && here[0] == '{':
		values, wanted := map[string]json.RawMessage{}, map[string]json.RawMessage{}
		_ = json.Unmarshal(here, &wanted)
		unknown := map[string]bool{} // keys, in upper case
		for key, value := range members(string(is)) {
			isUnknown, folded := wanted[key] == nil, strings.ToUpper(strings.ToLower(key))
			switch {
			// Of two amounts nobody knows which was meant.
			case values[key] != nil:
				return "." + brief(key), errors.New("is there twice: want it once")
			// To encoding/json both may be one key that may be missing, of which the last one counts.
			case isUnknown && unknown[folded]:
				return "." + brief(key), errors.New("is there twice, in another case: want it once")
			case isUnknown && all:
				return "." + brief(key), fmt.Errorf("is %s in the snapshot and nothing here: want the same", brief(string(value)))
			}
			values[key], unknown[folded] = value, isUnknown
		}
		for _, key := range sorted(wanted) {
			if values[key] == nil {
				return "." + brief(key), errors.New("is missing")
			}
			if place, err := compare(values[key], wanted[key], all); err != nil {
				return "." + brief(key) + place, err
			}
		}
		return "", nil
	case is[0] == '[' && here[0] == '[':
		var values, wanted []json.RawMessage
		_, _ = json.Unmarshal(is, &values), json.Unmarshal(here, &wanted)
		for i := range min(len(values), len(wanted)) {
			if place, err := compare(values[i], wanted[i], all); err != nil {
				return fmt.Sprintf("[%d]%s", i, place), err
			}
		}
		if len(values) != len(wanted) {
			return "", fmt.Errorf("has %d in the snapshot and %d here: want the same", len(values), len(wanted))
		}
		return "", nil
	}
	// A string may be written in several ways.
	if is[0] == '"' && here[0] == '"' {
		var value, wanted string
		_, _ = json.Unmarshal(is, &value), json.Unmarshal(here, &wanted)
		if value == wanted {
			return "", nil
		}
	}
	return "", fmt.Errorf("is %s in the snapshot and %s here: want the same", brief(string(is)), brief(string(here)))
}
