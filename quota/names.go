package quota

// constName returns the name of a constant; "unknown" for other values.
func constName[T ~uint8](names []string, value T) string {
	if int(value) < len(names) {
		return names[value]
	}
	return "unknown"
}

var reasonNames = []string{
	None: "None", UnknownQueue: "UnknownQueue", QueueNotLeaf: "QueueNotLeaf", QueueNotOpen: "QueueNotOpen",
	GetTaskRequestResourceFailed: "GetTaskRequestResourceFailed", EmptyQueueCapability: "EmptyQueueCapability",
	InsufficientCPUQuota: "InsufficientCPUQuota", InsufficientMemoryQuota: "InsufficientMemoryQuota",
	InsufficientScalarQuota: "InsufficientScalarQuota",
}

// String returns the name of the constant.
func (r Reason) String() string { return constName(reasonNames, r) }

// Event reports whether Volcano's design has an event of the reason's name, which
// a plugin records on the pod group: from every refusal, also of a question.
func (r Reason) Event() bool {
	return r >= GetTaskRequestResourceFailed && r <= InsufficientScalarQuota
}

// String returns the name of the constant.
func (w Why) String() string {
	return constName([]string{
		HasRoom: "HasRoom", OverCapacity: "OverCapacity", Promised: "Promised",
		FirmElsewhere: "FirmElsewhere", NotOnNode: "NotOnNode",
		HoldTooLarge: "HoldTooLarge", NoQuota: "NoQuota", NotTogether: "NotTogether", UnreadableQuota: "UnreadableQuota",
	}, w)
}

// String returns the name of the constant.
func (k Kind) String() string {
	return constName([]string{
		Reserved: "Reserved", Resized: "Resized", Committed: "Committed", RolledBack: "RolledBack",
		Released: "Released", Expired: "Expired", Reconciled: "Reconciled", Refused: "Refused",
	}, k)
}

// String returns the name of the constant, which is Volcano's name of the state.
func (s State) String() string {
	return constName([]string{Open: "Open", Closing: "Closing", Closed: "Closed", Unknown: "Unknown"}, s)
}

// String returns the name of the constant.
func (m Mix) String() string {
	return constName([]string{SameCard: "SameCard", AnyMix: "AnyMix"}, m)
}

// String returns the name of the constant.
func (m Missing) String() string {
	return constName([]string{MissingDenies: "MissingDenies", MissingUnlimited: "MissingUnlimited"}, m)
}

// String returns the name of the constant.
func (p Parser) String() string {
	return constName([]string{ParserStrict: "ParserStrict", FailToZero: "FailToZero"}, p)
}

// String returns the name of the constant.
func (u Unnamed) String() string {
	return constName([]string{AsAny: "AsAny", Refuse: "Refuse", Ignore: "Ignore"}, u)
}

// String returns the name of the constant without its prefix Task, which is
// Volcano's name of the status.
func (s TaskStatus) String() string {
	return constName([]string{
		TaskFromPod: "FromPod", TaskPending: "Pending", TaskAllocated: "Allocated", TaskBinding: "Binding", TaskBound: "Bound", TaskRunning: "Running",
		TaskReleasing: "Releasing", TaskPipelined: "Pipelined", TaskSucceeded: "Succeeded", TaskFailed: "Failed",
	}, s)
}

// String returns the name of the constant.
func (f QueueFault) String() string {
	return constName([]string{
		EmptyQueueName: "EmptyQueueName", DuplicateQueue: "DuplicateQueue",
		UnknownParent: "UnknownParent", ParentCycle: "ParentCycle", BadQueueName: "BadQueueName",
	}, f)
}

// String returns the name of the constant.
func (c WarningCode) String() string {
	return constName([]string{
		GuaranteeAboveCapability: "GuaranteeAboveCapability", GuaranteesAboveParent: "GuaranteesAboveParent",
		CapabilityAboveParent: "CapabilityAboveParent", Oversold: "Oversold", UndiscoveredCard: "UndiscoveredCard",
		CapabilityOnResource: "CapabilityOnResource",
	}, c)
}
