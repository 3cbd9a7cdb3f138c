// Command prefetch generates the kernel that asks for cache lines ahead of their
// use.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"github.com/mmcloughlin/avo/attr"
	"github.com/resvec/resvec/internal/kernel/_asm/internal/emit"
)

// lines is kernel.PrefetchLines.
const lines = 8

func main() {
	emit.File()
	TEXT("prefetchT0", attr.NOSPLIT, "func(at *uintptr)")
	Pragma("noescape")
	Doc("prefetchT0 asks for 8 lines, and doesn't wait.", "It equals prefetchGeneric.")
	at := Load(Param("at"), GP64())
	for i := range lines {
		line := GP64()
		MOVQ(Mem{Base: at, Disp: 8 * i}, line)
		PREFETCHT0(Mem{Base: line})
	}
	RET()
	emit.Generate()
}
