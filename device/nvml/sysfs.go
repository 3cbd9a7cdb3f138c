package nvml

import (
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
)

// SysfsTopology returns the NUMA node and the PCIe root of the device at a PCI
// address, such as 0000:07:00.0, as Linux has them in /sys: for
// [CollectOptions], and for other devices whose address is known. The root is named
// as DRA drivers do in the attribute resource.kubernetes.io/pcieRoot, such as
// pci0000:00. What isn't there is unknown: -1, and "". That is all on other systems.
func SysfsTopology(pciBusID string) (numaNode int32, pcieRoot string) {
	return topologyIn(os.DirFS("/sys"), pciBusID)
}

// topologyIn is SysfsTopology of another /sys.
func topologyIn(sys fs.FS, pciBusID string) (numaNode int32, pcieRoot string) {
	numaNode = -1
	link := path.Join("bus/pci/devices", pciBusID)
	if !fs.ValidPath(link) || path.Base(link) != pciBusID {
		return numaNode, ""
	}
	if text, err := fs.ReadFile(sys, path.Join(link, "numa_node")); err == nil {
		if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 32); err == nil && n >= 0 {
			numaNode = int32(n)
		}
	}
	// The link is to devices/<root>/<bridges>/<device>, on some systems with what
	// the root is part of before it.
	target, err := fs.ReadLink(sys, link)
	if err != nil {
		return numaNode, ""
	}
	for part := range strings.SplitSeq(path.Dir(target), "/") {
		if strings.HasPrefix(part, "pci") && strings.Contains(part, ":") {
			return numaNode, part
		}
	}
	return numaNode, ""
}
