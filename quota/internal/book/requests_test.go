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
