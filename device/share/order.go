package share

import (
	"cmp"
	"slices"
)

// Candidate is a device to be put in order.
type Candidate struct {
	Minor     int32
	PCIeRoot  string // empty: unknown
	Preferred bool
	Score     int64

	index int // of the device that [Scorer.Allocate] considers
}

// Order sorts devices: the preferred ones first, then the highest score first,
// then the lowest minor first. The sort is stable.
func Order(devices []Candidate) { slices.SortStableFunc(devices, compareCandidates) }

// OrderByPCIe sorts devices so that the first ones are spread over the given
// PCIe roots. The devices of each of the roots are put in the order of [Order],
// and in rounds one of each is taken, every round in that order again. Devices
// elsewhere come last, also in that order. An empty root counts for nothing.
// (Koordinator, deviceshare: the order of NICs near the GPUs of a pod.)
func OrderByPCIe(devices []Candidate, roots []string) {
	Order(devices)
	taken := make(map[string]int, len(roots)) // by root
	for _, root := range roots {
		if root != "" {
			taken[root] = 0
		}
	}
	type placed struct {
		Candidate
		round int // negative: elsewhere
	}
	rounds := make([]placed, len(devices))
	for i, d := range devices {
		round, ok := taken[d.PCIeRoot]
		if ok {
			taken[d.PCIeRoot]++
		} else {
			round = -1
		}
		rounds[i] = placed{d, round}
	}
	// Equal rounds stay in the order of Order, and -1 is the largest as unsigned.
	slices.SortStableFunc(rounds, func(a, b placed) int { return cmp.Compare(uint(a.round), uint(b.round)) })
	for i, p := range rounds {
		devices[i] = p.Candidate
	}
}

// compareCandidates compares by [Order].
func compareCandidates(a, b Candidate) int {
	return cmp.Or(
		comparePreferred(a, b),
		cmp.Compare(b.Score, a.Score),
		cmp.Compare(a.Minor, b.Minor),
	)
}

// comparePreferred puts preferred devices first.
func comparePreferred(a, b Candidate) int {
	switch {
	case a.Preferred == b.Preferred:
		return 0
	case a.Preferred:
		return -1
	}
	return 1
}
