// Package device knows the accelerators of a cluster: which devices each node has,
// and what they are called.
//
// An [Inventory] comes from node labels and allocatable resources ([FromNodes]),
// from DRA ResourceSlices ([FromResourceSlices]), or from the driver (package
// device/nvml, a module of its own):
//
//	inventory, err := device.FromNodes(nodes, nil, device.Options{})
//	for _, node := range inventory.Nodes {
//		for _, card := range node.Cards {
//			fmt.Println(node.Name, card.Name, card.Count) // node-a NVIDIA-A100-SXM4-40GB 8
//		}
//	}
//
// Cards are the names that quotas are written in. A [Catalog] maps them to the
// Kubernetes resources that carry them, and back. [Agree] compares two
// descriptions of a node.
//
// Bad data never fails a whole inventory. What can't be read is left out, or kept
// with that field unknown, and a [Problem] names the label or object.
//
// Package device/mig says how MIG cuts a GPU. Package device/share gives devices,
// and parts of them, to pods.
//
// Values of this package are read-only and safe for concurrent use.
package device
