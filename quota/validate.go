package quota

import (
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/resvec/resvec/vectormap"
)

// QueueError is a fault in the tree of queues.
type QueueError struct {
	Code   QueueFault
	Queue  string
	Others []string // the parent that isn't there, or the other queues of a cycle
	Index  int      // the place in the list; of ParentCycle that of Queue
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
	switch at := fmt.Sprintf("quota: queues[%d]", e.Index); e.Code {
	case EmptyQueueName:
		return at + " has no name"
	case DuplicateQueue:
		return fmt.Sprintf("%s: queue %q is there more than once: want other names", at, brief(e.Queue))
	case BadQueueName:
		return fmt.Sprintf("%s: the name %q is not UTF-8", at, brief(e.Queue))
	case UnknownParent:
		return fmt.Sprintf("%s: queue %q: there is no queue %q to be its parent", at, brief(e.Queue), brief(e.Others[0]))
	}
	return fmt.Sprintf("quota: queues are parents of each other in a cycle: %s", some(append([]string{e.Queue}, e.Others...)))
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
	unit     amountUnit
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

// String describes the warning in one line, with amounts in cards, cores and MiB.
func (w Warning) String() string {
	queue, resource := fmt.Sprintf("queue %q", brief(w.Queue)), oneLine(brief(w.Resource))
	amount, limit := w.unit.textOf(w.Amount), w.unit.textOf(w.Limit)
	switch w.Code {
	case GuaranteeAboveCapability:
		return fmt.Sprintf("%s: its guarantee of %s, %s, is above its capability, %s", queue, resource, amount, limit)
	case GuaranteesAboveParent:
		return fmt.Sprintf("%s: its children's guarantees of %s, %s, are above its own, %s", queue, resource, amount, limit)
	case CapabilityAboveParent:
		return fmt.Sprintf("%s: its capability of %s, %s, is above its parent's, %s", queue, resource, amount, limit)
	case Oversold:
		return fmt.Sprintf("the quotas of %s, %s, are above what the cluster has, %s", resource, amount, limit)
	case UndiscoveredCard:
		return fmt.Sprintf("%s: its quota of %s is %s, and no node has that card", queue, resource, amount)
	}
	return fmt.Sprintf("%s: its capability of %s limits no cards: write them into the quota annotation", queue, resource)
}

// Validate looks at a tree of queues: errors are what [New] and
// [Ledger.SetQueues] refuse, warnings what is legal and probably not meant.
// Without a catalogue, nil, nothing is compared with the cluster. Errors come in
// the order of the queues, warnings by queue, and then by dimension.
func Validate(queues []Queue, m *vectormap.ResourceVectorMap, catalogue Catalogue) (errs []error, warnings []Warning) {
	isMap(m)
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
	parent, index := map[string]string{}, map[string]int{}
	var names []string
	for i := range queues {
		name := queues[i].Name
		_, twice := parent[name]
		switch {
		case name == "":
			errs = append(errs, &QueueError{Code: EmptyQueueName, Index: i})
		case !utf8.ValidString(name):
			errs = append(errs, &QueueError{Code: BadQueueName, Queue: name, Index: i})
		case twice:
			errs = append(errs, &QueueError{Code: DuplicateQueue, Queue: name, Index: i})
		default:
			parent[name], index[name] = queues[i].Parent, i
			names = append(names, name)
		}
	}
	walked := map[string]bool{}
	for _, name := range names {
		if up := parent[name]; up != "" {
			if _, known := parent[up]; !known {
				errs = append(errs, &QueueError{Code: UnknownParent, Queue: name, Others: []string{up}, Index: index[name]})
			}
		}
		if cycle := cycleFrom(name, parent, walked); len(cycle) > 0 {
			slices.Sort(cycle)
			errs = append(errs, &QueueError{Code: ParentCycle, Queue: cycle[0], Others: cycle[1:], Index: index[cycle[0]]})
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

// warn warns of amounts of a dimension.
func (v *validator) warn(code WarningCode, queue string, dim int, amount, limit float64) {
	resource, isCard := cardOf(v.m, dim, v.m.Name(dim))
	if !isCard {
		resource = v.m.Name(dim)
	}
	v.warnings = append(v.warnings, Warning{code, queue, resource, amount, limit, unitOf(dim, isCard)})
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
			v.warn(GuaranteeAboveCapability, q.Name, dim, guarantee, capability)
		}
		if parent := v.of[q.Parent]; parent != nil && mentioned {
			if limit, ok := parent.mentions(dim); ok && capability > limit {
				v.warn(CapabilityAboveParent, q.Name, dim, capability, limit)
			}
		}
		sum := 0.0
		for _, child := range v.children[q.Name] {
			sum += element(child.Guarantee, dim)
		}
		if own := element(q.Guarantee, dim); sum > own {
			v.warn(GuaranteesAboveParent, q.Name, dim, sum, own)
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
					v.warn(UndiscoveredCard, name, dim, amount, 0)
				}
			}
		}
		for _, resource := range q.Ignored {
			if len(catalogue.CardsFor(resource)) > 0 {
				v.warnings = append(v.warnings, Warning{Code: CapabilityOnResource, Queue: name, Resource: string(resource)})
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
				v.warn(Oversold, "", dim, sum, cards[card])
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
