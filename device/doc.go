// Package device knows the accelerators of a cluster: which there are, what they
// are called, how they can be cut, how good each is for a pod, and which to take.
//
//   - An [Inventory] lists the devices of every node, from one of three sources:
//     node labels and allocatable ([FromNodes]), DRA ResourceSlices
//     ([FromResourceSlices]), or the driver itself (package device/nvml, a module
//     of its own). The three agree on the same hardware as far as all know it;
//     [Agree] checks it.
//   - A [Catalogue] answers by card name: whole cards, MPS shares and MIG
//     instances, and the Kubernetes resources that carry them.
//   - A [Geometry] says how MIG cuts a GPU: [Place] decides exactly whether
//     instances can be placed, [Remaining] what is left, [Best] which start keeps
//     most room, and [Weights] turns resources into GPU equivalents.
//   - [Normalize] brings what a pod asks for, in Koordinator's names or the
//     vendors', into one form: an amount per instance and a number of instances.
//   - A [Scorer] scores devices and nodes as Koordinator's DeviceShare does, one at
//     a time or all devices of all nodes in a batch, and allocates: the instances
//     on a node by score, topology or fragmentation, and together with a second
//     kind such as RDMA on the same PCIe roots.
//
// Amounts of devices are integers in Koordinator's units: percent of one device
// for gpu-core, gpu-memory-ratio, rdma and fpga, bytes for gpu-memory.
//
// Data problems never fail a whole inventory. What can't be read is left out, or
// kept with that field unknown, and a [Problem] names the label or object. A pod
// that can't be placed gets a value with numbers, see [NotEnoughError].
//
// Values made by this package are read-only and safe for concurrent use, unless
// their comment says otherwise; it starts no goroutine and keeps no state.
package device
