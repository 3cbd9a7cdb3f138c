package book

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// small is a queue of five cards of each of two kinds, below another one, and a job of
// three on either, one of which is charged on the second.
func small(t *testing.T) (b *Book, j *Job, charged *Task) {
	t.Helper()
	w := newWorld(t)
	for _, q := range w.TopDown() {
		for dim := range q.Cells {
			q.Cells[dim].Limit = 5000
		}
	}
	j = w.reserve(Min{Plain: Plain{CPU: 2}, Items: []MinItem{{w.alts("A|B"), 3000, 1000}}})
	return &w.Book, j, w.charge(j, Use{Plain: Plain{CPU: 1}, Items: []UseItem{{w.alts("A|B"), 1000}}}, cardB)
}

// TestCheckFinds: all that it finds, in numbers. Most of it package quota can't cause.
func TestCheckFinds(t *testing.T) {
	names := map[Rule]string{SumsAgree: "sums", InRange: "range", MinIsHeld: "min", OneCard: "card", Belongs: "belongs"}
	for _, c := range []struct {
		name  string
		fault func(b *Book, j *Job, charged *Task)
		want  string
	}{
		{"a charge of another card", func(_ *Book, j *Job, _ *Task) {
			j.Items[0].At = 0
			j.Queue.add(3, 0, -2000, 0)
			j.Queue.add(2, 0, 2000, 0)
		},
			"card of 3 0, want 0"},
		{"a charge of no card of the item", func(_ *Book, j *Job, c *Task) {
			c.Charges[0].Card = Memory
			j.Queue.add(3, -1000, 0, 0)
			j.Queue.add(Memory, 1000, 0, 0)
		},
			"card of 1 0, want 0"},
		{"two charges of other cards", func(_ *Book, j *Job, c *Task) {
			u := Use{Items: []UseItem{{c.Charges[0].Alts, 1000}}}
			(&Task{Job: j}).Force(&u, []int32{3})
			j.Items[0].At = 0
			j.Queue.add(3, 0, -1000, 0)
			j.Queue.add(2, 0, 1000, 0)
		}, "card of 3 0, want 0; card of 3 0, want 0"},
		{"a charge of an item of another job", func(_ *Book, _ *Job, c *Task) { c.Charges[0].Item = &Item{} },
			"belongs of 3 0, want 0; min of the list 2000, want 3000; belongs of the list 1, want 0"},
		{"a charge that covers something of nothing", func(_ *Book, _ *Job, c *Task) { c.Charges[0].Item = nil },
			"min of 3 1000, want 0; min of the list 2000, want 3000; belongs of the list 1, want 0"},
		{"a job that isn't counted as a holder", func(_ *Book, j *Job, _ *Task) { j.holding = false }, "sums 0, want 0"},
		{"holders", func(_ *Book, j *Job, _ *Task) { j.Queue.Holders++ }, "sums 2, want 1"},
		{"jobs", func(_ *Book, j *Job, _ *Task) { j.Queue.Jobs++ }, "belongs 2, want 1"},
		{"tasks", func(_ *Book, j *Job, _ *Task) { j.Tasks++ }, "belongs 1, want 2"},
		{"a task that isn't behind the one before", func(_ *Book, j *Job, c *Task) {
			other := &Task{Job: j}
			other.Force(&Use{}, nil)
			other.order = c.order
		}, "belongs 0, want 0"},
		{"a task that has gone", func(_ *Book, _ *Job, c *Task) { c.leaving = true }, "belongs 0, want 0"},
		{"what tasks lack out of order", func(_ *Book, j *Job, _ *Task) {
			for range 3 {
				(&Task{Job: j}).Force(&Use{Plain: Plain{CPU: 1}}, nil)
			}
			lacks := j.lacking[place{nil, CPU}]
			lacks[0], lacks[1] = lacks[1], lacks[0]
		}, "min of 0 0, want 1; min of 0 0, want 1"},
		{"a link to a task that isn't before", func(_ *Book, _ *Job, c *Task) { c.prev = &Task{} }, "belongs 0, want 0"},
		{"another last task", func(_ *Book, j *Job, _ *Task) { j.last = &Task{} }, "belongs 0, want 0"},
		{"no last task", func(_ *Book, j *Job, _ *Task) { j.last = nil }, "belongs 0, want 0"},
		{"a ring of tasks", func(_ *Book, _ *Job, c *Task) { c.Next = c }, "belongs 0, want 0; belongs 2, want 1"},
		{"a queue that is gone", func(_ *Book, j *Job, _ *Task) { j.Queue.Gone = true }, "belongs 0, want 0"},
		{"a job that is gone", func(_ *Book, j *Job, _ *Task) { j.Gone = true }, "belongs 0, want 0"},
		{"a job of no queue of the book", func(b *Book, j *Job, _ *Task) {
			other := *j.Queue
			other.Parent = nil
			j.Queue = &other
		}, "belongs 0, want 0"},
		{"a job of which nothing is left", func(_ *Book, j *Job, _ *Task) {
			var b Book
			b.ReleaseHolds(j)
			b.End(j.First)
			j.Queue.Jobs, j.Gone, j.Reserved = 1, false, false
		}, "belongs 0, want 0"},
		{"a min without a reservation", func(_ *Book, j *Job, _ *Task) {
			j.Reserved, j.Min[Memory], j.Held[Memory] = false, 2, 2
			j.Queue.add(Memory, 0, 2, 0)
		}, "min of 0 2, want 0; min of 1 2, want 0; min of the list 3000, want 0"},
		{"a charge of no card of the book", func(b *Book, j *Job, c *Task) {
			c.Charges[0].Card = int32(b.Dims)
			j.Queue.add(3, -1000, 0, 0)
		}, "belongs of the list 0, want 0"},
		{"a charge that isn't covered and not known to be", func(_ *Book, j *Job, c *Task) { c.Plain[CPU].Covered--; j.Held[CPU]++; j.Queue.add(CPU, 0, 1, 1) },
			"min of 0 0, want 1"},
		{"an amount below 0", func(_ *Book, j *Job, c *Task) { c.Plain[Memory].Amount--; j.Queue.add(Memory, -1, 0, -1) },
			"range of 1 0, want -1; range of 1 -1, want 0; range of 1 -1, want 0"},
		{"less than nothing covered", func(_ *Book, j *Job, c *Task) {
			c.Plain[CPU].Covered, j.Min[CPU] = -1, 0
			j.Queue.add(CPU, 0, 0, 2)
		}, "range of 0 -1, want 1; range of 0 1, want 0"},
		{"more covered than charged", func(_ *Book, j *Job, c *Task) { c.Plain[CPU].Covered, j.Min[CPU] = 2, 3; j.Queue.add(CPU, 0, 0, -1) },
			"range of 0 2, want 1; range of 0 -1, want 0; range of 0 -1, want 0"},
		{"a hold below 0", func(_ *Book, j *Job, _ *Task) { j.Items[0].Held, j.Items[0].Min = -1, 999; j.Queue.add(3, 0, -2001, 0) },
			"range of the list -1, want 999; range of the list -1, want 0; range of 3 -1, want 0; range of 3 -1, want 0"},
		{"a sum below 0", func(_ *Book, j *Job, _ *Task) { j.Queue.add(2, -9000, 0, 0) },
			"sums of 2 -9000, want 0; range of 2 -9000, want 0; sums of 2 -9000, want 0; range of 2 -9000, want 0"},
		{"a sum of 2^62", func(b *Book, j *Job, _ *Task) {
			for q := j.Queue; q != nil; q = q.Parent {
				q.Cells[3].Limit = Unlimited
			}
			j.Items[0].Min, j.Items[0].Held = MostSum+1, MostSum-999
			j.Queue.add(3, 0, MostSum-2999, 0)
		}, "range of 3 4611686018427387904, want 4611686018427387903; range of 3 4611686018427387904, want 4611686018427387903"},
		{"a sum of a queue", func(_ *Book, j *Job, _ *Task) { c := &j.Queue.Cells[2]; c.Held, c.Elastic = 1, 1 },
			"sums of 2 1, want 0; sums of 2 1, want 0"},
		{"a task of another job", func(_ *Book, j *Job, c *Task) { c.Job = &Job{Reserved: true} }, "belongs 0, want 0"},
	} {
		b, j, charged := small(t)
		queues := b.TopDown()
		if found := b.Check(queues, slices.Values([]*Job{j})); len(found) > 0 {
			t.Fatalf("%+v", found)
		}
		c.fault(b, j, charged)
		var got []string
		for _, v := range b.Check(queues, slices.Values([]*Job{j})) {
			text := names[v.Rule]
			if v.Dim != -1 {
				text += fmt.Sprint(" of ", v.Dim)
			} else if v.Alts != nil {
				text += " of the list"
			}
			got = append(got, fmt.Sprintf("%s %d, want %d", text, v.Got, v.Want))
		}
		if got := strings.Join(got, "; "); got != c.want {
			t.Errorf("%s:\n%s, want\n%s", c.name, got, c.want)
		}
	}
}
