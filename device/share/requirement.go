package share

import (
	"fmt"
	"math"
	"math/bits"
	"strings"

	"github.com/resvec/resvec/device"
	corev1 "k8s.io/api/core/v1"
)

// Requirement is what a pod needs of one kind of devices: Count instances of
// PerInstance, each on a device of its own.
type Requirement struct {
	Kind        string  // device.KindGPU, KindRDMA or KindFPGA
	PerInstance Amounts // of resources that devices of the kind have
	Count       int64   // instances; at least 0

	// Warning says that no device can hold an instance, or that nothing is left of
	// its memory, although the request is valid; empty: nothing to say.
	Warning string
}

// check returns the kind of a requirement that is valid.
func (need *Requirement) check() (kind, error) {
	k, fault := kindNamed(need.Kind)
	if fault != nil {
		return 0, fmt.Errorf("share: %w", fault)
	}
	if err := need.PerInstance.check(); err != nil {
		return 0, err
	}
	if r, ok := foreign(need.PerInstance, k); ok {
		return 0, fmt.Errorf("%w: %v: %s: must be 0 of kind %s", ErrInvalidCombination, r, r.text(need.PerInstance[r]), need.Kind)
	}
	if need.Count < 0 {
		return 0, fmt.Errorf("%w: count of %s: %d: must be 0 instances or more", ErrInvalidUnit, need.Kind, need.Count)
	}
	return k, nil
}

// foreign returns the first resource with an amount that devices of a kind don't
// have.
func foreign(amounts Amounts, k kind) (Resource, bool) {
	from, to := k.columns()
	for i, x := range amounts {
		if r := Resource(i); x != 0 && (r < from || r >= to) {
			return r, true
		}
	}
	return 0, false
}

// checkNeeds checks what a pod needs, of each kind once.
func checkNeeds(needs []Requirement) error {
	var seen [kindCount]bool
	for i := range needs {
		k, err := needs[i].check()
		if err != nil {
			return err
		}
		if seen[k] {
			return twiceError(k)
		}
		seen[k] = true
	}
	return nil
}

func twiceError(k kind) error {
	return fmt.Errorf("%w: kind: %s is needed twice: must be once", ErrInvalidCombination, kindNames[k])
}

// ask is a name that a pod can ask for GPUs by.
type ask uint8

const (
	askNVIDIA ask = iota // nvidia.com/gpu: whole devices
	askAMD               // amd.com/gpu: whole devices
	askDCU               // dcu.com/gpu: whole devices
	askGPU               // koordinator.sh/gpu: GPUCore and GPUMemoryRatio at once
	askShared            // koordinator.sh/gpu.shared: the number of instances
	askCore
	askRatio
	askMemory
	askNPUCore
	askNPUCPU
	askNPUDVPP

	askCount = iota // how many there are
)

var askNames = [askCount]corev1.ResourceName{
	"nvidia.com/gpu", "amd.com/gpu", "dcu.com/gpu", "koordinator.sh/gpu", "koordinator.sh/gpu.shared",
	GPUCore.name(), GPUMemoryRatio.name(), GPUMemory.name(), NPUCore.name(), NPUCPU.name(), NPUDVPP.name(),
}

// askResources are the resources that names stand for, from askCore on.
var askResources = [askCount]Resource{
	askCore: GPUCore, askRatio: GPUMemoryRatio, askMemory: GPUMemory, askNPUCore: NPUCore, askNPUCPU: NPUCPU, askNPUDVPP: NPUDVPP,
}

// unit returns what an amount counts.
func (a ask) unit() string {
	switch {
	case a <= askDCU:
		return "devices"
	case a == askShared:
		return "instances"
	case a >= askCore:
		return askResources[a].unit()
	}
	return "percent of a device"
}

// asked is what a pod asks for of kind gpu.
type asked struct {
	names   askSet
	amounts [askCount]int64
}

// askSet is a set of names, a bit each.
type askSet uint16

func setOf(names ...ask) (s askSet) {
	for _, a := range names {
		s |= 1 << a
	}
	return s
}

// Normalize brings the devices that a pod requests into one form: a [Requirement] for
// each kind, in the order gpu, rdma, fpga. total is what the pod as a whole requests.
// Amounts of 0 and names that aren't listed here are ignored; without any other the
// result is empty. The rules are Koordinator's (package deviceshare of its scheduler, at
// commit a7a1b76), which does not check for negative and fractional quantities.
//
// A pod asks for kind gpu by exactly one of these sets of names. pct(x) says that x
// is at most 100 or a multiple of 100.
//
//	nvidia.com/gpu, amd.com/gpu, dcu.com/gpu: n    gpu-core and gpu-memory-ratio 100n
//	koordinator.sh/gpu: p                          gpu-core and gpu-memory-ratio p; pct(p)
//	[gpu-core +] gpu-memory                        as it is; pct(gpu-core)
//	[gpu-core +] gpu-memory-ratio                  as it is; pct of both
//	npu-core + gpu-memory-ratio                    as it is; pct(gpu-memory-ratio)
//	gpu.shared + [gpu-core +] gpu-memory           gpu-core in gpu.shared equal shares of at most 100
//	gpu.shared + [gpu-core +] gpu-memory-ratio     both in gpu.shared equal shares of at most 100
//	gpu.shared + npu-core + npu-cpu + gpu-memory   gpu.shared is 1
//	  [+ npu-dvpp]                                 npu-dvpp is at most 100
//
// gpu-core, gpu-memory-ratio, gpu-memory and gpu.shared belong to koordinator.sh,
// npu-* to huawei.com. Count is gpu.shared, or gpu-memory-ratio/100 where that is
// more than 1, or 1. An instance gets an equal part of every amount, truncated.
//
// koordinator.sh/rdma and koordinator.sh/fpga are kinds of their own: pct(p). Above
// 100 they are p/100 instances of 100, else one of p.
//
// An error wraps [ErrInvalidCombination] for other sets of names. It wraps
// [ErrInvalidUnit] for the right names with a wrong amount: against the rules,
// negative, no integer, or too large for an int64. A valid request that no device
// can hold has a Warning.
func Normalize(total corev1.ResourceList) ([]Requirement, error) {
	var needs []Requirement
	gpu, err := normalizeGPU(total)
	if err != nil {
		return nil, err
	}
	if gpu.Count > 0 {
		needs = append(needs, gpu)
	}
	for _, r := range [...]Resource{RDMA, FPGA} {
		q := total[r.name()]
		if q.IsZero() {
			continue
		}
		p, err := wholeAmount(r.name(), r.unit(), q)
		if err != nil {
			return nil, err
		}
		if !isPercent(p) {
			return nil, unitError(r.name(), p, notPercent)
		}
		need := Requirement{Kind: kindNames[r.kind()], Count: max(p/100, 1)}
		need.PerInstance[r] = min(p, 100)
		needs = append(needs, need)
	}
	return needs, nil
}

const notPercent = "must be at most 100 percent of a device, or a multiple of 100"

// isPercent reports whether p is a part of one device or a number of whole ones.
func isPercent(p int64) bool { return p <= 100 || p%100 == 0 }

// normalizeGPU returns the requirement of kind gpu. Its Count is 0 when there is
// none.
func normalizeGPU(total corev1.ResourceList) (need Requirement, err error) {
	var a asked
	for i, name := range askNames {
		if q := total[name]; !q.IsZero() {
			a.names |= 1 << i
		}
	}
	check, ok := a.names.check()
	if !ok {
		return need, a.names.err()
	}
	if a.names == 0 {
		return need, nil
	}
	for i, name := range askNames {
		if a.names>>i&1 != 0 {
			if a.amounts[i], err = wholeAmount(name, ask(i).unit(), total[name]); err != nil {
				return need, err
			}
		}
	}
	if err := check(&a); err != nil {
		return need, err
	}
	a.spellOut()
	return a.share(), nil
}

// check returns the check of amounts with these names; ok is false where the names
// can't be asked for together.
func (s askSet) check() (check func(*asked) error, ok bool) {
	switch s {
	case 0, setOf(askNVIDIA), setOf(askAMD), setOf(askDCU):
		return checkWhole, true
	case setOf(askGPU), setOf(askMemory), setOf(askRatio), setOf(askCore, askMemory), setOf(askCore, askRatio), setOf(askNPUCore, askRatio):
		return checkPercent, true
	case setOf(askShared, askMemory), setOf(askShared, askRatio), setOf(askShared, askCore, askMemory), setOf(askShared, askCore, askRatio):
		return checkShares, true
	case setOf(askShared, askNPUCore, askNPUCPU, askMemory), setOf(askShared, askNPUCore, askNPUCPU, askMemory, askNPUDVPP):
		return checkNPU, true
	}
	return nil, false
}

// err says that these names can't be asked for together.
func (s askSet) err() error {
	var names []string
	for i, name := range askNames {
		if s>>i&1 != 0 {
			names = append(names, string(name))
		}
	}
	if len(names) == 1 {
		names = append(names, "nothing else")
	}
	return fmt.Errorf("%w: %s: must be a combination that Normalize lists%s", ErrInvalidCombination, strings.Join(names, " with "), s.missing())
}

// missing says which names would make the set one that can be asked for: the fewest.
func (s askSet) missing() string {
	var texts []string
	fewest := int(askCount)
	for more := askSet(1); more < 1<<askCount; more++ {
		n := bits.OnesCount16(uint16(more))
		if _, ok := (s | more).check(); s&more != 0 || n > fewest || !ok {
			continue
		}
		if n < fewest {
			fewest, texts = n, nil
		}
		var names []string
		for i, name := range askNames {
			if more>>i&1 != 0 {
				names = append(names, string(name))
			}
		}
		texts = append(texts, strings.Join(names, " and "))
	}
	if len(texts) == 0 {
		return ""
	}
	return ", for example with " + strings.Join(texts, " or ")
}

func checkWhole(a *asked) error {
	for i := askNVIDIA; i <= askDCU; i++ {
		if n := a.amounts[i]; n > math.MaxInt64/100 {
			return unitError(askNames[i], n, fmt.Sprintf("must be at most %d devices", int64(math.MaxInt64/100)))
		}
	}
	return nil
}

func checkPercent(a *asked) error {
	for _, i := range [...]ask{askGPU, askCore, askRatio} {
		if p := a.amounts[i]; !isPercent(p) {
			return unitError(askNames[i], p, notPercent)
		}
	}
	return nil
}

func checkShares(a *asked) error {
	n := a.amounts[askShared]
	for _, i := range [...]ask{askCore, askRatio} {
		if p := a.amounts[i]; p%n != 0 || p/n > 100 {
			return unitError(askNames[i], p, fmt.Sprintf("must be %d equal whole shares of at most 100 percent of a device", n))
		}
	}
	return nil
}

func checkNPU(a *asked) error {
	if n := a.amounts[askShared]; n != 1 {
		return unitError(askNames[askShared], n, "must be 1 instance with "+NPUCore.String())
	}
	if p := a.amounts[askNPUDVPP]; p > 100 {
		return unitError(askNames[askNPUDVPP], p, "must be at most 100 percent of a device")
	}
	return nil
}

// spellOut replaces names for whole devices, and for two amounts at once, by those
// amounts.
func (a *asked) spellOut() {
	percent := a.amounts[askGPU] + 100*(a.amounts[askNVIDIA]+a.amounts[askAMD]+a.amounts[askDCU]) // one of them is there at most
	if percent > 0 {
		*a = asked{names: setOf(askCore, askRatio)}
		a.amounts[askCore], a.amounts[askRatio] = percent, percent
	}
}

// share cuts what is asked for into equal instances.
func (a *asked) share() Requirement {
	need := Requirement{Kind: device.KindGPU, Count: a.amounts[askShared]}
	if need.Count == 0 {
		need.Count = max(a.amounts[askRatio]/100, 1)
	}
	for i := askCore; i < askCount; i++ {
		need.PerInstance[askResources[i]] = a.amounts[i] / need.Count
	}
	if core := need.PerInstance[GPUCore]; core > 100 {
		need.Warning = fmt.Sprintf("%s: %d percent for one instance, more than a device has", GPUCore, core)
	}
	if memory := a.amounts[askMemory]; memory > 0 && need.PerInstance[GPUMemory] == 0 {
		need.Warning = fmt.Sprintf("%s: %d bytes are less than one for each of %d instances", GPUMemory, memory, need.Count)
	}
	return need
}

// Hint says how a request for rdma or fpga is spread over devices: the
// allocateStrategy of Koordinator's device-allocate-hint.
type Hint uint8

const (
	ApplyForAll       Hint = iota + 1 // the amount on each of the matching devices
	RequestsAsCount                   // the amount is a number of instances, of 1 each
	RequestsAsDevices                 // the same with whole devices, where the hint is exclusive per device
)

// WithHint returns the requirement that a hint makes of need, which comes from
// [Normalize]. matching is how many devices of the node match the hint; only
// ApplyForAll looks at it. A hint changes only one instance of rdma or fpga: kind
// gpu, and requests above 100, stay as they are.
//
// The error is a [*NotEnoughError] when ApplyForAll finds no device. It panics on
// an unknown hint.
func (need Requirement) WithHint(h Hint, matching int) (Requirement, error) {
	if h < ApplyForAll || h > RequestsAsDevices {
		panic("share: unknown hint")
	}
	var r Resource
	switch need.Kind {
	case device.KindRDMA:
		r = RDMA
	case device.KindFPGA:
		r = FPGA
	default:
		return need, nil
	}
	if need.Count != 1 {
		return need, nil
	}
	switch amount := need.PerInstance[r]; h {
	case ApplyForAll:
		if matching <= 0 {
			return Requirement{}, &NotEnoughError{Kind: need.Kind, Want: 1}
		}
		need.Count = int64(matching)
	case RequestsAsCount:
		need.Count, need.PerInstance[r] = amount, 1
	case RequestsAsDevices:
		need.Count, need.PerInstance[r] = amount, 100
	}
	return need, nil
}
