package vectormap

import (
	"math"

	"github.com/resvec/resvec/internal/decimal"
	"github.com/resvec/resvec/vector"
	corev1 "k8s.io/api/core/v1"
)

// Resource is the struct that schedulers keep amounts in before they turn to vectors,
// such as KAI-Scheduler's resource_info.Resource. The amounts are in the units of the
// map, except that GPUs counts whole GPUs even where gpu is [Milli]. GPUs is the index
// [GPU]; on a [NoFold] map the vendors' GPUs are among the scalars. The zero value has
// nothing.
type Resource struct {
	MilliCPU float64
	Memory   float64
	GPUs     float64
	Scalars  map[corev1.ResourceName]float64 // everything else, by own or original name
}

// ToVector converts r. dst is overwritten, grown where its capacity is short,
// and returned with the map's length. Scalars that are folded into one index add up,
// in the order of their names.
//
// Errors are: a name that the map does not have; a NaN or -Inf; GPUs that are no
// thousandths where gpu is [Milli]; two amounts that stand for the same, such as GPUs
// and a scalar nvidia.com/gpu, unless one is 0. All are reported at once; then the
// result is nil and dst is not changed. Amounts may be negative, beyond 2^53 or +Inf
// (unlimited).
//
// It is lossless: FromVector gives r back, with the scalars by their own names
// and without those that are 0.
func (r *Resource) ToVector(dst vector.ResourceVector, m *ResourceVectorMap) (vector.ResourceVector, error) {
	g := gatherer{m: m, signed: true}
	g.add(coreNames[CPU], r.MilliCPU, source{field: "MilliCPU", written: r.MilliCPU})
	g.add(coreNames[Memory], r.Memory, source{field: "Memory", written: r.Memory})
	g.addGPUs(r.GPUs)
	g.addAll("Scalars", r.Scalars)
	return g.write(dst)
}

// FromVector sets r to the amounts of v, indices beyond its end counting as 0.
// The map in r.Scalars is reused. ToVector gives v back. A NaN or -Inf is an
// [*vector.AmountError], as is a fraction of a thousandth of a GPU where gpu is
// [Milli]; a v longer than the map is vector.ErrShape. On error r is not
// changed.
func (r *Resource) FromVector(m *ResourceVectorMap, v vector.ResourceVector) error {
	if err := m.checkAmounts(v, true); err != nil {
		return err
	}
	gpus, err := m.gpus(v.Get(GPU))
	if err != nil {
		return err
	}
	scalars := emptied(r.Scalars)
	for i := Pods; i < len(v); i++ {
		put(&scalars, m.columns[i].name, v[i])
	}
	*r = Resource{MilliCPU: v.Get(CPU), Memory: v.Get(Memory), GPUs: gpus, Scalars: scalars}
	return nil
}

// ResourceRequirements is a request as schedulers with shared GPUs keep it,
// such as KAI-Scheduler's resource_info.ResourceRequirements. The amounts are
// in the units of the map, but for the GPUs, which are a count of devices and
// the portion of each. The zero value requests nothing.
type ResourceRequirements struct {
	MilliCPU float64
	Memory   float64
	Scalars  map[corev1.ResourceName]float64 // everything else, by own or original name

	// GPUCount devices with the GPUPortion of each, from 0 to 1. A request of
	// GPUMemory needs no portion. A count with neither, or a portion of no device,
	// is an error.
	GPUCount   int64
	GPUPortion float64
	GPUMemory  float64 // in the column gpu-memory, which the map must be given

	MIG map[corev1.ResourceName]float64 // instances by resource name: nvidia.com/mig-…
}

// ToVector converts r, keeping every amount. The index [GPU] gets count times
// portion, the portion being rounded to hundredths, half away from zero, as it
// is written in decimal. GPUMemory needs a column gpu-memory; with it the count
// has no place in a vector, and [ResourceRequirements.FromVectorInto] brings it
// back. dst is overwritten, grown where its capacity is short, and returned with
// the map's length.
//
// Names that the map does not have, amounts that are negative, NaN or of 2^53
// units or more, a portion that is above 1 or would be rounded to 0, a count
// without portion and GPU memory, a portion without count, 2^40 devices or more, and
// two amounts that stand for the same, as in [Resource.ToVector], are errors, all
// reported at once. Without any of them, folded amounts with a sum of 2^53 or more are
// one. On error the result is nil and dst is not changed.
func (r *ResourceRequirements) ToVector(dst vector.ResourceVector, m *ResourceVectorMap) (vector.ResourceVector, error) {
	g := gatherer{m: m}
	g.add(coreNames[CPU], r.MilliCPU, source{field: "MilliCPU", written: r.MilliCPU})
	g.add(coreNames[Memory], r.Memory, source{field: "Memory", written: r.Memory})
	g.addPortions(r.GPUCount, r.GPUPortion, r.GPUMemory)
	g.addAll("Scalars", r.Scalars)
	g.addAll("MIG", r.MIG)
	if r.GPUMemory != 0 {
		g.add(gpuMemory, r.GPUMemory, source{field: "GPUMemory", written: r.GPUMemory})
	}
	return g.write(dst)
}

// FromVector sets r to the canonical form of v, indices beyond its end counting
// as 0: a whole number of GPUs is that count with portion 1, an amount below 1
// is one device with that portion, and 0 is neither. Anything else, such as
// 1.5, is an [*vector.AmountError] that wraps [ErrAmbiguousGPU]. A portion that is no
// whole number of hundredths, and an amount that ToVector would refuse, is an
// [*vector.AmountError]; a v longer than the map is vector.ErrShape. On error r is not
// changed; otherwise ToVector gives v back. The maps in r are reused.
func (r *ResourceRequirements) FromVector(m *ResourceVectorMap, v vector.ResourceVector) error {
	return r.fromVector(m, v, 0)
}

// FromVectorInto is FromVector, except that r keeps its GPUCount where v's GPUs
// are that count times a portion of at most 1 in hundredths: 2 devices of 0.5
// stay that, where the canonical form of the same vector is 1 device. It also
// keeps it where v has GPU memory and no GPUs.
func (r *ResourceRequirements) FromVectorInto(m *ResourceVectorMap, v vector.ResourceVector) error {
	return r.fromVector(m, v, r.GPUCount)
}

func (r *ResourceRequirements) fromVector(m *ResourceVectorMap, v vector.ResourceVector, prevCount int64) error {
	if err := m.checkAmounts(v, false); err != nil {
		return err
	}
	gpus, err := m.gpus(v.Get(GPU))
	if err != nil {
		return err
	}
	count, portion, why := countAndPortion(gpus, prevCount)
	if why != fine {
		return amountFault(m.columns[GPU].kubernetesName(), decimal.Format(gpus), UnitWhole, why)
	}
	next := ResourceRequirements{
		MilliCPU: v.Get(CPU), Memory: v.Get(Memory), GPUCount: count, GPUPortion: portion,
		Scalars: emptied(r.Scalars), MIG: emptied(r.MIG),
	}
	for i := Pods; i < len(v); i++ {
		switch c := &m.columns[i]; {
		case c.name == gpuMemory:
			next.GPUMemory = v[i]
		case c.isMIG():
			put(&next.MIG, c.name, v[i])
		default:
			put(&next.Scalars, c.name, v[i])
		}
	}
	if next.GPUCount == 0 && next.GPUMemory > 0 && prevCount < maxDevices {
		next.GPUCount = max(prevCount, 0)
	}
	*r = next
	return nil
}

// countAndPortion splits gpus, which is not negative, into devices and the
// portion of each, keeping prevCount where it can, or says why it cannot.
func countAndPortion(gpus float64, prevCount int64) (count int64, portion float64, why reason) {
	if gpus == 0 {
		return 0, 0, fine
	}
	if gpus >= maxDevices {
		return 0, 0, reasonTooMany
	}
	cents := math.Round(gpus * 100)
	exact := cents/100 == gpus
	if prevCount > 0 && exact && gpus <= float64(prevCount) && int64(cents)%prevCount == 0 {
		return prevCount, float64(int64(cents)/prevCount) / 100, fine
	}
	switch {
	case gpus == math.Trunc(gpus):
		return int64(gpus), 1, fine
	case gpus > 1:
		return 0, 0, reasonNoForm
	case !exact:
		return 0, 0, reasonNoCent
	}
	return 1, gpus, fine
}

// isMIG reports whether the column counts instances of a MIG profile.
func (c *column) isMIG() bool {
	if c.literal || !looksLikeMIG(c.name) {
		return false
	}
	_, _, err := ParseMIG(c.name)
	return err == nil
}

// gpus returns an amount of the index GPU in whole GPUs.
func (m *ResourceVectorMap) gpus(amount float64) (float64, error) {
	if m.gpuUnit() != UnitMilli || math.IsInf(amount, 1) {
		return amount, nil
	}
	gpus := amount / 1000
	if k, ok := thousandths(gpus); !ok || k != amount {
		return 0, amountFault(m.columns[GPU].kubernetesName(), decimal.Format(gpus), UnitMilli, reasonNotMilli)
	}
	return gpus, nil
}

// checkAmounts looks for amounts that the structs cannot take.
func (m *ResourceVectorMap) checkAmounts(v vector.ResourceVector, signed bool) error {
	if len(v) > m.Len() {
		return m.tooLong(v)
	}
	g := gatherer{m: m, signed: signed}
	for i, x := range v {
		g.check(m.columns[i].kubernetesName(), x)
	}
	_, err := g.result()
	return err
}
