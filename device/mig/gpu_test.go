package mig_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/device/mig"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vectormap"
	resourcev1 "k8s.io/api/resource/v1"
)

// gpuTexts writes what [mig.GPUs] says as
// "uuid product: instances".
func gpuTexts(n *device.Node) []string {
	list := []string{}
	for _, g := range mig.GPUs(n) {
		list = append(list, fmt.Sprintf("%s %s: %s", g.UUID, g.Product, strings.Trim(fmt.Sprint(g.Instances), "[]")))
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
			Profile: parse(t, profile), Start: start}
	}
	sick := instance("GPU-1", "1g.5gb+me", 6)
	sick.Health = device.Unhealthy
	unread := instance("GPU-1", "1g.5gb", -1)
	unread.Profile = vectormap.MIGProfile{}

	for _, c := range []struct {
		name    string
		devices []device.Device
		want    []string
	}{
		{"no GPU in MIG mode", []device.Device{gpu("GPU-0", false)}, []string{}},
		{"one without instances", []device.Device{gpu("GPU-1", true), gpu("GPU-0", true)},
			[]string{"GPU-0 " + a100 + ": ", "GPU-1 " + a100 + ": "}},
		{"instances in order, sick and unread ones too",
			[]device.Device{gpu("GPU-0", false), sick, instance("GPU-1", "2g.10gb", 4), instance("GPU-1", "4g.20gb", 0), unread, gpu("GPU-1", true)},
			[]string{"GPU-1 " + a100 + ": 0g.0gb@? 4g.20gb@0 2g.10gb@4 1g.5gb+me@6"}},
		{"no row of the GPU", []device.Device{instance("GPU-1", "1g.5gb", 3)}, []string{"GPU-1 " + a100 + ": 1g.5gb@3"}},
		{"unknown GPU", []device.Device{instance("", "1g.5gb", -1), gpu("GPU-0", true), instance("", "1g.5gb", -1)},
			[]string{" " + a100 + ": 1g.5gb@? 1g.5gb@?", "GPU-0 " + a100 + ": "}},
		{"compute instances of one start", []device.Device{
			instance("GPU-1", "1c.3g.20gb", 4), instance("GPU-1", "2c.3g.20gb", 4), instance("GPU-1", "1c.3g.20gb", 0), instance("GPU-1", "1c.3g.20gb", 0)},
			[]string{"GPU-1 " + a100 + ": 3g.20gb@0 3g.20gb@4"}},
		{"compute instances of unknown start", []device.Device{
			instance("GPU-1", "1c.3g.20gb", -1), instance("GPU-1", "2c.3g.20gb", -1), instance("GPU-1", "1c.3g.20gb", -1)},
			[]string{"GPU-1 " + a100 + ": 3g.20gb@? 3g.20gb@?"}},
	} {
		n := device.Node{Devices: c.devices}
		if diff := cmp.Diff(c.want, gpuTexts(&n)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.name, diff)
		}
	}
}

// TestDeclaredSlots: slots that are declared are taken, and those that an instance
// of the profile can't have are a problem.
func TestDeclaredSlots(t *testing.T) {
	type problems = []string
	for _, c := range []struct {
		name      string
		instances []resourcev1.Device
		want      string   // the instances
		node, gpu problems // of the node and of the GPU
		free      string   // where instances of 1g.5gb go next, at most three
	}{
		{"as the profile has them", []resourcev1.Device{sliceInstance("a", "3g.20gb", 4, 5, 6, 7), sliceInstance("b", "1g.5gb", 2)},
			"1g.5gb@2 3g.20gb@4", nil, nil, "0 1 3"},
		{"none", []resourcev1.Device{sliceInstance("a", "3g.20gb")}, "3g.20gb@?", nil, nil, "0 1 2"},
		{"not next to one another", []resourcev1.Device{sliceInstance("a", "3g.20gb", 0, 5, 6, 7)},
			"3g.20gb@0,5,6,7",
			problems{"bad-slots a: memory slots 0,5,6,7: must be next to one another; as declared they are taken"},
			problems{"bad-slots a: memory slots 0,5,6,7: must be 4 from one of [0 4] on, for 3g.20gb of A100-40; as declared they are taken"}, "1 2 3"},
		{"a hole", []resourcev1.Device{sliceInstance("a", "2g.10gb", 1, 3)}, "2g.10gb@1,3",
			problems{"bad-slots a: memory slots 1,3: must be next to one another; as declared they are taken"},
			problems{"bad-slots a: memory slots 1,3: must be 2 from one of [0 2 4] on, for 2g.10gb of A100-40; as declared they are taken"}, "0 2 4"},
		{"a start that the profile lacks", []resourcev1.Device{sliceInstance("a", "3g.20gb", 2, 3, 4, 5)}, "3g.20gb@2,3,4,5", nil,
			problems{"bad-slots a: memory slots 2,3,4,5: must be 4 from one of [0 4] on, for 3g.20gb of A100-40; as declared they are taken"}, "0 1 6"},
		{"more than the profile has", []resourcev1.Device{sliceInstance("a", "1g.5gb", 0, 1)}, "1g.5gb@0,1", nil,
			problems{"bad-slots a: memory slots 0,1: must be 1 from one of [0 1 2 3 4 5 6] on, for 1g.5gb of A100-40; as declared they are taken"}, "2 3 4"},
		{"fewer than the profile has: it takes its own", []resourcev1.Device{sliceInstance("a", "3g.20gb", 4)}, "3g.20gb@4", nil,
			problems{"bad-slots a: memory slots 4: must be 4,5,6,7, as 3g.20gb has them"}, "0 1 2"},
		{"a slot that the GPU lacks", []resourcev1.Device{sliceInstance("a", "1g.5gb", 9)}, "1g.5gb@9",
			nil, problems{"bad-slots a: memory slots 9: must be 1 from one of [0 1 2 3 4 5 6] on, for 1g.5gb of A100-40; as declared they are taken"},
			"mig: used[0]: 1g.5gb@9: must be on memory slots 0 to 7"},
		{"two on one slot", []resourcev1.Device{sliceInstance("a", "2g.10gb", 0, 1), sliceInstance("b", "1g.5gb", 1)}, "2g.10gb@0 1g.5gb@1", nil,
			problems{"bad-slots GPU-0: used[1]: 1g.5gb@1: must not overlap used[0]: 2g.10gb@0"},
			"mig: used[1]: 1g.5gb@1: must not overlap used[0]: 2g.10gb@0"},
		{"another GPU's profile", []resourcev1.Device{sliceInstance("a", "1g.10gb", 0, 1), sliceInstance("b", "3g.40gb", 4, 5, 6, 7)}, "1g.10gb@0 3g.40gb@4,5,6,7", nil,
			problems{"foreign-profile b: A100-40 has no profile 3g.40gb: must be one of 1g.5gb, 1g.5gb+me, 1g.10gb, 2g.10gb, 3g.20gb, 4g.20gb, 7g.40gb"}, "mig: used[1]: 3g.40gb@4,5,6,7: A100-40 has no profile 3g.40gb: must be one of 1g.5gb, 1g.5gb+me, 1g.10gb, 2g.10gb, 3g.20gb, 4g.20gb, 7g.40gb"},
		{"compute instances of one", []resourcev1.Device{sliceInstance("a", "1c.3g.20gb", 0, 1, 2, 3), sliceInstance("b", "2c.3g.20gb", 0, 1, 2, 3)}, "3g.20gb@0", nil, nil, "4 5 6"},
		{"compute instances of one, not next to one another", []resourcev1.Device{sliceInstance("a", "1c.2g.10gb", 0, 2), sliceInstance("b", "1c.2g.10gb", 0, 2)}, "2g.10gb@0,2",
			problems{"bad-slots a: memory slots 0,2: must be next to one another; as declared they are taken", "bad-slots b: memory slots 0,2: must be next to one another; as declared they are taken"},
			problems{"bad-slots a: memory slots 0,2: must be 2 from one of [0 2 4] on, for 2g.10gb of A100-40; as declared they are taken", "bad-slots b: memory slots 0,2: must be 2 from one of [0 2 4] on, for 2g.10gb of A100-40; as declared they are taken"}, "1 3 4"},
	} {
		node := slicedNode(t, c.instances...)
		texts := func(list []device.Problem) (all problems) {
			for _, p := range list {
				all = append(all, p.String())
			}
			return all
		}
		if diff := cmp.Diff(c.node, texts(node.Problems)); diff != "" {
			t.Errorf("%s: the node's problems (-want +got)\n%s", c.name, diff)
		}
		placed := mig.GPUs(node)
		if len(placed) != 1 || placed[0].Geometry == nil || placed[0].Geometry.Name() != "A100-40" {
			t.Fatalf("%s: %v", c.name, placed)
		}
		if got := strings.Trim(fmt.Sprint(placed[0].Instances), "[]"); got != c.want {
			t.Errorf("%s: instances %s, not %s", c.name, got, c.want)
		}
		if diff := cmp.Diff(c.gpu, texts(placed[0].Problems)); diff != "" {
			t.Errorf("%s: the GPU's problems (-want +got)\n%s", c.name, diff)
		}
		free := ""
		if starts, ok, err := mig.PlaceInstances(nil, placed[0].Geometry, placed[0].Instances, slices.Repeat([]vectormap.MIGProfile{parse(t, "1g.5gb")}, 3)); err != nil {
			free = err.Error()
		} else if ok {
			free = strings.Trim(fmt.Sprint(starts), "[]")
		}
		if free != c.free {
			t.Errorf("%s: the next go to %s, not %s", c.name, free, c.free)
		}
	}
}

// TestNamesOfGPUs: instances keep the names that their driver writes, and are placed.
func TestNamesOfGPUs(t *testing.T) {
	row := func(profile string, start int8) device.Device {
		return device.Device{Kind: device.KindGPU, Product: "NVIDIA-A100-SXM4-80GB", Sharing: device.SharingMIG, ParentUUID: "GPU-0", Profile: parse(t, profile), Start: start}
	}
	gpu := mig.GPUs(&device.Node{Devices: []device.Device{row("3g.39gb", 4), row("1g.9gb", 0), row("1c.2g.19gb", 2)}})[0]
	if got := fmt.Sprint(gpu.Instances, gpu.Problems); got != "[1g.9gb@0 2g.19gb@2 3g.39gb@4] []" {
		t.Error(got)
	}
	if starts, ok, err := mig.PlaceInstances(nil, gpu.Geometry, gpu.Instances, parseWant(t, "1g.10gb")); !ok || err != nil || startsText(starts) != "1" {
		t.Errorf("%v, %t, %v", starts, ok, err)
	}
}

// TestOtherGeometry: a host sets a geometry of four slots, over one of twelve. What a
// source declares is taken as it is, or is an error; it is never read as another slot.
func TestOtherGeometry(t *testing.T) {
	host := testkit.Must(mig.NewGeometry("scaled", 4, 4, rtxPro()))
	for _, c := range []struct {
		profile string
		slots   []int
		want    string // the geometry's own view
		next    string // where an instance of one slot goes, or the error
	}{
		{"1g.24gb", []int{0, 1, 2}, "1g.24gb@0", "3"},
		{"1g.24gb", []int{3, 4, 5}, "1g.24gb@3", "mig: used[0]: 1g.24gb@3: must be on memory slots 0 to 3"},
		{"1g.24gb", []int{9, 10, 11}, "1g.24gb@9", "mig: used[0]: 1g.24gb@9: must be on memory slots 0 to 3"},
		{"2g.48gb", []int{0, 1, 2, 3, 4, 5}, "2g.48gb@0", "mig: used[0]: 2g.48gb@0: must be on memory slots 0 to 3"},
		// As a driver of four slots declares it.
		{"1g.24gb", []int{3}, "1g.24gb@3", "2"},
		{"1g.24gb", []int{1}, "1g.24gb@1", "0"},
		{"2g.48gb", []int{2, 3}, "2g.48gb@2,3", "0"},
		{"2g.48gb", []int{0, 1}, "2g.48gb@0", "2"},
	} {
		row := device.Device{Kind: device.KindGPU, Product: "NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition", Sharing: device.SharingMIG,
			ParentUUID: "GPU-0", Profile: parse(t, c.profile), Start: int8(c.slots[0])}
		for _, s := range c.slots {
			row.Slots |= 1 << s
		}
		gpu := mig.GPUs(&device.Node{Devices: []device.Device{row}})[0]
		if got := gpu.Instances[0].String(); gpu.Geometry.Name() != "RTX-PRO-6000-96" || got != c.want {
			t.Errorf("%s on %v: %s of %s", c.profile, c.slots, got, gpu.Geometry.Name())
		}
		gpu.Geometry = host
		next := ""
		if start, ok, err := mig.BestStart(gpu.Geometry, gpu.Instances, parse(t, "1g.24gb")); err != nil {
			next = err.Error()
		} else if ok {
			next = fmt.Sprint(start)
		}
		if next != c.next {
			t.Errorf("%s on %v: the next at %s, not %s", c.profile, c.slots, next, c.next)
		}
	}
}

// TestPlacedText: what is declared and what starts somewhere.
func TestPlacedText(t *testing.T) {
	p := parse(t, "2g.10gb")
	for want, placed := range map[string]mig.Placed{
		"2g.10gb@?":    {Profile: p, Start: -1},
		"2g.10gb@4":    {Profile: p, Start: 4, Slots: 3 << 4},
		"2g.10gb@4,5":  {Profile: p, Start: -1, Slots: 3 << 4},
		"2g.10gb@5,6":  {Profile: p, Slots: 3 << 5},
		"2g.10gb@0":    {Profile: p},
		"2g.10gb@0,2":  {Profile: p, Slots: 5},
		"2g.10gb@-7":   {Profile: p, Start: -7},
		"2g.10gb@30":   {Profile: p, Start: 30, Slots: 3 << 30},
		"2g.10gb@1,31": {Profile: p, Start: 127, Slots: 1<<31 | 2},
	} {
		if got := placed.String(); got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
}

// TestUnknownMIG: a GPU in MIG mode whose geometry isn't known.
func TestUnknownMIG(t *testing.T) {
	n := device.Node{Devices: []device.Device{{Kind: device.KindGPU, UUID: "GPU-0", Product: "NVIDIA-X1", MemoryBytes: 80 << 30, MIGEnabled: true}}}
	placed := mig.GPUs(&n)
	want := `unknown-mig GPU-0: unknown geometry: product "NVIDIA-X1" with 85899345920 bytes: must name one of A100-40, A100-80, A30-24, B200-180, B300-269, GB200-186, GB300-278, GH200-144, H100-80, H100-94, H100-96, H20-96, H200-141, RTX-PRO-4500-32, RTX-PRO-5000-48, RTX-PRO-6000-96; or made by NewGeometry`
	if placed[0].Geometry != nil || len(placed[0].Problems) != 1 || placed[0].Problems[0].String() != want {
		t.Errorf("%v, %v", placed[0].Geometry, placed[0].Problems)
	}
}
