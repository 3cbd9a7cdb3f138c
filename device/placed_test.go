package device_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/resvec/resvec/device"
)

// placedTexts writes what [device.Node.Placed] says as
// "uuid product MiB: instances".
func placedTexts(n *device.Node) []string {
	list := []string{}
	for _, g := range n.Placed() {
		list = append(list, fmt.Sprintf("%s %s %d: %s", g.UUID, g.Product, g.MemoryBytes>>20, strings.Trim(fmt.Sprint(g.Instances), "[]")))
	}
	return list
}

func TestPlacedNode(t *testing.T) {
	const a100 = "NVIDIA-A100-SXM4-40GB"
	gpu := func(uuid string, mig bool) device.Device {
		return device.Device{Kind: device.KindGPU, UUID: uuid, Product: a100, MemoryBytes: 40 << 30, MIGEnabled: mig, Start: -1}
	}
	instance := func(parent, profile string, start int8) device.Device {
		return device.Device{Kind: device.KindGPU, Product: a100, Sharing: device.SharingMIG, ParentUUID: parent,
			Profile: migProfile(t, profile), Start: start}
	}
	sick := instance("GPU-1", "1g.5gb+me", 6)
	sick.Health = device.Unhealthy
	unread := instance("GPU-1", "1g.5gb", -1)
	unread.Profile = device.Profile{}

	for _, c := range []struct {
		name    string
		devices []device.Device
		want    []string
	}{
		{"no GPU in MIG mode", []device.Device{gpu("GPU-0", false)}, []string{}},
		{"one without instances", []device.Device{gpu("GPU-1", true), gpu("GPU-0", true)},
			[]string{"GPU-0 " + a100 + " 40960: ", "GPU-1 " + a100 + " 40960: "}},
		{"instances in order, sick and unread ones too",
			[]device.Device{gpu("GPU-0", false), sick, instance("GPU-1", "2g.10gb", 4), instance("GPU-1", "4g.20gb", 0), unread, gpu("GPU-1", true)},
			[]string{"GPU-1 " + a100 + " 40960: 0g.0gb@? 4g.20gb@0 2g.10gb@4 1g.5gb+me@6"}},
		{"no row of the GPU", []device.Device{instance("GPU-1", "1g.5gb", 3)}, []string{"GPU-1 " + a100 + " 0: 1g.5gb@3"}},
		{"unknown GPU", []device.Device{instance("", "1g.5gb", -1), gpu("GPU-0", true), instance("", "1g.5gb", -1)},
			[]string{" " + a100 + " 0: 1g.5gb@? 1g.5gb@?", "GPU-0 " + a100 + " 40960: "}},
		{"compute instances of one start", []device.Device{
			instance("GPU-1", "1c.3g.20gb", 4), instance("GPU-1", "2c.3g.20gb", 4), instance("GPU-1", "1c.3g.20gb", 0), instance("GPU-1", "1c.3g.20gb", 0)},
			[]string{"GPU-1 " + a100 + " 0: 3g.20gb@0 3g.20gb@4"}},
		{"compute instances of unknown start", []device.Device{
			instance("GPU-1", "1c.3g.20gb", -1), instance("GPU-1", "2c.3g.20gb", -1), instance("GPU-1", "1c.3g.20gb", -1)},
			[]string{"GPU-1 " + a100 + " 0: 3g.20gb@? 3g.20gb@?"}},
	} {
		n := device.Node{Devices: c.devices}
		if diff := cmp.Diff(c.want, placedTexts(&n)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.name, diff)
		}
	}
}

// Of the sources, labels know neither the GPU of an instance nor its start.
func TestPlacedSources(t *testing.T) {
	labels := readLabels(t, nil, device.Names{}, labelNode("n",
		"nvidia.com/gpu.product=A100 nvidia.com/gpu.count=2 nvidia.com/gpu.memory=40960",
		"nvidia.com/mig-3g.20gb=2 nvidia.com/mig-1g.5gb=1 nvidia.com/mig-x=1"))
	if diff := cmp.Diff([]string{" A100 0: 0g.0gb@? 1g.5gb@? 3g.20gb@? 3g.20gb@?"}, placedTexts(labels)); diff != "" {
		t.Errorf("labels (-want +got)\n%s", diff)
	}
	sliced := fromSlices(t, device.SliceOptions{}, sliceOf("n", 0, 1, 1, sliceGPU(0),
		sliceMIG("gpu-0-mig-3g20gb-9-4", "3g.20gb", text("parentUUID", "GPU-gpu-0"), capacity("memorySlice4", "1"))))
	got := placedTexts(&sliced.Nodes[0])
	if len(got) != 1 || !strings.HasSuffix(got[0], ": 3g.20gb@4") || !strings.HasPrefix(got[0], "GPU-gpu-0 ") {
		t.Errorf("slices: %q", got)
	}
}
