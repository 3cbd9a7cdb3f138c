//go:build amd64 && !purego

package testkit

import (
	"strings"

	"golang.org/x/sys/cpu"
)

// missing says which features, and so which implementations, are absent. A
// feature is absent when the CPU lacks it or GODEBUG turns it off.
func missing() string {
	var lacks []string
	for _, f := range []struct {
		has  bool
		name string
	}{
		{cpu.X86.HasAVX2, "avx2"},
		{cpu.X86.HasFMA, "fma"},
		{cpu.X86.HasAVX512F, "avx512f"},
		{cpu.X86.HasAVX512DQ, "avx512dq"},
		{cpu.X86.HasAVX512BW, "avx512bw"},
		{cpu.X86.HasAVX512VL, "avx512vl"},
	} {
		if !f.has {
			lacks = append(lacks, f.name)
		}
	}
	if lacks == nil {
		return "none missing"
	}
	return "not seen on this CPU, or off by GODEBUG: " + strings.Join(lacks, ", ")
}
