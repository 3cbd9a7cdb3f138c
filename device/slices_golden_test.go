package device_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/internal/quantity"
	"github.com/resvec/resvec/vectormap"
	resourcev1 "k8s.io/api/resource/v1"
)

// goldenCards counts the cards of nodes from slices of NVIDIA's driver, slowly:
// it asks every device of every slice whether it counts.
func goldenCards(list []*resourcev1.ResourceSlice) map[string]map[string]int64 {
	cards := map[string]map[string]int64{}
	for _, s := range list {
		for i := range s.Spec.Devices {
			d := &s.Spec.Devices[i]
			if !goldenCounts(list, s, d) {
				continue
			}
			name := strings.ReplaceAll(goldenText(d, "productName"), " ", "-")
			if goldenText(d, "type") == "mig" {
				name += "/mig-" + strings.ReplaceAll(goldenText(d, "profile"), "+", ".") + "-mixed"
			}
			node := goldenNode(s, d)
			if cards[node] == nil {
				cards[node] = map[string]int64{}
			}
			cards[node][name]++
		}
	}
	return cards
}

func goldenCounts(list []*resourcev1.ResourceSlice, s *resourcev1.ResourceSlice, d *resourcev1.Device) bool {
	kind := goldenText(d, "type")
	return goldenCurrent(list, s) && goldenNode(s, d) != "" &&
		(kind == "gpu" || kind == "mig" && len(d.ConsumesCounters) == 0) &&
		!slices.ContainsFunc(d.Taints, func(t resourcev1.DeviceTaint) bool { return t.Effect == "NoSchedule" || t.Effect == "NoExecute" }) &&
		goldenFirst(list, s, d)
}

// goldenCurrent says whether the slice is of a whole pool's highest generation.
func goldenCurrent(list []*resourcev1.ResourceSlice, s *resourcev1.ResourceSlice) bool {
	var n int64
	for _, o := range list {
		if o.Spec.Driver != s.Spec.Driver || o.Spec.Pool.Name != s.Spec.Pool.Name {
			continue
		}
		if o.Spec.Pool.Generation > s.Spec.Pool.Generation {
			return false
		}
		if o.Spec.Pool.Generation == s.Spec.Pool.Generation {
			if o.Spec.Pool.ResourceSliceCount != s.Spec.Pool.ResourceSliceCount {
				return false
			}
			n++
		}
	}
	return s.Spec.Driver == "gpu.nvidia.com" && n == s.Spec.Pool.ResourceSliceCount
}

// goldenFirst says whether no row before this one has its UUID.
func goldenFirst(list []*resourcev1.ResourceSlice, s *resourcev1.ResourceSlice, d *resourcev1.Device) bool {
	for _, o := range list {
		for i := range o.Spec.Devices {
			before := &o.Spec.Devices[i]
			kind := goldenText(before, "type")
			isRow := kind == "gpu" || kind == "mig" && len(before.ConsumesCounters) == 0
			if before != d && isRow && goldenText(before, "uuid") == goldenText(d, "uuid") &&
				goldenKey(o, before) < goldenKey(s, d) && goldenNode(o, before) != "" && goldenCurrent(list, o) {
				return false
			}
		}
	}
	return true
}

func goldenKey(s *resourcev1.ResourceSlice, d *resourcev1.Device) string {
	return fmt.Sprintf("%-10s %3d %s", s.Spec.Pool.Name, len(d.Name), d.Name)
}

func goldenNode(s *resourcev1.ResourceSlice, d *resourcev1.Device) string {
	for _, name := range []*string{s.Spec.NodeName, d.NodeName} {
		if name != nil {
			return *name
		}
	}
	return ""
}

func goldenText(d *resourcev1.Device, name string) string {
	if a := d.Attributes[resourcev1.QualifiedName(name)]; a.StringValue != nil {
		return *a.StringValue
	}
	return ""
}

// randomSlices is a small cluster in which everything goes wrong now and then.
func randomSlices(rng *rand.Rand) []*resourcev1.ResourceSlice {
	var list []*resourcev1.ResourceSlice
	for pool := range 1 + rng.IntN(5) {
		name := fmt.Sprintf("pool-%d", pool)
		count, generation := 1+rng.IntN(3), int64(rng.IntN(3))
		next := 0
		for i := range count {
			var devices []resourcev1.Device
			for range rng.IntN(5) {
				devices = append(devices, randomDevice(rng, next))
				next++
			}
			s := sliceOf(fmt.Sprintf("node-%d", rng.IntN(2)+pool), i, generation, int64(count), devices...)
			s.Spec.Pool.Name, s.Name = name, fmt.Sprintf("%s-%d", name, i)
			switch rng.IntN(12) {
			case 0:
				s.Spec.Pool.Generation--
			case 1:
				s.Spec.Pool.ResourceSliceCount++
			case 2:
				perDevice(&s.Spec)
			case 3:
				allNodes(&s.Spec)
			case 4:
				s.Spec.Driver = "gpu.example.com"
			}
			list = append(list, s)
		}
	}
	return list
}

func randomDevice(rng *rand.Rand, i int) resourcev1.Device {
	id := text("uuid", fmt.Sprintf("GPU-%d", rng.IntN(40)))
	edits := []sliceEdit{id}
	for _, edit := range []sliceEdit{
		deviceOnNode(fmt.Sprintf("node-%d", rng.IntN(4))),
		text("productName", "NVIDIA B200"),
		taint("NoSchedule"), taint("None"),
		consumes("gpu-0", "memory", "1Gi"),
		capacity("memory", "1Ki"), without("memory"),
		number(slicePrefix+"numaNode", int64(rng.IntN(4))), text(slicePrefix+"numaNode", "0"),
	} {
		if rng.IntN(5) == 0 {
			edits = append(edits, edit)
		}
	}
	switch rng.IntN(8) {
	case 0:
		edits = append(edits, text("type", "vfio"))
	case 1, 2, 3:
		return sliceMIG(fmt.Sprintf("gpu-%d-mig", i), []string{"1g.10gb", "1g.10gb+me", "3g.40gb"}[rng.IntN(3)], edits...)
	}
	return sliceDevice(fmt.Sprintf("gpu-%d", i), "gpu", "80Gi", edits...)
}

func cardsOf(inv *device.Inventory) map[string]map[string]int64 {
	cards := map[string]map[string]int64{}
	for _, n := range inv.Nodes {
		for _, c := range n.Cards {
			if cards[n.Name] == nil {
				cards[n.Name] = map[string]int64{}
			}
			cards[n.Name][c.Name] = c.Count
		}
	}
	return cards
}

func TestFromResourceSlicesGolden(t *testing.T) {
	total := 0
	for seed := range uint64(2000) {
		list := randomSlices(rand.New(rand.NewPCG(seed, 9)))
		inv := fromSlices(device.Options{}, list...)
		checkInventory(t, inv)
		if diff := cmp.Diff(goldenCards(list), cardsOf(inv)); diff != "" {
			t.Fatalf("seed %d: %s", seed, diff)
		}
		for _, n := range inv.Nodes {
			total += len(n.Cards)
		}
	}
	if total < 2000 {
		t.Errorf("%d cards are no test", total)
	}
}

// checkInventory checks what holds of every inventory from slices.
func checkInventory(t *testing.T, inv *device.Inventory) {
	t.Helper()
	uuids := map[string]bool{}
	checkProblems(t, inv.Problems)
	for i, n := range inv.Nodes {
		if n.Name == "" || i > 0 && n.Name <= inv.Nodes[i-1].Name {
			t.Errorf("node %q out of order", n.Name)
		}
		checkProblems(t, n.Problems)
		var healthy, cards int64
		for _, d := range n.Devices {
			if d.UUID != "" && uuids[d.UUID] {
				t.Errorf("UUID %s twice", d.UUID)
			}
			uuids[d.UUID] = true
			if d.MemoryBytes != 0 && (d.MemoryBytes < 64<<20 || d.MemoryBytes > 4<<40) {
				t.Errorf("memory %d", d.MemoryBytes)
			}
			if d.Allocatable() && d.Health != device.Unhealthy && d.Product != "" {
				healthy++
			}
			if (d.Sharing == device.SharingMIG) != (d.Profile != vectormap.MIGProfile{}) || d.Replicas != 1 {
				t.Errorf("row %+v", d)
			}
		}
		for _, c := range n.Cards {
			cards += c.Count
		}
		if healthy != cards {
			t.Errorf("%d cards, %d rows", cards, healthy)
		}
		if !slices.IsSortedFunc(n.Potential, func(a, b device.Partition) int { return strings.Compare(a.Name, b.Name) }) {
			t.Errorf("order of %v", n.Potential)
		}
	}
}

func checkProblems(t *testing.T, problems []device.Problem) {
	t.Helper()
	seen := map[device.Problem]bool{}
	for _, p := range problems {
		id := device.Problem{Code: p.Code, Key: p.Key}
		if seen[id] || p.Code == "" || p.Detail == "" {
			t.Errorf("problem %+v", p)
		}
		seen[id] = true
	}
}

// FuzzSlices reads clusters in which odd texts and amounts stand.
func FuzzSlices(f *testing.F) {
	f.Add(uint64(1), "gpu-7", "uuid", "GPU-3", "64Mi")
	f.Add(uint64(2), "", "gpu.nvidia.com/type", "mig", "4398046511105")
	f.Add(uint64(3), "gpu-2147483648", "memorySlice7", "3g.40gb.me", "1500m")
	f.Add(uint64(4), "gpu-0-mig-1", "gpu.nvidia.com/memorySlice127", "1c.2g.20gb+gfx", "1e30")
	f.Add(uint64(5), "gpu-1", slicePrefix+"numaNode", " ", "-1")
	f.Fuzz(func(t *testing.T, seed uint64, id, name, value, amount string) {
		rng := rand.New(rand.NewPCG(seed, 1))
		list := randomSlices(rng)
		spoilSlices(rng, list, id, name, value, amount)
		for _, options := range []device.Options{{}, {AllowIncomplete: true}} {
			inv := fromSlices(options, list...)
			checkInventory(t, inv)
			if !namesAreUnique(list) {
				continue
			}
			slices.Reverse(list)
			if !reflect.DeepEqual(inv, fromSlices(options, list...)) {
				t.Error("another order of the slices, another inventory")
			}
		}
	})
}

// spoilSlices gives some devices what a fuzzer thinks of.
func spoilSlices(rng *rand.Rand, list []*resourcev1.ResourceSlice, name, attribute, value, amount string) {
	parsed, err := quantity.Parse(amount)
	for _, s := range list {
		for i := range s.Spec.Devices {
			d := &s.Spec.Devices[i]
			switch rng.IntN(6) {
			case 0:
				d.Name = name
			case 1:
				text(attribute, value)(d)
			case 2:
				number(attribute, int64(len(value)))(d)
			case 3, 4:
				if err == nil {
					d.Capacity[resourcev1.QualifiedName(attribute)] = resourcev1.DeviceCapacity{Value: parsed}
					d.Capacity["memory"] = resourcev1.DeviceCapacity{Value: parsed}
				}
			}
		}
	}
}

// namesAreUnique says whether slices, and devices in their pool, have names of
// their own, as in a cluster.
func namesAreUnique(list []*resourcev1.ResourceSlice) bool {
	names := map[string]int{}
	for _, s := range list {
		names["slice "+s.Name]++
		for i := range s.Spec.Devices {
			names[fmt.Sprintf("%q %q %q", s.Spec.Driver, s.Spec.Pool.Name, s.Spec.Devices[i].Name)]++
		}
	}
	return !slices.ContainsFunc(slices.Collect(maps.Values(names)), func(n int) bool { return n > 1 })
}
