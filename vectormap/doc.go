// Package vectormap says what the numbers of package vector mean. A [ResourceVectorMap]
// gives every index of a resource vector a name and a unit. The package also converts
// between vectors and the Kubernetes types ResourceList, Pod and Node.
//
// # Building a map
//
// [New] makes a map from names, a [Builder] from the nodes, pods and lists that are to be
// expressed in it:
//
//	b := vectormap.NewBuilder(vectormap.Milli("nvidia.com/gpu")) // pods share GPUs
//	for _, node := range nodes {
//		b.AddNode(node)
//	}
//	m, err := b.Build()
//
//	allocatable, err := m.NodeAllocatable(nil, nodes[0], nil)
//	request, err := m.PodRequest(nil, pod, vectormap.PodOptions{}, nil)
//	if why := m.Explain(request, used, allocatable); len(why) > 0 {
//		fmt.Println(why) // Insufficient cpu (requested 1, used 3500m of 4, free 500m)
//	}
//
// The core resources always come first: [CPU], [Memory], [GPU], [Pods]. All others follow,
// sorted by name, so equal clusters give equal maps. A map is frozen: any number of
// goroutines may share it. [ResourceVectorMap.Extend] gives a new map that keeps every old
// index; old vectors stay valid as shorter vectors.
//
// # Names
//
// The names nvidia.com/gpu and amd.com/gpu share the index gpu; see
// [DefaultNormalizer]. A map finds an index by its own name and by the original
// names folded into it. Two different originals at one index are refused when
// the map is built, since an AMD node would seem to hold an NVIDIA pod; the
// options [FoldVendors] and [NoFold] decide otherwise. [GPUs] says which names
// are GPUs.
//
// # Units
//
// There is one rule, [ResourceVectorMap.Unit]: cpu counts in thousandths of a
// CPU; memory, ephemeral-storage and hugepages-* in bytes; everything else in
// whole units, unless the option [Milli] names it. Amounts read from Kubernetes
// are rounded to that unit, requests up and capacities down: in a whole-unit
// column a request of 500m is a request of 1. Where devices are shared, use
// [Milli], so that shares are whole numbers and their sums exact.
//
// # Conversions
//
// Nothing is dropped silently. A name that the map does not have is an error,
// unless the caller passes a slice to collect such names in. An amount that
// has no exact place (negative, 2^53 units or more, NaN, infinite) is a
// [*vector.AmountError]. A [Resource] keeps computed amounts: there only NaN, -Inf
// and fractions of a thousandth of a GPU are errors. On error nothing is written.
//
// A vector that is longer than the map is a mistake of the caller. Methods that return an
// error return [vector.ErrShape]; the others panic with a constant string, except for
// MIGSlices.
package vectormap
