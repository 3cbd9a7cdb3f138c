package quota

import (
	"slices"
	"unicode/utf8"

	"github.com/resvec/resvec/quota/internal/book"
)

// Which node has the cards that a task is charged for matters in one place: what the cluster
// has of a card. A device that dies under a pod is no longer allocatable, and the pod is still
// charged. Without it the total would be short of a card that nobody else could have had, and
// a device of one tenant would take room from another. So of a card on a node the greater
// counts of what is allocatable and what is charged there.
//
// That may not make the cluster larger: a caller who commits too much on a node would get
// room for it. So a commit counts on its node only within what is allocatable there. What a
// view says counts in any case, since it runs.

// site is a node on which tasks are charged for cards.
type site struct {
	node    string
	tasks   int
	charged map[int32]int64 // milli-cards by card
}

// mostPlaced is more than a node has of a card. A charge of more counts as this, so that
// sums stay in range: it is a typing error.
const mostPlaced = 1 << 40

// put notes on which node a task is charged, empty if that isn't known. If it runs there
// that is so; else only if the node has so much.
func (l *Ledger) put(t *task, node string, runs bool) {
	l.takeOff(t)
	// No fault: the task is charged in its queue all the same. A name that isn't UTF-8
	// would come back from a snapshot as another one.
	if node == "" || !utf8.ValidString(node) || len(t.onCards()) == 0 {
		return
	}
	p := l.sites[node]
	if p == nil {
		p = &site{node: node, charged: map[int32]int64{}}
	}
	if !runs && !p.hasRoom(t, l.source) {
		return
	}
	// Not before: takeOff deletes a site with its last task, so one that never had any
	// would stay.
	l.sites[node] = p
	p.tasks++
	t.site = p
	l.count(t, 1)
}

// onCards returns the charges of a task that are on cards. Outputs come behind these.
func (t *task) onCards() []book.Charge {
	n := len(t.Charges)
	for n > 0 && isOutput(t.Charges[n-1].Alts) {
		n--
	}
	return t.Charges[:n]
}

// hasRoom reports whether what a task is charged is allocatable beyond what is charged
// there. Items of a task share no card. More on one node than it has would be a mistake of
// the caller, which must not make the cluster larger.
func (p *site) hasRoom(t *task, source *discovery) bool {
	has := source.on(p.node).has
	return !slices.ContainsFunc(t.onCards(), func(c book.Charge) bool {
		return p.charged[c.Card]+min(c.Amount, mostPlaced) > has[c.Card]
	})
}

// takeOff forgets on which node a task is charged. What is allocatable there stays known to
// the discovery.
func (l *Ledger) takeOff(t *task) {
	p := t.site
	if p == nil {
		return
	}
	// While the task still has its site, which count looks for the cards in.
	l.count(t, -1)
	t.site = nil
	if p.tasks--; p.tasks == 0 {
		delete(l.sites, p.node)
	}
}

// count adds the charges of a task to its site, or takes them away, and notes which totals
// have changed. Limits are made of them by relimit.
func (l *Ledger) count(t *task, sign int64) {
	on := l.source.on(t.site.node)
	for _, c := range t.onCards() {
		has, was := on.has[c.Card], t.site.charged[c.Card]
		// Cut in the same way when it comes and when it goes, so that nothing is left over.
		is := was + sign*min(c.Amount, mostPlaced)
		t.site.charged[c.Card] = is
		if more := max(0, is-has) - max(0, was-has); more != 0 {
			l.lost[c.Card] += more
			// A gang may change a total many times. Its limits are made once, when the
			// change ends.
			if dim := int(c.Card); !slices.Contains(l.stale, dim) {
				l.stale = append(l.stale, dim)
			}
		}
	}
}

// lostCards adds up how much of each card is charged on devices that are no longer
// allocatable.
func (l *Ledger) lostCards() []int64 {
	lost := make([]int64, l.m.Len())
	for node, p := range l.sites {
		has := l.source.on(node).has
		for dim, charged := range p.charged {
			lost[dim] += max(0, charged-has[dim])
		}
	}
	return lost
}
