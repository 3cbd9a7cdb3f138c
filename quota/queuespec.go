package quota

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/resvec/resvec/internal/document"
	"github.com/resvec/resvec/internal/quantity"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// QueueSpec is a queue as its object describes it.
type QueueSpec struct {
	Name        string
	Parent      string // empty: at the top
	Priority    int32
	State       State
	Annotations map[string]string

	// Cards, if not nil, are whole cards by name in the place of the quota annotation;
	// [Unlimited] is no limit. What is wrong with them is reported with the field "cards".
	Cards map[string]int64

	Capability, Guarantee, Deserved corev1.ResourceList // cpu, memory and the outputs of the map count
}

// CheckCards checks s.Cards before there is a map, by the rules of [Config.ParseQuota].
// The error is a [field.ErrorList], sorted by name, with the paths of a map: [A100].
func (s QueueSpec) CheckCards() error {
	_, faults := parseCards(s.Cards)
	var list field.ErrorList
	for _, fault := range faults {
		path := (*field.Path)(nil).Key(brief(fault.Name))
		switch count, ok := s.Cards[fault.Name]; {
		case fault.IsNote():
		case !ok || fault.Code != codeNegative:
			list = append(list, field.Invalid(path, fault.Name, fault.detail()))
		default:
			list = append(list, field.Invalid(path, count, wantCount))
		}
	}
	return document.Errors(list)
}

// parseCards is ParseQuota for cards that are no text. They become one: so the rules, and
// the faults, are those of the annotation.
func parseCards(cards map[string]int64) ([]Item, []EntryError) {
	text, err := json.Marshal(cards)
	if err != nil {
		panic(err) // a map of numbers always has a form in JSON
	}
	return parseQuota(string(text), false)
}

// counts reads one of the annotations of a queue, or the cards in its place.
func (c *Config) counts(spec *QueueSpec, key string) (counts []Item, faults []EntryError) {
	where := key
	// Cards replace the quota annotation alone. Deserved and guarantee may have their own.
	if spec.Cards != nil && key == cmp.Or(c.Keys.Quota, QuotaAnnotation) {
		where = "cards"
		counts, faults = parseCards(spec.Cards)
	} else {
		counts, faults = c.ParseQuota(spec.Annotations[key])
	}
	for i := range faults {
		faults[i].Field = where
	}
	return counts, faults
}

// listCapability is the field of notes on the list of capabilities.
const listCapability = "capability"

// BuildQueue makes a queue of its description: cpu, memory and outputs from the lists,
// cards from Cards or the annotations. The second result has entries that are wrong, each of
// which denies its card, and notes on what doesn't count, also with an error. Errors are a
// card without a dimension ([ErrUnknownDimension]) and amounts that no queue can have
// ([ErrBadAmount]).
func (c *Config) BuildQueue(m *vectormap.ResourceVectorMap, spec QueueSpec) (Queue, []EntryError, error) {
	isMap(m)
	q := Queue{Name: spec.Name, Parent: spec.Parent, Priority: spec.Priority, State: spec.State}
	if err := badName(spec.Name); err != nil {
		return Queue{}, nil, fmt.Errorf("%w: queue %q", err, brief(spec.Name))
	}
	b := queueBuilder{m: m, q: &q, config: c, spec: &spec}
	main := cmp.Or(c.Keys.Quota, QuotaAnnotation)
	var mentioned map[int]bool
	q.Capability, mentioned, q.denied = b.vector(listCapability, spec.Capability, main)
	// Where the vector has 0 only this keeps a 0 that was written apart from one that wasn't.
	for dim := range mentioned {
		if q.Capability[dim] == 0 {
			q.denied[dim] = ""
		}
	}
	q.Guarantee, _, _ = b.vector("guarantee", spec.Guarantee, cmp.Or(c.Keys.Guarantee, main))
	q.Deserved, _, _ = b.vector("deserved", spec.Deserved, cmp.Or(c.Keys.Deserved, main))
	q.ignored = ignored(m, spec.Capability)
	if b.err != nil {
		return Queue{}, b.faults, b.err
	}
	return q, b.faults, nil
}

// NamedCards returns the cards that queues name, sorted, for [NewMap]: also those of
// entries with faults, which BuildQueue reports, so that refusals can say what is wrong.
func (c *Config) NamedCards(specs []QueueSpec) []string {
	names := map[string]bool{}
	main := cmp.Or(c.Keys.Quota, QuotaAnnotation)
	for i := range specs {
		for _, key := range []string{main, c.Keys.Guarantee, c.Keys.Deserved} {
			counts, faults := c.counts(&specs[i], key)
			for _, fault := range faults {
				if fault.Name != "" && badName(fault.Name) == nil && fault.Code != codeAlternativesInQuota {
					names[fault.Name] = true
				}
			}
			for _, count := range counts {
				if name := count.Alternatives[0]; name != "" { // of a parser that takes everything
					names[name] = true
				}
			}
		}
	}
	return sorted(names)
}

// ignored returns the names of a list that quotas don't use, sorted.
func ignored(m *vectormap.ResourceVectorMap, list corev1.ResourceList) (names []corev1.ResourceName) {
	for _, name := range slices.Sorted(maps.Keys(list)) {
		if _, is := outputIndex(m, name); !is && name != corev1.ResourceCPU && name != corev1.ResourceMemory {
			names = append(names, name)
		}
	}
	return names
}

// queueBuilder makes the vectors of one queue. It keeps the first error. Three vectors may
// come of one annotation and name the same resources: each fault is reported once.
type queueBuilder struct {
	m      *vectormap.ResourceVectorMap
	q      *Queue
	config *Config
	spec   *QueueSpec
	read   map[string]bool // annotations whose faults were reported
	faults []EntryError
	noted  map[EntryError]bool // by fault
	err    error
}

// vector makes one vector of a list and an annotation. mentioned has the
// dimensions with a good entry, denied the cards with a bad one.
func (b *queueBuilder) vector(what string, list corev1.ResourceList, key string) (v vector.ResourceVector, mentioned map[int]bool, denied map[int]string) {
	v, mentioned = b.m.NewVector(), map[int]bool{}
	for _, name := range ignored(b.m, list) {
		b.fault(EntryError{Name: string(name), Code: codeIgnoredResource})
	}
	// Cpu and memory are capacities: rounded down, as the map rounds what nodes have.
	for dim, text := range dimNames {
		name := corev1.ResourceName(text)
		quantity, ok := list[name]
		if !ok {
			continue
		}
		mentioned[dim] = true
		if v[dim] = b.unlimited(what, name, quantity, [...]int64{dimCPU: limitExact/1000 + 1, dimMemory: limitExact}[dim]); v[dim] > 0 {
			continue
		}
		part, err := b.m.CapacityVector(nil, corev1.ResourceList{name: quantity}, nil)
		if err != nil || part[dim] >= float64(limitExact) {
			b.fail(fmt.Errorf("%w: queue %q: %s of %s", ErrBadAmount, brief(b.q.Name), what, plainFault(dim, quantity)))
			continue
		}
		v[dim] = part[dim]
		b.rounded(what, name, quantity, [...]resource.Scale{dimCPU: resource.Milli, dimMemory: 0}[dim], int64(part[dim]), plainUnits[dim])
	}
	// In order of name: of several bad amounts the same one is the error each time.
	for _, name := range slices.Sorted(maps.Keys(list)) {
		dim, is := outputIndex(b.m, name)
		if !is {
			continue
		}
		if v[dim] = b.unlimited(what, name, list[name], limitExact); v[dim] > 0 {
			mentioned[dim] = true
			continue
		}
		amount, ok := wholeBelow(list[name])
		if !ok {
			b.fail(fmt.Errorf("%w: queue %q: %s of %s is %s: want 0 to less than 2^53", ErrBadAmount, brief(b.q.Name), what, name, brief(quantity.Text(list[name]))))
			continue
		}
		v[dim], mentioned[dim] = float64(amount), true
		b.rounded(what, name, list[name], 0, amount, unitOfOutput(name).plural())
	}
	counts, faults := b.config.counts(b.spec, key)
	// No limit is something to say of a capability, and of an annotation that is one, too.
	for i := range faults {
		if faults[i].Code == codeUnlimited && key != cmp.Or(b.config.Keys.Quota, QuotaAnnotation) {
			faults[i].Code = codeTooLarge
		}
	}
	for _, count := range counts {
		dim, ok := cardIndex(b.m, count.Alternatives[0])
		switch {
		case count.Alternatives[0] == "": // of a parser that takes everything
			faults = append(faults, EntryError{Code: codeEmptyName, Field: key})
		case !ok:
			b.fail(fmt.Errorf("%w: %q, in the quota of queue %q: %s", ErrUnknownDimension, brief(count.Alternatives[0]), brief(b.q.Name), wantDimension))
		case count.Milli == Unlimited && what == listCapability:
			v[dim], mentioned[dim] = math.Inf(1), true
		case count.Milli == Unlimited: // it can't be kept free, nor deserved
		case !exact(count.Milli): // of a parser that takes everything
			faults = append(faults, outOfRange(key, count.Alternatives[0], count.Milli))
		default:
			v[dim], mentioned[dim] = float64(count.Milli), true
		}
	}
	denied = b.deny(faults)
	// Another vector may have read this annotation, and reported its faults.
	if !b.read[key] {
		b.faults = append(b.faults, faults...)
		if b.read == nil {
			b.read = map[string]bool{}
		}
		b.read[key] = true
	}
	return v, mentioned, denied
}

// unlimited returns +Inf for a capability of at least an amount, which is more than a ledger
// counts: whoever writes so much means that there is no limit. It returns 0 for others.
func (b *queueBuilder) unlimited(what string, name corev1.ResourceName, q resource.Quantity, least int64) float64 {
	bounded := quantity.Bounded(q)
	if what != listCapability || bounded.CmpInt64(least) < 0 {
		return 0
	}
	b.fault(EntryError{Name: string(name), Code: codeUnlimited, Field: what, Value: quantity.Text(q)})
	return math.Inf(1)
}

// rounded notes a quantity that isn't whole in the unit that it is counted in.
func (b *queueBuilder) rounded(what string, name corev1.ResourceName, q resource.Quantity, scale resource.Scale, amount int64, unit string) {
	if q.Cmp(*resource.NewScaledQuantity(amount, scale)) != 0 {
		b.fault(EntryError{Name: string(name), Code: codeRoundedDown, Field: what, Value: fmt.Sprintf("%s, which is %d %s", quantity.Text(q), amount, unit)})
	}
}

// wholeBelow returns a quantity, rounded down to whole units; false if no ledger can hold
// it.
func wholeBelow(q resource.Quantity) (int64, bool) {
	q = quantity.Bounded(q)
	if q.Sign() < 0 || q.CmpInt64(limitExact) >= 0 {
		return 0, false
	}
	whole := q.Value() // rounded up
	if q.CmpInt64(whole) < 0 {
		whole--
	}
	return whole, exact(whole)
}

// outOfRange is what is wrong with a count that a parser has taken, in milli-cards.
func outOfRange(where, name string, milli int64) EntryError {
	e := EntryError{Name: name, Code: codeTooLarge, Field: where, Value: strconv.FormatInt(milli/1000, 10)}
	if milli < 0 {
		e.Code = codeNegative
	}
	if milli == Unlimited || milli == -Unlimited {
		e.Value += " or beyond"
	}
	return e
}

// deny returns the cards whose entries can't be used, and why; where the whole text
// can't be read, all cards: a fault must not open what a good entry would have limited.
func (b *queueBuilder) deny(faults []EntryError) map[int]string {
	denied := map[int]string{}
	note := func(dim int, text string) {
		if _, twice := denied[dim]; !twice {
			denied[dim] = text
		}
	}
	for _, fault := range faults {
		if fault.IsNote() {
			continue
		}
		if dim, ok := cardIndex(b.m, fault.Name); ok {
			note(dim, fault.text())
			continue
		}
		// A fault of a card without a dimension, or of no card, has nothing to deny.
		if fault.Name != "" || fault.Code == codeEmptyName {
			continue
		}
		// The text as a whole is bad: any card may have been in it.
		text := fault.text()
		for dim, name := range b.m.All() {
			if _, isCard := cardOf(b.m, dim, name); isCard {
				note(dim, text)
			}
		}
	}
	return denied
}

// fault notes a resource that doesn't count, once for all three lists.
func (b *queueBuilder) fault(e EntryError) {
	if b.noted == nil {
		b.noted = map[EntryError]bool{}
	}
	if !b.noted[e] {
		b.noted[e] = true
		b.faults = append(b.faults, e)
	}
}

func (b *queueBuilder) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}
