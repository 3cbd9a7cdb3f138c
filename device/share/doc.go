// Package share gives devices, and parts of them, to pods, as Koordinator's
// DeviceShare does.
//
//	var account share.Account // the devices of all nodes
//	for k := range inventory.Nodes {
//		err := account.Set(k, share.States(&inventory.Nodes[k]))
//	}
//	scorer, err := share.NewScorer(share.Config{Type: share.MostAllocated})
//	devices := scorer.Bind(&account)
//
//	needs, err := share.Normalize(podRequests)
//	node, ok, err := devices.Best(needs, nil, vector.TieLowest())
//	chosen, err := devices.Allocate(node, share.AllocRequest{Requirement: needs[0]})
//	err = account.Commit(node, chosen)
//	fmt.Println(chosen.Devices[0].UUID)
//
// An [Account] has what each device has, and what of it is free. A [Scorer], bound to
// it, filters nodes, scores them, and chooses devices: by score, topology or
// fragmentation, and together with a second kind such as RDMA on the same PCIe roots.
//
// Amounts are integers in Koordinator's units: percent of one device for gpu-core,
// gpu-memory-ratio, rdma and fpga, bytes for gpu-memory. A pod that can't be placed
// gets a value with numbers: a [NotEnoughError].
package share
