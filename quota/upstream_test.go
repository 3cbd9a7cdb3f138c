package quota

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
)

// This file is a model of the rules of Volcano's capacity-card plugin
// (volcano-sh/volcano, pull request 4706), by names and maps, as this package's
// sources describe them. Every rule in which the ledger differs is a switch:
// with all of them off the model decides as the plugin, with all of them on as
// the ledger. What happens in between names the rule that a divergence is due to.

// upDiff is a difference between the plugin and the ledger.
type upDiff int

// In the order in which the switches are turned on.
const (
	upNegativePanic upDiff = iota
	upNoJobsPanic
	upVanished
	upFirstName
	upBadEntry
	upUnnamed
	upUnresolvable
	upGated
	upFlagLate
	upFlagAll
	upFlagZero
	upLate
	upFinished
	upEnded
	upLiteralKey
	upJobSums
	upAnnotation
	upEachAlone
	upNoPromise
	upNotEmpty
	upNoMin
	upPresence
	upTies
	upFlat
	upDiffs // how many there are
)

// upNames says what the plugin does.
var upNames = [upDiffs]string{
	upNegativePanic: "panics on a negative result",
	upNoJobsPanic:   "panics on a queue without jobs",
	upVanished:      "vanished cards are forgotten",
	upFirstName:     "only the first, untrimmed name of a multi is looked up",
	upBadEntry:      "one bad entry drops the whole annotation",
	upUnnamed:       "pods that name no card are free",
	upUnresolvable:  "unresolvable tasks are skipped",
	upGated:         "cards of gated tasks stay",
	upFlagLate:      "the flag is read after the state is built",
	upFlagAll:       "the flag drops all of the job's cpu and memory",
	upFlagZero:      "an entry of 0 counts as a card",
	upLate:          "inqueue shrinks a cycle late",
	upFinished:      "a finished pod is reserved again",
	upEnded:         "ended tasks count",
	upLiteralKey:    "a multi's amounts sit under its literal key",
	upJobSums:       "a job check compares sums over all alternatives",
	upAnnotation:    "the annotation is trusted over the node",
	upEachAlone:     "a task check looks at each alternative alone",
	upNoPromise:     "no promise rule",
	upNotEmpty:      "EmptyQueueCapability is never raised",
	upNoMin:         "realCapability has no min",
	upPresence:      "node order by presence",
	upTies:          "share ties undecided",
	upFlat:          "flat queues only",
}

// What there is in a cluster. Amounts are in thousandths; memory, which is
// treated as cpu, is left out.
type (
	upQueue struct {
		name, parent    string
		priority        int32
		closed          bool
		cpu             int64 // -1: not mentioned
		deserve, ensure int64 // of cpu
		quota           string

		verbatim, strict map[string]int64 // the quota, as the plugin reads it and as the ledger does
		denied           map[string]bool  // entries with faults; empty: the whole text
	}
	upJob struct {
		id, queue string
		phase     Phase
		minMember int
		cpu       int64  // of the min resources
		request   string // the annotation
		tasks     []*upTask
	}
	upTask struct {
		id, card string // the annotation
		gpu, mig int64  // whole devices of two resources
		cpu      int64
		status   TaskPhase
		node     string
		gated    bool
	}
	upEvent struct { // in a cycle
		kind      upEventKind
		job, task string
		node      string
	}
	upEventKind int
)

const (
	upEnqueued upEventKind = iota
	upAllocated
	upDeallocated
)

func (t *upTask) allocated() bool { return t.status >= TaskAllocated && t.status <= TaskRunning }

func (j *upJob) clone() *upJob {
	c := *j
	c.tasks = nil
	for _, t := range j.tasks {
		copied := *t
		c.tasks = append(c.tasks, &copied)
	}
	return &c
}

func (j *upJob) task(id string) *upTask {
	return j.tasks[slices.IndexFunc(j.tasks, func(t *upTask) bool { return t.id == id })]
}

func (j *upJob) allocated() (n int) {
	for _, t := range j.tasks {
		if t.allocated() {
			n++
		}
	}
	return n
}

// upItem is an amount of acceptable cards.
type upItem struct {
	names []string // as looked up
	all   []string // as written
	milli int64
	unit  int64 // of tasks with an amount of their own; 0 where that doesn't matter
}

func (it *upItem) key() string { return strings.Join(it.names, "|") }
func (it *upItem) multi() bool { return len(it.names) > 1 }

// upModel is the rules with the first fixed of the differences repaired.
type upModel struct {
	w     *upWorld
	fixed upDiff
}

func (m upModel) has(d upDiff) bool { return d < m.fixed }

func (m upModel) known(card string) bool {
	return m.w.onSomeNode(card) || m.has(upVanished) && m.w.ever[card]
}

// resourceOf returns the resource that carries a made-up card.
func upResource(card string) string {
	if card == "M" {
		return "mig"
	}
	return "gpu"
}

func (t *upTask) amount(resource string) int64 {
	if resource == "mig" {
		return t.mig
	}
	return t.gpu
}

// resolve returns what a task asks for; false: that can't be told.
func (m upModel) resolve(t *upTask, flag bool) (items []upItem, cpu int64, ok bool) {
	named := ""
	if t.card != "" {
		it := upItem{}
		if !m.has(upFirstName) {
			it.all = strings.Split(t.card, "|")
			if !m.known(it.all[0]) || t.amount(upResource(it.all[0])) == 0 {
				return nil, 0, false
			}
			it.names = it.all
			named = upResource(it.all[0])
		} else {
			for _, name := range strings.Split(t.card, "|") {
				if name = strings.TrimSpace(name); name != "" && !slices.Contains(it.all, name) {
					it.all = append(it.all, name)
				}
			}
			for _, name := range it.all {
				resource := upResource(name)
				if m.known(name) && t.amount(resource) > 0 && (named == "" || named == resource) {
					it.names, named = append(it.names, name), resource
				}
			}
			if it.names == nil {
				return nil, 0, false
			}
		}
		it.milli = 1000 * t.amount(named)
		items = append(items, it)
	}
	if m.has(upUnnamed) {
		items = append(items, m.unnamed(t, named)...)
	}
	return items, m.taskCPU(t, items, flag), true
}

// unnamed makes items of what a task has of resources other than one.
func (m upModel) unnamed(t *upTask, named string) (items []upItem) {
	for _, resource := range []string{"gpu", "mig"} {
		var cards []string
		for _, card := range sorted(m.w.ever) {
			if upResource(card) == resource && m.known(card) {
				cards = append(cards, card)
			}
		}
		if resource != named && t.amount(resource) > 0 && cards != nil {
			items = append(items, upItem{names: cards, all: cards, milli: 1000 * t.amount(resource)})
		}
	}
	return items
}

func (m upModel) taskCPU(t *upTask, items []upItem, flag bool) int64 {
	if flag && len(items) > 0 {
		return 0
	}
	return t.cpu
}

// uses returns what a task on a node is charged, by dimension.
func (m upModel) uses(t *upTask, node string, flag bool) map[string]int64 {
	if record := m.w.l.tasks[t.id]; record != nil && (m.has(upEachAlone) || m.has(upAnnotation) && !m.w.chosen[t.id]) {
		sum := map[string]int64{"cpu": record.CPU.Amount}
		for _, c := range record.Charges {
			sum[m.w.l.cards[c.Card]] += c.Amount
		}
		return sum
	}
	items, cpu, ok := m.running(t, flag)
	if !ok {
		return nil
	}
	sum := map[string]int64{"cpu": cpu}
	for i := range items {
		sum[m.charged(&items[i], node)] += items[i].milli
	}
	return sum
}

// running is resolve for a task that has a node.
func (m upModel) running(t *upTask, flag bool) (items []upItem, cpu int64, ok bool) {
	items, cpu, ok = m.resolve(t, flag)
	if !ok && m.has(upUnresolvable) {
		items = m.unnamed(t, "")
		return items, m.taskCPU(t, items, flag), true
	}
	return items, cpu, ok
}

// charged returns the dimension that an item is charged on.
func (m upModel) charged(it *upItem, node string) string {
	for _, name := range it.names {
		if it.multi() && m.w.nodeHas(node, name) {
			return name
		}
	}
	if it.multi() && !m.has(upLiteralKey) {
		return it.key()
	}
	return it.names[0]
}

// upMin is what a job needs.
type upMin struct {
	cpu   int64
	items []upItem
}

// byKey is the min with multis under their keys.
func (n *upMin) byKey() map[string]int64 {
	sum := map[string]int64{"cpu": n.cpu}
	for i := range n.items {
		sum[n.items[i].key()] += n.items[i].milli
	}
	return sum
}

func (n *upMin) add(it upItem) {
	for i := range n.items {
		if n.items[i].unitKey() == it.unitKey() {
			n.items[i].milli += it.milli
			return
		}
	}
	n.items = append(n.items, it)
}

// unit returns the unit of an item of a task or, with amount 1000, of an
// annotation.
func (m upModel) unit(it *upItem, amount int64) int64 {
	if m.w.cfg.AnyMix && it.multi() {
		return amount
	}
	return 0
}

// min returns what a job needs; false: that can't be told. held is for a job
// that was admitted.
func (m upModel) min(j *upJob, flag, held bool) (n upMin, ok bool) {
	var hasCards, ended bool
	var free, gated, live int64
	for _, t := range j.tasks {
		if t.status.Ended() {
			ended = true
			if held && m.has(upFinished) || !held && m.has(upEnded) {
				continue
			}
		}
		items, cpu, ok := m.resolve(t, flag)
		if !ok {
			if m.has(upUnresolvable) {
				return n, false
			}
			continue
		}
		for _, it := range items {
			hasCards = true
			it.unit = m.unit(&it, it.milli)
			if t.gated && m.has(upGated) {
				it.milli = 0
			}
			n.add(it)
		}
		if !t.status.Ended() {
			live += cpu
			if len(items) == 0 {
				free += cpu
			}
			if t.gated {
				gated += cpu
			}
		}
	}
	if !hasCards {
		entries, ok := m.requested(j.request)
		if !ok {
			return n, false
		}
		for _, it := range entries {
			if it.milli != 0 {
				it.unit = m.unit(&it, 1000)
				n.add(it)
			}
			hasCards = hasCards || it.milli != 0 || !m.has(upFlagZero)
		}
	}
	n.cpu = j.cpu
	if flag && hasCards {
		if n.cpu = min(n.cpu, free); !m.has(upFlagAll) {
			n.cpu = 0
		}
	}
	n.cpu = max(n.cpu-gated, 0)
	if held && ended && m.has(upFinished) {
		n.cpu = min(n.cpu, live)
	}
	n.items = slices.DeleteFunc(n.items, func(it upItem) bool { return it.milli == 0 })
	slices.SortFunc(n.items, func(a, b upItem) int {
		return cmp.Or(cmp.Compare(min(len(a.names), 2), min(len(b.names), 2)), strings.Compare(a.key(), b.key()), cmp.Compare(a.unit, b.unit))
	})
	return n, true
}

// requested reads a job's annotation.
func (m upModel) requested(text string) (items []upItem, ok bool) {
	if !m.has(upBadEntry) {
		for key, count := range upDecode(text) {
			names := strings.Split(key, "|")
			items = append(items, upItem{names: names, milli: 1000 * count})
		}
		return items, true
	}
	counts, faults := new(Config).ParseRequest(text)
	for _, f := range faults {
		if !f.Code.IsNote() {
			return nil, false
		}
	}
	for _, c := range counts {
		items = append(items, upItem{names: c.Alternatives, milli: c.Milli})
	}
	return items, true
}

// upDecode is how the plugin reads annotations.
func upDecode(text string) map[string]int64 {
	var counts map[string]int64
	if json.Unmarshal([]byte(text), &counts) != nil {
		return nil
	}
	return counts
}

// quota returns the entries of a queue's annotation.
func (m upModel) quota(q *upQueue) map[string]int64 {
	if q.verbatim == nil {
		q.verbatim, q.strict, q.denied = map[string]int64{}, map[string]int64{}, map[string]bool{}
		for card, count := range upDecode(q.quota) {
			q.verbatim[card] = 1000 * count
		}
		counts, faults := new(Config).ParseQuota(q.quota)
		for _, c := range counts {
			q.strict[c.Alternatives[0]] = c.Milli
		}
		for _, f := range faults {
			q.denied[f.Name] = true
		}
	}
	if m.has(upBadEntry) {
		return q.strict
	}
	return q.verbatim
}

// limit returns the capability of a queue.
func (m upModel) limit(q *upQueue, dim string) int64 {
	amount, mentioned := m.quota(q)[dim]
	if dim == "cpu" {
		amount, mentioned = q.cpu, q.cpu >= 0
	}
	switch {
	case mentioned:
		return amount
	case m.has(upFlat) && m.w.isParent(q.name) && (dim == "cpu" || !q.denied[dim] && !q.denied[""]):
		return math.MaxInt64
	}
	return 0
}

// upState is what the queues use, by queue and dimension.
type upState struct {
	allocated, inqueue, elastic map[string]map[string]int64
}

// count adds amounts to a queue and those above it.
func (m upModel) count(to map[string]map[string]int64, queue string, amounts map[string]int64, sign int64) {
	for _, q := range m.w.path(queue) {
		if to[q.name] == nil {
			to[q.name] = map[string]int64{}
		}
		for dim, amount := range amounts {
			to[q.name][dim] += sign * amount
		}
	}
}

// floor is what a job check goes by.
func (s *upState) floor(queue, dim string) int64 {
	return s.allocated[queue][dim] - s.elastic[queue][dim] + s.inqueue[queue][dim]
}

func (s *upState) full(queue, dim string) int64 {
	return s.allocated[queue][dim] + s.inqueue[queue][dim]
}

// excessOf returns max(0, a - b) by dimension.
func excessOf(a, b map[string]int64) map[string]int64 {
	over := map[string]int64{}
	for dim, amount := range a {
		over[dim] = max(amount-b[dim], 0)
	}
	return over
}

// state builds what the queues use now.
func (m upModel) state() *upState {
	s := &upState{map[string]map[string]int64{}, map[string]map[string]int64{}, map[string]map[string]int64{}}
	now := m.w.cfg.UnlimitedCPUMemory
	if m.has(upLate) {
		for _, j := range m.w.jobs {
			for _, t := range j.tasks {
				if t.allocated() {
					m.count(s.allocated, j.queue, m.uses(t, t.node, now), 1)
				}
			}
			m.hold(s, j)
		}
		return s
	}
	then := now && m.has(upFlagLate)
	for _, j := range m.w.opened {
		mine := m.allocatedBy(j, then)
		m.count(s.allocated, j.queue, mine, 1)
		need, ok := m.min(j, then, true)
		if !ok {
			m.holdLedger(s, j)
			continue
		}
		m.count(s.elastic, j.queue, excessOf(mine, need.byKey()), 1)
		switch {
		case j.phase == PhaseInqueue:
			m.count(s.inqueue, j.queue, need.byKey(), 1)
		case j.phase == PhaseRunning && j.allocated() >= j.minMember:
			m.count(s.inqueue, j.queue, excessOf(need.byKey(), mine), 1)
		}
	}
	for _, e := range m.w.events {
		j := m.w.opened[e.job]
		switch e.kind {
		case upEnqueued:
			need, _ := m.min(j, now, false)
			m.count(s.inqueue, j.queue, need.byKey(), 1)
		case upAllocated:
			m.count(s.allocated, j.queue, m.uses(j.task(e.task), e.node, now), 1)
		case upDeallocated:
			m.count(s.allocated, j.queue, m.uses(j.task(e.task), e.node, now), -1)
		}
	}
	return s
}

func (m upModel) allocatedBy(j *upJob, flag bool) map[string]int64 {
	sum := map[string]int64{}
	for _, t := range j.tasks {
		if t.allocated() {
			for dim, amount := range m.uses(t, t.node, flag) {
				sum[dim] += amount
			}
		}
	}
	return sum
}

// hold adds what a job holds, and its elastic amounts, as they are now.
func (m upModel) hold(s *upState, j *upJob) {
	flag, opened := m.w.cfg.UnlimitedCPUMemory, m.w.opened[j.id]
	enqueued := slices.ContainsFunc(m.w.events, func(e upEvent) bool { return e.kind == upEnqueued && e.job == j.id })
	need, ok := m.min(j, flag, !enqueued)
	past := m.w.past[j.id]
	if !ok || m.has(upAnnotation) && !past || m.has(upEachAlone) {
		m.holdLedger(s, j)
		return
	}
	keeps := enqueued || opened.phase == PhaseInqueue ||
		opened.phase == PhaseRunning && opened.allocated() >= opened.minMember
	if !keeps && opened.allocated() == 0 {
		return // nothing is known of it
	}
	group := func(j *upJob) map[string]int64 { return m.allocatedBy(j, flag) }
	needed := need.byKey()
	if m.has(upLiteralKey) {
		group = func(j *upJob) map[string]int64 { return m.drawn(j, flag) }
		needed = need.byUnit()
	}
	if !keeps {
		had := group(opened)
		for dim := range needed {
			needed[dim] = min(needed[dim], had[dim])
		}
	}
	held, elastic := excessOf(needed, group(j)), excessOf(group(j), needed)
	if !m.has(upLiteralKey) {
		m.count(s.inqueue, j.queue, held, 1)
		m.count(s.elastic, j.queue, elastic, 1)
		return
	}
	theirs, theirElastic := m.w.ledgerHolds(j.id)
	if upEqual(held, theirs) && upEqual(elastic, theirElastic) {
		m.holdLedger(s, j) // the cards that the ledger holds
		return
	}
	if !past && !m.w.relabelled && !m.misplaced(j) && !m.misplaced(opened) {
		m.w.Fatalf("job %s holds %v and has beyond its min %v; by the ledger %v, %v\n%s", j.id, held, elastic, theirs, theirElastic, m.w)
	}
	first := func(of map[string]int64) map[string]int64 {
		sum := map[string]int64{}
		for key, amount := range of {
			key, _, _ = strings.Cut(key, "/")
			key, _, _ = strings.Cut(key, "|")
			sum[key] += amount
		}
		return sum
	}
	m.count(s.inqueue, j.queue, first(held), 1)
	m.count(s.elastic, j.queue, first(elastic), 1)
}

// misplaced reports whether a task of a job is on a node without its card.
func (m upModel) misplaced(j *upJob) bool {
	for _, t := range j.tasks {
		items, _, _ := m.running(t, false)
		for i := range items {
			if t.allocated() && !m.w.nodeHas(t.node, m.charged(&items[i], t.node)) {
				return true
			}
		}
	}
	return false
}

// strewn reports whether tasks of one item that binds them to one card are on
// several.
func (m upModel) strewn(j *upJob) bool {
	on := map[string]string{}
	for _, t := range j.tasks {
		items, _, _ := m.running(t, false)
		for i := range items {
			it := &items[i]
			card := m.charged(it, t.node)
			if t.allocated() && on[it.key()] != "" && on[it.key()] != card && !m.w.cfg.AnyMix {
				return true
			}
			if t.allocated() {
				on[it.key()] = card
			}
		}
	}
	return false
}

// upEqual compares amounts; none is 0.
func upEqual(a, b map[string]int64) bool {
	for key := range a {
		if a[key] != b[key] {
			return false
		}
	}
	for key := range b {
		if a[key] != b[key] {
			return false
		}
	}
	return true
}

// unitKey is the key of an item, with its unit if it matters.
func (it *upItem) unitKey() string {
	if it.unit == 0 {
		return it.key()
	}
	return fmt.Sprintf("%s/%d", it.key(), it.unit)
}

func (n *upMin) byUnit() map[string]int64 {
	sum := map[string]int64{"cpu": n.cpu}
	for i := range n.items {
		sum[n.items[i].unitKey()] += n.items[i].milli
	}
	return sum
}

// drawn is what a job's tasks are charged, by the item that it counts against.
func (m upModel) drawn(j *upJob, flag bool) map[string]int64 {
	n := upMin{}
	for _, t := range j.tasks {
		if items, cpu, _ := m.running(t, flag); t.allocated() {
			n.cpu += cpu
			for _, it := range items {
				it.unit = m.unit(&it, it.milli)
				n.add(it)
			}
		}
	}
	return n.byUnit()
}

// holdLedger adds what the ledger holds for a job, and its elastic amounts.
func (m upModel) holdLedger(s *upState, j *upJob) {
	record := m.w.l.jobs[j.id]
	if record == nil {
		return
	}
	record.Each(func(dim int32, _, held, uncovered int64) {
		name := m.w.l.cards[dim]
		if dim == dimCPU {
			name = "cpu"
		}
		m.count(s.inqueue, j.queue, map[string]int64{name: held}, 1)
		if record.Reserved {
			m.count(s.elastic, j.queue, map[string]int64{name: uncovered}, 1)
		}
	})
}

// levels returns the queues whose limits count.
func (m upModel) levels(queue string) []*upQueue {
	path := m.w.path(queue)
	if !m.has(upFlat) {
		return path[:1]
	}
	return path
}

// admits makes the checks of the queue alone: "" is yes.
func (m upModel) admits(queue string) string {
	if m.has(upFlat) && m.w.isParent(queue) {
		return "parent"
	}
	for _, q := range m.levels(queue) {
		if q.closed {
			return "closed"
		}
	}
	q := m.w.queues[queue]
	if m.has(upNotEmpty) && q.cpu < 0 && len(m.quota(q)) == 0 {
		return "Empty"
	}
	return ""
}

// enqueueable decides on a job.
func (m upModel) enqueueable(j *upJob) string {
	no := m.admits(j.queue)
	if no != "" && no != "Empty" {
		return no
	}
	need, ok := m.min(j, m.w.cfg.UnlimitedCPUMemory, false)
	switch {
	case !ok:
		return "GetTask"
	case need.cpu == 0 && len(need.items) == 0:
		return "yes"
	case no != "":
		return no
	}
	s := m.state()
	if m.negative(s, j.queue, need.byKey()) {
		return "panic"
	}
	for _, q := range m.levels(j.queue) {
		if need.cpu > 0 && s.floor(q.name, "cpu")+need.cpu > m.limit(q, "cpu") {
			return "CPU"
		}
	}
	if m.has(upJobSums) {
		return m.fill(s, j.queue, need.items)
	}
	return m.compareSums(s, m.w.queues[j.queue], &need)
}

// negative reports whether a subtraction falls below 0, which the plugin's
// amounts must not.
func (m upModel) negative(s *upState, queue string, need map[string]int64) bool {
	if m.has(upNegativePanic) {
		return false
	}
	for dim := range s.elastic[queue] {
		if s.floor(queue, dim)+need[dim] < 0 {
			return true
		}
	}
	return false
}

// compareSums is the plugin's check of a job's cards.
func (m upModel) compareSums(s *upState, q *upQueue, need *upMin) string {
	amounts := need.byKey()
	for _, key := range sorted(amounts) {
		if key == "cpu" {
			continue
		}
		names := strings.Split(key, "|")
		used, limit := int64(0), int64(0)
		if len(names) > 1 {
			used = amounts[key]
		}
		for _, name := range names {
			used += s.floor(q.name, name) + amounts[name]
			limit += m.limit(q, name)
		}
		if amounts[key] > 0 && used > limit {
			return "Scalar"
		}
	}
	return "yes"
}

// fill is the ledger's check of a job's cards.
func (m upModel) fill(s *upState, queue string, items []upItem) string {
	planned := map[string]int64{}
	for i := range items {
		left, unit := items[i].milli, max(items[i].unit, 1)
		for _, name := range items[i].names {
			room := int64(math.MaxInt64)
			for _, q := range m.levels(queue) {
				if limit := m.limit(q, name); limit != math.MaxInt64 {
					room = min(room, limit-s.floor(q.name, name)-planned[name])
				}
			}
			n := min(left, max(room-max(room, 0)%unit, 0))
			if items[i].unit == 0 && n < left {
				n = 0
			}
			planned[name] += n
			left -= n
		}
		if left > 0 {
			return "Scalar"
		}
	}
	return "yes"
}

// allocatable decides on a task, on a node if one is given.
func (m upModel) allocatable(j *upJob, t *upTask, node string) string {
	no := m.admits(j.queue)
	if no != "" && no != "Empty" {
		return no
	}
	items, cpu, ok := m.resolve(t, m.w.cfg.UnlimitedCPUMemory)
	switch {
	case !ok:
		return "GetTask"
	case cpu == 0 && len(items) == 0:
		return "yes"
	case no != "":
		return no
	}
	s := m.state()
	var held int64
	if record := m.w.l.jobs[j.id]; record != nil {
		held = record.Held[dimCPU]
	}
	if cpu > 0 && !m.room(s, j.queue, "cpu", cpu, held, 0) {
		return "CPU"
	}
	for i := range items {
		if no := m.itemFits(s, j, &items[i], node); no != "" {
			return no
		}
	}
	return "yes"
}

// itemFits decides on an item of a task: "" is yes.
func (m upModel) itemFits(s *upState, j *upJob, it *upItem, node string) string {
	onNode := false
	for _, name := range it.names {
		heeded := m.has(upAnnotation) && !it.multi() || m.has(upEachAlone)
		if heeded && node != "" && !m.w.nodeHas(node, name) {
			continue
		}
		onNode = true
		if m.cardFits(s, j, it, name) {
			return ""
		}
	}
	if !onNode {
		return "GetTask"
	}
	return "Scalar"
}

// cardFits reports whether there is room for an item of a task on a card.
func (m upModel) cardFits(s *upState, j *upJob, it *upItem, name string) bool {
	record := m.w.l.jobs[j.id]
	if record == nil || !m.has(upEachAlone) {
		return m.room(s, j.queue, name, it.milli, 0, 0)
	}
	item := m.w.ledgerItem(record, it)
	if item == nil {
		return m.room(s, j.queue, name, it.milli, 0, 0)
	}
	on := func(at int) bool { return m.w.l.cards[item.Alts.Cards[at]] == name }
	if item.Spread != nil {
		for at, held := range item.Spread {
			if on(at) {
				return m.room(s, j.queue, name, it.milli, held, 0)
			}
		}
	}
	switch {
	case on(int(item.At)):
		return m.room(s, j.queue, name, it.milli, item.Held, 0)
	case item.Charges > 0:
		return false
	}
	return m.room(s, j.queue, name, it.milli, 0, item.Held)
}

// room reports whether a charge stays within the limits; held of it is promised
// to the job on that card, or moves there.
func (m upModel) room(s *upState, queue, dim string, amount, held, moves int64) bool {
	for _, q := range m.levels(queue) {
		limit := m.limit(q, dim)
		if limit == math.MaxInt64 {
			continue
		}
		if s.allocated[q.name][dim]+amount > limit {
			return false
		}
		if more := max(amount, moves) - min(amount, held); m.has(upNoPromise) && more > 0 && s.full(q.name, dim)+more > limit {
			return false
		}
	}
	return true
}

// score says how much a task likes a node.
func (m upModel) score(j *upJob, t *upTask, node string) float64 {
	var items []upItem
	ok := true
	if m.has(upFirstName) {
		items, _, ok = m.resolve(t, m.w.cfg.UnlimitedCPUMemory)
	} else {
		items = []upItem{{all: strings.Split(t.card, "|")}}
	}
	if !ok || m.has(upPresence) && m.admits(j.queue) != "" {
		return 0
	}
	var s *upState
	if m.has(upPresence) {
		s = m.state()
	}
	sum, n := 0.0, 0
	for i := range items {
		it := &items[i]
		if len(it.all) < 2 {
			continue
		}
		n++
		for rank, name := range it.all {
			if m.has(upFirstName) && !slices.Contains(it.names, name) || !m.w.nodeHas(node, name) {
				continue
			}
			if m.has(upPresence) && !m.cardFits(s, j, it, name) {
				continue
			}
			sum += 100 / float64(int(1)<<rank)
			break
		}
	}
	return sum / max(float64(n), 1)
}

// real returns the realCapability of a queue.
func (m upModel) real(q *upQueue, dim string) int64 {
	total, guaranteed := m.w.total(dim), int64(0)
	for _, other := range m.w.queues {
		if !m.has(upFlat) || other.parent == q.parent {
			guaranteed += m.guarantee(other, dim)
		}
	}
	if m.has(upFlat) && q.parent != "" {
		total = m.real(m.w.queues[q.parent], dim)
	}
	real := max(0, total-guaranteed) + m.guarantee(q, dim)
	if m.has(upNoMin) {
		return min(real, m.limit(q, dim))
	}
	return real
}

func (m upModel) guarantee(q *upQueue, dim string) int64 {
	if dim == "cpu" {
		return q.ensure
	}
	return m.quota(q)[dim]
}

// deserved returns what a queue's share is measured by.
func (m upModel) deserved(q *upQueue, dim string) int64 {
	configured := q.deserve
	if dim != "cpu" {
		configured = m.quota(q)[dim]
	}
	return max(min(configured, m.real(q, dim)), m.guarantee(q, dim))
}

// share returns the share of a queue.
func (m upModel) share(q *upQueue) (share float64) {
	s := m.state()
	for _, dim := range append(sorted(m.w.ever), "cpu") {
		used := s.allocated[q.name][dim]
		if !m.has(upFlat) && m.w.isParent(q.name) {
			used = 0
		}
		if deserved := m.deserved(q, dim); deserved > 0 && used > 0 {
			share = max(share, float64(used)/float64(deserved))
		}
	}
	return share
}

// compare says which of two queues comes first.
func (m upModel) compare(a, b *upQueue) string {
	if !m.has(upNoJobsPanic) && (!m.w.hasJobs(a.name) || !m.w.hasJobs(b.name)) {
		return "panic"
	}
	if m.has(upFlat) {
		for _, pair := range [][2]*upQueue{{a, b}, {b, a}} {
			if pair[0] != pair[1] && slices.Contains(m.w.path(pair[0].name), pair[1]) {
				return map[bool]string{true: "second", false: "first"}[pair[0] == a]
			}
		}
		for m.w.depth(a) > m.w.depth(b) {
			a = m.w.queues[a.parent]
		}
		for m.w.depth(b) > m.w.depth(a) {
			b = m.w.queues[b.parent]
		}
		for a.parent != b.parent {
			a, b = m.w.queues[a.parent], m.w.queues[b.parent]
		}
	}
	shareA, shareB := m.share(a), m.share(b)
	switch {
	case a == b:
		return "tie"
	case a.priority != b.priority:
		return map[bool]string{true: "first", false: "second"}[a.priority > b.priority]
	case shareA != shareB:
		return map[bool]string{true: "first", false: "second"}[shareA < shareB]
	case !m.has(upTies):
		return "tie"
	}
	return map[bool]string{true: "first", false: "second"}[a.name < b.name]
}
