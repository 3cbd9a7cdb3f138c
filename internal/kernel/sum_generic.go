package kernel

// SumWhole returns the sum of the values, and whether they have only one, in whatever
// order they are added: exact says that all are whole numbers, and so small that every
// sum on the way is exact. A sum of 0 is +0. Without exact the sum means nothing, and
// exact is always false without assembly, which adds many values side by side.
func SumWhole(values []float64) (sum float64, exact bool) { return sumWhole(values) }
