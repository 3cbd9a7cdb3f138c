package fairshare

import (
	"fmt"
	"math"

	"github.com/resvec/resvec/internal/decimal"
)

// Reason says by which rule a taking is refused.
type Reason uint8

const (
	Allowed            Reason = iota
	NotAllocated              // the victim is more than its queue has
	SameQueue                 // within one queue the caller's priorities decide
	AboveShare                // the taker would have more than its share
	AboveLimit                // the taker would have more than its limit
	AboveDeserved             // the taker would have more than it deserves, in every column
	FixedAboveDeserved        // what is not preemptible would be more than is deserved
	WithinEntitled            // the victim's queue has no more than it is entitled to, and the taker would be above what it deserves
	WithinDeserved            // the victim's queue has no more than it deserves
	Guaranteed                // the victim's queue would have less than it is guaranteed
	NoHelp                    // the victim releases nothing that is asked for
	NotBorrowing              // a queue at or above the victim doesn't borrow
	GaveAlready               // the victim's queue has given its one victim of the second round
	BorrowsMore               // the taker would borrow more than the victim's queue after it
	BorrowsAsMuch             // the taker would borrow no less than the victim's queue before it
	NotMore                   // the taker would be no more saturated than now
	Saturated                 // the taker would be more saturated than the victim's queue after it
	Falls                     // the taker, or a queue above it, would be less saturated than before
	StillMore                 // the taker, above its share, would be too saturated beside the giver
)

// Refusal says why taking is not allowed. The zero Refusal says that it is.
type Refusal struct {
	Reason        Reason
	Queue, Other  string  // the siblings that the rule compares: the taker's and the victim's
	Resource      string  // "" where the rule is about all
	Amount, Limit float64 // of the resource: what Queue would have, and what it may
	Left, Right   Ratio   // measures of Queue and of Other, or of Queue before
}

// String returns one line of text, without a newline.
func (r Refusal) String() string {
	amount, limit := number(r.Amount), number(r.Limit)
	switch r.Reason {
	case Allowed:
		return "allowed"
	case NotAllocated:
		return fmt.Sprintf("victim of %s releases %s of %s, and the queue has %s", r.Other, amount, r.Resource, limit)
	case SameQueue:
		return fmt.Sprintf("victim of %s is in the queue that asks, or in no leaf", r.Other)
	case AboveShare:
		return fmt.Sprintf("queue %s would have %s of %s, more than its share %s", r.Queue, amount, r.Resource, limit)
	case AboveLimit:
		return fmt.Sprintf("queue %s would have %s of %s, more than its limit %s", r.Queue, amount, r.Resource, limit)
	case AboveDeserved:
		return fmt.Sprintf("queue %s would have more than it deserves of everything it asks for", r.Queue)
	case FixedAboveDeserved:
		return fmt.Sprintf("queue %s would have %s of %s that is not preemptible, more than it deserves: %s", r.Queue, amount, r.Resource, limit)
	case WithinEntitled:
		return fmt.Sprintf("queue %s has no more than it is entitled to, and queue %s would have %s of %s, more than it deserves: %s",
			r.Other, r.Queue, amount, r.Resource, limit)
	case WithinDeserved:
		return fmt.Sprintf("queue %s has no more than it deserves", r.Other)
	case Guaranteed:
		return fmt.Sprintf("queue %s would have %s of %s, less than its guarantee %s", r.Other, amount, r.Resource, limit)
	case NoHelp:
		return fmt.Sprintf("victim of %s releases nothing that queue %s asks for", r.Other, r.Queue)
	case NotBorrowing:
		return fmt.Sprintf("queue %s borrows nothing that queue %s asks for", r.Other, r.Queue)
	case GaveAlready:
		return fmt.Sprintf("queue %s has given its victim of the second round", r.Other)
	case BorrowsMore:
		return fmt.Sprintf("queue %s would borrow %s, more than queue %s after the victim: %s", r.Queue, r.Left, r.Other, r.Right)
	case BorrowsAsMuch:
		return fmt.Sprintf("queue %s would borrow %s, not less than queue %s: %s", r.Queue, r.Left, r.Other, r.Right)
	case NotMore:
		return fmt.Sprintf("queue %s would be saturated by %s, not more than before: %s", r.Queue, r.Left, r.Right)
	case Saturated:
		return fmt.Sprintf("queue %s would be saturated by %s, more than queue %s after the victim: %s", r.Queue, r.Left, r.Other, r.Right)
	case Falls:
		return fmt.Sprintf("queue %s would be saturated by %s, less than before: %s", r.Queue, r.Left, r.Right)
	}
	return fmt.Sprintf("queue %s would have %s of its share of %s, too much beside queue %s with %s", r.Queue, r.Left, r.Resource, r.Other, r.Right)
}

func number(x float64) string {
	if x >= unlimited {
		return "unlimited"
	}
	return decimal.Format(x)
}

// Cause says what bounds the share of a queue.
type Cause uint8

const (
	ByWanted    Cause = iota // it wants no more
	ByLimit                  // it may have no more
	ByDeserved               // it gets what it deserves, and nothing is left for more
	ByLevel                  // it gets its part, by weight, of what is left
	ByPriority               // queues of higher priority leave nothing
	ByZero                   // weight 0: it gets nothing beyond what it deserves or is guaranteed
	ByOversold               // more is promised than there is: nobody gets more than that
	ByGuarantee              // it gets its guarantee, which is more than its part by weight
	ByTotal                  // the top: all there is
)

// Bound says what bounds the share of a queue in a column, and by how much.
type Bound struct {
	Queue, Resource string
	Cause           Cause
	Share           float64
	Deserved        float64 // what the queue deserves or, by weight, is guaranteed
	Wanted, Limit   float64 // +Inf: unlimited
	Level           Ratio   // ByLevel: what a weight of 1 gets of what is divided by weight
	Weight          float64 // ByLevel: the weight in effect; of history in another unit
	Oversold        float64 // ByOversold: what is promised beyond what there is
	Parent          string  // ByOversold
}

// Explain says what bounds the share of a queue in a column. It divides anew among the
// queue and its siblings; shares stay those of the last Divide.
func (t *Tree) Explain(row, column int) Bound {
	i := t.checked(row)
	t.sumHistory()
	b := Bound{
		Queue: t.rows[i].name, Resource: t.columns[column], Share: float64(t.shared(i, share)[column]),
		Wanted: float64(t.used(i, wanted)[column]), Limit: open(t.term(i, limit)[column]), Deserved: open(t.term(i, deserved)[column]),
		Weight: float64(t.term(i, weight)[column]) / 1000,
	}
	if i == 0 {
		b.Cause = ByTotal
		return b
	}
	if t.options.ByWeight {
		b.Deserved = float64(t.term(i, guarantee)[column])
	}
	parent := t.rows[i].parent
	children := t.shape.levelsOf(parent, t.rows[parent].children)
	t.work.columns = append(t.work.columns[:0], column)
	t.gather(children)
	t.work.isTraced = true
	over := t.divide(parent, children, 0)
	t.work.isTraced = false
	place, higher := 0, false
	for k, child := range children {
		if child == i {
			place = k
		}
		higher = higher || t.rows[child].priority > t.rows[i].priority && t.work.got[k] > t.work.promise[k]
	}
	level := t.work.levels[place]
	switch {
	case b.Share >= min(b.Wanted, b.Limit) && b.Limit < b.Wanted:
		b.Cause = ByLimit
	case b.Share >= b.Wanted:
		b.Cause = ByWanted
	case over > 0:
		b.Cause, b.Oversold, b.Parent = ByOversold, float64(over), t.rows[parent].name
	case b.Weight == 0:
		b.Cause = ByZero
	case t.options.ByWeight && b.Share == b.Deserved:
		b.Cause = ByGuarantee
	case level.den > 0:
		// The level is one of thousandths of a weight, or with history of 10^-9.
		unit := 1000.0
		if t.options.History > 0 && !t.options.ByWeight {
			unit = 1e9
		}
		b.Cause, b.Level, b.Weight = ByLevel, Ratio{num: level.num, den: level.den}, float64(level.weight)/unit
	case higher:
		b.Cause = ByPriority
	default:
		b.Cause = ByDeserved
	}
	return b
}

// open returns an amount with +Inf for unlimited.
func open(x int64) float64 {
	if x == unlimited {
		return math.Inf(1)
	}
	return float64(x)
}

// String returns one line of text, without a newline.
func (b Bound) String() string {
	has := fmt.Sprintf("queue %s: %s of %s", b.Queue, number(b.Share), b.Resource)
	switch b.Cause {
	case ByTotal:
		return "total: " + number(b.Share) + " of " + b.Resource
	case ByWanted:
		return has + ": all it wants"
	case ByLimit:
		return has + ": its limit"
	case ByDeserved:
		return fmt.Sprintf("%s: deserves %s, wants %s, nothing is left beyond", has, number(b.Deserved), number(b.Wanted))
	case ByLevel:
		return fmt.Sprintf("%s: level %s times weight %s, wants %s", has, b.Level, decimal.Format(b.Weight), number(b.Wanted))
	case ByPriority:
		return fmt.Sprintf("%s: wants %s, and queues of higher priority leave nothing", has, number(b.Wanted))
	case ByZero:
		return fmt.Sprintf("%s: weight 0, wants %s", has, number(b.Wanted))
	case ByGuarantee:
		return fmt.Sprintf("%s: its guarantee, more than its part by weight", has)
	}
	parent := "the total"
	if b.Parent != "" {
		parent = "queue " + b.Parent
	}
	return fmt.Sprintf("%s: %s is oversold by %s", has, parent, number(b.Oversold))
}
