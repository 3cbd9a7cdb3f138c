package scorecache

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
)

// Shapes whose hashes are equal, or fall into one bucket, are still distinguished.
func TestShapeTable(t *testing.T) {
	for _, hash := range []func(k uint64) uint64{
		func(uint64) uint64 { return 7 },
		func(k uint64) uint64 { return k << 32 },
		func(k uint64) uint64 { return Hash([]uint64{k}) },
	} {
		var table shapeTable
		byUse := func() (keys []uint64) {
			for s := table.newest; s != nil; s = s.older {
				keys = append(keys, s.key[0])
			}
			return keys
		}
		for k := range uint64(40) {
			if table.find([]uint64{k}, hash(k)) != nil {
				t.Fatalf("found %d before it was added", k)
			}
			table.add(&shape{key: []uint64{k}, hash: hash(k)})
		}
		for k := range uint64(40) {
			s := table.find([]uint64{k}, hash(k))
			if s == nil || s.key[0] != k || table.newest != s {
				t.Fatalf("%d: found %v", k, s)
			}
			if k%3 == 0 {
				table.remove(s)
			}
		}
		table.find([]uint64{10}, hash(10))
		var want []uint64
		for k := uint64(39); k > 0; k-- {
			if k%3 != 0 && k != 10 {
				want = append(want, k)
			}
		}
		if got := byUse(); !slices.Equal(got, append([]uint64{10}, want...)) || table.count != len(got) || table.oldest.key[0] != 1 {
			t.Errorf("by use: %v", got)
		}
		for table.oldest != nil {
			table.remove(table.oldest)
		}
		if table.count != 0 || table.bytes != 0 || table.newest != nil || fmt.Sprint(table.buckets) != fmt.Sprint(make([]*shape, len(table.buckets))) {
			t.Errorf("not empty: %+v", table)
		}
	}
}

// The best place after every change of a score, against a search through all.
func TestShapeBest(t *testing.T) {
	values := []float64{math.NaN(), math.Inf(-1), math.Copysign(0, -1), 0, 1, 2, 3}
	for _, n := range []int{0, 1, 63, 64, 65, 200, 4100} {
		r := testkit.Rand(uint64(n))
		scores := make([]float64, n)
		for p := range scores {
			scores[p] = values[r.IntN(len(values))]
		}
		var s shape
		var orders tieOrders
		orders.keep(n)
		s.lay(scores, &orders.now)
		for step := range 2000 {
			want := vector.ArgMax(scores, nil, vector.TieLowest())
			if got := s.First(); got != want {
				t.Fatalf("%d places, step %d: first %d, want %d", n, step, got, want)
			}
			if step%8 == 0 && n > 0 { // blocks stay dirty otherwise
				start := r.IntN(n)
				cursor := start
				s.clean()
				if got, want := s.firstFrom(start), vector.ArgMax(scores, nil, vector.TieRoundRobin(&cursor)); got != want {
					t.Fatalf("%d places, step %d: from %d on %d, want %d", n, step, start, got, want)
				}
			}
			for range r.IntN(4) * min(n, 1) {
				p := r.IntN(n)
				if want >= 0 && r.IntN(2) == 0 {
					p = want
				}
				scores[p] = values[r.IntN(len(values))]
				s.Place(int32(p), scores[p])
			}
			if r.IntN(50) == 0 {
				s.forget()
			}
		}
	}
}
