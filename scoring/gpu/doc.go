// Package gpu says how good each node is for a pod that shares GPUs, or takes whole
// ones, and which devices it should get.
//
// A [State] knows what is left of every device of every node, in thousandths, and a
// [Request] what a pod asks for. A [Scorer] is compiled once and scores all nodes at
// once:
//
//	FGD         leaves the fewest fragments that the pods of the cluster can't use
//	DotProduct  fills nodes of which little is left of what the pod asks for
//	BestFit     leaves the least on a node
//	Packing     fills devices in use, then nodes in use
//	Clustering  keeps pods with the same number of devices together
//
// FGD is the algorithm of Weng et al., Beware of Fragmentation (USENIX ATC 2023), the
// others are the policies that it is compared with there. A decision is
//
//	vector.Fit(&fits, free, request)
//	state.Fit(&fits, &req, cpuLeft, &fits)
//	err := scorer.ScoreBatch(scores, &req, cpuLeft, state, &fits)
//	node := vector.ArgMax(scores, &fits, vector.TieSeeded(seed))
//	devices = scorer.ChooseDevices(node, &req, cpuLeft, state, devices)
//	err = state.Place(node, &req, devices)
//
// and [Cache] makes the first four steps for requests that come again and again. The
// numbers are as exact as those of package scoring, in the same way; explanations are
// of its type.
package gpu
