package koordinator

import (
	"errors"
	"fmt"
	"testing"
	_ "unsafe" // go:linkname

	"github.com/koordinator-sh/koordinator/pkg/scheduler/apis/config"
	_ "github.com/koordinator-sh/koordinator/pkg/scheduler/plugins/deviceshare"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	kubeconfig "k8s.io/kubernetes/pkg/scheduler/apis/config"

	"github.com/resvec/resvec/benchmarks/internal/peer"
	"github.com/resvec/resvec/device/share"
)

// The type deviceScorer and its functions are an adapter to Koordinator, to which
// docs/migration.md links.

// deviceScorer has the methods of the resourceAllocationScorer of DeviceShare.
type deviceScorer struct{ scorer *share.Scorer }

func newDeviceScorer(strategy *config.ScoringStrategy) (deviceScorer, error) {
	cfg := share.Config{Type: string(strategy.Type)}
	for _, r := range strategy.Resources {
		cfg.Resources = append(cfg.Resources, share.ResourceSpec{Name: r.Name, Weight: r.Weight})
	}
	scorer, err := share.NewScorer(cfg)
	return deviceScorer{scorer}, err
}

// scoreNode scores all devices of one type together, by their minors.
func (s deviceScorer) scoreNode(podRequest corev1.ResourceList, total, free map[int]corev1.ResourceList) (int64, error) {
	request, _, err := share.FromResourceList(podRequest)
	var totals share.Amounts
	for _, list := range total {
		device, _, fault := share.FromResourceList(list)
		for i, n := range device {
			totals[i] += n
		}
		err = errors.Join(err, fault)
	}
	var frees share.Amounts
	for _, list := range free {
		device, _, fault := share.FromResourceList(list)
		for i, n := range device {
			frees[i] += n
		}
		err = errors.Join(err, fault)
	}
	if err != nil {
		return 0, err
	}
	return s.scorer.ScoreDevice(request, totals, frees)
}

// scoreDevice scores one device.
func (s deviceScorer) scoreDevice(podRequest, total, free corev1.ResourceList) (int64, error) {
	return s.scoreNode(podRequest, map[int]corev1.ResourceList{0: total}, map[int]corev1.ResourceList{0: free})
}

// theirScorer is laid out as Koordinator's resourceAllocationScorer, which is not
// exported.
type theirScorer struct {
	_       string // its name
	scorer  func(requested, allocatable map[corev1.ResourceName]int64) int64
	weights map[corev1.ResourceName]int64
}

//go:linkname leastResourceScorer github.com/koordinator-sh/koordinator/pkg/scheduler/plugins/deviceshare.leastResourceScorer
func leastResourceScorer(weights map[corev1.ResourceName]int64) func(requested, allocatable map[corev1.ResourceName]int64) int64

//go:linkname mostResourceScorer github.com/koordinator-sh/koordinator/pkg/scheduler/plugins/deviceshare.mostResourceScorer
func mostResourceScorer(weights map[corev1.ResourceName]int64) func(requested, allocatable map[corev1.ResourceName]int64) int64

//go:linkname scoreDevice github.com/koordinator-sh/koordinator/pkg/scheduler/plugins/deviceshare.(*resourceAllocationScorer).scoreDevice
func scoreDevice(s *theirScorer, podRequest, total, free corev1.ResourceList) int64

//go:linkname scoreNode github.com/koordinator-sh/koordinator/pkg/scheduler/plugins/deviceshare.(*resourceAllocationScorer).scoreNode
func scoreNode(s *theirScorer, podRequest corev1.ResourceList, total, free map[int]corev1.ResourceList) int64

func newTheirScorer(strategy *config.ScoringStrategy) *theirScorer {
	s := &theirScorer{weights: map[corev1.ResourceName]int64{}}
	for _, r := range strategy.Resources {
		s.weights[corev1.ResourceName(r.Name)] = r.Weight
	}
	if s.scorer = leastResourceScorer(s.weights); strategy.Type == config.MostAllocated {
		s.scorer = mostResourceScorer(s.weights)
	}
	return s
}

func randomStrategy(r peer.Random) *config.ScoringStrategy {
	strategy := &config.ScoringStrategy{Type: config.LeastAllocated}
	if r.Chance(50) {
		strategy.Type = config.MostAllocated
	}
	for _, at := range r.Perm(len(resources))[:1+r.IntN(4)] {
		strategy.Resources = append(strategy.Resources, kubeconfig.ResourceSpec{Name: resources[at].String(), Weight: 1 + r.Int64N(100)})
	}
	return strategy
}

// amounts returns what some devices have, or have free.
func amounts(r peer.Random, most int64) corev1.ResourceList {
	list := corev1.ResourceList{}
	for _, name := range resources {
		if r.Chance(60) {
			n := r.Int64N(most + 1)
			if name == share.GPUMemory {
				n <<= 30
			}
			list[corev1.ResourceName(name.String())] = *resource.NewQuantity(n, resource.DecimalSI)
		}
	}
	return list
}

// TestScores: the adapter gives every device and every node the score that Koordinator
// gives it, also where more is free than there is.
func TestScores(t *testing.T) {
	scores := map[bool]int{}
	peer.Cases(t, func(r peer.Random) error {
		strategy := randomStrategy(r)
		their := newTheirScorer(strategy)
		our, err := newDeviceScorer(strategy)
		if err != nil {
			return err
		}
		request := amounts(r, 100)
		total, free := map[int]corev1.ResourceList{}, map[int]corev1.ResourceList{}
		for minor := range r.IntN(9) {
			total[minor] = amounts(r, 100)
			if r.Chance(90) {
				free[minor] = amounts(r, 60)
			}
			want := scoreDevice(their, request, total[minor], free[minor])
			if got, err := our.scoreDevice(request, total[minor], free[minor]); err != nil || got != want {
				return fmt.Errorf("%+v: %v of %v, %v free: %d there, %d here, %v", strategy, request, total[minor], free[minor], want, got, err)
			}
		}
		want := scoreNode(their, request, total, free)
		if got, err := our.scoreNode(request, total, free); err != nil || got != want {
			return fmt.Errorf("%+v: %v of %v, %v free: %d there, %d here, %v", strategy, request, total, free, want, got, err)
		}
		scores[want > 0]++
		return nil
	})
	t.Logf("%d nodes with a score, %d without", scores[true], scores[false])
}
