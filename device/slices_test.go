package device_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	sliceProduct = "NVIDIA H100 80GB HBM3"
	sliceCard    = "NVIDIA-H100-80GB-HBM3"
	slicePrefix  = "resource.kubernetes.io/"
)

// sliceEdit changes a device of a slice.
type sliceEdit func(*resourcev1.Device)

func text(name, value string) sliceEdit {
	return func(d *resourcev1.Device) {
		d.Attributes[resourcev1.QualifiedName(name)] = resourcev1.DeviceAttribute{StringValue: &value}
	}
}

func number(name string, value int64) sliceEdit {
	return func(d *resourcev1.Device) {
		d.Attributes[resourcev1.QualifiedName(name)] = resourcev1.DeviceAttribute{IntValue: &value}
	}
}

func without(name string) sliceEdit {
	return func(d *resourcev1.Device) {
		delete(d.Attributes, resourcev1.QualifiedName(name))
		delete(d.Capacity, resourcev1.QualifiedName(name))
	}
}

func capacity(name, value string) sliceEdit {
	return func(d *resourcev1.Device) {
		d.Capacity[resourcev1.QualifiedName(name)] = resourcev1.DeviceCapacity{Value: resource.MustParse(value)}
	}
}

func taint(effect resourcev1.DeviceTaintEffect) sliceEdit {
	return func(d *resourcev1.Device) {
		d.Taints = append(d.Taints, resourcev1.DeviceTaint{Key: "xid", Effect: effect})
	}
}

// consumes adds counters, pairs of a name and an amount, of a set.
func consumes(set string, pairs ...string) sliceEdit {
	return func(d *resourcev1.Device) {
		counters := map[string]resourcev1.Counter{}
		for i := 0; i < len(pairs); i += 2 {
			counters[pairs[i]] = resourcev1.Counter{Value: resource.MustParse(pairs[i+1])}
		}
		d.ConsumesCounters = append(d.ConsumesCounters, resourcev1.DeviceCounterConsumption{CounterSet: set, Counters: counters})
	}
}

// shareable lets pods allocate the device together.
func shareable(d *resourcev1.Device) {
	yes := true
	d.AllowMultipleAllocations = &yes
}

func deviceOnNode(name string) sliceEdit {
	return func(d *resourcev1.Device) { d.NodeName = &name }
}

// sliceDevice is a device of NVIDIA's driver.
func sliceDevice(name, kind, memory string, edits ...sliceEdit) resourcev1.Device {
	d := resourcev1.Device{
		Name:       name,
		Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{},
		Capacity:   map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{},
	}
	for _, edit := range append([]sliceEdit{text("type", kind), text("productName", sliceProduct), capacity("memory", memory)}, edits...) {
		edit(&d)
	}
	return d
}

func sliceGPU(minor int, edits ...sliceEdit) resourcev1.Device {
	name := fmt.Sprintf("gpu-%d", minor)
	return sliceDevice(name, "gpu", "81559Mi", append([]sliceEdit{text("uuid", "GPU-"+name)}, edits...)...)
}

func sliceMIG(name, profile string, edits ...sliceEdit) resourcev1.Device {
	return sliceDevice(name, "mig", "9856Mi", append([]sliceEdit{text("profile", profile)}, edits...)...)
}

// fromSlices reads slices of NVIDIA's driver.
func fromSlices(o device.Options, list ...*resourcev1.ResourceSlice) *device.Inventory {
	return testkit.Must(device.FromResourceSlices(list, nil, o))
}

// sliceOf is slice number i of the pool of a node.
func sliceOf(node string, i int, generation, count int64, devices ...resourcev1.Device) *resourcev1.ResourceSlice {
	return &resourcev1.ResourceSlice{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d-%d", node, generation, i)},
		Spec: resourcev1.ResourceSliceSpec{
			Driver:   "gpu.nvidia.com",
			Pool:     resourcev1.ResourcePool{Name: node, Generation: generation, ResourceSliceCount: count},
			NodeName: &node,
			Devices:  devices,
		},
	}
}

// changed returns the slice after a change.
func changed(s *resourcev1.ResourceSlice, change func(*resourcev1.ResourceSliceSpec)) *resourcev1.ResourceSlice {
	change(&s.Spec)
	return s
}

func noNode(s *resourcev1.ResourceSliceSpec) { s.NodeName = nil }

func perDevice(s *resourcev1.ResourceSliceSpec) {
	yes := true
	s.NodeName, s.PerDeviceNodeSelection = nil, &yes
}

func allNodes(s *resourcev1.ResourceSliceSpec) {
	yes := true
	s.NodeName, s.AllNodes = nil, &yes
}

func driver(name string) func(*resourcev1.ResourceSliceSpec) {
	return func(s *resourcev1.ResourceSliceSpec) { s.Driver = name }
}

// listing says what an inventory holds, a line for everything.
func listing(inv *device.Inventory) string {
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for _, n := range inv.Nodes {
		add("node %s", n.Name)
		for _, d := range n.Devices {
			line := d.Name
			if d.Profile != (vectormap.MIGProfile{}) {
				line += fmt.Sprintf(" %s@%d of %q", d.Profile, d.Start, d.ParentUUID)
			}
			if !d.Allocatable() {
				line += " in MIG mode"
			}
			if d.Partition != "" {
				line += " " + d.Partition
			}
			if d.Sharing == device.SharingConsumable || d.Replicas > 1 {
				line += fmt.Sprintf(" %s/%d", d.Sharing, d.Replicas)
			}
			if d.Health == device.Unhealthy {
				line += " unhealthy"
			}
			add("row %s", line)
		}
		for _, p := range n.Potential {
			add("potential %s %v", p.Name, p.Counters)
		}
		for _, c := range n.Consumable {
			add("capacity %v", c)
		}
		for _, c := range n.Cards {
			add("card %s %d", c.Name, c.Count)
		}
		for _, p := range n.Problems {
			add("%s %s", p.Code, p.Key)
		}
	}
	for _, p := range inv.Problems {
		add("no node: %s %s", p.Code, p.Key)
	}
	return strings.Join(lines, "\n")
}

func facts(lines ...string) string { return strings.Join(lines, "\n") }

func TestFromResourceSlices(t *testing.T) {
	type list = []*resourcev1.ResourceSlice
	for _, c := range []struct {
		name   string
		slices list
		want   string
	}{
		{"D1 the highest generation", list{
			sliceOf("a", 0, 1, 2, sliceGPU(0)),
			sliceOf("a", 1, 1, 2, sliceGPU(1)),
			sliceOf("a", 0, 2, 1, sliceGPU(0), sliceGPU(1), sliceGPU(2)),
		}, facts("node a", "row gpu-0", "row gpu-1", "row gpu-2", "card "+sliceCard+" 3", "stale-slice a")},
		{"D2 a slice is missing", list{
			sliceOf("a", 0, 1, 2, sliceGPU(0)),
			sliceOf("b", 0, 1, 1, sliceGPU(0, text("uuid", "GPU-b"))),
		}, facts("node a", "incomplete-pool a", "node b", "row gpu-0", "card "+sliceCard+" 1")},
		{"D3 a MIG instance", list{sliceOf("a", 0, 1, 1,
			sliceMIG("gpu-0-mig-3g20gb-9-4", "3g.20gb", text("parentUUID", "GPU-0"), capacity("memory", "19968Mi"),
				capacity("memorySlice7", "1"), capacity("memorySlice5", "1"), capacity("memorySlice4", "1"), capacity("memorySlice6", "1"))),
		}, facts("node a", `row gpu-0-mig-3g20gb-9-4 3g.20gb@4 of "GPU-0"`, "card "+sliceCard+"/mig-3g.20gb-mixed 1")},
		{"D4 what could be made", list{sliceOf("a", 0, 1, 1,
			sliceMIG("gpu-0-mig-2", "1g.10gb", consumes("gpu-0", "multiprocessors", "16", "memory", "9856Mi")),
			sliceMIG("gpu-0-mig-1", "1g.10gb", consumes("gpu-0", "memory-slice-1", "1"), consumes("engines", "copy", "1500m")),
			sliceMIG("gpu-0-mig-3", "7g.80gb", consumes("gpu-0")),
		)}, facts("node a", "potential gpu-0-mig-1 [{engines copy 2} {gpu-0 memory-slice-1 1}]",
			"potential gpu-0-mig-2 [{gpu-0 memory 10334765056} {gpu-0 multiprocessors 16}]",
			"potential gpu-0-mig-3 []", "only-partitions "+sliceCard)},
		{"D5 a taint and a UUID twice", list{sliceOf("a", 0, 1, 1,
			sliceGPU(0, taint("NoSchedule")), sliceGPU(1), sliceGPU(2, text("uuid", "GPU-gpu-1")),
		)}, facts("node a", "row gpu-0 unhealthy", "row gpu-1", "card "+sliceCard+" 1", "duplicate-uuid gpu-2")},

		{"nothing", nil, ""},
		{"a pool without devices", list{sliceOf("a", 0, 1, 1)}, "node a"},
		{"several slices", list{
			sliceOf("a", 1, 3, 3, sliceGPU(1)), sliceOf("a", 2, 3, 3), sliceOf("a", 0, 3, 3, sliceGPU(10), sliceGPU(2)),
		}, facts("node a", "row gpu-1", "row gpu-2", "row gpu-10", "card "+sliceCard+" 3")},
		{"more slices than the pool has", list{
			sliceOf("a", 0, 1, 1, sliceGPU(0)), sliceOf("a", 1, 1, 1, sliceGPU(1)),
		}, facts("node a", "incomplete-pool a")},
		{"slices disagree on their number, the first is right", list{
			sliceOf("a", 0, 1, 2, sliceGPU(0)), sliceOf("a", 1, 1, 3, sliceGPU(1)),
		}, facts("node a", "incomplete-pool a")},
		{"slices disagree on their number, the last is right", list{
			sliceOf("a", 0, 1, 1, sliceGPU(0)), sliceOf("a", 1, 1, 2, sliceGPU(1)),
		}, facts("node a", "incomplete-pool a")},
		{"the new generation is not whole, the old one was", list{
			sliceOf("a", 0, 1, 1, sliceGPU(0)), sliceOf("a", 0, 2, 2, sliceGPU(0)),
		}, facts("node a", "stale-slice a", "incomplete-pool a")},
		{"generations 0 and below", list{
			sliceOf("a", 0, 0, 1, sliceGPU(0)), sliceOf("a", 0, -1, 1, sliceGPU(1)),
		}, facts("node a", "row gpu-0", "card "+sliceCard+" 1", "stale-slice a")},
		{"an old slice names another node", list{
			sliceOf("a", 0, 2, 1, sliceGPU(0)),
			changed(sliceOf("b", 0, 1, 1, sliceGPU(1)), func(s *resourcev1.ResourceSliceSpec) { s.Pool.Name = "a" }),
		}, facts("node a", "row gpu-0", "card "+sliceCard+" 1", "stale-slice a")},
		{"pools of one name and several drivers", list{
			sliceOf("a", 0, 1, 1, sliceGPU(0)),
			changed(sliceOf("a", 1, 7, 9, sliceGPU(1)), driver("gpu.example.com")),
			changed(sliceOf("b", 1, 7, 9, sliceGPU(1)), driver("compute-domain.nvidia.com")),
		}, facts("node a", "row gpu-0", "card "+sliceCard+" 1")},
		{"two pools of a node", list{
			sliceOf("a", 0, 1, 1, sliceGPU(0)),
			changed(sliceOf("a", 1, 5, 1, sliceGPU(1)), func(s *resourcev1.ResourceSliceSpec) { s.Pool.Name = "more" }),
		}, facts("node a", "row gpu-0", "row gpu-1", "card "+sliceCard+" 2")},

		{"the device names its node", list{changed(sliceOf("pool", 0, 1, 1,
			sliceGPU(0, deviceOnNode("a")), sliceGPU(1, deviceOnNode("b")), sliceGPU(2, deviceOnNode("a")), sliceGPU(3), sliceGPU(4, deviceOnNode("")),
		), perDevice)}, facts("node a", "row gpu-0", "row gpu-2", "card "+sliceCard+" 2",
			"node b", "row gpu-1", "card "+sliceCard+" 1",
			"no node: not-node-local gpu-3", "no node: not-node-local gpu-4")},
		{"the node of the slice goes first", list{sliceOf("a", 0, 1, 1, sliceGPU(0, deviceOnNode("b")))},
			facts("node a", "row gpu-0", "card "+sliceCard+" 1")},
		{"all nodes, and a selector", list{
			changed(sliceOf("fabric", 0, 1, 1, sliceGPU(0), sliceGPU(1)), allNodes),
			changed(sliceOf("rack", 0, 1, 1, sliceGPU(0)), func(s *resourcev1.ResourceSliceSpec) {
				s.NodeName, s.NodeSelector = nil, &corev1.NodeSelector{}
			}),
			changed(sliceOf("shared counters", 0, 1, 1), allNodes),
		}, facts("no node: not-node-local fabric", "no node: not-node-local rack")},
		{"a pool of no node that isn't whole", list{
			changed(sliceOf("rack", 0, 2, 2, sliceGPU(0)), noNode), changed(sliceOf("rack", 0, 1, 1), noNode),
		}, facts("no node: not-node-local rack", "no node: stale-slice rack", "no node: incomplete-pool rack")},
		{"every node of a pool that isn't whole", list{changed(sliceOf("pool", 0, 1, 2,
			sliceGPU(0, deviceOnNode("a")), sliceGPU(1, deviceOnNode("b")), sliceGPU(2, deviceOnNode("a"))), perDevice),
		}, facts("node a", "incomplete-pool pool", "node b", "incomplete-pool pool")},

		{"taints", list{sliceOf("a", 0, 1, 1,
			sliceGPU(0, taint("None")), sliceGPU(1, taint("None"), taint("NoExecute")), sliceGPU(2, taint("PreferNoSchedule")),
			sliceMIG("gpu-3-mig-0", "1g.10gb", taint("NoSchedule")),
		)}, facts("node a", `row gpu-3-mig-0 1g.10gb@-1 of "" unhealthy`, "row gpu-0", "row gpu-1 unhealthy", "row gpu-2", "card "+sliceCard+" 2")},
		{"types", list{sliceOf("a", 0, 1, 1,
			sliceGPU(0, text("type", "vgpu")), sliceGPU(1, without("type")), sliceGPU(2, number("type", 1)), sliceGPU(3, text("type", "GPU")), sliceGPU(4),
		)}, facts("node a", "row gpu-4", "card "+sliceCard+" 1",
			"unknown-type gpu-0", "unknown-type gpu-1", "missing-label type", "unknown-type gpu-2", "unknown-type gpu-3")},
		{"UUIDs on two nodes, in two pools, and empty ones", list{
			sliceOf("b", 0, 1, 1, sliceGPU(1), sliceGPU(5, text("uuid", ""))),
			sliceOf("a", 0, 1, 1, sliceGPU(1), sliceGPU(5, text("uuid", "")), sliceGPU(6, without("uuid"))),
			changed(sliceOf("a", 1, 5, 1, sliceGPU(1)), func(s *resourcev1.ResourceSliceSpec) { s.Pool.Name = "c" }),
		}, facts("node a", "row gpu-1", "row gpu-5", "row gpu-6", "card "+sliceCard+" 3", "duplicate-uuid gpu-1",
			"node b", "row gpu-5", "card "+sliceCard+" 1", "duplicate-uuid gpu-1")},
		{"a UUID in two slices of a pool", list{
			sliceOf("a", 0, 1, 2, sliceGPU(1)), sliceOf("a", 1, 1, 2, sliceGPU(0, text("uuid", "GPU-gpu-1"))),
		}, facts("node a", "row gpu-0", "card "+sliceCard+" 1", "duplicate-uuid gpu-1")},

		{"a GPU that could be cut counts once", list{sliceOf("a", 0, 1, 1,
			sliceGPU(0, consumes("gpu-0", "memory", "80Gi")),
			sliceMIG("gpu-0-mig-0", "1g.10gb", text("parentUUID", "GPU-gpu-0"), consumes("gpu-0", "memory", "10Gi")),
		)}, facts("node a", "row gpu-0", "potential gpu-0-mig-0 [{gpu-0 memory 10737418240}]", "card "+sliceCard+" 1")},
		{"a GPU with instances is in MIG mode", list{sliceOf("a", 0, 1, 1,
			sliceGPU(0), sliceGPU(1), sliceMIG("gpu-0-mig-0", "1g.10gb+me", text("parentUUID", "GPU-gpu-0"), capacity("gpu.nvidia.com/memorySlice0", "1")),
		)}, facts("node a", `row gpu-0-mig-0 1g.10gb+me@0 of "GPU-gpu-0"`, "row gpu-0 in MIG mode", "row gpu-1",
			"card "+sliceCard+" 1", "card "+sliceCard+"/mig-1g.10gb.me-mixed 1")},
		{"profiles", list{sliceOf("a", 0, 1, 1,
			sliceMIG("m-0", "1g.10gb.me"), sliceMIG("m-1", "1g.10gb111"), sliceMIG("m-2", ""), sliceMIG("m-3", "1g.10gb", number("profile", 19)),
			sliceMIG("m-4", "1c.3g.40gb"), sliceMIG("m-5", "large", consumes("gpu-0", "memory", "1")),
		)}, facts("node a", `row m-0 1g.10gb+me@-1 of ""`, `row m-4 1c.3g.40gb@-1 of ""`, "potential m-5 [{gpu-0 memory 1}]",
			"card "+sliceCard+"/mig-1c.3g.40gb-mixed 1", "card "+sliceCard+"/mig-1g.10gb.me-mixed 1",
			"unparsed-profile m-1", "unparsed-profile m-2", "missing-label profile", "unparsed-profile m-3", "unparsed-profile m-5", "only-partitions "+sliceCard)},
		{"products", list{sliceOf("a", 0, 1, 1,
			sliceGPU(0, without("productName")), sliceGPU(1, text("productName", "")), sliceGPU(2, number("productName", 100)), sliceGPU(3),
		)}, facts("node a", "row gpu-0", "row gpu-1", "row gpu-2", "row gpu-3", "card "+sliceCard+" 1",
			"missing-label productName", "missing-label gpu-0", "missing-label gpu-1", "missing-label gpu-2")},
		{"attributes of the wrong type", list{sliceOf("a", 0, 1, 1, sliceGPU(0,
			number("uuid", 1), number(slicePrefix+"pcieRoot", 2), text(slicePrefix+"numaNode", "0"),
		), sliceGPU(1, number("uuid", 1)))}, facts("node a", "row gpu-0", "row gpu-1", "card "+sliceCard+" 2",
			"missing-label uuid", "missing-label "+slicePrefix+"numaNode", "missing-label "+slicePrefix+"pcieRoot")},
	} {
		t.Run(c.name, func(t *testing.T) {
			wantEqual(t, "", c.want, listing(fromSlices(device.Options{}, c.slices...)))
		})
	}
}

// Every field of a row.
func TestFromResourceSlicesFields(t *testing.T) {
	whole := sliceGPU(3, number(slicePrefix+"numaNode", 1), text(slicePrefix+"pciBusID", "0000:65:00.0"), text(slicePrefix+"pcieRoot", "pci0000:64"))
	mig := sliceMIG("gpu-0-mig-3g20gb-9-4", "3g.20gb", text("uuid", "MIG-1"), text("parentUUID", "GPU-0"),
		capacity("memory", "19968Mi"), capacity("memorySlice4", "1"), capacity("memorySlice5", "1"))
	inv := fromSlices(device.Options{}, sliceOf("a", 0, 1, 1, whole, mig))
	profile, _, _ := vectormap.ParseMIG("3g.20gb")
	want := []device.Node{{
		Name:   "a",
		Source: device.SourceResourceSlices,
		Devices: []device.Device{{
			Kind: "gpu", Name: "gpu-0-mig-3g20gb-9-4", Vendor: "nvidia.com", Product: sliceCard, UUID: "MIG-1",
			Minor: -1, MemoryBytes: 20937965568, Sharing: device.SharingMIG, Replicas: 1,
			Profile: profile, Start: 4, Slots: 0b11_0000, ParentUUID: "GPU-0", NUMANode: -1, Health: device.Healthy,
		}, {
			Kind: "gpu", Name: "gpu-3", Vendor: "nvidia.com", Product: sliceCard, UUID: "GPU-gpu-3",
			Minor: 3, MemoryBytes: 85520809984, Replicas: 1, Start: -1,
			NUMANode: 1, PCIBusID: "0000:65:00.0", PCIeRoot: "pci0000:64", Health: device.Healthy,
		}},
		Cards: []device.Card{{Name: sliceCard, Count: 1}, {Name: sliceCard + "/mig-3g.20gb-mixed", Count: 1}},
	}}
	wantEqual(t, "", want, inv.Nodes)

	potential := sliceMIG("gpu-3-mig-0", "1g.10gb", text("parentUUID", "GPU-gpu-3"), consumes("gpu-3", "memory", "9856Mi"))
	inv = fromSlices(device.Options{}, sliceOf("a", 0, 1, 1, potential))
	profile, _, _ = vectormap.ParseMIG("1g.10gb")
	partitions := []device.Partition{{
		Device: device.Device{Kind: device.KindGPU, Name: "gpu-3-mig-0", Vendor: "nvidia.com", Product: sliceCard,
			Minor: -1, MemoryBytes: 10334765056, Sharing: device.SharingMIG, Replicas: 1, Profile: profile, Start: -1, ParentUUID: "GPU-gpu-3",
			NUMANode: -1, Health: device.Healthy},
		Counters: []device.Counter{{Set: "gpu-3", Name: "memory", Value: 10334765056}},
	}}
	wantEqual(t, "", partitions, inv.Nodes[0].Potential)
}

func TestFromResourceSlicesNumbers(t *testing.T) {
	for _, c := range []struct {
		name, memory string
		bytes        int64
		bad          bool
	}{
		{"gpu-0", "64Mi", 64 << 20, false},
		{"gpu-1", "67108863", 0, true},
		{"gpu-2", "4Ti", 4 << 40, false},
		{"gpu-3", "4398046511105", 0, true},
		{"gpu-4", "0", 0, true},
		{"gpu-5", "-80Gi", 0, true},
		{"gpu-6", "1.5Gi", 3 << 29, false},
		{"gpu-7", "80Ei", 0, true},
		{"gpu-8", "85520809983500m", 85520809984, false},
		{"gpu-9", "80e9", 80e9, false},
	} {
		inv := fromSlices(device.Options{}, sliceOf("a", 0, 1, 1, sliceDevice(c.name, "gpu", c.memory)))
		var want []device.Problem
		if c.bad {
			want = []device.Problem{{Code: "bad-memory", Key: c.name}}
		}
		got := inv.Nodes[0]
		for i := range got.Problems {
			got.Problems[i].Detail = ""
		}
		if got.Devices[0].MemoryBytes != c.bytes || !slices.Equal(got.Problems, want) || len(got.Cards) != 1 {
			t.Errorf("memory %s: %d bytes, problems %v, cards %v", c.memory, got.Devices[0].MemoryBytes, got.Problems, got.Cards)
		}
	}
	unknown := fromSlices(device.Options{}, sliceOf("a", 0, 1, 1, sliceGPU(0, without("memory")))).Nodes[0]
	if unknown.Devices[0].MemoryBytes != 0 || len(unknown.Problems) > 0 || unknown.Cards[0].Count != 1 {
		t.Errorf("without memory: %+v", unknown)
	}

	for _, c := range []struct {
		amount *resource.Quantity
		want   int64
	}{
		{resource.NewScaledQuantity(1, 30), math.MaxInt64},
		{resource.NewScaledQuantity(-1, 30), math.MinInt64},
		{resource.NewMilliQuantity(1001, resource.DecimalSI), 2},
		{resource.NewQuantity(0, resource.DecimalSI), 0},
	} {
		d := sliceMIG("m", "1g.10gb", consumes("gpu-0", "memory", "1"))
		d.ConsumesCounters[0].Counters["memory"] = resourcev1.Counter{Value: *c.amount}
		got := fromSlices(device.Options{}, sliceOf("a", 0, 1, 1, d)).Nodes[0].Potential[0].Counters[0].Value
		if got != c.want {
			t.Errorf("counter %s is %d, not %d", c.amount, got, c.want)
		}
	}

	for name, want := range map[string]int32{
		"gpu-0": 0, "gpu-12": 12, "gpu-2147483647": math.MaxInt32,
		"gpu-": -1, "gpu-2147483648": -1, "gpu-01": -1, "gpu-+1": -1, "gpu--1": -1, "gpu-1a": -1, "gpu1": -1, "agpu-1": -1, "gpu-0-mig-1": -1,
	} {
		if got := oneRow(t, sliceDevice(name, "gpu", "80Gi")).Minor; got != want {
			t.Errorf("minor of %q is %d, not %d", name, got, want)
		}
	}
	for value, want := range map[int64]int32{-2: -1, -1: -1, 0: 0, 7: 7, math.MaxInt32: math.MaxInt32, math.MaxInt32 + 1: -1, math.MinInt64: -1} {
		if got := oneRow(t, sliceGPU(0, number(slicePrefix+"numaNode", value))).NUMANode; got != want {
			t.Errorf("NUMA node %d is %d, not %d", value, got, want)
		}
	}
	for _, c := range []struct {
		capacities []string
		want       int8
		beyond     string // the slot that no GPU has
	}{
		{nil, -1, ""},
		{[]string{"memorySlice0"}, 0, ""},
		{[]string{"memorySlice10", "memorySlice9"}, 9, ""},
		{[]string{"memorySlice31", "memorySlice32"}, 31, "memorySlice32"},
		{[]string{"memorySlice", "memorySlices", "memorySlice-1", "memorySlice03", "memoryslice1", "other.com/memorySlice2"}, -1, ""},
		{[]string{"memorySlice128"}, -1, "memorySlice128"},
		{[]string{"memorySlice127", "memorySlice99999999999"}, 127, "memorySlice99999999999"},
		{[]string{"memorySlice1", "memorySlice99999999999999999998", "memorySlice99999999999999999999"}, 1, "memorySlice99999999999999999999"},
		{[]string{"gpu.nvidia.com/memorySlice6", "memorySlice7"}, 6, ""},
	} {
		mig := sliceMIG("m", "1g.10gb")
		for _, name := range c.capacities {
			capacity(name, "1")(&mig)
		}
		if got := oneRow(t, mig).Start; got != c.want {
			t.Errorf("start of %q is %d, not %d", c.capacities, got, c.want)
		}
		beyond := ""
		for _, p := range fromSlices(device.Options{}, sliceOf("a", 0, 1, 1, mig)).Nodes[0].Problems {
			if p.Code == "bad-slots" {
				beyond, _, _ = strings.Cut(p.Detail, ":")
			}
		}
		if beyond != c.beyond {
			t.Errorf("%q: slot %q is a problem, not %q", c.capacities, beyond, c.beyond)
		}
	}
}

func oneRow(t *testing.T, d resourcev1.Device) device.Device {
	t.Helper()
	rows := fromSlices(device.Options{}, sliceOf("a", 0, 1, 1, d)).Nodes[0].Devices
	if len(rows) != 1 {
		t.Fatalf("%d rows", len(rows))
	}
	return rows[0]
}

// A slice may write the names of the driver's own domain with it or without.
func TestFromResourceSlicesQualifiedNames(t *testing.T) {
	want := oneRow(t, sliceGPU(0))
	qualified := sliceGPU(0)
	for _, name := range []string{"type", "uuid", "productName"} {
		text("gpu.nvidia.com/"+name, *qualified.Attributes[resourcev1.QualifiedName(name)].StringValue)(&qualified)
		without(name)(&qualified)
		text("example.com/"+name, "something else")(&qualified)
	}
	capacity("gpu.nvidia.com/memory", "81559Mi")(&qualified)
	without("memory")(&qualified)
	if got := oneRow(t, qualified); got != want {
		t.Errorf("%+v, not %+v", got, want)
	}

	foreign := sliceGPU(0, number("numaNode", 1), text("pcieRoot", "pci0000:00"), text("gpu.nvidia.com/pciBusID", "0000:65:00.0"))
	if got := oneRow(t, foreign); got != want {
		t.Errorf("names of another domain: %+v, not %+v", got, want)
	}
}

// Another driver is configuration.
func TestFromResourceSlicesDrivers(t *testing.T) {
	amd := device.Driver{
		Name: "gpu.amd.com", Vendor: "amd.com",
		Type: "type", WholeType: "amdgpu",
		UUID: "gpu.amd.com/deviceID", Product: "productName", PCIeRoot: "resource.kubernetes.io/pcieRoot", Memory: "memory",
	}
	nic := device.Driver{Name: "dra.net", Vendor: "mellanox.com", Kind: device.KindRDMA, Product: "dra.net/model", NUMANode: "numaNode", MinorPrefix: "rdma"}
	list := []*resourcev1.ResourceSlice{
		changed(sliceOf("a", 0, 1, 1,
			sliceDevice("gpu-7", "amdgpu", "192Gi", text("productName", "AMD Instinct MI300X"), text("deviceID", "x"), text(slicePrefix+"pcieRoot", "pci0000:00")),
			sliceDevice("gpu-8", "", "192Gi"), sliceDevice("gpu-9", "mig", "192Gi")), driver("gpu.amd.com")),
		changed(sliceOf("a", 1, 1, 1,
			sliceDevice("rdma1", "anything", "1Gi", text("model", "ConnectX 7"), number("numaNode", 1))), driver("dra.net")),
		sliceOf("a", 2, 1, 1, sliceGPU(0)),
	}
	inv, err := device.FromResourceSlices(list, []device.Driver{nic, amd}, device.Options{
		Names: device.Names{Resources: map[string]corev1.ResourceName{"AMD-Instinct-MI300X": "amd.com/gpu"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []device.Device{
		{Kind: "gpu", Name: "gpu-7", Vendor: "amd.com", Product: "AMD-Instinct-MI300X", UUID: "x", Minor: -1, MemoryBytes: 192 << 30, Replicas: 1, Start: -1, NUMANode: -1, PCIeRoot: "pci0000:00", Health: device.Healthy},
		{Kind: "rdma", Name: "rdma1", Vendor: "mellanox.com", Product: "ConnectX-7", Minor: 1, Replicas: 1, Start: -1, NUMANode: 1, Health: device.Healthy},
	}
	wantEqual(t, "", want, inv.Nodes[0].Devices)
	cards := []device.Card{{Name: "AMD-Instinct-MI300X", Resource: "amd.com/gpu", Count: 1}, {Name: "ConnectX-7", Count: 1}}
	wantEqual(t, "", cards, inv.Nodes[0].Cards)
	codes := facts("unknown-type gpu-8", "unknown-type gpu-9")
	if got := listing(&device.Inventory{Nodes: []device.Node{{Problems: inv.Nodes[0].Problems}}}); !strings.HasSuffix(got, codes) {
		t.Errorf("problems: %s", got)
	}
	inv, err = device.FromResourceSlices(list, []device.Driver{}, device.Options{})
	if err != nil || len(inv.Nodes) > 0 || len(inv.Problems) > 0 {
		t.Errorf("without drivers: %s, %v", listing(inv), err)
	}
	inv = testkit.Must(device.FromResourceSlices(append(list, list[1]), []device.Driver{amd}, device.Options{ReportUnlisted: true}))
	unlisted := []device.Problem{
		{Code: "unlisted", Key: "dra.net", Detail: "a driver that is not among those to read; slices: 2"},
		{Code: "unlisted", Key: "gpu.nvidia.com", Detail: "a driver that is not among those to read; slices: 1"},
	}
	wantEqual(t, "", unlisted, inv.Problems)
}

func TestFromResourceSlicesAllowIncomplete(t *testing.T) {
	list := []*resourcev1.ResourceSlice{sliceOf("a", 0, 1, 2, sliceGPU(0)), sliceOf("a", 0, 0, 1, sliceGPU(1))}
	got := listing(fromSlices(device.Options{AllowIncomplete: true}, list...))
	wantEqual(t, "", facts("node a", "row gpu-0", "card "+sliceCard+" 1", "stale-slice a", "incomplete-pool a"), got)
	// As an informer has them and as a list has them.
	inv := testkit.Must(device.FromResourceSlices([]resourcev1.ResourceSlice{*list[0], *list[1]}, nil, device.Options{AllowIncomplete: true}))
	wantEqual(t, "", got, listing(inv))
}

// The order of slices, and of devices in them, says nothing.
func TestFromResourceSlicesOrder(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 5))
		list := randomSlices(rng)
		want := fromSlices(device.Options{AllowIncomplete: seed%2 == 0}, list...)
		rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		for _, s := range list {
			d := s.Spec.Devices
			rng.Shuffle(len(d), func(i, j int) { d[i], d[j] = d[j], d[i] })
		}
		if diff := cmp.Diff(want, fromSlices(device.Options{AllowIncomplete: seed%2 == 0}, list...)); diff != "" {
			t.Fatalf("seed %d: %s", seed, diff)
		}
	}
}

func TestFromResourceSlicesDriverFaults(t *testing.T) {
	for _, c := range []struct {
		name    string
		drivers []device.Driver
		want    []string // error type and field
	}{
		{"the defaults", device.DefaultDrivers(), nil},
		{"a name is enough", []device.Driver{{Name: "a"}, {Name: "b", Kind: "rdma"}}, nil},
		{"instances only", []device.Driver{{Name: "a", Type: "type", MIGType: "mig"}}, nil},
		{"all at once", []device.Driver{{}, {Name: "a", Kind: "npu"}, {Name: "a", Type: "type"}}, []string{
			"FieldValueRequired drivers[0].name", "FieldValueNotSupported drivers[1].kind",
			"FieldValueDuplicate drivers[2].name", "FieldValueRequired drivers[2].wholeType",
		}},
		{"no attribute for a type", []device.Driver{{Name: "a", WholeType: "gpu"}}, []string{"FieldValueRequired drivers[0].type"}},
		{"a partition of no type, and of the type of another", []device.Driver{{Name: "a", PartitionType: "p"}, {Name: "b", Type: "type", WholeType: "gpu", PartitionType: "gpu"}}, []string{"FieldValueRequired drivers[0].type", "FieldValueDuplicate drivers[1].partitionType"}},
		{"one type for both", []device.Driver{{Name: "a", Type: "type", WholeType: "gpu", MIGType: "gpu"}}, []string{"FieldValueDuplicate drivers[0].migType"}},
	} {
		inv, err := device.FromResourceSlices([]*resourcev1.ResourceSlice{}, c.drivers, device.Options{})
		var got []string
		if err != nil {
			for _, e := range err.(utilerrors.Aggregate).Errors() {
				e := e.(*field.Error)
				got = append(got, string(e.Type)+" "+e.Field)
			}
		}
		if !slices.Equal(got, c.want) || (inv == nil) != (err != nil) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
