package quota

import (
	"maps"
	"slices"
)

// nameOf returns the name of a value, or the other one where it has none.
func nameOf[V ~uint8](names []string, value V, otherwise string) string {
	if int(value) < len(names) {
		return names[value]
	}
	return otherwise
}

// constName returns the name of a constant; "unknown" for other values.
func constName[T ~uint8](names []string, value T) string { return nameOf(names, value, "unknown") }

var reasonNames = []string{
	ReasonNone: "None", ReasonUnknownQueue: "UnknownQueue", ReasonQueueNotLeaf: "QueueNotLeaf", ReasonQueueNotOpen: "QueueNotOpen",
	ReasonGetTaskRequestResourceFailed: "GetTaskRequestResourceFailed", ReasonEmptyQueueCapability: "EmptyQueueCapability",
	ReasonInsufficientCPUQuota: "InsufficientCPUQuota", ReasonInsufficientMemoryQuota: "InsufficientMemoryQuota",
	ReasonInsufficientScalarQuota: "InsufficientScalarQuota",
	ReasonOverCapacity:            "OverCapacity", ReasonPromised: "Promised", ReasonFirmElsewhere: "FirmElsewhere",
	ReasonNotOnNode: "NotOnNode", ReasonHoldTooLarge: "HoldTooLarge", ReasonNoQuota: "NoQuota", ReasonNotTogether: "NotTogether",
	ReasonUnreadableQuota: "UnreadableQuota",
}

// String returns the name of the constant without Reason.
func (r Reason) String() string { return constName(reasonNames, r) }

// Event reports whether Volcano's design has an event of the reason's name, which
// a plugin records on the pod group: from every refusal, also of a question.
func (r Reason) Event() bool {
	return r >= ReasonGetTaskRequestResourceFailed && r <= ReasonInsufficientScalarQuota
}

// String returns the name of the constant without Event.
func (k EventKind) String() string {
	return constName([]string{
		EventReserved: "Reserved", EventResized: "Resized", EventCommitted: "Committed", EventRolledBack: "RolledBack",
		EventReleased: "Released", EventExpired: "Expired", EventReconciled: "Reconciled", EventRefused: "Refused",
	}, k)
}

// String returns the name of the constant without State: Volcano's name of the state.
func (s State) String() string {
	return constName([]string{StateOpen: "Open", StateClosing: "Closing", StateClosed: "Closed", StateUnknown: "Unknown"}, s)
}

// String returns the name of the constant without Unnamed.
func (u UnnamedPolicy) String() string {
	return constName([]string{UnnamedAsAny: "AsAny", UnnamedRefuse: "Refuse", UnnamedIgnore: "Ignore"}, u)
}

// String returns the name of the constant without its prefix Task, which is
// Volcano's name of the status.
func (s TaskPhase) String() string {
	return constName([]string{
		TaskFromPod: "FromPod", TaskPending: "Pending", TaskAllocated: "Allocated", TaskBinding: "Binding", TaskBound: "Bound", TaskRunning: "Running",
		TaskReleasing: "Releasing", TaskPipelined: "Pipelined", TaskSucceeded: "Succeeded", TaskFailed: "Failed",
	}, s)
}

// sorted returns the keys of a map in order.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
