package fairshare

import (
	"cmp"
	"math/bits"
)

// event is a level at which an item begins to rise, at v = lo, or stops, at v = hi: v/w.
type event struct {
	v, w  int64
	stops bool
}

// part is what is left of an item's amount below the unit, in units of 1/den.
type part struct {
	rest  uint64
	child int32 // those that are poured together are in the order of ranks
}

// fill adds to d.got what each item gets of an amount, which lies between the sums of lo and of
// hi. It finds the level l at which the amounts min(max(l*w, lo), hi) add up to it, and rounds
// these to whole units: down, and then one unit more for the greatest fractional parts, ties by
// rank.
//
// Think of the items as vessels of w square units each, with a floor at lo and a lid at hi,
// that are filled to one level. The sum of what is in them is a straight line between two
// events, an item's lid or floor: constant + level*slope. So it is enough to know between
// which events the amount lies; there the level is (amount-constant)/slope.
//
// The level is a fraction, found by selection (Hoare's quickselect) among the levels at
// which items begin and stop to rise. So it takes linear time, and neither the order of the
// items nor the choice of pivots shows in the answer.
func (d *division) fill(items []item, amount int64) {
	// constant + level*slope is the sum, between the events before and those after the level.
	constant, slope := int64(0), int64(0)
	d.events = resized(d.events, 2*len(items))
	events := d.events[:0]
	for i := range items {
		x := &items[i]
		if x.lo == 0 {
			slope += x.w // it rises from the start
		} else {
			constant += x.lo
			events = append(events, event{x.lo, x.w, false})
		}
		events = append(events, event{x.hi, x.w, true})
	}
	// Each turn picks one of the events that are left, sums up to it, and keeps those on the side
	// where the level must be. On average that halves them, so all turns together cost about three
	// looks at each event, where sorting would cost the logarithm of their number.
	last := event{0, 1, false} // the greatest level known to be not too high
	random := uint64(1)
	for len(events) > 0 {
		random = random*6364136223846793005 + 1442695040888963407
		high, _ := bits.Mul64(random, uint64(len(events)))
		pivot := events[high]
		low, high2 := partition(events, pivot)
		c, s := constant, slope
		for _, e := range events[:high2] {
			if e.stops {
				c, s = c+e.v, s-e.w
			} else {
				c, s = c-e.v, s+e.w
			}
		}
		// Is the sum at the pivot's level, c + s*v/w, more than the amount?
		if c > amount || less(amount-c, pivot.w, pivot.v, s) {
			events = events[:low]
			continue
		}
		constant, slope, last = c, s, pivot
		events = events[high2:]
	}
	num, den := uint64(amount-constant), uint64(slope)
	if slope == 0 { // all have stopped, or none has begun
		num, den = uint64(last.v), uint64(last.w)
	}
	d.round(items, amount, num, den)
}

// less reports whether a*b < c*d.
func less(a, b, c, d int64) bool {
	hi1, lo1 := bits.Mul64(uint64(a), uint64(b))
	hi2, lo2 := bits.Mul64(uint64(c), uint64(d))
	return hi1 < hi2 || hi1 == hi2 && lo1 < lo2
}

func compare128(hi1, lo1, hi2, lo2 uint64) int {
	if hi1 != hi2 {
		return cmp.Compare(hi1, hi2)
	}
	return cmp.Compare(lo1, lo2)
}

// partition moves the events below the pivot's level to the front and those above it to the
// back; those at it are events[low:high]. Many queues have the same weight and wants, so that many
// events are at one level: they are decided together.
func partition(events []event, pivot event) (low, high int) {
	high = len(events)
	for i := 0; i < high; {
		e := events[i]
		switch {
		case less(e.v, pivot.w, pivot.v, e.w):
			events[i], events[low] = events[low], e
			low++
			i++
		case less(pivot.v, e.w, e.v, pivot.w):
			high--
			events[i], events[high] = events[high], e
		default:
			i++
		}
	}
	return low, high
}

// round adds to d.got what each item has at the level num/den, in whole units that add up.
func (d *division) round(items []item, amount int64, num, den uint64) {
	d.parts = resized(d.parts, len(items))
	parts := d.parts[:0]
	for i := range items {
		x, got := &items[i], items[i].hi
		// num/den*w, in 128 bits: num and w are below 2^63 each.
		hi, lo := bits.Mul64(num, uint64(x.w))
		if hi < den { // else it is 2^64 or more
			if q, rest := bits.Div64(hi, lo, den); q < uint64(x.hi) {
				got = max(int64(q), x.lo)
				if rest > 0 && int64(q) >= x.lo {
					parts = append(parts, part{rest, x.child})
				}
			}
		}
		amount -= got
		d.got[x.child] += got
		if d.isTraced {
			d.levels[x.child] = level{num, den, uint64(x.w)}
		}
	}
	for _, p := range greatest(parts, int(amount)) {
		d.got[p.child]++
	}
}

// before reports whether p gets an odd unit before q.
func (p part) before(q part) bool {
	return p.rest > q.rest || p.rest == q.rest && p.child < q.child
}

// greatest moves the n parts that get a unit to the front, in any order, and returns them. It
// is a quickselect, too: to sort all parts for the sake of a few units would be the most
// expensive step of a division.
func greatest(parts []part, n int) []part {
	random := uint64(1)
	for first, end := 0, len(parts); end-first > 1 && first < n && n < end; {
		random = random*6364136223846793005 + 1442695040888963407
		k, _ := bits.Mul64(random, uint64(end-first))
		pivot := parts[first+int(k)]
		parts[first+int(k)] = parts[end-1]
		split := first
		for i := first; i < end-1; i++ {
			if parts[i].before(pivot) {
				parts[i], parts[split] = parts[split], parts[i]
				split++
			}
		}
		parts[end-1], parts[split] = parts[split], pivot
		if split < n {
			first = split + 1
		} else {
			end = split
		}
	}
	return parts[:n]
}
