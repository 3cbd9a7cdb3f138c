package vectormap

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestListToVector(t *testing.T) {
	whole := must(t, names("nvidia.com/gpu", "efa"))
	milli := must(t, names("nvidia.com/gpu", "efa"), Milli("gpu"))
	fold := must(t, names("nvidia.com/gpu", "amd.com/gpu", "efa"), FoldVendors())
	for _, c := range []struct {
		what              string
		m                 *ResourceVectorMap
		list              corev1.ResourceList
		request, capacity vec
	}{
		{"nil", whole, nil, vec{0, 0, 0, 0, 0}, vec{0, 0, 0, 0, 0}},
		{"seed's node", whole, rl("cpu", "64", "memory", "256G", "nvidia.com/gpu", "8", "efa", "4", "pods", "100"),
			vec{64000, 256e9, 8, 100, 4}, vec{64000, 256e9, 8, 100, 4}},
		{"cpu and memory are rounded to their units", whole, rl("cpu", "100500u", "memory", "1500m"),
			vec{101, 2, 0, 0, 0}, vec{100, 1, 0, 0, 0}},
		{"half a GPU in whole units", whole, rl("nvidia.com/gpu", "500m"), vec{0, 0, 1, 0, 0}, vec{0, 0, 0, 0, 0}},
		{"half a GPU in thousandths", milli, rl("nvidia.com/gpu", "500m"), vec{0, 0, 500, 0, 0}, vec{0, 0, 500, 0, 0}},
		{"less than a thousandth", milli, rl("nvidia.com/gpu", "1n"), vec{0, 0, 1, 0, 0}, vec{0, 0, 0, 0, 0}},
		{"own and original name add up", whole, rl("nvidia.com/gpu", "1", "gpu", "2"), vec{0, 0, 3, 0, 0}, vec{0, 0, 3, 0, 0}},
		{"folded names are rounded one by one", fold, rl("nvidia.com/gpu", "500m", "amd.com/gpu", "1500m"),
			vec{0, 0, 3, 0, 0}, vec{0, 0, 1, 0, 0}},
		{"the largest amount", whole, rl("memory", "9007199254740991"), vec{0, limit - 1, 0, 0, 0}, vec{0, limit - 1, 0, 0, 0}},
	} {
		for _, dst := range []vec{nil, make(vec, 2), {9, 9, 9, 9, 9}, {9, 9, 9, 9, 9, 9, 9, 9}} {
			request, err := c.m.RequestVector(slices.Clone(dst), c.list, nil)
			if err != nil || !slices.Equal(request, c.request) {
				t.Errorf("%s: request %v, %v; want %v", c.what, request, err, c.request)
			}
			capacity, err := c.m.CapacityVector(slices.Clone(dst), c.list, nil)
			if err != nil || !slices.Equal(capacity, c.capacity) {
				t.Errorf("%s: capacity %v, %v; want %v", c.what, capacity, err, c.capacity)
			}
			node := &corev1.Node{Status: corev1.NodeStatus{Allocatable: c.list, Capacity: rl("other", "1")}}
			if c.list == nil { // no API server has seen the node
				node.Status.Capacity = nil
			}
			allocatable, err := c.m.NodeAllocatable(slices.Clone(dst), node, nil)
			if err != nil || !slices.Equal(allocatable, c.capacity) {
				t.Errorf("%s: allocatable %v, %v", c.what, allocatable, err)
			}
		}
	}
}

func TestListFaults(t *testing.T) {
	m := must(t, names("nvidia.com/gpu", "amd.com/gpu"), FoldVendors())
	for _, c := range []struct {
		what string
		list corev1.ResourceList
		want string
	}{
		{"unknown names", rl("x.io/b", "1", "cpu", "1", "a", "0"), `vectormap: unknown resource "a", "x.io/b": the map has cpu, memory, gpu, pods`},
		{"negative", rl("nvidia.com/gpu", "-1"), "nvidia.com/gpu: amount -1 is negative: want 0 or more"},
		{"too large", rl("memory", "8Pi"), "memory: amount 8Pi is too large: want less than 2^53 bytes"},
		{"far too large", rl("memory", "1e400"), "memory: amount 1e400 is too large: want less than 2^53 bytes"},
		{"too large in the unit", rl("cpu", "9007199254741"), "cpu: amount 9007199254741 is too large: want less than 2^53 thousandths of a CPU"},
		{"too large together", rl("nvidia.com/gpu", "9007199254740991", "amd.com/gpu", "1"),
			"gpu: amount 9007199254740992 is too large a sum: want less than 2^53 whole units"},
		{"all at once", rl("pods", "-2", "x", "1", "cpu", "-1m", "memory", "1E"),
			"vectormap: unknown resource \"x\": the map has cpu, memory, gpu, pods\ncpu: amount -1m is negative: want 0 or more\n" +
				"memory: amount 1E is too large: want less than 2^53 bytes\npods: amount -2 is negative: want 0 or more"},
	} {
		dst := vec{1, 2, 3, 4}
		unknown := names("before")
		got, err := m.RequestVector(dst, c.list, nil)
		if got != nil || err == nil || err.Error() != c.want {
			t.Errorf("%s:\n got %v, %v\nwant %s", c.what, got, err, c.want)
		}
		if _, err := m.CapacityVector(dst, c.list, &unknown); err != nil && unknown[0] != "before" {
			t.Errorf("%s: unknown was changed by an error", c.what)
		} else if !slices.Equal(dst, vec{1, 2, 3, 4}) && err != nil {
			t.Errorf("%s: dst was changed: %v", c.what, dst)
		}
	}

	_, err := m.RequestVector(nil, rl("x", "1", "cpu", "-1"), nil)
	var unlisted *UnknownResourcesError
	var amount *vector.AmountError
	if !errors.Is(err, ErrUnknownResource) || !errors.As(err, &unlisted) || !slices.Equal(unlisted.Names, names("x")) {
		t.Errorf("unknown: %v", err)
	}
	if !errors.Is(err, vector.ErrNegative) || !errors.Is(err, vector.ErrNotRepresentable) || !errors.As(err, &amount) ||
		amount.Resource != "cpu" || amount.Amount != "-1" {
		t.Errorf("amount: %v", err)
	}
}

func TestUnknownList(t *testing.T) {
	m := must(t, names("a"))
	unknown := names("left", "over")
	v, err := m.RequestVector(nil, rl("z", "1", "a", "2", "b.io/c", "-5"), &unknown)
	if err != nil || !slices.Equal(v, vec{0, 0, 0, 0, 2}) || !slices.Equal(unknown, names("b.io/c", "z")) {
		t.Errorf("%v, %v, %v", v, unknown, err)
	}
	if _, err = m.RequestVector(v, rl("a", "2"), &unknown); err != nil || len(unknown) != 0 {
		t.Errorf("nothing unknown: %v, %v", unknown, err)
	}
}

func TestLiteralInList(t *testing.T) {
	// A name that is kept as it is converts in its own unit, like any other.
	m := must(t, nil, Literal(UnitMilli, "nvidia.com/gpu"))
	v, err := m.RequestVector(nil, rl("nvidia.com/gpu", "0.5"), nil)
	if err != nil || !slices.Equal(v, vec{0, 0, 0, 0, 500}) {
		t.Error(v, err)
	}
}

func TestVectorToList(t *testing.T) {
	whole := must(t, names("nvidia.com/gpu", "hugepages-2Mi"))
	milli := must(t, names("nvidia.com/gpu"), Milli("gpu"), Literal(UnitMilli, "card:x"))
	fold := must(t, names("nvidia.com/gpu", "amd.com/gpu"), FoldVendors())
	for _, c := range []struct {
		what   string
		m      *ResourceVectorMap
		v      vec
		prefer []string
		want   corev1.ResourceList
		notes  []Note
	}{
		{"nil", whole, nil, nil, rl(), nil},
		{"zeros are left out", whole, vec{0, 0, math.Copysign(0, -1)}, nil, rl(), nil},
		{"units", whole, vec{1500, 1 << 30, 8, 110, 2 << 20}, nil,
			rl("cpu", "1500m", "memory", "1Gi", "nvidia.com/gpu", "8", "pods", "110", "hugepages-2Mi", "2Mi"), nil},
		{"no vendor: the own name", must(t, nil), vec{0, 0, 2}, nil, rl("gpu", "2"), nil},
		{"half a GPU", whole, vec{0, 0, 0.5}, nil, rl("nvidia.com/gpu", "500m"), []Note{FractionalColumn{"gpu"}}},
		{"0.3 is 300m", whole, vec{0, 0, 0.3}, nil, rl("nvidia.com/gpu", "300m"), []Note{FractionalColumn{"gpu"}}},
		{"half a byte", whole, vec{0, 0.5}, nil, rl("memory", "500m"), nil},
		{"thousandths", milli, vec{0, 0, 2250}, nil, rl("nvidia.com/gpu", "2250m"), nil},
		{"literal", milli, vec{1000, 0, 0, 0, 7}, nil, rl("cpu", "1"), []Note{Remark{"card:x", "literal dimension left out"}}},
		{"literal that holds nothing", milli, vec{1000, 0, 0, 0, 0}, nil, rl("cpu", "1"), nil},
		{"the caller chooses", fold, vec{0, 0, 1}, names("x", "nvidia.com/gpu", "amd.com/gpu"), rl("nvidia.com/gpu", "1"), nil},
		{"nothing to choose", fold, vec{1}, nil, rl("cpu", "1m"), nil},
		{"the largest", whole, vec{0, limit - 1}, nil, rl("memory", "9007199254740991"), nil},
	} {
		got, notes, err := c.m.ResourceList(c.v, c.prefer...)
		if err != nil || !sameList(got, c.want) || !slices.Equal(notes, c.notes) {
			t.Errorf("%s: %v %v %v", c.what, got, notes, err)
		}
	}
	list, _, _ := whole.ResourceList(vec{1500, 1 << 30, 8})
	for name, want := range map[corev1.ResourceName]string{"cpu": "1500m", "memory": "1Gi", "nvidia.com/gpu": "8"} {
		if q := list[name]; q.String() != want {
			t.Errorf("%s is written %s, want %s", name, q.String(), want)
		}
	}
}

func TestVectorToListFaults(t *testing.T) {
	whole := must(t, names("nvidia.com/gpu"))
	milli := must(t, names("nvidia.com/gpu"), Milli("gpu"))
	fold := must(t, names("nvidia.com/gpu", "amd.com/gpu"), FoldVendors())
	for _, c := range []struct {
		m    *ResourceVectorMap
		v    vec
		want string
		is   error
	}{
		{whole, vec{0.5}, "cpu: amount 0.5 is too fine: want whole thousandths", vector.ErrNotRepresentable},
		{whole, vec{0, 0, 0.0005}, "nvidia.com/gpu: amount 0.0005 is too fine: want whole thousandths", vector.ErrNotRepresentable},
		{whole, vec{0, 0, 0.30000000000000004}, "nvidia.com/gpu: amount 0.30000000000000004 is too fine: want whole thousandths", vector.ErrNotRepresentable},
		{milli, vec{0, 0, 0.5}, "nvidia.com/gpu: amount 0.5 is too fine: want whole thousandths", vector.ErrNotRepresentable},
		{whole, vec{0, 0, math.NaN()}, "nvidia.com/gpu: amount NaN is not a finite number: want a number of whole units", vector.ErrNotRepresentable},
		{whole, vec{math.Inf(1)}, "cpu: amount +Inf is not a finite number: want a number of thousandths of a CPU", vector.ErrNotRepresentable},
		{whole, vec{-1}, "cpu: amount -1 is negative: want 0 or more", vector.ErrNegative},
		{whole, vec{0, limit}, "memory: amount 9007199254740992 is too large: want less than 2^53 bytes", vector.ErrNotRepresentable},
		{fold, vec{0, 0, 1}, "vectormap: gpu stands for amd.com/gpu and nvidia.com/gpu: name the one to use", nil},
		{fold, vec{-1, 0, 1}, "cpu: amount -1 is negative: want 0 or more\nvectormap: gpu stands for amd.com/gpu and nvidia.com/gpu: name the one to use", vector.ErrNegative},
		{whole, make(vec, 5), "vectormap: the vector has 5 amounts, the map 4: vector: shapes differ", vector.ErrShape},
	} {
		list, notes, err := c.m.ResourceList(c.v)
		if list != nil || notes != nil || err == nil || err.Error() != c.want || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%v: %v %v %v", c.v, list, notes, err)
		}
	}
}

func TestFractional(t *testing.T) {
	m := must(t, names("a", "b"), Milli("b"))
	if got := m.Fractional(vec{0.5, 0.5, 0.25, 1, math.NaN(), 0.5}); !slices.Equal(got, []FractionalColumn{{"gpu"}, {"a"}}) {
		t.Error(got)
	}
	if got := m.Fractional(vec{0.5, 0, 3, math.Inf(1)}); got != nil {
		t.Error(got)
	}
}

// FuzzResourceListRoundTrip: a list of whole units comes back as it was, and a
// vector that has a list is that list's vector.
func FuzzResourceListRoundTrip(f *testing.F) {
	f.Add(int64(1500), int64(1<<30), int64(500), int64(110), int64(7))
	f.Add(int64(0), int64(limit-1), int64(limit), int64(-1), int64(1))
	m := testkit.Must(New(names("nvidia.com/gpu", "efa"), Milli("gpu")))
	f.Fuzz(func(t *testing.T, cpu, memory, gpu, pods, efa int64) {
		list := corev1.ResourceList{
			"cpu":            *resource.NewMilliQuantity(cpu, resource.DecimalSI),
			"memory":         *resource.NewQuantity(memory, resource.BinarySI),
			"nvidia.com/gpu": *resource.NewMilliQuantity(gpu, resource.DecimalSI),
			"pods":           *resource.NewQuantity(pods, resource.DecimalSI),
			"efa":            *resource.NewQuantity(efa, resource.DecimalSI),
		}
		valid, amounts := true, []int64{cpu, memory, gpu, pods, efa}
		for _, x := range amounts {
			valid = valid && 0 <= x && x < limit
		}
		v, err := m.RequestVector(nil, list, nil)
		if (err == nil) != valid {
			t.Fatalf("%v: %v", amounts, err)
		}
		if !valid {
			return
		}
		for i, x := range amounts {
			if v[i] != float64(x) {
				t.Errorf("%s: %v, want %d", m.Name(i), v[i], x)
			}
		}
		back, notes, err := m.ResourceList(v)
		if err != nil || notes != nil {
			t.Fatal(notes, err)
		}
		for name, q := range list {
			if other := back[name]; q.Cmp(other) != 0 {
				t.Errorf("%s: %s came back as %s", name, q.String(), other.String())
			}
		}
		if again, err := m.CapacityVector(nil, back, nil); err != nil || !slices.Equal(again, v) {
			t.Errorf("%v: %v, %v", v, again, err)
		}
	})
}

// TestNearestVector: as RequestVector, but that nothing is refused.
func TestNearestVector(t *testing.T) {
	plain, folded := must(t, names("nvidia.com/gpu"), NoFold()), must(t, names("nvidia.com/gpu", "amd.com/gpu"), FoldVendors())
	for _, c := range []struct {
		m    *ResourceVectorMap
		list corev1.ResourceList
		want map[string]float64
	}{
		{plain, nil, nil},
		{plain, rl("cpu", "1500m", "memory", "1.5", "nvidia.com/gpu", "500m", "pods", "1"),
			map[string]float64{"cpu": 1500, "memory": 2, "nvidia.com/gpu": 1, "pods": 1}},
		{plain, rl("memory", "8Pi", "example.com/x", "1"), map[string]float64{"memory": 1 << 53}},
		{plain, rl("cpu", "-1"), map[string]float64{"cpu": -1000}},
		{folded, rl("nvidia.com/gpu", "2", "amd.com/gpu", "3"), map[string]float64{"nvidia.com/gpu": 5}},
	} {
		want := c.m.NewVector()
		for name, amount := range c.want {
			i, _ := c.m.Index(name)
			want[i] = amount
		}
		dst := vec{7, 7, 7, 7, 7, 7, 7, 7}
		if got := c.m.NearestVector(dst, c.list); !slices.Equal(got, want) || &got[0] != &dst[0] {
			t.Errorf("%v: %v, want %v", c.list, got, want)
		}
		if exact, err := c.m.RequestVector(nil, c.list, new([]string)); err == nil && !slices.Equal(exact, want) {
			t.Errorf("%v: RequestVector has %v, not %v", c.list, exact, want)
		}
	}
	list, dst := rl("cpu", "1500m", "memory", "1Gi", "nvidia.com/gpu", "2", "example.com/x", "1"), plain.NewVector()
	if n := testing.AllocsPerRun(100, func() { dst = plain.NearestVector(dst, list) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestUnknownOfMany: an error lists some of the names that would be right.
func TestUnknownOfMany(t *testing.T) {
	m := must(t, manyNames(20))
	_, err := m.RequestVector(nil, rl("example.com/resource-20", "1"), nil)
	want := `vectormap: unknown resource "example.com/resource-20": the map has cpu, memory, gpu, pods, ` + strings.Join(manyNames(6), ", ") + ", 14 more"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	faults := Faults(field.NewPath("a"), err)
	want = `a: Not found: "example.com/resource-20": ` + strings.Replace(want, `vectormap: unknown resource "example.com/resource-20"`, "unknown resource", 1)
	if len(faults) != 1 || faults[0].Error() != want {
		t.Errorf("got %v, want %s", faults, want)
	}
}
