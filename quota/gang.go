package quota

// CommitAll charges a gang: all tasks, or none.
//
// Tasks without alternatives come first, then the others in the given order, each on
// top of those before it; nothing is reconsidered. Tasks of one job come together if
// their items list the same alternatives. With SameCard each such list is charged on
// its first card that has room for all of them.
//
// Charged has the cards of all tasks, in the given order. A refusal is of the first task
// that failed, and Task names it. A gang that is charged already is a repeat. A task
// that is in the gang twice is an [ErrConflict].
func (l *Ledger) CommitAll(tasks []*TaskRequest) (Answer, error) {
	for _, t := range tasks {
		t.of(l)
	}
	l.lock()
	g := gang{l: l, tasks: tasks, seq: l.seq + 1}
	a, err := g.commit()
	var events []Event
	switch {
	case err != nil || a.Repeat:
	case a.OK:
		for _, i := range g.made {
			events = append(events, l.taskEvent(EventCommitted, a.Seq, l.tasks[tasks[i].id])...)
		}
	default:
		t := tasks[g.failed]
		events = l.refused(t.queue, t.job, t.id, &a)
	}
	l.unlock(a.changed(), events)
	return a, err
}

// gang is the work of one CommitAll.
type gang struct {
	l       *Ledger
	tasks   []*TaskRequest
	seq     uint64
	journal journal
	made    []int // indices of the tasks that were charged, not repeats
	failed  int
	answers []Answer
}

func (g *gang) commit() (Answer, error) {
	g.answers = make([]Answer, len(g.tasks))
	seen := make(map[string]bool, len(g.tasks))
	for _, t := range g.tasks {
		if seen[t.id] {
			return Answer{Seq: g.l.seq}, conflict("task", t.id, "it is in the gang twice")
		}
		seen[t.id] = true
	}
	for _, group := range g.groups() {
		a, err := g.commitGroup(group)
		if err != nil || !a.OK {
			g.l.undo(&g.journal)
			if err == nil {
				g.explain(&a, len(group) > 1)
			}
			return a, err
		}
	}
	var all Answer
	g.l.begin(&all)
	all.Repeat = len(g.made) == 0
	if !all.Repeat {
		all.Seq = g.seq
	}
	for i := range g.answers {
		all.Charged = append(all.Charged, g.answers[i].Charged...)
	}
	return all, nil
}

// groups returns the indices of the tasks in the order to commit them: those
// without alternatives each alone, then the groups of the others.
func (g *gang) groups() (groups [][]int) {
	type key struct{ job, keys string }
	of := map[key]int{}
	for i, t := range g.tasks {
		if t.multiKeys() == "" {
			groups = append(groups, []int{i})
		}
	}
	for i, t := range g.tasks {
		keys := t.multiKeys()
		if keys == "" {
			continue
		}
		id := key{t.job, keys}
		if k, ok := of[id]; ok && g.l.mixOf(t) == SameCard {
			groups[k] = append(groups[k], i)
			continue
		}
		of[id] = len(groups)
		groups = append(groups, []int{i})
	}
	return groups
}

// multiKeys returns the keys of the items with alternatives, joined.
func (t *TaskRequest) multiKeys() (keys string) {
	for i := range t.items {
		if alts := t.items[i].alts; alts.multi() {
			keys += alts.key + "\x00"
		}
	}
	return keys
}

// mixOf returns the policy of a task's job.
func (l *Ledger) mixOf(t *TaskRequest) Mix {
	if j := l.jobOf(t); j != nil {
		return j.mix
	}
	return l.cfg.Mix
}

// commitGroup commits tasks one after the other. Of several, each key with
// alternatives is restricted to the first card that takes them all.
func (g *gang) commitGroup(group []int) (a Answer, err error) {
	var limit *cardSet
	if len(group) > 1 {
		limit = g.together(group)
	}
	for _, i := range group {
		t, only := g.tasks[i], limit
		if g.l.tasks[t.id] != nil {
			only = nil // it is charged already, be it elsewhere
		}
		if a, _, err = g.l.commit(t, only, g.seq, &g.journal); err != nil || !a.OK {
			g.failed = i
			if err == nil && only != nil {
				g.reconsider(&a, t)
			}
			return a, err
		}
		if !a.Repeat {
			g.made = append(g.made, i)
		}
		g.answers[i] = a
	}
	return a, nil
}

// reconsider makes the refusal of a task that was restricted to one card that of
// all its alternatives, if these have no room either.
func (g *gang) reconsider(a *Answer, t *TaskRequest) {
	var all Answer
	g.l.begin(&all)
	if g.l.decideTask(&all, t, nil, nil); !all.OK {
		*a = all
	}
}

// explain says why the task that failed did, when nothing of the gang is charged any
// more.
func (g *gang) explain(a *Answer, grouped bool) {
	t := g.tasks[g.failed]
	a.Task = t.id
	if grouped {
		var alone Answer
		g.l.begin(&alone)
		g.l.decideTask(&alone, t, nil, nil)
		a.notTogether(alone.Options)
	}
}

// notTogether says of the alternatives that only the rest of its gang excludes for a
// task that they haven't room for all. alone are the options of the task by itself.
func (a *Answer) notTogether(alone []Room) {
	if a.OK || len(a.Options) != len(alone) {
		return
	}
	excluded := func(o *Room) bool { return o.Why == ReasonFirmElsewhere || o.Why == ReasonNotOnNode }
	for i := range a.Options {
		if o := &a.Options[i]; excluded(o) && !excluded(&alone[i]) {
			*o = alone[i]
			o.OK, o.Why = false, ReasonNotTogether
		}
		if a.Options[i].Card == a.Refusal.Best {
			a.Refusal.Why = a.Options[i].Why
		}
	}
}

// together returns the cards that the tasks of a group may use: of every key with
// alternatives the first card that takes all of them, or else the one that takes
// the most.
func (g *gang) together(group []int) *cardSet {
	limit := new(cardSet)
	first := g.tasks[group[0]]
	for k := range first.items {
		ti := &first.items[k]
		best, most := ti.alts.cards[0], -1
		if ti.alts.multi() {
			for _, dim := range ti.alts.cards {
				if n := g.try(group, ti.alts, dim); n > most {
					best, most = dim, n
				}
			}
		}
		limit.add(best)
	}
	for _, i := range group {
		for k := range g.tasks[i].items {
			if alts := g.tasks[i].items[k].alts; !alts.multi() {
				limit.add(alts.cards[0])
			}
		}
	}
	return limit
}

// try counts how many tasks of a group, one after the other, can charge their item
// with these alternatives on a card. It changes nothing.
func (g *gang) try(group []int, alts *alternatives, dim int32) (n int) {
	var u journal
	defer g.l.undo(&u)
	only := new(cardSet)
	only.add(dim)
	for _, i := range group {
		t := g.tasks[i]
		if g.l.tasks[t.id] != nil { // a repeat
			n++
			continue
		}
		q := g.l.queueOf(&t.queueAt, t.queue)
		if q == nil {
			return n
		}
		j := g.l.jobs[t.job]
		if j == nil {
			j = g.l.newJob(t.job, q)
			u.newJob(j)
		}
		a := Answer{OK: true}
		if !g.l.chargeItem(&a, j, t, alts, only, &u) {
			return n
		}
		n++
	}
	return n
}

// chargeItem charges of a task only the item with these alternatives, and reports
// whether it has room on one of cards.
func (l *Ledger) chargeItem(a *Answer, j *job, t *TaskRequest, alts *alternatives, cards *cardSet, u *journal) bool {
	var taken uint64
	for i := range t.items {
		ti := &t.items[i]
		p := pick{dim: -1, it: j.matchNext(ti, &taken)}
		if ti.alts != alts {
			continue
		}
		if l.decideItem(a, j.queue, i, ti, confines{limit: cards}, &p); p.dim < 0 {
			return false
		}
		j.charge(alts, ti.milli, p, u)
	}
	return true
}
