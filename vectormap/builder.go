package vectormap

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"github.com/resvec/resvec/vector"
	corev1 "k8s.io/api/core/v1"
)

// apply applies options to b.
func (b *Builder) apply(opts []Option) {
	for _, o := range opts {
		o(b)
	}
}

// Builder collects the names of everything that is to be expressed in one map.
// Build may be called more than once; later additions don't change maps that
// were built before. The zero value is [NewBuilder] without options. A
// Builder is not safe for concurrent use.
type Builder struct {
	rules      rules // the rules of base, but for what the options below say
	names      map[string]seen
	base       *ResourceVectorMap
	declared   []string        // names of the option Milli
	like       []string        // such names of the option Like
	literals   map[string]Unit // names of the option Literal
	restricted bool            // an option was given that an extension cannot take
	faults     []error
}

// seen is what a builder knows of a name.
type seen struct {
	fraction bool     // in a fractional amount
	fault    string   // what is wrong with the name
	objects  []object // that have it: all where it is at fault, else the first by name
}

// object is what a name was found in; the zero object is none.
type object struct{ kind, namespace, name string }

func (o object) String() string {
	switch {
	case o.kind == "":
		return ""
	case o.namespace == "":
		return o.kind + " " + o.name
	}
	return o.kind + " " + o.namespace + "/" + o.name
}

func (o object) compare(other object) int {
	return cmp.Or(cmp.Compare(o.kind, other.kind), cmp.Compare(o.namespace, other.namespace), cmp.Compare(o.name, other.name))
}

// Option changes how a map is built.
type Option func(*Builder)

// Milli declares that the named resources, by original or own name, are counted
// in thousandths, so that shares of a device are whole numbers and sums of them
// exact; AddToRow and SubFromRow then refuse fractions in their columns. It adds no
// name: one that no index has is in [ResourceVectorMap.Notes], since it may be a
// typing error. Only resources counted in
// whole units otherwise can be declared.
func Milli(names ...string) Option {
	return func(b *Builder) {
		b.declared = append(b.declared, names...)
	}
}

// Literal adds dimensions whose names are kept as they are, with a unit of their own,
// outside normalization and MIG weights. Any text that is not empty is a name. They are
// sorted among the other names. Conversions to a ResourceList leave them out and say so.
func Literal(unit Unit, names ...string) Option {
	return func(b *Builder) {
		for _, name := range names {
			if old, ok := b.literal(name); ok && old != unit {
				b.faults = append(b.faults, &NameError{Name: name, Reason: "has another unit as a literal"})
			}
			b.setLiteral(name, unit)
			b.add(name, false, object{})
		}
	}
}

// GPUs says which resources are whole GPUs: these, and no others, share the index
// gpu, whatever the normalizer says of them, or count as GPUs on a [NoFold] map
// (IsGPU, MIGSlices). Without it they are the names that the normalizer folds into
// gpu. It adds no name.
func GPUs(names ...string) Option {
	return func(b *Builder) {
		gpus := make(map[string]bool, len(names))
		maps.Copy(gpus, b.rules.gpus)
		b.rules.gpus = gpus
		for _, name := range names {
			b.rules.gpus[name] = true
		}
		b.restricted = true
	}
}

// Lenient leaves malformed names out instead of failing, so that one bad object
// does not keep the others from having a map. Each is a [*NameError] among the
// map's notes, with the objects that have it. To convert such an object is still
// an error: the map does not have the name.
func Lenient() Option {
	return func(b *Builder) {
		b.rules.lenient = true
		b.restricted = true
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
	return func(b *Builder) {
		b.rules.normalizer = n
		b.restricted = true
	}
}

// Like takes the rules of another map over: normalizer, folding, [GPUs], [Lenient], the
// names declared Milli, and which names are Literal, with their units. It adds no name.
func Like(m *ResourceVectorMap) Option {
	return func(b *Builder) {
		b.rules.normalizer, b.rules.folding, b.rules.lenient = m.rules.normalizer, m.rules.folding, m.rules.lenient
		b.rules.gpus = maps.Clone(m.rules.gpus)
		for d := m.declared; d != nil; d = d.before {
			b.like = append(b.like, d.names...)
		}
		for name, unit := range m.rules.literals {
			b.setLiteral(name, unit)
		}
		for i := range m.columns {
			if c := &m.columns[i]; c.literal {
				b.setLiteral(c.name, c.unit)
			}
		}
		b.restricted = true
	}
}

// NewBuilder returns a Builder with these options and no names but the core
// ones.
func NewBuilder(opts ...Option) *Builder {
	b := new(Builder)
	b.prepare()
	b.apply(opts)
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
// be given. Errors are as in [Builder.Build]. It costs a copy of the map, so
// extend by all names at once where they are known.
func (m *ResourceVectorMap) Extend(names []string, opts ...Option) (*ResourceVectorMap, error) {
	b := &Builder{rules: m.rules, names: make(map[string]seen, len(names))}
	if m.Len() > 0 {
		b.base = m
	}
	b.apply(opts)
	if b.restricted {
		return nil, errors.New("vectormap: Extend takes the options Milli and Literal only")
	}
	b.AddNames(names...)
	return b.Build()
}

// AddNames adds resource names, original or own. Core names are there already and may be
// repeated. The name gpu is the own name of that index and no original, so it conflicts
// with none.
func (b *Builder) AddNames(names ...string) {
	b.prepare()
	for _, name := range names {
		b.add(name, false, object{})
	}
}

// AddResourceList adds the names of a list, also those with amount 0. Fractions
// in it make a [FractionalColumn] note for columns of whole units.
func (b *Builder) AddResourceList(list corev1.ResourceList) {
	b.prepare()
	b.addList(list, object{})
}

func (b *Builder) addList(list corev1.ResourceList, of object) {
	for name, q := range list {
		b.add(string(name), !isWhole(&q), of)
	}
}

// AddNode adds the names in what the node has; see
// [ResourceVectorMap.NodeAllocatable].
func (b *Builder) AddNode(node *corev1.Node) {
	b.prepare()
	b.addList(allocatable(node), object{"Node", "", node.Name})
}

// AddPod adds every name that the pod's requests may come to have. It takes the requests and
// limits of containers, init containers and the pod as a whole, the overhead, and what the
// status reports while the pod is resized in place.
func (b *Builder) AddPod(pod *corev1.Pod) {
	b.prepare()
	of := object{"Pod", pod.Namespace, cmp.Or(pod.Name, pod.GenerateName)}
	for list := range amountsOf(pod, true, true) {
		b.addList(list, of)
	}
}

// prepare makes the zero value work.
func (b *Builder) prepare() {
	if b.names == nil {
		b.names = map[string]seen{}
	}
}

// literal returns the unit of a literal.
func (b *Builder) literal(name string) (unit Unit, ok bool) {
	if unit, ok = b.literals[name]; ok {
		return unit, true
	}
	if b.base != nil {
		if i, there := b.base.index[name]; there && b.base.columns[i].literal {
			return b.base.columns[i].unit, true
		}
	}
	unit, ok = b.rules.literals[name]
	return unit, ok
}

func (b *Builder) setLiteral(name string, unit Unit) {
	if b.literals == nil {
		b.literals = map[string]Unit{}
	}
	b.literals[name] = unit
}

func (b *Builder) add(name string, fractional bool, of object) {
	s, known := b.names[name]
	if !known {
		if _, literal := b.literal(name); !literal {
			s.fault = nameFault(name)
		}
	}
	s.fraction = s.fraction || fractional
	switch n := len(s.objects); {
	case of == object{}:
	case n == 0, s.fault != "" && s.objects[n-1] != of:
		s.objects = append(s.objects, of)
	case s.fault == "" && of.compare(s.objects[0]) < 0:
		s.objects[0] = of
	}
	b.names[name] = s
}

// Build returns the map. All faults are reported at once, joined: a
// [*NameError] per name that is malformed or whose options contradict each
// other, an [*OriginalsError] per index that different originals would share.
// Both name the nodes and pods that they come from.
func (b *Builder) Build() (*ResourceVectorMap, error) {
	b.prepare()
	d := draft{Builder: b, faults: slices.Clone(b.faults), m: &ResourceVectorMap{rules: b.rules}}
	d.start()
	d.rule()
	d.place()
	d.checkUnits()
	d.checkOriginals()
	if len(d.faults) > 0 {
		return nil, errors.Join(d.faults...)
	}
	return d.freeze(), nil
}

// draft is a map while it is built.
type draft struct {
	*Builder
	faults  []error
	m       *ResourceVectorMap
	old     int   // m.columns[:old] are the columns of base
	touched []int // columns of new names, and those that are new, ascending
}

// start lays out the columns that are there whatever is added.
func (d *draft) start() {
	m, base := d.m, d.base
	if base == nil {
		m.index = make(map[string]int, len(coreNames)+len(d.names))
		for i, name := range coreNames {
			m.columns = append(m.columns, column{name: name, unit: unitOf(name), originals: []string{name}})
			m.index[name] = i
			d.touched = append(d.touched, i)
		}
		return
	}
	d.old = len(base.columns)
	m.columns = append(make([]column, 0, d.old+len(d.names)), base.columns...)
	m.index, m.folded = maps.Clone(base.index), base.folded
	m.slices, m.notes, m.left = slices.Clip(base.slices), slices.Clip(base.notes), slices.Clip(base.left)
	m.ancestors = append(slices.Clip(base.ancestors), base.schema)
	m.declared = base.declared
}

// rule makes the map's rules from the rules of base and the options.
func (d *draft) rule() {
	m := d.m
	if len(d.literals) > 0 {
		m.rules.literals = make(map[string]Unit, len(d.rules.literals)+len(d.literals))
		maps.Copy(m.rules.literals, d.rules.literals)
		maps.Copy(m.rules.literals, d.literals)
	}
	for _, of := range []declaration{{names: d.like, like: true}, {names: d.declared}} {
		if len(of.names) > 0 {
			m.declared = &declaration{m.declared, slices.Clone(of.names), of.like}
		}
	}
	if own := d.ownMilli(); len(own) > 0 {
		m.rules.milli = make(map[string]bool, len(own)+len(d.rules.milli))
		maps.Copy(m.rules.milli, d.rules.milli)
		for _, name := range own {
			m.rules.milli[name] = true
		}
	}
}

// ownMilli returns the own names of those that options declare Milli.
func (d *draft) ownMilli() []string {
	own := slices.Concat(d.like, d.declared)
	for i, name := range own {
		own[i] = d.m.own(name)
	}
	return own
}

// place puts the names where they belong.
func (d *draft) place() {
	placed := map[string][]string{} // by own name
	for _, name := range slices.Sorted(maps.Keys(d.names)) {
		if own, ok := d.ownName(name); ok {
			placed[own] = append(placed[own], name)
		}
	}
	m, core := d.m, len(d.touched)
	for _, own := range slices.Sorted(maps.Keys(placed)) {
		i, ok := m.index[own]
		if !ok {
			i = len(m.columns)
			m.columns = append(m.columns, column{name: own, literal: d.m.literal(own)})
			m.index[own] = i
		}
		c := &m.columns[i]
		originals := mergeOriginals(c.originals, own, placed[own])
		if !slices.Equal(originals, c.originals) && i >= core {
			d.touched = append(d.touched, i)
		}
		c.originals = originals
		for _, name := range originals {
			m.index[name] = i
			m.folded = m.folded || name != own
		}
	}
	slices.Sort(d.touched)
}

// ownName returns the own name of name, unless that is at fault.
func (d *draft) ownName(name string) (own string, ok bool) {
	s := d.names[name]
	if s.fault != "" && d.rules.lenient {
		d.m.left = append(d.m.left, d.nameError(name, s.fault))
		return "", false
	}
	own, reason := d.whereTo(name, s.fault)
	if reason != "" {
		d.faults = append(d.faults, d.nameError(name, reason))
	}
	return own, reason == ""
}

func (d *draft) nameError(name, reason string) *NameError {
	e := &NameError{Name: name, Reason: reason}
	objects := slices.Clone(d.names[name].objects)
	slices.SortFunc(objects, object.compare)
	for _, of := range slices.Compact(objects) {
		e.Objects = append(e.Objects, of.String())
	}
	return e
}

// whereTo returns the own name of name, or what is wrong.
func (d *draft) whereTo(name, fault string) (own, reason string) {
	if d.m.literal(name) {
		i, there := d.m.index[name]
		switch {
		case name == "":
			return "", "is empty"
		case there && !d.m.columns[i].literal:
			return "", "is a literal and an ordinary resource"
		}
		return name, ""
	}
	if fault != "" {
		return "", fault
	}
	own = d.m.own(name)
	switch {
	case own == name:
	case slices.Contains(coreNames[:], name):
		return "", "is a core resource, which must not be renamed"
	case nameFault(own) != "":
		return "", "is normalized to a name that " + nameFault(own)
	case d.m.own(own) != own:
		return "", "is normalized to a name that is normalized to another"
	case d.m.literal(own):
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

// checkUnits gives every new column its unit and looks at the options that are about
// names.
func (d *draft) checkUnits() {
	fail := func(name, reason string) { d.faults = append(d.faults, &NameError{Name: name, Reason: reason}) }
	if d.base == nil {
		for _, name := range slices.Sorted(maps.Keys(d.rules.gpus)) {
			switch {
			case nameFault(name) != "":
				fail(name, nameFault(name))
			case name != coreNames[GPU] && slices.Contains(coreNames[:], name):
				fail(name, "is a core resource and declared a GPU")
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.literals)) {
		switch {
		case d.rules.gpus[name]:
			fail(name, "is a literal and declared a GPU")
		case d.base != nil && d.base.declaresMilli(name):
			fail(name, "is a literal with a unit of its own and declared Milli")
		}
	}
	var fixed []int // columns that can't become Milli
	for _, name := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(d.like, d.declared)))) {
		own := d.m.own(name)
		switch i, there := d.m.index[own]; {
		case nameFault(name) != "":
			fail(name, nameFault(name))
		case d.m.literal(name):
			fail(name, "is a literal with a unit of its own and declared Milli")
		case unitOf(own) != UnitWhole:
			fail(name, "is declared Milli but counted in "+unitOf(own).plural())
		case there && i < d.old && d.m.columns[i].unit != UnitMilli:
			fixed = append(fixed, i)
		}
	}
	slices.Sort(fixed)
	for _, i := range slices.Compact(fixed) {
		fail(d.m.columns[i].name, "is in the map already with another unit")
	}
	for _, i := range d.touched {
		c := &d.m.columns[i]
		if i < d.old {
			continue
		}
		if c.unit = d.m.rules.unit(c); c.unit > UnitByte {
			fail(c.name, "is a literal with an unknown unit")
		}
	}
}

// declaresMilli reports whether the option Milli was given a name.
func (m *ResourceVectorMap) declaresMilli(name string) bool {
	own := m.own(name)
	if i, there := m.index[own]; !m.rules.milli[own] && !(there && m.columns[i].unit == UnitMilli) {
		return false
	}
	for d := m.declared; d != nil; d = d.before {
		if slices.Contains(d.names, name) {
			return true
		}
	}
	return false
}

// unit returns the unit of a new column.
func (r *rules) unit(c *column) Unit {
	switch {
	case c.literal:
		return r.literals[c.name]
	case r.milli[c.name]:
		return UnitMilli
	}
	return unitOf(c.name)
}

// checkOriginals looks for indices that different originals would share.
func (d *draft) checkOriginals() {
	if d.rules.folding == foldVendors {
		return
	}
	for _, i := range d.touched {
		c := &d.m.columns[i]
		if len(c.originals) < 2 {
			continue
		}
		e := &OriginalsError{Name: c.name, Originals: c.originals}
		for _, name := range c.originals {
			var of object
			if objects := d.names[name].objects; len(objects) > 0 {
				of = objects[0]
			}
			e.Objects = append(e.Objects, of.String())
		}
		d.faults = append(d.faults, e)
	}
}

// freeze makes the map of a draft without faults.
func (d *draft) freeze() *ResourceVectorMap {
	m := d.m
	for _, i := range d.touched {
		c := &m.columns[i]
		if i < d.old {
			continue // only its originals are others
		}
		c.gpu = !c.literal && m.rules.normalize(c.name) == coreNames[GPU]
		if c.fraction = d.seenFraction(c); c.unit == UnitWhole && c.fraction {
			m.notes = append(m.notes, FractionalColumn{c.name})
		}
		m.attachSlices(i)
	}
	d.forgetPlaced()
	if d.base != nil && (len(d.touched) == 0 || d.touched[0] >= d.old) {
		m.schema = d.base.schema.Append(schemaColumns(m.columns[d.old:])...)
	} else {
		m.schema = vector.NewSchema(schemaColumns(m.columns))
	}
	return m
}

// forgetPlaced takes the names out of the rules that have a column by now, so that an
// extension doesn't copy them.
func (d *draft) forgetPlaced() {
	m := d.m
	for name := range d.literals {
		if _, ok := m.index[name]; ok {
			delete(m.rules.literals, name)
		}
	}
	for _, own := range d.ownMilli() {
		if _, ok := m.index[own]; ok {
			delete(m.rules.milli, own)
		}
	}
}

// schemaColumns describes columns as a schema does.
func schemaColumns(columns []column) []vector.SchemaColumn {
	described := make([]vector.SchemaColumn, len(columns))
	for i := range columns {
		c := &columns[i]
		described[i] = vector.SchemaColumn{Name: c.name, Integral: c.unit == UnitMilli, Detail: c.text()}
	}
	return described
}

// seenFraction reports whether a fractional amount of c was added.
func (d *draft) seenFraction(c *column) bool {
	return d.names[c.name].fraction || slices.ContainsFunc(c.originals, func(o string) bool { return d.names[o].fraction })
}
