package gang

import (
	"math"
	"math/bits"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/vector"
)

// Options say how a [Packer] works. The zero value places the members in the given order
// on the first row that fits, and bisects.
type Options struct {
	// Total is what amounts are measured against, such as the sum of all allocatable
	// resources. Members are placed in descending order of their normalized sum over it:
	// large ones have the fewest places to go (first fit decreasing; Johnson,
	// Near-Optimal Bin Packing Algorithms, 1973; Panigrahy et al., Heuristics for Vector
	// Bin Packing, 2011). Equal sizes, as all are without a total, keep the given order.
	Total vector.ResourceVector

	// ByDominantShare orders by the dominant share over Total instead.
	ByDominantShare bool

	// BestFit, when given, lets a member take the row with the smallest normalized sum
	// over Total: the one with the smallest remainder after placing, since every row
	// loses the same. A NaN there counts as +Inf. The tie rule decides between equal
	// rows. The zero Tie stands for first fit: the lowest row that fits.
	BestFit vector.Tie

	// Restarts is how many other orders are tried when one finds no placement. Each
	// multiplies every size by a pseudo-random factor from 1 to 1.4 that depends on Seed,
	// the restart and the member alone. In a nearly full cluster this turns many failures
	// into placements. Members that request the same have no other order.
	Restarts int
	Seed     uint64

	// Search says how [Packer.Filter] looks for the prefix of a gang whose members differ.
	Search Search
}

// Search is a way to look for a short prefix of victims.
type Search uint8

const (
	// SearchBisect tries prefixes at growing distances above the lower bound, then
	// bisects: the prefix one shorter than the answer has no placement.
	SearchBisect Search = iota

	// SearchLinear tries every prefix from the lower bound on: no shorter prefix than
	// the answer has a placement.
	SearchLinear

	// SearchBound tries the lower bound alone, and takes no victim after it.
	SearchBound
)

// Packer answers whether a gang of requests could fit on the rows of a matrix
// of free amounts, and where. It does not search exhaustively: yes comes with a
// placement, "infeasible" with a proof, and there is a gap in between
// (multi-dimensional packing is NP-hard). There is no gap for members that request
// the same, nor for one leader and workers that request the same.
//
// Requests are matrices with one row per member. An amount that is not positive
// is not requested: it never rejects, and it never makes room. A placement is
// valid when every row holds its members: their requests, added up in the order
// of the members, fit by the rule of [vector.ResourceVector.FitsIn]. In a gang whose
// members all request the same, a row holds as many as
// [vector.ResourceVector.CopiesFit] says. A gang of two different requests, one of them
// of one member, has a leader (of two members it is the first): its row holds as
// many workers as fit into what it leaves, other rows as many as fit. All three
// rules are the same for whole numbers whose sum is below 2^53. [Packer.Spread] keeps
// members apart.
//
// A Packer is its options and scratch memory, so that its methods do not
// allocate once the scratch has grown. The zero value has the zero options. It
// must not be copied, and is for one goroutine, but it only reads the matrices that it is given: any
// number of workers, each with its own Packer and [vector.Overlay], may work on one
// snapshot. Equal inputs give equal answers.
//
// All methods panic when matrices have different widths or schemas, or the mask
// or the rank of the tie rule another length than the matrix has rows.
type Packer struct {
	options  Options
	gang     gang
	sets     rowSets
	spread   spread
	bounds   bounds
	progress progress

	fits    []vector.Mask         // per kind: rows that hold a member by themselves
	masks   []vector.Mask         // per kind: rows that may hold a member, a superset as rows fill up
	cursors []int32               // per kind: no word before it has a bit
	rows    []int32               // of the set of Domains, eligible or not
	scores  []float64             // per row: normalized sum of what is left; BestFit only
	slots   []int32               // per row: 1 + its place in the lists below, 0 when untouched
	touched []int32               // rows that hold a member
	left    []float64             // per touched row: the amounts left, one per column
	copies  []int64               // per touched row: the copies left, when members are counted
	inSet   []int64               // per set of the Spread: members; 0 between two placements
	row     vector.ResourceVector // scratch: one row of free
	ahead   int                   // the leader's row, -1 without one

	search    search
	topology  placing
	allowance allowance
	proof     Proof   // of a Filter with budgets
	placement []int32 // the best of a Filter so far
	trial     []int32

	proofs, placements, filters counts
}

// NewPacker returns a Packer. It panics when options.Search is undefined.
func NewPacker(options Options) *Packer {
	if options.Search > SearchBound {
		panic("gang: undefined search")
	}
	options.Total = options.Total.Clone()
	return &Packer{options: options}
}

// Place looks for a valid placement of the gang on the selected rows of free, within one of the
// sets of domains. It sets dst to the row of each member, in the order of requests, and returns
// it; dst is overwritten and grown when its capacity is short. domain is the first set in which
// it finds a placement; nil domains are one set of every row. ok is false, the placement empty
// and domain -1 when it finds none, which proves nothing unless all members, or all but a leader,
// request the same. A leader is placed first, on the first or best row that leaves room for all
// workers. A gang without members has an empty placement.
//
// free is only read: to go on from a placement, subtract each member from its
// row. With [vector.TieRoundRobin] the cursor moves on as members are placed, and
// stays where it was when there is no placement. The time is linear in the rows of the sets that
// it looks at.
func (p *Packer) Place(dst []int32, free, requests *vector.Matrix, rows *vector.Mask, domains *Domains) (placement []int32, domain int, ok bool) {
	p.prepare(free, requests, rows, domains)
	if domains != nil {
		p.bounds.take(&p.gang, &p.spread)
		p.progress.start(&p.bounds, free, &p.sets)
	}
	// The survey is a pass over all rows, for nothing where no set may hold the gang.
	surveyed := false
	for d := range p.sets.n {
		if domains != nil && !p.progress.mayHold(d) {
			continue
		}
		if !surveyed {
			p.survey(free)
			surveyed = true
		}
		if dst, ok = p.place(dst, free, d); ok {
			p.placements.note(true)
			return dst, d, true
		}
	}
	p.placements.note(false)
	return dst[:0], -1, false
}

// Infeasible reports whether the gang provably has no valid placement on the
// selected rows of free within one of the sets of domains, and why. It tests necessary
// conditions only, so it never rejects a gang that [Packer] could place, and false proves
// nothing. Nil domains are one set of every row. The aggregate is tested first, then both other
// conditions for one different request after another, then the amounts; the first condition that
// fails is reported:
//
//   - aggregate: in every resource, the positive free amounts of the rows add
//     up to at least what the members request;
//   - member: every member fits on some row;
//   - copies: for every member, the rows hold at least as many copies of its
//     request as there are members that request as much or more of everything;
//     and for every resource and amount of it, at least as many copies of the
//     least request as there are members that request that amount or more.
//
// With a [Spread], copies count only as far as the sets take them, and all sets together
// have to take as many members as there are.
//
// In a gang of more than 32 different requests the last condition is tested for
// 32 of them and 32 amounts of each resource, evenly spaced by rank, and each of
// the other requests is counted against the members that request the same. So the
// time is at most one [vector.Copies] for every different request and for 32 amounts
// of each resource. Counting stops where there are enough copies, which in a roomy
// cluster is soon.
//
// The answer is monotone: when free amounts grow, or rows are added, a gang that was not rejected
// stays so, unless the rows are new sets of a Spread with Skew. Sums are exact. Where the requests
// of a resource are not whole numbers with a sum below 2^53, they count a little less, by a factor
// of 1-(members+2)/2^51, which covers every rounding of the definition of a valid placement;
// docs/proofs.md has the proofs.
//
// When all sets are infeasible, why is about the one that comes closest: the set with the most
// places, for a gang whose members all request the same, or all but a leader; otherwise the set
// that fails at the latest condition, and of those the one that has the most of what the
// condition asks for. Ties go to the first set.
func (p *Packer) Infeasible(free, requests *vector.Matrix, rows *vector.Mask, domains *Domains) (why Infeasibility, infeasible bool) {
	p.take(free, requests, rows, domains)
	p.bounds.take(&p.gang, &p.spread)
	if domains == nil { // in the kernels, and nothing is kept
		why, infeasible = p.bounds.why(0, free, p.sets.selected)
		p.proofs.note(infeasible)
		return why, infeasible
	}
	p.progress.start(&p.bounds, free, &p.sets)
	for d := range p.sets.n {
		if p.progress.advance(d); p.progress.isOpen(d) {
			p.proofs.note(false)
			return Infeasibility{Domain: d}, false
		}
	}
	p.proofs.note(true)
	return p.progress.why(p.progress.closest()), true
}

// take checks the operands and takes the gang and the row sets.
func (p *Packer) take(free, requests *vector.Matrix, rows *vector.Mask, domains *Domains) {
	checkSame(free, requests)
	p.sets.take(domains, selection(rows, free.Rows()), free.Rows())
	p.spread.over(free.Rows())
	p.gang.take(requests)
}

// prepare is take for a gang that is to be placed.
func (p *Packer) prepare(free, requests *vector.Matrix, rows *vector.Mask, domains *Domains) {
	checkVector(free, p.options.Total)
	if p.options.bestFit() {
		p.options.BestFit.Check(free.Rows())
	}
	p.take(free, requests, rows, domains)
	p.gang.arrange(p.options.Total, p.options.ByDominantShare)
}

// place is Place in row set d, for the gang taken and the rows surveyed. Restarts are for
// gangs whose order matters: where members are counted, the first answer is exact.
func (p *Packer) place(dst []int32, free *vector.Matrix, d int) (placement []int32, ok bool) {
	dst = resized(dst, p.gang.members)
	if p.placeIn(p.gang.order, dst, free, d) {
		return dst, true
	}
	if p.gang.sized && !p.gang.counted() {
		for restart := range p.options.Restarts {
			if p.placeIn(p.gang.reordered(p.options.Seed, restart), dst, free, d) {
				return dst, true
			}
		}
	}
	return dst[:0], false
}

// placeIn places the members in an order and checks the result.
func (p *Packer) placeIn(order, dst []int32, free *vector.Matrix, d int) bool {
	cursor := position(p.options.BestFit)
	p.start(d)
	ok := p.placeLeader(dst, free, d) && p.placeAll(order, dst, free) && p.holds(dst, free)
	p.end(free, d)
	if !ok {
		reposition(p.options.BestFit, cursor)
	}
	return ok
}

// bestFit reports whether a member takes the best row, and not the first.
func (o *Options) bestFit() bool { return !o.BestFit.Same(vector.Tie{}) }

// position returns the cursor of a round-robin tie.
func position(t vector.Tie) int {
	if c := t.Cursor(); c != nil {
		return *c
	}
	return 0
}

// reposition takes the cursor of a round-robin tie back to a position.
func reposition(t vector.Tie, position int) {
	if c := t.Cursor(); c != nil {
		*c = position
	}
}

// survey finds the rows of free that fit each kind, and how good they are: one pass of the
// kernel a kind, however many sets and orders are tried.
func (p *Packer) survey(free *vector.Matrix) {
	kinds := len(p.gang.first)
	p.fits, p.masks = grown(p.fits, kinds), grown(p.masks, kinds)
	vector.FitMatrix(p.fits, free, &p.gang.kinds)
	for k := range p.masks {
		p.masks[k].Reset(free.Rows()) // empty between two placements in a set of Domains
	}
	if len(p.slots) < free.Rows() {
		p.slots = make([]int32, free.Rows())
	}
	p.touched = p.touched[:0]
	if p.spread.on {
		p.surveySets(free.Rows())
	}
	if p.options.bestFit() {
		p.scores = resized(p.scores, free.Rows())
		vector.NormalizedSum(p.scores, free, p.options.Total)
		for i, x := range p.scores { // ArgMin never chooses a NaN
			p.scores[i] = numberOrInf(x)
		}
	}
}

// start takes the rows of set d and empties the scratch.
func (p *Packer) start(d int) {
	p.touched, p.left, p.copies, p.ahead = p.touched[:0], p.left[:0], p.copies[:0], -1
	p.cursors = resized(p.cursors, len(p.masks))
	clear(p.cursors)
	if p.sets.whole() {
		for k := range p.masks {
			p.masks[k].CopyFrom(&p.fits[k])
			for w, word := range p.sets.selected {
				p.masks[k].Words()[w] &= word
			}
		}
		return
	}
	// The masks are empty but for the rows of the set: to copy all words for each of a thousand
	// racks would cost their product.
	p.rows = p.sets.rowsOf(d)
	for k := range p.masks {
		fits, mask := p.fits[k].Words(), p.masks[k].Words()
		for _, r := range p.rows {
			if bit := uint64(1) << (r % kernel.Block); fits[r/kernel.Block]&bit != 0 && p.sets.eligible(int(r)) {
				mask[r/kernel.Block] |= bit
			}
		}
		if len(p.rows) > 0 {
			p.cursors[k] = p.rows[0] / kernel.Block
		}
	}
}

// end takes back what start and the placement did to the scratch. It goes over the rows that
// were touched: a placement in one of a thousand sets must not cost a pass over all rows.
func (p *Packer) end(free *vector.Matrix, d int) {
	for _, r := range p.touched {
		p.slots[r] = 0 // the lists themselves are emptied by start
		if p.spread.on {
			p.inSet[p.spread.set(int(r))] = 0
		}
		if p.options.bestFit() {
			p.row = free.Row(p.row, int(r))
			p.scores[r] = numberOrInf(p.row.NormalizedSum(p.options.Total))
		}
	}
	if p.sets.whole() {
		return
	}
	for k := range p.masks {
		for _, r := range p.sets.rowsOf(d) {
			p.masks[k].Words()[r/kernel.Block] = 0
		}
	}
}

// numberOrInf returns x, or +Inf for a NaN, so that it is chosen last. A NaN that is not
// requested does not make a row unusable.
func numberOrInf(x float64) float64 {
	if x != x {
		return math.Inf(1)
	}
	return x
}

// placeLeader places the leader, if the gang has one, on a row that leaves room for
// all workers. It reports false when there is none.
func (p *Packer) placeLeader(dst []int32, free *vector.Matrix, d int) bool {
	if !p.gang.hasLeader() {
		return true
	}
	l, s := &p.gang.leading, &p.spread
	var places int64
	if s.on {
		s.sums = resized(s.sums, s.sets)
		places = s.placesIn(s.sums, free, &p.sets, d, &l.counter, false)
	} else {
		places = p.sets.copies(free, d, &l.counter)
	}
	if places < l.workers { // a leader only takes room
		return false
	}
	leaves := func(r int) bool {
		_, gain := l.on(free, r)
		if s.on {
			gain = s.gain(s.set(r), s.sums[s.set(r)], gain)
		}
		return float64(places)+gain >= float64(l.workers)
	}
	k := p.gang.kind[l.leader]
	cursor := position(p.options.BestFit)
	r := p.choose(k)
	// Mostly the first row does. To choose one after the other would be a pass over all rows each.
	if r >= 0 && !leaves(r) {
		for r := range p.masks[k].All() {
			if !leaves(r) {
				p.masks[k].Clear(r)
			}
		}
		reposition(p.options.BestFit, cursor)
		r = p.choose(k)
	}
	if r < 0 {
		return false
	}
	p.ahead = r
	dst[l.leader] = int32(r)
	p.put(p.slot(r, free, l.counter.request), r, l.request)
	return true
}

// placeAll sets dst to a row for each member, and stops when one has none.
func (p *Packer) placeAll(order, dst []int32, free *vector.Matrix) bool {
	for _, i := range order {
		if p.ahead >= 0 && i == p.gang.leading.leader {
			continue
		}
		r := p.placeOne(i, free)
		if r < 0 {
			return false
		}
		dst[i] = int32(r)
	}
	return true
}

// placeOne takes a row for member i and returns it, or -1. A mask may have rows that are full
// by now: to find that out where a row is chosen is cheaper than to keep the masks exact.
func (p *Packer) placeOne(i int32, free *vector.Matrix) int {
	k := p.gang.kind[i]
	for {
		cursor := position(p.options.BestFit)
		r := p.choose(k)
		if r < 0 || p.occupy(r, i, free) {
			return r
		}
		reposition(p.options.BestFit, cursor)
		p.masks[k].Clear(r) // it filled up, and rows never empty
	}
}

// choose returns a row that may hold a member of kind k, or -1. Rows only fill up, so first
// fit goes on from the word where it was.
func (p *Packer) choose(k int32) int {
	if p.spread.on && p.spread.skew > 0 {
		return p.chooseEven(k)
	}
	if p.options.bestFit() {
		if p.sets.whole() {
			return vector.ArgMin(p.scores, &p.masks[k], p.options.BestFit)
		}
		return p.bestOf(p.rows, k)
	}
	words := p.masks[k].Words()
	// No word after the last row of the set has a bit.
	if !p.sets.whole() && len(p.rows) > 0 {
		words = words[:p.rows[len(p.rows)-1]/kernel.Block+1]
	}
	for w := int(p.cursors[k]); w < len(words); w++ {
		if words[w] != 0 {
			p.cursors[k] = int32(w)
			return w*kernel.Block + bits.TrailingZeros64(words[w])
		}
	}
	p.cursors[k] = int32(len(words))
	return -1
}

// bestOf is choose for BestFit among few of many rows.
func (p *Packer) bestOf(rows []int32, k int32) int {
	tie := &p.options.BestFit
	best, key, n := -1, uint64(0), len(p.scores)
	for _, r := range rows {
		switch {
		case !p.masks[k].Test(int(r)):
		case best < 0 || p.scores[r] < p.scores[best]:
			best, key = int(r), tie.Key(int(r), n)
		case p.scores[r] == p.scores[best]: // as ArgMin does, so that few rows and all give one answer
			if k := tie.Key(int(r), n); k < key {
				best, key = int(r), k
			}
		}
	}
	if best >= 0 {
		reposition(*tie, (best+1)%n)
	}
	return best
}

// occupy places member i on row r if that has room.
func (p *Packer) occupy(r int, i int32, free *vector.Matrix) bool {
	request := p.gang.request(i)
	slot := p.slot(r, free, request)
	if p.gang.counted() {
		if p.copies[slot] == 0 {
			return false
		}
		p.copies[slot]--
	} else if !request.FitsIn(p.leftOn(slot)) {
		return false
	}
	p.put(slot, r, request)
	return true
}

// put takes a request from what is left on a touched row, and from the room of its set.
func (p *Packer) put(slot, r int, request vector.ResourceVector) {
	left := p.leftOn(slot)
	for j, x := range request {
		if x > 0 {
			left[j] -= x
		}
	}
	if p.options.bestFit() {
		p.scores[r] = numberOrInf(left.NormalizedSum(p.options.Total))
	}
	if p.spread.on {
		p.putInSet(p.spread.set(r))
	}
}

// slot returns the place of row r in the lists of touched rows, where it adds
// it when missing. A gang touches few of many rows, so only their amounts are copied.
func (p *Packer) slot(r int, free *vector.Matrix, request vector.ResourceVector) int {
	if p.slots[r] == 0 {
		for j := range free.Cols() {
			p.left = append(p.left, at(free, r, j))
		}
		if p.gang.counted() {
			p.copies = append(p.copies, p.copiesOn(r, free, request))
		}
		p.touched = append(p.touched, int32(r))
		p.slots[r] = int32(len(p.touched))
	}
	return int(p.slots[r]) - 1
}

// leftOn returns the amounts left on a touched row.
func (p *Packer) leftOn(slot int) vector.ResourceVector {
	return p.left[slot*p.gang.cols:][:p.gang.cols]
}

// copiesOn returns how many copies of request row r holds, next to the leader if
// that is there.
func (p *Packer) copiesOn(r int, free *vector.Matrix, request vector.ResourceVector) int64 {
	if r == p.ahead {
		return p.gang.leading.counter.withLeader(free, r, p.gang.leading.request)
	}
	p.row = free.Row(p.row, r)
	return request.CopiesFit(p.row)
}

// holds checks the finished placement dst from the start, by the definition
// that Packer gives. What is left is not asked: subtracting fractions one by one rounds
// another way than their sum. Where members are counted, that count is the definition.
func (p *Packer) holds(dst []int32, free *vector.Matrix) bool {
	if p.gang.counted() {
		return true
	}
	clear(p.left) // now the sum of the members on each row
	for i, r := range dst {
		sum := p.leftOn(int(p.slots[r]) - 1)
		for j, x := range p.gang.request(int32(i)) {
			sum[j] += x
		}
	}
	for slot, r := range p.touched {
		if !fitsRow(free, int(r), p.leftOn(slot)) {
			return false
		}
	}
	return true
}
