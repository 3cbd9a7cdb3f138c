package vectormap

// Note is a remark that is no error: a [FractionalColumn], a [*NameError] that the option
// [Lenient] let pass, or any other [Remark]. Its String is one line of text.
type Note interface {
	String() string
	note()
}

// FractionalColumn says that fractional amounts meet a column of whole units.
// In a computed vector they are kept, but float64 sums of them are not exact:
// 1 - 3*0.3 is not 0.1. Read from Kubernetes they are rounded. Declaring the
// name with [Milli] cures both.
type FractionalColumn struct{ Name string }

// String names the column.
func (n FractionalColumn) String() string { return n.Name + ": fraction in a column of whole units" }

// Remark says something of one resource, or of one node: that a name looks like a MIG
// profile and is none, that replicas share a MIG profile, that a name declared [Milli] has
// no index, that a [Literal] dimension was left out of a ResourceList, or that a node lacks
// a label of a topology.
type Remark struct {
	Name string // of the resource or node
	Text string // such as "literal dimension left out"
}

// String returns the name and the text.
func (r Remark) String() string { return r.Name + ": " + r.Text }

func (FractionalColumn) note() {}
func (Remark) note()           {}
