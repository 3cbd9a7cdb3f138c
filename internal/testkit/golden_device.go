package testkit

import "math/big"

// Device is a resource of one device, for [DeviceScore].
type Device struct{ Request, Total, Free, Weight *big.Int }

// DeviceScore is the golden model of the score of a device, in integers of any size: the
// weighted mean of the percentages that are used with the request, if most is set, or left.
func DeviceScore(resources []Device, most bool) int64 {
	sum, weights := new(big.Int), new(big.Int)
	for _, r := range resources {
		if r.Total.Sign() <= 0 {
			continue
		}
		used := r.Total // of more than all that is free, too
		if r.Free.Cmp(r.Total) <= 0 {
			used = new(big.Int).Sub(r.Total, r.Free)
			used.Add(used, r.Request)
		}
		if used.Cmp(r.Total) > 0 {
			used = r.Total
		}
		if !most {
			used = new(big.Int).Sub(r.Total, used)
		}
		score := new(big.Int).Mul(used, big.NewInt(100))
		sum.Add(sum, score.Mul(score.Quo(score, r.Total), r.Weight))
		weights.Add(weights, r.Weight)
	}
	if weights.Sign() == 0 {
		return 0
	}
	return sum.Quo(sum, weights).Int64()
}
