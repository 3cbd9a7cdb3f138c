package quota

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/resvec/resvec/internal/document"
)

// EntryError is what is wrong, or was left out, in an annotation or a list. Some
// codes are notes, which refuse nothing; see [Code.IsNote].
type EntryError struct {
	Name string // of the entry, trimmed; empty for the whole text
	Code Code
}

// Error names the entry and what is wrong with it.
func (e EntryError) Error() string {
	return "quota: " + e.text()
}

// text is Error without the package.
func (e EntryError) text() string {
	what, ok := codeTexts[e.Code]
	if !ok {
		what = e.Code.String()
	}
	if e.Name == "" {
		return what
	}
	return fmt.Sprintf("entry %q: %s", brief(e.Name), what)
}

var codeTexts = map[Code]string{
	Syntax: "the text is not JSON", NotObject: "the text is not a JSON object", EmptyName: "there is no name",
	AlternativesInQuota: "a quota is for one card, not for alternatives", Duplicate: "the name is there more than once",
	WrongType: "the count is not a number", NotInteger: "the count is not written as an integer",
	Negative: "the count is negative", TooLarge: "the count is too large",
	TooManyAlternatives: "there are more than 64 alternatives", EmptyAlternative: "an empty alternative was skipped",
	DuplicateAlternative: "the alternative is there more than once",
	UnknownCard:          "no node has or had this card, and nobody declared it",
	NoResourceForCard:    "the pod asks for no resource that carries this card",
	DifferentResource:    "another resource carries this card than the alternatives before it",
	IgnoredResource:      "quotas don't use this resource, only cpu, memory and cards by annotation",
	CardMismatch:         "a task runs on this card and didn't ask for it",
	SharedCard:           "another item of the task has this card already",
	RoundedUp:            "the pod asks for no whole number, and was rounded up to whole cards",
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

// Of lists and requests; all are notes.
const (
	UnknownCard       Code = iota + 32 // no node has or had the card, and nobody declared it
	NoResourceForCard                  // the pod doesn't ask for a resource that carries the card
	DifferentResource                  // the card is on another resource than the alternatives before it
	IgnoredResource                    // a list says something about a resource that the quota doesn't use
	CardMismatch                       // a task runs on a card that it didn't ask for
	SharedCard                         // another item of the task has the card already
	RoundedUp                          // a pod asks for a part of a card, and counts with a whole one
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
		name = strings.TrimSpace(name)
		switch {
		case name == "":
			return nil, []EntryError{{Code: EmptyName}}
		case strings.Contains(name, "|"):
			return nil, []EntryError{{name, AlternativesInQuota}}
		}
		return []string{name}, nil
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
			notes = append(notes, EntryError{Code: EmptyAlternative})
		case slices.Contains(names, name):
			notes = append(notes, EntryError{name, DuplicateAlternative})
		case len(names) == maxAlternatives:
			return nil, []EntryError{{brief(strings.TrimSpace(text)), TooManyAlternatives}}
		default:
			names = append(names, name)
		}
		if len(notes) > maxAlternatives {
			notes = notes[:maxAlternatives]
		}
	}
	if len(names) == 0 {
		return nil, []EntryError{{Code: EmptyName}}
	}
	return names, notes
}

// parseCounts reads an object of name to count. clean makes cards of a name.
func parseCounts(text string, parser Parser, clean func(string) ([]string, []EntryError)) ([]CardCount, []EntryError) {
	trimmed := strings.TrimSpace(text)
	switch {
	case trimmed == "" || trimmed == "null":
		return nil, nil
	case !json.Valid([]byte(trimmed)):
		return nil, []EntryError{{Code: Syntax}}
	case trimmed[0] != '{':
		return nil, []EntryError{{Code: NotObject}}
	case parser == FailToZero:
		return decodeCounts(trimmed)
	}
	var r countReader
	r.read(trimmed, clean)
	return r.kept(), r.faults
}

// decodeCounts takes what Go decodes into a map[string]int, or nothing.
func decodeCounts(text string) ([]CardCount, []EntryError) {
	var counts map[string]int64
	if err := json.Unmarshal([]byte(text), &counts); err != nil {
		fault := EntryError{Code: WrongType}
		var typeErr *json.UnmarshalTypeError
		if errors.As(err, &typeErr) && strings.HasPrefix(typeErr.Value, "number") {
			fault.Code = NotInteger
		}
		return nil, []EntryError{fault}
	}
	entries := make([]CardCount, 0, len(counts))
	for _, name := range sorted(counts) {
		entries = append(entries, CardCount{[]string{name}, counts[name]})
	}
	return entries, nil
}

// countReader reads the entries of a valid JSON object one by one, which a map
// would not keep apart.
type countReader struct {
	entries []CardCount
	keys    []string       // of entries
	times   map[string]int // how often a key was there, bad entries included
	faults  []EntryError
}

func (r *countReader) read(text string, clean func(string) ([]string, []EntryError)) {
	r.times = map[string]int{}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	_, _ = dec.Token() // the brace: the text is valid
	for dec.More() {
		token, _ := dec.Token()
		name, _ := token.(string)
		cards, faults := clean(name)
		key := strings.Join(cards, "|")
		count, code := readCount(dec)
		r.faults = append(r.faults, faults...)
		if cards == nil {
			continue
		}
		if r.times[key]++; r.times[key] == 2 {
			r.faults = append(r.faults, EntryError{key, Duplicate})
		}
		if code != 0 {
			r.faults = append(r.faults, EntryError{key, code})
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

// readCount reads a value of any type, and says what is wrong with it.
func readCount(dec *json.Decoder) (int64, Code) {
	token, _ := dec.Token()
	switch v := token.(type) {
	case json.Number:
		return parseCount(string(v))
	case json.Delim:
		for depth := 1; depth > 0; {
			token, err := dec.Token()
			if err != nil {
				return 0, WrongType
			}
			switch token {
			case json.Delim('{'), json.Delim('['):
				depth++
			case json.Delim('}'), json.Delim(']'):
				depth--
			}
		}
	}
	return 0, WrongType
}

// parseCount reads a JSON number that must be an integer literal.
func parseCount(text string) (int64, Code) {
	if strings.ContainsAny(text, ".eE") {
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
