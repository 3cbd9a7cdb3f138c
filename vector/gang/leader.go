package gang

import (
	"math"

	"github.com/resvec/resvec/vector"
)

// leading is what is known of a gang of one leader and workers that all request
// the same. Where the leader goes decides how many workers fit: on its row they
// have what it leaves. So one look at each row decides exactly.
type leading struct {
	leader  int32 // the member
	workers int64 // how many

	request vector.ResourceVector // of the leader
	counter rowCounter            // of the workers
}

// hasLeader reports whether g has a leader: two kinds, one of them of one member. Of two
// members the first is the leader.
func (g *gang) hasLeader() bool {
	return len(g.first) == 2 && (g.count[0] == 1 || g.count[1] == 1)
}

// workerKind returns the kind of the workers in a gang that has a leader, and the
// only kind in one of members that are alike. Of two members that differ either could lead:
// the answer is the same, but it has to be one of them always.
func (g *gang) workerKind() int {
	if g.hasLeader() && g.count[0] == 1 {
		return 1
	}
	return 0
}

// counted reports whether rows hold members by counting them: whether all are alike,
// but for a leader.
func (g *gang) counted() bool { return g.identical() || g.hasLeader() }

// take sets l to the leader and the workers of g, which has them.
func (l *leading) take(g *gang) {
	workers := g.workerKind()
	l.leader, l.workers = g.first[1-workers], g.count[workers]
	l.request = g.requestOfKind(1 - workers)
	l.counter.take(g.requestOfKind(workers), l.workers)
}

// noLeader is the gain on a row that the leader does not fit on. Whatever is added to it
// stays below every need, so that callers don't ask for this case.
var noLeader = math.Inf(-1)

// on returns how many workers row r of free holds, at most all of them, and how
// many more with the leader there, which is never positive.
func (l *leading) on(free *vector.Matrix, r int) (places int64, gain float64) {
	places = l.counter.on(free, r)
	if !fitsRow(free, r, l.request) {
		return places, noLeader
	}
	return places, float64(l.counter.withLeader(free, r, l.request) - places)
}
