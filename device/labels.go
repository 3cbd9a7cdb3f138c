package device

import (
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/resvec/resvec/internal/quantity"
	corev1 "k8s.io/api/core/v1"

	"github.com/resvec/resvec/vectormap"
)

// Options says how [FromNodes] and [FromResourceSlices] read. The zero value is the
// default of both.
type Options struct {
	// ReportUnlisted adds the problem unlisted. FromNodes reports each allocatable
	// resource that has a domain and that no rule lists, whether it is a device or not,
	// in the node. FromResourceSlices reports each driver that has slices and is not
	// among those to read, whatever its devices are, in the Inventory.
	ReportUnlisted bool

	// AllowIncomplete has FromResourceSlices use the devices of pools that lack slices,
	// too. The problem is recorded as without it. Nodes have no pools.
	AllowIncomplete bool

	Names Names // of cards; FromNodes does not use its field Resources
}

// FromNodes reads the devices of nodes, also of those that are cordoned or NotReady
// (don't pass what you leave out), from their labels and their allocatable resources.
// It never reads capacity: a node without status.allocatable has no devices, though
// vectormap's NodeAllocatable takes its capacity. All rules that match a node apply to
// it, in order; nil stands for [DefaultRules]. A resource belongs to the first of these
// rules that lists it. The error lists every fault of the rules with its place, as the
// aggregate of a field.ErrorList. What a node says is never an error: it makes a
// problem.
//
// Cards. A card counts what is allocatable. Its name is the product for whole devices,
// <product>/mps-<GiB>g*1/<replicas> for shares, <product>/mig-<profile>-mixed for MIG
// instances, and <product>/<partition> for partitions of GPUs without MIG. Without a label
// of the partition, an MI300X, MI325X, MI350X or MI355X that has a half, a quarter or an
// eighth of its memory is one, dpx, qpx or cpx, and an MI300A that has a half, a third or a
// sixth is dpx, tpx or cpx. Of other AMD GPUs nobody knows, so they are whole.
//
// Devices. Each allocatable unit is one device. Where devices are shared, Replicas
// units are one. Minors are synthetic and follow the order of the resources. A resource
// has at most 1,024 devices, and a node 16,384; a resource with more has none and a
// problem, and its card stays. Labels say nothing of UUIDs, topology and health, and
// have one product and memory per rule. Labels alone make no device: where none of a
// rule's resources is allocatable, such as with koordinator.sh/gpu-core only, there are
// none, and that is no problem, whatever the label of the count says.
//
// Shared devices. Shares usually have a resource of their own, which the rule lists as
// Shared. Whole resources are shares, too, if replicas is above 1, nothing of the
// shared resources is allocatable, and either the product ends in -SHARED or
// allocatable is count x replicas. If the product ends in -SHARED and there are no
// replicas, the card stays and its devices are unknown.
//
// MIG instances. A resource of instances may have the labels <resource>.memory, .count,
// .replicas and .product. They mean what the labels of the rule mean for whole devices.
// A resource that ends in .shared has the labels of the name without this ending. Under
// the MIG strategy mixed the label of the count includes the GPUs that are cut: as many as
// all instances need at least, those that only their label counts too, exactly for the GPUs
// that package mig knows, if their memory is known. Whole GPUs and shares of them beyond
// those that the instances leave are from before the cut, as are instances without any
// label. They make a problem and are left out.
//
// Counts. Whole devices and shares of others have one label, that of the count: together
// they are compared with it, or with what MIG leaves of it, and instances and shares of
// others with the label of the instances. What contradicts it makes a problem and stays.
//
// Missing labels. If a resource is allocatable and no rule that matches takes it, it is
// in no card. Each rule that lists it, is no pattern and finds its product label
// missing or empty adds the problem missing-label, with that label as the key.
//
// If nodes have the same name, the first is kept, with a problem. FromNodes keeps only
// strings of the nodes.
func FromNodes[N corev1.Node | *corev1.Node](nodes []N, rules []Rule, o Options) (*Inventory, error) {
	compiled, err := compileRules(rules)
	if err != nil {
		return nil, err
	}
	list := make([]*corev1.Node, 0, len(nodes))
	switch nodes := any(nodes).(type) {
	case []corev1.Node:
		for i := range nodes {
			list = append(list, &nodes[i])
		}
	case []*corev1.Node:
		list = append(list, nodes...)
	}
	return fromNodes(list, compiled, o), nil
}

// fromNodes is FromNodes; it changes the order of nodes.
func fromNodes(nodes []*corev1.Node, rules []compiledRule, o Options) *Inventory {
	byName := func(a, b *corev1.Node) int { return strings.Compare(a.Name, b.Name) }
	if !slices.IsSortedFunc(nodes, byName) {
		slices.SortStableFunc(nodes, byName)
	}
	r := labelReader{rules: rules, names: o.Names, cardNames: map[cardID]string{}, reportUnlisted: o.ReportUnlisted}
	inv := &Inventory{Nodes: make([]Node, 0, len(nodes))}
	for _, n := range nodes {
		if last := len(inv.Nodes) - 1; last >= 0 && inv.Nodes[last].Name == n.Name {
			inv.Nodes[last].isDuplicate()
			continue
		}
		inv.Nodes = append(inv.Nodes, r.node(n))
	}
	return inv
}

// The most devices that a resource and a node can have. No machine has as many; the limit of
// a node is there because a node may name thousands of resources.
const (
	mostLabelRows     = 1024
	mostNodeLabelRows = 16 * mostLabelRows
)

// labelReader reads nodes one after the other. A cluster has thousands of nodes with much
// the same labels, so its lists are used again and each name is made once.
type labelReader struct {
	rules     []compiledRule
	names     Names
	cardNames map[cardID]string

	reportUnlisted bool

	// What is known of the present node. The slices are reused.
	labels       map[string]string
	allocatable  corev1.ResourceList
	problems     problemList
	matches      []ruleMatch
	labelKeys    []string // once a pattern needs them
	bases        []string
	found        []bool // by rule: whether its pattern finds anything, once that is asked for
	resources    []string
	devices      []Device
	instanceList []string // names of MIG instances
	sizes        []cutInstances
	cards        []Card
	minors       [len(kinds)]int32 // the next minor of each kind
	text         []byte
}

// ruleMatch is a rule that applies to a node, and what its labels say.
type ruleMatch struct {
	rule *compiledRule
	base string // of a pattern: <domain>/<kind>

	product  string
	count    int64  // -1: unknown
	memory   int64  // bytes; 0: unknown
	replicas int64  // 0: not given, or no number
	single   bool   // the devices are MIG instances
	mixed    bool   // some GPUs are cut into MIG instances, and the others are whole
	cut      int64  // GPUs that the MIG instances need, under strategy mixed
	overfull string // the MIG instances for which the GPUs do not suffice; empty: none
	profile  vectormap.MIGProfile

	partition string // of the whole devices; empty: none, or unknown
}

// node reads a node. Labels say what a device is, and only the allocatable amounts say that
// it is there: labels outlive the device plugin that went away. So labels are matched with
// rules first, and each resource then looks for the match that it belongs to.
func (r *labelReader) node(n *corev1.Node) Node {
	r.labels, r.allocatable = n.Labels, n.Status.Allocatable
	r.problems = problemList{}
	r.labelKeys, r.matches, r.devices, r.cards, r.found = r.labelKeys[:0], r.matches[:0], r.devices[:0], r.cards[:0], r.found[:0]
	clear(r.minors[:])

	out := Node{Name: n.Name, Source: SourceLabels}
	out.CPUMilli, out.MemoryBytes = r.amounts()
	r.match()
	r.readResources()
	if len(r.cards) > 0 {
		out.Cards = slices.Clone(r.cards)
		sortCards(out.Cards)
		r.problems.addAmbiguous(out.Cards)
	}
	out.Problems = r.problems.list
	if len(r.devices) > 0 {
		out.Devices = slices.Clone(r.devices)
		if int(r.minors[0]) < len(out.Devices) { // more than one kind
			sortDevices(out.Devices)
		}
	}
	return out
}

// amounts returns what of cpu and memory is allocatable. An impossible amount is 0 and a
// problem: the cards of the node are still right.
func (r *labelReader) amounts() (cpuMilli, bytes int64) {
	if q, ok := r.allocatable[corev1.ResourceCPU]; ok {
		if whole, ok := quantity.Ceiling(&q); ok && 0 <= whole && whole <= math.MaxInt64/1000 {
			bounded := quantity.Bounded(q)
			cpuMilli = bounded.MilliValue()
		} else {
			r.problems.add(badCount, string(corev1.ResourceCPU), "%s: must be an amount of cores, from 0 to %d", quantity.Text(q), int64(math.MaxInt64/1000))
		}
	}
	if q, ok := r.allocatable[corev1.ResourceMemory]; ok {
		if whole, ok := quantity.Ceiling(&q); ok && whole >= 0 {
			bytes = whole
		} else {
			r.problems.add(badMemory, string(corev1.ResourceMemory), "%s: must be an amount of bytes, from 0 to %d", quantity.Text(q), int64(math.MaxInt64))
		}
	}
	return cpuMilli, bytes
}

// match finds the rules that apply. A rule without a pattern applies at most once, a
// pattern once for each of its product labels.
func (r *labelReader) match() {
	for i := range r.rules {
		rule := &r.rules[i]
		if !rule.product.hasBase {
			r.try(rule, "")
			continue
		}
		r.findBases(rule)
		for _, base := range r.bases {
			r.try(rule, base)
		}
	}
}

// findBases sets bases to the bases of all labels that a pattern matches. They are sorted,
// since labels have no order, and claimOf searches matches by their base.
func (r *labelReader) findBases(rule *compiledRule) {
	r.bases = r.bases[:0]
	for _, label := range r.keys() {
		base, ok := strings.CutSuffix(label, rule.product.text)
		if ok && rule.takes(base, label) {
			r.bases = append(r.bases, base)
		}
	}
	slices.Sort(r.bases)
}

// keys returns the names of the labels in any order. They are in a list so that the
// processor can load several of them at a time: most are in no cache, and loading them
// is most of the work.
func (r *labelReader) keys() []string {
	if len(r.labelKeys) == 0 {
		for label := range r.labels {
			r.labelKeys = append(r.labelKeys, label)
		}
	}
	return r.labelKeys
}

// value returns the value of a label. It is empty if the label is missing or the rule
// names none.
func (r *labelReader) value(k labelKey) string {
	switch {
	case k == labelKey{}:
		return ""
	case k.front == "":
		return r.labels[k.rest]
	}
	r.text = append(append(r.text[:0], k.front...), k.rest...)
	return r.labels[string(r.text)] // allocates nothing
}

// try adds a match of the rule, if it applies.
func (r *labelReader) try(rule *compiledRule, base string) {
	product := r.value(rule.product.key(base))
	if product == "" {
		return
	}
	// Feature discovery says so if the GPUs don't have the same instances. It then names no
	// profile that a card could have.
	if strategy := rule.migStrategy.key(base); strategy != (labelKey{}) && strings.HasSuffix(product, invalidMIG) {
		r.problems.add(badStrategy, strategy.String(), "%q: product %s: the strategy single needs all GPUs cut in the same way; they are in no card", r.value(strategy), product)
		return
	}
	count, isCounted := r.sibling(rule.count.key(base))
	memory, hasMemory := r.value(rule.memory.key(base)), true
	if rule.product.hasBase { // only together do its labels identify a pattern
		memory, hasMemory = r.sibling(rule.memory.key(base))
	}
	if !isCounted || !hasMemory {
		return // a problem says what is missing; without it any number would be a guess
	}
	m := ruleMatch{rule: rule, base: base, product: productName(product), count: -1}
	if count != "" {
		m.count = r.readCount(count, rule.count.key(base))
	}
	if memory != "" {
		m.memory = r.readMemory(memory, rule.MemoryUnit, rule.memory.key(base))
	}
	m.replicas = r.readReplicas(rule.replicas.key(base))
	r.readSingle(&m)
	r.readPartition(&m)
	r.matches = append(r.matches, m)
}

// sibling returns the value of a label that must come with the product. ok is false
// if the rule names the label and the node does not have it.
func (r *labelReader) sibling(k labelKey) (value string, ok bool) {
	if k == (labelKey{}) {
		return "", true
	}
	if value = r.value(k); value == "" {
		r.problems.add(missingLabel, k.String(), "missing or empty, though the product has a label")
		return "", false
	}
	return value, true
}

// readCount returns the number of devices of a label, or -1. That is not 0, which would
// say that there are none.
func (r *labelReader) readCount(text string, k labelKey) int64 {
	if count, ok := parseLabelNumber(text); ok {
		return count
	}
	r.problems.add(badCount, k.String(), "%q: must be a whole number of devices below 10^9", text)
	return -1
}

// readReplicas returns how many pods share a device. It is 0 if the label is missing or
// is no number.
func (r *labelReader) readReplicas(k labelKey) int64 {
	text := r.value(k)
	if text == "" {
		return 0
	}
	replicas, ok := parseLabelNumber(text)
	if !ok {
		r.problems.add(badReplicas, k.String(), notReplicas, text)
	}
	return replicas
}

const notReplicas = "%q: must be how many pods share a device, a whole number above 0 and below 10^9"

// readSingle notes whether the whole devices are MIG instances, as under the MIG
// strategy single. The product alone doesn't show it: without the label of the strategy,
// -MIG- may be a part of any name.
func (r *labelReader) readSingle(m *ruleMatch) {
	name, profile, ok := strings.Cut(m.product, "-MIG-")
	if !ok || name == "" || r.value(m.rule.migStrategy.key(m.base)) != "single" {
		return
	}
	m.single = true
	m.profile = r.readProfile(strings.TrimSuffix(profile, sharedSuffix), m.rule.product.key(m.base))
}

// readPartition notes which partitions of GPUs the whole devices are. The label is
// optional. Without it a GPU of AMD whose memory is known shows its partition by how
// much of that a device has; the memory partition is then unknown.
func (r *labelReader) readPartition(m *ruleMatch) {
	if len(m.rule.partition) == 0 {
		return
	}
	var texts [4]string
	known := texts[:0]
	for _, t := range m.rule.partition {
		if text := r.value(t.key(m.base)); text != "" {
			known = append(known, text)
		}
	}
	switch {
	case len(known) > 0:
		m.partition = partitionName(known...)
	case m.memory > 0:
		m.partition = amdPartition(m.product, m.memory)
	}
}

// amdGPUs are AMD's Instinct GPUs that can be partitioned, by the data sheets and
// https://instinct.docs.amd.com/projects/amdgpu-docs/en/latest/gpu-partitioning/index.html.
// The compute dies of one are shared out evenly.
var amdGPUs = [...]struct {
	name            string
	gigabytes, dies int64
}{{"MI300A", 128, 6}, {"MI300X", 192, 8}, {"MI325X", 256, 8}, {"MI350X", 288, 8}, {"MI355X", 288, 8}}

// amdModes are the compute partitions, by how many there are of a GPU. One for each die is
// cpx.
var amdModes = [...]string{2: "dpx", 3: "tpx", 4: "qpx"}

// amdPartition returns the compute partition of a device with so much memory; empty if it is
// the whole GPU, or nobody knows. Labels have whole gigabytes, so that a third of 128 is 42
// or 43.
func amdPartition(product string, bytes int64) string {
	gigabytes := wholeGigabytes(bytes)
	for _, gpu := range amdGPUs {
		if !strings.Contains(product, gpu.name) {
			continue
		}
		for parts := int64(2); parts <= gpu.dies; parts++ {
			switch {
			case gpu.dies%parts != 0 || gigabytes != gpu.gigabytes/parts && gigabytes != ceilDiv(gpu.gigabytes, parts):
			case parts == gpu.dies:
				return "cpx"
			default:
				return amdModes[parts]
			}
		}
	}
	return ""
}

// wholeGigabytes returns the number that AMD's labeller writes for so much memory. It
// rounds to GiB and writes G, which is read as 10^9 bytes.
func wholeGigabytes(bytes int64) int64 {
	if bytes%1e9 == 0 {
		return bytes / 1e9
	}
	return gibibytes(bytes)
}

// sharedResource ends the names of resources of MIG instances that are shared.
const sharedResource = ".shared"

// Endings of a product, by GPU feature discovery.
const (
	sharedSuffix = "-SHARED"      // shared without a resource of their own for shares
	invalidMIG   = "-MIG-INVALID" // strategy single, but the GPUs are cut differently
)

// readProfile parses what follows mig- in a name.
func (r *labelReader) readProfile(text string, k labelKey) vectormap.MIGProfile {
	if strings.Contains(text, "mig-") { // ParseMIG allows it in front
		r.problems.add(unparsedProfile, k.String(), "%s", notProfile(&vectormap.MIGError{Name: text, Reason: "mig- in the profile"}))
		return vectormap.MIGProfile{}
	}
	p, _, err := vectormap.ParseMIG(text)
	if err != nil {
		r.problems.add(unparsedProfile, k.String(), "%s", notProfile(err))
	}
	return p
}

// readMemory returns the bytes of a label, or 0.
func (r *labelReader) readMemory(text string, unit string, k labelKey) int64 {
	bytes, ok := parseLabelMemory(text, unit)
	if !ok {
		want := "a whole number of MiB below 10^9"
		if unit == unitQuantity {
			want = "an amount of bytes, such as 192G"
		}
		r.problems.add(badMemory, k.String(), "%q: must be %s", text, want)
		return 0
	}
	if !checkMemory(bytes) {
		if unit == "" {
			unit = unitMiB
		}
		r.problems.add(badMemory, k.String(), "%q (%s): must be from 64 MiB to 4 TiB", text, unit)
		return 0
	}
	return bytes
}

// parseLabelMemory reads an amount. An amount above 4 TiB may come out smaller, but not
// below 4 TiB, where it would pass for the memory of a device.
//
// The usual units are read by hand, because it is done for each node and parsing a
// Quantity takes longer. What is unusual still means what Kubernetes says it means.
func parseLabelMemory(text string, unit string) (bytes int64, ok bool) {
	if unit != unitQuantity {
		mebibytes, ok := parseLabelNumber(text)
		return mebibytes << 20, ok // below 2^50
	}
	digits := strings.TrimLeft(text, "0123456789")
	number, ok := parseLabelNumber(text[:len(text)-len(digits)])
	if !ok {
		return parseLabelQuantity(text)
	}
	switch digits {
	case "G":
		return number * 1e9, true // below 2^60
	case "Gi":
		return number << 30, true
	case "Mi":
		return number << 20, true
	}
	return parseLabelQuantity(text)
}

// parseLabelQuantity reads the less usual amounts.
func parseLabelQuantity(text string) (bytes int64, ok bool) {
	q, err := quantity.Parse(text)
	if err != nil {
		return 0, false
	}
	if bytes, ok = quantity.Ceiling(&q); !ok {
		return math.MaxInt64, true
	}
	return bytes, true
}

// parseLabelNumber reads a whole number of at most nine digits. That is more than any
// node has, and the product of two such numbers is within int64, so that counts times
// replicas are never checked again.
func parseLabelNumber(text string) (n int64, ok bool) {
	if text == "" || len(text) > 9 {
		return 0, false
	}
	for i := range len(text) {
		digit := text[i] - '0'
		if digit > 9 {
			return 0, false
		}
		n = 10*n + int64(digit)
	}
	return n, true
}

// readResources reads the allocatable amounts of devices. They are sorted, because a map
// has no order: minors, cards and problems come out the same each time.
func (r *labelReader) readResources() {
	r.resources = r.resources[:0]
	for name := range r.allocatable {
		if strings.IndexByte(string(name), '/') >= 0 { // resources of rules have a domain
			r.resources = append(r.resources, string(name))
		}
	}
	slices.Sort(r.resources)
	// First, since how many GPUs are whole depends on the instances of all resources.
	r.cutGPUs()
	for _, name := range r.resources {
		r.readResource(name)
	}
}

// readResource gives a resource to the first rule that matches and lists it. A count of 0
// is no problem: the kubelet sets it when a device plugin has stopped.
func (r *labelReader) readResource(name string) {
	m, list := r.claim(name)
	if m == nil {
		r.unclaimed(name)
		return
	}
	count := r.count(name)
	switch {
	case count <= 0:
	case list == listsWhole:
		r.whole(m, name, count)
	case list == listsShared:
		r.shared(m, name, count)
	default:
		r.instances(m, name, count)
	}
}

// claim returns the first match that lists a resource, and on which list, nil where
// there is none. A pattern can match any number of labels, and each of them may have a
// resource. So the matches of a pattern are searched by their bases: trying each with each
// would take quadratic time, which a node could cause by its labels.
func (r *labelReader) claim(name string) (m *ruleMatch, list int) {
	const few = 8 // searched from end to end
	for rest := r.matches; len(rest) > 0; {
		n := len(rest) // the matches of one rule, or a few of any
		if n > few {
			rule := rest[0].rule
			n = sort.Search(n, func(i int) bool { return rest[i].rule.order > rule.order })
			if n > few {
				if m, list = claimOf(rule, rest[:n], name); m != nil {
					return m, list
				}
				rest = rest[n:]
				continue
			}
		}
		for i := range rest[:n] {
			if list = rest[i].rule.lists(name, rest[i].base); list != listsNot {
				return &rest[i], list
			}
		}
		rest = rest[n:]
	}
	return nil, listsNot
}

// claimOf is claim for the matches of one rule, which are sorted by base. The terms of a
// rule may find several bases. The first match wins, as in claim, and not the first term.
func claimOf(rule *compiledRule, matches []ruleMatch, name string) (first *ruleMatch, list int) {
	if list = rule.lists(name, matches[0].base); list != listsNot {
		return &matches[0], list // what lists it without the base does so for each
	}
	at := len(matches)
	for base := range rule.basesOf(name) {
		i, ok := slices.BinarySearchFunc(matches, base, func(m ruleMatch, base string) int { return strings.Compare(m.base, base) })
		if ok && i < at {
			at = i
		}
	}
	if at == len(matches) {
		return nil, listsNot
	}
	return &matches[at], rule.lists(name, matches[at].base)
}

// unclaimed records why no rule took a resource: the missing product labels, or that no
// rule lists it. Patterns are left out: they don't say which label a node must have, so
// none is missing.
func (r *labelReader) unclaimed(name string) {
	q := quantity.Bounded(r.allocatable[corev1.ResourceName(name)])
	if q.Sign() <= 0 {
		return
	}
	listed := false
	for i := range r.rules {
		rule := &r.rules[i]
		if rule.product.hasBase || rule.lists(name, "") == listsNot {
			continue
		}
		listed = true
		label := rule.product.key("")
		if r.value(label) == "" {
			r.problems.add(missingLabel, label.String(), "missing or empty, so that %s, which is allocatable, is in no card", name)
		}
	}
	if r.reportUnlisted && !listed && !r.hasPattern(name) {
		r.problems.add(unlisted, name, "%s allocatable, but no rule lists it", quantity.Text(r.allocatable[corev1.ResourceName(name)]))
	}
}

// hasPattern reports whether a pattern finds the product label of a resource.
func (r *labelReader) hasPattern(name string) bool {
	for i := range r.rules {
		rule := &r.rules[i]
		if !rule.product.hasBase {
			continue
		}
		for base := range rule.basesOf(name) {
			label := base + rule.product.text
			if _, ok := r.labels[label]; ok && rule.takes(base, label) {
				return true
			}
		}
		if rule.lists(name, "") != listsNot && r.hasBases(rule) {
			return true
		}
	}
	return false
}

// hasBases reports whether a pattern finds anything on the node. The answers are kept: a
// pattern looks through all labels, and a node may have many resources that nobody takes.
func (r *labelReader) hasBases(rule *compiledRule) bool {
	for len(r.found) <= rule.order {
		r.findBases(&r.rules[len(r.found)])
		r.found = append(r.found, len(r.bases) > 0)
	}
	return r.found[rule.order]
}

// count returns how much of a resource is allocatable. It is 0 if that is no number of
// devices.
func (r *labelReader) count(name string) int64 {
	q := r.allocatable[corev1.ResourceName(name)]
	bounded := quantity.Bounded(q)
	count, ok := quantity.Ceiling(&bounded)
	switch {
	case !ok || count < 0:
		r.problems.add(badCount, name, "%s allocatable: must be a number of devices, from 0 to %d", quantity.Text(q), int64(math.MaxInt64))
		return 0
	case bounded.CmpInt64(count) != 0:
		r.problems.add(badCount, name, "%s allocatable: must be a whole number of devices; taken as %d", quantity.Text(q), count)
	}
	return count
}

// whole reads a resource of whole devices, or of partitions that are all alike.
func (r *labelReader) whole(m *ruleMatch, name string, count int64) {
	card, partition := m.product, m.partition
	if len(m.rule.partition) > 0 {
		if own, ok := partitionResource(name); ok {
			partition = partitionName(own)
		} else if r.hasPartitions(m.rule) {
			r.problems.add(countMismatch, name, "%d allocatable, but partitions have resources of their own: it is from before; left out", count)
			return
		}
	}
	units := int64(1)
	if r.sharedInPlace(m, count) {
		units = m.replicas
	}
	if count = r.capped(m, name, count, units); count == 0 {
		return
	}
	if partition != "" {
		id := cardID{product: m.product, partition: partition}
		if card = r.cardNames[id]; card == "" {
			card = partitionCard(m.product, partition)
			r.cardNames[id] = card
		}
	}
	r.cards = append(r.cards, Card{card, corev1.ResourceName(name), count})
	// The count is of shares, and how many make a device is unknown: the card is right, and
	// any number of rows would be wrong.
	if replicas := m.rule.replicas.key(m.base); m.replicas <= 0 && replicas != (labelKey{}) && strings.HasSuffix(m.product, sharedSuffix) {
		r.problems.add(badReplicas, replicas.String(), notReplicas+"; the product says %s, so the devices of %s are unknown", r.value(replicas), sharedSuffix, name)
		return
	}
	d := r.device(m, name)
	d.Partition = partition
	if units > 1 {
		d.Replicas = int32(units)
		d.Sharing = r.sharing(m, SharingTimeSlicing)
	}
	m.setSingle(&d)
	r.compareWhole(m, name, count, units)
	r.addDevices(m, &d, name, count, units)
}

// compareWhole compares what is allocatable of whole devices, each of units, and of shares of
// others with the label of the count. Without cut GPUs any difference is a problem, as either
// number may be stale. Fewer than MIG leaves are none: a GPU may be sick.
func (r *labelReader) compareWhole(m *ruleMatch, name string, count, units int64) {
	shared, known := r.sharedDevices(m)
	left, cut := r.uncut(m)
	if !cut {
		left = m.count
	}
	switch all, most := addCapped(count, shared), left*units; {
	case left < 0 || all == most || all < most && (cut || !known):
	case cut:
		r.problems.add(countMismatch, name, "%d allocatable, and shares of %d more, but of %d devices by label the MIG instances leave %d", count, shared, m.count, left)
	case shared > 0:
		r.problems.add(countMismatch, name, "%d allocatable, and shares of %d more, but %d devices by label", count, shared, left)
	default:
		r.mismatch(name, count, left, "devices", units)
	}
}

// sharedDevices returns of how many devices shares are allocatable, at least. known is false
// if nobody says how many shares a device has.
func (r *labelReader) sharedDevices(m *ruleMatch) (devices int64, known bool) {
	known = true
	for _, t := range m.rule.shared {
		name := t.key(m.base).String()
		amount := r.amount(name)
		if amount <= 0 {
			continue
		}
		if claim, list := r.claim(name); claim != m || list != listsShared {
			continue
		}
		if m.replicas <= 0 {
			known = false
			continue
		}
		devices = addCapped(devices, ceilDiv(amount, m.replicas))
	}
	return devices, known
}

// partitionResource returns the partition that a resource is named after, such as cpx_nps4
// of amd.com/cpx_nps4.
func partitionResource(name string) (partition string, ok bool) {
	_, own, _ := strings.Cut(name, "/")
	return own, strings.Contains(own, "px_nps")
}

// hasPartitions reports whether a resource of a rule that is named after a partition is
// allocatable. AMD's device plugin then names all GPUs of the product so, whole ones too,
// and what it named before the kubelet may still count.
func (r *labelReader) hasPartitions(rule *compiledRule) bool {
	return slices.ContainsFunc(rule.whole, func(t ruleTerm) bool {
		_, ok := partitionResource(t.text)
		return ok && r.has(t.text)
	})
}

// capped returns how much of a resource can be whole GPUs, each of units, next to GPUs that
// are cut. More was counted before they were cut, and nothing may be given away twice.
func (r *labelReader) capped(m *ruleMatch, name string, count, units int64) int64 {
	left, ok := r.uncut(m)
	if !ok || count <= left*units {
		return count
	}
	r.problems.add(countMismatch, name, "%d allocatable, but of %d devices by label the MIG instances leave %d", count, m.count, left)
	return left * units
}

// uncut returns how many whole GPUs are left when some are cut into MIG
// instances; ok is false if none is cut, or the label of the count is unknown.
func (r *labelReader) uncut(m *ruleMatch) (left int64, ok bool) {
	if m.cut == 0 || m.count < 0 {
		return 0, false
	}
	if replicas, ok := parseLabelNumber(r.value(m.rule.replicas.key(m.base))); ok && replicas == 0 {
		return 0, true // feature discovery says so
	}
	return max(m.count-m.cut, 0), true
}

// mismatch records that the labels say another number than what is allocatable. Both
// are reported, as either may be stale.
func (r *labelReader) mismatch(name string, count, labeled int64, what string, replicas int64) {
	if replicas == 1 {
		r.problems.add(countMismatch, name, "%d allocatable, but %d %s by label", count, labeled, what)
		return
	}
	r.problems.add(countMismatch, name, "%d allocatable, but %d %s with %d replicas each by label", count, labeled, what, replicas)
}

// setSingle makes d a MIG instance if the whole devices are MIG instances.
func (m *ruleMatch) setSingle(d *Device) {
	if m.single {
		d.Sharing, d.Profile = SharingMIG, m.profile
	}
}

// sharedInPlace reports whether a resource of whole devices is one of shares. count is
// what is allocatable of it. The label of the replicas alone doesn't show it: a node that
// has a resource for its shares has that label too, and its whole devices are not shared.
func (r *labelReader) sharedInPlace(m *ruleMatch, count int64) bool {
	left, ok := r.uncut(m)
	return m.replicas > 1 && (looksShared(m.product, m.count, m.replicas, count) || ok && count == left*m.replicas) && !slices.ContainsFunc(m.rule.shared, func(t ruleTerm) bool { return r.has(t.key(m.base).String()) })
}

// looksShared reports whether a resource is one of shares, by its product or by its
// numbers. labeled is the number of devices by label, or -1, and count is what is
// allocatable.
func looksShared(product string, labeled, replicas, count int64) bool {
	return strings.HasSuffix(product, sharedSuffix) || replicas > 1 && count == labeled*replicas
}

// sharing returns how devices are shared, by label or else by default.
func (r *labelReader) sharing(m *ruleMatch, otherwise Sharing) Sharing {
	switch r.value(m.rule.sharingStrategy.key(m.base)) {
	case SharingMPS.String():
		return SharingMPS
	case SharingTimeSlicing.String():
		return SharingTimeSlicing
	}
	return otherwise
}

// shared reads a resource of shares of devices.
func (r *labelReader) shared(m *ruleMatch, name string, count int64) {
	if m.replicas <= 0 {
		r.problems.add(badReplicas, m.rule.replicas.key(m.base).String(), notReplicas+"; %s is left out", r.value(m.rule.replicas.key(m.base)), name)
		return
	}
	if m.memory == 0 {
		r.problems.add(badMemory, m.rule.memory.key(m.base).String(), "%q: must be known, since the cards of %s are named after it; left out", r.value(m.rule.memory.key(m.base)), name)
		return
	}
	if count = r.capped(m, name, count, m.replicas); count == 0 {
		return
	}
	d := r.device(m, name)
	d.Sharing, d.Replicas = r.sharing(m, SharingMPS), int32(m.replicas)
	// Thousands of nodes have the same few cards, so each name is made once.
	id := cardID{product: m.product, bytes: m.memory, replicas: m.replicas, how: d.Sharing}
	card, ok := r.cardNames[id]
	if !ok {
		card = r.names.shared(m.product, m.memory, m.replicas, d.Sharing)
		r.cardNames[id] = card
	}
	r.cards = append(r.cards, Card{card, corev1.ResourceName(name), count})
	m.setSingle(&d)
	if m.count >= 0 && count > m.count*m.replicas {
		// More shares than the GPUs have: something stale. The GPUs of the label are there.
		r.mismatch(name, count, m.count, "devices", m.replicas)
		count = m.count * m.replicas
	}
	r.addDevices(m, &d, name, count, m.replicas)
}

// cardID identifies a card. A MIG instance has a product and rest, the profile as
// written; a share has a product, memory, replicas and the way of sharing. As a key it
// needs no text to be joined for each node.
type cardID struct {
	product, rest   string
	partition       string
	bytes, replicas int64
	how             Sharing
}

// instances reads a resource of MIG instances.
func (r *labelReader) instances(m *ruleMatch, name string, count int64) {
	if m.mixed && r.isStale(name) {
		r.problems.add(countMismatch, name, "%d allocatable, but no label describes the instances: they are gone; left out", count)
		return
	}
	rest := name[len(m.rule.MIGPrefix):]
	plain := strings.TrimSuffix(name, sharedResource)
	product := strings.TrimSuffix(m.product, sharedSuffix) // which says how the whole GPUs are shared
	if own, _, ok := strings.Cut(productName(r.value(labelKey{plain, ".product"})), "-MIG-"); ok && own != "" {
		product = own
	}
	id := cardID{product: product, rest: rest}
	card, ok := r.cardNames[id]
	if !ok {
		card = migCard(product, rest)
		r.cardNames[id] = card
	}
	r.cards = append(r.cards, Card{card, corev1.ResourceName(name), count})

	d := r.device(m, name)
	// The memory of the rule is of a whole GPU; an instance has what its own label says.
	d.Product = product
	d.Sharing, d.Profile, d.MemoryBytes = SharingMIG, r.readProfile(rest, labelKey{"", name}), 0
	memory := labelKey{plain, ".memory"}
	if text := r.value(memory); text != "" {
		d.MemoryBytes = r.readMemory(text, m.rule.MemoryUnit, memory)
	}
	labeled := int64(-1)
	counted := labelKey{plain, ".count"}
	if text := r.value(counted); text != "" {
		labeled = r.readCount(text, counted)
	}
	units, ok := r.instanceUnits(name, count, true)
	if !ok {
		return
	}
	d.Replicas = int32(units)
	r.compareInstances(m, name, count, units, labeled)
	r.addDevices(m, &d, name, count, units)
}

// compareInstances compares what is allocatable of MIG instances, each of units, with how
// many there are by label, -1 for unknown, and with what the GPUs can hold. If some instances
// are shared and others are not, the label counts both.
func (r *labelReader) compareInstances(m *ruleMatch, name string, count, units, labeled int64) {
	plain := strings.TrimSuffix(name, sharedResource)
	switch both := r.has(plain) && r.has(plain+sharedResource); {
	case labeled < 0:
	case !both:
		if count != labeled*units {
			r.mismatch(name, count, labeled, "instances", units)
		}
	case name == plain:
		if all, known := r.allocatableInstances(m, plain); all > labeled || known && all < labeled {
			r.problems.add(countMismatch, name, "%d allocatable, and shares of %d more, but %d instances by label", count, all-count, labeled)
		}
	}
	if plain == m.overfull && !r.hasWhole(m) {
		m.overfull = "" // said once, of instances and shares of others
		r.problems.add(countMismatch, name, "%d allocatable: the MIG instances need %d GPUs, but %d devices by label", count, m.cut, m.count)
	}
}

// hasWhole reports whether whole devices of a match, or shares of them, are allocatable. More
// of them than MIG instances leave is what their problem says.
func (r *labelReader) hasWhole(m *ruleMatch) bool {
	return slices.ContainsFunc(slices.Concat(m.rule.whole, m.rule.shared), func(t ruleTerm) bool { return r.has(t.key(m.base).String()) })
}

// instanceUnits returns how many pods share an instance of a resource, of which count is
// allocatable. ok is false if that is unknown, which report makes a problem. cutGPUs asks
// without it: the resource is read later, and may belong to no rule at all.
func (r *labelReader) instanceUnits(name string, count int64, report bool) (units int64, ok bool) {
	plain, isShared := strings.CutSuffix(name, sharedResource)
	replicas := labelKey{plain, ".replicas"}
	n, isNumber := parseLabelNumber(r.value(replicas))
	if report && !isNumber {
		n = r.readReplicas(replicas)
	}
	if !isShared {
		labeled := r.labeledInstances(plain)
		if r.has(plain+sharedResource) || !looksShared(r.value(labelKey{plain, ".product"}), labeled, n, count) {
			return 1, true
		}
	}
	if n == 0 && report {
		r.problems.add(badReplicas, replicas.String(), notReplicas+"; the instances of %s are unknown", r.value(replicas), name)
	}
	return n, n > 0
}

// has reports whether a resource is allocatable.
func (r *labelReader) has(name string) bool {
	q := r.allocatable[corev1.ResourceName(name)]
	return q.Sign() > 0
}

// device returns a device with what the labels of a rule say. It is synthetic:
// labels count devices and don't number them.
func (r *labelReader) device(m *ruleMatch, name string) Device {
	vendor := m.rule.Vendor
	if vendor == "" {
		vendor, _, _ = strings.Cut(name, "/")
	}
	return Device{
		Kind: kinds[m.rule.kind], Vendor: vendor, Product: m.product,
		Synthetic: true, MemoryBytes: m.memory, Replicas: 1, Start: -1, NUMANode: -1,
	}
}

// addDevices adds one device for each units of the resource. There is a limit, since a
// row takes memory and a number takes none: one node that claims a billion devices must
// not stop the scheduler of all others. Cards have a count instead of rows, so they stay.
func (r *labelReader) addDevices(m *ruleMatch, d *Device, name string, count, units int64) {
	rows := count / units
	if count%units != 0 {
		r.problems.add(countMismatch, name, "%d allocatable: must be a multiple of %d replicas", count, units)
	}
	if rows > mostLabelRows || rows+int64(len(r.devices)) > mostNodeLabelRows {
		r.problems.add(countMismatch, name, "%d devices: must be at most %d of a resource and %d of a node to be listed; none is", rows, mostLabelRows, mostNodeLabelRows)
		return
	}
	next := &r.minors[m.rule.kind]
	for range rows {
		d.Minor = *next
		*next++
		r.devices = append(r.devices, *d)
	}
}

// addAmbiguous adds a problem for each of a node's cards that several resources
// carry. Both entries stay: each can be requested, and only a quota of the card can't say
// which of them it limits.
func (p *problemList) addAmbiguous(cards []Card) {
	for i := 1; i < len(cards); i++ {
		if a, b := &cards[i-1], &cards[i]; a.Name == b.Name {
			p.add(ambiguousCard, a.Name, "carried by %s and %s", a.Resource, b.Resource)
		}
	}
}
