package nvml_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/resvec/resvec/device/nvml"
)

// The GPUs of this machine, with their topology from the kernel.
func ExampleCollect() {
	library, err := nvml.Open()
	if err != nil {
		fmt.Println(err) // no driver, no cgo, or not Linux
		return
	}
	node, err := nvml.Collect(library, "this-node", nvml.CollectOptions{Topology: sysfs})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range node.Devices {
		fmt.Println(d.Product, d.UUID, d.NUMANode, d.PCIeRoot)
	}
}

// sysfs returns the NUMA node and the PCIe root of a PCI device. Its entry is a
// link to ../../../devices/pci0000:a0/..., through the root.
func sysfs(pciBusID string) (numaNode int32, pcieRoot string) {
	entry := filepath.Join("/sys/bus/pci/devices", pciBusID)
	numaNode = -1
	if text, err := os.ReadFile(filepath.Join(entry, "numa_node")); err == nil {
		if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 32); err == nil {
			numaNode = int32(n)
		}
	}
	link, err := os.Readlink(entry)
	if err != nil {
		return numaNode, ""
	}
	for part := range strings.SplitSeq(link, "/") {
		if strings.HasPrefix(part, "pci") {
			return numaNode, part
		}
	}
	return numaNode, ""
}
