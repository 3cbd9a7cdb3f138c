package share

import (
	"fmt"

	"github.com/resvec/resvec/scoring/gpu"
)

const (
	wholeDevice = 100 // percent
	milliRatio  = 10  // thousandths in a percent

	// Up to this sum of weights all fragmentation is exact in a float64.
	maxMixWeight = (1<<53 - 1) / (wholeDevice * milliRatio)
)

// newMix returns the measure of fragmentation by a mix of pods: the node has one
// device and no CPU, of which no pod wants any.
func newMix(mix []Share) (*gpu.Typical, error) {
	pods := make([]gpu.TypicalPod, len(mix))
	sum := int64(0)
	for i, m := range mix {
		switch {
		case m.Ratio <= 0:
			return nil, fmt.Errorf("%w: mix[%d].ratio: %d: must be above 0 percent of a device", ErrInvalidUnit, i, m.Ratio)
		case m.Weight < 0:
			return nil, fmt.Errorf("%w: mix[%d].weight: %d: must be 0 or more", ErrInvalidUnit, i, m.Weight)
		case m.Weight > maxMixWeight-sum:
			return nil, fmt.Errorf("share: mix[%d].weight: %d: the sum of weights must be at most %d: %w", i, m.Weight, int64(maxMixWeight), ErrNotRepresentable)
		}
		sum += m.Weight
		pods[i] = gpu.TypicalPod{
			Count:  1,
			Milli:  float64(milliRatio * min(m.Ratio, wholeDevice)),
			Weight: float64(m.Weight),
		}
	}
	typical, err := gpu.WeightedPods(pods)
	if err != nil {
		return nil, fmt.Errorf("share: mix: %w", err)
	}
	return typical, nil
}

// fragmentationChange returns by how much an instance makes the fragmentation of
// the device grow, in percent of a device times the weights of the mix.
func (d *considered) fragmentationChange(mix *gpu.Typical) (int64, error) {
	want, err := ratioOf(d.amounts[GPUMemoryRatio], d.amounts[GPUMemory], d.state)
	if err != nil {
		return 0, err
	}
	free := d.state.Free[GPUMemoryRatio]
	if d.state.Total[GPUMemoryRatio] == 0 {
		if free, err = ratioOf(free, d.state.Free[GPUMemory], d.state); err != nil {
			return 0, err
		}
	}
	return fragmentationOf(mix, free-want) - fragmentationOf(mix, free), nil
}

// fragmentationOf returns how much is useless of a device with this much free: the
// percentage times the weight of every pod that is too large for it, so nothing
// where a whole device or more is free.
func fragmentationOf(mix *gpu.Typical, free int64) int64 {
	left := [1]float64{float64(milliRatio * min(max(free, 0), wholeDevice))}
	return int64(mix.FNode(0, left[:], -1)) / milliRatio
}

// ratioOf returns an amount of memory in percent of a device: the ratio, or the
// bytes if that is 0.
func ratioOf(ratio, bytes int64, d *State) (int64, error) {
	if ratio != 0 || bytes <= 0 {
		return ratio, nil
	}
	ratio, err := BytesToRatio(bytes, d.Total[GPUMemory])
	if err != nil {
		return 0, fmt.Errorf("%s %d: %w", d.Kind, d.Minor, err)
	}
	return ratio, nil
}
