package fairshare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
)

// TestProperties checks what holds of every division, on random siblings.
func TestProperties(t *testing.T) {
	n := 6_000
	if testing.Short() {
		n = 2_000
	}
	weights := []float64{0, 0.125, 1, 2, 3, 7}
	for seed := range n {
		r := rand.New(rand.NewPCG(uint64(seed), 5))
		o := Options{ByWeight: r.IntN(3) == 0, Scale: r.IntN(3) == 0}
		total := float64(r.IntN(30))
		ranks := r.Perm(6)
		type sibling struct {
			queue Queue
			want  float64
		}
		var list []sibling
		for i := range 2 + r.IntN(4) {
			rank := int64(ranks[i])
			q := Queue{Deserved: vector.ResourceVector{float64(r.IntN(8))}, Weight: []float64{weights[r.IntN(len(weights))]}, Priority: int64(r.IntN(2)), Rank: &rank}
			if o.ByWeight {
				q.Guarantee = vector.ResourceVector{float64(r.IntN(4))}
			}
			if r.IntN(3) == 0 {
				q.Limit = vector.ResourceVector{8 + float64(r.IntN(9))}
			}
			list = append(list, sibling{q, float64(r.IntN(20))})
		}
		divided := func(order []int) (tree *Tree, shares []float64) {
			tree = testkit.Must(NewTree(vector.Schema{}, 1, o))
			testkit.Check(tree.SetTotal(vector.ResourceVector{total}))
			for _, i := range order {
				row := first(tree.Set(fmt.Sprint("q", i), list[i].queue))
				testkit.Check(tree.SetUsage(row, Usage{Wanted: vector.ResourceVector{list[i].want}}))
			}
			tree.Divide()
			for i := range list {
				row, _ := tree.Row(fmt.Sprint("q", i))
				shares = append(shares, tree.Share(nil, row)[0])
			}
			return tree, shares
		}
		order := make([]int, len(list))
		for i := range order {
			order[i] = i
		}
		tree, shares := divided(order)
		sum := 0.0
		for _, f := range shares {
			sum += f
		}
		over := tree.Oversold(nil, 0)[0]
		if sum > total && (over == 0 || sum != total+over) || over > 0 && o.Scale && !o.ByWeight && sum != total {
			t.Fatalf("seed %d: %v of %v are given, and %v oversold", seed, sum, total, over)
		}
		for i, s := range list {
			most := s.want
			if s.queue.Limit != nil {
				most = min(most, s.queue.Limit[0])
			}
			if sum < total && s.queue.Weight[0] > 0 && shares[i] < most {
				t.Fatalf("seed %d: %v of %v are given, and q%d wants more than %v", seed, sum, total, i, shares[i])
			}
		}
		// No other whole division is nearer to the parts of the level: to move a unit from one
		// queue to another never is.
		levels, part := make([]Ratio, len(list)), make([]float64, len(list))
		for i, s := range list {
			row, _ := tree.Row(fmt.Sprint("q", i))
			part[i] = math.NaN()
			if b := tree.Explain(row, 0); b.Cause == ByLevel {
				levels[i], part[i] = b.Level, b.Level.Float64()*b.Weight
				if !o.ByWeight {
					part[i] += min(s.queue.Deserved[0], s.want)
				}
			}
		}
		for i := range list {
			for k := range list {
				if moved := math.Abs(shares[i]-1-part[i]) + math.Abs(shares[k]+1-part[k]); levels[i].Compare(levels[k]) == 0 && moved < math.Abs(shares[i]-part[i])+math.Abs(shares[k]-part[k])-1e-9 {
					t.Fatalf("seed %d: of %v, a unit of q%d would be nearer with q%d: %v", seed, shares, i, k, part)
				}
			}
		}
		// The level rises with the total, and falls when others want more.
		rises := func(what string, sign int) {
			t.Helper()
			again, _ := divided(order)
			for i := range list {
				row, _ := again.Row(fmt.Sprint("q", i))
				if b := again.Explain(row, 0); b.Cause == ByLevel && !math.IsNaN(part[i]) && b.Level.Compare(levels[i]) == -sign {
					t.Fatalf("seed %d: the level of q%d is %v, and %v with %s", seed, i, levels[i], b.Level, what)
				}
			}
		}
		total++
		rises("more to divide", 1)
		total--
		other := r.IntN(len(list))
		list[other].want++
		rises("more wanted", -1)
		list[other].want--
		r.Shuffle(len(order), func(i, k int) { order[i], order[k] = order[k], order[i] })
		if _, again := divided(order); !slices.Equal(again, shares) {
			t.Fatalf("seed %d: shares are %v, and %v where rows come in another order", seed, shares, again)
		}
		// More of one's own is never less share.
		i := r.IntN(len(list))
		was := list[i]
		for _, change := range []func(s *sibling){
			func(s *sibling) { s.want += float64(1 + r.IntN(4)) },
			func(s *sibling) { s.queue.Weight = []float64{s.queue.Weight[0] + 1} },
			func(s *sibling) {
				s.queue.Deserved = vector.ResourceVector{s.queue.Deserved[0] + 1}
				s.queue.Limit = nil
			},
		} {
			change(&list[i])
			if _, more := divided(order); more[i] < shares[i] {
				t.Fatalf("seed %d: q%d has %v, and %v after it got more of its own", seed, i, shares[i], more[i])
			}
			list[i] = was
		}
	}
}
