package scoring

import (
	"math"
	"math/bits"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/vector"
)

var cacheNaN = math.NaN()

// cacheEngine is what both caches are made of.
type cacheEngine struct {
	max     int64
	terms   int // of a combination whose terms are kept; 0: whole scores are kept
	clock   rowClock
	orders  tieOrders
	table   shapeTable
	spare   *shape // out of the table, to be used again
	key     []uint64
	changed vector.Mask
	wanted  vector.Mask
	scratch []uint64
	scores  []float64 // by row
	many    bool      // so many rows have changed that following the best of each block doesn't pay
	stats   CacheStats
}

// manyRows is how many rows have to change, per block of 64 rows, to be many.
const manyRows = 4

// cacheQuery is the query at hand.
type cacheQuery interface {
	// operands returns what the answer depends on beside the request: n rows, of
	// which the mask selects some.
	operands() (sources cacheSources, n int, rows *vector.Mask, err error)

	// appendKey appends what tells the request from others.
	appendKey(key []uint64) []uint64

	// fit takes the rows that cannot hold the request out of rows.
	fit(rows *vector.Mask)

	// score sets dst for some rows to their scores, or to those of a term. It
	// fails before it writes.
	score(dst []float64, term int, rows *vector.Mask) error

	// combine sets dst for some rows from the scores of all terms.
	combine(dst []float64, terms [][]float64, rows *vector.Mask)
}

// best answers with a row, -1 for none, and its score.
func (e *cacheEngine) best(q cacheQuery, tie vector.Tie) (row int, score float64, err error) {
	s, ordered, err := e.look(q, &tie)
	if err != nil {
		return -1, 0, err
	}
	if ordered {
		row, score = e.pick(s, tie)
		return row, score, nil
	}
	scores := e.byRow(s, q)
	if row = vector.ArgMax(scores, &s.feasible, tie); row < 0 {
		return -1, 0, nil
	}
	return row, scores[row], nil
}

// topK answers with the best k rows.
func (e *cacheEngine) topK(dst []int32, q cacheQuery, k int, tie vector.Tie) ([]int32, error) {
	s, ordered, err := e.look(q, &tie)
	if err != nil {
		return dst[:0], err
	}
	if !ordered || tie.Cursor() != nil {
		return vector.TopK(dst, e.byRow(s, q), &s.feasible, k, tie), nil
	}
	dst = vector.TopK(dst, s.ranked, nil, k, vector.TieLowest())
	for i, p := range dst {
		dst[i] = e.orders.now.rows[p]
	}
	return dst, nil
}

// all answers with the score of every row, NaN where a row is not feasible.
func (e *cacheEngine) all(q cacheQuery) (scores []float64, feasible *vector.Mask, err error) {
	s, _, err := e.look(q, nil)
	if err != nil {
		return nil, nil, err
	}
	return e.byRow(s, q), &s.feasible, nil
}

// look returns the shape of a query, up to date. Its scores are in the order of
// tie when ordered is set, and in any otherwise.
func (e *cacheEngine) look(q cacheQuery, tie *vector.Tie) (s *shape, ordered bool, err error) {
	sources, n, rows, err := q.operands()
	if err != nil {
		return nil, false, err
	}
	ordered = e.order(tie, n)
	e.clock.sync(sources, n)
	e.scores = cacheResized(e.scores, n)
	e.key = q.appendKey(e.key[:0])
	hash := hashOf(e.key)
	s = e.table.find(e.key, hash)
	known := s != nil
	if known {
		e.stats.Hits++
	} else {
		e.stats.Misses++
		s = e.empty()
		s.key, s.hash = append(s.key[:0], e.key...), hash
	}
	before := s.rows.Len()
	e.arrange(s, n)
	if err := e.refresh(s, q, rows); err != nil {
		if known {
			e.table.remove(s)
		}
		e.spare = s
		return nil, false, err
	}
	switch {
	case !known:
		e.table.add(s)
	case before != n:
		e.table.weigh(s)
	}
	e.evict(s)
	return s, ordered, nil
}

// order sees to an order of n rows, and reports whether it is that of a tie. nil
// is content with any.
func (e *cacheEngine) order(tie *vector.Tie, n int) bool {
	switch {
	case e.terms > 0: // chosen from combined scores, which are by row
		return false
	case tie == nil:
		e.orders.keep(n)
		return false
	case tie.Cursor() != nil: // goes round in the order of the rows
		return e.orders.arrange(vector.TieLowest(), n)
	}
	return e.orders.arrange(*tie, n)
}

// arrange brings s into the order at hand, of n rows, or gives up what it knows.
func (e *cacheEngine) arrange(s *shape, n int) {
	if s.rows.Len() != n {
		s.resize(n, &e.scratch)
	}
	if e.terms > 0 || s.laid == e.orders.now.version {
		return
	}
	if s.laid != 0 && s.laid == e.orders.before.version {
		s.take(e.scores, &e.orders.before)
		s.lay(e.scores, &e.orders.now)
	} else {
		s.time = 0
	}
}

// empty returns a shape to fill, that of the request that was not used for the
// longest time when there is no room for another.
func (e *cacheEngine) empty() *shape {
	s := e.spare
	e.spare = nil
	if oldest := e.table.oldest; s == nil && oldest != nil && e.table.bytes+oldest.bytes > e.max {
		e.drop(oldest)
		s = oldest
	}
	if s == nil {
		s = new(shape)
	}
	for len(s.terms) < e.terms {
		s.terms = append(s.terms, make([]float64, s.rows.Len()))
	}
	s.time, s.laid = 0, 0
	return s
}

// drop evicts s.
func (e *cacheEngine) drop(s *shape) {
	e.table.remove(s)
	e.stats.Evictions++
}

// evict makes the table fit into its bound, but for s.
func (e *cacheEngine) evict(s *shape) {
	for e.table.bytes > e.max && e.table.oldest != s {
		e.drop(e.table.oldest)
	}
}

// refresh scores the rows of s that have changed.
func (e *cacheEngine) refresh(s *shape, q cacheQuery, rows *vector.Mask) error {
	full := s.time < e.clock.all
	e.clock.mark(&e.changed, s.time)
	e.restrict(s, rows)
	s.time = 0 // until all is done
	e.many = false
	if !full && !e.changed.Any() {
		s.time = e.clock.now
		return nil
	}
	e.wanted.And(&e.changed, &s.rows)
	q.fit(&e.wanted)
	if err := e.score(s, q, full); err != nil {
		return err
	}
	changed, feasible, own := e.changed.Words(), e.wanted.Words(), s.feasible.Words()
	count := e.changed.Count()
	e.many = count >= manyRows*len(own)
	e.stats.Rescored += uint64(count)
	if e.terms == 0 && !full {
		e.place(s, changed, feasible)
	}
	for w := range own {
		own[w] = own[w]&^changed[w] | feasible[w]
	}
	s.time = e.clock.now
	return nil
}

// score scores the wanted rows, into the terms of s or into e.scores. A full
// score is laid out, too.
func (e *cacheEngine) score(s *shape, q cacheQuery, full bool) error {
	for k, dst := range s.terms {
		if err := q.score(dst, k, &e.wanted); err != nil {
			return err
		}
	}
	if e.terms > 0 {
		return nil
	}
	if full {
		e.blank()
	}
	if err := q.score(e.scores, 0, &e.wanted); err != nil {
		return err
	}
	if full {
		s.lay(e.scores, &e.orders.now)
	}
	return nil
}

// blank sets e.scores to NaN.
func (e *cacheEngine) blank() {
	for r := range e.scores {
		e.scores[r] = cacheNaN
	}
}

// place moves the scores of changed rows into s. Rows that were not feasible and
// are not stay NaN.
func (e *cacheEngine) place(s *shape, changed, feasible []uint64) {
	places := e.orders.now.places
	if e.many {
		s.forget()
	}
	for w, before := range s.feasible.Words() {
		now := feasible[w]
		for word := changed[w] & (before | now); word != 0; word &= word - 1 {
			i := bits.TrailingZeros64(word)
			r := w*kernel.Block + i
			x := cacheNaN
			if now>>i&1 != 0 {
				x = e.scores[r]
			}
			if e.many {
				s.ranked[places[r]] = x
			} else {
				s.place(places[r], x)
			}
		}
	}
}

// restrict takes over the row mask of a query and adds to the changed rows those
// that came in or went out.
func (e *cacheEngine) restrict(s *shape, rows *vector.Mask) {
	if rows == nil && s.whole {
		return
	}
	changed, own := e.changed.Words(), s.rows.Words()
	if rows == nil {
		e.wanted.Resize(s.rows.Len())
		e.wanted.SetAll()
		s.whole = true
		rows = &e.wanted
	} else {
		s.whole = false
	}
	for w, word := range rows.Words() {
		changed[w] |= own[w] ^ word
		own[w] = word
	}
}

// byRow returns the final scores of s by row, NaN where a row is not feasible.
func (e *cacheEngine) byRow(s *shape, q cacheQuery) []float64 {
	switch {
	case e.terms > 0:
		e.blank()
		q.combine(e.scores, s.terms, &s.feasible)
	case e.orders.now.plain:
		return s.ranked
	default:
		s.take(e.scores, &e.orders.now)
	}
	return e.scores
}

// pick picks a row of s, which is in the order of the tie.
func (e *cacheEngine) pick(s *shape, tie vector.Tie) (row int, score float64) {
	place, n, cursor := 0, len(s.ranked), tie.Cursor()
	switch {
	case cursor != nil:
		s.settle()
		place = s.firstFrom(modulo(*cursor, n))
	case e.many:
		place = kernel.ArgMax(s.ranked, nil)
	default:
		place = s.first()
	}
	if place < 0 {
		return -1, 0
	}
	row = int(e.orders.now.rows[place])
	if cursor != nil {
		*cursor = (row + 1) % n
	}
	return row, s.ranked[place]
}

// modulo returns x mod n, not negative; 0 for n = 0.
func modulo(x, n int) int {
	if n == 0 {
		return 0
	}
	if x %= n; x < 0 {
		x += n
	}
	return x
}

// statistics returns the counts.
func (e *cacheEngine) statistics() CacheStats {
	s := e.stats
	s.Requests, s.Bytes = e.table.count, e.table.bytes
	return s
}

// reset forgets everything but the counts.
func (e *cacheEngine) reset() {
	*e = cacheEngine{max: e.max, terms: e.terms, stats: e.stats}
}
