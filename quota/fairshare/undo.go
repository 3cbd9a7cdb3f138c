package fairshare

// Mark is a point in the history of a [Tree] to roll back to. Marks nest.
type Mark struct {
	at     int32 // where it is in the journal
	number int64
}

// journal remembers what a tree was, from the first mark on until Commit: each amount before it
// changes, and where each job was. Shares are in it, too, so a rollback divides nothing.
type journal struct {
	isOn    bool
	changes []change
	edits   uint64 // moves on with every change, so that a claim sees changes that are not its own
	marks   int64  // how many there were
}

// change is an entry of a journal: a mark, or what something was before it changed.
type change struct {
	kind changeKind
	i    int32 // in Tree.amounts, or the number of a job
	was  int64 // the amount, the state of the job, or the number of the mark
}

type changeKind uint8

const (
	ofAmount changeKind = iota
	ofJob
	ofMark
)

// void empties the journal: what is now is final.
func (l *journal) void() {
	l.edits++
	l.isOn = false
	l.changes = l.changes[:0]
}

// note remembers what something was.
func (l *journal) note(c change) {
	l.edits++
	if l.isOn {
		l.changes = append(l.changes, c)
	}
}

// put writes an amount where that makes a difference.
func (t *Tree) put(row int32, part, j int, x int64) {
	i := (int(row)*parts+part)*t.cols + j
	if was := t.amounts[i]; was != x {
		t.journal.note(change{ofAmount, int32(i), was})
		t.amounts[i] = x
	}
}

// Mark returns the present point of the history. From the first mark on the tree remembers
// what it was, until [Tree.Commit].
func (t *Tree) Mark() Mark {
	t.tidy()
	t.sumHistory()
	l := &t.journal
	l.isOn = true
	// Where nothing has changed since the last mark it is the same point: who marks and rolls back
	// for ever needs no more memory.
	if n := len(l.changes); n == 0 || l.changes[n-1].kind != ofMark {
		l.marks++
		l.changes = append(l.changes, change{kind: ofMark, was: l.marks})
	}
	at := len(l.changes) - 1
	return Mark{int32(at), l.changes[at].was}
}

// Commit makes all changes final and all marks void. It costs nothing.
func (t *Tree) Commit() {
	t.journal.void()
	t.line.release()
}

// Rollback takes back every change since mark was taken: usage, jobs and shares are what
// they were, to the bit. It panics when the mark is void: taken before the last Commit, or
// change of a queue, of the total or of history, or at a point that was rolled back itself.
func (t *Tree) Rollback(mark Mark) {
	l, at := &t.journal, int(mark.at)
	if at >= len(l.changes) || l.changes[at] != (change{kind: ofMark, was: mark.number}) {
		panic("fairshare: mark is no longer in the tree's history")
	}
	l.edits++
	// Newest first: of an amount that is there twice the older one is written last.
	for k := len(l.changes) - 1; k > at; k-- {
		switch c := l.changes[k]; c.kind {
		case ofAmount:
			t.restore(int(c.i), c.was)
		case ofJob:
			t.setState(c.i, jobState(c.was))
		}
	}
	l.changes = l.changes[:at+1]
}

// restore gives an amount the value that it had. A division that reads or gives it is out of date
// then. All others are what they were: up to date, or noted already.
func (t *Tree) restore(i int, was int64) {
	row, part, j := int32(i/t.cols/parts), i/t.cols%parts, i%t.cols
	t.amounts[i] = was
	switch part {
	case wanted:
		t.noteCan(row, j)
	case share:
		t.outdate(t.rows[row].parent, j)
		t.outdate(row, j)
	case oversold:
		t.outdate(row, j)
	}
	t.touch(row)
}
