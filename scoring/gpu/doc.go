// Package gpu says how good each node is for a pod that shares GPUs, or takes whole
// ones, and which devices it should get.
//
// A [State] has what is left of every device of every node, in thousandths. A [Request]
// is what a pod requests. A [Scorer] is compiled once:
//
//	CompileFGD         leaves the fewest fragments that the pods of the cluster can't use
//	CompileDotProduct  fills nodes with little left of what the pod requests
//	CompileBestFit     leaves the least on a node
//	NewPacking         fills devices in use, then nodes in use
//	CompileClustering  keeps pods with the same number of devices together
//
// FGD is the algorithm of Weng et al., Beware of Fragmentation (USENIX ATC 2023); the
// others are the policies that it is compared with there. This is a decision:
//
//	scores := gpu.Bind(scorer, nodes, state) // once
//
//	row, ok := scores.Best(&request, nil, vector.TieSeeded(seed))
//	devices = scores.ChooseDevices(devices, &request, row)
//	err := state.Place(row, &request, devices)
//	err = nodes.Assume(row, vector.PodAmounts{Requested: request.Amounts})
//
// The state may come from an account of devices, which keeps it up to date (package
// device/share). Scores are as exact as in package scoring, and explanations are of
// its type.
package gpu
