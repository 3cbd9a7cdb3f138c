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
	saved   []uint64 // per row: the stage in which it was saved last
}

// change is one entry of a journal: a row of amounts, or what a job was.
type change struct {
	isJob bool
	state jobState
	id    int32 // the row or the job
	stage uint64
}

func (l *journal) grow(rows int) {
	l.saved = grown(l.saved, rows)
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
		if c := l.changes[k]; c.isJob {
			t.setState(c.id, c.state)
		} else {
			t.restore(c.id)
		}
	}
	l.changes = l.changes[:n]
	l.stage++
}

// save remembers the amounts of a row, once between two marks.
func (t *Tree) save(row int32) {
	l, n := &t.journal, usageParts*t.cols
	l.edits++
	if !l.isOn || l.saved[row] == l.stage {
		return
	}
	l.saved[row] = l.stage
	l.changes = append(l.changes, change{id: row, stage: l.stage})
	l.amounts = append(l.amounts, t.usage[int(row)*n:][:n]...)
}

// saveJob remembers the state of a job.
func (t *Tree) saveJob(id int32, state jobState) {
	l := &t.journal
	l.edits++
	if l.isOn {
		l.changes = append(l.changes, change{isJob: true, state: state, id: id, stage: l.stage})
	}
}

// restore gives a row the amounts that were saved last. A division is stale then where what it
// reads or gives is another now. Where nothing differs it is what it was: up to date with these
// amounts, or stale already.
func (t *Tree) restore(row int32) {
	l, n, parent := &t.journal, usageParts*t.cols, t.rows[row].parent
	now, before := t.usage[int(row)*n:][:n], l.amounts[len(l.amounts)-n:]
	differs := func(part, j int) bool { return now[part*t.cols+j] != before[part*t.cols+j] }
	for j := range t.cols {
		wants, shares, promises := differs(wanted, j), differs(share, j), differs(oversold, j)
		for part := range usageParts {
			now[part*t.cols+j] = before[part*t.cols+j]
		}
		if wants {
			t.noteCan(row, j)
		}
		if shares {
			t.stale.mark(t, parent, j)
		}
		if shares || promises {
			t.stale.mark(t, row, j)
		}
	}
	l.amounts = l.amounts[:len(l.amounts)-n]
	t.touch(row)
}
