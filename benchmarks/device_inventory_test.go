package benchmarks

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/resvec/resvec/benchmarks/internal/stopwatch"
	"github.com/resvec/resvec/device"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BenchmarkInventoryLabels reads the devices of 5,000 nodes from their labels. One
// iteration times the baseline and [device.FromNodes] in turn; the fastest sample
// of each counts.
//
//	ns/node         of FromNodes, which makes the rows of devices too
//	regexp-ns/node  of the loop with regular expressions, which makes cards only
//	x_regexp        how many times as fast FromNodes is
func BenchmarkInventoryLabels(b *testing.B) {
	const count = 5000
	nodes := labelledNodes(count)
	rules := device.DefaultRules()
	var inv *device.Inventory
	ours := stopwatch.New(1, func(int) {
		var err error
		if inv, err = device.FromNodes(nodes, rules, device.Options{}); err != nil {
			b.Fatal(err)
		}
	})
	var cards map[string]map[string]int64
	loop := stopwatch.New(1, func(int) { cards = regexpCards(nodes) })
	b.Run(fmt.Sprintf("nodes=%d", count), func(b *testing.B) {
		b.ReportAllocs()
		alternate(b, ours, loop)
		if diff := cmp.Diff(cards, inventoryCards(inv)); diff != "" {
			b.Fatalf("different cards\n%s", diff)
		}
		b.ReportMetric(ours.Best/count, "ns/node")
		b.ReportMetric(loop.Best/count, "regexp-ns/node")
		b.ReportMetric(loop.Best/ours.Best, "x_regexp")
	})
}

// labelledNodes makes nodes of six kinds, with as many other labels as a node has
// on which node feature discovery runs.
func labelledNodes(count int) []*corev1.Node {
	kinds := []struct{ labels, allocatable string }{
		{}, // no devices
		{
			"nvidia.com/gpu.product=NVIDIA-H100-80GB-HBM3 nvidia.com/gpu.count=8 nvidia.com/gpu.memory=81559 nvidia.com/gpu.replicas=1 nvidia.com/gpu.family=hopper nvidia.com/mig.strategy=mixed nvidia.com/gpu.sharing-strategy=none",
			"nvidia.com/gpu=8",
		}, {
			"nvidia.com/gpu.product=Tesla-V100-SXM2-32GB nvidia.com/gpu.count=4 nvidia.com/gpu.memory=32768 nvidia.com/gpu.replicas=4 nvidia.com/gpu.sharing-strategy=mps",
			"nvidia.com/gpu=0 nvidia.com/gpu.shared=16",
		}, {
			"nvidia.com/gpu.product=NVIDIA-A100-SXM4-40GB nvidia.com/gpu.count=8 nvidia.com/gpu.memory=40960 nvidia.com/mig.strategy=mixed nvidia.com/mig-1g.5gb.memory=4864 nvidia.com/mig-1g.5gb.product=NVIDIA-A100-SXM4-40GB-MIG-1g.5gb nvidia.com/mig-3g.20gb.memory=19968 nvidia.com/mig-3g.20gb.product=NVIDIA-A100-SXM4-40GB-MIG-3g.20gb",
			"nvidia.com/gpu=4 nvidia.com/mig-1g.5gb=8 nvidia.com/mig-3g.20gb=4",
		}, {
			"x.com/gpu.product=MI300X x.com/gpu.count=8 x.com/gpu.memory=196608",
			"x.com/gpu=8",
		}, {
			"huawei.com/Ascend910.product=Ascend910B3 huawei.com/Ascend910.count=8 huawei.com/Ascend910.memory=65536",
			"huawei.com/Ascend910=8 huawei.com/Ascend910-memory=524288",
		},
	}
	r := rand.New(rand.NewPCG(300, 1))
	nodes := make([]*corev1.Node, count)
	for i, k := range r.Perm(count) {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("node-%05d", k), Labels: map[string]string{
			"kubernetes.io/hostname":           fmt.Sprintf("node-%05d", k),
			"kubernetes.io/arch":               "amd64",
			"topology.kubernetes.io/zone":      fmt.Sprintf("zone-%d", k%3),
			"node.kubernetes.io/instance-type": "gpu.large",
		}}}
		for f := range 40 {
			n.Labels[fmt.Sprintf("feature.node.kubernetes.io/cpu-cpuid.FEATURE%02d", f)] = "true"
		}
		n.Status.Allocatable = corev1.ResourceList{
			"cpu": resource.MustParse("128"), "memory": resource.MustParse("1000Gi"), "pods": resource.MustParse("110"),
			"ephemeral-storage": resource.MustParse("900Gi"), "hugepages-1Gi": resource.MustParse("0"), "hugepages-2Mi": resource.MustParse("0"),
		}
		kind := kinds[k%len(kinds)]
		for _, pair := range strings.Fields(kind.labels) {
			key, value, _ := strings.Cut(pair, "=")
			n.Labels[key] = value
		}
		for _, pair := range strings.Fields(kind.allocatable) {
			key, value, _ := strings.Cut(pair, "=")
			n.Status.Allocatable[corev1.ResourceName(key)] = resource.MustParse(value)
		}
		nodes[i] = n
	}
	return nodes
}

// inventoryCards returns the cards of each node that has any.
func inventoryCards(inv *device.Inventory) map[string]map[string]int64 {
	all := map[string]map[string]int64{}
	for i := range inv.Nodes {
		n := &inv.Nodes[i]
		for _, card := range n.Cards {
			if all[n.Name] == nil {
				all[n.Name] = map[string]int64{}
			}
			all[n.Name][card.Name] = card.Count
		}
	}
	return all
}

var (
	productLabel = regexp.MustCompile(`^([^/]+)/([A-Za-z0-9_]+)\.product$`)
	migResource  = regexp.MustCompile(`^nvidia\.com/mig-(.+)$`)
)

// regexpCards finds the cards of nodes as capacity-card in Volcano (pkg/scheduler/
// plugins/capacity-card) does: a compiled regular expression against every label of
// a node, and one against every resource, names put together from the parts. It
// knows whole cards, shares and MIG instances, and makes no rows of devices.
func regexpCards(nodes []*corev1.Node) map[string]map[string]int64 {
	all := make(map[string]map[string]int64, len(nodes))
	for _, n := range nodes {
		cards := map[string]int64{}
		for key, product := range n.Labels {
			parts := productLabel.FindStringSubmatch(key)
			if parts == nil {
				continue
			}
			kind := parts[1] + "/" + parts[2]
			if _, err := strconv.ParseInt(n.Labels[kind+".count"], 10, 64); err != nil {
				continue
			}
			mebibytes, err := strconv.ParseInt(n.Labels[kind+".memory"], 10, 64)
			if err != nil {
				continue
			}
			for name, quantity := range n.Status.Allocatable {
				if quantity.Value() == 0 {
					continue
				}
				if string(name) == kind {
					cards[product] = quantity.Value()
				} else if string(name) == kind+".shared" {
					replicas, err := strconv.ParseInt(n.Labels[kind+".replicas"], 10, 64)
					if err != nil || replicas <= 0 {
						continue
					}
					cards[fmt.Sprintf("%s/mps-%dg*1/%d", product, int(math.Round(float64(mebibytes)/1024)), replicas)] = quantity.Value()
				} else if profile := migResource.FindStringSubmatch(string(name)); profile != nil && parts[1] == "nvidia.com" {
					cards[fmt.Sprintf("%s/mig-%s-mixed", product, profile[1])] = quantity.Value()
				}
			}
		}
		if len(cards) > 0 {
			all[n.Name] = cards
		}
	}
	return all
}
