//go:build !amd64 || purego

package kernel

// best returns the fastest implementation that can run here.
func best() Impl { return Generic }
