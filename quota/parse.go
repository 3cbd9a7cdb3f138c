package quota

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// entryError says what is wrong with an entry of an annotation or a list, or, as a note,
// what was read otherwise than written.
type entryError struct {
	Name  string // of the entry, trimmed; empty: the whole text
	Code  string // such as Duplicate or UnknownCard
	Field string // where it stands: the key of an annotation; empty: a list of the caller
	Value string // what is written there, or cut
}

// Error names the place, the entry, the value and what would be right.
func (e entryError) Error() string { return "quota: " + e.text() }

// text is Error without the package.
func (e entryError) text() string {
	text := e.detail()
	if e.Name != "" {
		what := cmp.Or(entryCodes[e.Code].what, "entry")
		if e.Code == codeUnlimited && e.Field == listCapability {
			what = "resource"
		}
		text = fmt.Sprintf("%s %q: %s", what, brief(e.Name), text)
	}
	if e.Field != "" {
		text = oneLine(brief(e.Field)) + ": " + text
	}
	return text
}

// detail is what is wrong, without the name.
func (e entryError) detail() string {
	if e.Code == codeNoResourceForCard && e.Value == "" {
		return "no resource carries this card: a pod gets it by a claim, and the task's Cards list it"
	}
	text := cmp.Or(entryCodes[e.Code].text, e.Code)
	return strings.NewReplacer("%s", oneLine(e.Value), "%q", strconv.Quote(e.Value)).Replace(text)
}

// isNote reports whether nothing is refused because of the entry.
func (e entryError) isNote() bool { return entryCodes[e.Code].note }

const (
	codeSyntax               = "Syntax"
	codeNotObject            = "NotObject"
	codeEmptyName            = "EmptyName"
	codeAlternativesInQuota  = "AlternativesInQuota"
	codeDuplicate            = "Duplicate"
	codeWrongType            = "WrongType"
	codeNotInteger           = "NotInteger"
	codeNegative             = "Negative"
	codeTooLarge             = "TooLarge"
	codeTooManyAlternatives  = "TooManyAlternatives"
	codeEmptyAlternative     = "EmptyAlternative"
	codeDuplicateAlternative = "DuplicateAlternative"
	codeUnknownCard          = "UnknownCard"
	codeNoResourceForCard    = "NoResourceForCard"
	codeDifferentResource    = "DifferentResource"
	codeIgnoredResource      = "IgnoredResource"
	codeIgnoredAnnotation    = "IgnoredAnnotation"
	codeCardMismatch         = "CardMismatch"
	codeSharedCard           = "SharedCard"
	codeUnnamedCards         = "UnnamedCards"
	codePartOfDevice         = "PartOfDevice"
	codeRoundedDown          = "RoundedDown"
	codeRoundedUp            = "RoundedUp"
	codeUnlimited            = "Unlimited"
)

const (
	wantCount  = "want a whole number of cards from 0 to 9007199254740, in digits"
	wantObject = `want a JSON object of cards and counts, such as {"A100": 2}`
)

// entryCodes says of each code what the name is of, empty for an entry; whether it is a note,
// because of which nothing is refused; and what is wrong, with Value in the place of %s or,
// in quotes, %q.
var entryCodes = map[string]struct {
	what string
	note bool
	text string
}{
	// Of annotations.
	codeSyntax:               {"", false, "the text is not JSON: %s: " + wantObject},
	codeNotObject:            {"", false, "the text is %s: " + wantObject},
	codeEmptyName:            {"", false, "%q names no card"},
	codeAlternativesInQuota:  {"", false, "a quota is of one card, not of alternatives: write an entry for each card"},
	codeDuplicate:            {"", false, "the card is there more than once, as %s, and none of them counts: write it once"},
	codeWrongType:            {"", false, "the count is %s: " + wantCount},
	codeNotInteger:           {"", false, "the count is %s: " + wantCount}, // not written as an integer, such as 2.0
	codeNegative:             {"", false, "the count is %s: " + wantCount},
	codeTooLarge:             {"", false, "the count is %s: " + wantCount},
	codeTooManyAlternatives:  {"", false, "%s alternatives: want at most " + strconv.Itoa(maxAlternatives)},
	codeEmptyAlternative:     {"", true, "a part of %q is empty and is skipped"},
	codeDuplicateAlternative: {"card", true, "it is there more than once in %q and counts once"},
	// Of lists and requests.
	codeUnknownCard:       {"card", true, "no node has or had this card, and nobody declared it: known are %s"},
	codeNoResourceForCard: {"card", true, "this card is carried by %s, of which the pod requests none"},
	codeDifferentResource: {"card", true, "this card is carried by %s, the alternatives before it by another resource"},
	codeIgnoredResource:   {"resource", true, "quotas don't use this resource, only cpu, memory, cards by annotation and Config.Outputs"},
	codeIgnoredAnnotation: {"", true, "the annotation counts for nothing: %s"},
	codeCardMismatch:      {"card", true, "the task runs on this card, and asks for %s"},
	codeSharedCard:        {"card", true, "the task's item %s has this card already"},
	codeUnnamedCards:      {"resource", true, "the amount is %s, and no card is named: it counts when the job's annotation names cards, or its pods are there"}, // of a job's minResources
	codePartOfDevice:      {"resource", true, "the amount is %s, a part of a device, and counts on no card: the task's Cards can say on which"},                 // by Koordinator's names
	codeRoundedDown:       {"resource", true, "the amount is %s: is the suffix m, for thousandths, meant?"},
	codeRoundedUp:         {"resource", true, "the pod requests %s, and is charged for whole cards"},
	codeUnlimited:         {"", true, "the amount is %s, more than can be counted: it is no limit"}, // of a capability, of a resource
}

const (
	maxCards        = 9007199254740 // whose milli-cards are below 2^53
	maxAlternatives = 64
)

// parseQuota reads the quota annotation of a queue, a JSON object of card to count. It
// returns the good entries in order of occurrence, with failToZero by name, and what is
// wrong with the others. Blank text and null have no entries. Whoever writes more cards than
// can be counted means that there is no limit: such an entry is Unlimited, with a note.
func parseQuota(text string, failToZero bool) ([]Item, []entryError) {
	return parseCounts(text, failToZero, true)
}

// quotaName reads the name of an entry of a quota.
func quotaName(name string) ([]string, []entryError) {
	trimmed := strings.TrimSpace(name)
	switch {
	case trimmed == "":
		return nil, []entryError{{Code: codeEmptyName, Value: brief(name)}}
	case strings.Contains(trimmed, "|"):
		return nil, []entryError{{Name: trimmed, Code: codeAlternativesInQuota}}
	}
	return []string{trimmed}, nil
}

// parseCards is parseQuota for cards that are no text.
func parseCards(cards map[string]int64) ([]Item, []entryError) {
	return readCounts(func(yield func(string, json.RawMessage) bool) {
		for _, name := range sorted(cards) {
			// A bad name is a fault already, and can't be that of a dimension.
			if !yield(strings.ToValidUTF8(name, "\uFFFD"), strconv.AppendInt(nil, cards[name], 10)) {
				return
			}
		}
	}, true)
}

// parseRequest reads the request annotation of a job, a JSON object of card or
// alternatives to count, as parseQuota does. An error that is no note makes the whole
// request invalid.
func parseRequest(text string, failToZero bool) ([]Item, []entryError) {
	return parseCounts(text, failToZero, false)
}

// parseAlternatives reads a list of cards separated by |, left preferred, and trims the
// names. Empty and repeated names are skipped with a note. No name at all, or more than 64,
// is an error, and no names are returned. For example A|A| B gives A, B and a note, and a
// text of bars alone an error.
func parseAlternatives(text string) (names []string, notes []entryError) {
	for part := range strings.SplitSeq(text, "|") {
		name := strings.TrimSpace(part)
		switch {
		case name == "":
			notes = append(notes, entryError{Code: codeEmptyAlternative, Value: brief(text)})
		case slices.Contains(names, name):
			notes = append(notes, entryError{Name: name, Code: codeDuplicateAlternative, Value: brief(text)})
		case len(names) == maxAlternatives:
			return nil, []entryError{{
				Name: brief(strings.TrimSpace(text)), Code: codeTooManyAlternatives, Value: strconv.Itoa(strings.Count(text, "|") + 1),
			}}
		default:
			names = append(names, name)
		}
		// A text of ten thousand bars must not make as many notes.
		if len(notes) > maxAlternatives {
			notes = notes[:maxAlternatives]
		}
	}
	if len(names) == 0 {
		return nil, []entryError{{Code: codeEmptyName, Value: brief(text)}}
	}
	return names, notes
}

// parseCounts reads an object of name to count, of a quota or of a request.
//
// A strict reader keeps the good entries: of {"A":2, "B":2.5, "C":"3"} it takes two cards
// A, and says of B and C why not. So one typing error in a quota takes no other card away.
func parseCounts(text string, failToZero, isQuota bool) ([]Item, []entryError) {
	trimmed := strings.TrimSpace(text)
	// Nothing is said, which is no fault: the default of what is missing holds.
	if trimmed == "" || trimmed == "null" {
		return nil, nil
	}
	if fault := jsonFault([]byte(trimmed), strings.Index(text, trimmed)); fault != "" {
		return nil, []entryError{{Code: codeSyntax, Value: fault}}
	}
	switch {
	case trimmed[0] != '{':
		return nil, []entryError{{Code: codeNotObject, Value: brief(trimmed)}}
	// The rule of upstream's plugin, for hosts that must decide as it does.
	case failToZero:
		return decodeCounts(trimmed, isQuota)
	}
	if fault := unicodeFault([]byte(trimmed), strings.Index(text, trimmed)); fault != "" {
		return nil, []entryError{{Code: codeSyntax, Value: fault}}
	}
	return readCounts(members(trimmed), isQuota)
}

// jsonFault says why a text, which begins after so many bytes, is no JSON, and where; empty
// if it is some. The place counts from the beginning of what the user wrote, with the space
// before it.
func jsonFault(text []byte, after int) string {
	var syntax *json.SyntaxError
	if !errors.As(json.Unmarshal(text, new(json.RawMessage)), &syntax) {
		return ""
	}
	return fmt.Sprintf("%v at byte %d", syntax, syntax.Offset+int64(after))
}

// unicodeFault says why JSON, which begins after so many bytes, has strings that are no text,
// and where; empty if it has none. encoding/json reads U+FFFD then, so that two names become one.
func unicodeFault(text []byte, after int) string {
	if !utf8.Valid(text) {
		at := 0
		for r, size := utf8.DecodeRune(text); r != utf8.RuneError || size != 1; r, size = utf8.DecodeRune(text[at:]) {
			at += size
		}
		return fmt.Sprintf("not UTF-8 at byte %d", at+1+after)
	}
	// A character beyond 16 bits may be written as two escapes, such as \ud83d\ude42. One of them
	// alone is none.
	for at := 0; ; {
		next := bytes.IndexByte(text[at:], '\\')
		if next < 0 {
			return ""
		}
		at += next
		size, r := utf16Escape(text[at:])
		if utf16.IsSurrogate(r) {
			more, low := utf16Escape(text[at+size:])
			if utf16.DecodeRune(r, low) == utf8.RuneError {
				return fmt.Sprintf("half of a UTF-16 pair, %s, at byte %d", text[at:at+size], at+1+after)
			}
			size += more
		}
		at += size
	}
}

// utf16Escape reads an escape at the beginning of a text, and returns its size. Of one that isn't
// written as UTF-16, or of none, the code is 0.
func utf16Escape(text []byte) (size int, code rune) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 2, 0
	}
	n, _ := strconv.ParseUint(string(text[2:6]), 16, 16) // valid JSON has four digits
	return 6, rune(n)
}

// decodeCounts takes what Go decodes into a map[string]int, or nothing: names as they
// stand, the last of several. One bad entry drops all, as upstream. A fault names one of
// them. Of {"A":1, "A":2} it takes two cards A, and of {"A":2, "B":2.5} nothing.
func decodeCounts(text string, isQuota bool) (entries []Item, notes []entryError) {
	// A map, as upstream has one: of a name that is there twice the last one counts.
	counts := map[string]int64{}
	for name, value := range members(text) {
		var count int64
		if err := json.Unmarshal(value, &count); err != nil {
			fault := entryError{Code: codeWrongType, Value: fmt.Sprintf("%s for %q", brief(string(value)), brief(name))}
			if isNumber(value) {
				fault.Code = codeNotInteger
			}
			return nil, []entryError{fault}
		}
		counts[name] = count
	}
	entries = make([]Item, 0, len(counts))
	for _, name := range sorted(counts) {
		it := Item{Alternatives: []string{name}, Milli: milliCards(counts[name])}
		// Of a quota it means no limit, as for the strict parser; of a request it stays a
		// fault.
		if isQuota && counts[name] > maxCards {
			it.Milli = Unlimited
			notes = append(notes, entryError{Name: name, Code: codeUnlimited, Value: strconv.FormatInt(counts[name], 10)})
		}
		entries = append(entries, it)
	}
	return entries, notes
}

// milliCards returns a number of cards in milli-cards, or the nearest int64: whoever uses
// the amount says that it is out of range.
func milliCards(count int64) int64 {
	// A product beyond int64 could come back as a small amount.
	const most = Unlimited / 1000
	switch {
	case count > most:
		return Unlimited
	case count < -most:
		return -Unlimited
	}
	return 1000 * count
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

// isNumber reports whether a JSON value is a number. The text is valid, so its first byte
// says so.
func isNumber(value json.RawMessage) bool {
	return value[0] == '-' || '0' <= value[0] && value[0] <= '9'
}

// readCounts reads the entries of an object, of which only those count whose names are
// there once: of two amounts the first, the last or the sum could each open more than was
// meant.
func readCounts(members iter.Seq2[string, json.RawMessage], isQuota bool) (entries []Item, faults []entryError) {
	clean := parseAlternatives
	if isQuota {
		clean = quotaName
	}
	times, first := map[string]int{}, map[string]string{}
	for name, value := range members {
		cards, wrong := clean(name)
		key, written := strings.Join(cards, "|"), brief(string(value))
		faults = append(faults, wrong...)
		if cards == nil {
			continue
		}
		// Bad entries are counted, too: of two entries of a card, one good, nobody knows which
		// was meant.
		switch times[key]++; times[key] {
		case 1:
			first[key] = written
		case 2:
			faults = append(faults, entryError{Name: key, Code: codeDuplicate, Value: first[key] + " and " + written})
		}
		// More cards than can be counted is no limit, as in the lists of a queue. In a
		// request it is a fault.
		count, code := parseCount(value)
		if isQuota && code == codeTooLarge {
			count, code = Unlimited, codeUnlimited
		}
		if code != "" {
			faults = append(faults, entryError{Name: key, Code: code, Value: written})
		}
		if code == "" || code == codeUnlimited {
			entries = append(entries, Item{Alternatives: cards, Milli: milliCards(count)})
		}
	}
	entries = slices.DeleteFunc(entries, func(it Item) bool { return times[strings.Join(it.Alternatives, "|")] > 1 })
	return entries, slices.DeleteFunc(faults, func(e entryError) bool { return e.Code == codeUnlimited && times[e.Name] > 1 })
}

// parseCount reads a JSON value that must be an integer literal, and says what is wrong
// with it.
func parseCount(value json.RawMessage) (int64, string) {
	text := string(value)
	switch {
	case !isNumber(value):
		return 0, codeWrongType
	// 2.0 and 2e0 are whole, and not written as counts of cards are.
	case strings.ContainsAny(text, ".eE"):
		return 0, codeNotInteger
	}
	// The sign apart: a number of any length that is below 0 is negative, and not too large.
	digits, negative := strings.CutPrefix(text, "-")
	n, err := strconv.ParseInt(digits, 10, 64)
	switch {
	// -0 is 0. A number that is too small for an int64 is negative all the same.
	case negative && (err != nil || n > 0):
		return 0, codeNegative
	case err != nil || n > maxCards:
		return 0, codeTooLarge
	}
	return n, ""
}
