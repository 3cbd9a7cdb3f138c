package share

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/internal/document"
	"github.com/resvec/resvec/scoring/gpu"
	"github.com/resvec/resvec/vector"
)

// AllocRequest asks for devices of one kind on a node.
type AllocRequest struct {
	Requirement // nothing reads Warning

	Preferred []int32 // minors to take first
	Required  []int32 // only these minors; empty: any

	Policy Policy
	Scope  Scope // what part of the node the devices must share

	// Mix is, for LeastFragmentation, the pods to leave room for: of each kind Pods that
	// want Milli of a device. One of several devices counts, and CPU, Models and Weight
	// don't, since only devices are compared here. Kinds without a GPU are left out.
	// With an empty Mix nothing that is free is useless, and the score decides.
	Mix []gpu.TypicalPod
}

// Policy says which of the devices that fit are taken.
type Policy uint8

const (
	// ByScore takes preferred devices first, then those with the highest score for
	// an instance, then those with the lowest minor.
	ByScore Policy = iota

	// PackTopology takes all devices from one part of the node. The parts are the node,
	// its NUMA nodes and their PCIe roots. A device of unknown topology is part of the
	// node only. Of the parts with enough devices it takes the first in this order:
	//
	//   - a PCIe root before a NUMA node, a NUMA node before the node
	//   - the part with most levels in use: itself and those that enclose it. A level is
	//     in use if some device of it is
	//   - for a part of a GPU, that is a gpu-memory-ratio below 100 or bytes without a ratio,
	//     the part of the node with the best score of a device that fits
	//   - the lowest NUMA node and PCIe root
	//
	// Inside the part it takes devices as ByScore does.
	PackTopology

	// LeastFragmentation takes devices in this order:
	//
	//   - preferred devices
	//   - those on which the instance adds least to what is useless for the pods of Mix
	//   - those with the highest score by MostAllocated
	//   - those with the lowest minor
	//
	// Useless is F of [gpu.Typical] for a node with this device alone: the sum, over the
	// pods that don't fit, of the free percentage times the number of such pods. Bytes
	// count as their percentage of the device. With an empty Mix it takes the fullest
	// device that fits.
	LeastFragmentation
)

// String returns the name of the constant.
func (p Policy) String() string {
	return document.EnumName(int(p), "ByScore", "PackTopology", "LeastFragmentation")
}

// Scope is a level of a node's topology. With a Scope other than ScopeNode all
// policies take the devices from one part of that level or a deeper one, which
// is chosen as by [PackTopology], and inside it in their own order.
type Scope uint8

const (
	ScopeNode Scope = iota
	ScopeNUMA
	ScopePCIe
)

// Allocate chooses Count devices of a node by the policy, among those on which
// PerInstance fits what is free. Devices outside Required are left out, unhealthy
// ones, and those whose total or free amounts are all zero. If fewer are left it is
// a *[NotEnoughError].
//
// What is allocated is PerInstance. With [Config.FillMemory] it is completed for every
// device first, by its totals, so that gpu-memory and gpu-memory-ratio are both
// compared and taken. Nothing is written: [Account.Commit] does that.
//
// Other errors come before any choice. They are the errors of [Bound.Fit];
// [ErrInvalidUnit] for a Mix with a part of no size or of more than a device, a
// negative Count, negative Pods, or a Weight where Pods is not set;
// [vector.ErrNotRepresentable] for 2^53/1000 pods or more; [ErrNoTotal] where
// LeastFragmentation needs the memory of a device to convert bytes to a ratio.
// It panics on an unknown policy or scope.
func (b *Bound) Allocate(node int, req AllocRequest) (Allocation, error) {
	c := &b.first
	if err := b.consider(c, node, &req); err != nil {
		return Allocation{}, err
	}
	taken, _, refusal := c.choose()
	if refusal != nil {
		return Allocation{}, refusal
	}
	return c.allocation(taken), nil
}

// consideration is a request and what is known of every device that it may get. Its
// lists are kept from one request to the next.
type consideration struct {
	req       AllocRequest
	states    []State      // of the node
	devices   []candidate  // of the kind, as the node has them
	fitting   []*candidate // that can take an instance
	order     []*candidate
	uses      []partUse
	neighbors *neighbors // that the devices must have; nil: none
}

// candidate is a device that was looked at.
type candidate struct {
	state   *State
	amounts Amounts // what an instance takes of it
	cause   Cause   // why it can't take one; 0: it can

	// Of a device that can take an instance.
	preferred bool
	score     int64 // that the policy orders by
	change    int64 // of fragmentation, in percent of a device times pods
	round     int   // of PCIe roots, see orderByPCIe
}

// consider checks a request and looks at every device of the kind.
func (b *Bound) consider(c *consideration, node int, req *AllocRequest) error {
	a := b.account
	if req.Policy > LeastFragmentation {
		panic("share: unknown policy")
	}
	if req.Scope > ScopePCIe {
		panic("share: unknown scope")
	}
	a.Rows(node) // is there
	if _, err := req.check(); err != nil {
		return err
	}
	scorer := b.scorer
	var mix *gpu.Typical
	if req.Policy == LeastFragmentation {
		var err error
		if mix, err = newMix(req.Mix); err != nil {
			return err
		}
		scorer = b.most
	}
	c.req, c.neighbors = *req, nil
	c.states = a.States(c.states[:0], node)
	c.devices, c.fitting = slices.Grow(c.devices[:0], len(c.states)), c.fitting[:0] // no element moves
	for i := range c.states {
		s := &c.states[i]
		if s.Kind != req.Kind {
			continue
		}
		c.devices = append(c.devices, candidate{state: s, amounts: req.PerInstance})
		d := &c.devices[len(c.devices)-1]
		if b.scorer != nil && b.scorer.fills {
			fillMemory(&d.amounts, &s.Total)
		}
		if d.cause = d.refuse(req.Required); d.cause != 0 {
			continue
		}
		d.preferred = slices.Contains(req.Preferred, s.Minor)
		d.score = scorer.scoreDevice(&d.amounts, &s.Total, &s.Free)
		if mix != nil {
			var err error
			if d.change, err = d.fragmentationChange(mix); err != nil {
				return err
			}
		}
		c.fitting = append(c.fitting, d)
	}
	return nil
}

// refuse returns why a device can't take an instance.
func (d *candidate) refuse(required []int32) Cause {
	switch {
	case len(required) > 0 && !slices.Contains(required, d.state.Minor):
		return CauseOutsideRequired
	case d.state.Health == device.Unhealthy:
		return CauseUnhealthy
	case d.state.Total == Amounts{}:
		return CauseNoCapacity
	case d.state.Free == Amounts{}:
		return CauseExhausted
	case !fits(&d.amounts, &d.state.Free):
		return CauseInsufficient
	}
	return 0
}

// reasons returns why a device can't be chosen, nil if it can.
func (d *candidate) reasons() []Reason {
	switch d.cause {
	case 0:
		return nil
	case CauseInsufficient:
		return insufficient(&d.amounts, &d.state.Free)
	}
	return []Reason{{Cause: d.cause, Devices: 1}}
}

// choose returns the devices to take, in order, and the part of the node that
// they are from.
func (c *consideration) choose() (taken []*candidate, from part, refusal *NotEnoughError) {
	if c.req.Count == 0 {
		return nil, wholeNode, nil
	}
	from, got := c.part()
	if got < c.req.Count {
		return nil, from, c.refusal(got)
	}
	c.order = c.ordered(c.order[:0], from)
	return c.pick(c.order), from, nil
}

// ordered appends the devices of a part that fit, in the order of the policy.
func (c *consideration) ordered(dst []*candidate, from part) []*candidate {
	for _, d := range c.fitting {
		if from.contains(d.state) {
			dst = append(dst, d)
		}
	}
	slices.SortFunc(dst, compareCandidates)
	return dst
}

// compareCandidates puts the device to take first. Without a mix no change differs.
func compareCandidates(a, b *candidate) int {
	return cmp.Or(
		comparePreferred(a, b),
		cmp.Compare(a.change, b.change),
		cmp.Compare(b.score, a.score),
		cmp.Compare(a.state.Minor, b.state.Minor),
	)
}

// comparePreferred puts preferred devices first.
func comparePreferred(a, b *candidate) int {
	switch {
	case a.preferred == b.preferred:
		return 0
	case a.preferred:
		return -1
	}
	return 1
}

// refusal says that got devices are all there is.
func (c *consideration) refusal(got int64) *NotEnoughError {
	refusal := &NotEnoughError{Kind: c.req.Kind, Want: c.req.Count, Got: got}
	if len(c.devices) == 0 {
		refusal.Reasons = []Reason{{Cause: CauseNoneOfKind}}
	}
	for i := range c.devices {
		refusal.Reasons = countReasons(refusal.Reasons, c.devices[i].reasons())
	}
	if elsewhere := int64(len(c.fitting)) - got; elsewhere > 0 {
		refusal.Reasons = countReasons(refusal.Reasons, []Reason{{Cause: CauseOutsideScope, Devices: elsewhere}})
	}
	return refusal
}

// allocation returns what a pod gets of the devices taken.
func (c *consideration) allocation(taken []*candidate) Allocation {
	a := Allocation{Kind: c.req.Kind, Devices: make([]Allocated, len(taken))}
	for i, d := range taken {
		a.Devices[i] = Allocated{Minor: d.state.Minor, UUID: d.state.UUID, Name: d.state.Name, Amounts: d.amounts}
	}
	slices.SortFunc(a.Devices, func(a, b Allocated) int { return cmp.Compare(a.Minor, b.Minor) })
	return a
}

// maxMixPods is how many pods a mix may have for all fragmentation to be exact in a
// float64.
const maxMixPods = (1<<53 - 1) / (wholeDevice * milliRatio)

// newMix returns the measure of fragmentation by a mix of pods: the node has one
// device and no CPU, of which no pod wants any.
func newMix(mix []gpu.TypicalPod) (*gpu.Typical, error) {
	pods := make([]gpu.TypicalPod, 0, len(mix))
	sum := int64(0)
	for i, m := range mix {
		n := max(m.Pods, 1)
		switch {
		case m.Count == 0:
			continue
		case !(m.Milli > 0 && m.Milli <= wholeDevice*milliRatio):
			return nil, fmt.Errorf("%w: mix[%d].milli: %v: must be above 0 and at most 1000 thousandths of a device", ErrInvalidUnit, i, m.Milli)
		case m.Count < 0:
			return nil, fmt.Errorf("%w: mix[%d].count: %d: must be 0 devices or more", ErrInvalidUnit, i, m.Count)
		case m.Pods < 0:
			return nil, fmt.Errorf("%w: mix[%d].pods: %d: must be 0 or more", ErrInvalidUnit, i, m.Pods)
		case m.Pods == 0 && m.Weight != 0:
			return nil, fmt.Errorf("%w: mix[%d].pods: must be set: weight is for gpu.WeightedPods", ErrInvalidUnit, i)
		case n > maxMixPods-sum:
			return nil, fmt.Errorf("share: mix[%d].pods: %d: all pods must be at most %d: %w", i, m.Pods, int64(maxMixPods), vector.ErrNotRepresentable)
		}
		sum += n
		pods = append(pods, gpu.TypicalPod{Count: 1, Milli: m.Milli, Weight: float64(n)})
	}
	typical, err := gpu.WeightedPods(pods)
	if err != nil {
		return nil, fmt.Errorf("share: mix: %w", err)
	}
	return typical, nil
}

// fragmentationChange returns by how much an instance makes the fragmentation of
// the device grow, in percent of a device times pods of the mix.
func (d *candidate) fragmentationChange(mix *gpu.Typical) (int64, error) {
	want, err := d.ratio(d.amounts[GPUMemoryRatio], d.amounts[GPUMemory])
	if err != nil {
		return 0, err
	}
	free := d.state.Free[GPUMemoryRatio]
	if d.state.Total[GPUMemoryRatio] == 0 {
		if free, err = d.ratio(free, d.state.Free[GPUMemory]); err != nil {
			return 0, err
		}
	}
	return fragmentation(mix, free-want) - fragmentation(mix, free), nil
}

// fragmentation returns how much is useless of a device with this much free: the
// percentage times the pods that are too large for it, so nothing where a whole
// device or more is free.
func fragmentation(mix *gpu.Typical, free int64) int64 {
	left := [1]float64{float64(milliRatio * min(max(free, 0), wholeDevice))}
	return int64(mix.FNode(0, left[:], -1)) / milliRatio
}

// ratio returns an amount of memory in percent of the device: the ratio, or the
// bytes if that is 0.
func (d *candidate) ratio(ratio, bytes int64) (int64, error) {
	if ratio != 0 || bytes <= 0 {
		return ratio, nil
	}
	ratio, err := bytesToRatio(bytes, d.state.Total[GPUMemory])
	if err != nil {
		return 0, fmt.Errorf("%s %d: %w", d.state.Kind, d.state.Minor, err)
	}
	return ratio, nil
}
