package scorecache

import (
	"math/bits"

	"github.com/resvec/resvec/vector"
)

// Worth says when an answer from kept scores costs less than a pass over all rows.
type Worth struct {
	Rows  int     // from so many rows on
	Times int     // when a request has come so often: keeping its scores costs more than a pass. Less while there is credit
	Share float64 // when at most this share of the rows has changed since it came
}

// An engine keeps the scores of so many requests on credit, at their first visit: most
// come again. Each answer from kept scores pays back one in perHit.
const (
	mostCredit = 256 * perHit
	perHit     = 8
)

// visits counts how often requests came, of the latest ones. Keys are distinguished
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
	if rarest.count > 1 { // each newcomer takes one off, so that old favorites leave in the end
		rarest.count--
		return nil
	}
	*rarest = visit{hash: hash}
	return rarest
}

// Worth reports whether it is worth asking the engine. The answer may change with each
// call: it takes note of the request. Where it is worth it, the next question must be
// that query.
func (e *Engine) Worth(q Query, w *Worth) bool {
	e.ready = ready{}
	sources, n, rows, err := q.Operands()
	if err != nil || n < w.Rows { // the pass reports the error
		return false
	}
	e.clock.sync(sources, n)
	e.key = q.AppendKey(e.key[:0])
	hash := Hash(e.key)
	s := e.table.find(e.key, hash)
	switch {
	case s == nil:
		return e.welcome(hash, w.Times)
	case s.waits > 0: // too many rows had changed; a pass costs less until it comes often
		if s.waits--; e.borrow() {
			s.waits = 0
		}
		return s.waits == 0
	case !e.within(s, n, rows, int(w.Share*float64(n))):
		s.waits = int32(w.Times)
		return false
	}
	e.credit = min(e.credit+1, mostCredit)
	e.ready = ready{s, s.time}
	return true
}

// welcome reports whether to keep the scores of a request that has none.
func (e *Engine) welcome(hash uint64, times int) bool {
	if e.visits == nil {
		e.visits, e.credit = new(visits), mostCredit
	}
	v := e.visits.of(hash)
	if v == nil {
		return false
	}
	if v.count++; v.count >= int32(times) || e.borrow() {
		*v = visit{} // the place is free: the table counts it from now on
		return true
	}
	return false
}

// borrow reports whether there is credit, and takes it.
func (e *Engine) borrow() bool {
	if e.credit < perHit {
		return false
	}
	e.credit -= perHit
	return true
}

// ready is what Worth leaves for the question: the shape of the query, and the time
// since when e.changed has its rows that are out of date. The clock is in step.
type ready struct {
	shape *shape
	since uint64
}

// within marks the rows of s that are out of date. It reports false where these are more
// than limit, together with those that came into the mask or went out of it.
func (e *Engine) within(s *shape, n int, rows *vector.Mask, limit int) bool {
	limit, ok := e.clock.markFew(&e.changed, s.time, limit)
	if !ok || rows == nil && s.whole || s.rows.Len() != n { // rows that are new have changed
		return ok
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
