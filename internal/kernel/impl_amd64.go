//go:build amd64 && !purego

package kernel

import "golang.org/x/sys/cpu"

// best returns the fastest implementation that can run here.
func best() Impl {
	switch x := cpu.X86; {
	case !x.HasAVX2 || !x.HasFMA:
		return Generic
	case x.HasAVX512F && x.HasAVX512DQ && x.HasAVX512BW && x.HasAVX512VL:
		return AVX512
	}
	return AVX2
}
