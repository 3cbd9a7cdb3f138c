package fairshare

import (
	"cmp"
	"iter"

	"github.com/resvec/resvec/vector"
)

// order is the candidates of a claim: each leaf's in the caller's order, and tournaments
// among siblings for who is worst. It is a structure of its own, apart from that of [Tree.Next]:
// there a queue takes part with a job that waits, here with a candidate that is left, and it is
// made for each claim.
type order struct {
	first, last []int32 // per row: of the candidates of a leaf, or -1
	next        []int32 // per candidate: the next of its leaf, or -1
	leaves      []int32 // with candidates
	refused     []int32 // candidates that Kueue's second round asks for again
	rounds      []int32
	measures    []Ratio // per row
}

// Victims takes, of the candidates, those that the rules allow, one by one, and yields where
// each ran and what it releases, as gang.Packer.Filter takes victims; stop when there is room.
// It always asks the leaf that is worst by the rules: from the top, the child with the
// greatest measure that has candidates left below it. A candidate that is refused is passed
// over, by Kueue's rules until the second round.
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
	return func(yield func(int, vector.ResourceVector) bool) { c.offer(candidates, yield) }
}

func (c *Claim) offer(candidates []Victim, yield func(int, vector.ResourceVector) bool) {
	o, t := &c.order, c.t
	n := len(t.rows)
	o.first, o.last, o.measures = resized(o.first, n), resized(o.last, n), resized(o.measures, n)
	o.rounds, o.next = resized(o.rounds, 2*n), resized(o.next, len(candidates))
	o.leaves, o.refused = o.leaves[:0], o.refused[:0]
	for i := range o.rounds {
		o.rounds[i] = -1
	}
	for i := range o.first {
		o.first[i] = -1
	}
	for i, v := range candidates {
		// Only leaves give. A parent among them would look like a queue with candidates left.
		if leaf := t.checked(v.Queue); leaf > 0 && t.rows[leaf].children == 0 {
			o.push(leaf, int32(i))
		}
	}
	for {
		for _, leaf := range o.leaves {
			c.place(leaf)
		}
		if !c.offerRound(candidates, yield) || c.isSecond || t.options.Rules != Kueue || len(o.refused) == 0 {
			return
		}
		c.Second()
		o.leaves = o.leaves[:0]
		for _, i := range o.refused {
			o.push(int32(candidates[i].Queue), i)
		}
	}
}

// push appends a candidate to those of its leaf.
func (o *order) push(leaf, i int32) {
	if o.next[i] = -1; o.first[leaf] < 0 {
		o.first[leaf] = i
		o.leaves = append(o.leaves, leaf)
	} else {
		o.next[o.last[leaf]] = i
	}
	o.last[leaf] = i
}

// offerRound asks for all candidates, the worst leaf's first, and reports whether more may come.
func (c *Claim) offerRound(candidates []Victim, yield func(int, vector.ResourceVector) bool) bool {
	o, t := &c.order, c.t
	for {
		leaf := int32(0)
		for t.rows[leaf].children > 0 {
			if leaf = t.roundsOf(o.rounds, leaf)[1]; leaf < 0 {
				return true
			}
		}
		i := o.first[leaf]
		o.first[leaf] = o.next[i]
		v := candidates[i]
		_, ok := c.take(v, i)
		if !ok && !c.isSecond {
			o.refused = append(o.refused, i)
		}
		if ok && c.isSecond {
			o.first[leaf] = -1 // it has given its one victim
		}
		if ok || o.first[leaf] < 0 {
			c.place(leaf)
		}
		if ok && !yield(v.Node, v.Amounts) {
			return false
		}
	}
}

// place places a leaf with the candidates that it has left, and all above it. Only these can
// have changed: a victim lowers what its leaf and those above have, and nothing else.
func (c *Claim) place(leaf int32) {
	o, t := &c.order, c.t
	entrant := leaf
	if o.first[leaf] < 0 {
		entrant = -1
	}
	for row := leaf; row > 0; row = t.rows[row].parent {
		if entrant >= 0 {
			// The path has one row of each depth, the leaf first.
			step := len(c.path) - int(t.shape.depth[row])
			if t.options.Rules == Kueue && step >= 0 && c.path[step] == row {
				o.measures[row] = t.borrowing(row, c.leaf, c.asks, 1)
			} else {
				o.measures[row] = t.measure(row)
			}
		}
		if entrant = t.play(o.rounds, row, entrant, c); entrant >= 0 {
			entrant = t.rows[row].parent
		}
	}
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
