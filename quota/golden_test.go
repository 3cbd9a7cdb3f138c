package quota

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// golden is a ledger as its specification has it, slow and plain: it keeps only what was
// recorded - queues, jobs with their min and holds, their tasks with their charges, all by
// name - and works out every sum, limit, room and firm card from these records whenever it is
// asked. It shares no code with the ledger, only the types of questions and answers. Numbers
// in comments are sections of the specification.
type golden struct {
	cfg    Config
	cards  []string // that are counted
	outs   []string // the outputs that it has, sorted
	total  map[string]int64
	known  map[string]bool             // cards
	nodes  map[string]map[string]int64 // what is allocatable of each card
	seq    uint64
	queues map[string]*goldQueue
	jobs   map[string]*goldJob

	waiting map[string]*goldRequest // tasks that were pending in the last view
}

// dims are what is counted.
func (g *golden) dims() []string { return slices.Concat([]string{"cpu", "memory"}, g.cards, g.outs) }

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
	items     []goldItem // in the order of goldWant.compare
	tasks     []goldTask // in commit order
}

// goldItem is a part of a min. cpu, memory and outputs are items as a single card is.
type goldItem struct {
	goldWant
	hold map[string]int64 // by card
}

type goldTask struct {
	id      string
	node    string // that has or had the cards; empty: not known
	seq     uint64
	state   taskState
	charges []goldCharge
}

type goldCharge struct {
	goldWant
	item    int // of the job, that it counts against, or one of these:
	card    string
	covered int64
}

const (
	goldNoItem = -1 - iota // it counts against none
	goldBinds              // against none, and it binds the tasks of the job's key to its card
)

// goldRequest asks for a job's min or for a task.
type goldRequest struct {
	id, job, queue string // job: of a task
	anyMix         bool   // of a job
	items          []goldWant
	invalid        bool   // nobody knows what is requested
	node           string // that a task is bound to
}

type goldWant struct {
	cards        []string
	amount, unit int64
}

// compare puts cpu and memory first, then singles by name, multis by key, and outputs.
func (w goldWant) compare(other goldWant) int {
	kind := func(w goldWant) int {
		switch {
		case goldPlain(w.cards[0]):
			return 0
		case goldOutput(w.cards[0]):
			return 3
		}
		return min(len(w.cards), 2)
	}
	return cmp.Or(cmp.Compare(kind(w), kind(other)), slices.Compare(w.cards, other.cards), cmp.Compare(w.unit, other.unit))
}

// same reports whether the cards are the same, in the same order.
func (w goldWant) same(other goldWant) bool { return slices.Equal(w.cards, other.cards) }

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

// counted are the items but cpu and memory.
func (r *goldRequest) counted() []goldWant {
	return slices.DeleteFunc(slices.Clone(r.items), func(want goldWant) bool { return goldPlain(want.cards[0]) })
}

// cards are the items that are cards.
func (r *goldRequest) cards() []goldWant {
	return slices.DeleteFunc(r.counted(), func(want goldWant) bool { return goldOutput(want.cards[0]) })
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
	return &golden{cfg: cfg, outs: outs, known: map[string]bool{}, queues: map[string]*goldQueue{}, jobs: map[string]*goldJob{}, waiting: map[string]*goldRequest{}}
}

// clone copies the ledger, so that what is tried can be forgotten.
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

// Records: 1, 7.

// tasks are the ids of all that are charged.
func (g *golden) tasks() (ids []string) {
	for _, j := range g.jobs {
		for _, t := range j.tasks {
			ids = append(ids, t.id)
		}
	}
	slices.Sort(ids)
	return ids
}

// in returns the record of a job if it is in the queue.
func (g *golden) in(queue, job string) *goldJob {
	if j := g.jobs[job]; j != nil && j.queue == queue {
		return j
	}
	return nil
}

// task returns a charged task and its job.
func (g *golden) task(id string) (*goldJob, *goldTask) {
	for _, j := range g.jobs {
		for at := range j.tasks {
			if j.tasks[at].id == id {
				return j, &j.tasks[at]
			}
		}
	}
	return nil, nil
}

// record returns the record of a job, a new one if there is none.
func (g *golden) record(job, queue string) *goldJob {
	if j := g.jobs[job]; j != nil {
		return j
	}
	return &goldJob{id: job, queue: queue, anyMix: g.cfg.AnyMix}
}

// put keeps the record of a job. One without min and tasks is none.
func (g *golden) put(j *goldJob) {
	if g.jobs[j.id] = j; !j.reserved && len(j.tasks) == 0 {
		delete(g.jobs, j.id)
	}
}

func (j *goldJob) clone() *goldJob {
	c := *j
	c.items, c.tasks = slices.Clone(c.items), slices.Clone(c.tasks)
	for i := range c.items {
		c.items[i].hold = maps.Clone(c.items[i].hold)
	}
	for i := range c.tasks {
		c.tasks[i].charges = slices.Clone(c.tasks[i].charges)
	}
	return &c
}

func (it *goldItem) held() (sum int64) {
	for _, held := range it.hold {
		sum += held
	}
	return sum
}

// holds reports whether anything is held for a job.
func (j *goldJob) holds() bool {
	return slices.ContainsFunc(j.items, func(it goldItem) bool { return it.held() > 0 })
}

// add changes what is held on a card.
func (it *goldItem) add(card string, amount int64) {
	if it.hold[card] += amount; it.hold[card] == 0 {
		delete(it.hold, card)
	}
}

// charges are those of all tasks, in commit order; nil has none.
func (j *goldJob) charges(yield func(*goldCharge) bool) {
	if j == nil {
		return
	}
	for _, t := range j.tasks {
		for i := range t.charges {
			if !yield(&t.charges[i]) {
				return
			}
		}
	}
}

// covered is what charges on a card cover of an item, "": on any.
func (j *goldJob) covered(item int, card string) (sum int64) {
	for c := range j.charges {
		if c.item == item && (card == "" || card == c.card) {
			sum += c.covered
		}
	}
	return sum
}

// left is the part of an item's min that no charge covers.
func (j *goldJob) left(item int) int64 { return j.items[item].amount - j.covered(item, "") }

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
func (j *goldJob) spreads(want goldWant) bool { return j.anyMix && len(want.cards) > 1 }

// firm is the card that a want of a task is bound to, if any: by the first charge of
// its item or, without an item, by the first one that binds its key.
func (j *goldJob) firm(want goldWant, item int) string {
	if item >= 0 && j.spreads(j.items[item].goldWant) {
		return ""
	}
	for c := range j.charges {
		if item >= 0 && c.item == item || item < 0 && c.item == goldBinds && c.same(want) {
			return c.card
		}
	}
	return ""
}

// Sums and limits: 1, 9.

type goldSum struct{ allocated, held, elastic int64 }

func (s goldSum) floor() int64 { return s.allocated - s.elastic + s.held }
func (s goldSum) full() int64  { return s.allocated + s.held }

// sum adds up what a job has; nil has nothing. Elastic is the uncovered part of the charges of
// a job whose min is known.
func (j *goldJob) sum(dim string) (s goldSum) {
	if j == nil {
		return s
	}
	for _, it := range j.items {
		s.held += it.hold[dim]
	}
	for c := range j.charges {
		if c.card == dim {
			s.allocated += c.amount
			if j.reserved {
				s.elastic += c.amount - c.covered
			}
		}
	}
	return s
}

// under lists the jobs of a queue and of those below it.
func (g *golden) under(queue string) (jobs []*goldJob) {
	for _, j := range g.jobs {
		if slices.Contains(g.levels(j.queue), g.queues[queue]) {
			jobs = append(jobs, j)
		}
	}
	return jobs
}

// sum adds up what a queue has: a charge counts in every ancestor.
func (g *golden) sum(queue, dim string) goldSum { return goldSumOf(g.under(queue), dim) }

func goldSumOf(jobs []*goldJob, dim string) (sum goldSum) {
	for _, j := range jobs {
		s := j.sum(dim)
		sum.allocated, sum.held, sum.elastic = sum.allocated+s.allocated, sum.held+s.held, sum.elastic+s.elastic
	}
	return sum
}

// charged is what is charged of a card on the nodes that are known. More than goldMost of a
// task is no amount of a node.
func (g *golden) charged(card string) map[string]int64 {
	on := map[string]int64{}
	for _, j := range g.jobs {
		for _, t := range j.tasks {
			for _, c := range t.charges {
				if t.node != "" && c.card == card {
					on[t.node] += min(c.amount, goldMost)
				}
			}
		}
	}
	return on
}

const goldMost = 1 << 40

// cardsOf are the cards of a node.
func (g *golden) cardsOf(node string) []string { return slices.Sorted(maps.Keys(g.nodes[node])) }

// totalOf is what the cluster has (3): of a card on a node the greater of what is allocatable
// and what is charged.
func (g *golden) totalOf(dim string) int64 {
	total := g.total[dim]
	if goldCard(dim) {
		for node, charged := range g.charged(dim) {
			total += max(0, charged-g.nodes[node][dim])
		}
	}
	return total
}

// levels are a queue and those above it, the lowest first.
func (g *golden) levels(queue string) (levels []*goldQueue) {
	for q := g.queues[queue]; q != nil; q = g.queues[q.parent] {
		levels = append(levels, q)
	}
	return levels
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

// limit is the capability, or with EnforceGuarantee the realCapability (1).
func (g *golden) limit(queue, dim string) int64 {
	if g.cfg.EnforceGuarantee {
		return g.real(g.queues[queue], dim)
	}
	return g.capability(g.queues[queue], dim)
}

// capability is what a queue may have (1): what it mentions, and else nothing or, at a parent, of an
// output, with MissingUnlimited or of a queue that leaves it to those above, everything.
func (g *golden) capability(q *goldQueue, dim string) int64 {
	amount, mentioned := q.capability[dim]
	switch {
	case q.orphan:
		return 0
	case mentioned:
		return amount
	case goldHas(q.denied, dim):
		return 0
	case !g.isLeaf(q.name), goldPlain(dim) && g.cfg.MissingUnlimited, goldOutput(dim), !q.configured && len(q.denied) == 0 && g.limitedAbove(q, dim):
		return Unlimited
	}
	return 0
}

// limitedAbove reports whether a queue above says something of a dimension; "": of any.
func (g *golden) limitedAbove(q *goldQueue, dim string) bool {
	return slices.ContainsFunc(g.levels(q.parent), func(q *goldQueue) bool {
		return goldHas(q.capability, dim) || goldHas(q.denied, dim) || dim == "" && len(q.capability)+len(q.denied) > 0
	})
}

// real is min(capability, max(0, T - sum of guarantees) + guarantee) (9).
func (g *golden) real(q *goldQueue, dim string) int64 {
	total := g.totalOf(dim)
	if parent := g.queues[q.parent]; parent != nil {
		total = g.real(parent, dim)
	} else if goldOutput(dim) || !slices.ContainsFunc(slices.Collect(maps.Values(g.total)), func(total int64) bool { return total > 0 }) {
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

// isOver reports whether a sum is above a limit.
func (s goldSum) isOver(limit int64) bool {
	return limit != Unlimited && max(s.allocated, s.floor()) > limit
}

// over lists what is above its limit: all of it must be marked (7).
func (g *golden) over() (list []Headroom) {
	for _, queue := range slices.Sorted(maps.Keys(g.queues)) {
		jobs := g.under(queue)
		for _, dim := range g.dims() {
			if limit, s := g.limit(queue, dim), goldSumOf(jobs, dim); s.isOver(limit) {
				list = append(list, Headroom{Resource: dim, Why: ReasonOverCapacity, Room: Amount(limit - max(s.allocated, s.floor())), Level: queue, Limit: Amount(limit)})
			}
		}
	}
	return list
}

// Rooms: the largest amounts that would be admitted.

// room returns the least room of the levels of a queue, the lowest level on ties (6). test
// returns the largest amount that passes the tests of one level, and what limits it.
func (g *golden) room(queue, dim string, test func(s goldSum, limit int64) (int64, Reason)) (r Headroom) {
	for i, q := range g.levels(queue) {
		limit := g.limit(q.name, dim)
		room, why := int64(Unlimited), ReasonOverCapacity
		if limit != Unlimited {
			room, why = test(g.sum(q.name, dim), limit)
		}
		if i == 0 || room < int64(r.Room) {
			r = Headroom{Resource: dim, Why: g.lacking(q, dim, why), Room: Amount(room), Level: q.name, Limit: Amount(limit)}
		}
	}
	return r
}

// lacking is why a card has no room at a level: that its quota lacks the card comes
// before anything else.
func (g *golden) lacking(q *goldQueue, card string, why Reason) Reason {
	switch {
	case goldHas(q.capability, card), g.limit(q.name, card) != 0:
		return why
	case goldHas(q.denied, card):
		return ReasonUnreadableQuota
	}
	return ReasonNoQuota
}

// floorRoom is the room for a min: floor + min <= limit (5). less is taken out of the floor.
func (g *golden) floorRoom(queue, dim string, less int64) Headroom {
	return g.room(queue, dim, func(s goldSum, limit int64) (int64, Reason) {
		return limit - (s.floor() - less), ReasonOverCapacity
	})
}

// chargeRoom is the room for a charge q of which c = min(q, held) is covered: allocated + q <=
// limit and full + (q - c) <= limit; c = q has no promise test (6).
func (g *golden) chargeRoom(queue, dim string, held int64) Headroom {
	return g.room(queue, dim, func(s goldSum, limit int64) (int64, Reason) {
		promise := limit - s.full()
		if held > 0 {
			promise = held + max(0, promise)
		}
		return goldTests(limit-s.allocated, promise)
	})
}

// moveRoom is the room for a charge q that an item's whole hold h follows: allocated + q <=
// limit and full + max(h, q) <= limit (6).
func (g *golden) moveRoom(queue, dim string, hold int64) Headroom {
	return g.room(queue, dim, func(s goldSum, limit int64) (int64, Reason) {
		promise := limit - s.full()
		if hold > promise {
			promise = min(0, promise)
		}
		room, why := goldTests(limit-s.allocated, promise)
		if s.full() < limit && s.allocated+hold > limit {
			why = ReasonHoldTooLarge
		}
		return room, why
	})
}

// goldTests is the smaller of two rooms.
func goldTests(hard, promise int64) (int64, Reason) {
	if promise < hard {
		return promise, ReasonPromised
	}
	return hard, ReasonOverCapacity
}

// counted is how much can be charged or held beyond what is there, whatever the limits are
// (15): the tree has less than 2^53, and a queue may come to less than 2^52 in any case.
func (g *golden) counted(queue, dim string, held int64) Headroom {
	levels := g.levels(queue)
	root := levels[len(levels)-1].name
	room := func(level string, most int64) Headroom {
		return Headroom{Resource: dim, Why: ReasonTooLarge, Room: Amount(most - g.sum(level, dim).full()), Level: level, Limit: Amount(most)}
	}
	r := room(root, 1<<53-1)
	if mine := room(queue, 1<<52-1); mine.Room > r.Room {
		r = mine
	}
	if held > 0 {
		r.Room = max(0, r.Room)
	}
	r.Room += Amount(held)
	return r
}

// goldWithin is the smaller room, of what can be counted only if that is too small for an amount.
func goldWithin(amount int64, r, counted Headroom) Headroom {
	if amount > int64(counted.Room) && counted.Room < r.Room {
		return counted
	}
	return r
}

// itemRoom is the room for an item of a task on a card (6).
func (g *golden) itemRoom(queue string, j *goldJob, want goldWant, item int, card string) Headroom {
	if firm := j.firm(want, item); firm != "" && firm != card {
		return Headroom{Resource: card, Why: ReasonFirmElsewhere, Level: queue, Limit: Amount(g.limit(queue, card))}
	}
	held, all := int64(0), int64(0) // on the card, and what moves there
	if item >= 0 {
		it := j.items[item]
		if held = it.hold[card]; !j.spreads(it.goldWant) {
			all = it.held()
		}
	}
	if all <= held {
		return goldWithin(want.amount, g.chargeRoom(queue, card, held), g.counted(queue, card, held))
	}
	counted := g.counted(queue, card, 0)
	if all > int64(counted.Room) {
		counted.Room = min(0, counted.Room)
	}
	return goldWithin(want.amount, g.moveRoom(queue, card, all), counted)
}

// alone returns the ledger as if nothing were held but for a job of a queue.
func (g *golden) alone(queue, job string) *golden {
	c := g.clone()
	for _, j := range c.jobs {
		for i := range j.items {
			if j != c.in(queue, job) {
				clear(j.items[i].hold)
			}
		}
	}
	return c
}

// Refusals: 6.

func goldRefuse(a *Answer, r Refusal) bool {
	a.OK, a.Refusal = false, r
	return false
}

// goldReason is a refusal without amounts.
func goldReason(reason Reason, queue string) Refusal {
	return Refusal{Reason: reason, Queue: queue, Headroom: Headroom{Why: reason}}
}

// goldLacks is the reason why there is too little of a dimension.
func goldLacks(dim string) Reason {
	switch dim {
	case "cpu":
		return ReasonInsufficientCPUQuota
	case "memory":
		return ReasonInsufficientMemoryQuota
	}
	return ReasonInsufficientScalarQuota
}

// goldRefuseAmount is the refusal of an amount, with the numbers of its best alternative.
func goldRefuseAmount(a *Answer, queue string, item int, want goldWant, best Headroom) bool {
	dim := want.cards[0]
	f := Refusal{Reason: goldLacks(dim), Queue: queue, Requested: Amount(want.amount), output: goldOutput(dim), Headroom: best}
	if f.Item, f.Resource = item, goldKey(want.cards); !goldCard(dim) {
		f.Item = 0
	}
	if len(want.cards) > 1 {
		f.Best = best.Resource
	}
	return goldRefuse(a, f)
}

// admits makes the checks of a queue: it exists, is a leaf, and it and all ancestors are open (5).
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

// considers makes the checks that come before amounts (5). It returns false if there is nothing
// more to check.
func (g *golden) considers(a *Answer, r *goldRequest) bool {
	switch {
	case !g.admits(a, r.queue):
		return false
	case r.invalid:
		return goldRefuse(a, goldReason(ReasonGetTaskRequestResourceFailed, r.queue))
	case len(r.items) == 0:
		return false
	case !g.cfg.MissingUnlimited && !g.queues[r.queue].configured && (len(g.queues[r.queue].denied) > 0 || !g.limitedAbove(g.queues[r.queue], "")):
		return goldRefuse(a, goldReason(ReasonEmptyQueueCapability, r.queue))
	}
	return true
}

// Enqueueable: 5.

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
		next.items = append(next.items, goldItem{want, map[string]int64{}})
	}
	for _, t := range tasks {
		for i, item := range next.matches(t.wants()) {
			c := &t.charges[i]
			firm := next.firm(c.goldWant, item)
			fits := firm == "" || firm == c.card
			c.item, c.covered = goldNoItem, 0
			switch {
			case item < 0 && fits && next.binds(c.goldWant):
				c.item = goldBinds
			case item >= 0 && fits && slices.Contains(next.items[item].cards, c.card):
				c.item, c.covered = item, min(c.amount, next.left(item))
			}
		}
		next.tasks = append(next.tasks, t)
	}
	return next
}

// fill finds the holds of an item of a min, left to right, on top of those of the items before
// it (5). If there is no room, it says so, and what was found stays.
func (g *golden) fill(a *Answer, old, next *goldJob, index int) bool {
	fill := g.fillOne
	if next.spreads(next.items[index].goldWant) {
		fill = g.fillSpread
	}
	best, fits := fill(a, old, next, index)
	if fits {
		a.Options = nil
		return true
	}
	at := goldPlace(next.request().items, index)
	for i := range a.Options {
		a.Options[i].Item = at
	}
	return goldRefuseAmount(a, next.queue, at, next.items[index].goldWant, best)
}

// goldPlace is the place of an item among those that are cards.
func goldPlace(items []goldWant, index int) int {
	return len((&goldRequest{items: items[:index]}).cards())
}

// minRoom is the room for an item of a min on a card. What the job itself has in the floor is
// taken out, and what its items before this one have is put in.
func (g *golden) minRoom(old, next *goldJob, index int, card string) Headroom {
	less := old.sum(card).floor()
	for i, before := range next.items[:index] {
		less -= before.hold[card] + next.covered(i, card)
	}
	return g.floorRoom(next.queue, card, less)
}

// vacated is what a job holds on a card and won't hold with another min: less what the
// items of that before one hold.
func (j *goldJob) vacated(next *goldJob, index int, card string) int64 {
	held := j.sum(card).held
	for _, before := range next.items[:index] {
		held -= before.hold[card]
	}
	return held
}

// fillOne holds a whole item on the first alternative with room, and returns else the
// roomiest. A firm item has only its card.
func (g *golden) fillOne(a *Answer, old, next *goldJob, index int) (best Headroom, fits bool) {
	it := &next.items[index]
	firm, left := next.firm(it.goldWant, index), next.left(index)
	for _, card := range it.cards {
		if firm != "" && firm != card {
			continue
		}
		r := goldWithin(it.amount, g.minRoom(old, next, index, card), g.counted(next.queue, card, it.amount-left+old.vacated(next, index, card)))
		if it.amount <= int64(r.Room) {
			it.add(card, left)
			return r, true
		}
		if r.Why == ReasonOverCapacity && it.amount <= int64(g.alone(next.queue, next.id).minRoom(old, next, index, card).Room) {
			r.Why = ReasonPromised
		}
		if goldCard(card) {
			a.Options = append(a.Options, r)
		}
		if best.Level == "" || r.Room > best.Room {
			best = r
		}
	}
	return best, false
}

// fillSpread holds as many whole units as there is room for on each alternative, and returns,
// if that isn't all, their sums.
func (g *golden) fillSpread(a *Answer, old, next *goldJob, index int) (best Headroom, fits bool) {
	it := &next.items[index]
	left := next.left(index)
	alone := g.alone(next.queue, next.id)
	var sum, limits, sumAlone int64 // alone: if nothing were held for others
	fits, fitsAlone := true, true
	whys := map[Reason]bool{}
	for _, card := range it.cards {
		r, free, covered := g.minRoom(old, next, index, card), alone.minRoom(old, next, index, card), next.covered(index, card)
		whole, wholeAlone := goldWhole(r, covered, it.unit), goldWhole(free, covered, it.unit)
		if r.Why == ReasonOverCapacity && min(left+covered, wholeAlone) > whole {
			r.Why = ReasonPromised
		}
		if more := min(left, whole-covered); more > 0 {
			r = goldWithin(covered+more, r, g.counted(next.queue, card, covered+old.vacated(next, index, card)))
			if r.Why == ReasonTooLarge {
				whole = goldWhole(r, covered, it.unit)
			}
		}
		more := max(0, min(left, whole-covered))
		it.add(card, more)
		left -= more
		a.Options, whys[r.Why] = append(a.Options, r), true
		if best.Level == "" || r.Room > best.Room {
			best = r
		}
		sum, limits, sumAlone = goldPlus(sum, whole), goldPlus(limits, int64(r.Limit)), goldPlus(sumAlone, wholeAlone)
		fits, fitsAlone = fits && covered <= max(0, int64(r.Room)), fitsAlone && covered <= max(0, int64(free.Room))
	}
	best.Resource, best.Room, best.Limit = "", Amount(sum), Amount(limits)
	switch lack := whys[ReasonOverCapacity] || whys[ReasonPromised]; {
	case whys[ReasonTooLarge]:
		best.Why = ReasonTooLarge
	case lack && sumAlone >= it.amount && fitsAlone:
		best.Why = ReasonPromised
	case lack:
		best.Why = ReasonOverCapacity
	case whys[ReasonUnreadableQuota]:
		best.Why = ReasonUnreadableQuota
	default:
		best.Why = ReasonNoQuota
	}
	return best, left == 0 && fits
}

// goldWhole is what can be had of a room: what charges have, and whole units.
func goldWhole(r Headroom, covered, unit int64) int64 {
	room := int64(r.Room)
	if room == Unlimited {
		return Unlimited
	}
	return max(0, min(room, covered)) + max(0, room-covered)/unit*unit
}

// Allocatable: 6.

// matches returns the items that the wants of a task count against, or goldNoItem: different
// ones, each the one with the want's key, same unit first, else the one with the fewest
// alternatives that contain all of its own; items with a hold go first, ties: the first;
// a firm one only if the task lists the firm card.
func (j *goldJob) matches(wants []goldWant) (matched []int) {
	last := func(is bool) int { return map[bool]int{true: 1}[is] }
	for _, want := range wants {
		best, least := goldNoItem, []int(nil)
		for i := 0; j != nil && i < len(j.items); i++ {
			it := j.items[i]
			same, firm := it.same(want), j.firm(it.goldWant, i)
			lacks := func(card string) bool { return !slices.Contains(it.cards, card) }
			if slices.Contains(matched, i) || !same && (firm != "" && !slices.Contains(want.cards, firm) || slices.ContainsFunc(want.cards, lacks)) {
				continue
			}
			rank := []int{last(!same), last(same && it.unit != want.amount), last(j.left(i) == 0), len(it.cards)}
			if best < 0 || slices.Compare(rank, least) < 0 {
				best, least = i, rank
			}
		}
		matched = append(matched, best)
	}
	return matched
}

// allocatable decides on a task. With cards not nil only these count. It returns for each
// item what it counts against and the first card with room.
func (g *golden) allocatable(r *goldRequest, cards []string) (a Answer, items []int, on []string) {
	a = Answer{OK: true, Seq: g.seq}
	if !g.considers(&a, r) {
		return a, nil, nil
	}
	j := g.in(r.queue, r.job)
	items = j.matches(r.items)
	for i, want := range r.items {
		on = append(on, g.choose(&a, r.queue, j, goldPlace(r.items, i), want, items[i], cards))
	}
	return a, items, on
}

// choose lists the alternatives of an item of a task, and returns the first with room.
func (g *golden) choose(a *Answer, queue string, j *goldJob, index int, want goldWant, item int, cards []string) (on string) {
	best := Headroom{Why: ReasonNotOnNode}
	for _, card := range want.cards {
		r := Headroom{Resource: card, Why: ReasonNotOnNode}
		if cards == nil || slices.Contains(cards, card) || !goldCard(card) {
			r = g.itemRoom(queue, j, want, item, card)
			// Another card than the job's comes last.
			if best.Level == "" || r.Why != ReasonFirmElsewhere && (best.Why == ReasonFirmElsewhere || r.Room > best.Room) {
				best = r
			}
			if r.Why != ReasonFirmElsewhere && want.amount <= int64(r.Room) {
				r.Why, on = "", cmp.Or(on, card)
			}
		}
		if r.Item = index; goldCard(card) {
			a.Options = append(a.Options, r)
		}
	}
	switch {
	case on != "" || !a.OK:
	case best.Level == "":
		goldRefuse(a, Refusal{Reason: ReasonGetTaskRequestResourceFailed, Queue: queue, Headroom: Headroom{Item: index, Resource: goldKey(want.cards), Why: ReasonNotOnNode}})
	default:
		goldRefuseAmount(a, queue, index, want, best)
	}
	return on
}

// Operations: 7. Each returns what the ledger's returns.

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
	g.put(next)
	a.Seq++
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
		r.items = append(r.items, it.goldWant)
	}
	return r
}

// commit charges a task on some cards, nil for all, which may be those of a node. That it is
// there counts if the node has so much: no commit makes the cluster larger.
func (g *golden) commit(r *goldRequest, cards []string, node string) (a Answer, err error) {
	if j, t := g.task(r.id); t != nil {
		if !j.charged(t, r) || cards != nil && slices.ContainsFunc(t.cards(), func(card string) bool { return !slices.Contains(cards, card) }) {
			return Answer{Seq: g.seq}, ErrConflict
		}
		return Answer{OK: true, Repeat: true, Seq: g.seq, Charged: t.cards()}, nil
	}
	j := g.record(r.job, r.queue)
	if j.queue != r.queue {
		return Answer{Seq: g.seq}, ErrConflict
	}
	a, items, on := g.allocatable(r, cards)
	if !a.OK {
		return a, nil
	}
	t := goldTask{id: r.id, seq: g.seq + 1, state: taskCommitted}
	for i, want := range r.items {
		t.charges = append(t.charges, j.charge(want, items[i], on[i]))
	}
	lacks := func(c goldCharge) bool {
		return goldCard(c.card) && g.charged(c.card)[node]+min(c.amount, goldMost) > g.nodes[node][c.card]
	}
	if len(t.cards()) > 0 && !slices.ContainsFunc(t.charges, lacks) {
		t.node = node
	}
	j.tasks = append(j.tasks, t)
	g.put(j)
	delete(g.waiting, r.id)
	a.Seq, a.Charged = g.seq+1, t.cards()
	return a, nil
}

// charged reports whether a task of the job is charged what a request asks for.
func (j *goldJob) charged(t *goldTask, r *goldRequest) bool {
	return !r.invalid && j.id == r.job && j.queue == r.queue &&
		slices.EqualFunc(t.wants(), r.items, func(a, b goldWant) bool { return a.same(b) && a.amount == b.amount })
}

// wants is what a task is charged, as it was requested.
func (t *goldTask) wants() (wants []goldWant) {
	for _, c := range t.charges {
		wants = append(wants, c.goldWant)
	}
	return wants
}

// binds reports whether a charge against no item binds the tasks of its key.
func (j *goldJob) binds(want goldWant) bool { return !j.anyMix && len(want.cards) > 1 }

// charge charges an item of a task, and moves holds to its card: under AnyMix what it lacks,
// from the rightmost alternative that holds, and else the whole hold.
func (j *goldJob) charge(want goldWant, item int, card string) goldCharge {
	c := goldCharge{goldWant: want, item: item, card: card}
	if item < 0 {
		if j.binds(want) {
			c.item = goldBinds
		}
		return c
	}
	it := &j.items[item]
	for _, from := range slices.Backward(it.cards) {
		amount := it.hold[from]
		if j.spreads(it.goldWant) {
			amount = min(amount, max(0, want.amount-it.hold[card]))
		}
		if from != card {
			it.add(from, -amount)
			it.add(card, amount)
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
	for _, group := range tried.together(tasks) {
		var only []string
		if len(group) > 1 {
			only = tried.firstForAll(group)
		}
		for _, r := range group {
			cards := only
			if _, t := tried.task(r.id); t != nil {
				cards = nil
			}
			a, err = tried.commit(r, cards, r.node)
			if err == nil && !a.OK {
				if only != nil {
					a = g.notTogether(a, tried, r)
				}
				a.Task = r.id
			}
			if err != nil || !a.OK {
				return a, err
			}
		}
	}
	a = Answer{OK: true, Repeat: true, Seq: g.seq}
	for _, r := range tasks {
		if _, t := g.task(r.id); t == nil {
			a.Repeat, a.Seq = false, g.seq+1
		}
		_, t := tried.task(r.id)
		a.Charged = append(a.Charged, t.cards()...)
	}
	*g = *tried
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
func (g *golden) together(tasks []*goldRequest) (groups [][]*goldRequest) {
	var rest [][]*goldRequest
	place := map[string]int{} // of a group in the rest
	for _, r := range tasks {
		anyMix, key := g.cfg.AnyMix, r.job
		if j := g.jobs[r.job]; j != nil {
			anyMix = j.anyMix
		}
		for _, want := range r.items {
			if len(want.cards) > 1 {
				key += " " + goldKey(want.cards)
			}
		}
		at, ok := place[key]
		switch {
		case r.invalid || key == r.job:
			groups = append(groups, []*goldRequest{r})
		case ok && !anyMix:
			rest[at] = append(rest[at], r)
		default:
			place[key] = len(rest)
			rest = append(rest, []*goldRequest{r})
		}
	}
	return append(groups, rest...)
}

// firstForAll returns the cards that a group of tasks may use: for each of their keys the
// first that has room for all of them, or else for the most.
func (g *golden) firstForAll(group []*goldRequest) (cards []string) {
	for _, want := range group[0].items {
		best, most := "", -1
		for _, card := range want.cards {
			if n := g.takes(group, want, card); n > most {
				best, most = card, n
			}
		}
		cards = append(cards, best)
	}
	for _, r := range group {
		for _, want := range r.items {
			if len(want.cards) == 1 {
				cards = append(cards, want.cards...)
			}
		}
	}
	return cards
}

// takes counts how many tasks of a group, in order, a card has room for in the queue of their
// job, whatever queue each of them says: in another one it is a conflict.
func (g *golden) takes(group []*goldRequest, key goldWant, card string) (n int) {
	first := group[0]
	if g = g.clone(); g.queues[first.queue] == nil {
		return 0
	}
	for _, r := range group {
		if _, t := g.task(r.id); t != nil {
			n++
			continue
		}
		j := g.record(first.job, first.queue)
		t, matched := goldTask{id: r.id}, j.matches(r.items)
		for k, want := range r.items {
			if !want.same(key) {
				continue
			}
			if g.choose(&Answer{OK: true}, j.queue, j, k, want, matched[k], []string{card}) == "" {
				return n
			}
			t.charges = append(t.charges, j.charge(want, matched[k], card))
		}
		j.tasks = append(j.tasks, t)
		g.put(j)
		n++
	}
	return n
}

// giveBack is Rollback, and with ended Release.
func (g *golden) giveBack(ended bool, ids []string) (known, changed bool) {
	known = true
	for _, id := range ids {
		_, t := g.task(id)
		switch {
		case t != nil:
			g.uncharge(id, ended)
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

// uncharge takes the charges of a task away. If it ended, the min shrinks by what they covered;
// else that is held again, after later charges of the same item on the same card have drawn on it.
func (g *golden) uncharge(id string, ended bool) {
	j, t := g.task(id)
	at := slices.IndexFunc(j.tasks, func(t goldTask) bool { return t.id == id })
	for _, c := range t.charges {
		if c.item < 0 {
			continue
		}
		it := &j.items[c.item]
		if ended {
			it.amount -= c.covered
			continue
		}
		free := c.covered
		for _, later := range j.tasks[at+1:] {
			for i := range later.charges {
				if e := &later.charges[i]; e.item == c.item && e.card == c.card {
					drawn := min(free, e.amount-e.covered)
					e.covered += drawn
					free -= drawn
				}
			}
		}
		it.add(c.card, free)
	}
	j.tasks = slices.Delete(j.tasks, at, at+1)
	g.put(j)
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
		for i := range j.items {
			it := &j.items[i]
			it.amount -= it.held()
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
// nearest former ancestor that is still there.
func (g *golden) setQueues(queues []goldQueue) (orphans []string) {
	next := map[string]*goldQueue{}
	for _, q := range queues {
		next[q.name] = &q
	}
	for _, j := range g.jobs {
		if old := g.queues[j.queue]; next[j.queue] == nil {
			orphans = append(orphans, j.queue)
			next[j.queue] = &goldQueue{name: j.queue, parent: old.parent, priority: old.priority, state: StateClosed, configured: true, orphan: true}
		}
	}
	for _, name := range orphans {
		q := next[name]
		for q.parent != "" && next[q.parent] == nil {
			q.parent = g.queues[q.parent].parent
		}
	}
	g.queues = next
	slices.Sort(orphans)
	return orphans
}

// More copies, and more on one card, than limits admit in these worlds.
const (
	goldCopies = 160
	goldGang   = 25
)

// jobCopies counts how many new jobs like this one would be reserved (7, WhatFits).
func (g *golden) jobCopies(r *goldRequest) (Fits, error) {
	if j := g.jobs[r.id]; j != nil && j.queue != r.queue {
		return Fits{}, ErrConflict
	}
	rooms := g.fitRooms(r, func(dim string) Headroom {
		return goldWithin(r.amount(dim), g.floorRoom(r.queue, dim, 0), g.counted(r.queue, dim, 0))
	})
	tried := g.clone()
	return goldFits(rooms, goldCopies, func(id string) Answer {
		own := *r
		own.id = id
		a, _ := tried.reserve(&own, false)
		return a
	}), nil
}

// taskCopies counts how many new tasks like this one would be charged, each after the other or, if
// they must be on one card, as a gang (7, WhatFits). Copies have no node.
func (g *golden) taskCopies(r *goldRequest) (Fits, error) {
	j := g.jobs[r.job]
	if j != nil && j.queue != r.queue {
		return Fits{}, ErrConflict
	}
	rooms := g.fitRooms(r, func(dim string) Headroom {
		held := j.sum(dim).held
		return goldWithin(r.amount(dim), g.chargeRoom(r.queue, dim, held), g.counted(r.queue, dim, held))
	})
	var gang []*goldRequest
	together := len(g.together([]*goldRequest{r, r})) == 1
	tried, most := g.clone(), int64(goldCopies)
	if together {
		most = goldGang
	}
	return goldFits(rooms, most, func(id string) (a Answer) {
		own := *r
		own.id, own.node = id, ""
		if !together {
			a, _ = tried.commit(&own, nil, "")
			return a
		}
		gang = append(gang, &own)
		a, _ = g.clone().commitAll(gang)
		a.Task = ""
		return a
	}), nil
}

// fitRooms are the rooms for cpu and memory, nil if the queue takes nothing.
func (g *golden) fitRooms(r *goldRequest, room func(dim string) Headroom) []Headroom {
	if !g.admits(&Answer{}, r.queue) {
		return nil
	}
	return []Headroom{room("cpu"), room("memory")}
}

// goldFits admits copies until one is refused.
func goldFits(rooms []Headroom, most int64, admit func(id string) Answer) Fits {
	for n := range most {
		if a := admit(fmt.Sprint("copy", n)); !a.OK {
			return Fits{Amount(n), rooms, a}
		}
	}
	return Fits{Unlimited, rooms, Answer{OK: true}}
}

// state is everything that was recorded as text, to be compared.
func (g *golden) state() string {
	b := fmt.Appendln(nil, g.seq)
	for _, name := range slices.Sorted(maps.Keys(g.queues)) {
		q := g.queues[name]
		b = fmt.Appendln(b, q.name, "<", q.parent, q.priority, q.state, q.orphan)
	}
	for _, id := range slices.Sorted(maps.Keys(g.jobs)) {
		b = fmt.Append(b, g.jobs[id].text())
	}
	for _, id := range slices.Sorted(maps.Keys(g.waiting)) {
		r := g.waiting[id]
		b = fmt.Append(b, r.id, " of ", r.job, " in ", r.queue)
		for _, want := range r.items {
			b = fmt.Append(b, " ", want.cards, want.amount)
		}
		b = append(b, '\n')
	}
	return string(b)
}

// text is a record, to be compared; cpu and memory of which nothing is needed are left out.
func (j *goldJob) text() string {
	if j == nil {
		return "none"
	}
	b := fmt.Appendf(nil, "%s %s %v %v %v %d\n", j.id, j.queue, j.anyMix, j.reserved, j.seen, j.seq)
	for _, it := range j.items {
		if it.amount > 0 || !goldPlain(it.cards[0]) {
			b = fmt.Appendf(b, " %v, held %v\n", it.goldWant, it.hold)
		}
	}
	for _, t := range j.tasks {
		b = fmt.Appendf(b, " %s %q %d %d", t.id, t.node, t.seq, t.state)
		for _, c := range t.charges {
			b = fmt.Append(b, ", ", c.amount, " of ", c.card, " of ", c.cards, ", ", c.covered)
			if c.item >= 0 && !goldPlain(c.card) {
				b = fmt.Append(b, " of ", j.items[c.item].cards, j.items[c.item].unit)
			} else if c.item == goldBinds {
				b = append(b, " of its key"...)
			}
		}
		b = append(b, '\n')
	}
	return string(b)
}
