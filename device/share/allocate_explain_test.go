package share_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/device/share"
	"github.com/resvec/resvec/scoring/gpu"
)

func TestExplainAllocation(t *testing.T) {
	mixed := allocEight(0)
	mixed[7].Health = device.Unhealthy
	mixed[6].Free = allocAmounts(40)
	for _, test := range []struct {
		name    string
		request share.AllocRequest
		devices []share.State
		want    string
	}{
		{"of everything some", share.AllocRequest{Requirement: share.Requirement{Kind: device.KindGPU, PerInstance: allocHalf, Count: 1}, Policy: share.PackTopology, Preferred: []int32{3}}, mixed, `
PackTopology: 1 from PCIe root 0 of NUMA node 0
  minor  NUMA  PCIe  preferred  change  score  verdict
  1      0     0     no         -       50     chosen
  3      0     1     yes        -       50     outside scope
  2      0     1     no         -       50     outside scope
  4      1     2     no         -       50     outside scope
  5      1     2     no         -       50     outside scope
  0      0     0     -          -       -      exhausted
  6      1     3     -          -       -      insufficient koordinator.sh/gpu-core (want 50, 40 free), insufficient koordinator.sh/gpu-memory-ratio (want 50, 40 free)
  7      1     3     -          -       -      unhealthy
`[1:]},
		{"nothing", share.AllocRequest{Requirement: share.Requirement{Kind: device.KindGPU}}, nil, "ByScore: 0 from the node\n"},
		{"refused for the scope", share.AllocRequest{Requirement: share.Requirement{Kind: device.KindGPU, PerInstance: allocWhole, Count: 5}, Scope: share.ScopeNUMA}, allocEight()[:5], `
ByScore: refused, 4 of 5 fit on NUMA node 0
  minor  NUMA  PCIe  preferred  change  score  verdict
  0      0     0     no         -       0      fits
  1      0     0     no         -       0      fits
  2      0     1     no         -       0      fits
  3      0     1     no         -       0      fits
  4      1     2     no         -       0      outside scope
`[1:]},
		{"nothing fits anywhere", share.AllocRequest{Requirement: share.Requirement{Kind: device.KindGPU, PerInstance: allocWhole, Count: 9}, Policy: share.PackTopology}, allocEight(0, 1, 2, 3, 4, 5, 6, 7)[:2], `
PackTopology: refused, 0 of 9 fit on the node
  minor  NUMA  PCIe  preferred  change  score  verdict
  0      0     0     -          -       -      exhausted
  1      0     0     -          -       -      exhausted
`[1:]},
		{"none of the kind", share.AllocRequest{Requirement: share.Requirement{Kind: device.KindFPGA, Count: 1}, Scope: share.ScopePCIe}, allocGPUs(100),
			"ByScore: refused, 0 of 1 fit on the node: no device of the kind\n"},
		{"no topology is known", share.AllocRequest{Requirement: share.Requirement{Kind: device.KindGPU, PerInstance: allocWhole, Count: 1}, Scope: share.ScopeNUMA}, allocGPUs(100), `
ByScore: refused, 0 of 1 fit on any NUMA node
  minor  NUMA  PCIe  preferred  change  score  verdict
  0      -     -     no         -       0      outside scope
`[1:]},
		{"no PCIe root is known", share.AllocRequest{Requirement: share.Requirement{Kind: device.KindGPU, PerInstance: allocWhole, Count: 1}, Policy: share.PackTopology, Scope: share.ScopePCIe}, allocGPUs(100), `
PackTopology: refused, 0 of 1 fit on any PCIe root
  minor  NUMA  PCIe  preferred  change  score  verdict
  0      -     -     no         -       0      outside scope
`[1:]},
		{"A12", share.AllocRequest{Requirement: share.Requirement{Kind: device.KindGPU, PerInstance: share.Amounts{share.GPUMemoryRatio: 30}, Count: 1}, Policy: share.LeastFragmentation, Mix: []gpu.TypicalPod{{Count: 1, Milli: 500, Pods: 1}, {Count: 1, Milli: 1000, Pods: 1}}},
			allocGPUs(100, 50, 30), `
LeastFragmentation: 1 from the node
  minor  NUMA  PCIe  preferred  change  score  verdict
  2      -     -     no         -60     100    chosen
  1      -     -     no         -10     80     not needed
  0      -     -     no         70      30     not needed
`[1:]},
		{"A13", share.AllocRequest{Requirement: share.Requirement{Kind: device.KindGPU, PerInstance: share.Amounts{share.GPUMemoryRatio: 20}, Count: 1}, Policy: share.LeastFragmentation, Mix: []gpu.TypicalPod{{Count: 1, Milli: 200, Pods: 5}, {Count: 1, Milli: 600, Pods: 2}, {Count: 1, Milli: 1000, Pods: 3}}},
			allocGPUs(100, 80, 60, 40), `
LeastFragmentation: 1 from the node
  minor  NUMA  PCIe  preferred  change  score  verdict
  3      -     -     no         -100    80     chosen
  1      -     -     no         -60     40     not needed
  2      -     -     no         20      60     not needed
  0      -     -     no         240     20     not needed
`[1:]},
	} {
		got, err := explainAllocation(allocScorer(t, share.LeastAllocated, false), test.request, test.devices)
		if diff := cmp.Diff(test.want, got.String()); diff != "" || err != nil {
			t.Errorf("%s: error %v\n%s", test.name, err, diff)
		}
	}
}
