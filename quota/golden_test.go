package quota

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
)

// golden is a ledger as its description has it, slow and plain: it keeps only
// what was recorded - queues, jobs with their min and holds, tasks with their
// charges, all by name - and works out every sum, limit, mark and firm card from
// these records. It shares no code with the ledger, only the types of questions
// and answers.
type golden struct {
	cfg    Config
	dims   []string       // cpu, memory, and the cards
	dim    map[string]int // their places
	total  map[string]int64
	known  map[string]bool     // cards
	nodes  map[string][]string // their cards, sorted
	seq    uint64
	queues map[string]*goldQueue
	jobs   map[string]*goldJob
	tasks  map[string]*goldTask
	outs   []string // the outputs that it has, sorted

	waiting     map[string]*goldRequest // tasks that were pending in the last view
	keepOrphans bool                    // for now, though they have nothing left

	above  map[string][]*goldQueue // by queue, itself first; nil: not worked out
	sums   map[string][]goldSum    // by queue and dimension; nil: not worked out
	limits map[string][]int64      // the same
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
	plain     [2]goldNeed // cpu, memory
	items     []*goldItem
	tasks     []*goldTask // in commit order
}

type goldNeed struct{ min, hold int64 }

type goldItem struct {
	cards     []string
	min, unit int64
	hold      map[string]int64 // by card
}

type goldTask struct {
	id, job string
	seq     uint64
	state   taskState
	plain   [2]goldDraw // cpu, memory
	charges []*goldCharge
}

type goldDraw struct{ amount, covered int64 }

type goldCharge struct {
	cards          []string
	item           *goldItem // that it counts against; may be nil
	binds          bool      // without an item: binds the tasks of the job's key to its card
	card           string
	milli, covered int64
}

type goldSum struct{ allocated, held, elastic int64 }

func (s goldSum) floor() int64 { return s.allocated - s.elastic + s.held }
func (s goldSum) full() int64  { return s.allocated + s.held }

// goldRequest asks for a job's min or for a task.
type goldRequest struct {
	id, job, queue string // job: of a task
	anyMix         bool   // of a job
	plain          [2]int64
	items          []goldWant // the outputs come last
	invalid        bool       // it can't be told what is requested
}

type goldWant struct {
	cards       []string
	milli, unit int64
}

// goldOutputs are the outputs that a ledger may have, each an item of its own in a request.
var goldOutputs = []string{"x", "y"}

func goldOutput(dim string) bool { return slices.Contains(goldOutputs, dim) }

// goldKind orders items: single cards, alternatives, outputs.
func goldKind(cards []string) int {
	switch {
	case goldOutput(cards[0]):
		return 2
	case len(cards) > 1:
		return 1
	}
	return 0
}

// cards counts the items that are no outputs.
func (r *goldRequest) cards() (n int) {
	for _, want := range r.items {
		if !goldOutput(want.cards[0]) {
			n++
		}
	}
	return n
}

func goldKey(cards []string) string { return strings.Join(cards, "|") }

var goldPlainReasons = [2]Reason{ReasonInsufficientCPUQuota, ReasonInsufficientMemoryQuota}

func newGolden(cfg Config, cards, outs []string) *golden {
	g := &golden{
		cfg: cfg, outs: outs, dims: slices.Concat([]string{"cpu", "memory"}, outs, cards), dim: map[string]int{}, known: map[string]bool{}, waiting: map[string]*goldRequest{},
		queues: map[string]*goldQueue{}, jobs: map[string]*goldJob{}, tasks: map[string]*goldTask{},
	}
	for i, name := range g.dims {
		g.dim[name] = i
	}
	return g
}

// widen adds cards.
func (g *golden) widen(cards []string) {
	for _, name := range cards {
		g.dim[name] = len(g.dims)
		g.dims = append(g.dims, name)
	}
	g.sums, g.limits = nil, nil
}

// clone copies everything, so that what is tried can be forgotten.
func (g *golden) clone() *golden {
	c := *g
	c.queues, c.jobs, c.tasks = make(map[string]*goldQueue, len(g.queues)), make(map[string]*goldJob, len(g.jobs)), make(map[string]*goldTask, len(g.tasks))
	c.above, c.sums, c.limits, c.waiting = nil, nil, nil, maps.Clone(g.waiting)
	for name, q := range g.queues {
		own := *q
		c.queues[name] = &own
	}
	for id, j := range g.jobs {
		c.jobs[id] = j.clone()
		for _, t := range c.jobs[id].tasks {
			c.tasks[t.id] = t
		}
	}
	return &c
}

func (j *goldJob) clone() *goldJob {
	c := *j
	c.items, c.tasks = make([]*goldItem, len(j.items)), make([]*goldTask, len(j.tasks))
	for i, it := range j.items {
		own := *it
		own.hold = maps.Clone(it.hold)
		c.items[i] = &own
	}
	for i, t := range j.tasks {
		own := *t
		own.charges = make([]*goldCharge, len(t.charges))
		for k, charge := range t.charges {
			copied := *charge
			if at := slices.Index(j.items, charge.item); at >= 0 {
				copied.item = c.items[at]
			}
			own.charges[k] = &copied
		}
		c.tasks[i] = &own
	}
	return &c
}

// Sums and limits.

// changed forgets the sums.
func (g *golden) changed() { g.sums = nil }

// levels are a queue and those above it, the lowest first.
func (g *golden) levels(queue string) []*goldQueue {
	if g.above == nil {
		g.above = map[string][]*goldQueue{}
		for name := range g.queues {
			for q := g.queues[name]; q != nil; q = g.queues[q.parent] {
				g.above[name] = append(g.above[name], q)
			}
		}
	}
	return g.above[queue]
}

// amounts calls add for everything that a job has in some dimension.
func (g *golden) amounts(j *goldJob, add func(dim int, s goldSum)) {
	charge := func(dim int, amount, covered int64) {
		s := goldSum{allocated: amount}
		if j.reserved {
			s.elastic = amount - covered
		}
		add(dim, s)
	}
	for dim := range j.plain {
		add(dim, goldSum{held: j.plain[dim].hold})
	}
	for _, it := range j.items {
		for card, held := range it.hold {
			add(g.dim[card], goldSum{held: held})
		}
	}
	for _, t := range j.tasks {
		for dim, d := range t.plain {
			charge(dim, d.amount, d.covered)
		}
		for _, c := range t.charges {
			charge(g.dim[c.card], c.milli, c.covered)
		}
	}
}

// sum returns what a queue has in a dimension, those below it included.
func (g *golden) sum(queue string, dim int) goldSum {
	if g.sums == nil {
		g.sums = make(map[string][]goldSum, len(g.queues))
		for name := range g.queues {
			g.sums[name] = make([]goldSum, len(g.dims))
		}
		for _, j := range g.jobs {
			for _, q := range g.levels(j.queue) {
				sums := g.sums[q.name]
				g.amounts(j, func(dim int, s goldSum) {
					sums[dim].allocated += s.allocated
					sums[dim].held += s.held
					sums[dim].elastic += s.elastic
				})
			}
		}
	}
	return g.sums[queue][dim]
}

// holders counts the jobs for which anything is held in a queue or below it.
func (g *golden) holders(queue string) (n int) {
	for _, j := range g.jobs {
		held := j.plain[0].hold + j.plain[1].hold
		for _, it := range j.items {
			held += it.held()
		}
		if slices.ContainsFunc(g.levels(j.queue), func(q *goldQueue) bool { return q.name == queue }) && held > 0 {
			n++
		}
	}
	return n
}

// own returns what a job has in the floor of every dimension.
func (g *golden) own(j *goldJob) []int64 {
	floors := make([]int64, len(g.dims))
	if j != nil {
		g.amounts(j, func(dim int, s goldSum) { floors[dim] += s.floor() })
	}
	return floors
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
func (g *golden) limit(queue string, dim int) int64 {
	if g.limits == nil {
		g.limits = map[string][]int64{}
	}
	limits := g.limits[queue]
	if limits == nil {
		limits = make([]int64, len(g.dims))
		for dim, name := range g.dims {
			limits[dim] = g.capability(g.queues[queue], name)
			if g.cfg.EnforceGuarantee {
				limits[dim] = g.real(g.queues[queue], name)
			}
		}
		g.limits[queue] = limits
	}
	return limits[dim]
}

func (g *golden) capability(q *goldQueue, dim string) int64 {
	plain := dim == "cpu" || dim == "memory"
	amount, mentioned := q.capability[dim]
	switch {
	case q.orphan:
		return 0
	case mentioned:
		return amount
	case goldHas(q.denied, dim):
		return 0
	case !g.isLeaf(q.name), plain && g.cfg.MissingUnlimited, goldOutput(dim):
		return Unlimited
	}
	return 0
}

func goldHas[V any](m map[string]V, key string) bool { _, has := m[key]; return has }

func (g *golden) real(q *goldQueue, dim string) int64 {
	total := g.total[dim]
	if goldOutput(dim) {
		total = Unlimited
	}
	if parent := g.queues[q.parent]; parent != nil {
		total = g.real(parent, dim)
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

// exceeded lists what is above its limit: all of it must be marked.
func (g *golden) exceeded() map[string]bool {
	over := map[string]bool{}
	for queue := range g.queues {
		for dim, name := range g.dims {
			limit, s := g.limit(queue, dim), g.sum(queue, dim)
			if limit != Unlimited && max(s.allocated, s.floor()) > limit {
				over[queue+" "+name] = true
			}
		}
	}
	return over
}

// goldRoom is the largest amount that would be admitted.
type goldRoom struct {
	amount, limit int64
	level         string
	promised      bool // the promises to others are what limits it
	stuck         bool // what has to move is more than there is room for
}

// rooms returns the least room of the levels of a queue, the lowest level on
// ties. admits tells whether a level with a limit admits an amount; hard and
// promise are the largest that each of two tests admits there.
func (g *golden) rooms(queue string, dim int, tests func(s goldSum, limit int64) (hard, promise int64)) (r goldRoom) {
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

// everywhere reports whether every level that has a limit passes a test.
func (g *golden) everywhere(queue string, dim int, passes func(s goldSum, limit int64) bool) bool {
	for _, q := range g.levels(queue) {
		if limit := g.limit(q.name, dim); limit != Unlimited && !passes(g.sum(q.name, dim), limit) {
			return false
		}
	}
	return true
}

// agrees panics if a room isn't what the tests of amounts say.
func (r goldRoom) agrees(fits func(amount int64) bool) {
	if r.amount > 0 && !fits(r.amount) || r.amount >= 0 && r.amount != Unlimited && fits(r.amount+1) || r.amount < 0 && fits(1) {
		panic("golden: a room is wrong")
	}
}

// floorRoom is the room for a min: floor + min <= limit. of is what the job itself
// has in the floor, less what it is to have already.
func (g *golden) floorRoom(queue string, dim int, of int64) goldRoom {
	r := g.rooms(queue, dim, func(s goldSum, limit int64) (int64, int64) {
		return limit - s.floor() + of, Unlimited
	})
	r.agrees(func(amount int64) bool {
		return g.everywhere(queue, dim, func(s goldSum, limit int64) bool { return s.floor()-of+amount <= limit })
	})
	return r
}

// chargeRoom is the room for a charge of which c = min(q, held) is promised.
func (g *golden) chargeRoom(queue string, dim int, held int64) goldRoom {
	r := g.rooms(queue, dim, func(s goldSum, limit int64) (int64, int64) {
		if held > 0 && s.full() > limit {
			return limit - s.allocated, held
		}
		return limit - s.allocated, held + limit - s.full()
	})
	r.agrees(func(q int64) bool {
		c := min(q, held)
		return g.everywhere(queue, dim, func(s goldSum, limit int64) bool {
			return s.allocated+q <= limit && (c == q || s.full()+(q-c) <= limit)
		})
	})
	return r
}

// moveRoom is the room for a charge that an item's whole hold has to follow.
func (g *golden) moveRoom(queue string, dim int, hold int64) goldRoom {
	r := g.rooms(queue, dim, func(s goldSum, limit int64) (int64, int64) {
		if s.full()+hold > limit {
			return limit - s.allocated, min(0, limit-s.full())
		}
		return limit - s.allocated, limit - s.full()
	})
	r.agrees(func(q int64) bool {
		return g.everywhere(queue, dim, func(s goldSum, limit int64) bool {
			return s.allocated+q <= limit && s.full()+max(hold, q) <= limit
		})
	})
	s := g.sum(r.level, dim)
	r.stuck = r.limit != Unlimited && s.full() < r.limit && s.allocated+hold > r.limit
	return r
}

// lacking is why a card has no room at a level: that its quota lacks the card comes
// before anything else.
func (g *golden) lacking(level, card string, why Reason) Reason {
	q := g.queues[level]
	if goldHas(q.capability, card) || g.limit(level, g.dim[card]) != 0 {
		return why
	}
	if goldHas(q.denied, card) {
		return ReasonUnreadableQuota
	}
	return ReasonNoQuota
}

// without returns the ledger as if nothing were held but for a job of a queue.
func (g *golden) without(queue, job string) *golden {
	c := g.clone()
	for _, j := range c.jobs {
		if j == c.in(queue, job) {
			continue
		}
		for dim := range j.plain {
			j.plain[dim].hold = 0
		}
		for _, it := range j.items {
			it.hold = map[string]int64{}
		}
	}
	return c
}

// Items.

func (it *goldItem) held() (sum int64) {
	for _, held := range it.hold {
		sum += held
	}
	return sum
}

// against lists the charges that count against an item.
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

// spreads reports whether an item may be on several cards.
func (j *goldJob) spreads(cards []string) bool { return j.anyMix && len(cards) > 1 }

// firm is the card that the charges of an item bind it to, if any.
func (j *goldJob) firm(it *goldItem) string {
	if charges := j.against(it); len(charges) > 0 && !j.spreads(it.cards) {
		return charges[0].card
	}
	return ""
}

// firmKey is the card that tasks of a key are bound to without an item.
func (j *goldJob) firmKey(cards []string) string {
	for _, t := range j.tasks {
		for _, c := range t.charges {
			if c.binds && goldKey(c.cards) == goldKey(cards) {
				return c.card
			}
		}
	}
	return ""
}

// match returns the item that a task's counts against, of those in items.
func (j *goldJob) match(want goldWant, items []*goldItem) *goldItem {
	key := goldKey(want.cards)
	var same, containing []*goldItem
	for _, it := range items {
		if goldKey(it.cards) == key {
			same = append(same, it)
			continue
		}
		contains := true
		for _, card := range want.cards {
			contains = contains && slices.Contains(it.cards, card)
		}
		if firm := j.firm(it); contains && (firm == "" || slices.Contains(want.cards, firm)) {
			containing = append(containing, it)
		}
	}
	pick := func(items []*goldItem, better func(a, b *goldItem) int) *goldItem {
		if len(items) == 0 {
			return nil
		}
		return slices.MinFunc(items, better)
	}
	yesFirst := func(a, b bool) int {
		switch {
		case a == b:
			return 0
		case a:
			return -1
		}
		return 1
	}
	compare := func(a, b *goldItem) int {
		for _, by := range []int{
			yesFirst(j.left(a) > 0, j.left(b) > 0),
			len(a.cards) - len(b.cards),
			strings.Compare(goldKey(a.cards), goldKey(b.cards)),
			int(a.unit - b.unit),
		} {
			if by != 0 {
				return by
			}
		}
		return 0
	}
	if len(same) > 0 {
		return pick(same, func(a, b *goldItem) int {
			if by := yesFirst(a.unit == want.milli, b.unit == want.milli); by != 0 {
				return by
			}
			return compare(a, b)
		})
	}
	return pick(containing, compare)
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

// Decisions.

func goldRefuse(a *Answer, r Refusal) bool {
	a.OK, a.Refusal = false, r
	return false
}

// admits makes the checks of a queue.
func (g *golden) admits(a *Answer, queue string) bool {
	levels := g.levels(queue)
	if len(levels) == 0 {
		return goldRefuse(a, Refusal{Reason: ReasonUnknownQueue, Why: ReasonUnknownQueue, Queue: queue})
	}
	if !g.isLeaf(queue) {
		return goldRefuse(a, Refusal{Reason: ReasonQueueNotLeaf, Why: ReasonQueueNotLeaf, Queue: queue})
	}
	for _, q := range levels {
		if q.state != StateOpen {
			return goldRefuse(a, Refusal{Reason: ReasonQueueNotOpen, Why: ReasonQueueNotOpen, Queue: queue, Level: q.name})
		}
	}
	return true
}

// considers makes the checks that come before amounts. done: there is nothing more
// to check.
func (g *golden) considers(a *Answer, r *goldRequest) (done bool) {
	switch {
	case !g.admits(a, r.queue):
		return true
	case r.invalid:
		return !goldRefuse(a, Refusal{Reason: ReasonGetTaskRequestResourceFailed, Why: ReasonGetTaskRequestResourceFailed, Queue: r.queue})
	case r.plain == [2]int64{} && len(r.items) == 0:
		return true
	case !g.cfg.MissingUnlimited && !g.queues[r.queue].configured:
		return !goldRefuse(a, Refusal{Reason: ReasonEmptyQueueCapability, Why: ReasonEmptyQueueCapability, Queue: r.queue})
	}
	return false
}

// lacks is the refusal of an amount.
func goldLacks(a *Answer, reason Reason, queue, card string, amount int64, r goldRoom, why Reason) bool {
	refusal := Refusal{Reason: reason, Queue: queue, Level: r.level, Card: card, Requested: amount, Room: r.amount, Limit: r.limit, Why: why}
	if goldOutput(card) {
		refusal.Card, refusal.Output = "", corev1.ResourceName(card)
	}
	return goldRefuse(a, refusal)
}

// in returns the record of a job if it is in the queue.
func (g *golden) in(queue, job string) *goldJob {
	if j := g.jobs[job]; j != nil && j.queue == queue {
		return j
	}
	return nil
}

// enqueueable decides on a job, and returns its record as it would be.
func (g *golden) enqueueable(r *goldRequest) (a Answer, next *goldJob) {
	a = Answer{OK: true, Seq: g.seq}
	old := g.in(r.queue, r.id)
	own := g.own(old)
	next = g.drawn(r, old)
	if g.considers(&a, r) {
		return a, next
	}
	for dim, amount := range r.plain {
		if amount == 0 {
			continue
		}
		if room := g.floorRoom(r.queue, dim, own[dim]); amount > room.amount {
			why := g.lacking(room.level, g.dims[dim], ReasonOverCapacity)
			if free := g.without(r.queue, r.id).floorRoom(r.queue, dim, own[dim]); why == ReasonOverCapacity && amount <= free.amount {
				why = ReasonPromised
			}
			goldLacks(&a, goldPlainReasons[dim], r.queue, "", amount, room, why)
			return a, next
		}
	}
	for i, it := range next.items {
		if !g.fill(&a, r.queue, i, next, it, own) {
			return a, next
		}
	}
	return a, next
}

// drawn returns the record of a job with a new min, of which nothing is held yet,
// and its charges drawn against it in commit order.
func (g *golden) drawn(r *goldRequest, old *goldJob) *goldJob {
	next := &goldJob{id: r.id, queue: r.queue, seq: g.seq + 1}
	if old != nil {
		next = old.clone()
		if !old.reserved {
			next.seq = g.seq + 1
		}
	}
	next.anyMix, next.reserved, next.items = r.anyMix, true, nil
	for _, want := range r.items {
		next.items = append(next.items, &goldItem{cards: want.cards, min: want.milli, unit: want.unit, hold: map[string]int64{}})
	}
	left := r.plain
	tasks := next.tasks
	next.tasks = nil
	for _, t := range tasks {
		for dim := range t.plain {
			t.plain[dim].covered = min(t.plain[dim].amount, left[dim])
			left[dim] -= t.plain[dim].covered
		}
		wants := make([]goldWant, len(t.charges))
		for i, c := range t.charges {
			wants[i] = goldWant{cards: c.cards, milli: c.milli}
		}
		for i, it := range next.matches(wants) {
			next.count(t.charges[i], it)
		}
		next.tasks = append(next.tasks, t)
	}
	for dim := range left {
		next.plain[dim] = goldNeed{r.plain[dim], left[dim]}
	}
	slices.SortFunc(next.items, func(a, b *goldItem) int {
		if by := goldKind(a.cards) - goldKind(b.cards); by != 0 {
			return by
		}
		if by := strings.Compare(goldKey(a.cards), goldKey(b.cards)); by != 0 {
			return by
		}
		return int(a.unit - b.unit)
	})
	return next
}

// count makes a charge of a task that isn't among the job's yet count against an
// item, if it can.
func (j *goldJob) count(c *goldCharge, it *goldItem) {
	c.item, c.binds, c.covered = nil, false, 0
	if it == nil {
		firm := j.firmKey(c.cards)
		c.binds = !j.anyMix && len(c.cards) > 1 && (firm == "" || firm == c.card)
		return
	}
	if firm := j.firm(it); slices.Contains(it.cards, c.card) && (firm == "" || firm == c.card) {
		c.item, c.covered = it, min(c.milli, j.left(it))
	}
}

// fill finds the holds of an item, on top of those of the items before it.
func (g *golden) fill(a *Answer, queue string, index int, next *goldJob, it *goldItem, own []int64) bool {
	planned := map[string]int64{}
	for _, before := range next.items[:slices.Index(next.items, it)] {
		for card, held := range before.hold {
			planned[card] += held
		}
		for _, c := range next.against(before) {
			planned[c.card] += c.covered
		}
	}
	covered := map[string]int64{}
	for _, c := range next.against(it) {
		covered[c.card] += c.covered
	}
	firm, left := next.firm(it), next.left(it)
	var options []Headroom
	var best goldRoom
	bestCard, bestWhy := "", ReasonNone
	var sum, limits int64
	fits := true
	alone, sumAlone, fitsAlone := sync.OnceValue(func() *golden { return g.without(queue, next.id) }), int64(0), true
	for _, card := range it.cards {
		if firm != "" && firm != card {
			continue
		}
		r := g.floorRoom(queue, g.dim[card], own[g.dim[card]]-planned[card])
		if !next.spreads(it.cards) && it.min <= r.amount {
			if left > 0 {
				it.hold[card] = left
			}
			return true
		}
		free := alone().floorRoom(queue, g.dim[card], own[g.dim[card]]-planned[card])
		why := g.lacking(r.level, card, ReasonOverCapacity)
		if why == ReasonOverCapacity && it.min <= free.amount && !next.spreads(it.cards) {
			why = ReasonPromised
		}
		if best.level == "" || r.amount > best.amount {
			best, bestCard, bestWhy = r, card, why
		}
		if !next.spreads(it.cards) {
			options = append(options, Headroom{Item: index, Card: card, Why: why, Level: r.level, Amount: r.amount, Limit: r.limit})
			continue
		}
		whole := goldWhole(r.amount, covered[card], it.unit)
		wholeAlone := goldWhole(free.amount, covered[card], it.unit)
		if why == ReasonOverCapacity && min(left+covered[card], wholeAlone) > whole {
			why = ReasonPromised
		}
		options = append(options, Headroom{Item: index, Card: card, Why: why, Level: r.level, Amount: r.amount, Limit: r.limit})
		sumAlone, fitsAlone = goldPlus(sumAlone, wholeAlone), fitsAlone && covered[card] <= max(0, free.amount)
		fits = fits && covered[card] <= max(0, r.amount)
		if more := min(left, whole-covered[card]); more > 0 {
			it.hold[card] = more
			left -= more
		}
		sum, limits = goldPlus(sum, whole), goldPlus(limits, r.limit)
	}
	if next.spreads(it.cards) {
		if left == 0 && fits {
			return true
		}
		best.amount, best.limit, bestCard = sum, limits, ""
		has := func(why Reason) bool {
			return slices.ContainsFunc(options, func(o Headroom) bool { return o.Why == why })
		}
		switch bestWhy = ReasonOverCapacity; {
		case has(ReasonOverCapacity) || has(ReasonPromised):
			if sumAlone >= it.min && fitsAlone {
				bestWhy = ReasonPromised
			}
		case has(ReasonUnreadableQuota):
			bestWhy = ReasonUnreadableQuota
		default:
			bestWhy = ReasonNoQuota
		}
	}
	if !goldOutput(it.cards[0]) {
		a.Options = options
	}
	goldLacks(a, ReasonInsufficientScalarQuota, queue, goldKey(it.cards), it.min, best, bestWhy)
	if len(it.cards) > 1 {
		a.Refusal.Best = bestCard
	}
	return false
}

// goldWhole is what can be had of a room: what charges have, and whole units.
func goldWhole(room, covered, unit int64) int64 {
	if room == Unlimited {
		return Unlimited
	}
	free := max(0, room-covered)
	return max(0, min(room, covered)) + free/unit*unit
}

func goldPlus(a, b int64) int64 {
	if a == Unlimited || b == Unlimited {
		return Unlimited
	}
	return a + b
}

// allocatable decides on a task. With cards not nil only these count. It returns
// for each item what it counts against and the first card with room.
func (g *golden) allocatable(r *goldRequest, cards []string) (a Answer, items []*goldItem, on []string) {
	a = Answer{OK: true, Seq: g.seq}
	if g.considers(&a, r) {
		return a, nil, nil
	}
	j := g.in(r.queue, r.job)
	for dim, amount := range r.plain {
		var held int64
		if j != nil {
			held = j.plain[dim].hold
		}
		if room := g.chargeRoom(r.queue, dim, held); amount > 0 && amount > room.amount && a.OK {
			why := ReasonOverCapacity
			if room.promised {
				why = ReasonPromised
			}
			goldLacks(&a, goldPlainReasons[dim], r.queue, "", amount, room, g.lacking(room.level, g.dims[dim], why))
		}
	}
	items = j.matches(r.items)
	for i, want := range r.items {
		on = append(on, g.choose(&a, r.queue, j, i, want, items[i], cards))
	}
	return a, items, on
}

// choose lists the alternatives of an item of a task, and returns the first with
// room.
func (g *golden) choose(a *Answer, queue string, j *goldJob, index int, want goldWant, it *goldItem, cards []string) (on string) {
	var best goldRoom
	bestCard, bestWhy, onNode := "", ReasonNone, false
	for _, card := range want.cards {
		option := Headroom{Item: index, Card: card}
		if cards != nil && !slices.Contains(cards, card) && !goldOutput(card) {
			option.Why = ReasonNotOnNode
			a.Options = append(a.Options, option)
			continue
		}
		onNode = true
		r, firm := g.itemRoom(queue, j, want, it, card)
		option.Level, option.Amount, option.Limit = r.level, r.amount, r.limit
		switch {
		case firm:
			option.Why = ReasonFirmElsewhere
		case want.milli <= r.amount:
			option.OK = true
			if on == "" {
				on = card
			}
		case r.stuck:
			option.Why = g.lacking(r.level, card, ReasonHoldTooLarge)
		case r.promised:
			option.Why = g.lacking(r.level, card, ReasonPromised)
		default:
			option.Why = g.lacking(r.level, card, ReasonOverCapacity)
		}
		if other := bestWhy == ReasonFirmElsewhere; best.level == "" || !firm && (other || r.amount > best.amount) {
			best, bestCard, bestWhy = r, card, option.Why // another card than the job's comes last
		}
		if !goldOutput(card) {
			a.Options = append(a.Options, option)
		}
	}
	switch {
	case on != "" || !a.OK:
	case !onNode:
		goldRefuse(a, Refusal{Reason: ReasonGetTaskRequestResourceFailed, Why: ReasonNotOnNode, Queue: queue, Card: goldKey(want.cards)})
	default:
		goldLacks(a, ReasonInsufficientScalarQuota, queue, goldKey(want.cards), want.milli, best, bestWhy)
		if len(want.cards) > 1 {
			a.Refusal.Best = bestCard
		}
	}
	return on
}

// itemRoom returns the room for an item of a task on a card. firm: other tasks
// are on another card.
func (g *golden) itemRoom(queue string, j *goldJob, want goldWant, it *goldItem, card string) (r goldRoom, firm bool) {
	bound := ""
	if j != nil && it == nil {
		bound = j.firmKey(want.cards)
	} else if it != nil {
		bound = j.firm(it)
	}
	dim := g.dim[card]
	switch {
	case bound != "" && bound != card:
		return goldRoom{level: queue, limit: g.limit(queue, dim)}, true
	case it == nil:
		return g.chargeRoom(queue, dim, 0), false
	case !j.spreads(it.cards) && it.held() > it.hold[card]:
		return g.moveRoom(queue, dim, it.held()), false
	}
	return g.chargeRoom(queue, dim, it.hold[card]), false
}

// Operations. Each returns what the ledger's returns.

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
	if !g.put(next) {
		return Answer{Seq: g.seq}, ErrOverflow
	}
	a.Seq = g.seq + 1
	return a, nil
}

// put makes a record the one of its job, unless a sum would reach 2^53.
func (g *golden) put(j *goldJob) bool {
	old := g.jobs[j.id]
	g.jobs[j.id] = j
	if g.changed(); g.overflows() {
		delete(g.jobs, j.id)
		if old != nil {
			g.jobs[j.id] = old
		}
		g.changed()
		return false
	}
	for _, t := range j.tasks {
		g.tasks[t.id] = t
	}
	return true
}

// asks reports whether a request is for what the job has.
func (j *goldJob) asks(r *goldRequest) bool {
	if r.invalid || j.anyMix != r.anyMix {
		return false
	}
	for dim := range j.plain {
		if j.plain[dim].min != r.plain[dim] {
			return false
		}
	}
	type kind struct {
		key  string
		unit int64
	}
	has, wants := map[kind]int64{}, map[kind]int64{}
	for _, it := range j.items {
		if it.min > 0 {
			has[kind{goldKey(it.cards), it.unit}] = it.min
		}
	}
	for _, want := range r.items {
		wants[kind{goldKey(want.cards), want.unit}] = want.milli
	}
	return maps.Equal(has, wants)
}

func (g *golden) overflows() bool {
	for queue := range g.queues {
		for dim := range g.dims {
			if g.sum(queue, dim).full() >= 1<<53 {
				return true
			}
		}
	}
	return false
}

// commit charges a task on some cards, nil for all.
func (g *golden) commit(r *goldRequest, cards []string) (a Answer, err error) {
	if t := g.tasks[r.id]; t != nil {
		if !g.charges(t, r) || cards != nil && slices.ContainsFunc(t.cards(), func(card string) bool { return !slices.Contains(cards, card) }) {
			return Answer{Seq: g.seq}, ErrConflict
		}
		return Answer{OK: true, Repeat: true, Seq: g.seq, Charged: t.cards()}, nil
	}
	if j := g.jobs[r.job]; j != nil && j.queue != r.queue {
		return Answer{Seq: g.seq}, ErrConflict
	}
	a, items, on := g.allocatable(r, cards)
	if !a.OK {
		return a, nil
	}
	j := g.jobs[r.job]
	if j == nil {
		j = &goldJob{id: r.job, queue: r.queue, anyMix: g.cfg.AnyMix}
	}
	at := make([]int, len(items))
	for i, it := range items {
		at[i] = slices.Index(j.items, it)
	}
	j = j.clone()
	t := &goldTask{id: r.id, job: r.job, seq: g.seq + 1, state: taskCommitted}
	for dim, amount := range r.plain {
		covered := min(amount, j.plain[dim].hold)
		j.plain[dim].hold -= covered
		t.plain[dim] = goldDraw{amount, covered}
	}
	for i := range at {
		var it *goldItem
		if at[i] >= 0 {
			it = j.items[at[i]]
		}
		t.charges = append(t.charges, j.charge(r.items[i], it, on[i]))
	}
	j.tasks = append(j.tasks, t)
	if !g.put(j) {
		return Answer{Seq: g.seq}, ErrOverflow
	}
	delete(g.waiting, r.id)
	a.Seq, a.Charged = g.seq+1, t.cards()
	return a, nil
}

func (t *goldTask) cards() (cards []string) {
	for _, c := range t.charges {
		if !goldOutput(c.card) {
			cards = append(cards, c.card)
		}
	}
	return cards
}

// charges reports whether a task is charged what a request asks for.
func (g *golden) charges(t *goldTask, r *goldRequest) bool {
	if r.invalid || t.job != r.job || g.jobs[t.job].queue != r.queue || len(t.charges) != len(r.items) {
		return false
	}
	for dim := range t.plain {
		if t.plain[dim].amount != r.plain[dim] {
			return false
		}
	}
	for i, c := range t.charges {
		if goldKey(c.cards) != goldKey(r.items[i].cards) || c.milli != r.items[i].milli {
			return false
		}
	}
	return true
}

// charge charges an item of a task, and moves holds to its card if need be.
func (j *goldJob) charge(want goldWant, it *goldItem, card string) *goldCharge {
	c := &goldCharge{cards: want.cards, item: it, card: card, milli: want.milli}
	if it == nil {
		c.binds = !j.anyMix && len(want.cards) > 1
		return c
	}
	if j.spreads(it.cards) {
		for _, from := range slices.Backward(it.cards) {
			if lack := want.milli - it.hold[card]; from != card && lack > 0 {
				it.move(from, card, min(lack, it.hold[from]))
			}
		}
	} else {
		for _, from := range it.cards {
			it.move(from, card, it.hold[from])
		}
	}
	c.covered = min(want.milli, it.hold[card])
	it.add(card, -c.covered)
	return c
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
			limit := only
			if tried.tasks[tasks[i].id] != nil {
				limit = nil
			}
			a, err = tried.commit(tasks[i], limit)
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
	if repeats == len(tasks) {
		return Answer{OK: true, Repeat: true, Seq: g.seq, Charged: slices.Concat(charged...)}, nil
	}
	g.jobs, g.tasks, g.waiting = tried.jobs, tried.tasks, tried.waiting
	g.changed()
	return Answer{OK: true, Seq: g.seq + 1, Charged: slices.Concat(charged...)}, nil
}

// notTogether is the refusal of a task that had to be where the rest of its gang is: that
// of all its alternatives, if none of them has room beside those that are tried. A card
// that only the gang excludes is told with the room that it has for the task alone.
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
		o.OK, o.Why = false, ReasonNotTogether
		f := &a.Refusal
		if f.Reason != ReasonInsufficientScalarQuota || f.Card != goldKey(r.items[o.Item].cards) {
			continue
		}
		if excluded(f.Why) || f.Why == ReasonNotTogether && o.Amount > f.Room {
			f.Why, f.Room, f.Level, f.Limit = o.Why, o.Amount, o.Level, o.Limit
			if f.Best != "" {
				f.Best = o.Card
			}
		}
	}
	return a
}

// together orders the tasks of a gang: those without alternatives, then the rest,
// without AnyMix those of one job and the same keys together.
func (g *golden) together(tasks []*goldRequest) (groups [][]int) {
	group := map[string]int{}
	for i, r := range tasks {
		if goldMultis(r) == "" {
			groups = append(groups, []int{i})
		}
	}
	for i, r := range tasks {
		anyMix, multis := g.cfg.AnyMix, goldMultis(r)
		if j := g.jobs[r.job]; j != nil {
			anyMix = j.anyMix
		}
		if multis == "" {
			continue
		}
		at, ok := group[r.job+" "+multis]
		if !anyMix && ok {
			groups[at] = append(groups[at], i)
			continue
		}
		group[r.job+" "+multis] = len(groups)
		groups = append(groups, []int{i})
	}
	return groups
}

func goldMultis(r *goldRequest) string {
	var keys []string
	for _, want := range r.items {
		if !r.invalid && len(want.cards) > 1 {
			keys = append(keys, goldKey(want.cards))
		}
	}
	return strings.Join(keys, " ")
}

// firstForAll returns the cards that a group of tasks may use: for each of their
// keys the first that has room for all of them, or else for the most.
func (g *golden) firstForAll(tasks []*goldRequest, group []int) (cards []string) {
	for _, want := range tasks[group[0]].items {
		if len(want.cards) == 1 {
			continue
		}
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
	g = g.clone()
	first := tasks[group[0]]
	if g.queues[first.queue] == nil {
		return 0
	}
	j := g.jobs[first.job]
	if j == nil {
		j = &goldJob{id: first.job, queue: first.queue, anyMix: g.cfg.AnyMix}
		g.jobs[j.id] = j
	}
	for _, i := range group {
		r := tasks[i]
		if g.tasks[r.id] != nil {
			n++
			continue
		}
		matched := j.matches(r.items)
		t := &goldTask{id: r.id, job: r.job}
		for k, want := range r.items {
			if goldKey(want.cards) != key {
				continue
			}
			a := Answer{OK: true}
			if g.choose(&a, j.queue, j, k, want, matched[k], []string{card}) == "" {
				return n
			}
			t.charges = append(t.charges, j.charge(want, matched[k], card))
		}
		j.tasks = append(j.tasks, t)
		g.changed()
		n++
	}
	return n
}

// giveBack is Rollback, and with ended Release.
func (g *golden) giveBack(ended bool, ids []string) (known, changed bool) {
	known = true
	for _, id := range ids {
		t := g.tasks[id]
		if t == nil && ended && g.waiting[id] != nil {
			delete(g.waiting, id)
			changed = true
			continue
		}
		if t == nil {
			known = false
			continue
		}
		changed = true
		j := g.jobs[t.job]
		at := slices.Index(j.tasks, t)
		later := j.tasks[at+1:]
		for dim, d := range t.plain {
			if ended {
				j.plain[dim].min -= d.covered
				continue
			}
			free := d.covered
			for _, next := range later {
				drawn := min(free, next.plain[dim].amount-next.plain[dim].covered)
				next.plain[dim].covered += drawn
				free -= drawn
			}
			j.plain[dim].hold += free
		}
		for _, c := range t.charges {
			if c.item == nil {
				continue
			}
			if ended {
				c.item.min -= c.covered
				continue
			}
			free := c.covered
			for _, next := range later {
				for _, e := range next.charges {
					if e.item == c.item && e.card == c.card {
						drawn := min(free, e.milli-e.covered)
						e.covered += drawn
						free -= drawn
					}
				}
			}
			c.item.add(c.card, free)
		}
		j.tasks = slices.Delete(j.tasks, at, at+1)
		delete(g.tasks, id)
		if !j.reserved && len(j.tasks) == 0 {
			g.drop(j)
		}
	}
	g.changed()
	return known, changed
}

// drop removes a record, and orphans that have nothing left.
func (g *golden) drop(j *goldJob) {
	for _, t := range j.tasks {
		delete(g.tasks, t.id)
	}
	delete(g.jobs, j.id)
	g.prune()
	g.changed()
}

// prune removes orphans without jobs. What is below one comes below the queue above.
func (g *golden) prune() {
	if g.keepOrphans {
		return
	}
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
		g.above = nil
	}
}

func (g *golden) releaseJob(id string) bool {
	j := g.jobs[id]
	if j == nil {
		return false
	}
	g.drop(j)
	return true
}

// expire takes the holds of jobs that were reserved before seq and never seen. A
// job that has neither holds nor charges goes, one with charges and no holds has
// nothing to lose.
func (g *golden) expire(seq uint64) (expired []string) {
	for _, id := range slices.Sorted(maps.Keys(g.jobs)) {
		j := g.jobs[id]
		var held int64
		g.amounts(j, func(_ int, s goldSum) { held += s.held })
		if !j.reserved || j.seen || j.seq >= seq || held == 0 && len(j.tasks) > 0 {
			continue
		}
		expired = append(expired, id)
		for dim := range j.plain {
			j.plain[dim].min -= j.plain[dim].hold
			j.plain[dim].hold = 0
		}
		for _, it := range j.items {
			it.min -= it.held()
			clear(it.hold)
		}
		if len(j.tasks) == 0 {
			g.drop(j)
		}
		g.changed()
	}
	return expired
}

// setQueues replaces the queues; those that are missing and have jobs become
// orphans. It fails if a sum would reach 2^53.
func (g *golden) setQueues(queues []goldQueue) (orphans []string, err error) {
	old, limits := g.queues, g.limits
	g.queues = map[string]*goldQueue{}
	for i := range queues {
		q := queues[i]
		g.queues[q.name] = &q
	}
	for _, j := range g.jobs {
		if g.queues[j.queue] == nil {
			orphans = append(orphans, j.queue)
			g.queues[j.queue] = &goldQueue{name: j.queue, parent: old[j.queue].parent, priority: old[j.queue].priority, state: StateClosed, configured: true, orphan: true}
		}
	}
	for _, name := range orphans { // below the nearest queue above that is still there
		q := g.queues[name]
		for q.parent != "" && g.queues[q.parent] == nil {
			q.parent = old[q.parent].parent
		}
	}
	g.above, g.limits = nil, nil
	if g.changed(); g.overflows() {
		g.queues, g.above, g.limits = old, nil, limits
		g.changed()
		return nil, ErrOverflow
	}
	slices.Sort(orphans)
	return orphans, nil
}

// snapshot is the state as canonical JSON: package json sorts keys.
func (g *golden) snapshot() []byte {
	type object = map[string]any
	flag := func(o object, name string, set bool) {
		if set {
			o[name] = true
		}
	}
	amounts := func(of map[string]int64, zero bool) object {
		o := object{}
		for dim, amount := range of {
			if goldOutput(dim) {
				dim = "output:" + dim
			} else if len(dim) == 1 {
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
	plain := func(cpu, memory int64) object { return object{"cpu": cpu, "memory": memory} }

	config := object{
		"keys": object{
			"deserved": "", "guarantee": "", "name": "volcano.sh/card.name",
			"quota": "volcano.sh/card.quota", "request": "volcano.sh/card.request",
		},
		"missing": map[bool]string{false: "denies", true: "unlimited"}[g.cfg.MissingUnlimited], "mix": goldMix[g.cfg.AnyMix],
		"parser": "strict", "unnamed": "as-any",
	}
	flag(config, "countReleasing", g.cfg.CountReleasing)
	flag(config, "enforceGuarantee", g.cfg.EnforceGuarantee)
	flag(config, "unlimitedCPUMemory", g.cfg.UnlimitedCPUMemory)

	known := []object{}
	for _, card := range slices.Sorted(maps.Keys(g.known)) {
		known = append(known, object{"card": card, "resources": []string{"nvidia.com/gpu"}})
	}

	queues := []object{}
	for _, name := range slices.Sorted(maps.Keys(g.queues)) {
		q := g.queues[name]
		o := object{
			"name": name, "parent": q.parent, "priority": q.priority, "state": strings.ToLower(string(q.state)),
			"capability": amounts(q.capability, true), "deserved": object{}, "guarantee": amounts(q.guarantee, false),
		}
		flag(o, "orphan", q.orphan)
		if len(q.denied) > 0 {
			denied := object{}
			for card, text := range q.denied {
				denied["card:"+card] = text
			}
			o["denied"] = denied
		}
		queues = append(queues, o)
	}

	jobs, indices := []object{}, map[*goldItem]int{}
	bindings := map[string][]string{} // keys that bind, by job
	for _, id := range slices.Sorted(maps.Keys(g.jobs)) {
		j := g.jobs[id]
		items := []object{}
		for i, it := range j.items {
			indices[it] = i
			o := object{"holds": it.hold, "key": goldKey(it.cards), "min": it.min, "unit": it.unit}
			flag(o, "output", goldOutput(it.cards[0]))
			items = append(items, o)
		}
		keys := map[string]bool{}
		for _, t := range j.tasks {
			for _, c := range t.charges {
				if c.binds {
					keys[goldKey(c.cards)] = true
				}
			}
		}
		bindings[id] = slices.Sorted(maps.Keys(keys))
		for _, key := range bindings[id] {
			items = append(items, object{"holds": object{}, "implicit": true, "key": key, "min": 0, "unit": 0})
		}
		o := object{
			"id": id, "items": items, "min": plain(j.plain[0].min, j.plain[1].min), "policy": goldMix[j.anyMix], "queue": j.queue, "seq": j.seq,
		}
		flag(o, "reserved", j.reserved)
		flag(o, "seen", j.seen)
		jobs = append(jobs, o)
	}

	tasks := []object{}
	for _, id := range slices.Sorted(maps.Keys(g.tasks)) {
		t := g.tasks[id]
		j := g.jobs[t.job]
		charges := []object{}
		for _, c := range t.charges {
			o := object{"card": c.card, "covered": c.covered, "key": goldKey(c.cards), "milli": c.milli}
			flag(o, "output", goldOutput(c.card))
			if c.item != nil {
				o["item"] = indices[c.item]
			} else if c.binds {
				o["item"] = len(j.items) + slices.Index(bindings[t.job], goldKey(c.cards))
			}
			charges = append(charges, o)
		}
		tasks = append(tasks, object{
			"id": id, "job": t.job, "queue": j.queue, "seq": t.seq, "order": slices.Index(j.tasks, t),
			"cpu": t.plain[0].amount, "memory": t.plain[1].amount, "covered": plain(t.plain[0].covered, t.plain[1].covered),
			"charges": charges, "state": []string{"pending", "committed", "confirmed"}[t.state],
		})
	}
	for id, r := range g.waiting {
		charges := []object{}
		for _, want := range r.items {
			o := object{"card": "", "covered": 0, "key": goldKey(want.cards), "milli": want.milli}
			flag(o, "output", goldOutput(want.cards[0]))
			charges = append(charges, o)
		}
		tasks = append(tasks, object{
			"id": id, "job": r.job, "queue": r.queue, "cpu": r.plain[0], "memory": r.plain[1], "charges": charges, "state": "pending",
			"seq": 0, "order": 0, "covered": plain(0, 0),
		})
	}
	slices.SortFunc(tasks, func(a, b object) int { return strings.Compare(a["id"].(string), b["id"].(string)) })
	doc := object{
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

var goldMix = map[bool]string{false: "same-card", true: "any-mix"}
