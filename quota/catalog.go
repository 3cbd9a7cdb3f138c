package quota

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/quota/internal/book"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
)

// cardPrefix makes the name of a card's dimension from the card's name. A card may be
// called cpu, or as an output is: with the prefixes their dimensions stay apart.
const cardPrefix = "card:"

// outputPrefix makes the name of an output's dimension from that of the output.
const outputPrefix = "output:"

// newMap makes the map of a ledger without cards: outputs have literal dimensions, in whole
// units, for the ledger's life.
func newMap(outputs []corev1.ResourceName) (*vectormap.ResourceVectorMap, error) {
	names := make([]string, len(outputs))
	for i, output := range outputs {
		if err := badName(string(output)); err != nil {
			return nil, fmt.Errorf("%w: outputs[%d] is %q", err, i, brief(string(output)))
		}
		// They have dimensions already, which a queue limits by its fields. An output of that
		// name would count a pod twice.
		if slices.Contains(dimNames[:], string(output)) {
			return nil, fmt.Errorf("quota: outputs[%d] is %q: want another name, queues are limited in cpu and memory without", i, output)
		}
		names[i] = outputPrefix + string(output)
	}
	slices.Sort(names)
	return vectormap.New(nil, vectormap.Literal(vectormap.UnitWhole, slices.Compact(names)...))
}

// extendMap returns a map that extends another one by literal dimensions of the cards that
// it hasn't, in milli-cards; the same map if there are none.
func extendMap(m *vectormap.ResourceVectorMap, cards []string) (*vectormap.ResourceVectorMap, error) {
	var names []string
	for _, card := range cards {
		if err := badName(card); err != nil {
			return nil, fmt.Errorf("%w: card %q", err, brief(card))
		}
		if _, isThere := cardIndex(m, card); !isThere {
			names = append(names, cardPrefix+card)
		}
	}
	if len(names) == 0 {
		return m, nil
	}
	// A catalog may list cards in any order. Sorted, two ledgers of one catalog have the
	// same map.
	slices.Sort(names)
	return m.Extend(nil, vectormap.Literal(vectormap.UnitMilli, slices.Compact(names)...))
}

// cardIndex returns the dimension of a card.
func cardIndex(m *vectormap.ResourceVectorMap, card string) (int, bool) {
	return literalIndex(m, cardPrefix+card)
}

// outputIndex returns the dimension of an output.
func outputIndex(m *vectormap.ResourceVectorMap, output corev1.ResourceName) (int, bool) {
	return literalIndex(m, outputPrefix+string(output))
}

// literalIndex returns a literal dimension. Only such a one is a card or an output: a
// resource of a pod may have such a name, too.
func literalIndex(m *vectormap.ResourceVectorMap, name string) (int, bool) {
	dim, ok := m.Index(name)
	return dim, ok && m.IsLiteral(dim)
}

// cardOf returns the card of a dimension.
func cardOf(m *vectormap.ResourceVectorMap, dim int) (string, bool) {
	card, ok := strings.CutPrefix(m.Name(dim), cardPrefix)
	return card, ok && m.IsLiteral(dim)
}

// outputOf returns the output of a dimension; empty of others.
func outputOf(m *vectormap.ResourceVectorMap, dim int) corev1.ResourceName {
	output, ok := strings.CutPrefix(m.Name(dim), outputPrefix)
	if !ok || !m.IsLiteral(dim) {
		return ""
	}
	return corev1.ResourceName(output)
}

// resourceOf returns what a dimension is called in messages and results: cpu, memory, or
// the name of the card or output.
func resourceOf(m *vectormap.ResourceVectorMap, dim int) string {
	if card, is := cardOf(m, dim); is {
		return card
	}
	return cmp.Or(string(outputOf(m, dim)), m.Name(dim))
}

// discovery is what a ledger knows of the cards. It is replaced, never changed. So what
// began to be resolved with one goes on with it, without a lock.
type discovery struct {
	catalog *device.Catalog // nil: nobody knows what there is
	known   map[string][]corev1.ResourceName
	names   []string                         // of known, sorted
	carried map[corev1.ResourceName][]string // known cards by resource, sorted
	totals  map[int]int64                    // by dimension
	counts  bool                             // there are totals; else nothing is limited by them
	dims    map[string]int32                 // of the ledger: those of the catalog are among them

	mu    sync.RWMutex
	nodes map[string]nodeCards // that were asked for
}

// SetCatalog replaces what was discovered; nil: nobody knows. Known cards stay known, with
// their last resources. An error names a bad card.
func (l *Ledger) SetCatalog(catalog *device.Catalog) (seq uint64, err error) {
	l.lock()
	err = l.setDiscovery(catalog, nil)
	return l.unlock(err == nil), err
}

// Declare makes cards known that no node has yet; counts don't matter. One without a
// resource is for claims. The catalog's resources come first.
func (l *Ledger) Declare(cards []device.Card) (seq uint64, err error) {
	l.lock()
	err = l.setDiscovery(l.source.catalog, cards)
	return l.unlock(err == nil), err
}

// setDiscovery takes over what is known of cards. A charge keeps its dimension: cards are
// only ever added, and one that no node has any more has a total of 0.
func (l *Ledger) setDiscovery(catalog *device.Catalog, declared []device.Card) error {
	next := &discovery{catalog: catalog, known: map[string][]corev1.ResourceName{}, totals: map[int]int64{}, nodes: map[string]nodeCards{}}
	// Known for good: charges and quotas of a card outlive its last node.
	if l.source != nil {
		maps.Copy(next.known, l.source.known)
	}
	for _, card := range declared {
		if _, isThere := next.known[card.Name]; !isThere || card.Resource != "" {
			next.known[card.Name] = nil // of a card that only claims give
			if card.Resource != "" {
				next.known[card.Name] = []corev1.ResourceName{card.Resource}
			}
		}
	}
	// What nodes say comes last: it is newer than what was declared. A node that says nothing
	// of the resource takes nothing back.
	if catalog != nil {
		for _, card := range catalog.Cards() {
			if resources := catalog.Resources(card); len(resources) > 0 || next.known[card] == nil {
				next.known[card] = resources
			}
		}
	}
	// All that can fail comes before the first change of the ledger.
	wide, err := extendMap(l.m, sorted(next.known))
	if err != nil {
		return err
	}
	if err := next.index(wide); err != nil {
		return err
	}
	l.widen(wide)
	next.dims = l.dims
	l.source = next
	// Sites read the discovery of the ledger, so it has to be the new one by now.
	l.lost = l.lostCards()
	l.limit()
	return nil
}

// index makes what follows from the known cards. It is made once, since every resolution
// reads it.
func (d *discovery) index(m *vectormap.ResourceVectorMap) error {
	d.carried = map[corev1.ResourceName][]string{}
	d.names = sorted(d.known)
	for _, card := range d.names {
		for _, resource := range d.known[card] {
			if !utf8.ValidString(string(resource)) {
				return fmt.Errorf("%w: resource %q of card %q", ErrBadName, brief(string(resource)), brief(card))
			}
			d.carried[resource] = append(d.carried[resource], card)
		}
	}
	// Without a catalog nobody knows what there is, which is not the same as nothing.
	if d.catalog == nil {
		return nil
	}
	amounts := d.catalog.Totals()
	d.totals[vectormap.CPU], d.totals[vectormap.Memory] = amounts.CPUMilli, amounts.MemoryBytes
	// A catalog that counts nothing limits nothing: with totals of 0 guarantees would leave
	// no queue more than its own.
	d.counts = amounts.CPUMilli > 0 || amounts.MemoryBytes > 0 ||
		slices.ContainsFunc(amounts.Cards, func(card device.CardTotal) bool { return card.Milli > 0 })
	for _, card := range amounts.Cards {
		if dim, ok := cardIndex(m, card.Name); ok {
			d.totals[dim] = card.Milli
		}
	}
	return nil
}

// nodeCards is what one node has.
type nodeCards struct {
	cards *book.Set
	has   map[int32]int64 // milli-cards of each that are allocatable
}

// noCards is the empty set, to which nobody may add. By its address messages know a node
// without cards, see noteNode.
var noCards = new(book.Set)

// on returns what a node has; nothing of an unknown one. A scheduler asks for each node with
// each task, so what the catalog says is kept.
func (d *discovery) on(node string) nodeCards {
	d.mu.RLock()
	is, seen := d.nodes[node]
	d.mu.RUnlock()
	if seen {
		return is
	}
	var cards []device.Card
	if d.catalog != nil {
		cards = d.catalog.CardsOf(node)
	}
	// It isn't kept: there are as many unknown nodes as there are names.
	if len(cards) == 0 {
		return nodeCards{cards: noCards}
	}
	is = nodeCards{new(book.Set), make(map[int32]int64, len(cards))}
	for _, card := range cards {
		dim := d.dims[card.Name]
		is.cards.Add(dim)
		// Not set: more than one resource may carry a card.
		is.has[dim] = book.AddSaturated(is.has[dim], milliCards(card.Count))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.nodes[node] = is
	return is
}

// widen gives every queue the dimensions of a map that extends the ledger's.
func (l *Ledger) widen(m *vectormap.ResourceVectorMap) {
	if l.m == m {
		return
	}
	l.m = m
	l.cards, l.dims = make([]string, m.Len()), make(map[string]int32, m.Len())
	for dim := range m.Len() {
		if card, ok := cardOf(m, dim); ok {
			l.cards[dim], l.dims[card] = card, int32(dim)
		}
	}
	// Everything is listed in this order, so equal states are reported in the same words.
	l.order = []int32{dimCPU, dimMemory}
	for _, card := range sorted(l.dims) {
		l.order = append(l.order, l.dims[card])
	}
	for _, alts := range l.outs.alts {
		l.order = append(l.order, alts.Cards[0])
	}
	l.lost = append(l.lost, make([]int64, m.Len()-len(l.lost))...)
	// Dimensions are only ever added, at the end: what the book has stays where it is.
	l.book.Widen(m.Len())
	// A quota that can't be read denies these cards, too. To the others they change nothing.
	for _, q := range l.queues {
		q.spec.denyUnreadable(m)
	}
}
