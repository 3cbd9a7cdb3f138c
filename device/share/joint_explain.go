package share

import (
	"errors"
	"fmt"
	"slices"
)

// JointExplanation is how a joint choice of two kinds of devices came about.
// Printed, it is a line and a table for each kind.
type JointExplanation struct {
	Joint Joint

	// Primary and Secondary are the two kinds. The devices of the second that fit are in
	// the order in which [Bound.AllocateJoint] takes them.
	//
	// After a *[NotEnoughError] the kind that has too few devices has it as its Refusal,
	// and no device of either kind is Chosen. With [SeekSamePCIe] devices of the first
	// kind are [CauseApart] that were passed over for others with more of the second kind
	// near.
	Primary, Secondary AllocationExplanation

	// Refusal is the error of [Bound.AllocateJoint], nil if devices were chosen. After a
	// *[JointError] the devices are Chosen that are not on the same roots.
	Refusal error
}

// ExplainJoint returns how [Bound.AllocateJoint] comes to its choice or refusal.
// Its errors are those of AllocateJoint, but for the refusals.
func (b *Bound) ExplainJoint(node int, primary, secondary AllocRequest, joint Joint) (JointExplanation, error) {
	c, err := b.considerJoint(node, &primary, &secondary, joint)
	if err != nil {
		return JointExplanation{}, err
	}
	e := JointExplanation{Joint: joint, Refusal: c.choose()}
	var first, second *NotEnoughError
	switch c.refused {
	case c.first:
		errors.As(e.Refusal, &first)
	case c.second:
		errors.As(e.Refusal, &second)
		c.from = wholeNode // another part was only considered
	}
	ordered := c.first.ordered(nil, c.from)
	c.markPassedOver(ordered)
	e.Primary = c.first.explanation(c.chosen, c.from, ordered, first)
	orderByPCIe(c.second.fitting, knownRoots(c.chosen))
	e.Secondary = c.second.explanation(c.near, wholeNode, c.second.fitting, second)
	return e, nil
}

// markPassedOver gives a reason to the devices of the first kind that come before a
// chosen one and weren't chosen. Only SeekSamePCIe leaves such.
func (c *jointConsideration) markPassedOver(ordered []*candidate) {
	left := len(c.chosen)
	for _, d := range ordered {
		if left == 0 {
			return
		}
		if slices.Contains(c.chosen, d) {
			left--
		} else {
			d.cause = CauseApart
		}
	}
}

// String returns the explanation as a line and two tables.
func (e JointExplanation) String() string {
	outcome := "chosen"
	var split *JointError
	switch {
	case errors.As(e.Refusal, &split):
		outcome = fmt.Sprintf("refused, %s on %q, %s on %q", e.Primary.Kind, split.Primary, e.Secondary.Kind, split.Secondary)
	case e.Refusal != nil:
		outcome = "refused"
	}
	return fmt.Sprintf("%s: %s\n%s by %s%s by %s", e.Joint, outcome,
		e.Primary.Kind, e.Primary, e.Secondary.Kind, e.Secondary)
}
