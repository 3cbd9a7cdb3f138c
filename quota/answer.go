package quota

import corev1 "k8s.io/api/core/v1"

// Reason says why a request was refused or, from ReasonOverCapacity on, what leaves
// too little room. To add one, write its constant here and its row in the table of
// message.go, which has its number in the book and its text.
type Reason string

const (
	ReasonNone Reason = "" // not refused; there is room

	// Of requests. Those from GetTaskRequestResourceFailed on have an event of the
	// same name in Volcano's design, see [Reason.Event].

	ReasonUnknownQueue                 Reason = "UnknownQueue"                 // there is no such queue
	ReasonQueueNotLeaf                 Reason = "QueueNotLeaf"                 // the queue has children, so it takes no jobs
	ReasonQueueNotOpen                 Reason = "QueueNotOpen"                 // the queue, or a queue above it, is not open
	ReasonGetTaskRequestResourceFailed Reason = "GetTaskRequestResourceFailed" // the request is invalid
	ReasonEmptyQueueCapability         Reason = "EmptyQueueCapability"         // the queue's capability was never configured
	ReasonInsufficientCPUQuota         Reason = "InsufficientCPUQuota"         // too little cpu is left
	ReasonInsufficientMemoryQuota      Reason = "InsufficientMemoryQuota"      // too little memory is left
	ReasonInsufficientScalarQuota      Reason = "InsufficientScalarQuota"      // too few cards are left, or too little of an output

	// Of amounts: what leaves too little room.

	ReasonOverCapacity    Reason = "OverCapacity"    // the charges would exceed a limit; for a job, the charges without what is elastic, and the holds
	ReasonPromised        Reason = "Promised"        // the rest is held for other jobs or, of a task, other items of its job; a job would fit without these holds, a task need not
	ReasonFirmElsewhere   Reason = "FirmElsewhere"   // other tasks of the job are on another card already
	ReasonNotOnNode       Reason = "NotOnNode"       // the card is not among those of the node, or that the caller names; a task that is bound to a node may have the first alternative there
	ReasonHoldTooLarge    Reason = "HoldTooLarge"    // the job's hold would have to move here as a whole, and doesn't fit beside the charges
	ReasonNoQuota         Reason = "NoQuota"         // the queue at Level has no quota for the card, or for cpu or memory
	ReasonNotTogether     Reason = "NotTogether"     // the tasks of a gang must be on one card, and it hasn't room for all: the room is that before the gang
	ReasonUnreadableQuota Reason = "UnreadableQuota" // the quota of the queue at Level for the card can't be read
)

// Event reports whether Volcano's design has an event of the reason's name, which a
// plugin records on the pod group: from every refusal, also of a question.
func (r Reason) Event() bool {
	switch r {
	case ReasonGetTaskRequestResourceFailed, ReasonEmptyQueueCapability,
		ReasonInsufficientCPUQuota, ReasonInsufficientMemoryQuota, ReasonInsufficientScalarQuota:
		return true
	}
	return false
}

// Refusal says why something was refused, with the numbers of the dimension that has
// too little room: milli-cores, bytes or milli-cards. The total would have been
// Limit - Room + Requested, unless Why is ReasonNotTogether.
type Refusal struct {
	Reason Reason

	// Why says what leaves too little room: that of Best or, where the numbers are sums,
	// of all alternatives together. It is Reason where no amounts count.
	Why Reason

	Queue string // that was asked
	Level string // the queue with the least room, or that isn't open: that one or one above it
	Card  string // the card, or the key of alternatives; empty for other dimensions

	// Output is the output of the transformation that has too little room; empty for
	// other dimensions. Its amounts are whole units.
	Output corev1.ResourceName

	// Best is the alternative with the most room among those that the job may still use,
	// whose numbers these are; empty for one card, and if they are sums.
	Best string

	Requested int64

	// Room is the most that would be admitted. It is negative if a limit is exceeded.
	// It may be negative for a task where none is: if a job uses more than its min, that
	// may be promised to another job, and charges and holds are then together more than
	// the limit. Where Why is ReasonNotTogether, it is the room before the gang.
	Room int64

	Limit int64 // of Level; [Unlimited] if there is none

	// Detail says what is wrong with a request (GetTaskRequestResourceFailed), the state
	// of a queue (QueueNotOpen), or what is wrong with a quota (UnreadableQuota), also
	// where it is the quota of another alternative than Best.
	Detail string
}

// Answer is the answer to an operation or a question. With an error only Seq counts.
// The slices belong to the caller; a question that is given an Answer reuses them.
type Answer struct {
	OK     bool
	Repeat bool   // the same call was answered before, and nothing changed
	Seq    uint64 // the state that it was decided on; of a change, its own number

	Refusal Refusal // if not OK
	Task    string  // of a refused CommitAll: the id of the task that failed

	// Options are the alternatives that were looked at, in the order of the
	// request's items: all of a task's, and of a job those of the refused item.
	Options []Headroom

	// Charged has the card of each item of a committed task.
	Charged []string
}

// option adds an option, to be filled in.
func (a *Answer) option() *Headroom {
	n := len(a.Options)
	if n < cap(a.Options) {
		a.Options = a.Options[:n+1]
	} else {
		a.Options = append(a.Options, Headroom{})
	}
	return &a.Options[n]
}

// Headroom is how much of a dimension would be admitted: of a card, as one alternative of
// an item, or of cpu or memory.
type Headroom struct {
	Item   int                 // the index of the item
	Card   string              // empty: cpu, memory or an output
	Output corev1.ResourceName // empty: another dimension
	OK     bool                // what is asked for fits
	Why    Reason              // if not OK
	Amount int64               // the most that would be admitted; [Unlimited] if nothing limits it, negative if a limit is exceeded
	Level  string              // the queue with the least room
	Limit  int64               // of Level
}
