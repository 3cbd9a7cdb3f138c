// Package vectormap says what the numbers of package vector mean. A
// [ResourceVectorMap] gives every index of a resource vector its name and its
// unit, and this package is the border between such vectors and the Kubernetes
// types: ResourceList, Pod and Node.
//
// # Building a map
//
// [New] makes a map from names, a [Builder] from the nodes, pods and lists that
// are to be expressed in it. The core resources come first, always: [CPU],
// [Memory], [GPU], [Pods]. All others follow, sorted by name, so equal clusters
// give equal maps. A map is frozen: it may be shared by any number of
// goroutines. [ResourceVectorMap.Extend] gives a new map that keeps every old
// index; old vectors stay valid as shorter vectors.
//
// # Names
//
// The names nvidia.com/gpu and amd.com/gpu share the index gpu, see
// [ExactNormalizer]. A map finds an index by its own name and by the original
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
// Vectors that are longer than the map are a mistake of the caller: methods that
// return an error return [vector.ErrShape], the others panic, but for MIGSlices. A
// nil map, pod or node panics too. Panics are constant strings that start with
// "vectormap: " or "vector: ".
package vectormap
