package quota

import (
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/internal/document"
	"github.com/resvec/resvec/quota/internal/book"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Validate looks at queues; catalog may be nil. Errors are what SetQueues refuses, warnings
// likely mistakes: entries that can't be read or don't count, annotations that look as if they
// did; amounts above the capability, the parent's or the cluster's. Origin is a code.
func (c *Config) Validate(queues []Queue, catalog *device.Catalog) (errs, warnings field.ErrorList) {
	m, err := newMap(c.Outputs)
	if err != nil {
		return field.ErrorList{field.Invalid(field.NewPath("outputs"), fmt.Sprint(c.Outputs), err.Error())}, nil
	}
	// As a ledger builds them, so that what is reported is what SetQueues would do.
	m, built, notes, f := c.build(m, queues)
	return f.list, c.warnings(m, built, notes, catalog)
}

// warnings returns what is legal in queues, and probably not meant.
func (c *Config) warnings(m *vectormap.ResourceVectorMap, built []builtQueue, notes [][]entryError, catalog *device.Catalog) field.ErrorList {
	v := validator{m: m, enforced: c.EnforceGuarantee, at: map[string]int{}, of: map[string]*builtQueue{}, children: map[string][]*builtQueue{}}
	for i := range built {
		for _, e := range notes[i] {
			switch path := e.below(pathOf(i), listCapability); {
			case e.Field == cardsField && !e.isNote(): // an error
			// Who writes a limit of nvidia.com/gpu into the capability believes that cards are
			// limited.
			case e.Code == codeIgnoredResource && e.Field == listCapability && catalog != nil && len(catalog.CardsFor(corev1.ResourceName(e.Name))) > 0:
				v.warnings = append(v.warnings, field.Forbidden(path, fmt.Sprintf("queue %q: this limits no cards: write them into the quota annotation", brief(built[i].Name))).WithOrigin("no-limit-of-cards"))
			default:
				v.warnings = append(v.warnings, built[i].invalid(path, field.OmitValueType{}, "%s", e.detail()).WithOrigin(e.Code))
			}
		}
		if q := &built[i]; badName(q.Name) == nil && v.of[q.Name] == nil {
			v.of[q.Name], v.at[q.Name] = q, i
		}
	}
	for _, name := range sorted(v.of) {
		q, parent := v.of[name], v.of[name].Parent
		if v.of[parent] == nil {
			// A queue whose parent isn't there counts as one at the top: that fault is reported
			// already.
			parent = ""
		}
		v.children[parent] = append(v.children[parent], q)
	}
	for _, name := range sorted(v.of) {
		v.queue(v.of[name])
	}
	if catalog != nil {
		v.cluster(catalog)
	}
	return v.warnings
}

// faults are what is wrong with queues, each with the error that it is.
type faults struct {
	list field.ErrorList
	is   []error
}

// add adds a fault. Of faults of several kinds the error is each, by errors.Is.
func (f *faults) add(fault *field.Error, is ...error) {
	f.list, f.is = append(f.list, fault), append(f.is, is...)
}

// err returns all faults as one error, nil if there are none.
func (f *faults) err() error {
	if len(f.list) == 0 {
		return nil
	}
	return &faultsError{document.Errors(f.list), f.is}
}

// faultsError is a list of faults. It is each of is, too.
type faultsError struct {
	error
	is []error
}

// Unwrap returns the faults alone: is has no place in the configuration, and
// [vectormap.Faults] lists what has one.
func (e *faultsError) Unwrap() error { return e.error }

// Is reports whether a fault is target.
func (e *faultsError) Is(target error) bool {
	return slices.ContainsFunc(e.is, func(is error) bool { return errors.Is(is, target) })
}

// pathOf is the place of a queue in the caller's list, by index: its name may be what is
// wrong.
func pathOf(i int) *field.Path { return field.NewPath("queues").Index(i) }

// invalid makes a fault of a queue. The detail begins with its name.
func (q *builtQueue) invalid(path *field.Path, value any, format string, args ...any) *field.Error {
	return field.Invalid(path, value, fmt.Sprintf("queue %q: ", brief(q.Name))+fmt.Sprintf(format, args...))
}

// tree adds what is wrong with names and parents. A queue whose name is bad or there twice
// is left out: what is said of parents would be said of an unclear one.
func (f *faults) tree(queues []builtQueue) {
	parent, index := map[string]string{}, map[string]int{}
	var names []string
	for i := range queues {
		name, path := queues[i].Name, pathOf(i).Child("name")
		_, twice := parent[name]
		switch {
		case name == "":
			f.add(field.Required(path, "a queue needs a name"), ErrBadName)
		case !utf8.ValidString(name):
			f.add(field.Invalid(path, brief(name), "want UTF-8"), ErrBadName)
		case twice:
			f.add(field.Duplicate(path, brief(name)))
		default:
			parent[name], index[name] = queues[i].Parent, i
			names = append(names, name)
		}
	}
	// Shared by all walks, so that a long chain costs its length once, and each cycle is
	// reported once.
	walked := map[string]bool{}
	lost := 0
	for _, name := range names {
		path := pathOf(index[name]).Child("parent")
		if up := parent[name]; up != "" {
			if _, known := parent[up]; !known {
				fault := field.NotFound(path, brief(up))
				fault.Detail = fmt.Sprintf("queue %q: there is no queue %q to be its parent", brief(name), brief(up))
				// Of the first ones only: each is compared with all names.
				if lost++; lost <= 8 {
					others := slices.DeleteFunc(slices.Clone(names), func(other string) bool { return other == name })
					if which := meant(up, others); which != "" {
						fault.Detail += ": " + which
					}
				}
				f.add(fault)
			}
		}
		if cycle := cycleFrom(name, parent, walked); len(cycle) > 0 {
			// A cycle has no first queue. The smallest name is the same whatever the order of
			// the list.
			slices.Sort(cycle)
			q := &queues[index[cycle[0]]]
			f.add(q.invalid(pathOf(index[q.Name]).Child("parent"), brief(q.Parent),
				"queues are parents of each other in a cycle: %s", some(cycle)))
		}
	}
}

// cycleFrom walks up from a queue until the top or what was walked before, and returns the
// cycle that it runs into, if any. A queue has one parent, so a walk can't branch.
func cycleFrom(name string, parent map[string]string, walked map[string]bool) []string {
	var path []string
	for name != "" && !walked[name] {
		walked[name] = true
		path = append(path, name)
		name = parent[name]
	}
	if at := slices.Index(path, name); at >= 0 {
		return path[at:]
	}
	return nil
}

// validator collects what is legal in queues, and probably not meant. Queues with bad
// names, or names that are there twice, are left out: nobody knows which is meant.
type validator struct {
	m        *vectormap.ResourceVectorMap
	at       map[string]int // index of the queue
	of       map[string]*builtQueue
	children map[string][]*builtQueue
	enforced bool // guarantees are
	warnings field.ErrorList
}

// warn warns of an amount of a dimension. detail says how it compares with another, limit;
// below 0: with none.
func (v *validator) warn(q *builtQueue, list string, dim int, amount int64, detail string, limit int64, code string) {
	unit := unitOf(v.m, dim)
	if limit >= 0 {
		detail += ", " + unit.text(Amount(limit))
	}
	path := pathOf(v.at[q.Name]).Child(list).Key(brief(oneLine(resourceOf(v.m, dim))))
	v.warnings = append(v.warnings, q.invalid(path, unit.text(Amount(amount)), "%s", detail).WithOrigin(code))
}

// queue warns of one queue against itself, its parent and its children.
func (v *validator) queue(q *builtQueue) {
	for dim := range v.m.Len() {
		capability, mentioned := amountAt(q.Capability, dim), q.mentions(dim)
		if guarantee := amountAt(q.Guarantee, dim); mentioned && guarantee > capability {
			v.warn(q, "guarantee", dim, guarantee, "above its capability", capability, "guarantee-above-capability")
		}
		if deserved := amountAt(q.Deserved, dim); mentioned && deserved > capability {
			v.warn(q, "deserved", dim, deserved, "above its capability", capability, "deserved-above-capability")
		}
		if parent := v.of[q.Parent]; parent != nil && mentioned {
			// A parent that says nothing of the dimension limits nobody.
			if limit := amountAt(parent.Capability, dim); parent.mentions(dim) && capability > limit {
				v.warn(q, "capability", dim, capability, "above its parent's capability", limit, "capability-above-parent")
			}
		}
		// Guarantees of children are taken out of the parent's, and what they deserve is a
		// part of what it does.
		v.sums(q, dim, "guarantee", "below its children's guarantees", func(q *builtQueue) vector.ResourceVector { return q.Guarantee })
		v.sums(q, dim, "deserved", "below what its children deserve", func(q *builtQueue) vector.ResourceVector { return q.Deserved })
	}
}

// sums warns of children that come to more than their parent. A parent without a quota, as
// the root of a plain tree of Volcano is, says nothing of them unless guarantees are
// enforced.
func (v *validator) sums(q *builtQueue, dim int, list, children string, of func(*builtQueue) vector.ResourceVector) {
	var sum int64
	for _, child := range v.children[q.Name] {
		sum = book.AddSaturated(sum, amountAt(of(child), dim))
	}
	own := amountAt(of(q), dim)
	if sum > own && (v.enforced || q.hasQuota()) {
		v.warn(q, list, dim, own, children, sum, list+"-below-children")
	}
}

// hasQuota reports whether anything of a queue's quota was configured.
func (q *builtQueue) hasQuota() bool {
	some := func(amount float64) bool { return amount > 0 }
	return slices.ContainsFunc(q.Capability, some) || slices.ContainsFunc(q.Guarantee, some) || slices.ContainsFunc(q.Deserved, some) || len(q.denied) > 0
}

// cluster warns of what the catalog says otherwise. To sell more cards than there are is
// legal: queues seldom use all of theirs at once.
func (v *validator) cluster(catalog *device.Catalog) {
	cards := map[string]int64{}
	for _, card := range catalog.Totals().Cards {
		cards[card.Name] = card.Milli
	}
	for _, name := range sorted(v.of) {
		q := v.of[name]
		for dim := range v.m.Len() {
			card, isCard := cardOf(v.m, dim)
			if _, found := cards[card]; isCard && !found && q.mentions(dim) {
				v.warn(q, "capability", dim, amountAt(q.Capability, dim), "no node has that card", -1, "card-without-node")
			}
		}
	}
	for dim := range v.m.Len() {
		if card, isCard := cardOf(v.m, dim); isCard {
			sum := v.claims("", dim)
			if sum > cards[card] && sum != Unlimited && cards[card] > 0 {
				v.warnings = append(v.warnings, field.Invalid(field.NewPath("queues"), unitCards.text(Amount(sum)),
					fmt.Sprintf("the quotas of %s are above what the cluster has, %s", oneLine(brief(card)), unitCards.text(Amount(cards[card])))).WithOrigin("quotas-above-cluster"))
			}
		}
	}
}

// claims returns how much of a card the children of a queue may use: what each mentions, or
// what its own children may. Cycles are below no queue at the top, where it starts.
func (v *validator) claims(queue string, dim int) (sum int64) {
	for _, child := range v.children[queue] {
		claim := amountAt(child.Capability, dim)
		if !child.mentions(dim) {
			claim = v.claims(child.Name, dim)
		}
		sum = book.AddSaturated(sum, claim)
	}
	return sum
}
