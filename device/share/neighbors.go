package share

import (
	"cmp"
	"slices"
)

// neighbors are devices of the second kind that the first one needs on its PCIe
// roots: as many as are wanted, wherever they are.
type neighbors struct {
	second *consideration
	roots  []string // where some fit, ascending
	counts []int64  // how many, by root
}

func neighborsOf(second *consideration) *neighbors {
	b := &neighbors{second: second, roots: knownRoots(second.fitting)}
	b.counts = make([]int64, len(b.roots))
	for _, d := range second.fitting {
		if i, found := slices.BinarySearch(b.roots, d.state.PCIeRoot); found {
			b.counts[i]++
		}
	}
	return b
}

// on returns how many neighbors fit on a root; an unknown one has none.
func (b *neighbors) on(root string) int64 {
	if i, found := slices.BinarySearch(b.roots, root); found {
		return b.counts[i]
	}
	return 0
}

// reach returns how many neighbors as many devices of a part as are wanted can
// have, or Count of them if that is less.
func (c *consideration) reach(from part) int64 {
	return c.neighbors.reach(nil, c.ordered(nil, from), c.req.Count)
}

// reach returns how many neighbors devices can have that are taken together with
// n of the rest, or Count of them if that is less.
func (b *neighbors) reach(taken, rest []*candidate, n int64) int64 {
	roots, reached := pcieRoots(taken), int64(0)
	for _, root := range roots {
		reached += b.on(root)
	}
	var more []int64
	for _, root := range pcieRoots(rest) {
		if _, found := slices.BinarySearch(roots, root); !found {
			more = append(more, b.on(root))
		}
	}
	slices.Sort(more)
	for _, count := range more[max(int64(len(more))-n, 0):] {
		reached += count
	}
	return min(reached, b.second.req.Count)
}

// refusal says that the neighbors on n of these roots are all that can be had, and
// leaves those that fit elsewhere out.
func (b *neighbors) refusal(roots []string, n int64) *NotEnoughError {
	slices.SortStableFunc(roots, func(x, y string) int { return cmp.Compare(b.on(y), b.on(x)) })
	roots = roots[:min(int64(len(roots)), n)]
	c := b.second
	c.fitting = slices.DeleteFunc(c.fitting, func(d *candidate) bool {
		if slices.Contains(roots, d.state.PCIeRoot) {
			return false
		}
		d.cause = CauseApart
		return true
	})
	return c.refusal(int64(len(c.fitting)))
}

// knownRoots returns the distinct roots of devices, ascending, without the unknown.
func knownRoots(devices []*candidate) []string {
	return slices.DeleteFunc(pcieRoots(devices), func(root string) bool { return root == "" })
}

// pick returns Count of the devices of a part, which are in order: the first ones
// or, where neighbors are needed, the first choice that has as many as can be.
func (c *consideration) pick(ordered []*candidate) []*candidate {
	if c.neighbors == nil {
		return ordered[:c.req.Count]
	}
	taken := make([]*candidate, 0, c.req.Count)
	need := c.neighbors.reach(nil, ordered, c.req.Count)
	for i, d := range ordered {
		left, rest := c.req.Count-int64(len(taken))-1, ordered[i+1:]
		if left < 0 {
			break
		}
		with := append(taken, d)
		if int64(len(rest)) >= left && c.neighbors.reach(with, rest, left) >= need {
			taken = with
		}
	}
	return taken
}

// pcieRoots returns the distinct roots of devices, ascending.
func pcieRoots(devices []*candidate) []string {
	roots := make([]string, len(devices))
	for i, d := range devices {
		roots[i] = d.state.PCIeRoot
	}
	slices.Sort(roots)
	return slices.Compact(roots)
}
