package book

import (
	"fmt"
	"strings"
	"testing"
)

// state is everything that charges change, as text.
func (w *world) state(j *Job) string {
	var b strings.Builder
	for _, q := range w.TopDown() {
		fmt.Fprintln(&b, q.Tag, q.Cells, q.Holders, q.Jobs)
	}
	fmt.Fprintln(&b, j.Held, j.Min, j.Tasks, j.holding)
	for _, it := range j.Items {
		fmt.Fprintln(&b, it.Alts.Tag, it.Held, it.Charges, it.At, it.Implicit, it.Spread, it.Min)
	}
	for t := j.First; t != nil; t = t.Next {
		fmt.Fprintln(&b, t.Plain, len(t.Charges))
	}
	return b.String()
}

// TestUndo: whatever a gang has changed, what was there before is there again, and every
// mark: also one that went when a hold moved away from a card that has too much.
func TestUndo(t *testing.T) {
	for _, anyMix := range []bool{false, true} {
		w := newWorld(t)
		j := w.reserve(Min{Plain: Plain{CPU: 3}, AnyMix: anyMix, Items: []MinItem{{w.alts("C"), 1, 1}, {w.alts("A|B"), 3, 1}}})
		w.charge(j, Use{Plain: Plain{CPU: 1}, Items: []UseItem{{w.alts("C"), 2}}})
		for _, q := range w.TopDown() { // too much is held
			q.Cells[cardA].Limit = 2
		}
		w.org.Cells[CPU].Limit = 2
		before := w.state(j)
		if !w.q.Cells[cardA].Over() || !w.org.Cells[cardA].Over() || !w.org.Cells[CPU].Over() || w.q.Cells[CPU].Over() {
			t.Fatal("marks:", before)
		}
		var undo Journal
		for range 2 {
			for _, u := range []Use{
				{Plain: Plain{1, 1}, Items: []UseItem{{w.alts("A|B"), 3}}},
				{Plain: Plain{Memory: 2}, Items: []UseItem{{w.alts("B|C"), 1}}},
				{Plain: Plain{CPU: 4}, Items: []UseItem{{w.alts("C"), 1}}},
			} {
				var a Answer
				picks := MayCharge(&a, w.q, j, &u, setOf(cardB, cardC), nil)
				(&Task{Job: j}).Charge(&u, picks, &undo) // whether it has room or not
			}
			if w.q.Cells[cardA].Over() || w.org.Cells[cardA].Over() {
				t.Fatal("the hold didn't move:", w.state(j))
			}
			undo.Undo()
			if got := w.state(j); got != before {
				t.Fatalf("got\n%s, want\n%s", got, before)
			}
		}
	}
}
