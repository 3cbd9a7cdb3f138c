// Package gang places many pods at once: a gang, whose pods start together or not at all.
//
// A [Packer] says where the pods can go, or how few victims make room for them. A [Proof]
// follows an eviction loop and says as long as it is true that they fit nowhere. A
// [Topology] keeps a gang within racks and blocks, a [Spread] keeps its members apart. The
// gang is a matrix with a row for each member, and what is free is a matrix with a row for
// each node:
//
//	packer := gang.NewPacker(gang.Options{Total: vector.SumColumns(nil, free, nil)})
//	placement, _, ok := packer.Place(nil, free, requests, nil, nil) // a row of free for each member
//
// Answers are exact or say what they leave open: see [Packer]. Equal inputs give equal
// answers. The rules of package vector hold here too: the destination comes first and is
// reused, a nil row mask selects every row, nothing allocates once memory has grown, and
// wrong calls panic with a constant string.
package gang
