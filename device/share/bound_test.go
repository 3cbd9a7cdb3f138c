package share_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/device/share"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
)

// ratioNodes returns nodes whose devices have 100 percent of memory, and so much
// free.
func ratioNodes(free ...[]int64) [][]share.State {
	nodes := make([][]share.State, len(free))
	for k, list := range free {
		for i, f := range list {
			nodes[k] = append(nodes[k], share.State{
				Kind: device.KindGPU, Minor: int32(i),
				Total: share.Amounts{share.GPUMemoryRatio: 100}, Free: share.Amounts{share.GPUMemoryRatio: f},
			})
		}
	}
	return nodes
}

func ratioNeeds(each, count int64) []share.Requirement {
	return []share.Requirement{{Kind: device.KindGPU, PerInstance: share.Amounts{share.GPUMemoryRatio: each}, Count: count}}
}

// untouched is what tests fill destinations with.
const untouched = -7

func untouchedScores(n int) []int64 { return slices.Repeat([]int64{untouched}, n) }

// checkRefused checks an error, its words, and that dst is untouched.
func checkRefused(t *testing.T, dst []int64, err error, target error, words ...string) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Errorf("got %v, want %v", err, target)
		return
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q doesn't name %q", err, word)
		}
	}
	for i, x := range dst {
		if x != untouched {
			t.Errorf("element %d was written: %d", i, x)
		}
	}
}

func TestScoreFacts(t *testing.T) {
	testkit.EachImpl(t, func(t *testing.T) {
		t.Run("S24", func(t *testing.T) {
			b := testkit.Must(share.NewScorer(share.Config{})).Bind(accountOf(t, ratioNodes([]int64{100, 100}, []int64{100, 50, 0}, nil, []int64{25})...))
			nodes, devices := untouchedScores(4), untouchedScores(6)
			if err := b.Score(nodes, ratioNeeds(50, 2), nil); err != nil || !slices.Equal(nodes, []int64{50, 16, 0, 0}) {
				t.Errorf("nodes: %v, %v", nodes, err)
			}
			err := b.ScoreDevices(devices, share.Amounts{share.GPUMemoryRatio: 50}, nil)
			if want := []int64{50, 50, 50, 0, 0, 0}; err != nil || !slices.Equal(devices, want) {
				t.Errorf("devices: %v, %v, want %v", devices, err, want)
			}
		})
		for _, test := range []struct {
			name string
			cfg  share.Config
			want int64
		}{
			{"S6", share.Config{}, 50},
			{"S7", share.Config{PerInstance: true}, 87},
			{"S8", share.Config{Type: share.MostAllocated}, 50},
		} {
			t.Run(test.name, func(t *testing.T) {
				s := testkit.Must(share.NewScorer(test.cfg))
				dst := untouchedScores(1)
				b := s.Bind(accountOf(t, ratioNodes(slices.Repeat([]int64{100}, 8))...))
				if err := b.Score(dst, ratioNeeds(100, 4), nil); err != nil || dst[0] != test.want {
					t.Errorf("got %d, %v, want %d", dst[0], err, test.want)
				}
			})
		}
	})
}

// boundCase is a question in the form of states.
type boundCase struct {
	cfg    share.Config
	scorer *share.Scorer
	needs  []share.Requirement
	nodes  [][]share.State
	rows   *vector.Mask
}

// newBoundCase returns a random case. Its amounts are small where large is 0, and
// the larger the greater it is.
func newBoundCase(t testing.TB, r *rand.Rand, nodes, columns, large int) boundCase {
	c := boundCase{
		cfg: share.Config{
			Type:        []string{share.LeastAllocated, share.MostAllocated}[r.IntN(2)],
			PerInstance: r.IntN(2) == 1,
			FillMemory:  r.IntN(2) == 1,
		},
	}
	for _, i := range r.Perm(8)[:columns] {
		c.cfg.Resources = append(c.cfg.Resources, share.ResourceSpec{Name: share.Resource(i).String(), Weight: 1 + r.Int64N(100)})
	}
	if r.IntN(2) == 0 { // the usual ones in front
		c.cfg.Resources = slices.Clone(share.KoordinatorDefaults().Resources[:min(columns, 4)])
	}
	var err error
	if c.scorer, err = share.NewScorer(c.cfg); err != nil {
		t.Fatal(err)
	}
	amount := func() int64 { return r.Int64N(1<<10) << r.IntN(1+large) }
	for _, kind := range []string{device.KindGPU, device.KindRDMA, device.KindFPGA} {
		if kind != device.KindGPU && r.IntN(3) > 0 {
			continue
		}
		need := share.Requirement{Kind: kind, Count: 1 + r.Int64N(9)}
		for i := range need.PerInstance {
			if kindOf(share.Resource(i)) == kind && r.IntN(3) > 0 {
				need.PerInstance[i] = amount() << r.IntN(1+large/6)
			}
		}
		c.needs = append(c.needs, need)
	}
	for k := range nodes {
		n := r.IntN(12)
		if r.IntN(4) == 0 {
			n = 8
		}
		c.nodes = append(c.nodes, make([]share.State, n))
		for i := range c.nodes[k] {
			d := &c.nodes[k][i]
			d.Kind, d.Minor = []string{device.KindGPU, device.KindGPU, device.KindGPU, device.KindRDMA, device.KindFPGA}[r.IntN(5)], int32(i)
			for j := range d.Total {
				if kindOf(share.Resource(j)) != d.Kind {
					continue
				}
				total := amount()
				d.Total[j], d.Free[j] = total, r.Int64N(total+2)
				switch r.IntN(12) {
				case 0:
					d.Total[j] = 0
				case 1:
					d.Total[j] = -d.Total[j]
				case 2:
					d.Free[j] = -d.Free[j]
				case 3:
					d.Free[j] = total
				}
			}
		}
	}
	if r.IntN(4) > 0 {
		c.rows = vector.NewMask(nodes)
		testkit.FillMask(r, c.rows.Words())
		testkit.TrimMask(c.rows.Words(), nodes)
	}
	return c
}

// check compares all nodes and devices with the golden model and with the scalar
// functions.
func (c *boundCase) check(t *testing.T) {
	t.Helper()
	account := accountOf(t, c.nodes...)
	b := c.scorer.Bind(account)
	perInstance := share.Amounts{}
	for i := range c.needs {
		for j, x := range c.needs[i].PerInstance {
			perInstance[j] += x
		}
	}
	nodes, wantNodes := untouchedScores(len(c.nodes)), untouchedScores(len(c.nodes))
	devices, wantDevices := untouchedScores(account.Devices()), untouchedScores(account.Devices())
	for k, list := range c.nodes {
		if c.rows != nil && !c.rows.Test(k) {
			continue
		}
		wantNodes[k] = 0
		for i := range c.needs {
			wantNodes[k] += goldenNodeScore(c.cfg, c.needs[i], list)
		}
		text, err := b.Explain(k, c.needs)
		if want := fmt.Sprintf("score %d ", wantNodes[k]); err != nil || !strings.HasPrefix(text, want) {
			t.Fatalf("node %d: %s, error %v, want %q", k, text, err, want)
		}
		from, _ := account.Rows(k)
		for i := range list {
			if wantDevices[from+i], err = c.scorer.ScoreDevice(perInstance, list[i].Total, list[i].Free); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := b.Score(nodes, c.needs, c.rows); err != nil || !slices.Equal(nodes, wantNodes) {
		t.Fatalf("nodes: error %v, %s", err, cmp.Diff(wantNodes, nodes))
	}
	if err := b.ScoreDevices(devices, perInstance, c.rows); err != nil || !slices.Equal(devices, wantDevices) {
		t.Fatalf("devices: error %v, %s", err, cmp.Diff(wantDevices, devices))
	}
}

func TestScoreAll(t *testing.T) {
	testkit.EachImpl(t, func(t *testing.T) {
		r := testkit.Rand(31)
		for nodes := range 140 {
			for _, columns := range []int{1, 2, 8}[:testkit.Amount(t, 1, 3, 3)] {
				c := newBoundCase(t, r, nodes, columns, []int{0, 20, 36}[r.IntN(3)])
				c.check(t)
			}
		}
	})
}

// TestScoreAllLarge has so many nodes and resources that they are taken in parts.
func TestScoreAllLarge(t *testing.T) {
	testkit.EachImpl(t, func(t *testing.T) {
		r := testkit.Rand(32)
		for _, size := range [][2]int{{3000, 1}, {700, 3}, {200, 7}, {200, 8}} {
			for range testkit.Amount(t, 1, 1, 4) {
				c := newBoundCase(t, r, size[0], size[1], 0)
				c.check(t)
			}
		}
	})
}

func FuzzScoreAll(f *testing.F) {
	f.Add(uint64(1), uint8(0), uint8(1), uint8(0))
	f.Add(uint64(2), uint8(70), uint8(2), uint8(0))
	f.Add(uint64(3), uint8(70), uint8(4), uint8(36))
	f.Add(uint64(4), uint8(3), uint8(2), uint8(38))
	f.Add(uint64(5), uint8(9), uint8(7), uint8(20))
	f.Fuzz(func(t *testing.T, seed uint64, nodes, columns, large uint8) {
		c := newBoundCase(t, testkit.Rand(seed), int(nodes), 1+int(columns)%8, int(large%39))
		testkit.EachImpl(t, c.check)
	})
}

// TestScoreLimits has amounts on both sides of what the kernels take. Every request
// is scored, however large.
func TestScoreLimits(t *testing.T) {
	const limit = 1 << 53
	cfg := share.Config{Resources: []share.ResourceSpec{{Name: share.GPUMemory.String(), Weight: 3}}}
	scorer := testkit.Must(share.NewScorer(cfg))
	memory := func(total, free int64) share.State {
		return share.State{Kind: device.KindGPU, Total: share.Amounts{share.GPUMemory: total}, Free: share.Amounts{share.GPUMemory: free}}
	}
	testkit.EachImpl(t, func(t *testing.T) {
		for name, test := range map[string]struct {
			each, count int64
			devices     []share.State
		}{
			"nothing":                  {0, 1, []share.State{memory(0, 0)}},
			"kernel's last":            {1, 1, []share.State{memory(1<<46, 1<<46)}},
			"kernel's last and one":    {1, 1, []share.State{memory(1<<46+1, 1<<46)}},
			"last total":               {0, 1, []share.State{memory(limit-1, limit-1)}},
			"last negative total":      {0, 1, []share.State{memory(-limit+1, 0)}},
			"negative free":            {5, 1, []share.State{memory(1, 1-limit)}},
			"used beyond 2^53":         {1, 1, []share.State{memory(limit-1, 0)}},
			"used by half":             {limit / 2, 1, []share.State{memory(limit/2, 0)}},
			"full":                     {limit - 1, 1, []share.State{memory(1, 2)}},
			"no total":                 {limit - 1, 1, []share.State{memory(0, -5)}},
			"request of 2^53":          {limit, 1, []share.State{memory(100, 70)}},
			"request of no device":     {limit, 1, nil},
			"the largest request":      {math.MaxInt64, 1, []share.State{memory(100, 70)}},
			"more than an int64":       {1 << 40, 1 << 40, []share.State{memory(100, 70)}},
			"kernel's last request":    {limit - 1<<48, 1, []share.State{memory(1<<46, 1<<45)}},
			"beyond the kernel's last": {limit - 1<<48 + 1, 1, []share.State{memory(1<<46, 1<<45)}},
			"sum at the kernel's last": {7, 1, []share.State{memory(1<<45, 9), memory(1<<45, 1<<44)}},
			"sum beyond it":            {7, 1, []share.State{memory(1<<45, 9), memory(1<<45+1, 1<<44)}},
			"largest sum":              {0, 1, []share.State{memory(limit/2, 1), memory(limit/2-1, 1)}},
		} {
			for i := range test.devices {
				test.devices[i].Minor = int32(i)
			}
			c := boundCase{
				cfg: cfg, scorer: scorer, nodes: [][]share.State{nil, test.devices, nil},
				needs: []share.Requirement{{Kind: device.KindGPU, PerInstance: share.Amounts{share.GPUMemory: test.each}, Count: test.count}},
			}
			t.Run(name, c.check)
		}
	})
}

// TestScoreOperands refuses operands that don't match, before anything is written.
func TestScoreOperands(t *testing.T) {
	b := testkit.Must(share.NewScorer(share.Config{})).Bind(accountOf(t, ratioNodes([]int64{1, 2}, []int64{3})...))
	bad := func(change func(*share.Requirement)) []share.Requirement {
		needs := ratioNeeds(1, 1)
		change(&needs[0])
		return needs
	}
	for _, test := range []struct {
		name        string
		nodes, rows int // elements of dst
		mask        *vector.Mask
		needs       []share.Requirement
		target      error
	}{
		{"short dst", 1, 2, nil, ratioNeeds(1, 1), vector.ErrShape},
		{"long dst", 3, 4, nil, ratioNeeds(1, 1), vector.ErrShape},
		{"mask", 2, 3, vector.NewMask(3), ratioNeeds(1, 1), vector.ErrShape},
		{"negative request", 2, 3, nil, ratioNeeds(-1, 1), share.ErrInvalidUnit},
		{"negative request of another resource", 2, 3, nil, bad(func(n *share.Requirement) { n.PerInstance[share.NPUCPU] = -1 }), share.ErrInvalidUnit},
	} {
		dst := untouchedScores(test.nodes)
		checkRefused(t, dst, b.Score(dst, test.needs, test.mask), test.target)
		dst = untouchedScores(test.rows)
		checkRefused(t, dst, b.ScoreDevices(dst, test.needs[0].PerInstance, test.mask), test.target)
	}
	var fits vector.Mask
	for name, test := range map[string]struct {
		needs  []share.Requirement
		target error
	}{
		"negative count":             {ratioNeeds(1, -1), share.ErrInvalidUnit},
		"a resource of another kind": {bad(func(n *share.Requirement) { n.PerInstance[share.RDMA] = 1 }), share.ErrInvalidCombination},
		"a kind twice":               {append(ratioNeeds(1, 1), ratioNeeds(1, 1)...), share.ErrInvalidCombination},
	} {
		dst := untouchedScores(2)
		checkRefused(t, dst, b.Score(dst, test.needs, nil), test.target)
		if err := b.Fit(&fits, test.needs); !errors.Is(err, test.target) || fits.Len() != 0 {
			t.Errorf("%s: fit with error %v", name, err)
		}
		if node, ok, err := b.Best(test.needs, nil, vector.TieLowest()); !errors.Is(err, test.target) || ok || node != -1 {
			t.Errorf("%s: best %d, %v, error %v", name, node, ok, err)
		}
	}
	if _, _, err := b.Best(ratioNeeds(1, 1), vector.NewMask(3), vector.TieLowest()); !errors.Is(err, vector.ErrShape) {
		t.Errorf("best with a mask of another length: error %v", err)
	}
}

// TestFit checks the mask against Allocate on every node, with random devices, and
// Best against both.
func TestFit(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 0))
	some := func(amounts ...int64) int64 { return amounts[r.IntN(len(amounts))] }
	for _, fill := range []bool{false, true} {
		cfg := share.KoordinatorDefaults()
		cfg.FillMemory = fill
		scorer := testkit.Must(share.NewScorer(cfg))
		for range 300 {
			nodes := make([][]share.State, 1+r.IntN(20))
			for k := range nodes {
				for minor := range int32(r.IntN(9)) {
					d := share.State{Kind: device.KindGPU, Minor: minor, Health: device.Health(r.IntN(3))}
					if r.IntN(3) == 0 {
						d.Kind = device.KindRDMA
						d.Total[share.RDMA], d.Free[share.RDMA] = 100, some(0, 50, 100)
						nodes[k] = append(nodes[k], d)
						continue
					}
					if r.IntN(9) > 0 {
						d.Total[share.GPUMemoryRatio], d.Free[share.GPUMemoryRatio] = some(100, 100, 0), some(100, 50, 30, 0, -10)
					}
					if r.IntN(4) > 0 {
						d.Total[share.GPUMemory], d.Free[share.GPUMemory] = some(80, 40), some(80, 40, 25, 24, 0, -5)
					}
					nodes[k] = append(nodes[k], d)
				}
			}
			b := scorer.Bind(accountOf(t, nodes...))
			gpu := share.Requirement{Kind: device.KindGPU, Count: int64(r.IntN(4)), PerInstance: share.Amounts{share.GPUMemoryRatio: some(0, 1, 30, 31, 100)}}
			if r.IntN(2) == 0 {
				gpu.PerInstance[share.GPUMemory] = some(0, 20, 25, 1<<60)
			}
			if r.IntN(20) == 0 {
				gpu.PerInstance[share.NPUCore] = some(0, 1)
			}
			needs := []share.Requirement{gpu}
			if r.IntN(3) == 0 {
				needs = append(needs, share.Requirement{Kind: device.KindRDMA, Count: int64(r.IntN(3)), PerInstance: share.Amounts{share.RDMA: some(0, 1, 60)}})
			}
			var fits vector.Mask
			testkit.Check(b.Fit(&fits, needs))
			for k := range nodes {
				want := true
				for _, need := range needs {
					_, err := b.Allocate(k, share.AllocRequest{Requirement: need})
					want = want && err == nil
				}
				if fits.Test(k) != want {
					t.Fatalf("node %d %+v, needs %+v: %v, Allocate says %v", k, nodes[k], needs, fits.Test(k), want)
				}
			}
			some := vector.NewMask(len(nodes))
			testkit.FillMask(r, some.Words())
			testkit.TrimMask(some.Words(), len(nodes))
			for _, rows := range []*vector.Mask{nil, some} {
				scores := make([]int64, len(nodes))
				testkit.Check(b.Score(scores, needs, &fits))
				if rows != nil {
					fits.And(&fits, rows)
				}
				want := vector.ArgMax(scores, &fits, vector.TieLowest())
				if node, ok, err := b.Best(needs, rows, vector.TieLowest()); node != want || ok != (want >= 0) || err != nil {
					t.Fatalf("best %d, %v, error %v, want %d", node, ok, err, want)
				}
			}
		}
	}
}
