package share_test

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/device/share"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
	corev1 "k8s.io/api/core/v1"
)

// batchOf returns the batch of a scorer for the devices of some nodes, in front of
// which and behind which there are rows of no node. States say what a device has.
func batchOf(s *share.Scorer, nodes [][]share.State) *share.Batch {
	columns, offsets := s.Columns(), vector.Offsets{2}
	total, free := vector.NewMatrix(vector.Schema{}, 2, len(columns)), vector.NewMatrix(vector.Schema{}, 2, len(columns))
	add := func(t share.Total, f share.Free) {
		var totals, frees vector.ResourceVector
		for _, name := range columns {
			totals, frees = append(totals, float64(t[name])), append(frees, float64(f[name]))
		}
		total.AppendRow(totals)
		free.AppendRow(frees)
	}
	for _, devices := range nodes {
		for _, d := range devices {
			add(d.Total, d.Free)
		}
		offsets = append(offsets, int32(total.Rows()))
	}
	add(nil, nil)
	b := &share.Batch{Total: total, Free: free, Offsets: offsets}
	for _, r := range []int{0, 1, total.Rows() - 1} {
		spoilRow(b, r)
	}
	return b
}

// newBatchScorer returns a scorer of a valid configuration.
func newBatchScorer(t testing.TB, cfg share.Config, opts ...share.Option) *share.Scorer {
	t.Helper()
	s, err := share.NewScorer(cfg, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// ratioNodes returns nodes whose devices have 100 percent of memory, and so much
// free.
func ratioNodes(free ...[]int64) [][]share.State {
	nodes := make([][]share.State, len(free))
	for k, list := range free {
		for i, f := range list {
			nodes[k] = append(nodes[k], share.State{
				Kind: device.KindGPU, Minor: int32(i),
				Total: share.Total{share.GPUMemoryRatio: 100}, Free: share.Free{share.GPUMemoryRatio: f},
			})
		}
	}
	return nodes
}

func ratioNeed(each, count int64) share.Requirement {
	return share.Requirement{Kind: device.KindGPU, PerInstance: share.Request{share.GPUMemoryRatio: each}, Count: count}
}

// untouched is what tests fill destinations with.
const untouched = -7

func untouchedScores(n int) []int64 { return slices.Repeat([]int64{untouched}, n) }

func TestBatchFacts(t *testing.T) {
	testkit.EachImpl(t, func(t *testing.T) {
		t.Run("S24", func(t *testing.T) {
			s := newBatchScorer(t, share.Config{})
			b := batchOf(s, ratioNodes([]int64{100, 100}, []int64{100, 50, 0}, nil, []int64{25}))
			nodes, devices := untouchedScores(4), untouchedScores(b.Total.Rows())
			if err := s.ScoreNodes(nodes, b, ratioNeed(50, 2), nil); err != nil || !slices.Equal(nodes, []int64{50, 16, 0, 0}) {
				t.Errorf("nodes: %v, %v", nodes, err)
			}
			err := s.ScoreDevices(devices, b, share.Request{share.GPUMemoryRatio: 50}, nil)
			if want := []int64{untouched, untouched, 50, 50, 50, 0, 0, 0, untouched}; err != nil || !slices.Equal(devices, want) {
				t.Errorf("devices: %v, %v, want %v", devices, err, want)
			}
		})
		t.Run("S26", func(t *testing.T) {
			s := newBatchScorer(t, share.Config{Resources: []share.ResourceSpec{{Name: string(share.GPUMemory), Weight: 1}}})
			b := batchOf(s, [][]share.State{{}, {{
				Kind:  device.KindGPU,
				Total: share.Total{share.GPUMemory: 1 << 57}, Free: share.Free{share.GPUMemory: 1 << 57},
			}}})
			request := share.Request{share.GPUMemory: 1}
			nodes, devices := untouchedScores(2), untouchedScores(b.Total.Rows())
			checkRefused(t, nodes, s.ScoreNodes(nodes, b, share.Requirement{Kind: device.KindGPU, PerInstance: request, Count: 1}, nil),
				share.ErrNotRepresentable, "row 2", "koordinator.sh/gpu-memory")
			checkRefused(t, devices, s.ScoreDevices(devices, b, request, nil),
				share.ErrNotRepresentable, "row 2", "koordinator.sh/gpu-memory")
		})
		for _, test := range []struct {
			name string
			opts []share.Option
			most bool
			want int64
		}{
			{"S6", nil, false, 50},
			{"S7", []share.Option{share.PerInstance}, false, 87},
			{"S8", nil, true, 50},
		} {
			t.Run(test.name, func(t *testing.T) {
				cfg := share.Config{}
				if test.most {
					cfg.Type = share.MostAllocated
				}
				s := newBatchScorer(t, cfg, test.opts...)
				b := batchOf(s, ratioNodes(slices.Repeat([]int64{100}, 8)))
				dst := untouchedScores(1)
				if err := s.ScoreNodes(dst, b, ratioNeed(100, 4), nil); err != nil || dst[0] != test.want {
					t.Errorf("got %d, %v, want %d", dst[0], err, test.want)
				}
			})
		}
	})
}

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

var batchNames = []corev1.ResourceName{
	share.GPUMemoryRatio, share.GPUMemory, share.GPUCore, share.RDMA, share.FPGA, share.NPUCore, share.NPUCPU, share.NPUDVPP,
}

// batchCase is a batch in the form of states.
type batchCase struct {
	s     *share.Scorer
	need  share.Requirement
	nodes [][]share.State
	mask  *vector.Mask

	weighted          map[corev1.ResourceName]bool
	perInstance, fill bool
}

// newBatchCase returns a random case. Its amounts are small where wild is 0, and
// the larger the greater it is.
func newBatchCase(t testing.TB, r *rand.Rand, nodes, columns, wild int) batchCase {
	cfg := share.Config{Type: []string{share.LeastAllocated, share.MostAllocated}[r.IntN(2)]}
	c := batchCase{
		need:     share.Requirement{Kind: device.KindGPU, PerInstance: share.Request{}, Count: 1 + r.Int64N(9)},
		weighted: map[corev1.ResourceName]bool{},
	}
	names := slices.Clone(batchNames)
	if r.IntN(2) == 0 {
		r.Shuffle(len(names), func(i, k int) { names[i], names[k] = names[k], names[i] })
	}
	for _, name := range names[:columns] {
		cfg.Resources = append(cfg.Resources, share.ResourceSpec{Name: string(name), Weight: 1 + r.Int64N(100)})
		c.weighted[name] = true
	}
	options := share.Option(r.IntN(4))
	c.perInstance, c.fill = options&share.PerInstance != 0, options&share.FillMemory != 0
	c.s = newBatchScorer(t, cfg, options)
	shift := func() int64 { return r.Int64N(1<<10) << r.IntN(1+wild) }
	for _, name := range c.s.Columns() {
		if r.IntN(3) > 0 {
			c.need.PerInstance[name] = shift()
		}
	}
	for k := range nodes {
		n := r.IntN(12)
		if r.IntN(4) == 0 {
			n = 8
		}
		c.nodes = append(c.nodes, make([]share.State, n))
		for i := range c.nodes[k] {
			d := share.State{Kind: device.KindGPU, Minor: int32(i), Total: share.Total{}, Free: share.Free{}}
			for _, name := range c.s.Columns() {
				total := shift()
				d.Total[name], d.Free[name] = total, r.Int64N(total+2)
				switch r.IntN(12) {
				case 0:
					d.Total[name] = 0
				case 1:
					d.Total[name] = -d.Total[name]
				case 2:
					d.Free[name] = -d.Free[name]
				case 3:
					d.Free[name] = total
				}
			}
			c.nodes[k][i] = d
		}
	}
	if r.IntN(4) > 0 {
		c.mask = vector.NewMask(nodes)
		testkit.FillMask(r, c.mask.Words())
		testkit.TrimMask(c.mask.Words(), nodes)
	}
	return c
}

// check compares the batch with the scalar functions, node by node and device by
// device. A refusal must be due.
func (c *batchCase) check(t *testing.T) {
	t.Helper()
	b := batchOf(c.s, c.nodes)
	nodes, wantNodes := untouchedScores(len(c.nodes)), untouchedScores(len(c.nodes))
	devices, wantDevices := untouchedScores(b.Total.Rows()), untouchedScores(b.Total.Rows())
	exactNodes, exactDevices := c.exactRequest(c.need.Count), c.exactRequest(1)
	for k, list := range c.nodes {
		lo := int(b.Offsets[k])
		if c.mask != nil && !c.mask.Test(k) {
			for r := lo; r < int(b.Offsets[k+1]); r++ {
				spoilRow(b, r)
			}
			continue
		}
		var err error
		if wantNodes[k], err = c.s.ScoreNode([]share.Requirement{c.need}, list); err != nil {
			t.Fatal(err)
		}
		exactNodes = exactNodes && c.exact(list, c.need.Count)
		for i, d := range list {
			if wantDevices[lo+i], err = c.s.ScoreDevice(c.need.PerInstance, d.Total, d.Free); err != nil {
				t.Fatal(err)
			}
			exactNodes, exactDevices = exactNodes && c.exactAmounts(d), exactDevices && c.exact(list[i:i+1], 1)
		}
	}
	wantBatch(t, "nodes", nodes, wantNodes, c.s.ScoreNodes(nodes, b, c.need, c.mask), exactNodes)
	wantBatch(t, "devices", devices, wantDevices, c.s.ScoreDevices(devices, b, c.need.PerInstance, c.mask), exactDevices)
}

// spoilRow writes what nobody may read.
func spoilRow(b *share.Batch, r int) {
	bad := slices.Repeat(vector.ResourceVector{math.NaN()}, b.Total.Cols())
	b.Total.SetRow(r, bad)
	b.Free.SetRow(r, bad)
}

// wantBatch checks the scores of a batch, or that it is refused when not all of
// it is exact.
func wantBatch(t *testing.T, what string, got, want []int64, err error, exact bool) {
	t.Helper()
	switch {
	case !exact:
		checkRefused(t, got, err, share.ErrNotRepresentable)
	case err != nil:
		t.Fatalf("%s: %v", what, err)
	case !slices.Equal(got, want):
		t.Fatalf("%s: got %d, want %d", what, got, want)
	}
}

// exactBig reports whether an amount is below 2^53.
func exactBig(x *big.Int) bool { return x.BitLen() <= 53 }

// exactRequest reports whether the request of so many instances is exact.
func (c *batchCase) exactRequest(count int64) bool {
	for _, name := range c.s.Columns() {
		if !exactBig(c.request(name, count)) {
			return false
		}
	}
	return true
}

// request returns what is requested of a resource.
func (c *batchCase) request(name corev1.ResourceName, count int64) *big.Int {
	if c.perInstance {
		count = 1
	}
	return new(big.Int).Mul(big.NewInt(c.need.PerInstance[name]), big.NewInt(count))
}

// exactAmounts reports whether the amounts of a device are exact.
func (c *batchCase) exactAmounts(d share.State) bool {
	for _, name := range c.s.Columns() {
		if !exactBig(big.NewInt(d.Total[name])) || !exactBig(big.NewInt(d.Free[name])) {
			return false
		}
	}
	return true
}

// exact reports whether the sums of some devices are exact, and what is used of
// them with so many instances.
func (c *batchCase) exact(devices []share.State, count int64) bool {
	sum := func(amount func(d share.State) int64) *big.Int {
		x := new(big.Int)
		for _, d := range devices {
			x.Add(x, big.NewInt(amount(d)))
		}
		return x
	}
	total := func(name corev1.ResourceName) *big.Int {
		return sum(func(d share.State) int64 { return d.Total[name] })
	}
	pair := map[corev1.ResourceName]corev1.ResourceName{share.GPUMemory: share.GPUMemoryRatio, share.GPUMemoryRatio: share.GPUMemory}
	for _, name := range c.s.Columns() {
		total, free := total(name), sum(func(d share.State) int64 { return d.Free[name] })
		if !exactBig(total) || !exactBig(free) {
			return false
		}
		if !c.weighted[name] || total.Sign() <= 0 || free.Cmp(total) > 0 {
			continue
		}
		request := c.request(name, count)
		if other, ok := pair[name]; ok && c.fill && request.Sign() == 0 {
			if o := sum(func(d share.State) int64 { return d.Total[other] }); o.Sign() > 0 {
				request.Quo(request.Mul(c.request(other, count), total), o)
			}
		}
		if used := new(big.Int).Sub(total, free); !exactBig(used.Add(used, request)) {
			return false
		}
	}
	return true
}

func TestBatch(t *testing.T) {
	testkit.EachImpl(t, func(t *testing.T) {
		r := testkit.Rand(31)
		for nodes := range 140 {
			for _, columns := range []int{1, 2, 4}[:testkit.Amount(t, 1, 3, 3)] {
				c := newBatchCase(t, r, nodes, columns, []int{0, 20, 36, 45}[r.IntN(4)])
				c.check(t)
			}
		}
	})
}

// TestBatchLarge has so many nodes and resources that they are taken in parts.
func TestBatchLarge(t *testing.T) {
	testkit.EachImpl(t, func(t *testing.T) {
		r := testkit.Rand(32)
		for _, size := range [][2]int{{3000, 1}, {700, 3}, {200, 7}, {200, len(batchNames)}} {
			for range testkit.Amount(t, 1, 1, 4) {
				c := newBatchCase(t, r, size[0], size[1], 0)
				c.check(t)
			}
		}
	})
}

func FuzzBatch(f *testing.F) {
	f.Add(uint64(1), uint8(0), uint8(1), uint8(0))
	f.Add(uint64(2), uint8(70), uint8(2), uint8(0))
	f.Add(uint64(3), uint8(70), uint8(4), uint8(36))
	f.Add(uint64(4), uint8(3), uint8(2), uint8(43))
	f.Add(uint64(5), uint8(9), uint8(17), uint8(20))
	f.Fuzz(func(t *testing.T, seed uint64, nodes, columns, wild uint8) {
		c := newBatchCase(t, testkit.Rand(seed), int(nodes), 1+int(columns)%len(batchNames), int(wild%46))
		testkit.EachImpl(t, c.check)
	})
}

// TestBatchLimits has amounts on both sides of 2^53, and of what the kernels take.
func TestBatchLimits(t *testing.T) {
	const limit = 1 << 53
	memory := func(total, free int64) share.State {
		return share.State{Kind: device.KindGPU, Total: share.Total{share.GPUMemory: total}, Free: share.Free{share.GPUMemory: free}}
	}
	cfg := share.Config{Resources: []share.ResourceSpec{{Name: string(share.GPUMemory), Weight: 3}}}
	testkit.EachImpl(t, func(t *testing.T) {
		for _, test := range []struct {
			name                         string
			each, count                  int64
			devices                      []share.State
			nodesRefused, devicesRefused bool
		}{
			{"nothing", 0, 1, []share.State{memory(0, 0)}, false, false},
			{"kernel's last", 1, 1, []share.State{memory(1<<46, 1<<46)}, false, false},
			{"kernel's last and one", 1, 1, []share.State{memory(1<<46+1, 1<<46)}, false, false},
			{"last total", 0, 1, []share.State{memory(limit-1, limit-1)}, false, false},
			{"total", 0, 1, []share.State{memory(limit, 0)}, true, true},
			{"negative total", 0, 1, []share.State{memory(-limit, 0)}, true, true},
			{"last negative total", 0, 1, []share.State{memory(-limit+1, 0)}, false, false},
			{"free", 0, 1, []share.State{memory(1, limit)}, true, true},
			{"negative free", 0, 1, []share.State{memory(1, -limit)}, true, true},
			{"used", 1, 1, []share.State{memory(limit-1, 0)}, true, true},
			{"used by half", limit / 2, 1, []share.State{memory(limit/2, 0)}, true, true},
			{"not used by half", limit/2 - 1, 1, []share.State{memory(limit/2, 0)}, false, false},
			{"full, so the request is ignored", limit - 1, 1, []share.State{memory(1, 2)}, false, false},
			{"no total, so nothing is used", limit - 1, 1, []share.State{memory(0, -5)}, false, false},
			{"request", limit, 1, []share.State{memory(1, 2)}, true, true},
			{"request of no device", limit, 1, nil, true, true},
			{"instances", limit / 2, 2, []share.State{memory(1, 2)}, true, false},
			{"more instances than an int64 holds", 1 << 40, 1 << 40, []share.State{memory(1, 2)}, true, false},
			{"sum", 0, 1, []share.State{memory(limit/2, 0), memory(limit/2, 0)}, true, false},
			{"last sum", 0, 1, []share.State{memory(limit/2, 0), memory(limit/2-1, 0)}, false, false},
			{"sum of free", 0, 1, []share.State{memory(8, limit/2), memory(8, limit/2)}, true, false},
			{"parts of a sum", 0, 1, []share.State{memory(8, limit-1), memory(8, limit-1), memory(0, 1-limit), memory(0, 1-limit)}, false, false},
		} {
			t.Run(test.name, func(t *testing.T) {
				c := batchCase{
					s: newBatchScorer(t, cfg), weighted: map[corev1.ResourceName]bool{share.GPUMemory: true},
					need:  share.Requirement{Kind: device.KindGPU, PerInstance: share.Request{share.GPUMemory: test.each}, Count: test.count},
					nodes: [][]share.State{nil, slices.Clone(test.devices), nil},
				}
				for i := range test.devices {
					c.nodes[1][i].Minor = int32(i)
				}
				c.check(t)
				b, dst := batchOf(c.s, c.nodes), untouchedScores(3)
				if err := c.s.ScoreNodes(dst, b, c.need, nil); (err != nil) != test.nodesRefused {
					t.Errorf("nodes: %v", err)
				}
				dst = untouchedScores(b.Total.Rows())
				if err := c.s.ScoreDevices(dst, b, c.need.PerInstance, nil); (err != nil) != test.devicesRefused {
					t.Errorf("devices: %v", err)
				}
			})
		}
	})
}

// TestBatchFractions has amounts that are no integers in every column, whatever
// the kernels do with it.
func TestBatchFractions(t *testing.T) {
	s := newBatchScorer(t, share.KoordinatorDefaults(), share.FillMemory)
	nodes := slices.Repeat([][]share.State{make([]share.State, 8)}, 100)
	need := ratioNeed(10, 1)
	testkit.EachImpl(t, func(t *testing.T) {
		for j, name := range s.Columns() {
			for _, x := range []float64{0.5, -0.5, math.NaN(), math.Inf(1), math.Inf(-1), 1 << 53, math.MaxFloat64, math.SmallestNonzeroFloat64} {
				for what := range 2 {
					b := batchOf(s, nodes)
					m := []*vector.Matrix{b.Total, b.Free}[what]
					row := make(vector.ResourceVector, len(s.Columns()))
					row[j] = x
					m.SetRow(333, row)
					dst, devices := untouchedScores(len(nodes)), untouchedScores(b.Total.Rows())
					words := []string{"row 333", string(name), []string{"total", "free"}[what]}
					checkRefused(t, dst, s.ScoreNodes(dst, b, need, nil), share.ErrNotRepresentable, words...)
					checkRefused(t, devices, s.ScoreDevices(devices, b, need.PerInstance, nil), share.ErrNotRepresentable, words...)

					rest := vector.NewMask(len(nodes)) // without the node of that row
					rest.SetAll()
					rest.Clear((333 - 2) / 8)
					if err := s.ScoreNodes(dst, b, need, rest); err != nil {
						t.Error(err)
					}
					if err := s.ScoreDevices(devices, b, need.PerInstance, rest); err != nil {
						t.Error(err)
					}
				}
			}
		}
	})
}

// TestBatchOperands refuses operands that don't match, before anything is written.
func TestBatchOperands(t *testing.T) {
	s := newBatchScorer(t, share.Config{})
	good := func() *share.Batch { return batchOf(s, ratioNodes([]int64{1, 2}, []int64{3})) }
	with := func(change func(b *share.Batch)) *share.Batch {
		b := good()
		change(b)
		return b
	}
	matrix := func(rows, cols int) *vector.Matrix { return vector.NewMatrix(vector.Schema{}, rows, cols) }
	rows := good().Total.Rows()
	for _, test := range []struct {
		name   string
		b      *share.Batch
		nodes  int // elements of dst
		rows   int
		mask   *vector.Mask
		need   share.Requirement
		target error
	}{
		{"nil batch", nil, 2, rows, nil, ratioNeed(1, 1), vector.ErrShape},
		{"nil total", with(func(b *share.Batch) { b.Total = nil }), 2, rows, nil, ratioNeed(1, 1), vector.ErrShape},
		{"nil free", with(func(b *share.Batch) { b.Free = nil }), 2, rows, nil, ratioNeed(1, 1), vector.ErrShape},
		{"rows", with(func(b *share.Batch) { b.Free = matrix(rows+1, 1) }), 2, rows, nil, ratioNeed(1, 1), vector.ErrShape},
		{"columns", with(func(b *share.Batch) { b.Free = matrix(rows, 2) }), 2, rows, nil, ratioNeed(1, 1), vector.ErrShape},
		{"columns of both", with(func(b *share.Batch) { b.Total, b.Free = matrix(rows, 2), matrix(rows, 2) }), 2, rows, nil, ratioNeed(1, 1), vector.ErrShape},
		{"schema", with(func(b *share.Batch) {
			b.Free = vector.NewMatrix(vector.NewSchema([]vector.SchemaColumn{{Name: "a"}}), rows, 1)
		}), 2, rows, nil, ratioNeed(1, 1), vector.ErrSchema},
		{"offsets beyond", with(func(b *share.Batch) { b.Offsets = vector.Offsets{0, 2, int32(rows) + 1} }), 2, rows, nil, ratioNeed(1, 1), vector.ErrShape},
		{"offsets descend", with(func(b *share.Batch) { b.Offsets = vector.Offsets{0, 2, 1} }), 2, rows, nil, ratioNeed(1, 1), vector.ErrShape},
		{"offsets negative", with(func(b *share.Batch) { b.Offsets = vector.Offsets{-1, 2, 3} }), 2, rows, nil, ratioNeed(1, 1), vector.ErrShape},
		{"short dst", good(), 1, rows - 1, nil, ratioNeed(1, 1), vector.ErrShape},
		{"long dst", good(), 3, rows + 1, nil, ratioNeed(1, 1), vector.ErrShape},
		{"mask", good(), 2, rows, vector.NewMask(3), ratioNeed(1, 1), vector.ErrShape},
		{"negative request", good(), 2, rows, nil, ratioNeed(-1, 1), share.ErrInvalidUnit},
		{"negative request of another resource", good(), 2, rows, nil,
			share.Requirement{Kind: device.KindGPU, PerInstance: share.Request{"a": -1}, Count: 1}, share.ErrInvalidUnit},
	} {
		t.Run(test.name, func(t *testing.T) {
			dst := untouchedScores(test.nodes)
			checkRefused(t, dst, s.ScoreNodes(dst, test.b, test.need, test.mask), test.target)
			dst = untouchedScores(test.rows)
			checkRefused(t, dst, s.ScoreDevices(dst, test.b, test.need.PerInstance, test.mask), test.target)
		})
	}
	dst := untouchedScores(2)
	checkRefused(t, dst, s.ScoreNodes(dst, good(), ratioNeed(1, -1), nil), share.ErrInvalidUnit)
}

// TestBatchColumns: matrices that say what their columns are have to say what the
// scorer reads.
func TestBatchColumns(t *testing.T) {
	s := newBatchScorer(t, share.Config{Resources: []share.ResourceSpec{{string(share.GPUMemoryRatio), 1}, {string(share.GPUMemory), 1}}})
	columns := func(names ...string) *share.Batch {
		list := make([]vector.SchemaColumn, len(names))
		for i, name := range names {
			list[i] = vector.SchemaColumn{Name: name, Detail: "of the caller's own"}
		}
		b := &share.Batch{Offsets: vector.Offsets{0, 1}}
		for _, m := range []**vector.Matrix{&b.Total, &b.Free} {
			*m = vector.NewMatrix(vector.NewSchema(list), 1, len(names))
			(*m).SetRow(0, vector.ResourceVector{100, 1000}[:len(names)])
		}
		return b
	}
	const ratio, mem = string(share.GPUMemoryRatio), string(share.GPUMemory)
	dst := []int64{7}
	if err := s.ScoreNodes(dst, columns(ratio, mem), ratioNeed(50, 1), nil); err != nil || dst[0] != 75 {
		t.Errorf("score %v, error %v", dst, err)
	}
	b, need := columns(ratio, mem), ratioNeed(50, 1)
	if n := testing.AllocsPerRun(5, func() { _ = s.ScoreNodes(dst, b, need, nil) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	for _, b := range []*share.Batch{columns(mem, ratio), columns(ratio, "a")} {
		dst := untouchedScores(1)
		checkRefused(t, dst, s.ScoreNodes(dst, b, need, nil), vector.ErrSchema, "gpu-memory-ratio")
		checkRefused(t, dst, s.ScoreDevices(dst, b, need.PerInstance, nil), vector.ErrSchema)
	}
	dst = untouchedScores(1)
	checkRefused(t, dst, s.ScoreNodes(dst, columns(ratio), need, nil), vector.ErrShape)
}

// TestBatchNil scores everything with 0.
func TestBatchNil(t *testing.T) {
	for _, s := range []*share.Scorer{nil, {}} {
		b := batchOf(newBatchScorer(t, share.Config{}), ratioNodes([]int64{1, 2}, []int64{3}))
		mask := vector.NewMask(2)
		mask.Set(1)
		nodes, devices := untouchedScores(2), untouchedScores(b.Total.Rows())
		if err := s.ScoreNodes(nodes, b, ratioNeed(1, 1), mask); err != nil || !slices.Equal(nodes, []int64{untouched, 0}) {
			t.Errorf("nodes: %v, %v", nodes, err)
		}
		err := s.ScoreDevices(devices, b, share.Request{}, mask)
		if want := []int64{untouched, untouched, untouched, untouched, 0, untouched}; err != nil || !slices.Equal(devices, want) {
			t.Errorf("devices: %v, %v", devices, err)
		}
	}
}

// TestBatchEmpty has no nodes, with offsets and without.
func TestBatchEmpty(t *testing.T) {
	s := newBatchScorer(t, share.Config{})
	for _, offsets := range []vector.Offsets{nil, {}, {0}, {2}} {
		for _, mask := range []*vector.Mask{nil, {}} {
			b := batchOf(s, nil)
			b.Offsets = offsets
			if err := s.ScoreNodes(nil, b, ratioNeed(1, 1), mask); err != nil {
				t.Error(offsets, err)
			}
			dst := untouchedScores(b.Total.Rows())
			if err := s.ScoreDevices(dst, b, share.Request{}, mask); err != nil {
				t.Error(offsets, err)
			}
			if !slices.Equal(dst, untouchedScores(len(dst))) {
				t.Errorf("%v: rows of no node were written: %d", offsets, dst)
			}
		}
	}
}

// TestBatchAllocates nothing, with kernels and without.
func TestBatchAllocates(t *testing.T) {
	testkit.EachImpl(t, func(t *testing.T) {
		r := testkit.Rand(33)
		for _, columns := range []int{1, 4, len(batchNames)} {
			c := newBatchCase(t, r, 100, columns, 0)
			c.mask = vector.NewMask(len(c.nodes))
			c.mask.SetAll()
			c.mask.Clear(50)
			b := batchOf(c.s, c.nodes)
			nodes, devices := make([]int64, len(c.nodes)), make([]int64, b.Total.Rows())
			if err := errors.Join(c.s.ScoreNodes(nodes, b, c.need, c.mask), c.s.ScoreDevices(devices, b, c.need.PerInstance, c.mask)); err != nil {
				t.Fatal(err)
			}
			if n := testing.AllocsPerRun(5, func() {
				_ = c.s.ScoreNodes(nodes, b, c.need, c.mask)
				_ = c.s.ScoreDevices(devices, b, c.need.PerInstance, c.mask)
			}); n != 0 {
				t.Errorf("%d columns: %v allocations", columns, n)
			}
		}
	})
}
