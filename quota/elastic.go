package quota

import "github.com/resvec/resvec/vector"

// Elastic sets dst to what is allocated beyond a min, per dimension:
// max(0, allocated - min). It returns dst, grown to the longer of the two. dst may be
// nil, and it may be one of them. A short vector counts as 0 beyond its end.
func Elastic(dst, allocated, min vector.ResourceVector) vector.ResourceVector {
	return excess(dst, allocated, min)
}

// Outstanding sets dst to what a min lacks, per dimension: max(0, min - allocated).
// Otherwise it is as [Elastic].
func Outstanding(dst, min, allocated vector.ResourceVector) vector.ResourceVector {
	return excess(dst, min, allocated)
}

// excess sets dst to max(0, a - b).
func excess(dst, a, b vector.ResourceVector) vector.ResourceVector {
	n := max(len(a), len(b))
	if cap(dst) < n {
		dst = make(vector.ResourceVector, n)
	}
	dst = dst[:n]
	for i := range dst {
		dst[i] = max(0, element(a, i)-element(b, i))
	}
	return dst
}
