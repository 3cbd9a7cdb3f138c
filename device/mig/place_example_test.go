package mig_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/device/mig"
	"github.com/resvec/resvec/vectormap"
)

// a100 is the geometry of an A100 with 40 GB.
func a100() *mig.Geometry {
	g, err := mig.GeometryFor("NVIDIA-A100-SXM4-40GB", 0)
	if err != nil {
		log.Fatal(err)
	}
	return g
}

// profilesOf parses names of profiles that are known to be right.
func profilesOf(names ...string) []vectormap.MIGProfile {
	var profiles []vectormap.MIGProfile
	for _, name := range names {
		p, _, err := vectormap.ParseMIG(name)
		if err != nil {
			log.Fatal(err)
		}
		profiles = append(profiles, p)
	}
	return profiles
}

// picture draws the memory slots of a GPU: a letter for each instance, in their
// order, and a point for a free slot.
func picture(g *mig.Geometry, placed []mig.Placed) string {
	slots := []byte(strings.Repeat(".", g.Slots()))
	for i, p := range placed {
		of, _ := g.Profile(p.Profile)
		for s := range of.Slots {
			slots[int(p.Start)+s] = 'A' + byte(i)
		}
	}
	return "[" + string(slots) + "]"
}

// An instance of one slice, made in slot 5 once, is still there. Of the larger
// ones that are wanted, 4g goes to the free half and the small ones around the
// old one; a second half is not to be had, since instances can't be moved.
func ExamplePlaceInstances() {
	g := a100()
	used := []mig.Placed{{Profile: profilesOf("1g.5gb")[0], Start: 5}}
	fmt.Println(picture(g, used), used)

	for _, want := range [][]vectormap.MIGProfile{
		profilesOf("4g.20gb", "1g.5gb", "1g.5gb"),
		profilesOf("4g.20gb", "3g.20gb"),
	} {
		starts, ok, err := mig.PlaceInstances(nil, g, used, want)
		if err != nil {
			log.Fatal(err)
		}
		if !ok {
			fmt.Println(want, "can't be placed")
			continue
		}
		all := used
		for i, p := range want {
			all = append(all, mig.Placed{Profile: p, Start: starts[i]})
		}
		fmt.Println(picture(g, all), all)
	}
	// Output:
	// [.....A..] [1g.5gb@5]
	// [BBBBCAD.] [1g.5gb@5 4g.20gb@0 1g.5gb@4 1g.5gb@6]
	// [4g.20gb 3g.20gb] can't be placed
}

// Two slices in slots 2 and 3 take away both the 4g and one of the two halves;
// the other half is whole.
func ExampleRemaining() {
	g := a100()
	used := []mig.Placed{{Profile: profilesOf("2g.10gb")[0], Start: 2}}
	counts, err := mig.Remaining(g, used)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(picture(g, used))
	for i, p := range g.Profiles() {
		fmt.Println(counts[i], p.Profile)
	}
	// Output:
	// [..AA....]
	// 5 1g.5gb
	// 1 1g.5gb+me
	// 3 1g.10gb
	// 2 2g.10gb
	// 1 3g.20gb
	// 0 4g.20gb
	// 0 7g.40gb
}

// One instance after another goes where it spoils least: three small ones fill
// the second half from its end, so that there is room for a 4g to the last.
func ExampleBestStart() {
	g := a100()
	var used []mig.Placed
	for _, p := range profilesOf("1g.5gb", "1g.5gb", "1g.5gb", "4g.20gb", "1g.5gb") {
		start, ok, err := mig.BestStart(g, used, p)
		if err != nil {
			log.Fatal(err)
		}
		if !ok {
			fmt.Println(picture(g, used), "no room for", p)
			continue
		}
		used = append(used, mig.Placed{Profile: p, Start: start})
		fmt.Println(picture(g, used), p)
	}
	// Output:
	// [......A.] 1g.5gb
	// [....B.A.] 1g.5gb
	// [....BCA.] 1g.5gb
	// [DDDDBCA.] 4g.20gb
	// [DDDDBCA.] no room for 1g.5gb
}

// What a node with MIG instances is worth in GPUs depends on the GPU that is
// cut: 1g.10gb is a quarter of the memory of an A100 with 40 GB and an eighth of
// one with 80 GB.
func ExampleWeights() {
	vm, err := vectormap.New([]string{"nvidia.com/gpu", "nvidia.com/mig-1g.10gb"})
	if err != nil {
		log.Fatal(err)
	}
	instances, _ := vm.Index("nvidia.com/mig-1g.10gb")
	node := vm.NewVector()
	node[vectormap.GPU], node[instances] = 1, 3
	for _, name := range []string{"A100-40", "A100-80"} {
		g, err := mig.GeometryNamed(name)
		if err != nil {
			log.Fatal(err)
		}
		weights, _ := mig.Weights(vm, mig.ByMemory, g)
		sum := 0.0
		for i, w := range weights {
			sum += w * node[i]
		}
		fmt.Println(name, sum)
	}
	// Output:
	// A100-40 1.75
	// A100-80 1.375
}

// A GPU that isn't known here, since nobody publishes where its instances start.
func ExampleNewGeometry() {
	one, two := profilesOf("1g.24gb")[0], profilesOf("2g.48gb")[0]
	g, err := mig.NewGeometry("RTX-PRO-5000-48", 2, 2, []mig.GeometryProfile{
		{Profile: one, Slots: 1, Starts: []int8{0, 1}, Max: 2},
		{Profile: two, Slots: 2, Starts: []int8{0}, Max: 1},
	})
	if err != nil {
		log.Fatal(err)
	}
	starts, ok, _ := mig.PlaceInstances(nil, g, nil, []vectormap.MIGProfile{one, one})
	fmt.Println(starts, ok)
	// Output:
	// [0 1] true
}

// A GPU of a node that the driver or ResourceSlices describe, and what else
// can be made on it.
func ExampleExplainPlace() {
	const product = "NVIDIA-A100-SXM4-40GB"
	node := device.NewNode("node", device.SourceNVML, []device.Device{
		{Kind: device.KindGPU, UUID: "GPU-0", Product: product, MemoryBytes: 40 << 30, MIGEnabled: true},
		{Kind: device.KindGPU, UUID: "MIG-0", Product: product, ParentUUID: "GPU-0", Sharing: device.SharingMIG,
			Profile: profilesOf("1g.5gb")[0], Start: 5},
	}, device.Names{})

	for _, gpu := range mig.GPUs(&node) {
		for _, want := range []string{"4g.20gb", "3g.20gb", "7g.40gb"} {
			why, err := mig.ExplainPlace(gpu.Geometry, gpu.Instances, profilesOf(want))
			if err != nil {
				log.Fatal(err)
			}
			fmt.Printf("%s %v and %s: %q\n", gpu.UUID, gpu.Instances, want, why)
		}
	}

	// Output:
	// GPU-0 [1g.5gb@5] and 4g.20gb: ""
	// GPU-0 [1g.5gb@5] and 3g.20gb: ""
	// GPU-0 [1g.5gb@5] and 7g.40gb: "9 memory slots of 8"
}
