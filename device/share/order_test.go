package share_test

import (
	"slices"
	"testing"

	"github.com/resvec/resvec/device/share"
)

// orderCandidates are devices of these minors, in this order; the other
// arguments are by minor.
func orderCandidates(minors, preferred []int32, scores map[int32]int64, roots map[int32]string) []share.Candidate {
	list := make([]share.Candidate, len(minors))
	for i, m := range minors {
		list[i] = share.Candidate{Minor: m, PCIeRoot: roots[m], Preferred: slices.Contains(preferred, m), Score: scores[m]}
	}
	return list
}

func orderMinors(list []share.Candidate) []int32 {
	minors := make([]int32, len(list))
	for i, d := range list {
		minors[i] = d.Minor
	}
	return minors
}

func TestOrder(t *testing.T) {
	for _, test := range []struct {
		fact      string
		minors    []int32
		preferred []int32
		scores    map[int32]int64
		want      []int32
	}{
		{"O1", []int32{0, 1, 2}, nil, nil, []int32{0, 1, 2}},
		{"O2", []int32{0, 1, 2, 5, 6, 7}, []int32{5, 6}, nil, []int32{5, 6, 0, 1, 2, 7}},
		{"O3", []int32{0, 1, 2, 5, 6, 7}, []int32{5, 6}, map[int32]int64{5: 10, 6: 10}, []int32{5, 6, 0, 1, 2, 7}},
		{"preferred ones by score", []int32{0, 1, 2, 5, 6, 7}, []int32{5, 6}, map[int32]int64{6: 10, 2: 99}, []int32{6, 5, 2, 0, 1, 7}},
		{"no devices", nil, []int32{1}, nil, []int32{}},
	} {
		for _, minors := range [][]int32{test.minors, reversed(test.minors)} {
			list := orderCandidates(minors, test.preferred, test.scores, nil)
			share.Order(list)
			if got := orderMinors(list); !slices.Equal(got, test.want) {
				t.Errorf("%s: %v in order %v, want %v", test.fact, minors, got, test.want)
			}
		}
	}
}

func TestOrderByPCIe(t *testing.T) {
	minors := []int32{0, 1, 2, 3, 4, 5, 6, 7}
	roots := map[int32]string{1: "root0", 2: "root0", 5: "root1", 6: "root1"}
	for _, test := range []struct {
		fact      string
		roots     []string
		preferred []int32
		scores    map[int32]int64
		want      []int32
	}{
		{"O4", []string{"root0", "root1"}, nil, nil, []int32{1, 5, 2, 6, 0, 3, 4, 7}},
		{"O5", []string{"root0", "root1"}, nil, map[int32]int64{5: 10, 6: 50}, []int32{6, 1, 5, 2, 0, 3, 4, 7}},
		{"O6", []string{"root1"}, nil, map[int32]int64{0: 99}, []int32{5, 6, 0, 1, 2, 3, 4, 7}},
		{"the order of the roots doesn't matter", []string{"root1", "root0", "root1"}, nil, nil, []int32{1, 5, 2, 6, 0, 3, 4, 7}},
		{"no roots", nil, nil, map[int32]int64{3: 1}, []int32{3, 0, 1, 2, 4, 5, 6, 7}},
		{"unknown roots are not one", []string{"", "root1", "root7"}, nil, nil, []int32{5, 6, 0, 1, 2, 3, 4, 7}},
		{"preferred devices", []string{"root0", "root1"}, []int32{2, 7}, nil, []int32{2, 5, 1, 6, 7, 0, 3, 4}},
	} {
		for _, minors := range [][]int32{minors, reversed(minors)} {
			list := orderCandidates(minors, test.preferred, test.scores, roots)
			share.OrderByPCIe(list, test.roots)
			if got := orderMinors(list); !slices.Equal(got, test.want) {
				t.Errorf("%s: %v in order %v, want %v", test.fact, minors, got, test.want)
			}
		}
	}
}

func reversed(minors []int32) []int32 {
	r := slices.Clone(minors)
	slices.Reverse(r)
	return r
}
