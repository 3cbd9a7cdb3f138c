package quota

// Reason says why a request was refused or, from ReasonOverCapacity on, what leaves
// too little room. Empty: nothing was refused, or there is room.
type Reason string

// To add a reason, write its constant here and its row in the table of message.go, which has
// its number in the book and its text.

const (
	// Of requests.

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
	ReasonHoldTooLarge    Reason = "HoldTooLarge"    // the job's hold would have to move here as a whole, and doesn't fit with the charges
	ReasonNoQuota         Reason = "NoQuota"         // the queue at Level has no quota for the card, or for cpu or memory
	ReasonNotTogether     Reason = "NotTogether"     // the tasks of a gang must be on one card, and it hasn't room for all: the room is that before the gang
	ReasonUnreadableQuota Reason = "UnreadableQuota" // the quota of the queue at Level for the card can't be read
	ReasonTooLarge        Reason = "TooLarge"        // no limit is in the way, but a sum of the tree would reach 2^53; Limit is the most that Level's may come to
)

// Event reports whether Volcano's design has an event of the reason's name. A plugin records
// it on the pod group, also when a question is refused.
func (r Reason) Event() bool {
	switch r {
	case ReasonGetTaskRequestResourceFailed, ReasonEmptyQueueCapability,
		ReasonInsufficientCPUQuota, ReasonInsufficientMemoryQuota, ReasonInsufficientScalarQuota:
		return true
	}
	return false
}

// Refusal says why something was refused, with the numbers of the dimension that has too
// little room. The total would have been Limit - Room + Requested, unless Why is
// ReasonNotTogether.
type Refusal struct {
	Reason Reason `json:"reason"`
	Queue  string `json:"queue"` // that was asked

	// Of several alternatives Resource is their key. Level may also be a queue that isn't
	// open. Why is of Best or, where the numbers are sums, of all alternatives together; it is
	// Reason where no amounts count.
	Headroom

	// Best is the alternative with the most room among those that the job may still use,
	// whose numbers these are; empty for one card, and if they are sums.
	Best string `json:"best,omitempty"`

	Requested int64 `json:"requested"`

	// Detail says what is wrong with a request (GetTaskRequestResourceFailed), the state
	// of a queue (QueueNotOpen), or what is wrong with a quota (UnreadableQuota), also
	// where it is the quota of another alternative than Best.
	Detail string `json:"detail,omitempty"`

	output bool // Resource is one, and Message writes its units
	facts  facts
}

// facts are further ones for the message of a refusal.
type facts struct {
	node  string // that has none of the cards; empty: the caller named cards
	bare  bool   // the node has no cards at all
	total int64  // of which guarantees leave the limit, where that is less than the capability
	above string // whose the total is; empty: the cluster's
	limit limitFact
}

// limitFact says what a limit is.
type limitFact uint8

const (
	limitCapability limitFact = iota
	limitTotal                // what guarantees leave of a total
	limitTotals               // of some of several alternatives limitTotal
)

// Headroom is how much of a dimension would be admitted, in the units of [Usage]: of cpu,
// memory or an output, or of a card as one alternative of an item.
type Headroom struct {
	Item     int    `json:"item,omitempty"`     // the index of the card's item; 0 of others
	Resource string `json:"resource,omitempty"` // cpu, memory, the card or the output
	Why      Reason `json:"why,omitempty"`      // empty: what is asked for fits

	// Room is the most that would be admitted; [Unlimited] if nothing limits it, negative if a
	// limit is exceeded. It may be negative for a task where none is: what a job uses beyond
	// its min may be promised to another job, and charges and holds are then together more
	// than the limit. Where Why is ReasonNotTogether, it is the room before the gang.
	Room int64 `json:"room"`

	Level string `json:"level,omitempty"` // the queue with the least room: that one or one above it
	Limit int64  `json:"limit"`           // of Level; [Unlimited] if there is none
}

// Answer is the answer to an operation or a question. With an error only Seq counts.
// A question that is given an Answer reuses its slices. Like all that a ledger returns, it
// has a form in JSON that a service can send: amounts are in the units of the fields.
type Answer struct {
	OK     bool   `json:"ok"`
	Repeat bool   `json:"repeat,omitempty"` // the same call was answered before, and nothing changed
	Seq    uint64 `json:"seq"`              // the state that it was decided on; of a change, its own number

	Refusal Refusal `json:"refusal,omitzero"` // if not OK
	Task    string  `json:"task,omitempty"`   // of a refused CommitAll: the id of the task that failed

	// Options are the cards that were looked at, in the order of the request's items: all
	// of a task's, and of a job those of the refused item.
	Options []Headroom `json:"options,omitempty"`

	// Charged has the card of each item of a committed task.
	Charged []string `json:"charged,omitempty"`
}
