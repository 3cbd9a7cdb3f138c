package quota

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/resvec/resvec/internal/quantity"
	"github.com/resvec/resvec/quota/internal/book"
	corev1 "k8s.io/api/core/v1"
)

// jobBuilder works out the min of a job.
//
// Tasks win over the annotation, and a Min of the caller over both. Tasks are looked at in
// any case: one that can't be resolved makes the request invalid, whichever counts.
type jobBuilder struct {
	*resolver
	job *Job
	req *JobRequest

	hasCards bool
	items    []book.MinItem // gated tasks left out
	free     book.Plain     // of live tasks without cards
	gated    book.Plain
	live     bool    // there are tasks that haven't ended
	made     []int64 // in outputs, by index; gated tasks left out
	listed   string  // what knownCards returns, once it was asked for
}

// build fills in the request.
func (b *jobBuilder) build() error {
	// Tasks come first: whether one has cards decides if the annotation counts.
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
	// Users write these lists, and each decision goes through all of them.
	if len(b.items) > maxJobItems {
		b.req.fail("the job asks for more than %d different lists of cards: want at most %d", maxJobItems, maxJobItems)
	}
	// Behind the limit of items, which is on what users list: outputs are as many as Config
	// has.
	if err := b.outputs(); err != nil {
		return err
	}
	if b.req.min.Invalid = b.req.invalid != ""; b.req.min.Invalid {
		// A request that is refused has no amounts that somebody could add up.
		b.req.min.Plain = book.Plain{}
		return nil
	}
	// The order decides which item gets a card that two list: it must not hang on the order
	// of tasks.
	slices.SortFunc(b.items, compareItems)
	for _, it := range b.items {
		if it.Amount > 0 {
			b.req.min.Items = append(b.req.min.Items, it)
		}
	}
	return nil
}

// tasks adds up the live tasks.
func (b *jobBuilder) tasks() error {
	for i := range b.job.Tasks {
		task := &b.job.Tasks[i]
		// It needs nothing any more.
		if task.ended() {
			continue
		}
		b.live = true
		t := TaskRequest{id: task.ID}
		if err := b.task(&t, task); err != nil {
			return err
		}
		if t.invalid != "" {
			// The others are looked at all the same: an error must not depend on the order
			// of tasks.
			b.req.fail("task %q: %s", brief(task.ID), t.invalid)
			continue
		}
		of := fmt.Sprintf("task %q", brief(task.ID))
		switch {
		case b.outs.none():
		case !task.gated():
			b.addPod(t.requests, of)
		default: // it must be chargeable all the same: its gate will go
			if _, fault := b.outs.charge(t.requests, b.covers); fault != "" {
				b.req.fail("%s: %s", of, fault)
			}
		}
		for _, it := range t.use.Items {
			b.hasCards = true
			milli := it.Amount
			if task.gated() {
				// Its item stays, with nothing to hold: the gate will go, and the task counts
				// against it then.
				milli = 0
			}
			if b.job.Min == nil && !b.add(it.Alts, milli, it.Amount) {
				b.tooLarge("cards of "+brief(keyOf(it.Alts)), "milli-cards")
			}
		}
		// All that UnlimitedCPUMemory leaves of the min, see plainMin.
		if len(t.use.Items) == 0 {
			b.sum(&b.free, &t.use.Plain)
		}
		if task.gated() {
			b.sum(&b.gated, &t.use.Plain)
		}
	}
	return nil
}

// add adds to the item of a key and, with AnyMix, unit. It reports whether the sum is small
// enough. With AnyMix a task of two cards needs both on one: it is in no item with tasks of
// one card.
func (b *jobBuilder) add(alts *book.Alternatives, milli, unit int64) bool {
	// Units matter only where an item may be on several cards.
	if !b.req.min.AnyMix || !alts.Multi() {
		unit = defaultUnit
	}
	for i := range b.items {
		if it := &b.items[i]; it.Alts == alts && it.Unit == unit {
			return addExact(&it.Amount, milli)
		}
	}
	// One more than may be is enough to refuse the job. Each one more would slow down the
	// search above, and a hostile job has thousands.
	if len(b.items) <= maxJobItems {
		b.items = append(b.items, book.MinItem{Alts: alts, Amount: milli, Unit: unit})
	}
	return true
}

// sum adds amounts of objects, whose sums may make the request invalid.
func (b *jobBuilder) sum(to, plain *book.Plain) {
	for dim, amount := range plain {
		if !addExact(&to[dim], amount) {
			b.tooLarge(dimNames[dim]+" of the tasks", plainUnits[dim])
		}
	}
}

// tooLarge makes the request invalid. No error: the amounts are of objects, each of which
// may be good.
func (b *jobBuilder) tooLarge(what, unit string) {
	b.req.fail("the sum of the job's %s is 2^53 %s or more: want less", what, unit)
}

// annotation reads the job's annotation, unless its tasks have cards.
func (b *jobBuilder) annotation() {
	// Pods know better than the annotation, which was written before them.
	if b.hasCards {
		return
	}
	cfg, key := &b.l.cfg, cmp.Or(b.l.cfg.RequestKey, RequestAnnotation)
	// A bad entry makes the whole request invalid: without it the job would ask for less
	// than it uses.
	counts, notes := parseRequest(b.job.Annotations[key], cfg.FailToZero)
	for _, n := range b.noteIn(key, notes...) {
		if !n.isNote() && !cfg.FailToZero {
			b.req.fail("%s", n.text())
		}
	}
	for _, c := range counts {
		if !exact(c.Milli) { // of a parser that takes everything
			fault := outOfRange(key, brief(strings.Join(c.Alternatives, "|")), c.Milli)
			b.note(fault)
			b.req.fail("%s", fault.text())
			continue
		}
		names := c.Alternatives
		if cfg.FailToZero {
			// That parser takes names as they stand.
			names = strings.Split(c.Alternatives[0], "|")
		}
		// A 0 of unknown cards is refused, too: the name is wrong, whatever the count.
		if alts := b.known(key, names); alts == nil {
			b.req.fail("%s", noneKnown(key, names, b.knownCards()))
		} else if c.Milli > 0 {
			b.hasCards = true
			if !b.add(alts, c.Milli, defaultUnit) {
				b.tooLarge("cards of "+brief(keyOf(alts)), "milli-cards")
			}
		}
	}
}

// known returns the alternatives that are known, or that a quota names; nil if
// there are none. where is the place of the names.
func (b *jobBuilder) known(where string, names []string) *book.Alternatives {
	var cards []int32
	var seen book.Set
	for _, name := range names {
		dim, ok := b.dims[name]
		if ok {
			// A pool that scales from zero has no node with the card yet. Its quota says that
			// there will be one.
			if _, ok = b.found.known[name]; !ok {
				ok = b.l.inQuota(b.req.queue, int(dim))
			}
		}
		switch {
		case !ok:
			b.note(unknown(where, name, b.knownCards()))
		// The plugin's parser takes a name as often as it is written.
		case !seen.Has(dim):
			seen.Add(dim)
			cards = append(cards, dim)
		}
	}
	if len(cards) == 0 {
		return nil
	}
	return b.l.interned.get(b.cards, cards)
}

// inQuota reports whether the quota of a queue, or of one above it, mentions a
// dimension.
func (l *Ledger) inQuota(name string, dim int) bool {
	l.rlock()
	defer l.mu.RUnlock()
	q := l.queues[name]
	return q != nil && (q.named == nil || q.named.Has(int32(dim)))
}

// knownCards lists for messages the cards that are known, and those that the quota of the
// job's queue, or of one above it, has. It goes through all cards, so it is made once, and
// only for a message.
func (b *jobBuilder) knownCards() string {
	if b.listed == "" {
		names := slices.Clone(b.found.names)
		for dim, name := range b.cards {
			if name != "" && b.l.inQuota(b.req.queue, dim) {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		b.listed = some(slices.Compact(names))
	}
	return b.listed
}

// minResources reads cpu and memory, without those of gated tasks.
func (b *jobBuilder) minResources() {
	plain, invalid := b.plainAmounts(b.job.MinResources)
	if invalid != "" {
		b.req.fail("minResources: %s", invalid)
	}
	// Gated tasks count in minResources, and will ask again when their gates go.
	b.plainMin(plain)
	for dim, gated := range b.gated {
		b.req.min.Plain[dim] = max(b.req.min.Plain[dim]-gated, 0)
	}
	if b.hasCards {
		return
	}
	// Nobody knows which cards these are, and so none is held for them.
	for _, name := range slices.Sorted(maps.Keys(b.job.MinResources)) {
		if q := b.job.MinResources[name]; q.Sign() > 0 && len(b.found.carried[name]) > 0 {
			b.note(entryError{Name: string(name), Code: codeUnnamedCards, Field: "minResources", Value: quantity.Text(q)})
		}
	}
}

// outputs adds to the min of a job what it needs in outputs: the sums over its tasks or, while
// there are none, the charge of MinResources. A min that the caller gives replaces both.
func (b *jobBuilder) outputs() error {
	if b.outs.none() {
		return nil
	}
	if !b.live && len(b.job.MinResources) > 0 && b.job.Min == nil {
		if fault := b.outs.badRequest(b.job.MinResources); fault != "" {
			b.req.fail("minResources: %s", fault)
		} else {
			b.addPod(b.job.MinResources, "minResources")
		}
	}
	if given := b.job.Min; given != nil {
		b.made = make([]int64, len(b.outs.names)) // instead of what pods make
		for _, name := range slices.Sorted(maps.Keys(given.Outputs)) {
			i, known := b.outs.index(name)
			switch amount := given.Outputs[name]; {
			case !known && slices.Contains(dimNames[:], string(name)):
				return fmt.Errorf("%w: %q, in the Outputs of the min of job %q: want it in CPU or Memory", ErrBadAmount, name, brief(b.req.id))
			case !known:
				return fmt.Errorf("%w: %q, in the Outputs of the min of job %q: want one of Config.Outputs", ErrBadAmount, brief(string(name)), brief(b.req.id))
			case !exact(amount):
				return fmt.Errorf("%w: job %q: min of %s is %d: want 0 to less than 2^53", ErrBadAmount, brief(b.req.id), name, amount)
			default:
				b.made[i] = amount
			}
		}
	}
	for _, it := range b.outs.items(b.made) {
		b.items = append(b.items, book.MinItem{Alts: it.Alts, Amount: it.Amount, Unit: defaultUnit})
	}
	return nil
}

// addPod adds what a pod is charged in outputs to the min.
func (b *jobBuilder) addPod(requests corev1.ResourceList, of string) {
	amounts, fault := b.outs.charge(requests, b.covers)
	if fault != "" {
		b.req.fail("%s: %s", of, fault)
		return
	}
	for i, amount := range amounts {
		if b.made == nil {
			b.made = make([]int64, len(amounts))
		}
		// A min that is given replaces the sum, so its size doesn't matter.
		if !addExact(&b.made[i], amount) && b.job.Min == nil {
			b.tooLarge(string(b.outs.names[i]), unitOfOutput(b.outs.names[i]).plural())
		}
	}
}

// plainMin sets cpu and memory, where a job with cards may have to do without. With
// minResources of 10 cores for a job whose tasks without cards ask for 2, 2 are left.
// Without tasks nothing is known, and nothing left.
func (b *jobBuilder) plainMin(plain book.Plain) {
	if b.l.cfg.UnlimitedCPUMemory && b.hasCards {
		// MinResources are of all tasks together; those with cards are left out as far as it
		// is known what the others ask for.
		plain = book.Plain{min(plain[dimCPU], b.free[dimCPU]), min(plain[dimMemory], b.free[dimMemory])}
	}
	b.req.min.Plain = plain
}

// given takes the min of the caller.
func (b *jobBuilder) given(given *Min) error {
	// A min that is given says which cards the job has. What its tasks ask for does not count.
	b.hasCards = false
	for _, it := range given.Items {
		if err := b.givenItem(it); err != nil {
			return err
		}
	}
	plain := book.Plain{given.CPU, given.Memory}
	for dim, amount := range plain {
		if !exact(amount) {
			return fmt.Errorf("%w: job %q: min of %s is %d: want 0 to less than 2^53 %s", ErrBadAmount, brief(b.req.id), dimNames[dim], amount, plainUnits[dim])
		}
	}
	// After the items, which say whether there are cards.
	b.plainMin(plain)
	return nil
}

// givenItem takes an item of the caller's min. A bad amount is an error, since the caller
// has made it up; an unknown card isn't, since it may come.
func (b *jobBuilder) givenItem(it Item) error {
	key := brief(strings.Join(it.Alternatives, "|"))
	unit := it.Unit
	if unit == 0 {
		unit = defaultUnit
	}
	const where = "min"
	// As a text, so that the rules are those of an annotation.
	names, notes := parseAlternatives(strings.Join(it.Alternatives, "|"))
	notes = b.noteIn(where, notes...)
	if names == nil {
		notes[0].Field = fmt.Sprintf("job %q: %s", brief(b.req.id), where)
		return notes[0]
	}
	bad := func(what string, amount int64, want string) error {
		return fmt.Errorf("%w: job %q: item %q: the %s is %d milli-cards: want %s", ErrBadAmount, brief(b.req.id), key, what, amount, want)
	}
	switch {
	case !exact(it.Milli):
		return bad("amount", it.Milli, "0 to less than 2^53")
	case unit < 0:
		return bad("unit", unit, "more than 0, or 0 for 1000")
	case (unit != defaultUnit || b.req.min.AnyMix && len(names) > 1) && it.Milli%unit != 0:
		return bad("amount", it.Milli, fmt.Sprintf("a multiple of the unit, %d", unit))
	}
	alts := b.known(where, names)
	if alts == nil {
		// No error: a node with the card may come, and then the same min is a good one.
		b.req.fail("%s", noneKnown(where, names, b.knownCards()))
		return nil
	}
	if it.Milli == 0 {
		return nil
	}
	b.hasCards = true
	if !b.add(alts, it.Milli, unit) {
		return overflow("job", b.req.id, unitCards, it.Milli, key, 53)
	}
	return nil
}
