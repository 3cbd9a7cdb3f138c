package quota

import (
	"math"
	"sync"
)

// nodeCards remembers which cards nodes have.
type nodeCards struct {
	mu   sync.RWMutex
	sets map[string]*cardSet
}

var noCards = new(cardSet)

// seen returns the cards of a node that was asked for before, and nil of another.
func (d *discovery) seen(node string) *cardSet {
	d.nodes.mu.RLock()
	defer d.nodes.mu.RUnlock()
	return d.nodes.sets[node]
}

// on returns the cards of a node; of an unknown one, none. It asks the catalogue, which
// is the caller's code: no lock may be held.
func (d *discovery) on(node string, dims map[string]int32) *cardSet {
	if set := d.seen(node); set != nil {
		return set
	}
	if d.catalogue == nil {
		return noCards
	}
	cards := d.catalogue.CardsOf(node)
	if len(cards) == 0 {
		return noCards
	}
	set := new(cardSet)
	for i := range cards {
		if dim, ok := dims[cards[i].Name]; ok {
			set.add(dim)
		}
	}
	d.nodes.mu.Lock()
	defer d.nodes.mu.Unlock()
	if d.nodes.sets == nil {
		d.nodes.sets = map[string]*cardSet{}
	}
	d.nodes.sets[node] = set
	return set
}

// lockOn locks the ledger, which mu does for a question or a change, and returns the
// cards that a node has then. The catalogue is asked while the ledger isn't locked, so
// it may have been replaced meanwhile; then the new one is asked.
func (l *Ledger) lockOn(mu sync.Locker, node string) *cardSet {
	mu.Lock()
	for {
		source, dims := l.source, l.dims
		if set := source.seen(node); set != nil {
			return set
		}
		mu.Unlock()
		set := source.on(node, dims)
		mu.Lock()
		if l.source == source {
			return set
		}
	}
}

// AllocatableOn is [Ledger.Allocatable] restricted to the cards of a node. If the node
// has none of an item's alternatives, or isn't known, the reason is
// [ReasonGetTaskRequestResourceFailed]. If it has some, and none has room, the reason is
// [ReasonInsufficientScalarQuota].
func (l *Ledger) AllocatableOn(dst *Answer, task *TaskRequest, node string) bool {
	task.of(l)
	task.fetch()
	on := l.lockOn(l.mu.RLocker(), node)
	defer l.mu.RUnlock()
	return l.allocatable(dst, task, on)
}

// NodeScore says how much a task prefers a node for its cards, from 0 to 100. An item
// that lists several cards scores 100 * 0.5^i: i is the place in the list, from 0, of
// the first card that the node has and that has room. The score is the mean of such
// items, and 0 without any. It is the formula of Volcano's capacity-card design, which
// doesn't look for room. The caller weighs the score.
func (l *Ledger) NodeScore(task *TaskRequest, node string) float64 {
	task.of(l)
	on := l.lockOn(l.mu.RLocker(), node)
	defer l.mu.RUnlock()
	q := l.queueOf(&task.queueAt, task.queue)
	if q.admits() != ReasonNone || task.invalid != "" || q.empty {
		return 0
	}
	only := task.confine(on)
	j := l.jobOf(task)
	var taken uint64
	sum, n := 0.0, 0
	for i := range task.items {
		ti := &task.items[i]
		var it *item
		if j != nil {
			it = j.matchNext(ti, &taken)
		}
		if !ti.listed() {
			continue
		}
		n++
		if k := q.firstOn(it, ti, only); k >= 0 {
			sum += math.Ldexp(100, -ti.rank(k))
		}
	}
	if n == 0 {
		return 0
	}
	return sum / float64(n)
}

// firstOn returns the index of the first alternative that is among cards and has
// room, -1 if there is none.
func (q *queue) firstOn(it *item, ti *taskItem, on confines) int {
	for k, dim := range ti.alts.cards {
		if !on.have(dim) {
			continue
		}
		if r, why := q.itemRoom(it, it.index(ti.alts, k), dim); why != ReasonFirmElsewhere && ti.milli <= r.amount {
			return k
		}
	}
	return -1
}

// matchNext returns the item of the job that the next item of a task counts
// against.
func (j *job) matchNext(ti *taskItem, taken *uint64) *item {
	it, at := j.match(ti.alts, ti.milli, *taken)
	if uint(at) < 64 {
		*taken |= 1 << at
	}
	return it
}

// listed reports whether several cards were listed, unknown ones included.
func (ti *taskItem) listed() bool { return ti.ranks != "" || ti.alts.multi() }

// rank returns the place of an alternative in what was listed.
func (ti *taskItem) rank(at int) int {
	if ti.ranks == "" {
		return at
	}
	return int(ti.ranks[at])
}

// confines are sets of cards that a task must stay in; nil ones don't confine.
type confines struct{ limit, bound *cardSet }

func (c confines) have(dim int32) bool {
	return (c.limit == nil || c.limit.has(dim)) && (c.bound == nil || c.bound.has(dim))
}

// confine returns what a task must stay in: cards, and those of the node that it is
// bound to.
func (t *TaskRequest) confine(cards *cardSet) confines { return confines{cards, t.bound} }
