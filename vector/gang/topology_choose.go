package gang

import (
	"cmp"
	"slices"
)

// choices are domains or rows to choose from. The extra is what goes to one of them only:
// the leader, or the last slice if that is smaller.
type choices[T int32 | int64] struct {
	ids       []int32 // in order
	have      []T     // per id: how much it has
	withExtra []T     // per id: how much with the extra there, noPlace where that does not fit; not read without one
	pods      []T     // per id: decides among those that have the same; nil when it is the same as have

	podsWithExtra []T // the same with the extra there
}

// picked is one that was chosen.
type picked struct {
	id    int32
	at    int32 // its place among the choices
	extra bool  // it takes the extra
	take  int64
}

// chooser is the rule by which domains and rows are chosen, and its scratch.
type chooser struct {
	leastFree bool
	amounts   []int32 // per place: how much it has
	number    []int32 // per amount: how many have it
	group     []int32 // places of those that have one amount
	ranked    []int32 // places in the order of choosing
	sums      []int64
	later     []int64
}

// choose appends to dst what is taken to make up need, and reports whether that is
// enough. The first rule: of those that suffice alone the one that has the fewest. With
// several, and when none suffices, they are taken from the front.
func choose[T int32 | int64](c *chooser, dst []picked, from choices[T], need int64, extra, several bool) ([]picked, bool) {
	if at := from.alone(need, extra); at >= 0 {
		return append(dst, picked{id: from.ids[at], at: int32(at), extra: extra, take: need}), true
	}
	switch {
	case !several:
		return dst, false
	case extra || need > mostCounted:
		return chooseRanked(c, dst, from, need, extra)
	}
	return chooseWhole(c, dst, from, need)
}

// alone returns the place of the one that suffices and has the fewest, then the fewest
// pods, then is the first; -1 when none suffices. It keeps the large gaps for large gangs.
func (f *choices[T]) alone(need int64, extra bool) int {
	have, pods := f.have, f.pods
	if extra {
		have, pods = f.withExtra, f.podsWithExtra
	}
	best := -1
	for at, id := range f.ids {
		x := have[id]
		if int64(x) < need || best >= 0 && x > have[f.ids[best]] {
			continue
		}
		if best < 0 || x < have[f.ids[best]] || pods != nil && pods[id] < pods[f.ids[best]] {
			best = at
		}
	}
	return best
}

// podsOf returns the pods of the one at a place. They break ties between domains of equally
// many slices: the one that wastes less room comes first.
func (f *choices[T]) podsOf(at int) T {
	if f.pods == nil {
		return f.have[f.ids[at]]
	}
	return f.pods[f.ids[at]]
}

// mostCounted is up to which amount chooseWhole counts how many have each. Clearing the
// counts of larger amounts would cost more than sorting.
const mostCounted = 1 << 16

// chooseWhole takes whole ones from the front, and the last by choose's first rule.
// Each has less than need. It sorts no more than the ones that have the same amount:
// thousands of hosts have a handful of amounts, and counting them is one pass.
func chooseWhole[T int32 | int64](c *chooser, dst []picked, from choices[T], need int64) ([]picked, bool) {
	c.amounts, c.number = resized(c.amounts, len(from.ids)), resized(c.number, int(need))
	clear(c.number) // by amount, from 0 to need-1
	sum := int64(0)
	for at, id := range from.ids {
		x := from.have[id]
		c.amounts[at] = int32(x)
		c.number[x]++
		sum += int64(x)
	}
	if sum < need {
		return dst, false
	}
	// All that come before those with the border's amount are taken, some of the
	// border's, and one more for the rest.
	border, rest := c.border(need)
	some := (rest - 1) / border
	rest -= some * border
	last := border
	if !c.leastFree {
		for last = rest; last < border && c.number[last] == 0; last++ {
		}
	}
	// Without pods to compare, the border's first are the first by path.
	most := int(c.number[border])
	if from.pods == nil {
		most = int(some) + 1
	}
	c.group = c.group[:0]
	final := -1
	for at, amount := range c.amounts {
		switch x := int64(amount); {
		case x == border:
			if len(c.group) < most {
				c.group = append(c.group, int32(at))
			}
		case x > border != c.leastFree && x > 0:
			dst = append(dst, picked{id: from.ids[at], at: int32(at), take: x})
		case x == last && (final < 0 || from.pods != nil && from.podsOf(at) < from.podsOf(final)):
			final = at
		}
	}
	if from.pods != nil {
		slices.SortStableFunc(c.group, func(a, b int32) int {
			return cmp.Compare(from.podsOf(int(a)), from.podsOf(int(b)))
		})
	}
	for _, at := range c.group[:some] {
		dst = append(dst, picked{id: from.ids[at], at: at, take: border})
	}
	if last == border {
		final = int(c.group[some])
	}
	return append(dst, picked{id: from.ids[final], at: int32(final), take: rest}), true
}

// border returns the amount of the one with which need is reached, and what is left of
// need for those that have this amount. All together are enough, so the walk ends.
func (c *chooser) border(need int64) (border, rest int64) {
	step, x := int64(-1), int64(len(c.number)-1)
	if c.leastFree {
		step, x = 1, 1
	}
	for ; ; x += step {
		whole := int64(c.number[x]) * x
		if whole >= need {
			return x, need
		}
		need -= whole
	}
}

// chooseRanked is choose when none suffices alone. The extra goes where as few as can
// be are enough, or, with the least free first, where all are: of those to the one that
// has the most with it, or the least, then the fewest pods, then is the first.
func chooseRanked[T int32 | int64](c *chooser, dst []picked, from choices[T], need int64, extra bool) ([]picked, bool) {
	have := func(at int32) int64 { return int64(from.have[from.ids[at]]) }
	withExtra := func(at int32) int64 { return int64(from.withExtra[from.ids[at]]) }
	c.ranked = c.ranked[:0]
	sum, gain := int64(0), int64(minGain)
	for at := range int32(len(from.ids)) {
		x := have(at)
		if extra && withExtra(at) != noPlace {
			gain = max(gain, withExtra(at)-x)
		} else if x == 0 {
			continue
		}
		c.ranked = append(c.ranked, at)
		sum += x
	}
	if !extra {
		gain = 0
	}
	if gain == minGain || sum+gain < need { // to refuse takes no sorting
		return dst, false
	}
	// Stable: among equals the order of the paths decides, which is the one they come in.
	slices.SortStableFunc(c.ranked, func(a, b int32) int {
		by := cmp.Compare(have(b), have(a))
		if c.leastFree {
			by = -by
		}
		return cmp.Or(by, cmp.Compare(from.podsOf(int(a)), from.podsOf(int(b))))
	})
	if extra {
		place := c.extraAmong(have, withExtra, need, func(a, b int32) int {
			by := cmp.Compare(withExtra(b), withExtra(a))
			if c.leastFree {
				by = -by
			}
			if by == 0 && from.podsWithExtra != nil {
				by = cmp.Compare(from.podsWithExtra[from.ids[a]], from.podsWithExtra[from.ids[b]])
			}
			return cmp.Or(by, cmp.Compare(a, b))
		})
		at := c.ranked[place]
		dst = append(dst, picked{id: from.ids[at], at: at, extra: true, take: withExtra(at)})
		need -= withExtra(at)
		c.ranked = slices.Delete(c.ranked, place, place+1)
	}
	for i := 0; need > 0; i++ {
		at := c.ranked[i]
		x := have(at)
		if x == 0 { // only the extra would fit there
			continue
		}
		if x < need {
			dst = append(dst, picked{id: from.ids[at], at: at, take: x})
			need -= x
			continue
		}
		if !c.leastFree { // the fewest that suffice stand last, and the first of equals first
			for _, other := range c.ranked[i+1:] {
				if have(other) < need {
					break
				}
				if have(other) < have(at) {
					at = other
				}
			}
		}
		return append(dst, picked{id: from.ids[at], at: at, take: need}), true
	}
	return dst, true
}

// extraAmong returns the place in c.ranked of the one that takes the extra, when all
// together are enough. order says which of those that may is the first.
func (c *chooser) extraAmong(have, withExtra func(at int32) int64, need int64, order func(a, b int32) int) int {
	n := len(c.ranked)
	// Sums of the first, and the most with the extra among the last, make each test of a
	// number of domains O(1).
	c.sums, c.later = resized(c.sums, n+1), resized(c.later, n+1)
	c.sums[0], c.later[n] = 0, noPlace
	for i, at := range c.ranked {
		c.sums[i+1] = c.sums[i] + have(at)
	}
	for i := n - 1; i >= 0; i-- {
		c.later[i] = max(c.later[i+1], withExtra(c.ranked[i]))
	}
	// enough reports whether k of them are, with the extra on the one at place i.
	enough := func(i, k int) bool {
		at := c.ranked[i]
		if withExtra(at) == noPlace {
			return false
		}
		if i < k {
			return c.sums[k]-have(at)+withExtra(at) >= need
		}
		return c.sums[k-1]+withExtra(at) >= need
	}
	least := n
	if !c.leastFree {
		gain := int64(minGain)
		for least = 1; ; least++ {
			// The extra is on one of the first, or in place of the last of them.
			if at := c.ranked[least-1]; withExtra(at) != noPlace {
				gain = max(gain, withExtra(at)-have(at))
			}
			if gain > minGain && c.sums[least]+gain >= need ||
				c.later[least-1] != noPlace && c.sums[least-1]+c.later[least-1] >= need {
				break
			}
		}
	}
	best := -1
	for i := range n {
		if enough(i, least) && (best < 0 || order(c.ranked[i], c.ranked[best]) < 0) {
			best = i
		}
	}
	return best
}

const minGain = -1 << 62

// noPlace is the number of places with an extra that does not fit.
const noPlace = -1
