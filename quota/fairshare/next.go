package fairshare

import "slices"

// Next returns the leaf and the job to try next by the rules: from the top, the best child
// that has a job waiting below it; ok is false when no job waits. It changes nothing: Admit
// or Skip the job to get another.
//
// Shares are those of the last Divide. It costs, for each leaf that has changed since the
// last time, its path to the top. By Leximin, where a column becomes short below a queue, or is no
// longer, it costs all children of that queue.
func (t *Tree) Next() (leaf, id int, ok bool) {
	t.tidy()
	b := &t.next
	if b.isOld {
		t.rank()
	}
	for _, row := range b.touched {
		b.isTouched[row] = false
		t.rankPath(row)
	}
	b.touched = b.touched[:0]
	if b.best[0] < 0 {
		return -1, -1, false
	}
	row := b.best[0]
	return int(row), int(t.line.waiting(row)[0]), true
}

// bracket is the order of siblings, kept as tournaments: each parent has one among its
// children, so that a child that changes costs the logarithm of their number. In one of four
// children the leaves are at 4 to 7, and each place above has who wins of the two below:
//
//	      1
//	  2       3
//	4   5   6   7
//
// If child 5 changes, 5, 2 and 1 are played again. Only the best job of a leaf takes part, as
// the rules ask for one job of a queue at a time.
type bracket struct {
	isOld     bool
	touched   []int32 // rows that have changed
	isTouched []bool
	rounds    []int32 // per parent: twice as many as children; see roundsOf
	best      []int32 // per row: the leaf to serve at or below it, or -1
	keys      []key   // per row that has one
	short     []bool  // by Leximin, per row: which columns are short below it
}

// key is what decides between siblings: numbers, two ratios, and numbers again, smaller first. What
// the rules don't ask for is 0. Of priorities it has the complement: the least has no negative.
//
//	         before                                         ratios           after
//	KAI      over its share or what it deserves, priority,  with the job,    rank
//	         whether it is entitled to nothing it wants     without
//	Volcano  priority                                       without          deserves nothing, rank
//	Kueue    whether it borrows                             with the job     the job's priority and age, rank
//	Leximin  over its share of what the job wants           least without,   priority, rank
//	                                                        greatest with
type key struct {
	before        [3]int64
	first, second Ratio
	after         [3]int64
}

func (k *key) compare(other *key) int {
	if k.before != other.before {
		return slices.Compare(k.before[:], other.before[:])
	}
	if c := k.first.Compare(other.first); c != 0 {
		return c
	}
	if c := k.second.Compare(other.second); c != 0 {
		return c
	}
	return slices.Compare(k.after[:], other.after[:])
}

// touch notes that a row has changed, for the next order.
func (t *Tree) touch(row int32) {
	b := &t.next
	if t.shape.isOld || b.isOld || b.isTouched[row] {
		return
	}
	// Of many changes it is cheaper to rank all anew. Until somebody asks, nothing is ranked at
	// all: loading a cluster costs one ranking.
	if len(b.touched) > len(t.rows)/4+8 {
		b.isOld = true
		return
	}
	b.isTouched[row] = true
	b.touched = append(b.touched, row)
}

// rank ranks all queues.
func (t *Tree) rank() {
	b, n := &t.next, len(t.rows)
	b.isOld = false
	b.touched = b.touched[:0]
	b.isTouched, b.best, b.keys = resized(b.isTouched, n), resized(b.best, n), resized(b.keys, n)
	b.rounds = resized(b.rounds, 2*n)
	clear(b.isTouched)
	b.short = b.short[:0]
	if t.options.Rules == Leximin {
		for row := range int32(n) {
			b.short = t.shortOf(b.short, row)
		}
	}
	for _, row := range slices.Backward(t.shape.order) {
		t.playAll(row)
		t.rankRow(row)
	}
}

// playAll plays the tournament of a row anew.
func (t *Tree) playAll(row int32) {
	b, children := &t.next, t.shape.childrenOf(row)
	rounds := t.roundsOf(b.rounds, row)
	for i, child := range children {
		rounds[len(children)+i] = b.entrant(child)
	}
	for i := len(children) - 1; i > 0; i-- {
		rounds[i] = b.winner(rounds[2*i], rounds[2*i+1])
	}
}

// rankChildren ranks the children of a row anew where what is short below it has changed.
func (t *Tree) rankChildren(row int32) {
	b, changed := &t.next, false
	if t.options.Rules != Leximin || t.rows[row].children == 0 {
		return
	}
	short := b.short[int(row)*t.cols:][:t.cols]
	for j, was := range short {
		short[j] = t.isShort(row, j)
		changed = changed || short[j] != was
	}
	if changed {
		for _, child := range t.shape.childrenOf(row) {
			t.rankRow(child)
		}
		t.playAll(row)
	}
}

// rankPath ranks a row among its siblings, and all above it.
func (t *Tree) rankPath(row int32) {
	b := &t.next
	for {
		before := b.best[row]
		t.rankChildren(row)
		t.rankRow(row)
		if row == 0 {
			return
		}
		parent := t.rows[row].parent
		// Who had no job and has none changes nothing among its siblings.
		if before >= 0 || b.best[row] >= 0 {
			t.play(b.rounds, row, b.entrant(row), b)
		}
		row = parent
	}
}

// referee decides between two siblings; -1 is nobody.
type referee interface{ winner(x, y int32) int32 }

// roundsOf returns the tournament of a parent of n children: child k is at n+k, the winner
// of 2i and 2i+1 at i, and so the winner of all at 1.
func (t *Tree) roundsOf(rounds []int32, parent int32) []int32 {
	return rounds[2*t.shape.first[parent] : 2*t.shape.first[parent+1]]
}

// play enters a row, or -1 in its place, into the tournament of its parent, plays the rounds
// that it is in, the logarithm of the number of siblings, and returns who wins all.
func (t *Tree) play(rounds []int32, row, entrant int32, by referee) int32 {
	parent := t.rows[row].parent
	rounds = t.roundsOf(rounds, parent)
	i := t.rows[parent].children + t.shape.place[row]
	for rounds[i] = entrant; i > 1; {
		i /= 2
		rounds[i] = by.winner(rounds[2*i], rounds[2*i+1])
	}
	return rounds[1]
}

// entrant returns a row that takes part among its siblings, or -1 where no job waits below it.
func (b *bracket) entrant(row int32) int32 {
	if b.best[row] < 0 {
		return -1
	}
	return row
}

// winner returns which of two siblings is served first.
func (b *bracket) winner(x, y int32) int32 {
	if y < 0 || x >= 0 && b.keys[x].compare(&b.keys[y]) < 0 {
		return x
	}
	return y
}

// rankRow finds the leaf to serve at or below a row, and the key that goes with it.
func (t *Tree) rankRow(row int32) {
	b := &t.next
	b.best[row] = -1
	if t.rows[row].children == 0 {
		if row > 0 && len(t.line.waiting(row)) > 0 {
			b.best[row] = row
		}
	} else if winner := t.roundsOf(b.rounds, row)[1]; winner >= 0 {
		b.best[row] = b.best[winner]
	}
	leaf := b.best[row]
	if leaf >= 0 && len(t.line.waiting(leaf)) == 0 {
		b.best[row] = -1 // the leaf is ranked later, as it has changed, too
	} else if leaf >= 0 && row > 0 {
		t.setKey(&b.keys[row], row, leaf, t.line.waiting(leaf)[0])
	}
}

// setKey computes the key of a row if a job of a leaf were served. Every part is a number of
// the row alone, so the order is transitive. KAI has one part more that isn't: of equal
// shares, the smaller entitlement.
func (t *Tree) setKey(k *key, row, leaf, id int32) {
	wants, has := t.requested(id), t.used(row, allocated)
	priority, rank := ^t.rows[row].priority, int64(t.shape.rank[row])
	*k = key{}
	switch t.options.Rules {
	case Leximin:
		// What the job doesn't want says nothing about who should have it.
		isOver, decides := false, deciding(wants, t.next.short[int(t.rows[row].parent)*t.cols:][:t.cols])
		k.first = Ratio{num: 1}
		for j, a := range has {
			gets := t.used(row, share)[j]
			isOver = isOver || wants[j] > 0 && a+wants[j] > gets
			if !decides(j) {
				continue
			}
			if part := over(a, gets); gets > 0 && part.Compare(k.first) < 0 {
				k.first = part
			}
			k.second = k.second.or(over(a+wants[j], gets))
		}
		k.before, k.after = [3]int64{number(isOver)}, [3]int64{priority, rank}
	case KAI:
		// Who is above its share in every column waits; who stays within what it deserves, even
		// with the job, goes first, before any priority.
		isOver, isWithin, unentitled := true, true, false
		for j, a := range has {
			with, e := a+wants[j], t.entitledTo(row, j)
			isOver = isOver && a > t.used(row, share)[j]
			isWithin = isWithin && with <= t.used(row, deserved)[j]
			unentitled = unentitled || with > 0 && e == 0
			k.first, k.second = k.first.or(t.kaiPart(with, e, j)), k.second.or(t.kaiPart(a, e, j))
		}
		k.before = [3]int64{2*number(isOver) + number(!isWithin), priority, number(unentitled)}
		k.after = [3]int64{rank}
	case Volcano:
		// The job doesn't count: only what queues have already.
		k.before, k.first = [3]int64{priority}, t.measure(row)
		k.after = [3]int64{number(t.deservesNothing(row)), rank}
	case Kueue:
		// To use what one owns comes before borrowing. The job's priority and age decide only
		// between queues that borrow the same, which mostly means nothing.
		borrows := false
		for j, q := range wants {
			borrows = borrows || q > 0 && t.borrows(row, leaf, j, q)
		}
		job := &t.line.jobs[id]
		k.before, k.first = [3]int64{number(borrows)}, t.borrowing(row, leaf, wants, 1)
		k.after = [3]int64{^t.priorityOf(job), t.ageOf(job), rank}
	}
}

// number returns 1 for yes.
func number(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}
