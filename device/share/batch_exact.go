package share

import (
	"fmt"
	"math"

	"github.com/resvec/resvec/internal/kernel"
)

// eachScore calls f for every element of dst that is selected, with the rows that
// belong to it: all devices of a node, or one. It stops at an error.
func (c *batchCall) eachScore(f func(at, lo, hi int) error) error {
	for k := range c.nodes {
		if c.selected != nil && c.selected[k/kernel.Block]>>(k%kernel.Block)&1 == 0 {
			continue
		}
		lo, hi := int(c.b.Offsets[k]), int(c.b.Offsets[k+1])
		if c.perNode {
			if err := f(k, lo, hi); err != nil {
				return err
			}
			continue
		}
		for r := lo; r < hi; r++ {
			if err := f(r, r, r+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkAmounts returns an error for the first selected amount, sum or amount used
// that is not exact.
func (c *batchCall) checkAmounts() error {
	return c.eachScore(func(at, lo, hi int) error {
		for j := range c.columns() {
			if err := c.checkRows("total", j, c.b.Total.Column(j), lo, hi); err != nil {
				return err
			}
			if err := c.checkRows("free", j, c.b.Free.Column(j), lo, hi); err != nil {
				return err
			}
		}
		for j := range c.columns() {
			if err := c.checkSums(at, j, lo, hi); err != nil {
				return err
			}
		}
		return nil
	})
}

// checkRows checks some rows of a column.
func (c *batchCall) checkRows(what string, j int, column []float64, lo, hi int) error {
	for r, x := range column[lo:hi] {
		if !(math.Abs(x) < batchLimit) || x != math.Trunc(x) {
			return fmt.Errorf("share: row %d: %s of %s is %v: must be whole and below 2^53: %w", lo+r, what, c.s.names[j], x, ErrNotRepresentable)
		}
	}
	return nil
}

// checkSums checks the sums of a node or device, and what is used with the
// request.
func (c *batchCall) checkSums(at, j, lo, hi int) error {
	a := c.amounts(j, lo, hi)
	what, x := "total", a.total
	if batchExact(x) {
		what, x = "free", a.free
	}
	if batchExact(x) && a.total > 0 && c.s.weights[j] > 0 {
		what, x = "used amount", a.used()
	}
	if batchExact(x) {
		return nil
	}
	of := "row"
	if c.perNode {
		of = "node"
	}
	return fmt.Errorf("share: %s %d: %s of %s is %d: must be below 2^53: %w", of, at, what, c.s.names[j], x, ErrNotRepresentable)
}

// amounts returns a resource of the rows lo to hi-1, with the request completed.
// Sums beyond int64 become the nearest amount.
func (c *batchCall) amounts(j, lo, hi int) amounts {
	a := amounts{request: c.request(j)}
	a.total, a.free = sumRows(c.b.Total.Column(j)[lo:hi]), sumRows(c.b.Free.Column(j)[lo:hi])
	if other := c.other(j); other >= 0 && a.total > 0 {
		if total := sumRows(c.b.Total.Column(other)[lo:hi]); total > 0 {
			a.request, _ = mulDiv(c.request(other), a.total, total)
		}
	}
	return a
}

// sumRows adds up whole amounts below 2^53.
func sumRows(rows []float64) int64 {
	var sum wide
	for _, x := range rows {
		sum.add(int64(x))
	}
	x, _ := sum.int64()
	return x
}

// scoreExactly scores in integers.
func (c *batchCall) scoreExactly(dst []int64) {
	c.eachScore(func(at, lo, hi int) error {
		var m scoreMean
		for j := range c.columns() {
			a := c.amounts(j, lo, hi)
			m.add(c.s, j, &a)
		}
		dst[at] = m.score()
		return nil
	})
}
