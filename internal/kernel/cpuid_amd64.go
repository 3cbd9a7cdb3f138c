//go:build amd64 && !purego

package kernel

import "encoding/binary"

// pairsByAVX2 says that AVX2 compares two matrices faster than AVX-512 does. The CPU
// decides, and no measurement: a program runs the same code each time.
var pairsByAVX2 = isZen5(vendor())

// isZen5 reports whether a CPU is an AMD of family 1Ah, by its vendor and signature. On
// it AVX-512 takes 1.5 times as long as AVX2 to compare two matrices. On a Zen 4 the two
// are even, and on an Intel AVX-512 is faster.
func isZen5(vendor string, signature uint32) bool {
	family := signature >> 8 & 0xf
	if family == 0xf { // then there is more of it
		family += signature >> 20 & 0xff
	}
	return vendor == "AuthenticAMD" && family == 0x1a
}

// vendor returns the vendor and the signature of the CPU at hand.
func vendor() (vendor string, signature uint32) {
	_, b, c, d := cpuid(0)
	signature, _, _, _ = cpuid(1)
	var name []byte
	for _, part := range []uint32{b, d, c} {
		name = binary.LittleEndian.AppendUint32(name, part)
	}
	return string(name), signature
}

// cpuid returns what the instruction CPUID says for a leaf, subleaf 0. Its assembly is
// written by hand.
func cpuid(leaf uint32) (eax, ebx, ecx, edx uint32)
