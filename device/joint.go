package device

import (
	"fmt"
	"slices"
)

// Joint says how two kinds of devices of a pod belong together.
type Joint uint8

const (
	// PreferSamePCIe takes the second kind from the PCIe roots of the first as
	// far as there are devices on them.
	PreferSamePCIe Joint = iota

	// RequireSamePCIe refuses if both kinds aren't on the same PCIe roots.
	RequireSamePCIe
)

const panicJoint = "device: neither PreferSamePCIe nor RequireSamePCIe"

// JointError says that two kinds of devices, chosen one after the other, aren't
// on the same PCIe roots. It wraps [ErrJointViolation]. It is a refusal: nothing
// was allocated or changed.
type JointError struct {
	Primary, Secondary []string // the roots of each kind, ascending, "" for unknown
}

// Error names the roots of both kinds.
func (e *JointError) Error() string {
	return fmt.Sprintf("%v: primary on %q, secondary on %q", ErrJointViolation, e.Primary, e.Secondary)
}

// Unwrap returns [ErrJointViolation].
func (e *JointError) Unwrap() error { return ErrJointViolation }

// AllocateJoint allocates two kinds of devices of one node that work together,
// such as GPUs and the NICs next to them. The first kind is allocated as
// [Scorer.Allocate] does. The second then takes its Count in the order of
// [OrderByPCIe] for the PCIe roots of the first, wherever those devices are, and
// goes on up to as many devices as there are such roots, but only with devices
// on them. Each instance is PerInstance. The requests must name their kinds if
// devices has both.
//
// With RequireSamePCIe the second kind takes at least as many devices as there
// are roots, it is a *[NotEnoughError] if fewer fit anywhere, and a *[JointError]
// if its roots aren't the same ones in the end, or one is unknown. The first kind
// isn't chosen anew then.
//
// If one Count is 0, the other kind is allocated as if joint were PreferSamePCIe.
// Policy, Scope, Partial and Mix of the second request don't count; the rules are
// otherwise those of Allocate. With an error both results are nothing. It panics
// on a joint that there isn't.
func (s *Scorer) AllocateJoint(primary, secondary AllocRequest, devices []State, joint Joint) (first, second Allocation, err error) {
	if joint > RequireSamePCIe {
		panic(panicJoint)
	}
	secondary.Policy, secondary.Scope = FirstFit, ScopeNode
	a, err := s.consider(&primary, devices)
	if err != nil {
		return first, second, err
	}
	b, err := s.consider(&secondary, devices)
	if err != nil {
		return first, second, err
	}
	chosen, _, refusal := a.choose()
	if refusal != nil {
		return first, second, refusal
	}
	near, err := b.chooseNear(chosen, joint)
	if err != nil {
		return first, second, err
	}
	return a.allocation(chosen), b.allocation(near), nil
}

// chooseNear chooses the second kind of devices for the first one.
func (c *consideration) chooseNear(first []Candidate, joint Joint) ([]Candidate, error) {
	if c.req.Count == 0 {
		return nil, nil
	}
	roots := pcieRoots(first)
	known := slices.DeleteFunc(slices.Clone(roots), func(root string) bool { return root == "" })
	required := joint == RequireSamePCIe && len(first) > 0

	n := c.req.Count
	if required {
		n = max(n, int64(len(known)))
	}
	if got := int64(len(c.fitting)); got < n {
		refusal := c.refusal(got)
		refusal.Want = n
		return nil, refusal
	}
	OrderByPCIe(c.fitting, known)
	for n < int64(len(known)) && n < int64(len(c.fitting)) && slices.Contains(known, c.fitting[n].PCIeRoot) {
		n++
	}
	taken := c.fitting[:n]
	if required {
		if own := pcieRoots(taken); len(known) < len(roots) || !slices.Equal(own, roots) {
			return nil, &JointError{Primary: roots, Secondary: own}
		}
	}
	return taken, nil
}

// pcieRoots returns the distinct roots of devices, ascending.
func pcieRoots(devices []Candidate) []string {
	roots := make([]string, len(devices))
	for i, d := range devices {
		roots[i] = d.PCIeRoot
	}
	slices.Sort(roots)
	return slices.Compact(roots)
}
