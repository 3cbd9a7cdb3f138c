package device

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestGrowthLabels reads nodes whose labels and resources are many, or long.
func TestGrowthLabels(t *testing.T) {
	one := func(fill func(n int, label func(key, value string), allocatable func(name, amount string))) func(n int) []corev1.Node {
		return func(n int) []corev1.Node {
			node := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{}}}
			node.Status.Allocatable = corev1.ResourceList{}
			fill(n, func(key, value string) { node.Labels[key] = value },
				func(name, amount string) {
					node.Status.Allocatable[corev1.ResourceName(name)] = resource.MustParse(amount)
				})
			return []corev1.Node{node}
		}
	}
	type add = func(key, value string)
	for name, nodes := range map[string]func(n int) []corev1.Node{
		"nodes": func(n int) []corev1.Node {
			nodes := make([]corev1.Node, n)
			for i := range nodes {
				nodes[i] = corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: strconv.Itoa(i), Labels: map[string]string{"nvidia.com/gpu.product": "A" + strconv.Itoa(i), "nvidia.com/gpu.count": "1", "nvidia.com/gpu.memory": "81920"}}}
				nodes[i].Status.Allocatable = corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("1")}
			}
			return nodes
		},
		"nodes of one name": func(n int) []corev1.Node { return make([]corev1.Node, n) },
		"nodes of the name of a bad one": func(n int) []corev1.Node {
			bad := corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{}}}
			for i := range n {
				bad.Labels[fmt.Sprintf("x%d.com/gpu.product", i)] = "A"
			}
			return append([]corev1.Node{bad}, make([]corev1.Node, n)...)
		},
		"labels": one(func(n int, label, _ add) {
			for i := range n {
				label(fmt.Sprintf("example.com/x%d", i), "y")
			}
		}),
		"resources": one(func(n int, label, allocatable add) {
			for i := range n {
				allocatable(fmt.Sprintf("example.com/x%d", i), "5")
			}
		}),
		"products and resources": one(func(n int, label, allocatable add) {
			for i := range n {
				label(fmt.Sprintf("x%d.com/gpu.product", i), "A100")
				label(fmt.Sprintf("x%d.com/gpu.count", i), "8")
				allocatable(fmt.Sprintf("x%d.com/gpu", i), "8")
			}
		}),
		"products of one domain": one(func(n int, label, allocatable add) {
			for i := range n {
				label(fmt.Sprintf("x.com/gpu%d.product", i), "A100")
				label(fmt.Sprintf("x.com/gpu%d.memory", i), "80000000000000000000")
				allocatable(fmt.Sprintf("x.com/gpu%d.shared", n-i), "1e400")
			}
		}),
		"products and other resources": one(func(n int, label, allocatable add) {
			for i := range n {
				label(fmt.Sprintf("x%d.com/gpu.product", i), "A100")
				allocatable(fmt.Sprintf("y%d.com/gpu", i), "8")
			}
		}),
		"MIG instances": one(func(n int, label, allocatable add) {
			label("nvidia.com/gpu.product", "A100")
			label("nvidia.com/gpu.count", "8")
			label("nvidia.com/gpu.memory", "40960")
			for i := range n {
				allocatable(fmt.Sprintf("nvidia.com/mig-%dg.%dgb", 1+i%7, i), "2")
				label(fmt.Sprintf("nvidia.com/mig-%dg.%dgb.memory", 1+i%7, i), "x")
			}
		}),
		"a long product": one(func(n int, label, allocatable add) {
			label("nvidia.com/gpu.product", strings.Repeat("A-", 100*n))
			label("nvidia.com/gpu.count", strings.Repeat("9", 100*n))
			label("nvidia.com/gpu.memory", strings.Repeat("9", 100*n))
			allocatable("nvidia.com/gpu", "8")
		}),
		"a long MIG profile": one(func(n int, label, allocatable add) {
			label("nvidia.com/gpu.product", "A100-MIG-"+strings.Repeat("1g.", 100*n))
			label("nvidia.com/mig.strategy", "single")
			label("nvidia.com/gpu.count", "8")
			label("nvidia.com/gpu.memory", "40960")
			allocatable("nvidia.com/gpu", "8")
			allocatable("nvidia.com/mig-"+strings.Repeat("1g.", 100*n), "8")
		}),
	} {
		t.Run(name, func(t *testing.T) {
			testkit.Linear(t, 200, func(n int) func() {
				list := nodes(n)
				return func() {
					inv, err := FromNodes(list, nil, LabelOptions{ReportUnlisted: true})
					if err != nil {
						t.Error(err)
					}
					inv.Catalog()
				}
			})
		})
	}
}

// TestGrowthSlices reads pools that are large in some way.
func TestGrowthSlices(t *testing.T) {
	text := func(s string) *string { return &s }
	device := func(name, uuid, parent string) resourcev1.Device {
		return resourcev1.Device{Name: name, Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
			"type": {StringValue: text("gpu")}, "uuid": {StringValue: &uuid}, "productName": {StringValue: text("NVIDIA A100")}, "parentUUID": {StringValue: &parent},
		}}
	}
	slice := func(name, node, pool string, of int, devices ...resourcev1.Device) resourcev1.ResourceSlice {
		s := resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: name}}
		s.Spec = resourcev1.ResourceSliceSpec{Driver: "gpu.nvidia.com", NodeName: &node, Devices: devices,
			Pool: resourcev1.ResourcePool{Name: pool, Generation: 1, ResourceSliceCount: int64(of)}}
		return s
	}
	mig := func(i int) resourcev1.Device {
		d := device(fmt.Sprintf("gpu-%d-mig", i), fmt.Sprint("MIG-", i), fmt.Sprint("GPU-", i))
		d.Attributes["type"] = resourcev1.DeviceAttribute{StringValue: text("mig")}
		d.Attributes["profile"] = resourcev1.DeviceAttribute{StringValue: text("1g.5gb")}
		d.Capacity = map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{}
		for slot := range 8 {
			d.Capacity[resourcev1.QualifiedName(fmt.Sprint("memorySlice", slot))] = resourcev1.DeviceCapacity{Value: resource.MustParse("1")}
		}
		return d
	}
	for name, make := range map[string]func(n int) []resourcev1.ResourceSlice{
		"nodes": func(n int) (list []resourcev1.ResourceSlice) {
			for i := range n {
				list = append(list, slice(fmt.Sprint(i), fmt.Sprint("n", i), fmt.Sprint("n", i), 1, device("gpu-0", fmt.Sprint(i), "")))
			}
			return list
		},
		"slices of a pool": func(n int) (list []resourcev1.ResourceSlice) {
			for i := range n {
				list = append(list, slice(fmt.Sprint(i), fmt.Sprint("n", i%7), "p", n, device(fmt.Sprint("gpu-", i), fmt.Sprint(i), "")))
			}
			return list
		},
		"generations": func(n int) (list []resourcev1.ResourceSlice) {
			for i := range n {
				s := slice(fmt.Sprint(i), "n", "p", n, device("gpu", "x", ""))
				s.Spec.Pool.Generation = int64(i)
				list = append(list, s)
			}
			return list
		},
		"pools of a node": func(n int) (list []resourcev1.ResourceSlice) {
			for i := range n {
				list = append(list, slice(fmt.Sprint(i), "n", fmt.Sprint("p", i), 2, device("gpu-0", "x", "")))
			}
			return list
		},
		"devices with one UUID": func(n int) (list []resourcev1.ResourceSlice) {
			var devices []resourcev1.Device
			for i := range n {
				devices = append(devices, device(fmt.Sprint("gpu-", i), "x", ""))
			}
			return append(list, slice("s", "n", "p", 1, devices...))
		},
		"MIG instances": func(n int) (list []resourcev1.ResourceSlice) {
			var devices []resourcev1.Device
			for i := range n {
				devices = append(devices, device(fmt.Sprint("gpu-", i), fmt.Sprint("GPU-", i), ""), mig(i))
			}
			return append(list, slice("s", "n", "p", 1, devices...))
		},
		"no nodes": func(n int) (list []resourcev1.ResourceSlice) {
			for i := range n {
				list = append(list, slice(fmt.Sprint(i), "", fmt.Sprint("p", i), 1, device("gpu", "x", "")))
			}
			return list
		},
		"attributes": func(n int) (list []resourcev1.ResourceSlice) {
			d := device("gpu", "x", "")
			for i := range n {
				d.Attributes[resourcev1.QualifiedName(fmt.Sprint("a", i))] = resourcev1.DeviceAttribute{StringValue: text("x")}
				d.Attributes[resourcev1.QualifiedName(fmt.Sprintf("x%d.com/uuid", i))] = resourcev1.DeviceAttribute{StringValue: text("x")}
				d.Taints = append(d.Taints, resourcev1.DeviceTaint{Key: "x", Effect: resourcev1.DeviceTaintEffectNone})
			}
			return append(list, slice("s", "n", "p", 1, d))
		},
		"drivers": func(n int) (list []resourcev1.ResourceSlice) {
			for i := range n {
				s := slice(fmt.Sprint(i), "n", "p", 1)
				s.Spec.Driver = fmt.Sprint("d", i)
				list = append(list, s)
			}
			return list
		},
		"a long profile": func(n int) (list []resourcev1.ResourceSlice) {
			d := mig(1)
			d.Attributes["profile"] = resourcev1.DeviceAttribute{StringValue: text(strings.Repeat("1g.", 100*n))}
			return append(list, slice("s", "n", "p", 1, d))
		},
	} {
		t.Run(name, func(t *testing.T) {
			testkit.Linear(t, 200, func(n int) func() {
				list := make(n)
				return func() {
					inv, err := FromResourceSlices(list, nil, SliceOptions{ReportUnlisted: true})
					if err != nil {
						t.Error(err)
					}
					inv.Catalog()
				}
			})
		})
	}
}

// TestClaim: of many matches the first one is found that lists a resource.
func TestClaim(t *testing.T) {
	rules := append([]Rule{
		{Name: "plain", Product: "a.com/product", Whole: []corev1.ResourceName{"a.com/x"}},
		{Name: "mig", Product: "*.model", Whole: []corev1.ResourceName{"*.unit", "z.com/any"}, Shared: []corev1.ResourceName{"*"}, Replicas: "*.replicas", Memory: "*.memory", MIGPrefix: "mig.com/mig-"},
	}, DefaultRules()...)
	compiled := testkit.Must(compileRules(rules))
	for _, n := range []int{0, 1, 5, 40} {
		r := labelReader{rules: compiled, labels: map[string]string{"a.com/product": "A"}, allocatable: corev1.ResourceList{}}
		names := []string{"a.com/x", "z.com/any", "mig.com/mig-1g.5gb", "nvidia.com/gpu", "b.com/none", "/", "d3.com/gpu.unit.unit"}
		for i := range n {
			for _, label := range []string{"d%d.com/gpu.model", "d%d.com/gpu.memory", "d%d.com/gpu.unit.model", "d%d.com/gpu.unit.memory", "d%d.com/gpu.product", "d%d.com/gpu.count"} {
				r.labels[fmt.Sprintf(label, i)] = "5"
			}
			for _, name := range []string{"d%d.com/gpu", "d%d.com/gpu.unit", "d%d.com/gpu.shared", "e%d.com/gpu"} {
				names = append(names, fmt.Sprintf(name, i))
			}
		}
		r.match()
		for _, name := range names {
			var want *ruleMatch
			wantList := listsNot
			for i := range r.matches {
				if wantList = r.matches[i].rule.lists(name, r.matches[i].base); wantList != listsNot {
					want = &r.matches[i]
					break
				}
			}
			if m, list := r.claim(name); m != want || list != wantList {
				t.Errorf("%d: %s: %v, list %d, want %v, list %d", n, name, m, list, want, wantList)
			}
			found := false
			for i := range compiled {
				if rule := &compiled[i]; rule.product.hasBase {
					r.findBases(rule)
					for _, base := range r.bases {
						found = found || rule.lists(name, base) != listsNot
					}
				}
			}
			if got := r.hasPattern(name); got != found {
				t.Errorf("%d: %s: has a pattern: %v", n, name, got)
			}
		}
	}
}

// TestGrowthMerge compares and merges inventories of large nodes.
func TestGrowthMerge(t *testing.T) {
	testkit.Linear(t, 300, func(n int) func() {
		inventory := func(source Source) *Inventory {
			inv := &Inventory{}
			node := Node{Name: "n", Source: source}
			for i := range n {
				node.Devices = append(node.Devices, Device{Kind: KindGPU, Minor: int32(i), UUID: fmt.Sprint(source, i%(n/2)), Name: strconv.Itoa(i), Product: fmt.Sprint("P", i)})
				node.Cards = append(node.Cards, Card{Name: fmt.Sprint("C", i), Resource: corev1.ResourceName(fmt.Sprint("x/", i)), Count: int64(source)})
				inv.Nodes = append(inv.Nodes, Node{Name: fmt.Sprint("n", i), Source: source})
			}
			inv.Nodes = append(inv.Nodes, node)
			return inv
		}
		a, b := inventory(SourceLabels), inventory(SourceResourceSlices)
		return func() {
			Agree(a.Nodes[n], b.Nodes[n])
			Merge(a, b).Catalog()
		}
	})
}
