package peer

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Names are resources of all kinds that schedulers distinguish.
var Names = []corev1.ResourceName{
	corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage, corev1.ResourcePods,
	"nvidia.com/gpu", "nvidia.com/mig-1g.5gb", "hugepages-2Mi", "rdma/hca", "example.com/licence",
}

// NewMap returns a map with a column for each of the Names, as they are written.
func NewMap(t testing.TB) *vectormap.ResourceVectorMap {
	t.Helper()
	names := make([]string, len(Names))
	for i, name := range Names {
		names[i] = string(name)
	}
	m, err := vectormap.New(names, vectormap.NoFold())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Random draws what the API server lets through and people write: zeros, missing names,
// all suffixes, fractions, and a few amounts that are negative or huge.
type Random struct{ *rand.Rand }

// NewRandom returns a source that depends on the seed only.
func NewRandom(seed uint64) Random { return Random{rand.New(rand.NewPCG(seed, stream))} }

// Chance is true so many times in a hundred.
func (r Random) Chance(percent int) bool { return r.IntN(100) < percent }

// Amount returns a whole number below 2^53 that is not negative: often 0 or small,
// sometimes at a power of two, sometimes huge.
func (r Random) Amount() int64 {
	switch r.IntN(8) {
	case 0:
		return 0
	case 1:
		return max(1<<r.IntN(53)+r.Int64N(3)-1, 0)
	case 2:
		return r.Int64N(1 << 53)
	case 3, 4:
		return 1000 * r.Int64N(16)
	}
	return r.Int64N(8)
}

// units are the suffixes of quantities, and the amounts that people write before them.
var units = []struct {
	suffix string
	most   int64
}{
	{"", 1 << 20}, {"m", 1 << 30}, {"k", 1 << 20}, {"M", 1 << 20}, {"G", 1 << 12}, {"T", 16},
	{"Ki", 1 << 20}, {"Mi", 1 << 20}, {"Gi", 1 << 12}, {"Ti", 16}, {"e3", 1 << 20}, {"u", 1 << 40}, {"n", 1 << 40},
}

// Quantity returns an amount as somebody may have written it, not negative.
func (r Random) Quantity() resource.Quantity {
	u := units[r.IntN(len(units))]
	n := r.Int64N(1 + min(u.most, 1<<r.IntN(41)))
	if r.Chance(10) && u.suffix != "m" && u.suffix != "u" && u.suffix != "n" && u.suffix != "e3" {
		return resource.MustParse(fmt.Sprintf("%d.%d%s", n, r.IntN(1000), u.suffix))
	}
	return resource.MustParse(fmt.Sprintf("%d%s", n, u.suffix))
}

// List returns amounts of some of the names: each is there so many times in a hundred.
// Amounts are drawn by quantity.
func (r Random) List(names []corev1.ResourceName, percent int, quantity func() resource.Quantity) corev1.ResourceList {
	list := corev1.ResourceList{}
	for _, name := range names {
		if r.Chance(percent) {
			list[name] = quantity()
		}
	}
	return list
}

// Pod returns a pod with some containers, init containers, sidecars, overhead and
// requests for the pod as a whole, whose requests are drawn by list. A list for the pod
// as a whole keeps the names that Kubernetes allows there.
func (r Random) Pod(name string, list func() corev1.ResourceList) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", UID: types.UID(name)}}
	container := func(name string) corev1.Container {
		return corev1.Container{Name: name, Resources: corev1.ResourceRequirements{Requests: list()}}
	}
	for i := range r.IntN(4) {
		pod.Spec.Containers = append(pod.Spec.Containers, container(fmt.Sprintf("main-%d", i)))
	}
	always := corev1.ContainerRestartPolicyAlways
	for i := 0; r.Chance(35); i++ {
		init := container(fmt.Sprintf("init-%d", i))
		if r.Chance(50) {
			init.RestartPolicy = &always
		}
		pod.Spec.InitContainers = append(pod.Spec.InitContainers, init)
	}
	if r.Chance(20) {
		pod.Spec.Overhead = list()
	}
	if r.Chance(20) {
		whole := corev1.ResourceList{}
		for name, q := range list() {
			if name == corev1.ResourceCPU || name == corev1.ResourceMemory || name == "hugepages-2Mi" {
				whole[name] = q
			}
		}
		pod.Spec.Resources = &corev1.ResourceRequirements{Requests: whole}
	}
	return pod
}
