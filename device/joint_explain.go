package device

import (
	"errors"
	"fmt"
)

// JointExplanation is how a joint choice of two kinds of devices came about.
// Printed, it is a line and a table for each kind.
type JointExplanation struct {
	Joint Joint

	// Primary and Secondary are the two kinds. The devices of the second that fit
	// are in the order of [OrderByPCIe] for the roots of the first. The one that a
	// *[NotEnoughError] is for has it as its Refusal, and of neither is any device
	// Chosen then.
	Primary, Secondary AllocationExplanation

	// Refusal is the error of [Scorer.AllocateJoint], nil if devices were chosen.
	// With a *[JointError] those are Chosen that aren't on the same roots.
	Refusal error
}

// ExplainJoint returns how [Scorer.AllocateJoint] comes to its choice or refusal.
// Its errors are those of AllocateJoint, but for the refusals.
func (s *Scorer) ExplainJoint(primary, secondary AllocRequest, devices []State, joint Joint) (JointExplanation, error) {
	c, err := s.considerJoint(&primary, &secondary, devices, joint)
	if err != nil {
		return JointExplanation{}, err
	}
	e := JointExplanation{Joint: joint, Refusal: c.choose()}
	e.Primary = c.first.explanation(c.chosen, c.from, c.first.ordered(c.from), nil)
	e.Secondary = c.second.explanation(c.near, wholeNode, c.second.fitting, nil)
	var refusal *NotEnoughError
	if errors.As(e.Refusal, &refusal) {
		if c.refused == c.first {
			e.Primary.Refusal = refusal
		} else {
			e.Secondary.Refusal = refusal
		}
	}
	return e, nil
}

// String returns the explanation as a line and two tables.
func (e JointExplanation) String() string {
	outcome := "chosen"
	var apart *JointError
	switch {
	case errors.As(e.Refusal, &apart):
		outcome = fmt.Sprintf("refused, %s on %q, %s on %q", e.Primary.Kind, apart.Primary, e.Secondary.Kind, apart.Secondary)
	case e.Refusal != nil:
		outcome = "refused"
	}
	return fmt.Sprintf("%s: %s\n%s by %s%s by %s", e.Joint, outcome, e.Primary.Kind, e.Primary, e.Secondary.Kind, e.Secondary)
}
