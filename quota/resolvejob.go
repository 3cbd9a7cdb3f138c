package quota

import (
	"fmt"
	"slices"
	"strings"
)

// jobBuilder works out the min of a job.
type jobBuilder struct {
	*resolver
	job *Job
	req *JobRequest

	hasCards           bool
	items              []jobItem // gated tasks left out
	freeCPU, freeMem   int64     // of live tasks without cards
	gatedCPU, gatedMem int64
}

func (b *jobBuilder) build() error {
	if err := b.tasks(); err != nil {
		return err
	}
	if b.job.Min != nil {
		if err := b.given(b.job.Min); err != nil {
			return err
		}
	} else {
		b.annotation()
		b.minResources()
	}
	if len(b.items) > maxJobItems {
		b.fail("the job has more than %d items", maxJobItems)
	}
	if b.req.invalid != "" {
		b.req.cpu, b.req.mem = 0, 0
		return nil
	}
	b.req.items = slices.DeleteFunc(b.items, func(it jobItem) bool { return it.milli == 0 })
	slices.SortFunc(b.req.items, compareItems)
	return nil
}

// fail makes the request invalid, for the first reason there is.
func (b *jobBuilder) fail(format string, args ...any) {
	if b.req.invalid == "" {
		b.req.invalid = fmt.Sprintf(format, args...)
	}
}

// tasks adds up the live tasks.
func (b *jobBuilder) tasks() error {
	for i := range b.job.Tasks {
		task := &b.job.Tasks[i]
		if task.Ended() {
			continue
		}
		t := TaskRequest{id: task.ID}
		if err := b.task(&t, task); err != nil {
			return err
		}
		if t.invalid != "" {
			b.fail("task %q: %s", brief(task.ID), t.invalid)
			continue
		}
		for k := range t.items {
			b.hasCards = true
			milli := t.items[k].milli
			if task.gated() {
				milli = 0
			}
			if b.job.Min == nil && !b.add(t.items[k].alts, milli, t.items[k].milli) {
				b.tooLarge()
			}
		}
		if len(t.items) == 0 {
			b.sum(&b.freeCPU, t.cpu)
			b.sum(&b.freeMem, t.mem)
		}
		if task.gated() {
			b.sum(&b.gatedCPU, t.cpu)
			b.sum(&b.gatedMem, t.mem)
		}
	}
	return nil
}

// add adds to the item of a key and, under AnyMix, unit. It reports whether the
// sum is small enough.
func (b *jobBuilder) add(alts *alternatives, milli, unit int64) bool {
	if b.req.mix != AnyMix || !alts.multi() {
		unit = defaultUnit
	}
	for i := range b.items {
		if it := &b.items[i]; it.alts == alts && it.unit == unit {
			return addExact(&it.milli, milli)
		}
	}
	if len(b.items) <= maxJobItems {
		b.items = append(b.items, jobItem{alts, milli, unit})
	}
	return true
}

// addExact adds an amount, unless the sum would reach 2^53.
func addExact(to *int64, amount int64) bool {
	if *to > limitExact-1-amount {
		return false
	}
	*to += amount
	return true
}

// sum adds amounts of objects, whose sums may make the request invalid.
func (b *jobBuilder) sum(to *int64, amount int64) {
	if !addExact(to, amount) {
		b.tooLarge()
	}
}

func (b *jobBuilder) tooLarge() { b.fail("a sum is too large") }

// annotation reads the job's annotation, unless its tasks have cards.
func (b *jobBuilder) annotation() {
	if b.hasCards {
		return
	}
	parser := b.l.cfg.Parser
	counts, notes := ParseRequest(b.job.Annotations[orDefault(b.l.cfg.Keys.Request, RequestAnnotation)], parser)
	b.note(notes...)
	for _, n := range notes {
		if !n.Code.IsNote() && parser != FailToZero {
			b.fail("annotation: %s", n.text())
		}
	}
	for _, c := range counts {
		if c.Count < 0 || c.Count > maxCards { // of a parser that takes everything
			b.note(EntryError{brief(strings.Join(c.Cards, "|")), outOfRange(c.Count)})
			b.fail("annotation: %d of %s", c.Count, brief(strings.Join(c.Cards, "|")))
			continue
		}
		names := c.Cards
		if parser == FailToZero {
			names = strings.Split(c.Cards[0], "|")
		}
		if alts := b.known(names); alts == nil {
			b.fail("nobody knows any of %s", brief(strings.Join(names, "|")))
		} else if c.Count > 0 {
			b.hasCards = true
			if !b.add(alts, 1000*c.Count, defaultUnit) {
				b.tooLarge()
			}
		}
	}
}

// known returns the alternatives that are known, or that a quota names; nil if
// there are none.
func (b *jobBuilder) known(names []string) *alternatives {
	var cards []int32
	for _, name := range names {
		dim, ok := b.dims[name]
		if ok {
			if _, ok = b.found.known[name]; !ok {
				ok = b.l.inQuota(b.req.queue, int(dim))
			}
		}
		switch {
		case !ok:
			b.note(EntryError{brief(name), UnknownCard})
		case !slices.Contains(cards, dim):
			cards = append(cards, dim)
		}
	}
	if len(cards) == 0 {
		return nil
	}
	return b.intern(cards)
}

// inQuota reports whether the quota of a queue, or of one above it, mentions a
// dimension.
func (l *Ledger) inQuota(name string, dim int) bool {
	l.rlock()
	defer l.mu.RUnlock()
	for q := l.queues[name]; q != nil; q = q.parent {
		if _, ok := q.spec.mentions(dim); ok {
			return true
		}
	}
	return false
}

// minResources reads cpu and memory, without those of gated tasks.
func (b *jobBuilder) minResources() {
	cpu, mem, invalid := b.plainAmounts(b.job.MinResources)
	if invalid != "" {
		b.fail("minResources: %s", invalid)
	}
	b.plainMin(cpu, mem)
	b.req.cpu = max(b.req.cpu-b.gatedCPU, 0)
	b.req.mem = max(b.req.mem-b.gatedMem, 0)
}

// plainMin sets cpu and memory, where a job with cards may have to do without.
func (b *jobBuilder) plainMin(cpu, mem int64) {
	if b.l.cfg.UnlimitedCPUMemory && b.hasCards {
		cpu, mem = min(cpu, b.freeCPU), min(mem, b.freeMem)
	}
	b.req.cpu, b.req.mem = cpu, mem
}

// given takes the min of the caller.
func (b *jobBuilder) given(given *Min) error {
	b.hasCards = false
	for _, it := range given.Items {
		if err := b.givenItem(it); err != nil {
			return err
		}
	}
	for dim, amount := range [...]int64{dimCPU: given.CPU, dimMemory: given.Memory} {
		if !exact(amount) {
			return fmt.Errorf("%w: job %q: min of %s is %d", ErrBadAmount, brief(b.req.id), dimNames[dim], amount)
		}
	}
	b.plainMin(given.CPU, given.Memory)
	return nil
}

func (b *jobBuilder) givenItem(it Item) error {
	key := brief(strings.Join(it.Alternatives, "|"))
	unit := it.Unit
	if unit == 0 {
		unit = defaultUnit
	}
	names, notes := ParseAlternatives(strings.Join(it.Alternatives, "|"))
	b.note(notes...)
	if names == nil {
		return fmt.Errorf("quota: job %q: item %q: %w", b.req.id, key, notes[0])
	}
	split := it.Unit != 0 || b.req.mix == AnyMix && len(names) > 1
	if it.Milli < 0 || it.Milli >= limitExact || unit < 0 || split && it.Milli%unit != 0 {
		return fmt.Errorf("%w: job %q: %d of %q, in units of %d", ErrBadAmount, b.req.id, it.Milli, key, unit)
	}
	alts := b.known(names)
	if alts == nil {
		b.fail("nobody knows any of %s", key)
		return nil
	}
	if it.Milli == 0 {
		return nil
	}
	b.hasCards = true
	if !b.add(alts, it.Milli, unit) {
		return overflow("job", b.req.id, it.Milli, key)
	}
	return nil
}
