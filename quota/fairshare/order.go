package fairshare

import (
	"cmp"
	"iter"

	"github.com/resvec/resvec/vector"
)

// order is the candidates of a claim: each leaf's in the caller's order, and tournaments among
// siblings for who is worst. It is a structure of its own, apart from that of [Tree.Next]: there a
// queue takes part with a job that waits, here with candidates that are left. A tournament is made
// when the claim first looks below a queue, so that a claim of few victims looks at few queues.
// Numbers of candidates are from 1, so that 0 is none.
type order struct {
	lists      func(leaf int) []Victim // of VictimsOf, or nil
	candidates []Victim                // those of Victims, or those of VictimsOf that are looked at
	kept       []Victim                // memory of the latter
	next       []int32                 // per candidate: the next of its leaf
	refused    []int32                 // candidates that are asked for once more

	// Of each row of the tree. Between two calls all but the last two are zero.
	first, last []int32    // of the candidates of a leaf
	isOpen      []bool     // whether the claim has looked at the row
	rest        [][]Victim // what VictimsOf has of a leaf and nobody has looked at
	rounds      []int32
	measures    []Ratio

	opened, leaves []int32 // the rows that are open, and those with candidates
}

// Victims takes, of the candidates, those that the rules allow, one by one, and yields where
// each ran and what it releases, as gang.Packer.Filter takes victims; stop when there is room.
// It always asks the leaf that is worst by the rules: from the top, the child with the
// greatest measure that has candidates left below it; see [Tree.Measure]. By Leximin the columns
// count that the job requests. A candidate that is refused is passed over. When all have been asked,
// Kueue's second round asks once more those that were refused, and Leximin those that had only
// their [AboveShare] against them.
//
// A search that takes more victims than it needs, such as gang.Packer.Filter, counts in its
// prefix what was yielded, and the prefix is no list of candidates: those that were refused
// are not in it. The n-th victim that was yielded is the n-th of [Claim.Taken], whose numbers
// are indexes of candidates.
//
// What it yields has the columns of the tree. For a packer of nodes with other columns, let
// Node be an index of the host's, and yield from a loop of your own what that pod releases.
//
// Candidates of one leaf are asked in the order of the list. It is not read again after the
// loop. When it ends without enough room, [Claim.Refused] says why there is no more.
func (c *Claim) Victims(candidates []Victim) iter.Seq2[int, vector.ResourceVector] {
	return func(yield func(int, vector.ResourceVector) bool) { c.offer(candidates, nil, yield) }
}

// VictimsOf is [Claim.Victims] for a caller that keeps what runs by leaf: lists returns the
// candidates of a leaf, in the order in which they should go. It is called once for each leaf that
// the claim looks at, and not for the taker's own. So what is never looked at costs nothing, and
// need not be sorted. Keep and Taken have Victim.Node in the place of an index; Victim.Queue isn't
// read.
func (c *Claim) VictimsOf(lists func(leaf int) []Victim) iter.Seq2[int, vector.ResourceVector] {
	return func(yield func(int, vector.ResourceVector) bool) { c.offer(nil, lists, yield) }
}

func (c *Claim) offer(candidates []Victim, lists func(leaf int) []Victim, yield func(int, vector.ResourceVector) bool) {
	o, t := &c.order, c.t
	n := len(t.rows)
	o.first, o.last, o.isOpen, o.rest = grown(o.first, n), grown(o.last, n), grown(o.isOpen, n), grown(o.rest, n)
	o.rounds, o.measures = resized(o.rounds, 2*n), resized(o.measures, n)
	o.lists, o.candidates, o.next = lists, candidates, resized(o.next, len(candidates))
	if lists != nil {
		o.candidates = o.kept[:0]
	}
	defer o.close()
	for i, v := range candidates {
		// Only leaves give. A parent among them would look like a queue with candidates left.
		if leaf := t.checked(v.Queue); leaf > 0 && t.rows[leaf].children == 0 {
			o.push(leaf, int32(i+1))
		}
	}
	if c.offerRound(yield, true) && len(o.refused) > 0 {
		c.Second()
		for _, i := range o.refused {
			o.push(int32(o.candidates[i-1].Queue), i)
		}
		for _, leaf := range o.leaves {
			c.place(leaf)
		}
		c.offerRound(yield, false)
	}
}

// close forgets the candidates of a call.
func (o *order) close() {
	for _, row := range o.opened {
		o.isOpen[row], o.rest[row] = false, nil
	}
	for _, leaf := range o.leaves {
		o.first[leaf], o.last[leaf] = 0, 0
	}
	if o.lists != nil {
		o.kept = o.candidates
		clear(o.kept) // they may be large, and are the caller's
	}
	o.opened, o.leaves, o.refused = o.opened[:0], o.leaves[:0], o.refused[:0]
	o.lists, o.candidates = nil, nil
}

// push appends a candidate to those of its leaf.
func (o *order) push(leaf, i int32) {
	if o.last[leaf] == 0 {
		o.leaves = append(o.leaves, leaf)
	}
	if o.next[i-1] = 0; o.first[leaf] == 0 {
		o.first[leaf] = i
	} else {
		o.next[o.last[leaf]-1] = i
	}
	o.last[leaf] = i
}

// offerRound asks for all candidates, the worst leaf's first, and reports whether more may come.
func (c *Claim) offerRound(yield func(int, vector.ResourceVector) bool, isFirst bool) bool {
	o := &c.order
	for {
		leaf := c.worst()
		if leaf < 0 {
			return true
		}
		i := o.first[leaf]
		o.first[leaf] = o.next[i-1]
		v, index := o.candidates[i-1], int(i-1)
		if o.lists != nil {
			index = v.Node
		}
		why, ok := c.take(v, index)
		if !ok && isFirst && (c.t.options.Rules == Kueue || why.Reason == AboveShare && c.fills.onlyShare) {
			o.refused = append(o.refused, i)
		}
		if ok && c.isSecond {
			o.first[leaf] = 0 // it has given its one victim
		}
		if ok {
			c.place(leaf)
		}
		if ok && !yield(v.Node, v.Amounts) {
			return false
		}
	}
}

// worst returns the leaf to ask, which has a candidate, or -1. Who turns out to have none leaves the
// tournament: then the way from the top is another.
func (c *Claim) worst() int32 {
	o, t := &c.order, c.t
	for row := int32(0); ; {
		next := int32(-1)
		if t.rows[row].children > 0 {
			c.open(row)
			next = t.roundsOf(o.rounds, row)[1]
		} else if row > 0 && c.hasCandidate(row) {
			return row
		}
		switch {
		case next >= 0:
			row = next
		case row == 0:
			return -1
		default:
			t.play(o.rounds, row, -1, c)
			row = 0
		}
	}
}

// hasCandidate reports whether a leaf has a candidate left, and looks for one in its list.
func (c *Claim) hasCandidate(leaf int32) bool {
	o := &c.order
	if o.lists == nil || o.first[leaf] > 0 {
		return o.first[leaf] > 0
	}
	if !o.isOpen[leaf] {
		o.isOpen[leaf], o.opened = true, append(o.opened, leaf)
		o.rest[leaf] = o.lists(int(leaf))
	}
	if len(o.rest[leaf]) == 0 {
		return false
	}
	v := o.rest[leaf][0]
	o.rest[leaf] = o.rest[leaf][1:]
	v.Queue = int(leaf)
	o.candidates, o.next = append(o.candidates, v), append(o.next, 0)
	o.push(leaf, int32(len(o.candidates)))
	return true
}

// open makes the tournament among the children of a row, unless there is one. Each that might have
// candidates takes part.
func (c *Claim) open(row int32) {
	o, t := &c.order, c.t
	if o.isOpen[row] {
		return
	}
	o.isOpen[row], o.opened = true, append(o.opened, row)
	children, rounds := t.shape.childrenOf(row), t.roundsOf(o.rounds, row)
	for i, child := range children {
		rounds[len(children)+i] = -1
		if t.rows[child].children > 0 || o.first[child] > 0 || o.lists != nil && child != c.leaf {
			rounds[len(children)+i] = child
			o.measures[child] = c.measure(child)
		}
	}
	for i := len(children) - 1; i > 0; i-- {
		rounds[i] = c.winner(rounds[2*i], rounds[2*i+1])
	}
}

// place places a leaf that may have candidates left, and all above it. Only these can have changed:
// a victim lowers what its leaf and those above have, and nothing else.
func (c *Claim) place(leaf int32) {
	for row := leaf; row > 0; row = c.t.rows[row].parent {
		c.order.measures[row] = c.measure(row)
		c.t.play(c.order.rounds, row, row, c)
	}
}

// measure returns by what a row is asked before its siblings.
func (c *Claim) measure(row int32) Ratio {
	t := c.t
	switch t.options.Rules {
	case Leximin:
		return t.saturation(row, c.asks, c.shortOf(t.rows[row].parent))
	case Kueue:
		// The path has one row of each depth, the leaf first.
		if step := len(c.path) - int(t.shape.depth[row]); step >= 0 && c.path[step] == row {
			return t.borrowing(row, c.leaf, c.asks, 1)
		}
	}
	return t.measure(row)
}

// winner returns which of two siblings gives first: the worse one.
func (c *Claim) winner(x, y int32) int32 {
	if x < 0 || y < 0 {
		return max(x, y)
	}
	if cmp.Or(c.order.measures[x].Compare(c.order.measures[y]), cmp.Compare(c.t.shape.rank[x], c.t.shape.rank[y])) > 0 {
		return x
	}
	return y
}
