package gang_test

import (
	"slices"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang"
)

func TestRejections(t *testing.T) {
	free := matrixOf(2, vec{4, 1}, vec{0, 1}, vec{2, 0}, vec{nan, 9}, vec{-1, inf})
	sets := &gang.Domains{Rows: []int32{0, 1, 1, 2, 3, 4}, Offsets: vector.Offsets{0, 2, 2, 5, 6}}
	for _, test := range []struct {
		name    string
		request vec
		rows    *vector.Mask
		want    []int
	}{
		{"both", vec{2, 1}, nil, []int{1, 0, 0, 0, 2, 1, 1, 0}},
		{"a row that lacks two counts twice", vec{5, 2}, nil, []int{2, 2, 0, 0, 3, 2, 1, 0}},
		{"what is not requested rejects nothing", vec{0, -3}, nil, make([]int, 8)},
		{"missing columns are not requested", vec{3}, nil, []int{1, 0, 0, 0, 3, 0, 1, 0}},
		{"not a number fits nowhere", vec{0, nan}, nil, []int{0, 2, 0, 0, 0, 3, 0, 1}},
		{"only selected rows", vec{5, 2}, maskOf(5, 0, 2), []int{1, 1, 0, 0, 1, 1, 0, 0}},
	} {
		if got := gang.Rejections(nil, free, test.request, test.rows, sets); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
	if got := gang.Rejections([]int{7}, free, vec{1}, nil, new(gang.Domains)); len(got) != 0 {
		t.Errorf("without sets: %v", got)
	}
}

// TestRejectionsAnew compares with a question about the rows of one set after another.
func TestRejectionsAnew(t *testing.T) {
	var got, want []int
	for seed := range uint64(testkit.Amount(t, 200, 1000, 10000)) {
		r := testkit.Rand(seed)
		c := proofCase(r, r.IntN(len(amountKinds)))
		sets := someDomains(r, c.free.Rows())
		request := make(vec, r.IntN(c.free.Cols()+1))
		for j := range request {
			request[j] = amountKinds[r.IntN(len(amountKinds))].scale(r, float64(r.IntN(5)-1))
		}
		got = gang.Rejections(got, c.free, request, c.rows, sets)
		for k := range max(len(sets.Offsets)-1, 0) {
			only := maskOfDomain(sets, k, c.free.Rows(), c.rows)
			want = vector.Rejections(want, c.free, request, only)
			if here := got[k*c.free.Cols():][:c.free.Cols()]; !slices.Equal(here, want) {
				t.Fatalf("seed %d, set %d: %v, want %v", seed, k, here, want)
			}
		}
		got = gang.Rejections(got, c.free, request, c.rows, nil)
		if want = vector.Rejections(want, c.free, request, c.rows); !slices.Equal(got, want) {
			t.Fatalf("seed %d: %v, want %v", seed, got, want)
		}
	}
}

func TestRejectionsPanics(t *testing.T) {
	free, sets := matrixOf(2, vec{1}), &gang.Domains{Rows: []int32{0}, Offsets: vector.Offsets{0, 1}}
	wantPanic(t, "gang: vector is longer than the matrix is wide", func() { gang.Rejections(nil, free, vec{1, 1, 1}, nil, sets) })
	wantPanic(t, "gang: mask lengths differ", func() { gang.Rejections(nil, free, vec{1}, vector.NewMask(2), sets) })
	wantPanic(t, "gang: rows of a domain do not ascend within the matrix", func() {
		gang.Rejections(nil, free, vec{1}, nil, &gang.Domains{Rows: []int32{1}, Offsets: vector.Offsets{0, 1}})
	})
}

func TestRejectionsAllocations(t *testing.T) {
	c := manyRows(1, true)
	rows := make([]int32, c.free.Rows())
	for r := range rows {
		rows[r] = int32(r)
	}
	sets, request := &gang.Domains{Rows: rows, Offsets: vector.Offsets{0, 10, int32(len(rows))}}, c.requests.Row(nil, 0)
	dst := make([]int, 2*c.free.Cols())
	wantNoAllocations(t, 5, func() { dst = gang.Rejections(dst, c.free, request, c.rows, sets) })
}
