package device_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/resvec/resvec/device"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// checkLabels checks what is true of every node.
func checkLabels(t *testing.T, labels, allocatable map[string]string) {
	t.Helper()
	node := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: labels}}
	node.Status.Allocatable = corev1.ResourceList{}
	for name, text := range allocatable {
		node.Status.Allocatable[corev1.ResourceName(name)] = resource.MustParse(text)
	}
	n := readLabels(t, nil, device.Names{}, node)
	if again := readLabels(t, device.DefaultRules(), device.Names{}, node); !reflect.DeepEqual(n, again) {
		t.Errorf("two answers\n%s", cmp.Diff(n, again))
	}
	for i, d := range n.Devices {
		if d.Minor != int32(i) || !d.Synthetic || d.Product == "" || d.Replicas < 1 {
			t.Fatalf("row %d of %v %v: %+v", i, labels, allocatable, d)
		}
	}
	if len(device.Agree(*n, *n)) > 0 {
		t.Errorf("%v %v: the node differs from itself", labels, allocatable)
	}
}

// FuzzLabels reads hostile texts: a line per label and per resource, its
// name and value apart by a space.
func FuzzLabels(f *testing.F) {
	add := func(labels, allocatable map[string]string) {
		var a, b string
		for _, key := range slices.Sorted(maps.Keys(labels)) {
			a += key + " " + labels[key] + "\n"
		}
		for _, key := range slices.Sorted(maps.Keys(allocatable)) {
			b += key + " " + allocatable[key] + "\n"
		}
		f.Add(a, b)
	}
	add(
		map[string]string{"nvidia.com/gpu.product": "V100-SHARED", "nvidia.com/gpu.count": "2", "nvidia.com/gpu.memory": "32768", "nvidia.com/gpu.replicas": "4"},
		map[string]string{"nvidia.com/gpu": "8", "nvidia.com/gpu.shared": "8", "nvidia.com/mig-1g.5gb.me": "1"},
	)
	add(
		map[string]string{"nvidia.com/gpu.product": "A100-MIG-1g.5gb", "nvidia.com/gpu.count": "99", "nvidia.com/gpu.memory": "1", "nvidia.com/mig.strategy": "single"},
		map[string]string{"nvidia.com/gpu": "1025", "nvidia.com/mig-1g.5gb.shared": "7"},
	)
	add(
		map[string]string{"amd.com/gpu.product-name": "MI300X", "amd.com/gpu.vram": "192G", "x.com/npu.product": "N", "x.com/npu.count": "-1", "x.com/npu.memory": "1e9"},
		map[string]string{"amd.com/gpu": "8", "x.com/npu": "-3", "x.com/npu-memory": "5"},
	)
	f.Fuzz(func(t *testing.T, labelText, allocatableText string) {
		if len(labelText)+len(allocatableText) > 1<<12 {
			t.Skip("long")
		}
		labels, allocatable := map[string]string{}, map[string]string{}
		for line := range strings.Lines(labelText) {
			key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			if value = strings.ReplaceAll(value, " ", ""); strings.Count(key, "/") == 1 { // as in every label of a vendor
				labels[key] = value
			}
		}
		for line := range strings.Lines(allocatableText) {
			key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			if n, err := strconv.ParseInt(value, 10, 64); err == nil && strings.Count(key, "/") == 1 {
				allocatable[key] = strconv.FormatInt(n, 10)
			}
		}
		checkLabels(t, labels, allocatable)
	})
}

// TestHugeExponents: a quantity that takes long to compute with is none.
func TestHugeExponents(t *testing.T) {
	for vram, want := range map[string]string{
		"64e9":           "[]",
		"64E9":           "[]",
		"6.4e+10":        "[]",
		"1e999999999":    "[bad-memory amd.com/gpu.vram]",
		"1E-999999999":   "[bad-memory amd.com/gpu.vram]",
		"1e9999999999":   "[bad-memory amd.com/gpu.vram]",
		"9999999999999P": "[bad-memory amd.com/gpu.vram]",
		"20E":            "[bad-memory amd.com/gpu.vram]",
		"-64Gi":          "[bad-memory amd.com/gpu.vram]",
		"64GiB":          "[bad-memory amd.com/gpu.vram]",
		"64000000000":    "[]",
		"0.064T":         "[]",
	} {
		n := readLabels(t, nil, device.Names{}, labelNode("n", "amd.com/gpu.product-name=A amd.com/gpu.vram="+vram, ""))
		if got := fmt.Sprint(labelProblems(n.Problems)); got != want {
			t.Errorf("%s: %s", vram, got)
		}
	}
}
