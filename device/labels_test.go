package device_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const labelGiB = 1 << 30

// labelNode makes a node of labels and allocatable, each written
// "key=value key=value".
func labelNode(name, labels, allocatable string) corev1.Node {
	n := corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}},
		Status:     corev1.NodeStatus{Allocatable: corev1.ResourceList{}},
	}
	for _, pair := range strings.Fields(labels) {
		key, value, _ := strings.Cut(pair, "=")
		n.Labels[key] = value
	}
	for _, pair := range strings.Fields(allocatable) {
		key, value, _ := strings.Cut(pair, "=")
		n.Status.Allocatable[corev1.ResourceName(key)] = resource.MustParse(value)
	}
	return n
}

// v100 is the labels of the facts, followed by others that replace them.
func v100(others string) string {
	return "nvidia.com/gpu.product=V100 nvidia.com/gpu.count=2 nvidia.com/gpu.memory=32768 " + others
}

// readLabels reads one node.
func readLabels(t testing.TB, rules []device.Rule, names device.Names, n corev1.Node) *device.Node {
	t.Helper()
	inv := testkit.Must(device.FromNodes([]corev1.Node{n}, rules, device.Options{Names: names}))
	return &inv.Nodes[0]
}

// labelCards writes cards as "name:count", and labelProblems problems as
// "code key", so that a fact is one line.
func labelCards(n *device.Node) []string {
	list := []string{}
	for _, c := range n.Cards {
		list = append(list, fmt.Sprintf("%s:%d", c.Name, c.Count))
	}
	return list
}

func labelProblems(problems []device.Problem) []string {
	list := []string{}
	for _, p := range problems {
		list = append(list, fmt.Sprintf("%s %s", p.Code, p.Key))
	}
	return list
}

// labelRows counts equal rows, minors aside, as "<n> <sharing>/<replicas> <product> <profile> <bytes>".
func labelRows(t testing.TB, devices []device.Device) []string {
	t.Helper()
	counts := map[string]int{}
	for i, d := range devices {
		if d.Minor != int32(i) || !d.Synthetic || d.Start != -1 || d.NUMANode != -1 {
			t.Errorf("row %d: %+v", i, d)
		}
		profile := "-"
		if d.Profile != (vectormap.MIGProfile{}) {
			profile = d.Profile.String()
		} else if d.Partition != "" {
			profile = d.Partition
		}
		counts[fmt.Sprintf("%v/%d %s %s %d", d.Sharing, d.Replicas, d.Product, profile, d.MemoryBytes)]++
	}
	list := []string{}
	for row, n := range counts {
		list = append(list, fmt.Sprintf("%d %s", n, row))
	}
	slices.Sort(list)
	return list
}

// mi355x is the labels of a node of AMD's GPUs, in full or in parts.
func mi355x(vram string) string {
	return "amd.com/gpu.product-name=AMD_Instinct_MI355X_OAM amd.com/gpu.vram=" + vram
}

// TestLabels has the facts of cards, and what else labels can say.
func TestLabels(t *testing.T) {
	text := testkit.Must(os.ReadFile("testdata/labels.txt"))
	short := strings.NewReplacer("{V100}", v100(""), "{MI355X} amd.com/gpu.vram=", mi355x(""),
		"{A100}", "nvidia.com/gpu.product=A100 nvidia.com/gpu.count=8 nvidia.com/gpu.memory=40960 nvidia.com/mig.strategy=mixed nvidia.com/mig-1g.5gb.count=14")
	for _, fact := range strings.Split(string(text), "\n\n")[1:] {
		name, lines, _ := strings.Cut(strings.TrimSpace(fact), "\n")
		c := map[string]string{}
		for line := range strings.Lines(lines) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			c[key] = short.Replace(value)
		}
		t.Run(name, func(t *testing.T) {
			n := readLabels(t, nil, device.Names{}, labelNode("node", c["labels"], c["allocatable"]))
			var vendors []string
			for _, d := range n.Devices {
				vendors = append(vendors, d.Vendor)
			}
			for key, got := range map[string][]string{
				"cards": labelCards(n), "rows": labelRows(t, n.Devices), "vendors": slices.Compact(vendors), "problems": labelProblems(n.Problems),
			} {
				if diff := cmp.Diff(c[key], strings.Join(got, ", ")); diff != "" && (key != "vendors" || c[key] != "") {
					t.Errorf("%s (-want +got)\n%s", key, diff)
				}
			}
		})
	}
}

// TestLabelRow: what labels don't know is unknown, not zero.
func TestLabelRow(t *testing.T) {
	n := readLabels(t, nil, device.Names{}, labelNode("node", v100(""), "nvidia.com/gpu=2 cpu=63500m memory=256Gi"))
	want := &device.Node{
		Name: "node", Source: device.SourceLabels, CPUMilli: 63500, MemoryBytes: 256 * labelGiB,
		Cards: []device.Card{{Name: "V100", Resource: "nvidia.com/gpu", Count: 2}},
	}
	for minor := range int32(2) {
		want.Devices = append(want.Devices, device.Device{
			Kind: device.KindGPU, Vendor: "nvidia.com", Product: "V100", Minor: minor, Synthetic: true,
			MemoryBytes: 32 * labelGiB, Replicas: 1, Start: -1, NUMANode: -1,
		})
	}
	wantEqual(t, "", want, n)
}

// TestLabelNames: G0 and so on, and the names of time-slicing.
func TestLabelNames(t *testing.T) {
	for mebibytes, want := range map[int]string{
		81920: "80", 81559: "80", 97871: "96", 32768: "32", 24564: "24", 23034: "22", 512: "1", 511: "0",
	} {
		labels := v100(fmt.Sprintf("nvidia.com/gpu.memory=%d nvidia.com/gpu.replicas=4", mebibytes))
		n := readLabels(t, nil, device.Names{}, labelNode("node", labels, "nvidia.com/gpu.shared=8"))
		if got := labelCards(n); !slices.Equal(got, []string{"V100/mps-" + want + "g*1/4:8"}) {
			t.Errorf("%d MiB: %v", mebibytes, got)
		}
	}

	separate := device.Names{SeparateTimeSlicing: true}
	for strategy, want := range map[string]string{
		"time-slicing": "V100/ts-1/4:8",
		"mps":          "V100/mps-32g*1/4:8",
		"":             "V100/mps-32g*1/4:8",
		"none":         "V100/mps-32g*1/4:8",
	} {
		labels := v100("nvidia.com/gpu.replicas=4 nvidia.com/gpu.sharing-strategy=" + strategy)
		n := readLabels(t, nil, separate, labelNode("node", labels, "nvidia.com/gpu.shared=8"))
		if got := labelCards(n); !slices.Equal(got, []string{want}) {
			t.Errorf("%q: %v", strategy, got)
		}
	}
}

// TestLabelRules: the order of rules decides, and patterns are data too.
func TestLabelRules(t *testing.T) {
	first := device.Rule{Name: "first", Product: "x.com/name", Whole: []corev1.ResourceName{"x.com/gpu"}}
	second := device.Rule{Name: "second", Product: "x.com/gpu.product", Kind: device.KindFPGA, Whole: []corev1.ResourceName{"x.com/gpu", "x.com/b"}}
	pattern := device.Rule{
		Name: "pattern", Product: "*.model", Memory: "*.mem", Replicas: "*.replicas", Kind: device.KindRDMA,
		Whole: []corev1.ResourceName{"*"}, Shared: []corev1.ResourceName{"*-share", "x.com/pool"}, MIGPrefix: "x.com/part-",
	}
	for _, c := range []struct {
		name, labels, allocatable string
		rules                     []device.Rule
		cards, kinds, problems    []string
	}{
		{
			"the first rule takes the resource", "x.com/name=A x.com/gpu.product=B", "x.com/gpu=1 x.com/b=1",
			[]device.Rule{first, second}, []string{"A:1", "B:1"}, []string{"fpga 0", "gpu 0"}, nil,
		}, {
			"what another rule takes needs no label", "x.com/name=A", "x.com/gpu=1",
			[]device.Rule{first, second}, []string{"A:1"}, []string{"gpu 0"}, nil,
		}, {
			"what is left needs one", "x.com/name=A", "x.com/gpu=1 x.com/b=1",
			[]device.Rule{first, second}, []string{"A:1"}, []string{"gpu 0"}, []string{"missing-label x.com/gpu.product"},
		}, {
			"a rule that doesn't match takes nothing", "x.com/gpu.product=B", "x.com/gpu=1 x.com/b=1",
			[]device.Rule{first, second}, []string{"B:1", "B:1"}, []string{"fpga 0", "fpga 1"}, []string{"ambiguous-card B"},
		}, {
			"the label of an earlier rule is of no pattern, even if that rule doesn't match", "x.com/gpu.model=A x.com/gpu.mem=64", "x.com/gpu=1",
			[]device.Rule{{Name: "exact", Product: "x.com/gpu.model", Count: "x.com/gpu.count", Whole: []corev1.ResourceName{"x.com/gpu"}}, pattern},
			nil, nil, []string{"missing-label x.com/gpu.count"},
		}, {
			"nor of a second pattern", "x.com/gpu.model=A", "x.com/gpu=1 x.com/gpux=1",
			[]device.Rule{{Name: "p", Product: "*.model", Whole: []corev1.ResourceName{"*x"}}, pattern},
			[]string{"A:1"}, []string{"gpu 0"}, nil,
		}, {
			"a pattern with shares and partitions", "x.com/gpu.model=A x.com/gpu.mem=2048 x.com/gpu.replicas=2", "x.com/gpu=1 x.com/gpu-share=2 x.com/pool=4 x.com/part-1g.1gb=1 x.com/share=1",
			[]device.Rule{pattern},
			[]string{"A:1", "A/mig-1g.1gb-mixed:1", "A/mps-2g*1/2:2", "A/mps-2g*1/2:4"},
			[]string{"rdma 0", "rdma 1", "rdma 2", "rdma 3", "rdma 4"},
			[]string{"ambiguous-card A/mps-2g*1/2"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := readLabels(t, c.rules, device.Names{}, labelNode("node", c.labels, c.allocatable))
			var kinds []string
			for _, d := range n.Devices {
				kinds = append(kinds, fmt.Sprintf("%s %d", d.Kind, d.Minor))
			}
			if got := labelCards(n); !slices.Equal(got, c.cards) {
				t.Errorf("cards %v", got)
			}
			if !slices.Equal(kinds, c.kinds) {
				t.Errorf("kinds and minors %v", kinds)
			}
			if got := labelProblems(n.Problems); !slices.Equal(got, c.problems) {
				t.Errorf("problems %v", got)
			}
		})
	}
}

// TestLabelNodes: order, duplicates, selection, and both forms of the list.
func TestLabelNodes(t *testing.T) {
	cordoned := labelNode("b", v100(""), "nvidia.com/gpu=2")
	cordoned.Spec.Unschedulable = true
	cordoned.Status.Capacity = corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("8")}
	nodes := []corev1.Node{
		labelNode("c", v100(""), "nvidia.com/gpu=1"),
		cordoned,
		labelNode("a", "", ""),
		labelNode("c", v100(""), "nvidia.com/gpu=2"),
		labelNode("c", v100(""), "nvidia.com/gpu=3"),
	}
	var pointers []*corev1.Node
	for i := range nodes {
		pointers = append(pointers, &nodes[i])
	}
	values := testkit.Must(device.FromNodes(nodes, nil, device.Options{}))
	other := testkit.Must(device.FromNodes(pointers, device.DefaultRules(), device.Options{}))
	wantEqual(t, "values and pointers", values, other)
	if pointers[0] != &nodes[0] || nodes[0].Name != "c" {
		t.Error("the caller's list was reordered")
	}
	var got []string
	for i := range values.Nodes {
		n := &values.Nodes[i]
		got = append(got, fmt.Sprintf("%s %v %v", n.Name, labelCards(n), labelProblems(n.Problems)))
	}
	want := []string{"a [] []", "b [V100:2] []", "c [V100:1] [count-mismatch nvidia.com/gpu duplicate-node c]"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if n, ok := values.Node("b"); !ok || n.Name != "b" {
		t.Error("Node b not found")
	}
	if _, ok := values.Node("bb"); ok {
		t.Error("Node bb found")
	}
}

// TestLabelRowsOfNode: a node that names thousands of resources gets so many
// rows and no more.
func TestLabelRowsOfNode(t *testing.T) {
	n := labelNode("n", v100(""), "")
	for i := range 5000 {
		n.Status.Allocatable[corev1.ResourceName(fmt.Sprintf("nvidia.com/mig-1g.%dgb", i+1))] = resource.MustParse("1024")
	}
	read := readLabels(t, nil, device.Names{}, n)
	if len(read.Cards) != 5000 || len(read.Devices) != 16*1024 || len(read.Problems) != 5000-16 {
		t.Errorf("%d cards, %d rows, %d problems", len(read.Cards), len(read.Devices), len(read.Problems))
	}
}

// TestEmptyLabel: a label without a name is none of a rule that doesn't name one.
func TestEmptyLabel(t *testing.T) {
	n := labelNode("n", "x.com/name=A =x", "x.com/gpu=1")
	rules := []device.Rule{{Name: "x", Product: "x.com/name", Whole: []corev1.ResourceName{"x.com/gpu"}}}
	if read := readLabels(t, rules, device.Names{}, n); len(read.Problems) > 0 || len(read.Cards) != 1 {
		t.Errorf("%+v", read)
	}
}

// TestLabelFarAmounts: quantities that are compared with others in minutes.
func TestLabelFarAmounts(t *testing.T) {
	for _, c := range []struct {
		exponent int32
		problems []string
	}{
		{99_999_999, []string{"bad-count cpu", "bad-memory memory", "bad-count nvidia.com/gpu"}},
		{-99_999_999, []string{"bad-count nvidia.com/gpu"}},
	} {
		n := labelNode("n", v100("nvidia.com/gpu.count=1"), "")
		for _, name := range []corev1.ResourceName{"cpu", "memory", "nvidia.com/gpu"} {
			n.Status.Allocatable[name] = *resource.NewScaledQuantity(1, resource.Scale(c.exponent))
		}
		if got := labelProblems(readLabels(t, nil, device.Names{}, n).Problems); !slices.Equal(got, c.problems) {
			t.Errorf("%d: %v", c.exponent, got)
		}
	}
}

// TestReportUnlisted: what no rule is about is reported only if that is asked for.
func TestReportUnlisted(t *testing.T) {
	node := labelNode("n", v100("y.com/npu.product=Y"), "y.com/npu=1 cpu=8 memory=1Gi pods=110 hugepages-2Mi=0 nvidia.com/gpu=2 enflame.com/gcu=8 huawei.com/none=0 rdma/hca=1k x.com/huge=1e99999999 amd.com/gpu=1")
	for report, want := range map[bool][]device.Problem{
		false: nil,
		true: {
			{Code: "unlisted", Key: "enflame.com/gcu", Detail: "8 allocatable, but no rule lists it"},
			{Code: "unlisted", Key: "rdma/hca", Detail: "1k allocatable, but no rule lists it"},
			{Code: "unlisted", Key: "x.com/huge", Detail: "1e99999999 allocatable, but no rule lists it"},
		},
	} {
		want = append([]device.Problem{
			{Code: "missing-label", Key: "y.com/npu.count", Detail: "missing or empty, though the product has a label"},
			{Code: "missing-label", Key: "y.com/npu.memory", Detail: "missing or empty, though the product has a label"},
			{Code: "missing-label", Key: "amd.com/gpu.product-name", Detail: "missing or empty, so that amd.com/gpu, which is allocatable, is in no card"},
		}, want...)
		inv := testkit.Must(device.FromNodes([]corev1.Node{node}, nil, device.Options{ReportUnlisted: report}))
		if diff := cmp.Diff(want, inv.Nodes[0].Problems); diff != "" {
			t.Errorf("report %v: %s", report, diff)
		}
	}
}

// wantEqual reports where what a test got differs; what says of what.
func wantEqual(t *testing.T, what string, want, got any, opts ...cmp.Option) {
	t.Helper()
	if diff := cmp.Diff(want, got, opts...); diff != "" {
		t.Errorf("%s (-want +got)\n%s", what, diff)
	}
}
