package book

import (
	"math/rand/v2"
	"testing"
)

// TestManyAtATime: copies that are charged many at a time are as many as one by one, and
// the answer to the next is the same.
func TestManyAtATime(t *testing.T) {
	lists := []string{"A", "B", "C", "A|B", "B|A", "A|C", "C|A", "B|C", "C|B", "A|B|C", "C|A|B", "B|C|A"}
	for seed := range uint64(10_000) {
		r := rand.New(rand.NewPCG(seed, 3))
		w := newWorld(t)
		upTo := func(n int) int64 { return r.Int64N(int64(n) + 1) }
		for _, q := range []*Queue{w.org, w.q} {
			for dim := range q.Cells {
				c := &q.Cells[dim]
				c.Allocated, c.Held = upTo(20), upTo(10)
				if r.IntN(3) > 0 {
					c.Limit = upTo(120)
				}
			}
		}
		j := &Job{AnyMix: r.IntN(3) > 0, Held: Plain{upTo(20), upTo(20)}, Reserved: true}
		used := map[string]bool{}
		for range 1 + r.IntN(3) {
			list := lists[r.IntN(len(lists))]
			if used[list] {
				continue
			}
			used[list] = true
			it := NewItem(MinItem{Alts: w.alts(list), Amount: 100, Unit: 1}, j.AnyMix)
			if it.Spreads {
				for at := range it.Spread {
					if r.IntN(2) == 0 {
						it.Hold(at, upTo(30))
					}
				}
			} else {
				it.At, it.Charges, it.Held = int32(r.IntN(len(it.Alts.Cards))), int32(r.IntN(2)), upTo(30)
			}
			j.Items = append(j.Items, it)
		}
		j.Queue = w.q
		j.count(1)
		use := &Use{Plain: Plain{upTo(2), upTo(1)}}
		for range 1 + r.IntN(2) {
			is := UseItem{w.alts(lists[r.IntN(len(lists))]), 1 + upTo(3)}
			if len(use.Items) > 0 && share(is.Alts, use.Items[0].Alts) {
				continue
			}
			use.Items = append(use.Items, is)
		}
		var cards *Set
		if r.IntN(4) == 0 {
			cards = setOf(cardA+int32(r.IntN(3)), cardA+int32(r.IntN(3)))
		}
		m := Member{use, cards, Unlimited}

		const most = 400 // more than the limits let in
		var want Answer
		one, n := trial(w.q, j, false), int64(0)
		for ; n < most; n++ {
			picks := MayCharge(&want, one.Queue, one, use, cards, nil)
			if !want.OK() {
				break
			}
			one.chargeAlike(use, picks, 1)
		}
		var a Answer
		got := m.charge(&a, trial(w.q, j, false), nil)
		if n < most && (got != n || answerText(&a, nil) != answerText(&want, nil)) || n == most && got < most {
			t.Fatalf("seed %d: %d copies, then %s; one by one %d, then %s", seed, got, answerText(&a, nil), n, answerText(&want, nil))
		}
		for i := range use.Items {
			for _, card := range use.Items[i].Alts.Cards {
				if cards != nil && !cards.Has(card) {
					continue
				}
				one, n := trial(w.q, j, false), int64(0)
				for ; n < most; n++ {
					p := MayCharge(&want, one.Queue, one, use, setOf(card), nil)[i]
					if p.Card < 0 {
						break
					}
					one.chargeAlike(&Use{Items: use.Items[i : i+1]}, []Pick{p}, 1)
				}
				if got := try(trial(w.q, j, false), []Member{m}, use.Items[i].Alts, card); got != n && (n < most || got < most) {
					t.Fatalf("seed %d: item %d on %d %d times, one by one %d", seed, i, card, got, n)
				}
			}
		}
	}
}

// share reports whether two lists have a card in common.
func share(a, b *Alternatives) bool {
	for _, card := range a.Cards {
		if b.Index(card) >= 0 {
			return true
		}
	}
	return false
}
