package share

import (
	"errors"
	"fmt"
	"slices"
)

// ExplainJoint returns how [Bound.AllocateJoint] comes to its choice or refusal. The text
// is a line and, for each kind, a table as by [Bound.ExplainAllocation]. The devices of
// the second kind that fit are in the order in which AllocateJoint takes them. Where the
// roots are not the same, the table says which devices were chosen all the same. Its
// errors are as of AllocateJoint, but for the refusals.
func (b *Bound) ExplainJoint(node int, primary, secondary AllocRequest, joint Joint) (string, error) {
	e, err := b.explainJoint(node, &primary, &secondary, joint)
	if err != nil {
		return "", err
	}
	return e.String(), nil
}

// jointExplanation is how a joint choice of two kinds of devices came about.
type jointExplanation struct {
	Joint Joint

	// Primary and Secondary are the two kinds. The one that has too few devices has the
	// Refusal; then no device of either kind is Chosen. With [SeekSamePCIe] devices of the
	// first kind are [CauseApart] that were passed over for others with more of the second
	// kind on their roots.
	Primary, Secondary allocationExplanation

	Refusal error    // nil: devices were chosen
	Roots   []string // both kinds' PCIe roots, where they must be the same and are not
}

// explainJoint is ExplainJoint before it is made a text.
func (b *Bound) explainJoint(node int, primary, secondary *AllocRequest, joint Joint) (jointExplanation, error) {
	c, err := b.considerJoint(node, primary, secondary, joint)
	if err != nil {
		return jointExplanation{}, err
	}
	e := jointExplanation{Joint: joint, Refusal: c.choose()}
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
	e.Secondary = c.second.explanation(c.partners, wholeNode, c.second.fitting, second)
	if errors.Is(e.Refusal, ErrJointViolation) {
		e.Roots = []string{fmt.Sprintf("%q", pcieRoots(c.chosen)), fmt.Sprintf("%q", pcieRoots(c.partners))}
	}
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
func (e jointExplanation) String() string {
	outcome := "chosen"
	switch {
	case e.Roots != nil:
		outcome = fmt.Sprintf("refused, %s on %s, %s on %s", e.Primary.Kind, e.Roots[0], e.Secondary.Kind, e.Roots[1])
	case e.Refusal != nil:
		outcome = "refused"
	}
	return fmt.Sprintf("%s: %s\n%s by %s%s by %s", e.Joint, outcome,
		e.Primary.Kind, e.Primary, e.Secondary.Kind, e.Secondary)
}
