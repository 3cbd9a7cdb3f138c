package mig_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/device/mig"
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

// TestUnknownMIG: a GPU in MIG mode whose geometry isn't known.
func TestUnknownMIG(t *testing.T) {
	n := device.Node{Devices: []device.Device{{Kind: device.KindGPU, UUID: "GPU-0", Product: "NVIDIA-X1", MemoryBytes: 80 << 30, MIGEnabled: true}}}
	placed := mig.GPUs(&n)
	want := `unknown-mig GPU-0: unknown geometry: product "NVIDIA-X1" with 85899345920 bytes: must name one of A100-40, A100-80, A30-24, B200-180, B300-269, GB200-186, GH200-144, H100-80, H100-94, H100-96, H20-96, H200-141, RTX-PRO-6000-96; or made by NewGeometry`
	if placed[0].Geometry != nil || len(placed[0].Problems) != 1 || placed[0].Problems[0].String() != want {
		t.Errorf("%v, %v", placed[0].Geometry, placed[0].Problems)
	}
}
