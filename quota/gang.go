package quota

import (
	"slices"

	"github.com/resvec/resvec/quota/internal/book"
)

// CommitAll charges a gang, or nothing: first the tasks without alternatives, then the
// others in order, each on top of those before it. Without AnyMix tasks of one job with the
// same alternatives go on the first card with room for all. Charged has the cards of all,
// in order; a refusal is of the first that failed. A charged gang is a repeat, a task twice
// in it an [ErrConflict].
func (l *Ledger) CommitAll(tasks []*TaskRequest) (Answer, error) {
	for _, t := range tasks {
		l.serves(t.owner)
	}
	l.lock()
	g := gang{l: l, tasks: tasks}
	a, err := g.commit()
	for _, t := range g.made {
		l.taskEvent(EventCommitted, t)
	}
	l.unlock(a.changed())
	return a, err
}

// gang is the work of one CommitAll.
//
// It charges as it decides, since each task must see those before it, and a decision on
// numbers set aside would be a second set of rules. So a gang that fails halfway is taken
// back: the journal has what the book was before.
type gang struct {
	l       *Ledger
	tasks   []*TaskRequest
	journal book.Journal
	made    []*task // that were charged, not repeats
}

// undo takes back everything.
func (g *gang) undo() {
	for _, t := range g.made {
		g.l.takeOff(t)
		delete(g.l.tasks, t.id)
	}
	g.journal.Undo()
	// Last, since Undo still changes the records of jobs that the gang has made.
	for _, t := range slices.Backward(g.made) {
		if j := t.Job; !j.Gone && !j.Reserved && j.Tasks == 0 {
			g.l.book.Drop(j)
			delete(g.l.jobs, t.job)
		}
	}
	g.made = nil
}

// commit charges the groups in their order, or takes back what it has charged.
func (g *gang) commit() (Answer, error) {
	// Charged twice it would be a repeat, and the gang be short of a task without a word.
	seen := make(map[string]bool, len(g.tasks))
	for _, t := range g.tasks {
		if seen[t.id] {
			return Answer{Seq: g.l.seq}, conflict("task", t.id, "it is in the gang twice")
		}
		seen[t.id] = true
	}
	s := g.l.scratch()
	defer g.l.spare.Put(s)
	for _, group := range g.groups() {
		failed, err := g.commitGroup(s, group)
		if failed == nil {
			continue
		}
		// An error takes everything back, too.
		g.undo()
		if err != nil {
			return Answer{Seq: g.l.seq}, err
		}
		return g.refuse(&s.answer, failed, len(group) > 1), nil
	}
	var all Answer
	g.l.begin(&all)
	all.Repeat = len(g.made) == 0
	if !all.Repeat {
		all.Seq++
	}
	// In the given order: groups are committed in another one.
	for _, r := range g.tasks {
		t := g.l.tasks[r.id]
		all.Charged = append(all.Charged, g.l.chargedCards(t)...)
		delete(g.l.waiting, r.id)
	}
	return all, nil
}

// groups returns the indices of the tasks in the order to commit them: those without
// alternatives each alone, then the groups of the others. Tasks without a choice come
// first: the others can leave their cards to them, and not the other way round. Nothing is
// tried again.
func (g *gang) groups() (groups [][]int) {
	type key struct{ job, keys string }
	of := map[key]int{}
	var multi [][]int
	for i, t := range g.tasks {
		id := key{t.job, t.multiKeys()}
		at, again := of[id]
		switch {
		case id.keys == "":
			groups = append(groups, []int{i})
		// With AnyMix no card binds the tasks of a job, so each is decided on alone.
		case again && !g.l.anyMix(t):
			multi[at] = append(multi[at], i)
		default:
			of[id] = len(multi)
			multi = append(multi, []int{i})
		}
	}
	return append(groups, multi...)
}

// multiKeys returns the keys of the items with alternatives, joined. Tasks of a group have
// all of them in common, as book.Together wants it.
func (t *TaskRequest) multiKeys() (keys string) {
	for i := range t.use.Items {
		if alts := t.use.Items[i].Alts; alts.Multi() {
			keys += keyOf(alts) + "\x00"
		}
	}
	return keys
}

// anyMix returns the policy of a task's job.
func (l *Ledger) anyMix(t *TaskRequest) bool {
	if j := l.jobOf(t); j != nil {
		return j.AnyMix
	}
	return l.cfg.AnyMix
}

// commitGroup commits tasks one after the other, and returns the one that failed, if any, with
// the decision on it in s. Of several, each key with alternatives is restricted to the first
// card that takes them all.
func (g *gang) commitGroup(s *scratch, group []int) (failed *TaskRequest, err error) {
	l := g.l
	var cards *book.Set
	// One task alone chooses freely.
	if len(group) > 1 {
		cards = g.together(group)
	}
	for _, i := range group {
		t, only := g.tasks[i], cards
		if l.tasks[t.id] != nil {
			only = nil // it is charged already, be it elsewhere
		}
		is, _, made := l.commit(s, t, only, t.node, &g.journal)
		switch is {
		case charged:
			g.made = append(g.made, made)
		case repeated:
		case refused:
			// Where it was restricted to one card, the refusal is that of all its alternatives,
			// if these have no room either.
			s.answer.Reconsider(l.queueOf(&t.queueAt, t.queue), l.jobOf(t), &t.use, t.bound)
			return t, nil
		default:
			return t, l.errorOf(t, is, made)
		}
	}
	return nil, nil
}

// refuse says why the task that failed did, when nothing of the gang is charged any more.
func (g *gang) refuse(is *book.Answer, t *TaskRequest, grouped bool) (a Answer) {
	q := g.l.queueOf(&t.queueAt, t.queue)
	// Alone the task may have had room on another card. Then it is the gang that doesn't
	// fit.
	if grouped {
		var alone book.Answer
		book.MayCharge(&alone, q, g.l.jobOf(t), &t.use, t.bound, nil)
		is.NotTogether(alone.Options)
	}
	g.l.fillTask(&a, is, t, q)
	a.Task = t.id
	g.l.refused(t.queue, t.job, t.id, &a)
	return a
}

// together returns the cards that the tasks of a group may use. It is a proposal, on the
// state before the group: each task is decided on as always.
func (g *gang) together(group []int) *book.Set {
	var members []book.Member
	for _, i := range group {
		t := g.tasks[i]
		m := book.Member{Use: &t.use, Cards: t.bound}
		if g.l.tasks[t.id] == nil {
			m.N = 1
		}
		members = append(members, m)
	}
	first := g.tasks[group[0]]
	return book.Together(g.l.queueOf(&first.queueAt, first.queue), g.l.jobOf(first), members)
}
