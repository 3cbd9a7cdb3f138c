package share

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/resvec/resvec/internal/document"
)

// Joint says how two kinds of devices of a pod belong together.
type Joint uint8

const (
	// PreferSamePCIe takes the second kind from the PCIe roots of the first as
	// far as there are devices on them.
	PreferSamePCIe Joint = iota

	// RequireSamePCIe refuses if both kinds aren't on the same PCIe roots.
	RequireSamePCIe

	// SeekSamePCIe requires the same, and chooses the first kind so that this can
	// be had. (Koordinator has the other two only.)
	SeekSamePCIe
)

// String returns the name of the constant.
func (j Joint) String() string {
	return document.EnumName(int(j), "PreferSamePCIe", "RequireSamePCIe", "SeekSamePCIe")
}

// AllocateJoint allocates two kinds of devices of one node that work together, such as
// GPUs and the NICs next to them. It allocates the first kind as [Bound.Allocate] does.
// Of the second it takes Count devices in rounds: one on each PCIe root of the first
// kind, in the order of [ByScore], then another on each, and at last those elsewhere.
// Where the first kind has more roots than Count, it takes more devices on these roots, up
// to one for each. Each instance is PerInstance.
//
// With RequireSamePCIe both kinds must be on the same PCIe roots. The second kind takes
// at least one device for each root: a *[NotEnoughError] says that fewer fit anywhere.
// An error that wraps [ErrJointViolation] says that the roots are not the same, or that
// one is unknown. No other devices of the first kind are tried then, though they might do.
//
// With SeekSamePCIe the first kind is chosen so that the second has its Count on the same
// roots. It is chosen in the order of Allocate, among the choices that leave the second
// kind enough. A refusal says that there is no such choice. It is a *[NotEnoughError]:
// for the first kind if too few of its devices are on roots where the second fits, and
// for the second if no Count devices of the first have enough of it on their roots. Devices that
// fit elsewhere are [CauseApart] in its Reasons.
//
// If one Count is 0, the other kind is allocated as if joint were PreferSamePCIe. Policy,
// Scope and Mix of the second request don't count. Two requests of one kind are
// an error that wraps [ErrInvalidCombination]. Other errors are as of Allocate. With
// an error both results are zero. It panics on an unknown joint.
func (b *Bound) AllocateJoint(node int, primary, secondary AllocRequest, joint Joint) (first, second Allocation, err error) {
	c, err := b.considerJoint(node, &primary, &secondary, joint)
	if err == nil {
		err = c.choose()
	}
	if err != nil {
		return first, second, err
	}
	return c.first.allocation(c.chosen), c.second.allocation(c.partners), nil
}

// jointConsideration is a joint request, what is known of the devices of both
// kinds, and what became of it.
type jointConsideration struct {
	joint         Joint
	first, second *consideration

	from             part           // of the first kind
	chosen, partners []*candidate   // of both kinds; with an ErrJointViolation, what it is about
	refused          *consideration // with a NotEnoughError: the kind that it is for
}

// considerJoint checks the operands of a joint allocation.
func (b *Bound) considerJoint(node int, primary, secondary *AllocRequest, joint Joint) (*jointConsideration, error) {
	if joint > SeekSamePCIe {
		panic("share: unknown joint")
	}
	secondary.Policy, secondary.Scope = ByScore, ScopeNode
	if err := b.consider(&b.first, node, primary); err != nil {
		return nil, err
	}
	if err := b.consider(&b.second, node, secondary); err != nil {
		return nil, err
	}
	if primary.Kind == secondary.Kind && primary.Count > 0 && secondary.Count > 0 {
		k, _ := kindNamed(primary.Kind)
		return nil, twiceError(k)
	}
	return &jointConsideration{joint: joint, first: &b.first, second: &b.second, from: wholeNode}, nil
}

// choose chooses devices of both kinds, or returns the refusal.
func (c *jointConsideration) choose() error {
	var refusal *NotEnoughError
	c.chosen, c.from, refusal = c.first.choose()
	c.refused = c.first
	if refusal == nil && c.joint == SeekSamePCIe && c.first.req.Count > 0 && c.second.req.Count > 0 {
		refusal = c.chooseBeside()
	}
	if refusal != nil {
		c.chosen = nil
		return refusal
	}
	c.refused = c.second
	if refusal = c.chooseNear(); refusal != nil {
		c.chosen = nil
		return refusal
	}
	c.refused = nil
	if c.required() {
		if roots, own := pcieRoots(c.chosen), pcieRoots(c.partners); roots[0] == "" || !slices.Equal(own, roots) {
			return fmt.Errorf("%w: primary on %q, secondary on %q", ErrJointViolation, roots, own)
		}
	}
	return nil
}

// required reports whether both kinds must be on the same PCIe roots.
func (c *jointConsideration) required() bool {
	return c.joint != PreferSamePCIe && len(c.chosen) > 0 && c.second.req.Count > 0
}

// chooseNear chooses the second kind of devices for the first one.
func (c *jointConsideration) chooseNear() *NotEnoughError {
	b := c.second
	if b.req.Count == 0 {
		return nil
	}
	known := knownRoots(c.chosen)
	n := b.req.Count
	if c.required() {
		n = max(n, int64(len(known)))
	}
	orderByPCIe(b.fitting, known)
	if got := int64(len(b.fitting)); got < n {
		refusal := b.refusal(got)
		refusal.Want = n
		return refusal
	}
	for n < int64(len(known)) && n < int64(len(b.fitting)) && slices.Contains(known, b.fitting[n].state.PCIeRoot) {
		n++
	}
	c.partners = b.fitting[:n]
	return nil
}

// orderByPCIe sorts devices so that the first ones are spread over the given PCIe
// roots, which are known. In rounds one device of each root is taken, every round in
// the order of ByScore. Devices elsewhere come last, also in that order.
// (Koordinator, deviceshare: the order of NICs by the GPUs of a pod.)
func orderByPCIe(devices []*candidate, roots []string) {
	slices.SortFunc(devices, compareCandidates)
	for i, d := range devices {
		d.round = len(devices) // elsewhere
		if slices.Contains(roots, d.state.PCIeRoot) {
			d.round = 0
			for _, before := range devices[:i] {
				if before.state.PCIeRoot == d.state.PCIeRoot {
					d.round++
				}
			}
		}
	}
	slices.SortStableFunc(devices, func(a, b *candidate) int { return cmp.Compare(a.round, b.round) })
}

// chooseBeside chooses the first kind again, devices that have enough of the second
// kind on the same root.
func (c *jointConsideration) chooseBeside() (refusal *NotEnoughError) {
	a, b := c.first, c.second
	if got := int64(len(b.fitting)); got < b.req.Count {
		c.refused = b
		return b.refusal(got)
	}
	a.neighbors = neighborsOf(b)
	a.fitting = slices.DeleteFunc(a.fitting, func(d *candidate) bool {
		if a.neighbors.on(d.state.PCIeRoot) > 0 {
			return false
		}
		d.cause = CauseApart
		return true
	})
	if c.chosen, c.from, refusal = a.choose(); refusal != nil {
		return refusal
	}
	if a.reach(c.from) < b.req.Count {
		c.refused = b
		return a.neighbors.refusal(knownRoots(a.ordered(nil, c.from)), a.req.Count)
	}
	return nil
}
