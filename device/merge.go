package device

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/resvec/resvec/vectormap"
)

// Merge takes every node from the first source that has it. Devices of two
// sources are never mixed, since each names and numbers them its own way; nor are
// amounts of cpu and memory, which only labels come with. A node without devices,
// because its pool of ResourceSlices is incomplete for example, counts like others.
// Problems of no node come from all sources. The nodes share their lists with
// the sources, which may be nil.
//
// The nodes of a source may be in any order, so that Merge also makes an
// inventory of nodes that were collected one by one. Of nodes with the same name
// in one source the first is kept, with duplicate-node.
func Merge(sources ...*Inventory) *Inventory {
	type sourced struct {
		Node
		source int
	}
	merged := &Inventory{}
	var all []sourced
	for i, source := range sources {
		if source == nil {
			continue
		}
		for _, n := range source.Nodes {
			all = append(all, sourced{n, i})
		}
		merged.Problems = append(merged.Problems, source.Problems...)
	}
	slices.SortStableFunc(all, func(a, b sourced) int { return strings.Compare(a.Name, b.Name) })
	kept := -1 // the source of the last node of merged
	for _, n := range all {
		if last := len(merged.Nodes) - 1; last < 0 || merged.Nodes[last].Name != n.Name {
			merged.Nodes, kept = append(merged.Nodes, n.Node), n.source
		} else if n.source == kept {
			merged.Nodes[last].isDuplicate()
		}
	}
	return merged
}

// isDuplicate records that the source has another node of this name. It leaves
// the list of problems that others may share as it is.
func (n *Node) isDuplicate() {
	if last := len(n.Problems) - 1; last >= 0 && n.Problems[last].Code == duplicateNode && n.Problems[last].Key == n.Name {
		return // many nodes of one name take no longer than one
	}
	problems := problemList{list: slices.Clip(n.Problems)}
	problems.add(duplicateNode, n.Name, "the node is there more than once; the first is kept")
	n.Problems = problems.list
}

// Difference is something that two descriptions of a node disagree on.
type Difference struct {
	Kind  string // of devices; empty for cards
	Field string // cards, devices, memory, product or profile
	Key   string // the name of the card; empty for devices

	// A and B are what each says: of cards and devices how many, of memory the
	// bytes of a device that only one knows, the same of product and profile.
	A, B string
}

// String returns the difference as one line.
func (d Difference) String() string {
	owner := cmp.Or(d.Kind, d.Key)
	return fmt.Sprintf("%s: %s %q and %q", owner, d.Field, d.A, d.B)
}

// Agree compares two descriptions of one node and returns where they contradict each
// other, sorted by kind, field and key; nothing if they agree.
//
// It compares the cards, by name and count, and for each kind the devices that
// can be allocated and are not unhealthy: how many, and, if that is equal, their
// products, their profiles (or partitions) and their memory, each as a multiset. Two
// amounts of memory at most 1 MiB apart are equal, and an unknown one equals any: the
// devices agree if there is a way to pair all of them. Where AMD's labels round the
// memory to GiB, all amounts are rounded so; where they don't say the memory partition,
// dpx for example, none is compared.
//
// Names, minors, UUIDs, topology, resources and problems aren't compared, since labels
// don't know them. What only labels know is compared: a node whose GPUs are shared by MPS
// or time-slicing, or are MIG instances of strategy single, has other cards and devices
// by its labels than by its driver.
func Agree(a, b Node) []Difference {
	if hasBarePartition(a.Devices) || hasBarePartition(b.Devices) {
		a, b = withBarePartitions(a), withBarePartitions(b)
	}
	differences := agreeCards(a.Cards, b.Cards)
	for _, kind := range agreeKinds(a.Devices, b.Devices) {
		differences = append(differences, agreeDevices(kind, agreeUsable(a.Devices, kind), agreeUsable(b.Devices, kind))...)
	}
	return differences
}

// hasBarePartition reports whether a device is a partition whose memory partition is
// unknown.
func hasBarePartition(devices []Device) bool {
	return slices.ContainsFunc(devices, func(d Device) bool { return d.Partition != "" && barePartition(d.Partition) == d.Partition })
}

// barePartition returns a partition, or the name of its card, without the memory partition.
func barePartition(name string) string {
	bare, _, _ := strings.Cut(name, "_nps")
	return bare
}

// withBarePartitions returns a node whose partitions don't say their memory partition.
func withBarePartitions(n Node) Node {
	n.Devices, n.Cards = slices.Clone(n.Devices), slices.Clone(n.Cards)
	for i := range n.Devices {
		n.Devices[i].Partition = barePartition(n.Devices[i].Partition)
	}
	for i := range n.Cards {
		if product, partition, ok := strings.Cut(n.Cards[i].Name, "/"); ok {
			n.Cards[i].Name = product + "/" + barePartition(partition)
		}
	}
	return n
}

func agreeCards(a, b []Card) (differences []Difference) {
	countsA, countsB := cardCounts(a), cardCounts(b)
	var names []string
	for _, card := range slices.Concat(a, b) {
		names = append(names, card.Name)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if x, y := countsA[name], countsB[name]; x != y {
			differences = append(differences, Difference{"", "cards", name, formatCount(x), formatCount(y)})
		}
	}
	return differences
}

// cardCounts adds the counts of cards of the same name.
func cardCounts(cards []Card) map[string]int64 {
	counts := make(map[string]int64, len(cards))
	for _, card := range cards {
		counts[card.Name] = addCapped(counts[card.Name], card.Count)
	}
	return counts
}

func formatCount(x int64) string { return strconv.FormatInt(x, 10) }

// agreeKinds returns the kinds of all devices in order.
func agreeKinds(a, b []Device) []string {
	var kinds []string
	for _, devices := range [][]Device{a, b} {
		for i := range devices {
			kinds = append(kinds, devices[i].Kind)
		}
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// agreeUsable returns the devices of a kind that count. The kubelet takes unhealthy
// devices out of what is allocatable, so labels don't have them and can't disagree.
func agreeUsable(devices []Device, kind string) []*Device {
	var list []*Device
	for i := range devices {
		if d := &devices[i]; d.Kind == kind && d.Allocatable() && d.Health != Unhealthy {
			list = append(list, d)
		}
	}
	return list
}

func agreeDevices(kind string, a, b []*Device) (differences []Difference) {
	// Other numbers mean other products and memories, too: saying that would only repeat it.
	if len(a) != len(b) {
		return []Difference{{kind, "devices", "", formatCount(int64(len(a))), formatCount(int64(len(b)))}}
	}
	if x, y, differ := unequalMemory(a, b); differ {
		differences = append(differences, Difference{kind, "memory", "", formatCount(x), formatCount(y)})
	}
	for _, text := range []struct {
		field string
		of    func(*Device) string
	}{
		{"product", func(d *Device) string { return d.Product }},
		{"profile", profileText},
	} {
		if x, y, differ := unequalTexts(a, b, text.of); differ {
			differences = append(differences, Difference{kind, text.field, "", x, y})
		}
	}
	return differences
}

func profileText(d *Device) string {
	if d.Profile == (vectormap.MIGProfile{}) {
		return d.Partition
	}
	return d.Profile.String()
}

// unequalTexts compares two multisets of the same size. If they differ, it
// returns the first texts that only one has.
func unequalTexts(a, b []*Device, of func(*Device) string) (x, y string, differ bool) {
	textsA, textsB := sortedValues(a, of), sortedValues(b, of)
	onlyA, onlyB := unpaired(textsA, textsB, strings.Compare)
	if len(onlyA) == 0 {
		return "", "", false
	}
	return onlyA[0], onlyB[0], true
}

// unequalMemory compares two multisets of memory in the same way. Labels have MiB where a
// driver has bytes, so amounts less than 1 MiB apart may be the same. What stays unpaired
// of a can still be what b doesn't know.
func unequalMemory(a, b []*Device) (x, y int64, differ bool) {
	bytes := func(d *Device) int64 { return d.MemoryBytes }
	if isRounded := func(d *Device) bool {
		return d.Vendor == "amd.com" && d.MemoryBytes > 0 && d.MemoryBytes%1e9 == 0
	}; slices.ContainsFunc(a, isRounded) || slices.ContainsFunc(b, isRounded) {
		bytes = func(d *Device) int64 { return wholeGigabytes(d.MemoryBytes) << 30 }
	}
	onlyA, onlyB := unpaired(knownMemory(sortedValues(a, bytes)), knownMemory(sortedValues(b, bytes)), func(x, y int64) int {
		if max(x, y)-min(x, y) <= 1<<20 {
			return 0
		}
		return cmp.Compare(x, y)
	})
	unknownB := len(b) - len(knownMemory(sortedValues(b, bytes)))
	if len(onlyA) <= unknownB {
		return 0, 0, false
	}
	return onlyA[0], onlyB[0], true
}

// knownMemory returns the amounts of a sorted list behind the unknown ones.
func knownMemory(amounts []int64) []int64 {
	i, _ := slices.BinarySearch(amounts, 1)
	return amounts[i:]
}

func sortedValues[T cmp.Ordered](devices []*Device, of func(*Device) T) []T {
	list := make([]T, len(devices))
	for i, d := range devices {
		list[i] = of(d)
	}
	slices.Sort(list)
	return list
}

// unpaired pairs as many equal elements of two sorted lists as possible and
// returns the others. Always pairing the smallest is best, because what equals
// a later element equals none between.
func unpaired[T any](a, b []T, compare func(T, T) int) (onlyA, onlyB []T) {
	for len(a) > 0 && len(b) > 0 {
		switch order := compare(a[0], b[0]); {
		case order < 0:
			onlyA, a = append(onlyA, a[0]), a[1:]
		case order > 0:
			onlyB, b = append(onlyB, b[0]), b[1:]
		default:
			a, b = a[1:], b[1:]
		}
	}
	return append(onlyA, a...), append(onlyB, b...)
}
