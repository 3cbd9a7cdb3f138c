package gpu

import (
	"cmp"
	"slices"

	"github.com/resvec/resvec/internal/document"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// TypicalPod is a kind of pods; see [TypicalPodOf].
type TypicalPod struct {
	CPU    float64 // millicores
	Count  int     // devices; 0: the kind wants no GPU
	Milli  float64 // thousandths of every device: 1000 for whole devices; more than 0 where Count is
	Models []int32 // the models that will do; empty: any

	// Spec is Models as the pods write them. It distinguishes kinds and orders
	// them, see [TypicalPods]; it may be empty.
	Spec string

	Pods   int64   // of this kind; 0 counts as 1. Not used by [WeightedPods]
	Weight float64 // the share of this kind. Not used by [TypicalPods]
}

// Typical is what the pods of a cluster are like. The fragmentation F of a node is
// measured by it: the sum, over the kinds of pods, of what is left of GPUs that a pod of
// this kind can't use, times the number of such pods or its weight. It is made by
// [TypicalPods] or [WeightedPods], immutable, and safe for concurrent use.
//
// A pod of kind m can use nothing of a node, and F is all that is left of its
// devices, when m wants no GPU, the node's model is not allowed, or the node has
// too little CPU or too few devices with enough left. Otherwise it can't use the
// devices with too little left. Memory doesn't count. (Weng et al., Beware of
// Fragmentation: Scheduling GPU-Sharing Workloads with Fragmentation Gradient
// Descent, USENIX ATC 2023.)
type Typical struct {
	pods    []TypicalPod
	weights []float64 // n_m or p_m
	n       float64   // the number of pods, or 1
	table   *phiTable // nil: only the list will do
}

const panicTypical = "gpu: typical pods that neither TypicalPods nor WeightedPods made"

// TypicalPods returns the commonest kinds of pods of a trace. Elements of the
// trace with equal CPU, Count, Milli, Spec and Models are one kind. Kinds are
// ordered by the number of pods, then CPU, Milli, Count, Spec and Models, all
// descending, and taken until they cover coverage of all pods, a share above 0
// and at most 1; the published setting is 0.95. Models are neither sorted nor
// deduplicated for that. Errors are bad amounts, as in [State.Place], and a
// Weight where Pods is not set.
func TypicalPods(trace []TypicalPod, coverage float64) (*Typical, error) {
	var r document.Report
	if !(coverage > 0 && coverage <= 1) {
		r.Fail(field.Invalid(field.NewPath("coverage"), coverage, "must be above 0 and at most 1"))
	}
	kinds := make([]TypicalPod, 0, len(trace))
	all := 0.0
	for i, p := range trace {
		path := field.NewPath("trace").Index(i)
		checkTypical(&r, &p, path)
		if p.Pods < 0 {
			r.Fail(field.Invalid(path.Child("pods"), p.Pods, "must not be negative"))
		}
		if p.Pods == 0 && p.Weight != 0 {
			r.Fail(field.Required(path.Child("pods"), "weight is for WeightedPods"))
		}
		p.Pods, p.Weight = max(p.Pods, 1), 0
		all += float64(p.Pods)
		p.Models = slices.Clone(p.Models)
		kinds = append(kinds, p)
	}
	if all >= 1<<53 {
		r.Fail(field.Invalid(field.NewPath("trace"), all, "must have less than 2^53 pods"))
	}
	r.Sorted = true
	if err := r.Err("gpu"); err != nil {
		return nil, err
	}

	slices.SortFunc(kinds, compareKinds)
	kinds = mergeKinds(kinds)
	slices.SortStableFunc(kinds, func(a, b TypicalPod) int { return cmp.Compare(b.Pods, a.Pods) })
	t := &Typical{}
	for _, p := range kinds {
		if t.n/all >= coverage {
			break
		}
		t.pods = append(t.pods, p)
		t.weights = append(t.weights, float64(p.Pods))
		t.n += float64(p.Pods)
	}
	if len(t.pods) == 0 {
		t.n = 1
	} else {
		t.table = newPhiTable(t)
	}
	return t, nil
}

// compareKinds orders kinds but for their number, descending.
func compareKinds(a, b TypicalPod) int {
	return cmp.Or(
		cmp.Compare(b.CPU, a.CPU),
		cmp.Compare(b.Milli, a.Milli),
		cmp.Compare(b.Count, a.Count),
		cmp.Compare(b.Spec, a.Spec),
		slices.Compare(b.Models, a.Models),
	)
}

// mergeKinds adds up neighbors of one kind.
func mergeKinds(sorted []TypicalPod) []TypicalPod {
	merged := sorted[:0]
	for _, p := range sorted {
		if n := len(merged); n > 0 && compareKinds(merged[n-1], p) == 0 {
			merged[n-1].Pods += p.Pods
		} else {
			merged = append(merged, p)
		}
	}
	return merged
}

// WeightedPods returns the kinds of a list with their weights, which are at
// least 0 and finite, whatever their sum is. Errors are bad amounts, as in
// [State.Place], and Pods where Weight is not set.
func WeightedPods(list []TypicalPod) (*Typical, error) {
	var r document.Report
	t := &Typical{n: 1}
	for i, p := range list {
		path := field.NewPath("list").Index(i)
		checkTypical(&r, &p, path)
		checkAmount(&r, p.Weight, path.Child("weight"))
		if p.Weight == 0 && p.Pods != 0 {
			r.Fail(field.Required(path.Child("weight"), "pods is for TypicalPods"))
		}
		p.Pods = 0
		p.Models = slices.Clone(p.Models)
		t.pods = append(t.pods, p)
		t.weights = append(t.weights, p.Weight)
	}
	r.Sorted = true
	if err := r.Err("gpu"); err != nil {
		return nil, err
	}
	return t, nil
}

// checkTypical reports bad amounts of a kind.
func checkTypical(r *document.Report, p *TypicalPod, path *field.Path) {
	checkAmount(r, p.CPU, path.Child("cpu"))
	checkAmount(r, float64(p.Count), path.Child("count"))
	if p.Count <= 0 {
		checkAmount(r, p.Milli, path.Child("milli"))
	} else if !(p.Milli > 0 && p.Milli <= wholeDevice) {
		r.Fail(field.Invalid(path.Child("milli"), p.Milli, reasonMilli))
	}
}

func checkAmount(r *document.Report, x float64, path *field.Path) {
	if !(x-x == 0 && x >= 0) {
		r.Fail(field.Invalid(path, x, "must be finite and not negative"))
	}
}

// ready panics for a value that neither TypicalPods nor WeightedPods made.
func (t *Typical) ready() {
	if t.n == 0 {
		panic(panicTypical)
	}
}

// wantsGPU reports whether a kind wants a GPU.
func (t *Typical) wantsGPU() bool {
	return slices.ContainsFunc(t.pods, func(p TypicalPod) bool { return p.Count > 0 })
}

// Pods returns the kinds in their order. The caller must not change them.
func (t *Typical) Pods() []TypicalPod {
	t.ready()
	return t.pods
}

// N returns what Phi is divided by to give F: the number of pods of all kinds
// taken by [TypicalPods], 1 for [WeightedPods] and for no kinds.
func (t *Typical) N() float64 {
	t.ready()
	return t.n
}

// FNode returns the fragmentation of one node, in thousandths of a device, given
// the CPU and, per device, the thousandths that are left, and its model,
// negative for none.
func (t *Typical) FNode(cpuLeft float64, left []float64, model int32) float64 {
	t.ready()
	return t.phiList(cpuLeft, left, model) / t.n
}

// F returns the fragmentation of one row, in thousandths of a device.
func (t *Typical) F(row int, cpuLeft []float64, gpus *State) float64 {
	t.ready()
	return t.Phi(row, cpuLeft, gpus) / t.n
}

// Phi returns F times N. Where all amounts of the devices are whole numbers and
// the kinds come from [TypicalPods] it is a whole number, exact below 2^53, so
// that sums over rows, and their changes, are exact too.
func (t *Typical) Phi(row int, cpuLeft []float64, gpus *State) float64 {
	t.ready()
	if len(cpuLeft) != gpus.Rows() {
		panic(panicShape)
	}
	gpus.row(row) // is there
	return t.phi(row, cpuLeft[row], gpus)
}

// phi is Phi of a row.
func (t *Typical) phi(row int, cpuLeft float64, gpus *State) float64 {
	r := gpus.row(row)
	if t.exact(gpus) {
		return t.table.phi(cpuLeft, int64(r.idle), gpus.partsOf(r), gpus.Total(row), r.model)
	}
	return t.phiList(cpuLeft, gpus.Devices(row), r.model)
}

// exact reports whether the table gives Phi of the rows of gpus.
func (t *Typical) exact(gpus *State) bool {
	return t.table != nil && !gpus.fractional && gpus.most <= mostExactDevices
}

// phiList is Phi by its definition, in list order.
func (t *Typical) phiList(cpuLeft float64, left []float64, model int32) float64 {
	total := 0.0
	for _, x := range left {
		total += x
	}
	sum := 0.0
	for m := range t.pods {
		sum += float64(t.weights[m] * t.pods[m].unusable(cpuLeft, left, total, model))
	}
	return sum
}

// unusable returns how much of the devices' left a pod of this kind can't use.
func (p *TypicalPod) unusable(cpuLeft float64, left []float64, total float64, model int32) float64 {
	if p.Count == 0 || !(cpuLeft >= p.CPU) || !allows(p.Models, model) {
		return total
	}
	enough, crumbs := 0, 0.0
	for _, x := range left {
		if x >= p.Milli {
			enough++
		} else {
			crumbs += x
		}
	}
	if enough < p.Count {
		return total
	}
	return crumbs
}
