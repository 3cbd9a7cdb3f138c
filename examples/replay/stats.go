package main

import (
	"math"
	"slices"
)

// A reading is what is reported of a cluster after an arrival, in percent.
type reading struct {
	alloc float64 // placed, of the capacity
	frag  float64 // fragmented, of the capacity
	ratio float64 // fragmented, of what is free
}

// metrics says which reading is which, in the order of the CSV file.
var metrics = [...]func(reading) float64{
	func(r reading) float64 { return r.alloc },
	func(r reading) float64 { return r.frag },
	func(r reading) float64 { return r.ratio },
}

func (r reading) plus(o reading) reading {
	return reading{r.alloc + o.alloc, r.frag + o.frag, r.ratio + o.ratio}
}

func (r reading) over(n int) reading {
	d := float64(n)
	return reading{r.alloc / d, r.frag / d, r.ratio / d}
}

// A curve is the course of one run: readings by the demand that had arrived, in
// whole percent of the capacity.
type curve struct {
	capacity int64
	bins     []bin // ascending, those with an event only
}

// A bin is the sum of the readings whose demand rounds to its percentage.
type bin struct {
	percent int64
	events  int
	sum     reading
}

// record adds the reading after one arrival: what has arrived and what was
// placed so far, in thousandths of a device, and how much of the free devices is
// fragmented.
func (c *curve) record(arrived, placed int64, frag float64) {
	capacity := float64(c.capacity)
	r := reading{alloc: 100 * float64(placed) / capacity, frag: 100 * frag / capacity}
	if placed < c.capacity {
		r.ratio = 100 * frag / float64(c.capacity-placed)
	}
	percent := roundHalfEven(100*arrived, c.capacity)
	if n := len(c.bins); n == 0 || c.bins[n-1].percent != percent {
		c.bins = append(c.bins, bin{percent: percent})
	}
	b := &c.bins[len(c.bins)-1]
	b.sum = b.sum.plus(r)
	b.events++
}

// roundHalfEven returns a/b rounded to the nearest whole number, halves to the
// even one. a is not negative and b is positive.
func roundHalfEven(a, b int64) int64 {
	q, r := a/b, a%b
	if r > b-r || r == b-r && q%2 == 1 {
		q++
	}
	return q
}

// at returns the mean of the readings of a bin. Where it has none, it is the
// mean over its two neighbors; false when these have none either.
func (c *curve) at(percent int64) (reading, bool) {
	b := c.bin(percent)
	if b.events == 0 {
		below, above := c.bin(percent-1), c.bin(percent+1)
		b.sum, b.events = below.sum.plus(above.sum), below.events+above.events
	}
	return b.sum.over(max(b.events, 1)), b.events > 0
}

// bin returns a bin, without events when there was none.
func (c *curve) bin(percent int64) bin {
	i, ok := slices.BinarySearchFunc(c.bins, percent, func(b bin, p int64) int { return int(b.percent - p) })
	if !ok {
		return bin{}
	}
	return c.bins[i]
}

// percents returns the bins that have a value, ascending.
func (c *curve) percents() []int64 {
	var all []int64
	for _, b := range c.bins {
		all = append(all, b.percent-1, b.percent, b.percent+1)
	}
	if len(all) > 0 {
		all = all[1 : len(all)-1] // between the first and the last
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// A spread is a mean and a sample standard deviation over runs.
type spread struct {
	n        int
	mean, sd float64 // sd is 0 below two runs
}

// spreadOf returns the spread of values.
func spreadOf(values []float64) spread {
	s := spread{n: len(values)}
	if s.n == 0 {
		return s
	}
	for _, x := range values {
		s.mean += x
	}
	s.mean /= float64(s.n)
	if s.n > 1 {
		squares := 0.0
		for _, x := range values {
			squares += float64((x - s.mean) * (x - s.mean)) // rounded: no fused operation
		}
		s.sd = math.Sqrt(squares / float64(s.n-1))
	}
	return s
}

// spreadAt returns the spread of a metric over runs at a percentage, over those
// that have a value there.
func spreadAt(curves []*curve, percent int64, metric func(reading) float64) spread {
	values := make([]float64, 0, len(curves))
	for _, c := range curves {
		if r, ok := c.at(percent); ok {
			values = append(values, metric(r))
		}
	}
	return spreadOf(values)
}
