package quota

import "encoding/json"

// Reason says why a request was refused or, from OverCapacity on, what leaves too little
// room; docs/quota.md says of each what to do. The five from GetTaskRequestResourceFailed
// on are events of Volcano's design.
type Reason string

// To add a reason, write its constant here and its row in the table of message.go, which has
// its number in the book and its text.

const (
	ReasonUnknownQueue                 Reason = "UnknownQueue"                 // there is no such queue
	ReasonQueueNotLeaf                 Reason = "QueueNotLeaf"                 // the queue has children, so it takes no jobs
	ReasonQueueNotOpen                 Reason = "QueueNotOpen"                 // the queue, or a queue above it, is not open
	ReasonGetTaskRequestResourceFailed Reason = "GetTaskRequestResourceFailed" // the request is invalid
	ReasonEmptyQueueCapability         Reason = "EmptyQueueCapability"         // the queue's capability was never configured
	ReasonInsufficientCPUQuota         Reason = "InsufficientCPUQuota"         // too little cpu is left
	ReasonInsufficientMemoryQuota      Reason = "InsufficientMemoryQuota"      // too little memory is left
	ReasonInsufficientScalarQuota      Reason = "InsufficientScalarQuota"      // too few cards are left, or too little of an output
	ReasonOverCapacity                 Reason = "OverCapacity"                 // the charges would exceed a limit; for a job, the charges without what is elastic, and the holds
	ReasonPromised                     Reason = "Promised"                     // the rest is held for other jobs or, of a task, other items of its job; a job would fit without these holds, a task need not
	ReasonNoQuota                      Reason = "NoQuota"                      // the queue at Level has no quota for the card, or for cpu or memory
	ReasonFirmElsewhere                Reason = "FirmElsewhere"                // other tasks of the job are on another card already
	ReasonNotOnNode                    Reason = "NotOnNode"                    // the card is not among those of the node, or that the caller names; a task that is bound to a node may have the first alternative there
	ReasonHoldTooLarge                 Reason = "HoldTooLarge"                 // the job's hold would have to move here as a whole, and doesn't fit with the charges
	ReasonNotTogether                  Reason = "NotTogether"                  // the tasks of a gang must be on one card, and it hasn't room for all: the room is that before the gang
	ReasonUnreadableQuota              Reason = "UnreadableQuota"              // the quota of the queue at Level for the card can't be read
	ReasonTooLarge                     Reason = "TooLarge"                     // no limit is in the way, but a sum of the tree would reach 2^53; Limit is the most that Level's may come to
)

// Refusal says why something was refused, with the numbers of what has too little room.
// The total would be Limit - Room + Requested.
type Refusal struct {
	Reason    Reason `json:"reason"`
	Queue     string `json:"queue"` // that was asked
	Headroom         // Resource may be a key of alternatives, and Level a queue that isn't open
	Best      string `json:"best,omitempty"` // of several alternatives the one that the numbers are of; empty: they are sums
	Requested Amount `json:"requested"`
	Detail    string `json:"detail,omitempty"` // what is wrong with a request or a quota, the state of a queue, or which queues with similar names there are

	output bool // Resource is one, and Message writes its units
	facts  facts
}

// facts are further ones for the message of a refusal.
type facts struct {
	node  string // that has none of the cards; empty: the caller named cards
	bare  bool   // the node has no cards at all
	total Amount // of which guarantees leave the limit, where that is less than the capability
	above string // whose the total is; empty: the cluster's
	left  bool   // the limit is what guarantees leave
	some  bool   // the limits of some of several alternatives are what guarantees leave
}

// Headroom is how much would be admitted of cpu, memory, an output or, as one alternative
// of an item, a card, in the units of [Usage], or [Unlimited].
type Headroom struct {
	Item     int    `json:"item,omitempty"`     // the index of the card's item; 0 of others
	Resource string `json:"resource,omitempty"` // cpu, memory, the card or the output
	Why      Reason `json:"why,omitempty"`      // empty: what is asked for fits
	Room     Amount `json:"room"`               // the most that would be admitted, before the gang if Why is NotTogether; negative if a limit is exceeded, or what a job uses beyond its min is promised to another
	Level    string `json:"level,omitempty"`    // the queue with the least room: that one or one above it
	Limit    Amount `json:"limit"`              // of Level
}

// Answer answers an operation or a question. With an error only Seq counts. A question
// fills the Answer it is given, if any, and reuses its slices.
type Answer struct {
	OK      bool       `json:"ok"`
	Repeat  bool       `json:"repeat,omitempty"`  // the same call was answered before, and nothing changed
	Seq     uint64     `json:"seq"`               // the state that it was decided on; of a change, its own number
	Refusal Refusal    `json:"refusal,omitzero"`  // if not OK
	Task    string     `json:"task,omitempty"`    // of a refused CommitAll: the task that failed
	Options []Headroom `json:"options,omitempty"` // the cards that were looked at: all of a task, of a job those of the refused item
	Charged []string   `json:"charged,omitempty"` // the card of each item of a committed task
}

// MarshalJSON adds to the fields what Message says, as message.
func (r Refusal) MarshalJSON() ([]byte, error) {
	type fields Refusal // without this method
	return json.Marshal(struct {
		fields
		Message string `json:"message"`
	}{fields(r), r.Message()})
}
