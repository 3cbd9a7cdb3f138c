package fairshare

// Mark is a point in the history of a [Tree] to roll back to. Marks nest.
type Mark struct {
	changes int
	stage   uint64
}

// journal remembers what a tree was, from the first mark on until Commit: before a row changes
// for the first time in a stage, all its amounts are copied. Stages lie between marks, so a
// trial that changes a row a hundred times copies it once, and a rollback to any mark still
// finds the amounts as they were there. Rows are copied whole because their amounts lie side
// by side: a copy costs less than to note which of them changes.
type journal struct {
	isOn    bool
	changes []change
	amounts []int64  // the former amounts of changed rows
	edits   uint64   // moves on with every change, so that a claim sees changes that are not its own
	stage   uint64   // moves on with every mark, rollback and commit
	began   uint64   // the stage in which it was emptied last
	saved   []uint64 // per row: the stage in which its usage was saved last
	divided []uint64 // the same for its share
}

// change is one entry of a journal: a row of amounts, or the state of a job.
type change struct {
	kind  changeKind
	state jobState // what the job was
	id    int32    // the row or the job
	stage uint64
}

type changeKind uint8

const (
	usageChange changeKind = iota
	shareChange
	jobChange
)

func (l *journal) grow(rows int) {
	l.saved, l.divided = grown(l.saved, rows), grown(l.divided, rows)
	l.began = max(l.began, 1) // no row is saved in stage 0
	l.stage = max(l.stage, 1)
}

// void empties the journal: what is now is final.
func (l *journal) void() {
	l.edits++
	l.stage++
	l.began = l.stage
	l.isOn = false
	l.changes, l.amounts = l.changes[:0], l.amounts[:0]
}

// Mark returns the present point of the history. From the first mark on the tree remembers
// what it was, until [Tree.Commit].
func (t *Tree) Mark() Mark {
	t.tidy()
	t.sumHistory()
	t.journal.isOn = true
	t.journal.stage++ // so that a row that changes again is saved again: this mark needs its own copy
	return Mark{len(t.journal.changes), t.journal.stage}
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
	l := &t.journal
	n := mark.changes
	if mark.stage < l.began || !l.isOn || n > len(l.changes) || n > 0 && l.changes[n-1].stage >= mark.stage {
		panic("fairshare: mark is no longer in the tree's history")
	}
	l.edits++
	// Newest first: of a row that is there twice the older amounts are written last.
	for k := len(l.changes) - 1; k >= n; k-- {
		c := l.changes[k]
		switch c.kind {
		case usageChange:
			t.restoreUsage(c.id)
		case shareChange:
			t.restoreShare(c.id)
		case jobChange:
			t.setState(c.id, c.state)
		}
	}
	l.changes = l.changes[:n]
	l.stage++
}

// save remembers the usage of a row, once between two marks.
func (t *Tree) save(row int32) {
	t.journal.save(usageChange, t.journal.saved, row, t.usage, usageParts*t.cols)
}

// saveShare remembers the share of a row, once between two marks.
func (t *Tree) saveShare(row int32) {
	t.journal.save(shareChange, t.journal.divided, row, t.shares, shareParts*t.cols)
}

// save remembers the n amounts of a row, unless it was saved in this stage.
func (l *journal) save(kind changeKind, saved []uint64, row int32, amounts []int64, n int) {
	l.edits++
	if !l.isOn || saved[row] == l.stage {
		return
	}
	saved[row] = l.stage
	l.changes = append(l.changes, change{kind: kind, id: row, stage: l.stage})
	l.amounts = append(l.amounts, amounts[int(row)*n:][:n]...)
}

// saveJob remembers the state of a job.
func (t *Tree) saveJob(id int32, state jobState) {
	l := &t.journal
	l.edits++
	if l.isOn {
		l.changes = append(l.changes, change{kind: jobChange, state: state, id: id, stage: l.stage})
	}
}

// pop returns the last n amounts and drops them.
func (l *journal) pop(n int) []int64 {
	k := len(l.amounts) - n
	last := l.amounts[k:]
	l.amounts = l.amounts[:k]
	return last
}

func (t *Tree) restoreUsage(row int32) {
	n := usageParts * t.cols
	now, before := t.usage[int(row)*n:][:n], t.journal.pop(n)
	for j := range t.cols {
		if now[wanted*t.cols+j] != before[wanted*t.cols+j] {
			t.stale.mark(t, t.rows[row].parent, j)
		}
	}
	copy(now, before)
	t.touch(row)
}

func (t *Tree) restoreShare(row int32) {
	n := shareParts * t.cols
	copy(t.shares[int(row)*n:][:n], t.journal.pop(n))
	// Whether the share was up to date then is not known, so it counts as stale. Dividing a
	// second time gives the same.
	for j := range t.cols {
		t.stale.mark(t, row, j)
		t.stale.mark(t, t.rows[row].parent, j)
	}
	t.touch(row)
}
