package transform

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Explanation says where every amount of a result comes from. Printed, it is a
// small table.
type Explanation struct {
	Results  []Result              // sorted by name
	Replaced []corev1.ResourceName // requested names that their outputs replace, sorted
	Excluded []corev1.ResourceName // requested names that a prefix drops, sorted
}

// Result is one name of a result. Total is Retained plus Generated, and Generated
// the sum of the Amounts, or 0 where Floored says that the sum is negative.
type Result struct {
	Name                       corev1.ResourceName
	Total, Retained, Generated resource.Quantity
	Floored                    bool
	Terms                      []Term // sorted by input
}

// Term is what one rule generates: Quantity times Multiplier times Factor.
type Term struct {
	Input      corev1.ResourceName
	Quantity   resource.Quantity // requested
	MultiplyBy corev1.ResourceName
	Multiplier *resource.Quantity // nil: none is named or present, which counts as 1
	Factor     resource.Quantity
	Amount     resource.Quantity
}

// Explain returns how [Transformation.Apply] comes to its result. Amounts finer
// than 1n are rounded up to it, each by itself.
func (t *Transformation) Explain(in corev1.ResourceList) *Explanation {
	e := new(Explanation)
	for _, name := range sortedNames(in) {
		switch {
		case t.excluded(name):
			e.Excluded = append(e.Excluded, name)
		case !t.keeps(name): // it is in no result unless it is an output, too
			e.Replaced = append(e.Replaced, name)
		}
	}
	parts := t.amounts(in)
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		e.Results = append(e.Results, parts[name].explain(name))
	}
	return e
}

// explain turns the parts of one name into its Result. Each amount is rounded by itself, so
// a sum of terms finer than 1n may differ from what is generated.
func (a *amount) explain(name corev1.ResourceName) Result {
	r := Result{Name: name, Total: a.total().quantity()}
	if a.retained.value != nil {
		r.Retained = a.retained.quantity()
	}
	if a.generated.value != nil {
		r.Generated = a.floored().quantity()
		r.Floored = a.generated.value.Sign() < 0
	}
	for _, t := range a.terms {
		term := Term{
			Input: t.rule.Input, Quantity: t.input.quantity(), MultiplyBy: t.rule.MultiplyBy,
			Factor: t.rule.Outputs[t.entry.output].DeepCopy(), Amount: t.amount.quantity(),
		}
		if t.multiplied {
			multiplier := t.multiplier.DeepCopy()
			term.Multiplier = &multiplier
		}
		r.Terms = append(r.Terms, term)
	}
	return r
}

// String returns the explanation as a table, a line per result and per term.
func (e *Explanation) String() string {
	var b strings.Builder
	// The cells of terms begin with an empty one, which indents them below their result.
	w := tabwriter.NewWriter(&b, 0, 0, 1, ' ', 0)
	for _, r := range e.Results {
		fmt.Fprintf(w, "%s\t%s\tretained %s, generated %s", r.Name, canonical(r.Total), canonical(r.Retained), canonical(r.Generated))
		if r.Floored {
			fmt.Fprint(w, " (negative sum)")
		}
		fmt.Fprintln(w)
		for _, t := range r.Terms {
			fmt.Fprintf(w, "\t%s\t%s %s x %s", canonical(t.Amount), t.Input, canonical(t.Quantity), canonical(t.Factor))
			if t.Multiplier != nil {
				fmt.Fprintf(w, " x %s %s", t.MultiplyBy, canonical(*t.Multiplier))
			}
			fmt.Fprintln(w)
		}
	}
	for _, list := range []struct {
		what  string
		names []corev1.ResourceName
	}{{"replaced", e.Replaced}, {"excluded", e.Excluded}} {
		for _, name := range list.names {
			fmt.Fprintf(w, "%s\t\t%s\n", name, list.what)
		}
	}
	w.Flush()
	return b.String()
}
