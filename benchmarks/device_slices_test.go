package benchmarks

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/resvec/resvec/benchmarks/internal/stopwatch"
	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/internal/testkit"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BenchmarkInventorySlices reads the ResourceSlices of a cluster, in the order of no list,
// and names its cards. The baseline is the loop that one writes first, with a map for each
// question. It makes the same rows and cards, in no order, and no problems.
//
//	ns/node       of FromResourceSlices
//	maps-ns/node  of the loop
//	x_maps        how many times as fast FromResourceSlices is
func BenchmarkInventorySlices(b *testing.B) {
	const nodes, devices = 5000, 8
	list := slicesOfCluster(nodes, devices)
	var inv *device.Inventory
	var maps map[string]*sliceMaps
	ours := stopwatch.New(1, func(int) {
		inv = testkit.Must(device.FromResourceSlices(list, nil, device.Options{}))
	})
	loop := stopwatch.New(1, func(int) { maps = readSliceMaps(list) })
	b.Run(fmt.Sprintf("nodes=%d/devices=%d", nodes, devices), func(b *testing.B) {
		alternate(b, ours, loop)
		checkSliceMaps(b, inv, maps)
		b.ReportMetric(ours.Best/nodes, "ns/node")
		b.ReportMetric(loop.Best/nodes, "maps-ns/node")
		b.ReportMetric(loop.Best/ours.Best, "x_maps")
	})
}

// slicesOfCluster returns a slice for each node, as NVIDIA's driver writes them.
func slicesOfCluster(nodes, devices int) []*resourcev1.ResourceSlice {
	products := []string{"NVIDIA H100 80GB HBM3", "NVIDIA A100-SXM4-80GB", "NVIDIA B200"}
	var list []*resourcev1.ResourceSlice
	for i := range nodes {
		node := fmt.Sprintf("node-%05d", i)
		s := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: node + "-gpu.nvidia.com-x7k2p"}}
		s.Spec.Driver, s.Spec.NodeName = "gpu.nvidia.com", &node
		s.Spec.Pool = resourcev1.ResourcePool{Name: node, Generation: int64(1 + i%3), ResourceSliceCount: 1}
		for k := range devices {
			s.Spec.Devices = append(s.Spec.Devices, sliceDevice(i, k, products[i%len(products)]))
		}
		list = append(list, s)
	}
	random(7).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

func sliceDevice(node, k int, product string) resourcev1.Device {
	text := func(s string) resourcev1.DeviceAttribute { return resourcev1.DeviceAttribute{StringValue: &s} }
	numa := int64(k / 4)
	d := resourcev1.Device{
		Name: fmt.Sprintf("gpu-%d", k),
		Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
			"type":                            text("gpu"),
			"uuid":                            text(fmt.Sprintf("GPU-%08x-1c0f-4e6b-9a1b-%012x", node, k)),
			"productName":                     text(product),
			"brand":                           text("Nvidia"),
			"architecture":                    text("Hopper"),
			"resource.kubernetes.io/pciBusID": text(fmt.Sprintf("0000:%02x:00.0", 16*k+1)),
			"resource.kubernetes.io/pcieRoot": text(fmt.Sprintf("pci0000:%02x", 16*k)),
			"resource.kubernetes.io/numaNode": {IntValue: &numa},
		},
		Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{
			"memory": {Value: resource.MustParse("81559Mi")},
		},
	}
	if (node+k)%500 == 0 {
		d.Taints = []resourcev1.DeviceTaint{{Key: "xid", Effect: resourcev1.DeviceTaintEffectNoSchedule}}
	}
	return d
}

// sliceMaps is a node as maps.
type sliceMaps struct {
	devices map[string]*sliceRow
	cards   map[string]int64
}

type sliceRow struct {
	product, uuid, busID, root string
	minor, numa, memory        int64
	healthy                    bool
}

func readSliceMaps(list []*resourcev1.ResourceSlice) map[string]*sliceMaps {
	pools := map[string][]*resourcev1.ResourceSlice{}
	for _, s := range list {
		if s.Spec.Driver != "gpu.nvidia.com" {
			continue
		}
		pool := pools[s.Spec.Pool.Name]
		switch {
		case len(pool) == 0 || s.Spec.Pool.Generation > pool[0].Spec.Pool.Generation:
			pools[s.Spec.Pool.Name] = []*resourcev1.ResourceSlice{s}
		case s.Spec.Pool.Generation == pool[0].Spec.Pool.Generation:
			pools[s.Spec.Pool.Name] = append(pool, s)
		}
	}
	nodes, uuids := map[string]*sliceMaps{}, map[string]bool{}
	for _, pool := range pools {
		if int64(len(pool)) != pool[0].Spec.Pool.ResourceSliceCount {
			continue
		}
		for _, s := range pool {
			for i := range s.Spec.Devices {
				addSliceRow(nodes, uuids, *s.Spec.NodeName, &s.Spec.Devices[i])
			}
		}
	}
	return nodes
}

func addSliceRow(nodes map[string]*sliceMaps, uuids map[string]bool, name string, d *resourcev1.Device) {
	text := func(name resourcev1.QualifiedName) string {
		if a := d.Attributes[name]; a.StringValue != nil {
			return *a.StringValue
		}
		return ""
	}
	if text("type") != "gpu" || uuids[text("uuid")] {
		return
	}
	uuids[text("uuid")] = true
	row := &sliceRow{
		product: strings.ReplaceAll(text("productName"), " ", "-"), uuid: text("uuid"),
		busID: text("resource.kubernetes.io/pciBusID"), root: text("resource.kubernetes.io/pcieRoot"),
		numa: -1, minor: -1, healthy: true,
	}
	if a := d.Attributes["resource.kubernetes.io/numaNode"]; a.IntValue != nil {
		row.numa = *a.IntValue
	}
	if c, ok := d.Capacity["memory"]; ok {
		row.memory = c.Value.Value()
	}
	if minor, err := strconv.ParseInt(strings.TrimPrefix(d.Name, "gpu-"), 10, 32); err == nil {
		row.minor = minor
	}
	for _, t := range d.Taints {
		if t.Effect == resourcev1.DeviceTaintEffectNoSchedule || t.Effect == resourcev1.DeviceTaintEffectNoExecute {
			row.healthy = false
		}
	}
	n := nodes[name]
	if n == nil {
		n = &sliceMaps{devices: map[string]*sliceRow{}, cards: map[string]int64{}}
		nodes[name] = n
	}
	n.devices[d.Name] = row
	if row.healthy {
		n.cards[row.product]++
	}
}

// checkSliceMaps compares the two forms.
func checkSliceMaps(b *testing.B, inv *device.Inventory, maps map[string]*sliceMaps) {
	b.Helper()
	if len(inv.Nodes) != len(maps) || len(inv.Problems) > 0 {
		b.Fatalf("%d nodes and %d", len(inv.Nodes), len(maps))
	}
	for _, n := range inv.Nodes {
		m := maps[n.Name]
		if len(n.Devices) != len(m.devices) || len(n.Cards) != len(m.cards) || len(n.Problems) > 0 {
			b.Fatalf("node %s: %+v and %+v", n.Name, n, m)
		}
		for _, d := range n.Devices {
			row := sliceRow{d.Product, d.UUID, d.PCIBusID, d.PCIeRoot, int64(d.Minor), int64(d.NUMANode), d.MemoryBytes, d.Health != device.Unhealthy}
			if row != *m.devices[d.Name] {
				b.Fatalf("node %s: %+v and %+v", n.Name, row, m.devices[d.Name])
			}
		}
		for _, c := range n.Cards {
			if m.cards[c.Name] != c.Count {
				b.Fatalf("node %s: %+v and %d", n.Name, c, m.cards[c.Name])
			}
		}
	}
}
