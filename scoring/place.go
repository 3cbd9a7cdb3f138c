package scoring

import (
	"math"
	"math/bits"
	"slices"
	"strconv"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/scoring/internal/scorecache"
	"github.com/resvec/resvec/vector"
)

// Place places pods one after the other, as a loop of Best and [vector.Nodes.Assume] does:
// each is assumed on its best row before the next one is placed. It sets dst[i] to the row
// of pods[i], -1 where no row can hold it, and returns dst. among[i] selects rows for
// pods[i]; a nil among, or a nil element, selects all. Pods with equal masks should have
// the same one, and none may change meanwhile. Scored amounts are ignored where the nodes
// keep none, as in Best.
//
// It is made for many pods of few shapes. Pods of one shape request the same amounts among
// the same rows: the scores of all rows are kept for each shape, up to the memory of
// [Bound.LimitCache], and only rows that a pod was assumed on are scored again. Where that
// can't be done it is the loop: for a combination that normalizes, scorers of other
// packages, [Bound.WithOverride], and [vector.TieRoundRobin].
//
// It writes the nodes, which must not be a copy. To take a placement back,
// [vector.Nodes.Forget] the pods that have a row.
func (b *Bound) Place(dst []int32, pods []vector.PodAmounts, among []*vector.Mask, tie vector.Tie) []int32 {
	if among != nil && len(among) != len(pods) {
		panic(panicAmong)
	}
	dst = resized(dst, len(pods))
	if b.placer == nil {
		b.placer = new(placer)
	}
	p := b.placer
	p.start(b, pods, among, tie)
	scored := keepsScored(b.nodes)
	for i, pod := range pods {
		if !scored {
			pod.Scored = nil // which Best ignores, and nodes refuse
		}
		row := p.best(b, &p.shapes[p.shape[i]], pod, tie)
		if row >= 0 && b.nodes.Assume(row, pod) != nil {
			row = -1 // the node would have 2^53 requested
		}
		if row >= 0 && p.some {
			p.assumed(b, row, pod)
		}
		dst[i] = int32(row)
	}
	p.end()
	return dst
}

const (
	panicAmong  = "scoring: not one mask per pod"
	panicLatest = "scoring: nodes refuse the amounts of other nodes"
)

// Where a pass over all rows costs no more than what it would save.
const (
	placeRows = 4 * kernel.Block // so few rows
	placePods = 3                // or fewer pods of a shape
	placeLost = 8                // or one row in so many has changed
)

// placer is the working memory of Place.
type placer struct {
	shapes []placeShape
	shape  []int32          // of each pod
	first  map[uint64]int32 // by hash: the last shape that has it, plus 1
	key    []uint64
	some   bool // of some shape the scores are kept
	order  scorecache.Order
	rows   []int32 // that a pod was assumed on, in this order
	latest latest
	mask   vector.Mask
}

// placeShape is what pods request, and the rows that they may go to.
type placeShape struct {
	pod    vector.PodAmounts
	among  *vector.Mask
	next   int32 // shape with the same hash, plus 1
	pods   int32 // so many are of it
	kept   bool  // its scores are
	known  int   // they hold for the first of placer.rows, so many; -1: there are none yet
	scores scorecache.Ranking
}

// start finds the shapes of pods.
func (p *placer) start(b *Bound, pods []vector.PodAmounts, among []*vector.Mask, tie vector.Tie) {
	if p.first == nil {
		p.first = make(map[uint64]int32)
	}
	clear(p.first)
	p.shapes, p.rows = p.shapes[:0], p.rows[:0]
	p.shape = resized(p.shape, len(pods))
	for i, pod := range pods {
		var mask *vector.Mask
		if among != nil {
			mask = among[i]
		}
		k := p.shape[max(i-1, 0)] // pods of one template follow each other
		if i == 0 || !p.shapes[k].is(pod, mask) {
			k = p.of(pod, mask)
		}
		p.shape[i] = k
		p.shapes[k].pods++
	}
	n, room := b.len(), 0 // for the scores of so many shapes
	if b.cache != nil && n >= placeRows && tie.Cursor() == nil && !b.plan.normalized() && !b.plan.fallible {
		room = int(b.cache.limit / int64(9*n)) // 8 bytes a row, and the best of each block
	}
	p.some = false
	for k := range p.shapes {
		s := &p.shapes[k]
		// A pass over all rows pays from a few pods on. What begin refuses has no row:
		// Best says so without a pass.
		s.kept = room > 0 && s.pods >= placePods && b.begin(s.pod, s.among, tie)
		if s.kept {
			room--
			p.some = true
		}
	}
	if p.some {
		p.order.Reset(tie, n)
		p.latest.start(b)
	}
}

// of returns the shape of a pod.
func (p *placer) of(pod vector.PodAmounts, among *vector.Mask) int32 {
	p.key = scorecache.AppendBits(scorecache.AppendBits(p.key[:0], pod.Requested), pod.Scored)
	hash := scorecache.Hash(p.key)
	for k := p.first[hash]; k > 0; k = p.shapes[k-1].next {
		if p.shapes[k-1].is(pod, among) {
			return k - 1
		}
	}
	k := len(p.shapes)
	if k < cap(p.shapes) {
		p.shapes = p.shapes[:k+1] // it has the storage of a ranking
	} else {
		p.shapes = append(p.shapes, placeShape{})
	}
	s := &p.shapes[k]
	s.pod, s.among, s.next, s.pods, s.known = pod, among, p.first[hash], 0, -1
	p.first[hash] = int32(k + 1)
	return int32(k)
}

// is reports whether a pod is of the shape.
func (s *placeShape) is(pod vector.PodAmounts, among *vector.Mask) bool {
	return s.among == among && sameBits(s.pod.Requested, pod.Requested) &&
		(s.pod.Scored == nil) == (pod.Scored == nil) && sameBits(s.pod.Scored, pod.Scored)
}

// sameBits reports whether a and b are equal to the bit, also where they are NaN.
func sameBits(a, b vector.ResourceVector) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) })
}

// end lets go of the operands.
func (p *placer) end() {
	for k := range p.shapes {
		p.shapes[k].pod, p.shapes[k].among = vector.PodAmounts{}, nil
	}
}

// best returns the best row for a pod of shape s, or -1.
func (p *placer) best(b *Bound, s *placeShape, pod vector.PodAmounts, tie vector.Tie) int {
	if !s.kept {
		row, _ := b.Best(pod, s.among, tie)
		return row
	}
	b.counts.Questions.Add(1)
	changed := len(p.rows) - s.known
	if s.known < 0 || changed > b.len()/placeLost {
		b.counts.Made.Add(1)
		b.counts.Rows.Add(uint64(b.len()))
		p.rank(b, s)
	} else {
		b.counts.Kept.Add(1)
		b.counts.Rows.Add(uint64(changed))
		if !p.scoreLatest(s) {
			p.scoreChanged(b, s)
		}
	}
	s.known = len(p.rows)
	place := s.scores.First()
	if place < 0 {
		return -1
	}
	return p.order.Row(place)
}

// rank scores all rows for a shape.
func (p *placer) rank(b *Bound, s *placeShape) {
	w := b.work
	w.scores = resized(w.scores, b.len())
	for r := range w.scores {
		w.scores[r] = math.NaN() // which is never chosen
	}
	if b.fit(s.pod, s.among) {
		_ = b.score(s.pod) // only scorers of others fail
	}
	s.scores.Lay(w.scores, &p.order)
}

// scoreChanged scores the rows that have changed where they are, in as many blocks.
func (p *placer) scoreChanged(b *Bound, s *placeShape) {
	p.mask.Reset(b.len())
	for _, r := range p.rows[s.known:] {
		p.mask.Set(int(r))
	}
	if s.among != nil {
		p.mask.And(&p.mask, s.among)
	}
	b.fit(s.pod, &p.mask)
	_ = b.score(s.pod)
	p.take(s, p.mask.Words(), b.work, nil)
}

// scoreLatest scores the rows that have changed, if latest has them all, in one block.
func (p *placer) scoreLatest(s *placeShape) bool {
	l := &p.latest
	changed, ok := l.since(p.rows, s.known)
	if !ok {
		return false
	}
	if s.among != nil {
		for word := changed; word != 0; word &= word - 1 {
			if i := bits.TrailingZeros64(word); !s.among.Test(int(l.rows[i])) {
				changed &^= 1 << i
			}
		}
	}
	words := [...]uint64{changed}
	b := l.bound
	copy(l.changed.Words(), words[:])
	if b.fit(s.pod, &l.changed) {
		_ = b.score(s.pod)
	}
	p.take(s, words[:], b.work, &l.rows)
	return true
}

// take takes over the scores of changed rows, NaN where the pod does not fit. rows says
// which rows they are in the cluster; nil: the same.
func (p *placer) take(s *placeShape, changed []uint64, w *workspace, rows *[kernel.Block]int32) {
	for k, word := range changed {
		for fits := w.fits.Words()[k]; word != 0; word &= word - 1 {
			i := bits.TrailingZeros64(word)
			row, x := k*kernel.Block+i, math.NaN()
			if fits>>i&1 != 0 {
				x = w.scores[row]
			}
			if rows != nil {
				row = int(rows[i])
			}
			s.scores.Place(p.order.Place(row), x)
		}
	}
}

// assumed notes that a pod was assumed on a row.
func (p *placer) assumed(b *Bound, row int, pod vector.PodAmounts) {
	p.rows = append(p.rows, int32(row))
	p.latest.assumed(b, row, pod)
}

// latest are the rows that pods were assumed on last, one block of them, as nodes of their
// own. There a shape scores them in one call, however far apart they are in the cluster.
type latest struct {
	bound   *Bound               // by the same scorer; nil: not used yet
	names   [kernel.Block]string // of its nodes
	rows    [kernel.Block]int32  // in the cluster; -1: none yet
	at      []int32              // by row of the cluster: its place here, or -1
	next    int                  // place of the next row
	places  []uint8              // by assumed pod
	moves   int64                // so many rows were taken in: their generation
	node    vector.NodeAmounts   // scratch
	changed vector.Mask          // scratch
}

// start begins without rows.
func (l *latest) start(b *Bound) {
	n, free := b.len(), b.nodes.Free()
	if l.bound == nil || l.bound.nodes.Cols() != free.Cols() || l.bound.nodes.Schema() != free.Schema() {
		var opts []vector.NodesOption
		if keepsScored(b.nodes) {
			opts = append(opts, vector.WithScored())
		}
		nodes := vector.NewNodes(free.Schema(), free.Cols(), opts...)
		l.changed.Reset(len(l.names))
		for i := range l.names {
			l.names[i] = strconv.Itoa(i)
			if _, _, err := nodes.Set(l.names[i], 0, vector.NodeAmounts{}); err != nil {
				panic(panicLatest)
			}
		}
		l.bound = &Bound{nodes: nodes, work: new(workspace)}
		l.bound.plan, _ = newPlan(b.plan.scorer, nodes, false)
	}
	for i := range l.rows {
		l.rows[i] = -1
	}
	l.at = resized(l.at, n)
	for r := range l.at {
		l.at[r] = -1
	}
	l.next, l.places = 0, l.places[:0]
}

// since returns the places of all rows but the first known, and whether they are here.
func (l *latest) since(rows []int32, known int) (places uint64, ok bool) {
	rows = rows[known:]
	for k, i := range l.places[known:] {
		if l.rows[i] != rows[k] {
			return 0, false
		}
		places |= 1 << i
	}
	return places, true
}

// assumed takes in a row that a pod was assumed on.
func (l *latest) assumed(b *Bound, row int, pod vector.PodAmounts) {
	i := l.at[row]
	if i < 0 {
		i = int32(l.next)
		l.next = (l.next + 1) % len(l.rows)
		if before := l.rows[i]; before >= 0 {
			l.at[before] = -1
		}
		l.rows[i], l.at[row] = int32(row), i
		l.copyRow(b, int(i), row)
	} else if l.bound.nodes.Assume(int(i), pod) != nil { // it has the amounts of the row
		panic(panicLatest)
	}
	l.places = append(l.places, uint8(i))
}

// copyRow copies the amounts of a row to a place.
func (l *latest) copyRow(b *Bound, place, row int) {
	l.node.Allocatable = b.nodes.Allocatable().Row(l.node.Allocatable, row)
	l.node.Requested = b.nodes.Requested().Row(l.node.Requested, row)
	if keepsScored(b.nodes) {
		l.node.Scored = b.nodes.Scored().Row(l.node.Scored, row)
	}
	l.moves++
	if _, _, err := l.bound.nodes.Set(l.names[place], l.moves, l.node); err != nil {
		panic(panicLatest)
	}
}
