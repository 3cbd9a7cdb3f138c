package share_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/device/share"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/scoring/gpu"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// goldenNode is a node of an account, as far as its GPUs go.
type goldenNode struct {
	devices []share.State
	pods    map[int]int32 // by class
}

// gpuStory is an account whose GPUs are kept in step, another one of the same devices
// whose GPUs nobody asked for, copies of both, and what they should say.
type gpuStory struct {
	*rand.Rand
	account, plain, copy, plainCopy share.Account

	bound     *share.Bound
	nodes     []goldenNode
	committed []committedPod
}

type committedPod struct {
	node       int
	allocation share.Allocation
}

func newGPUStory(t *testing.T, r *rand.Rand) *gpuStory {
	s := &gpuStory{Rand: r}
	scorer := testkit.Must(share.NewScorer(share.Config{FillMemory: r.IntN(2) == 1}))
	s.bound = scorer.Bind(&s.account)
	s.account.GPUs()
	s.plainCopy.GPUs()
	return s
}

func (s *gpuStory) devices() []share.State {
	var list []share.State
	products := []string{"", "A", "B", "A", "A"}
	product := products[s.IntN(len(products))]
	for minor := range int32(s.IntN(6)) {
		d := share.State{Kind: device.KindGPU, Minor: 7 - minor, Product: product, UUID: fmt.Sprint("GPU-", s.Int32())}
		switch s.IntN(8) {
		case 0:
			d.Kind = device.KindRDMA
			d.Total[share.RDMA] = 100
		case 1: // without memory
			d.Total[share.GPUCore], d.Total[share.GPUMemoryRatio] = 100, 100
		case 2: // nothing
		default:
			d.Total = share.Amounts{share.GPUCore: 100, share.GPUMemoryRatio: 100, share.GPUMemory: 16<<30 + s.Int64N(1000)}
		}
		d.Free = share.Amounts(d.Total)
		switch s.IntN(10) {
		case 0:
			d.Health = device.Unhealthy
		case 1:
			d.Free[share.GPUMemoryRatio] -= s.Int64N(150)
		case 2:
			d.Free[share.GPUMemory] += s.Int64N(5) - 2
		case 3:
			d.Product = "C"
		}
		if d.Kind == device.KindRDMA {
			d.Free = share.Amounts(d.Total)
		}
		list = append(list, d)
	}
	return list
}

// both makes a change in both accounts.
func (s *gpuStory) both(t *testing.T, change func(a *share.Account) error) {
	t.Helper()
	for _, a := range []*share.Account{&s.account, &s.plain} {
		testkit.Check(change(a))
	}
}

func (s *gpuStory) set(t *testing.T, node int, devices []share.State) {
	t.Helper()
	s.both(t, func(a *share.Account) error { return a.Set(node, devices) })
	s.committed = slices.DeleteFunc(s.committed, func(p committedPod) bool { return p.node == node })
	if node == len(s.nodes) {
		s.nodes = append(s.nodes, goldenNode{})
	}
	s.nodes[node] = goldenNode{devices: slices.Clone(devices), pods: map[int]int32{}}
}

func (s *gpuStory) step(t *testing.T) {
	n := len(s.nodes)
	if n == 0 {
		s.set(t, 0, s.devices())
		return
	}
	node := s.IntN(n)
	switch s.IntN(10) {
	case 0:
		if n < 8 {
			s.set(t, n, s.devices())
		}
	case 1:
		s.set(t, node, s.devices())
	case 2: // the health of a device changes, and pods are committed again
		devices := s.account.States(nil, node)
		for i := range devices {
			if s.IntN(3) == 0 {
				devices[i].Health = device.Unhealthy - devices[i].Health
			}
		}
		s.set(t, node, devices)
	case 3:
		s.both(t, func(a *share.Account) error { a.Delete(node); return nil })
		s.committed = slices.DeleteFunc(s.committed, func(p committedPod) bool { return p.node == node })
		last := n - 1
		for i := range s.committed {
			if s.committed[i].node == last {
				s.committed[i].node = node
			}
		}
		s.nodes[node] = s.nodes[last]
		s.nodes = s.nodes[:last]
	case 4, 5:
		if len(s.committed) > 0 {
			k := s.IntN(len(s.committed))
			s.release(t, k)
		}
	case 6: // a refusal changes nothing
		bad := share.Allocation{Kind: device.KindGPU, Devices: []share.Allocated{{Minor: 99}}}
		if s.account.Commit(node, bad) == nil || s.account.Release(node, bad) == nil {
			t.Fatal("a device that isn't there")
		}
	default:
		s.commit(t, node)
	}
	if s.IntN(4) == 0 {
		s.copy.CopyFrom(&s.account)
		s.plainCopy.CopyFrom(&s.plain)
		s.check(t, &s.copy)
		s.check(t, &s.plainCopy)
	}
}

func (s *gpuStory) commit(t *testing.T, node int) {
	part := 1 + s.Int64N(100)
	need := share.Requirement{Kind: device.KindGPU, Count: 1, PerInstance: share.Amounts{share.GPUCore: part, share.GPUMemoryRatio: part}}
	switch s.IntN(5) {
	case 0:
		need.Count, need.PerInstance = 1+s.Int64N(3), share.Amounts{share.GPUCore: 100, share.GPUMemoryRatio: 100}
	case 1:
		need.PerInstance = share.Amounts{share.GPUMemory: 1 << (25 + s.IntN(10))}
	case 2:
		need = share.Requirement{Kind: device.KindRDMA, Count: 1, PerInstance: share.Amounts{share.RDMA: part}}
	}
	chosen, err := s.bound.Allocate(node, share.AllocRequest{Requirement: need})
	if err != nil {
		return
	}
	s.both(t, func(a *share.Account) error { return a.Commit(node, chosen) })
	s.committed = append(s.committed, committedPod{node, chosen})
	s.count(node, chosen, 1)
}

func (s *gpuStory) release(t *testing.T, k int) {
	p := s.committed[k]
	if err := s.account.Release(p.node, p.allocation); err != nil {
		return // more would be free than there is, as the story has it
	}
	testkit.Check(s.plain.Release(p.node, p.allocation))
	s.committed = slices.Delete(s.committed, k, k+1)
	s.count(p.node, p.allocation, -1)
}

// count moves the amounts of an allocation, and counts its pod.
func (s *gpuStory) count(node int, allocation share.Allocation, sign int64) {
	n := &s.nodes[node]
	whole := len(allocation.Devices) > 1
	for _, got := range allocation.Devices {
		for i := range n.devices {
			d := &n.devices[i]
			if d.Kind != allocation.Kind || d.Minor != got.Minor {
				continue
			}
			for r, x := range got.Amounts {
				d.Free[r] -= sign * x
				whole = whole || d.Total[r] > 0 && x >= d.Total[r]
			}
		}
	}
	class := len(allocation.Devices)
	if !whole {
		class = 0
	}
	if allocation.Kind == device.KindGPU {
		n.pods[class] += int32(sign)
	}
}

// golden returns the node as package gpu should see it, without the model, and the
// product.
func (n *goldenNode) golden() (node gpu.Node, product string) {
	node.Model = -1
	for _, d := range n.devices {
		if d.Kind != device.KindGPU {
			continue
		}
		if len(node.Left) == 0 {
			product = d.Product
		} else if product != d.Product {
			product = ""
		}
		least, some := 1.0, false
		for r, total := range d.Total {
			if total <= 0 {
				continue
			}
			if least, some = min(least, float64(d.Free[r])/float64(total)), true; d.Free[r] > total {
				least = 0
			}
		}
		if !some || d.Health == device.Unhealthy {
			least = 0
		}
		node.Left = append(node.Left, max(math.Floor(1000*least+1e-9), 0))
	}
	node.Pods = make([]int32, len(node.Left)+1)
	for class, count := range n.pods {
		node.Pods[class] = count
	}
	return node, product
}

// check compares the GPUs of an account with a state made anew, and scores of both.
func (s *gpuStory) check(t *testing.T, a *share.Account) {
	t.Helper()
	got, fresh, nodes := a.GPUs(), new(gpu.State), vector.NewNodes(vector.Schema{}, 1)
	if got.Rows() != a.Len() {
		t.Fatalf("%d rows of %d nodes", got.Rows(), a.Len())
	}
	for row := range s.nodes {
		want, product := s.nodes[row].golden()
		if product != "" {
			req := testkit.Must(a.GPURequest(nil, share.Requirement{Kind: device.KindGPU, Count: 1, PerInstance: share.Amounts{share.GPUMemoryRatio: 1}}, product))
			want.Model = req.Models[0]
		}
		if got.Model(row) != want.Model || (product != "") != (want.Model >= 0) {
			t.Fatalf("node %d: model %d, want %d of %q", row, got.Model(row), want.Model, product)
		}
		if !slices.Equal(got.Devices(row), want.Left) || !slices.Equal(got.Pods(row), want.Pods) {
			t.Fatalf("node %d: left %v, pods %v, want %v, %v", row, got.Devices(row), got.Pods(row), want.Left, want.Pods)
		}
		fresh.AppendNode(want)
		amounts := vector.NodeAmounts{Allocatable: vector.ResourceVector{16000}}
		if _, _, err := nodes.Set(strconv.Itoa(row), 0, amounts); err != nil {
			t.Fatal(err)
		}
	}
	for _, scorer := range storyScorers {
		for _, req := range []gpu.Request{{CPU: 1000, Count: 1, Milli: 300}, {Count: 2, Milli: 1000}} {
			var scores [2]float64Slice
			for i, state := range []*gpu.State{got, fresh} {
				scores[i] = make(float64Slice, nodes.Len())
				testkit.Check(gpu.Bind(scorer, nodes, state).Score(scores[i], &req, nil))
			}
			if testkit.Difference(scores[0], scores[1]) >= 0 {
				t.Fatalf("scores %v, want %v", scores[0], scores[1])
			}
		}
	}
}

type float64Slice = []float64

var storyScorers = func() (list []*gpu.Scorer) {
	m := testkit.Must(vectormap.New(nil))
	typical := testkit.Must(gpu.TypicalPods([]gpu.TypicalPod{{CPU: 4000, Count: 1, Milli: 500, Pods: 3}, {Count: 1, Milli: 1000, Pods: 2}}, 1))
	fgd := testkit.Must(gpu.CompileFGD(gpu.FGDConfig{Typical: typical}, m))
	return []*gpu.Scorer{fgd, testkit.Must(gpu.CompileClustering(gpu.ClusteringConfig{}, m)), gpu.NewPacking(m)}
}()

func FuzzGPUs(f *testing.F) {
	for seed := range uint64(testkit.Amount(f, 20, 60, 200)) {
		f.Add(seed, uint16(150))
	}
	f.Fuzz(func(t *testing.T, seed uint64, steps uint16) {
		s := newGPUStory(t, testkit.Rand(seed))
		for range steps % 300 {
			s.step(t)
			s.check(t, &s.account)
		}
		s.check(t, &s.plain) // the first time that it is asked
	})
}

func TestGPURequest(t *testing.T) {
	var account share.Account
	err := account.Set(0, []share.State{{Kind: device.KindGPU, Product: "A"}, {Kind: device.KindGPU, Minor: 1, Product: "B"}})
	if err != nil {
		t.Fatal(err)
	}
	amounts := vector.ResourceVector{4000, 1 << 30}
	need := func(count int64, core, ratio, memory int64) share.Requirement {
		return share.Requirement{Kind: device.KindGPU, Count: count,
			PerInstance: share.Amounts{share.GPUCore: core, share.GPUMemoryRatio: ratio, share.GPUMemory: memory}}
	}
	for _, test := range []struct {
		name     string
		need     share.Requirement
		products []string
		want     gpu.Request
		err      error
	}{
		{"half", need(1, 50, 50, 0), nil, gpu.Request{Count: 1, Milli: 500}, nil},
		{"two", need(2, 100, 100, 0), []string{"B"}, gpu.Request{Count: 2, Milli: 1000, Models: []int32{1}}, nil},
		{"more core", need(1, 60, 20, 0), []string{"A", "B"}, gpu.Request{Count: 1, Milli: 600, Models: []int32{0, 1}}, nil},
		{"ratio alone", need(1, 0, 25, 0), nil, gpu.Request{Count: 1, Milli: 250}, nil},
		{"unknown product", need(1, 0, 25, 0), []string{"C"}, gpu.Request{Count: 1, Milli: 250, Models: []int32{-1}}, nil},
		{"none", need(0, 50, 50, 0), []string{"A"}, gpu.Request{}, nil},
		{"nothing", need(1, 0, 0, 0), nil, gpu.Request{}, share.ErrNoTotal},
		{"more than a GPU", need(1, 200, 0, 0), nil, gpu.Request{}, share.ErrInvalidUnit},
		{"negative", need(1, -1, 0, 0), nil, gpu.Request{}, share.ErrInvalidUnit},
		{"another kind", share.Requirement{Kind: device.KindRDMA, Count: 1, PerInstance: share.Amounts{share.RDMA: 1}}, nil, gpu.Request{}, share.ErrInvalidCombination},
	} {
		if test.err == nil {
			test.want.CPU, test.want.Amounts = 4000, amounts
		}
		got, err := account.GPURequest(amounts, test.need, test.products...)
		if !errors.Is(err, test.err) || fmt.Sprint(got) != fmt.Sprint(test.want) {
			t.Errorf("%s: %+v, %v, want %+v, %v", test.name, got, err, test.want, test.err)
		}
	}
}

// TestGPURequestInBytes: which total bytes are a part of, and how it is rounded.
func TestGPURequestInBytes(t *testing.T) {
	gpuOf := func(minor int32, product string, memory int64) share.State {
		total := share.Amounts{share.GPUCore: 100, share.GPUMemoryRatio: 100, share.GPUMemory: memory}
		return share.State{Kind: device.KindGPU, Minor: minor, Product: product, Total: total, Free: total}
	}
	var account share.Account
	if _, err := account.GPURequest(nil, bytesNeed(1, 1)); err != nil { // fits nowhere
		t.Error(err)
	}
	for node, devices := range [][]share.State{
		{gpuOf(0, "A", 81559<<20), gpuOf(1, "A", 80<<30)},
		{gpuOf(0, "B", 40<<30), {Kind: device.KindGPU, Minor: 1, Product: "B"}}, // the second has nothing
		{gpuOf(0, "C", 0)},
		{gpuOf(0, "D", 40<<30), {Kind: device.KindRDMA, Total: share.Amounts{share.RDMA: 100}}},
	} {
		testkit.Check(account.Set(node, devices))
	}
	for _, c := range []struct {
		bytes, core int64
		products    []string
		want        float64
		err         string
	}{
		{30 << 30, 0, []string{"A"}, 377, ""}, // 376.7
		{30 << 30, 50, []string{"A"}, 500, ""},
		{20 << 30, 0, []string{"B"}, 500, ""},
		{20<<30 + 1, 0, []string{"B", "D"}, 501, ""},
		{40 << 30, 0, []string{"B", "E"}, 1000, ""},
		{40 << 30, 0, []string{"E"}, 1000, ""},
		{1, 0, []string{"D"}, 1, ""},
		{30 << 30, 0, []string{"A", "B"}, 0, "share: no total memory to convert by: koordinator.sh/gpu-memory: 30Gi: GPUs have 40Gi or 81559Mi: name one product"},
		{30 << 30, 0, []string{"B", "C"}, 0, "share: no total memory to convert by: koordinator.sh/gpu-memory: 30Gi: the total of a GPU is unknown"},
		{30 << 30, 0, nil, 0, "share: no total memory to convert by: koordinator.sh/gpu-memory: 30Gi: the total of a GPU is unknown"},
		{50 << 30, 0, []string{"D"}, 0, "share: invalid amount: koordinator.sh/gpu-memory: 50Gi: must be at most what a GPU has, 40Gi"},
	} {
		need := bytesNeed(c.bytes, 1)
		need.PerInstance[share.GPUCore] = c.core
		got, err := account.GPURequest(nil, need, c.products...)
		if got.Milli != c.want || (err != nil || c.err != "") && fmt.Sprint(err) != c.err {
			t.Errorf("%d bytes of %v: %v, %v, want %v, %s", c.bytes, c.products, got.Milli, err, c.want, c.err)
		}
	}
}

func bytesNeed(bytes, count int64) share.Requirement {
	return share.Requirement{Kind: device.KindGPU, Count: count, PerInstance: share.Amounts{share.GPUMemory: bytes}}
}

// TestChosenIsAllocated: Allocate accepts the GPUs that FGD chooses, whatever unit a pod
// asks in.
func TestChosenIsAllocated(t *testing.T) {
	for seed := range uint64(testkit.Amount(t, 20, 60, 200)) {
		r := testkit.Rand(seed)
		var account share.Account
		nodes := vector.NewNodes(vector.Schema{}, 1)
		memory := 20<<30 + r.Int64N(60<<30)
		for node := range 4 {
			var devices []share.State
			for minor := range int32(4) {
				total := share.Amounts{share.GPUCore: 100, share.GPUMemoryRatio: 100, share.GPUMemory: memory}
				if r.IntN(4) == 0 {
					total[share.GPUMemory] += r.Int64N(1 << 20)
				}
				devices = append(devices, share.State{Kind: device.KindGPU, Minor: minor, Product: "A", Total: total, Free: total})
			}
			testkit.Check(account.Set(node, devices))
			_, _, err := nodes.Set(strconv.Itoa(node), 0, vector.NodeAmounts{Allocatable: vector.ResourceVector{1}})
			testkit.Check(err)
		}
		scorer := testkit.Must(share.NewScorer(share.Config{FillMemory: seed%2 == 0}))
		devices, scores := scorer.Bind(&account), gpu.Bind(storyScorers[0], nodes, account.GPUs())
		for placed := 0; ; placed++ {
			need := bytesNeed(1+r.Int64N(memory/(1+r.Int64N(8))), 1+r.Int64N(2))
			switch r.IntN(4) {
			case 0:
				need.PerInstance = share.Amounts{share.GPUCore: 1 + r.Int64N(60), share.GPUMemoryRatio: 1 + r.Int64N(60)}
			case 1:
				need.PerInstance[share.GPUCore] = r.Int64N(60)
			}
			req := testkit.Must(account.GPURequest(nil, need))
			row, ok := scores.Best(&req, nil, vector.TieLowest())
			if !ok {
				if placed < 16 {
					t.Errorf("seed %d: only %d pods have a place", seed, placed)
				}
				break
			}
			minors := account.Minors(nil, row, scores.ChooseDevices(nil, &req, row))
			chosen, err := devices.Allocate(row, share.AllocRequest{Requirement: need, Required: minors})
			if err != nil {
				t.Fatalf("seed %d, %v: %v", seed, need, err)
			}
			testkit.Check(account.Commit(row, chosen))
		}
	}
}

func TestMinors(t *testing.T) {
	var account share.Account
	for node, devices := range [][]share.State{
		{{Kind: device.KindGPU, Minor: 3}},
		{{Kind: device.KindGPU, Minor: 5}, {Kind: device.KindRDMA, Minor: 1}, {Kind: device.KindGPU, Minor: 2}},
	} {
		testkit.Check(account.Set(node, devices))
	}
	if got := account.Minors(nil, 1, []int32{1, 0}); !slices.Equal(got, []int32{2, 5}) {
		t.Errorf("%v", got)
	}
	for _, g := range []int32{-1, 2} {
		if got := testkit.Recovered(func() { account.Minors(nil, 1, []int32{g}) }); got != "share: GPU out of range" {
			t.Errorf("%d: %v", g, got)
		}
	}
}
