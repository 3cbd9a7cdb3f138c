package device

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Catalog answers by card name what an [Inventory] has. It is made by
// [Inventory.Catalog], immutable, and safe for concurrent use. Its slices are
// shared: callers must not change them. The zero value has no cards.
type Catalog struct {
	inventory Inventory
	names     []string
	cards     map[string]*catalogCard
	resources map[corev1.ResourceName][]string
	totals    Totals
	problems  []Problem
}

// catalogCard is a card on all nodes together.
type catalogCard struct {
	count     int64
	resources []corev1.ResourceName // sorted; without the unknown
}

// Totals is what all nodes have together. Amounts beyond the range of int64 are
// its largest value.
type Totals struct {
	CPUMilli    int64
	MemoryBytes int64
	Cards       []CardTotal // by name
}

// CardTotal is how much of a card there is, in milli-cards: a card is 1000.
type CardTotal struct {
	Name  string
	Milli int64
}

// Catalog makes the catalog of the inventory, which must not change afterwards.
func (inv *Inventory) Catalog() *Catalog {
	c := &Catalog{
		inventory: *inv,
		cards:     map[string]*catalogCard{},
		resources: map[corev1.ResourceName][]string{},
	}
	for i := range inv.Nodes {
		n := &inv.Nodes[i]
		c.totals.CPUMilli = addCapped(c.totals.CPUMilli, n.CPUMilli)
		c.totals.MemoryBytes = addCapped(c.totals.MemoryBytes, n.MemoryBytes)
		for _, card := range n.Cards {
			c.add(card)
		}
	}
	slices.Sort(c.names)
	for _, name := range c.names {
		card := c.cards[name]
		slices.Sort(card.resources)
		c.totals.Cards = append(c.totals.Cards, CardTotal{name, thousandfold(card.count)})
		for _, resource := range card.resources {
			c.resources[resource] = append(c.resources[resource], name)
		}
		if len(card.resources) > 1 {
			c.problems = append(c.problems, Problem{
				ambiguousCard, name,
				fmt.Sprintf("carried by %s", strings.Join(resourceTexts(card.resources), ", ")),
			})
		}
	}
	return c
}

// add counts a card. A source that doesn't know the resource contradicts no other.
func (c *Catalog) add(card Card) {
	entry := c.cards[card.Name]
	if entry == nil {
		entry = &catalogCard{}
		c.cards[card.Name] = entry
		c.names = append(c.names, card.Name)
	}
	entry.count = addCapped(entry.count, card.Count)
	if card.Resource != "" && !slices.Contains(entry.resources, card.Resource) {
		entry.resources = append(entry.resources, card.Resource)
	}
}

func resourceTexts(names []corev1.ResourceName) []string {
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = string(name)
	}
	return list
}

// thousandfold multiplies by 1000, up to the largest int64. A product that wrapped around
// would make the largest cluster look empty to its quotas.
func thousandfold(a int64) int64 {
	if a > math.MaxInt64/1000 {
		return math.MaxInt64
	}
	return 1000 * a
}

// Cards returns the names of all cards, sorted.
func (c *Catalog) Cards() []string { return c.names }

// CardsOf returns the cards of a node, by name; nil if it has none or isn't
// there. On one node a card has one resource, unless a problem says otherwise.
func (c *Catalog) CardsOf(node string) []Card {
	n, ok := c.inventory.Node(node)
	if !ok {
		return nil
	}
	return n.Cards
}

// CardsFor returns the names of the cards that a resource carries on some node,
// sorted; nil for an unknown resource.
func (c *Catalog) CardsFor(resource corev1.ResourceName) []string {
	return c.resources[resource]
}

// Totals returns what all nodes have together, each counted once.
func (c *Catalog) Totals() Totals { return c.totals }

// Resources returns the resources that carry a card, sorted; none for an
// unknown card, or if no source says.
func (c *Catalog) Resources(card string) []corev1.ResourceName {
	if entry := c.cards[card]; entry != nil {
		return entry.resources
	}
	return nil
}

// Resource returns the only resource that carries a card; empty if no source
// says. The error wraps [ErrUnknownCard], or [ErrAmbiguousCard] if nodes
// disagree; a node that doesn't say disagrees with none.
func (c *Catalog) Resource(card string) (corev1.ResourceName, error) {
	entry := c.cards[card]
	switch {
	case entry == nil:
		return "", fmt.Errorf("%w: %q: %s", ErrUnknownCard, card, c.knownCards())
	case len(entry.resources) == 0:
		return "", nil
	case len(entry.resources) > 1:
		return "", fmt.Errorf("%w: %q is carried by %s", ErrAmbiguousCard, card, strings.Join(resourceTexts(entry.resources), ", "))
	}
	return entry.resources[0], nil
}

// knownCards says which cards there are, the first ones of many: most mistakes are
// misspelled names, and the right one is in sight. Errors end up in events, which are short.
func (c *Catalog) knownCards() string {
	const most = 20
	if len(c.names) == 0 {
		return "no node has a card"
	}
	list := make([]string, 0, most)
	for _, name := range c.names[:min(len(c.names), most)] {
		list = append(list, strconv.Quote(name))
	}
	if more := len(c.names) - most; more > 0 {
		return fmt.Sprintf("must be one of %s and %d more", strings.Join(list, ", "), more)
	}
	return "must be one of " + strings.Join(list, ", ")
}

// Problems returns a problem for each card that different resources carry, by
// name. The problems of nodes are in the inventory.
func (c *Catalog) Problems() []Problem { return c.problems }
