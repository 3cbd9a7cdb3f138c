package vectormap

import (
	"errors"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
	corev1 "k8s.io/api/core/v1"
)

type amounts = map[corev1.ResourceName]float64

const mig1 = "nvidia.com/mig-1g.5gb"

func structMaps(t testing.TB) (whole, milli *ResourceVectorMap) {
	all := names("nvidia.com/gpu", "efa", gpuMemory, mig1)
	return must(t, all), must(t, all, Milli("gpu"), Literal(UnitMilli, "card:x"))
}

func TestResource(t *testing.T) {
	// Columns: cpu memory gpu pods, efa gpu-memory mig; milli has card:x first.
	whole, milli := structMaps(t)
	for _, c := range []struct {
		what string
		m    *ResourceVectorMap
		r    Resource
		want vec
	}{
		{"nothing", whole, Resource{}, make(vec, 7)},
		{"seed's pod", whole, Resource{MilliCPU: 1000, Memory: 4e9, GPUs: 0.5, Scalars: amounts{"efa": 1}}, vec{1000, 4e9, 0.5, 0, 1, 0, 0}},
		{"any share", whole, Resource{GPUs: 1.0 / 3}, vec{0, 0, 1.0 / 3, 0, 0, 0, 0}},
		{"thousandths", milli, Resource{GPUs: 1.001, Scalars: amounts{"card:x": 7}}, vec{0, 0, 1001, 0, 7, 0, 0, 0}},
		{"over-subscribed", milli, Resource{MilliCPU: -5, GPUs: -0.3}, vec{-5, 0, -300, 0, 0, 0, 0, 0}},
		{"unlimited", milli, Resource{MilliCPU: math.Inf(1), GPUs: math.Inf(1)}, vec{math.Inf(1), 0, math.Inf(1), 0, 0, 0, 0, 0}},
		{"huge", whole, Resource{Memory: 1e300, Scalars: amounts{"pods": 110, mig1: 0.1}}, vec{0, 1e300, 0, 110, 0, 0, 0.1}},
	} {
		v, err := c.r.ToVector(slices.Repeat(vec{9}, 20), c.m)
		if err != nil || !slices.Equal(v, c.want) {
			t.Errorf("%s: %v, %v; want %v", c.what, v, err, c.want)
			continue
		}
		back := Resource{MilliCPU: 9, Scalars: amounts{"old": 9}}
		if err := back.FromVector(c.m, v); err != nil || back.MilliCPU != c.r.MilliCPU || back.Memory != c.r.Memory ||
			back.GPUs != c.r.GPUs || !maps.Equal(back.Scalars, c.r.Scalars) {
			t.Errorf("%s: came back as %+v, %v", c.what, back, err)
		}
	}

	r := Resource{GPUs: 0, Scalars: amounts{"nvidia.com/gpu": 2, "gpu": 0, "efa": 0}}
	if v, err := r.ToVector(nil, whole); err != nil || v[GPU] != 2 {
		t.Errorf("names of one index: %v, %v", v, err)
	}
	if err := r.FromVector(whole, vec{1}); err != nil || r.MilliCPU != 1 || r.GPUs != 0 || len(r.Scalars) != 0 {
		t.Errorf("a short vector: %+v, %v", r, err)
	}
}

// TestSeedExample is the example of KAI-Scheduler's design, from its structs.
func TestSeedExample(t *testing.T) {
	m := must(t, names("nvidia.com/gpu", "efa", "custom"))
	node := Resource{MilliCPU: 64000, Memory: 256e9, GPUs: 8, Scalars: amounts{"efa": 4, "custom": 100}}
	pod := Resource{MilliCPU: 1000, Memory: 4e9, GPUs: 0.5}
	allocatable := testkit.Must(node.ToVector(nil, m))
	request := testkit.Must(pod.ToVector(nil, m))
	share, index := request.DominantResourceIndex(allocatable)
	if !request.FitsIn(allocatable) || request.NormalizedSum(allocatable) != 0.09375 || share != 0.0625 || index != GPU {
		t.Errorf("%v of %v: %v, %v of %s", request, allocatable, request.NormalizedSum(allocatable), share, m.Name(index))
	}
	if got := m.Fractional(request); !slices.Equal(got, []FractionalColumn{{"gpu"}}) {
		t.Errorf("warnings %v", got)
	}
}

func TestResourceFaults(t *testing.T) {
	whole, milli := structMaps(t)
	nan := math.NaN()
	for _, c := range []struct {
		m    *ResourceVectorMap
		r    Resource
		want string
	}{
		{whole, Resource{Scalars: amounts{"z": 0, "a": 1}}, `vectormap: unknown resource "a", "z": the map has cpu, memory, gpu, pods, efa, gpu-memory, nvidia.com/mig-1g.5gb`},
		{whole, Resource{MilliCPU: nan, GPUs: nan}, "cpu: amount NaN is not a finite number: want a number of thousandths of a CPU\ngpu: amount NaN is not a finite number: want a number of whole units"},
		{whole, Resource{Memory: math.Inf(-1)}, "memory: amount -Inf is not a finite number: want a number of bytes"},
		{milli, Resource{GPUs: 0.0005}, "gpu: amount 0.0005 is no whole number of thousandths: want thousandths of a GPU, and less than 2^40 GPUs"},
		{milli, Resource{Scalars: amounts{"gpu": 0.5}}, "gpu: amount 0.5 is too fine: want whole thousandths of a GPU"},
		{milli, Resource{Scalars: amounts{"gpu": nan}}, "gpu: amount NaN is not a finite number: want a number of thousandths"},
		{milli, Resource{GPUs: 0.30000000000000004}, "gpu: amount 0.30000000000000004 is no whole number of thousandths: want thousandths of a GPU, and less than 2^40 GPUs"},
	} {
		dst := vec{1, 2, 3, 4, 5, 6, 7, 8}
		if v, err := c.r.ToVector(dst, c.m); v != nil || err == nil || err.Error() != c.want || dst[0] != 1 {
			t.Errorf("%+v: %v, %v, dst %v", c.r, v, err, dst)
		}
	}
	r := Resource{MilliCPU: 7, Scalars: amounts{"efa": 1}}
	for _, c := range []struct {
		m  *ResourceVectorMap
		v  vec
		is error
	}{
		{whole, make(vec, 8), vector.ErrShape},
		{whole, vec{0, nan}, vector.ErrNotRepresentable},
		{milli, vec{0, 0, 0.5}, vector.ErrNotRepresentable},
		{milli, vec{0, 0, 1 << 52}, vector.ErrNotRepresentable},
	} {
		if err := r.FromVector(c.m, c.v); !errors.Is(err, c.is) || r.MilliCPU != 7 || len(r.Scalars) != 1 {
			t.Errorf("%v: %v, %+v", c.v, err, r)
		}
	}
}

// TestAmountsOnce: what stands for the same is not added up, and no field is preferred.
func TestAmountsOnce(t *testing.T) {
	whole, milli := structMaps(t)
	folding := must(t, names("nvidia.com/gpu", "amd.com/gpu", "gpu-memory"), FoldVendors())
	type converts interface {
		ToVector(vec, *ResourceVectorMap) (vec, error)
	}
	for _, c := range []struct {
		r       converts
		m       *ResourceVectorMap
		want    float64 // GPUs
		wantErr string
	}{
		{&Resource{GPUs: 2, Scalars: amounts{"nvidia.com/gpu": 8}}, whole, 0, "nvidia.com/gpu: amount 8 is of the index gpu, as are 2 of GPUs: want one of them"},
		{&Resource{GPUs: 2, Scalars: amounts{"nvidia.com/gpu": 8000}}, milli, 0, "nvidia.com/gpu: amount 8000 is of the index gpu, as are 2 of GPUs: want one of them"},
		{&Resource{GPUs: 2, Scalars: amounts{"gpu": 2}}, whole, 0, "gpu: amount 2 is of the index gpu, as are 2 of GPUs: want one of them"},
		{&Resource{GPUs: 2, Scalars: amounts{"nvidia.com/gpu": 8, "amd.com/gpu": 1}}, folding, 0,
			"amd.com/gpu: amount 1 is of the index gpu, as are 2 of GPUs: want one of them\nnvidia.com/gpu: amount 8 is of the index gpu, as are 2 of GPUs: want one of them"},
		{&Resource{Scalars: amounts{"nvidia.com/gpu": 8, "gpu": 1}}, folding, 0, "nvidia.com/gpu: amount 8 is of the index gpu, as are 1 of Scalars[gpu]: want one of them"},
		{&Resource{MilliCPU: 1, Memory: 2, Scalars: amounts{"cpu": 1, "memory": 3}}, whole, 0,
			"cpu: amount 1 is of the index cpu, as are 1 of MilliCPU: want one of them\nmemory: amount 3 is of the index memory, as are 2 of Memory: want one of them"},
		{&Resource{GPUs: math.Inf(1), Scalars: amounts{"gpu": -1}}, whole, 0, "gpu: amount -1 is of the index gpu, as are +Inf of GPUs: want one of them"},
		{&ResourceRequirements{GPUCount: 2, GPUPortion: 0.5, Scalars: amounts{"nvidia.com/gpu": 8}}, whole, 0,
			"nvidia.com/gpu: amount 8 is of the index gpu, as are 2 of GPUCount: want one of them"},
		{&ResourceRequirements{GPUCount: 1, GPUMemory: 5, Scalars: amounts{"gpu-memory": 7}}, folding, 0,
			"gpu-memory: amount 5 is of the index gpu-memory, as are 7 of Scalars[gpu-memory]: want one of them"},
		{&ResourceRequirements{Scalars: amounts{mig1: 1}, MIG: amounts{mig1: 1}}, whole, 0,
			mig1 + ": amount 1 is of the index " + mig1 + ", as are 1 of Scalars[" + mig1 + "]: want one of them"},

		{&Resource{GPUs: 2, Scalars: amounts{"nvidia.com/gpu": 0}}, whole, 2, ""},
		{&Resource{Scalars: amounts{"nvidia.com/gpu": 8}}, whole, 8, ""},
		{&Resource{Scalars: amounts{"nvidia.com/gpu": 8, "amd.com/gpu": 1}}, folding, 9, ""},
		{&Resource{GPUs: 2, Scalars: amounts{"nvidia.com/gpu": 8}}, must(t, names("nvidia.com/gpu"), NoFold()), 2, ""},
		{&ResourceRequirements{Scalars: amounts{"nvidia.com/gpu": 8}}, whole, 8, ""},
	} {
		dst := vec{1, 2, 3, 4, 5, 6, 7, 8}
		v, err := c.r.ToVector(dst, c.m)
		switch {
		case c.wantErr == "" && (err != nil || v[GPU] != c.want):
			t.Errorf("%+v: %v, %v, want %v", c.r, v, err, c.want)
		case c.wantErr != "" && (err == nil || err.Error() != c.wantErr || v != nil || dst[GPU] != 3 || !errors.Is(err, vector.ErrNotRepresentable)):
			t.Errorf("%+v: %v\n%v, want\n%s", c.r, v, err, c.wantErr)
		}
	}
}

func TestRequirementsToVectorFaults(t *testing.T) {
	bare := must(t, nil)
	for _, c := range []struct {
		r    ResourceRequirements
		want string
	}{
		{ResourceRequirements{GPUMemory: 1, MIG: amounts{mig1: 1}}, `vectormap: unknown resource "gpu-memory", "` + mig1 + `": the map has cpu, memory, gpu, pods`},
		{ResourceRequirements{GPUCount: 1, GPUPortion: 0.004}, "gpu: amount 0.004 is no portion of a device: want 0.005 to 1, or 0"},
		{ResourceRequirements{GPUCount: 1, GPUPortion: 1e-300}, "gpu: amount 1e-300 is no portion of a device: want 0.005 to 1, or 0"},
		{ResourceRequirements{GPUCount: 1, GPUPortion: 1.5}, "gpu: amount 1.5 is no portion of a device: want 0.005 to 1, or 0"},
		{ResourceRequirements{GPUPortion: -0.5}, "gpu: amount -0.5 is no portion of a device: want 0.005 to 1, or 0"},
		{ResourceRequirements{GPUPortion: math.NaN()}, "gpu: amount NaN is no portion of a device: want 0.005 to 1, or 0"},
		{ResourceRequirements{GPUCount: 2}, "gpu: amount 2 is a number of devices without a size: want a portion or GPU memory"},
		{ResourceRequirements{GPUPortion: 0.5}, "gpu: amount 0.5 is a portion of no device: want a count of 1 or more"},
		{ResourceRequirements{GPUCount: -1}, "gpu: amount -1 is negative: want 0 or more"},
		{ResourceRequirements{GPUCount: math.MaxInt64, GPUPortion: 1}, "gpu: amount 9223372036854775807 is too large: want less than 2^40 devices"},
		{ResourceRequirements{MilliCPU: -1, Memory: limit}, "cpu: amount -1 is negative: want 0 or more\nmemory: amount 9007199254740992 is too large: want less than 2^53 bytes"},
		{ResourceRequirements{Scalars: amounts{"pods": math.Inf(1)}}, "pods: amount +Inf is not a finite number: want a number of whole units"},
	} {
		dst := vec{1, 2, 3, 4}
		if v, err := c.r.ToVector(dst, bare); v != nil || err == nil || err.Error() != c.want || !slices.Equal(dst, vec{1, 2, 3, 4}) {
			t.Errorf("%+v:\n got %v, %v\nwant %s", c.r, v, err, c.want)
		}
	}
}

func TestFromVectorIntoDropsAnAbsurdCount(t *testing.T) {
	whole, _ := structMaps(t)
	r := ResourceRequirements{GPUCount: maxDevices}
	if err := r.FromVectorInto(whole, vec{0, 0, 0, 0, 0, 5}); err != nil || r.GPUCount != 0 || r.GPUMemory != 5 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestRequirementsToVectorChecksSums(t *testing.T) {
	m := must(t, names("amd.com/gpu", "nvidia.com/gpu"), FoldVendors())
	r := ResourceRequirements{Scalars: amounts{"amd.com/gpu": limit / 2, "nvidia.com/gpu": limit / 2}}
	const want = "gpu: amount 9007199254740992 is too large a sum: want less than 2^53 whole units"
	if v, err := r.ToVector(nil, m); v != nil || err == nil || err.Error() != want {
		t.Errorf("%v, %v", v, err)
	}
	r.Scalars["amd.com/gpu"]--
	if v, err := r.ToVector(nil, m); err != nil || v[GPU] != limit-1 {
		t.Errorf("%v, %v", v, err)
	}
}

func TestRequirementsFromVector(t *testing.T) {
	whole, milli := structMaps(t)
	for _, c := range []struct {
		gpus         float64
		prev         int64 // GPUCount before; FromVector ignores it
		count        int64
		portion      float64
		keep         int64 // by FromVectorInto
		keptPortion  float64
		is, keptFail error
	}{
		{gpus: 0, prev: 3},
		{gpus: 1, count: 1, portion: 1, keep: 1, keptPortion: 1},
		{gpus: 8, prev: 8, count: 8, portion: 1, keep: 8, keptPortion: 1},
		{gpus: 0.5, prev: 1, count: 1, portion: 0.5, keep: 1, keptPortion: 0.5},
		{gpus: 1, prev: 2, count: 1, portion: 1, keep: 2, keptPortion: 0.5},
		{gpus: 0.5, prev: 2, count: 1, portion: 0.5, keep: 2, keptPortion: 0.25},
		{gpus: 0.5, prev: 3, count: 1, portion: 0.5, keep: 1, keptPortion: 0.5}, // 50 hundredths are no threefold
		{gpus: 4, prev: 2, count: 4, portion: 1, keep: 4, keptPortion: 1},       // two devices cannot hold four
		{gpus: 2, prev: -1, count: 2, portion: 1, keep: 2, keptPortion: 1},
		{gpus: 1.2, prev: 2, is: ErrAmbiguousGPU, keep: 2, keptPortion: 0.6},
		{gpus: 1.5, prev: 1, is: ErrAmbiguousGPU, keptFail: ErrAmbiguousGPU},
		{gpus: 0.125, prev: 1, is: vector.ErrNotRepresentable, keptFail: vector.ErrNotRepresentable},
		{gpus: 1 << 40, is: vector.ErrNotRepresentable, keptFail: vector.ErrNotRepresentable},
	} {
		for _, m := range []*ResourceVectorMap{whole, milli} {
			v := vec{100, 1e9, c.gpus * float64(m.Unit(GPU).Scale()), 1}
			for _, f := range []struct {
				name    string
				call    func(*ResourceRequirements) error
				count   int64
				portion float64
				is      error
			}{
				{"FromVector", func(r *ResourceRequirements) error { return r.FromVector(m, v) }, c.count, c.portion, c.is},
				{"FromVectorInto", func(r *ResourceRequirements) error { return r.FromVectorInto(m, v) }, c.keep, c.keptPortion, c.keptFail},
			} {
				r := ResourceRequirements{GPUCount: c.prev, GPUPortion: 0.77, GPUMemory: 5, MIG: amounts{"old": 1}}
				err := f.call(&r)
				if !errors.Is(err, f.is) {
					t.Errorf("%s of %v: %v", f.name, c.gpus, err)
				}
				if err != nil {
					if r.GPUCount != c.prev || r.GPUPortion != 0.77 || len(r.MIG) != 1 {
						t.Errorf("%s of %v: changed by an error: %+v", f.name, c.gpus, r)
					}
					continue
				}
				if r.GPUCount != f.count || r.GPUPortion != f.portion || r.MilliCPU != 100 || r.Memory != 1e9 ||
					r.GPUMemory != 0 || len(r.MIG) != 0 || !maps.Equal(r.Scalars, amounts{"pods": 1}) {
					t.Errorf("%s of %v with %d before: %+v", f.name, c.gpus, c.prev, r)
				}
				if again, err := r.ToVector(nil, m); err != nil || !slices.Equal(again[:4], v) {
					t.Errorf("%s of %v: ToVector gives %v, %v", f.name, c.gpus, again, err)
				}
			}
		}
	}

	for _, c := range []struct {
		name string
		call func(*ResourceRequirements, vec) error
		want int64
	}{
		{"FromVector", func(r *ResourceRequirements, v vec) error { return r.FromVector(whole, v) }, 0},
		{"FromVectorInto", func(r *ResourceRequirements, v vec) error { return r.FromVectorInto(whole, v) }, 2},
	} {
		before := ResourceRequirements{GPUCount: 2, GPUMemory: 3e9}
		v := testkit.Must(before.ToVector(nil, whole))
		if err := c.call(&before, v); err != nil || before.GPUCount != c.want || before.GPUPortion != 0 || before.GPUMemory != 3e9 {
			t.Errorf("%s of a GPU memory request: %+v, %v", c.name, before, err)
		}
	}

	var r ResourceRequirements
	if err := r.FromVector(milli, vec{0, 0, 0, 0, 7, 1, 2e9, 3}); err != nil || r.GPUMemory != 2e9 ||
		!maps.Equal(r.MIG, amounts{mig1: 3}) || !maps.Equal(r.Scalars, amounts{"card:x": 7, "efa": 1}) {
		t.Errorf("%+v, %v", r, err)
	}
	for _, c := range []struct {
		v  vec
		is error
	}{
		{vec{-1}, vector.ErrNegative}, {vec{math.Inf(1)}, vector.ErrNotRepresentable}, {vec{math.NaN()}, vector.ErrNotRepresentable},
		{vec{0, limit}, vector.ErrNotRepresentable}, {make(vec, 9), vector.ErrShape},
	} {
		if err := r.FromVector(milli, c.v); !errors.Is(err, c.is) || r.GPUMemory != 2e9 {
			t.Errorf("%v: %v", c.v, err)
		}
	}
}

// FuzzStructRoundTrip: ToVector(FromVector(v)) is v wherever FromVector and
// FromVectorInto succeed, and Resource takes every vector.
func FuzzStructRoundTrip(f *testing.F) {
	whole, milli := structMaps(f)
	f.Add(1000.0, 4e9, 0.5, 1.0, 2.0, int64(1), false)
	f.Add(0.5, 1e300, 0.29, 1e-300, -2.0, int64(3), false)
	f.Add(1.0, 2.0, 1200.0, 4.0, 5.0, int64(2), true)
	f.Add(1.0, 2.0, float64(1<<50-1), 4.0, 5.0, int64(7), true)
	f.Fuzz(func(t *testing.T, cpu, memory, gpu, efa, mig float64, prev int64, useMilli bool) {
		m := whole
		if useMilli {
			m = milli
		}
		v := m.NewVector()
		v[CPU], v[Memory], v[GPU], v[m.Len()-3], v[m.Len()-1] = cpu, memory, gpu, efa, mig
		var r Resource
		switch err := r.FromVector(m, v); {
		case err == nil:
			if again, err := r.ToVector(nil, m); err != nil || !slices.Equal(again, v) {
				t.Errorf("Resource of %v: %v, %v", v, again, err)
			}
		case !errors.Is(err, vector.ErrNotRepresentable):
			t.Error(err)
		}
		for _, from := range []func(*ResourceRequirements) error{
			func(r *ResourceRequirements) error { return r.FromVector(m, v) },
			func(r *ResourceRequirements) error { return r.FromVectorInto(m, v) },
		} {
			q := ResourceRequirements{GPUCount: prev}
			if from(&q) != nil {
				continue
			}
			if again, err := q.ToVector(nil, m); err != nil || !slices.Equal(again, v) {
				t.Errorf("%+v of %v: %v, %v", q, v, again, err)
			}
		}
	})
}
