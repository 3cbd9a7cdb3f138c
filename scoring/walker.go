package scoring

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/resvec/resvec/internal/document"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// walker reads the values of a document and notes what is wrong with them. null
// stands for a value that is absent.
type walker struct {
	o Option
	r *report
}

// object reads a mapping. It returns nil for anything else; ok is false when that
// is not null, which is noted.
func (w *walker) object(v any, path string) (x document.Object, ok bool) {
	switch v := v.(type) {
	case document.Object:
		return v, true
	case nil:
		return nil, true
	}
	w.wrongType(v, path, "a mapping")
	return nil, false
}

// list reads a sequence.
func (w *walker) list(v any, path string) []any {
	switch v := v.(type) {
	case []any:
		return v
	case nil:
	default:
		w.wrongType(v, path, "a list")
	}
	return nil
}

// boolean reads true or false.
func (w *walker) boolean(v any, path string) bool {
	switch v := v.(type) {
	case bool:
		return v
	case nil:
	default:
		w.wrongType(v, path, "true or false")
	}
	return false
}

// text reads a string; ok is false when it is something else, which is noted.
func (w *walker) text(v any, path string) (s string, ok bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case nil:
		return "", true
	}
	w.wrongType(v, path, "a string")
	return "", false
}

// numberFound says how a number was found.
type numberFound uint8

const (
	numberAbsent numberFound = iota
	numberClean
	numberNoted // something was wrong with it and is reported
)

// number reads a finite number.
func (w *walker) number(v any, path string) (float64, numberFound) {
	switch v := v.(type) {
	case json.Number:
		x, err := strconv.ParseFloat(v.String(), 64)
		if err == nil {
			return x, numberClean
		}
		w.r.fail(invalid(path, v.String(), "must be a finite number"))
	case nil:
		return 0, numberAbsent
	default:
		w.wrongType(v, path, "a number")
	}
	return 0, numberNoted
}

// integer reads a whole number. A fraction is cut off in lenient mode.
func (w *walker) integer(v any, path string) (int64, numberFound) {
	if text, ok := v.(json.Number); ok {
		if n, err := text.Int64(); err == nil {
			return n, numberClean
		}
	}
	x, how := w.number(v, path)
	if how != numberClean {
		return 0, how
	}
	whole := math.Trunc(x)
	switch {
	case !(math.Abs(x) < 1<<63):
		w.r.fail(invalid(path, x, "must be an integer of 64 bits"))
		return 0, numberNoted
	case whole != x:
		w.r.failOrWarn(w.o, invalid(path, x, "must be an integer"))
		return int64(whole), numberNoted
	}
	return int64(whole), numberClean
}

// weight reads a weight that is otherwise when it is absent or below least.
func (w *walker) weight(v any, path string, least, otherwise int64) int64 {
	n, how := w.integer(v, path)
	switch {
	case how == numberAbsent:
		return otherwise
	case how == numberClean:
		n = w.r.atLeast(path, n, least, otherwise)
	case n < least:
		n = otherwise
	}
	w.r.limitWeight(path, n)
	return n
}

// known notes the keys of a mapping that have no meaning.
func (w *walker) known(x document.Object, path string, names ...string) {
	w.knownOr(x, path, "unknown key", names...)
}

// knownOr is known with a message of the caller's.
func (w *walker) knownOr(x document.Object, path, message string, names ...string) {
	for _, key := range slices.Sorted(maps.Keys(x)) {
		if !slices.Contains(names, key) {
			w.r.failOrWarn(w.o, invalid(fieldPath(path, key), key, message))
		}
	}
}

// wrongType notes a value that is of another type than it must be.
func (w *walker) wrongType(v any, path, want string) {
	var value any = field.OmitValueType{}
	is := "null"
	switch v := v.(type) {
	case document.Object:
		is = "a mapping"
	case []any:
		is = "a list"
	case bool:
		is, value = "a boolean", v
	case string:
		is, value = "a string", brief(v)
	case json.Number:
		is, value = "a number", brief(v.String())
	}
	w.r.fail(field.TypeInvalid(field.NewPath(path), value, fmt.Sprintf("must be %s, not %s", want, is)))
}

// fieldPath returns the path of a field: parent.key, or parent["key"] for a key
// that would not be readable so.
func fieldPath(parent, key string) string {
	isOdd := strings.ContainsFunc(key, func(c rune) bool { return c <= ' ' || c > '~' || strings.ContainsRune(`"[]()`, c) })
	switch {
	case isOdd || key == "":
		return keyPath(parent, key)
	case parent == "":
		return brief(key)
	}
	return parent + "." + brief(key)
}

func itemPath(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }
