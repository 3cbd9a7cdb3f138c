package fairshare

import (
	"slices"

	"github.com/resvec/resvec/vector"
)

// Victim is something that runs and might have to go for a job of another queue.
type Victim struct {
	Queue   int                   // the row of its leaf
	Node    int                   // for the caller, such as a row of nodes; see [Claim.Victims]
	Amounts vector.ResourceVector // what it would give up, padded with zeros; should be preemptible
}

// Claim asks from whom a job may take. It takes victims one by one, in the tree itself: what
// a queue has given up no longer counts for those that follow. In the end it keeps those
// that are needed, or drops them all:
//
//	claim := fairshare.NewClaim(tree)
//	why, ok, err := claim.Begin(leaf, job)
//	for node, amounts := range claim.Victims(running) { // in the order of the rules
//		if free = free + amounts; job fits { break }
//	}
//	if job fits { // the rules know nothing of room
//		why, ok = claim.Keep(func(i int) bool { return the job fits without running[i] })
//	} else {
//		claim.Drop()
//	}
//
// When there is no room in the end, [Claim.Refused] says why the rules gave no more.
//
// After Begin, end with Keep or Drop. Until then neither the host nor another claim may
// change the tree: the claim panics at its next call then. Nothing allocates once a claim has
// grown.
type Claim struct {
	t             *Tree
	leaf          int32
	asks          []int64
	unpreemptible bool
	path          []int32 // the leaf and all above it, the top aside
	before        []int64 // what these had at the beginning, a row each
	mark          Mark
	isOpen, began bool // began: the journal is the claim's own
	edits         uint64

	why     Refusal // of the first victim that was refused, if there is one not for SameQueue
	refused int     // how many were

	taken   []taken
	amounts []int64 // of taken, a row each
	v       []int64 // scratch: the amounts of one victim

	isSecond bool    // Kueue's rule S2-b
	gave     []int32 // the leaves that gave by that rule
	fills    fills   // by Leximin
	order    order
	losses   losses
}

// sides are the queues that the rules compare: a row of the path, and its sibling at or above
// the leaf of a victim. What moves between two leaves moves between these two, and nothing changes
// above them. So the rules compare them as two queues without parents.
type sides struct {
	step  int // of the path
	giver int32
}

// taken is a victim that was taken.
type taken struct {
	sides
	leaf  int32
	index int // in the list of Victims, the Node of VictimsOf, or -1
}

// NewClaim returns a claim on a tree that asks for nothing yet.
func NewClaim(t *Tree) *Claim { return &Claim{t: t} }

// Begin begins to ask for a job of a leaf. ok is false when the rules refuse the job itself,
// whoever would give, and why says so; then there is nothing to keep or drop. By KAI's and
// Volcano's rules that can be. By the others a job may find that each victim is refused:
// [Claim.May] says why. The error is the one of [Tree.Assume].
//
// Shares are those of the last Divide. By Leximin it counts what is short now: let the job wait in
// the tree, or count it in [Usage]. A claim that is still open is dropped.
func (c *Claim) Begin(row int, job Job) (why Refusal, ok bool, err error) {
	if c.isOpen {
		c.Drop()
	}
	t := c.t
	leaf, request, err := t.request(row, &job)
	if err != nil {
		return Refusal{}, false, err
	}
	t.tidy()
	c.leaf, c.unpreemptible = leaf, job.Unpreemptible
	c.asks = append(c.asks[:0], request...)
	c.path, c.before = c.path[:0], c.before[:0]
	for x := leaf; x > 0; x = t.rows[x].parent {
		c.path = append(c.path, x)
		c.before = append(c.before, t.used(x, allocated)...)
	}
	c.taken, c.amounts, c.gave = c.taken[:0], c.amounts[:0], c.gave[:0]
	c.isSecond = false
	if t.options.Rules == Leximin {
		c.beginFills()
	}
	c.why, c.refused = Refusal{}, 0
	if why = c.first(); why.Reason != Allowed {
		return why, false, nil
	}
	// A journal that is on is the host's trial: it has to outlive the claim, so that the host's
	// marks still hold. Only one that the claim began is the claim's to end.
	c.began = !t.journal.isOn
	c.mark = t.Mark()
	c.isOpen = true
	c.edits = t.journal.edits
	return why, true, nil
}

// check panics when the claim is not open, or the tree has changed by another hand.
func (c *Claim) check() {
	switch {
	case !c.isOpen:
		panic("fairshare: claim that has not begun")
	case c.edits != c.t.journal.edits:
		c.isOpen = false // so that it can begin again
		panic("fairshare: tree has changed while a claim was open")
	}
}

// Drop gives all victims back: the tree is as it was before Begin.
func (c *Claim) Drop() {
	if !c.isOpen {
		return
	}
	c.check()
	c.isOpen = false
	c.taken = c.taken[:0]
	c.t.Rollback(c.mark)
	if c.began {
		c.t.Commit()
	}
}

// May reports whether the rules allow taking a victim now, and why not.
func (c *Claim) May(v Victim) (why Refusal, ok bool) {
	why, _ = c.ask(v)
	return why, why.Reason == Allowed
}

// Take takes a victim if the rules allow that.
func (c *Claim) Take(v Victim) (why Refusal, ok bool) { return c.take(v, -1) }

// TakeAll takes those of a list that the rules allow, in its order, and appends their
// indexes to dst. It stops at the first that they refuse, or passes over it.
func (c *Claim) TakeAll(dst []int, list []Victim, passOver bool) []int {
	for i, v := range list {
		if _, ok := c.take(v, i); ok {
			dst = append(dst, i)
		} else if !passOver {
			break
		}
	}
	return dst
}

// Second goes on by Kueue's rule S2-b, for victims that were refused before. Then each leaf
// gives at most one. [Claim.Victims] does so itself. Other rules have no second round.
func (c *Claim) Second() { c.isSecond = c.t.options.Rules == Kueue }

func (c *Claim) take(v Victim, index int) (why Refusal, ok bool) {
	why, of := c.ask(v)
	if why.Reason != Allowed {
		if c.refused++; c.refused == 1 || c.why.Reason == SameQueue {
			c.why = why
		}
		return why, false
	}
	leaf := int32(v.Queue)
	if c.t.options.Rules == Leximin {
		c.remember(leaf)
	}
	c.give(leaf, c.v, -1)
	if c.t.options.Rules == Leximin {
		c.noteLoss(of, leaf, c.v)
	}
	if c.isSecond {
		c.gave = append(c.gave, leaf)
	}
	c.taken = append(c.taken, taken{of, leaf, index})
	c.amounts = append(c.amounts, c.v...)
	return why, true
}

// give adds amounts to what a leaf has, sign times, in the tree itself. So every measure that
// is asked next counts it, and the journal takes it back if the claim is dropped.
func (c *Claim) give(leaf int32, amounts []int64, sign int64) {
	t := c.t
	for j, x := range amounts {
		_ = t.move(leaf, j, delta{allocated: sign * x}) // it has had as much before
	}
	c.edits = t.journal.edits
}

// Refused returns how many victims the rules have refused since Begin, those that are asked for
// once more twice, and why the first: it is of the queue that is worst by the rules, unless the
// caller chose the order. [SameQueue] says so little that any other reason goes before it. Of
// none, where nobody was asked or all may go, why is [Allowed]. It stays after Drop and Keep,
// until the next Begin.
func (c *Claim) Refused() (why Refusal, n int) { return c.why, c.refused }

// ask asks the rules for a victim, whose amounts are in c.v then.
func (c *Claim) ask(v Victim) (why Refusal, of sides) {
	c.check()
	if why, of = c.read(v); why.Reason != Allowed {
		return why, of
	}
	switch c.t.options.Rules {
	case KAI:
		why = c.askKAI(of)
	case Volcano:
		why = c.askVolcano(of)
	case Kueue:
		why = c.askKueue(of, int32(v.Queue))
	default:
		why = c.askLeximin(of, int32(v.Queue))
	}
	return why, of
}

// read reads a victim that its queue has, and could give to the claim's.
func (c *Claim) read(v Victim) (why Refusal, of sides) {
	t := c.t
	q := t.checked(v.Queue)
	t.checkVector(v.Amounts)
	c.v = resized(c.v, t.cols)
	for j, has := range t.used(q, allocated) {
		amount := v.Amounts.Get(j)
		x, reason := amountOf(amount)
		if reason != "" || x > has {
			return Refusal{Reason: NotAllocated, Other: t.rows[q].name, Resource: t.columns[j], Amount: amount, Limit: float64(has)}, of
		}
		c.v[j] = x
	}
	if q == c.leaf || t.rows[q].children > 0 {
		return Refusal{Reason: SameQueue, Queue: t.rows[c.leaf].name, Other: t.rows[q].name}, of
	}
	// Up to one depth, then both together up to one parent.
	depth, step := t.shape.depth, max(0, len(c.path)-int(t.shape.depth[q]))
	for depth[q] > depth[c.path[step]] {
		q = t.rows[q].parent
	}
	for t.rows[q].parent != t.rows[c.path[step]].parent {
		q, step = t.rows[q].parent, step+1
	}
	return Refusal{}, sides{step, q}
}

// had returns what a row of the path had at the beginning.
func (c *Claim) had(step int) []int64 { return c.before[step*c.t.cols:][:c.t.cols] }

// refusal returns a refusal that is about amounts of a queue in a column.
func (c *Claim) refusal(reason Reason, row, other int32, j int, amount, limit int64) Refusal {
	t := c.t
	r := Refusal{Reason: reason, Queue: t.rows[row].name, Amount: float64(amount), Limit: float64(limit)}
	if j >= 0 {
		r.Resource = t.columns[j]
	}
	if other >= 0 {
		r.Other = t.rows[other].name
	}
	return r
}

// comparison returns a refusal that is about two measures.
func (c *Claim) comparison(reason Reason, row, other int32, left, right Ratio) Refusal {
	r := c.refusal(reason, row, other, -1, 0, 0)
	r.Left, r.Right = left, right
	return r
}

// first asks what has to hold before there is a victim: the taker must have a right to what
// it asks for, whoever gives it. By KAI's rules that is its share, and for a job that isn't
// preemptible what it deserves, as such a job can't be taken back. By Volcano's one column in
// which it stays within what it deserves is enough. Leximin asks for the share with each
// victim, since only the queues below the common ancestor matter there.
func (c *Claim) first() Refusal {
	t := c.t
	switch t.options.Rules {
	case KAI:
		for j, q := range c.asks {
			if a, f := c.before[j]+q, t.used(c.leaf, share)[j]; a > f {
				return c.refusal(AboveShare, c.leaf, -1, j, a, f)
			}
		}
		if !c.unpreemptible {
			break
		}
		for _, x := range c.path {
			for j, q := range c.asks {
				if n, d := t.used(x, fixed)[j]+q, t.used(x, deserved)[j]; n > d {
					return c.refusal(FixedAboveDeserved, x, -1, j, n, d)
				}
			}
		}
	case Volcano:
		within := false
		for j, q := range c.asks {
			if a := c.before[j] + q; q > 0 {
				if l := t.used(c.leaf, limit)[j]; a > l {
					return c.refusal(AboveLimit, c.leaf, -1, j, a, l)
				}
				within = within || a <= t.deserves(c.leaf, j)
			}
		}
		if !within {
			return c.refusal(AboveDeserved, c.leaf, -1, -1, 0, 0)
		}
	}
	return Refusal{}
}

// askKAI allows taking from who has more than it is entitled to, in whichever column. Who
// stays within what it deserves may take also from who has more than that, but not more than
// its share.
func (c *Claim) askKAI(of sides) Refusal {
	t, a, b := c.t, c.path[of.step], of.giver
	above := false
	for j, x := range t.used(b, allocated) {
		if x > t.entitledTo(b, j) {
			return Refusal{}
		}
		above = above || x > t.used(b, deserved)[j]
	}
	for j, x := range c.had(of.step) {
		if d := t.used(a, deserved)[j]; x+c.asks[j] > d {
			return c.refusal(WithinEntitled, a, b, j, x+c.asks[j], d)
		}
	}
	if !above {
		return c.refusal(WithinDeserved, a, b, -1, 0, 0)
	}
	return Refusal{}
}

// askVolcano allows taking what helps, down to the guarantee, from who has more than it
// deserves in a column that the victim uses. What runs only in columns in which its queue
// deserves nothing is best effort: it may always be taken.
func (c *Claim) askVolcano(of sides) Refusal {
	t, a, b := c.t, c.path[of.step], of.giver
	helps, deserves, above := false, false, false
	for j, v := range c.v {
		has, d := t.used(b, allocated)[j], t.deserves(b, j)
		if g := t.used(b, guarantee)[j]; has-v < g {
			return c.refusal(Guaranteed, a, b, j, has-v, g)
		}
		if v > 0 {
			helps = helps || c.asks[j] > 0
			deserves = deserves || d > 0
			above = above || d > 0 && has > d
		}
	}
	switch {
	case !helps:
		return c.refusal(NoHelp, a, b, -1, 0, 0)
	case deserves && !above:
		return c.refusal(WithinDeserved, a, b, -1, 0, 0)
	}
	return Refusal{}
}

// askKueue allows taking from who borrows, for a job that needn't; or for one that borrows,
// if its side borrows no more then than the other without the victim (S2-a), or, in the
// second round, less than the other now (S2-b).
func (c *Claim) askKueue(of sides, q int32) Refusal {
	t, a, b := c.t, c.path[of.step], of.giver
	helps := false
	for j, v := range c.v {
		helps = helps || v > 0 && c.asks[j] > 0 && t.borrows(q, q, j, 0)
	}
	if !helps {
		return c.refusal(NotBorrowing, a, q, -1, 0, 0)
	}
	for x := t.rows[q].parent; x != t.rows[b].parent; x = t.rows[x].parent {
		if !t.borrowsAny(x) {
			return c.refusal(NotBorrowing, a, x, -1, 0, 0)
		}
	}
	if c.isSecond && slices.Contains(c.gave, q) {
		return c.refusal(GaveAlready, a, q, -1, 0, 0)
	}
	if c.isWithin() {
		return Refusal{}
	}
	left := t.borrowing(a, c.leaf, c.asks, 1)
	if c.isSecond {
		if right := t.borrowing(b, q, nil, 1); left.Compare(right) >= 0 {
			return c.comparison(BorrowsAsMuch, a, b, left, right)
		}
		return Refusal{}
	}
	if right := t.borrowing(b, q, c.v, -1); left.Compare(right) > 0 {
		return c.comparison(BorrowsMore, a, b, left, right)
	}
	return Refusal{}
}

// isWithin reports whether the claim's leaf needn't borrow what it asks for.
func (c *Claim) isWithin() bool {
	for j, x := range c.asks {
		if x > 0 && c.t.borrows(c.leaf, c.leaf, j, x) {
			return false
		}
	}
	return true
}

// borrowsAny reports whether a queue borrows in any column.
func (t *Tree) borrowsAny(row int32) bool {
	for j := range t.cols {
		if t.borrows(row, row, j, 0) {
			return true
		}
	}
	return false
}

// Keep ends the claim, and decides which victims go. It asks for each victim, from the last
// to the first, whether it can be spared, and gives it back if so; nil spares none. i is the
// victim's index in the list of [Claim.Victims] or [Claim.TakeAll], and its Node for
// [Claim.VictimsOf]. A search that bisects takes more than the prefix that it finds, so even the
// last may be spared. Then the rules have the last word on those that are left: if they refuse, all
// are given back, and why says so. Otherwise the queues of the victims have what is left to them,
// and the job may be assumed or admitted.
func (c *Claim) Keep(spare func(i int) bool) (why Refusal, ok bool) {
	c.check()
	t, cols := c.t, c.t.cols
	for i := len(c.taken) - 1; i >= 0 && spare != nil; i-- {
		x := c.taken[i]
		if !spare(x.index) {
			continue
		}
		c.give(x.leaf, c.amounts[i*cols:][:cols], 1)
		c.taken = slices.Delete(c.taken, i, i+1)
		c.amounts = slices.Delete(c.amounts, i*cols, (i+1)*cols)
	}
	if why = c.end(); why.Reason != Allowed {
		c.Drop()
		return why, false
	}
	c.isOpen = false
	// Not before: a victim that is given back must find what is not preemptible as it was.
	for _, x := range c.taken {
		for j, a := range t.used(x.leaf, allocated) {
			_ = t.move(x.leaf, j, delta{fixed: min(0, a-t.used(x.leaf, fixed)[j])})
		}
	}
	if c.began {
		t.Commit()
	}
	return why, true
}

// Taken appends the indexes of the victims that are taken, as Keep has them, in the order of taking,
// to dst.
func (c *Claim) Taken(dst []int) []int {
	for _, x := range c.taken {
		dst = append(dst, x.index)
	}
	return dst
}

// end asks what has to hold when all victims are taken, for those that are now. By KAI's rules
// the taker must not end more above its share than the givers.
func (c *Claim) end() (why Refusal) {
	switch c.t.options.Rules {
	case Leximin:
		return c.endLeximin()
	case KAI:
		for i, x := range c.taken {
			if why = c.endKAI(x.sides, c.amounts[i*c.t.cols:][:c.t.cols]); why.Reason != Allowed {
				return why
			}
		}
	}
	return Refusal{}
}

// endKAI asks for a row of the path and its sibling that gave, in the columns that are touched.
// Who stays within its share may always take. Who exceeds it, which a parent may though the leaf
// doesn't, has to stay below its sibling, with the multiplier as a margin. A sibling whose share
// is 0 never objects: that is where reclaim can go in a circle.
func (c *Claim) endKAI(of sides, gave []int64) Refusal {
	t, x, y := c.t, c.path[of.step], of.giver
	for j, q := range c.asks {
		if q == 0 && gave[j] == 0 {
			continue
		}
		hasX, hasY := uint64(t.used(x, allocated)[j]+q), uint64(t.used(y, allocated)[j])
		fx, fy := uint64(t.used(x, share)[j]), uint64(t.used(y, share)[j])
		if hasX > fx && fy > 0 && compareProducts(t.factor, hasX, fy, 1000, hasY, fx) >= 0 {
			r := c.comparison(StillMore, x, y, Ratio{num: hasX, den: fx}, Ratio{num: hasY, den: fy})
			r.Resource = t.columns[j]
			return r
		}
	}
	return Refusal{}
}
