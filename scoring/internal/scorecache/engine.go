// Package scorecache keeps scores by the shape of a request and brings them up to
// date by the logs of what they depend on: an [Engine] answers which row is the best
// for a [Query] and scores only rows that have changed. It knows neither scorers nor
// requests.
package scorecache

import (
	"math"
	"math/bits"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/vector"
)

var nan = math.NaN()

// defaultBytes is the room of a cache that has no bound of its own.
const defaultBytes = 64 << 20

// Engine keeps scores by request. It is made by [New], and not safe for concurrent
// use.
type Engine struct {
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
	visits  *visits   // of Worth
	credit  int       // of Worth
	ready   ready     // by Worth
	many    bool      // so many rows have changed that following the best of each block doesn't pay
	counts  *Counts
}

// New returns an empty cache of so many bytes, 0 for 64 MiB. terms is the number of
// terms whose scores are kept, to be combined anew for every answer; 0 keeps whole
// scores. What it does is added to counts.
func New(maxBytes int64, terms int, counts *Counts) *Engine {
	if maxBytes == 0 {
		maxBytes = defaultBytes
	}
	return &Engine{max: maxBytes, terms: terms, counts: counts}
}

// manyRows is how many rows have to change, per block of 64 rows, to be many: one pass over
// all scores then costs less than to follow the best of each block.
const manyRows = 4

// Query is the query at hand.
type Query interface {
	// Operands returns what the answer depends on but the request: n rows, of
	// which the mask selects some.
	Operands() (sources Sources, n int, rows *vector.Mask, err error)

	// AppendKey appends what distinguishes the request: queries with equal keys have
	// equal scores as long as the sources are the same.
	AppendKey(key []uint64) []uint64

	// Fit takes the rows that cannot hold the request out of rows. It is asked for changed
	// rows only: whether a row can must not depend on other rows.
	Fit(rows *vector.Mask)

	// Score sets dst for some rows to their scores, or to the scores of a term. It
	// fails before it writes.
	Score(dst []float64, term int, rows *vector.Mask) error

	// Combine sets dst for some rows from the scores of all terms.
	Combine(dst []float64, terms [][]float64, rows *vector.Mask)
}

// AppendBits appends the bits of v to a key. Bits, because a key is compared as integers:
// 0 and -0 become two requests, which costs memory and no answer.
func AppendBits(key []uint64, v vector.ResourceVector) []uint64 {
	for _, x := range v {
		key = append(key, math.Float64bits(x))
	}
	return key
}

// Best answers with a row, -1 for none, and its score.
func (e *Engine) Best(q Query, tie vector.Tie) (row int, score float64, err error) {
	s, ordered, err := e.look(q, &tie)
	if err != nil {
		return -1, 0, err
	}
	if ordered {
		row, score = e.pick(s, tie)
		return row, score, nil
	}
	// The shape is in another order: choose by row, as a pass over all rows would.
	scores := e.byRow(s, q)
	if row = vector.ArgMax(scores, &s.feasible, tie); row < 0 {
		return -1, 0, nil
	}
	return row, scores[row], nil
}

// TopK answers with the best k rows, in dst.
func (e *Engine) TopK(dst []int32, q Query, k int, tie vector.Tie) ([]int32, error) {
	s, ordered, err := e.look(q, &tie)
	if err != nil {
		return dst[:0], err
	}
	if !ordered || tie.Cursor() != nil {
		return vector.TopK(dst, e.byRow(s, q), &s.feasible, k, tie), nil
	}
	// In the order of the tie the lowest place wins, whatever the tie is.
	dst = vector.TopK(dst, s.ranked, nil, k, vector.TieLowest())
	for i, p := range dst {
		dst[i] = e.orders.now.rows[p]
	}
	return dst, nil
}

// All answers with the score of every row, NaN where a row is not feasible, and with
// the set of the others.
func (e *Engine) All(q Query) (scores []float64, feasible *vector.Mask, err error) {
	s, _, err := e.look(q, nil)
	if err != nil {
		return nil, nil, err
	}
	return e.byRow(s, q), &s.feasible, nil
}

// look returns the shape of a query, up to date. Its scores are in the order of
// tie when ordered is set, and in any otherwise.
func (e *Engine) look(q Query, tie *vector.Tie) (s *shape, ordered bool, err error) {
	marked := e.ready
	e.ready = ready{} // also if the tie panics
	sources, n, rows, err := q.Operands()
	if err != nil {
		return nil, false, err
	}
	ordered = e.order(tie, n)
	e.scores = resized(e.scores, n)
	s = marked.shape
	if s == nil {
		e.clock.sync(sources, n)
		e.key = q.AppendKey(e.key[:0])
		s = e.table.find(e.key, Hash(e.key))
	}
	known := s != nil
	if known {
		e.counts.Kept.Add(1)
	} else {
		e.counts.Made.Add(1)
		s = e.empty()
		s.key, s.hash = append(s.key[:0], e.key...), Hash(e.key)
	}
	before := s.rows.Len() // a resized shape has other bytes
	e.arrange(s, n)
	// Worth has marked the changed rows, unless arrange has given up the scores since.
	if marked.shape == nil || s.time != marked.since {
		e.clock.mark(&e.changed, s.time)
	}
	if err := e.refresh(s, q, rows); err != nil {
		// Its rows are half brought up to date: nothing may find it again.
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

// order sees to an order of n rows, and reports whether it is the order of a tie. nil
// is content with any.
func (e *Engine) order(tie *vector.Tie, n int) bool {
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
func (e *Engine) arrange(s *shape, n int) {
	if s.rows.Len() != n {
		s.resize(n, &e.scratch)
	}
	if e.terms > 0 || s.laid == e.orders.now.version {
		return
	}
	// Only the order before is known: of an older one nobody has the places.
	if s.laid != 0 && s.laid == e.orders.before.version {
		s.take(e.scores, &e.orders.before)
		s.lay(e.scores, &e.orders.now)
	} else {
		s.time = 0
	}
}

// empty returns a shape to fill: of the request that was not used for the
// longest time when there is no room for another.
func (e *Engine) empty() *shape {
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
	s.time, s.laid, s.waits = 0, 0, 0
	return s
}

// drop evicts s.
func (e *Engine) drop(s *shape) {
	e.table.remove(s)
	e.counts.Forgotten.Add(1)
}

// evict makes the table fit into its bound, but for s: the answer at hand reads it, even
// where it is larger than the bound by itself.
func (e *Engine) evict(s *shape) {
	for e.table.bytes > e.max && e.table.oldest != s {
		e.drop(e.table.oldest)
	}
}

// refresh scores the rows of s that have changed, which are marked.
func (e *Engine) refresh(s *shape, q Query, rows *vector.Mask) error {
	full := s.time < e.clock.all
	e.restrict(s, rows)
	s.time = 0 // until all is done
	e.many = false
	if !full && !e.changed.Any() {
		s.time = e.clock.now
		return nil
	}
	e.wanted.And(&e.changed, &s.rows)
	q.Fit(&e.wanted)
	if err := e.score(s, q, full); err != nil {
		return err
	}
	changed, feasible, own := e.changed.Words(), e.wanted.Words(), s.feasible.Words()
	count := e.changed.Count()
	e.many = count >= manyRows*len(own)
	e.counts.Rows.Add(uint64(count))
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
func (e *Engine) score(s *shape, q Query, full bool) error {
	for k, dst := range s.terms {
		if err := q.Score(dst, k, &e.wanted); err != nil {
			return err
		}
	}
	if e.terms > 0 {
		return nil
	}
	if full {
		e.blank()
	}
	if err := q.Score(e.scores, 0, &e.wanted); err != nil {
		return err
	}
	if full {
		s.lay(e.scores, &e.orders.now)
	}
	return nil
}

// blank sets e.scores to NaN, which no choice takes: Score leaves other rows as they are.
func (e *Engine) blank() {
	for r := range e.scores {
		e.scores[r] = nan
	}
}

// place moves the scores of changed rows into s. Rows that were not feasible and
// are not stay NaN.
func (e *Engine) place(s *shape, changed, feasible []uint64) {
	places := e.orders.now.places
	if e.many {
		s.forget()
	}
	for w, before := range s.feasible.Words() {
		now := feasible[w]
		for word := changed[w] & (before | now); word != 0; word &= word - 1 {
			i := bits.TrailingZeros64(word)
			r := w*kernel.Block + i
			x := nan
			if now>>i&1 != 0 {
				x = e.scores[r]
			}
			if e.many {
				s.ranked[places[r]] = x
			} else {
				s.Place(places[r], x)
			}
		}
	}
}

// restrict takes over the row mask of a query and adds to the changed rows those
// that came in or went out.
func (e *Engine) restrict(s *shape, rows *vector.Mask) {
	if rows == nil && s.whole { // the usual case, without a pass over the words
		return
	}
	changed, own := e.changed.Words(), s.rows.Words()
	if rows == nil {
		e.wanted.Reset(s.rows.Len())
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

// byRow returns the final scores of s by row, NaN where a row is not feasible. They hold
// until the next query.
func (e *Engine) byRow(s *shape, q Query) []float64 {
	switch {
	case e.terms > 0:
		e.blank()
		q.Combine(e.scores, s.terms, &s.feasible)
	case e.orders.now.plain:
		return s.ranked
	default:
		s.take(e.scores, &e.orders.now)
	}
	return e.scores
}

// pick picks a row of s, which is in the order of the tie.
func (e *Engine) pick(s *shape, tie vector.Tie) (row int, score float64) {
	place, n, cursor := 0, len(s.ranked), tie.Cursor()
	switch {
	case cursor != nil:
		s.clean() // it goes round, and so may need the best of any block
		place = s.firstFrom(modulo(*cursor, n))
	case e.many:
		place = kernel.ArgMax(s.ranked, nil)
	default:
		place = s.First()
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
