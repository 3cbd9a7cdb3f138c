package device

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// NewNode makes a node of its devices, for sources that list each device:
// ResourceSlices, the driver, or one of the caller's. It copies the devices. The node's
// amounts of cpu and memory stay 0.
//
// What it can't take makes a problem. A device of another kind than [KindGPU],
// [KindRDMA] and [KindFPGA] is left out ([UnknownType]), as is a device with the UUID of
// an earlier one ([DuplicateUUID]). A memory below 64 MiB or above 4 TiB becomes unknown
// ([BadMemory]). Spaces in a product become -, and Replicas below 1 become 1.
//
// Cards count the rows that can be allocated and are not unhealthy. A row that is shared
// by MPS or time-slicing counts once per replica. A row without a product, or a shared
// one of unknown memory, has no card name. It stays, counts in no card, and makes the
// problem [MissingLabel] or [BadMemory]. The key of these problems is [Device.Key].
func NewNode(name string, source Source, devices []Device, names Names) Node {
	n := Node{Name: name, Source: source, Devices: make([]Device, 0, len(devices))}
	var problems problemList
	uuids := make(map[string]bool, len(devices))
	for _, d := range devices {
		if !slices.Contains(kinds[:], d.Kind) {
			problems.add(UnknownType, d.Key(), "kind: %q: must be one of %q", d.Kind, kinds)
			continue
		}
		if d.UUID != "" && uuids[d.UUID] {
			problems.add(DuplicateUUID, d.Key(), "UUID %s: must be unique; the first device is kept", d.UUID)
			continue
		}
		uuids[d.UUID] = true
		if d.MemoryBytes != 0 && !checkMemory(d.MemoryBytes) {
			problems.add(BadMemory, d.Key(), "memory: %d bytes: must be from 64 MiB to 4 TiB", d.MemoryBytes)
			d.MemoryBytes = 0
		}
		d.Product = productName(d.Product)
		d.Replicas = max(d.Replicas, 1)
		n.Devices = append(n.Devices, d)
	}
	sortDevices(n.Devices)
	countCards(&n, names, &problems)
	n.Problems = problems.list
	finishNode(&n)
	return n
}

// countCards makes the cards of a node from its rows.
func countCards(n *Node, names Names, problems *problemList) {
	counts := map[string]int64{}
	for i := range n.Devices {
		d := &n.Devices[i]
		if !d.Allocatable() || d.Health == Unhealthy {
			continue
		}
		card, count := names.card(d)
		switch {
		case card != "":
			counts[card] += count
		case d.Product == "":
			problems.add(MissingLabel, d.Key(), "product: must not be empty; it is in no card")
		default:
			problems.add(BadMemory, d.Key(), "memory: must be known of a shared device; it is in no card")
		}
	}
	n.Cards = make([]Card, 0, len(counts))
	for card, count := range counts {
		n.Cards = append(n.Cards, Card{card, names.Resources[card], count})
	}
}

// finishNode brings the cards and partitions of a node in order.
func finishNode(n *Node) {
	sortCards(n.Cards)
	slices.SortStableFunc(n.Potential, func(a, b Partition) int { return strings.Compare(a.Name, b.Name) })
}

// sortCards brings cards in the order of a node.
func sortCards(cards []Card) {
	slices.SortFunc(cards, func(a, b Card) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(string(a.Resource), string(b.Resource)))
	})
}

// sortDevices brings devices in the order of a node.
func sortDevices(devices []Device) {
	slices.SortStableFunc(devices, func(a, b Device) int {
		return cmp.Or(
			strings.Compare(a.Kind, b.Kind),
			cmp.Compare(a.Minor, b.Minor),
			strings.Compare(a.UUID, b.UUID),
			strings.Compare(a.Name, b.Name),
		)
	})
}

// checkMemory reports whether a device can have so much memory.
func checkMemory(bytes int64) bool { return 64<<20 <= bytes && bytes <= 4<<40 }

// productName returns a driver's name of a product as labels have it.
func productName(name string) string { return strings.ReplaceAll(name, " ", "-") }

// problemList collects the problems of a node, at most one per code and key.
// The zero value is empty.
type problemList struct {
	list []Problem
	seen map[problemID]bool // once the list is long
}

type problemID struct {
	code ProblemCode
	key  string
}

// add adds a problem, unless there is one of this code and key.
func (p *problemList) add(code ProblemCode, key, format string, args ...any) {
	if p.has(problemID{code, key}) {
		return
	}
	p.list = append(p.list, Problem{code, key, fmt.Sprintf(format, args...)})
	if p.seen != nil {
		p.seen[problemID{code, key}] = true
	}
}

// addAmbiguous adds a problem for each of a node's cards that several resources
// carry.
func (p *problemList) addAmbiguous(cards []Card) {
	for i := 1; i < len(cards); i++ {
		if a, b := &cards[i-1], &cards[i]; a.Name == b.Name {
			p.add(AmbiguousCard, a.Name, "carried by %s and %s", a.Resource, b.Resource)
		}
	}
}

func (p *problemList) has(id problemID) bool {
	const short = 16 // searched from end to end
	if len(p.list) > short && p.seen == nil {
		p.seen = make(map[problemID]bool, 2*len(p.list))
		for i := range p.list {
			p.seen[problemID{p.list[i].Code, p.list[i].Key}] = true
		}
	}
	if p.seen != nil {
		return p.seen[id]
	}
	return slices.ContainsFunc(p.list, func(q Problem) bool { return q.Code == id.code && q.Key == id.key })
}
