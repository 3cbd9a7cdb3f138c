//go:build !amd64 || purego

package kernel

func prefetch(at *uintptr) { prefetchGeneric(at) }
