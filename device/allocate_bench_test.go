package device_test

import (
	"testing"

	"github.com/resvec/resvec/device"
)

// BenchmarkAllocate chooses among the eight GPUs of a node.
func BenchmarkAllocate(b *testing.B) {
	s := allocScorer(b, device.MostAllocated, true)
	node := allocEight(0, 5)
	node[3].Free = allocAmounts(50)
	mix := []device.Share{{Ratio: 20, Weight: 5}, {Ratio: 60, Weight: 2}, {Ratio: 100, Weight: 3}}
	for _, policy := range []device.Policy{device.FirstFit, device.PackTopology, device.LeastFragmentation} {
		b.Run("policy="+policy.String()+"/devices=8", func(b *testing.B) {
			b.ReportAllocs()
			req := device.AllocRequest{PerInstance: allocHalf, Count: 1, Partial: true, Policy: policy, Mix: mix}
			for b.Loop() {
				if a, err := s.Allocate(req, node); err != nil || a.Devices[0].Minor != 3 {
					b.Fatal(a, err)
				}
			}
		})
	}
}
