//go:build arm64 && !purego

package kernel

import "golang.org/x/sys/cpu"

// assembly returns the implementation of the CPU at hand.
func assembly() []Impl {
	if cpu.ARM64.HasASIMD {
		return []Impl{NEON}
	}
	return nil
}
