package gang

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/vector"
)

// Reason is a necessary condition for a gang to fit.
type Reason uint8

const (
	// NotProved is the zero reason: every condition holds, and the gang may or
	// may not fit.
	NotProved Reason = iota

	// InfeasibleAggregate: the selected rows together have less of a resource
	// than the members request together.
	InfeasibleAggregate

	// InfeasibleMember: a member fits on no selected row, even alone.
	InfeasibleMember

	// InfeasibleCopies: the selected rows hold fewer copies of a request than
	// there are members that request at least as much.
	InfeasibleCopies

	// InfeasibleLeader: wherever the leader of a gang goes, too few places are
	// left for the workers.
	InfeasibleLeader

	// InfeasibleBudget: enough of a resource was released, but no victims that [Budgets]
	// permit are enough.
	InfeasibleBudget

	// InfeasibleSpread: there would be places enough, but the sets of a [Spread] take too
	// few members. The numbers are as for InfeasibleCopies and InfeasibleLeader. Member is
	// -1 for the members together, which need more than all sets take.
	InfeasibleSpread
)

var infeasibleReasons = [...]string{"not proved", "aggregate", "member", "copies", "leader", "budget", "spread"}

// String returns the reason in a word or two.
func (r Reason) String() string {
	if int(r) < len(infeasibleReasons) {
		return infeasibleReasons[r]
	}
	return "undefined"
}

// Infeasibility says why a gang cannot fit. The zero Reason says that nothing is proved, or that
// there is no set of rows to fit in.
type Infeasibility struct {
	Reason Reason

	// Domain is the set of [Domains] that the reason is about, or with the zero Reason the first
	// for which nothing is proved. It is 0 without Domains, and -1 when they have no set.
	Domain int

	// Column is the resource that is short, or -1 when no single one is. For
	// InfeasibleMember it is the first in which even the best row has too
	// little.
	Column int

	// Member is the first member with the request that fits nowhere or was
	// counted, or -1: the sum over the gang, or the least of several requests,
	// is no single member's. For InfeasibleLeader it is the leader.
	Member int

	// Needed and Available are amounts in Column's unit: of the whole gang and
	// all rows for InfeasibleAggregate, of the member and the best row for
	// InfeasibleMember. For InfeasibleCopies, and where Column is -1, they are
	// numbers of members and of places for them; for InfeasibleLeader, of workers
	// and of the places that the leader leaves where it takes the fewest.
	Needed, Available float64
}

// bounds are the necessary conditions for a gang. They are scratch that a
// Packer fills for every call.
type bounds struct {
	gang     *gang
	spread   *spread
	slack    float64    // factor for requests whose sums may be rounded
	sums     []float64  // per column: what the members request
	needed   []float64  // per column: least sum of free amounts; 0 is no condition
	counts   []counting // conditions that count copies
	requests []float64  // gang.cols per condition in counts: the request to count

	// The conditions are tested in the order of their indices: the columns, the counts, and the
	// leader. That is from cheap to dear, and from what is simplest to explain to what is not.
	conditions int

	byAmount []int32 // kinds, while sorting
	least    []float64
}

// counting is the condition that the rows hold need copies of a request.
type counting struct {
	need   int64
	member int32 // the member whose request it is, or -1
	column int32 // the resource whose amounts chose the members, or -1
}

// request returns the request that the count with index c counts.
func (b *bounds) request(c int) vector.ResourceVector {
	cols := b.gang.cols
	return b.requests[c*cols:][:cols:cols]
}

// take derives the conditions from g, whose members s keeps apart.
func (b *bounds) take(g *gang, s *spread) {
	b.gang, b.spread = g, s
	b.counts, b.requests = b.counts[:0], b.requests[:0]
	b.sums, b.needed = resized(b.sums, g.cols), resized(b.needed, g.cols)
	b.slack = 1 - float64(g.members+2)/(1<<51)
	for j := range b.needed {
		sum, exact := g.sum(j)
		b.sums[j] = sum
		switch {
		case math.IsInf(sum, 1):
			sum = 0 // the member with the infinite request decides
		case !exact:
			sum *= b.slack
		}
		b.needed[j] = sum
	}
	if s.on && !g.identical() { // of the least that anyone requests each takes a copy
		b.least = append(b.least[:0], g.request(0)...)
		for k := range g.first {
			for j, x := range g.requestOfKind(k) {
				b.least[j] = min(b.least[j], x)
			}
		}
		b.append(int64(g.members), -1, -1, b.least)
	}
	// Members that request more need the room, too: of a small request more copies are needed.
	chosen := evenly{of: len(g.first), most: mostCompared}
	for k, need := range g.count {
		if chosen.next() {
			need = g.dominators(k)
		}
		b.append(need, g.first[k], -1, g.requestOfKind(k))
	}
	if !g.identical() { // thresholds would count the same request again
		for j := range g.cols {
			b.addThresholds(j)
		}
		b.loosen()
	}
	b.conditions = len(b.needed) + len(b.counts)
	if g.hasLeader() {
		b.conditions++
	}
}

// sum returns the sum of the requests in column j, and whether every sum of
// some of them is exact, in any order.
func (g *gang) sum(j int) (sum float64, exact bool) {
	exact = true
	for k, count := range g.count {
		x := g.amounts[int(g.first[k])*g.cols+j]
		if x > 0 {
			sum += float64(x * float64(count))
			exact = exact && x == math.Trunc(x)
		}
	}
	return sum, exact && sum < 1<<53
}

// dominators returns how many members request at least as much of everything as
// kind k does, its own included. Each of them takes the room of one copy at least.
func (g *gang) dominators(k int) int64 {
	var n int64
	request := g.requestOfKind(k)
	for other := range g.first {
		if other == k || request.LessEqual(g.requestOfKind(other)) {
			n += g.count[other]
		}
	}
	return n
}

// mostCompared is for how many kinds all dominators are counted, and for how many
// amounts of each resource all rows. All of them would cost the square of their
// number.
const mostCompared = 32

// evenly chooses at most most of so many things, evenly spaced, the last included.
type evenly struct{ of, most, at, chosen int }

// next reports whether the next thing is chosen.
func (e *evenly) next() bool {
	e.at++
	due := e.at * min(e.most, e.of) / e.of
	if due == e.chosen {
		return false
	}
	e.chosen = due
	return true
}

// add adds a condition unless an equal request has one that asks for as much. Each costs a
// pass over the rows.
func (b *bounds) add(need int64, member, column int32, request vector.ResourceVector) {
	for c := range b.counts {
		if b.counts[c].need >= need && slices.Equal(b.request(c), request) {
			return
		}
	}
	b.append(need, member, column, request)
}

// append adds a condition. The request is copied: it may be scratch.
func (b *bounds) append(need int64, member, column int32, request vector.ResourceVector) {
	b.counts = append(b.counts, counting{need, member, column})
	b.requests = append(b.requests, request...)
}

// addThresholds adds, for amounts of resource j, the condition for the members
// that request that or more: each of them takes at least as much as a copy of the
// least request among them.
func (b *bounds) addThresholds(j int) {
	g := b.gang
	b.byAmount = b.byAmount[:0]
	for k := range g.first {
		if g.requestOfKind(k)[j] > 0 {
			b.byAmount = append(b.byAmount, int32(k))
		}
	}
	amount := func(k int32) float64 { return g.requestOfKind(int(k))[j] }
	slices.SortFunc(b.byAmount, func(x, y int32) int { return cmp.Compare(amount(y), amount(x)) })
	b.least = resized(b.least, g.cols)
	var need int64
	due, chosen := false, evenly{of: len(b.byAmount), most: mostCompared}
	for at, k := range b.byAmount {
		if at == 0 {
			copy(b.least, g.requestOfKind(int(k)))
		}
		for c, x := range g.requestOfKind(int(k)) {
			b.least[c] = min(b.least[c], x)
		}
		need += g.count[k]
		// Kinds of one amount stand together. After the last of them need has all members that
		// request as much or more.
		due = chosen.next() || due
		if last := at+1 == len(b.byAmount); due && (last || amount(b.byAmount[at+1]) < amount(k)) {
			b.add(need, -1, int32(j), b.least)
			due = false
		}
	}
}

// loosen lowers the requests to count where a row may hold members whose exact
// sum is a little more than it has. A single member is never rounded.
func (b *bounds) loosen() {
	for j := range b.gang.cols {
		if _, exact := b.gang.sum(j); exact {
			continue
		}
		for c := range b.counts {
			if b.counts[c].need > 1 {
				b.requests[c*b.gang.cols+j] *= b.slack
			}
		}
	}
}

// why tests the conditions from one on and explains the first that does not hold.
func (b *bounds) why(first int, free *vector.Matrix, selected []uint64) (why Infeasibility, infeasible bool) {
	for c := first; c < b.conditions; c++ {
		if why, fails := b.fails(c, free, selected); fails {
			return why, true
		}
	}
	return Infeasibility{}, false
}

// fails tests condition c and explains it when it does not hold.
func (b *bounds) fails(c int, free *vector.Matrix, selected []uint64) (why Infeasibility, fails bool) {
	if c < len(b.needed) {
		if b.needed[c] == 0 {
			return why, false
		}
		surplus := b.surplus(free, selected, c)
		if !surplus.negative() {
			return why, false
		}
		return b.shortOf(c, &surplus), true
	}
	if c -= len(b.needed); c < len(b.counts) {
		places := b.places(free, selected, c)
		need := b.counts[c].need
		if places >= need {
			return why, false
		}
		together := places
		// Is it the Spread, or are there too few places even without one?
		if b.spread.on {
			together = countCopies(nil, free, selected, b.request(c), need, need)
		}
		return b.shortOfPlaces(c, places, together, func(j int) float64 {
			return kernel.Max(free.Column(j), selected)
		}), true
	}
	l := &b.gang.leading
	if why, fails = l.shortOf(b.leaderCount(free, selected, false)); fails || !b.spread.on {
		return why, fails
	}
	why, fails = l.shortOf(b.leaderCount(free, selected, true))
	return why.apart(), fails
}

// leaderCount returns how many workers the selected rows hold, at most all of them a row, and the
// gain on the row where the leader takes the fewest places; apart, where no set of the Spread takes
// more than its room. A set that is full of workers anyway loses nothing to the leader but its
// place, so the best row need not be the one with the best gain. It stops at a row where that
// leaves enough: more is never asked for.
func (b *bounds) leaderCount(free *vector.Matrix, selected []uint64, apart bool) (places int64, gain float64) {
	l, s := &b.gang.leading, b.spread
	if apart {
		places = s.count(free, selected, l.counter.request, l.workers, false)
	} else {
		places = countCopies(nil, free, selected, l.counter.request, l.workers, math.MaxInt64)
	}
	gain = noLeader
	eachRow(selected, free.Rows(), func(r int) bool {
		_, here := l.on(free, r)
		if apart {
			here = s.gain(s.set(r), s.sums[s.set(r)], here)
		}
		gain = max(gain, here)
		return float64(places)+gain < float64(l.workers)
	})
	return places, gain
}

// surplus returns the sum of the positive amounts in column j of the selected
// rows, less what is needed. What one row owes, no other row pays.
func (b *bounds) surplus(free *vector.Matrix, selected []uint64, j int) exactSum {
	var sum exactSum
	column := free.Column(j)
	if selected == nil {
		sum.addPositive(column)
	}
	for w, word := range selected {
		for ; word != 0; word &= word - 1 {
			sum.add(positive(column[w*kernel.Block+bits.TrailingZeros64(word)]))
		}
	}
	sum.add(-b.needed[j])
	return sum
}

// shortOf explains a negative surplus of column j, with the amounts before they were
// loosened for rounding.
func (b *bounds) shortOf(j int, surplus *exactSum) Infeasibility {
	return Infeasibility{
		Reason: InfeasibleAggregate, Column: j, Member: -1, Needed: b.sums[j], Available: surplus.plus(b.needed[j]),
	}
}

// places returns how many copies the count with index c finds on the selected
// rows. It stops counting when there are enough.
func (b *bounds) places(free *vector.Matrix, selected []uint64, c int) int64 {
	need := b.counts[c].need
	if b.spread.on {
		return b.spread.places(free, selected, b.request(c), need, b.skewed(c))
	}
	return countCopies(nil, free, selected, b.request(c), need, need)
}

// skewed reports whether the count with index c is about the skew of a Spread. Only the first
// is, which counts all members: the others need not be in the sets that they are counted in.
func (b *bounds) skewed(c int) bool { return c == 0 && b.spread.on && b.spread.skew > 0 }

// shortOfPlaces explains that the count with index c found only so many places, and so many
// where members may be together. best returns the greatest amount of a column on the
// selected rows.
func (b *bounds) shortOfPlaces(c int, places, together int64, best func(j int) float64) Infeasibility {
	why := Infeasibility{
		Reason: InfeasibleCopies, Column: int(b.counts[c].column), Member: int(b.counts[c].member),
		Needed: float64(b.counts[c].need), Available: float64(places),
	}
	if together >= b.counts[c].need {
		return why.apart()
	}
	if why.Available = float64(together); together > 0 || why.Member < 0 {
		return why
	}
	why.Reason, why.Needed = InfeasibleMember, 1
	// Where one column is enough for a reason, an amount says more than a number of copies.
	for j, x := range b.gang.request(int32(why.Member)) {
		if x == 0 {
			continue
		}
		if best := best(j); !(x <= best) {
			why.Column, why.Needed, why.Available = j, x, best
			break
		}
	}
	return why
}

// apart returns why with the reason that members have to be apart.
func (why Infeasibility) apart() Infeasibility {
	if why.Reason != NotProved {
		why.Reason = InfeasibleSpread
	}
	return why
}

// shortOf says whether so many places and such a gain are too few, and explains it.
func (l *leading) shortOf(places int64, gain float64) (why Infeasibility, short bool) {
	available := max(float64(places)+gain, 0)
	if available >= float64(l.workers) {
		return why, false
	}
	return Infeasibility{
		Reason: InfeasibleLeader, Column: -1, Member: int(l.leader),
		Needed: float64(l.workers), Available: available,
	}, true
}
