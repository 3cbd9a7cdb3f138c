package transform

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/resvec/resvec/internal/document"
	"github.com/resvec/resvec/internal/quantity"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// located is a rule and where its parts stand in the document. The three shapes put them in
// different places; the checks are the same.
type located struct {
	Rule
	input, strategy, multiplyBy *field.Path
	outputs                     *field.Path     // of the map; nil where its names were checked as keys
	nulls                       field.ErrorList // in the place of quantities
	strict                      bool            // the shape demands a strategy
	sameInput                   bool            // an earlier rule has the input
}

// Validate returns every fault of c, with the paths of the List shape, in the
// order of the rules. What is legal and yet looks wrong is found by
// [Transformation.Lint].
func (c *Config) Validate() field.ErrorList {
	rules := make([]located, len(c.Rules))
	for i, rule := range c.Rules {
		rules[i] = listed(rule, i)
	}
	return c.validate(rules)
}

// listed returns rule i of the List shape.
func listed(rule Rule, i int) located {
	path := field.NewPath("resources", "transformations").Index(i)
	return located{
		Rule: rule, input: path.Child("input"), strategy: path.Child("strategy"),
		multiplyBy: path.Child("multiplyBy"), outputs: path.Child("outputs"),
	}
}

// validate checks rules of any shape, and the settings of c.
func (c *Config) validate(rules []located) (errs field.ErrorList) {
	seen := map[corev1.ResourceName]bool{}
	for i := range rules {
		rule := &rules[i]
		rule.sameInput = seen[rule.Input]
		seen[rule.Input] = true
		errs = append(errs, rule.validate()...)
	}
	return append(errs, c.validateSettings()...)
}

// validate checks one rule, in the order in which a reader meets its parts.
func (r *located) validate() field.ErrorList {
	errs := checkName(r.Input, r.input)
	if r.sameInput && r.Input != "" {
		errs = append(errs, field.Duplicate(r.input, r.Input))
	}
	errs = append(errs, checkStrategy(r.Strategy, r.strict, r.strategy)...)
	if r.MultiplyBy != "" {
		errs = append(errs, checkName(r.MultiplyBy, r.multiplyBy)...)
	}
	if r.outputs != nil {
		for _, name := range sortedNames(r.Outputs) {
			path := key(r.outputs, string(name))
			errs = append(errs, checkName(name, path)...)
			// A text of ten characters may stand for a billion digits.
			if q := r.Outputs[name]; quantity.Far(&q) {
				errs = append(errs, field.Invalid(path, quantity.Text(q), "must have an exponent of at most 999"))
			}
		}
	}
	return append(errs, r.nulls...)
}

// validateSettings checks what only the List shape has.
func (c *Config) validateSettings() (errs field.ErrorList) {
	resources := field.NewPath("resources")
	prefixes := resources.Child("excludeResourcePrefixes")
	seen := map[string]bool{}
	for i, prefix := range c.ExcludeResourcePrefixes {
		switch {
		case prefix == "":
			errs = append(errs, field.Invalid(prefixes.Index(i), prefix, "an empty prefix would exclude every resource"))
		case seen[prefix]:
			errs = append(errs, field.Duplicate(prefixes.Index(i), prefix))
		case !isPrintable(prefix):
			errs = append(errs, field.Invalid(prefixes.Index(i), short(prefix), "has characters that cannot be printed"))
		}
		seen[prefix] = true
	}
	switch c.QuotaCheckStrategy {
	case "", BlockUndeclared:
	case IgnoreUndeclared:
		if len(c.ExcludeResourcePrefixes) > 0 {
			errs = append(errs, field.Invalid(prefixes, c.ExcludeResourcePrefixes,
				"has no effect together with quotaCheckStrategy "+IgnoreUndeclared))
		}
	default:
		errs = append(errs, field.NotSupported(resources.Child("quotaCheckStrategy"), c.QuotaCheckStrategy,
			[]string{BlockUndeclared, IgnoreUndeclared}))
	}
	return errs
}

// isPrintable reports whether a text can be written in any document. No name has
// other characters.
func isPrintable(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

// checkName checks a resource name.
func checkName(name corev1.ResourceName, path *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(path, "a resource name")}
	}
	if faults := validation.IsQualifiedName(string(name)); len(faults) > 0 {
		return field.ErrorList{field.Invalid(path, short(string(name)), strings.Join(faults, "; "))}
	}
	return nil
}

// checkStrategy checks a strategy, which may be absent unless required.
func checkStrategy(s Strategy, required bool, path *field.Path) field.ErrorList {
	switch {
	case s == "" && required:
		return field.ErrorList{field.Required(path, "Retain or Replace")}
	case s == "" || s == Retain || s == Replace:
		return nil
	}
	return field.ErrorList{field.NotSupported(path, s, []Strategy{Replace, Retain})}
}

// key returns the path of a key of a map. A long key is cut: a document may have
// many paths below one.
func key(path *field.Path, key string) *field.Path { return path.Key(short(key)) }

// short cuts a text that stands in a message or a path.
func short(s string) string { return document.Cut(s) }
