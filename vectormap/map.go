package vectormap

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/resvec/resvec/vector"
)

// ResourceVectorMap gives every index of a resource vector a name and a unit.
// It is made by [New], by a [Builder] or by [ResourceVectorMap.Extend], usually
// once per snapshot of a cluster, and shared by every vector and matrix of it.
//
// A map is immutable and safe for concurrent use. Compare maps with
// [ResourceVectorMap.Equal]. Methods that take an index panic when it is out of
// range. The zero value has no indices, not even for the core resources.
type ResourceVectorMap struct {
	columns   []column
	index     map[string]int // by own and by original name
	folded    bool           // some index has several names
	schema    vector.Schema
	ancestors []vector.Schema // of the maps that this one extends
	slices    []sliceWeight
	notes     []Note       // about columns
	declared  *declaration // Milli
	left      []*NameError // names that the option Lenient left out
	rules     rules
}

// column is what a map knows of one index.
type column struct {
	name      string
	unit      Unit
	literal   bool
	gpu       bool     // counts whole GPUs
	fraction  bool     // a fractional amount was seen when the map was built
	originals []string // sorted; just name when nothing is folded into it
}

// text is the column's stable form. It is unambiguous: of all names only those
// of literals may hold the characters that separate, and those are quoted.
func (c *column) text() string {
	if c.literal {
		return "literal:" + strconv.Quote(c.name) + "=" + c.unit.String()
	}
	s := c.name + "=" + c.unit.String()
	if len(c.originals) > 1 || c.originals[0] != c.name {
		s += "(" + strings.Join(c.originals, ",") + ")"
	}
	return s
}

// Index returns the index of a resource, by its own name or by any name that is
// normalized to it: nvidia.com/gpu and gpu both give [GPU]. It reports false for a
// name that the map does not have, and for another vendor's name: in a map built
// from nvidia.com/gpu there is no amd.com/gpu, unless the map folds vendors.
func (m *ResourceVectorMap) Index(name string) (int, bool) {
	if i, ok := m.index[name]; ok {
		return i, true
	}
	return m.foldedIndex(name)
}

// foldedIndex is Index for a name that the map was not built from.
func (m *ResourceVectorMap) foldedIndex(name string) (int, bool) {
	if nameFault(name) != "" {
		return 0, false
	}
	own := m.rules.own(name)
	i, ok := m.index[own]
	if !ok || own == name || m.rules.own(own) != own {
		return 0, false
	}
	c := &m.columns[i]
	ok = c.name == own && !c.literal && (m.rules.folding == foldVendors || slices.Equal(c.originals, []string{own}))
	return i, ok
}

// literal reports whether name is a literal, or would be one.
func (m *ResourceVectorMap) literal(name string) bool {
	if i, ok := m.index[name]; ok && m.columns[i].literal {
		return true
	}
	_, ok := m.rules.literals[name]
	return ok
}

// own returns the own name of the index that name belongs to.
func (m *ResourceVectorMap) own(name string) string {
	if m.literal(name) {
		return name
	}
	return m.rules.own(name)
}

// vendorConflicts reports the indices that several of the names, which are sorted,
// would share, but that the map was not built from: one list of amounts must not
// add up what the map would keep apart if it had been built from the list.
func (m *ResourceVectorMap) vendorConflicts(names iter.Seq[string]) []error {
	if m.rules.folding == foldVendors {
		return nil
	}
	var faults []error
	shared := map[int]*OriginalsError{}
	for name := range names {
		if _, known := m.index[name]; known {
			continue
		}
		i, ok := m.foldedIndex(name)
		switch e := shared[i]; {
		case !ok:
		case e == nil:
			shared[i] = &OriginalsError{Name: m.columns[i].name, Originals: []string{name}}
		default:
			if e.Originals = append(e.Originals, name); len(e.Originals) == 2 {
				faults = append(faults, e)
			}
		}
	}
	return faults
}

// column returns what m knows of index i.
func (m *ResourceVectorMap) column(i int) *column {
	if uint(i) >= uint(len(m.columns)) {
		panic("vectormap: index out of range")
	}
	return &m.columns[i]
}

// Name returns the own name of index i.
func (m *ResourceVectorMap) Name(i int) string { return m.column(i).name }

// Originals returns the names that Kubernetes objects use for index i, sorted:
// the names folded into it, or its own name alone where nothing is.
// There is more than one only in a [FoldVendors] map. The caller owns the
// result.
func (m *ResourceVectorMap) Originals(i int) []string { return slices.Clone(m.column(i).originals) }

// Unit returns the unit of index i.
func (m *ResourceVectorMap) Unit(i int) Unit { return m.column(i).unit }

// IsLiteral reports whether index i is a [Literal] dimension.
func (m *ResourceVectorMap) IsLiteral(i int) bool { return m.column(i).literal }

// IsGPU reports whether index i counts whole GPUs: [GPU] does, and on a [NoFold]
// map every column that would have been folded into it; see [GPUs].
func (m *ResourceVectorMap) IsGPU(i int) bool { return m.column(i).gpu }

// Folds reports whether the map's normalizer renames name or may fold other
// names into it, whatever names the map holds today. Where it does, an index
// found by name may stand for more than that name. It is false for all names
// of a [NoFold] map and for [Literal] names.
func (m *ResourceVectorMap) Folds(name string) bool {
	r := &m.rules
	switch {
	case r.folding == noFold || m.literal(name):
		return false
	case r.own(name) != name:
		return true
	case r.gpus != nil && name == coreNames[GPU]:
		return len(r.gpus) > 1 || len(r.gpus) == 1 && !r.gpus[name]
	}
	return slices.Contains(r.normalizes().Targets(), name)
}

// Len returns the number of indices.
func (m *ResourceVectorMap) Len() int {
	return len(m.columns)
}

// All yields every index and its own name, in index order.
func (m *ResourceVectorMap) All() iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for i := range m.columns {
			if !yield(i, m.columns[i].name) {
				return
			}
		}
	}
}

// Notes returns what was remarkable about the names and amounts that the map
// was built from: notes about indices, in their order, then names that no index
// has. The caller owns the result.
func (m *ResourceVectorMap) Notes() []Note {
	notes := slices.Clone(m.notes)
	var unused []string
	for d := m.declared; d != nil; d = d.before {
		for _, name := range d.names {
			if _, ok := m.index[m.own(name)]; !ok && !d.like {
				unused = append(unused, name)
			}
		}
	}
	slices.Sort(unused)
	for _, name := range slices.Compact(unused) {
		notes = append(notes, Remark{name, "declared Milli, but no index has the name"})
	}
	for _, e := range m.left {
		notes = append(notes, e)
	}
	return notes
}

// Equal reports whether both maps have the same indices: names, units,
// originals and which are literal, in the same order.
func (m *ResourceVectorMap) Equal(other *ResourceVectorMap) bool { return m.Schema() == other.Schema() }

// Schema returns the schema of matrices over m. Equal maps have equal schemas.
// [Milli] columns are its integral columns.
func (m *ResourceVectorMap) Schema() vector.Schema {
	return m.schema
}

// String returns a stable text form on one line: for every index the name, the
// unit and the names folded into it. Two maps are equal exactly when their text
// forms are.
func (m *ResourceVectorMap) String() string {
	texts := make([]string, m.Len())
	for i := range m.columns {
		texts[i] = m.columns[i].text()
	}
	return strings.Join(texts, " ")
}

// NewVector returns a vector of m's length, all zeros.
func (m *ResourceVectorMap) NewVector() vector.ResourceVector {
	return make(vector.ResourceVector, m.Len())
}

// NewMatrix returns a matrix of zeros with a column per index.
func (m *ResourceVectorMap) NewMatrix(rows int) *vector.Matrix {
	if rows < 0 {
		panic("vectormap: negative size")
	}
	return vector.NewMatrix(m.Schema(), rows, m.Len())
}

// NewNodes returns nodes without rows and with a column per index. An option asks
// for scored amounts; see [vector.NewNodes].
func (m *ResourceVectorMap) NewNodes(opts ...vector.NodesOption) *vector.Nodes {
	return vector.NewNodes(m.Schema(), m.Len(), opts...)
}

// Widen makes a [*vector.Matrix] or [*vector.Nodes] of a map that m extends into one of
// m, by appending columns of zeros. An x of m stays as it is, and an x without a schema
// is not checked. Anything else gives [vector.ErrSchema] and is not changed.
func (m *ResourceVectorMap) Widen(x interface {
	Schema() vector.Schema
	Cols() int
	Widen(schema vector.Schema, cols int)
}) error {
	s := x.Schema()
	switch {
	case s == m.Schema():
		return nil
	case s == (vector.Schema{}) && x.Cols() <= m.Len(), slices.Contains(m.ancestors, s):
		x.Widen(m.schema, m.Len())
		return nil
	}
	return vector.ErrSchema
}

// tooLong is the error for a vector that is longer than the map.
func (m *ResourceVectorMap) tooLong(v vector.ResourceVector) error {
	return fmt.Errorf("vectormap: the vector has %d amounts, the map %d: %w", len(v), m.Len(), vector.ErrShape)
}

// mustHold panics when v is longer than the map.
func (m *ResourceVectorMap) mustHold(v vector.ResourceVector) {
	if len(v) > m.Len() {
		panic("vectormap: vector is longer than the map")
	}
}

// kubernetesName returns the name to show for index i.
func (c *column) kubernetesName() string {
	if len(c.originals) == 1 {
		return c.originals[0]
	}
	return c.name
}

// gpuUnit returns the unit of the index GPU.
func (m *ResourceVectorMap) gpuUnit() Unit {
	if m.Len() == 0 { // the zero value
		return UnitWhole
	}
	return m.columns[GPU].unit
}
