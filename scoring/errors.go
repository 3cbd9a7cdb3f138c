package scoring

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/resvec/resvec/internal/decimal"
	"github.com/resvec/resvec/internal/document"
	"github.com/resvec/resvec/internal/fieldpath"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ErrNeedsBatch says that a score exists for a batch only: a combination that
// normalizes a term has no value for one row alone.
var ErrNeedsBatch = errors.New("scoring: a normalized term needs a batch")

// badAmount reports an amount of a request that is NaN, infinite or negative.
func badAmount(resource string, x float64) error {
	e := &vector.AmountError{
		Resource: resource, Row: -1, Amount: decimal.Format(x),
		Reason: "is not a finite number: want 0 or more", Cause: vector.ErrNotRepresentable,
	}
	if x < 0 && x-x == 0 {
		e.Reason, e.Cause = "is negative: want 0 or more", vector.ErrNegative
	}
	return fmt.Errorf("scoring: request: %w", e)
}

// shapeError says which operand has a wrong shape. It wraps [vector.ErrShape].
func shapeError(format string, args ...any) error {
	return fmt.Errorf("scoring: %s: %w", fmt.Sprintf(format, args...), vector.ErrShape)
}

// checkLen checks a vector, which may be shorter than the map but not longer.
func checkLen(name string, v vector.ResourceVector, m *vectormap.ResourceVectorMap) error {
	if len(v) > m.Len() {
		return shapeError("%s has %d amounts, the map %d", name, len(v), m.Len())
	}
	return nil
}

// Option changes how a configuration is parsed or compiled. The same options may be given
// to both: one that is about nothing in a configuration, such as [WildcardLiteral] where
// there can be no pattern, changes nothing.
type Option uint32

const (
	// Lenient replaces or drops what is wrong in a configuration where that has
	// a defined meaning, and reports it as a warning instead of an error.
	Lenient Option = 1 << iota

	// WildcardLiteral reads the patterns of [StrategyFitConfig] as literal
	// prefixes, as Volcano's plugin does, instead of as families of names.
	WildcardLiteral

	// AllowUnknown lets a configuration name resources that the map does not
	// have; they are reported as warnings.
	AllowUnknown
)

// options joins a list of options.
func options(opts []Option) (o Option) {
	for _, x := range opts {
		o |= x
	}
	return o
}

// has reports whether o includes all of x.
func (o Option) has(x Option) bool { return o&x == x }

// report collects what is wrong with a configuration.
type report struct {
	document.Report
	path    string   // before the paths of what is noted
	unknown []string // exact names that the map does not have
	has     *vectormap.ResourceVectorMap
}

// below has the paths of what is noted begin with path, until the result is
// called.
func (r *report) below(path string) (back func()) {
	outer := r.path
	r.path = fieldpath.Below(outer, path)
	return func() { r.path = outer }
}

// at returns an error with the path of the report before its own.
func (r *report) at(e *field.Error) *field.Error {
	e.Field = fieldpath.Below(r.path, e.Field)
	return e
}

// fail notes an error.
func (r *report) fail(e *field.Error) { r.Fail(r.at(e)) }

// warn notes a warning.
func (r *report) warn(e *field.Error) { r.Warn(r.at(e)) }

// failOrWarn notes an error, or a warning in lenient mode.
func (r *report) failOrWarn(o Option, e *field.Error) {
	if o.has(Lenient) {
		r.warn(e)
	} else {
		r.fail(e)
	}
}

// err returns all errors, nil when there are none: a utilerrors.Aggregate of
// *field.Error sorted by path, a *vectormap.UnknownResourcesError, or both
// joined. errors.As finds any of the three.
func (r *report) err() error {
	r.Sorted = true
	err := r.Err("scoring")
	if len(r.unknown) == 0 {
		return err
	}
	slices.Sort(r.unknown)
	unknown := &vectormap.UnknownResourcesError{Names: slices.Compact(r.unknown), Map: r.has}
	if err == nil {
		return unknown
	}
	return errors.Join(err, unknown)
}

// finish returns the warnings sorted by path, and err.
func (r *report) finish() (field.ErrorList, error) {
	r.Sorted = true
	return r.Warnings(), r.err()
}

// The paths of configuration fields that several files name.
const (
	pathResources  = "resources"
	pathFitWeight  = "resourceStrategyFitWeight"
	pathSRAWeight  = "weight"
	pathSRAWeights = "resourceWeight"
	pathProportion = "resourceProportion"
	pathMemoryUnit = "memoryUnit"
	pathMetric     = "metric"
	pathDirection  = "direction"
	pathWeights    = "weights"
)

// keyPath returns parent["key"]. field.Path writes map keys without quotes.
func keyPath(parent, key string) string { return fieldpath.Key(parent, brief(key)) }

// brief cuts text for a message.
func brief(text string) string { return document.Cut(text) }

// invalid returns the error for a value that is not allowed.
func invalid(path string, value any, detail string) *field.Error {
	if s, ok := value.(string); ok {
		value = brief(s)
	}
	return field.Invalid(field.NewPath(path), value, detail)
}

// duplicate returns the warning for a name that counts once.
func duplicate(path, name string) *field.Error {
	return field.Duplicate(field.NewPath(path), brief(name))
}

// notListed returns the warning for a weight of a name that is not scarce.
func notListed(path, name string) *field.Error {
	return invalid(path, name, "ignored: not one of the scarce resources")
}

// patternRefused says that an exact name is a pattern, "" when it is none.
func patternRefused(name string) string {
	if strings.Contains(name, "*") {
		return "patterns are for resources only"
	}
	return ""
}

// lookup finds an exact name in m. One that m does not have is noted.
func (r *report) lookup(m *vectormap.ResourceVectorMap, o Option, path, name string) (index int, ok bool) {
	index, ok = m.Index(name)
	if ok {
		return index, true
	}
	if o&(AllowUnknown|Lenient) != 0 {
		r.warn(field.NotFound(field.NewPath(path), brief(name)))
	} else {
		r.unknown, r.has = append(r.unknown, name), m
	}
	return 0, false
}

// limitWeight notes a weight above the limit.
func (r *report) limitWeight(path string, weight int64) {
	if weight > maxWeight {
		r.fail(invalid(path, weight, overLimit))
	}
}

// maxWeight is the greatest weight of a rule or a policy.
const maxWeight = 1_000_000

var overLimit = fmt.Sprintf("must be at most %d", maxWeight)

// replacedBy says that a number below a range is another one.
func replacedBy(number int64) string { return fmt.Sprintf("replaced by %d", number) }

// atLeast returns weight, or otherwise with a warning when it is below least.
func (r *report) atLeast(path string, weight, least, otherwise int64) int64 {
	if weight < least {
		r.warn(invalid(path, weight, replacedBy(otherwise)))
		return otherwise
	}
	return weight
}

// meet notes that two keys stand for one resource: an error when they differ in
// what they say of it, else a warning.
func (r *report) meet(path, resource, first, second string, same bool) {
	detail := fmt.Sprintf("%q and %q are both %s", brief(first), brief(second), brief(resource))
	if same {
		r.warn(invalid(path, second, detail+" and count once"))
	} else {
		r.fail(invalid(path, second, detail+" and differ"))
	}
}

// unique returns the names without repetitions, sorted. Empty ones are errors,
// and left out.
func (r *report) unique(path string, names []string) (unique []string) {
	repeated := map[string]bool{}
	for _, name := range slices.Sorted(slices.Values(names)) {
		switch {
		case name == "":
			r.fail(invalid(path, name, "a name is empty"))
		case len(unique) == 0 || name != unique[len(unique)-1]:
			unique = append(unique, name)
		case !repeated[name]:
			repeated[name] = true
			r.warn(duplicate(path, name))
		}
	}
	return unique
}
