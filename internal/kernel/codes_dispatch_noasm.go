//go:build !amd64 || purego

package kernel

// Codes sets dst to the Floor32 of src, which is as long, and reports whether a
// value is not Tame.
func Codes(dst []float32, src []float64) (wild bool) { return codesGeneric(dst, src) }
