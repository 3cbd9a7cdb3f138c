// Package kernel holds every hot loop of resvec: a pure-Go twin that defines
// the result, assembly for amd64 and arm64 that must equal it bit for bit, and the
// switch between them.
//
// Kernels trust their callers. Shapes are checked in package vector, which
// panics in Go before assembly runs; here a bad length is undefined behaviour.
//
// Layout. A matrix is column-major: element (row r, column c) stands at
// data[c*stride+r]. stride is a multiple of [Block] and data starts on a
// 64-byte border, so each column does too, and a kernel may read whole blocks
// of 64 rows of a matrix without tail code, up to the stride. Plain slices
// (scores, dst) have any alignment and any length, and are never read or
// written beyond it.
//
// Masks are []uint64, one bit per row, bit r%64 of word r/64. Compare kernels
// AND their verdict into dst, so the caller starts from all ones or from a row
// mask; words that are already zero cost nothing.
//
// A column list is a pair of equally long slices: the column indexes and the
// amount that goes with each. It holds only the columns that matter.
//
// The assembly comes from the generators in _asm, a module of its own; make
// generate runs them, and their output is committed. Assembly can't be
// preempted, so a call into it reads 256 KiB at most, 160 KiB in the compare
// kernels, whatever the shape: below 20 microseconds even from a busy memory.
// A family has the same name everywhere. NAME_generic.go has the pure-Go twins.
// _asm/NAME generates NAME_amd64.s. NAME_amd64.go has the exported functions: each cuts
// a pass into calls and chooses the assembly by a switch, so that a reader comes from
// the exported function to the assembly in one step. A call through a function variable
// would make every argument escape. _asm/neon generates NAME_arm64.s for the families
// that have a NAME_arm64.go. Elsewhere dispatch_noasm.go and dispatch_noamd64.go
// have the exported functions, which call their twins. gpu.go and copies.go are pure
// Go everywhere.
//
// Under the race detector the exported functions report what the assembly reads and
// writes.
//
// Nothing here allocates, and nothing keeps its arguments.
package kernel

// Block is the number of rows per mask word. Strides are multiples of it.
const Block = 64
