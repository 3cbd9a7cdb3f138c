package share_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/device/share"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
)

// gpu16 is a GPU of 16Gi of which so much is free, in needAmounts's form.
func gpu16(minor int32, free string) share.State {
	return share.State{
		Kind: device.KindGPU, Minor: minor,
		Total: needAmounts(idle16), Free: needAmounts(free),
	}
}

// needNIC is a NIC of which so many percent are free.
func needNIC(minor int32, free int64) share.State {
	return share.State{Kind: device.KindRDMA, Minor: minor, Total: share.Amounts{share.RDMA: 100}, Free: share.Amounts{share.RDMA: free}}
}

// needScorer returns a scorer with the weights that Koordinator ships, or with
// gpu-memory-ratio alone, that counts as a configuration says.
func needScorer(t testing.TB, kind string, koordinator bool, counts ...share.Config) *share.Scorer {
	t.Helper()
	cfg := share.Config{}
	if koordinator {
		cfg = share.KoordinatorDefaults()
	}
	cfg.Type = kind
	for _, c := range counts {
		cfg.PerInstance, cfg.FillMemory = c.PerInstance, c.FillMemory
	}
	return testkit.Must(share.NewScorer(cfg))
}

const (
	idle16    = "CORE 100, RATIO 100, MEM 16Gi"
	quarter16 = "CORE 75, RATIO 75, MEM 12Gi" // 25% used
	half16    = "CORE 50, RATIO 50, MEM 8Gi"
)

// eightIdle are eight idle GPUs of 16Gi.
func eightIdle() (devices []share.State) {
	for minor := range int32(8) {
		devices = append(devices, gpu16(minor, idle16))
	}
	return devices
}

func TestScoreNode(t *testing.T) {
	const least, most = share.LeastAllocated, share.MostAllocated
	const koordinator, seed = true, false
	plain, fill, each := share.Config{}, share.Config{FillMemory: true}, share.Config{PerInstance: true}
	reserved := share.State{Kind: device.KindGPU, Total: needAmounts(half16), Free: needAmounts(half16)}
	half, whole := need(device.KindGPU, "CORE 50, RATIO 50", 1), need(device.KindGPU, "CORE 100, RATIO 100", 1)
	four := need(device.KindGPU, "RATIO 100", 4)
	for _, c := range []struct {
		fact    string
		weights bool
		kind    string
		counts  share.Config
		needs   []share.Requirement
		devices []share.State
		want    int64
	}{
		{"S1", koordinator, least, plain, []share.Requirement{whole}, []share.State{gpu16(0, idle16)}, 50},
		{"S2", koordinator, least, plain, []share.Requirement{half}, []share.State{gpu16(0, idle16), gpu16(1, idle16)}, 87},
		{"S3", koordinator, least, plain, []share.Requirement{half}, []share.State{gpu16(0, quarter16)}, 50},
		{"S4", koordinator, most, plain, []share.Requirement{half}, []share.State{gpu16(0, quarter16)}, 50},
		{"S5", koordinator, least, plain, []share.Requirement{half}, []share.State{gpu16(0, idle16)}, 75},
		{"S6", seed, least, plain, []share.Requirement{four}, eightIdle(), 50},
		{"S7", seed, least, each, []share.Requirement{four}, eightIdle(), 87},
		{"S8", seed, most, plain, []share.Requirement{four}, eightIdle(), 50},
		{"S8, per instance", seed, most, each, []share.Requirement{four}, eightIdle(), 12},
		{"S9", seed, least, plain, []share.Requirement{whole}, []share.State{gpu16(0, idle16)}, 0},
		{"S22", koordinator, least, plain, []share.Requirement{half}, []share.State{reserved}, 50},
		{"S23", koordinator, least, plain, []share.Requirement{half}, []share.State{gpu16(0, half16)}, 25},
		{"S25", koordinator, least, fill, []share.Requirement{half}, []share.State{gpu16(0, idle16)}, 50},
		{"S25, by memory", koordinator, least, fill, []share.Requirement{need(device.KindGPU, "MEM 8Gi", 1)}, []share.State{gpu16(0, idle16)}, 50},
		{"S25, four of eight", koordinator, least, fill, []share.Requirement{four}, eightIdle(), 50},
		{"S25, one of eight", koordinator, least, share.Config{FillMemory: true, PerInstance: true}, []share.Requirement{four}, eightIdle(), 87},
		{"filled without a weight", seed, least, fill, []share.Requirement{need(device.KindGPU, "MEM 8Gi", 1)}, []share.State{gpu16(0, idle16)}, 50},
		{"both given", koordinator, least, fill, []share.Requirement{need(device.KindGPU, "RATIO 50, MEM 4Gi", 1)}, []share.State{gpu16(0, idle16)}, 62},
		{"nothing to fill from", koordinator, least, fill, []share.Requirement{half},
			[]share.State{{Kind: device.KindGPU, Total: needAmounts("RATIO 100"), Free: needAmounts("RATIO 100")}}, 50},
		{"no total to fill to", koordinator, least, fill, []share.Requirement{half},
			[]share.State{{Kind: device.KindGPU, Total: needAmounts("MEM 16Gi"), Free: needAmounts("MEM 16Gi")}}, 100},
		{"no memory to fill from", koordinator, least, fill, []share.Requirement{need(device.KindGPU, "MEM 8Gi", 1)},
			[]share.State{{Kind: device.KindGPU, Total: needAmounts("RATIO 100"), Free: needAmounts("RATIO 100")}}, 100},

		{"no needs", koordinator, least, plain, nil, eightIdle(), 0},
		{"no devices", koordinator, most, plain, []share.Requirement{half}, nil, 0},
		{"no device of the kind", koordinator, least, plain, []share.Requirement{need(device.KindFPGA, "FPGA 50", 1)}, eightIdle(), 0},
		{"two kinds", koordinator, least, plain, []share.Requirement{half, need(device.KindRDMA, "RDMA 50", 1)},
			[]share.State{gpu16(0, idle16), needNIC(0, 100), needNIC(1, 100)}, 75 + 75},
		{"a kind without devices", koordinator, least, plain, []share.Requirement{half, need(device.KindRDMA, "RDMA 50", 1)}, []share.State{gpu16(0, idle16)}, 75},
		{"a kind nobody asks for", koordinator, least, plain, []share.Requirement{half}, []share.State{needNIC(0, 0), gpu16(0, idle16)}, 75},
		{"same minor, two kinds", koordinator, least, plain, []share.Requirement{half}, []share.State{gpu16(3, idle16), needNIC(3, 100)}, 75},
		{"no instance", seed, least, plain, []share.Requirement{need(device.KindGPU, "RATIO 100", 0)}, eightIdle(), 100},
		{"more than there is", seed, least, plain, []share.Requirement{need(device.KindGPU, "RATIO 100", 9)}, eightIdle(), 0},
		{"more than there is, most", seed, most, plain, []share.Requirement{need(device.KindGPU, "RATIO 100", 9)}, eightIdle(), 100},
		{"beyond 64 bits", seed, most, plain, []share.Requirement{need(device.KindGPU, "RATIO 100", math.MaxInt64)}, eightIdle(), 100},
		{"beyond 64 bits, filled", koordinator, least, fill, []share.Requirement{need(device.KindGPU, "RATIO 100", math.MaxInt64)}, eightIdle(), 0},
	} {
		s := needScorer(t, c.kind, c.weights, c.counts)
		got, err := scoreNode(s, c.needs, c.devices)
		if got != c.want || err != nil {
			t.Errorf("%s: %d, error %v, want %d", c.fact, got, err, c.want)
		}
		e, err := explainNode(s, c.needs, c.devices)
		if !strings.HasPrefix(e, fmt.Sprintf("score %d ", c.want)) || err != nil {
			t.Errorf("%s: explained %s, error %v", c.fact, e, err)
		}
	}
}

func TestScoreNodeErrors(t *testing.T) {
	half := need(device.KindGPU, "RATIO 50", 1)
	huge := func(minor int32, total, free int64) share.State {
		return share.State{Kind: device.KindGPU, Minor: minor, Total: share.Amounts{share.GPUMemoryRatio: total}, Free: share.Amounts{share.GPUMemoryRatio: free}}
	}
	negativeCount := half
	negativeCount.Count = -1
	sameMinors := eightIdle()
	sameMinors[5].Minor = 2
	many := make([]share.State, 100)
	for i := range many {
		many[i] = huge(int32(i), 1, 1)
	}
	for _, c := range []struct {
		name    string
		needs   []share.Requirement
		devices []share.State
		want    int64
		err     error // nil with anyError: none of the typed ones
		text    string
	}{
		{"negative request", []share.Requirement{need(device.KindGPU, "RATIO 50, MEM -2, CORE -1", 1)}, eightIdle(), 0, share.ErrInvalidUnit,
			"share: invalid amount: koordinator.sh/gpu-core: -1: must be 0 percent of a device or more"},
		{"negative count", []share.Requirement{negativeCount}, eightIdle(), 0, share.ErrInvalidUnit, "share: invalid amount: count of gpu: -1: must be 0 instances or more"},
		{"one kind twice", []share.Requirement{half, half}, eightIdle(), 0, share.ErrInvalidCombination, "share: invalid combination of resources: kind: gpu is needed twice: must be once"},
		{"one minor twice", []share.Requirement{half}, sameMinors, 0, nil, "share: node 0: two devices of kind gpu with minor 2: minors must be distinct"},
		{"many devices", []share.Requirement{half}, many, 50, nil, ""},
		{"a resource of another kind", []share.Requirement{need(device.KindGPU, "RATIO 50, RDMA 1", 1)}, eightIdle(), 0, share.ErrInvalidCombination,
			"share: invalid combination of resources: koordinator.sh/rdma: 1: must be 0 of kind gpu"},
		{"a device with a resource of another kind", []share.Requirement{half}, []share.State{{Kind: device.KindRDMA, Total: share.Amounts{share.GPUCore: 100}}}, 0, share.ErrInvalidCombination,
			"share: node 0: rdma 0: koordinator.sh/gpu-core: 100: must be 0 of this kind: share: invalid combination of resources"},
		{"a total of 2^53", []share.Requirement{half}, []share.State{huge(0, 1<<53, 0)}, 0, vector.ErrNotRepresentable,
			"share: node 0: gpu 0: koordinator.sh/gpu-memory-ratio: total 9007199254740992, free 0: must be below 2^53: amount is not representable"},
		{"the least free", []share.Requirement{half}, []share.State{huge(0, 0, math.MinInt64)}, 0, vector.ErrNotRepresentable,
			"share: node 0: gpu 0: koordinator.sh/gpu-memory-ratio: total 0, free -9223372036854775808: must be below 2^53: amount is not representable"},
		{"a sum of 2^53", []share.Requirement{half}, []share.State{huge(0, 1<<52, 0), huge(1, 0, -1<<52)}, 0, vector.ErrNotRepresentable,
			"share: node 0: koordinator.sh/gpu-memory-ratio: the sum over the devices must be below 2^53: amount is not representable"},
		{"the largest sum", []share.Requirement{half}, []share.State{huge(0, 1<<52, 1<<52), huge(1, 1<<52-1, 1<<52-1)}, 99, nil, ""},
		{"the least sum", []share.Requirement{half}, []share.State{huge(0, -1<<52, 0), huge(1, 1-1<<52, 0)}, 0, nil, ""},
		{"negative free", []share.Requirement{half}, []share.State{huge(0, 100, -1<<52), huge(1, 100, 1-1<<52)}, 0, nil, ""},
	} {
		s := needScorer(t, share.LeastAllocated, false)
		got, err := scoreNode(s, c.needs, c.devices)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if got != c.want || text != c.text || c.err != nil && !errors.Is(err, c.err) {
			t.Errorf("%s: %d, error %v", c.name, got, err)
		}
		if _, again := explainNode(s, c.needs, c.devices); fmt.Sprint(again) != fmt.Sprint(err) {
			t.Errorf("%s: explained with error %v", c.name, again)
		}
		if _, again := scoreNode(nil, c.needs, c.devices); fmt.Sprint(again) != fmt.Sprint(err) {
			t.Errorf("%s: nil Scorer: error %v", c.name, again)
		}
	}
}

func TestScoreDevice(t *testing.T) {
	ratio := share.Config{}
	ratioMost := share.Config{Type: share.MostAllocated}
	three := func(kind string) share.Config {
		return share.Config{Type: kind, Resources: []share.ResourceSpec{
			{Name: share.GPUMemoryRatio.String(), Weight: 2}, {Name: share.GPUCore.String(), Weight: 1}, {Name: share.RDMA.String(), Weight: 5},
		}}
	}
	memory := func(kind string) share.Config {
		return share.Config{Type: kind, Resources: []share.ResourceSpec{{Name: share.GPUMemory.String(), Weight: 1}}}
	}
	for _, c := range []struct {
		fact             string
		cfg              share.Config
		req, total, free string
		want             int64
	}{
		{"S10", ratio, "RATIO 50", "RATIO 100", "RATIO 100", 50},
		{"S11", ratio, "RATIO 50", "RATIO 100", "RATIO 0", 0},
		{"S11, absent", ratio, "RATIO 50", "RATIO 100", "", 0},
		{"S12", ratioMost, "RATIO 30", "RATIO 100", "RATIO 50", 80},
		{"S13", ratio, "RATIO 10", "RATIO 100", "RATIO 120", 0},
		{"S14", ratioMost, "RATIO 10", "RATIO 100", "RATIO 120", 100},
		{"S15", three(""), "RATIO 50, CORE 10", "RATIO 100, CORE 100", "RATIO 100, CORE 77", 55},
		{"S16", ratioMost, "RATIO 20", "RATIO 100", "RATIO 100", 20},
		{"S16, half used", ratioMost, "RATIO 20", "RATIO 100", "RATIO 50", 70},
		{"S17", memory(""), "MEM 1", "MEM 144115188075855872", "MEM 144115188075855872", 99},
		{"S17, most", memory(share.MostAllocated), "MEM 1", "MEM 144115188075855872", "MEM 144115188075855872", 0},
		{"S18", ratio, "RATIO 10", "RATIO 100", "RATIO -50", 0},
		{"S18, most", ratioMost, "RATIO 10", "RATIO 100", "RATIO -50", 100},
		{"cut off", ratio, "MEM 1", "RATIO 3", "RATIO 2", 66},
		{"the largest amounts", memory(share.MostAllocated), "MEM 9223372036854775807", "MEM 9223372036854775807", "MEM -9223372036854775808", 100},
	} {
		s := testkit.Must(share.NewScorer(c.cfg))
		req, total, free := needAmounts(c.req), needAmounts(c.total), needAmounts(c.free)
		got, err := s.ScoreDevice(req, total, free)
		if got != c.want || err != nil {
			t.Errorf("%s: %d, error %v, want %d", c.fact, got, err, c.want)
		}
	}
}

func TestScoreDeviceErrors(t *testing.T) {
	s := needScorer(t, share.LeastAllocated, false)
	negative := share.Amounts{share.RDMA: -2, share.GPUMemory: -1} // neither has a weight
	const want = "share: invalid amount: koordinator.sh/gpu-memory: -1: must be 0 bytes or more"
	if _, err := s.ScoreDevice(negative, share.Amounts{}, share.Amounts{}); !errors.Is(err, share.ErrInvalidUnit) || err.Error() != want {
		t.Fatalf("error %v", err)
	}
}

// goldenScore is the specification in integers of any size.
func goldenScore(cfg share.Config, request, total, free func(share.Resource) *big.Int) int64 {
	filled := func(r, from share.Resource) *big.Int {
		x := request(r)
		if cfg.FillMemory && x.Sign() == 0 && total(r).Sign() > 0 && total(from).Sign() > 0 {
			return x.Div(new(big.Int).Mul(request(from), total(r)), total(from))
		}
		return x
	}
	var list []testkit.Device
	for _, spec := range cfg.Resources {
		r := resourceOf(spec.Name)
		d := testkit.Device{Request: request(r), Total: total(r), Free: free(r), Weight: big.NewInt(spec.Weight)}
		switch r {
		case share.GPUMemoryRatio:
			d.Request = filled(r, share.GPUMemory)
		case share.GPUMemory:
			d.Request = filled(r, share.GPUMemoryRatio)
		}
		list = append(list, d)
	}
	return testkit.DeviceScore(list, cfg.Type == share.MostAllocated)
}

// resourceOf returns the resource of a name.
func resourceOf(name string) share.Resource {
	for r := share.Resource(0); ; r++ {
		if r.String() == name {
			return r
		}
	}
}

// goldenNodeScore is goldenScore for the sums over all devices of a kind.
func goldenNodeScore(cfg share.Config, need share.Requirement, devices []share.State) int64 {
	sum := func(amount func(*share.State, share.Resource) int64) func(share.Resource) *big.Int {
		return func(r share.Resource) *big.Int {
			x := new(big.Int)
			for i := range devices {
				if devices[i].Kind == need.Kind {
					x.Add(x, big.NewInt(amount(&devices[i], r)))
				}
			}
			return x
		}
	}
	total := sum(func(d *share.State, r share.Resource) int64 { return d.Total[r] })
	free := sum(func(d *share.State, r share.Resource) int64 { return d.Free[r] })
	request := func(r share.Resource) *big.Int {
		x := big.NewInt(need.PerInstance[r])
		if !cfg.PerInstance {
			x.Mul(x, big.NewInt(need.Count))
		}
		return x
	}
	return goldenScore(cfg, request, total, free)
}

// FuzzScore compares the scores of devices and nodes with the golden model.
func FuzzScore(f *testing.F) {
	f.Add(uint8(0), uint8(0), uint8(1), int64(50), int64(100), int64(100), int64(1), int64(16), int64(16), int64(2))
	f.Add(uint8(1), uint8(2), uint8(3), int64(0), int64(100), int64(50), int64(8), int64(16), int64(12), int64(1))
	f.Add(uint8(6), uint8(3), uint8(9), int64(1), int64(1)<<57, int64(1)<<57, int64(1), int64(math.MaxInt64), int64(math.MinInt64), int64(math.MaxInt64))
	f.Add(uint8(131), uint8(2), uint8(9), int64(50), int64(-100), int64(100), int64(0), int64(16), int64(16), int64(1))
	f.Add(uint8(131), uint8(2), uint8(9), int64(50), int64(0), int64(0), int64(0), int64(16), int64(16), int64(1))
	f.Fuzz(func(t *testing.T, shape, options, weight uint8, req, total, free, req2, total2, free2, count int64) {
		names := []share.Resource{share.GPUMemoryRatio, share.GPUMemory, share.GPUCore}
		first, second := names[shape%3], names[(shape/3)%3]
		cfg := share.Config{Type: []string{share.LeastAllocated, share.MostAllocated}[shape/9%2], Resources: []share.ResourceSpec{{Name: first.String(), Weight: int64(weight%100) + 1}}}
		if second != first && shape&128 != 0 {
			cfg.Resources = append(cfg.Resources, share.ResourceSpec{Name: second.String(), Weight: 7})
		}
		if first == second {
			second = share.NPUCore // without a weight
		}
		cfg.PerInstance, cfg.FillMemory = options&1 != 0, options&2 != 0
		need := share.Requirement{Kind: device.KindGPU, Count: max(count, 0)}
		need.PerInstance[first], need.PerInstance[second] = max(req, 0), max(req2, 0)
		state := share.State{Kind: device.KindGPU}
		state.Total[first], state.Total[second], state.Free[first], state.Free[second] = total, total2, free, free2
		s := testkit.Must(share.NewScorer(cfg))
		each := cfg
		each.PerInstance = true
		want := goldenNodeScore(each, need, []share.State{state})
		if got, err := s.ScoreDevice(need.PerInstance, state.Total, state.Free); got != want || err != nil {
			t.Errorf("%v, %v, %v: %d, error %v, want %d", cfg, need, state, got, err, want)
		}

		for _, x := range []*int64{&total, &total2, &free, &free2} {
			*x %= 1 << 51 // what an account holds
		}
		state.Total[first], state.Total[second], state.Free[first], state.Free[second] = total, total2, free, free2
		other := share.State{Kind: device.KindGPU, Minor: 1}
		other.Total[first], other.Total[second], other.Free[first], other.Free[second] = total2, total, free2, free
		devices := []share.State{state, other, needNIC(0, 7)}
		want = goldenNodeScore(cfg, need, devices)
		got, err := scoreNode(s, []share.Requirement{need}, devices)
		if got != want || err != nil {
			t.Errorf("%v, %v, %v: %d, error %v, want %d", cfg, need, devices, got, err, want)
		}
	})
}

// TestNoScorer: none, and one that NewScorer has not made, give 0.
func TestNoScorer(t *testing.T) {
	for name, s := range map[string]*share.Scorer{"nil": nil, "zero": {}} {
		d := eightIdle()[0]
		if score, err := s.ScoreDevice(share.Amounts{share.GPUMemoryRatio: 50}, d.Total, d.Free); score != 0 || err != nil {
			t.Errorf("%s: device %d, error %v", name, score, err)
		}
		if score, err := scoreNode(s, []share.Requirement{need(device.KindGPU, "RATIO 50", 1)}, eightIdle()); score != 0 || err != nil {
			t.Errorf("%s: node %d, error %v", name, score, err)
		}
		a, err := allocate(s, share.AllocRequest{Requirement: share.Requirement{Kind: device.KindGPU, PerInstance: share.Amounts{share.GPUMemoryRatio: 50}, Count: 1}}, eightIdle())
		if err != nil || !slices.Equal(a.Minors(), []int32{0}) {
			t.Errorf("%s: %v, error %v", name, a, err)
		}
	}
}
