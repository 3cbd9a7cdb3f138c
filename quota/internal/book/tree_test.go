package book

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestPrune: an orphan goes with its last record, and what is below it moves up. The tree
// is org > a > b > leaf and org > c, d, e. All but org are orphans, and each has a record.
func TestPrune(t *testing.T) {
	var b Book
	var queues []*Queue
	byName, jobs := map[string]*Queue{}, map[string]*Job{}
	for _, c := range [][2]string{{"org", ""}, {"a", "org"}, {"b", "a"}, {"leaf", "b"}, {"c", "org"}, {"d", "org"}, {"e", "org"}} {
		q, j := &Queue{Tag: c[0], Parent: byName[c[1]], Orphan: c[1] != ""}, &Job{Reserved: true}
		byName[c[0]], jobs[c[0]] = q, j
		queues = append(queues, q)
		b.AddJob(j, q)
	}
	b.Link(queues)
	b.Widen(2)
	names := func(queues []*Queue) string {
		var list []string
		for _, q := range queues {
			list = append(list, q.Tag.(string))
		}
		return strings.Join(list, " ")
	}
	for _, c := range []struct{ drop, gone, left string }{
		{"", "", "org a c d e b leaf"},
		{"b", "b", "org a c d e leaf"},
		{"c", "c", "org a e d leaf"},
		{"e", "e", "org a d leaf"},
		{"org", "", "org a d leaf"}, // it is no orphan
		{"a leaf", "a leaf", "org d"},
		{"d", "d", "org"},
	} {
		for _, name := range strings.Fields(c.drop) {
			b.Drop(jobs[name])
			delete(jobs, name)
		}
		if got := names(b.Prune()); got != c.gone {
			t.Errorf("without %s: %s have gone, want %s", c.drop, got, c.gone)
		}
		left := b.TopDown()
		if got := names(left); got != c.left {
			t.Errorf("without %s: %s, want %s", c.drop, got, c.left)
		}
		if found := b.Check(left, maps.Values(jobs)); found != nil {
			t.Errorf("without %s: %+v", c.drop, found)
		}
	}
}

// TestPruneOne: an orphan goes without a look at others, of which there may be many. Here
// they are not even there: to look at one would panic.
func TestPruneOne(t *testing.T) {
	for _, parent := range []*Queue{nil, {}} {
		var b Book
		var queues []*Queue
		if parent != nil {
			queues = append(queues, parent)
		}
		for range 10 {
			queues = append(queues, &Queue{Parent: parent, Orphan: true})
		}
		b.Link(queues)
		one := queues[len(queues)-7]
		j := &Job{}
		b.AddJob(j, one)
		siblings := *b.siblings(one)
		for i, q := range siblings[:9] { // the last one takes its place
			if q != one {
				siblings[i] = nil
			}
		}
		b.Drop(j)
		if gone := b.Prune(); len(gone) != 1 || gone[0] != one || len(*b.siblings(one)) != 9 || slices.Contains(*b.siblings(one), one) {
			t.Errorf("%v", gone)
		}
	}
}
