//go:build amd64 && !purego

package kernel

//go:generate env GOWORK=off go -C _asm run ./sum -out ../sum_amd64.s -stubs ../sum_stubs_amd64.go -pkg kernel

// SumWhole returns the sum of the values, and whether they have only one, in whatever
// order they are added: exact says that all are whole numbers, and so small that every
// partial sum is exact. A sum of 0 is +0. Without exact the sum means nothing, and
// exact is always false without assembly, which adds many values side by side.
func SumWhole(values []float64) (sum float64, exact bool) {
	if active == Generic {
		return 0, false
	}
	raceRead(values)
	// No partial sum is greater than limit, which is rounded, but not across 2^53.
	limit, fraction := 0.0, uint64(0)
	for len(values) >= sumUnit {
		n := min(len(values), sumChunk) / sumUnit
		var s, largest float64
		var f uint64
		if active == AVX512 {
			s, largest, f = sumWholeAVX512(&values[0], n)
		} else {
			s, largest, f = sumWholeAVX2(&values[0], n)
		}
		sum, limit, fraction = sum+s, limit+float64(largest*float64(n*sumUnit)), fraction|f
		values = values[n*sumUnit:]
	}
	s, largest, f := sumWholeGeneric(values)
	sum, limit, fraction = sum+s, limit+float64(largest*float64(len(values))), fraction|f
	return sum, limit < 1<<53 && fraction == 0
}

// sumUnit is how many values assembly reads at a time.
const sumUnit = 32

// sumChunk is how many values one call into assembly reads. Each has a limit of its own.
const sumChunk = 1 << 12
