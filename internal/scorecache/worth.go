package scorecache

import (
	"math/bits"

	"github.com/resvec/resvec/vector"
)

// Worth says when an answer from kept scores costs less than a pass over all rows.
type Worth struct {
	Rows  int     // from so many rows on
	Times int     // when a request has come so often: keeping its scores costs more than a pass
	Share float64 // when at most this share of the rows has changed since it came
}

// visits counts how often requests came, of those that came lately. Keys are told apart
// by their hash alone: a mistake costs time, no more.
type visits [512][4]visit

type visit struct {
	hash  uint64
	count int32
}

// of returns the visit of a request, nil where it has no place yet.
func (v *visits) of(hash uint64) *visit {
	set := &v[hash>>32%uint64(len(v))]
	rarest := &set[0]
	for i := range set {
		switch x := &set[i]; {
		case x.hash == hash && x.count > 0:
			return x
		case x.count < rarest.count:
			rarest = x
		}
	}
	if rarest.count > 1 {
		rarest.count--
		return nil
	}
	*rarest = visit{hash: hash}
	return rarest
}

// Worth reports whether it is worth asking the engine. The answer may change with each
// call: it takes note of the request.
func (e *Engine) Worth(q Query, w *Worth) bool {
	sources, n, rows, err := q.Operands()
	if err != nil || n < w.Rows {
		return false
	}
	if e.visits == nil {
		e.visits = new(visits)
	}
	e.key = q.AppendKey(e.key[:0])
	hash := hashOf(e.key)
	v := e.visits.of(hash)
	if v == nil {
		return false
	}
	if v.count < int32(w.Times) {
		v.count++
		return v.count == int32(w.Times)
	}
	e.clock.sync(sources, n)
	s := e.table.find(e.key, hash)
	if s == nil || !e.within(s, n, rows, int(w.Share*float64(n))) {
		v.count = 0
		return false
	}
	return true
}

// within reports whether at most limit rows of s are out of date.
func (e *Engine) within(s *shape, n int, rows *vector.Mask, limit int) bool {
	c := &e.clock
	if s.time < c.all {
		return false
	}
	for r := c.first; r >= 0 && c.changed[r] > s.time; r = c.next[r] {
		if limit--; limit < 0 {
			return false
		}
	}
	if rows == nil && s.whole || s.rows.Len() != n { // rows that are new have changed
		return true
	}
	for w, own := range s.rows.Words() {
		if rows != nil {
			limit -= bits.OnesCount64(own ^ rows.Words()[w])
		} else {
			limit -= min(64, n-64*w) - bits.OnesCount64(own)
		}
	}
	return limit >= 0
}
