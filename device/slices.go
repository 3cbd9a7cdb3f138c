package device

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/resvec/resvec/internal/document"
	"github.com/resvec/resvec/internal/quantity"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Driver names the attributes and capacities by which a DRA driver describes its devices
// in a ResourceSlice. A name without a domain is one of the driver's own domain; the
// slice may write it with that domain or without. If a name is empty, what it would say
// stays unknown.
type Driver struct {
	Name   string `json:"name"`             // spec.driver of its slices; unique among the drivers
	Vendor string `json:"vendor,omitempty"` // of all devices
	Kind   string `json:"kind,omitempty"`   // of all devices; empty: [KindGPU]

	// Attributes that are strings. The value of Type says what a device is. Without
	// Type all devices are whole.
	Type       string `json:"type,omitempty"`
	WholeType  string `json:"wholeType,omitempty"` // value of Type: a whole device
	MIGType    string `json:"migType,omitempty"`   // value of Type: a MIG instance; empty: there are none
	UUID       string `json:"uuid,omitempty"`
	Product    string `json:"product,omitempty"`
	Profile    string `json:"profile,omitempty"`    // of a MIG instance
	ParentUUID string `json:"parentUUID,omitempty"` // of a MIG instance
	PCIBusID   string `json:"pciBusID,omitempty"`
	PCIeRoot   string `json:"pcieRoot,omitempty"`

	NUMANode string `json:"numaNode,omitempty"` // attribute, an integer
	Memory   string `json:"memory,omitempty"`   // capacity, in bytes

	// Prefixes of names that end in a number.
	MemorySlice string `json:"memorySlice,omitempty"` // of capacities: the number is a memory slot of a MIG instance
	MinorPrefix string `json:"minorPrefix,omitempty"` // of whole devices: the number is the minor
}

// NVIDIADriver returns the description of NVIDIA's DRA driver for GPUs, gpu.nvidia.com.
// It is the default of [FromResourceSlices].
func NVIDIADriver() Driver {
	return Driver{
		Name:   "gpu.nvidia.com",
		Vendor: "nvidia.com",
		Kind:   KindGPU,

		Type:      "type",
		WholeType: "gpu",
		MIGType:   "mig",

		UUID:       "uuid",
		Product:    "productName",
		Profile:    "profile",
		ParentUUID: "parentUUID",
		PCIBusID:   "resource.kubernetes.io/pciBusID",
		PCIeRoot:   "resource.kubernetes.io/pcieRoot",
		NUMANode:   "resource.kubernetes.io/numaNode",

		Memory:      "memory",
		MemorySlice: "memorySlice",
		MinorPrefix: "gpu-",
	}
}

// SliceOptions are the options of [FromResourceSlices]. The zero value is the
// default.
type SliceOptions struct {
	// AllowIncomplete also uses the devices of pools that lack slices. The problem
	// is recorded as without it.
	AllowIncomplete bool

	// ReportUnlisted adds the problem unlisted to the Inventory for each driver that
	// has slices and is not among those to read, whatever its devices are.
	ReportUnlisted bool

	Names Names // of cards
}

// FromResourceSlices reads the devices in the ResourceSlices of these DRA drivers; nil
// stands for [NVIDIADriver] alone. Slices of other drivers are skipped. The error lists
// every fault of the drivers with its place, as the aggregate of a field.ErrorList. It
// names the version of a slice whose apiVersion is another one than v1: its devices would
// all seem empty. What else a slice says is never an error: it makes a problem.
//
//   - The slices of a driver with the same pool name are a pool. Only slices of its
//     highest generation are used; older ones are stale-slice. A pool is complete if
//     it has as many slices as each of them says. Otherwise it is incomplete-pool and
//     its devices are left out. Both problems are recorded on every node of the pool,
//     with the pool's name as the key.
//   - A device is on the node that its slice names, or else on the node that the device
//     itself names. A device without a node, which several nodes can reach, is skipped
//     (not-node-local, in Problems of the Inventory). The key is the pool, or the
//     device if the slice places its devices one by one.
//   - A whole device is a row, whether it consumes counters or not.
//   - A MIG instance that consumes no counters exists. It is a row, and its GPU is in
//     MIG mode. An instance that consumes counters does not exist yet. It goes to
//     Potential with its counters, even if its profile can't be read.
//   - A device with a taint of effect NoSchedule or NoExecute is Unhealthy, all others
//     are Healthy. Taints by a DeviceTaintRule are in no slice and don't count.
//   - If rows on any nodes have the same UUID, the first is kept, in the order of
//     drivers, pools and device names (duplicate-uuid).
//   - An attribute of the wrong type is unknown (missing-label, with the attribute as
//     the key), as is a memory that no GPU has (bad-memory). A device of an unknown
//     type is left out (unknown-type; type vfio without a problem), as is a MIG instance that exists and has an
//     unreadable profile (unparsed-profile).
//   - A MIG instance starts at its lowest memory slot and takes all slots that it
//     declares. Slots with a gap, or that no GPU has, are bad-slots.
//
// Cards count the rows as [NewNode] does.
//
// The inventory has every node that a slice of the highest generation names, also one
// with nothing but problems. The order of slices and devices doesn't matter, if their
// names are unique, as the API demands. Only strings of the slices are kept.
func FromResourceSlices[S resourcev1.ResourceSlice | *resourcev1.ResourceSlice](list []S, drivers []Driver, o SliceOptions) (*Inventory, error) {
	if drivers == nil {
		drivers = []Driver{NVIDIADriver()}
	}
	if errs := checkDrivers(drivers); len(errs) > 0 {
		return nil, document.Errors(errs)
	}
	prepared := make([]sliceDriver, len(drivers))
	for i := range drivers {
		prepared[i] = newSliceDriver(&drivers[i])
	}
	var others map[string]int // slices of other drivers
	if o.ReportUnlisted {
		others = map[string]int{}
	}
	entries := sortedEntries(list, prepared, others)
	for _, e := range entries {
		if e.APIVersion != "" && e.APIVersion != resourcev1.SchemeGroupVersion.String() {
			return nil, fmt.Errorf("device: ResourceSlice %q: apiVersion: %q: must be %s, as which it was read", e.Name, e.APIVersion, resourcev1.SchemeGroupVersion)
		}
	}
	r := sliceReader{
		opts:     o,
		nodes:    make(map[string]*sliceNode, len(entries)),
		seen:     make(map[string]*sliceNode, countDevices(entries)),
		products: map[string]string{},
	}
	for _, driver := range slices.Sorted(maps.Keys(others)) {
		r.problems.add(unlisted, driver, "a driver that is not among those to read; slices: %d", others[driver])
	}
	for len(entries) > 0 {
		n := 1
		for n < len(entries) && entries[n].samePool(entries[0]) {
			n++
		}
		r.readPool(entries[:n])
		entries = entries[n:]
	}
	return r.inventory(), nil
}

// checkDrivers returns the faults of a configuration, all of them at once.
func checkDrivers(drivers []Driver) (errs field.ErrorList) {
	names := map[string]bool{}
	for i := range drivers {
		d, path := &drivers[i], field.NewPath("drivers").Index(i)
		switch {
		case d.Name == "":
			errs = append(errs, field.Required(path.Child("name"), "the name of the driver"))
		case names[d.Name]:
			errs = append(errs, field.Duplicate(path.Child("name"), d.Name))
		}
		names[d.Name] = true
		if d.Kind != "" && !slices.Contains(kinds[:], d.Kind) {
			errs = append(errs, field.NotSupported(path.Child("kind"), d.Kind, kinds[:]))
		}
		switch {
		case d.Type == "" && cmp.Or(d.WholeType, d.MIGType) != "":
			errs = append(errs, field.Required(path.Child("type"), "the attribute whose values wholeType and migType are"))
		case d.Type != "" && cmp.Or(d.WholeType, d.MIGType) == "":
			errs = append(errs, field.Required(path.Child("wholeType"), "the value of a whole device, or migType of a MIG instance: without them no device has a known type"))
		case d.Type != "" && d.WholeType == d.MIGType:
			errs = append(errs, field.Duplicate(path.Child("migType"), d.MIGType))
		}
	}
	return errs
}

// sliceEntry is a slice of a known driver.
type sliceEntry struct {
	driver *sliceDriver
	order  int // of the driver
	*resourcev1.ResourceSlice
}

// samePool compares drivers, too: the name of a pool is unique only within a driver.
func (e sliceEntry) samePool(o sliceEntry) bool {
	return e.order == o.order && e.Spec.Pool.Name == o.Spec.Pool.Name
}

// sortedEntries returns the slices of known drivers, sorted: by pool, and the highest
// generation first. It counts the slices of other drivers in others, unless that is nil.
func sortedEntries[S resourcev1.ResourceSlice | *resourcev1.ResourceSlice](list []S, drivers []sliceDriver, others map[string]int) []sliceEntry {
	entries := make([]sliceEntry, 0, len(list))
	for i := range list {
		var s *resourcev1.ResourceSlice
		switch p := any(&list[i]).(type) {
		case *resourcev1.ResourceSlice:
			s = p
		case **resourcev1.ResourceSlice:
			s = *p
		}
		k := 0
		for k < len(drivers) && drivers[k].Name != s.Spec.Driver {
			k++
		}
		if k == len(drivers) {
			if others != nil {
				others[s.Spec.Driver]++
			}
			continue
		}
		entries = append(entries, sliceEntry{&drivers[k], k, s})
	}
	// Of two devices with one UUID the first is kept. So the order must come from what the
	// slices say, and not from the order in which the API server lists them.
	slices.SortStableFunc(entries, func(a, b sliceEntry) int {
		if c := cmp.Or(
			cmp.Compare(a.order, b.order),
			strings.Compare(a.Spec.Pool.Name, b.Spec.Pool.Name),
			cmp.Compare(b.Spec.Pool.Generation, a.Spec.Pool.Generation),
		); c != 0 {
			return c
		}
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.place(), b.place()))
	})
	return entries
}

// place orders slices that have no name. No cluster has such slices.
func (e sliceEntry) place() string {
	if len(e.Spec.Devices) == 0 {
		return stringOf(e.Spec.NodeName)
	}
	return stringOf(e.Spec.NodeName) + "/" + e.Spec.Devices[0].Name
}

// countDevices returns how many devices slices list. A map with room for them doesn't
// grow while it is filled.
func countDevices(entries []sliceEntry) int {
	n := 0
	for _, e := range entries {
		n += len(e.Spec.Devices)
	}
	return n
}

// sliceReader collects the devices of nodes, a pool at a time.
type sliceReader struct {
	opts     SliceOptions
	nodes    map[string]*sliceNode
	found    []*sliceNode          // nodes, as found
	seen     map[string]*sliceNode // by UUID: the node that has it
	products map[string]string     // with - for spaces
	problems problemList           // of no node
	pool     int                   // number of the pool that is being read, from 1
	located  []locatedDevice       // of that pool
	members  []*sliceNode          // nodes of that pool
}

// sliceNode is a node in the making.
type sliceNode struct {
	name      string
	pool      int // the last pool that it was found in
	devices   []Device
	instances bool // devices has MIG instances
	potential []Partition
	problems  problemList
}

// locatedDevice is a device of a slice and the node that it is on, nil if none.
type locatedDevice struct {
	*resourcev1.Device
	node  *sliceNode
	slice sliceEntry
}

// readPool adds the devices of a pool, whose slices are entries, the highest
// generation first. A driver that changes a pool writes its slices one by one, so slices of
// two generations, or too few of the new one, are normal for a moment. A part of a pool
// would look like a node that has lost devices. So nothing of it is read, unless the
// options say otherwise.
func (r *sliceReader) readPool(entries []sliceEntry) {
	generation := entries[0].Spec.Pool.Generation
	current := 1
	for current < len(entries) && entries[current].Spec.Pool.Generation == generation {
		current++
	}
	r.pool++
	r.locate(entries[:current])

	driver, pool := entries[0].driver, entries[0].Spec.Pool.Name
	if stale := len(entries) - current; stale > 0 {
		r.poolProblem(staleSlice, pool, "%s: %d slices older than generation %d", driver.Name, stale, generation)
	}
	if wanted, ok := wholePool(entries[:current]); !ok {
		r.poolProblem(incompletePool, pool, "%s: %d slices of generation %d: resourceSliceCount says %s", driver.Name, current, generation, wanted)
		if !r.opts.AllowIncomplete {
			return
		}
	}
	if len(r.members) == 1 {
		n := r.members[0]
		n.devices = slices.Grow(n.devices, len(r.located))
	}
	for _, d := range r.located {
		r.readDevice(driver, d)
	}
}

// wholePool reports whether there are as many slices as each of them says. If not,
// wanted is what they say. Slices that say different numbers come from two writes of
// the driver, so they can't be all.
func wholePool(entries []sliceEntry) (wanted string, ok bool) {
	low, high := int64(math.MaxInt64), int64(math.MinInt64)
	for _, e := range entries {
		low = min(low, e.Spec.Pool.ResourceSliceCount)
		high = max(high, e.Spec.Pool.ResourceSliceCount)
	}
	if low == int64(len(entries)) && high == low {
		return "", true
	}
	wanted = strconv.FormatInt(low, 10)
	if high != low {
		wanted += " or " + strconv.FormatInt(high, 10)
	}
	return wanted, false
}

// locate finds the nodes of a pool, and its devices in the order of their names. How a
// driver divides them into slices says nothing, so no order comes from that.
func (r *sliceReader) locate(entries []sliceEntry) {
	r.located, r.members = r.located[:0], r.members[:0]
	for _, e := range entries {
		spec := &e.Spec
		home := r.member(stringOf(spec.NodeName))
		for i := range spec.Devices {
			d := &spec.Devices[i]
			node := home
			if node == nil {
				node = r.member(stringOf(d.NodeName))
			}
			r.located = append(r.located, locatedDevice{d, node, e})
		}
	}
	// Shorter names first: gpu-2 comes before gpu-10.
	slices.SortStableFunc(r.located, func(a, b locatedDevice) int {
		return cmp.Or(cmp.Compare(len(a.Name), len(b.Name)), strings.Compare(a.Name, b.Name))
	})
	r.located = slices.DeleteFunc(r.located, r.isRemote)
}

// member returns the node of the pool with this name, nil if there is no name. Most pools
// have one node, which is then the last one and needs no look into the map.
func (r *sliceReader) member(name string) *sliceNode {
	if name == "" {
		return nil
	}
	if last := len(r.members) - 1; last >= 0 && r.members[last].name == name {
		return r.members[last]
	}
	n := r.nodes[name]
	if n == nil {
		n = &sliceNode{name: name}
		r.nodes[name] = n
		r.found = append(r.found, n)
	}
	if n.pool != r.pool {
		n.pool = r.pool
		r.members = append(r.members, n)
	}
	return n
}

// isRemote reports, and records, that a device is on no node. Several nodes may reach it.
// Counted on each of them, it would be given away more than once.
func (r *sliceReader) isRemote(d locatedDevice) bool {
	if d.node != nil {
		return false
	}
	key := d.slice.Spec.Pool.Name
	if each := d.slice.Spec.PerDeviceNodeSelection; each != nil && *each {
		key = d.Name
	}
	r.problems.add(notNodeLocal, key, "%s: device %s of pool %s: must name a node in nodeName, of itself or its slice", d.slice.driver.Name, d.Name, d.slice.Spec.Pool.Name)
	return true
}

// poolProblem records a problem on all nodes of the pool. Who asks why a node has no devices
// looks at the node.
func (r *sliceReader) poolProblem(code string, pool, format string, args ...any) {
	for _, n := range r.members {
		n.problems.add(code, pool, format, args...)
	}
	if len(r.members) == 0 {
		r.problems.add(code, pool, format, args...)
	}
}

// readDevice adds a device to its node. One of an unknown type is left out: nobody knows
// what a pod would get with it.
func (r *sliceReader) readDevice(driver *sliceDriver, d locatedDevice) {
	isMIG, ok := driver.isMIG(d)
	switch {
	case !ok:
	case !isMIG:
		r.addRow(d, driver.whole(d))
	default:
		row, ok := driver.instance(d)
		// Partitions that consume the same counters exclude each other, so none of them is
		// counted before it exists.
		if len(d.ConsumesCounters) > 0 {
			row.Product = r.productName(row.Product)
			d.node.potential = append(d.node.potential, Partition{row, countersOf(d.ConsumesCounters)})
		} else if ok {
			r.addRow(d, row)
			d.node.instances = true
		}
	}
}

// addRow adds a row to its node, unless there is one with its UUID. A device that two
// drivers or pools list is one device, and can be given away once.
func (r *sliceReader) addRow(d locatedDevice, row Device) {
	if row.UUID != "" {
		if first := r.seen[row.UUID]; first != nil {
			d.node.problems.add(duplicateUUID, d.Name, "UUID %s: must be unique; the device of node %s is kept", row.UUID, first.name)
			return
		}
		r.seen[row.UUID] = d.node
	}
	row.Product = r.productName(row.Product)
	d.node.devices = append(d.node.devices, row)
}

// productName is the function of that name, which makes each name once.
func (r *sliceReader) productName(name string) string {
	product, ok := r.products[name]
	if !ok {
		product = productName(name)
		r.products[name] = product
	}
	return product
}

// inventory finishes the nodes. They are sorted by name, since [Inventory.Node] searches
// them so.
func (r *sliceReader) inventory() *Inventory {
	slices.SortFunc(r.found, func(a, b *sliceNode) int { return strings.Compare(a.name, b.name) })
	inv := &Inventory{Nodes: make([]Node, len(r.found)), Problems: r.problems.list}
	for i, n := range r.found {
		inv.Nodes[i] = n.finish(r.opts.Names)
	}
	return inv
}

// finish makes the node. It does what NewNode does, but for checks that are done.
func (n *sliceNode) finish(names Names) Node {
	if n.instances {
		markParents(n.devices)
	}
	node := Node{Name: n.name, Source: SourceResourceSlices, Devices: n.devices, Potential: n.potential}
	sortDevices(node.Devices)
	countCards(&node, names, &n.problems)
	finishNode(&node)
	node.Problems = n.problems.list
	return node
}

// markParents puts the GPUs that have MIG instances into MIG mode. Their slices need not
// say so, and a GPU that counted together with its instances would be counted twice.
func markParents(devices []Device) {
	parents := map[string]bool{}
	for i := range devices {
		parents[devices[i].ParentUUID] = true
	}
	for i := range devices {
		if d := &devices[i]; d.UUID != "" && parents[d.UUID] {
			d.MIGEnabled = true
		}
	}
}

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
}

// newSliceDriver takes the names of a driver apart. That is done once for all devices.
func newSliceDriver(d *Driver) sliceDriver {
	name := func(name string) sliceName { return newSliceName(d.Name, name) }
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
	}
}

// isMIG reports whether d is a MIG instance and not a whole device. ok is false if it is
// neither.
func (s *sliceDriver) isMIG(d locatedDevice) (isMIG, ok bool) {
	if s.Type == "" {
		return false, true
	}
	switch text := s.text(d, s.typ); text {
	case "":
		d.node.problems.add(unknownType, d.Name, "attribute %s is missing: must be %s", s.Type, s.types())
		return false, false
	case s.WholeType:
		return false, true
	case s.MIGType:
		return true, true
	case "vfio": // passed through to a virtual machine: a pod of containers can't have it
		return false, false
	default:
		d.node.problems.add(unknownType, d.Name, "attribute %s: %q: must be %s", s.Type, text, s.types())
		return false, false
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

// instance returns the row of a MIG instance, which exists or could be made; ok is
// false if its profile can't be read.
func (s *sliceDriver) instance(d locatedDevice) (row Device, ok bool) {
	profile, ok := s.profileOf(d)
	row = s.whole(d)
	row.Minor = -1 // minors are of whole GPUs
	row.Sharing = SharingMIG
	row.Profile = profile
	row.Start, row.Slots = s.slotsOf(d)
	row.ParentUUID = s.text(d, s.parent)
	return row, ok
}

// profileOf returns the profile of a MIG instance, and records one that can't be read.
// Without it nobody knows how much of the GPU the instance takes.
func (s *sliceDriver) profileOf(d locatedDevice) (Profile, bool) {
	p, _, err := ParseProfile(s.text(d, s.profile))
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
	switch {
	case s.WholeType == "":
		return strconv.Quote(s.MIGType)
	case s.MIGType == "":
		return strconv.Quote(s.WholeType)
	}
	return strconv.Quote(s.WholeType) + " or " + strconv.Quote(s.MIGType)
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
