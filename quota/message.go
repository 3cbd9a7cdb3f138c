package quota

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/resvec/resvec/internal/document"
	"github.com/resvec/resvec/quota/internal/book"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
)

// reasons are all reasons, by their number in the book. text is what a message says behind
// the queue, nil where that is amounts, or the queue isn't there; of what leaves too little
// room it is said behind the amounts. ReasonNoQuota and ReasonUnreadableQuota have no number:
// the book knows limits only, see Ledger.why.
var reasons = [...]struct {
	reason Reason
	text   func(r *Refusal) string
}{
	book.Yes:         {"", says("")},
	book.NoQueue:     {ReasonUnknownQueue, nil},
	book.NotLeaf:     {ReasonQueueNotLeaf, says(" has queues below it and takes no jobs: use one of those")},
	book.NotOpen:     {ReasonQueueNotOpen, (*Refusal).notOpen},
	book.Invalid:     {ReasonGetTaskRequestResourceFailed, (*Refusal).invalid},
	book.NotOnCard:   {ReasonGetTaskRequestResourceFailed, (*Refusal).invalid},
	book.Empty:       {ReasonEmptyQueueCapability, (*Refusal).empty},
	book.LacksCPU:    {ReasonInsufficientCPUQuota, nil},
	book.LacksMemory: {ReasonInsufficientMemoryQuota, nil},
	book.LacksCards:  {ReasonInsufficientScalarQuota, nil},

	book.OverCapacity:  {ReasonOverCapacity, says("")},
	book.Promised:      {ReasonPromised, says("; part of the limit is held for other jobs, or for other items of this one")},
	book.FirmElsewhere: {ReasonFirmElsewhere, says("")},
	book.NotAllowed:    {ReasonNotOnNode, says("")},
	book.HoldTooLarge:  {ReasonHoldTooLarge, says("; what is held for the job would have to move there as a whole")},
	book.NotTogether:   {ReasonNotTogether, says("; that is before the gang")},
	book.TooLarge:      {ReasonTooLarge, says("; there is no limit, but more can't be counted")},
}

// says makes a text that is always the same. Others depend on the numbers.
func says(text string) func(*Refusal) string { return func(*Refusal) string { return text } }

// Message says it in one line, in cards, cores and the largest binary unit that is exact,
// such as 80 Gi; empty if nothing was refused.
func (r Refusal) Message() string {
	queue := brief(r.Queue)
	// A reason may have two rows, with one text: the first one will do. Behind those are
	// what leaves too little room, with which no request is refused.
	for _, row := range reasons[:book.OverCapacity] {
		switch {
		case row.reason != r.Reason:
		case r.Reason == "":
			return ""
		case r.Reason == ReasonUnknownQueue:
			return noQueue(r.Queue, r.Detail)
		case row.text == nil:
			return fmt.Sprintf("queue %q%s", queue, r.lacks())
		default:
			return fmt.Sprintf("queue %q%s", queue, row.text(&r))
		}
	}
	// Of a reason that a caller made up.
	return fmt.Sprintf("queue %q: %s", queue, oneLine(brief(string(r.Reason))))
}

// noQueue says that there is no queue of a name, and asks which one is meant, if any may be.
func noQueue(name, meant string) string {
	text := fmt.Sprintf("there is no queue %q", brief(name))
	if meant != "" {
		text += ": " + oneLine(meant)
	}
	return text
}

// notOpen names the queue that isn't: an operator who looks at the queue that was asked may
// find it open.
func (r *Refusal) notOpen() string {
	switch {
	case r.Level == "":
		return " or a queue above it is not open"
	case r.Level != r.Queue:
		return fmt.Sprintf(" is not open: queue %q above it is %s", brief(r.Level), oneLine(r.Detail))
	}
	return " is not open: it is " + oneLine(r.Detail)
}

// empty says what to write, or why what was written counts for nothing.
func (r *Refusal) empty() string {
	if r.Detail != "" {
		return " has no capability that can be read: " + oneLine(r.Detail)
	}
	return " has no capability: write cpu, memory or a quota of cards"
}

// invalid repeats what the request has, or names the cards that a node lacks.
func (r *Refusal) invalid() string {
	if r.Resource != "" {
		text := ": " + oneLine(r.Detail)
		if r.facts.node != "" {
			text = fmt.Sprintf(": node %q has none of the cards", brief(r.facts.node))
		}
		if text += " " + oneLine(brief(r.Resource)); r.facts.bare {
			text += ": it has no cards, or isn't known"
		}
		return text
	}
	return ": the request is invalid: " + oneLine(r.Detail)
}

// noQuotaOfAny is a detail.
const noQuotaOfAny = "there is no quota of any of them"

// lacks is the text of amounts: what was asked for, what is left, of which limit, and what
// the total would be. A quota that is missing or can't be read has no amounts to show.
func (r *Refusal) lacks() string {
	// Details are of users: they may have line breaks, or steer a terminal.
	detail := oneLine(r.Detail)
	u, what := r.unit()
	text := fmt.Sprintf(": insufficient quota of %s: requested %s, ", what, u.text(r.Requested))
	if r.Why == ReasonNotTogether {
		text = ": the tasks of the gang must be on one card" + text
	}
	level := fmt.Sprintf("queue %q", brief(r.Level))
	// First what has no numbers: a quota that is missing, or can't be read, leaves nothing to
	// compare.
	switch r.Why {
	case ReasonNoQuota:
		switch {
		case detail == noQuotaOfAny:
			return text + detail
		case r.Best != "":
			return text + level + " has no quota of " + oneLine(brief(r.Best)) + ", and the others have no more room" + also(detail)
		case r.Reason != ReasonInsufficientScalarQuota: // a quota of cards alone is common, and seldom meant to admit no pods
			return text + level + " has no quota of it: write it into the capability, or see Config.MissingUnlimited"
		}
		return text + level + " has no quota of it"
	case ReasonUnreadableQuota:
		return text + "the quota of " + level + " can't be read: " + detail
	case ReasonFirmElsewhere:
		return text + "the job's other tasks are on another card than " + oneLine(brief(r.Best)) + also(detail)
	}
	// The numbers from here on are of one alternative, or sums.
	switch {
	case r.Limit == Unlimited:
		return text + "room" + r.on() + " for " + u.text(r.Room) + also(detail)
	case r.Room < 0:
		text += strings.TrimPrefix(r.on()+" ", " ") + u.text(-r.Room) + " over the limit of " + u.text(r.Limit)
	default:
		text += "room" + r.on() + " for " + u.text(r.Room) + " of " + u.text(r.Limit)
	}
	// The reader knows the queue that was asked.
	if r.Level != r.Queue {
		text += " at " + level
	}
	if r.Why != ReasonNotTogether {
		text += ", the total would be " + u.text(r.Limit-r.Room+r.Requested)
	}
	for _, row := range reasons[book.OverCapacity:] {
		if row.reason == r.Why {
			text += row.text(r)
		}
	}
	return text + r.ofTotal(u) + also(detail)
}

// ofTotal says where a limit comes from that nobody wrote. A tenant who is refused below
// the capability that stands in the queue would look for a fault.
func (r *Refusal) ofTotal(u amountUnit) string {
	of, total := "the cluster has", u.text(r.facts.total)
	if r.facts.above != "" {
		of = fmt.Sprintf("queue %q may use", brief(r.facts.above))
	}
	switch {
	case r.facts.some:
		return "; of some of them the limit is what guarantees leave of the cluster's"
	case !r.facts.left:
		return ""
	case r.facts.total == r.Limit:
		return "; the limit is what " + of + ", " + total
	}
	return "; the limit is what guarantees leave of the " + total + " that " + of
}

// also adds what is wrong with the quota of an alternative. The reader may believe that the
// alternative has a quota, and wonder why it isn't used.
func also(fault string) string {
	if fault == "" {
		return ""
	}
	return "; another alternative's quota can't be read: " + fault
}

// on names the alternative that the amounts are of.
func (r *Refusal) on() string {
	if r.Best == "" {
		return ""
	}
	return " on " + oneLine(brief(r.Best))
}

// amountUnit is how amounts are written.
type amountUnit struct {
	suffix  string
	divisor float64
	whole   string // the unit in which amounts are whole
}

var (
	unitCores = amountUnit{" cores", 1000, " milli-cores"}
	unitBytes = amountUnit{" bytes", 1, " bytes"}
	unitCards = amountUnit{" cards", 1000, " milli-cards"}
	unitPlain = amountUnit{"", 1, ""}
)

var (
	dimNames = [...]string{dimCPU: "cpu", dimMemory: "memory"}
	dimUnits = [...]amountUnit{dimCPU: unitCores, dimMemory: unitBytes}
)

// unitOf returns how amounts of a dimension are written.
func unitOf(m *vectormap.ResourceVectorMap, dim int) amountUnit {
	if dim < len(dimUnits) {
		return dimUnits[dim]
	}
	if output := outputOf(m, dim); output != "" {
		return unitOfOutput(output)
	}
	return unitCards
}

// unitOfOutput returns how amounts of an output are written. Kubernetes has these in bytes; of
// others nobody knows what their units are.
func unitOfOutput(name corev1.ResourceName) amountUnit {
	if name == corev1.ResourceEphemeralStorage || strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix) {
		return unitBytes
	}
	return unitPlain
}

// plural says what amounts are counted in.
func (u amountUnit) plural() string { return cmp.Or(strings.TrimPrefix(u.whole, " "), "units") }

// unit returns how the amounts are written, and what they are of. The reason says which of
// the three it is, except that an output is refused as cards are: Volcano has one reason
// for all that is not cpu and memory.
func (r *Refusal) unit() (u amountUnit, what string) {
	switch {
	case r.Reason == ReasonInsufficientCPUQuota:
		return unitCores, "cpu"
	case r.Reason == ReasonInsufficientMemoryQuota:
		return unitBytes, "memory"
	case r.output:
		return unitOfOutput(corev1.ResourceName(r.Resource)), oneLine(brief(r.Resource))
	}
	return unitCards, "card " + oneLine(brief(r.Resource))
}

// text writes an amount with as many digits as it takes.
func (u amountUnit) text(amount Amount) string {
	switch {
	case amount == Unlimited:
		return "unlimited" + u.suffix
	case u == unitBytes:
		return binaryText(int64(amount))
	}
	// As many digits as it takes: an amount that is rounded could look as if it fitted.
	n := strconv.FormatFloat(float64(amount)/u.divisor, 'f', -1, 64)
	// One card, not 1 cards.
	if math.Abs(float64(amount)) == u.divisor {
		return n + strings.TrimSuffix(u.suffix, "s")
	}
	return n + u.suffix
}

// binaryText writes bytes in the largest binary unit in which they are whole: 80 Gi, and
// not 81920 MiB or 0.078125 Ti. A number in a smaller unit is longer, and one in a larger
// unit has a fraction.
func binaryText(amount int64) string {
	// Rounded amounts could look as if they fitted, so the unit goes as far as the number
	// stays whole.
	suffixes, at := []string{" bytes", " Ki", " Mi", " Gi", " Ti", " Pi", " Ei"}, 0
	for ; amount != 0 && amount%1024 == 0; at++ {
		amount /= 1024
	}
	n := strconv.FormatInt(amount, 10)
	switch {
	case amount == 0:
		return n
	case at == 0 && (amount == 1 || amount == -1):
		return n + " byte"
	}
	return n + suffixes[at]
}

// oneLine replaces what would end a line or steer a terminal.
func oneLine(text string) string { return document.OneLine(text) }

// words writes a need for a message.
func (n Min) words() string {
	var parts []string
	if n.CPU != 0 {
		parts = append(parts, unitCores.text(Amount(n.CPU)))
	}
	if n.Memory != 0 {
		parts = append(parts, unitBytes.text(Amount(n.Memory)))
	}
	for _, it := range n.Items {
		part := unitCards.text(Amount(it.Milli)) + " of " + oneLine(brief(strings.Join(it.Alternatives, "|")))
		// Whole cards are what everybody takes for granted.
		if it.Unit != 0 && it.Unit != defaultUnit {
			part += " in units of " + unitCards.text(Amount(it.Unit))
		}
		parts = append(parts, part)
	}
	// Equal needs have equal words.
	for _, name := range slices.Sorted(maps.Keys(n.Outputs)) {
		part := unitOfOutput(name).text(Amount(n.Outputs[name])) + " "
		if unitOfOutput(name) == unitBytes {
			part += "of "
		}
		parts = append(parts, part+oneLine(brief(string(name))))
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return brief(strings.Join(parts, " and "))
}

// some lists names for a message, the first few of many: a cluster may have thousands of
// cards, and a message is one line in a log.
func some(names []string) string {
	const most = 8
	if len(names) == 0 {
		return "none"
	}
	short := make([]string, min(len(names), most))
	for i := range short {
		short[i] = oneLine(brief(names[i]))
	}
	text := strings.Join(short, ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// conflictError is an [ErrConflict] about a task or a job. A host may meet thousands that
// nobody reads: the detail is made when somebody does, of facts that don't change.
type conflictError struct {
	is       error
	what, id string
	detail   func() string
}

func (e *conflictError) Unwrap() error { return e.is }

func (e *conflictError) Error() string {
	return fmt.Sprintf("%v: %s %q: %s", e.is, e.what, brief(e.id), e.detail())
}

// conflict makes an error of a fact that is a text already.
func conflict(what, id, detail string) error {
	return &conflictError{ErrConflict, what, id, func() string { return detail }}
}

// elsewhere says that a job is in another queue.
func elsewhere(id string, j *book.Job, queue string) error {
	is := queueName(j.Queue)
	return &conflictError{ErrConflict, "job", id, func() string {
		return fmt.Sprintf("it is in queue %q, not in %q", brief(is), brief(queue))
	}}
}

// words says what a task has or wants. Of an invalid request why it is: it has no amounts.
func (t *TaskRequest) words() string {
	if t.invalid != "" {
		return t.invalid
	}
	return fmt.Sprintf("%s of job %q in queue %q", (&TaskRequest{use: t.use}).Need().words(), brief(t.job), brief(t.queue))
}

// overflow says that a sum is too large: it may not reach a power of 2. Where a pod is too
// large its request is invalid instead: that is no error of the caller.
func overflow(what, id string, unit amountUnit, amount int64, of string, exponent int) error {
	return fmt.Errorf("%w: sum too large: %s %q: %s of %s: want sums below 2^%d%s", ErrBadAmount, what, brief(id), unit.text(Amount(amount)), oneLine(brief(of)), exponent, unit.whole)
}
