//go:build !amd64 || purego

package kernel

// KubeFloat64 sets dst[r] to KubeRow of every selected row; other elements are
// not touched. The columns of the entries stand in matrices and have an element
// per element of dst. table is for KubeRatio only.
//
// It stays a call: inlined into another package, the generic function in it
// would make the arguments escape.
//
//go:noinline
func KubeFloat64(dst []float64, t KubeType, entries []KubeEntry, table *KubeTable, rows []uint64) {
	kubeGeneric(dst, t, entries, table, rows)
}

// KubeInt64 is KubeFloat64 for integers.
//
//go:noinline
func KubeInt64(dst []int64, t KubeType, entries []KubeEntry, table *KubeTable, rows []uint64) {
	kubeGeneric(dst, t, entries, table, rows)
}
