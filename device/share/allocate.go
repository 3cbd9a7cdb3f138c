package share

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/scoring/gpu"
)

// AllocRequest asks for devices of one kind on a node. Its first fields are those
// of a [Requirement].
type AllocRequest struct {
	Kind        string  // empty: that of the devices, which must be all of one
	PerInstance Request // amounts, at least 0
	Count       int64   // instances, each on a device of its own; at least 0
	Partial     bool    // an instance leaves room on its device; counts for PackTopology

	Preferred []int32 // minors to take first
	Required  []int32 // minors to take none but; empty: any

	Policy Policy
	Scope  Scope // what part of the node the devices must share

	// Mix is, for LeastFragmentation, the pods to leave room for. Without any
	// nothing that is free is useless, and the score decides.
	Mix []Share
}

// Policy says which of the devices that fit are taken.
type Policy uint8

const (
	// FirstFit takes the first devices in the order of [Order], by their scores
	// for an instance.
	FirstFit Policy = iota

	// PackTopology takes the devices from one part of the node that has enough
	// of them, inside it as FirstFit does. The parts are the node, its NUMA nodes
	// and their PCIe roots; a device of unknown topology is part of the node
	// only. PCIe roots come before NUMA nodes, and these before the node; then
	// the parts come first around which most levels are in use: the part itself
	// and those that it is in, each with some device of which less is free than
	// there is. Then, for a partial request, the highest score of a device that
	// fits comes first, then the lowest NUMA node and PCIe root.
	PackTopology

	// LeastFragmentation takes preferred devices first, then those on which the
	// instance adds least to what is useless for the pods of Mix, then the
	// highest score by [MostAllocated], then the lowest minor. Useless is F of
	// [gpu.Typical] for a node with this device alone: the sum, over the pods
	// that don't fit, of what is free in percent times the pod's weight. By
	// bytes requested and free the ratios are those of [BytesToRatio]. An empty
	// Mix is no error: it makes this the policy of the fullest device that fits.
	LeastFragmentation
)

// String returns the name of the constant.
func (p Policy) String() string {
	return enumName(int(p), "FirstFit", "PackTopology", "LeastFragmentation")
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

// String returns the name of the level.
func (s Scope) String() string {
	return enumName(int(s), "node", "NUMA", "PCIe")
}

// Share is a kind of pods: how much of one device they take, and their weight.
type Share struct {
	Ratio  int64 // percent of a device, above 0; from 100 on whole devices
	Weight int64 // at least 0
}

const (
	panicPolicy = "share: unknown policy"
	panicScope  = "share: unknown scope"
)

// Allocate chooses Count devices of a node by the policy, among those on which
// PerInstance fits what is free. Devices outside Required are left out, unhealthy
// ones, and those whose total or free amounts are all zero. If fewer are left it
// is a *[NotEnoughError]. A nil Scorer gives every device the score 0.
//
// What is allocated is PerInstance. With [FillMemory] it is completed for every
// device first, by its totals, so that gpu-memory and gpu-memory-ratio are both
// compared and taken; without, a request for one of them leaves the other one as
// it is.
//
// The devices are not changed; [Allocation.Commit] does that. The order in which
// they are listed doesn't matter.
//
// Other errors come before any choice. They wrap [ErrInvalidUnit] for a negative
// amount or Count and for a Mix with a ratio of 0 or less or a negative weight,
// [ErrNotRepresentable] for weights whose sum is 2^53/1000 or more,
// [ErrInvalidCombination] for devices of several kinds with no Kind asked for,
// and [ErrNoTotal] where LeastFragmentation needs the memory of a device to tell
// the ratio of bytes; a kind that isn't known and two devices of a kind with one
// minor are errors too. It panics on a policy or scope that there isn't.
func (s *Scorer) Allocate(req AllocRequest, devices []State) (Allocation, error) {
	c, err := s.consider(&req, devices)
	if err != nil {
		return Allocation{}, err
	}
	taken, _, refusal := c.choose()
	if refusal != nil {
		return Allocation{}, refusal
	}
	return c.allocation(taken), nil
}

// consideration is a request and what is known of every device that it may get.
type consideration struct {
	req     *AllocRequest
	kind    string
	devices []considered
	fitting []Candidate // as the devices are listed
	reasons []Reason    // of all others
	near    *neighbours // that the devices must have; nil: none
}

// considered is a device that was looked at.
type considered struct {
	state   *State
	amounts Request  // what an instance takes of it
	reasons []Reason // why it can't take one; empty: it can

	// Of a device that can take an instance.
	preferred bool
	score     int64 // that the policy orders by
	change    int64 // of fragmentation, in percent of a device times weight
}

// consider checks the operands and looks at every device of the kind.
func (s *Scorer) consider(req *AllocRequest, devices []State) (*consideration, error) {
	if req.Policy > LeastFragmentation {
		panic(panicPolicy)
	}
	if req.Scope > ScopePCIe {
		panic(panicScope)
	}
	if err := checkRequest(req.PerInstance); err != nil {
		return nil, err
	}
	if req.Count < 0 {
		return nil, fmt.Errorf("%w: count: %d: must be 0 instances or more", ErrInvalidUnit, req.Count)
	}
	if req.Kind != "" {
		if err := checkKind(req.Kind); err != nil {
			return nil, err
		}
	}
	c := &consideration{req: req, kind: req.Kind}
	if err := c.collect(devices); err != nil {
		return nil, err
	}
	var mix *gpu.Typical
	if req.Policy == LeastFragmentation {
		var err error
		if mix, err = newMix(req.Mix); err != nil {
			return nil, err
		}
		s = s.mostAllocated()
	}
	if err := s.look(c, mix); err != nil {
		return nil, err
	}
	return c, nil
}

// look finds the devices that can take an instance, and what orders them.
func (s *Scorer) look(c *consideration, mix *gpu.Typical) error {
	instance := withoutZeros(c.req.PerInstance)
	required, preferred := minorSet(c.req.Required), minorSet(c.req.Preferred)
	c.fitting = make([]Candidate, 0, len(c.devices))
	for i := range c.devices {
		d := &c.devices[i]
		d.amounts = s.completed(instance, d.state.Total)
		if d.reasons = d.refuse(required); len(d.reasons) > 0 {
			c.reasons = countReasons(c.reasons, d.reasons)
			continue
		}
		d.preferred = preferred.has(d.state.Minor)
		d.score = s.score(d.amounts, d.state.Total, d.state.Free)
		if mix != nil {
			var err error
			if d.change, err = d.fragmentationChange(mix); err != nil {
				return err
			}
		}
		c.fitting = append(c.fitting, Candidate{
			Minor:     d.state.Minor,
			PCIeRoot:  d.state.PCIeRoot,
			Preferred: d.preferred,
			Score:     d.score,
			index:     i,
		})
	}
	return nil
}

// collect lists the devices of the kind, with distinct minors.
func (c *consideration) collect(devices []State) error {
	if err := checkStates(devices); err != nil {
		return err
	}
	c.devices = make([]considered, 0, len(devices))
	for i := range devices {
		d := &devices[i]
		if c.req.Kind != "" && d.Kind != c.req.Kind {
			continue
		}
		if len(c.devices) > 0 && d.Kind != c.kind {
			return fmt.Errorf("%w: kind: empty: must name one, since there are devices of kinds %s and %s", ErrInvalidCombination, c.kind, d.Kind)
		}
		c.kind = d.Kind
		c.devices = append(c.devices, considered{state: d})
	}
	return nil
}

// refuse returns why a device can't take an instance.
func (d *considered) refuse(required minors) []Reason {
	cause := Cause(0)
	switch {
	case len(required) > 0 && !required.has(d.state.Minor):
		cause = CauseOutsideRequired
	case d.state.Health == device.Unhealthy:
		cause = CauseUnhealthy
	case allZero(d.state.Total):
		cause = CauseNoCapacity
	case allZero(d.state.Free):
		cause = CauseExhausted
	default:
		return insufficient(d.amounts, d.state.Free)
	}
	return []Reason{{Cause: cause, Devices: 1}}
}

// choose returns the devices to take, in order, and the part of the node that
// they are from.
func (c *consideration) choose() (taken []Candidate, from part, refusal *NotEnoughError) {
	if c.req.Count == 0 {
		return nil, wholeNode, nil
	}
	from, got := c.part()
	if got < c.req.Count {
		return nil, from, c.refusal(got)
	}
	return c.pick(c.ordered(from)), from, nil
}

// ordered returns the devices of a part that fit, in the order of the policy.
func (c *consideration) ordered(from part) []Candidate {
	in := make([]Candidate, 0, len(c.fitting))
	for _, d := range c.fitting {
		if from.contains(c.devices[d.index].state) {
			in = append(in, d)
		}
	}
	slices.SortFunc(in, func(a, b Candidate) int {
		return cmp.Or(
			comparePreferred(a, b),
			cmp.Compare(c.devices[a.index].change, c.devices[b.index].change),
			compareCandidates(a, b),
		)
	})
	return in
}

// refusal says that got devices are all there is.
func (c *consideration) refusal(got int64) *NotEnoughError {
	reasons := c.reasons
	if len(c.devices) == 0 {
		reasons = []Reason{{Cause: CauseNoneOfKind}}
	}
	if elsewhere := int64(len(c.fitting)) - got; elsewhere > 0 {
		reasons = countReasons(reasons, []Reason{{Cause: CauseOutsideScope, Devices: elsewhere}})
	}
	return &NotEnoughError{Kind: c.kind, Want: c.req.Count, Got: got, Reasons: reasons}
}

// allocation returns what a pod gets of the devices taken.
func (c *consideration) allocation(taken []Candidate) Allocation {
	a := Allocation{Kind: c.kind, Devices: make([]Allocated, len(taken))}
	for i, d := range taken {
		a.Devices[i] = Allocated{Minor: d.Minor, Amounts: maps.Clone(c.devices[d.index].amounts)}
	}
	slices.SortFunc(a.Devices, func(a, b Allocated) int { return cmp.Compare(a.Minor, b.Minor) })
	return a
}

// minors is a set of them, sorted.
type minors []int32

func minorSet(list []int32) minors { return slices.Sorted(slices.Values(list)) }

func (m minors) has(minor int32) bool {
	_, ok := slices.BinarySearch(m, minor)
	return ok
}

// allZero reports whether no amount is other than 0.
func allZero[M Total | Free](amounts M) bool {
	for _, amount := range amounts {
		if amount != 0 {
			return false
		}
	}
	return true
}

// completed returns what an instance takes of a device with these totals: the
// request or, with [FillMemory], a copy of it with the missing one of
// gpu-memory-ratio and gpu-memory.
func (s *Scorer) completed(instance Request, total Total) Request {
	if s == nil || s.options&FillMemory == 0 || total[GPUMemoryRatio] <= 0 || total[GPUMemory] <= 0 {
		return instance
	}
	from, to := GPUMemoryRatio, GPUMemory
	if instance[from] == 0 {
		from, to = to, from
	}
	if instance[from] == 0 || instance[to] != 0 {
		return instance
	}
	// What is too much for an int64 is too much for the device.
	amount, _ := mulDiv(instance[from], total[to], total[from])
	if amount == 0 {
		return instance
	}
	filled := maps.Clone(instance)
	filled[to] = amount
	return filled
}

// mostAllocated returns a scorer of the same resources by [MostAllocated].
func (s *Scorer) mostAllocated() *Scorer {
	if s == nil {
		return nil
	}
	most := *s
	most.most = true
	return &most
}
