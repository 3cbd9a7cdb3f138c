package quota

// Reason says why something was refused.
type Reason uint8

// The reasons. Those of the seed have an event of the same name, see
// [Reason.Event].
const (
	None                         Reason = iota // not refused
	UnknownQueue                               // there is no such queue
	QueueNotLeaf                               // the queue has children, so it takes no jobs
	QueueNotOpen                               // the queue, or a queue above it, is not open
	GetTaskRequestResourceFailed               // what is asked for can't be told
	EmptyQueueCapability                       // the queue's capability was never configured
	InsufficientCPUQuota                       // too little cpu is left
	InsufficientMemoryQuota                    // too little memory is left
	InsufficientScalarQuota                    // too few cards are left
)

// Refusal is why something was refused, in numbers of the dimension that didn't
// suffice: milli-cores, bytes or milli-cards. What the total would have been is
// Limit - Room + Requested.
type Refusal struct {
	Reason Reason

	// Why says what leaves so little room: of alternatives it is the reason of Best or,
	// where the numbers are sums, of all together.
	Why Why

	Queue string // that was asked
	Level string // the queue with the least room, or that isn't open: that one or one above it
	Card  string // the card, or the key of alternatives; empty for other dimensions
	Best  string // of alternatives: that one with the most room, whose numbers these are; empty if they are sums

	Requested int64

	// Room is the most that would be admitted. It is negative if a limit is exceeded
	// already. It is negative for a task, too, where what a job uses beyond its min
	// was promised to another job: what is charged and what is held is then more
	// than the limit, although neither is alone.
	Room int64

	Limit int64 // of Level; [Unlimited] if there is none

	// Detail is what there is to say beyond that: what is wrong with a request, for
	// GetTaskRequestResourceFailed; the state of a queue, for QueueNotOpen; what is
	// wrong with a quota, for UnreadableQuota.
	Detail string
}

// Unlimited is the room and the limit where there is none.
const Unlimited = int64(1<<63 - 1)

// Answer is what an operation or question comes to. Beside an error it says no more
// than Seq: then neither OK nor Refusal count. Its slices belong to the
// caller; the questions that take an Answer reuse them.
type Answer struct {
	OK     bool
	Repeat bool   // the same call was answered before, and nothing changed
	Seq    uint64 // the state that it was decided on; of a change, its own number

	Refusal Refusal // if not OK
	Task    string  // of a refused CommitAll: the id of the task that failed

	// Options are the alternatives that were looked at, in the order of the
	// request's items: all of a task's, and of a job those of the refused item.
	Options []Option

	// Charged has the card of each item of a committed task.
	Charged []string
}

// option adds an option.
func (a *Answer) option(item int, card string) *Option {
	n := len(a.Options)
	if n < cap(a.Options) {
		a.Options = a.Options[:n+1]
	} else {
		a.Options = append(a.Options, Option{})
	}
	o := &a.Options[n]
	*o = Option{Item: item, Card: card}
	return o
}

// Option is one alternative of an item.
type Option struct {
	Item  int    // the index of the item
	Card  string //
	OK    bool   // there is room
	Why   Why    // if not OK
	Level string // the queue with the least room
	Room  int64  // the most that would be admitted on this card
	Limit int64  // of Level
}

// Why says what is wrong with an alternative.
type Why uint8

const (
	HasRoom         Why = iota
	OverCapacity        // the charges, of a job with the holds, would exceed a capability
	Promised            // what is left is held for jobs that were admitted; of a job, too: without that it would fit
	FirmElsewhere       // other tasks of the job are on another card already
	NotOnNode           // the node doesn't have it
	HoldTooLarge        // what the job holds on another card would have to move here as a whole, and doesn't fit beside the charges
	NoQuota             // the queue at Level has no quota for the card, or for cpu or memory
	NotTogether         // the tasks of a gang must be on one card, and it hasn't room for all: Room is that before the gang
	UnreadableQuota     // the quota of the queue at Level for the card can't be read
)
