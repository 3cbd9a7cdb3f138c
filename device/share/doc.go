// Package share gives devices, and parts of them, to pods, as Koordinator's
// DeviceShare does.
//
//	var account share.Account // the devices of all nodes
//	for _, name := range names {
//		row, _, err := nodes.Set(name, generations[name], amounts[name])
//		d, ok := inventory.Node(name)
//		err = account.Set(row, share.States(d)) // the same row as in nodes; not ok: nil states
//	}
//	scorer, err := share.NewScorer(share.Config{Type: share.MostAllocated, FillMemory: true})
//	devices := scorer.Bind(&account)
//
//	needs, err := share.Normalize(podRequests) // such as koordinator.sh/gpu: 50, half a GPU
//	var fits vector.Mask
//	vector.Fit(&fits, nodes.Free(), pod.Requested) // by cpu and memory
//	node, ok, err := devices.Best(needs, &fits, vector.TieSeeded(42))
//	chosen, err := devices.Allocate(node, share.AllocRequest{Requirement: needs[0]})
//	err = account.Commit(node, chosen)
//	err = nodes.Assume(node, pod)
//	fmt.Println(chosen.Devices[0].UUID)
//
// An [Account] has what each device has, and what of it is free. A [Scorer], bound to
// it, filters nodes, scores them, and chooses devices: by score, topology or
// fragmentation, and together with a second kind such as RDMA on the same PCIe roots.
//
// Amounts are integers in Koordinator's units: percent of one device for gpu-core,
// gpu-memory-ratio, rdma and fpga, bytes for gpu-memory. A pod that can't be placed
// gets a value with numbers: a [NotEnoughError] of one node, [Rejections] of all.
//
// Use [Config.FillMemory] wherever some pods request memory in percent and some in bytes.
// Without it a pod that takes a whole GPU by percent leaves all its bytes free, so that a
// second pod may get the same GPU.
package share
