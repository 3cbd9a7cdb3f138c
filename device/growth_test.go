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
	read := func(t *testing.T, list []corev1.Node) func() {
		return func() { testkit.Must(FromNodes(list, nil, Options{ReportUnlisted: true})).Catalog() }
	}
	const nvidia = "nvidia.com/gpu.product=A100 nvidia.com/gpu.count=8 nvidia.com/gpu.memory=40960 "
	for name, c := range map[string]struct {
		labels, allocatable         string // of a node; what ends in … is long
		moreLabels, moreAllocatable string // for each number
	}{
		"labels":                       {"", "", "example.com/x%d=y", ""},
		"resources":                    {"", "", "", "example.com/x%d=5"},
		"products and resources":       {"", "", "x%d.com/gpu.product=A100 x%[1]d.com/gpu.count=8", "x%d.com/gpu=8"},
		"products of one domain":       {"", "", "x.com/gpu%d.product=A100 x.com/gpu%[1]d.memory=80000000000000000000", "x.com/gpu%d.shared=1e400"},
		"products and other resources": {"", "", "x%d.com/gpu.product=A100", "y%d.com/gpu=8"},
		"MIG instances":                {nvidia, "", "nvidia.com/mig-3g.%dgb.memory=x", "nvidia.com/mig-3g.%dgb=2"},
		"a long product":               {"nvidia.com/gpu.product=A-… nvidia.com/gpu.count=9… nvidia.com/gpu.memory=9…", "nvidia.com/gpu=8", "", ""},
		"a long MIG profile":           {nvidia + "nvidia.com/gpu.product=A100-MIG-1g.… nvidia.com/mig.strategy=single", "nvidia.com/gpu=8 nvidia.com/mig-1g.…=8", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			testkit.Linear(t, 200, func(n int) func() {
				node := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{}}}
				node.Status.Allocatable = corev1.ResourceList{}
				each := func(one, more string, add func(key, value string)) {
					long := strings.NewReplacer("9…", strings.Repeat("9", 100*n), "1g.…", strings.Repeat("1g.", 100*n), "A-…", strings.Repeat("A-", 100*n))
					list := strings.Fields(long.Replace(one))
					for i := range n {
						if more != "" {
							list = append(list, strings.Fields(fmt.Sprintf(more, i))...)
						}
					}
					for _, pair := range list {
						key, value, _ := strings.Cut(pair, "=")
						add(key, value)
					}
				}
				each(c.labels, c.moreLabels, func(key, value string) { node.Labels[key] = value })
				each(c.allocatable, c.moreAllocatable, func(key, value string) {
					node.Status.Allocatable[corev1.ResourceName(key)] = resource.MustParse(value)
				})
				return read(t, []corev1.Node{node})
			})
		})
	}
	named := func(name string, labels map[string]string) corev1.Node {
		return corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
	}
	for name, nodes := range map[string]func(n int) []corev1.Node{
		"nodes": func(n int) (nodes []corev1.Node) {
			for i := range n {
				nodes = append(nodes, named(strconv.Itoa(i), map[string]string{"nvidia.com/gpu.product": "A" + strconv.Itoa(i), "nvidia.com/gpu.count": "1", "nvidia.com/gpu.memory": "81920"}))
				nodes[i].Status.Allocatable = corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("1")}
			}
			return nodes
		},
		"nodes of one name": func(n int) []corev1.Node { return make([]corev1.Node, n) },
		"nodes of the name of a bad one": func(n int) []corev1.Node {
			bad := named("", map[string]string{})
			for i := range n {
				bad.Labels[fmt.Sprintf("x%d.com/gpu.product", i)] = "A"
			}
			return append([]corev1.Node{bad}, make([]corev1.Node, n)...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			testkit.Linear(t, 200, func(n int) func() { return read(t, nodes(n)) })
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
	type slices = []resourcev1.ResourceSlice
	each := func(one func(n, i int) resourcev1.ResourceSlice) func(n int) slices {
		return func(n int) (list slices) {
			for i := range n {
				list = append(list, one(n, i))
			}
			return list
		}
	}
	one := func(devices func(i int) []resourcev1.Device) func(n int) slices {
		return func(n int) slices {
			var all []resourcev1.Device
			for i := range n {
				all = append(all, devices(i)...)
			}
			return slices{slice("s", "n", "p", 1, all...)}
		}
	}
	for name, make := range map[string]func(n int) slices{
		"nodes": each(func(_, i int) resourcev1.ResourceSlice {
			return slice(fmt.Sprint(i), fmt.Sprint("n", i), fmt.Sprint("n", i), 1, device("gpu-0", fmt.Sprint(i), ""))
		}),
		"slices of a pool": each(func(n, i int) resourcev1.ResourceSlice {
			return slice(fmt.Sprint(i), fmt.Sprint("n", i%7), "p", n, device(fmt.Sprint("gpu-", i), fmt.Sprint(i), ""))
		}),
		"generations": each(func(n, i int) resourcev1.ResourceSlice {
			s := slice(fmt.Sprint(i), "n", "p", n, device("gpu", "x", ""))
			s.Spec.Pool.Generation = int64(i)
			return s
		}),
		"pools of a node": each(func(_, i int) resourcev1.ResourceSlice {
			return slice(fmt.Sprint(i), "n", fmt.Sprint("p", i), 2, device("gpu-0", "x", ""))
		}),
		"no nodes": each(func(_, i int) resourcev1.ResourceSlice {
			return slice(fmt.Sprint(i), "", fmt.Sprint("p", i), 1, device("gpu", "x", ""))
		}),
		"drivers": each(func(_, i int) resourcev1.ResourceSlice {
			s := slice(fmt.Sprint(i), "n", "p", 1)
			s.Spec.Driver = fmt.Sprint("d", i)
			return s
		}),
		"devices with one UUID": one(func(i int) []resourcev1.Device {
			return []resourcev1.Device{device(fmt.Sprint("gpu-", i), "x", "")}
		}),
		"MIG instances": one(func(i int) []resourcev1.Device {
			return []resourcev1.Device{device(fmt.Sprint("gpu-", i), fmt.Sprint("GPU-", i), ""), mig(i)}
		}),
		"attributes": func(n int) slices {
			d := device("gpu", "x", "")
			for i := range n {
				d.Attributes[resourcev1.QualifiedName(fmt.Sprint("a", i))] = resourcev1.DeviceAttribute{StringValue: text("x")}
				d.Attributes[resourcev1.QualifiedName(fmt.Sprintf("x%d.com/uuid", i))] = resourcev1.DeviceAttribute{StringValue: text("x")}
				d.Taints = append(d.Taints, resourcev1.DeviceTaint{Key: "x", Effect: resourcev1.DeviceTaintEffectNone})
			}
			return slices{slice("s", "n", "p", 1, d)}
		},
		"a long profile": func(n int) slices {
			d := mig(1)
			d.Attributes["profile"] = resourcev1.DeviceAttribute{StringValue: text(strings.Repeat("1g.", 100*n))}
			return slices{slice("s", "n", "p", 1, d)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			testkit.Linear(t, 200, func(n int) func() {
				list := make(n)
				return func() { testkit.Must(FromResourceSlices(list, nil, Options{ReportUnlisted: true})).Catalog() }
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
