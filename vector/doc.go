// Package vector is the linear algebra of resources: amounts of cpu, memory,
// devices and whatever else a cluster counts, for one entity at a time or for
// thousands of nodes at once. It knows numbers and indices only. Package
// vectormap gives the indices their names and units and is the border to the
// Kubernetes types.
//
// # Types
//
// A [ResourceVector] holds one entity's amounts, one float64 per resource. A
// [Matrix] holds the vectors of many entities, one row each, stored by column.
// A [Mask] is a set of rows. [Nodes] is the cluster across scheduling cycles: what
// each node has, what its pods request and what is free, by name. An [Overlay] tries changes on a private copy and takes
// them back, a [Proof] says meanwhile whether a gang is still impossible.
//
// # Kernels
//
// The package functions work on all rows of a matrix: [Fit] says which nodes
// can hold a request, [NormalizedSum] and [DominantResource] how loaded they
// are, [Copies] how many copies each can take, [ArgMax] and [TopK] which to
// choose, [Packer] where a whole gang can go. Each has a scalar definition,
// named in its comment, and gives the same bits as that definition for every
// row, on every CPU and in the pure-Go build; only the payload of a NaN may
// differ. No kernel allocates.
//
// The destination comes first. It is owned by the caller, is overwritten, and
// must not overlap an input unless the comment allows it. A mask or matrix is
// resized to fit, reusing its storage; a slice must be long enough and is left
// alone beyond the rows. A nil row mask selects every row.
//
// # Shapes
//
// A plain vector that is shorter than a matrix is wide counts as padded with
// zeros. A longer one is a mistake, and so are two matrices of different width
// or [Schema], a mask of another length, a row out of range, or an operand that
// is nil (but a row mask): such calls panic with a constant string that starts
// with "vector: ", before anything is written. Data that cannot be used is an
// error, such as [*AmountError], and a request that does not fit is neither: it
// is a value.
//
// # Numbers
//
// Amounts are float64. Integers below 2^53 in magnitude are exact, so use
// units in which the amounts are whole (milli-CPU, bytes, thousandths of a
// GPU). A NaN never fits, -0 equals 0, and +Inf as a limit means unlimited.
//
// # Concurrency
//
// Nothing here starts a goroutine or keeps global state. Values may be read
// concurrently as long as nobody writes; [Nodes] guard themselves.
package vector
