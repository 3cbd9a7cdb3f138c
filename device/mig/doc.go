// Package mig knows how NVIDIA's MIG cuts a GPU: which instances a GPU can have,
// whether more of them find a place, and what is left.
//
// A GPU has a row of memory slots and a number of compute slices. An instance takes
// neighbouring slots from one of a few starts. So free slots alone don't say whether it
// fits:
//
//	for _, gpu := range mig.GPUs(node) { // of a device.Node
//		starts, ok, err := mig.PlaceInstances(nil, gpu.Geometry, gpu.Instances, []vectormap.MIGProfile{profile})
//		if err == nil && ok {
//			fmt.Println(gpu.UUID, "has room from slot", starts[0])
//		}
//	}
//
// [PlaceInstances] is exact: it finds a place whenever there is one. [Remaining]
// counts how many instances of each profile still fit, [BestStart] finds the start
// that keeps most room, and [ExplainPlace] names the rule that is in the way.
// [Weights] turns resources into GPU equivalents.
//
// The functions keep no state. A [Geometry] is immutable and safe for concurrent
// use.
package mig
