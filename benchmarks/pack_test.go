package benchmarks

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/resvec/resvec/benchmarks/internal/stopwatch"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang"
)

// The scenario filter: how many of 16,000 running pods, in a given order, have
// to go for a gang of 64 to fit on 2,000 nodes with 8 resources.
//
// The answer lies at the prefix named. The row loop is the code that schedulers
// have: it evicts one victim more, tries to place the gang node by node, takes
// it back and goes on: a millisecond to some hundred of them a call.
const (
	packNodes   = 2000
	packCols    = 8
	packPods    = 8 // per node
	packMembers = 64
)

// BenchmarkScenarioRatio measures what docs/benchmarks.md quotes. One iteration
// times the filter some times and the row loop once, in turn; the fastest sample
// of each counts, as in BenchmarkRatio.
//
//	ns/call          of the filter
//	rowloop-ns/call  of the row loop
//	x_rowloop        how many times as fast as the row loop
func BenchmarkScenarioRatio(b *testing.B) {
	for _, members := range []string{"identical", "mixed"} {
		for _, prefix := range []int{10, 4000, 15000} {
			b.Run(fmt.Sprintf("members=%s/prefix=%d", members, prefix), func(b *testing.B) {
				s := newScenario(members, prefix)
				filter, found := s.filter()
				rows := s.rows()
				ours := stopwatch.New(1, func(int) { filter() })
				rowloop := stopwatch.New(1, func(int) { rows.filter() })
				for b.Loop() {
					for range 20 {
						ours.Sample()
					}
					rowloop.Sample()
				}
				if !s.valid(found.Prefix, found.Placement) || !s.valid(s.prefix, rows.placement) {
					b.Fatal("no valid placement")
				}
				b.ReportMetric(0, "ns/op") // of both together, which means nothing
				b.ReportMetric(ours.Best, "ns/call")
				b.ReportMetric(rowloop.Best, "rowloop-ns/call")
				b.ReportMetric(rowloop.Best/ours.Best, "x_rowloop")
			})
		}
	}
}

// scenario is a cluster and a gang whose answer is known.
type scenario struct {
	prefix    int
	free      *vector.Matrix
	total     vector.ResourceVector
	victims   *vector.Matrix // what each releases, in the order in which they go
	on        []int          // where each runs
	requests  *vector.Matrix
	identical bool
}

func rowsOf(m *vector.Matrix) [][]float64 {
	rows := make([][]float64, m.Rows())
	for i := range rows {
		rows[i] = m.Row(nil, i)
	}
	return rows
}

// newScenario fills nodes with pods in shuffled order and looks for a gang that
// fits when the prefix is gone and not before. It makes the gang a little too
// large for one victim less, and takes as last victim one that helps.
func newScenario(members string, prefix int) *scenario {
	s := &scenario{prefix: prefix, identical: members == "identical"}
	s.fill()
	shapes := s.shapes()
	o := vector.NewOverlay(s.after(prefix - 1))
	p := s.packer(gang.SearchBisect)
	fits := func(scale float64) bool {
		s.scale(shapes, scale)
		_, _, ok := p.Place(nil, o.Matrix(), s.requests, nil, nil)
		return ok
	}
	small, large := 0.0, 100.0
	for large-small > 1e-5 {
		if middle := (small + large) / 2; fits(middle) {
			small = middle
		} else {
			large = middle
		}
	}
	amounts := rowsOf(s.victims)
	before := o.Mark()
	for last := prefix - 1; last < len(amounts); last++ {
		testkit.Check(o.AddToRow(s.on[last], amounts[last]))
		if fits(large) {
			s.swapVictims(prefix-1, last)
			if s.confirmed() {
				return s
			}
			s.swapVictims(prefix-1, last)
		}
		o.Rollback(before)
	}
	panic("no scenario with this answer")
}

// fill makes nodes of similar size, each with 8 running pods that leave about a
// tenth free. One node in sixty is nearly idle, its pods an eighth of the size, so
// that about half of the gang fits from the start; where nothing
// does, the row loop gives up sooner.
func (s *scenario) fill() {
	r := random(packNodes)
	s.free = vector.NewMatrix(vector.Schema{}, packNodes, packCols)
	s.total = make(vector.ResourceVector, packCols)
	running := vector.NewMatrix(vector.Schema{}, 0, packCols)
	var on []int
	pod, left := make(vector.ResourceVector, packCols), make(vector.ResourceVector, packCols)
	for i := range packNodes {
		for j := range left {
			left[j] = float64(900_000 + r.IntN(200_000))
			s.total[j] += left[j]
		}
		small := 1
		if r.IntN(60) == 0 {
			small = 8
		}
		for range packPods {
			for j := range pod {
				pod[j] = float64((80_000 + r.IntN(60_000)) / small)
			}
			left.Sub(pod)
			running.AppendRow(pod)
			on = append(on, i)
		}
		for j, x := range left {
			left[j] = max(x, 0)
		}
		s.free.SetRow(i, left)
	}
	order := r.Perm(len(on))
	s.victims = vector.NewMatrix(vector.Schema{}, len(on), packCols)
	s.on = make([]int, len(on))
	for to, from := range order {
		s.on[to] = on[from]
		s.victims.SetRow(to, running.Row(nil, from))
	}
}

// A mixed gang has four roles, as a training job has: workers, and fewer of
// others, which are smaller but each of other proportions.
var packRoles = []struct {
	members int
	size    float64
}{{44, 1}, {12, 0.8}, {7, 0.6}, {1, 0.3}}

// shapes returns what each member requests, up to a common factor.
func (s *scenario) shapes() []vector.ResourceVector {
	r := random(packMembers)
	var shapes []vector.ResourceVector
	for _, role := range packRoles {
		shape := make(vector.ResourceVector, packCols)
		for j := range shape {
			shape[j] = 100_000 * role.size * (0.7 + 0.3*r.Float64())
		}
		for range role.members {
			shapes = append(shapes, shape)
		}
	}
	if s.identical {
		for i := range shapes {
			shapes[i] = shapes[0]
		}
	}
	r.Shuffle(len(shapes), func(i, j int) { shapes[i], shapes[j] = shapes[j], shapes[i] })
	return shapes
}

// scale makes the gang.
func (s *scenario) scale(shapes []vector.ResourceVector, factor float64) {
	s.requests = vector.NewMatrix(vector.Schema{}, packMembers, packCols)
	request := make(vector.ResourceVector, packCols)
	for i, shape := range shapes {
		for j, x := range shape {
			request[j] = float64(int(x * factor))
		}
		s.requests.SetRow(i, request)
	}
}

func (s *scenario) swapVictims(a, b int) {
	s.on[a], s.on[b] = s.on[b], s.on[a]
	rowA, rowB := s.victims.Row(nil, a), s.victims.Row(nil, b)
	s.victims.SetRow(a, rowB)
	s.victims.SetRow(b, rowA)
}

// evictions returns the victims, what they release as slices like the row
// loop.
func (s *scenario) evictions() iter.Seq2[int, vector.ResourceVector] {
	amounts := make([]vector.ResourceVector, len(s.on))
	for i, row := range rowsOf(s.victims) {
		amounts[i] = row
	}
	return func(yield func(int, vector.ResourceVector) bool) {
		for i, r := range s.on {
			if !yield(r, amounts[i]) {
				return
			}
		}
	}
}

// packer returns the heuristic: large members first, each on the first node.
func (s *scenario) packer(search gang.Search) *gang.Packer {
	return gang.NewPacker(gang.Options{Total: s.total, Search: search})
}

// confirmed reports whether both searches give the answer.
func (s *scenario) confirmed() bool {
	for _, search := range []gang.Search{gang.SearchBisect, gang.SearchLinear} {
		got, err := s.packer(search).Filter(nil, vector.NewOverlay(s.free), s.requests, nil, nil, s.evictions())
		if err != nil || got.Prefix != s.prefix || !s.valid(got.Prefix, got.Placement) {
			return false
		}
	}
	return true
}

// after returns the free amounts when a prefix of the victims is gone.
func (s *scenario) after(prefix int) *vector.Matrix {
	o := vector.NewOverlay(s.free)
	var amounts vector.ResourceVector
	for i, r := range s.on[:prefix] {
		amounts = s.victims.Row(amounts, i)
		testkit.Check(o.AddToRow(r, amounts))
	}
	m := new(vector.Matrix)
	m.CopyFrom(o.Matrix())
	return m
}

// valid reports whether the members, placed so, fit when a prefix is gone.
func (s *scenario) valid(prefix int, placement []int32) bool {
	if len(placement) != s.requests.Rows() {
		return false
	}
	left := s.after(prefix)
	for i, r := range placement {
		if err := left.SubFromRow(int(r), s.requests.Row(nil, i)); err != nil {
			return false
		}
	}
	for _, least := range vector.MinColumns(nil, left, nil) {
		if least < 0 {
			return false
		}
	}
	return true
}

// filter returns a call of the library and where it leaves its answer. The
// memory that it keeps has grown already.
func (s *scenario) filter() (call func(), found *gang.Scenario) {
	p, o := s.packer(gang.SearchBisect), vector.NewOverlay(s.free)
	victims := s.evictions()
	found = new(gang.Scenario)
	call = func() {
		var err error
		if *found, err = p.Filter(found.Placement, o, s.requests, nil, nil, victims); err != nil {
			panic(err)
		}
	}
	call()
	return call, found
}

// rowScenario is the same work as KAI-Scheduler's scenario solver does it: a
// slice per node and per pod, one more victim evicted from the simulated
// cluster, one attempt to allocate the whole gang, node by node, rolled back
// when a member fits nowhere. Everything is allocated, and the members are
// sorted, before the timing starts.
type rowScenario struct {
	nodes     []*rowNode
	evictOn   []*rowNode  // per victim
	evict     [][]float64 // per victim
	requests  [][]float64
	order     []int // members, large first
	placement []int32
}

func (s *scenario) rows() *rowScenario {
	r := &rowScenario{
		nodes:     newRowNodes(rowsOf(s.free), nil, nil),
		evict:     rowsOf(s.victims),
		requests:  rowsOf(s.requests),
		placement: make([]int32, s.requests.Rows()),
	}
	for _, i := range s.on {
		r.evictOn = append(r.evictOn, r.nodes[i])
	}
	sizes := make([]float64, len(r.requests))
	for i, request := range r.requests {
		sizes[i] = rowNormalizedSum(request, s.total)
		r.order = append(r.order, i)
	}
	slices.SortStableFunc(r.order, func(a, b int) int { return cmp.Compare(sizes[b], sizes[a]) })
	return r
}

// filter returns how many victims have to go, or -1.
func (r *rowScenario) filter() int {
	gone := 0
	ok := r.place()
	for ; !ok && gone < len(r.evict); gone++ {
		rowAdd(r.evictOn[gone].idle, r.evict[gone])
		ok = r.place()
	}
	for i, node := range r.evictOn[:gone] {
		rowSub(node.idle, r.evict[i])
	}
	if !ok {
		return -1
	}
	return gone
}

// place places the gang, large members first, each on the first node that has
// room, and takes it back.
func (r *rowScenario) place() bool {
	for k, i := range r.order {
		if !r.placeOne(i) {
			r.takeBack(k)
			return false
		}
	}
	r.takeBack(len(r.order))
	return true
}

func (r *rowScenario) placeOne(i int) bool {
	for n, node := range r.nodes {
		if rowLessEqual(r.requests[i], node.idle) {
			rowSub(node.idle, r.requests[i])
			r.placement[i] = int32(n)
			return true
		}
	}
	return false
}

// takeBack removes the first k members placed.
func (r *rowScenario) takeBack(k int) {
	for _, i := range r.order[:k] {
		rowAdd(r.nodes[r.placement[i]].idle, r.requests[i])
	}
}
