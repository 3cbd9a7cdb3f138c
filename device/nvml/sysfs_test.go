package nvml

import (
	"io/fs"
	"os"
	"testing"
	"testing/fstest"
)

func TestTopologyIn(t *testing.T) {
	const deep = "devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0"
	sys := fstest.MapFS{
		"bus/pci/devices/0000:3b:00.0":           {Data: []byte("../../../" + deep), Mode: fs.ModeSymlink},
		deep + "/numa_node":                      {Data: []byte("1\n")},
		"bus/pci/devices/0000:01:00.0":           {Data: []byte("../../../devices/pci0000:00/0000:01:00.0"), Mode: fs.ModeSymlink},
		"devices/pci0000:00/0000:01:00.0/vendor": {Data: []byte("0x10de\n")},
		"bus/pci/devices/0000:02:00.0":           {Data: []byte("../../../devices/pci0000:00/0000:02:00.0"), Mode: fs.ModeSymlink},
		"devices/pci0000:00/0000:02:00.0/numa_node": {
			Data: []byte("-1\n")},
		"bus/pci/devices/10000:e1:00.0": { // behind a controller of volumes
			Data: []byte("../../../devices/pci0000:e0/0000:e0:05.5/pci10000:e0/10000:e0:06.0/10000:e1:00.0"), Mode: fs.ModeSymlink},
		"bus/pci/devices/0000:03:00.0":           {Data: []byte("../../../devices/platform/soc/40000000.pcie/pci0002:00/0002:00:00.0/0000:03:00.0"), Mode: fs.ModeSymlink},
		"bus/pci/devices/0000:07:00.0":           {Data: []byte("../../../devices/platform/pcie@1:0/pcie-host:1/pci0001:00/0001:00:00.0/0000:07:00.0"), Mode: fs.ModeSymlink},
		"bus/pci/devices/0000:08:00.0":           {Data: []byte("../../../devices/pci:foo/0000:08:00.0"), Mode: fs.ModeSymlink},
		"bus/pci/devices/0000:04:00.0":           {Data: []byte("../../../devices/virtual/0000:04:00.0"), Mode: fs.ModeSymlink},
		"bus/pci/devices/0000:05:00.0/numa_node": {Data: []byte("3")}, // a folder, no link
		"bus/pci/numa_node":                      {Data: []byte("7")},
	}
	for _, test := range []struct {
		address string
		numa    int32
		root    string
	}{
		{"0000:3b:00.0", 1, "pci0000:3a"},
		{"00000000:3B:00.0", 1, "pci0000:3a"},
		{"0000:01:00.0", -1, "pci0000:00"},
		{"0000:02:00.0", -1, "pci0000:00"},
		{"10000:e1:00.0", -1, "pci0000:e0"},
		{"0000:03:00.0", -1, "pci0002:00"},
		{"0000:04:00.0", -1, ""},
		{"0000:05:00.0", 3, ""},
		{"0000:07:00.0", -1, "pci0001:00"},
		{"0000:08:00.0", -1, ""},
		{"0000:06:00.0", -1, ""},
		{"", -1, ""},
		{".", -1, ""},
		{"..", -1, ""},
		{"../..", -1, ""},
		{"0000:3b:00.0/..", -1, ""},
		{"/0000:3b:00.0", -1, ""},
	} {
		if numa, root := topologyIn(sys, test.address); numa != test.numa || root != test.root {
			t.Errorf("%q: %d %q, not %d %q", test.address, numa, root, test.numa, test.root)
		}
	}
}

// TestSysfsTopology: this machine's own devices have a root, where there are any.
func TestSysfsTopology(t *testing.T) {
	devices, err := os.ReadDir("/sys/bus/pci/devices")
	if err != nil {
		t.Log("no PCI devices here: ", err)
	}
	for _, d := range devices {
		if numa, root := SysfsTopology(d.Name()); root == "" || numa < -1 {
			t.Errorf("%s: %d %q", d.Name(), numa, root)
		}
	}
	if numa, root := SysfsTopology("nothing"); numa != -1 || root != "" {
		t.Errorf("%d %q", numa, root)
	}
}
