package nvml

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// SysfsTopology reads the NUMA node and the PCIe root of a device from Linux's /sys, for
// [CollectOptions] and for any device whose PCI address is known. The address may have
// any spelling that a [Handle] may return, such as 0000:07:00.0. The root is written as
// in the attribute resource.kubernetes.io/pcieRoot of DRA drivers, such as pci0000:00.
// What /sys does not have is unknown: -1, and "". On other systems both are unknown.
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
