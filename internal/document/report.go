package document

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/resvec/resvec/internal/fieldpath"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maxFaults is how many faults an error lists. Its text takes quadratic time.
const maxFaults = 1000

// Report collects what is wrong with a document, or with a configuration that was
// made in another way. The zero value is empty.
//
// A fault of the form says that a document is not one of its kind: it cannot be
// read, has a key twice or one without a meaning, or a value of another type. The
// others are about what values mean. Of these, [Report.Faults] leaves out what
// follows from a value that could not be read.
type Report struct {
	// Sorted lists faults and warnings by path, in the order of bytes; else they
	// are in the order in which they were noted.
	Sorted bool

	faults    []fault
	warnings  field.ErrorList
	unread    map[string]bool // paths of values that could not be read
	cause     error           // why a document could not be read, and in which line
	causeLine int
	sources   []*source // the documents
}

// fault is one fault.
type fault struct {
	*field.Error
	isForm bool
	line   int // 0 when not known
}

// Fail notes a fault that is about the meaning of a value.
func (r *Report) Fail(e *field.Error) { r.faults = append(r.faults, fault{Error: e}) }

// Warn notes a warning.
func (r *Report) Warn(e *field.Error) { r.warnings = append(r.warnings, rooted(e)) }

// malformed notes a fault of the form.
func (r *Report) malformed(e *field.Error, line int) {
	r.faults = append(r.faults, fault{rooted(e), true, line})
}

// rooted returns e with a path also where it is of the document as a whole.
func rooted(e *field.Error) *field.Error {
	if e.Field == "" || e.Field == "[]" {
		e.Field = fieldpath.Root
	}
	return e
}

// leave says that the value at a path could not be read.
func (r *Report) leave(path string) {
	if r.unread == nil {
		r.unread = map[string]bool{}
	}
	r.unread[path] = true
}

// IsUnread reports whether the value at a path, or one that it is in, could not be
// read.
func (r *Report) IsUnread(path string) bool {
	if len(r.unread) == 0 {
		return false
	}
	if r.unread[path] || r.unread[""] {
		return true
	}
	for i, c := range path {
		if (c == '.' || c == '[') && r.unread[path[:i]] {
			return true
		}
	}
	return false
}

// Warnings returns what was noted as a warning, without what follows from a value that
// could not be read.
func (r *Report) Warnings() field.ErrorList {
	r.warnings = slices.DeleteFunc(r.warnings, func(e *field.Error) bool { return r.IsUnread(e.Field) })
	if len(r.warnings) == 0 {
		return nil
	}
	if r.Sorted {
		slices.SortStableFunc(r.warnings, func(a, b *field.Error) int { return cmp.Compare(a.Field, b.Field) })
	}
	return r.warnings
}

// Faults returns all faults, also keys that are there twice in parts of the documents
// that nobody has read.
func (r *Report) Faults() field.ErrorList {
	for _, s := range r.sources {
		Value{s, s.root, s.path}.rest()
	}
	r.sources = nil
	r.faults = slices.DeleteFunc(r.faults, func(f fault) bool { return !f.isForm && r.IsUnread(f.Field) })
	if r.Sorted {
		slices.SortStableFunc(r.faults, func(a, b fault) int { return cmp.Compare(a.Field, b.Field) })
	}
	list := make(field.ErrorList, len(r.faults))
	for i, f := range r.faults {
		list[i] = f.Error
	}
	return list
}

// Err returns all faults as one error, nil when there are none: a [*ParseError]
// with the name of a package where one is of the form, else the Aggregate of
// [Errors].
func (r *Report) Err(pkg string) error {
	err := Errors(r.Faults())
	line, isForm := 0, false
	for _, f := range r.faults {
		isForm = isForm || f.isForm
		if f.line > 0 && (line == 0 || f.line < line) {
			line = f.line
		}
	}
	switch {
	case r.cause != nil:
		return &ParseError{Line: r.causeLine, Err: r.cause, pkg: pkg}
	case isForm:
		return &ParseError{Line: line, Err: err, pkg: pkg}
	}
	return err
}

// ParseError says that a document cannot be read, or that it is not of its kind.
// Err is why it cannot be read; else it is an Aggregate of *field.Error with all
// faults of the document. A ParseError is such an Aggregate itself, also of a
// document that cannot be read. Line is the first line with a fault of the form,
// counted from 1, or 0 when none is known.
type ParseError struct {
	Line int
	Err  error
	pkg  string
}

var _ utilerrors.Aggregate = (*ParseError)(nil)

// Error gives the package, the line when known, and all faults.
func (e *ParseError) Error() string { return e.pkg + ": " + e.text() }

// text is Error without the package.
func (e *ParseError) text() string {
	var list utilerrors.Aggregate
	switch {
	case e.Line == 0:
		return e.Err.Error()
	case errors.As(e.Err, &list) && len(list.Errors()) > 1:
		return fmt.Sprintf("from line %d on: %v", e.Line, e.Err)
	}
	return fmt.Sprintf("line %d: %v", e.Line, e.Err)
}

// Unwrap returns Err.
func (e *ParseError) Unwrap() error { return e.Err }

// Errors returns every fault as a *field.Error.
func (e *ParseError) Errors() []error {
	var list utilerrors.Aggregate
	if errors.As(e.Err, &list) {
		return list.Errors()
	}
	return []error{field.Invalid(field.NewPath(fieldpath.Root), field.OmitValueType{}, Cut(e.text()))}
}

// Is reports whether a fault is target.
func (e *ParseError) Is(target error) bool { return e == target || errors.Is(e.Err, target) }

// Errors returns one error for all of list, equal ones once, and nil when there
// are none. It is a utilerrors.Aggregate, as list.ToAggregate() is, in which
// errors.As finds the first *field.Error too. Of very many, the last one listed
// says how many others there are.
func Errors(list field.ErrorList) error {
	if len(list) == 0 {
		return nil
	}
	if n := len(list); n > maxFaults {
		more := fmt.Sprintf("this and %d more faults are not listed", n-maxFaults)
		last := field.Invalid(field.NewPath(list[maxFaults-1].Field), field.OmitValueType{}, more)
		list = append(list[:maxFaults-1:maxFaults-1], last)
	}
	return &aggregate{list.ToAggregate()}
}

// aggregate is a pointer wherever it is an error: errors.Is compares errors, and
// the one inside cannot be compared.
type aggregate struct{ utilerrors.Aggregate }

// Unwrap returns all errors.
func (a *aggregate) Unwrap() []error { return a.Errors() }

// Cut cuts text that stands in a message or a path. Every legal resource name stays
// whole.
func Cut(text string) string {
	const most = 320
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// OneLine returns text with spaces in the place of characters that end a line or control a
// terminal.
func OneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, text)
}

// EnumName returns the name of a value of an enumeration, as documents and texts write it;
// unknown and the number beyond the names.
func EnumName(value int, names ...string) string {
	if value < len(names) {
		return names[value]
	}
	return fmt.Sprintf("unknown(%d)", value)
}
