package kernel

import "slices"

// Impl names one implementation of the kernels.
type Impl uint8

// The code for arm64 is generated on every machine: go generate skips files of others.
//go:generate env GOWORK=off go -C _asm run ./neon

// The implementations, slowest first. Generic is pure Go and runs everywhere. NEON is
// of arm64, and has comparisons, shared totals and ArgMax only. AVX2 needs AVX2 and
// FMA; AVX512 needs these too, for its largest passes, and the F, DQ, BW and VL subsets.
const (
	Generic Impl = iota
	NEON
	AVX2
	AVX512
)

// String returns the name used in benchmark labels: generic, neon, avx2 or avx512.
func (i Impl) String() string {
	switch i {
	case NEON:
		return "neon"
	case AVX2:
		return "avx2"
	case AVX512:
		return "avx512"
	}
	return "generic"
}

// active is the implementation that the wrappers call. It is a plain value and
// not a function variable: an indirect call would make every slice argument
// escape. It is written at start-up and by tests only.
var active = Available()[len(Available())-1]

// Active returns the implementation in use.
func Active() Impl { return active }

// Available returns the implementations that this CPU and this build can run,
// slowest first. GODEBUG=cpu.avx512f=off, cpu.avx2=off and, on arm64, cpu.asimd=off
// shorten the list.
func Available() []Impl { return append([]Impl{Generic}, assembly()...) }

// Use makes i the implementation in use and returns a function that restores
// the former one. It is meant for tests and benchmarks, which must not run
// kernels concurrently with it. It panics when i is not available.
func Use(i Impl) (restore func()) {
	if !slices.Contains(Available(), i) {
		panic("kernel: implementation not available")
	}
	old := active
	active = i
	return func() { active = old }
}
