package scoring_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// placeOneByOne is what Place is defined by: Best and Assume for one pod after the other.
func placeOneByOne(b *scoring.Bound, nodes *vector.Nodes, pods []vector.PodAmounts, among []*vector.Mask, tie vector.Tie) []int32 {
	dst := make([]int32, len(pods))
	for i, pod := range pods {
		var rows *vector.Mask
		if among != nil {
			rows = among[i]
		}
		row, ok := b.Best(pod, rows, tie)
		if !ok || nodes.Assume(row, pod) != nil {
			row = -1
		}
		dst[i] = int32(row)
	}
	return dst
}

// drawPods draws pods of few shapes among few masks.
func (w *boundWorld) drawPods() (pods []vector.PodAmounts, among []*vector.Mask) {
	shapes, masks := make([]vector.PodAmounts, 1+w.IntN(8)), make([]*vector.Mask, 1+w.IntN(3))
	for k := range shapes {
		shapes[k] = w.pod()
		if w.IntN(20) == 0 && len(shapes[k].Requested) > 0 {
			shapes[k].Requested[0] = []float64{math.NaN(), math.Inf(1), -1, 1 << 52}[w.IntN(4)]
		}
	}
	for k := range masks {
		masks[k] = w.mask()
	}
	run := 1 + w.IntN(100)*w.IntN(2)
	k, m := 0, 0
	for i := range w.IntN(600) {
		if i%run == 0 {
			k, m = w.IntN(len(shapes)), w.IntN(len(masks))
		}
		pods, among = append(pods, shapes[k]), append(among, masks[m])
	}
	if w.IntN(3) == 0 {
		among = nil
	}
	return pods, among
}

// TestPlace compares Place with the loop, over all scorers, sizes and ties.
func TestPlace(t *testing.T) {
	stories := 12
	if testing.Short() || testkit.RaceEnabled {
		stories = 3
	}
	for seed := range stories {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(seed), 11))
			w := newBoundWorld(t, r, r.IntN(4), r.IntN(2) == 0, false)
			n := []int{0, 3, 255, 256, 300, 513, 700}[r.IntN(7)]
			for i := range n {
				mustSet(w.nodes, fmt.Sprint("node", i), 1, w.node())
			}
			for range 3 {
				pods, among := w.drawPods()
				tie := w.tie()
				for k := range w.scorers {
					w.comparePlace(t, &w.scorers[k], pods, among, tie)
				}
				for range 3 {
					w.change(t)
				}
			}
		})
	}
}

// comparePlace places the same pods twice. Everything is as before then.
func (w *boundWorld) comparePlace(t *testing.T, s *boundScorer, pods []vector.PodAmounts, among []*vector.Mask, tie vector.Tie) {
	t.Helper()
	if among != nil && among[min(0, len(among))] != nil && among[0].Len() != w.nodes.Len() {
		return
	}
	cursor := tie.Cursor()
	take := func(place func() []int32) (rows []int32, amounts []float64) {
		if cursor != nil {
			*cursor = 3
		}
		var before vector.Nodes
		w.nodes.Snapshot(&before)
		rows = place()
		amounts = slices.Concat(slices.Clone(w.nodes.Free().Elements()), w.nodes.Scored().Elements())
		for i, row := range rows {
			if row >= 0 {
				testkit.Check(w.nodes.Forget(int(row), pods[i]))
			}
		}
		for j := range before.Cols() {
			if i := testkit.Difference(w.nodes.Free().Column(j), before.Free().Column(j)); i >= 0 {
				t.Fatalf("%s: row %d of column %d is not as before", s.name, i, j)
			}
		}
		return rows, amounts
	}
	want, wantAmounts := take(func() []int32 { return placeOneByOne(s.bound, w.nodes, pods, among, tie) })
	got, gotAmounts := take(func() []int32 { return s.bound.Place(nil, pods, among, tie) })
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("%s, %d rows: pod %d of %d goes to row %d, want %d", s.name, w.nodes.Len(), i, len(pods), got[i], want[i])
		}
	}
	if i := testkit.Difference(gotAmounts, wantAmounts); i >= 0 {
		t.Fatalf("%s: element %d is %v, want %v", s.name, i, gotAmounts[i], wantAmounts[i])
	}
}

func TestPlaceOperands(t *testing.T) {
	m := testkit.Must(vectormap.New(nil))
	load := testkit.Must(scoring.CompileLoad(scoring.LoadConfig{}, m))
	nodes, view := m.NewNodes(), new(vector.Nodes)
	mustSet(nodes, "a", 1, vector.NodeAmounts{Allocatable: vector.ResourceVector{2, 2, 2}})
	nodes.Snapshot(view)
	pods := []vector.PodAmounts{{Requested: vector.ResourceVector{1}}}
	b := scoring.Bind(load, nodes)
	if got := b.Place([]int32{7, 7, 7}, nil, nil, vector.TieLowest()); len(got) != 0 {
		t.Errorf("no pods go to %v", got)
	}
	if got := b.Place(nil, slices.Repeat(pods, 3), nil, vector.TieLowest()); !slices.Equal(got, []int32{0, 0, -1}) {
		t.Errorf("three pods, of which two have room, go to %v", got)
	}
	for _, c := range []struct {
		want  string
		place func()
	}{
		{"scoring: not one mask per pod", func() { b.Place(nil, pods, []*vector.Mask{nil, nil}, vector.TieLowest()) }},
		{"scoring: tie rule not given", func() { b.Place(nil, pods, nil, vector.Tie{}) }},
		{"scoring: mask of another number of rows than the nodes", func() {
			b.Place(nil, pods, []*vector.Mask{vector.NewMask(2)}, vector.TieLowest())
		}},
		{"vector: write to nodes that NewNodes did not make", func() { // a pod that fits is written
			scoring.Bind(load, view).Place(nil, []vector.PodAmounts{{}}, nil, vector.TieLowest())
		}},
	} {
		if got := testkit.Recovered(c.place); got != c.want {
			t.Errorf("got panic %v, want %q", got, c.want)
		}
	}
}

// placeCluster are nodes, and pods of some shapes, each often.
func placeCluster(b testing.TB, nodes, pods, shapes int, config func(*vectormap.ResourceVectorMap) (scoring.Scorer, error)) (*scoring.Bound, *vector.Nodes, []vector.PodAmounts) {
	b.Helper()
	m := testkit.Must(vectormap.New([]string{"nvidia.com/gpu"}, vectormap.Milli("nvidia.com/gpu")))
	r := rand.New(rand.NewPCG(7, 7))
	cluster := m.NewNodes()
	for i := range nodes {
		a := vector.ResourceVector{float64(64_000 + 1000*r.IntN(8)), float64((128 + r.IntN(128)) << 30), float64(1000 * r.IntN(9)), 250}
		if _, _, err := cluster.Set(fmt.Sprint("node-", i), 1, vector.NodeAmounts{Allocatable: a}); err != nil {
			b.Fatal(err)
		}
	}
	scorer := testkit.Must(config(m))
	kinds := make([]vector.PodAmounts, shapes)
	for k := range kinds {
		kinds[k].Requested = vector.ResourceVector{float64(1000 + 100*k), float64((1 + k) << 30), float64(500 * (k % 3)), 1}
	}
	list := make([]vector.PodAmounts, pods)
	for i := range list {
		list[i] = kinds[r.IntN(shapes)]
	}
	return scoring.Bind(scorer, cluster), cluster, list
}

var placeScorers = map[string]func(*vectormap.ResourceVectorMap) (scoring.Scorer, error){
	"LeastAllocated": func(m *vectormap.ResourceVectorMap) (scoring.Scorer, error) {
		return scoring.CompileKube(scoring.KubeConfig{Type: scoring.LeastAllocated, Resources: []scoring.KubeResource{{Name: "cpu", Weight: 1}, {Name: "memory", Weight: 1}}}, m)
	},
	"MostAllocated": func(m *vectormap.ResourceVectorMap) (scoring.Scorer, error) {
		return scoring.CompileKube(scoring.KubeConfig{Type: scoring.MostAllocated, Resources: []scoring.KubeResource{{Name: "cpu", Weight: 1}, {Name: "memory", Weight: 1}}}, m)
	},
	"BalancedAllocation": func(m *vectormap.ResourceVectorMap) (scoring.Scorer, error) {
		return scoring.CompileKube(scoring.KubeConfig{Type: scoring.BalancedAllocation, Resources: []scoring.KubeResource{{Name: "cpu", Weight: 1}, {Name: "memory", Weight: 1}}}, m)
	},
	"Strategy": func(m *vectormap.ResourceVectorMap) (scoring.Scorer, error) {
		return scoring.CompileStrategy(scoring.StrategyConfig{Fit: scoring.StrategyFitConfig{Resources: map[string]scoring.FitRule{
			"cpu": {Type: scoring.LeastAllocated, Weight: 1}, "nvidia.com/gpu": {Type: scoring.MostAllocated, Weight: 3}}}}, m)
	},
	"Load": func(m *vectormap.ResourceVectorMap) (scoring.Scorer, error) {
		return scoring.CompileLoad(scoring.LoadConfig{Direction: scoring.Spread}, m)
	},
}

// BenchmarkPlace places 10,000 pods of 20 shapes on 5,000 nodes, in one call and one by one.
func BenchmarkPlace(b *testing.B) {
	for _, name := range []string{"LeastAllocated", "MostAllocated", "BalancedAllocation", "Strategy", "Load"} {
		bound, nodes, pods := placeCluster(b, 5_000, 10_000, 20, placeScorers[name])
		want := placeOneByOne(bound, nodes, pods, nil, vector.TieLowest())
		takeBack := func(rows []int32) {
			for i, row := range rows {
				if row >= 0 {
					testkit.Check(nodes.Forget(int(row), pods[i]))
				}
			}
		}
		takeBack(want)
		check := func(b *testing.B, rows []int32) {
			b.StopTimer()
			if !slices.Equal(rows, want) {
				b.Fatal("the pods go to other rows")
			}
			takeBack(rows)
			b.StartTimer()
		}
		b.Run("impl=loop/scorer="+name, func(b *testing.B) {
			for b.Loop() {
				check(b, placeOneByOne(bound, nodes, pods, nil, vector.TieLowest()))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(pods)), "ns/pod")
		})
		b.Run("impl=place/scorer="+name, func(b *testing.B) {
			rows := bound.Place(nil, pods, nil, vector.TieLowest())
			takeBack(rows)
			b.ReportAllocs()
			for b.Loop() {
				rows = bound.Place(rows, pods, nil, vector.TieLowest())
				check(b, rows)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(pods)), "ns/pod")
		})
	}
}

func TestPlaceAllocates(t *testing.T) {
	bound, nodes, pods := placeCluster(t, 600, 400, 20, placeScorers["LeastAllocated"])
	rows := make([]int32, 0, len(pods))
	if n := testing.AllocsPerRun(5, func() {
		rows = bound.Place(rows, pods, nil, vector.TieLowest())
		for i, row := range rows {
			testkit.Check(nodes.Forget(int(row), pods[i]))
		}
	}); n != 0 && !testkit.RaceEnabled {
		t.Errorf("%v allocations", n)
	}
}
