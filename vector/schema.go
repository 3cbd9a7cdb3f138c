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
	text unique.Handle[string]
}

// SchemaColumn describes one column of a [Schema].
type SchemaColumn struct {
	// Name is the resource's name.
	Name string

	// Integral says that the column takes whole numbers only, so that adding
	// and subtracting is exact; see [Matrix.AddRow].
	Integral bool

	// Detail is anything else that makes two columns of one name different,
	// such as the unit. Only its equality matters.
	Detail string
}

// NewSchema returns the schema with these columns. No columns give the zero
// Schema.
func NewSchema(columns []SchemaColumn) Schema {
	if len(columns) == 0 {
		return Schema{}
	}
	var b strings.Builder
	for _, c := range columns {
		b.WriteString(strconv.Quote(c.Name))
		if c.Integral {
			b.WriteString(" integral ")
		} else {
			b.WriteString(" real ")
		}
		b.WriteString(strconv.Quote(c.Detail))
		b.WriteByte('\n')
	}
	return Schema{unique.Make(b.String())}
}

// IsZero reports whether s is the zero Schema.
func (s Schema) IsZero() bool { return s == Schema{} }

// Columns returns the columns that s was made from; nil for the zero Schema.
func (s Schema) Columns() []SchemaColumn {
	var columns []SchemaColumn
	for line := range strings.Lines(s.String()) {
		var c SchemaColumn
		c.Name, line = cutName(line)
		kind, detail, _ := strings.Cut(line, " ")
		c.Integral = kind == "integral"
		c.Detail, _ = strconv.Unquote(strings.TrimSuffix(detail, "\n"))
		columns = append(columns, c)
	}
	return columns
}

// Names returns an iterator over the names of the columns, in order; over none for
// the zero Schema. Ranging over it allocates nothing but names with characters that
// Go escapes in a string, so that what reads columns by position can check its
// operands.
func (s Schema) Names() iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range strings.Lines(s.String()) {
			if name, _ := cutName(line); !yield(name) {
				return
			}
		}
	}
}

// cutName cuts the name off a line, which is NewSchema's own, so that it parses.
func cutName(line string) (name, rest string) {
	quoted, _ := strconv.QuotedPrefix(line)
	name, _ = strconv.Unquote(quoted)
	return name, line[len(quoted)+1:]
}

// String returns a stable text form, one line per column; empty for the zero
// Schema.
func (s Schema) String() string {
	if s.IsZero() {
		return ""
	}
	return s.text.Value()
}

// compatible reports whether operands with these schemas may meet.
func compatible(a, b Schema) bool {
	return a == b || a.IsZero() || b.IsZero()
}
