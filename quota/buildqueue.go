package quota

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/resvec/resvec/internal/quantity"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// builtQueue is a [Queue] with its amounts by dimension. What a short vector doesn't have
// counts as 0.
type builtQueue struct {
	Name     string
	Parent   string
	Priority int32
	State    State

	Capability vector.ResourceVector // +Inf is unlimited; a 0 says nothing, unless it is denied
	Guarantee  vector.ResourceVector
	Deserved   vector.ResourceVector

	// denied has dimensions whose 0 is a limit. An empty text: it is meant. Another says what
	// is wrong with the entry; refusals repeat it, and the card doesn't count as configured.
	denied     map[int]string
	unreadable string // what is wrong with the quota as a whole: it denies every card, also those that come later
}

// denyUnreadable denies the cards of a map that an unreadable quota may have had: a fault
// must not open what a good entry would have limited.
func (q *builtQueue) denyUnreadable(m *vectormap.ResourceVectorMap) {
	if q.unreadable == "" {
		return
	}
	for dim := range m.Len() {
		_, isCard := cardOf(m, dim)
		if _, denied := q.denied[dim]; isCard && !denied {
			q.denied[dim] = q.unreadable
		}
	}
}

// build makes queues by the dimensions of a map, which it extends by the cards that they
// name. notes has what is wrong with entries, and what doesn't count, by queue. The faults
// are those of names and parents first, then those of amounts.
func (c *Config) build(m *vectormap.ResourceVectorMap, queues []Queue) (wide *vectormap.ResourceVectorMap, built []builtQueue, notes [][]entryError, f faults) {
	// All texts first: a vector needs a map that has the cards of every queue.
	texts := make([]map[string]quotaText, len(queues))
	// Cards that no node has are kept: a pool may scale from zero, and its quota come
	// first.
	named := map[string]bool{}
	for i := range queues {
		texts[i] = c.read(&queues[i])
		for _, e := range texts[i] {
			e.names(named)
		}
	}
	wide, err := extendMap(m, sorted(named))
	if err != nil {
		panic("quota: a card has no dimension") // their names are good
	}
	built, notes = make([]builtQueue, len(queues)), make([][]entryError, len(queues))
	for i := range queues {
		q := &queues[i]
		built[i] = builtQueue{Name: q.Name, Parent: q.Parent, Priority: q.Priority, State: q.State.known(), denied: map[int]string{}}
	}
	f.tree(built)
	for i := range queues {
		b := queueBuilder{m: wide, of: &queues[i], q: &built[i], path: pathOf(i), config: c, texts: texts[i], faults: &f}
		b.build()
		notes[i] = b.notes
	}
	return wide, built, notes, f
}

// quotaText is what an annotation of a queue has, or what is in its place.
type quotaText struct {
	counts []Item
	faults []entryError
}

// names adds the cards that are named, also those of entries with faults, so that refusals
// can say what is wrong.
func (t *quotaText) names(to map[string]bool) {
	for _, fault := range t.faults {
		if fault.Name != "" && badName(fault.Name) == nil && fault.Code != codeAlternativesInQuota {
			to[fault.Name] = true
		}
	}
	for _, count := range t.counts {
		if name := count.Alternatives[0]; name != "" { // of a parser that takes everything
			to[name] = true
		}
	}
}

// cardsField is where faults of [Queue.Cards] are.
const cardsField = "cards"

// read reads the annotations of a queue, by key. One may be of all three vectors.
func (c *Config) read(q *Queue) map[string]quotaText {
	read := map[string]quotaText{}
	for _, key := range c.queueKeys() {
		e, where := quotaText{}, key
		// Cards replace the quota annotation alone. Deserved and guarantee may have their own.
		if q.Cards != nil && key == c.quotaKey() {
			where = cardsField
			e.counts, e.faults = parseCards(q.Cards)
		} else {
			e.counts, e.faults = parseQuota(q.Annotations[key], c.FailToZero)
		}
		for i := range e.faults {
			e.faults[i].Field = where
			// No limit is something to say of a capability, and of an annotation that is one, too.
			if e.faults[i].Code == codeUnlimited && key != c.quotaKey() {
				e.faults[i].Code = codeTooLarge
			}
		}
		read[key] = e
	}
	return read
}

// queueBuilder makes the vectors of one queue. Three of them may come of one annotation,
// whose faults are noted once.
type queueBuilder struct {
	m      *vectormap.ResourceVectorMap
	of     *Queue
	q      *builtQueue
	path   *field.Path
	config *Config
	texts  map[string]quotaText
	faults *faults
	notes  []entryError
	said   map[string]bool // annotations whose faults are notes already
}

// listCapability is the field of notes on the list of capabilities.
const listCapability = "capability"

// build makes the queue. What is wrong with an annotation, which a tenant writes, becomes a
// note; what is wrong with a list of the caller, an error.
func (b *queueBuilder) build() {
	b.said = map[string]bool{}
	b.checkCards()
	q, main := b.q, b.config.quotaKey()
	var faults []entryError
	q.Capability, faults = b.vector(listCapability, b.of.Capability, main)
	q.deny(b.m, faults)
	q.Guarantee, _ = b.vector("guarantee", b.of.Guarantee, cmp.Or(b.config.GuaranteeKey, main))
	q.Deserved, _ = b.vector("deserved", b.of.Deserved, cmp.Or(b.config.DeservedKey, main))
	// Of the annotation of Volcano, too, where another key takes its place: whoever writes it
	// believes that it limits.
	b.notes = append(b.notes, ignored(b.of.Annotations, b.config.keys(), "quotas", b.config.queueKeys(), nil)...)
}

// checkCards makes faults of what is wrong with Cards: these a caller lists, unlike an
// annotation, which a tenant writes.
func (b *queueBuilder) checkCards() {
	at := b.path.Child(cardsField)
	for _, name := range sorted(b.of.Cards) {
		path := at.Key(brief(name))
		_, wrong := quotaName(name)
		switch {
		case badName(name) != nil:
			b.faults.add(b.q.invalid(path, brief(name), "want the name of a card"), ErrBadName)
		case wrong != nil:
			b.faults.add(b.q.invalid(path, brief(name), "%s", wrong[0].detail()), ErrBadName)
		case b.of.Cards[name] < 0:
			b.faults.add(b.q.invalid(path, b.of.Cards[name], wantCount), ErrBadAmount)
		}
	}
	// Above each name was looked at alone, where no two can be the same card.
	for _, fault := range b.texts[b.config.quotaKey()].faults {
		if fault.Field == cardsField && fault.Code == codeDuplicate { // by space around a name
			b.faults.add(field.Duplicate(at.Key(brief(fault.Name)), brief(fault.Name)), ErrBadName)
		}
	}
}

// vector makes one vector of a list and an annotation. faults are what is wrong with entries
// of the annotation.
func (b *queueBuilder) vector(what string, list corev1.ResourceList, key string) (v vector.ResourceVector, faults []entryError) {
	v = b.m.NewVector()
	set := func(dim int, amount int64) {
		v[dim] = float64(amount)
		// A 0 in a vector is one that was written or one that wasn't. Only this knows.
		if amount == 0 && what == listCapability {
			b.q.denied[dim] = ""
		}
	}
	for _, name := range slices.Sorted(maps.Keys(list)) {
		if _, is := outputIndex(b.m, name); is || name == corev1.ResourceCPU || name == corev1.ResourceMemory {
			continue
		}
		b.notes = append(b.notes, entryError{Name: string(name), Code: codeIgnoredResource, Field: what})
		if badName(string(name)) != nil {
			b.faults.add(b.q.invalid(b.path.Child(what).Key(brief(string(name))), brief(string(name)), "want the name of a resource"), ErrBadName)
		}
	}
	for dim := range b.m.Len() {
		name := corev1.ResourceName(resourceOf(b.m, dim))
		q, is := list[name]
		if !is || outputOf(b.m, dim) == "" && dim > vectormap.Memory {
			continue
		}
		path, unit, scale := b.path.Child(what).Key(brief(string(name))), unitOf(b.m, dim), resource.Scale(0)
		if dim == vectormap.CPU {
			scale = resource.Milli
		}
		switch amount := wholeOf(q, scale); {
		// Whoever writes more than a ledger counts means that there is no limit.
		case amount == Unlimited && what == listCapability:
			b.notes = append(b.notes, entryError{Name: string(name), Code: codeUnlimited, Field: what, Value: quantity.Text(q)})
			v[dim] = math.Inf(1)
		case !exact(amount):
			b.faults.add(b.q.invalid(path, brief(quantity.Text(q)), "want 0 to less than 2^53%s", unit.whole), ErrBadAmount)
		default:
			set(dim, amount)
			// A note and no fault: 1500m bytes of memory are more often a typing error than
			// not, and yet a limit.
			if q.Cmp(*resource.NewScaledQuantity(amount, scale)) != 0 {
				b.notes = append(b.notes, entryError{Name: string(name), Code: codeRoundedDown, Field: what, Value: fmt.Sprintf("%s, which is %d %s", quantity.Text(q), amount, unit.plural())})
			}
		}
	}
	faults = slices.Clone(b.texts[key].faults)
	for _, count := range b.texts[key].counts {
		dim, ok := cardIndex(b.m, count.Alternatives[0])
		switch {
		case !ok: // of a parser that takes everything
			faults = append(faults, entryError{Code: codeEmptyName, Field: key})
		case count.Milli == Unlimited && what == listCapability:
			v[dim] = math.Inf(1)
		case count.Milli == Unlimited: // it can't be kept free, nor deserved
		case !exact(count.Milli): // of a parser that takes everything
			faults = append(faults, outOfRange(key, count.Alternatives[0], count.Milli))
		default:
			set(dim, count.Milli)
		}
	}
	// One annotation may be read for three vectors, and has the same faults each time.
	if !b.said[key] {
		b.said[key] = true
		b.notes = append(b.notes, faults...)
	}
	return v, faults
}

// wholeOf returns a quantity in a unit, rounded down: a limit that is rounded up would admit
// more than was written. It is -1 of a negative one, and Unlimited from 2^53 on.
func wholeOf(q resource.Quantity, scale resource.Scale) int64 {
	// A text as short as 1e999999999 stands for a number of a billion digits.
	q = quantity.Bounded(q)
	switch {
	case q.Sign() < 0:
		return -1
	case q.Cmp(*resource.NewScaledQuantity(limitExact, scale)) >= 0:
		return Unlimited
	}
	amount := q.ScaledValue(scale) // rounded up
	if q.Cmp(*resource.NewScaledQuantity(amount, scale)) < 0 {
		amount--
	}
	return amount
}

// outOfRange is what is wrong with a count that a parser has taken, in milli-cards. The
// strict parser has looked at it already; the plugin's takes what Go decodes.
func outOfRange(where, name string, milli int64) entryError {
	e := entryError{Name: name, Code: codeTooLarge, Field: where, Value: strconv.FormatInt(milli/1000, 10)}
	if milli < 0 {
		e.Code = codeNegative
	}
	if milli == Unlimited || milli == -Unlimited {
		e.Value += " or beyond"
	}
	return e
}

// deny denies the cards whose entries can't be used, and says why. The first fault counts.
func (q *builtQueue) deny(m *vectormap.ResourceVectorMap, faults []entryError) {
	for _, fault := range faults {
		dim, isCard := cardIndex(m, fault.Name)
		_, twice := q.denied[dim]
		switch {
		case fault.isNote() || isCard && twice:
		case isCard:
			// It repeats what a user wrote, and has to come back from a snapshot as it was.
			q.denied[dim] = strings.ToValidUTF8(fault.text(), "\uFFFD")
		// A fault of a card without a dimension, or of no card, has nothing to deny.
		case fault.Name == "" && fault.Code != codeEmptyName && q.unreadable == "":
			q.unreadable = strings.ToValidUTF8(fault.text(), "\uFFFD")
		}
	}
	// After the entries: what is wrong with one of them says more than what is wrong with
	// all.
	q.denyUnreadable(m)
}
