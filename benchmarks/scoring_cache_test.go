package benchmarks

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/scoring/gpu"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// BenchmarkScoreCacheRatio measures what docs/benchmarks.md quotes. One
// iteration makes the same decisions with the cache and with full passes, in
// turn; the fastest iteration of each counts. Each time includes taking the pods
// in and out of the matrices.
//
//	ns/call           of a decision with the cache
//	fullpass-ns/call  of a decision with a full pass
//	x_fullpass        how many times as fast the cache is
func BenchmarkScoreCacheRatio(b *testing.B) {
	const decisions = 500
	eachStream(func(scorer, name string, scale int) {
		b.Run(fmt.Sprintf("scorer=%s/%s", scorer, name), func(b *testing.B) {
			cached, full := newStream(scorer, scale), newStream(scorer, scale)
			cached.warmUp()
			full.warmUp()
			cacheTime, fullTime := math.Inf(1), math.Inf(1)
			for b.Loop() {
				cacheTime = min(cacheTime, cached.time(decisions, cached.byCache))
				fullTime = min(fullTime, full.time(decisions, full.byFullPass))
				if cached.digest != full.digest {
					b.Fatal("the cache and the full pass place pods differently")
				}
			}
			b.ReportMetric(0, "ns/op") // of both together, which means nothing
			b.ReportMetric(cacheTime, "ns/call")
			b.ReportMetric(fullTime, "fullpass-ns/call")
			b.ReportMetric(fullTime/cacheTime, "x_fullpass")
		})
	})
}

// eachStream calls do for every scorer and size of cluster.
func eachStream(do func(scorer, name string, scale int)) {
	for _, scorer := range []string{"Strategy", "Kube", "FGD"} {
		for _, scale := range []int{1, 4, 16} {
			do(scorer, fmt.Sprintf("nodes=%d", 1213*scale), scale)
		}
	}
}

// stream places pods as they come.
type stream struct {
	nodes    *vector.Nodes
	gpus     *gpu.State
	shapes   []podShape
	arrivals []int32 // indexes into shapes, again and again
	random   *rand.Rand
	running  []runningPod
	most     int // pods that run at a time

	byCache, byFullPass chooser
	devices             func(row int, p *podShape, buf []int32) []int32 // nil: not looked at

	steps  int
	digest uint64 // of all choices
}

// chooser returns the node of a pod, or -1.
type chooser func(*podShape) int

type podShape struct {
	request vector.ResourceVector
	gpu     gpu.Request
}

type runningPod struct {
	shape, row int32
	devices    []int32
}

// streamMap returns the map of the trace: GPUs in thousandths.
func streamMap() *vectormap.ResourceVectorMap {
	return testkit.Must(vectormap.New([]string{"nvidia.com/gpu"}, vectormap.Milli("nvidia.com/gpu")))
}

// newStream returns the cluster of the trace, some times over, with nothing on
// it.
func newStream(scorer string, scale int) *stream {
	s := &stream{random: random(200), nodes: streamMap().NewNodes()}
	nodes, pods := readTrace()
	var gpus []gpu.Node
	for _, n := range nodes {
		left := make([]float64, n.gpus)
		for i := range left {
			left[i] = 1000
		}
		for range n.count * scale {
			_, _, err := s.nodes.Set(fmt.Sprint(s.nodes.Len()), 0, vector.NodeAmounts{Allocatable: vector.ResourceVector{
				vectormap.CPU: n.cpu, vectormap.Memory: n.memory, vectormap.GPU: 1000 * float64(n.gpus), vectormap.Pods: 1000}})
			testkit.Check(err)
			gpus = append(gpus, gpu.Node{Model: n.models[0], Left: left})
		}
	}
	s.gpus = gpu.NewState(gpus)
	for i, p := range pods {
		request := vector.ResourceVector{
			vectormap.CPU: p.cpu, vectormap.Memory: p.memory, vectormap.GPU: float64(p.gpus) * p.milli, vectormap.Pods: 1}
		s.shapes = append(s.shapes, podShape{
			request: request,
			gpu:     gpu.Request{CPU: p.cpu, Count: p.gpus, Milli: p.milli, Models: p.models, Amounts: request},
		})
		for range p.count {
			s.arrivals = append(s.arrivals, int32(i))
		}
	}
	s.random.Shuffle(len(s.arrivals), func(i, j int) { s.arrivals[i], s.arrivals[j] = s.arrivals[j], s.arrivals[i] })
	s.most = 6000 * scale
	switch scorer {
	case "FGD":
		s.useFGD()
	case "Kube":
		s.useKube()
	default:
		s.useStrategy()
	}
	return s
}

// useStrategy decides by GPUs packed, cpu spread and GPUs spared.
func (s *stream) useStrategy() {
	strategy := testkit.Must(scoring.CompileStrategy(scoring.StrategyConfig{
		Fit: scoring.StrategyFitConfig{Resources: map[string]scoring.FitRule{
			"nvidia.com/gpu": {Type: scoring.MostAllocated, Weight: 2},
			"cpu":            {Type: scoring.LeastAllocated, Weight: 1},
		}},
		SRA: &scoring.SRAConfig{Weight: 10, Resources: []string{"nvidia.com/gpu"}},
	}, streamMap()))
	s.use(strategy)
}

// useKube decides by the two scores of kube-scheduler that resources alone decide.
func (s *stream) useKube() {
	var terms []scoring.Term
	for _, kind := range []scoring.ScoringType{scoring.LeastAllocated, scoring.BalancedAllocation} {
		config := scoring.KubeConfig{Type: kind}
		for _, name := range []string{"cpu", "memory", "nvidia.com/gpu"} {
			config.Resources = append(config.Resources, scoring.KubeResource{Name: name, Weight: 1})
		}
		terms = append(terms, scoring.Term{Scorer: testkit.Must(scoring.CompileKube(config, streamMap())), Weight: 1})
	}
	s.use(testkit.Must(scoring.Combine(terms)))
}

// use decides by a scorer of nodes.
func (s *stream) use(scorer scoring.Scorer) {
	cached, full := scoring.Bind(scorer, s.nodes), scoring.Bind(scorer, s.nodes)
	full.LimitCache(0)
	choose := func(b *scoring.Bound) chooser {
		return func(p *podShape) int {
			row, _ := b.Best(vector.PodAmounts{Requested: p.request}, nil, vector.TieSeeded(42))
			return row
		}
	}
	s.byCache, s.byFullPass = choose(cached), choose(full)
}

// useFGD decides by fragmentation, with the devices that FGD takes.
func (s *stream) useFGD() {
	fgd := testkit.Must(gpu.CompileFGD(gpu.FGDConfig{Typical: typicalPods()}, streamMap()))
	cached, full := gpu.Bind(fgd, s.nodes, s.gpus), gpu.Bind(fgd, s.nodes, s.gpus)
	full.LimitCache(0)
	s.devices = func(row int, p *podShape, buf []int32) []int32 { return full.ChooseDevices(buf, &p.gpu, row) }
	choose := func(b *gpu.Bound) chooser {
		return func(p *podShape) int {
			row, _ := b.Best(&p.gpu, nil, vector.TieSeeded(42))
			return row
		}
	}
	s.byCache, s.byFullPass = choose(cached), choose(full)
}

// warmUp fills the cluster and asks about every kind of pod.
func (s *stream) warmUp() {
	for range s.most + len(s.arrivals) {
		s.step(s.byCache)
	}
}

// time returns the mean time of some steps in nanoseconds.
func (s *stream) time(steps int, choose chooser) float64 {
	start := time.Now()
	for range steps {
		s.step(choose)
	}
	return float64(time.Since(start)) / float64(steps)
}

// step places the next pod, and takes one away when there are enough.
func (s *stream) step(choose chooser) {
	i := s.arrivals[s.steps%len(s.arrivals)]
	s.steps++
	shape := &s.shapes[i]
	row := choose(shape)
	s.digest = s.digest*0x9E3779B97F4A7C15 + uint64(row+1)
	if row >= 0 {
		s.place(i, row)
	}
	if len(s.running) > s.most {
		s.remove(s.random.IntN(len(s.running)))
	}
}

func (s *stream) place(shape int32, row int) {
	p := &s.shapes[shape]
	if len(s.running) == cap(s.running) {
		s.running = append(make([]runningPod, 0, max(s.most+1, 2*len(s.running))), s.running...)
	}
	s.running = s.running[:len(s.running)+1]
	pod := &s.running[len(s.running)-1]
	pod.shape, pod.row = shape, int32(row)
	if s.devices != nil && p.gpu.Count > 0 {
		pod.devices = s.devices(row, p, pod.devices)
		testkit.Check(s.gpus.Place(row, &p.gpu, pod.devices))
	}
	testkit.Check(s.nodes.Assume(row, vector.PodAmounts{Requested: p.request}))
}

// remove takes a pod away; the last one gets its place, and it the last one's,
// with its memory.
func (s *stream) remove(k int) {
	last := len(s.running) - 1
	s.running[k], s.running[last] = s.running[last], s.running[k]
	pod := &s.running[last]
	p, row := &s.shapes[pod.shape], int(pod.row)
	if s.devices != nil && p.gpu.Count > 0 {
		testkit.Check(s.gpus.Release(row, &p.gpu, pod.devices))
	}
	testkit.Check(s.nodes.Forget(row, vector.PodAmounts{Requested: p.request}))
	s.running = s.running[:last]
}
