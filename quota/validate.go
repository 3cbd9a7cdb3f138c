package quota

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/resvec/resvec/vectormap"
)

// QueueError is a fault in the tree of queues.
type QueueError struct {
	Code   QueueFault
	Queue  string
	Others []string // the parent that isn't there, or the other queues of a cycle
	Index  int      // of EmptyQueueName: the place in the list, as there is no name to tell
}

// QueueFault is the kind of a [QueueError].
type QueueFault uint8

const (
	EmptyQueueName QueueFault = iota
	DuplicateQueue
	UnknownParent
	ParentCycle
	BadQueueName // not UTF-8
)

// Error says which queues are wrong and why.
func (e *QueueError) Error() string {
	switch e.Code {
	case EmptyQueueName:
		return fmt.Sprintf("quota: queues[%d] has no name", e.Index)
	case DuplicateQueue:
		return fmt.Sprintf("quota: queue %q is there twice", brief(e.Queue))
	case BadQueueName:
		return fmt.Sprintf("quota: queue %q: the name is not UTF-8", brief(e.Queue))
	case UnknownParent:
		return fmt.Sprintf("quota: queue %q: unknown parent %q", brief(e.Queue), brief(e.Others[0]))
	}
	return fmt.Sprintf("quota: queues in a cycle: %s", strings.Join(append([]string{e.Queue}, e.Others...), ", "))
}

// Unwrap returns [ErrEmptyID] and [ErrNotUTF8] for bad names.
func (e *QueueError) Unwrap() error {
	switch e.Code {
	case EmptyQueueName:
		return ErrEmptyID
	case BadQueueName:
		return ErrNotUTF8
	}
	return nil
}

// Warning is something about a queue that is allowed and probably not meant.
type Warning struct {
	Code     WarningCode
	Queue    string  // empty: the cluster
	Resource string  // cpu, memory, a card, or an ignored resource
	Amount   float64 // in the unit of the dimension; +Inf is unlimited
	Limit    float64 // what it is more than
}

// WarningCode is the kind of a [Warning].
type WarningCode uint8

const (
	GuaranteeAboveCapability WarningCode = iota
	GuaranteesAboveParent                // of all children together
	CapabilityAboveParent
	Oversold             // the quotas of all queues are more than the cluster has
	UndiscoveredCard     // a quota for a card that no node has
	CapabilityOnResource // the capability limits a resource that carries cards: it looks like a limit and is none
)

// String describes the warning in one line.
func (w Warning) String() string {
	switch w.Code {
	case GuaranteeAboveCapability:
		return fmt.Sprintf("queue %q: guarantee of %s %v is above its capability %v", w.Queue, w.Resource, w.Amount, w.Limit)
	case GuaranteesAboveParent:
		return fmt.Sprintf("queue %q: its children's guarantees of %s, %v, are above its own, %v", w.Queue, w.Resource, w.Amount, w.Limit)
	case CapabilityAboveParent:
		return fmt.Sprintf("queue %q: capability of %s %v is above its parent's %v", w.Queue, w.Resource, w.Amount, w.Limit)
	case Oversold:
		return fmt.Sprintf("quotas of %s, %v, are above the cluster's %v", w.Resource, w.Amount, w.Limit)
	case UndiscoveredCard:
		return fmt.Sprintf("queue %q: no node has card %s", w.Queue, w.Resource)
	}
	return fmt.Sprintf("queue %q: the capability of %s limits no cards; use the quota annotation", w.Queue, w.Resource)
}

// Validate looks at a tree of queues: errors are what [New] and
// [Ledger.SetQueues] refuse, warnings what is legal and probably not meant.
// Without a catalogue, nil, nothing is compared with the cluster. Errors come in
// the order of the queues, warnings by queue, and then by dimension.
func Validate(queues []Queue, m *vectormap.ResourceVectorMap, catalogue Catalogue) (errs []error, warnings []Warning) {
	errs = validateTree(queues)
	for i := range queues {
		errs = append(errs, queues[i].check(m)...)
	}
	if len(errs) > 0 {
		// The warnings are of the queues that can be understood.
		queues = understood(queues, m)
	}
	v := validator{m: m, of: map[string]*Queue{}, children: map[string][]*Queue{}}
	for i := range queues {
		q := &queues[i]
		v.of[q.Name] = q
		v.children[q.Parent] = append(v.children[q.Parent], q)
	}
	for _, name := range sorted(v.of) {
		v.queue(v.of[name])
	}
	if catalogue != nil {
		v.cluster(catalogue)
	}
	return errs, v.warnings
}

// validateTree returns what is wrong with the names and parents.
func validateTree(queues []Queue) (errs []error) {
	parent := map[string]string{}
	var names []string
	for i := range queues {
		name := queues[i].Name
		_, twice := parent[name]
		switch {
		case name == "":
			errs = append(errs, &QueueError{Code: EmptyQueueName, Index: i})
		case !utf8.ValidString(name):
			errs = append(errs, &QueueError{Code: BadQueueName, Queue: name})
		case twice:
			errs = append(errs, &QueueError{Code: DuplicateQueue, Queue: name})
		default:
			parent[name] = queues[i].Parent
			names = append(names, name)
		}
	}
	walked := map[string]bool{}
	for _, name := range names {
		if up := parent[name]; up != "" {
			if _, known := parent[up]; !known {
				errs = append(errs, &QueueError{Code: UnknownParent, Queue: name, Others: []string{up}})
			}
		}
		if cycle := cycleFrom(name, parent, walked); len(cycle) > 0 {
			slices.Sort(cycle)
			errs = append(errs, &QueueError{Code: ParentCycle, Queue: cycle[0], Others: cycle[1:]})
		}
	}
	return errs
}

// cycleFrom walks up from a queue until the top or what was walked before, and
// returns the cycle that it runs into, if any.
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

// understood returns the queues that come first under their name and whose
// amounts are good; a parent that isn't among them counts as none.
func understood(queues []Queue, m *vectormap.ResourceVectorMap) (good []Queue) {
	names := map[string]bool{}
	for _, q := range queues {
		if badName(q.Name) == nil && !names[q.Name] && len(q.check(m)) == 0 {
			names[q.Name] = true
			good = append(good, q)
		}
	}
	for i := range good {
		if !names[good[i].Parent] {
			good[i].Parent = ""
		}
	}
	return good
}

type validator struct {
	m        *vectormap.ResourceVectorMap
	of       map[string]*Queue
	children map[string][]*Queue
	warnings []Warning
}

func (v *validator) warn(code WarningCode, queue, resource string, amount, limit float64) {
	v.warnings = append(v.warnings, Warning{code, queue, resource, amount, limit})
}

// name returns what a dimension is called in a warning.
func (v *validator) name(dim int) string {
	if card, ok := cardOf(v.m, dim, v.m.Name(dim)); ok {
		return card
	}
	return v.m.Name(dim)
}

// mentions returns what the capability says of a dimension, if anything.
func (q *Queue) mentions(dim int) (float64, bool) {
	if !q.lists(dim) {
		return 0, false
	}
	return element(q.Capability, dim), true
}

// lists reports whether the capability says something about a dimension.
func (q *Queue) lists(dim int) bool {
	if q.Capability == nil || q.Mentioned == nil {
		return q.Capability != nil
	}
	_, found := slices.BinarySearch(q.Mentioned, dim)
	return found
}

func element(v []float64, dim int) float64 {
	if dim < len(v) {
		return v[dim]
	}
	return 0
}

// queue warns of one queue against itself, its parent and its children.
func (v *validator) queue(q *Queue) {
	for dim := range v.m.Len() {
		capability, mentioned := q.mentions(dim)
		if guarantee := element(q.Guarantee, dim); mentioned && guarantee > capability {
			v.warn(GuaranteeAboveCapability, q.Name, v.name(dim), guarantee, capability)
		}
		if parent := v.of[q.Parent]; parent != nil && mentioned {
			if limit, ok := parent.mentions(dim); ok && capability > limit {
				v.warn(CapabilityAboveParent, q.Name, v.name(dim), capability, limit)
			}
		}
		sum := 0.0
		for _, child := range v.children[q.Name] {
			sum += element(child.Guarantee, dim)
		}
		if own := element(q.Guarantee, dim); sum > own {
			v.warn(GuaranteesAboveParent, q.Name, v.name(dim), sum, own)
		}
	}
}

// cluster warns of what the catalogue says otherwise.
func (v *validator) cluster(catalogue Catalogue) {
	cards, totals := map[string]float64{}, catalogue.Totals()
	for _, card := range totals.Cards {
		cards[card.Name] = float64(card.Milli)
	}
	for _, name := range sorted(v.of) {
		q := v.of[name]
		for dim := range v.m.Len() {
			card, isCard := cardOf(v.m, dim, v.m.Name(dim))
			if _, found := cards[card]; isCard && !found {
				if amount, ok := q.mentions(dim); ok && (q.Mentioned != nil || amount > 0) {
					v.warn(UndiscoveredCard, name, card, amount, 0)
				}
			}
		}
		for _, resource := range q.Ignored {
			if len(catalogue.CardsFor(resource)) > 0 {
				v.warn(CapabilityOnResource, name, string(resource), 0, 0)
			}
		}
	}
	for dim := range v.m.Len() {
		if card, isCard := cardOf(v.m, dim, v.m.Name(dim)); isCard {
			sum := 0.0
			for _, q := range v.children[""] {
				sum += v.claim(q, dim)
			}
			if sum > cards[card] && !math.IsInf(sum, 1) && cards[card] > 0 {
				v.warn(Oversold, "", card, sum, cards[card])
			}
		}
	}
}

// claim returns how much of a card a queue may use: what it mentions, or what its
// children may. Cycles are below no queue at the top, where it starts.
func (v *validator) claim(q *Queue, dim int) (sum float64) {
	if amount, ok := q.mentions(dim); ok {
		return amount
	}
	for _, child := range v.children[q.Name] {
		sum += v.claim(child, dim)
	}
	return sum
}
