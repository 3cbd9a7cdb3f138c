package quota

import (
	"math"
	"sync"

	"github.com/resvec/resvec/quota/internal/book"
)

// nodeCards remembers which cards nodes have.
type nodeCards struct {
	mu   sync.RWMutex
	sets map[string]*book.Set
}

var noCards = new(book.Set)

// seen returns the cards of a node that was asked for before, and nil of another.
func (d *discovery) seen(node string) *book.Set {
	d.nodes.mu.RLock()
	defer d.nodes.mu.RUnlock()
	return d.nodes.sets[node]
}

// on returns the cards of a node; of an unknown one, none. It asks the catalogue, which
// is the caller's code: no lock may be held.
func (d *discovery) on(node string, dims map[string]int32) *book.Set {
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
	set := new(book.Set)
	for i := range cards {
		if dim, ok := dims[cards[i].Name]; ok {
			set.Add(dim)
		}
	}
	d.nodes.mu.Lock()
	defer d.nodes.mu.Unlock()
	if d.nodes.sets == nil {
		d.nodes.sets = map[string]*book.Set{}
	}
	d.nodes.sets[node] = set
	return set
}

// lockOn locks the ledger, which mu does for a question or a change, and returns the
// cards that a node has then. The catalogue is asked while the ledger isn't locked, so
// it may have been replaced meanwhile; then the new one is asked.
func (l *Ledger) lockOn(mu sync.Locker, node string) *book.Set {
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
	task.mustServe(l)
	task.at.Fetch()
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
	task.mustServe(l)
	on := l.lockOn(l.mu.RLocker(), node)
	defer l.mu.RUnlock()
	task = l.current(task)
	s := l.scratch()
	defer l.spare.Put(s)
	s.answer.Brief = true
	l.mayCharge(s, task, on)
	sum, n := 0.0, 0
	for i := range s.picks {
		if !task.listed(i) {
			continue
		}
		n++
		if card := s.picks[i].Card; card >= 0 {
			sum += math.Ldexp(100, -task.rank(i, task.use.Items[i].Alts.Index(card)))
		}
	}
	if n == 0 {
		return 0
	}
	return sum / float64(n)
}

// listed reports whether several cards were listed for an item, unknown ones included.
func (t *TaskRequest) listed(item int) bool {
	return t.source(item).ranks != "" || t.use.Items[item].Alts.Multi()
}

// rank returns the place of an alternative of an item in what was listed.
func (t *TaskRequest) rank(item, at int) int {
	if ranks := t.source(item).ranks; ranks != "" {
		return int(ranks[at])
	}
	return at
}

// source returns where an item comes from.
func (t *TaskRequest) source(item int) source {
	if item < len(t.sources) {
		return t.sources[item]
	}
	return source{}
}
