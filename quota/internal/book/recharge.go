package book

import "slices"

// The transformation has changed, so the charges in outputs have another size. Outputs are
// on no node: their alternatives are Anywhere, and each has one dimension. Cards, cpu and
// memory stay as they are.

// Recharge replaces what is charged and held Anywhere: the job's min is min there, and
// each task is charged what uses returns. Charges draw on the min in commit order. Limits
// don't matter, and nothing is marked as over.
func (j *Job) Recharge(min []MinItem, uses func(t *Task) []UseItem) {
	j.Each(func(dim int32, allocated, held, uncovered int64) { j.put(dim, -allocated, -held, -uncovered, nil) })
	var items, implicit []*Item
	for _, it := range j.Items {
		switch {
		case it.Implicit:
			implicit = append(implicit, it)
		case !it.Alts.Anywhere:
			items = append(items, it)
		}
	}
	of := map[*Alternatives]*Item{}
	for _, is := range min {
		it := NewItem(is, false)
		it.Held = it.Min
		of[is.Alts] = it
		items = append(items, it)
	}
	j.SetItems(append(items, implicit...))
	for t := j.First; t != nil; t = t.Next {
		t.Charges = slices.DeleteFunc(t.Charges, func(c Charge) bool { return c.Alts.Anywhere })
		for _, use := range uses(t) {
			c := Charge{Alts: use.Alts, Card: use.Alts.Cards[0], Amount: use.Amount}
			if it := of[use.Alts]; it != nil {
				c.Covered = drawn(it, use.Amount)
				it.Accept(&c)
			}
			t.Charges = append(t.Charges, c)
		}
	}
	j.recount()
	j.Each(func(dim int32, allocated, held, uncovered int64) { j.put(dim, allocated, held, uncovered, nil) })
}

// drawn takes what an item holds of an amount.
func drawn(it *Item, amount int64) int64 {
	covered := min(amount, it.Held)
	it.Held -= covered
	return covered
}
