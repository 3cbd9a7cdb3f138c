package quota

import (
	"iter"
	"maps"
	"math"
	"slices"

	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// New makes a ledger. m comes from [NewMap] or extends such a map; catalogue may
// be nil, for no cards. Errors are those of [Ledger.SetCatalogue] and
// [Ledger.SetQueues], and [ErrNotUTF8] for a name in the map.
func New(cfg Config, m *vectormap.ResourceVectorMap, catalogue Catalogue, queues []Queue) (*Ledger, error) {
	isMap(m)
	if err := checkMap(m); err != nil {
		return nil, err
	}
	l := newLedger(cfg, m)
	if _, err := l.SetCatalogue(catalogue, nil); err != nil {
		return nil, err
	}
	if _, _, err := l.SetQueues(queues, nil); err != nil {
		return nil, err
	}
	l.seq = 0
	return l, nil
}

// newLedger makes a ledger without queues.
func newLedger(cfg Config, m *vectormap.ResourceVectorMap) *Ledger {
	if cfg.Unnamed > UnnamedIgnore || cfg.Mix > AnyMix {
		panic("quota: unknown value in config")
	}
	l := &Ledger{
		cfg: cfg, queues: map[string]*queue{}, jobs: map[string]*job{}, tasks: map[string]*task{},
		waiting: map[string]*waitingTask{},
	}
	l.widen(m)
	return l
}

// SetQueues replaces the queues: limits, states and the tree. m, if not nil,
// extends the ledger's map. It returns the names of the orphans, sorted, and the
// number of the change or, with an error, of the state.
//
// A queue that is missing but has jobs becomes an orphan: closed, and without a
// quota. What its jobs have counts on in the nearest of the queues above it that is
// still there, and above that one. So a queue that is deleted together with those
// between frees nothing of a limit that stays. An orphan goes with its last job.
//
// Faults in the queues, see [Validate], change nothing and are returned all at once;
// so does a tree in which a sum would reach 2^53, an [ErrOverflow].
func (l *Ledger) SetQueues(queues []Queue, m *vectormap.ResourceVectorMap) (orphans []string, seq uint64, err error) {
	l.lock()
	orphans, err = l.setQueues(queues, m)
	return orphans, l.unlock(err == nil, nil), err
}

func (l *Ledger) setQueues(queues []Queue, m *vectormap.ResourceVectorMap) (orphans []string, err error) {
	wide := l.m
	if m != nil {
		if err := extends(l.m, m); err != nil {
			return nil, err
		}
		wide = m
	}
	faults := faultsOf(queues, wide)
	if err := faults.err(); err != nil {
		return nil, err
	}
	if err := l.tooLarge(queues); err != nil {
		return nil, err
	}
	l.widen(wide)
	heirs := l.orphaned(queues)
	old := l.queues
	l.queues = make(map[string]*queue, len(queues))
	for i := range queues {
		q := old[queues[i].Name]
		if q == nil {
			q = &queue{cells: make([]cell, wide.Len())}
		}
		q.spec, q.orphan = queues[i].clone(), false
		l.queues[q.spec.Name] = q
	}
	for _, name := range sorted(old) {
		q := old[name]
		parent, isOrphan := heirs[name]
		switch {
		case l.queues[name] == q:
		case !isOrphan:
			q.gone = true
		default:
			orphans = append(orphans, name)
			q.orphan = true
			q.spec.Parent = parent
			q.spec.State, q.spec.Capability, q.spec.Guarantee, q.spec.Deserved = StateClosed, nil, nil, nil
			q.spec.Denied, q.spec.Ignored = nil, nil
			l.queues[name] = q
		}
	}
	l.link()
	return orphans, nil
}

// orphaned returns the queues that become orphans when the queues are replaced by
// others, with the nearest of the queues above each that stays; empty if none does.
func (l *Ledger) orphaned(queues []Queue) (parents map[string]string) {
	stays := make(map[string]bool, len(queues))
	for i := range queues {
		stays[queues[i].Name] = true
	}
	parents = map[string]string{}
	for _, q := range l.ordered {
		if !stays[q.spec.Name] && q.jobs > 0 {
			parents[q.spec.Name] = ""
		}
	}
	nearest := make(map[*queue]string, len(parents)) // of queues that go: that above them which stays
	for name := range parents {
		var path []*queue
		for q := l.queues[name].parent; q != nil; q = q.parent {
			_, isOrphan := parents[q.spec.Name]
			if stays[q.spec.Name] || isOrphan {
				parents[name] = q.spec.Name
				break
			}
			if above, known := nearest[q]; known {
				parents[name] = above
				break
			}
			path = append(path, q)
		}
		for _, q := range path {
			nearest[q] = parents[name]
		}
	}
	return parents
}

// clone returns a copy that shares nothing with the caller's.
func (q *Queue) clone() Queue {
	c := *q
	c.State = min(q.State, StateUnknown)
	c.Capability, c.Guarantee, c.Deserved = slices.Clone(q.Capability), slices.Clone(q.Guarantee), slices.Clone(q.Deserved)
	c.Denied, c.Ignored = maps.Clone(q.Denied), slices.Clone(q.Ignored)
	return c
}

// tooLarge looks for sums that would reach 2^53 where queues move below one another.
func (l *Ledger) tooLarge(queues []Queue) error {
	parents := make(map[string]string, len(queues))
	for i := range queues {
		parents[queues[i].Name] = queues[i].Parent
	}
	maps.Copy(parents, l.orphaned(queues))
	tops := make(map[string]string, len(parents)) // the queue at the top of each that was looked for
	sums := map[string][]int64{}                  // by these
	for _, q := range l.ordered {
		if q.jobs == 0 {
			continue
		}
		top := topOf(q.spec.Name, parents, tops)
		sum := sums[top]
		if sum == nil {
			sum = make([]int64, l.m.Len())
			sums[top] = sum
		}
		for dim := range q.cells {
			own := q.cells[dim].full()
			for _, child := range q.children {
				own -= child.cells[dim].full()
			}
			if own >= limitExact-sum[dim] {
				return l.overflowAt("queue", top, own, int32(dim))
			}
			sum[dim] += own
		}
	}
	return nil
}

// topOf returns the topmost queue above one, and notes it in tops for all between. A
// parent that isn't among parents counts as none.
func topOf(name string, parents, tops map[string]string) string {
	var path []string
	top := ""
	for top == "" {
		path = append(path, name)
		parent := parents[name]
		_, stays := parents[parent]
		switch {
		case tops[name] != "":
			top = tops[name]
		case !stays:
			top = name
		default:
			name = parent
		}
	}
	for _, below := range path {
		tops[below] = top
	}
	return top
}

// link makes the tree of the queues, and what follows from it.
func (l *Ledger) link() {
	l.ordered = l.ordered[:0]
	for _, name := range sorted(l.queues) {
		l.ordered = append(l.ordered, l.queues[name])
	}
	for _, q := range l.ordered {
		q.children, q.parent = q.children[:0], nil
	}
	for _, q := range l.ordered {
		if q.parent = l.queues[q.spec.Parent]; q.parent != nil {
			q.parent.children = append(q.parent.children, q)
		}
	}
	l.order()
	for _, q := range l.topDown {
		q.inherit(l.cfg.MissingUnlimited)
	}
	l.total()
	l.limit()
}

// order lists the queues from the top down, level by level.
func (l *Ledger) order() {
	l.topDown, l.levels = l.topLevel(), 0
	for from, to := 0, len(l.topDown); from < to; from, to = to, len(l.topDown) {
		l.levels++
		for _, q := range l.topDown[from:to] {
			l.topDown = append(l.topDown, q.children...)
		}
	}
}

// inherit sets what follows from the queue above, which comes first, and from the
// queues below.
func (q *queue) inherit(missingUnlimited bool) {
	q.leaf = !slices.ContainsFunc(q.children, func(child *queue) bool { return !child.orphan })
	q.open = q.spec.State == StateOpen && (q.parent == nil || q.parent.open)
	q.empty = q.leaf && !missingUnlimited && q.spec.mentionsNothing()
	above := noCards
	if q.parent != nil {
		above = q.parent.named
	}
	switch {
	case above == nil, q.orphan:
		q.named = nil
	case q.spec.mentionsNothing():
		q.named = above
	default:
		q.named = &cardSet{slices.Clone(above.bits)}
		for dim := range q.spec.mentioned() {
			q.named.add(int32(dim))
		}
	}
}

// below returns a test whether a queue is q or below it. However many queues it is asked
// about, it goes from each to its parent once.
func (q *queue) below() func(*queue) bool {
	known := map[*queue]bool{q: true, nil: false}
	return func(other *queue) bool {
		var path []*queue
		is, ok := known[other]
		for !ok {
			path = append(path, other)
			other = other.parent
			is, ok = known[other]
		}
		for _, other := range path {
			known[other] = is
		}
		return is
	}
}

// mentionsNothing reports whether nothing of the capability was configured.
func (q *Queue) mentionsNothing() bool {
	for range q.mentioned() {
		return false
	}
	return true
}

// total makes the sums of every queue from the records.
func (l *Ledger) total() {
	for _, q := range l.ordered {
		for i := range q.cells {
			c := &q.cells[i]
			c.allocated, c.held, c.elastic = 0, 0, 0
		}
		q.over, q.holders = nil, 0
	}
	for _, j := range l.jobs {
		if j.holding = j.holds(); j.holding {
			j.queue.holders++
		}
		j.each(func(dim int32, allocated, held, uncovered int64) {
			c := &j.queue.cells[dim]
			c.allocated += allocated
			c.held += held
			if j.reserved {
				c.elastic += uncovered
			}
		})
	}
	for _, q := range slices.Backward(l.topDown) {
		if q.parent != nil {
			q.parent.holders += q.holders
			for dim := range q.cells {
				q.parent.cells[dim].raise(&q.cells[dim], &cell{})
			}
		}
	}
}

// apart takes the tree apart while do changes amounts, each of which then counts in its
// own queue only, and sums them up in the end. It is for so many changes that going up
// with each of them is more work. do must not ask for room.
func (l *Ledger) apart(do func()) {
	type before struct {
		parent  *queue
		holders int
		cells   []cell
	}
	was := make([]before, len(l.topDown))
	cells := make([]cell, 0, len(l.topDown)*l.m.Len())
	for i, q := range l.topDown {
		from := len(cells)
		cells = append(cells, q.cells...)
		was[i] = before{q.parent, q.holders, cells[from:]}
		q.parent = nil
	}
	do()
	for i, q := range slices.Backward(l.topDown) {
		if q.parent = was[i].parent; q.parent != nil {
			q.parent.holders += q.holders - was[i].holders
			for dim := range q.cells {
				q.parent.cells[dim].raise(&q.cells[dim], &was[i].cells[dim])
			}
		}
		q.over = nil
		q.markAll()
	}
}

// raise adds what another cell has more than it had before.
func (c *cell) raise(now, before *cell) {
	c.allocated += now.allocated - before.allocated
	c.held += now.held - before.held
	c.elastic += now.elastic - before.elastic
}

// topLevel returns the queues without a parent.
func (l *Ledger) topLevel() (top []*queue) {
	for _, q := range l.ordered {
		if q.parent == nil {
			top = append(top, q)
		}
	}
	return top
}

// capability returns what a queue's capability says about a dimension.
func (l *Ledger) capability(q *queue, dim int) int64 {
	amount := amountAt(q.spec.Capability, dim)
	_, denied := q.spec.Denied[dim]
	switch {
	case amount > 0:
		return amount
	case denied, q.orphan:
		return 0
	case !q.leaf:
		return Unlimited
	case l.cfg.MissingUnlimited && (dim == vectormap.CPU || dim == vectormap.Memory):
		return Unlimited
	}
	return 0
}

// mentions reports whether the capability says something of a dimension that can be
// read.
func (q *Queue) mentions(dim int) bool {
	if amountAt(q.Capability, dim) > 0 {
		return true
	}
	text, denied := q.Denied[dim]
	return denied && text == ""
}

// mentioned returns the dimensions that the capability mentions, in no order.
func (q *Queue) mentioned() iter.Seq[int] {
	return func(yield func(int) bool) {
		for dim := range q.Capability {
			if q.Capability[dim] > 0 && !yield(dim) {
				return
			}
		}
		for dim := range q.Denied {
			if q.mentions(dim) && amountAt(q.Capability, dim) == 0 && !yield(dim) {
				return
			}
		}
	}
}

func (q *Queue) guarantee(dim int) int64 { return amountAt(q.Guarantee, dim) }

// amountAt returns an element of a checked vector.
func amountAt(v vector.ResourceVector, dim int) int64 {
	switch {
	case dim >= len(v):
		return 0
	case math.IsInf(v[dim], 1):
		return Unlimited
	}
	return int64(v[dim])
}

// prune removes the orphans among the emptied queues that have no records of their own.
// What is below one comes below the nearest queue above it that stays, where it counts
// already.
func (l *Ledger) prune() {
	found := false
	for _, q := range l.emptied {
		if q.orphan && q.jobs == 0 && !q.gone {
			found, q.gone = true, true
			delete(l.queues, q.spec.Name)
		}
	}
	l.emptied = l.emptied[:0]
	if !found {
		return
	}
	isGone := func(q *queue) bool { return q.gone }
	l.ordered = slices.DeleteFunc(l.ordered, isGone)
	for _, q := range l.topDown {
		if q.parent != nil && q.parent.gone { // it came before, and is below one that stays
			q.parent, q.spec.Parent = q.parent.parent, q.parent.spec.Parent
		}
		q.children = q.children[:0]
	}
	l.topDown = slices.DeleteFunc(l.topDown, isGone)
	for _, q := range l.ordered {
		if q.parent != nil {
			q.parent.children = append(q.parent.children, q)
		}
	}
}

// widen gives every queue the dimensions of a map that extends the ledger's.
func (l *Ledger) widen(m *vectormap.ResourceVectorMap) {
	if l.m == m {
		return
	}
	l.m = m
	l.cards, l.dims = make([]string, m.Len()), make(map[string]int32, m.Len())
	for dim, name := range m.All() {
		if card, ok := cardOf(m, dim, name); ok {
			l.cards[dim], l.dims[card] = card, int32(dim)
		}
	}
	for _, q := range l.queues {
		q.cells = append(q.cells, make([]cell, m.Len()-len(q.cells))...)
	}
}
