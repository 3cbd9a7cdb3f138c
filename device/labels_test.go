package device_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/resvec/resvec/device"
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
	inv, err := device.FromNodes([]corev1.Node{n}, rules, device.LabelOptions{Names: names})
	if err != nil {
		t.Fatal(err)
	}
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
		if d.Profile != (device.Profile{}) {
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

// TestLabels has the facts of cards, and what else labels can say.
// mixedA100 is the labels of a node of eight A100, two of which are cut.
func mixedA100(more string) string {
	return "nvidia.com/gpu.product=A100 nvidia.com/gpu.count=8 nvidia.com/gpu.memory=40960 nvidia.com/mig.strategy=mixed nvidia.com/mig-1g.5gb.count=14 " + more
}

// mi355x is the labels of a node of AMD's GPUs, in full or in parts.
func mi355x(vram string) string {
	return "amd.com/gpu.product-name=AMD_Instinct_MI355X_OAM amd.com/gpu.vram=" + vram
}

func TestLabels(t *testing.T) {
	for _, c := range []struct {
		fact, labels, allocatable string
		cards, rows, problems     []string
	}{
		{
			fact: "C1", labels: v100(""), allocatable: "nvidia.com/gpu=2",
			cards: []string{"V100:2"},
			rows:  []string{"2 none/1 V100 - 34359738368"},
		}, {
			fact: "C2 C7", labels: v100("nvidia.com/gpu.replicas=4"), allocatable: "nvidia.com/gpu=2 nvidia.com/gpu.shared=8",
			cards: []string{"V100:2", "V100/mps-32g*1/4:8"},
			rows:  []string{"2 mps/4 V100 - 34359738368", "2 none/1 V100 - 34359738368"},
		}, {
			fact: "C3", labels: v100("nvidia.com/gpu.count=a"), allocatable: "nvidia.com/gpu=2",
			cards:    []string{"V100:2"},
			rows:     []string{"2 none/1 V100 - 34359738368"},
			problems: []string{"bad-count nvidia.com/gpu.count"},
		}, {
			fact: "C4", labels: "nvidia.com/gpu.product=V100", allocatable: "nvidia.com/gpu=2",
			problems: []string{"missing-label nvidia.com/gpu.count"},
		}, {
			fact:        "C5",
			labels:      "nvidia.com/gpu.product=NVIDIA-A100-80GB nvidia.com/gpu.count=8 nvidia.com/gpu.memory=81920 nvidia.com/gpu.replicas=8",
			allocatable: "nvidia.com/gpu=8 nvidia.com/gpu.shared=64 nvidia.com/mig-1g.5gb=7",
			cards:       []string{"NVIDIA-A100-80GB:8", "NVIDIA-A100-80GB/mig-1g.5gb-mixed:7", "NVIDIA-A100-80GB/mps-80g*1/8:64"},
			rows: []string{
				"7 mig/1 NVIDIA-A100-80GB 1g.5gb 0",
				"8 mps/8 NVIDIA-A100-80GB - 85899345920",
				"8 none/1 NVIDIA-A100-80GB - 85899345920",
			},
		}, {
			fact:        "C6",
			labels:      "huawei.com/Ascend910.product=Ascend910B3 huawei.com/Ascend910.count=8 huawei.com/Ascend910.memory=65536",
			allocatable: "huawei.com/Ascend910=8 huawei.com/Ascend910-memory=524288",
			cards:       []string{"Ascend910B3:8"},
			rows:        []string{"8 none/1 Ascend910B3 - 68719476736"},
		}, {
			fact: "C8", labels: v100("nvidia.com/gpu.count=8"), allocatable: "nvidia.com/gpu=7",
			cards:    []string{"V100:7"},
			rows:     []string{"7 none/1 V100 - 34359738368"},
			problems: []string{"count-mismatch nvidia.com/gpu"},
		}, {
			fact: "C9", labels: v100("nvidia.com/gpu.memory=8388608 nvidia.com/gpu.replicas=4"), allocatable: "nvidia.com/gpu=2 nvidia.com/gpu.shared=8",
			cards:    []string{"V100:2"},
			rows:     []string{"2 none/1 V100 - 0"},
			problems: []string{"bad-memory nvidia.com/gpu.memory"},
		}, {
			fact: "C10 eight", labels: v100("nvidia.com/gpu.product=V100-SHARED nvidia.com/gpu.replicas=4"), allocatable: "nvidia.com/gpu=8",
			cards: []string{"V100-SHARED:8"},
			rows:  []string{"2 time-slicing/4 V100-SHARED - 34359738368"},
		}, {
			fact: "C10 six", labels: v100("nvidia.com/gpu.product=V100-SHARED nvidia.com/gpu.replicas=4"), allocatable: "nvidia.com/gpu=6",
			cards:    []string{"V100-SHARED:6"},
			rows:     []string{"1 time-slicing/4 V100-SHARED - 34359738368"},
			problems: []string{"count-mismatch nvidia.com/gpu"},
		},

		// Labels and resources that are there or not.
		{fact: "nothing"},
		{fact: "a node without devices", allocatable: "cpu=64 memory=256Gi pods=110"},
		{fact: "resource without labels", allocatable: "nvidia.com/gpu=2", problems: []string{"missing-label nvidia.com/gpu.product"}},
		{fact: "shares without labels", allocatable: "nvidia.com/gpu.shared=2", problems: []string{"missing-label nvidia.com/gpu.product"}},
		{fact: "instances without labels", allocatable: "nvidia.com/mig-1g.5gb=2 nvidia.com/mig-2g.10gb=1", problems: []string{"missing-label nvidia.com/gpu.product"}},
		{fact: "two vendors without labels", allocatable: "nvidia.com/gpu=2 amd.com/gpu=1 x.com/gpu=1",
			problems: []string{"missing-label amd.com/gpu.product-name", "missing-label nvidia.com/gpu.product"}},
		{fact: "no amount without labels", allocatable: "nvidia.com/gpu=0 nvidia.com/gpu.shared=-1 nvidia.com/gpu-memory=5"},
		{fact: "labels without resource", labels: v100("")},
		{fact: "no device left", labels: v100(""), allocatable: "nvidia.com/gpu=0 nvidia.com/gpu.shared=0"},
		{fact: "siblings without product", labels: v100("nvidia.com/gpu.product="), allocatable: "nvidia.com/gpu=2",
			problems: []string{"missing-label nvidia.com/gpu.product"}},
		{
			fact: "no memory, which a card's name does without", labels: "nvidia.com/gpu.product=NVIDIA-GB10 nvidia.com/gpu.count=1", allocatable: "nvidia.com/gpu=1",
			cards: []string{"NVIDIA-GB10:1"},
			rows:  []string{"1 none/1 NVIDIA-GB10 - 0"},
		}, {
			fact: "no memory, which shares need", labels: v100("nvidia.com/gpu.memory= nvidia.com/gpu.replicas=4"), allocatable: "nvidia.com/gpu.shared=8",
			problems: []string{"bad-memory nvidia.com/gpu.memory"},
		}, {
			fact: "strategy single, instances that differ, and GPUs left", allocatable: "nvidia.com/gpu=7",
			labels:   v100("nvidia.com/gpu.product=A100-MIG-INVALID nvidia.com/mig.strategy=single"),
			problems: []string{"bad-strategy nvidia.com/mig.strategy"},
		}, {
			fact: "mixed: the count has the GPUs that are cut", labels: mixedA100(""), allocatable: "nvidia.com/gpu=6 nvidia.com/mig-1g.5gb=14",
			cards: []string{"A100:6", "A100/mig-1g.5gb-mixed:14"},
			rows:  []string{"14 mig/1 A100 1g.5gb 0", "6 none/1 A100 - 42949672960"},
		}, {
			fact: "mixed: one of the whole GPUs is sick", labels: mixedA100(""), allocatable: "nvidia.com/gpu=5 nvidia.com/mig-1g.5gb=14",
			cards: []string{"A100:5", "A100/mig-1g.5gb-mixed:14"},
			rows:  []string{"14 mig/1 A100 1g.5gb 0", "5 none/1 A100 - 42949672960"},
		}, {
			fact: "mixed: whole GPUs from before they were cut", labels: mixedA100(""), allocatable: "nvidia.com/gpu=8 nvidia.com/mig-1g.5gb=14",
			cards:    []string{"A100:6", "A100/mig-1g.5gb-mixed:14"},
			rows:     []string{"14 mig/1 A100 1g.5gb 0", "6 none/1 A100 - 42949672960"},
			problems: []string{"count-mismatch nvidia.com/gpu"},
		}, {
			fact: "mixed: no whole GPU is left", labels: mixedA100("nvidia.com/gpu.replicas=0"), allocatable: "nvidia.com/gpu=6 nvidia.com/mig-1g.5gb=14",
			cards:    []string{"A100/mig-1g.5gb-mixed:14"},
			rows:     []string{"14 mig/1 A100 1g.5gb 0"},
			problems: []string{"count-mismatch nvidia.com/gpu"},
		}, {
			fact: "mixed: instances from before they were cut again", labels: mixedA100(""), allocatable: "nvidia.com/gpu=6 nvidia.com/mig-1g.5gb=14 nvidia.com/mig-7g.40gb=8",
			cards:    []string{"A100:6", "A100/mig-1g.5gb-mixed:14"},
			rows:     []string{"14 mig/1 A100 1g.5gb 0", "6 none/1 A100 - 42949672960"},
			problems: []string{"count-mismatch nvidia.com/mig-7g.40gb"},
		}, {
			fact: "mixed: one media engine for each GPU", labels: mixedA100("nvidia.com/mig-1g.5gb.me.count=2"), allocatable: "nvidia.com/gpu=7 nvidia.com/mig-1g.5gb.me=2",
			cards:    []string{"A100:6", "A100/mig-1g.5gb.me-mixed:2"},
			rows:     []string{"2 mig/1 A100 1g.5gb+me 0", "6 none/1 A100 - 42949672960"},
			problems: []string{"count-mismatch nvidia.com/gpu"},
		}, {
			fact: "mixed: shares of the GPUs that are whole", labels: mixedA100("nvidia.com/gpu.replicas=4"), allocatable: "nvidia.com/gpu.shared=24 nvidia.com/mig-1g.5gb=14",
			cards: []string{"A100/mig-1g.5gb-mixed:14", "A100/mps-40g*1/4:24"},
			rows:  []string{"14 mig/1 A100 1g.5gb 0", "6 mps/4 A100 - 42949672960"},
		}, {
			fact: "mixed: more shares than they have", labels: mixedA100("nvidia.com/gpu.replicas=4"), allocatable: "nvidia.com/gpu.shared=32 nvidia.com/mig-1g.5gb=14",
			cards:    []string{"A100/mig-1g.5gb-mixed:14", "A100/mps-40g*1/4:24"},
			rows:     []string{"14 mig/1 A100 1g.5gb 0", "6 mps/4 A100 - 42949672960"},
			problems: []string{"count-mismatch nvidia.com/gpu.shared"},
		}, {
			fact: "more shares than the GPUs have", labels: "nvidia.com/gpu.product=T4 nvidia.com/gpu.count=1 nvidia.com/gpu.memory=16384 nvidia.com/gpu.replicas=1", allocatable: "nvidia.com/gpu.shared=50",
			cards:    []string{"T4/mps-16g*1/1:50"},
			rows:     []string{"1 mps/1 T4 - 17179869184"},
			problems: []string{"count-mismatch nvidia.com/gpu.shared"},
		}, {
			fact: "fewer shares than the GPUs have", labels: v100("nvidia.com/gpu.replicas=4"), allocatable: "nvidia.com/gpu.shared=4",
			cards: []string{"V100/mps-32g*1/4:4"},
			rows:  []string{"1 mps/4 V100 - 34359738368"},
		}, {
			fact: "instances of a product whose whole GPUs are shared", labels: v100("nvidia.com/gpu.product=V100-SHARED nvidia.com/gpu.replicas=4"), allocatable: "nvidia.com/mig-1g.5gb=2",
			cards: []string{"V100/mig-1g.5gb-mixed:2"},
			rows:  []string{"2 mig/1 V100 1g.5gb 0"},
		}, {
			fact: "instances of a product that their label names", labels: v100("nvidia.com/mig-1g.5gb.product=A100-MIG-1g.5gb"), allocatable: "nvidia.com/mig-1g.5gb=2",
			cards: []string{"A100/mig-1g.5gb-mixed:2"},
			rows:  []string{"2 mig/1 A100 1g.5gb 0"},
		}, {
			fact: "other resources of the domain", labels: v100(""),
			allocatable: "nvidia.com/gpu=2 nvidia.com/hostdev=4 nvidia.com/gpu-memory=64 nvidia.com/gpu.shared.x=3 nvidia.com/migx=1",
			cards:       []string{"V100:2"},
			rows:        []string{"2 none/1 V100 - 34359738368"},
		},

		// Counts.
		{
			fact: "count 0", labels: v100("nvidia.com/gpu.count=0"), allocatable: "nvidia.com/gpu=2",
			cards:    []string{"V100:2"},
			rows:     []string{"2 none/1 V100 - 34359738368"},
			problems: []string{"count-mismatch nvidia.com/gpu"},
		}, {
			fact: "negative count", labels: v100("nvidia.com/gpu.count=-2"), allocatable: "nvidia.com/gpu=2",
			cards:    []string{"V100:2"},
			rows:     []string{"2 none/1 V100 - 34359738368"},
			problems: []string{"bad-count nvidia.com/gpu.count"},
		}, {
			fact: "count beyond int64", labels: v100("nvidia.com/gpu.count=99999999999999999999"), allocatable: "nvidia.com/gpu=2",
			cards:    []string{"V100:2"},
			rows:     []string{"2 none/1 V100 - 34359738368"},
			problems: []string{"bad-count nvidia.com/gpu.count"},
		}, {
			fact: "as many rows as there may be", labels: v100("nvidia.com/gpu.count=1024"), allocatable: "nvidia.com/gpu=1024",
			cards: []string{"V100:1024"},
			rows:  []string{"1024 none/1 V100 - 34359738368"},
		}, {
			fact: "a row more", labels: v100("nvidia.com/gpu.count=1025"), allocatable: "nvidia.com/gpu=1025",
			cards:    []string{"V100:1025"},
			problems: []string{"count-mismatch nvidia.com/gpu"},
		}, {
			fact: "as many devices as int64 has", labels: v100(""), allocatable: "nvidia.com/gpu=9223372036854775807",
			cards:    []string{"V100:9223372036854775807"},
			problems: []string{"count-mismatch nvidia.com/gpu"},
		}, {
			fact: "more devices than int64 has", labels: v100(""), allocatable: "nvidia.com/gpu=20E",
			problems: []string{"bad-count nvidia.com/gpu"},
		}, {
			fact: "negative devices", labels: v100(""), allocatable: "nvidia.com/gpu=-1",
			problems: []string{"bad-count nvidia.com/gpu"},
		}, {
			fact: "a fraction of a device", labels: v100(""), allocatable: "nvidia.com/gpu=1500m",
			cards:    []string{"V100:2"},
			rows:     []string{"2 none/1 V100 - 34359738368"},
			problems: []string{"bad-count nvidia.com/gpu"},
		},

		// Memory.
		{
			fact: "memory that is no number", labels: v100("nvidia.com/gpu.memory=32Gi"), allocatable: "nvidia.com/gpu=2",
			cards:    []string{"V100:2"},
			rows:     []string{"2 none/1 V100 - 0"},
			problems: []string{"bad-memory nvidia.com/gpu.memory"},
		}, {
			fact: "too little memory", labels: v100("nvidia.com/gpu.memory=63"), allocatable: "nvidia.com/gpu=2",
			cards:    []string{"V100:2"},
			rows:     []string{"2 none/1 V100 - 0"},
			problems: []string{"bad-memory nvidia.com/gpu.memory"},
		}, {
			fact: "the least memory", labels: v100("nvidia.com/gpu.memory=64"), allocatable: "nvidia.com/gpu=2",
			cards: []string{"V100:2"},
			rows:  []string{"2 none/1 V100 - 67108864"},
		}, {
			fact: "the most memory", labels: v100("nvidia.com/gpu.memory=4194304"), allocatable: "nvidia.com/gpu=2",
			cards: []string{"V100:2"},
			rows:  []string{"2 none/1 V100 - 4398046511104"},
		}, {
			fact: "a MiB more", labels: v100("nvidia.com/gpu.memory=4194305"), allocatable: "nvidia.com/gpu=2",
			cards:    []string{"V100:2"},
			rows:     []string{"2 none/1 V100 - 0"},
			problems: []string{"bad-memory nvidia.com/gpu.memory"},
		},

		// Sharing.
		{
			fact: "shares only", labels: v100("nvidia.com/gpu.replicas=4 nvidia.com/gpu.sharing-strategy=mps"), allocatable: "nvidia.com/gpu.shared=8",
			cards: []string{"V100/mps-32g*1/4:8"},
			rows:  []string{"2 mps/4 V100 - 34359738368"},
		}, {
			fact: "renamed time-slicing", labels: v100("nvidia.com/gpu.replicas=4 nvidia.com/gpu.sharing-strategy=time-slicing"), allocatable: "nvidia.com/gpu=0 nvidia.com/gpu.shared=8",
			cards: []string{"V100/mps-32g*1/4:8"},
			rows:  []string{"2 time-slicing/4 V100 - 34359738368"},
		}, {
			fact: "shares left over", labels: v100("nvidia.com/gpu.replicas=4"), allocatable: "nvidia.com/gpu.shared=7",
			cards:    []string{"V100/mps-32g*1/4:7"},
			rows:     []string{"1 mps/4 V100 - 34359738368"},
			problems: []string{"count-mismatch nvidia.com/gpu.shared"},
		}, {
			fact: "no replicas label", labels: v100(""), allocatable: "nvidia.com/gpu=2 nvidia.com/gpu.shared=8",
			cards:    []string{"V100:2"},
			rows:     []string{"2 none/1 V100 - 34359738368"},
			problems: []string{"bad-replicas nvidia.com/gpu.replicas"},
		}, {
			fact: "replicas 0", labels: v100("nvidia.com/gpu.replicas=0"), allocatable: "nvidia.com/gpu=2 nvidia.com/gpu.shared=8",
			cards:    []string{"V100:2"},
			rows:     []string{"2 none/1 V100 - 34359738368"},
			problems: []string{"bad-replicas nvidia.com/gpu.replicas"},
		}, {
			fact: "replicas 0 and nothing shared", labels: v100("nvidia.com/gpu.replicas=0"), allocatable: "nvidia.com/gpu=2",
			cards: []string{"V100:2"},
			rows:  []string{"2 none/1 V100 - 34359738368"},
		}, {
			fact: "replicas x", labels: v100("nvidia.com/gpu.replicas=x"), allocatable: "nvidia.com/gpu=2 nvidia.com/gpu.shared=8",
			cards:    []string{"V100:2"},
			rows:     []string{"2 none/1 V100 - 34359738368"},
			problems: []string{"bad-replicas nvidia.com/gpu.replicas"},
		}, {
			fact: "replicas -4", labels: v100("nvidia.com/gpu.replicas=-4"), allocatable: "nvidia.com/gpu.shared=8",
			problems: []string{"bad-replicas nvidia.com/gpu.replicas"},
		}, {
			fact: "replicas 1", labels: v100("nvidia.com/gpu.replicas=1"), allocatable: "nvidia.com/gpu=2 nvidia.com/gpu.shared=2",
			cards: []string{"V100:2", "V100/mps-32g*1/1:2"},
			rows:  []string{"2 mps/1 V100 - 34359738368", "2 none/1 V100 - 34359738368"},
		}, {
			fact: "shared in place, seen by the numbers", labels: v100("nvidia.com/gpu.replicas=4 nvidia.com/gpu.sharing-strategy=mps"), allocatable: "nvidia.com/gpu=8",
			cards: []string{"V100:8"},
			rows:  []string{"2 mps/4 V100 - 34359738368"},
		}, {
			fact: "replicas of a resource that isn't there", labels: v100("nvidia.com/gpu.replicas=4"), allocatable: "nvidia.com/gpu=2",
			cards: []string{"V100:2"},
			rows:  []string{"2 none/1 V100 - 34359738368"},
		}, {
			fact: "511 MiB are 0 G", labels: v100("nvidia.com/gpu.memory=511 nvidia.com/gpu.replicas=2"), allocatable: "nvidia.com/gpu.shared=4",
			cards: []string{"V100/mps-0g*1/2:4"},
			rows:  []string{"2 mps/2 V100 - 535822336"},
		},

		// MIG.
		{
			fact:        "instances with memory",
			labels:      v100("nvidia.com/mig.strategy=mixed nvidia.com/mig-3g.20gb.memory=19968 nvidia.com/mig-1g.5gb.me.memory=4864 nvidia.com/mig-1c.3g.20gb.count=1"),
			allocatable: "nvidia.com/mig-3g.20gb=2 nvidia.com/mig-1g.5gb.me=1 nvidia.com/mig-1c.3g.20gb=1",
			cards:       []string{"V100/mig-1c.3g.20gb-mixed:1", "V100/mig-1g.5gb.me-mixed:1", "V100/mig-3g.20gb-mixed:2"},
			rows:        []string{"1 mig/1 V100 1c.3g.20gb 0", "1 mig/1 V100 1g.5gb+me 5100273664", "2 mig/1 V100 3g.20gb 20937965568"},
		}, {
			fact: "memory of instances that can't be", labels: v100("nvidia.com/mig-3g.20gb.memory=1"), allocatable: "nvidia.com/mig-3g.20gb=2",
			cards:    []string{"V100/mig-3g.20gb-mixed:2"},
			rows:     []string{"2 mig/1 V100 3g.20gb 0"},
			problems: []string{"bad-memory nvidia.com/mig-3g.20gb.memory"},
		}, {
			fact: "names that are no profile", labels: v100(""), allocatable: "nvidia.com/mig-1g.5gb111=3 nvidia.com/mig-mig-1g.5gb=1",
			cards:    []string{"V100/mig-1g.5gb111-mixed:3", "V100/mig-mig-1g.5gb-mixed:1"},
			rows:     []string{"4 mig/1 V100 - 0"},
			problems: []string{"unparsed-profile nvidia.com/mig-1g.5gb111", "unparsed-profile nvidia.com/mig-mig-1g.5gb"},
		}, {
			fact: "shared instances", labels: v100("nvidia.com/mig-1g.5gb.replicas=3 nvidia.com/mig-1g.5gb.memory=4864"), allocatable: "nvidia.com/mig-1g.5gb.shared=6",
			cards: []string{"V100/mig-1g.5gb.shared-mixed:6"},
			rows:  []string{"2 mig/3 V100 1g.5gb 5100273664"},
		}, {
			fact: "shared instances, replicas unknown", labels: v100(""), allocatable: "nvidia.com/mig-1g.5gb.shared=6",
			cards:    []string{"V100/mig-1g.5gb.shared-mixed:6"},
			problems: []string{"bad-replicas nvidia.com/mig-1g.5gb.replicas"},
		}, {
			fact: "shared by name, without replicas", labels: v100("nvidia.com/gpu.product=V100-SHARED"), allocatable: "nvidia.com/gpu=8",
			cards:    []string{"V100-SHARED:8"},
			problems: []string{"bad-replicas nvidia.com/gpu.replicas"},
		}, {
			fact: "shared by name, replicas no number", labels: v100("nvidia.com/gpu.product=V100-SHARED nvidia.com/gpu.replicas=x"), allocatable: "nvidia.com/gpu=8",
			cards:    []string{"V100-SHARED:8"},
			problems: []string{"bad-replicas nvidia.com/gpu.replicas"},
		}, {
			fact:   "shared by name, under a rule that knows no replicas",
			labels: "x.com/npu.product=N-SHARED x.com/npu.count=8 x.com/npu.memory=1024", allocatable: "x.com/npu=8",
			cards: []string{"N-SHARED:8"},
			rows:  []string{"8 none/1 N-SHARED - 1073741824"},
		}, {
			fact: "instances counted by label", labels: v100("nvidia.com/mig-1g.5gb.count=7"), allocatable: "nvidia.com/mig-1g.5gb=6",
			cards:    []string{"V100/mig-1g.5gb-mixed:6"},
			rows:     []string{"6 mig/1 V100 1g.5gb 0"},
			problems: []string{"count-mismatch nvidia.com/mig-1g.5gb"},
		}, {
			fact:        "shared instances counted by label",
			labels:      v100("nvidia.com/mig-1g.5gb.count=7 nvidia.com/mig-1g.5gb.replicas=2"),
			allocatable: "nvidia.com/mig-1g.5gb.shared=14",
			cards:       []string{"V100/mig-1g.5gb.shared-mixed:14"},
			rows:        []string{"7 mig/2 V100 1g.5gb 0"},
		}, {
			fact:        "instances shared under their own resource",
			labels:      v100("nvidia.com/mig-1g.5gb.count=7 nvidia.com/mig-1g.5gb.replicas=2 nvidia.com/mig-1g.5gb.product=V100-MIG-1g.5gb-SHARED"),
			allocatable: "nvidia.com/mig-1g.5gb=12",
			cards:       []string{"V100/mig-1g.5gb-mixed:12"},
			rows:        []string{"6 mig/2 V100 1g.5gb 0"},
			problems:    []string{"count-mismatch nvidia.com/mig-1g.5gb"},
		}, {
			fact:        "instances shared under their own resource, by the numbers",
			labels:      v100("nvidia.com/mig-1g.5gb.count=7 nvidia.com/mig-1g.5gb.replicas=2"),
			allocatable: "nvidia.com/mig-1g.5gb=14",
			cards:       []string{"V100/mig-1g.5gb-mixed:14"},
			rows:        []string{"7 mig/2 V100 1g.5gb 0"},
		}, {
			fact:        "instances shared under their own resource, without replicas",
			labels:      v100("nvidia.com/mig-1g.5gb.count=7 nvidia.com/mig-1g.5gb.product=V100-MIG-1g.5gb-SHARED"),
			allocatable: "nvidia.com/mig-1g.5gb=14",
			cards:       []string{"V100/mig-1g.5gb-mixed:14"},
			problems:    []string{"bad-replicas nvidia.com/mig-1g.5gb.replicas"},
		}, {
			fact:        "instances of which some are shared",
			labels:      v100("nvidia.com/mig-1g.5gb.count=7 nvidia.com/mig-1g.5gb.replicas=2"),
			allocatable: "nvidia.com/mig-1g.5gb=3 nvidia.com/mig-1g.5gb.shared=8",
			cards:       []string{"V100/mig-1g.5gb-mixed:3", "V100/mig-1g.5gb.shared-mixed:8"},
			rows:        []string{"3 mig/1 V100 1g.5gb 0", "4 mig/2 V100 1g.5gb 0"},
		}, {
			fact: "instances miscounted by label", labels: v100("nvidia.com/mig-1g.5gb.count=x"), allocatable: "nvidia.com/mig-1g.5gb=6",
			cards:    []string{"V100/mig-1g.5gb-mixed:6"},
			rows:     []string{"6 mig/1 V100 1g.5gb 0"},
			problems: []string{"bad-count nvidia.com/mig-1g.5gb.count"},
		}, {
			fact:        "strategy single",
			labels:      v100("nvidia.com/mig.strategy=single nvidia.com/gpu.product=NVIDIA-A100-SXM4-40GB-MIG-1g.5gb nvidia.com/gpu.count=7 nvidia.com/gpu.memory=4864"),
			allocatable: "nvidia.com/gpu=7",
			cards:       []string{"NVIDIA-A100-SXM4-40GB-MIG-1g.5gb:7"},
			rows:        []string{"7 mig/1 NVIDIA-A100-SXM4-40GB-MIG-1g.5gb 1g.5gb 5100273664"},
		}, {
			fact:        "strategy single, shared",
			labels:      v100("nvidia.com/mig.strategy=single nvidia.com/gpu.product=A100-MIG-1g.5gb-SHARED nvidia.com/gpu.count=7 nvidia.com/gpu.memory=4864 nvidia.com/gpu.replicas=2"),
			allocatable: "nvidia.com/gpu=14",
			cards:       []string{"A100-MIG-1g.5gb-SHARED:14"},
			rows:        []string{"7 mig/2 A100-MIG-1g.5gb-SHARED 1g.5gb 5100273664"},
		}, {
			fact:        "strategy single, shared under another name",
			labels:      v100("nvidia.com/mig.strategy=single nvidia.com/gpu.product=A100-MIG-1g.5gb nvidia.com/gpu.count=7 nvidia.com/gpu.memory=4864 nvidia.com/gpu.replicas=2"),
			allocatable: "nvidia.com/gpu.shared=14",
			cards:       []string{"A100-MIG-1g.5gb/mps-5g*1/2:14"},
			rows:        []string{"7 mig/2 A100-MIG-1g.5gb 1g.5gb 5100273664"},
		}, {
			fact:   "strategy single, GPUs that aren't cut",
			labels: v100("nvidia.com/mig.strategy=single"), allocatable: "nvidia.com/gpu=2",
			cards: []string{"V100:2"},
			rows:  []string{"2 none/1 V100 - 34359738368"},
		}, {
			fact:        "strategy single, instances that differ",
			labels:      v100("nvidia.com/mig.strategy=single nvidia.com/gpu.product=A100-MIG-INVALID nvidia.com/gpu.count=0 nvidia.com/gpu.memory=0 nvidia.com/gpu.replicas=0"),
			allocatable: "nvidia.com/gpu=0",
			problems:    []string{"bad-strategy nvidia.com/mig.strategy"},
		},

		// AMD.
		{
			fact: "AMD", labels: "amd.com/gpu.product-name=AMD_Instinct_MI300X_OAM amd.com/gpu.vram=192G", allocatable: "amd.com/gpu=8",
			cards: []string{"AMD_Instinct_MI300X_OAM:8"},
			rows:  []string{"8 none/1 AMD_Instinct_MI300X_OAM - 192000000000"},
		}, {
			fact: "AMD in GiB", labels: "amd.com/gpu.product-name=MI210 amd.com/gpu.vram=64Gi", allocatable: "amd.com/gpu=1",
			cards: []string{"MI210:1"},
			rows:  []string{"1 none/1 MI210 - 68719476736"},
		}, {
			fact: "AMD with a fraction", labels: "amd.com/gpu.product-name=MI210 amd.com/gpu.vram=63.5Gi", allocatable: "amd.com/gpu=1",
			cards: []string{"MI210:1"},
			rows:  []string{"1 none/1 MI210 - 68182605824"},
		}, {
			fact: "AMD with an exponent", labels: "amd.com/gpu.product-name=MI210 amd.com/gpu.vram=64e9", allocatable: "amd.com/gpu=1",
			cards: []string{"MI210:1"},
			rows:  []string{"1 none/1 MI210 - 64000000000"},
		}, {
			fact: "AMD without memory, as with several sizes", labels: "amd.com/gpu.product-name=MI210", allocatable: "amd.com/gpu=15",
			cards: []string{"MI210:15"},
			rows:  []string{"15 none/1 MI210 - 0"},
		},

		{
			fact: "AMD in DPX", labels: mi355x("144G amd.com/compute-memory-partition=dpx_nps2"), allocatable: "amd.com/gpu=16",
			cards: []string{"AMD_Instinct_MI355X_OAM/dpx_nps2:16"},
			rows:  []string{"16 none/1 AMD_Instinct_MI355X_OAM dpx_nps2 144000000000"},
		}, {
			fact: "AMD in CPX, by either label", labels: mi355x("36G amd.com/compute-memory-partition=cpx_nps1 amd.com/gpu.compute-memory-partition=CPX_NPS1"), allocatable: "amd.com/gpu=64",
			cards: []string{"AMD_Instinct_MI355X_OAM/cpx_nps1:64"},
			rows:  []string{"64 none/1 AMD_Instinct_MI355X_OAM cpx_nps1 36000000000"},
		}, {
			fact: "AMD in SPX", labels: mi355x("288G amd.com/gpu.compute-memory-partition=spx_nps1"), allocatable: "amd.com/gpu=8",
			cards: []string{"AMD_Instinct_MI355X_OAM:8"},
			rows:  []string{"8 none/1 AMD_Instinct_MI355X_OAM - 288000000000"},
		}, {
			fact: "AMD in DPX without the label: by its memory", labels: mi355x("144G"), allocatable: "amd.com/gpu=16",
			cards: []string{"AMD_Instinct_MI355X_OAM/dpx:16"},
			rows:  []string{"16 none/1 AMD_Instinct_MI355X_OAM dpx 144000000000"},
		}, {
			fact: "AMD in CPX without the label, in GiB", labels: mi355x("36Gi"), allocatable: "amd.com/gpu=64",
			cards: []string{"AMD_Instinct_MI355X_OAM/cpx:64"},
			rows:  []string{"64 none/1 AMD_Instinct_MI355X_OAM cpx 38654705664"},
		}, {
			fact: "AMD with a size that no partition has", labels: mi355x("96G"), allocatable: "amd.com/gpu=8",
			cards: []string{"AMD_Instinct_MI355X_OAM:8"},
			rows:  []string{"8 none/1 AMD_Instinct_MI355X_OAM - 96000000000"},
		}, {
			fact: "AMD, resources by partition", labels: "amd.com/gpu.product-name=MI300X", allocatable: "amd.com/spx_nps1=5 amd.com/cpx_nps1=24 amd.com/cpx_nps4=0 amd.com/cpx_nps=1 amd.com/xpx_nps1=1",
			cards: []string{"MI300X:5", "MI300X/cpx_nps1:24"},
			rows:  []string{"24 none/1 MI300X cpx_nps1 0", "5 none/1 MI300X - 0"},
		}, {
			fact: "AMD, both names at once: nothing is there twice", labels: "amd.com/gpu.product-name=MI300X", allocatable: "amd.com/gpu=64 amd.com/cpx_nps4=64",
			cards: []string{"MI300X/cpx_nps4:64"}, rows: []string{"64 none/1 MI300X cpx_nps4 0"},
			problems: []string{"count-mismatch amd.com/gpu"},
		}, {
			fact: "AMD, resources by partition without labels", allocatable: "amd.com/cpx_nps4=64",
			problems: []string{"missing-label amd.com/gpu.product-name"},
		},

		// The pattern.
		{
			fact: "two vendors", labels: v100("x.com/npu.product=N1 x.com/npu.count=1 x.com/npu.memory=1024"), allocatable: "nvidia.com/gpu=2 x.com/npu=1",
			cards: []string{"N1:1", "V100:2"},
			rows:  []string{"1 none/1 N1 - 1073741824", "2 none/1 V100 - 34359738368"},
		}, {
			fact: "a pattern with siblings missing", labels: "x.com/npu.product=N1 y.com/npu.product=N2 y.com/npu.count=1", allocatable: "x.com/npu=1",
			problems: []string{"missing-label x.com/npu.count", "missing-label x.com/npu.memory", "missing-label y.com/npu.memory"},
		}, {
			fact:   "labels that aren't of the pattern",
			labels: "nvidia.com/mig-1g.5gb.product=A nvidia.com/mig-1g.5gb.count=7 x.com/a-b.product=A x.com/a.b.product=A x.com/.product=A /npu.product=A npu.product=A gpu.intel.com/product=A",
		}, {
			fact: "one product under two resources", labels: "x.com/a.product=N x.com/a.count=1 x.com/a.memory=1024 x.com/b.product=N x.com/b.count=3 x.com/b.memory=1024", allocatable: "x.com/a=1 x.com/b=3",
			cards:    []string{"N:1", "N:3"},
			rows:     []string{"4 none/1 N - 1073741824"},
			problems: []string{"ambiguous-card N"},
		},

		// The node.
		{
			fact: "cpu and memory that can't be", allocatable: "cpu=-1 memory=10E",
			problems: []string{"bad-count cpu", "bad-memory memory"},
		},
	} {
		t.Run(c.fact, func(t *testing.T) {
			n := readLabels(t, nil, device.Names{}, labelNode("node", c.labels, c.allocatable))
			if diff := cmp.Diff(notNil(c.cards), labelCards(n)); diff != "" {
				t.Errorf("cards (-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(notNil(c.rows), labelRows(t, n.Devices)); diff != "" {
				t.Errorf("rows (-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(notNil(c.problems), labelProblems(n.Problems)); diff != "" {
				t.Errorf("problems (-want +got)\n%s", diff)
			}
		})
	}
}

func notNil(list []string) []string { return append([]string{}, list...) }

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
	if diff := cmp.Diff(want, n); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
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

// TestLabelVendors: a vendor is a rule and no code.
func TestLabelVendors(t *testing.T) {
	for _, c := range []struct {
		rule                device.Rule
		labels, allocatable string
		cards, problems     []string
		vendor              string
		rows                int
		memory              int64
		sharing             device.Sharing
		resource            corev1.ResourceName
	}{
		{
			rule: device.Rule{
				Name: "intel", Vendor: "intel.com", Product: "gpu.intel.com/product",
				Memory: "gpu.intel.com/memory.max", MemoryUnit: "Quantity",
				Whole: []corev1.ResourceName{"gpu.intel.com/i915", "gpu.intel.com/xe"},
			},
			labels:      "gpu.intel.com/product=Max_1100 gpu.intel.com/memory.max=51539607552",
			allocatable: "gpu.intel.com/i915=4 gpu.intel.com/i915_monitoring=1 gpu.intel.com/millicores=4000",
			cards:       []string{"Max_1100:4"}, vendor: "intel.com", rows: 4, memory: 48 * labelGiB, resource: "gpu.intel.com/i915",
		}, {
			rule: device.Rule{
				Name: "cambricon", Product: "cambricon.com/mlu.product", Count: "cambricon.com/mlu.count", Memory: "cambricon.com/mlu.memory",
				Replicas: "cambricon.com/mlu.replicas", Whole: []corev1.ResourceName{"cambricon.com/mlu"},
				Shared: []corev1.ResourceName{"cambricon.com/mlu-share"},
			},
			labels:      "cambricon.com/mlu.product=MLU370-X8 cambricon.com/mlu.count=4 cambricon.com/mlu.memory=49152 cambricon.com/mlu.replicas=2",
			allocatable: "cambricon.com/mlu-share=8 cambricon.com/mlu.smlu.vmemory=100",
			cards:       []string{"MLU370-X8/mps-48g*1/2:8"}, vendor: "cambricon.com", rows: 4, memory: 48 * labelGiB,
			sharing: device.SharingMPS, resource: "cambricon.com/mlu-share",
		}, {
			rule: device.Rule{
				Name: "hygon", Vendor: "hygon.com", Product: "hygon.com/dcu.name", Count: "hygon.com/dcu.number", Memory: "hygon.com/dcu.vram",
				MemoryUnit: "Quantity", Whole: []corev1.ResourceName{"dcu.com/gpu"},
			},
			labels:      "hygon.com/dcu.name=K100_AI hygon.com/dcu.number=8 hygon.com/dcu.vram=64Gi",
			allocatable: "dcu.com/gpu=7",
			cards:       []string{"K100_AI:7"}, problems: []string{"count-mismatch dcu.com/gpu"},
			vendor: "hygon.com", rows: 7, memory: 64 * labelGiB, resource: "dcu.com/gpu",
		},
	} {
		t.Run(c.rule.Name, func(t *testing.T) {
			rules := append([]device.Rule{c.rule}, device.DefaultRules()...)
			n := readLabels(t, rules, device.Names{}, labelNode("node", c.labels, c.allocatable))
			if got := labelCards(n); !slices.Equal(got, c.cards) {
				t.Errorf("cards %v", got)
			}
			if got := labelProblems(n.Problems); !slices.Equal(got, c.problems) {
				t.Errorf("problems %v", got)
			}
			if len(n.Devices) != c.rows || n.Cards[0].Resource != c.resource {
				t.Fatalf("%+v", n)
			}
			if d := n.Devices[0]; d.Vendor != c.vendor || d.MemoryBytes != c.memory || d.Sharing != c.sharing {
				t.Errorf("%+v", d)
			}
		})
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
	values, err := device.FromNodes(nodes, nil, device.LabelOptions{})
	if err != nil {
		t.Fatal(err)
	}
	other, err := device.FromNodes(pointers, device.DefaultRules(), device.LabelOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(values, other); diff != "" {
		t.Errorf("values and pointers\n%s", diff)
	}
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

	ready, err := device.FromNodes(nodes, nil, device.LabelOptions{Include: func(n *corev1.Node) bool { return !n.Spec.Unschedulable }})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := ready.Node("b"); ok || len(ready.Nodes) != 2 {
		t.Errorf("%+v", ready)
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
		inv, err := device.FromNodes([]corev1.Node{node}, nil, device.LabelOptions{ReportUnlisted: report})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, inv.Nodes[0].Problems); diff != "" {
			t.Errorf("report %v: %s", report, diff)
		}
	}
}
