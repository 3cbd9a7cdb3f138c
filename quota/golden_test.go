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

	waiting map[string]goldRequest // tasks that were pending in the last view
}

// dims are what is counted.
func (g *golden) dims() []string { return slices.Concat([]string{"cpu", "memory"}, g.cards, g.outs) }

type goldQueue struct {
	name, parent string
	priority     int32
	state        State
	capability   map[string]int64 // what it mentions
	denied       map[string]bool  // cards whose quota can't be read
	guarantee    map[string]int64
	orphan       bool
}

// goldItem is an amount of one of some cards, or of cpu, memory or an output: an item of a
// request or a min, or a charge.
type goldItem struct {
	cards        []string
	amount, unit int64            // unit: of a min
	hold         map[string]int64 // of a min, by card

	card    string // of a charge
	item    int    // of a charge: the item of the job that it counts against, or one of these:
	covered int64
}

const (
	goldNoItem = -1 - iota // it counts against none
	goldBinds              // against none, but binds the tasks of the job's key to its card
)

// goldRequest asks for a job's min or for a task. The first two items are cpu and memory, and
// outputs come last.
type goldRequest struct {
	id, job, queue string // job: of a task
	anyMix         bool   // of a job
	items          []goldItem
	invalid        bool   // nobody knows what is requested
	node           string // that a task is bound to
}

// goldJob is a reservation, or the charges of a job without one.
type goldJob struct {
	goldRequest      // items in the order of goldItem.compare
	reserved    bool // its min is known
	seen        bool
	seq         uint64
	tasks       []goldTask // in commit order
}

type goldTask struct {
	id, node string // node: that has or had the cards; empty: not known
	seq      uint64
	state    taskState
	charges  []goldItem
}

// compare puts cpu and memory first, then singles by name, multis by key, and outputs.
func (it goldItem) compare(other goldItem) int {
	kind := func(it goldItem) int {
		switch {
		case goldPlain(it.cards[0]):
			return 0
		case goldOutput(it.cards[0]):
			return 3
		}
		return min(len(it.cards), 2)
	}
	return cmp.Or(cmp.Compare(kind(it), kind(other)), slices.Compare(it.cards, other.cards), cmp.Compare(it.unit, other.unit))
}

// same reports whether the cards are the same, in the same order.
func (it goldItem) same(other goldItem) bool { return slices.Equal(it.cards, other.cards) }

// goldWants are items as a task wants them: without what only a min or a charge has.
func goldWants(items []goldItem) (wants []goldItem) {
	for _, it := range items {
		wants = append(wants, goldItem{cards: it.cards, amount: it.amount})
	}
	return wants
}

// goldPlains are the items of some cpu and memory.
func goldPlains(cpu, memory int64) []goldItem {
	return []goldItem{{cards: []string{"cpu"}, amount: cpu, unit: 1}, {cards: []string{"memory"}, amount: memory, unit: 1}}
}

// goldOutputs are the outputs that a ledger may have.
var goldOutputs = []string{"x", "y"}

func goldOutput(dim string) bool { return slices.Contains(goldOutputs, dim) }
func goldPlain(dim string) bool  { return dim == "cpu" || dim == "memory" }
func goldCard(dim string) bool   { return !goldOutput(dim) && !goldPlain(dim) }

func goldKey(cards []string) string { return strings.Join(cards, "|") }

// goldPlus adds amounts that may be unlimited.
func goldPlus(a, b int64) int64 { return min(a, Unlimited-b) + b }

func newGolden(cfg Config, outs []string) *golden {
	return &golden{cfg: cfg, outs: outs, known: map[string]bool{}, queues: map[string]*goldQueue{}, jobs: map[string]*goldJob{}, waiting: map[string]goldRequest{}}
}

// clone makes a ledger on which something can be tried: a reservation or a charge replaces the
// record of its job.
func (g *golden) clone() *golden {
	c := *g
	c.jobs, c.waiting = maps.Clone(g.jobs), maps.Clone(g.waiting)
	return &c
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

// state is everything that was recorded as text, to be compared.
func (g *golden) state() string {
	b := fmt.Appendf(nil, "%d\n", g.seq)
	for _, name := range slices.Sorted(maps.Keys(g.queues)) {
		q := g.queues[name]
		b = fmt.Appendln(b, q.name, "<", q.parent, q.priority, q.state, q.orphan)
	}
	for _, id := range slices.Sorted(maps.Keys(g.jobs)) {
		b = fmt.Appendln(b, g.jobs[id].text())
	}
	return string(fmt.Appendf(b, "%+v", g.waiting))
}

func (j *goldJob) text() string { return fmt.Sprintf("%+v", j) }

// Records: 1, 7.

// task returns a charged task and its job.
func (g *golden) task(id string) (*goldJob, *goldTask) {
	for _, j := range g.jobs {
		if at := slices.IndexFunc(j.tasks, func(t goldTask) bool { return t.id == id }); at >= 0 {
			return j, &j.tasks[at]
		}
	}
	return nil, nil
}

// record returns the record of a job of a queue, a new one if there is none.
func (g *golden) record(queue, job string) *goldJob {
	if j := g.jobs[job]; j != nil && j.queue == queue {
		return j
	}
	return &goldJob{goldRequest: goldRequest{id: job, queue: queue, anyMix: g.cfg.AnyMix, items: goldPlains(0, 0)}}
}

// put keeps the record of a job. One without min and tasks is none.
func (g *golden) put(j *goldJob) {
	if g.jobs[j.id] = j; !j.reserved && len(j.tasks) == 0 {
		delete(g.jobs, j.id)
	}
}

func (it goldItem) held() (sum int64) {
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
	if it.hold == nil {
		it.hold = map[string]int64{}
	}
	if it.hold[card] += amount; it.hold[card] == 0 {
		delete(it.hold, card)
	}
}

// charges are those of all tasks, in commit order.
func (j *goldJob) charges(yield func(*goldTask, *goldItem) bool) {
	for i := range j.tasks {
		t := &j.tasks[i]
		for k := range t.charges {
			if !yield(t, &t.charges[k]) {
				return
			}
		}
	}
}

// covered is what charges on a card cover of an item, "": on any.
func (j *goldJob) covered(item int, card string) (sum int64) {
	for _, c := range j.charges {
		if c.item == item && (card == "" || card == c.card) {
			sum += c.covered
		}
	}
	return sum
}

// left is the part of an item's min that no charge covers.
func (j *goldJob) left(item int) int64 { return j.items[item].amount - j.covered(item, "") }

// cut makes the min what charges cover of it.
func (j *goldJob) cut() {
	for i := range j.items {
		j.items[i].amount = j.covered(i, "")
		clear(j.items[i].hold)
	}
}

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
func (j *goldJob) spreads(it goldItem) bool { return j.anyMix && len(it.cards) > 1 }

// firm is the card that a want of a task is bound to, if any: by the first charge of
// its item or, without an item, by the first one that binds its key.
func (j *goldJob) firm(want goldItem, item int) string {
	if item >= 0 && j.spreads(j.items[item]) {
		return ""
	}
	for _, c := range j.charges {
		if c.item == item && (item >= 0 || c.same(want)) {
			return c.card
		}
	}
	return ""
}

// Sums and limits: 1, 9.

type goldSum struct{ allocated, held, elastic int64 }

func (s goldSum) floor() int64 { return s.allocated - s.elastic + s.held }
func (s goldSum) full() int64  { return s.allocated + s.held }

// goldSumOf adds up what jobs have. Elastic is the uncovered part of the charges of a job whose
// min is known.
func goldSumOf(dim string, jobs ...*goldJob) (s goldSum) {
	for _, j := range jobs {
		for _, it := range j.items {
			s.held += it.hold[dim]
		}
		for _, c := range j.charges {
			if c.card == dim {
				s.allocated += c.amount
				if j.reserved {
					s.elastic += c.amount - c.covered
				}
			}
		}
	}
	return s
}

// under lists the jobs of a queue and of those below it: a charge counts in every ancestor.
func (g *golden) under(queue string) (jobs []*goldJob) {
	for _, j := range g.jobs {
		if slices.Contains(g.levels(j.queue), g.queues[queue]) {
			jobs = append(jobs, j)
		}
	}
	return jobs
}

// charged is what is charged of a card on the nodes that are known. More than goldMost of a
// task is no amount of a node.
func (g *golden) charged(card string) map[string]int64 {
	on := map[string]int64{}
	for _, j := range g.jobs {
		for t, c := range j.charges {
			if t.node != "" && c.card == card {
				on[t.node] += min(c.amount, goldMost)
			}
		}
	}
	return on
}

const goldMost = 1 << 40

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

// capability is what a queue may have (1): what it mentions, and else nothing or, at a parent,
// of an output, with MissingUnlimited or of a queue that leaves it to those above, everything.
func (g *golden) capability(q *goldQueue, dim string) int64 {
	amount, mentioned := q.capability[dim]
	switch {
	case q.orphan || q.denied[dim]:
		return 0
	case mentioned:
		return amount
	case !g.isLeaf(q.name), goldPlain(dim) && g.cfg.MissingUnlimited, goldOutput(dim), len(q.capability)+len(q.denied) == 0 && g.limitedAbove(q, dim):
		return Unlimited
	}
	return 0
}

// limitedAbove reports whether a queue above says something of a dimension.
func (g *golden) limitedAbove(q *goldQueue, dim string) bool {
	return slices.ContainsFunc(g.levels(q.parent), func(above *goldQueue) bool {
		_, mentioned := above.capability[dim]
		return mentioned || above.denied[dim]
	})
}

// limit is the capability or, with EnforceGuarantee, min(capability, max(0, T - sum of
// guarantees) + guarantee) (9). T is the limit above or what the cluster has (3), of a card on a
// node the greater of what is allocatable and what is charged. An orphan has no guarantee.
func (g *golden) limit(q *goldQueue, dim string) int64 {
	limit, total, parent := g.capability(q, dim), g.total[dim], g.queues[q.parent]
	unknown := func() bool { return slices.Max(slices.Collect(maps.Values(g.total))) == 0 }
	switch {
	case !g.cfg.EnforceGuarantee, parent == nil && (goldOutput(dim) || unknown()):
		return limit
	case parent != nil:
		total = g.limit(parent, dim)
	case goldCard(dim):
		for node, charged := range g.charged(dim) {
			total += max(0, charged-g.nodes[node][dim])
		}
	}
	if total == Unlimited {
		return limit
	}
	for _, sibling := range g.queues {
		if sibling.parent == q.parent {
			total -= sibling.guarantee[dim]
		}
	}
	return min(limit, max(0, total)+q.guarantee[dim])
}

// Rooms: the largest amounts that would be admitted.

// room returns the least room of the levels of a queue, the lowest level on ties (6). test
// returns the largest amount that passes the tests of one level, and what limits it. That its
// quota lacks the card comes before anything else.
func (g *golden) room(queue, dim string, test func(s goldSum, limit int64) (int64, Reason)) (r Headroom) {
	for i, q := range g.levels(queue) {
		limit := g.limit(q, dim)
		room, why := int64(Unlimited), ReasonOverCapacity
		if limit != Unlimited {
			room, why = test(goldSumOf(dim, g.under(q.name)...), limit)
		}
		if _, mentioned := q.capability[dim]; limit == 0 && q.denied[dim] {
			why = ReasonUnreadableQuota
		} else if limit == 0 && !mentioned {
			why = ReasonNoQuota
		}
		if i == 0 || room < int64(r.Room) {
			r = Headroom{Resource: dim, Why: why, Room: Amount(room), Level: q.name, Limit: Amount(limit)}
		}
	}
	return r
}

// minRoom is the room for an item of a min on a card: floor + min <= limit (5). What the job
// itself has in the floor is taken out, and what its items before this one have is put in.
// unheld: as if nothing were held for other jobs.
func (g *golden) minRoom(old, next *goldJob, index int, card string, unheld bool) Headroom {
	own := goldSumOf(card, old)
	less := own.floor()
	for i, before := range next.items[:index] {
		less -= before.hold[card] + next.covered(i, card)
	}
	return g.room(next.queue, card, func(s goldSum, limit int64) (int64, Reason) {
		if unheld {
			s.held = own.held
		}
		return limit - (s.floor() - less), ReasonOverCapacity
	})
}

// chargeRoom is the room for a charge q (6). With c = min(q, held) covered, allocated + q <= limit
// and full + (q - c) <= limit; c = q has no promise test. If a hold h moves to the card with the
// charge, full + max(h, q) <= limit.
func (g *golden) chargeRoom(queue, dim string, amount, held, moving int64) Headroom {
	r := g.room(queue, dim, func(s goldSum, limit int64) (int64, Reason) {
		hard, why := limit-s.allocated, ReasonOverCapacity
		promise := goldFree(limit-s.full(), held, 0)
		if promise < hard {
			why = ReasonPromised
		}
		if promise > 0 && moving > max(0, hard) {
			why = ReasonHoldTooLarge
		}
		return min(hard, goldFree(limit-s.full(), held, moving)), why
	})
	return g.within(amount, r, queue, held, moving)
}

// goldFree is how much may come where something is free, and held for who comes. What is moving
// there comes as a whole or not at all.
func goldFree(free, held, moving int64) int64 {
	if held > 0 {
		free = max(0, free)
	}
	if free += held; moving > free {
		free = min(0, free)
	}
	return free
}

// within is the smaller room, of what can be counted only if that is too small for an amount.
// Beyond what is there that is, whatever the limits are (15): the tree has less than 2^53, and a
// queue may come to less than 2^52 in any case.
func (g *golden) within(amount int64, r Headroom, queue string, held, moving int64) Headroom {
	levels := g.levels(queue)
	free := func(level string, most int64) int64 { return most - goldSumOf(r.Resource, g.under(level)...).full() }
	level, most := levels[len(levels)-1].name, int64(1<<53-1)
	room := free(level, most)
	if own := free(queue, 1<<52-1); own > room {
		level, most, room = queue, 1<<52-1, own
	}
	if room = goldFree(room, held, moving); amount > room && room < int64(r.Room) {
		r.Why, r.Room, r.Level, r.Limit = ReasonTooLarge, Amount(room), level, Amount(most)
	}
	return r
}

// itemRoom is the room for an item of a task on a card (6).
func (g *golden) itemRoom(j *goldJob, want goldItem, item int, card string) Headroom {
	if firm := j.firm(want, item); firm != "" && firm != card {
		return Headroom{Resource: card, Why: ReasonFirmElsewhere, Level: j.queue, Limit: Amount(g.limit(g.queues[j.queue], card))}
	}
	var held, moving int64
	if item >= 0 {
		it := j.items[item]
		if held = it.hold[card]; !j.spreads(it) {
			moving = it.held() - held
		}
	}
	return g.chargeRoom(j.queue, card, want.amount, held, moving)
}

// Refusals: 6.

// goldRefuseAmount is the refusal of an amount, with the numbers of its best alternative.
func goldRefuseAmount(queue string, want goldItem, best Headroom) Refusal {
	f := Refusal{Reason: ReasonInsufficientScalarQuota, Queue: queue, Requested: Amount(want.amount), Headroom: best, output: goldOutput(want.cards[0])}
	if len(want.cards) > 1 {
		f.Best = best.Resource
	}
	switch f.Resource = goldKey(want.cards); f.Resource {
	case "cpu":
		f.Reason = ReasonInsufficientCPUQuota
	case "memory":
		f.Reason = ReasonInsufficientMemoryQuota
	}
	return f
}

// refuses makes the checks that come before amounts (5): the queue exists, is a leaf, and it and
// all ancestors are open; it is known what is requested, and something of its capability.
func (g *golden) refuses(r *goldRequest) (f Refusal) {
	q := g.queues[r.queue]
	closed := slices.IndexFunc(g.levels(r.queue), func(q *goldQueue) bool { return q.state != StateOpen })
	above := func(dim string) bool { return g.limitedAbove(q, dim) }
	something := slices.ContainsFunc(r.items, func(it goldItem) bool { return it.amount > 0 })
	switch {
	case q == nil:
		f.Reason = ReasonUnknownQueue
	case !g.isLeaf(r.queue):
		f.Reason = ReasonQueueNotLeaf
	case closed >= 0:
		f.Reason, f.Level = ReasonQueueNotOpen, g.levels(r.queue)[closed].name
	case r.invalid:
		f.Reason = ReasonGetTaskRequestResourceFailed
	case something && !g.cfg.MissingUnlimited && len(q.capability) == 0 && (len(q.denied) > 0 || !slices.ContainsFunc(g.dims(), above)):
		f.Reason = ReasonEmptyQueueCapability
	default:
		return f
	}
	f.Queue, f.Why = r.queue, f.Reason
	return f
}

// Enqueueable: 5.

// enqueueable decides on a job, and returns its record as it would be.
func (g *golden) enqueueable(r *goldRequest) (a Answer, next *goldJob) {
	a = Answer{Seq: g.seq, Refusal: g.refuses(r)}
	old := g.record(r.queue, r.id)
	next = g.drawn(r, old)
	for i := 0; i < len(next.items) && a.Refusal.Reason == ""; i++ {
		g.fill(&a, old, next, i)
	}
	a.OK = a.Refusal.Reason == ""
	return a, next
}

// drawn returns the record of a job with a new min, of which nothing is held yet, and its
// charges drawn against it in commit order.
func (g *golden) drawn(r *goldRequest, old *goldJob) *goldJob {
	next := old.clone()
	if !next.reserved {
		next.seq = g.seq + 1
	}
	next.anyMix, next.reserved, next.items, next.tasks = r.anyMix, true, nil, nil
	for _, it := range slices.SortedFunc(slices.Values(r.items), goldItem.compare) {
		it.hold = map[string]int64{it.cards[0]: it.amount}
		next.items = append(next.items, it)
	}
	for _, t := range old.clone().tasks {
		next.charge(t)
	}
	for _, it := range next.items {
		clear(it.hold)
	}
	return next
}

// fill finds the holds of an item of a min, left to right, on top of those of the items before
// it (5): of one that spreads, on each alternative as many whole units as it has room for, and else
// the whole item on the first one with room, or on the firm one. If there is no room, it says so,
// and what was found stays. The refusal has the numbers of the roomiest alternative or, of an
// item that spreads, the sums.
func (g *golden) fill(a *Answer, old, next *goldJob, index int) bool {
	it := &next.items[index]
	spreads, firm, left := next.spreads(*it), next.firm(*it, index), next.left(index)
	var best Headroom
	var sum, limits, unheldSum int64
	fits, unheldFits := true, true // what charges cover
	unit, whys := it.unit, map[Reason]bool{}
	if !spreads {
		unit = max(1, left)
	}
	for _, card := range it.cards {
		if firm != "" && firm != card {
			continue
		}
		covered := next.covered(index, card)
		whole := func(r Headroom) int64 { // what can be had of a room
			if r.Room == Unlimited {
				return Unlimited
			}
			room := int64(r.Room)
			return max(0, min(room, covered)) + max(0, room-covered)/unit*unit
		}
		r, unheld := g.minRoom(old, next, index, card, false), g.minRoom(old, next, index, card, true)
		fits, unheldFits = fits && covered <= max(0, int64(r.Room)), unheldFits && covered <= max(0, int64(unheld.Room))
		whys[r.Why] = true
		if r.Why == ReasonOverCapacity && min(left+covered, whole(unheld)) > whole(r) && (spreads || it.amount <= int64(unheld.Room)) {
			r.Why = ReasonPromised
		}
		asked := it.amount
		if spreads {
			asked = covered + max(0, min(left, whole(r)-covered))
		}
		if !spreads || asked > covered { // where limits leave nothing more, nothing has to be counted
			r = g.within(asked, r, next.queue, covered+old.vacated(next, index, card), 0)
		}
		whys[r.Why] = true
		more := max(0, min(left, whole(r)-covered))
		it.add(card, more)
		left -= more
		if goldCard(card) {
			r.Item = index - 2
			a.Options = append(a.Options, r)
		}
		if best.Level == "" || r.Room > best.Room {
			best = r
		}
		sum, limits, unheldSum = goldPlus(sum, whole(r)), goldPlus(limits, int64(r.Limit)), goldPlus(unheldSum, whole(unheld))
	}
	if left == 0 && fits {
		a.Options = nil
		return true
	}
	if spreads {
		best.Resource, best.Room, best.Limit = "", Amount(sum), Amount(limits)
		for _, why := range []Reason{ReasonNoQuota, ReasonUnreadableQuota, ReasonOverCapacity, ReasonTooLarge} {
			if whys[why] {
				best.Why = why
			}
		}
		if best.Why == ReasonOverCapacity && unheldSum >= it.amount && unheldFits {
			best.Why = ReasonPromised
		}
	}
	a.Refusal = goldRefuseAmount(next.queue, *it, best)
	return false
}

// vacated is what a job holds on a card and won't hold with another min: less what the
// items of that before one hold.
func (j *goldJob) vacated(next *goldJob, index int, card string) int64 {
	held := goldSumOf(card, j).held
	for _, before := range next.items[:index] {
		held -= before.hold[card]
	}
	return held
}

// Allocatable: 6.

// matches returns the items that the wants of a task count against, or goldBinds: different
// ones, each the one with the want's key, same unit first, else the one with the fewest
// alternatives that contain all of its own; items with a hold go first, ties: the first;
// a firm one only if the task lists the firm card.
func (j *goldJob) matches(wants []goldItem) (matched []int) {
	last := func(is bool) int { return map[bool]int{true: 1}[is] }
	for _, want := range wants {
		best, least := goldBinds, []int(nil)
		for i, it := range j.items {
			same, firm := it.same(want), j.firm(it, i)
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
// item the first card with room.
func (g *golden) allocatable(r *goldRequest, cards []string) (a Answer, on []string) {
	a = Answer{Seq: g.seq, Refusal: g.refuses(r)}
	if a.Refusal.Reason == "" {
		j := g.record(r.queue, r.job)
		for i, item := range j.matches(r.items) {
			on = append(on, g.choose(&a, j, i, r.items[i], item, cards))
		}
	}
	a.OK = a.Refusal.Reason == ""
	return a, on
}

// choose lists the alternatives of an item of a task, and returns the first with room.
func (g *golden) choose(a *Answer, j *goldJob, index int, want goldItem, item int, cards []string) (on string) {
	var best Headroom
	for _, card := range want.cards {
		r := Headroom{Resource: card, Why: ReasonNotOnNode}
		if cards == nil || slices.Contains(cards, card) || !goldCard(card) {
			r = g.itemRoom(j, want, item, card)
		}
		if goldCard(card) {
			r.Item = index - 2
		}
		// Another card than the job's comes last.
		excluded := r.Why == ReasonNotOnNode || r.Why == ReasonFirmElsewhere
		if r.Why != ReasonNotOnNode && (best.Level == "" || !excluded && (best.Why == ReasonFirmElsewhere || r.Room > best.Room)) {
			best = r
		}
		if !excluded && (want.amount <= int64(r.Room) || want.amount == 0) {
			r.Why, on = "", cmp.Or(on, card)
		}
		if goldCard(card) {
			a.Options = append(a.Options, r)
		}
	}
	switch {
	case on != "" || a.Refusal.Reason != "":
	case best.Level == "":
		a.Refusal = Refusal{Reason: ReasonGetTaskRequestResourceFailed, Queue: j.queue, Headroom: Headroom{Item: index - 2, Resource: goldKey(want.cards), Why: ReasonNotOnNode}}
	default:
		a.Refusal = goldRefuseAmount(j.queue, want, best)
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
	if a.OK {
		g.put(next)
		a.Seq++
	}
	return a, nil
}

// asks reports whether a request is for what the job has. Items of which nothing is left don't
// count.
func (j *goldJob) asks(r *goldRequest) bool {
	has := slices.DeleteFunc(slices.Clone(j.items), func(it goldItem) bool { return it.amount == 0 && !goldPlain(it.cards[0]) })
	return !r.invalid && j.anyMix == r.anyMix &&
		slices.EqualFunc(has, r.items, func(a, b goldItem) bool { return a.compare(b) == 0 && a.amount == b.amount })
}

// commit charges a task on some cards, nil for all, which may be those of a node. That it is
// there counts if the node has so much: no commit makes the cluster larger.
func (g *golden) commit(r *goldRequest, cards []string, node string) (a Answer, err error) {
	if j, t := g.task(r.id); t != nil {
		elsewhere := cards != nil && slices.ContainsFunc(t.cards(), func(card string) bool { return !slices.Contains(cards, card) })
		if r.invalid || elsewhere || !j.has(t, r) {
			return Answer{Seq: g.seq}, ErrConflict
		}
		return Answer{OK: true, Repeat: true, Seq: g.seq, Charged: t.cards()}, nil
	}
	if j := g.jobs[r.job]; j != nil && j.queue != r.queue {
		return Answer{Seq: g.seq}, ErrConflict
	}
	a, on := g.allocatable(r, cards)
	if !a.OK {
		return a, nil
	}
	for i, card := range on {
		if goldCard(card) && g.charged(card)[node]+min(r.items[i].amount, goldMost) > g.nodes[node][card] {
			node = ""
		}
	}
	a.Seq, a.Charged = g.seq+1, g.charge(r, goldTask{id: r.id, node: node, seq: g.seq + 1, state: taskCommitted}, on)
	return a, nil
}

// has reports whether a task of the job is charged what a request asks for.
func (j *goldJob) has(t *goldTask, r *goldRequest) bool {
	same := func(a, b goldItem) bool { return a.same(b) && a.amount == b.amount }
	return j.id == r.job && j.queue == r.queue && slices.EqualFunc(t.charges, r.items, same)
}

// charge charges a task on some cards, and returns these. One without cards is on no node.
func (g *golden) charge(r *goldRequest, t goldTask, on []string) []string {
	t.charges = goldWants(r.items)
	for i, card := range on {
		t.charges[i].card = card
	}
	if len(t.cards()) == 0 {
		t.node = ""
	}
	j := g.record(r.queue, r.job).clone()
	j.charge(t)
	g.put(j)
	delete(g.waiting, r.id)
	return t.cards()
}

// charge makes the charges of a task, on their cards, count against the items of the job.
func (j *goldJob) charge(t goldTask) {
	for i, item := range j.matches(t.charges) {
		j.count(&t.charges[i], item)
	}
	j.tasks = append(j.tasks, t)
}

// count makes a charge count against an item, and moves holds to its card: under AnyMix what it
// lacks, from the rightmost alternative that holds, and else the whole hold. What runs on a card
// that isn't listed, or isn't the firm one, counts against nothing.
func (j *goldJob) count(c *goldItem, item int) {
	firm, listed := j.firm(*c, item), c.cards
	if item >= 0 {
		listed = j.items[item].cards
	}
	binds := item >= 0 || !j.anyMix && len(c.cards) > 1
	if !binds || !slices.Contains(listed, c.card) || firm != "" && firm != c.card {
		item = goldNoItem
	}
	if c.item, c.covered = item, 0; item < 0 {
		return
	}
	it := &j.items[item]
	for _, from := range slices.Backward(it.cards) {
		amount := it.hold[from]
		if j.spreads(*it) {
			amount = min(amount, max(0, c.amount-it.hold[c.card]))
		}
		it.add(from, -amount)
		it.add(c.card, amount)
	}
	c.covered = min(c.amount, it.hold[c.card])
	it.add(c.card, -c.covered)
}

// commitAll charges a gang; nothing of it stays if it fails.
func (g *golden) commitAll(tasks []*goldRequest) (a Answer, err error) {
	all, tried := Answer{OK: true, Repeat: true, Seq: g.seq}, g.clone()
	for i, r := range tasks {
		if slices.ContainsFunc(tasks[:i], func(o *goldRequest) bool { return o.id == r.id }) {
			return Answer{Seq: g.seq}, ErrConflict
		}
	}
	for _, group := range tried.together(tasks) {
		only := tried.firstForAll(group)
		for _, r := range group {
			cards := only
			if _, t := tried.task(r.id); t != nil {
				cards = nil
			}
			if a, err = tried.commit(r, cards, r.node); err != nil {
				return a, err
			}
			if !a.OK && only != nil {
				a = g.notTogether(a, tried, r)
			}
			if a.Task = r.id; !a.OK {
				return a, nil
			}
			if !a.Repeat {
				all.Repeat, all.Seq = false, a.Seq
			}
		}
	}
	for _, r := range tasks {
		_, t := tried.task(r.id)
		all.Charged = append(all.Charged, t.cards()...)
	}
	*g = *tried
	return all, nil
}

// notTogether is the refusal of a task that had to be where the rest of its gang is: the one
// for all its alternatives, if none of them has room with what is tried charged. A card
// that only the gang excludes has the room that it has for the task alone.
func (g *golden) notTogether(a Answer, tried *golden, r *goldRequest) Answer {
	if all, _ := tried.allocatable(r, nil); !all.OK {
		a = all
	}
	alone, _ := g.allocatable(r, nil)
	excluded := func(why Reason) bool { return why == ReasonFirmElsewhere || why == ReasonNotOnNode }
	for i := range a.Options {
		o, f := &a.Options[i], &a.Refusal
		if !excluded(o.Why) || excluded(alone.Options[i].Why) {
			continue
		}
		*o = alone.Options[i]
		o.Why = ReasonNotTogether
		if f.Reason == ReasonInsufficientScalarQuota && f.Item == o.Item && (excluded(f.Why) || f.Why == ReasonNotTogether && o.Room > f.Room) {
			*f = goldRefuseAmount(r.queue, r.items[2+o.Item], *o)
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
		case key == r.job:
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

// firstForAll returns the cards that a group of tasks may use, nil for any: for each of their
// keys the first that has room for all of them, one after the other, or else for the most.
func (g *golden) firstForAll(group []*goldRequest) (cards []string) {
	takes := func(card string, key goldItem) (n int) {
		tried := g.clone()
		for _, r := range group {
			_, on := tried.allocatable(r, []string{card})
			if _, t := tried.task(r.id); t == nil {
				if on == nil || on[slices.IndexFunc(r.items, key.same)] == "" {
					break
				}
				tried.charge(r, goldTask{id: r.id}, on) // what has no room here is on no card
			}
			n++
		}
		return n
	}
	for i, r := range group {
		for _, want := range r.items {
			if len(group) > 1 && (i == 0 || len(want.cards) == 1) { // the lists are the same for all
				cards = append(cards, slices.MaxFunc(want.cards, func(a, b string) int { return cmp.Compare(takes(a, want), takes(b, want)) }))
			}
		}
	}
	return cards
}

// giveBack is Rollback, and with ended Release.
func (g *golden) giveBack(ended bool, ids []string) (known, changed bool) {
	known = true
	for _, id := range ids {
		_, was := g.waiting[id]
		if ended {
			delete(g.waiting, id)
		}
		was = g.uncharge(id, ended) || ended && was
		known, changed = known && was, changed || was
	}
	g.prune()
	return known, changed
}

// uncharge takes the charges of a task away, if it has any. If it ended, the min shrinks by what
// they covered; else that is held again, after later charges of the same item on the same card
// have drawn on it.
func (g *golden) uncharge(id string, ended bool) (known bool) {
	j, _ := g.task(id)
	if j == nil {
		return false
	}
	at := slices.IndexFunc(j.tasks, func(t goldTask) bool { return t.id == id })
	gone := j.tasks[at]
	j.tasks = slices.Delete(j.tasks, at, at+1)
	for _, c := range gone.charges {
		if c.item < 0 {
			continue
		}
		it := &j.items[c.item]
		if ended {
			it.amount -= c.covered
			continue
		}
		for _, later := range (&goldJob{tasks: j.tasks[at:]}).charges {
			if later.item == c.item && later.card == c.card {
				drawn := min(c.covered, later.amount-later.covered)
				later.covered += drawn
				c.covered -= drawn
			}
		}
		it.add(c.card, c.covered)
	}
	g.put(j)
	return true
}

// prune removes orphans without jobs.
func (g *golden) prune() {
	next := maps.Clone(g.queues)
	for _, q := range g.queues {
		used := func(j *goldJob) bool { return j.queue == q.name }
		if q.orphan && !slices.ContainsFunc(slices.Collect(maps.Values(g.jobs)), used) {
			delete(next, q.name)
		}
	}
	g.keep(next)
}

// keep replaces the queues. What was below one that is missing comes below the nearest former
// ancestor that is still there.
func (g *golden) keep(next map[string]*goldQueue) {
	for _, q := range next {
		for q.parent != "" && next[q.parent] == nil {
			q.parent = g.queues[q.parent].parent
		}
	}
	g.queues = next
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
		j.cut()
		if len(j.tasks) == 0 {
			delete(g.jobs, id)
		}
	}
	g.prune()
	return expired
}

// setQueues replaces the queues. One that is missing and has jobs becomes an orphan.
func (g *golden) setQueues(queues []goldQueue) (orphans []string) {
	next := map[string]*goldQueue{}
	for _, q := range queues {
		next[q.name] = &q
	}
	for _, j := range g.jobs {
		if old := g.queues[j.queue]; next[j.queue] == nil {
			orphans = append(orphans, j.queue)
			next[j.queue] = &goldQueue{name: j.queue, parent: old.parent, priority: old.priority, state: StateClosed, orphan: true}
		}
	}
	g.keep(next)
	slices.Sort(orphans)
	return orphans
}

// copies counts how many new jobs or tasks like this one would be admitted (7, WhatFits), each
// after the other or, if tasks must be on one card, as a gang. Copies have no node. The rooms
// are for cpu and memory, none if the queue takes nothing.
func (g *golden) copies(r *goldRequest) (Fits, error) {
	if j := g.jobs[cmp.Or(r.job, r.id)]; j != nil && j.queue != r.queue {
		return Fits{}, ErrConflict
	}
	f, none := Fits{Copies: Unlimited, Next: Answer{OK: true}}, g.record(r.queue, "")
	for i := 0; i < 2 && g.refuses(&goldRequest{queue: r.queue}).Reason == ""; i++ {
		dim, amount := r.items[i].cards[0], r.items[i].amount
		room := g.chargeRoom(r.queue, dim, amount, goldSumOf(dim, g.record(r.queue, r.job)).held, 0)
		if r.job == "" {
			room = g.within(amount, g.minRoom(none, none, 0, dim, false), r.queue, 0, 0)
		}
		f.Room = append(f.Room, room)
	}
	tried, together := g.clone(), r.job != "" && len(g.together([]*goldRequest{r, r})) == 1
	most := 160 // more than limits admit in these worlds
	if together {
		most = 25 // on one card
	}
	var gang []*goldRequest
	for n := range most {
		own := *r
		own.id, own.node = fmt.Sprint("copy", n), ""
		gang = append(gang, &own)
		var a Answer
		switch {
		case r.job == "":
			a, _ = tried.reserve(&own, false)
		case together:
			a, _ = g.clone().commitAll(gang)
			a.Task = ""
		default:
			a, _ = tried.commit(&own, nil, "")
		}
		if !a.OK {
			f.Copies, f.Next = Amount(n), a
			break
		}
	}
	return f, nil
}
