package quota

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// entries prints the result of a parser as "A 2, B 3 [C WrongType]".
func entries(counts []Item, faults []entryError) string {
	var parts []string
	for _, c := range counts {
		name := strings.Join(c.Alternatives, "|")
		if c.Milli == Unlimited {
			parts = append(parts, name+" unlimited")
			continue
		}
		parts = append(parts, fmt.Sprintf("%s %d", name, c.Milli/1000))
	}
	s := strings.Join(parts, ", ")
	if len(faults) > 0 {
		var codes []string
		for _, f := range faults {
			codes = append(codes, strings.TrimSpace(f.Name+" "+f.Code))
		}
		s += " [" + strings.Join(codes, ", ") + "]"
	}
	return strings.TrimSpace(s)
}

func TestParse(t *testing.T) {
	for _, c := range []struct{ text, quota, request, zero string }{
		{``, "", "", ""},
		{" \n", "", "", ""},
		{`null`, "", "", ""},
		{`{"4090":2}`, "4090 2", "4090 2", "4090 2"},
		{`{"4090":0}`, "4090 0", "4090 0", "4090 0"},
		{`{"A":-0}`, "A 0", "A 0", "A 0"},
		{`{"X": 2`, "[Syntax]", "[Syntax]", "[Syntax]"},
		{`{"A":1} x`, "[Syntax]", "[Syntax]", "[Syntax]"},
		{`{"A":1}{"B":1}`, "[Syntax]", "[Syntax]", "[Syntax]"},
		{`[1]`, "[NotObject]", "[NotObject]", "[NotObject]"},
		{`3`, "[NotObject]", "[NotObject]", "[NotObject]"},
		{`{"A":2,"B":2.5,"C":"3","D":-1,"E":1}`,
			"A 2, E 1 [B NotInteger, C WrongType, D Negative]",
			"A 2, E 1 [B NotInteger, C WrongType, D Negative]",
			"[NotInteger]"},
		{`{"A":{"x":[1,{}]},"B":true,"C":5,"D":null}`, "C 5 [A WrongType, B WrongType, D WrongType]",
			"C 5 [A WrongType, B WrongType, D WrongType]", "[WrongType]"},
		{`{"A":1,"A":2,"B":3}`, "B 3 [A Duplicate]", "B 3 [A Duplicate]", "A 2, B 3"},
		{`{"A":1," A ":2,"A":"x","B":3}`, "B 3 [A Duplicate, A WrongType]", "B 3 [A Duplicate, A WrongType]", "[WrongType]"},
		{`{" A ":1}`, "A 1", "A 1", "A  1"},
		{`{"":1," ":2}`, "[EmptyName, EmptyName]", "[EmptyName, EmptyName]", "1,   2"},
		{`{"A|B":3}`, "[A|B AlternativesInQuota]", "A|B 3", "A|B 3"},
		{`{"A | B":3,"A|B":1,"B|A":2}`, "[A | B AlternativesInQuota, A|B AlternativesInQuota, B|A AlternativesInQuota]", "B|A 2 [A|B Duplicate]", "A | B 3, A|B 1, B|A 2"},
		{`{"|A||A|":1}`, "[|A||A| AlternativesInQuota]", "A 1 [EmptyAlternative, EmptyAlternative, A DuplicateAlternative, EmptyAlternative]", "|A||A| 1"},
		{`{"A":9007199254740}`, "A 9007199254740", "A 9007199254740", "A 9007199254740"},
		{`{"A":9007199254741}`, "A unlimited [A Unlimited]", "[A TooLarge]", "A unlimited [A Unlimited]"},
		{`{"A":9223372036854775807}`, "A unlimited [A Unlimited]", "[A TooLarge]", "A unlimited [A Unlimited]"},
		{`{"A":-99999999999999999999,"B":99999999999999999999}`, "B unlimited [A Negative, B Unlimited]", "[A Negative, B TooLarge]", "[NotInteger]"},
		{`{"A":99999999999999999999,"A":2}`, "[A Duplicate]", "[A TooLarge, A Duplicate]", "[NotInteger]"},
		{`{"A":1e3,"B":1E3,"C":1.0}`, "[A NotInteger, B NotInteger, C NotInteger]", "[A NotInteger, B NotInteger, C NotInteger]", "[NotInteger]"},
		{`{"A":null}`, "[A WrongType]", "[A WrongType]", "A 0"},
		{`{"A":-3}`, "[A Negative]", "[A Negative]", "A -3"},
		{"{\"A\xff\":1}", "[Syntax]", "[Syntax]", "A\ufffd 1"},
		{"{\"A\":1, \"B\": \"\xc3\"}", "[Syntax]", "[Syntax]", "[WrongType]"},
		{`{"\ud800":1}`, "[Syntax]", "[Syntax]", "\ufffd 1"},
		{`{"\ude42\ud83d":1}`, "[Syntax]", "[Syntax]", "\ufffd\ufffd 1"},
		{`{"\ud83d\ude42":1,"\ufffd":2,"\\ud800":3}`, "\U0001F642 1, \ufffd 2, \\ud800 3", "\U0001F642 1, \ufffd 2, \\ud800 3", "\\ud800 3, \ufffd 2, \U0001F642 1"},
	} {
		if got := entries(parseQuota(c.text, false)); got != c.quota {
			t.Errorf("quota %s: %s, want %s", c.text, got, c.quota)
		}
		if got := entries(parseRequest(c.text, false)); got != c.request {
			t.Errorf("request %s: %s, want %s", c.text, got, c.request)
		}
		if got := entries(parseQuota(c.text, true)); got != c.zero {
			t.Errorf("fail to zero %s: %q, want %q", c.text, got, c.zero)
		}
	}
}

func TestParseAlternatives(t *testing.T) {
	many := strings.Repeat("a|b|", 40)
	for i := range 65 {
		many += fmt.Sprintf("c%d|", i)
	}
	for _, c := range []struct{ text, want string }{
		{"A | B", "A|B 0"},
		{"A|A|B", "A|B 0 [A DuplicateAlternative]"},
		{"H100| A100|H100 |V100", "H100|A100|V100 0 [H100 DuplicateAlternative]"},
		{"", "[EmptyName]"},
		{" | | ", "[EmptyName]"},
		{"A||B", "A|B 0 [EmptyAlternative]"},
	} {
		names, notes := parseAlternatives(c.text)
		var counts []Item
		if names != nil {
			counts = []Item{{Alternatives: names}}
		}
		if got := entries(counts, notes); got != c.want {
			t.Errorf("%q: %s, want %s", c.text, got, c.want)
		}
	}
	if names, notes := parseAlternatives(many); names != nil || len(notes) != 1 || notes[0].Code != codeTooManyAlternatives {
		t.Errorf("too many: %v %v", names, notes)
	}
}

// FuzzParse checks what no text may break: only clean names, counts in range, no
// name twice, and an error for every entry that was dropped.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{`{"A":1}`, `{"A|B ":2,"C":{"x":[]}}`, `{"A":1,"A":2}`, `{"a":1e999}`, `{"\ud800":1}`, `{"\ud83d\ude42":1}`, "{\"\xff\":1}", `[[[[`, `{"A":-0}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, parse := range []func(string, bool) ([]Item, []entryError){parseQuota, parseRequest} {
			counts, faults := parse(text, false)
			seen := map[string]bool{}
			for _, c := range counts {
				key := strings.Join(c.Alternatives, "|")
				if key == "" || seen[key] || !exact(c.Milli) || c.Milli%1000 != 0 || len(c.Alternatives) > maxAlternatives {
					t.Fatalf("%q: bad entry %v", text, c)
				}
				seen[key] = true
				if !utf8.ValidString(text) {
					t.Fatalf("%q: not UTF-8, and read as %v", text, c)
				}
				for _, name := range c.Alternatives {
					if name != strings.TrimSpace(name) || name == "" || strings.Contains(name, "|") {
						t.Fatalf("%q: bad name %q", text, name)
					}
				}
			}
			for _, fault := range faults {
				if fault.Code == "" || fault.Error() == "" {
					t.Fatalf("%q: bad fault %v", text, fault)
				}
			}
			_, _ = parse(text, true)
		}
	})
}
