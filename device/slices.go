package device

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/resvec/resvec/internal/document"
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"
	resourcev1beta2 "k8s.io/api/resource/v1beta2"
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
	Type      string `json:"type,omitempty"`
	WholeType string `json:"wholeType,omitempty"` // value of Type: a whole device
	MIGType   string `json:"migType,omitempty"`   // value of Type: a MIG instance; empty: there are none
	// PartitionType is the value of Type of another partition of a device, such as AMD's.
	PartitionType string `json:"partitionType,omitempty"`
	// Partition has the attributes that say which partition it is, such as cpx_nps4. What
	// they say is joined by _, each text once.
	Partition  []string `json:"partition,omitempty"`
	UUID       string   `json:"uuid,omitempty"`
	Product    string   `json:"product,omitempty"`
	Profile    string   `json:"profile,omitempty"`    // of a MIG instance
	ParentUUID string   `json:"parentUUID,omitempty"` // of a MIG instance
	PCIBusID   string   `json:"pciBusID,omitempty"`
	PCIeRoot   string   `json:"pcieRoot,omitempty"`

	NUMANode string `json:"numaNode,omitempty"` // attribute, an integer
	Memory   string `json:"memory,omitempty"`   // capacity, in bytes

	// Capacities of devices that may be allocated several times.
	Shares     string   `json:"shares,omitempty"`     // how many pods may share a device
	Capacities []string `json:"capacities,omitempty"` // others that are understood, besides Memory

	// Prefixes of names that end in a number.
	MemorySlice string `json:"memorySlice,omitempty"` // of capacities: the number is a memory slot of a MIG instance
	MinorPrefix string `json:"minorPrefix,omitempty"` // of whole devices: the number is the minor
}

// DefaultDrivers returns the drivers that [FromResourceSlices] reads by default: NVIDIA's
// for GPUs (gpu.nvidia.com), AMD's (gpu.amd.com), and HAMi's for parts of NVIDIA's GPUs
// (hami-core-gpu.project-hami.io). The caller owns the result.
func DefaultDrivers() []Driver {
	nvidia := Driver{
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
		Shares:      "shares",
		Capacities:  []string{"multiprocessors", "copyEngines", "decoders", "encoders", "jpegEngines", "ofaEngines"},
		MemorySlice: "memorySlice",
		MinorPrefix: "gpu-",
	}
	hami := nvidia
	hami.Name = "hami-core-gpu.project-hami.io"
	hami.WholeType, hami.MinorPrefix = "hami-gpu", "hami-gpu-"
	hami.PCIBusID = "pcieBusID"
	hami.Capacities = []string{"cores"}
	amd := Driver{
		Name:   "gpu.amd.com",
		Vendor: "amd.com",
		Kind:   KindGPU,

		Type:          "type",
		WholeType:     "amdgpu",
		PartitionType: "amdgpu-partition",

		Product: "productName",
		// Partitions that are there have the first, those that could be made the others.
		Partition: []string{"partitionProfile", "computePartition", "memoryPartition"},
		PCIBusID:  "resource.kubernetes.io/pciBusID",
		PCIeRoot:  "resource.kubernetes.io/pcieRoot",
		NUMANode:  "numaNode",

		Memory:     "memory",
		Shares:     "partitions",
		Capacities: []string{"computeUnits", "simdUnits"},
	}
	return []Driver{nvidia, amd, hami}
}

// resourceSlice is a ResourceSlice of any version of the API.
type resourceSlice interface {
	resourcev1.ResourceSlice | *resourcev1.ResourceSlice |
		resourcev1beta1.ResourceSlice | *resourcev1beta1.ResourceSlice |
		resourcev1beta2.ResourceSlice | *resourcev1beta2.ResourceSlice
}

// FromResourceSlices reads the devices in the ResourceSlices of these DRA drivers; nil
// stands for [DefaultDrivers]. The slices are of the API v1, v1beta1 or v1beta2, as values
// or pointers. Slices of other drivers are skipped. The error lists
// every fault of the drivers with its place, as the aggregate of a field.ErrorList. It
// names the version of a slice whose apiVersion is another one than its Go type's: its
// devices would all seem empty. What else a slice says is never an error: it makes a
// problem.
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
//   - A device that may be allocated several times is shared (SharingConsumable). Where it
//     has the capacity Shares, that is its Replicas; 1 is not shared. All its capacities
//     are in Consumable of the node. One that the driver doesn't describe, or whose amount
//     is below 0 or beyond int64, is bad-capacity, and listed only if the amount is right.
//   - A partition of another kind than MIG, such as AMD's, is a row of its own Partition if
//     it consumes no counters. Else it goes to Potential, as MIG instances do.
//   - Potential partitions of a GPU of which nothing else is there are only-partitions: no
//     card counts it until a partition is made.
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
func FromResourceSlices[S resourceSlice](list []S, drivers []Driver, o Options) (*Inventory, error) {
	if drivers == nil {
		drivers = DefaultDrivers()
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
		if e.APIVersion != "" && e.APIVersion != e.version {
			return nil, fmt.Errorf("device: ResourceSlice %q: apiVersion: %q: must be %s, as which it was read", e.Name, e.APIVersion, e.version)
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
		case d.Type == "" && cmp.Or(d.WholeType, d.MIGType, d.PartitionType) != "":
			errs = append(errs, field.Required(path.Child("type"), "the attribute whose values wholeType, migType and partitionType are"))
		case d.Type != "" && cmp.Or(d.WholeType, d.MIGType, d.PartitionType) == "":
			errs = append(errs, field.Required(path.Child("wholeType"), "the value of a whole device, or migType of a MIG instance: without them no device has a known type"))
		case d.MIGType != "" && d.WholeType == d.MIGType:
			errs = append(errs, field.Duplicate(path.Child("migType"), d.MIGType))
		case d.PartitionType != "" && (d.PartitionType == d.WholeType || d.PartitionType == d.MIGType):
			errs = append(errs, field.Duplicate(path.Child("partitionType"), d.PartitionType))
		}
	}
	return errs
}

// sliceEntry is a slice of a known driver.
type sliceEntry struct {
	driver *sliceDriver
	order  int // of the driver
	*resourcev1.ResourceSlice
	version string // as which it was read
}

// samePool compares drivers, too: the name of a pool is unique only within a driver.
func (e sliceEntry) samePool(o sliceEntry) bool {
	return e.order == o.order && e.Spec.Pool.Name == o.Spec.Pool.Name
}

// sortedEntries returns the slices of known drivers, sorted: by pool, and the highest
// generation first. It counts the slices of other drivers in others, unless that is nil.
func sortedEntries[S resourceSlice](list []S, drivers []sliceDriver, others map[string]int) []sliceEntry {
	entries := make([]sliceEntry, 0, len(list))
	for i := range list {
		s, version := sliceV1(any(&list[i]))
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
		entries = append(entries, sliceEntry{&drivers[k], k, s, version})
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
	opts     Options
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
	sets      map[string]bool // counter sets that rows consume
	shared    []Counter       // capacities that pods share
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
	part, ok := driver.part(d)
	if !ok {
		return
	}
	row := driver.whole(d)
	switch part {
	case wholeDevice:
		row.Partition = driver.partitionOf(d)
	case migInstance:
		ok = driver.setInstance(d, &row)
	case otherPartition:
		row.Minor = -1 // minors are of whole GPUs
		if row.Partition = driver.partitionOf(d); row.Partition == "" {
			d.node.problems.add(missingLabel, d.Name, "attribute %s: must say which partition it is", strings.Join(driver.Partition, ", "))
			row.Partition = "partition"
		}
	}
	shared := driver.setShares(d, &row)
	// Partitions that consume the same counters exclude each other, so none of them is
	// counted before it exists.
	switch {
	case part != wholeDevice && len(d.ConsumesCounters) > 0:
		row.Product = r.productName(row.Product)
		d.node.potential = append(d.node.potential, Partition{row, countersOf(d.ConsumesCounters)})
	case ok && r.addRow(d, row):
		d.node.instances = d.node.instances || part == migInstance
		if shared {
			driver.listCapacities(d)
		}
	}
}

// addRow adds a row to its node, unless there is one with its UUID; it reports whether it did. A device that two
// drivers or pools list is one device, and can be given away once.
func (r *sliceReader) addRow(d locatedDevice, row Device) bool {
	if row.UUID != "" {
		if first := r.seen[row.UUID]; first != nil {
			d.node.problems.add(duplicateUUID, d.Name, "UUID %s: must be unique; the device of node %s is kept", row.UUID, first.name)
			return false
		}
		r.seen[row.UUID] = d.node
	}
	row.Product = r.productName(row.Product)
	d.node.devices = append(d.node.devices, row)
	for i := range d.ConsumesCounters {
		if d.node.sets == nil {
			d.node.sets = map[string]bool{}
		}
		d.node.sets[d.ConsumesCounters[i].CounterSet] = true
	}
	return true
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
	n.reportOrphans()
	node := Node{Name: n.name, Source: SourceResourceSlices, Devices: n.devices, Potential: n.potential, Consumable: n.shared}
	sortDevices(node.Devices)
	countCards(&node, names, &n.problems)
	finishNode(&node)
	slices.SortFunc(node.Consumable, func(a, b Counter) int {
		return cmp.Or(strings.Compare(a.Set, b.Set), strings.Compare(a.Name, b.Name))
	})
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

// reportOrphans records partitions that could be made of a GPU of which nothing is listed:
// in MIG mode NVIDIA's driver leaves the GPU itself out. Its node would seem to lack it.
func (n *sliceNode) reportOrphans() {
	if len(n.potential) == 0 {
		return
	}
	known := map[string]bool{}
	for i := range n.devices {
		known[n.devices[i].UUID], known[n.devices[i].ParentUUID] = true, true
	}
	orphans := map[string]int{}
	for i := range n.potential {
		p := &n.potential[i]
		if p.ParentUUID != "" && known[p.ParentUUID] || slices.ContainsFunc(p.Counters, func(c Counter) bool { return n.sets[c.Set] }) {
			continue
		}
		orphans[cmp.Or(p.Product, p.Name)]++
	}
	for _, product := range slices.Sorted(maps.Keys(orphans)) {
		n.problems.add(onlyPartitions, product, "%d partitions that could be made, but no GPU that they are of: it is in no card until one is made", orphans[product])
	}
}
