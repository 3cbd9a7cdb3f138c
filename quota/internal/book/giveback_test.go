package book

import (
	"fmt"
	"slices"
	"testing"
)

// TestRollBack: what a task covered, later ones get that lack it, and the rest is held.
func TestRollBack(t *testing.T) {
	for _, c := range []struct {
		name  string
		min   int64
		tasks []int64 // what each is charged
		back  []int
		want  string // what the others cover, and what is held
	}{
		{"one to the next", 1, []int64{1, 1}, []int{0}, "[1] 0"},
		{"not to those before", 2, []int64{3, 1}, []int{1}, "[2] 0"},
		{"more than is lacking", 3, []int64{2, 2}, []int{0}, "[2] 1"},
		{"two to one that has some", 3, []int64{1, 1, 2}, []int{0, 1}, "[2] 1"},
		{"to several", 3, []int64{3, 1, 1, 3}, []int{0}, "[1 1 1] 0"},
		{"two behind others", 5, []int64{1, 1, 1, 1, 1, 1, 1}, []int{3, 4}, "[1 1 1 1 1] 0"},
		{"the later first", 5, []int64{1, 1, 1, 1, 1, 1, 1}, []int{4, 1}, "[1 1 1 1 1] 0"},
		{"between them", 3, []int64{1, 1, 1, 1, 1}, []int{0, 3}, "[1 1 1] 0"},
		{"nothing lacks it", 3, []int64{1, 1, 1}, []int{0, 2}, "[1] 2"},
		{"all", 2, []int64{1, 1, 1}, []int{0, 1, 2}, "[] 2"},
	} {
		w := newWorld(t)
		j := w.reserve(Min{Plain: Plain{c.min, c.min}, Items: []MinItem{{w.alts("A|B"), c.min, 1}}})
		var tasks, back []*Task
		for _, n := range c.tasks {
			tasks = append(tasks, w.charge(j, Use{Plain: Plain{n, n}, Items: []UseItem{{w.alts("A|B"), n}}}))
		}
		for _, i := range c.back {
			back = append(back, tasks[i])
		}
		w.RollBack(back...)
		covered := []int64{}
		for task := j.First; task != nil; task = task.Next {
			n := task.Plain[CPU].Covered
			if covered = append(covered, n); task.Plain[Memory].Covered != n || task.Charges[0].Covered != n {
				t.Errorf("%s: %+v", c.name, task)
			}
		}
		held := j.Held[CPU]
		if got := fmt.Sprint(covered, held); got != c.want || j.Held[Memory] != held || j.Items[0].Held != held {
			t.Errorf("%s: %s, want %s; %+v", c.name, got, c.want, j)
		}
		if found := w.Check(w.TopDown(), slices.Values([]*Job{j})); found != nil {
			t.Errorf("%s: %+v", c.name, found)
		}
	}
}

// TestRollBackOfOne: the least amount, of nothing but a card.
func TestRollBackOfOne(t *testing.T) {
	w := newWorld(t)
	j := w.reserve(Min{Items: []MinItem{{w.alts("A"), 1, 1}}})
	u := Use{Items: []UseItem{{w.alts("A"), 1}}}
	first, second := w.charge(j, u), w.charge(j, u)
	if w.RollBack(first); second.Charges[0].Covered != 1 || j.Holds() {
		t.Errorf("%+v", j.Items[0])
	}
}

// TestRollBackAlone: of a job with many tasks a rollback looks only at those that lack
// what is given back. Here it couldn't find others: the tasks are not linked any more.
func TestRollBackAlone(t *testing.T) {
	w := newWorld(t)
	const n = 20
	u := Use{Plain: Plain{1, 1}, Items: []UseItem{{w.alts("A"), 1}}}
	j := w.reserve(Min{Plain: Plain{5, 2 * n}, Items: []MinItem{{w.alts("A"), n, 1}}})
	var tasks []*Task
	for range n + 1 {
		tasks = append(tasks, w.charge(j, u))
	}
	for _, task := range tasks[1:n] {
		task.prev, task.Next = nil, nil
	}
	w.RollBack(tasks[3])
	w.RollBack(tasks[2])
	for i, task := range tasks {
		cpu, card := int64(0), int64(1)
		if i < 7 {
			cpu = 1
		}
		if task.Plain[CPU].Covered != cpu || task.Plain[Memory].Covered != 1 || task.Charges[0].Covered != card {
			t.Errorf("task %d: %+v", i, task)
		}
	}
	if j.Held != [2]int64{0, n + 1} || j.Items[0].Held != 1 || j.Items[0].Charges != n-1 {
		t.Errorf("%+v, %+v", j, j.Items[0])
	}
}

// TestRollBackOfSpread: a charge that lacks something doesn't get what a task after it had,
// also where that one got its hold later from another card.
func TestRollBackOfSpread(t *testing.T) {
	w := newWorld(t)
	j := w.reserve(Min{AnyMix: true, Items: []MinItem{{w.alts("A|B"), 2, 1}}})
	use := func(card int32) *Task { return w.charge(j, Use{Items: []UseItem{{w.alts("A|B"), 1}}}, card) }
	first := use(cardA)
	use(cardB)
	lacks := use(cardB)
	w.RollBack(first)
	for range 2 {
		later := use(cardB) // the hold moves from A with it
		if later.Charges[0].Covered != 1 {
			t.Fatalf("%+v", later)
		}
		last := use(cardB)
		if w.RollBack(later); lacks.Charges[0].Covered != 0 || last.Charges[0].Covered != 1 {
			t.Errorf("%+v, %+v", lacks, last)
		}
		if w.RollBack(last); lacks.Charges[0].Covered != 0 || j.Items[0].Spread[1] != 1 {
			t.Errorf("%+v, %+v", lacks, j.Items[0])
		}
	}
	if found := w.Check(w.TopDown(), slices.Values([]*Job{j})); found != nil {
		t.Errorf("%+v", found)
	}
}

// TestForfeit: the min becomes what charges cover of it.
func TestForfeit(t *testing.T) {
	for _, anyMix := range []bool{false, true} {
		w := newWorld(t)
		j := w.reserve(Min{Plain: Plain{3, 5}, AnyMix: anyMix, Items: []MinItem{{w.alts("C"), 1, 1}, {w.alts("A|B"), 3, 1}}})
		w.charge(j, Use{Plain: Plain{1, 2}, Items: []UseItem{{w.alts("A|B"), 1}}}, cardB)
		w.ReleaseHolds(j)
		if j.Min != [2]int64{1, 2} || j.Held != [2]int64{} || j.Items[0].Min != 0 || j.Items[1].Min != 1 || j.Holds() || j.Gone {
			t.Errorf("%+v, %+v, %+v", j, j.Items[0], j.Items[1])
		}
		if found := w.Check(w.TopDown(), slices.Values([]*Job{j})); found != nil {
			t.Errorf("%+v", found)
		}
		other := w.reserve(Min{Plain: Plain{CPU: 1}})
		if w.ReleaseHolds(other); !other.Gone {
			t.Error("a job without charges stays")
		}
	}
}
