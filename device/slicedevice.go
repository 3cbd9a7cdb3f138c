package device

import (
	"cmp"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/resvec/resvec/internal/quantity"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/resvec/resvec/vectormap"
)

// sliceDriver is a Driver with its names prepared.
type sliceDriver struct {
	*Driver
	kind     string
	typ      sliceName
	uuid     sliceName
	product  sliceName
	profile  sliceName
	parent   sliceName
	pciBusID sliceName
	pcieRoot sliceName
	numaNode sliceName
	memory   sliceName
	shares   sliceName

	partition []sliceName
	known     map[string]bool // the names of capacities that are understood
}

// newSliceDriver takes the names of a driver apart. That is done once for all devices.
func newSliceDriver(d *Driver) sliceDriver {
	name := func(name string) sliceName { return newSliceName(d.Name, name) }
	known := map[string]bool{}
	for _, capacity := range append([]string{d.Memory, d.Shares}, d.Capacities...) {
		known[strings.TrimPrefix(capacity, d.Name+"/")] = true
	}
	var partition []sliceName
	for _, attribute := range d.Partition {
		partition = append(partition, name(attribute))
	}
	return sliceDriver{
		Driver:   d,
		kind:     cmp.Or(d.Kind, KindGPU),
		typ:      name(d.Type),
		uuid:     name(d.UUID),
		product:  name(d.Product),
		profile:  name(d.Profile),
		parent:   name(d.ParentUUID),
		pciBusID: name(d.PCIBusID),
		pcieRoot: name(d.PCIeRoot),
		numaNode: name(d.NUMANode),
		memory:   name(d.Memory),
		shares:   name(d.Shares),

		partition: partition,
		known:     known,
	}
}

// What a device of a slice is.
type slicePart uint8

const (
	wholeDevice slicePart = iota
	migInstance
	otherPartition
)

// part returns what a device is; ok is false if nobody knows, or nobody may have it.
func (s *sliceDriver) part(d locatedDevice) (part slicePart, ok bool) {
	if s.Type == "" {
		return wholeDevice, true
	}
	switch text := s.text(d, s.typ); text {
	case "":
		d.node.problems.add(unknownType, d.Name, "attribute %s is missing: must be %s", s.Type, s.types())
		return 0, false
	case s.WholeType:
		return wholeDevice, true
	case s.MIGType:
		return migInstance, true
	case s.PartitionType:
		return otherPartition, true
	case "vfio": // passed through to a virtual machine: a pod of containers can't have it
		return 0, false
	default:
		d.node.problems.add(unknownType, d.Name, "attribute %s: %q: must be %s", s.Type, text, s.types())
		return 0, false
	}
}

// whole returns the row of a whole device. A name that the driver doesn't have finds
// nothing, and what it stands for is unknown.
func (s *sliceDriver) whole(d locatedDevice) Device {
	return Device{
		Kind:        s.kind,
		Name:        d.Name,
		Vendor:      s.Vendor,
		Product:     s.text(d, s.product),
		UUID:        s.text(d, s.uuid),
		Minor:       indexBehind(d.Name, s.MinorPrefix),
		MemoryBytes: s.memoryOf(d),
		Replicas:    1,
		Start:       -1,
		NUMANode:    s.numaOf(d),
		PCIBusID:    s.text(d, s.pciBusID),
		PCIeRoot:    s.text(d, s.pcieRoot),
		Health:      healthOf(d.Taints),
	}
}

// setInstance makes row the row of a MIG instance, which exists or could be made; ok is
// false if its profile can't be read.
func (s *sliceDriver) setInstance(d locatedDevice, row *Device) (ok bool) {
	row.Minor = -1 // minors are of whole GPUs
	row.Sharing = SharingMIG
	row.Profile, ok = s.profileOf(d)
	row.Start, row.Slots = s.slotsOf(d)
	row.ParentUUID = s.text(d, s.parent)
	return ok
}

// partitionOf returns which partition a device is, empty for a whole one.
func (s *sliceDriver) partitionOf(d locatedDevice) string {
	var texts []string
	for _, name := range s.partition {
		texts = append(texts, s.text(d, name))
	}
	return partitionName(texts...)
}

// setShares sets how pods share a device, and reports whether they do by its capacities.
func (s *sliceDriver) setShares(d locatedDevice, row *Device) (shared bool) {
	if d.AllowMultipleAllocations == nil || !*d.AllowMultipleAllocations {
		return false
	}
	if c, found := lookUp(d.Capacity, s.shares); found {
		shares, ok := quantity.Whole(&c.Value)
		switch {
		case !ok || shares < 1 || shares > mostShares:
			d.node.problems.add(badReplicas, d.Name, "capacity %s: %s: must be how many pods share the device, a whole number above 0 and below 10^9", s.Shares, quantity.Text(c.Value))
		case shares == 1:
			return false
		default:
			row.Replicas = int32(shares)
		}
	}
	if row.Sharing == SharingNone {
		row.Sharing = SharingConsumable
	}
	return true
}

// mostShares is how many pods can share a device at most, as many as labels can say.
const mostShares = 1e9 - 1

// listCapacities lists the capacities that pods share, and records what isn't understood.
// By KEP-5075 all capacities of such a device can be consumed, whether they have a
// requestPolicy or not. A memory slot is none: it says where an instance is.
func (s *sliceDriver) listCapacities(d locatedDevice) {
	names := slices.Sorted(maps.Keys(d.Capacity))
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		own, q := strings.TrimPrefix(string(name), s.Name+"/"), d.Capacity[name].Value
		if _, isSlot := numberBehind(own, s.MemorySlice); isSlot || seen[own] {
			continue
		}
		seen[own] = true
		amount, ok := quantity.Ceiling(&q)
		switch {
		case own == "":
			d.node.problems.add(badCapacity, own, "device %s: %s of a capacity without a name", d.Name, quantity.Text(q))
			continue
		case !ok || amount < 0:
			d.node.problems.add(badCapacity, own, "device %s: %s: must be from 0 to %d", d.Name, quantity.Text(q), int64(math.MaxInt64))
			continue
		case !s.known[own]:
			d.node.problems.add(badCapacity, own, "device %s: pods share %s of it, which the description of driver %s doesn't know", d.Name, quantity.Text(q), s.Name)
		}
		d.node.shared = append(d.node.shared, Counter{d.Name, own, amount})
	}
}

// profileOf returns the profile of a MIG instance, and records one that can't be read.
// Without it nobody knows how much of the GPU the instance takes.
func (s *sliceDriver) profileOf(d locatedDevice) (vectormap.MIGProfile, bool) {
	p, _, err := vectormap.ParseMIG(s.text(d, s.profile))
	if err != nil {
		d.node.problems.add(unparsedProfile, d.Name, "attribute %s: %s", s.Profile, notProfile(err))
	}
	return p, err == nil
}

// text returns an attribute that is a string, empty if there is none.
func (s *sliceDriver) text(d locatedDevice, name sliceName) string {
	a, found := lookUp(d.Attributes, name)
	if found && a.StringValue == nil {
		s.malformed(d, name, a, "a text")
	}
	return stringOf(a.StringValue)
}

// numaOf returns the NUMA node, -1 if unknown.
func (s *sliceDriver) numaOf(d locatedDevice) int32 {
	a, found := lookUp(d.Attributes, s.numaNode)
	if !found {
		return -1
	}
	if a.IntValue == nil || *a.IntValue < -1 || *a.IntValue > math.MaxInt32 {
		s.malformed(d, s.numaNode, a, "the number of a NUMA node, from -1 on")
		return -1
	}
	return int32(*a.IntValue)
}

// malformed records an attribute whose value has the wrong type. The device stays, and the
// attribute is unknown.
func (s *sliceDriver) malformed(d locatedDevice, name sliceName, a resourcev1.DeviceAttribute, wanted string) {
	d.node.problems.add(missingLabel, string(name.first), "device %s: %s: must be %s", d.Name, attributeText(a), wanted)
}

// attributeText returns the value of an attribute as it was written. Who reads it in a
// problem then finds it in the slice.
func attributeText(a resourcev1.DeviceAttribute) string {
	switch {
	case a.StringValue != nil:
		return strconv.Quote(*a.StringValue)
	case a.VersionValue != nil:
		return "version " + strconv.Quote(*a.VersionValue)
	case a.IntValue != nil:
		return strconv.FormatInt(*a.IntValue, 10)
	case a.BoolValue != nil:
		return strconv.FormatBool(*a.BoolValue)
	}
	return "no value"
}

// types lists the values of the attribute Type that are known.
func (s *sliceDriver) types() string {
	var known []string
	for _, text := range []string{s.WholeType, s.MIGType, s.PartitionType} {
		if text != "" {
			known = append(known, strconv.Quote(text))
		}
	}
	return strings.Join(known, " or ")
}

// memoryOf returns the memory of a device, 0 if unknown. An amount in a wrong unit is out
// of range, and unknown is better than wrong.
func (s *sliceDriver) memoryOf(d locatedDevice) int64 {
	c, found := lookUp(d.Capacity, s.memory)
	if !found {
		return 0
	}
	bytes := wholeAmount(&c.Value)
	if !checkMemory(bytes) {
		d.node.problems.add(badMemory, d.Name, "capacity %s: %s: must be from 64 MiB to 4 TiB", s.Memory, quantity.Text(c.Value))
		return 0
	}
	return bytes
}

// slotsOf returns the memory slots of a MIG instance: the first, or -1, and all that a
// GPU can have. Each slot is a capacity of its own, and its number stands in the name: the
// value says nothing. Wrong slots are kept as far as they can be, since the instance does
// take something there.
func (s *sliceDriver) slotsOf(d locatedDevice) (start int8, slots Slots) {
	first, last, beyond := int8(-1), int8(-1), ""
	for name := range d.Capacity {
		own, ok := strings.CutPrefix(string(name), s.Name+"/")
		if !ok {
			own = string(name)
		}
		i, ok := numberBehind(own, s.MemorySlice)
		if !ok {
			continue
		}
		if i >= maxSlots && (len(own) > len(beyond) || len(own) == len(beyond) && own > beyond) { // the largest
			beyond = own
		}
		if i > math.MaxInt8 {
			continue
		}
		if first < 0 || int8(i) < first {
			first = int8(i)
		}
		last = max(last, int8(i))
		if i < maxSlots {
			slots |= 1 << i
		}
	}
	switch {
	case beyond != "":
		d.node.problems.add(badSlots, d.Name, "%s: a GPU has memory slots 0 to %d", beyond, maxSlots-1)
	case bits.OnesCount32(uint32(slots)) != int(last-first+1) && slots != 0:
		d.node.problems.add(badSlots, d.Name, "memory slots %s: must be next to one another; as declared they are taken", slots)
	}
	return first, slots
}

// sliceName is the name of an attribute or capacity in the one or two ways in which a
// slice can write it. An empty name is not looked up.
type sliceName struct{ first, second resourcev1.QualifiedName }

// newSliceName returns a name as the driver's configuration has it. A slice may leave the
// driver's own domain out, so such a name has two forms.
func newSliceName(domain, name string) sliceName {
	switch own, ok := strings.CutPrefix(name, domain+"/"); {
	case name == "":
		return sliceName{}
	case ok:
		return sliceName{resourcev1.QualifiedName(own), resourcev1.QualifiedName(name)}
	case strings.Contains(name, "/"):
		return sliceName{first: resourcev1.QualifiedName(name)}
	}
	return sliceName{resourcev1.QualifiedName(name), resourcev1.QualifiedName(domain + "/" + name)}
}

// lookUp returns the value of a name, in the first form that the slice has.
func lookUp[V any](values map[resourcev1.QualifiedName]V, name sliceName) (v V, found bool) {
	if name.first != "" {
		v, found = values[name.first]
	}
	if !found && name.second != "" {
		v, found = values[name.second]
	}
	return v, found
}

// indexBehind is numberBehind for an int32, and -1 if there is none.
func indexBehind(name, prefix string) int32 {
	n, ok := numberBehind(name, prefix)
	if !ok || n > math.MaxInt32 {
		return -1
	}
	return int32(n)
}

// numberBehind returns the number that follows prefix in name, written without
// leading zeros, or the greatest int64 if it is larger. ok says if name is of that
// form. With leading zeros gpu-1 and gpu-01 would be two devices of one minor.
func numberBehind(name, prefix string) (n int64, ok bool) {
	digits, ok := strings.CutPrefix(name, prefix)
	if !ok || prefix == "" || digits == "" || digits[0] == '0' && len(digits) > 1 || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	n, _ = strconv.ParseInt(digits, 10, 64)
	return n, true
}

// healthOf returns Unhealthy if a taint keeps pods off the device. A claim may tolerate
// the taint, but who counts cards sees no claims.
func healthOf(taints []resourcev1.DeviceTaint) Health {
	for i := range taints {
		switch taints[i].Effect {
		case resourcev1.DeviceTaintEffectNoSchedule, resourcev1.DeviceTaintEffectNoExecute:
			return Unhealthy
		}
	}
	return Healthy
}

// countersOf lists counters by set and name. A map has no order, and reading a slice
// twice must give the same.
func countersOf(consumed []resourcev1.DeviceCounterConsumption) []Counter {
	var counters []Counter
	for i := range consumed {
		for name, c := range consumed[i].Counters {
			counters = append(counters, Counter{consumed[i].CounterSet, name, wholeAmount(&c.Value)})
		}
	}
	slices.SortFunc(counters, func(a, b Counter) int {
		return cmp.Or(strings.Compare(a.Set, b.Set), strings.Compare(a.Name, b.Name), cmp.Compare(a.Value, b.Value))
	})
	return counters
}

// wholeAmount returns q rounded up, or the nearest int64. An amount that wrapped around
// could pass for a right one; the nearest int64 fails every check of a range.
func wholeAmount(q *resource.Quantity) int64 {
	switch x, ok := quantity.Ceiling(q); {
	case ok:
		return x
	case q.Sign() < 0:
		return math.MinInt64
	}
	return math.MaxInt64
}

// stringOf returns the string at p, or "".
func stringOf(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}
