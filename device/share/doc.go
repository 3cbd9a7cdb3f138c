// Package share gives devices, and parts of them, to pods, as Koordinator's
// DeviceShare does.
//
//   - [Normalize] brings what a pod asks for into one form: an amount per instance
//     and a number of instances, each on a device of its own.
//   - A [Scorer] scores devices and nodes, one at a time or all devices of all nodes
//     in a [Batch], filters nodes, and allocates: by score, topology or
//     fragmentation, and together with a second kind of devices, such as RDMA, on
//     the same PCIe roots.
//   - An [Allocation] is committed to the states of a node and released.
//
// Amounts are integers in Koordinator's units: percent of one device for gpu-core,
// gpu-memory-ratio, rdma and fpga, bytes for gpu-memory. A pod that can't be placed
// gets a value with numbers, see [NotEnoughError].
package share
