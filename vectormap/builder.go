package vectormap

import (
	"errors"
	"maps"
	"slices"

	"github.com/resvec/resvec/vector"
	corev1 "k8s.io/api/core/v1"
)

// folding is what happens when two originals normalize to one name.
type folding uint8

const (
	refuseVendors folding = iota
	foldVendors
	noFold
)

// rules are the options that a map was built with. Extensions inherit them.
type rules struct {
	normalizer Normalizer
	folding    folding
	milli      map[string]bool // names as the option had them
	literals   map[string]Unit
}

// own returns the own name of the index that name belongs to.
func (r *rules) own(name string) string {
	if r.folding == noFold || r.literal(name) {
		return name
	}
	return r.normalizer.Normalize(name)
}

func (r *rules) literal(name string) bool {
	_, ok := r.literals[name]
	return ok
}

func (r rules) clone() rules {
	r.milli = maps.Clone(r.milli)
	r.literals = maps.Clone(r.literals)
	return r
}

// Builder collects the names of everything that is to be expressed in one map.
// Build may be called more than once; later additions don't change maps that
// were built before. A Builder is not safe for concurrent use.
type Builder struct {
	rules      rules
	names      map[string]bool // true: seen with a fractional amount
	base       *ResourceVectorMap
	declared   []string // names of the option Milli
	restricted bool     // an option was given that an extension cannot take
	faults     []error
}

// Option changes how a map is built.
type Option func(*Builder)

// Milli declares that the named resources, by original or own name, are counted
// in thousandths, so that shares of a device are whole numbers and sums of them
// exact; AddRow and SubRow then refuse fractions in their columns. It adds no
// name: one that no index has is an [UnusedMilli] note. Only resources counted in
// whole units otherwise can be declared.
func Milli(names ...string) Option {
	return func(b *Builder) {
		for _, name := range names {
			b.rules.milli[name] = true
			b.declared = append(b.declared, name)
		}
	}
}

// Literal adds dimensions whose names are kept as they are, with a unit of
// their own, outside normalization and MIG weights. Any text that is not empty
// is a name. They come in the common order of names. Conversions to a
// ResourceList leave them out and say so.
func Literal(unit Unit, names ...string) Option {
	return func(b *Builder) {
		for _, name := range names {
			if old, ok := b.rules.literals[name]; ok && old != unit {
				b.fault(name, "has another unit as a literal")
			}
			b.rules.literals[name] = unit
			b.add(name, false)
		}
	}
}

// FoldVendors lets different originals share an index, so that nvidia.com/gpu
// and amd.com/gpu are one resource. That is KAI-Scheduler's rule; it takes an
// AMD node for one that can hold an NVIDIA pod.
func FoldVendors() Option { return fold(foldVendors) }

// NoFold gives every original its own column. The core index gpu stays and
// holds only what is literally named gpu.
func NoFold() Option { return fold(noFold) }

func fold(f folding) Option {
	return func(b *Builder) {
		if b.rules.folding != refuseVendors && b.rules.folding != f {
			b.faults = append(b.faults, errors.New("vectormap: FoldVendors and NoFold exclude each other"))
		}
		b.rules.folding = f
		b.restricted = true
	}
}

// WithNormalizer replaces [DefaultNormalizer].
func WithNormalizer(n Normalizer) Option {
	if n == nil {
		panic("vectormap: normalizer is nil")
	}
	return func(b *Builder) {
		b.rules.normalizer = n
		b.restricted = true
	}
}

// Like takes the rules of another map over: normalizer, folding, the names
// declared [Milli], and for names that are [Literal] there that they are so
// here too, with the same unit. It adds no name.
func Like(m *ResourceVectorMap) Option {
	return func(b *Builder) {
		b.rules.normalizer, b.rules.folding = m.rules.normalizer, m.rules.folding
		maps.Copy(b.rules.milli, m.rules.milli)
		maps.Copy(b.rules.literals, m.rules.literals)
		b.restricted = true
	}
}

// NewBuilder returns a Builder with these options and no names but the core
// ones.
func NewBuilder(opts ...Option) *Builder {
	b := &Builder{
		rules: rules{
			normalizer: DefaultNormalizer(),
			milli:      map[string]bool{},
			literals:   map[string]Unit{},
		},
		names: map[string]bool{},
	}
	for _, o := range opts {
		o(b)
	}
	return b
}

// New returns the map of these names and the core ones. It is short for a
// [Builder] that is given only names.
func New(names []string, opts ...Option) (*ResourceVectorMap, error) {
	b := NewBuilder(opts...)
	b.AddNames(names...)
	return b.Build()
}

// Extend returns a new map with these names in addition: every index of m stays
// what it is, except that an original name may join an index, and new ones
// follow, sorted among themselves. Vectors of m are valid as shorter vectors of
// it; matrices are made so by its [ResourceVectorMap.Widen]. The rules of m
// hold; of the options only [Milli], for names that are new, and [Literal] may
// be given. Errors are those of [Builder.Build].
func (m *ResourceVectorMap) Extend(names []string, opts ...Option) (*ResourceVectorMap, error) {
	b := &Builder{rules: m.rules.clone(), names: map[string]bool{}, base: m}
	for _, o := range opts {
		o(b)
	}
	if b.restricted {
		return nil, errors.New("vectormap: Extend takes the options Milli and Literal only")
	}
	for _, n := range m.notes {
		if unused, ok := n.(UnusedMilli); ok {
			b.declared = append(b.declared, unused.Name)
		}
	}
	b.AddNames(names...)
	return b.Build()
}

// AddNames adds resource names, original or own. Core names are there already
// and may be repeated. The name gpu is the own name of that index, not an
// original: it is in no conflict with one original.
func (b *Builder) AddNames(names ...string) {
	for _, name := range names {
		b.add(name, false)
	}
}

// AddResourceList adds the names of a list, also those with amount 0. Fractions
// in it make a [FractionalColumn] note for columns of whole units.
func (b *Builder) AddResourceList(list corev1.ResourceList) {
	for name, q := range list {
		b.add(string(name), !isWhole(&q))
	}
}

// AddNode adds the names in the node's status.allocatable.
func (b *Builder) AddNode(node *corev1.Node) { b.AddResourceList(node.Status.Allocatable) }

// AddPod adds every name that the pod's requests may come to have: those of
// containers, init containers, overhead and pod level, and those that its
// status reports while it is resized in place.
func (b *Builder) AddPod(pod *corev1.Pod) {
	for _, cs := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range cs {
			b.AddResourceList(cs[i].Resources.Requests)
		}
	}
	for _, ss := range [][]corev1.ContainerStatus{pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses} {
		for i := range ss {
			b.AddResourceList(ss[i].AllocatedResources)
			if ss[i].Resources != nil {
				b.AddResourceList(ss[i].Resources.Requests)
			}
		}
	}
	if pod.Spec.Resources != nil {
		b.AddResourceList(pod.Spec.Resources.Requests)
	}
	b.AddResourceList(pod.Spec.Overhead)
}

func (b *Builder) add(name string, fractional bool) {
	b.names[name] = b.names[name] || fractional
}

func (b *Builder) fault(name, reason string) {
	b.faults = append(b.faults, &NameError{name, reason})
}

// Build returns the map. All faults are reported at once, joined: a
// [*NameError] per name that is malformed or whose options contradict each
// other, an [*OriginalsError] per index that different originals would share.
func (b *Builder) Build() (*ResourceVectorMap, error) {
	d := draft{Builder: b, faults: slices.Clone(b.faults), at: map[string]int{}, placed: map[string][]string{}}
	d.start()
	for _, name := range slices.Sorted(maps.Keys(b.names)) {
		d.place(name)
	}
	for _, own := range slices.Sorted(maps.Keys(d.placed)) {
		i, ok := d.at[own]
		if !ok {
			i = len(d.columns)
			d.columns = append(d.columns, column{name: own, literal: b.rules.literal(own)})
		}
		c := &d.columns[i]
		c.originals = mergeOriginals(c.originals, own, d.placed[own])
	}
	d.finish()
	if len(d.faults) > 0 {
		return nil, errors.Join(d.faults...)
	}
	return d.freeze(), nil
}

// draft is a map while it is built.
type draft struct {
	*Builder
	faults  []error
	columns []column
	old     int                 // columns[:old] were there before any name was placed
	at      map[string]int      // old columns by own name
	placed  map[string][]string // the builder's names by own name
}

// start lays out the columns that are there whatever is added.
func (d *draft) start() {
	if d.base != nil {
		d.columns = slices.Clone(d.base.columns)
	} else {
		for _, name := range coreNames {
			d.columns = append(d.columns, column{name: name, unit: unitOf(name), originals: []string{name}})
		}
	}
	d.old = len(d.columns)
	for i, c := range d.columns {
		d.at[c.name] = i
	}
}

// place puts one name, given in sorted order, where it belongs.
func (d *draft) place(name string) {
	own, reason := d.ownName(name)
	if reason != "" {
		d.fail(name, reason)
		return
	}
	if d.rules.literal(name) && d.stands(name) {
		d.fail(name, "is a literal and an ordinary resource")
		return
	}
	d.placed[own] = append(d.placed[own], name)
}

// stands reports whether an old column that is no literal has the name.
func (d *draft) stands(name string) bool {
	return slices.ContainsFunc(d.columns[:d.old], func(c column) bool {
		return !c.literal && (c.name == name || slices.Contains(c.originals, name))
	})
}

// ownName returns the own name of name, or what is wrong with it.
func (d *draft) ownName(name string) (own, reason string) {
	if d.rules.literal(name) {
		if name == "" {
			return "", "is empty"
		}
		return name, ""
	}
	if reason := nameFault(name); reason != "" {
		return "", reason
	}
	own = d.rules.own(name)
	switch {
	case own == name:
	case slices.Contains(coreNames[:], name):
		return "", "is a core resource, which the normalizer must not rename"
	case nameFault(own) != "":
		return "", "is normalized to a name that " + nameFault(own)
	case d.rules.own(own) != own:
		return "", "is normalized to a name that is normalized to another"
	case d.rules.literal(own):
		return "", "is normalized to the name of a literal"
	}
	return own, ""
}

// mergeOriginals adds names to the originals of an index, in a new sorted slice.
// The own name stands among them only when nothing else does.
func mergeOriginals(originals []string, own string, names []string) []string {
	merged := slices.Concat(originals, names)
	slices.Sort(merged)
	merged = slices.Compact(merged)
	if len(merged) > 1 {
		merged = slices.DeleteFunc(merged, func(o string) bool { return o == own })
	}
	return merged
}

// finish gives every column its unit and looks for conflicts.
func (d *draft) finish() {
	milli := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(d.rules.milli)) {
		own := d.rules.own(name)
		switch {
		case nameFault(name) != "":
			d.fail(name, nameFault(name))
		case d.rules.literal(name):
			d.fail(name, "is a literal with a unit of its own and declared Milli")
		case unitOf(own) != UnitWhole:
			d.fail(name, "is declared Milli but counted in units of "+unitOf(own).String())
		}
		milli[own] = true
	}
	for i := range d.columns {
		c := &d.columns[i]
		was := c.unit
		c.unit = unitOf(c.name)
		switch {
		case c.literal:
			if c.unit = d.rules.literals[c.name]; c.unit > UnitByte {
				d.fail(c.name, "is a literal with an unknown unit")
			}
		case milli[c.name]:
			c.unit = UnitMilli
		}
		if d.base != nil && i < d.old && c.unit != was {
			d.fail(c.name, "is in the map already with another unit")
		}
		if d.rules.folding != foldVendors && len(c.originals) > 1 {
			d.faults = append(d.faults, &OriginalsError{c.name, c.originals, ErrVendorConflict})
		}
	}
}

func (d *draft) fail(name, reason string) {
	d.faults = append(d.faults, &NameError{name, reason})
}

// freeze makes the map of a draft without faults.
func (d *draft) freeze() *ResourceVectorMap {
	m := &ResourceVectorMap{
		columns: d.columns,
		index:   make(map[string]int, len(d.columns)),
		rules:   d.rules.clone(),
	}
	schema := make([]vector.SchemaColumn, len(m.columns))
	for i := range m.columns {
		c := &m.columns[i]
		m.index[c.name] = i
		for _, original := range c.originals {
			m.index[original] = i
			m.folded = m.folded || original != c.name
		}
		c.gpu = !c.literal && m.rules.normalizer.Normalize(c.name) == coreNames[GPU]
		c.fraction = c.fraction || d.seenFraction(c)
		if c.unit == UnitWhole && c.fraction {
			m.notes = append(m.notes, FractionalColumn{c.name})
		}
		m.attachSlices(i)
		schema[i] = vector.SchemaColumn{Name: c.name, Integral: c.unit == UnitMilli, Detail: c.text()}
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(d.declared))) {
		if _, ok := m.index[m.rules.own(name)]; !ok {
			m.notes = append(m.notes, UnusedMilli{name})
		}
	}
	m.schema = vector.NewSchema(schema)
	if d.base != nil {
		m.ancestors = append(slices.Clone(d.base.ancestors), d.base.schema)
	}
	return m
}

// seenFraction reports whether a fractional amount of c was added.
func (d *draft) seenFraction(c *column) bool {
	return d.names[c.name] || slices.ContainsFunc(c.originals, func(o string) bool { return d.names[o] })
}

// nameFault says what is wrong with a resource name, or "" when nothing is. The
// characters are those of Kubernetes' qualified names, which leaves out every
// separator of a map's text form.
func nameFault(name string) string {
	alphanumeric := func(c byte) bool {
		return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
	}
	const longest = 253 + 1 + 63 // prefix, slash and name of a qualified name
	switch {
	case name == "":
		return "is empty"
	case len(name) > longest:
		return "is longer than 317 bytes"
	case !alphanumeric(name[0]) || !alphanumeric(name[len(name)-1]):
		return "does not start and end with a letter or digit"
	}
	for i := range len(name) {
		switch c := name[i]; {
		case alphanumeric(c), c == '.', c == '_', c == '-', c == '/':
		default:
			return "has characters other than letters, digits and . _ - /"
		}
	}
	return ""
}
