package device_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
)

// TestMerge is R2: a node comes from the first source that has it, wholly.
func TestMerge(t *testing.T) {
	labels := testkit.Must(device.FromNodes([]corev1.Node{
		labelNode("a", v100(""), "nvidia.com/gpu=2"),
		labelNode("b", "", ""),
	}, nil, device.Options{}))
	row := []device.Device{{Kind: device.KindGPU, Product: "V100", UUID: "GPU-1"}}
	nvml := &device.Inventory{
		Nodes: []device.Node{
			device.NewNode("a", device.SourceNVML, row, device.Names{}),
			device.NewNode("b", device.SourceNVML, row, device.Names{}),
			device.NewNode("c", device.SourceNVML, row, device.Names{}),
		},
		Problems: []device.Problem{{Code: "not-node-local", Key: "pool"}},
	}
	for _, c := range []struct {
		name    string
		sources []*device.Inventory
		want    []string
	}{
		{"R2", []*device.Inventory{labels, nvml}, []string{"a labels 2", "b labels 0", "c nvml 1"}},
		{"the other way", []*device.Inventory{nvml, labels}, []string{"a nvml 1", "b nvml 1", "c nvml 1"}},
		{"nil sources", []*device.Inventory{nil, labels, nil}, []string{"a labels 2", "b labels 0"}},
		{"no source", nil, nil},
	} {
		merged := device.Merge(c.sources...)
		var got []string
		for _, n := range merged.Nodes {
			got = append(got, fmt.Sprintf("%s %v %d", n.Name, n.Source, len(n.Devices)))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q", c.name, got)
		}
		if n := len(merged.Problems); n != 0 && !slices.Contains(c.sources, nvml) || n != 1 && slices.Contains(c.sources, nvml) {
			t.Errorf("%s: %d problems of no node", c.name, n)
		}
	}
}

// TestMergeDuplicates: of a name twice in one source the first stays, with a
// problem that the source itself doesn't get; the nodes may be in any order.
func TestMergeDuplicates(t *testing.T) {
	node := func(name string, gpus int) device.Node {
		return device.NewNode(name, device.SourceNVML, agreeGPUs(gpus, device.Device{Kind: device.KindGPU, Product: "V100", MemoryBytes: 1}), device.Names{})
	}
	collected := &device.Inventory{Nodes: []device.Node{node("b", 2), node("a", 1), node("b", 3), node("b", 4), node("c", 1)}}
	backing := append(collected.Nodes[0].Problems, device.Problem{})
	collected.Nodes[0].Problems = backing[:2] // with room behind
	other := &device.Inventory{Nodes: []device.Node{node("d", 1), node("a", 5), node("a", 6)}}

	var got []string
	for _, n := range device.Merge(collected, other).Nodes {
		got = append(got, fmt.Sprintf("%s %d %q", n.Name, len(n.Devices), labelProblems(n.Problems)))
	}
	want := []string{
		`a 1 ["bad-memory GPU-0"]`,
		`b 2 ["bad-memory GPU-0" "bad-memory GPU-1" "duplicate-node b"]`,
		`c 1 ["bad-memory GPU-0"]`,
		`d 1 ["bad-memory GPU-0"]`,
	}
	wantEqual(t, "", want, got)
	if backing[2] != (device.Problem{}) {
		t.Errorf("the source's list was written: %v", backing)
	}
}

// agreeGPUs returns n GPUs as the driver knows them.
func agreeGPUs(n int, d device.Device) []device.Device {
	list := make([]device.Device, n)
	for i := range list {
		list[i] = d
		list[i].Minor, list[i].UUID = int32(i), fmt.Sprintf("GPU-%d", i)
		list[i].PCIBusID = fmt.Sprintf("0000:%02x:00.0", i)
	}
	return list
}

// TestAgree has what the golden node of TestAgreeSources doesn't.
func TestAgree(t *testing.T) {
	const product = "NVIDIA-H100-80GB-HBM3"
	l := *readLabels(t, nil, device.Names{}, labelNode("l",
		"nvidia.com/gpu.product="+product+" nvidia.com/gpu.count=8 nvidia.com/gpu.memory=81559", "nvidia.com/gpu=8"))
	h100 := device.Device{Kind: device.KindGPU, Vendor: "nvidia.com", Product: "NVIDIA H100 80GB HBM3", MemoryBytes: 85520809984, Start: -1, NUMANode: 1}
	driver := func(edit func(list []device.Device) []device.Device) device.Node {
		return device.NewNode("l", device.SourceNVML, edit(agreeGPUs(8, h100)), device.Names{})
	}
	every := func(edit func(*device.Device)) func([]device.Device) []device.Device {
		return func(list []device.Device) []device.Device {
			for i := range list {
				edit(&list[i])
			}
			return list
		}
	}
	profile := func(name string) vectormap.MIGProfile {
		p, _, err := vectormap.ParseMIG(name)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	instances := func(n int, name string) device.Node {
		list := agreeGPUs(n, device.Device{Kind: device.KindGPU, Product: product, Sharing: device.SharingMIG, Profile: profile(name), MemoryBytes: 10 << 30})
		return device.NewNode("l", device.SourceNVML, list, device.Names{})
	}
	bytes := func(amounts ...int64) device.Node {
		list := agreeGPUs(len(amounts), device.Device{Kind: device.KindGPU, Product: product})
		for i := range list {
			list[i].MemoryBytes = amounts[i]
		}
		return device.NewNode("l", device.SourceNVML, list, device.Names{})
	}
	const gib, mib = 1 << 30, 1 << 20

	for _, c := range []struct {
		fact string
		a, b device.Node
		want []device.Difference
	}{
		{"a GPU in MIG mode with its instances", instances(2, "1g.10gb"),
			device.NewNode("l", device.SourceNVML, append(agreeGPUs(2, device.Device{Kind: device.KindGPU, Product: product, Sharing: device.SharingMIG, Profile: profile("1g.10gb")}),
				device.Device{Kind: device.KindGPU, Product: product, UUID: "GPU", MIGEnabled: true, MemoryBytes: 80 << 30}), device.Names{}), nil},
		{"unknown health is healthy", l, driver(every(func(d *device.Device) { d.Health = device.Healthy })), nil},
		{"product", l, driver(every(func(d *device.Device) { d.Product = "NVIDIA H100" })), []device.Difference{
			{Field: "cards", Key: "NVIDIA-H100", A: "0", B: "8"},
			{Field: "cards", Key: product, A: "8", B: "0"},
			{Kind: device.KindGPU, Field: "product", A: product, B: "NVIDIA-H100"},
		}},
		{"a kind that one lacks", l, driver(func(list []device.Device) []device.Device {
			return append(list, device.Device{Kind: device.KindRDMA, Product: "CX7"})
		}), []device.Difference{
			{Field: "cards", Key: "CX7", A: "0", B: "1"},
			{Kind: device.KindRDMA, Field: "devices", A: "0", B: "1"},
		}},
		{"a MiB apart", bytes(80*gib, 40*gib), bytes(40*gib+mib, 80*gib-mib), nil},
		{"more than a MiB apart", bytes(80 * gib), bytes(80*gib + mib + 1), []device.Difference{
			{Kind: device.KindGPU, Field: "memory", A: "85899345920", B: "85900394497"},
		}},
		{"unknown memory", bytes(0, 80*gib), bytes(80*gib, 40*gib), nil},
		{"unknown memory on both sides", bytes(0, 80*gib, 20*gib), bytes(20*gib, 40*gib, 0), nil},
		{"too little of it is unknown", bytes(0, 80*gib, 40*gib), bytes(20*gib, 10*gib, 40*gib), []device.Difference{
			{Kind: device.KindGPU, Field: "memory", A: "85899345920", B: "10737418240"},
		}},
		{"nothing", device.Node{}, device.Node{Name: "other", Problems: []device.Problem{{}}}, nil},
	} {
		t.Run(c.fact, func(t *testing.T) {
			wantEqual(t, "", c.want, device.Agree(c.a, c.b))
			var back []device.Difference
			for _, d := range c.want {
				d.A, d.B = d.B, d.A
				back = append(back, d)
			}
			wantEqual(t, "the other way", back, device.Agree(c.b, c.a))
		})
	}
}

// TestAgreeSharing: what only labels know is a difference.
func TestAgreeSharing(t *testing.T) {
	plain := *readLabels(t, nil, device.Names{}, labelNode("n", v100(""), "nvidia.com/gpu=2"))
	shared := *readLabels(t, nil, device.Names{}, labelNode("n", v100("nvidia.com/gpu.replicas=4"), "nvidia.com/gpu.shared=8"))
	want := []device.Difference{
		{Field: "cards", Key: "V100", A: "2", B: "0"},
		{Field: "cards", Key: "V100/mps-32g*1/4", A: "0", B: "8"},
	}
	wantEqual(t, "", want, device.Agree(plain, shared))
	if got := want[0].String(); got != `V100: cards "2" and "0"` {
		t.Error(got)
	}
}
