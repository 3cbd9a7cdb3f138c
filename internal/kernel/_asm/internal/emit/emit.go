// Package emit holds what every generator of this module shares: the build
// constraint, the shape of a function and the names of the two instruction
// sets.
package emit

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
)

// ISA names an instruction set as the suffix of function names.
type ISA string

// The instruction sets, as in kernel.Impl.
const (
	AVX2   ISA = "AVX2"
	AVX512 ISA = "AVX512"
)

// File constrains the generated files to amd64 builds without the purego tag.
// A generator calls it first.
func File() {
	build.ConstraintExpr("amd64,!purego")
}

// Func starts the function name+isa with the given signature. doc is the first
// sentence of the stub's comment without the name; twin is the Go function
// that the assembly must equal, or "" when there is none.
func Func(name string, isa ISA, signature, doc, twin string) {
	build.TEXT(name+string(isa), attr.NOSPLIT, signature)
	build.Pragma("noescape")
	lines := []string{name + string(isa) + " " + doc}
	if twin != "" {
		lines = append(lines, "It equals "+twin+".")
	}
	build.Doc(lines...)
}

// Return ends a function that touched vector registers: it clears their upper
// parts, without which the SSE code of the compiler would run slowly.
func Return() {
	build.VZEROUPPER()
	build.RET()
}
