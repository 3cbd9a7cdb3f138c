package share_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/device/share"
)

func TestExplainScore(t *testing.T) {
	half := need(device.KindGPU, "CORE 50, RATIO 50", 1)
	nic := need(device.KindRDMA, "RDMA 50", 1)
	for _, c := range []struct {
		name    string
		explain func() (string, error)
		want    string
	}{
		{"S5", func() (string, error) {
			return explainNode(needScorer(t, share.LeastAllocated, true), []share.Requirement{half}, []share.State{gpu16(0, idle16)})
		}, `
score 75 LeastAllocated
gpu: 75, devices: 1
  resource                         weight  request  total  free  used  score
  koordinator.sh/gpu-memory-ratio  1       50       100    100   50    50
  koordinator.sh/gpu-memory        1       0        16Gi   16Gi  0     100
`},
		{"S4 and two NICs", func() (string, error) {
			return explainNode(needScorer(t, share.MostAllocated, true), []share.Requirement{half, nic}, []share.State{gpu16(0, quarter16), needNIC(0, 100), needNIC(1, 110)})
		}, `
score 150 MostAllocated
gpu: 50, devices: 1
  resource                         weight  request  total  free  used  score
  koordinator.sh/gpu-memory-ratio  1       50       100    75    75    75
  koordinator.sh/gpu-memory        1       0        16Gi   12Gi  4Gi   25
rdma: 100, devices: 2
  resource             weight  request  total  free  used  score
  koordinator.sh/rdma  1       50       200    210   200   100, free above total
`},
		{"filled", func() (string, error) {
			return explainNode(needScorer(t, share.LeastAllocated, false, share.Config{FillMemory: true}), []share.Requirement{need(device.KindGPU, "MEM 4296015872", 1)}, []share.State{gpu16(0, quarter16)})
		}, `
score 50 LeastAllocated
gpu: 50, devices: 1
  resource                         weight  request  total  free  used    score
  koordinator.sh/gpu-memory-ratio  1       25       100    75    50      50
  koordinator.sh/gpu-memory        0       4097Mi   16Gi   12Gi  8193Mi  no weight
`},
		{"no needs", func() (string, error) {
			return explainNode(needScorer(t, share.LeastAllocated, false), nil, nil)
		}, "\nscore 0 LeastAllocated\n"},
		{"nil", func() (string, error) { return explainNode(nil, nil, nil) }, "\nscore 0 LeastAllocated\n"},
	} {
		got, err := c.explain()
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if diff := cmp.Diff(strings.Split(c.want, "\n"), strings.Split("\n"+got, "\n")); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}
