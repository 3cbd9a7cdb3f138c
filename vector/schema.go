package vector

import (
	"iter"
	"strconv"
	"strings"
	"unique"
)

// Schema identifies what the columns of a matrix mean. It is a small comparable
// value: two schemas are equal (==) exactly when they were made from equal
// columns, wherever and whenever that happened. The zero Schema means none;
// operands without one are checked by width only.
//
// Users get it from a vectormap.ResourceVectorMap. A Schema is immutable and
// safe for concurrent use.
type Schema struct {
	last unique.Handle[schemaColumns]
}

// schemaColumns are the last columns of a schema, after as many full groups of them
// as there are. A schema shares these groups with every schema that begins with the
// same columns, so that a longer one costs little more than what it has in addition.
type schemaColumns struct {
	before  Schema
	columns [8]SchemaColumn
	n       int
}

// SchemaColumn describes one column of a [Schema].
type SchemaColumn struct {
	// Name is the resource's name.
	Name string

	// Integral says that the column takes whole numbers only, so that adding
	// and subtracting is exact; see [Matrix.AddToRow].
	Integral bool

	// Detail is anything else that makes two columns of one name different,
	// such as the unit. Only its equality matters.
	Detail string
}

// NewSchema returns the schema with these columns. No columns give the zero
// Schema.
func NewSchema(columns []SchemaColumn) Schema { return Schema{}.Append(columns...) }

// Append returns the schema with the columns of s and then these. It is the one
// that [NewSchema] makes of all of them.
func (s Schema) Append(columns ...SchemaColumn) Schema {
	if len(columns) == 0 {
		return s
	}
	group := schemaColumns{before: s}
	if !s.IsZero() {
		if last := s.last.Value(); last.n < len(last.columns) {
			group = last
		}
	}
	for _, c := range columns {
		if group.n == len(group.columns) {
			group = schemaColumns{before: Schema{unique.Make(group)}}
		}
		group.columns[group.n] = c
		group.n++
	}
	return Schema{unique.Make(group)}
}

// IsZero reports whether s is the zero Schema.
func (s Schema) IsZero() bool { return s == Schema{} }

// each calls f for the columns, in order, until it returns false, and reports
// whether it never did.
func (s Schema) each(f func(c SchemaColumn) bool) bool {
	if s.IsZero() {
		return true
	}
	group := s.last.Value()
	if !group.before.each(f) {
		return false
	}
	for _, c := range group.columns[:group.n] {
		if !f(c) {
			return false
		}
	}
	return true
}

// Columns returns the columns that s was made from; nil for the zero Schema.
func (s Schema) Columns() []SchemaColumn {
	var columns []SchemaColumn
	s.each(func(c SchemaColumn) bool {
		columns = append(columns, c)
		return true
	})
	return columns
}

// Names returns an iterator over the names of the columns, in order; over none for the
// zero Schema. Ranging over it allocates nothing.
func (s Schema) Names() iter.Seq[string] {
	return func(yield func(string) bool) {
		s.each(func(c SchemaColumn) bool { return yield(c.Name) })
	}
}

// String returns a stable text form, one line per column; empty for the zero
// Schema.
func (s Schema) String() string {
	var b strings.Builder
	s.each(func(c SchemaColumn) bool {
		kind := " real "
		if c.Integral {
			kind = " integral "
		}
		b.WriteString(strconv.Quote(c.Name) + kind + strconv.Quote(c.Detail) + "\n")
		return true
	})
	return b.String()
}

// compatible reports whether operands with these schemas may meet.
func compatible(a, b Schema) bool {
	return a == b || a.IsZero() || b.IsZero()
}
