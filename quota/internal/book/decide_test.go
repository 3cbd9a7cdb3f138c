package book

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The cards of these tests.
const (
	cardA int32 = iota + 2
	cardB
	cardC
	dims
)

// world is a queue below another one, without limits but those that a test sets.
type world struct {
	*testing.T
	Book
	org, q *Queue
	lists  map[string]*Alternatives
}

func newWorld(t *testing.T) *world {
	w := &world{T: t, lists: map[string]*Alternatives{}}
	w.org, w.q = &Queue{Open: true, Tag: "org"}, &Queue{Open: true, Tag: "q"}
	w.q.Parent = w.org
	w.Link([]*Queue{w.org, w.q})
	w.Widen(int(dims))
	w.SetLimits([]int{0, 1, 2, 3, 4}[:dims], func(int) int64 { return 0 }, false, func(*Queue, int) Quota { return Quota{Capability: Unlimited} })
	return w
}

// alts is the list of "A|B".
func (w *world) alts(text string) *Alternatives {
	if w.lists[text] == nil {
		var cards []int32
		for card := range strings.SplitSeq(text, "|") {
			cards = append(cards, cardA+int32(card[0]-'A'))
		}
		w.lists[text] = &Alternatives{Cards: cards, Tag: text}
	}
	return w.lists[text]
}

// reserve makes a job of the items of a min.
func (w *world) reserve(m Min) *Job {
	w.Helper()
	var a Answer
	var p Plan
	if !MayReserve(&a, w.q, &m, nil, &p) {
		w.Fatal(answerText(&a, nil))
	}
	j := &Job{}
	w.AddJob(j, w.q)
	j.Reserve(&p)
	return j
}

// charge charges a task of a job.
func (w *world) charge(j *Job, u Use, cards ...int32) *Task {
	w.Helper()
	var a Answer
	picks := MayCharge(&a, w.q, j, &u, setOf(cards...), nil)
	if !a.OK() {
		w.Fatal(answerText(&a, picks))
	}
	t := &Task{Job: j}
	t.Charge(&u, picks, nil)
	return t
}

// setOf is the set of cards; nil if there are none.
func setOf(cards ...int32) (s *Set) {
	for _, card := range cards {
		if s == nil {
			s = new(Set)
		}
		s.Add(card)
	}
	return s
}

// answerText is all that an answer has, and the cards of picks.
func answerText(a *Answer, picks []Pick) string {
	level := func(q *Queue) any {
		if q == nil {
			return "-"
		}
		return q.Tag
	}
	// What leaves too little room is counted from 1 on.
	why := func(r Reason) Reason { return max(r, LacksCards) - LacksCards }
	var b strings.Builder
	fmt.Fprintf(&b, "%d", a.Reason)
	if l := a.Lack; l != (Lack{}) {
		fmt.Fprintf(&b, " item %d of %d: %d, want %d, room %d at %v of %d", l.Item, l.Dim, why(l.Why), l.Requested, l.Room, level(l.Level), l.Limit)
	}
	for _, o := range a.Options {
		fmt.Fprintf(&b, "; item %d on %d: %d, room %d at %v of %d", o.Item, o.Dim, why(o.Why), o.Room, level(o.Level), o.Limit)
	}
	for _, p := range picks {
		fmt.Fprintf(&b, "; pick %d", p.Card)
	}
	return b.String()
}

// TestAnswers: every number of an answer, also those that package quota has no use for.
func TestAnswers(t *testing.T) {
	type ask = func(w *world, a *Answer) []Pick
	mayCharge := func(u Use, j *Job, cards ...int32) ask {
		return func(w *world, a *Answer) []Pick { return MayCharge(a, w.q, j, &u, setOf(cards...), nil) }
	}
	for _, c := range []struct {
		name string
		ask  ask
		want string
	}{
		{"cpu of a task", func(w *world, a *Answer) []Pick {
			w.org.Cells[CPU].Limit = 2
			return mayCharge(Use{Plain: Plain{CPU: 3}}, nil)(w, a)
		}, "7 item 0 of 0: 1, want 3, room 2 at org of 2"},
		{"memory of a task", func(w *world, a *Answer) []Pick {
			w.q.Cells[Memory].Limit = 2
			return mayCharge(Use{Plain: Plain{3, 3}}, nil)(w, a)
		}, "8 item 0 of 1: 1, want 3, room 2 at q of 2"},
		{"cpu of a job", func(w *world, a *Answer) []Pick {
			w.q.Cells[CPU].Limit = 2
			MayReserve(a, w.q, &Min{Plain: Plain{CPU: 3}}, nil, new(Plan))
			return nil
		}, "7 item 0 of 0: 1, want 3, room 2 at q of 2"},
		{"cpu that is held", func(w *world, a *Answer) []Pick {
			w.q.Cells[CPU].Limit = 4
			w.reserve(Min{Plain: Plain{CPU: 2}})
			MayReserve(a, w.q, &Min{Plain: Plain{CPU: 3}}, nil, new(Plan))
			return nil
		}, "7 item 0 of 0: 2, want 3, room 2 at q of 4"},
		{"the second item", func(w *world, a *Answer) []Pick {
			w.q.Cells[cardB].Limit, w.q.Cells[cardC].Limit = 1, 2
			return mayCharge(Use{Items: []UseItem{{w.alts("A"), 3}, {w.alts("B|C"), 3}}}, nil)(w, a)
		}, "9 item 1 of 4: 1, want 3, room 2 at q of 2; item 0 on 2: 0, room 9223372036854775807 at q of 9223372036854775807; " +
			"item 1 on 3: 1, room 1 at q of 1; item 1 on 4: 1, room 2 at q of 2; pick 2; pick -1"},
		{"no card of the node", func(w *world, a *Answer) []Pick {
			return mayCharge(Use{Items: []UseItem{{w.alts("A|B"), 1}}}, nil, cardC)(w, a)
		}, "5; item 0 on 2: 4, room 0 at - of 0; item 0 on 3: 4, room 0 at - of 0; pick -1"},
		{"the first with room", func(w *world, a *Answer) []Pick {
			w.q.Cells[cardA].Limit = 0
			return mayCharge(Use{Items: []UseItem{{w.alts("A|B|C"), 1}}}, nil, cardA, cardB, cardC)(w, a)
		}, "0; item 0 on 2: 1, room 0 at q of 0; item 0 on 3: 0, room 9223372036854775807 at q of 9223372036854775807; " +
			"item 0 on 4: 0, room 9223372036854775807 at q of 9223372036854775807; pick 3"},
		{"a hold of two doesn't follow to one", func(w *world, a *Answer) []Pick {
			j := w.reserve(Min{Items: []MinItem{{w.alts("A|B"), 2, 1}}})
			w.q.Cells[cardB].Limit = 1
			return mayCharge(Use{Items: []UseItem{{w.alts("A|B"), 1}}}, j, cardB)(w, a)
		}, "9 item 0 of 3: 5, want 1, room 0 at q of 1; item 0 on 2: 4, room 0 at - of 0; item 0 on 3: 5, room 0 at q of 1; pick -1"},
		{"a hold of two where nothing is free", func(w *world, a *Answer) []Pick {
			j := w.reserve(Min{Items: []MinItem{{w.alts("A|B"), 2, 1}}})
			w.reserve(Min{Items: []MinItem{{w.alts("B"), 1, 1}}})
			w.q.Cells[cardB].Limit = 1
			return mayCharge(Use{Items: []UseItem{{w.alts("A|B"), 1}}}, j, cardB)(w, a)
		}, "9 item 0 of 3: 2, want 1, room 0 at q of 1; item 0 on 2: 4, room 0 at - of 0; item 0 on 3: 2, room 0 at q of 1; pick -1"},
		{"another card of the job", func(w *world, a *Answer) []Pick {
			j := w.reserve(Min{Items: []MinItem{{w.alts("A|B"), 2, 1}}})
			w.charge(j, Use{Items: []UseItem{{w.alts("A|B"), 1}}})
			return mayCharge(Use{Items: []UseItem{{w.alts("A|B"), 1}}}, j, cardB)(w, a)
		}, "9 item 0 of 3: 3, want 1, room 0 at q of 9223372036854775807; item 0 on 2: 4, room 0 at - of 0; item 0 on 3: 3, room 0 at q of 9223372036854775807; pick -1"},
		{"the job's card is full, and comes second", func(w *world, a *Answer) []Pick {
			j := w.reserve(Min{Items: []MinItem{{w.alts("A|B"), 2, 1}}})
			w.charge(j, Use{Items: []UseItem{{w.alts("A|B"), 2}}}, cardB)
			w.q.Cells[cardB].Limit = 2
			return mayCharge(Use{Items: []UseItem{{w.alts("A|B"), 1}}}, j)(w, a)
		}, "9 item 0 of 3: 1, want 1, room 0 at q of 2; item 0 on 2: 3, room 0 at q of 9223372036854775807; item 0 on 3: 1, room 0 at q of 2; pick -1"},
		{"the job's card is over", func(w *world, a *Answer) []Pick {
			j := w.reserve(Min{})
			w.charge(j, Use{Items: []UseItem{{w.alts("A|B|C"), 2}}}, cardB)
			w.q.Cells[cardB].Limit = 1
			return mayCharge(Use{Items: []UseItem{{w.alts("A|B|C"), 1}}}, j)(w, a)
		}, "9 item 0 of 3: 1, want 1, room -1 at q of 1; item 0 on 2: 3, room 0 at q of 9223372036854775807; " +
			"item 0 on 3: 1, room -1 at q of 1; item 0 on 4: 3, room 0 at q of 9223372036854775807; pick -1"},
		{"a job on one card", func(w *world, a *Answer) []Pick {
			w.q.Cells[cardA].Limit, w.org.Cells[cardB].Limit = 1, 2
			MayReserve(a, w.q, &Min{Items: []MinItem{{w.alts("C"), 1, 1}, {w.alts("A|B"), 3, 1}}}, nil, new(Plan))
			return nil
		}, "9 item 1 of 3: 1, want 3, room 2 at org of 2; item 1 on 2: 1, room 1 at q of 1; item 1 on 3: 1, room 2 at org of 2"},
		{"a job on several cards", func(w *world, a *Answer) []Pick {
			w.q.Cells[cardA].Limit, w.org.Cells[cardB].Limit = 3, 3
			MayReserve(a, w.q, &Min{AnyMix: true, Items: []MinItem{{w.alts("A|B"), 6, 2}}}, nil, new(Plan))
			return nil
		}, "9 item 0 of -1: 1, want 6, room 4 at q of 6; item 0 on 2: 1, room 3 at q of 3; item 0 on 3: 1, room 3 at org of 3"},
		{"several cards that are held", func(w *world, a *Answer) []Pick {
			w.q.Cells[cardA].Limit, w.q.Cells[cardB].Limit = 3, 3
			w.reserve(Min{Items: []MinItem{{w.alts("A"), 1, 1}}})
			MayReserve(a, w.q, &Min{AnyMix: true, Items: []MinItem{{w.alts("A|B"), 6, 1}}}, nil, new(Plan))
			return nil
		}, "9 item 0 of -1: 2, want 6, room 5 at q of 6; item 0 on 2: 2, room 2 at q of 3; item 0 on 3: 1, room 3 at q of 3"},
		{"several cards that are held, and too few", func(w *world, a *Answer) []Pick {
			w.q.Cells[cardA].Limit, w.q.Cells[cardB].Limit = 3, 3
			w.reserve(Min{Items: []MinItem{{w.alts("A"), 1, 1}}})
			MayReserve(a, w.q, &Min{AnyMix: true, Items: []MinItem{{w.alts("A|B"), 7, 1}}}, nil, new(Plan))
			return nil
		}, "9 item 0 of -1: 1, want 7, room 5 at q of 6; item 0 on 2: 2, room 2 at q of 3; item 0 on 3: 1, room 3 at q of 3"},
		{"several cards that are held, beside one that is over", func(w *world, a *Answer) []Pick {
			w.q.Cells[cardA].Limit, w.q.Cells[cardA].Allocated, w.q.Cells[cardB].Limit = 1, 2, 3
			w.reserve(Min{Items: []MinItem{{w.alts("B"), 1, 1}}})
			MayReserve(a, w.q, &Min{AnyMix: true, Items: []MinItem{{w.alts("A|B"), 3, 1}}}, nil, new(Plan))
			return nil
		}, "9 item 0 of -1: 2, want 3, room 2 at q of 4; item 0 on 2: 1, room -1 at q of 1; item 0 on 3: 2, room 2 at q of 3"},
		{"more than charges cover of what is held", func(w *world, a *Answer) []Pick {
			w.q.Cells[cardA].Limit, w.q.Cells[cardB].Limit = 2, 4
			j := w.reserve(Min{AnyMix: true, Items: []MinItem{{w.alts("A|B"), 2, 1}}})
			w.charge(j, Use{Items: []UseItem{{w.alts("A|B"), 2}}})
			w.reserve(Min{Items: []MinItem{{w.alts("B"), 1, 1}}})
			MayReserve(a, w.q, &Min{AnyMix: true, Items: []MinItem{{w.alts("A|B"), 6, 1}}}, j, new(Plan))
			return nil
		}, "9 item 0 of -1: 2, want 6, room 5 at q of 6; item 0 on 2: 1, room 2 at q of 2; item 0 on 3: 2, room 3 at q of 4"},
		{"more than charges cover, and too much", func(w *world, a *Answer) []Pick {
			w.q.Cells[cardA].Limit, w.q.Cells[cardB].Limit = 2, 4
			j := w.reserve(Min{AnyMix: true, Items: []MinItem{{w.alts("A|B"), 2, 1}}})
			w.charge(j, Use{Items: []UseItem{{w.alts("A|B"), 2}}})
			w.reserve(Min{Items: []MinItem{{w.alts("B"), 1, 1}}})
			MayReserve(a, w.q, &Min{AnyMix: true, Items: []MinItem{{w.alts("A|B"), 7, 1}}}, j, new(Plan))
			return nil
		}, "9 item 0 of -1: 1, want 7, room 5 at q of 6; item 0 on 2: 1, room 2 at q of 2; item 0 on 3: 2, room 3 at q of 4"},
		{"what is charged already, and over", func(w *world, a *Answer) []Pick {
			j := w.reserve(Min{AnyMix: true, Items: []MinItem{{w.alts("A|B"), 1, 1}}})
			w.charge(j, Use{Items: []UseItem{{w.alts("A|B"), 1}}})
			w.q.Cells[cardA].Limit, w.q.Cells[cardB].Limit = 0, 0
			MayReserve(a, w.q, &Min{AnyMix: true, Items: []MinItem{{w.alts("A|B"), 1, 1}}}, j, new(Plan))
			return nil
		}, "9 item 0 of -1: 1, want 1, room 0 at q of 0; item 0 on 2: 1, room 0 at q of 0; item 0 on 3: 1, room 0 at q of 0"},
		{"what the first item leaves to the second", func(w *world, a *Answer) []Pick {
			w.q.Cells[cardA].Limit, w.q.Cells[cardB].Limit, w.q.Cells[cardC].Limit = 1, 3, 0
			j := w.reserve(Min{AnyMix: true, Items: []MinItem{{w.alts("B|A"), 1, 1}}})
			w.charge(j, Use{Items: []UseItem{{w.alts("B|A"), 1}}})
			MayReserve(a, w.q, &Min{AnyMix: true, Items: []MinItem{{w.alts("A|B"), 3, 1}, {w.alts("B|C"), 2, 1}}}, j, new(Plan))
			return nil
		}, "9 item 1 of -1: 1, want 2, room 1 at q of 3; item 1 on 3: 1, room 1 at q of 3; item 1 on 4: 1, room 0 at q of 0"},
		{"what a job without a min uses", func(w *world, a *Answer) []Pick {
			w.q.Cells[CPU].Limit, w.q.Cells[Memory].Limit, w.q.Cells[cardA].Limit = 3, 3, 3
			j := &Job{}
			w.AddJob(j, w.q)
			w.charge(j, Use{Plain: Plain{2, 2}, Items: []UseItem{{w.alts("A"), 2}}})
			if !MayReserve(a, w.q, &Min{Plain: Plain{3, 3}, Items: []MinItem{{w.alts("A"), 3, 1}}}, j, new(Plan)) {
				return nil
			}
			MayReserve(a, w.q, &Min{Plain: Plain{Memory: 4}}, j, new(Plan))
			return nil
		}, "8 item 0 of 1: 1, want 4, room 3 at q of 3"},
		{"a hold of two doesn't follow to where another job holds one", func(w *world, a *Answer) []Pick {
			j := w.reserve(Min{Items: []MinItem{{w.alts("A|B"), 2, 1}}})
			w.reserve(Min{Items: []MinItem{{w.alts("B"), 1, 1}}})
			w.q.Cells[cardB].Limit = 2
			return mayCharge(Use{Items: []UseItem{{w.alts("A|B"), 1}}}, j, cardB)(w, a)
		}, "9 item 0 of 3: 2, want 1, room 0 at q of 2; item 0 on 2: 4, room 0 at - of 0; item 0 on 3: 2, room 0 at q of 2; pick -1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			var a Answer
			picks := c.ask(w, &a)
			if got := answerText(&a, picks); got != c.want {
				t.Errorf("got\n%s, want\n%s", got, c.want)
			}
		})
	}
}

// TestTooLarge: the sum of a tree may come to one less than 2^53, whatever limits there are.
// What is held already for the job doesn't come to it again.
func TestTooLarge(t *testing.T) {
	const free = 10
	full := func(w *world, of int64) { // leaves free, and nothing of the queue's own part
		for dim := range dims {
			w.org.Cells[dim].Allocated = of - 1 - free - w.org.Cells[dim].Held
			w.q.Cells[dim].Allocated = ownExact - w.q.Cells[dim].Held
		}
	}
	for _, c := range []struct {
		name string
		job  Min
		card int32 // that the charge is picked on; 0: there is none
		most int64
	}{
		{name: "cpu", most: free},
		{name: "cpu of which some is held", job: Min{Plain: Plain{CPU: 3}}, most: free + 3},
		{name: "a card", card: cardA, most: free},
		{name: "a card that is held", job: Min{Items: []MinItem{{nil, 4, 1}}}, card: cardA, most: free + 4},
		{name: "a card to which a hold moves", job: Min{Items: []MinItem{{nil, 4, 1}}}, card: cardB, most: free},
		{name: "a card to which too large a hold moves", job: Min{Items: []MinItem{{nil, free + 1, 1}}}, card: cardB, most: 0},
		{name: "a card of several", job: Min{AnyMix: true, Items: []MinItem{{nil, 4, 1}}}, card: cardA, most: free + 4},
		{name: "another card of several", job: Min{AnyMix: true, Items: []MinItem{{nil, 4, 1}}}, card: cardB, most: free},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			var j *Job
			for i := range c.job.Items {
				c.job.Items[i].Alts = w.alts("A|B")
			}
			if c.job.Plain[CPU] > 0 || len(c.job.Items) > 0 {
				j = w.reserve(c.job)
			}
			full(w, LimitExact)
			ask := func(amount int64) (a Answer) {
				u := Use{Plain: Plain{CPU: amount}}
				if c.card != 0 {
					u = Use{Items: []UseItem{{w.alts("A|B"), amount}}}
				}
				MayCharge(&a, w.q, j, &u, setOf(c.card), nil)
				return a
			}
			if a := ask(c.most); c.most > 0 && !a.OK() {
				t.Errorf("%d: %s", c.most, answerText(&a, nil))
			}
			reason := LacksCards
			if c.card == 0 {
				reason = LacksCPU
			}
			a := ask(c.most + 1)
			if want := (Lack{Option{0, c.card, TooLarge, c.most, w.org, LimitExact - 1}, c.most + 1}); a.Reason != reason || a.Lack != want {
				t.Errorf("%d: %s", c.most+1, answerText(&a, nil))
			}
		})
	}
	for _, own := range []Min{{}, {Plain: Plain{CPU: 3}, Items: []MinItem{{nil, 3, 1}}}} {
		t.Run(fmt.Sprint("a min of ", own.Plain[CPU]), func(t *testing.T) {
			w := newWorld(t)
			var j *Job
			if own.Plain[CPU] > 0 {
				own.Items[0].Alts = w.alts("A|B")
				j = w.reserve(own)
				w.charge(j, Use{Plain: Plain{CPU: 1}, Items: []UseItem{{w.alts("A|B"), 1}}})
			}
			full(w, LimitExact)
			w.org.Cells[cardB].Allocated = LimitExact - 1
			most := free + own.Plain[CPU]
			card := func(amount int64) Min { return Min{Items: []MinItem{{w.alts("A|B"), amount, 1}}} }
			for _, c := range []struct {
				min  Min
				want string
			}{
				{Min{Plain: Plain{CPU: most}}, "yes"},
				{Min{Plain: Plain{CPU: most + 1}}, fmt.Sprint(CPU, " ", most)},
				{Min{Plain: Plain{Memory: free}}, "yes"},
				{Min{Plain: Plain{Memory: free + 1}}, fmt.Sprint(Memory, " ", int64(free))},
				{card(most), "yes"},
				{card(most + 1), fmt.Sprint(cardA, " ", most)},
			} {
				var a Answer
				var p Plan
				got := "yes"
				if !MayReserve(&a, w.q, &c.min, j, &p) {
					got = fmt.Sprint(a.Lack.Dim, " ", a.Lack.Room)
					if a.Lack.Why != TooLarge || a.Lack.Level != w.org || a.Lack.Limit != LimitExact-1 {
						t.Errorf("%+v: %s", c.min, answerText(&a, nil))
					}
				}
				if got != c.want {
					t.Errorf("%+v: %s, want %s", c.min, got, c.want)
				}
			}
		})
	}
}

// TestOwnPart: what others have never refuses a queue its own part of what can be counted.
func TestOwnPart(t *testing.T) {
	w := newWorld(t)
	w.org.Cells[CPU].Allocated = LimitExact - 1
	w.q.Cells[CPU].Allocated = 5
	for _, c := range []struct {
		amount int64
		ok     bool
	}{{1, true}, {ownExact - 6, true}, {ownExact - 5, false}} {
		var a Answer
		var p Plan
		if got := MayReserve(&a, w.q, &Min{Plain: Plain{CPU: c.amount}}, nil, &p); got != c.ok {
			t.Errorf("a job of %d: %v", c.amount, got)
		}
		MayCharge(&a, w.q, nil, &Use{Plain: Plain{CPU: c.amount}}, nil, nil)
		if a.OK() != c.ok || !c.ok && a.Lack != (Lack{Option{0, CPU, TooLarge, c.amount - 1, w.q, ownExact - 1}, c.amount}) {
			t.Errorf("a task of %d: %s", c.amount, answerText(&a, nil))
		}
	}
	w.org.Cells[CPU].Allocated = MostSum // of hundreds of such queues
	var a Answer
	if MayCharge(&a, w.q, nil, &Use{Plain: Plain{CPU: 1}}, nil, nil); a.OK() {
		t.Error("a sum is no int64 any more")
	}
}

// TestMayForce: what runs is counted, up to amounts that only hundreds of absurd pods have.
func TestMayForce(t *testing.T) {
	w := newWorld(t)
	u, cards := Use{Plain: Plain{Memory: LimitExact - 1}, Items: []UseItem{{w.alts("A"), LimitExact - 1}}}, []int32{cardA}
	for _, c := range []struct {
		what       string
		root, leaf int64
		ok         bool
	}{
		{"an empty tree", 0, 0, true},
		{"a queue that has more than it may reserve", 100 * LimitExact, 100 * LimitExact, true},
		{"a queue that has too much", mostForced - LimitExact + 2, mostForced - LimitExact + 2, false},
		{"a tree that has too much", MostSum / 2, 0, false},
	} {
		for _, dim := range []int32{Memory, cardA} {
			w.org.Cells[Memory], w.q.Cells[Memory], w.org.Cells[cardA], w.q.Cells[cardA] = Cell{}, Cell{}, Cell{}, Cell{}
			w.org.Cells[dim].Allocated, w.q.Cells[dim].Allocated = c.root, c.leaf
			var a Answer
			if got := MayForce(&a, w.q, &u, cards); got != c.ok || !got && (a.Lack.Dim != dim || a.Lack.Why != TooLarge) {
				t.Errorf("%s, %d: %v, %s", c.what, dim, got, answerText(&a, nil))
			}
			j := &Job{Queue: w.q, Held: Plain{Memory: LimitExact - 1}}
			if got := MayMove(j, w.q); dim == Memory && got != c.ok {
				t.Errorf("%s, a job that moves: %v", c.what, got)
			}
		}
	}
}

// TestHeldFirst: the first card of an item, unless the job holds another.
func TestHeldFirst(t *testing.T) {
	w := newWorld(t)
	w.q.Cells[cardA].Limit = 0
	j := w.reserve(Min{Items: []MinItem{{w.alts("A|B"), 1, 1}}})
	u := Use{Items: []UseItem{{w.alts("A|B"), 1}, {w.alts("C"), 1}}}
	for _, c := range []struct {
		job  *Job
		want []int32
	}{{nil, []int32{cardA, cardC}}, {j, []int32{cardB, cardC}}} {
		var got []int32
		HeldFirst(c.job, &u, func(item int, card int32) {
			if item != len(got) {
				t.Errorf("item %d, want %d", item, len(got))
			}
			got = append(got, card)
		})
		if !slices.Equal(got, c.want) {
			t.Errorf("got %v, want %v", got, c.want)
		}
	}
}

// TestMatch: which item of a job a task's counts against.
func TestMatch(t *testing.T) {
	w := newWorld(t)
	item := func(list string, unit, held int64) *Item {
		return &Item{Alts: w.alts(list), Unit: unit, Held: held}
	}
	bound := func(it *Item, at int32) *Item {
		it.Charges, it.At = 1, at
		return it
	}
	implicit := func(list string) *Item { return NewImplicit(w.alts(list)) }
	bit := func(at int) uint64 { return uint64(1) << (uint64(at) & 127) } // none of -1
	many := make([]*Item, 63)
	for i := range many {
		many[i] = item("C", 1, 1)
	}
	for _, c := range []struct {
		name  string
		items []*Item
		list  string
		unit  int64
		taken uint64
		want  int
	}{
		{"none", nil, "A", 1, 0, -1},
		{"too few alternatives", []*Item{item("A", 1, 1), item("B|C", 1, 1)}, "A|B", 1, 0, -1},
		{"the same list rather than a hold", []*Item{item("A|B|C", 1, 1), item("A|B", 1, 0)}, "A|B", 1, 0, 1},
		{"the same list rather than few", []*Item{item("A|B", 1, 1), item("B|A", 1, 1)}, "B|A", 1, 0, 1},
		{"the same unit rather than a hold", []*Item{item("A|B", 1, 1), item("A|B", 2, 0)}, "A|B", 2, 0, 1},
		{"a hold of 1", []*Item{item("A|B", 1, 0), item("A|B", 2, 1)}, "A|B", 3, 0, 1},
		{"the first hold", []*Item{item("A|B", 1, 1), item("A|B", 2, 2)}, "A|B", 3, 0, 0},
		{"the first without a hold", []*Item{item("A|B", 1, 0), item("A|B", 2, 0)}, "A|B", 3, 0, 0},
		{"a hold rather than few", []*Item{item("A|B", 1, 0), item("A|B|C", 1, 1)}, "A", 1, 0, 1},
		{"few", []*Item{item("A|B|C", 1, 1), item("A|C", 1, 1)}, "A", 1, 0, 1},
		{"few without a hold", []*Item{item("A|B|C", 1, 0), item("A|C", 1, 0)}, "A", 1, 0, 1},
		{"a unit of another list is nothing", []*Item{item("A|B", 2, 1), item("A|C", 1, 1)}, "A", 1, 0, 0},
		{"one that is not taken", []*Item{item("A|B", 1, 1), item("A|B|C", 1, 1)}, "A", 1, 1, 1},
		{"all taken", []*Item{item("A|B", 1, 1), item("A|B|C", 1, 1)}, "A", 1, 3, -1},
		{"not one that is bound elsewhere", []*Item{bound(item("A|B|C", 1, 1), 2), item("A|B|C|D", 1, 0)}, "A|B", 1, 0, 1},
		{"one that is bound to a card of the task", []*Item{bound(item("A|B|C", 1, 1), 1), item("A|B|C|D", 1, 0)}, "A|B", 1, 0, 0},
		{"the same list, wherever it is bound", []*Item{bound(item("A|B", 1, 0), 1)}, "A|B", 1, 0, 0},
		{"a min rather than what binds", []*Item{implicit("A|B"), item("A|B|C", 1, 0)}, "A|B", 1, 0, 1},
		{"what binds the same list", []*Item{item("C", 1, 1), implicit("A|B")}, "A|B", 1, 0, 1},
		{"nothing that binds others", []*Item{implicit("A|B")}, "A", 1, 0, -1},
		{"the last that can be taken", append(many, item("A|B", 1, 1)), "A", 1, 0, 63},
		{"the last, taken", append(many, item("A|B", 1, 1)), "A", 1, 1 << 63, -1},
	} {
		j := &Job{}
		j.Items = c.items
		taken := c.taken
		it := j.match(w.alts(c.list), c.unit, &taken)
		if at := slices.Index(c.items, it); at != c.want || taken != c.taken|bit(at) {
			t.Errorf("%s: item %d, want %d; taken %x", c.name, at, c.want, taken)
		}
	}

	j := &Job{}
	j.Items = append(many, item("A|B|C", 1, 1))
	var taken uint64
	if it := j.match(w.alts("A"), 1, &taken); it != j.Items[63] || taken != 1<<63 {
		t.Errorf("matched %v, taken %x", it, taken)
	}
	if it := j.match(w.alts("B"), 1, &taken); it != nil {
		t.Errorf("matched %+v again", it)
	}

	// So it is when charges are drawn against a new min.
	j = &Job{}
	w.AddJob(j, w.q)
	w.charge(j, Use{Items: []UseItem{{w.alts("A"), 1}, {w.alts("B"), 1}}})
	m := Min{AnyMix: true}
	for i := range int64(63) {
		m.Items = append(m.Items, MinItem{w.alts("C"), 1, i + 1})
	}
	m.Items = append(m.Items, MinItem{w.alts("A|B"), 2, 1})
	var p Plan
	p.Start(&m, j)
	if got := p.items[63].covered(); got != 1 {
		t.Errorf("two charges of a task cover %d of an item, want 1", got)
	}

	j = w.reserve(Min{AnyMix: true, Items: []MinItem{{w.alts("A|B"), 2, 1}, {w.alts("A|B"), 2, 2}}})
	taken = 0
	if it := j.match(w.alts("A|B"), 2, &taken); it != j.Items[1] {
		t.Errorf("two items of one list: %+v, want the second", it)
	}

	j.AnyMix = false
	for items, want := range map[int]bool{0: true, 2*MaxItems - 1: true, 2 * MaxItems: false} {
		if j.Items = make([]*Item, items); j.Binds(w.alts("A|B")) != want || j.Binds(w.alts("A")) {
			t.Errorf("a job of %d items binds alternatives, or a card: want %v, false", items, want)
		}
	}
}

// TestNotTogether: which option of a gang's task the refusal has the numbers of.
func TestNotTogether(t *testing.T) {
	w := newWorld(t)
	option := func(item int, dim int32, why Reason, room int64) Option {
		return Option{Item: item, Dim: dim, Why: why, Room: room, Level: w.q, Limit: 9}
	}
	// Alone the task could be on A, with room 2, or B; the gang has chosen C.
	alone := func(roomB int64) []Option {
		return []Option{option(0, cardA, Yes, 2), option(0, cardB, Yes, roomB), option(0, cardC, OverCapacity, 0)}
	}
	gang := []Option{{Item: 0, Dim: cardA, Why: NotAllowed}, {Item: 0, Dim: cardB, Why: FirmElsewhere}, option(0, cardC, OverCapacity, 0)}
	const together = "; item 0 on 2: 6, room 2 at q of 9; item 0 on 3: 6, room %d at q of 9; item 0 on 4: 1, room 0 at q of 9"
	for _, c := range []struct {
		name   string
		reason Reason
		lack   Lack
		roomB  int64
		want   string
	}{
		{"B has more room", LacksCards, Lack{Option{Dim: cardA, Why: NotAllowed}, 7}, 5, "9 item 0 of 3: 6, want 7, room 5 at q of 9"},
		{"A has more room", LacksCards, Lack{Option{Dim: cardA, Why: NotAllowed}, 7}, 1, "9 item 0 of 2: 6, want 7, room 2 at q of 9"},
		{"as much", LacksCards, Lack{Option{Dim: cardB, Why: FirmElsewhere}, 7}, 2, "9 item 0 of 2: 6, want 7, room 2 at q of 9"},
		{"C lacks it", LacksCards, Lack{Option{Dim: cardC, Why: OverCapacity, Level: w.q, Limit: 9}, 7}, 5, "9 item 0 of 4: 1, want 7, room 0 at q of 9"},
		{"another item", LacksCards, Lack{Option{Item: 1, Dim: cardA, Why: NotAllowed}, 7}, 5, "9 item 1 of 2: 4, want 7, room 0 at - of 0"},
		{"cpu", LacksCPU, Lack{Option{Dim: CPU, Why: NotAllowed}, 7}, 5, "7 item 0 of 0: 4, want 7, room 0 at - of 0"},
	} {
		a := Answer{Reason: c.reason, Lack: c.lack, Options: slices.Clone(gang)}
		a.NotTogether(alone(c.roomB))
		if got, want := answerText(&a, nil), c.want+fmt.Sprintf(together, c.roomB); got != want {
			t.Errorf("%s:\n%s, want\n%s", c.name, got, want)
		}
	}
	for _, a := range []Answer{{Options: slices.Clone(gang)}, {Reason: LacksCards, Options: slices.Clone(gang[:2])}} {
		before := answerText(&a, nil)
		a.NotTogether(alone(5))
		if got := answerText(&a, nil); got != before {
			t.Errorf("%s, want %s", got, before)
		}
	}
}
