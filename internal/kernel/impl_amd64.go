//go:build amd64 && !purego

package kernel

import "golang.org/x/sys/cpu"

// assembly returns the implementations of the CPU at hand, slowest first.
func assembly() []Impl {
	switch x := cpu.X86; {
	case !x.HasAVX2 || !x.HasFMA:
		return nil
	case x.HasAVX512F && x.HasAVX512DQ && x.HasAVX512BW && x.HasAVX512VL:
		return []Impl{AVX2, AVX512}
	}
	return []Impl{AVX2}
}
