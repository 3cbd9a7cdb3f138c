package share_test

import (
	"slices"
	"testing"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/device/share"
	"github.com/resvec/resvec/internal/testkit"
)

// orderNICs are NICs of these minors, in this order. By LeastAllocated and with
// nothing asked, the score of each is one more than given, so that none is
// exhausted.
func orderNICs(minors []int32, scores map[int32]int64, roots map[int32]string) []share.State {
	list := make([]share.State, len(minors))
	for i, m := range minors {
		list[i] = allocNIC(m, 1+scores[m], 0, roots[m])
	}
	return list
}

// chosenOrder returns the minors of an explanation, in order.
func chosenOrder(e *share.AllocationExplanation) []int32 {
	minors := []int32{}
	for _, d := range e.Devices {
		minors = append(minors, d.Minor)
	}
	return minors
}

func orderScorer(t *testing.T) *share.Scorer {
	t.Helper()
	return testkit.Must(share.NewScorer(share.Config{Resources: []share.ResourceSpec{{Name: share.RDMA.String(), Weight: 1}}}))
}

// TestOrder: preferred devices first, then by score, then by minor.
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
			e, err := explainAllocation(orderScorer(t), share.AllocRequest{
				Requirement: share.Requirement{Kind: device.KindRDMA, Count: 1}, Preferred: test.preferred,
			}, orderNICs(minors, test.scores, nil))
			if got := chosenOrder(&e); err != nil || !slices.Equal(got, test.want) {
				t.Errorf("%s: %v in order %v, want %v; error %v", test.fact, minors, got, test.want, err)
			}
		}
	}
}

// TestOrderByPCIe: the second kind is spread over the PCIe roots of the first.
func TestOrderByPCIe(t *testing.T) {
	minors := []int32{0, 1, 2, 3, 4, 5, 6, 7}
	roots := map[int32]string{1: "root0", 2: "root0", 5: "root1", 6: "root1"}
	for _, test := range []struct {
		fact      string
		roots     []string // of the GPUs
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
			node := orderNICs(minors, test.scores, roots)
			for i, root := range test.roots {
				gpu := allocGPU(int32(i), 100)
				gpu.PCIeRoot = root
				node = append(node, gpu)
			}
			e, err := explainJoint(orderScorer(t),
				share.AllocRequest{Requirement: share.Requirement{Kind: device.KindGPU, Count: int64(len(test.roots))}},
				share.AllocRequest{Requirement: share.Requirement{Kind: device.KindRDMA, Count: 1}, Preferred: test.preferred},
				node, share.PreferSamePCIe)
			if got := chosenOrder(&e.Secondary); err != nil || !slices.Equal(got, test.want) {
				t.Errorf("%s: %v in order %v, want %v; error %v", test.fact, minors, got, test.want, err)
			}
		}
	}
}

func reversed(minors []int32) []int32 {
	r := slices.Clone(minors)
	slices.Reverse(r)
	return r
}
