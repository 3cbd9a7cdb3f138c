// Command neon generates the arm64 kernels of package kernel, which the pure-Go twins
// define.
//
// Go's assembler lacks most of the vector instructions that they need, so these are
// written as numbers. The parameters of a function stand in R0, R1 and on, vectors are
// in V0 to V31, all of which a function may overwrite.
package main

func main() {
	compare()
	ratio()
	selection()
}
