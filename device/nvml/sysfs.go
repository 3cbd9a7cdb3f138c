package nvml

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// SysfsTopology returns the NUMA node and the PCIe root of the device at a PCI
// address, such as 0000:07:00.0, as Linux has them in /sys: for [CollectOptions], and
// for other devices whose address is known, in any spelling that a [Handle] may give.
// The root is named as DRA drivers do in the attribute
// resource.kubernetes.io/pcieRoot, such as pci0000:00. What isn't there is unknown: -1,
// and "". That is all on other systems.
func SysfsTopology(pciBusID string) (numaNode int32, pcieRoot string) {
	return topologyIn(os.DirFS("/sys"), pciBusID)
}

// topologyIn is SysfsTopology of another /sys.
func topologyIn(sys fs.FS, pciBusID string) (numaNode int32, pcieRoot string) {
	numaNode = -1
	address := pciAddress(pciBusID)
	link := path.Join("bus/pci/devices", address)
	if !fs.ValidPath(link) || path.Base(link) != address {
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
		if pciRoot.MatchString(part) {
			return numaNode, part
		}
	}
	return numaNode, ""
}

// pciRoot is the name of a root complex: its domain and its bus.
var pciRoot = regexp.MustCompile(`^pci[0-9a-f]{4,}:[0-9a-f]{2}$`)
