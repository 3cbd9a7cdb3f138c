package quota

import (
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/quota/internal/book"
	"github.com/resvec/resvec/vectormap"
)

// New makes a ledger, or fails as SetQueues and SetCatalog, or with an [ErrBadName] of cfg;
// nil: no catalog.
func New(cfg Config, catalog *device.Catalog, queues []Queue) (*Ledger, error) {
	l, err := newLedger(cfg)
	if err != nil {
		return nil, err
	}
	if _, err := l.SetCatalog(catalog); err != nil {
		return nil, err
	}
	if _, _, err := l.SetQueues(queues); err != nil {
		return nil, err
	}
	// What made the ledger is no change of it.
	l.seq = 0
	return l, nil
}

// newLedger makes a ledger without cards and queues.
func newLedger(cfg Config) (*Ledger, error) {
	if unnamedNames[cfg.Unnamed] == "" {
		panic("quota: unknown value in config")
	}
	keys := cfg.keys()
	for _, key := range keys {
		if err := badName(key); err != nil {
			return nil, fmt.Errorf("%w: an annotation of the configuration is %q", err, brief(key))
		}
	}
	m, err := newMap(cfg.Outputs)
	if err != nil {
		return nil, err
	}
	l := &Ledger{
		cfg: cfg, keys: keys, queues: map[string]*queue{}, jobs: map[string]*job{}, tasks: map[string]*task{},
		waiting: map[string]*TaskRequest{}, sites: map[string]*site{},
	}
	l.spare.New = func() any { return new(scratch) }
	// Before widen, which lists outputs behind the cards.
	l.outs = newOutputs(m, cfg.Transformation)
	l.widen(m)
	return l, nil
}

// SetQueues replaces the queues. One that is missing but has jobs becomes an orphan until
// its last job goes: closed, without a quota, and counted in the queues above it that are
// still there. orphans are sorted. An error has all faults, see [Config.Validate], or is an
// [ErrBadAmount] of sums from 2^62 on.
func (l *Ledger) SetQueues(queues []Queue) (orphans []string, seq uint64, err error) {
	l.rlock()
	m := l.m
	l.mu.RUnlock()
	for {
		// Texts are parsed before the lock. Meanwhile the ledger may have got another map.
		wide, built, _, faults := l.cfg.build(m, queues)
		l.lock()
		if l.m != m && faults.err() == nil {
			m = l.m
			l.mu.Unlock()
			continue
		}
		if err = faults.err(); err == nil {
			orphans, err = l.setQueues(built, wide)
		}
		return orphans, l.unlock(err == nil), err
	}
}

// setQueues takes queues over, whose faults were looked for. Only their sums can be too large.
func (l *Ledger) setQueues(queues []builtQueue, wide *vectormap.ResourceVectorMap) (orphans []string, err error) {
	parents := make(map[string]string, len(queues))
	for i := range queues {
		parents[queues[i].Name] = queues[i].Parent
	}
	heirs := l.orphaned(parents)
	maps.Copy(parents, heirs)
	// All that can fail comes before the first change: an error leaves the ledger as it is.
	if err := l.tooLarge(parents); err != nil {
		return nil, err
	}
	// Old records first: new ones are made as wide as these are then.
	l.widen(wide)
	old := l.queues
	l.queues = make(map[string]*queue, len(queues))
	for i := range queues {
		// A queue that stays keeps its record, with what its jobs have and the pointers to
		// it. So does an orphan that comes back.
		q := old[queues[i].Name]
		if q == nil {
			q = &queue{}
			q.Tag, q.Cells = q, make([]book.Cell, wide.Len())
		}
		q.spec, q.Orphan = queues[i], false
		l.queues[q.spec.Name] = q
	}
	for _, name := range sorted(old) { // orphans are returned in order
		q := old[name]
		parent, isOrphan := heirs[name]
		switch {
		case l.queues[name] == q:
		case !isOrphan:
			// Handles that remember the record look the name up again.
			q.Gone = true
		default:
			orphans = append(orphans, name)
			// What runs goes on, and nothing is admitted. The limits of the queues above stay.
			q.Orphan = true
			q.spec = builtQueue{Name: name, Parent: parent, Priority: q.spec.Priority, State: StateClosed}
			l.queues[name] = q
		}
	}
	l.link()
	return orphans, nil
}

// orphaned returns the queues that become orphans when the queues are replaced by others,
// with the nearest of the queues above each that stays; empty if none does. So a queue that
// is deleted together with those between frees nothing of a limit that stays. For example
// org, with a limit of 5, has team below it, and that a leaf with 5 charged. When team and
// leaf go together the orphan counts in org, where else 5 more would be admitted.
func (l *Ledger) orphaned(queues map[string]string) (parents map[string]string) {
	parents = map[string]string{}
	nearest := map[*book.Queue]string{} // it or, if it goes, the one above that stays
	// The tree is that of before: new queues may have another one, and what runs was decided
	// in the old one.
	for _, q := range l.book.TopDown() {
		name := queueName(q)
		nearest[q] = name
		_, stays := queues[name]
		if above := nearest[q.Parent]; !stays && q.Jobs > 0 {
			parents[name] = above
		} else if !stays {
			nearest[q] = above
		}
	}
	return parents
}

// tooLarge looks for sums that would reach 2^62 where queues move below one another. Sums
// are largest at the top, and two trees that each are small enough may become one. It is
// the one thing that new queues can make wrong with amounts that were right: single sums
// are looked at when they grow.
func (l *Ledger) tooLarge(parents map[string]string) error {
	tops := map[string]string{} // of each queue, by name: the tree is the one that is to be
	var top func(name string) string
	top = func(name string) string {
		// Once for each queue: a chain of queues must not cost its length for each of them.
		if _, known := tops[name]; !known {
			tops[name] = name
			if _, stays := parents[parents[name]]; stays {
				tops[name] = top(parents[name])
			}
		}
		return tops[name]
	}
	sums := map[string][]int64{} // of a tree by dimension, by the name of its top
	for q := range l.byName() {
		if q.Jobs == 0 {
			continue
		}
		name := top(q.spec.Name)
		if sums[name] == nil {
			sums[name] = make([]int64, len(q.Cells))
		}
		for dim, sum := range sums[name] {
			own := q.Cells[dim].Full()
			// A queue counts what those below it have. Only its own goes along.
			for _, child := range q.Children {
				own -= child.Cells[dim].Full()
			}
			// So written the sum itself can't overflow.
			if own > book.MostSum-sum {
				return overflow("queue", name, unitOf(l.m, dim), own, l.resource(dim), 62)
			}
			sums[name][dim] += own
		}
	}
	return nil
}

// link makes the tree of the queues, and what follows from it.
func (l *Ledger) link() {
	l.ordered = l.ordered[:0]
	records := make([]*book.Queue, 0, len(l.queues))
	for _, name := range sorted(l.queues) {
		q := l.queues[name]
		// Parents of before may be gone.
		q.Parent = nil
		if parent := l.queues[q.spec.Parent]; parent != nil {
			q.Parent = &parent.Queue
		}
		l.ordered, records = append(l.ordered, q), append(records, &q.Queue)
	}
	l.book.Link(records)
	// After the book has said which queues are leaves, and before limits, which read what
	// follows from the queues above.
	for _, q := range l.book.TopDown() {
		recordOf(q).inherit(l.cfg.MissingUnlimited)
	}
	// Jobs count in other queues now, so no sum of a parent holds any more.
	l.book.Total(l.records())
	l.limit()
}

// records returns what the book has of jobs, in no order.
func (l *Ledger) records() iter.Seq[*book.Job] {
	return func(yield func(*book.Job) bool) {
		for _, j := range l.jobs {
			if !yield(&j.Job) {
				return
			}
		}
	}
}

// inherit sets what follows from the queue above, which comes first, and from the queues
// below.
//
// What it sets are answers that would else be looked for up the tree: whether the queue is
// open, whether anything was configured at all, and which cards its users may name.
func (q *queue) inherit(missingUnlimited bool) {
	// A quota that can't be read denies its card, and still says that the queue is about it.
	var mentioned, named []int
	for dim := range q.Cells {
		if q.spec.mentions(dim) {
			mentioned = append(mentioned, dim)
		}
		// An unreadable quota names nothing: it denies what the map has, also forgotten cards.
		if text, faulty := q.spec.denied[dim]; q.spec.mentions(dim) || faulty && (text == "" || text != q.spec.unreadable) {
			named = append(named, dim)
		}
	}
	parent, above := recordOf(q.Parent), noCards
	if parent != nil {
		above = parent.named
	}
	// What is below a closed queue takes nothing, whatever its own state says.
	q.Open = q.spec.State == StateOpen && (parent == nil || parent.Open)
	q.unreadable = q.spec.unreadable != "" || parent != nil && parent.unreadable
	// A leaf that says nothing at all may use what the queues above allow, which limit it.
	q.limited = nil
	if q.Leaf && len(named) == 0 && q.spec.unreadable == "" && parent != nil {
		q.limited = above
	}
	// Such a leaf gets a reason of its own, which Volcano has an event for: asking for less
	// would not help.
	q.Empty = q.Leaf && !missingUnlimited && len(mentioned) == 0 && (q.limited == nil || q.limited.None() && !q.unreadable)
	switch {
	case above == nil, q.Orphan: // its quota is gone, and its jobs may ask for what they asked for
		q.named = nil
	case len(named) == 0: // one set for many queues
		q.named = above
	default:
		q.named = above.Clone()
		for _, dim := range named {
			q.named.Add(int32(dim))
		}
	}
}

// mentions reports whether the capability says something of a dimension that can be
// read.
func (q *builtQueue) mentions(dim int) bool {
	if amountAt(q.Capability, dim) > 0 {
		return true
	}
	text, denied := q.denied[dim]
	return denied && text == ""
}

// byName returns the queues in the order of their names. Orphans that have gone are
// skipped: prune takes them off the list together.
func (l *Ledger) byName() iter.Seq[*queue] {
	return func(yield func(*queue) bool) {
		for _, q := range l.ordered {
			if !q.Gone && !yield(q) {
				return
			}
		}
	}
}

// prune removes the orphans that have no records any more. To find each in the list would
// be work for all queues: they leave it together, once most of it are such.
func (l *Ledger) prune() {
	for _, q := range l.book.Prune() {
		delete(l.queues, queueName(q))
	}
	if len(l.ordered) > 2*len(l.queues) {
		l.ordered = slices.DeleteFunc(l.ordered, func(q *queue) bool { return q.Gone })
	}
}
