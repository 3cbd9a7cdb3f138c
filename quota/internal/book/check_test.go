package book

import (
	"slices"
	"testing"
)

// small is a queue of five cards of each of two kinds, below another one, and a job of
// three on either, one of which is charged on the second.
func small(t *testing.T) (b *Book, j *Job, charged *Task) {
	t.Helper()
	b = &Book{}
	org, q := &Queue{Open: true}, &Queue{Open: true}
	q.Parent = org
	b.Link([]*Queue{org, q})
	b.Widen(4)
	b.SetLimits(make([]int64, b.Dims), false, func(*Queue, int) Quota { return Quota{Capability: 5000} })
	alts := NewAlternatives([]int32{2, 3}, nil)
	min := &Min{CPU: 2, Items: []MinItem{{alts, 3000, 1000}}}
	j = &Job{}
	b.Come(j, q)
	var a Answer
	var p Plan
	if !MayReserve(&a, q, min, nil, &p) {
		t.Fatal(a)
	}
	j.Reserve(&p, false)
	second := new(Set)
	second.Add(3)
	use := &Use{CPU: 1, Items: []UseItem{{alts, 1000}}}
	picks := MayCharge(&a, q, j, use, second, nil)
	if !a.OK() {
		t.Fatal(a)
	}
	charged = &Task{Job: j}
	charged.Charge(use, picks, nil)
	return b, j, charged
}

// TestCheckFinds is about what the face can't change; it tests the rest.
func TestCheckFinds(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault func(b *Book, j *Job, charged *Task)
		rule  Rule
	}{
		{"a charge of another card", func(_ *Book, _ *Job, c *Task) { c.Charges[0].at = 0 }, OneCard},
		{"a job that isn't counted", func(_ *Book, j *Job, _ *Task) { j.holding = false }, SumsAgree},
		{"a mark", func(_ *Book, j *Job, _ *Task) { j.Queue.over = map[int32]bool{Memory: true} }, WithinLimit},
		{"an item without the mark that it is loose", func(_ *Book, j *Job, c *Task) { c.CPU.Covered-- }, MinIsHeld},
		{"a sum below 0", func(_ *Book, j *Job, _ *Task) { j.Queue.add(2, -9000, 0, 0) }, NotNegative},
		{"a task of another job", func(_ *Book, _ *Job, c *Task) { c.Job = &Job{} }, Belongs},
	} {
		b, j, charged := small(t)
		if found := b.Check(slices.Values([]*Job{j})); len(found) > 0 {
			t.Fatalf("%+v", found)
		}
		c.fault(b, j, charged)
		found := b.Check(slices.Values([]*Job{j}))
		if !slices.ContainsFunc(found, func(v Violation) bool { return v.Rule == c.rule }) {
			t.Errorf("%s: %+v", c.name, found)
		}
	}
}
