package vector

import (
	"iter"
	"unique"
)

// Schema identifies the columns of a matrix. Two are equal (==) exactly when made from
// equal columns. With the zero Schema operands are checked by width.
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
	Name     string // of the resource
	Integral bool   // it takes whole numbers only, so that adding is exact; see [Matrix.AddToRow]
	Detail   string // what else distinguishes columns of one name, such as the unit
}

// NewSchema returns the schema with these columns.
func NewSchema(columns []SchemaColumn) Schema { return Schema{}.Append(columns...) }

// Append returns the schema with the columns of s and then these.
func (s Schema) Append(columns ...SchemaColumn) Schema {
	if len(columns) == 0 {
		return s
	}
	// A group that has room is filled up: how a schema was made does not matter.
	group := schemaColumns{before: s}
	if s != (Schema{}) {
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

// each calls f for the columns, in order, until it returns false, and reports
// whether it never did.
func (s Schema) each(f func(c SchemaColumn) bool) bool {
	if s == (Schema{}) {
		return true
	}
	// The first columns are in the group furthest back.
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

// Names iterates over the names of the columns without an allocation.
func (s Schema) Names() iter.Seq[string] {
	return func(yield func(string) bool) {
		s.each(func(c SchemaColumn) bool { return yield(c.Name) })
	}
}

// compatible reports whether operands with these schemas may meet.
func compatible(a, b Schema) bool {
	return a == b || a == Schema{} || b == Schema{}
}
