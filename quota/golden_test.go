package quota

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// golden is a ledger as its specification has it, slow and plain: it keeps only what was
// recorded - queues, jobs with their min and holds, their tasks with their charges, all by
// name - and works out every sum, limit and firm card from these records whenever it is
// asked. It shares no code with the ledger, only the types of questions and answers.
type golden struct {
	cfg    Config
	outs   []string // the outputs that it has, sorted
	dims   []string // cpu, memory, the outputs, and the cards
	total  map[string]int64
	known  map[string]bool     // cards
	nodes  map[string][]string // their cards, sorted
	seq    uint64
	queues map[string]*goldQueue
	jobs   map[string]*goldJob

	waiting map[string]*goldRequest // tasks that were pending in the last view
}

type goldQueue struct {
	name, parent string
	priority     int32
	state        State
	configured   bool              // something of its capability was
	capability   map[string]int64  // what it mentions
	denied       map[string]string // cards, with what is wrong
	guarantee    map[string]int64
	orphan       bool
}

// goldJob is a reservation, or the charges of a job without one.
type goldJob struct {
	id, queue string
	anyMix    bool
	reserved  bool // its min is known
	seen      bool
	seq       uint64
	items     []*goldItem // in the order of goldWant.compare
	tasks     []*goldTask // in commit order
}

// goldItem is a part of a min. cpu, memory and outputs are items as a single card is.
type goldItem struct {
	cards     []string
	min, unit int64
	hold      map[string]int64 // by card
}

type goldTask struct {
	id, job string
	seq     uint64
	state   taskState
	charges []*goldCharge
}

type goldCharge struct {
	cards           []string
	item            *goldItem // that it counts against; may be nil
	binds           bool      // without an item: binds the tasks of the job's key to its card
	card            string
	amount, covered int64
}

// goldRequest asks for a job's min or for a task.
type goldRequest struct {
	id, job, queue string // job: of a task
	anyMix         bool   // of a job
	items          []goldWant
	invalid        bool // nobody knows what is requested
}

type goldWant struct {
	cards        []string
	amount, unit int64
}

// compare puts cpu and memory first, then singles by name, multis by key, and outputs.
func (w goldWant) compare(other goldWant) int {
	kind := func(cards []string) int {
		switch {
		case goldPlain(cards[0]):
			return 0
		case goldOutput(cards[0]):
			return 3
		}
		return min(len(cards), 2)
	}
	return cmp.Or(
		cmp.Compare(kind(w.cards), kind(other.cards)),
		strings.Compare(goldKey(w.cards), goldKey(other.cards)),
		cmp.Compare(w.unit, other.unit))
}

// goldOutputs are the outputs that a ledger may have.
var goldOutputs = []string{"x", "y"}

func goldOutput(dim string) bool { return slices.Contains(goldOutputs, dim) }
func goldPlain(dim string) bool  { return dim == "cpu" || dim == "memory" }
func goldCard(dim string) bool   { return !goldOutput(dim) && !goldPlain(dim) }

func goldKey(cards []string) string { return strings.Join(cards, "|") }

func goldHas[V any](m map[string]V, key string) bool { _, has := m[key]; return has }

// goldPlus adds amounts that may be unlimited.
func goldPlus(a, b int64) int64 {
	if a == Unlimited || b == Unlimited {
		return Unlimited
	}
	return a + b
}

// cards lists the items that are cards, as they come.
func (r *goldRequest) cards() []goldWant {
	return slices.DeleteFunc(slices.Clone(r.items), func(want goldWant) bool { return !goldCard(want.cards[0]) })
}

// amount is what is requested of cpu, memory or an output.
func (r *goldRequest) amount(dim string) (sum int64) {
	for _, want := range r.items {
		if want.cards[0] == dim {
			sum += want.amount
		}
	}
	return sum
}

func newGolden(cfg Config, outs []string) *golden {
	return &golden{
		cfg: cfg, outs: outs, dims: slices.Concat([]string{"cpu", "memory"}, outs), known: map[string]bool{},
		queues: map[string]*goldQueue{}, jobs: map[string]*goldJob{}, waiting: map[string]*goldRequest{},
	}
}

// clone copies everything, so that what is tried can be forgotten.
func (g *golden) clone() *golden {
	c := *g
	c.queues, c.jobs, c.waiting = map[string]*goldQueue{}, map[string]*goldJob{}, maps.Clone(g.waiting)
	for name, q := range g.queues {
		own := *q
		c.queues[name] = &own
	}
	for id, j := range g.jobs {
		c.jobs[id] = j.clone()
	}
	return &c
}

func (j *goldJob) clone() *goldJob {
	c := *j
	c.items, c.tasks = nil, nil
	for _, it := range j.items {
		c.items = append(c.items, &goldItem{it.cards, it.min, it.unit, maps.Clone(it.hold)})
	}
	for _, t := range j.tasks {
		own := *t
		own.charges = nil
		for _, charge := range t.charges {
			copied := *charge
			if at := slices.Index(j.items, charge.item); at >= 0 {
				copied.item = c.items[at]
			}
			own.charges = append(own.charges, &copied)
		}
		c.tasks = append(c.tasks, &own)
	}
	return &c
}

// Records.

// tasks are all that are charged, by id.
func (g *golden) tasks() map[string]*goldTask {
	tasks := map[string]*goldTask{}
	for _, j := range g.jobs {
		for _, t := range j.tasks {
			tasks[t.id] = t
		}
	}
	return tasks
}

// in returns the record of a job if it is in the queue.
func (g *golden) in(queue, job string) *goldJob {
	if j := g.jobs[job]; j != nil && j.queue == queue {
		return j
	}
	return nil
}

func (it *goldItem) held() (sum int64) {
	for _, held := range it.hold {
		sum += held
	}
	return sum
}

// holds reports whether anything is held for a job.
func (j *goldJob) holds() bool {
	return slices.ContainsFunc(j.items, func(it *goldItem) bool { return it.held() > 0 })
}

// add changes what is held on a card.
func (it *goldItem) add(card string, amount int64) {
	if it.hold[card] += amount; it.hold[card] == 0 {
		delete(it.hold, card)
	}
}

func (it *goldItem) move(from, to string, amount int64) {
	it.add(from, -amount)
	it.add(to, amount)
}

// against lists the charges that count against an item, nil for those against none.
func (j *goldJob) against(it *goldItem) (charges []*goldCharge) {
	for _, t := range j.tasks {
		for _, c := range t.charges {
			if c.item == it {
				charges = append(charges, c)
			}
		}
	}
	return charges
}

// left is the part of an item's min that no charge covers.
func (j *goldJob) left(it *goldItem) int64 {
	left := it.min
	for _, c := range j.against(it) {
		left -= c.covered
	}
	return left
}

// min is what a job needs of cpu or memory, and what of it is held.
func (j *goldJob) min(dim string) (of goldPart) {
	for _, it := range j.items {
		if it.cards[0] == dim {
			of = goldPart{it.min, it.held()}
		}
	}
	return of
}

// charged is what a task is charged of cpu or memory, and what of it is covered.
func (t *goldTask) charged(dim string) (of goldPart) {
	for _, c := range t.charges {
		if c.card == dim {
			of = goldPart{c.amount, c.covered}
		}
	}
	return of
}

type goldPart struct{ amount, part int64 }

// cards are the cards that a task is charged.
func (t *goldTask) cards() (cards []string) {
	for _, c := range t.charges {
		if goldCard(c.card) {
			cards = append(cards, c.card)
		}
	}
	return cards
}

// spreads reports whether an item may be on several cards: a multi under AnyMix.
func (j *goldJob) spreads(cards []string) bool { return j.anyMix && len(cards) > 1 }

// firm is the card that the first charge of an item binds it to, if any.
func (j *goldJob) firm(it *goldItem) string {
	if charges := j.against(it); len(charges) > 0 && !j.spreads(it.cards) {
		return charges[0].card
	}
	return ""
}

// firmKey is the card that tasks of a key are bound to without a reservation.
func (j *goldJob) firmKey(cards []string) string {
	for _, c := range j.against(nil) {
		if c.binds && goldKey(c.cards) == goldKey(cards) {
			return c.card
		}
	}
	return ""
}

// Sums and limits.

type goldSum struct{ allocated, held, elastic int64 }

func (s goldSum) floor() int64 { return s.allocated - s.elastic + s.held }
func (s goldSum) full() int64  { return s.allocated + s.held }

// sum adds up what a job has in a dimension. Elastic is the uncovered part of the
// charges of a job whose min is known.
func (j *goldJob) sum(dim string) (s goldSum) {
	for _, it := range j.items {
		s.held += it.hold[dim]
	}
	for _, t := range j.tasks {
		for _, c := range t.charges {
			if c.card != dim {
				continue
			}
			if s.allocated += c.amount; j.reserved {
				s.elastic += c.amount - c.covered
			}
		}
	}
	return s
}

// levels are a queue and those above it, the lowest first.
func (g *golden) levels(queue string) (levels []*goldQueue) {
	for q := g.queues[queue]; q != nil; q = g.queues[q.parent] {
		levels = append(levels, q)
	}
	return levels
}

// below reports whether a queue is another one or below it.
func (g *golden) below(queue, other string) bool {
	for queue != "" && queue != other {
		queue = g.queues[queue].parent
	}
	return queue == other
}

// sum adds up what a queue and those below it have in a dimension.
func (g *golden) sum(queue, dim string) (s goldSum) {
	for _, j := range g.jobs {
		if g.below(j.queue, queue) {
			own := j.sum(dim)
			s.allocated, s.held, s.elastic = s.allocated+own.allocated, s.held+own.held, s.elastic+own.elastic
		}
	}
	return s
}

// holders counts the jobs for which anything is held in a queue or below it.
func (g *golden) holders(queue string) (n int) {
	for _, j := range g.jobs {
		if g.below(j.queue, queue) && j.holds() {
			n++
		}
	}
	return n
}

// overflows reports whether a sum is too large.
func (g *golden) overflows() bool { return g.reaches(1 << 53) }

// reaches reports whether some queue has as much in a dimension.
func (g *golden) reaches(amount int64) bool {
	for queue := range g.queues {
		if slices.ContainsFunc(g.dims, func(dim string) bool { return g.sum(queue, dim).full() >= amount }) {
			return true
		}
	}
	return false
}

// isLeaf reports whether a queue has no children but orphans.
func (g *golden) isLeaf(queue string) bool {
	for _, q := range g.queues {
		if q.parent == queue && !q.orphan {
			return false
		}
	}
	return true
}

// limit is the capability, or with EnforceGuarantee the realCapability.
func (g *golden) limit(queue, dim string) int64 {
	if g.cfg.EnforceGuarantee {
		return g.real(g.queues[queue], dim)
	}
	return g.capability(g.queues[queue], dim)
}

func (g *golden) capability(q *goldQueue, dim string) int64 {
	amount, mentioned := q.capability[dim]
	switch {
	case q.orphan:
		return 0
	case mentioned:
		return amount
	case goldHas(q.denied, dim):
		return 0
	case !g.isLeaf(q.name), goldPlain(dim) && g.cfg.MissingUnlimited, goldOutput(dim):
		return Unlimited
	}
	return 0
}

// real is min(capability, max(0, T - sum of guarantees) + guarantee).
func (g *golden) real(q *goldQueue, dim string) int64 {
	total := g.total[dim]
	if parent := g.queues[q.parent]; parent != nil {
		total = g.real(parent, dim)
	} else if goldOutput(dim) {
		total = Unlimited
	}
	for _, sibling := range g.queues {
		if sibling.parent == q.parent && !sibling.orphan && total != Unlimited {
			total -= sibling.guarantee[dim]
		}
	}
	left := max(0, total)
	if !q.orphan {
		left = goldPlus(left, q.guarantee[dim])
	}
	return min(g.capability(q, dim), left)
}

// over lists what is above its limit: all of it must be marked.
func (g *golden) over() (list []Headroom) {
	for _, queue := range slices.Sorted(maps.Keys(g.queues)) {
		for _, dim := range g.dims {
			limit, s := g.limit(queue, dim), g.sum(queue, dim)
			if used := max(s.allocated, s.floor()); limit != Unlimited && used > limit {
				list = append(list, Headroom{Resource: dim, Why: ReasonOverCapacity, Room: limit - used, Level: queue, Limit: limit})
			}
		}
	}
	return list
}

// Rooms.

// goldRoom is the largest amount that would be admitted.
type goldRoom struct {
	amount, limit int64
	level         string
	promised      bool // the promises to others are what limits it
	stuck         bool // what has to move is more than there is room for
}

// rooms returns the least room of the levels of a queue, the lowest level on ties. tests
// returns the largest amounts that pass the hard and the promise test of one level.
func (g *golden) rooms(queue, dim string, tests func(s goldSum, limit int64) (hard, promise int64)) (r goldRoom) {
	for i, q := range g.levels(queue) {
		limit := g.limit(q.name, dim)
		hard, promise := Unlimited, Unlimited
		if limit != Unlimited {
			hard, promise = tests(g.sum(q.name, dim), limit)
		}
		if room := min(hard, promise); i == 0 || room < r.amount {
			r = goldRoom{amount: room, limit: limit, level: q.name, promised: promise < hard}
		}
	}
	return r
}

// floorRoom is the room for a min: floor + min <= limit. less is taken out of the floor.
func (g *golden) floorRoom(queue, dim string, less int64) goldRoom {
	return g.rooms(queue, dim, func(s goldSum, limit int64) (int64, int64) {
		return limit - (s.floor() - less), Unlimited
	})
}

// chargeRoom is the room for a charge q of which c = min(q, held) is covered: allocated + q <=
// limit and full + (q - c) <= limit; c = q has no promise test.
func (g *golden) chargeRoom(queue, dim string, held int64) goldRoom {
	return g.rooms(queue, dim, func(s goldSum, limit int64) (hard, promise int64) {
		hard, promise = limit-s.allocated, limit-s.full()
		if held > 0 {
			promise = held + max(0, promise)
		}
		return hard, promise
	})
}

// moveRoom is the room for a charge q that an item's whole hold h follows: allocated + q <=
// limit and full + max(h, q) <= limit.
func (g *golden) moveRoom(queue, dim string, hold int64) goldRoom {
	r := g.rooms(queue, dim, func(s goldSum, limit int64) (hard, promise int64) {
		hard, promise = limit-s.allocated, limit-s.full()
		if hold > promise {
			promise = min(0, promise)
		}
		return hard, promise
	})
	s := g.sum(r.level, dim)
	r.stuck = r.limit != Unlimited && s.full() < r.limit && s.allocated+hold > r.limit
	return r
}

// itemRoom returns the room for an item of a task on a card. elsewhere: it is firm on
// another card.
func (g *golden) itemRoom(queue string, j *goldJob, want goldWant, it *goldItem, card string) (r goldRoom, elsewhere bool) {
	firm := ""
	if it != nil {
		firm = j.firm(it)
	} else if j != nil {
		firm = j.firmKey(want.cards)
	}
	switch {
	case firm != "" && firm != card:
		return goldRoom{level: queue, limit: g.limit(queue, card)}, true
	case it == nil:
		return g.chargeRoom(queue, card, 0), false
	case !j.spreads(it.cards) && it.held() > it.hold[card]:
		return g.moveRoom(queue, card, it.held()), false
	}
	return g.chargeRoom(queue, card, it.hold[card]), false
}

// alone returns the ledger as if nothing were held but for a job of a queue.
func (g *golden) alone(queue, job string) *golden {
	c := g.clone()
	for _, j := range c.jobs {
		for _, it := range j.items {
			if j != c.in(queue, job) {
				clear(it.hold)
			}
		}
	}
	return c
}

// Refusals.

func goldRefuse(a *Answer, r Refusal) bool {
	a.OK, a.Refusal = false, r
	return false
}

// goldReason is a refusal without amounts.
func goldReason(reason Reason, queue string) Refusal {
	return Refusal{Reason: reason, Queue: queue, Headroom: Headroom{Why: reason}}
}

// refuseAmount is the refusal of an amount.
func goldRefuseAmount(a *Answer, queue string, item int, cards []string, amount int64, r goldRoom, best string, why Reason) bool {
	f := Refusal{Reason: ReasonInsufficientScalarQuota, Queue: queue, Requested: amount, output: goldOutput(cards[0])}
	f.Headroom = Headroom{Resource: goldKey(cards), Why: why, Room: r.amount, Level: r.level, Limit: r.limit}
	switch dim := cards[0]; {
	case dim == "cpu":
		f.Reason = ReasonInsufficientCPUQuota
	case dim == "memory":
		f.Reason = ReasonInsufficientMemoryQuota
	case goldCard(dim):
		f.Item = item
	}
	if len(cards) > 1 {
		f.Best = best
	}
	return goldRefuse(a, f)
}

// lacking is why a card has no room at a level: that its quota lacks the card comes
// before anything else.
func (g *golden) lacking(level, card string, why Reason) Reason {
	q := g.queues[level]
	switch {
	case goldHas(q.capability, card), g.limit(level, card) != 0:
		return why
	case goldHas(q.denied, card):
		return ReasonUnreadableQuota
	}
	return ReasonNoQuota
}

// admits makes the checks of a queue: it exists, is a leaf, and it and all ancestors are open.
func (g *golden) admits(a *Answer, queue string) bool {
	if g.queues[queue] == nil {
		return goldRefuse(a, goldReason(ReasonUnknownQueue, queue))
	}
	if !g.isLeaf(queue) {
		return goldRefuse(a, goldReason(ReasonQueueNotLeaf, queue))
	}
	for _, q := range g.levels(queue) {
		if q.state != StateOpen {
			f := goldReason(ReasonQueueNotOpen, queue)
			f.Level = q.name
			return goldRefuse(a, f)
		}
	}
	return true
}

// considers makes the checks that come before amounts. It returns false if there is nothing
// more to check.
func (g *golden) considers(a *Answer, r *goldRequest) bool {
	switch {
	case !g.admits(a, r.queue):
		return false
	case r.invalid:
		return goldRefuse(a, goldReason(ReasonGetTaskRequestResourceFailed, r.queue))
	case len(r.items) == 0:
		return false
	case !g.cfg.MissingUnlimited && !g.queues[r.queue].configured:
		return goldRefuse(a, goldReason(ReasonEmptyQueueCapability, r.queue))
	}
	return true
}

// Enqueueable.

// enqueueable decides on a job, and returns its record as it would be.
func (g *golden) enqueueable(r *goldRequest) (a Answer, next *goldJob) {
	a = Answer{OK: true, Seq: g.seq}
	old := g.in(r.queue, r.id)
	next = g.drawn(r, old)
	if g.considers(&a, r) {
		for i := range next.items {
			if !g.fill(&a, old, next, i) {
				break
			}
		}
	}
	return a, next
}

// drawn returns the record of a job with a new min, of which nothing is held yet, and its
// charges drawn against it in commit order.
func (g *golden) drawn(r *goldRequest, old *goldJob) *goldJob {
	next := &goldJob{id: r.id, queue: r.queue}
	if old != nil {
		next = old.clone()
	}
	if !next.reserved {
		next.seq = g.seq + 1
	}
	tasks := next.tasks
	next.anyMix, next.reserved, next.items, next.tasks = r.anyMix, true, nil, nil
	for _, want := range slices.SortedFunc(slices.Values(r.items), goldWant.compare) {
		next.items = append(next.items, &goldItem{want.cards, want.amount, want.unit, map[string]int64{}})
	}
	for _, t := range tasks {
		var wants []goldWant
		for _, c := range t.charges {
			wants = append(wants, goldWant{cards: c.cards, amount: c.amount})
		}
		for i, it := range next.matches(wants) {
			c := t.charges[i]
			*c = goldCharge{cards: c.cards, card: c.card, amount: c.amount}
			if it == nil {
				firm := next.firmKey(c.cards)
				c.binds = !next.anyMix && len(c.cards) > 1 && (firm == "" || firm == c.card)
			} else if firm := next.firm(it); slices.Contains(it.cards, c.card) && (firm == "" || firm == c.card) {
				c.item, c.covered = it, min(c.amount, next.left(it))
			}
		}
		next.tasks = append(next.tasks, t)
	}
	return next
}

// fill finds the holds of an item, left to right, on top of those of the items before it. What
// the job itself has in the floor is taken out of the test.
func (g *golden) fill(a *Answer, old, next *goldJob, index int) bool {
	it := next.items[index]
	spreads, firm, left := next.spreads(it.cards), next.firm(it), next.left(it)
	room := func(g *golden, card string) goldRoom {
		var less int64
		if old != nil {
			own := old.sum(card)
			less = own.floor()
		}
		for _, before := range next.items[:index] {
			less -= before.hold[card] + next.covered(before, card)
		}
		return g.floorRoom(next.queue, card, less)
	}
	var best, sum goldRoom // of the roomiest alternative, and what whole units add up to
	var options []Headroom
	bestCard, bestWhy, fits := "", Reason(""), true
	at := slices.IndexFunc(next.items, func(it *goldItem) bool { return goldCard(it.cards[0]) })
	sumAlone, fitsAlone := int64(0), true // if nothing were held for others
	for _, card := range it.cards {
		if firm != "" && firm != card {
			continue
		}
		r, covered := room(g, card), next.covered(it, card)
		if !spreads && it.min <= r.amount {
			it.add(card, left)
			return true
		}
		free := room(g.alone(next.queue, next.id), card)
		whole, wholeAlone := goldWhole(r.amount, covered, it.unit), goldWhole(free.amount, covered, it.unit)
		why := g.lacking(r.level, card, ReasonOverCapacity)
		if why == ReasonOverCapacity && (!spreads && it.min <= free.amount || spreads && min(left+covered, wholeAlone) > whole) {
			why = ReasonPromised
		}
		if goldCard(card) {
			options = append(options, Headroom{Item: index - at, Resource: card, Why: why, Room: r.amount, Level: r.level, Limit: r.limit})
		}
		if best.level == "" || r.amount > best.amount {
			best, bestCard, bestWhy = r, card, why
		}
		if spreads {
			sum.amount, sum.limit, fits = goldPlus(sum.amount, whole), goldPlus(sum.limit, r.limit), fits && covered <= max(0, r.amount)
			sumAlone, fitsAlone = goldPlus(sumAlone, wholeAlone), fitsAlone && covered <= max(0, free.amount)
			more := max(0, min(left, whole-covered))
			it.add(card, more)
			left -= more
		}
	}
	if spreads && left == 0 && fits {
		return true
	}
	if spreads {
		has := func(why Reason) bool {
			return slices.ContainsFunc(options, func(o Headroom) bool { return o.Why == why })
		}
		best.amount, best.limit, bestCard = sum.amount, sum.limit, ""
		switch lack := has(ReasonOverCapacity) || has(ReasonPromised); {
		case lack && sumAlone >= it.min && fitsAlone:
			bestWhy = ReasonPromised
		case lack:
			bestWhy = ReasonOverCapacity
		case has(ReasonUnreadableQuota):
			bestWhy = ReasonUnreadableQuota
		default:
			bestWhy = ReasonNoQuota
		}
	}
	a.Options = options
	return goldRefuseAmount(a, next.queue, index-at, it.cards, it.min, best, bestCard, bestWhy)
}

// covered is what charges on a card cover of an item.
func (j *goldJob) covered(it *goldItem, card string) (sum int64) {
	for _, c := range j.against(it) {
		if c.card == card {
			sum += c.covered
		}
	}
	return sum
}

// goldWhole is what can be had of a room: what charges have, and whole units.
func goldWhole(room, covered, unit int64) int64 {
	if room == Unlimited {
		return Unlimited
	}
	return max(0, min(room, covered)) + max(0, room-covered)/unit*unit
}

// Allocatable.

// match returns the item that a task's counts against, of those in items: the one with its
// key, same unit first, else the one with the fewest alternatives that contain all of its
// own; items with a hold go first, ties: smaller key; a firm one only if the task lists the
// firm card.
func (j *goldJob) match(want goldWant, items []*goldItem) *goldItem {
	key := goldKey(want.cards)
	items = slices.DeleteFunc(slices.Clone(items), func(it *goldItem) bool {
		firm := j.firm(it)
		return goldKey(it.cards) != key &&
			(firm != "" && !slices.Contains(want.cards, firm) ||
				slices.ContainsFunc(want.cards, func(card string) bool { return !slices.Contains(it.cards, card) }))
	})
	if len(items) == 0 {
		return nil
	}
	last := func(is bool) int { return map[bool]int{true: 1}[is] }
	rank := func(it *goldItem) []int {
		same := goldKey(it.cards) == key
		return []int{last(!same), last(same && it.unit != want.amount), last(j.left(it) == 0), len(it.cards)}
	}
	return slices.MinFunc(items, func(a, b *goldItem) int {
		return cmp.Or(slices.Compare(rank(a), rank(b)), strings.Compare(goldKey(a.cards), goldKey(b.cards)), cmp.Compare(a.unit, b.unit))
	})
}

// matches returns the item of every want of one task: different ones.
func (j *goldJob) matches(wants []goldWant) []*goldItem {
	matched := make([]*goldItem, len(wants))
	if j == nil {
		return matched
	}
	free := slices.Clone(j.items)
	for i, want := range wants {
		matched[i] = j.match(want, free)
		free = slices.DeleteFunc(free, func(it *goldItem) bool { return it == matched[i] })
	}
	return matched
}

// allocatable decides on a task. With cards not nil only these count. It returns for each
// item what it counts against and the first card with room.
func (g *golden) allocatable(r *goldRequest, cards []string) (a Answer, items []*goldItem, on []string) {
	a = Answer{OK: true, Seq: g.seq}
	if !g.considers(&a, r) {
		return a, nil, nil
	}
	j := g.in(r.queue, r.job)
	items = j.matches(r.items)
	index := 0 // of cards
	for i, want := range r.items {
		on = append(on, g.choose(&a, r.queue, j, index, want, items[i], cards))
		if goldCard(want.cards[0]) {
			index++
		}
	}
	return a, items, on
}

// choose lists the alternatives of an item of a task, and returns the first with room.
func (g *golden) choose(a *Answer, queue string, j *goldJob, index int, want goldWant, it *goldItem, cards []string) (on string) {
	var best goldRoom
	bestCard, bestWhy := "", Reason("")
	for _, card := range want.cards {
		option := Headroom{Item: index, Resource: card, Why: ReasonNotOnNode}
		if cards == nil || slices.Contains(cards, card) || !goldCard(card) {
			r, elsewhere := g.itemRoom(queue, j, want, it, card)
			option = Headroom{Item: index, Resource: card, Room: r.amount, Level: r.level, Limit: r.limit}
			switch {
			case elsewhere:
				option.Why = ReasonFirmElsewhere
			case want.amount <= r.amount:
				on = cmp.Or(on, card)
			case r.stuck:
				option.Why = g.lacking(r.level, card, ReasonHoldTooLarge)
			case r.promised:
				option.Why = g.lacking(r.level, card, ReasonPromised)
			default:
				option.Why = g.lacking(r.level, card, ReasonOverCapacity)
			}
			// Another card than the job's comes last.
			if best.level == "" || !elsewhere && (bestWhy == ReasonFirmElsewhere || r.amount > best.amount) {
				best, bestCard, bestWhy = r, card, option.Why
			}
		}
		if goldCard(card) {
			a.Options = append(a.Options, option)
		}
	}
	switch {
	case on != "" || !a.OK:
	case best.level == "":
		goldRefuse(a, Refusal{Reason: ReasonGetTaskRequestResourceFailed, Queue: queue, Headroom: Headroom{Item: index, Resource: goldKey(want.cards), Why: ReasonNotOnNode}})
	default:
		goldRefuseAmount(a, queue, index, want.cards, want.amount, best, bestCard, bestWhy)
	}
	return on
}

// Operations. Each returns what the ledger's returns.

// reserve is Reserve, and with resize Resize.
func (g *golden) reserve(r *goldRequest, resize bool) (a Answer, err error) {
	j := g.jobs[r.id]
	switch {
	case j != nil && j.queue != r.queue:
		return Answer{Seq: g.seq}, ErrConflict
	case j != nil && j.reserved && j.asks(r):
		return Answer{OK: true, Repeat: true, Seq: g.seq}, nil
	case j != nil && j.reserved && !resize:
		return Answer{Seq: g.seq}, ErrReserved
	}
	a, next := g.enqueueable(r)
	if !a.OK {
		return a, nil
	}
	tried := g.clone()
	if tried.jobs[r.id] = next; tried.overflows() {
		return Answer{Seq: g.seq}, ErrOverflow
	}
	g.jobs = tried.jobs
	a.Seq = g.seq + 1
	return a, nil
}

// asks reports whether a request is for what the job has.
func (j *goldJob) asks(r *goldRequest) bool {
	has := slices.DeleteFunc(j.request().items, func(want goldWant) bool { return want.amount == 0 })
	return !r.invalid && j.anyMix == r.anyMix &&
		slices.EqualFunc(has, slices.SortedFunc(slices.Values(r.items), goldWant.compare), func(a, b goldWant) bool { return a.compare(b) == 0 && a.amount == b.amount })
}

// request asks for the min that a job has.
func (j *goldJob) request() *goldRequest {
	r := &goldRequest{id: j.id, queue: j.queue, anyMix: j.anyMix}
	for _, it := range j.items {
		r.items = append(r.items, goldWant{it.cards, it.min, it.unit})
	}
	return r
}

// commit charges a task on some cards, nil for all.
func (g *golden) commit(r *goldRequest, cards []string) (a Answer, err error) {
	if t := g.tasks()[r.id]; t != nil {
		if !g.charges(t, r) || cards != nil && slices.ContainsFunc(t.cards(), func(card string) bool { return !slices.Contains(cards, card) }) {
			return Answer{Seq: g.seq}, ErrConflict
		}
		return Answer{OK: true, Repeat: true, Seq: g.seq, Charged: t.cards()}, nil
	}
	if j := g.jobs[r.job]; j != nil && j.queue != r.queue {
		return Answer{Seq: g.seq}, ErrConflict
	}
	tried := g.clone()
	a, items, on := tried.allocatable(r, cards)
	if !a.OK {
		return a, nil
	}
	j := tried.made(r.job, r.queue)
	t := &goldTask{id: r.id, job: r.job, seq: g.seq + 1, state: taskCommitted}
	for i, want := range r.items {
		t.charges = append(t.charges, j.charge(want, items[i], on[i]))
	}
	if j.tasks = append(j.tasks, t); tried.overflows() {
		return Answer{Seq: g.seq}, ErrOverflow
	}
	g.jobs = tried.jobs
	delete(g.waiting, r.id)
	a.Seq, a.Charged = g.seq+1, t.cards()
	return a, nil
}

// made returns the record of a job, a new one if there is none.
func (g *golden) made(job, queue string) *goldJob {
	if g.jobs[job] == nil {
		g.jobs[job] = &goldJob{id: job, queue: queue, anyMix: g.cfg.AnyMix}
	}
	return g.jobs[job]
}

// charges reports whether a task is charged what a request asks for.
func (g *golden) charges(t *goldTask, r *goldRequest) bool {
	return !r.invalid && t.job == r.job && g.jobs[t.job].queue == r.queue &&
		slices.EqualFunc(t.charges, r.items, func(c *goldCharge, want goldWant) bool {
			return goldKey(c.cards) == goldKey(want.cards) && c.amount == want.amount
		})
}

// charge charges an item of a task, and moves holds to its card: under AnyMix what it lacks,
// from the rightmost alternative that holds, and else the whole hold.
func (j *goldJob) charge(want goldWant, it *goldItem, card string) *goldCharge {
	c := &goldCharge{cards: want.cards, item: it, card: card, amount: want.amount}
	if it == nil {
		c.binds = !j.anyMix && len(want.cards) > 1
		return c
	}
	for _, from := range slices.Backward(it.cards) {
		amount := it.hold[from]
		if j.spreads(it.cards) {
			amount = min(amount, max(0, want.amount-it.hold[card]))
		}
		if from != card {
			it.move(from, card, amount)
		}
	}
	c.covered = min(want.amount, it.hold[card])
	it.add(card, -c.covered)
	return c
}

// commitAll charges a gang; nothing of it stays if it fails.
func (g *golden) commitAll(tasks []*goldRequest) (a Answer, err error) {
	seen := map[string]bool{}
	for _, r := range tasks {
		if seen[r.id] {
			return Answer{Seq: g.seq}, ErrConflict
		}
		seen[r.id] = true
	}
	tried := g.clone()
	charged := make([][]string, len(tasks))
	repeats := 0
	for _, group := range tried.together(tasks) {
		var only []string
		if len(group) > 1 {
			only = tried.firstForAll(tasks, group)
		}
		for _, i := range group {
			cards := only
			if tried.tasks()[tasks[i].id] != nil {
				cards = nil
			}
			a, err = tried.commit(tasks[i], cards)
			if err == nil && !a.OK {
				if only != nil {
					a = g.notTogether(a, tried, tasks[i])
				}
				a.Task = tasks[i].id
			}
			if err != nil || !a.OK {
				return a, err
			}
			if a.Repeat {
				repeats++
			}
			charged[i] = a.Charged
		}
	}
	a = Answer{OK: true, Repeat: repeats == len(tasks), Seq: g.seq, Charged: slices.Concat(charged...)}
	if !a.Repeat {
		a.Seq++
	}
	g.jobs, g.waiting = tried.jobs, tried.waiting
	return a, nil
}

// notTogether is the refusal of a task that had to be where the rest of its gang is: the one
// for all its alternatives, if none of them has room with what is tried charged. A card
// that only the gang excludes has the room that it has for the task alone.
func (g *golden) notTogether(a Answer, tried *golden, r *goldRequest) Answer {
	if all, _, _ := tried.allocatable(r, nil); !all.OK {
		a = all
	}
	alone, _, _ := g.allocatable(r, nil)
	excluded := func(why Reason) bool { return why == ReasonFirmElsewhere || why == ReasonNotOnNode }
	for i := range a.Options {
		o := &a.Options[i]
		if !excluded(o.Why) || excluded(alone.Options[i].Why) {
			continue
		}
		*o = alone.Options[i]
		o.Why = ReasonNotTogether
		f := &a.Refusal
		if f.Reason != ReasonInsufficientScalarQuota || f.Resource != goldKey(r.cards()[o.Item].cards) {
			continue
		}
		if excluded(f.Why) || f.Why == ReasonNotTogether && o.Room > f.Room {
			f.Why, f.Room, f.Level, f.Limit = o.Why, o.Room, o.Level, o.Limit
			if f.Best != "" {
				f.Best = o.Resource
			}
		}
	}
	return a
}

// together orders the tasks of a gang: tasks with one alternative first, then the rest, and
// under SameCard tasks of one job and key together.
func (g *golden) together(tasks []*goldRequest) (groups [][]int) {
	var rest [][]int
	group := map[string]int{}
	for i, r := range tasks {
		anyMix, key := g.cfg.AnyMix, r.job
		if j := g.jobs[r.job]; j != nil {
			anyMix = j.anyMix
		}
		for _, want := range r.items {
			if len(want.cards) > 1 {
				key += " " + goldKey(want.cards)
			}
		}
		at, ok := group[key]
		switch {
		case r.invalid || key == r.job:
			groups = append(groups, []int{i})
		case ok && !anyMix:
			rest[at] = append(rest[at], i)
		default:
			group[key] = len(rest)
			rest = append(rest, []int{i})
		}
	}
	return append(groups, rest...)
}

// firstForAll returns the cards that a group of tasks may use: for each of their keys the
// first that has room for all of them, or else for the most.
func (g *golden) firstForAll(tasks []*goldRequest, group []int) (cards []string) {
	for _, want := range tasks[group[0]].items {
		best, most := "", -1
		for _, card := range want.cards {
			if n := g.takes(tasks, group, goldKey(want.cards), card); n > most {
				best, most = card, n
			}
		}
		cards = append(cards, best)
	}
	for _, i := range group {
		for _, want := range tasks[i].items {
			if len(want.cards) == 1 {
				cards = append(cards, want.cards...)
			}
		}
	}
	return cards
}

// takes counts how many tasks of a group, in order, a card has room for in the queue of their
// job, whatever queue each of them says: in another one it is a conflict.
func (g *golden) takes(tasks []*goldRequest, group []int, key, card string) (n int) {
	first := tasks[group[0]]
	if g = g.clone(); g.queues[first.queue] == nil {
		return 0
	}
	j := g.made(first.job, first.queue)
	for _, i := range group {
		r := tasks[i]
		if g.tasks()[r.id] != nil {
			n++
			continue
		}
		t, matched := &goldTask{id: r.id, job: r.job}, j.matches(r.items)
		for k, want := range r.items {
			if goldKey(want.cards) != key {
				continue
			}
			if g.choose(&Answer{OK: true}, j.queue, j, k, want, matched[k], []string{card}) == "" {
				return n
			}
			t.charges = append(t.charges, j.charge(want, matched[k], card))
		}
		j.tasks = append(j.tasks, t)
		n++
	}
	return n
}

// giveBack is Rollback, and with ended Release.
func (g *golden) giveBack(ended bool, ids []string) (known, changed bool) {
	known = true
	for _, id := range ids {
		t := g.tasks()[id]
		switch {
		case t != nil:
			g.uncharge(t, ended)
			changed = true
		case ended && g.waiting[id] != nil:
			delete(g.waiting, id)
			changed = true
		default:
			known = false
		}
	}
	g.prune()
	return known, changed
}

// uncharge takes a charge away. Of one that ended the min shrinks by the covered part; else
// that is held again, after later charges of the same item on the same card have drawn on it.
func (g *golden) uncharge(t *goldTask, ended bool) {
	j := g.jobs[t.job]
	at := slices.Index(j.tasks, t)
	for _, c := range t.charges {
		if c.item == nil {
			continue
		}
		if ended {
			c.item.min -= c.covered
			continue
		}
		free := c.covered
		for _, later := range j.tasks[at+1:] {
			for _, e := range later.charges {
				if e.item == c.item && e.card == c.card {
					drawn := min(free, e.amount-e.covered)
					e.covered += drawn
					free -= drawn
				}
			}
		}
		c.item.add(c.card, free)
	}
	if j.tasks = slices.Delete(j.tasks, at, at+1); !j.reserved && len(j.tasks) == 0 {
		delete(g.jobs, j.id)
	}
}

// prune removes orphans without jobs. What is below one comes below the queue above.
func (g *golden) prune() {
	for name, q := range g.queues {
		used := !q.orphan
		for _, j := range g.jobs {
			used = used || j.queue == name
		}
		if used {
			continue
		}
		for _, child := range g.queues {
			if child.parent == name {
				child.parent = q.parent
			}
		}
		delete(g.queues, name)
	}
}

func (g *golden) releaseJob(id string) bool {
	known := g.jobs[id] != nil
	delete(g.jobs, id)
	g.prune()
	return known
}

// expire takes the holds of jobs that were reserved before seq and never seen. A job that
// has neither holds nor charges goes, one with charges and no holds has nothing to lose.
func (g *golden) expire(seq uint64) (expired []string) {
	for _, id := range slices.Sorted(maps.Keys(g.jobs)) {
		j := g.jobs[id]
		if !j.reserved || j.seen || j.seq >= seq || !j.holds() && len(j.tasks) > 0 {
			continue
		}
		expired = append(expired, id)
		for _, it := range j.items {
			it.min -= it.held()
			clear(it.hold)
		}
		if len(j.tasks) == 0 {
			delete(g.jobs, id)
		}
	}
	g.prune()
	return expired
}

// setQueues replaces the queues. One that is missing and has jobs becomes an orphan, below the
// nearest former ancestor that is still there. It fails if a sum would reach 2^53.
func (g *golden) setQueues(queues []goldQueue) (orphans []string, err error) {
	tried := g.clone()
	tried.queues = map[string]*goldQueue{}
	for _, q := range queues {
		tried.queues[q.name] = &q
	}
	for _, j := range g.jobs {
		if old := g.queues[j.queue]; tried.queues[j.queue] == nil {
			orphans = append(orphans, j.queue)
			tried.queues[j.queue] = &goldQueue{name: j.queue, parent: old.parent, priority: old.priority, state: StateClosed, configured: true, orphan: true}
		}
	}
	for _, name := range orphans {
		q := tried.queues[name]
		for q.parent != "" && tried.queues[q.parent] == nil {
			q.parent = g.queues[q.parent].parent
		}
	}
	if tried.overflows() {
		return nil, ErrOverflow
	}
	g.queues = tried.queues
	slices.Sort(orphans)
	return orphans, nil
}

// Snapshot.

type goldObject = map[string]any

// goldFlag notes what is there only if it is set.
func goldFlag(o goldObject, name string, set bool) goldObject {
	if set {
		o[name] = true
	}
	return o
}

var goldMix = map[bool]string{false: "same-card", true: "any-mix"}

// snapshot is the state as canonical JSON: package json sorts keys.
func (g *golden) snapshot() []byte {
	config := goldObject{
		"keys": goldObject{
			"deserved": "", "guarantee": "", "name": "volcano.sh/card.name",
			"quota": "volcano.sh/card.quota", "request": "volcano.sh/card.request",
		},
		"missing": map[bool]string{false: "denies", true: "unlimited"}[g.cfg.MissingUnlimited], "mix": goldMix[g.cfg.AnyMix],
		"parser": "strict", "unnamed": "as-any",
	}
	goldFlag(config, "countReleasing", g.cfg.CountReleasing)
	goldFlag(config, "enforceGuarantee", g.cfg.EnforceGuarantee)
	goldFlag(config, "unlimitedCPUMemory", g.cfg.UnlimitedCPUMemory)

	known := []goldObject{}
	for _, card := range slices.Sorted(maps.Keys(g.known)) {
		known = append(known, goldObject{"card": card, "resources": []string{"nvidia.com/gpu"}})
	}
	queues, jobs, tasks := []goldObject{}, []goldObject{}, []goldObject{}
	for _, name := range slices.Sorted(maps.Keys(g.queues)) {
		queues = append(queues, g.queues[name].snapshot())
	}
	for _, id := range slices.Sorted(maps.Keys(g.jobs)) {
		j := g.jobs[id]
		object, items := j.snapshot()
		jobs = append(jobs, object)
		for order, t := range j.tasks {
			tasks = append(tasks, t.snapshot(j, items, order))
		}
	}
	for _, r := range g.waiting {
		t, in := &goldTask{id: r.id, job: r.job}, &goldJob{queue: r.queue}
		for _, want := range r.items {
			c := &goldCharge{cards: want.cards, amount: want.amount}
			if goldPlain(want.cards[0]) {
				c.card = want.cards[0]
			}
			t.charges = append(t.charges, c)
		}
		tasks = append(tasks, t.snapshot(in, nil, 0))
	}
	slices.SortFunc(tasks, func(a, b goldObject) int { return strings.Compare(a["id"].(string), b["id"].(string)) })
	doc := goldObject{
		"format": "resvec.quota/v1", "seq": g.seq, "config": config, "known": known, "queues": queues, "jobs": jobs, "tasks": tasks,
	}
	if len(g.outs) > 0 {
		doc["outputs"] = g.outs
	}
	data, err := json.Marshal(doc)
	if err != nil {
		panic(err)
	}
	return data
}

func (q *goldQueue) snapshot() goldObject {
	amounts := func(of map[string]int64, zero bool) goldObject {
		o := goldObject{}
		for dim, amount := range of {
			if goldOutput(dim) {
				dim = "output:" + dim
			} else if goldCard(dim) {
				dim = "card:" + dim
			}
			if amount == Unlimited {
				o[dim] = "unlimited"
			} else if zero || amount != 0 {
				o[dim] = amount
			}
		}
		return o
	}
	o := goldObject{
		"name": q.name, "parent": q.parent, "priority": q.priority, "state": strings.ToLower(string(q.state)),
		"capability": amounts(q.capability, true), "deserved": goldObject{}, "guarantee": amounts(q.guarantee, false),
	}
	denied := goldObject{}
	for card, text := range q.denied {
		denied["card:"+card] = text
	}
	if len(denied) > 0 {
		o["denied"] = denied
	}
	return goldFlag(o, "orphan", q.orphan)
}

// snapshot also returns what charges call the job's items and the keys that bind.
func (j *goldJob) snapshot() (o goldObject, names map[any]int) {
	items, names := []goldObject{}, map[any]int{}
	for _, it := range j.items {
		if !goldPlain(it.cards[0]) {
			names[it] = len(items)
			o := goldObject{"holds": it.hold, "key": goldKey(it.cards), "min": it.min, "unit": it.unit}
			items = append(items, goldFlag(o, "output", goldOutput(it.cards[0])))
		}
	}
	binding := map[string]bool{}
	for _, c := range j.against(nil) {
		if c.binds {
			binding[goldKey(c.cards)] = true
		}
	}
	for _, key := range slices.Sorted(maps.Keys(binding)) {
		names[key] = len(items)
		items = append(items, goldObject{"holds": goldObject{}, "implicit": true, "key": key, "min": 0, "unit": 0})
	}
	o = goldObject{
		"id": j.id, "items": items, "policy": goldMix[j.anyMix], "queue": j.queue, "seq": j.seq,
		"min": goldObject{"cpu": j.min("cpu").amount, "memory": j.min("memory").amount},
	}
	return goldFlag(goldFlag(o, "reserved", j.reserved), "seen", j.seen), names
}

func (t *goldTask) snapshot(j *goldJob, items map[any]int, order int) goldObject {
	charges := []goldObject{}
	for _, c := range t.charges {
		if goldPlain(c.cards[0]) {
			continue
		}
		o := goldObject{"card": c.card, "covered": c.covered, "key": goldKey(c.cards), "milli": c.amount}
		if c.item != nil {
			o["item"] = items[c.item]
		} else if c.binds {
			o["item"] = items[goldKey(c.cards)]
		}
		charges = append(charges, goldFlag(o, "output", goldOutput(c.cards[0])))
	}
	cpu, memory := t.charged("cpu"), t.charged("memory")
	return goldObject{
		"id": t.id, "job": t.job, "queue": j.queue, "seq": t.seq, "order": order, "charges": charges,
		"cpu": cpu.amount, "memory": memory.amount, "covered": goldObject{"cpu": cpu.part, "memory": memory.part},
		"state": []string{"pending", "committed", "confirmed"}[t.state],
	}
}
