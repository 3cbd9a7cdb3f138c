package share_test

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/resvec/resvec/device/share"
	"github.com/resvec/resvec/vector"
)

func TestConversions(t *testing.T) {
	const largest = math.MaxInt64
	for _, c := range []struct {
		name                string
		convert             func(amount, total int64) (int64, error)
		amount, total, want int64
		err                 error
	}{
		{"B1", share.RatioToBytes, 50, 32 * gi, 16 * gi, nil},
		{"B2", share.BytesToRatio, 16 * gi, 32 * gi, 50, nil},
		{"B3", share.BytesToRatio, 29 * gi, 100 * gi, 29, nil},
		{"B3, Koordinator", share.KoordinatorRatio, 29 * gi, 100 * gi, 28, nil},
		{"B2, Koordinator", share.KoordinatorRatio, 16 * gi, 32 * gi, 50, nil},
		{"nothing", share.RatioToBytes, 0, 1, 0, nil},
		{"no bytes", share.BytesToRatio, 0, 1, 0, nil},
		{"a byte is cut off", share.RatioToBytes, 33, 10, 3, nil},
		{"a percent is cut off", share.BytesToRatio, 2, 3, 66, nil},
		{"several devices", share.RatioToBytes, 800, 80 * gi, 640 * gi, nil},
		{"more than there is", share.BytesToRatio, 3 * gi, gi, 300, nil},
		{"product beyond 2^63", share.RatioToBytes, 100, largest, largest, nil},
		{"bytes beyond 2^63", share.BytesToRatio, largest, largest, 100, nil},
		{"the largest ratio", share.BytesToRatio, largest / 100, 1, largest / 100 * 100, nil},
		{"the largest ratio, Koordinator", share.KoordinatorRatio, largest / 100, 1, 0, vector.ErrNotRepresentable}, // rounds to 2^63
		{"too large", share.RatioToBytes, 101, largest, 0, vector.ErrNotRepresentable},
		{"too large ratio", share.BytesToRatio, largest, 1, 0, vector.ErrNotRepresentable},
		{"too large by a power of 2", share.BytesToRatio, 3e17, 1, 0, vector.ErrNotRepresentable},
		{"no total", share.RatioToBytes, 50, 0, 0, share.ErrNoTotal},
		{"no total for bytes", share.BytesToRatio, gi, 0, 0, share.ErrNoTotal},
		{"no total, Koordinator", share.KoordinatorRatio, gi, 0, 0, share.ErrNoTotal},
		{"negative total", share.RatioToBytes, 50, -1, 0, share.ErrNoTotal},
		{"negative ratio", share.RatioToBytes, -1, 100, 0, share.ErrInvalidUnit},
		{"negative bytes", share.BytesToRatio, -1, 100, 0, share.ErrInvalidUnit},
	} {
		got, err := c.convert(c.amount, c.total)
		if got != c.want || !errors.Is(err, c.err) || (err == nil) != (c.err == nil) {
			t.Errorf("%s: %d, error %v, want %d, %v", c.name, got, err, c.want, c.err)
		}
	}
}

// TestKoordinatorRatio counts how often the float64 is wrong.
func TestKoordinatorRatio(t *testing.T) {
	var wrong []int64
	for p := range int64(101) {
		exact, _ := share.BytesToRatio(p*gi, 100*gi)
		upstream, _ := share.KoordinatorRatio(p*gi, 100*gi)
		if exact != p || upstream > exact || upstream < exact-1 {
			t.Errorf("%d: %d and %d", p, exact, upstream)
		}
		if upstream != exact {
			wrong = append(wrong, p)
		}
	}
	if diff := cmp.Diff([]int64{29, 57, 58}, wrong); diff != "" {
		t.Error(diff)
	}
}

func TestFillRequest(t *testing.T) {
	for _, c := range []struct {
		name, request, total, want string
		err                        error
	}{
		{"bytes", "CORE 50, RATIO 50", "MEM 32Gi", "CORE 50, RATIO 50, MEM 16Gi", nil},
		{"ratio", "MEM 16Gi", "MEM 32Gi, RATIO 100", "MEM 16Gi, RATIO 50", nil},
		{"B4", "MEM 16Gi, RATIO 60", "MEM 32Gi", "MEM 16Gi, RATIO 60", nil},
		{"B4, total missing", "MEM 16Gi, RATIO 60", "RATIO 100", "", share.ErrNoTotal},
		{"ratio, total missing", "RATIO 60", "", "", share.ErrNoTotal},
		{"bytes, total missing", "MEM 1Gi", "MEM 0", "", share.ErrNoTotal},
		{"neither", "RDMA 1", "", "RDMA 1", nil},
		{"zero", "MEM 0, RATIO 0", "", "MEM 0, RATIO 0", nil},
		{"nothing", "", "MEM 1Gi", "", nil},
		{"negative", "MEM -1", "MEM 1Gi", "", share.ErrInvalidUnit},
		{"negative with a positive one", "MEM -1, RATIO 50", "MEM 1Gi", "", share.ErrInvalidUnit},
	} {
		request := needAmounts(c.request)
		got, err := share.FillRequest(request, needAmounts(c.total))
		if !errors.Is(err, c.err) || (err == nil) != (c.err == nil) || err != nil && got != (share.Amounts{}) {
			t.Errorf("%s: error %v, want %v", c.name, err, c.err)
		}
		if diff := cmp.Diff(needAmounts(c.want), got); diff != "" && err == nil {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}
