package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
)

// The golden model of the replay: a loop over structs with whole numbers, which
// knows nothing of the library.

type twinNode struct {
	nodeShape // what is free
	pods      int
	devices   []int64
}

type twin struct {
	nodes                 []twinNode
	mostCPU, mostMem, gpu int64
}

func newTwin(tr *trace) *twin {
	w := new(twin)
	for _, shape := range tr.nodes {
		node := twinNode{nodeShape: shape, devices: make([]int64, shape.gpus)}
		for j := range node.devices {
			node.devices[j] = wholeGPU
		}
		w.nodes = append(w.nodes, node)
		w.mostCPU = max(w.mostCPU, shape.cpuMilli)
		w.mostMem = max(w.mostMem, shape.memoryMiB)
		w.gpu = max(w.gpu, shape.gpus*wholeGPU)
	}
	return w
}

// place returns the node and the devices of a pod under a policy.
func (w *twin) place(p podShape, policy string) (node int, devices []int32) {
	best, bestScore := -1, 0.0
	for i := range w.nodes {
		if !w.nodes[i].fits(p) {
			continue
		}
		score := w.score(&w.nodes[i], policy)
		if best < 0 || score < bestScore {
			best, bestScore = i, score
		}
	}
	if best < 0 {
		return -1, nil
	}
	return best, w.nodes[best].take(p)
}

func (n *twinNode) fits(p podShape) bool {
	if p.cpuMilli > n.cpuMilli || p.memoryMiB > n.memoryMiB || n.pods >= podsPerNode {
		return false
	}
	if p.gpus == 0 {
		return true
	}
	if p.spec != "" && (n.model == "" || !slices.Contains(strings.Split(p.spec, "|"), n.model)) {
		return false
	}
	fitting := int64(0)
	for _, free := range n.devices {
		if free >= p.gpuMilli {
			fitting++
		}
	}
	return fitting >= p.gpus
}

func (w *twin) score(n *twinNode, policy string) float64 {
	gpu := int64(0)
	for _, free := range n.devices {
		gpu += free
	}
	sum, most := 0.0, 0.0
	for _, share := range [][2]int64{{n.cpuMilli, w.mostCPU}, {n.memoryMiB << 20, w.mostMem << 20}, {gpu, w.gpu}} {
		if share[1] > 0 {
			q := float64(share[0]) / float64(share[1])
			sum += q
			most = max(most, q)
		}
	}
	switch policy {
	case "bestfit-sum":
		return sum
	case "bestfit-dominant":
		return most
	}
	return 0
}

func (n *twinNode) take(p podShape) (devices []int32) {
	n.cpuMilli -= p.cpuMilli
	n.memoryMiB -= p.memoryMiB
	n.pods++
	if p.gpuMilli < wholeGPU {
		if p.gpus == 0 {
			return nil
		}
		tightest := -1
		for j, free := range n.devices {
			if free >= p.gpuMilli && (tightest < 0 || free < n.devices[tightest]) {
				tightest = j
			}
		}
		devices = []int32{int32(tightest)}
	} else {
		for j, free := range n.devices {
			if free == wholeGPU && int64(len(devices)) < p.gpus {
				devices = append(devices, int32(j))
			}
		}
	}
	for _, j := range devices {
		n.devices[j] -= p.gpuMilli
	}
	return devices
}

// sameAsTwin checks that the library places every pod where the golden model
// does.
func sameAsTwin(t *testing.T, tr *trace, seed int64) {
	t.Helper()
	c, err := newCluster(tr)
	if err != nil {
		t.Fatal(err)
	}
	arrivals := tr.arrivals(seed)
	for _, p := range policies {
		out, err := c.run(t.Context(), p, arrivals, func(int) {})
		if err != nil {
			t.Fatal(err)
		}
		w := newTwin(tr)
		for i, id := range arrivals {
			node, devices := w.place(tr.requests[id], p.name)
			if got := out.placements[i]; got.node != node || !slices.Equal(got.devices, devices) {
				t.Fatalf("%s, seed %d, arrival %d, %+v: placed on %d %v, the golden model says %d %v",
					p.name, seed, i, tr.requests[id], got.node, got.devices, node, devices)
			}
		}
	}
}

// seeds returns how many of n seeds to try: fewer when the race detector slows
// everything down.
func seeds(n int64) int64 {
	if raceEnabled {
		return n / 3
	}
	return n
}

func TestTwinOnDefaultTrace(t *testing.T) {
	tr := mustLoad(t, "", "")
	testkit.EachImpl(t, func(t *testing.T) {
		for seed := range seeds(3) {
			sameAsTwin(t, tr, 42+seed)
		}
	})
}

func TestTwinOnGeneratedTraces(t *testing.T) {
	testkit.EachImpl(t, func(t *testing.T) {
		for seed := range seeds(40) {
			sameAsTwin(t, generatedTrace(seed), seed)
		}
	})
}

func TestTwinOnPublishedLists(t *testing.T) {
	for _, pods := range []string{"default", "cpu100", "gpushare60", "gpuspec20", "multigpu40"} {
		t.Run(pods, func(t *testing.T) {
			nodes, pods := listFile(t, nodeList), listFile(t, "openb_pod_list_"+pods+".csv")
			sameAsTwin(t, mustLoad(t, nodes, pods), 42)
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
			cpuMilli:  pick(0, 8000, 82000, random.Int64N(100000)),
			memoryMiB: pick(0, 1<<20, random.Int64N(500000)),
			gpus:      random.Int64N(12),
			model:     model("", "A", "B", "C"),
		}] += 1 + random.IntN(30)
	}
	pods := map[podShape]int{{0, 0, 0, 0, "A"}: 1 + random.IntN(50)}
	for range 1 + random.IntN(60) {
		p := podShape{
			cpuMilli:  pick(0, 1000, 4000, random.Int64N(20000), maxNumber),
			memoryMiB: pick(0, 1024, random.Int64N(100000)),
			gpus:      pick(0, 1, 1, 1, 2, 3, 8, maxNumber),
			spec:      model("", "", "A", "A|B", "|C||", "D", fmt.Sprint("B|", seed)),
		}
		switch p.gpus {
		case 0:
		case 1:
			p.gpuMilli = pick(1, 250, 500, 999, wholeGPU, 1+random.Int64N(wholeGPU))
		default:
			p.gpuMilli = wholeGPU
		}
		pods[p] += 1 + random.IntN(60)
	}
	return newTrace(nodes, pods)
}

// A node takes no more than its number of pods.
func TestTwinOnManySmallPods(t *testing.T) {
	sameAsTwin(t, newTrace(
		map[nodeShape]int{{10, 0, 1, ""}: 2},
		map[podShape]int{{0, 0, 0, 0, ""}: 2*podsPerNode + 5, {1, 0, 1, 1, ""}: 3},
	), 1)
}
