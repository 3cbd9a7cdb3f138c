package quota

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/resvec/resvec/internal/document"
)

// EntryError is what is wrong, or was left out, in an annotation or a list. Some
// codes are notes, which refuse nothing; see [Code.IsNote].
type EntryError struct {
	Name  string // of the entry, trimmed; empty for the whole text
	Code  Code
	Field string // where it stands: an annotation, by its key; empty where a caller passed the text or list
	Value string // what is written there, as it stands, or cut; of notes what their text needs
}

// Error names the place, the entry, the value, and what would be right.
func (e EntryError) Error() string { return "quota: " + e.text() }

// text is Error without the package.
func (e EntryError) text() string {
	text := e.detail()
	if e.Name != "" {
		text = fmt.Sprintf("%s %q: %s", e.Code.subject(), brief(e.Name), text)
	}
	if e.Field != "" {
		text = oneLine(brief(e.Field)) + ": " + text
	}
	return text
}

// subject is what an entry with this code is called.
func (c Code) subject() string {
	switch c {
	case DuplicateAlternative, UnknownCard, NoResourceForCard, DifferentResource, CardMismatch, SharedCard:
		return "card"
	case IgnoredResource, RoundedUp:
		return "resource"
	}
	return "entry"
}

const (
	wantCount  = "want a whole number of cards from 0 to 9007199254740, in digits"
	wantObject = `want a JSON object of cards and counts, such as {"A100": 2}`
)

// detail is what is wrong, without the name.
func (e EntryError) detail() string {
	value := oneLine(e.Value)
	switch e.Code {
	case Syntax:
		return "the text is not JSON: " + value + ": " + wantObject
	case NotObject:
		return "the text is " + value + ": " + wantObject
	case EmptyName:
		return strconv.Quote(e.Value) + " names no card"
	case AlternativesInQuota:
		return "a quota is of one card, not of alternatives: write an entry for each card"
	case Duplicate:
		return "the card is there more than once, as " + value + ", and none of them counts: write it once"
	case WrongType, NotInteger, Negative, TooLarge:
		return "the count is " + value + ": " + wantCount
	case TooManyAlternatives:
		return value + " alternatives: want at most " + strconv.Itoa(maxAlternatives)
	case EmptyAlternative:
		return "a part of " + strconv.Quote(e.Value) + " is empty and is skipped"
	case DuplicateAlternative:
		return "it is there more than once in " + strconv.Quote(e.Value) + " and counts once"
	case UnknownCard:
		return "no node has or had this card, and nobody declared it: known are " + value
	case NoResourceForCard:
		if value == "" {
			return "no resource carries this card: a pod gets it by a claim, and the task's Cards list it"
		}
		return "this card is carried by " + value + ", of which the pod requests none"
	case DifferentResource:
		return "this card is carried by " + value + ", the alternatives before it by another resource"
	case IgnoredResource:
		return "quotas don't use this resource, only cpu, memory and cards by annotation"
	case CardMismatch:
		return "the task runs on this card, and asks for " + value
	case SharedCard:
		return "the task's item " + value + " has this card already"
	case RoundedUp:
		return "the pod requests " + value + ", and is charged for whole cards"
	}
	return e.Code.String()
}

// Code is the kind of an [EntryError].
type Code uint8

// Of annotations.
const (
	Syntax              Code = iota + 1 // the text is no JSON, or goes on after the object
	NotObject                           // the text is no JSON object
	EmptyName                           // no name is left
	AlternativesInQuota                 // a quota is for one card
	Duplicate                           // the name is there twice; all its entries are dropped
	WrongType                           // the value is no number
	NotInteger                          // the number is not written as an integer
	Negative
	TooLarge             // more than 9007199254740 cards
	TooManyAlternatives  // more than 64
	EmptyAlternative     // a note: a part of the name is empty, and skipped
	DuplicateAlternative // a note: a card is named twice, and the second one skipped
)

// Of lists and requests; all are notes. Behind some stands what Value is.
const (
	UnknownCard       Code = iota + 32 // no node has or had the card, and nobody declared it; the known ones
	NoResourceForCard                  // the pod doesn't ask for a resource that carries the card; these resources
	DifferentResource                  // the card is on another resource than the alternatives before it; that resource
	IgnoredResource                    // a list says something about a resource that the quota doesn't use
	CardMismatch                       // a task runs on a card that it didn't ask for; what it asked for
	SharedCard                         // another item of the task has the card already; the key of that item
	RoundedUp                          // a pod asks for a part of a card, and counts with a whole one; the amount
)

// IsNote reports whether the code refuses nothing.
func (c Code) IsNote() bool {
	return c == EmptyAlternative || c == DuplicateAlternative || c >= UnknownCard
}

var codeNames = map[Code]string{
	Syntax: "Syntax", NotObject: "NotObject", EmptyName: "EmptyName", AlternativesInQuota: "AlternativesInQuota",
	Duplicate: "Duplicate", WrongType: "WrongType", NotInteger: "NotInteger", Negative: "Negative", TooLarge: "TooLarge",
	TooManyAlternatives: "TooManyAlternatives", EmptyAlternative: "EmptyAlternative", DuplicateAlternative: "DuplicateAlternative",
	UnknownCard: "UnknownCard", NoResourceForCard: "NoResourceForCard", DifferentResource: "DifferentResource",
	IgnoredResource: "IgnoredResource", CardMismatch: "CardMismatch", SharedCard: "SharedCard", RoundedUp: "RoundedUp",
}

// String returns the name of the constant.
func (c Code) String() string {
	if name, ok := codeNames[c]; ok {
		return name
	}
	return "Code(" + strconv.Itoa(int(c)) + ")"
}

const (
	maxCards        = 9007199254740 // whose milli-cards are below 2^53
	maxAlternatives = 64
)

// CardCount is an entry of an annotation: a number of cards.
type CardCount struct {
	Cards []string // one in a quota; in a request the alternatives, left preferred
	Count int64
}

// ParseQuota reads the quota annotation of a queue, a JSON object of card to
// count. It returns the good entries, in order of occurrence, and what is wrong
// with the others. Blank text and null have no entries. Under [FailToZero] the
// entries are sorted by name, and an error leaves none.
func ParseQuota(text string, parser Parser) ([]CardCount, []EntryError) {
	return parseCounts(text, parser, func(name string) ([]string, []EntryError) {
		trimmed := strings.TrimSpace(name)
		switch {
		case trimmed == "":
			return nil, []EntryError{{Code: EmptyName, Value: brief(name)}}
		case strings.Contains(trimmed, "|"):
			return nil, []EntryError{{Name: trimmed, Code: AlternativesInQuota}}
		}
		return []string{trimmed}, nil
	})
}

// ParseRequest reads the request annotation of a job, a JSON object of card or
// alternatives to count, as [ParseQuota] does. An error that is no note makes the
// whole request invalid: callers must not use the other entries.
func ParseRequest(text string, parser Parser) ([]CardCount, []EntryError) {
	return parseCounts(text, parser, ParseAlternatives)
}

// ParseAlternatives reads a list of cards separated by |, left preferred, and
// trims the names. Empty and repeated names are skipped with a note. No name at
// all, or more than 64, is an error, and no names are returned.
func ParseAlternatives(text string) (names []string, notes []EntryError) {
	for part := range strings.SplitSeq(text, "|") {
		name := strings.TrimSpace(part)
		switch {
		case name == "":
			notes = append(notes, EntryError{Code: EmptyAlternative, Value: brief(text)})
		case slices.Contains(names, name):
			notes = append(notes, EntryError{Name: name, Code: DuplicateAlternative, Value: brief(text)})
		case len(names) == maxAlternatives:
			return nil, []EntryError{{
				Name: brief(strings.TrimSpace(text)), Code: TooManyAlternatives, Value: strconv.Itoa(strings.Count(text, "|") + 1),
			}}
		default:
			names = append(names, name)
		}
		if len(notes) > maxAlternatives {
			notes = notes[:maxAlternatives]
		}
	}
	if len(names) == 0 {
		return nil, []EntryError{{Code: EmptyName, Value: brief(text)}}
	}
	return names, notes
}

// parseCounts reads an object of name to count. clean makes cards of a name.
func parseCounts(text string, parser Parser, clean func(string) ([]string, []EntryError)) ([]CardCount, []EntryError) {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" || trimmed == "null" {
		return nil, nil
	}
	if fault := jsonFault([]byte(trimmed), strings.Index(text, trimmed)); fault != "" {
		return nil, []EntryError{{Code: Syntax, Value: fault}}
	}
	switch {
	case trimmed[0] != '{':
		return nil, []EntryError{{Code: NotObject, Value: brief(trimmed)}}
	case parser == FailToZero:
		return decodeCounts(trimmed)
	}
	var r countReader
	r.read(trimmed, clean)
	return r.kept(), r.faults
}

// jsonFault says why a text, which begins after so many bytes, is no JSON, and where;
// empty if it is some.
func jsonFault(text []byte, after int) string {
	var value json.RawMessage
	err := json.Unmarshal(text, &value)
	if err == nil {
		return ""
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Sprintf("%v at byte %d", err, syntax.Offset+int64(after))
	}
	return err.Error()
}

// decodeCounts takes what Go decodes into a map[string]int, or nothing.
func decodeCounts(text string) ([]CardCount, []EntryError) {
	counts := map[string]int64{}
	for name, value := range members(text) {
		var count int64
		if err := json.Unmarshal(value, &count); err != nil {
			fault := EntryError{Code: WrongType, Value: fmt.Sprintf("%s for %q", brief(string(value)), brief(name))}
			if isNumber(value) {
				fault.Code = NotInteger
			}
			return nil, []EntryError{fault}
		}
		counts[name] = count
	}
	entries := make([]CardCount, 0, len(counts))
	for _, name := range sorted(counts) {
		entries = append(entries, CardCount{[]string{name}, counts[name]})
	}
	return entries, nil
}

// members returns the members of a valid JSON object in the order in which they are
// written, which a map would not keep apart.
func members(text string) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		dec := json.NewDecoder(strings.NewReader(text))
		_, _ = dec.Token() // the brace: the text is valid
		for dec.More() {
			token, _ := dec.Token()
			name, _ := token.(string)
			var value json.RawMessage
			if dec.Decode(&value) != nil || !yield(name, value) {
				return
			}
		}
	}
}

func isNumber(value json.RawMessage) bool {
	return value[0] == '-' || '0' <= value[0] && value[0] <= '9'
}

// countReader reads the entries of an object one by one.
type countReader struct {
	entries []CardCount
	keys    []string       // of entries
	times   map[string]int // how often a key was there, bad entries included
	first   map[string]string
	faults  []EntryError
}

func (r *countReader) read(text string, clean func(string) ([]string, []EntryError)) {
	r.times, r.first = map[string]int{}, map[string]string{}
	for name, value := range members(text) {
		cards, faults := clean(name)
		key, written := strings.Join(cards, "|"), brief(string(value))
		r.faults = append(r.faults, faults...)
		if cards == nil {
			continue
		}
		switch r.times[key]++; r.times[key] {
		case 1:
			r.first[key] = written
		case 2:
			r.faults = append(r.faults, EntryError{Name: key, Code: Duplicate, Value: r.first[key] + " and " + written})
		}
		count, code := parseCount(value)
		if code != 0 {
			r.faults = append(r.faults, EntryError{Name: key, Code: code, Value: written})
			continue
		}
		r.entries = append(r.entries, CardCount{cards, count})
		r.keys = append(r.keys, key)
	}
}

// kept returns the entries whose names are there once.
func (r *countReader) kept() (entries []CardCount) {
	for i, key := range r.keys {
		if r.times[key] == 1 {
			entries = append(entries, r.entries[i])
		}
	}
	return entries
}

// parseCount reads a JSON value that must be an integer literal, and says what is wrong
// with it.
func parseCount(value json.RawMessage) (int64, Code) {
	text := string(value)
	switch {
	case !isNumber(value):
		return 0, WrongType
	case strings.ContainsAny(text, ".eE"):
		return 0, NotInteger
	}
	digits, negative := strings.CutPrefix(text, "-")
	n, err := strconv.ParseInt(digits, 10, 64)
	switch {
	case negative && (err != nil || n > 0):
		return 0, Negative
	case err != nil || n > maxCards:
		return 0, TooLarge
	}
	return n, 0
}

// brief cuts text for a message. Every legal name stays whole.
func brief(text string) string { return document.Cut(text) }
