// Package karpenter compares this library with the resource lists and the scheduler of
// Karpenter.
package karpenter

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/karpenter/pkg/utils/resources"

	"github.com/resvec/resvec/benchmarks/internal/peer"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

var karpenter = peer.Row{Peer: "Karpenter", Module: "sigs.k8s.io/karpenter"}

// newMap returns a map that has all of peer.Names.
func newMap(t testing.TB) *vectormap.ResourceVectorMap {
	t.Helper()
	names := make([]string, len(peer.Names))
	for i, name := range peer.Names {
		names[i] = string(name)
	}
	m, err := vectormap.New(names, vectormap.NoFold())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// quantity returns x units of a resource, as its index counts them.
func quantity(m *vectormap.ResourceVectorMap, name corev1.ResourceName, x int64) resource.Quantity {
	i, _ := m.Index(string(name))
	if m.Unit(i).Scale() == 1000 {
		return *resource.NewMilliQuantity(x, resource.DecimalSI)
	}
	return *resource.NewQuantity(x, resource.BinarySI)
}

// draw returns whole amounts of some of the names on both sides, negative so many times
// in a hundred.
func draw(r peer.Random, m *vectormap.ResourceVectorMap, there, negative int) (corev1.ResourceList, vector.ResourceVector) {
	list, v := corev1.ResourceList{}, m.NewVector()
	for _, name := range peer.Names {
		if !r.Chance(there) {
			continue
		}
		x := r.Amount()
		if r.Chance(negative) {
			x = -x
		}
		i, _ := m.Index(string(name))
		list[name], v[i] = quantity(m, name, x), float64(x)
	}
	return list, v
}

// TestFits: Fits is the rule of LessEqual and FitStrict, but for a negative request of
// what the node has less than nothing of: Fits refuses all such nodes, and LessEqual
// compares.
func TestFits(t *testing.T) {
	m := newMap(t)
	matrix, mask := m.NewMatrix(1), vector.NewMask(1)
	peer.Cases(t, func(r peer.Random) error {
		candidate, request := draw(r, m, 50, 3)
		total, free := draw(r, m, 90, 3)
		if r.Chance(50) { // so much, or nearly
			for name := range candidate {
				i, _ := m.Index(string(name))
				free[i] = request[i] + float64(r.IntN(3)-1)
				total[name] = quantity(m, name, int64(free[i]))
			}
		}
		for _, name := range peer.Names {
			if i, _ := m.Index(string(name)); free[i] < 0 && request[i] < 0 {
				request[i] = 0
				delete(candidate, name)
			}
		}
		matrix.SetRow(0, free)
		vector.FitStrict(mask, matrix, request)
		their := resources.Fits(candidate, total)
		if strict, scalar := mask.Test(0), request.LessEqual(free); their != strict || their != scalar {
			return fmt.Errorf("Fits(%v, %v): %v, FitStrict %v, LessEqual %v", resources.String(candidate), resources.String(total), their, strict, scalar)
		}
		return nil
	})
}

// TestFitsQuantities: as Kubernetes writes amounts. Here a request is rounded up to the
// unit of its index, and a capacity down, so that what is finer can't make a pod fit.
func TestFitsQuantities(t *testing.T) {
	m := newMap(t)
	differ := 0
	peer.Cases(t, func(r peer.Random) error {
		candidate, total := r.List(peer.Names, 50, r.Quantity), r.List(peer.Names, 95, r.Quantity)
		for name, q := range candidate {
			if r.Chance(70) {
				total[name] = q.DeepCopy()
			}
		}
		request, err := m.RequestVector(nil, candidate, nil)
		if err != nil {
			return tooLarge(err)
		}
		free, err := m.CapacityVector(nil, total, nil)
		if err != nil {
			return tooLarge(err)
		}
		their, our := resources.Fits(candidate, total), request.LessEqual(free)
		if their == our {
			return nil
		}
		for name, q := range candidate {
			i, _ := m.Index(string(name))
			if request[i] > free[i] && q.Cmp(total[name]) <= 0 && !whole(m, i, q) {
				differ++
				return nil
			}
		}
		return fmt.Errorf("Fits(%v, %v): %v, here %v", resources.String(candidate), resources.String(total), their, our)
	})
	t.Logf("%d pods fit there by amounts below one unit", differ)
}

// tooLarge returns nil for an amount of 2^53 units or more, which is an error here, and
// the error otherwise.
func tooLarge(err error) error {
	if amount := (*vector.AmountError)(nil); errors.As(err, &amount) && strings.Contains(amount.Reason, "2^53") {
		return nil
	}
	return err
}

// whole reports whether a quantity is a whole number of the units of index i.
func whole(m *vectormap.ResourceVectorMap, i int, q resource.Quantity) bool {
	scale := resource.Scale(0)
	if m.Unit(i).Scale() == 1000 {
		scale = resource.Milli
	}
	return q.Cmp(*resource.NewScaledQuantity(q.ScaledValue(scale), scale)) == 0
}

// TestSums: Merge is Add, and Subtract is Sub for what the left side has; what it
// doesn't have stays out there and becomes negative here.
func TestSums(t *testing.T) {
	m := newMap(t)
	peer.Cases(t, func(r peer.Random) error {
		lists, sum := make([]corev1.ResourceList, 1+r.IntN(4)), m.NewVector()
		vectors := make([]vector.ResourceVector, len(lists))
		magnitude := 0.0
		for i := range lists {
			lists[i], vectors[i] = draw(r, m, 60, 20)
			sum.Add(vectors[i])
			magnitude += max(slices.Max(vectors[i]), -slices.Min(vectors[i]))
		}
		if magnitude >= 1<<52 {
			return nil // a sum or a difference may be rounded here
		}
		if err := same(m, resources.Merge(lists...), sum, nil); err != nil {
			return fmt.Errorf("Merge(%v): %w", lists, err)
		}
		difference := sum.Clone()
		difference.Sub(vectors[0])
		left := resources.Merge(lists...)
		if err := same(m, resources.Subtract(left, lists[0]), difference, left); err != nil {
			return fmt.Errorf("Subtract(%v, %v): %w", left, lists[0], err)
		}
		difference = vectors[0].Clone()
		difference.Sub(sum)
		if err := same(m, resources.Subtract(lists[0], left), difference, lists[0]); err != nil {
			return fmt.Errorf("Subtract(%v, %v): %w", lists[0], left, err)
		}
		return nil
	})
}

// same compares a list with a vector, for the names of only, or for all of them.
func same(m *vectormap.ResourceVectorMap, list corev1.ResourceList, v vector.ResourceVector, only corev1.ResourceList) error {
	for _, name := range peer.Names {
		if _, there := only[name]; only != nil && !there {
			continue
		}
		i, _ := m.Index(string(name))
		if q := list[name]; q.Cmp(quantity(m, name, int64(v[i]))) != 0 {
			return fmt.Errorf("%s is %v, here %v", name, q.String(), v[i])
		}
	}
	return nil
}

// TestRequestsForPods: the total of a pod is the same, with init containers, sidecars,
// overhead and what is requested for the pod as a whole. Of several pods each is rounded
// up here.
func TestRequestsForPods(t *testing.T) {
	m := newMap(t)
	pods, _ := m.Index(string(corev1.ResourcePods))
	peer.Cases(t, func(r peer.Random) error {
		all, sum := make([]*corev1.Pod, 1+r.IntN(3)), m.NewVector()
		for i := range all {
			all[i] = r.Pod(fmt.Sprint("pod-", i), func() corev1.ResourceList { return r.List(peer.Names, 40, r.Quantity) })
			for j := range all[i].Spec.Containers {
				delete(all[i].Spec.Containers[j].Resources.Requests, corev1.ResourcePods)
			}
			v, err := m.PodRequest(nil, all[i], vectormap.PodOptions{UseStatusResources: true}, nil)
			if err != nil {
				return tooLarge(err)
			}
			sum.Add(v)
		}
		if slices.Max(sum) >= 1<<53 {
			return nil
		}
		their := resources.RequestsForPods(all...)
		for _, name := range peer.Names {
			i, _ := m.Index(string(name))
			q := their[name]
			// Rounded up: less than one unit for each pod.
			least, most := quantity(m, name, int64(sum[i])-int64(len(all))), quantity(m, name, int64(sum[i]))
			if i != pods && (q.Cmp(most) > 0 || q.Cmp(least) <= 0) || whole(m, i, q) && len(all) == 1 && i != pods && q.Cmp(most) != 0 {
				return fmt.Errorf("%s is %v, here %v, of %d pods", name, q.String(), sum[i], len(all))
			}
		}
		if q := their[corev1.ResourcePods]; float64(q.Value()) != sum[pods] && !asksForPods(all) {
			return fmt.Errorf("%v pods there, %v here", q.String(), sum[pods])
		}
		return nil
	})
}

// asksForPods: Karpenter replaces what containers request of the resource pods.
func asksForPods(pods []*corev1.Pod) bool {
	for _, pod := range pods {
		q := resources.Ceiling(pod).Requests[corev1.ResourcePods]
		if !q.IsZero() {
			return true
		}
	}
	return false
}

// cluster are the free amounts of 5,000 nodes and some pods on both sides.
type cluster struct {
	m        *vectormap.ResourceVectorMap
	lists    []corev1.ResourceList
	rows     []vector.ResourceVector
	matrix   *vector.Matrix
	pods     []*corev1.Pod
	requests []corev1.ResourceList
	vectors  []vector.ResourceVector
}

func newCluster(b *testing.B, r peer.Random, nodes, pods int) *cluster {
	b.Helper()
	c := &cluster{m: newMap(b)}
	c.matrix = c.m.NewMatrix(nodes)
	for i := range nodes {
		list := corev1.ResourceList{
			corev1.ResourceCPU:              *resource.NewMilliQuantity(500*r.Int64N(65), resource.DecimalSI),
			corev1.ResourceMemory:           *resource.NewQuantity(r.Int64N(129)<<30, resource.BinarySI),
			corev1.ResourceEphemeralStorage: *resource.NewQuantity(r.Int64N(101)<<30, resource.BinarySI),
			corev1.ResourcePods:             *resource.NewQuantity(r.Int64N(111), resource.DecimalSI),
		}
		if r.Chance(30) {
			list["nvidia.com/gpu"] = *resource.NewQuantity(r.Int64N(9), resource.DecimalSI)
		}
		v, err := c.m.CapacityVector(nil, list, nil)
		if err != nil {
			b.Fatal(err)
		}
		c.lists, c.rows = append(c.lists, list), append(c.rows, v)
		c.matrix.SetRow(i, v)
	}
	for k := range pods {
		pod := r.Pod(fmt.Sprint("pod-", k), func() corev1.ResourceList {
			list := corev1.ResourceList{
				corev1.ResourceCPU:    *resource.NewMilliQuantity(250*(1+r.Int64N(8)), resource.DecimalSI),
				corev1.ResourceMemory: *resource.NewQuantity((1+r.Int64N(16))<<28, resource.BinarySI),
			}
			if r.Chance(10) {
				list["nvidia.com/gpu"] = resource.MustParse("1")
			}
			return list
		})
		v, err := c.m.PodRequest(nil, pod, vectormap.PodOptions{UseStatusResources: true}, nil)
		if err != nil {
			b.Fatal(err)
		}
		c.pods, c.requests, c.vectors = append(c.pods, pod), append(c.requests, resources.RequestsForPods(pod)), append(c.vectors, v)
	}
	return c
}

// BenchmarkResources: 5,000 nodes, and random pods with init containers, sidecars,
// overhead and requests for the pod as a whole.
func BenchmarkResources(b *testing.B) {
	const nodes, questions = 5000, 16
	c := newCluster(b, peer.NewRandom(1), nodes, 1000)
	their, our := vector.NewMask(nodes), vector.NewMask(nodes)
	row := karpenter
	row.Function, row.Ours, row.Work, row.Questions, row.Goal = "resources.Fits", "FitStrict", "a pod, 5,000 nodes, 4 or 5 resources", questions, 50
	row.Their = func(k int) {
		for i, total := range c.lists {
			if resources.Fits(c.requests[k], total) {
				their.Set(i)
			} else {
				their.Clear(i)
			}
		}
	}
	row.Our = func(k int) { vector.FitStrict(our, c.matrix, c.vectors[k]) }
	row.Same = func(int) error {
		if !their.Equal(our) {
			return fmt.Errorf("%d nodes fit here, %d there", our.Count(), their.Count())
		}
		return nil
	}
	b.Run("Fits", row.Bench)

	lists, rows := make([]corev1.ResourceList, nodes), make([]vector.ResourceVector, nodes)
	for i := range rows {
		rows[i] = c.m.NewVector()
	}
	sameRows := func(int) error {
		for i, list := range lists {
			if err := same(c.m, list, rows[i], list); err != nil {
				return fmt.Errorf("node %d: %w", i, err)
			}
		}
		return nil
	}
	row.Function, row.Ours, row.Work, row.Goal = "resources.Merge", "ResourceVector.Add", "a pod's requests added to 5,000 lists", 3
	row.Their = func(k int) {
		for i, list := range c.lists {
			lists[i] = resources.Merge(list, c.requests[k])
		}
	}
	row.Our = func(k int) {
		for i := range rows {
			copy(rows[i], c.rows[i])
			rows[i].Add(c.vectors[k])
		}
	}
	row.Same = sameRows
	b.Run("Merge", row.Bench)

	row.Function, row.Ours, row.Work = "resources.Subtract", "ResourceVector.Sub", "a pod's requests taken from 5,000 lists"
	row.Equal = "for what the list has"
	row.Their = func(k int) {
		for i, list := range c.lists {
			lists[i] = resources.Subtract(list, c.requests[k])
		}
	}
	row.Our = func(k int) {
		for i := range rows {
			copy(rows[i], c.rows[i])
			rows[i].Sub(c.vectors[k])
		}
	}
	b.Run("Subtract", row.Bench)

	var list corev1.ResourceList
	v, opts := c.m.NewVector(), vectormap.PodOptions{UseStatusResources: true, Scratch: corev1.ResourceList{}}
	row = karpenter
	row.Function, row.Ours, row.Work, row.Questions, row.Goal = "resources.RequestsForPods", "PodRequest", "one pod of up to 7 containers", len(c.pods), 3
	row.Remark = "both total the pod by component-helpers"
	row.Allocates = 8
	row.Their = func(k int) { list = resources.RequestsForPods(c.pods[k]) }
	row.Our = func(k int) {
		var err error
		if v, err = c.m.PodRequest(v, c.pods[k], opts, nil); err != nil {
			panic(err)
		}
	}
	row.Same = func(int) error { return same(c.m, list, v, nil) }
	b.Run("RequestsForPods", row.Bench)
}
