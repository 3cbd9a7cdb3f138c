package book

import "slices"

// The transformation has changed, so the charges in outputs have another size. Outputs are
// on no node: their alternatives are Anywhere, and each has one dimension. Cards, cpu and
// memory stay as they are.

// Recharge replaces what is charged and held Anywhere: the job's min is needs there, and
// each task is charged what uses returns. Charges draw on the min in commit order. Limits
// don't matter, and nothing is marked as over.
func (j *Job) Recharge(needs []MinItem, uses func(t *Task) []UseItem) {
	j.count(-1)
	var items, implicit []*Item
	for _, it := range j.Items {
		switch {
		case it.Implicit:
			implicit = append(implicit, it)
		case !it.Alts.Anywhere:
			items = append(items, it)
		}
	}
	byAlts := map[*Alternatives]*Item{}
	for _, is := range needs {
		it := NewItem(is, false)
		it.Held = it.Min
		byAlts[is.Alts] = it
		items = append(items, it)
	}
	j.setItems(append(items, implicit...))
	for t := j.First; t != nil; t = t.Next {
		t.Charges = slices.DeleteFunc(t.Charges, func(c Charge) bool { return c.Alts.Anywhere })
		for _, use := range uses(t) {
			c := Charge{Alts: use.Alts, Card: use.Alts.Cards[0], Amount: use.Amount}
			if it := byAlts[use.Alts]; it != nil {
				c.Covered = it.draw(use.Amount)
				it.Accept(&c)
			}
			t.Charges = append(t.Charges, c)
		}
	}
	j.recount()
	j.count(1)
}

// draw takes what the item holds of an amount, and returns it.
func (it *Item) draw(amount int64) int64 {
	covered := min(amount, it.Held)
	it.Held -= covered
	return covered
}
