package quota

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// Tasks that are rolled back together, in any order, leave what they do one after the
// other, in theirs: sums, holds, and what is covered of every other task.
func TestRollbackTogether(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 0))
		anyMix, need, ids := r.IntN(2) == 1, fmt.Sprint("cpu:", r.IntN(5), " A|B:", 1+r.IntN(6)), []string(nil)
		fresh := func() *world {
			w := newWorld(t, Config{AnyMix: anyMix}, "q", "cpu:100 mem:100 A:100 B:100")
			w.want(w.reserve("j", "q", need), "yes")
			return w
		}
		together, single := fresh(), fresh()
		for i := range 2 + r.IntN(9) {
			id, item := fmt.Sprint("t", i), []string{"A|B", "A|B", "B|A", "A"}[r.IntN(4)]
			text := fmt.Sprintf("cpu:%d mem:1 %s:%d", r.IntN(3), item, 1+r.IntN(3))
			if together.commit(id, "j", "q", text) != single.commit(id, "j", "q", text) {
				t.Fatal("the same commit has two answers")
			}
			ids = append(ids, id)
		}
		ids = ids[r.IntN(2):]
		r.Shuffle(len(ids), func(i, k int) { ids[i], ids[k] = ids[k], ids[i] })
		ids = ids[:1+r.IntN(len(ids))]
		together.Rollback(ids...)
		r.Shuffle(len(ids), func(i, k int) { ids[i], ids[k] = ids[k], ids[i] })
		for _, id := range ids {
			single.Rollback(id)
		}
		if diff := difference(goldOf(together.Ledger, together.jobs["j"]).text(), goldOf(single.Ledger, single.jobs["j"]).text()); diff != "" {
			t.Fatalf("seed %d, %v: %s", seed, ids, diff)
		}
		for _, w := range []*world{together, single} {
			if found := w.Check(); found != nil {
				t.Fatalf("seed %d, %v: %v", seed, ids, found)
			}
		}
	}
}
