package book

import "slices"

// On which card may a gang be? A gang is charged one task after the other (Journal takes
// it back if one is refused). The first task would choose the first card with room for
// itself, and bind the others to it, also where that card is too small for all. So the
// cards are chosen for the gang as a whole, before. With room for 2 A and 4 B, three tasks
// of A|B go on B.

// Member is tasks of a gang that are alike.
type Member struct {
	Use   *Use
	Cards *Set  // that they are confined to; nil: they aren't
	N     int64 // how many there are, without those that are charged already
}

// Together returns the cards that the tasks of a group may use. They are of one job,
// which may be nil, and list the same alternatives where these are several: of every such
// list it is the first card that takes all tasks, or else the one that takes the most.
func Together(q *Queue, j *Job, group []Member) *Set {
	cards, _ := roomiest(group[0].Use, times(q, j, group), Unlimited)
	for _, m := range group {
		for _, it := range m.Use.Items {
			if !it.Alts.Multi() {
				cards.Add(it.Alts.Cards[0])
			}
		}
	}
	return cards
}

// times counts how many tasks of a group, one after the other, can charge each item of the
// first one on each of its alternatives.
func times(q *Queue, j *Job, group []Member) [][]int64 {
	items := group[0].Use.Items
	times := make([][]int64, len(items))
	for i, it := range items {
		for _, card := range it.Alts.Cards {
			times[i] = append(times[i], try(trial(q, j, false), group, it.Alts, card))
		}
	}
	return times
}

// try counts how many tasks of a group, one after the other, can charge their item
// with these alternatives to a job on a card.
func try(j *Job, group []Member, alts *Alternatives, card int32) (n int64) {
	only := new(Set)
	only.Add(card)
	var a Answer
	for _, m := range group {
		k := slices.IndexFunc(m.Use.Items, func(it UseItem) bool { return it.Alts == alts })
		for left := m.N; left > 0 && k >= 0; {
			// An item shares no card with the others, so what these lack doesn't matter.
			picks := MayCharge(&a, j.Queue, j, m.Use, new(Set).Both(only, m.Cards), nil)
			if k >= len(picks) || picks[k].Card < 0 {
				return n
			}
			more := j.chargeAlike(&Use{Items: m.Use.Items[k : k+1]}, picks[k:k+1], left)
			if n += more; n >= LimitExact {
				return Unlimited
			}
			left -= more
		}
	}
	return n
}

// roomiest returns the cards that a gang of a size uses, and the size up to which it
// uses the same: the first card of each item that takes all, or else the most.
func roomiest(u *Use, times [][]int64, size int64) (cards *Set, same int64) {
	cards, same = new(Set), Unlimited
	for i, most := range times {
		best := 0
		for at := range most {
			// On a tie the first card stays: it is the one that the user prefers.
			if min(most[at], size) > min(most[best], size) {
				best = at
			}
		}
		cards.Add(u.Items[i].Alts.Cards[best])
		if most[best] >= size {
			same = min(same, most[best])
		}
	}
	return cards, same
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
