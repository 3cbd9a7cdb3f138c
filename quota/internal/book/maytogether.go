package book

// On which card may a gang be? A gang is charged one task after the other (Journal takes
// it back if one is refused). The first task would choose the first card with room for
// itself, and bind the others to it, also where that card is too small for all. So the
// cards are chosen for the gang as a whole, before. With room for 2 A and 4 B, three tasks
// of A|B go on B.

// Member is a task of a gang.
type Member struct {
	Use     *Use
	Cards   *Set // that it is confined to; nil: it isn't
	Charged bool // already
}

// Together returns the cards that the tasks of a group may use. They are of one job,
// which may be nil, and list the same alternatives where these are several: of every such
// list it is the first card that takes all tasks, or else the one that takes the most.
func Together(q *Queue, j *Job, group []Member) *Set {
	cards := new(Set)
	first := group[0].Use
	for k := range first.Items {
		alts := first.Items[k].Alts
		best, most := alts.Cards[0], -1
		for _, card := range alts.Cards {
			// On a tie the first card stays: it is the one that the user prefers.
			if n := try(q, j, group, alts, card); n > most {
				best, most = card, n
			}
		}
		cards.Add(best)
	}
	for i := range group {
		for k := range group[i].Use.Items {
			if alts := group[i].Use.Items[k].Alts; !alts.Multi() {
				cards.Add(alts.Cards[0])
			}
		}
	}
	return cards
}

// try counts how many tasks of a group, one after the other, can charge their item
// with these alternatives on a card.
func try(q *Queue, j *Job, group []Member, alts *Alternatives, card int32) (n int) {
	j = (&copier{q: q, job: j}).trial()
	only := new(Set)
	only.Add(card)
	var a Answer
	for i := range group {
		m := &group[i]
		// An item shares no card with the others, so what these lack doesn't matter.
		for k, p := range MayCharge(&a, j.Queue, j, m.Use, new(Set).Both(only, m.Cards), nil) {
			if m.Use.Items[k].Alts != alts || m.Charged {
				continue
			}
			if p.Card < 0 {
				return n
			}
			j.charge(alts, m.Use.Items[k].Amount, p)
		}
		n++
	}
	return n
}

// NotTogether says of the alternatives that only the rest of its gang excludes for a
// task that they haven't room for all. alone is the answer to the task by itself: it has
// their room before the gang. Without this the reason would be FirmElsewhere: true of the
// moment, but it wouldn't tell the user that the gang is too large for any one card.
func (a *Answer) NotTogether(alone []Option) {
	if a.OK() || len(a.Options) != len(alone) {
		return
	}
	excluded := func(why Reason) bool { return why == FirmElsewhere || why == NotAllowed }
	for i := range a.Options {
		o, lack := &a.Options[i], &a.Lack
		if !excluded(o.Why) || excluded(alone[i].Why) {
			continue
		}
		*o = alone[i]
		o.Why = NotTogether
		if a.Reason == LacksCards && o.Item == lack.Item && (excluded(lack.Why) || lack.Why == NotTogether && o.Room > lack.Room) {
			lack.Option = *o
		}
	}
}

// Reconsider makes the refusal of a task that was restricted to one card that of
// all its alternatives, if these have no room either. The user is told of the roomiest of
// all, and not of a card that the gang has chosen.
func (a *Answer) Reconsider(q *Queue, j *Job, u *Use, cards *Set) {
	var all Answer
	if MayCharge(&all, q, j, u, cards, nil); !all.OK() {
		*a = all
	}
}
