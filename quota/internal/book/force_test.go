package book

import (
	"fmt"
	"testing"
)

// planned is a plan of what a job has, as it would be made anew.
func (w *world) planned(j *Job) *Plan {
	p := new(Plan)
	p.Start(j.MinNow(), j)
	p.FillAll(new(Answer), w.q)
	return p
}

// TestAgrees: a job is as its plan would make it, and no more so when one thing is
// otherwise.
func TestAgrees(t *testing.T) {
	for _, c := range []struct {
		name   string
		anyMix bool
		other  func(w *world, j *Job)
	}{
		{name: "the policy", other: func(_ *world, j *Job) { j.AnyMix = true }},
		{name: "the min of cpu", other: func(_ *world, j *Job) { j.Min[CPU]++ }},
		{name: "the hold of cpu", other: func(_ *world, j *Job) { j.Held[CPU]++ }},
		{name: "the min of memory", other: func(_ *world, j *Job) { j.Min[Memory]++ }},
		{name: "the hold of memory", other: func(_ *world, j *Job) { j.Held[Memory]++ }},
		{name: "an item more", other: func(_ *world, j *Job) { j.Items = append(j.Items, j.Items[0]) }},
		{name: "the list of an item", other: func(w *world, j *Job) { j.Items[1].Alts = w.alts("B|A") }},
		{name: "the unit of an item", other: func(_ *world, j *Job) { j.Items[1].Unit = 2 }},
		{name: "the min of an item", other: func(_ *world, j *Job) { j.Items[1].Min++ }},
		{name: "the hold of an item", other: func(_ *world, j *Job) { j.Items[1].Held++ }},
		{name: "the charges of an item", other: func(_ *world, j *Job) { j.Items[1].Charges++ }},
		{name: "whether an item only binds", other: func(_ *world, j *Job) { j.Items[1].Implicit = true }},
		{name: "where an item is charged and held", other: func(_ *world, j *Job) { j.Items[1].At = 0 }},
		{name: "where an item is held", other: func(_ *world, j *Job) { j.Items[2].At = 1 }},
		{name: "where an item is charged", other: func(_ *world, j *Job) { j.Items[3].At = 0 }},
		{name: "where an item that spreads is held", anyMix: true, other: func(_ *world, j *Job) {
			s := j.Items[1].Spread
			s[0], s[1] = s[0]-1, s[1]+1
		}},
		{name: "which cpu is covered", other: func(_ *world, j *Job) { j.First.Plain[CPU].Covered--; j.last.Plain[CPU].Covered++ }},
		{name: "which memory is covered", other: func(_ *world, j *Job) { j.First.Plain[Memory].Covered--; j.last.Plain[Memory].Covered++ }},
		{name: "what a charge covers", other: func(_ *world, j *Job) { j.First.Charges[0].Covered-- }},
		{name: "the item of a charge", other: func(_ *world, j *Job) { j.First.Charges[0].Item = j.Items[0] }},
		{name: "a charge without an item", other: func(_ *world, j *Job) { j.First.Charges[0].Item = nil }},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			j := w.reserve(Min{Plain: Plain{2, 2}, AnyMix: c.anyMix, Items: []MinItem{{w.alts("C"), 1, 1}, {w.alts("A|B"), 3, 1}, {w.alts("A|C"), 1, 1}}})
			w.charge(j, Use{Plain: Plain{1, 1}, Items: []UseItem{{w.alts("A|B"), 2}}}, cardB)
			w.charge(j, Use{Plain: Plain{2, 2}, Items: []UseItem{{w.alts("B|C"), 1}}}, cardC) // binds the next ones
			p := w.planned(j)
			if !p.Agrees(j) {
				t.Fatal("the plan of what is there doesn't agree")
			}
			if c.other(w, j); p.Agrees(j) {
				t.Error("agrees")
			}
		})
	}

	w := newWorld(t)
	j := w.reserve(Min{Items: []MinItem{{w.alts("A|B"), 0, 1}}})
	j.Items[0].At = 1
	if !w.planned(j).Agrees(j) {
		t.Error("nothing is held or charged, and yet it matters where")
	}
}

// TestFillAll: what has room is held there. What hasn't is held on the first card, or on
// the one that it is charged on, and what comes after finds that much less room.
func TestFillAll(t *testing.T) {
	for _, c := range []struct {
		name    string
		anyMix  bool
		charged int32    // the card of a task that is charged 1 of A|B before; 0: there is none
		limits  [2]int64 // of A and B
		want    string   // of A|B and of C|B|A, which want 3 each: what is held on each card
	}{
		{"room for both", false, 0, [2]int64{3, 3}, "[3 0] [0 3 0]"},
		{"no room for the second", false, 0, [2]int64{5, 2}, "[3 0] [3 0 0]"},
		{"room for the second on its last", false, 0, [2]int64{6, 2}, "[3 0] [0 0 3]"},
		{"no room", false, 0, [2]int64{2, 2}, "[3 0] [3 0 0]"},
		{"no room where it is charged", false, cardB, [2]int64{2, 2}, "[0 2] [3 0 0]"},
		{"room where it is charged", false, cardB, [2]int64{0, 6}, "[0 2] [0 3 0]"},
		{"less room where it is charged", false, cardB, [2]int64{3, 5}, "[0 2] [0 0 3]"},
		{"spread", true, 0, [2]int64{2, 4}, "[2 1] [0 3 0]"},
		{"spread, no room", true, 0, [2]int64{1, 1}, "[2 1] [3 0 0]"},
		{"spread, room for a part of the second", true, 0, [2]int64{3, 1}, "[3 0] [2 1 0]"},
		{"spread and charged", true, cardB, [2]int64{1, 5}, "[1 1] [0 3 0]"},
		{"spread and charged, no room", true, cardB, [2]int64{1, 1}, "[2 0] [3 0 0]"},
		{"spread and charged, room for a part", true, cardB, [2]int64{0, 2}, "[1 1] [3 0 0]"},
	} {
		w := newWorld(t)
		j := &Job{}
		w.AddJob(j, w.q)
		if c.charged != 0 {
			w.charge(j, Use{Items: []UseItem{{w.alts("A|B"), 1}}}, c.charged)
		}
		w.q.Cells[cardA].Limit, w.q.Cells[cardB].Limit, w.q.Cells[cardC].Limit = c.limits[0], c.limits[1], 0
		var p Plan
		p.Start(&Min{AnyMix: c.anyMix, Items: []MinItem{{w.alts("A|B"), 3, 1}, {w.alts("C|B|A"), 3, 1}}}, j)
		p.FillAll(new(Answer), w.q)
		j.Reserve(&p)
		on := func(it *Item) (held []int64) {
			for at := range it.Alts.Cards {
				held = append(held, it.HeldAt(at))
			}
			return held
		}
		if got := fmt.Sprint(on(j.Items[0]), on(j.Items[1])); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestDrawOfElsewhere: what runs on a card that an item doesn't list, or beside the card
// that the item is bound to, doesn't count against the item's min.
func TestDrawOfElsewhere(t *testing.T) {
	w := newWorld(t)
	j := &Job{}
	w.AddJob(j, w.q)
	for _, card := range []int32{cardC, cardB, cardA, cardB} {
		task := &Task{Job: j}
		task.Force(&Use{Items: []UseItem{{w.alts("A|B"), 1}}}, []int32{card})
	}
	var a Answer
	var p Plan
	if !MayReserve(&a, w.q, &Min{Items: []MinItem{{w.alts("A|B"), 3, 1}}}, j, &p) {
		t.Fatal(answerText(&a, nil))
	}
	j.Reserve(&p)
	var covered []int64
	for task := j.First; task != nil; task = task.Next {
		covered = append(covered, task.Charges[0].Covered)
	}
	if got, want := fmt.Sprint(covered, j.Items[0].Held, j.Items[0].At), "[0 1 0 1] 1 1"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestFillAllCounts: what a sum can't hold is refused, with what the item, or cpu, could have.
// What charges cover is there already.
func TestFillAllCounts(t *testing.T) {
	for _, c := range []struct {
		name    string
		held    int64 // of cpu
		charged int64 // of cpu and of A
		free    int64
		min     Min
		want    string
	}{
		{"cpu", 0, 0, 10, Min{Plain: Plain{CPU: 10}}, "0"},
		{"too much cpu", 0, 0, 10, Min{Plain: Plain{CPU: 11}}, "7 item 0 of 0: 7, want 11, room 10 at org of 9007199254740991"},
		{"too much cpu beyond what is charged", 0, 2, 10, Min{Plain: Plain{CPU: 13}}, "7 item 0 of 0: 7, want 13, room 12 at org of 9007199254740991"},
		{"cpu of which some is held", 3, 0, 10, Min{Plain: Plain{CPU: 13}}, "0"},
		{"too much cpu beyond what is held", 3, 0, 10, Min{Plain: Plain{CPU: 14}}, "7 item 0 of 0: 7, want 14, room 13 at org of 9007199254740991"},
		{"no room for cpu", 0, 0, 0, Min{Plain: Plain{CPU: 1}}, "7 item 0 of 0: 7, want 1, room 0 at org of 9007199254740991"},
		{"cpu that is charged", 0, 2, -5, Min{Plain: Plain{CPU: 2}}, "0"},
		{"cards", 0, 0, 10, Min{Items: []MinItem{{nil, 10, 1}}}, "0"},
		{"too many cards", 0, 0, 10, Min{Items: []MinItem{{nil, 11, 1}}}, "9 item 0 of 2: 7, want 11, room 10 at org of 9007199254740991"},
		{"too many cards beyond those charged", 0, 2, 10, Min{Items: []MinItem{{nil, 13, 1}}}, "9 item 0 of 2: 7, want 13, room 12 at org of 9007199254740991"},
		{"no room for cards", 0, 0, 0, Min{Items: []MinItem{{nil, 1, 1}}}, "9 item 0 of 2: 7, want 1, room 0 at org of 9007199254740991"},
		{"cards that are charged", 0, 2, -5, Min{Items: []MinItem{{nil, 2, 1}}}, "0"},
		{"the first of two", 0, 0, 10, Min{Plain: Plain{11, 11}, Items: []MinItem{{nil, 11, 1}}}, "7 item 0 of 0: 7, want 11, room 10 at org of 9007199254740991"},
	} {
		w := newWorld(t)
		j := w.reserve(Min{Plain: Plain{CPU: c.held}})
		w.charge(j, Use{Plain: Plain{CPU: c.charged}, Items: []UseItem{{w.alts("A"), c.charged}}})
		for i := range c.min.Items {
			c.min.Items[i].Alts = w.alts("A")
		}
		for dim := range dims {
			w.org.Cells[dim].Allocated, w.q.Cells[dim].Allocated = LimitExact-1-c.free-w.org.Cells[dim].Held, ownExact
		}
		var a Answer
		var p Plan
		p.Start(&c.min, j)
		if ok, got := p.FillAll(&a, w.q), answerText(&a, nil); got != c.want || ok != (got == "0") {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
