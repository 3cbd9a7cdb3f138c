package book

import "testing"

// TestSet: sets of many dimensions are like maps.
func TestSet(t *testing.T) {
	const most = 200
	var multiples [4]*Set // of 2, 3, 5 and 7; the last ones are shorter
	for i, n := range []int32{2, 3, 5, 7} {
		multiples[i] = new(Set)
		for dim := int32(0); dim < most-60*int32(i); dim += n {
			multiples[i].Add(dim)
			multiples[i].Add(dim)
		}
	}
	has := func(i int, dim int32) bool { return dim%[]int32{2, 3, 5, 7}[i] == 0 && dim < most-60*int32(i) }
	for a := range multiples {
		for b := range multiples {
			into := new(Set)
			into.Add(most)
			both := into.Both(multiples[a], multiples[b])
			for dim := range int32(most + 200) {
				if got, want := both.Has(dim), has(a, dim) && has(b, dim); got != want {
					t.Fatalf("%d in sets %d and %d: %v", dim, a, b, got)
				}
			}
		}
		own := multiples[a].Clone()
		own.Add(1)
		for dim := range int32(most + 200) {
			if got, want := own.Has(dim), has(a, dim) || dim == 1; got != want || multiples[a].Has(dim) != has(a, dim) {
				t.Fatalf("%d in a copy of set %d: %v", dim, a, got)
			}
		}
		if new(Set).Both(nil, own) != own || new(Set).Both(own, nil) != own {
			t.Error("with a nil set there is something else")
		}
	}
}

// TestAddSaturated ends at Unlimited.
func TestAddSaturated(t *testing.T) {
	for _, c := range [][3]int64{
		{0, 0, 0}, {1, 2, 3}, {Unlimited, 0, Unlimited}, {0, Unlimited, Unlimited}, {Unlimited, 1, Unlimited},
		{Unlimited - 2, 1, Unlimited - 1}, {Unlimited - 2, 2, Unlimited}, {Unlimited - 2, 3, Unlimited}, {Unlimited, Unlimited, Unlimited},
	} {
		if got := AddSaturated(c[0], c[1]); got != c[2] {
			t.Errorf("%d + %d: %d, want %d", c[0], c[1], got, c[2])
		}
	}
}

// TestShare is of the least amounts.
func TestShare(t *testing.T) {
	q := &Queue{Cells: []Cell{{Allocated: 1}, {Allocated: 1}, {}, {Allocated: 9}}, Deserved: []int64{4, 1, 1, 0}}
	if got := q.Share(); got != 1 {
		t.Errorf("%v, want 1", got)
	}
}
