package fairshare

import "github.com/resvec/resvec/vector"

// Limits bounds what queues can lose to the claim, as gang.Proof takes it: a gang for which no
// permitted victims make room is refused before any is taken.
//
//	owners = claim.Limits(&limits, owners[:0], running) // after Begin
//	proof.Reset(free, requests, nil)
//	err := proof.Limit(gang.Budgets{Limits: &limits})
//	for i, v := range running {
//		err = proof.ReleaseOf(owners[i], v.Node, v.Amounts)
//	}
//	if why, infeasible := proof.Infeasible(); infeasible { claim.Drop() }
//
// victims are all that might be taken. For each of them a row of dst is appended to owners,
// which has the limits of its owner: the queue at or above its leaf whose parent is above the
// taker, too. Row 0, whose limits are 0, is for victims that may never go, such as one that alone
// is beyond the limits of its owner. dst gets the columns of the tree, which have to be
// those of the nodes; +Inf is no limit.
//
// Whatever Take, Victims and Keep make of the victims, they release of an owner at most its
// limits, in every column. A victim that may cross a bound, as the last one, is in the limits.
// So they hold for victims of many pods, too, and need no LastMayPass. Rules by which a queue
// gives as long as it has too much of anything limit nothing where it has too much of two.
//
// It panics when a victim is taken already. It costs the victims for each level of the tree.
func (c *Claim) Limits(dst *vector.Matrix, owners []int, victims []Victim) []int {
	c.check()
	if len(c.taken) > 0 {
		panic("fairshare: limits after a victim was taken")
	}
	t, l := c.t, &c.losses
	first, steps := len(owners), 0
	for _, v := range victims {
		owners = append(owners, c.countLoss(v))
	}
	for _, x := range l.owners {
		steps = max(steps, x.step+1)
	}
	dst.Reset(t.schema, len(l.owners)+1, t.cols)
	// Rules that weigh the taker's side against the giver's allow more when the taker's side
	// has lost something below. So sides are asked from the taker upward, each when all victims
	// further down are gone.
	mark := t.Mark()
	for step := range steps {
		for i, x := range l.owners {
			if x.step == step {
				c.limit(dst, i)
			}
		}
		if step == steps-1 {
			break // nobody further up asks
		}
		for i, v := range victims {
			if o := owners[first+i]; o > 0 && l.owners[o-1].step == step {
				for j, has := range t.used(int32(v.Queue), allocated) {
					c.v[j] = min(has, int64(v.Amounts.Get(j))) // together they may be more than it has
				}
				c.give(int32(v.Queue), c.v, -1)
			}
		}
	}
	t.Rollback(mark)
	c.edits = t.journal.edits
	for _, x := range l.owners {
		l.of[x.giver] = 0
	}
	l.owners, l.amounts = l.owners[:0], l.amounts[:0]
	for i, v := range victims {
		if isBeyond(v.Amounts, dst, owners[first+i]) {
			owners[first+i] = 0 // it would make room in a proof up to the limits
		}
	}
	return owners
}

// isBeyond reports whether an amount is more than its column has in a row of limits.
func isBeyond(amounts vector.ResourceVector, limits *vector.Matrix, row int) bool {
	for j, x := range amounts {
		if x > limits.At(row, j) {
			return true
		}
	}
	return false
}

// losses is what each owner of victims could lose.
type losses struct {
	owners  []sides
	amounts []loss // for each a row
	of      []int  // per row of the tree: its number among owners, from 1; 0 for none
	row     vector.ResourceVector
}

// loss is what the victims of an owner release in a column.
type loss struct{ all, greatest int64 }

// countLoss adds a victim to what its owner could lose, and returns the row of that, or 0
// where the victim may never be taken.
func (c *Claim) countLoss(v Victim) int {
	t, l := c.t, &c.losses
	l.of = grown(l.of, len(t.rows))
	why, of := c.read(v)
	if why.Reason != Allowed {
		return 0
	}
	number := &l.of[of.giver]
	if *number == 0 {
		l.owners = append(l.owners, of)
		*number = len(l.owners)
		l.amounts = grown(l.amounts, len(l.owners)*t.cols)
	}
	for j, x := range c.v {
		sum := &l.amounts[(*number-1)*t.cols+j]
		sum.all, sum.greatest = min(sum.all+x, tooLarge), max(sum.greatest, x) // no queue has more
	}
	return *number
}

// limit writes the limits of an owner. In each column it is the most that the owner could lose
// there if it lost nothing elsewhere, as no rule gets milder by what else it loses.
func (c *Claim) limit(dst *vector.Matrix, i int) {
	t, l := c.t, &c.losses
	l.row = resized(l.row, t.cols)
	for j := range t.cols {
		x := l.amounts[i*t.cols+j]
		limit := c.most(l.owners[i], j, x.all, true)
		if before := c.most(l.owners[i], j, x.all, false); before < 0 {
			limit = 0
		} else if before < unlimited {
			limit = min(limit, before+x.greatest+t.unseen(l.owners[i].giver, j))
		}
		l.row[j] = open(max(limit, 0))
	}
	dst.SetRow(i+1, l.row)
}

// most returns how much of column j an owner may have lost at most when the rules are asked:
// for its last victim, or at the end. It is -1 where they refuse an owner that has lost
// nothing, and unlimited where they don't mind if it loses all.
func (c *Claim) most(of sides, j int, all int64, atEnd bool) int64 {
	part := allocated
	if c.t.options.Rules == Kueue {
		part = charged
	}
	has := &c.t.used(of.giver, part)[j]
	all = min(all, *has)
	holds := func(lost int64) bool {
		*has -= lost
		ok := c.givesAfter(of, j, lost, atEnd)
		*has += lost
		return ok
	}
	if holds(all) {
		return unlimited
	}
	low, high := int64(-1), all
	// What holds for a loss holds for every smaller one, so the last that holds can be bisected.
	for high-low > 1 {
		if middle := low + (high-low)/2; holds(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// givesAfter reports whether the rules may let an owner give one victim more, or at the end
// all that it gave, when it has lost so much of column j. What they ask in take.go is weakened
// here to what has to hold whichever victims are taken, and in which order.
func (c *Claim) givesAfter(of sides, j int, lost int64, atEnd bool) bool {
	t, a, b := c.t, c.path[of.step], of.giver
	switch {
	case t.options.Rules == KAI && atEnd:
		c.v = resized(c.v, t.cols)
		clear(c.v)
		c.v[j] = lost
		return c.endKAI(of, c.v).Reason == Allowed
	case t.options.Rules == KAI:
		return c.askKAI(of).Reason == Allowed
	case t.options.Rules == Volcano && atEnd:
		for k, has := range t.used(b, allocated) {
			if has < t.used(b, guarantee)[k] {
				return false
			}
		}
		return true
	case t.options.Rules == Volcano:
		if t.deserves(b, j) == 0 {
			return true // best effort may go
		}
		for k, has := range t.used(b, allocated) {
			if d := t.deserves(b, k); d > 0 && has > d {
				return true
			}
		}
		return false
	case t.options.Rules == Kueue && atEnd:
		return true
	case t.options.Rules == Kueue:
		borrows := false
		for k, q := range c.asks {
			borrows = borrows || t.borrows(b, b, k, 0) && (q > 0 || t.rows[b].children > 0)
		}
		return borrows && (c.isWithin() || t.borrowing(a, c.leaf, c.asks, 1).Compare(t.borrowing(b, b, nil, 1)) <= 0)
	case atEnd:
		floor, has, f := &c.fills.levels[of.step].rises, t.used(b, allocated)[j], t.used(b, share)[j]
		return floor.share > 0 && c.aboveShare(of.step, -1).Reason == Allowed &&
			(has >= f || floor.compare(&fill{!c.shortOf(t.rows[b].parent)[j], has, f, b, int32(j)}) <= 0)
	}
	return true
}

// unseen returns how much of column j a queue could lose without using less, by Kueue's rules:
// what queues below it use of what they keep to themselves.
func (t *Tree) unseen(row int32, j int) (sum int64) {
	if t.options.Rules != Kueue {
		return 0
	}
	for _, child := range t.shape.childrenOf(row) {
		sum += min(t.used(child, charged)[j], t.lent(child, keeps)[j]) + t.unseen(child, j)
	}
	return sum
}
