package share_test

import (
	"testing"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/device/share"
	"github.com/resvec/resvec/scoring/gpu"
)

// BenchmarkAllocate chooses among the eight GPUs of a node.
func BenchmarkAllocate(b *testing.B) {
	s := allocScorer(b, share.MostAllocated, true)
	node := allocEight(0, 5)
	node[3].Free = allocAmounts(50)
	mix := []gpu.TypicalPod{{Count: 1, Milli: 200, Pods: 5}, {Count: 1, Milli: 600, Pods: 2}, {Count: 1, Milli: 1000, Pods: 3}}
	for _, policy := range []share.Policy{share.ByScore, share.PackTopology, share.LeastFragmentation} {
		b.Run("policy="+policy.String()+"/devices=8", func(b *testing.B) {
			b.ReportAllocs()
			req := share.AllocRequest{Requirement: share.Requirement{Kind: device.KindGPU, PerInstance: allocHalf, Count: 1}, Policy: policy, Mix: mix}
			bound := s.Bind(accountOf(b, node))
			for b.Loop() {
				if a, err := bound.Allocate(0, req); err != nil || a.Devices[0].Minor != 3 {
					b.Fatal(a, err)
				}
			}
		})
	}
}
