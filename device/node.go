package device

import (
	"cmp"
	"slices"
	"strings"
)

// NewNode makes a node of its devices, for sources that list each device:
// ResourceSlices, the driver, or one of the caller's. It copies the devices. The node's
// amounts of cpu and memory stay 0.
//
// What it can't take makes a problem. A device of another kind than [KindGPU],
// [KindRDMA] and [KindFPGA] is left out (unknown-type), as is a device with the UUID of
// an earlier one (duplicate-uuid). A memory below 64 MiB or above 4 TiB becomes unknown
// (bad-memory). Spaces in a product become -, and Replicas below 1 become 1.
//
// Cards count the rows that can be allocated and are not unhealthy. A row that is shared
// by MPS or time-slicing counts once per replica. A row without a product, or a shared
// one of unknown memory, has no card name. It stays, counts in no card, and makes the
// problem missing-label or bad-memory. The key of these problems is [Device.Key].
func NewNode(name string, source Source, devices []Device, names Names) Node {
	n := Node{Name: name, Source: source, Devices: make([]Device, 0, len(devices))}
	var problems problemList
	uuids := make(map[string]bool, len(devices))
	for _, d := range devices {
		if !slices.Contains(kinds[:], d.Kind) {
			problems.add(unknownType, d.Key(), "kind: %q: must be one of %q", d.Kind, kinds)
			continue
		}
		if d.UUID != "" && uuids[d.UUID] {
			problems.add(duplicateUUID, d.Key(), "UUID %s: must be unique; the first device is kept", d.UUID)
			continue
		}
		uuids[d.UUID] = true
		if d.MemoryBytes != 0 && !checkMemory(d.MemoryBytes) {
			problems.add(badMemory, d.Key(), "memory: %d bytes: must be from 64 MiB to 4 TiB", d.MemoryBytes)
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

// countCards makes the cards of a node from its rows. A row that has no card name stays in
// the list of devices, so that it is seen, and its problem says what its name lacks.
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
			problems.add(missingLabel, d.Key(), "product: must not be empty; it is in no card")
		default:
			problems.add(badMemory, d.Key(), "memory: must be known of a shared device; it is in no card")
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

// sortDevices brings devices in the order of a node. It is stable, since devices of which
// nothing is known are all equal, and keep the order of their source.
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

// checkMemory reports whether a device can have so much memory. The limits are wide, to
// last for years. They catch a wrong unit: MiB taken for bytes, or bytes for MiB.
func checkMemory(bytes int64) bool { return 64<<20 <= bytes && bytes <= 4<<40 }

// productName returns a driver's name of a product as labels have it: the value of a label
// can't have spaces, and both sources must come to the same card.
func productName(name string) string { return strings.ReplaceAll(name, " ", "-") }
