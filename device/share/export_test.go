package share

// The conversions of [FillRequest], one by one.
var (
	RatioToBytes = ratioToBytes
	BytesToRatio = bytesToRatio
)

// What explanations are made of.
type (
	AllocationExplanation = allocationExplanation
	JointExplanation      = jointExplanation
)

func (b *Bound) AllocationExplained(node int, req AllocRequest) (AllocationExplanation, error) {
	return b.explainAllocation(node, &req)
}

func (b *Bound) JointExplained(node int, primary, secondary AllocRequest, joint Joint) (JointExplanation, error) {
	return b.explainJoint(node, &primary, &secondary, joint)
}
