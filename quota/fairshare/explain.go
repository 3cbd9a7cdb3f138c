package fairshare

import (
	"math"
	"math/big"
	"math/bits"
	"strings"

	"github.com/resvec/resvec/internal/decimal"
	"github.com/resvec/resvec/internal/document"
)

// Reason says by which rule a taking is refused. A refusal is made as numbers where the rule is
// asked, thousands of times in a search; words are made for the one that somebody reads.
type Reason string

const (
	Allowed            Reason = ""
	NotAllocated       Reason = "NotAllocated"       // the victims of the queue release more than it has
	SameQueue          Reason = "SameQueue"          // the victim is in the queue that asks, where the caller's priorities decide, or in no leaf
	AboveShare         Reason = "AboveShare"         // Queue would have more than its share
	AboveLimit         Reason = "AboveLimit"         // Queue would have more than its limit
	AboveDeserved      Reason = "AboveDeserved"      // Queue would have more than it deserves of everything it asks for
	FixedAboveDeserved Reason = "FixedAboveDeserved" // Queue would have more than it deserves in jobs that are not preemptible
	WithinEntitled     Reason = "WithinEntitled"     // Other has no more than it is entitled to, and Queue would have more than it deserves
	WithinDeserved     Reason = "WithinDeserved"     // Other has no more than it deserves
	Guaranteed         Reason = "Guaranteed"         // Other would have less than its guarantee
	NoHelp             Reason = "NoHelp"             // the victim releases nothing that Queue asks for
	NotBorrowing       Reason = "NotBorrowing"       // Other borrows nothing that Queue asks for, or one above it borrows nothing at all
	GaveAlready        Reason = "GaveAlready"        // Other has given its victim of the second round
	BorrowsMore        Reason = "BorrowsMore"        // Queue would borrow more than Other after the victim
	BorrowsAsMuch      Reason = "BorrowsAsMuch"      // Queue would borrow no less than Other
	NotMore            Reason = "NotMore"            // Queue would have no more of its share than before
	BelowTaker         Reason = "BelowTaker"         // Other would have less of its share than Queue has
	AsLowAsTaker       Reason = "AsLowAsTaker"       // Other would have as little of its share as Queue has, and the rest doesn't make up for that
	ShortBelowShare    Reason = "ShortBelowShare"    // Other would have less than its share of a column that is short, and Queue would get more only of one that isn't
	StillMore          Reason = "StillMore"          // Queue would have too much of its share, by what Other has left
)

// reasons are the texts, with fields of the refusal in braces.
var reasons = map[Reason]string{
	NotAllocated:       "victim of {other} releases {amount} of {resource}, and the queue has {limit}",
	SameQueue:          "victim of {other} is in the queue that asks, or in no leaf",
	AboveShare:         "queue {queue} would have {amount} of {resource}, more than its share {limit}",
	AboveLimit:         "queue {queue} would have {amount} of {resource}, more than its limit {limit}",
	AboveDeserved:      "queue {queue} would have more than it deserves of everything it asks for",
	FixedAboveDeserved: "queue {queue} would have {amount} of {resource} that is not preemptible, more than it deserves: {limit}",
	WithinEntitled:     "queue {other} has no more than it is entitled to, and queue {queue} would have {amount} of {resource}, more than it deserves: {limit}",
	WithinDeserved:     "queue {other} has no more than it deserves",
	Guaranteed:         "queue {other} would have {amount} of {resource}, less than its guarantee {limit}",
	NoHelp:             "victim of {other} releases nothing that queue {queue} asks for",
	NotBorrowing:       "queue {other} borrows nothing that queue {queue} asks for",
	GaveAlready:        "queue {other} has given its victim of the second round",
	BorrowsMore:        "queue {queue} would borrow {left}, more than queue {other} after the victim: {right}",
	BorrowsAsMuch:      "queue {queue} would borrow {left}, not less than queue {other}: {right}",
	NotMore:            "queue {queue} would have no more of its share than before",
	BelowTaker:         "queue {other} would have {right} of {otherResource}, less than the {left} that queue {queue} has",
	AsLowAsTaker:       "queue {other} would have {right} of {otherResource}, as little as the {left} that queue {queue} has",
	ShortBelowShare:    "queue {other} would have {right} of {otherResource}, which is short, and queue {queue} more only of what isn't: it has {left}",
	StillMore:          "queue {queue} would have {left} of its share of {resource}, too much as queue {other} has {right} left",
}

// Refusal says why taking is not allowed. The zero Refusal says that it is.
type Refusal struct {
	Reason        Reason
	Queue, Other  string  // the queues that the rule compares: the taker's and the giver's
	Resource      string  // "" where the rule is about all
	Amount, Limit float64 // of the resource: what a queue would have, and what bounds it

	// Left and Right are measures of Queue and of Other. By Leximin they are the part of its share
	// that Queue has of Resource, and the part that Other would have of OtherResource.
	Left, Right   Ratio
	OtherResource string
}

// String returns one line of text, without a newline, such as "queue a would have 8/12 of gpu, less
// than the 3/4 that queue b has". Names of queues and resources are cut to 320 bytes.
func (r Refusal) String() string {
	if r.Reason == Allowed {
		return "allowed"
	}
	left := r.Left.String()
	if r.OtherResource != "" && r.OtherResource != r.Resource {
		left += " of " + brief(r.Resource)
	}
	return strings.NewReplacer("{queue}", brief(r.Queue), "{other}", brief(r.Other), "{resource}", brief(r.Resource),
		"{otherResource}", brief(r.OtherResource), "{amount}", text(r.Amount), "{limit}", text(r.Limit), "{left}", left, "{right}", r.Right.String()).
		Replace(reasons[r.Reason])
}

// brief returns a name as it may stand in a line of text.
func brief(name string) string { return document.OneLine(document.Cut(name)) }

func text(x float64) string {
	if x >= unlimited {
		return "unlimited"
	}
	return decimal.Format(x)
}

// Cause says what bounds the share of a queue.
type Cause string

const (
	ByWanted    Cause = "ByWanted"    // all it wants
	ByLimit     Cause = "ByLimit"     // its limit
	ByDeserved  Cause = "ByDeserved"  // it deserves less than it wants, and nothing is left beyond
	ByLevel     Cause = "ByLevel"     // its part of what is left, by weight
	ByPriority  Cause = "ByPriority"  // queues of higher priority leave nothing
	ByZero      Cause = "ByZero"      // weight 0: it gets nothing beyond what it deserves or is guaranteed
	ByOversold  Cause = "ByOversold"  // more is promised than there is, so nobody gets more than is promised
	ByGuarantee Cause = "ByGuarantee" // its guarantee, which its part by weight or what it wants does not exceed
	ByOthers    Cause = "ByOthers"    // it gets all that its siblings are not guaranteed
	ByTotal     Cause = "ByTotal"     // the top: all there is
)

// causes are the texts, with fields of the explanation in braces.
var causes = map[Cause]string{
	ByWanted:    "all it wants",
	ByLimit:     "its limit",
	ByDeserved:  "deserves {deserved}, wants {wanted}, nothing is left beyond",
	ByLevel:     "level {level} times weight {weight}, wants {wanted}",
	ByPriority:  "wants {wanted}, and queues of higher priority leave nothing",
	ByZero:      "weight 0, wants {wanted}",
	ByOversold:  "{parent} is oversold by {oversold}",
	ByGuarantee: "its guarantee, its part by weight is no more, wants {wanted}",
	ByOthers:    "wants {wanted}, and others are guaranteed {others}",
	ByTotal:     "all there is",
}

// Explanation says what bounds the share of a queue in a column, and by how much.
type Explanation struct {
	Queue, Resource string
	Cause           Cause
	Share           float64
	Deserved        float64 // what the queue deserves or, by weight, is guaranteed
	Wanted, Limit   float64 // +Inf: unlimited
	Level           Ratio   // ByLevel: what a weight of 1 gets, exactly
	Weight          float64 // ByLevel: the weight in effect
	Others          float64 // ByOthers: what its siblings are guaranteed
	Oversold        float64 // ByOversold: what is promised beyond what there is
	Parent          string  // ByOversold
}

// Explain says what bounds the share of a queue in a column. It divides anew among the
// queue and its siblings; shares stay those of the last Divide.
func (t *Tree) Explain(row, column int) Explanation {
	i := t.checked(row)
	if uint(column) >= uint(t.cols) {
		panic(panicColumn)
	}
	// Weights in effect come from past usage, which parents have as sums.
	t.sumHistory()
	e := Explanation{
		Queue: t.rows[i].name, Resource: t.columns[column], Share: float64(t.used(i, share)[column]),
		Wanted: float64(t.used(i, wanted)[column]), Limit: open(t.used(i, limit)[column]), Deserved: open(t.used(i, deserved)[column]),
		Weight: float64(t.used(i, weight)[column]) / 1000,
	}
	if i == 0 {
		e.Cause = ByTotal
		return e
	}
	if t.options.ByWeight {
		e.Deserved = float64(t.used(i, guarantee)[column])
	}
	parent := t.rows[i].parent
	children := t.shape.levelsOf(parent)
	t.work.isTraced = true
	t.work.levels = resized(t.work.levels, len(children))
	clear(t.work.levels)
	over := t.divide(parent, children, column)
	t.work.isTraced = false
	// Nothing was left for this queue if one of higher priority got more than its promise, even
	// one unit: a level is poured until its queues are full, before the next gets any.
	place, higher := 0, false
	for k, child := range children {
		if child == i {
			place = k
		}
		higher = higher || t.rows[child].priority > t.rows[i].priority && t.work.got[k] > t.work.promise[k]
	}
	// The strongest cause comes first: weights explain nothing to a queue that has all it
	// wants, and a level explains nothing where promises have taken everything.
	level := t.work.levels[place]
	others := t.promised[int(parent)*t.cols+column] - t.used(i, guarantee)[column]
	switch {
	case e.Share >= min(e.Wanted, e.Limit) && e.Limit < e.Wanted:
		e.Cause = ByLimit
	case e.Share == e.Wanted:
		e.Cause = ByWanted
	case e.Share > e.Wanted: // nobody else gives more than is wanted
		e.Cause = ByGuarantee
	case over > 0:
		e.Cause, e.Oversold, e.Parent = ByOversold, float64(over), t.rows[parent].name
	case e.Weight == 0: // it would have a part of what is left, if it had a weight
		e.Cause = ByZero
	case t.options.ByWeight && others > 0 && t.used(i, share)[column] == t.used(parent, share)[column]-others:
		e.Cause, e.Others = ByOthers, float64(others)
	case t.options.ByWeight && e.Share == e.Deserved && !level.isAbove(t.used(i, guarantee)[column]):
		e.Cause = ByGuarantee
	case t.options.ByWeight && level.den == 0:
		// It alone shares what nobody is guaranteed. That takes no level, but has one.
		e.Cause, e.Level = ByLevel, levelOf(uint64(t.used(i, share)[column]), uint64(t.used(i, weight)[column]), 1000)
	case level.den > 0:
		unit := uint64(1000) // the division counts weights in thousandths, with history in 10^-9
		if t.options.History > 0 && !t.options.ByWeight {
			unit = 1e9
		}
		e.Cause, e.Level, e.Weight = ByLevel, levelOf(level.num, level.den, unit), float64(level.weight)/float64(unit)
	case higher:
		e.Cause = ByPriority
	default:
		e.Cause = ByDeserved
	}
	return e
}

// isAbove reports whether a level gives more than an amount, also where that is a part of a
// unit, which rounding took away. No level gives nothing.
func (l level) isAbove(amount int64) bool {
	return l.den > 0 && less(amount, int64(l.den), int64(l.num), int64(l.weight))
}

// levelOf returns num*unit/den, in lowest terms where that takes no more than 64 bits. The unit is
// 1000, or 10^9 with past usage: only then a level may take more, and is kept as a borrowing is,
// divided by a weight of 1/1000. Amounts are below 2^53, so 1000 times as much has room.
func levelOf(num, den, unit uint64) Ratio {
	common := divisor(num, den)
	num, den = num/common, den/common
	common = divisor(unit, den)
	if hi, lo := bits.Mul64(num, unit/common); hi == 0 {
		return Ratio{num: lo, den: den / common}
	}
	return Ratio{num: num * 1000, den: den, weight: 1}
}

// divisor returns the greatest common divisor.
func divisor(a, b uint64) uint64 {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}

// fraction returns a ratio in lowest terms, such as 4/3.
func (r Ratio) fraction() string {
	if r.den == 0 {
		return r.String()
	}
	product := func(x, y uint64) *big.Int {
		return new(big.Int).Mul(new(big.Int).SetUint64(x), new(big.Int).SetUint64(y))
	}
	return new(big.Rat).SetFrac(product(r.num, 1e6), product(r.den, r.weighted())).String()
}

// open returns an amount with +Inf for unlimited, as vectors of users have it. Inside, the greatest
// int64 stands for it, so that min and comparisons need no special case.
func open(x int64) float64 {
	if x == unlimited {
		return math.Inf(1)
	}
	return float64(x)
}

// String returns one line of text, without a newline.
func (e Explanation) String() string {
	queue, parent := "total", "the total"
	if e.Queue != "" {
		queue = "queue " + brief(e.Queue)
	}
	if e.Parent != "" {
		parent = "queue " + brief(e.Parent)
	}
	return queue + ": " + text(e.Share) + " of " + brief(e.Resource) + ": " +
		strings.NewReplacer("{deserved}", text(e.Deserved), "{wanted}", text(e.Wanted), "{level}", e.Level.fraction(), "{others}", text(e.Others),
			"{weight}", decimal.Format(e.Weight), "{parent}", parent, "{oversold}", text(e.Oversold)).
			Replace(causes[e.Cause])
}
