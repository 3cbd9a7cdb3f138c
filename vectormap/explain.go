package vectormap

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/resvec/resvec/vector"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Format returns an amount of index i as people write it: 1500m or 2 for cpu
// and [Milli] columns, 4Gi for bytes, a plain number otherwise. +Inf is
// "unlimited".
func (m *ResourceVectorMap) Format(i int, amount float64) string {
	u := m.columns[i].unit
	switch {
	case math.IsInf(amount, 1):
		return "unlimited"
	case u == UnitWhole || amount != math.Trunc(amount) || math.Abs(amount) >= limit:
		return formatFloat(amount / float64(u.Scale()))
	case u == UnitByte:
		return resource.NewQuantity(int64(amount), resource.BinarySI).String()
	}
	return resource.NewMilliQuantity(int64(amount), resource.DecimalSI).String()
}

// Explain returns one line of text for a shortfall, as
// [vector.ResourceVector.Shortfall] computes it:
//
//	Insufficient cpu (short 500m), nvidia.com/gpu (short 2)
//
// The resources that are short come in index order, by their original name
// where it is unique, in their own units. An infinite shortfall, which stands
// for a NaN or an infinite request, is "not a finite amount". No shortfall gives "".
// It panics when the shortfall is longer than the map.
func (m *ResourceVectorMap) Explain(shortfall vector.ResourceVector) string {
	m.mustHold(shortfall)
	var b strings.Builder
	for i, x := range shortfall {
		if !(x > 0) {
			continue
		}
		if b.Len() == 0 {
			b.WriteString("Insufficient ")
		} else {
			b.WriteString(", ")
		}
		b.WriteString(m.columns[i].kubernetesName())
		if math.IsInf(x, 1) {
			b.WriteString(" (not a finite amount)")
			continue
		}
		b.WriteString(" (short " + m.Format(i, x) + ")")
	}
	return b.String()
}

// ExplainRejections returns one line of text for the counts that
// [vector.Rejections] gives for a pod that fits on none of so many nodes:
//
//	0/5000 nodes fit: 3100 insufficient nvidia.com/gpu, 2400 insufficient cpu
//
// The resource that rejects most nodes comes first, equal counts go in index
// order. A node that lacks two resources counts for both. Without a rejection
// the line ends after "fit". It panics when rejections is longer than the map.
func (m *ResourceVectorMap) ExplainRejections(nodes int, rejections []int) string {
	if len(rejections) > len(m.columns) {
		panic("vectormap: rejections are longer than the map")
	}
	order := make([]int, len(rejections))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rejections[b], rejections[a]) })
	line := fmt.Sprintf("0/%d nodes fit", nodes)
	separator := ": "
	for _, i := range order {
		if rejections[i] > 0 {
			line += fmt.Sprintf("%s%d insufficient %s", separator, rejections[i], m.columns[i].kubernetesName())
			separator = ", "
		}
	}
	return line
}
