//go:build goexperiment.simd

package benchmarks

// Under this experiment plain floating-point code can be many times as slow as
// without it, so every ratio against a plain loop would flatter.
func init() { panic("benchmarks: build without GOEXPERIMENT=simd") }
