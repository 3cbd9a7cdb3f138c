package kueue

import (
	"fmt"
	"math"
	"testing"

	"github.com/resvec/resvec/benchmarks/internal/peer"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/kueue/pkg/features"
	"sigs.k8s.io/kueue/pkg/resources"
)

// newRequests returns amounts by name in Kueue's form, and as a vector.
func newRequests(m *vectormap.ResourceVectorMap, amounts map[corev1.ResourceName]int64) (resources.Requests, vector.ResourceVector) {
	v := m.NewVector()
	for name, n := range amounts {
		i, ok := m.Index(string(name))
		if !ok {
			panic(name)
		}
		v[i] = float64(n)
	}
	return resources.NewRequestsFromMap(amounts), v
}

func randomAmounts(r peer.Random) map[corev1.ResourceName]int64 {
	amounts := map[corev1.ResourceName]int64{}
	for _, name := range peer.Names {
		if r.Chance(50) {
			amounts[name] = r.Amount()
			if r.Chance(8) {
				amounts[name] *= -1
			}
		}
	}
	return amounts
}

// TestRequests compares CountIn, Add and Sub of both forms of Kueue's requests with
// CopiesFit, Copies, Add and Sub, for whole numbers below 2^53.
func TestRequests(t *testing.T) {
	m := peer.NewMap(t)
	for _, slices := range []bool{false, true} {
		t.Run(fmt.Sprintf("VectorizedResourceRequests=%t", slices), func(t *testing.T) {
			features.SetFeatureGateDuringTest(t, features.VectorizedResourceRequests, slices)
			negative := 0
			peer.Cases(t, func(r peer.Random) error {
				a, b := randomAmounts(r), randomAmounts(r)
				request, ourRequest := newRequests(m, a)
				free, ourFree := newRequests(m, b)

				want, got := int64(request.CountIn(free)), ourRequest.CopiesFit(ourFree)
				for _, n := range a {
					if n < 0 {
						// Kueue divides by a negative request. Here it requests nothing.
						want, got = 0, 0
						negative++
						break
					}
				}
				if len(a) == 0 {
					// Kueue says that a request of nothing fits nowhere, unless it lists a 0.
					want = math.MaxInt32
				}
				if got = min(got, math.MaxInt32); got != want {
					return fmt.Errorf("CountIn(%v, %v): Kueue %d, ours %d", a, b, want, got)
				}
				rows := m.NewMatrix(0)
				rows.AppendRow(ourFree)
				copies := []int64{0}
				if vector.Copies(copies, rows, ourRequest); copies[0] != ourRequest.CopiesFit(ourFree) {
					return fmt.Errorf("Copies %d, CopiesFit %d", copies[0], ourRequest.CopiesFit(ourFree))
				}

				sum, ourSum := free.Clone(), ourFree.Clone()
				sum.Add(request)
				ourSum.Add(ourRequest)
				difference, ourDifference := free.Clone(), ourFree.Clone()
				difference.Sub(request)
				ourDifference.Sub(ourRequest)
				for i, name := range m.All() {
					if want, got := sum.ResourceValue(corev1.ResourceName(name)), ourSum[i]; float64(want) != got {
						return fmt.Errorf("%s: %v + %v: Kueue %d, ours %v", name, b, a, want, got)
					}
					if want, got := difference.ResourceValue(corev1.ResourceName(name)), ourDifference[i]; float64(want) != got {
						return fmt.Errorf("%s: %v - %v: Kueue %d, ours %v", name, b, a, want, got)
					}
				}
				return nil
			})
			t.Logf("%d requests with a negative amount", negative)
		})
	}
}

// BenchmarkRequests counts how often a pod fits on each of 5,000 nodes, and adds and
// subtracts it.
func BenchmarkRequests(b *testing.B) {
	const nodes = 5000
	names := peer.Names[:6]
	m := peer.NewMap(b)
	r := peer.NewRandom(1)
	free, ours := make([]resources.Requests, nodes), m.NewMatrix(0)
	var v vector.ResourceVector
	for i := range free {
		amounts := map[corev1.ResourceName]int64{}
		for _, name := range names {
			amounts[name] = 1000 * r.Int64N(64)
		}
		free[i], v = newRequests(m, amounts)
		ours.AppendRow(v)
	}
	const questions = 8
	var requests [questions]resources.Requests
	var ourRequests [questions]vector.ResourceVector
	for k := range requests {
		amounts := map[corev1.ResourceName]int64{corev1.ResourcePods: 1}
		for _, at := range r.Perm(len(names))[:3] {
			amounts[names[at]] = 1 + r.Int64N(8000)
		}
		requests[k], ourRequests[k] = newRequests(m, amounts)
	}
	row := peer.Row{Peer: "Kueue", Module: "sigs.k8s.io/kueue", Questions: questions}
	b.Run("CountIn", func(b *testing.B) {
		row, theirs, copies := row, make([]int32, nodes), make([]int64, nodes)
		row.Function, row.Ours, row.Goal, row.Work = "Requests.CountIn", "Copies", 50, "one pod, 5,000 nodes, 4 of 9 resources"
		row.Their = func(k int) {
			for i := range free {
				theirs[i] = requests[k].CountIn(free[i])
			}
		}
		row.Our = func(k int) { vector.Copies(copies, ours, ourRequests[k]) }
		row.Same = func(int) error {
			for i := range theirs {
				if int64(theirs[i]) != copies[i] {
					return fmt.Errorf("node %d: Kueue %d, ours %d", i, theirs[i], copies[i])
				}
			}
			return nil
		}
		row.Bench(b)
	})
	b.Run("AddSub", func(b *testing.B) {
		row, theirs, sum := row, free[0].Clone(), ours.Row(nil, 0)
		row.Function, row.Ours, row.Goal, row.Work = "Requests.Add, Sub", "ResourceVector.Add, Sub", 3, "one pod to a node and back, 4 of 9 resources"
		row.Their = func(k int) { theirs.Add(requests[k]); theirs.Sub(requests[(k+1)%questions]) }
		row.Our = func(k int) { sum.Add(ourRequests[k]); sum.Sub(ourRequests[(k+1)%questions]) }
		row.Same = func(k int) error {
			for i, name := range m.All() {
				if want := theirs.ResourceValue(corev1.ResourceName(name)); float64(want) != sum[i] {
					return fmt.Errorf("%s: Kueue %d, ours %v", name, want, sum[i])
				}
			}
			return nil
		}
		row.Bench(b)
	})
}
