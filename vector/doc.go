// Package vector is the linear algebra of resources: amounts of cpu, memory, devices and
// whatever else a cluster counts, for one node or for thousands at once. Package vectormap
// gives the indices names and units.
//
// A [Matrix] has a [ResourceVector] in each row, and a [Mask] is a set of rows. [Nodes] keep
// rows by name over cycles, an [Overlay] tries changes. Functions work on all rows:
//
//	free := vector.NewMatrix(vector.Schema{}, 5000, 2) // 5,000 nodes, cpu and memory; columns without names
//	free.SetRow(0, vector.ResourceVector{4_000, 16 << 30})
//	pod := vector.ResourceVector{500, 1 << 30}
//
//	var fits vector.Mask
//	vector.Fit(&fits, free, pod) // which nodes can hold the pod
//	scores := make([]float64, free.Rows())
//	vector.NormalizedSum(scores, free, total)              // how much each has, of a shared total
//	row := vector.ArgMax(scores, &fits, vector.TieSeeded(42)) // -1: none can hold it
//
// # Rules of all calls
//
// Each function over rows gives the bits of its scalar definition for every row, on every
// CPU; only the payload of a NaN may differ. None allocates once its destination has grown.
//
// The destination comes first. The caller owns it, it is overwritten and returned where it
// may grow, and it must not overlap an input unless the comment allows that. A mask or
// matrix takes the shape of the result. A slice needs one element per row, or is grown if it
// is returned. A nil row mask selects every row.
//
// A vector that is shorter than a matrix is wide counts as padded with zeros. Wrong calls
// panic, with a constant string, before anything is written: a vector that is longer,
// matrices of different width or [Schema], a mask of another length, a row or column out
// of range, a write to a read-only matrix. Data that cannot be used is an error, such as
// [*AmountError]. A request that does not fit is a value.
//
// Integers below 2^53 in magnitude are exact, so use units in which amounts are whole:
// milli-CPU, bytes, thousandths of a GPU. A NaN never fits, -0 equals 0, and +Inf as a limit
// means unlimited.
//
// Nothing starts a goroutine or keeps global state. Values may be read concurrently while
// nobody writes.
package vector
