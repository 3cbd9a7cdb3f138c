package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/resvec/resvec/vector"
)

// demandIn returns what the queue of a text needs.
func demandIn(t *testing.T, text string) *demand {
	t.Helper()
	c := mustAsk(t, both+text)
	o, err := c.simulate(nil, vector.TieLowest())
	if err != nil {
		t.Fatal(err)
	}
	return c.demandOf(o)
}

func repeat(n int, name, requests string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(podYAML(fmt.Sprintf("%s-%d", name, i), requests, ""))
	}
	return b.String()
}

func TestDemand(t *testing.T) {
	small := nodeYAML("s", "small", "cpu: 4, memory: 8Gi, pods: 3", "unschedulable: true")
	large := nodeYAML("l", "large", "cpu: 16, memory: 32Gi, pods: 100", "unschedulable: true")
	gpu := nodeYAML("g", "gpu", "cpu: 8, memory: 32Gi, pods: 100, nvidia.com/gpu: 2", "unschedulable: true")
	type answer struct{ pods, packed, proved, scheduled int }
	for _, c := range []struct {
		name, text string
		never      int
		alone      []answer // by shape
		mix        string   // nodes by shape, cost and its bound
	}{
		{"all fit", nodeYAML("full", "", "cpu: 4, pods: 9", "") + repeat(2, "p", "cpu: 1"), 0, nil, ""},
		{"by cpu", small + repeat(5, "p", "cpu: 2"), 0, []answer{{5, 3, 3, 3}}, "[3] 3 3"},
		{"by the number of pods", small + repeat(7, "p", "cpu: 1m"), 0, []answer{{7, 3, 3, 3}}, "[3] 3 3"},
		{"one each", large + repeat(3, "p", "cpu: 9"), 0, []answer{{3, 3, 3, 3}}, "[3] 3 3"},
		{"a shape that is too small", small + large + repeat(2, "p", "cpu: 8"), 0, []answer{{}, {2, 1, 1, 1}}, "[0 1] 1 1"},
		{"some fit on none", small + repeat(2, "p", "cpu: 4") + repeat(1, "q", "cpu: 5"), 1, []answer{{2, 2, 2, 2}}, "[2] 2 2"},
		{"all fit on none", small + repeat(2, "p", "cpu: 5"), 2, []answer{{}}, ""},
		{"two kinds of device", small + gpu + repeat(3, "g", "nvidia.com/gpu: 1") + repeat(4, "p", "cpu: 4"), 0,
			[]answer{{4, 4, 4, 4}, {7, 2, 2, 2}}, "[0 2] 2 2"},
		// The scores spread the small ones over all nodes, and then no node is whole.
		{"scores that spread", large + repeat(4, "p", "cpu: 4") + repeat(2, "q", "cpu: 16"), 0, []answer{{6, 3, 3, 6}}, "[3] 3 3"},
		{"what is there is full", nodeYAML("full", "", "cpu: 4, pods: 9", "") + repeat(1, "a", "cpu: 3") + repeat(1, "b", "cpu: 3"), 0, []answer{{1, 1, 1, 1}}, "[1] 1 1"},
	} {
		d := demandIn(t, c.text)
		if len(d.never) != c.never {
			t.Errorf("%s: %d pods fit on none, want %d", c.name, len(d.never), c.never)
		}
		var needs []need
		for i, want := range c.alone {
			n, err := d.alone(&d.shapes[i], vector.TieLowest())
			if err != nil {
				t.Fatal(err)
			}
			needs = append(needs, n)
			if got := (answer{len(n.pods), n.Nodes, n.Proved, n.scheduled}); got != want {
				t.Errorf("%s: %s: got %+v, want %+v", c.name, n.shape.name, got, want)
			}
		}
		if c.mix == "" {
			if len(d.pods) > 0 {
				t.Errorf("%s: %d pods need nodes", c.name, len(d.pods))
			}
			continue
		}
		x := d.mix(needs)
		if got := fmt.Sprint(x.Counts, x.Cost, x.Proved); got != c.mix {
			t.Errorf("%s: mix %s, want %s", c.name, got, c.mix)
		}
	}
}

// Small random demands: the bounds hold for the true least number and cost, which
// trying every assignment gives, and what is said to fit does.
func TestDemandAgainstAll(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 7))
		text := nodeYAML("a", "a", fmt.Sprintf("cpu: %d, memory: %d, pods: 4", 4+r.IntN(4), 4+r.IntN(8)), "unschedulable: true") +
			nodeYAML("b", "b", fmt.Sprintf("cpu: %d, memory: %d, pods: 4, example.com/x: %d", 2+r.IntN(12), 2+r.IntN(12), r.IntN(3)), "unschedulable: true")
		for i := range 1 + r.IntN(6) {
			requests := fmt.Sprintf("cpu: %d, memory: %d", r.IntN(6), r.IntN(6))
			if r.IntN(3) == 0 {
				requests += ", example.com/x: 1"
			}
			text += podYAML(fmt.Sprintf("p%d", i), requests, "")
		}
		d := demandIn(t, text)
		if len(d.pods) == 0 {
			continue
		}
		d.shapes[1].cost = float64(1 + r.IntN(3))
		var needs []need
		for i := range d.shapes {
			n, err := d.alone(&d.shapes[i], vector.TieLowest())
			if err != nil {
				t.Fatal(err)
			}
			needs = append(needs, n)
			if len(n.pods) == 0 {
				continue
			}
			rooms := make([][]float64, 0, len(n.pods))
			least := 0
			for least = 1; ; least++ {
				rooms = append(rooms, d.shapes[i].room())
				if assignable(d, n.pods, rooms) {
					break
				}
			}
			if n.Proved > least || n.Nodes < least {
				t.Errorf("seed %d: %s: from %d to %d, but the least is %d", seed, n.shape.name, n.Proved, n.Nodes, least)
			}
			if n.scheduled > 0 && n.scheduled < least {
				t.Errorf("seed %d: %s: %d scheduled, but the least is %d", seed, n.shape.name, n.scheduled, least)
			}
		}
		x := d.mix(needs)
		least, costs := math.Inf(1), 0.0
		for a := range len(d.pods) + 1 {
			for b := range len(d.pods) + 1 {
				cost := float64(a) + float64(b)*d.shapes[1].cost
				if cost < least && assignable(d, d.pods, roomsOf(d, a, b)) {
					least = cost
				}
			}
		}
		for i, n := range x.Counts {
			costs += float64(n) * d.shapes[i].cost
		}
		if !assignable(d, d.pods, roomsOf(d, x.Counts[0], x.Counts[1])) || x.Cost != costs {
			t.Errorf("seed %d: the mix %v of cost %v doesn't hold the pods", seed, x.Counts, x.Cost)
		}
		if x.Proved > least || x.Cost < least {
			t.Errorf("seed %d: a mix costs from %v to %v, but the least is %v", seed, x.Proved, x.Cost, least)
		}
	}
}

func roomsOf(d *demand, a, b int) (rooms [][]float64) {
	for i, n := range []int{a, b} {
		for range n {
			rooms = append(rooms, d.shapes[i].room())
		}
	}
	return rooms
}

// assignable tries every node for every pod.
func assignable(d *demand, pods []int, rooms [][]float64) bool {
	if len(pods) == 0 {
		return true
	}
	request := d.requests[pods[0]].Requested
	for _, room := range rooms {
		if !request.FitsIn(room) {
			continue
		}
		for j := range room {
			room[j] -= request[j]
		}
		ok := assignable(d, pods[1:], rooms)
		for j := range room {
			room[j] += request[j]
		}
		if ok {
			return true
		}
	}
	return false
}
