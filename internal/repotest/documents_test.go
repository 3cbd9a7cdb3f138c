package repotest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/resvec/resvec/device/share"
	"github.com/resvec/resvec/internal/document"
	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/transform"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// parsers are the readers of configuration documents.
var parsers = map[string]func(data []byte) error{
	"scoring.ParseArguments":       func(data []byte) error { _, _, err := scoring.ParseArguments(data); return err },
	"scoring.ParseSchedulerConf":   func(data []byte) error { _, _, err := scoring.ParseSchedulerConf(data); return err },
	"scoring.ParseScoringStrategy": func(data []byte) error { return second(scoring.ParseScoringStrategy(data)) },
	"scoring.ParseLoad":            func(data []byte) error { return second(scoring.ParseLoad(data)) },
	"transform.Parse":              func(data []byte) error { _, _, err := transform.Parse(data, transform.ShapeAuto); return err },
	"share.ParseScoringStrategy":   func(data []byte) error { return second(share.ParseScoringStrategy(data)) },
}

// TestUnreadableDocuments: every package says the same of a document that it cannot
// read, with the same type of error.
func TestUnreadableDocuments(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "the document is empty",
		"# nothing\n---\n":         "the document is empty",
		"null":                     "the document is empty",
		"a: 1\n---\nb: 2":          "line 3: a second document",
		"a: \xff":                  "line 1: not UTF-8",
		"a:\n\t- 1":                "line 2: found character that cannot start any token",
		"a: {b: 1,\n yes: 2}":      `line 2: the key "yes" is not a string: quote it`,
		"a: *b":                    "unknown anchor 'b' referenced",
		strings.Repeat("[", 200):   "line 1: did not find expected node content",
		"[1]":                      "line 1: (document): Invalid value: must be a mapping, not a list",
		"5":                        "line 1: (document): Invalid value: 5: must be a mapping, not a number",
		"1e400":                    "line 1: (document): Invalid value: 1e400: must be a mapping, not a number",
		"\n\nmost":                 `line 3: (document): Invalid value: "most": must be a mapping, not a string`,
		strings.Repeat(" ", 5<<20): "5242880 bytes, more than ",
		strings.Repeat("{a: ", 101) + strings.Repeat("}", 101): "line 1: nested deeper than 100 levels",
	} {
		for name, parse := range parsers {
			err := parse([]byte(text))
			var same *document.ParseError
			if !errors.As(err, &same) {
				t.Errorf("%s of %.60q: %v", name, text, err)
				continue
			}
			pkg, _, _ := strings.Cut(name, ".")
			if got := err.Error(); !strings.HasPrefix(got, pkg+": "+want) || !strings.HasSuffix(want, " ") && len(got) != len(pkg+": "+want) {
				t.Errorf("%s of %.60q: %s, want %s", name, text, got, want)
			}
			if list := same.Errors(); len(list) != 1 || list[0].(*field.Error).Field != "(document)" {
				t.Errorf("%s of %.60q: %v", name, text, list)
			}
		}
	}
}

// TestUnknownKeys: every package lists the same number of faults, and cuts what it
// repeats at the same place.
func TestUnknownKeys(t *testing.T) {
	var many strings.Builder
	many.WriteString("{")
	for i := range 5000 {
		fmt.Fprintf(&many, "k%04d: 1, ", i)
	}
	many.WriteString("}")
	long := strings.Repeat("x", 500)
	for name, parse := range parsers {
		if name == "scoring.ParseSchedulerConf" { // which leaves other keys to Volcano
			continue
		}
		faults := func(text string) []*field.Error {
			var same *document.ParseError
			err := parse([]byte(text))
			if !errors.As(err, &same) || same.Line != 1 {
				t.Fatalf("%s of %.60q: %v", name, text, err)
			}
			var list []*field.Error
			for _, e := range same.Errors() {
				list = append(list, e.(*field.Error))
			}
			return list
		}

		one := faults("zzz: 1")
		if len(one) != 1 || one[0].Field != "zzz" || one[0].Type != field.ErrorTypeNotSupported || one[0].BadValue != "zzz" || !strings.HasPrefix(one[0].Detail, `supported values: "`) {
			t.Errorf("%s: %v", name, one)
		}
		cut := faults(long + ": 1")
		if want := long[:320] + "…"; len(cut) != 1 || cut[0].Field != want || cut[0].BadValue != want {
			t.Errorf("%s: %v", name, cut)
		}
		list := faults(many.String())
		if last := list[len(list)-1]; len(list) != 1000 || last.Field != "k0999" || last.Detail != "this and 4000 more faults are not listed" {
			t.Errorf("%s: %d faults, last %v", name, len(list), last)
		}
		twice := faults("{zzz: 1, zzz: 2}")
		if len(twice) != 2 || twice[0].Field != "zzz" || twice[1].Field != "zzz" {
			t.Errorf("%s: %v", name, twice)
		}
	}
}
