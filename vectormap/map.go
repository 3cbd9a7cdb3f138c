package vectormap

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/resvec/resvec/vector"
)

// Indices of the core resources, the same in every map.
const (
	CPU    = 0 // cpu, in thousandths of a CPU
	Memory = 1 // memory, in bytes
	GPU    = 2 // gpu, in whole GPUs unless declared Milli
	Pods   = 3 // pods
)

// coreNames are the own names of the core indices, in their order.
var coreNames = [...]string{CPU: "cpu", Memory: "memory", GPU: "gpu", Pods: "pods"}

// gpuMemory is the column that holds [ResourceRequirements.GPUMemory].
const gpuMemory = "gpu-memory"

// ResourceVectorMap gives every index of a resource vector a name and a unit.
// It is made by [New], by a [Builder] or by [ResourceVectorMap.Extend], usually
// once per snapshot of a cluster, and shared by every vector and matrix of it.
//
// A map is immutable and safe for concurrent use. Compare maps with
// [ResourceVectorMap.Equal]. Methods that take an index panic when it is out of
// range. A nil pointer and the zero value are not maps.
type ResourceVectorMap struct {
	columns   []column
	index     map[string]int // by own and by original name
	folded    bool           // some index has several names
	schema    vector.Schema
	ancestors []vector.Schema // of the maps that this one extends
	slices    []sliceWeight
	notes     []Note
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

// Index returns the index of a resource, by its own name or by an original name
// folded into it: in a map built from nvidia.com/gpu both that name and gpu
// give [GPU]. It reports false for a name that the map does not have.
func (m *ResourceVectorMap) Index(name string) (int, bool) {
	i, ok := m.index[name]
	return i, ok
}

// Name returns the own name of index i.
func (m *ResourceVectorMap) Name(i int) string { return m.columns[i].name }

// Originals returns the names that Kubernetes objects use for index i, sorted:
// the names folded into it, or its own name alone where nothing is.
// There is more than one only in a [FoldVendors] map. The caller owns the
// result.
func (m *ResourceVectorMap) Originals(i int) []string { return slices.Clone(m.columns[i].originals) }

// Unit returns the unit of index i.
func (m *ResourceVectorMap) Unit(i int) Unit { return m.columns[i].unit }

// IsLiteral reports whether index i is a [Literal] dimension.
func (m *ResourceVectorMap) IsLiteral(i int) bool { return m.columns[i].literal }

// IsGPU reports whether index i counts whole GPUs: [GPU] does, and on a [NoFold]
// map every column that would have been folded into it.
func (m *ResourceVectorMap) IsGPU(i int) bool { return m.columns[i].gpu }

// Folds reports whether the map's normalizer renames name or may fold other
// names into it, whatever names the map holds today. Where it does, an index
// found by name may stand for more than that name. It is false for all names
// of a [NoFold] map and for [Literal] names.
func (m *ResourceVectorMap) Folds(name string) bool {
	return m.rules.own(name) != name ||
		!m.rules.literal(name) && m.rules.folding != noFold &&
			slices.Contains(m.rules.normalizer.Targets(), name)
}

// Len returns the number of indices.
func (m *ResourceVectorMap) Len() int { return len(m.columns) }

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
// was built from, in index order. The caller owns the result.
func (m *ResourceVectorMap) Notes() []Note { return slices.Clone(m.notes) }

// Equal reports whether both maps have the same indices: names, units,
// originals and which are literal, in the same order.
func (m *ResourceVectorMap) Equal(other *ResourceVectorMap) bool { return m.schema == other.schema }

// Schema returns the schema of matrices over m. Equal maps have equal schemas.
// [Milli] columns are its integral columns.
func (m *ResourceVectorMap) Schema() vector.Schema { return m.schema }

// String returns a stable text form on one line: for every index the name, the
// unit and the names folded into it. Two maps are equal exactly when their text
// forms are.
func (m *ResourceVectorMap) String() string {
	texts := make([]string, len(m.columns))
	for i := range m.columns {
		texts[i] = m.columns[i].text()
	}
	return strings.Join(texts, " ")
}

// MarshalText returns the form of String.
func (m *ResourceVectorMap) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// NewVector returns a vector of m's length, all zeros.
func (m *ResourceVectorMap) NewVector() vector.ResourceVector {
	return make(vector.ResourceVector, m.Len())
}

// NewMatrix returns a matrix with so many rows and a column per index, all
// zeros.
func (m *ResourceVectorMap) NewMatrix(rows int) *vector.Matrix {
	return vector.NewMatrix(m.schema, rows, m.Len())
}

// NewTable returns an empty table of so many matrices with a column per index.
func (m *ResourceVectorMap) NewTable(matrices int) *vector.Table {
	return vector.NewTable(m.schema, m.Len(), matrices)
}

// Widen makes a matrix of a map that m extends into a matrix of m, by appending
// columns of zeros. A matrix that is of m already is left as it is, and one
// without a schema is taken at its word. Any other gives [vector.ErrSchema] and
// is not changed.
func (m *ResourceVectorMap) Widen(x *vector.Matrix) error { return m.widen(x) }

// WidenTable does to all matrices of a table what [ResourceVectorMap.Widen]
// does to one.
func (m *ResourceVectorMap) WidenTable(t *vector.Table) error { return m.widen(t) }

// widenable is a matrix or a table.
type widenable interface {
	Schema() vector.Schema
	Cols() int
	Widen(vector.Schema, int)
}

func (m *ResourceVectorMap) widen(x widenable) error {
	s := x.Schema()
	switch {
	case s == m.schema:
		return nil
	case s.IsZero() && x.Cols() <= m.Len(), slices.Contains(m.ancestors, s):
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
	if len(v) > len(m.columns) {
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
