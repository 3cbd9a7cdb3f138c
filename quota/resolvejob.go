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

// job works out the min of a job.
//
// Tasks win over the annotation, and a Min of the caller over both. Tasks are looked at in
// any case: one that can't be resolved makes the request invalid, whichever counts.
func (r *resolver) job(req *JobRequest, job *Job) error {
	// Tasks come first: whether one has cards decides if the annotation counts.
	live, free, gated, err := r.tasks(req, job)
	if err != nil {
		return err
	}
	var plain book.Plain
	if job.Min != nil {
		if plain, err = r.given(req, job.Min); err != nil {
			return err
		}
		gated = book.Plain{} // what is given is meant without them
	} else {
		r.annotation(req, job)
		plain = r.minResources(req, job)
	}
	cards := req.cards()
	for dim := range plain {
		// MinResources are of all tasks together; those with cards are left out as far as it is
		// known what the others ask for. With minResources of 10 cores for a job whose tasks
		// without cards ask for 2, 2 are left. Without tasks nothing is known, and nothing left.
		if r.l.cfg.UnlimitedCPUMemory && cards > 0 {
			plain[dim] = min(plain[dim], free[dim])
		}
		// Gated tasks count in minResources, and will ask again when their gates go.
		plain[dim] = max(plain[dim]-gated[dim], 0)
	}
	// Users write these lists, and each decision goes through all of them.
	if cards > maxJobItems {
		req.fail("the job asks for more than %d different lists of cards: want at most %d", maxJobItems, maxJobItems)
	}
	// While there are no tasks to make outputs of.
	if !live && job.Min == nil {
		r.minOutputs(req, job.MinResources)
	}
	if req.min.Invalid = req.invalid != ""; req.min.Invalid {
		// A request that is refused has no amounts that somebody could add up.
		req.min.Items = nil
		return nil
	}
	req.min.Plain = plain
	// The order decides which item gets a card that two list: it must not hang on the order
	// of tasks.
	slices.SortFunc(req.min.Items, compareItems)
	req.min.Items = slices.DeleteFunc(req.min.Items, func(it book.MinItem) bool { return it.Amount == 0 })
	return nil
}

// cards returns how many items there are on cards; the others are outputs.
func (r *JobRequest) cards() (n int) {
	for _, it := range r.min.Items {
		if !isOutput(it.Alts) {
			n++
		}
	}
	return n
}

// tasks adds up the live tasks: whether there are any, the cpu and memory of those without
// cards, and that of gated ones.
func (r *resolver) tasks(req *JobRequest, job *Job) (live bool, free, gated book.Plain, err error) {
	for i := range job.Tasks {
		task := &job.Tasks[i]
		// It needs nothing any more.
		if task.ended() {
			continue
		}
		live = true
		t := TaskRequest{id: task.ID}
		if err := r.task(&t, task); err != nil {
			return false, free, gated, err
		}
		hasCards := len(t.use.Items) > 0
		if r.addOutputs(&t); t.invalid != "" {
			// The others are looked at all the same: an error must not depend on the order
			// of tasks.
			req.fail("task %q: %s", brief(task.ID), t.invalid)
			continue
		}
		for _, it := range t.use.Items {
			amount := it.Amount
			if task.gated() {
				// Its item stays, with nothing to hold: the gate will go, and the task counts
				// against it then.
				amount = 0
			}
			if job.Min == nil { // which replaces the sum, so its size doesn't matter
				r.sum(req, it.Alts, amount, it.Amount)
			}
		}
		for dim, amount := range t.use.Plain {
			if !hasCards && !addExact(&free[dim], amount) || task.gated() && !addExact(&gated[dim], amount) {
				req.tooLarge(dimNames[dim]+" of the tasks", dimUnits[dim])
			}
		}
	}
	return live, free, gated, nil
}

// add adds to the item of a list and, with AnyMix, unit. It reports whether the sum is small
// enough. With AnyMix a task of two cards needs both on one: it is in no item with tasks of
// one card.
func (r *resolver) add(req *JobRequest, alts *book.Alternatives, amount, unit int64) bool {
	// Units matter only where an item may be on several cards.
	if !req.min.AnyMix || !alts.Multi() {
		unit = defaultUnit
	}
	for i := range req.min.Items {
		if it := &req.min.Items[i]; it.Alts == alts && it.Unit == unit {
			return addExact(&it.Amount, amount)
		}
	}
	// One more than may be is enough to refuse the job. Each one more would slow down the
	// search above, and a hostile job has thousands. Outputs are as many as Config has.
	if len(req.min.Items) <= maxJobItems+len(r.l.outs.names) {
		req.min.Items = append(req.min.Items, book.MinItem{Alts: alts, Amount: amount, Unit: unit})
	}
	return true
}

// tooLarge makes the request invalid. No error: the amounts are of objects, each of which
// may be good.
func (r *JobRequest) tooLarge(what string, unit amountUnit) {
	r.fail("the sum of the job's %s is 2^53 %s or more: want less", what, unit.plural())
}

// sum is add for amounts of objects.
func (r *resolver) sum(req *JobRequest, alts *book.Alternatives, amount, unit int64) {
	switch {
	case r.add(req, alts, amount, unit):
	case isOutput(alts):
		req.tooLarge(keyOf(alts), unitOfOutput(corev1.ResourceName(keyOf(alts))))
	default:
		req.tooLarge("cards of "+brief(keyOf(alts)), unitCards)
	}
}

// annotation reads the job's annotation, unless its tasks have cards.
func (r *resolver) annotation(req *JobRequest, job *Job) {
	// Pods know better than the annotation, which was written before them.
	if req.cards() > 0 {
		return
	}
	cfg, key := &r.l.cfg, r.l.cfg.requestKey()
	r.ignored(job.Annotations, "requests", key)
	// A bad entry makes the whole request invalid: without it the job would ask for less
	// than it uses.
	counts, notes := parseRequest(job.Annotations[key], cfg.FailToZero)
	for _, n := range r.noteIn(key, notes...) {
		if !n.isNote() && !cfg.FailToZero {
			req.fail("%s", n.text())
		}
	}
	for _, c := range counts {
		if !exact(c.Milli) { // of a parser that takes everything
			fault := outOfRange(key, brief(strings.Join(c.Alternatives, "|")), c.Milli)
			r.note(fault)
			req.fail("%s", fault.text())
			continue
		}
		names := c.Alternatives
		if cfg.FailToZero {
			// That parser takes names as they stand.
			names = strings.Split(c.Alternatives[0], "|")
		}
		// A 0 of unknown cards is refused, too: the name is wrong, whatever the count.
		if alts := r.known(req, key, names); alts != nil && c.Milli > 0 {
			r.sum(req, alts, c.Milli, defaultUnit)
		}
	}
}

// known returns the alternatives that are known, or that a quota names; nil if there are
// none, which makes the request invalid. It is no error: a node with the card may come. where
// is the place of the names.
func (r *resolver) known(req *JobRequest, where string, names []string) *book.Alternatives {
	var cards []int32
	var seen book.Set
	for _, name := range names {
		dim, ok := r.dims[name]
		_, known := r.found.known[name]
		switch {
		// A pool that scales from zero has no node with the card yet. Its quota says that there
		// will be one.
		case !ok, !known && !r.inQuota(dim):
			r.note(unknown(where, name, r.knownCards()))
		// The plugin's parser takes a name as often as it is written.
		case !seen.Has(dim):
			seen.Add(dim)
			cards = append(cards, dim)
		}
	}
	if len(cards) == 0 {
		req.fail("%s", noneKnown(where, names, r.knownCards()))
		return nil
	}
	return r.l.interned.get(r.cards, cards)
}

// inQuota reports whether the quota of the job's queue, or of one above it, names a card.
func (r *resolver) inQuota(dim int32) bool { return r.named == nil || r.named.Has(dim) }

// knownCards lists for messages the cards that are known, and those that a quota names. It
// goes through all cards, so it is made once, and only for a message.
func (r *resolver) knownCards() string {
	if r.listed == "" {
		names := slices.Clone(r.found.names)
		for dim, name := range r.cards {
			if name != "" && r.inQuota(int32(dim)) {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		r.listed = some(slices.Compact(names))
	}
	return r.listed
}

// minResources reads the cpu and memory of MinResources.
func (r *resolver) minResources(req *JobRequest, job *Job) book.Plain {
	plain, _, fault := r.plainAmounts(job.MinResources)
	if fault != "" {
		req.fail("minResources: %s", fault)
	}
	if req.cards() > 0 {
		return plain
	}
	// Nobody knows which cards these are, and so none is held for them.
	for _, name := range slices.Sorted(maps.Keys(job.MinResources)) {
		if q := job.MinResources[name]; q.Sign() > 0 && len(r.found.carried[name]) > 0 {
			r.note(entryError{Name: string(name), Code: codeUnnamedCards, Field: "minResources", Value: quantity.Text(q)})
		}
	}
	return plain
}

// minOutputs adds what MinResources are charged in outputs.
func (r *resolver) minOutputs(req *JobRequest, list corev1.ResourceList) {
	fault := r.l.outs.badRequest(list)
	var amounts []int64
	if fault == "" {
		amounts, fault = r.l.outs.charge(list, r.covers)
	}
	if fault != "" {
		req.fail("minResources: %s", fault)
	}
	for i, amount := range amounts {
		r.add(req, r.l.outs.alts[i], amount, defaultUnit)
	}
}

// given takes the min of the caller. A bad amount is an error, since the caller has made it
// up.
func (r *resolver) given(req *JobRequest, given *Min) (plain book.Plain, err error) {
	for _, it := range given.Items {
		if err := r.givenItem(req, it); err != nil {
			return plain, err
		}
	}
	check := func(name string, amount int64, unit amountUnit) error {
		if exact(amount) {
			return nil
		}
		return fmt.Errorf("%w: job %q: min of %s is %d: want 0 to less than 2^53%s", ErrBadAmount, brief(req.id), name, amount, unit.whole)
	}
	if err := cmp.Or(check("cpu", given.CPU, unitCores), check("memory", given.Memory, unitBytes)); err != nil {
		return plain, err
	}
	for _, name := range slices.Sorted(maps.Keys(given.Outputs)) {
		i, known := r.l.outs.index(name)
		if !known {
			want := "one of Config.Outputs"
			if slices.Contains(dimNames[:], string(name)) {
				want = "it in CPU or Memory"
			}
			return plain, fmt.Errorf("%w: %q, in the Outputs of the min of job %q: want %s", ErrBadAmount, brief(string(name)), brief(req.id), want)
		}
		if err := check(string(name), given.Outputs[name], unitOfOutput(name)); err != nil {
			return plain, err
		}
		r.add(req, r.l.outs.alts[i], given.Outputs[name], defaultUnit)
	}
	return book.Plain{given.CPU, given.Memory}, nil
}

// givenItem takes an item of the caller's min.
func (r *resolver) givenItem(req *JobRequest, it Item) error {
	// As a text, so that the rules are those of an annotation.
	key, unit := strings.Join(it.Alternatives, "|"), cmp.Or(it.Unit, defaultUnit)
	where := fmt.Sprintf("job %q", brief(req.id))
	names, notes := parseAlternatives(key)
	notes = r.noteIn("min", notes...)
	if names == nil {
		notes[0].Field = where + ": min"
		return notes[0]
	}
	switch {
	case !exact(it.Milli):
		return badItem(where, key, "amount", it.Milli, "0 to less than 2^53")
	case unit < 0:
		return badItem(where, key, "unit", unit, "more than 0, or 0 for 1000")
	case (unit != defaultUnit || req.min.AnyMix && len(names) > 1) && it.Milli%unit != 0:
		return badItem(where, key, "amount", it.Milli, fmt.Sprintf("a multiple of the unit, %d", unit))
	}
	if alts := r.known(req, "min", names); alts != nil && it.Milli > 0 && !r.add(req, alts, it.Milli, unit) {
		return overflow("job", req.id, unitCards, it.Milli, key, 53)
	}
	return nil
}
