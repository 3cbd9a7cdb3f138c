package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vectormap"
)

// A placement is where a pod went: its canonical node, or -1 when no node took
// it, and its devices there.
type placement struct {
	node    int
	devices []int32
}

// place places a pod and fails the test on an error.
func (s *placer) mustPlace(t testing.TB, kind int32) placement {
	row, devices, err := s.place(kind)
	if err != nil {
		t.Fatal(err)
	}
	if row < 0 {
		return placement{node: -1}
	}
	return placement{int(s.order[row]), slices.Clone(devices)}
}

// A script is what the golden model does with a trace.
type script struct {
	trace    *trace
	policy   *policy
	seed     int64
	ties     ties
	arrivals []int32
	want     []placement
}

// scripts runs the golden model, several at a time.
func scripts(t *testing.T, all []script) []script {
	t.Helper()
	var workers sync.WaitGroup
	for i := range all {
		s := &all[i]
		s.arrivals = testkit.Must(s.trace.arrivals(s.seed, publishedInflation))
		workers.Go(func() {
			w := newTwin(s.trace, s.policy.name, s.seed, s.ties)
			for _, kind := range s.arrivals {
				node, devices := w.place(s.trace.requests[kind])
				s.want = append(s.want, placement{node, devices})
			}
		})
	}
	workers.Wait()
	return all
}

// compare checks that the library places every pod where the golden model does,
// and never takes what is not there.
func (s *script) compare(t *testing.T) {
	t.Helper()
	c := testkit.Must(newCluster(s.trace))
	p := testkit.Must(newPlacer(c, s.policy, s.seed, s.ties))
	for i, kind := range s.arrivals {
		got := p.mustPlace(t, kind)
		if got.node != s.want[i].node || !slices.Equal(got.devices, s.want[i].devices) {
			t.Fatalf("%s, seed %d, ties %s, arrival %d, %+v: placed on %d %v, the golden model says %d %v", s.policy.name,
				s.seed, s.ties, i, s.trace.requests[kind], got.node, got.devices, s.want[i].node, s.want[i].devices)
		}
	}
	p.checkCapacity(t, s.arrivals, s.want)
}

// checkCapacity counts from the placements alone what is used on every node and
// device: it and what is free must add up to the capacity, with nothing below
// zero.
func (s *placer) checkCapacity(t *testing.T, arrivals []int32, placements []placement) {
	t.Helper()
	used := s.schema.NewMatrix(len(s.order))
	row := make([]int, len(s.order)) // of a canonical node
	devices := make([][]float64, len(s.order))
	for r, node := range s.order {
		row[node] = r
		devices[r] = slices.Repeat([]float64{wholeGPU}, int(s.trace.nodes[node].gpus))
	}
	for i, p := range placements {
		if p.node < 0 {
			continue
		}
		kind := &s.kinds[arrivals[i]]
		testkit.Check(used.AddToRow(row[p.node], kind.amounts))
		for _, d := range p.devices {
			devices[row[p.node]][d] -= kind.gpu.Milli
		}
	}
	var phi int64
	for r, node := range s.order {
		for j, has := range s.amounts(s.trace.nodes[node]) {
			if free := s.nodes.Free().At(r, j); free < 0 || free+used.At(r, j) != has {
				t.Fatalf("row %d: %v of %s used and %v free of %v", r, used.At(r, j), s.schema.Name(j), free, has)
			}
		}
		if left := s.gpus.Devices(r); !slices.Equal(left, devices[r]) || len(left) > 0 && slices.Min(left) < 0 {
			t.Fatalf("row %d: devices %v, its pods leave %v", r, left, devices[r])
		}
		if total := s.nodes.Free().At(r, vectormap.GPU); total != s.gpus.Total(r) {
			t.Fatalf("row %d: %v free in all, its devices say %v", r, total, s.gpus.Total(r))
		}
		f := s.typical.F(r, s.cpuLeft(), s.gpus)
		if total := s.gpus.Total(r); f < 0 || f > total || total == 0 && f != 0 {
			t.Fatalf("row %d: %v of %v fragmented", r, f, total)
		}
		phi += int64(s.typical.Phi(r, s.cpuLeft(), s.gpus))
	}
	if phi != s.allPhi {
		t.Fatalf("%d fragmented, the rows say %d", s.allPhi, phi)
	}
}

func TestTwinOnDefaultTrace(t *testing.T) {
	tr := testkit.Must(loadTrace("", ""))
	var all []script
	for _, p := range policies {
		most := testkit.Amount(t, 1, 1, 3)
		if p.name == "FGD" { // the golden model takes its time, here; generated traces have it
			most = testkit.Amount(t, 0, 0, 3)
		}
		for seed := range int64(most) {
			all = append(all, script{trace: tr, policy: p, seed: 42 + seed, ties: tiesPermuted})
		}
		if p.name != "FGD" && isLong(t) { // generated traces have all rules of ties
			all = append(all, script{trace: tr, policy: p, seed: 45, ties: tiesRandom}, script{trace: tr, policy: p, seed: 45, ties: tiesShape})
		}
	}
	all = scripts(t, all)
	testkit.EachImpl(t, func(t *testing.T) {
		for _, s := range all {
			s.compare(t)
		}
	})
}

func TestTwinOnGeneratedTraces(t *testing.T) {
	var all []script
	for seed := range int64(testkit.Amount(t, 4, 20, 40)) {
		tr := generatedTrace(seed)
		for _, p := range policies {
			all = append(all, script{trace: tr, policy: p, seed: seed, ties: allTies[int(seed)%len(allTies)]})
		}
	}
	all = scripts(t, all)
	testkit.EachImpl(t, func(t *testing.T) {
		for _, s := range all {
			s.compare(t)
		}
	})
}

func TestTwinOnPublishedLists(t *testing.T) {
	for _, name := range []string{"cpu100", "gpushare60", "gpuspec20", "multigpu40"} {
		t.Run(name, func(t *testing.T) {
			tr := publishedTrace(t, name)
			var all []script
			for _, p := range policies {
				if p.name != "FGD" || name == "gpuspec20" && isLong(t) {
					all = append(all, script{trace: tr, policy: p, seed: 42, ties: tiesPermuted})
				}
			}
			for _, s := range scripts(t, all) {
				s.compare(t)
			}
		})
	}
}

// generatedTrace returns a random cluster and random pods: nodes without GPU or
// model, odd numbers of devices, lists of models, pods that ask for nothing and
// pods that fit nowhere.
func generatedTrace(seed int64) *trace {
	random := rand.New(rand.NewPCG(uint64(seed), 99))
	pick := func(values ...int64) int64 { return values[random.IntN(len(values))] }
	model := func(models ...string) string { return models[random.IntN(len(models))] }
	nodes := map[nodeShape]int{{1000, 1000, 1 + random.Int64N(12), "A"}: 1}
	for range 1 + random.IntN(12) {
		nodes[nodeShape{
			cpuMilli:  pick(0, 8000, 82000, random.Int64N(200000)),
			memoryMiB: pick(0, 1<<20, random.Int64N(500000)),
			gpus:      random.Int64N(12),
			model:     model("", "A", "B", "C"),
		}] += 1 + random.IntN(10)
	}
	pods := map[podShape]int{{0, 0, 0, 0, ""}: 1 + random.IntN(50), {1, 0, 1, 1 + random.Int64N(wholeGPU), "A"}: 3}
	for range 1 + random.IntN(60) {
		p := podShape{
			cpuMilli:  pick(0, 1000, 4000, random.Int64N(20000), maxNumber),
			memoryMiB: pick(0, 1024, random.Int64N(100000)),
			gpus:      pick(0, 1, 1, 1, 1, 1, 2, 3, 8, 20),
		}
		switch p.gpus {
		case 0:
		case 1:
			p.gpuMilli = pick(1, 250, 500, 999, wholeGPU, 1+random.Int64N(wholeGPU))
		default:
			p.gpuMilli = wholeGPU
		}
		if p.gpus > 0 {
			p.spec = model("", "", "A", "A|B", "|C||", "D", fmt.Sprint("B|", seed))
		}
		pods[p] += 1 + random.IntN(60)
	}
	return newTrace(nodes, pods)
}

// A node takes no more than its number of pods.
func TestTwinOnManySmallPods(t *testing.T) {
	tr := newTrace(
		map[nodeShape]int{{10, 0, 1, ""}: 2},
		map[podShape]int{{0, 0, 0, 0, ""}: 2*podsPerNode + 5, {1, 0, 1, 1, ""}: 3},
	)
	for _, p := range policies[:testkit.Amount(t, 1, 1, len(policies))] {
		s := scripts(t, []script{{trace: tr, policy: p, seed: 1, ties: tiesPermuted}})[0]
		s.compare(t)
		if !slices.ContainsFunc(s.want, func(p placement) bool { return p.node < 0 }) {
			t.Errorf("%s: every pod found a node", p.name)
		}
	}
}

func TestPlaceDoesNotAllocate(t *testing.T) {
	if testkit.RaceEnabled {
		t.Skip("the race detector allocates")
	}
	tr := testkit.Must(loadTrace("", ""))
	c, arrivals := testkit.Must(newCluster(tr)), testkit.Must(tr.arrivals(42, publishedInflation))
	for _, rule := range []ties{tiesPermuted, tiesRandom} {
		for _, p := range policies {
			s, next := testkit.Must(newPlacer(c, p, 42, rule)), 0
			place := func() {
				s.place(arrivals[next])
				next++
			}
			for kind := range c.kinds { // each of them is seen
				s.place(int32(kind))
			}
			if n := testing.AllocsPerRun(len(arrivals)-1, place); n != 0 {
				t.Errorf("%s, ties %s: %v allocations per decision", p.name, rule, n)
			}
		}
	}
}
