package vectormap

// Note is a remark that is no error: a [FractionalColumn], an [UnparsedMIG], a
// [SharedMIG], an [UnusedMilli], a [LiteralSkipped], a [MissingLabel], or a [*NameError]
// that the option [Lenient] let pass. Its String is one line of text.
type Note interface {
	String() string
	note()
}

// FractionalColumn says that fractional amounts meet a column of whole units.
// In a computed vector they are kept, but float64 sums of them are not exact:
// 1 - 3*0.3 is not 0.1. Read from Kubernetes they are rounded. Declaring the
// name with [Milli] cures both.
type FractionalColumn struct{ Name string }

// UnparsedMIG says that a name looks like a MIG profile and is none, so that
// [ResourceVectorMap.MIGSlices] does not count it.
type UnparsedMIG struct{ Name string }

// SharedMIG says that the instances of a MIG profile are shared by replicas.
// [ResourceVectorMap.MIGSlices] counts every replica, so it counts a slice more
// than once.
type SharedMIG struct{ Name string }

// UnusedMilli says that a name was declared [Milli] and no index has it, which may be a
// typing error.
type UnusedMilli struct{ Name string }

// LiteralSkipped says that a conversion to a ResourceList left a [Literal]
// dimension out.
type LiteralSkipped struct{ Name string }

// MissingLabel says that a node lacks a label of a topology, so that it is in no domain.
type MissingLabel struct{ Node, Label string }

func (n FractionalColumn) String() string { return n.Name + ": fraction in a column of whole units" }
func (n UnparsedMIG) String() string      { return n.Name + ": not a MIG profile, counted as 0 slices" }
func (n SharedMIG) String() string        { return n.Name + ": shared MIG instances, every replica counted" }
func (n UnusedMilli) String() string      { return n.Name + ": declared Milli, but no index has the name" }
func (n LiteralSkipped) String() string   { return n.Name + ": literal dimension left out" }

func (n MissingLabel) String() string {
	return n.Node + ": no label " + n.Label + ", in no domain"
}

func (FractionalColumn) note() {}
func (UnparsedMIG) note()      {}
func (SharedMIG) note()        {}
func (UnusedMilli) note()      {}
func (LiteralSkipped) note()   {}
func (MissingLabel) note()     {}
