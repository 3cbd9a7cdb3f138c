package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

func mustCluster(t testing.TB, tr *trace) *cluster {
	t.Helper()
	c, err := newCluster(tr)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Which device takes a pod, on a node whose devices have this much free.
func TestChooseDevices(t *testing.T) {
	c := mustCluster(t, newTrace(
		map[nodeShape]int{{0, 0, 4, "A"}: 1},
		map[podShape]int{{0, 0, 1, 1, ""}: 1},
	))
	for _, test := range []struct {
		about   string
		free    []float64
		devices int
		milli   float64
		want    []int32
	}{
		{"no device", []float64{1000, 1000, 1000, 1000}, 0, 0, nil},
		{"a share goes where least is left", []float64{1000, 600, 400, 500}, 1, 450, []int32{3}},
		{"equal devices: the lowest", []float64{1000, 500, 500, 100}, 1, 500, []int32{1}},
		{"a share opens an idle device last", []float64{1000, 499, 499, 1000}, 1, 500, []int32{0}},
		{"whole devices: the lowest idle ones", []float64{999, 1000, 1000, 1000}, 2, 1000, []int32{1, 2}},
	} {
		s := newPlacer(c, policies[0])
		copy(c.columns.ofDevices(s.row), test.free)
		if got := s.chooseDevices(&request{devices: test.devices, milli: test.milli}); !slices.Equal(got, test.want) {
			t.Errorf("%s: got %v, want %v", test.about, got, test.want)
		}
	}
}

func TestPlaceDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	tr := mustLoad(t, "", "")
	c, arrivals := mustCluster(t, tr), tr.arrivals(42)
	for _, p := range policies {
		s, next := newPlacer(c, p), 0
		place := func() {
			s.place(&c.requests[arrivals[next]])
			next++
		}
		place()
		if n := testing.AllocsPerRun(len(arrivals)-2, place); n != 0 {
			t.Errorf("%s: %v allocations per decision", p.name, n)
		}
	}
}

// Where devices don't matter, the policies are those of the library's Packer.
func TestPoliciesAreThePackers(t *testing.T) {
	tr := newTrace(
		map[nodeShape]int{{8000, 61440, 1, ""}: 20, {64000, 262144, 2, ""}: 10, {128000, 1048576, 1, ""}: 4},
		map[podShape]int{{2000, 9000, 0, 0, ""}: 60, {5000, 4096, 0, 0, ""}: 40, {9000, 99000, 0, 0, ""}: 20, {0, 300, 0, 0, ""}: 50},
	)
	c, arrivals := mustCluster(t, tr), tr.arrivals(42)
	requests := c.columns.schema.NewMatrix(len(arrivals))
	for i, id := range arrivals {
		requests.SetRow(i, c.requests[id].amounts)
	}
	for name, choice := range map[string]vector.RowChoice{"first-fit": vector.FirstFit, "bestfit-sum": vector.BestFit} {
		want, ok := vector.NewPacker(vector.PackOptions{
			Total: c.largest, Order: vector.OrderGiven, Choice: choice, Tie: vector.TieLowest(),
		}).Place(nil, c.capacity, requests, nil)
		p, _ := findPolicy(name)
		out, err := c.run(t.Context(), p, arrivals, func(int) {})
		if err != nil || !ok {
			t.Fatalf("%s: %v, the packer: %v", name, err, ok)
		}
		for i, placed := range out.placements {
			if placed.node != int(want[i]) {
				t.Fatalf("%s: arrival %d on node %d, the packer says %d", name, i, placed.node, want[i])
			}
		}
	}
}

// The scores that are kept are those of the nodes as they are.
func TestScoresFollowTheNodes(t *testing.T) {
	tr := mustLoad(t, "", "")
	c, arrivals := mustCluster(t, tr), tr.arrivals(42)
	for _, p := range policies {
		if p.scoreAll == nil {
			continue
		}
		s := newPlacer(c, p)
		for _, id := range arrivals {
			s.place(&c.requests[id])
		}
		want := make([]float64, len(c.nodes))
		p.scoreAll(want, s.free, c.largest)
		if !slices.Equal(s.scores, want) {
			t.Errorf("%s: kept scores differ from fresh ones", p.name)
		}
	}
}

// leftOver returns what is free after these placements of the first requests.
func leftOver(c *cluster, placements []placement) *vector.Matrix {
	free := new(vector.Matrix)
	free.CopyFrom(c.capacity)
	for id, p := range placements {
		if p.node < 0 {
			continue
		}
		row := free.Row(nil, p.node)
		row.Sub(c.requests[id].amounts)
		for _, j := range p.devices {
			c.columns.ofDevices(row)[j] -= c.requests[id].milli
		}
		c.columns.derive(row)
		free.SetRow(p.node, row)
	}
	return free
}

// The check after a run finds what it is for.
func TestVerify(t *testing.T) {
	c := mustCluster(t, newTrace(
		map[nodeShape]int{{1000, 10, 2, "A"}: 1, {2000, 10, 2, "B"}: 1},
		map[podShape]int{{400, 1, 1, 600, "A"}: 1, {400, 1, 2, 1000, ""}: 1},
	))
	arrivals := []int32{0, 1}
	share, whole := placement{0, []int32{0}}, placement{1, []int32{0, 1}}
	free := leftOver(c, []placement{share, whole})
	used, err := c.verify(free, arrivals, []placement{share, whole})
	if err != nil || used[vectormap.CPU] != 800 || used[vectormap.GPU] != 2600 {
		t.Errorf("good placements: used %v, %v", used, err)
	}
	crowded := []placement{share, {0, []int32{0, 1}}}
	for _, test := range []struct {
		about      string
		free       *vector.Matrix
		placements []placement
		want       string
	}{
		{"another device", free, []placement{{0, []int32{1}}, whole}, "node 0 has 400 of gpu-000 free"},
		{"one device twice", free, []placement{share, {1, []int32{1, 1}}}, "node 1 has 0 of gpu-000 free"},
		{"too few devices", free, []placement{share, {1, []int32{1}}}, "arrival 1 is on devices it cannot use"},
		{"no device", free, []placement{{0, nil}, whole}, "arrival 0 is on devices it cannot use"},
		{"a model it does not take", free, []placement{{1, []int32{0}}, whole}, "arrival 0 is on devices it cannot use"},
		{"a pod lost", free, []placement{share, {-1, nil}}, "node 1 has"},
		{"more than there is", leftOver(c, crowded), crowded, "node 0 has -600 of gpu free"},
	} {
		if _, err := c.verify(test.free, arrivals, test.placements); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want an error with %q", test.about, err, test.want)
		}
	}
}

func TestRunStopsWithItsContext(t *testing.T) {
	tr := mustLoad(t, "", "")
	c := mustCluster(t, tr)
	ctx, cancel := context.WithCancel(t.Context())
	seen := 0
	_, err := c.run(ctx, policies[0], tr.arrivals(1), func(done int) {
		if seen = done; done > 0 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || seen != decisionsAtATime {
		t.Errorf("stopped after %d decisions with %v", seen, err)
	}
}

func BenchmarkReplay(b *testing.B) {
	tr := mustLoad(b, "", "")
	c, arrivals := mustCluster(b, tr), tr.arrivals(42)
	for _, p := range policies {
		b.Run("policy="+p.name, func(b *testing.B) {
			testkit.EachImplB(b, func(b *testing.B) {
				placed := 0
				for b.Loop() {
					s := newPlacer(c, p)
					placed = 0
					for _, id := range arrivals {
						if node, _ := s.place(&c.requests[id]); node >= 0 {
							placed++
						}
					}
				}
				if placed == 0 {
					b.Error("nothing was placed")
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(arrivals)), "ns/decision")
			})
		})
	}
}
