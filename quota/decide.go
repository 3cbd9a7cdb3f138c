package quota

// admits makes the checks of a queue that every request goes through.
func (q *queue) admits() Reason {
	switch {
	case q == nil:
		return ReasonUnknownQueue
	case !q.leaf:
		return ReasonQueueNotLeaf
	case !q.open:
		return ReasonQueueNotOpen
	}
	return ReasonNone
}

// The details of refusals.
const (
	noneOnNode   = "the node has none of the cards"
	queueRemoved = "removed"
	noQuotaOfAny = "there is no quota of any of them"
)

// refuseQueue makes a the refusal of a queue, which may be nil, that admits nothing.
func (a *Answer) refuseQueue(reason Reason, q *queue, name string) bool {
	a.refuse(reason, name, "")
	if reason == ReasonQueueNotOpen {
		for q.spec.State == StateOpen {
			q = q.parent
		}
		a.Refusal.Level, a.Refusal.Detail = q.spec.Name, q.spec.State.String()
		if q.orphan {
			a.Refusal.Detail = queueRemoved
		}
	}
	return false
}

// refuse makes a the refusal of a request for which no amounts count.
func (a *Answer) refuse(reason Reason, queue, detail string) bool {
	a.OK = false
	a.Refusal = Refusal{Reason: reason, Why: reason, Queue: queue, Detail: detail}
	return false
}

// lacks makes a the refusal of an amount.
func (a *Answer) lacks(reason Reason, q *queue, card string, dim int32, requested int64, r room, why Reason) bool {
	a.OK = false
	a.Refusal = Refusal{
		Reason: reason, Queue: q.spec.Name, Level: r.level.spec.Name, Card: card,
		Requested: requested, Room: r.amount, Limit: r.limit(dim), Why: why,
	}
	if why == ReasonUnreadableQuota {
		a.Refusal.Detail = r.level.spec.Denied[int(dim)]
	}
	return false
}

// lacksCards makes a the refusal of the item whose options are the last ones, in numbers
// of its roomiest alternative.
func (l *Ledger) lacksCards(a *Answer, q *queue, alts *alternatives, dim int32, requested int64, r room) {
	last := len(a.Options) - 1
	if !alts.multi() {
		a.lacks(ReasonInsufficientScalarQuota, q, alts.key, dim, requested, r, a.Options[last].Why)
		return
	}
	best, noQuota, unreadable := l.cardName(dim), true, -1
	var why Reason
	for i := last; i >= 0 && a.Options[i].Item == a.Options[last].Item; i-- {
		o := &a.Options[i]
		noQuota = noQuota && o.Why == ReasonNoQuota
		if o.Card == best {
			why = o.Why
		}
		if o.Why == ReasonUnreadableQuota {
			unreadable = i
		}
	}
	a.lacks(ReasonInsufficientScalarQuota, q, alts.key, dim, requested, r, why)
	a.Refusal.Best = best
	switch {
	case noQuota:
		a.Refusal.Detail = noQuotaOfAny
	case unreadable >= 0 && why != ReasonUnreadableQuota:
		o := &a.Options[unreadable]
		a.Refusal.Detail = q.deniedAt(o.Level, l.dims[o.Card])
	}
}

// deniedAt returns what is wrong with the quota of q, or of the queue of that name above
// it, for a card.
func (q *queue) deniedAt(level string, dim int32) string {
	for q.spec.Name != level {
		q = q.parent
	}
	return q.spec.Denied[int(dim)]
}

// begin clears an answer for a decision on the present state.
func (l *Ledger) begin(a *Answer) {
	a.OK, a.Repeat, a.Seq = true, false, l.seq
	a.Refusal, a.Task = Refusal{}, ""
	a.Options, a.Charged = a.Options[:0], a.Charged[:0]
}

// pick is the alternative that an item of a task is to be charged on.
type pick struct {
	it  *item // of the job; may be nil
	at  int   // index of the card in it.alts
	dim int32
}

// decideTask decides on a task. With limit not nil only these cards count. For
// every item it appends to picks the first alternative with room.
func (l *Ledger) decideTask(a *Answer, t *TaskRequest, limit *cardSet, picks []pick) []pick {
	q := l.queueOf(&t.queueAt, t.queue)
	if reason := q.admits(); reason != ReasonNone {
		a.refuseQueue(reason, q, t.queue)
		return picks
	}
	items, only := t.buf[:], confines{limit: limit}
	if !t.simple {
		if t.invalid != "" {
			a.refuse(ReasonGetTaskRequestResourceFailed, t.queue, t.invalid)
			return picks
		}
		if items, only = t.items, t.confine(limit); t.cpu == 0 && t.mem == 0 && len(items) == 0 {
			return picks
		}
	}
	if q.empty {
		a.refuse(ReasonEmptyQueueCapability, t.queue, q.spec.fault())
		return picks
	}
	t.near(q)
	j := l.jobOf(t).in(q)
	var cpu, mem int64
	if j != nil {
		cpu, mem = j.held[dimCPU], j.held[dimMemory]
	}
	if !q.takes(dimCPU, t.cpu, cpu) {
		a.decidePlain(q, ReasonInsufficientCPUQuota, dimCPU, t.cpu, cpu)
	}
	if !q.takes(dimMemory, t.mem, mem) && a.OK {
		a.decidePlain(q, ReasonInsufficientMemoryQuota, dimMemory, t.mem, mem)
	}
	var taken uint64
	for i := range items {
		ti := &items[i]
		p := pick{dim: -1}
		if j != nil {
			var at int
			if p.it, at = j.match(ti.alts, ti.milli, taken); uint(at) < 64 {
				taken |= 1 << at
			}
		}
		l.decideItem(a, q, i, ti, only, &p)
		picks = append(picks, p)
	}
	return picks
}

// decidePlain decides on cpu or memory.
func (a *Answer) decidePlain(q *queue, reason Reason, dim int32, amount, held int64) {
	if r, why := q.chargeRoom(dim, held); amount > 0 && amount > r.amount {
		a.lacks(reason, q, "", dim, amount, r, r.why(dim, why))
	}
}

// decideItem decides on one item of a task: which of its alternatives have room.
func (l *Ledger) decideItem(a *Answer, q *queue, index int, ti *taskItem, only confines, p *pick) {
	var best room
	bestAt, onNode := -1, false
	for k, dim := range ti.alts.cards {
		o := a.option(index, l.cardName(dim))
		if !only.have(dim) {
			o.Why = ReasonNotOnNode
			continue
		}
		onNode = true
		at := p.it.index(ti.alts, k)
		r, why := q.itemRoom(p.it, at, dim)
		o.Level, o.Amount, o.Limit = r.level.spec.Name, r.amount, r.limit(dim)
		if why == ReasonFirmElsewhere || ti.milli > r.amount {
			o.Why = r.why(dim, why)
		} else if o.OK = true; p.dim < 0 {
			p.dim, p.at = dim, at
		}
		if best.level == nil || r.amount > best.amount {
			best, bestAt = r, k
		}
	}
	switch {
	case p.dim >= 0 || !a.OK:
	case !onNode:
		a.refuse(ReasonGetTaskRequestResourceFailed, q.spec.Name, noneOnNode)
		a.Refusal.Card, a.Refusal.Why = ti.alts.key, ReasonNotOnNode
	default:
		l.lacksCards(a, q, ti.alts, ti.alts.cards[bestAt], ti.milli, best)
	}
}

// why returns NoQuota or UnreadableQuota instead of another reason if the level that
// leaves the least room has no quota for the dimension at all.
func (r *room) why(dim int32, otherwise Reason) Reason {
	if otherwise == ReasonFirmElsewhere || r.limit(dim) != 0 {
		return otherwise
	}
	// The capability is in no cache. It is 0, but where guarantees are enforced.
	q := r.level
	if q.guarded && amountAt(q.spec.Capability, int(dim)) > 0 {
		return otherwise
	}
	switch text, denied := q.spec.Denied[int(dim)]; {
	case !denied:
		return ReasonNoQuota
	case text != "":
		return ReasonUnreadableQuota
	}
	return otherwise
}

// fault returns what is wrong with the first entry of the quota that can't be read;
// empty if there is none.
func (q *Queue) fault() (fault string) {
	first := -1
	for dim, text := range q.Denied {
		if text != "" && (first < 0 || dim < first) {
			first, fault = dim, text
		}
	}
	return fault
}

// whyMin returns why a min has no more room than r in a dimension. own is what the job
// has there already, and planned what it is to have; see floorRoom.
func (q *queue) whyMin(r room, dim int32, amount int64, own *job, planned int64) Reason {
	why := r.why(dim, ReasonOverCapacity)
	if why == ReasonOverCapacity && amount <= q.unheldRoom(dim, own.inFloor(dim)-own.heldOn(dim)-planned) {
		return ReasonPromised
	}
	return why
}

// itemRoom returns the room for a charge on a card that counts against an item
// of the job, and what it is that limits it. at is the card's index in the item.
func (q *queue) itemRoom(it *item, at int, dim int32) (r room, why Reason) {
	var held int64
	switch {
	case it == nil:
	case it.spreads:
		held = it.spread[at]
	case at == int(it.at):
		held = it.held
	case it.charges > 0:
		return room{0, q}, ReasonFirmElsewhere
	case it.held > 0:
		return q.moveRoom(dim, it.held)
	}
	return q.chargeRoom(dim, held)
}

// cardSet is a set of dimensions.
type cardSet struct {
	bits []uint64
}

func (s *cardSet) has(dim int32) bool {
	return int(dim>>6) < len(s.bits) && s.bits[dim>>6]>>(dim&63)&1 != 0
}

func (s *cardSet) add(dim int32) {
	for int(dim>>6) >= len(s.bits) {
		s.bits = append(s.bits, 0)
	}
	s.bits[dim>>6] |= 1 << (dim & 63)
}

// decideJob decides on a job's min, and works out into p where it is to be held.
// A job that the queue has already, own, is asked for a new min: its present part
// of the floor doesn't count, and its charges are drawn against the min first.
func (l *Ledger) decideJob(a *Answer, r *JobRequest, q *queue, own *job, p *plan) bool {
	if reason := q.admits(); reason != ReasonNone {
		return a.refuseQueue(reason, q, r.queue)
	}
	if r.invalid != "" {
		return a.refuse(ReasonGetTaskRequestResourceFailed, r.queue, r.invalid)
	}
	p.start(r, own)
	if r.cpu == 0 && r.mem == 0 && len(r.items) == 0 {
		return true
	}
	if q.empty {
		return a.refuse(ReasonEmptyQueueCapability, r.queue, q.spec.fault())
	}
	if !l.decideMin(a, q, ReasonInsufficientCPUQuota, dimCPU, r.cpu, own) ||
		!l.decideMin(a, q, ReasonInsufficientMemoryQuota, dimMemory, r.mem, own) {
		return false
	}
	for i := range p.items {
		if !l.fill(a, q, i, &p.items[i], own, p) {
			return false
		}
	}
	return true
}

func (l *Ledger) decideMin(a *Answer, q *queue, reason Reason, dim int32, amount int64, own *job) bool {
	if amount == 0 {
		return true
	}
	if r := q.floorRoom(dim, own.inFloor(dim)); amount > r.amount {
		return a.lacks(reason, q, "", dim, amount, r, q.whyMin(r, dim, amount, own, 0))
	}
	return true
}

// fill finds room for an item, left to right, on top of what the plan has. An
// item that charges bind to a card stays there.
func (l *Ledger) fill(a *Answer, q *queue, index int, it *placement, own *job, p *plan) bool {
	if it.spreads {
		return l.fillAny(a, q, index, it, own, p)
	}
	var best room
	bestDim := int32(-1)
	for at, dim := range it.alts.cards {
		if it.bound() && at != int(it.at) {
			continue
		}
		r := q.floorRoom(dim, own.inFloor(dim)-p.sum(dim))
		if it.min <= r.amount {
			it.at, it.held = int32(at), it.min-it.covered
			p.add(dim, it.min)
			a.Options = a.Options[:0]
			return true
		}
		a.Options = append(a.Options, Room{
			Item: index, Card: l.cardName(dim), Why: q.whyMin(r, dim, it.min, own, p.sum(dim)),
			Level: r.level.spec.Name, Amount: r.amount, Limit: r.limit(dim),
		})
		if best.level == nil || r.amount > best.amount {
			best, bestDim = r, dim
		}
	}
	l.lacksCards(a, q, it.alts, bestDim, it.min, best)
	return false
}

// fillAny is fill for AnyMix: whole units on top of what charges cover already.
func (l *Ledger) fillAny(a *Answer, q *queue, index int, it *placement, own *job, p *plan) bool {
	var best room
	left, sum, limits, over := it.min-it.covered, int64(0), int64(0), false
	for at, dim := range it.alts.cards {
		var covered int64
		if it.coveredOn != nil {
			covered = it.coveredOn[at]
		}
		r := q.floorRoom(dim, own.inFloor(dim)-p.sum(dim))
		over = over || covered > max(r.amount, 0)
		whole := wholeUnits(r.amount, covered, it.unit)
		it.spread[at] = min(left, whole-min(covered, whole))
		left -= it.spread[at]
		a.Options = append(a.Options, Room{
			Item: index, Card: l.cardName(dim), Why: r.why(dim, ReasonOverCapacity),
			Level: r.level.spec.Name, Amount: r.amount, Limit: r.limit(dim),
		})
		sum, limits = addSaturated(sum, whole), addSaturated(limits, r.limit(dim))
		if best.level == nil || r.amount > best.amount {
			best = r
		}
	}
	if left > 0 || over {
		why, detail := whyAny(a.Options, q, it, own, p)
		a.lacks(ReasonInsufficientScalarQuota, q, it.alts.key, it.alts.cards[0], it.min, best, why)
		a.Refusal.Room, a.Refusal.Limit, a.Refusal.Detail = sum, limits, detail
		return false
	}
	a.Options = a.Options[:0]
	it.held = it.min - it.covered
	for at, dim := range it.alts.cards {
		amount := it.spread[at]
		if it.coveredOn != nil {
			amount += it.coveredOn[at]
		}
		if amount > 0 {
			p.add(dim, amount)
		}
	}
	return true
}

// whyAny returns why an item that may be on several cards has no room, with the detail
// of the refusal. Of the options, its alternatives, those are promised where more of it
// would be without what is held for other jobs.
func whyAny(options []Room, q *queue, it *placement, own *job, p *plan) (why Reason, detail string) {
	left, unheld, over, noQuota, unreadable := it.min-it.covered, int64(0), false, true, -1
	for at, dim := range it.alts.cards {
		o := &options[at]
		var covered int64
		if it.coveredOn != nil {
			covered = it.coveredOn[at]
		}
		free := q.unheldRoom(dim, own.inFloor(dim)-own.heldOn(dim)-p.sum(dim))
		whole := wholeUnits(free, covered, it.unit)
		if o.Why == ReasonOverCapacity && min(left+covered, whole) > wholeUnits(o.Amount, covered, it.unit) {
			o.Why = ReasonPromised
		}
		left -= it.spread[at]
		unheld, over = addSaturated(unheld, whole), over || covered > max(free, 0)
		noQuota = noQuota && (o.Why == ReasonNoQuota || o.Why == ReasonUnreadableQuota)
		if o.Why == ReasonUnreadableQuota && unreadable < 0 {
			unreadable = at
		}
	}
	if unreadable >= 0 {
		detail = q.deniedAt(options[unreadable].Level, it.alts.cards[unreadable])
	}
	switch {
	case noQuota && unreadable >= 0:
		return ReasonUnreadableQuota, detail
	case noQuota:
		return ReasonNoQuota, noQuotaOfAny
	case it.min <= unheld && !over:
		return ReasonPromised, detail
	}
	return ReasonOverCapacity, detail
}

// wholeUnits returns how much of room can be had: what charges have of it, and
// whole units beyond.
func wholeUnits(room, covered, unit int64) int64 {
	if room == Unlimited {
		return Unlimited
	}
	free := max(room-covered, 0)
	return max(min(covered, room), 0) + free - free%unit
}

// addSaturated adds two amounts that are not negative, [Unlimited] at most.
func addSaturated(a, b int64) int64 {
	if a > Unlimited-b {
		return Unlimited
	}
	return a + b
}

// inFloor returns what the job has in the floor of a dimension.
func (j *job) inFloor(dim int32) (sum int64) {
	if j == nil {
		return 0
	}
	switch {
	case dim == dimCPU && j.reserved:
		return j.min[dimCPU]
	case dim == dimMemory && j.reserved:
		return j.min[dimMemory]
	}
	for t := j.first; t != nil; t = t.next {
		switch dim {
		case dimCPU:
			sum += t.cpu.amount
		case dimMemory:
			sum += t.mem.amount
		default:
			for i := range t.charges {
				if c := &t.charges[i]; c.card == dim && j.reserved {
					sum += c.covered
				} else if c.card == dim {
					sum += c.milli
				}
			}
		}
	}
	if j.reserved {
		for _, it := range j.items {
			sum += it.heldIn(dim)
		}
	}
	return sum
}
